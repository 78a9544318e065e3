"""Templates of a room, by jinja; and the policy of a page of HTML."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from typing import Any

from coherencegym.escapes import visible_lines

_INLINE = re.compile(r"<(style|script)>(.*?)</\1>", re.DOTALL)


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


def content_policy(scripts: Sequence[str], styles: Sequence[str]) -> str:
    """A policy by which a page fetches nothing, and runs and applies these texts alone."""

    def hashed(texts: Sequence[str]) -> str:
        digests = (base64.b64encode(hashlib.sha256(text.encode()).digest()) for text in texts)
        return " ".join(f"'sha256-{digest.decode()}'" for digest in digests) or "'none'"

    return (
        f"default-src 'none'; script-src {hashed(scripts)}; style-src {hashed(styles)}; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def under_policy(page: str) -> str:
    """A page of HTML under the :func:`content_policy` of the scripts and styles that it has.

    Whatever else stands in the page has to be escaped.
    """
    inline = _INLINE.findall(page)
    scripts, styles = ([t for kind, t in inline if kind == one] for one in ("script", "style"))
    policy = content_policy(scripts, styles)
    meta = f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
    return page.replace("<head>\n", f"<head>\n{meta}\n", 1)
