"""The templates of a room, by jinja: a value that is not given is an error."""

from __future__ import annotations

from typing import Any


def templates_of(room: str, **how: Any) -> Any:
    """The templates in the folder ``templates`` of a room, such as ``eval.views``.

    Lines of statements leave no blank ones, and nothing is escaped, unless ``how`` (arguments of
    ``jinja2.Environment``) says otherwise.
    """
    import jinja2

    usual = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    loader = jinja2.PackageLoader(f"coherencegym.{room}", "templates")
    return jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, **{**usual, **how})
