"""Tables whose incoherent texts were chosen with a model, and are scored with the same one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

#: The column that names the model with which a row was chosen, as ``name`` or ``name@commit``.
FILTER_MODEL = "filter_model"


def chosen_with(extras: Iterable[Mapping[str, Any]], name: str, commit: str) -> bool:
    """Whether rows were chosen with this model.

    Args:
        extras: the own columns of each row.
        name, commit: of the model that is scored.
    """
    for text in {str(extra[FILTER_MODEL]) for extra in extras if extra.get(FILTER_MODEL)}:
        of, at, at_commit = text.rpartition("@")
        if not at:
            of, at_commit = text, text
        # The same name may be another commit; the same commit, a folder of another name.
        if (of == name and not at) or (at_commit and commit.startswith(at_commit)):
            return True
    return False


def filtered_note(config: str, name: str) -> str:
    """What the reader of such a table's score must know."""
    return (
        f"{config}: its intruders were chosen with {name}, so that it does not find them: its "
        "score is low by construction"
    )
