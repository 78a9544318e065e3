"""Templates of a room, by jinja; and the policy of a page of HTML."""

from __future__ import annotations

import base64
import hashlib
import re
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
