"""Texts of anybody's in a terminal, Markdown, HTML, LaTeX or CSV: each is read, and none obeyed.

Templates of a room, by jinja, are here too; and the policy of a page of HTML.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any
from urllib.parse import quote

#: White space and joiners that scripts need, and that nothing obeys but a table its line ends.
SPACES = "\t\N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}\N{IDEOGRAPHIC SPACE}\u200c\u200d"
_LINE_END = re.compile(r"\s*[\n\v\f\r\x1c-\x1e\x85\u2028\u2029]\s*")
_OF_MARKDOWN = re.compile(r"[\\`*_\[\]<>|#~$]|&(?=#?\w+;)|^\s*[-+](?=\s)|^\s*\d+[.)](?=\s)")
_INLINE = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)
#: Signs that LaTeX would obey, or that its usual fonts lack.
_OF_LATEX = str.maketrans(
    {
        **{sign: f"\\{sign}" for sign in "&%$#_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        "−": "$-$",
        "→": r"$\rightarrow$",
        "≥": r"$\geq$",
    }
)


def visible(text: str, shown: str = "") -> str:
    r"""A text in which what a terminal would obey or hide is escaped, as JSON would have it.

    Those are control and format characters, halves of characters, and spaces that are none of the
    usual ones; ``shown`` are some of them that stay.

    >>> print(visible("a\x1b[31m"))
    a\u001b[31m
    """
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in shown else json.dumps(char)[1:-1] for char in text
    )


def visible_lines(text: str) -> str:
    """A text of several lines, as :func:`visible` has it."""
    return visible(text.replace("\r\n", "\n"), SPACES + "\n")


def in_line(text: str) -> str:
    """A text in one line, as :func:`visible` has it."""
    return visible(_LINE_END.sub(" ", text), SPACES)


def markdown_text(text: str) -> str:
    """A text in one line in which Markdown obeys nothing: it reads the same."""
    return _OF_MARKDOWN.sub(lambda sign: f"{sign[0][:-1]}\\{sign[0][-1]}", in_line(text))


def markdown_code(text: str) -> str:
    """A text as code in a line of Markdown."""
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    edge = " " * ("`" in text)
    return f"{fence}{edge}{in_line(text)}{edge}{fence}"


def markdown_cell(markup: object) -> str:
    """Markdown of our own, such as code, that stays in the cell of a table."""
    return in_line(str(markup)).replace("|", "\\|")


def markdown_table(
    headers: Sequence[str], rows: Iterable[Sequence[str | tuple[str, str]]]
) -> list[str]:
    """The lines of a table in Markdown, of texts, and of texts with the file each leads to."""
    first, *lines = (f"| {' | '.join(map(_cell, row))} |" for row in (headers, *rows))
    return [first, "|---" * len(headers) + "|", *lines]


def _cell(cell: str | tuple[str, str]) -> str:
    if isinstance(cell, str):
        return markdown_text(cell).strip()
    return f"[{markdown_text(cell[0]).strip()}]({quote(cell[1])})"


def latex_text(text: str) -> str:
    """A text in one line in which LaTeX obeys nothing."""
    return in_line(text).strip().translate(_OF_LATEX)


def markdown_filters() -> dict[str, Callable[..., str]]:
    """Filters of templates of Markdown, by their names."""
    return {
        "cell": markdown_cell,
        "code": lambda text: markdown_cell(markdown_code(str(text))),
        "fenced": fenced,
        "line": in_line,
        "plain": markdown_text,
    }


def fenced(text: str, language: str = "") -> str:
    """A block of code in Markdown, between fences that nothing in it can close."""
    longest = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}{language}\n{visible_lines(text)}\n{fence}"


def templates_of(room: str, **how: Any) -> Any:
    """The templates in the folder ``templates`` of a room, such as ``eval.views``.

    Lines of statements leave no blank ones, and nothing is escaped, unless ``how`` (arguments of
    ``jinja2.Environment``) says otherwise; what is, has no control characters. A value that is not
    given is an error.
    """
    import jinja2

    usual = {"trim_blocks": True, "lstrip_blocks": True, "keep_trailing_newline": True}
    if how.get("autoescape"):
        how["finalize"] = lambda value: visible_lines(value) if type(value) is str else value
    loader = jinja2.PackageLoader(f"coherencegym.{room}", "templates")
    return jinja2.Environment(loader=loader, undefined=jinja2.StrictUndefined, **{**usual, **how})


def under_policy(page: str) -> str:
    """A page of HTML under a policy: it fetches nothing, and runs and applies its own alone.

    These are the scripts and styles in it, by their hashes; whatever else stands in the page has to
    be escaped.
    """

    def hashed(kind: str) -> str:
        texts = (text for own, text in _INLINE.findall(page) if own == kind)
        digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts)
        return " ".join(f"'sha256-{digest.decode()}'" for digest in digests) or "'none'"

    policy = (
        f"default-src 'none'; script-src {hashed('script')}; style-src {hashed('style')}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace("<head>\n", f"<head>\n{meta}\n", 1)
