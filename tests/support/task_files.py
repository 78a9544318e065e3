"""Task files of lm-evaluation-harness, read without it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml


class TaskLoader(yaml.SafeLoader):
    """Reads task files, with functions as their names."""


TaskLoader.add_constructor("!function", lambda loader, node: f"function {node.value}")


def read_task(text: str | Path) -> dict[str, Any]:
    """A task file, or the text of one."""
    content = text.read_text(encoding="utf-8") if isinstance(text, Path) else text
    found: dict[str, Any] = yaml.load(content, TaskLoader)
    return found
