"""Licences that let derived text be republished, by SPDX identifier."""

from __future__ import annotations

from typing import Any

#: Licences that allow publishing adapted text, on their conditions (credit, share alike, ...).
#: Licences with a no-derivatives clause are left out: a manipulated text is an adaptation.
ADAPTABLE = (
    "CC0-1.0",
    "CC-BY-2.0",
    "CC-BY-2.5",
    "CC-BY-3.0",
    "CC-BY-4.0",
    "CC-BY-SA-2.0",
    "CC-BY-SA-2.5",
    "CC-BY-SA-3.0",
    "CC-BY-SA-4.0",
    "CC-BY-NC-2.0",
    "CC-BY-NC-3.0",
    "CC-BY-NC-4.0",
    "CC-BY-NC-SA-2.0",
    "CC-BY-NC-SA-3.0",
    "CC-BY-NC-SA-4.0",
    "Apache-2.0",
    "MIT",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "ODC-By-1.0",
    "ODbL-1.0",
    "PDDL-1.0",
    "Unlicense",
)


def may_republish(licence: str) -> bool:
    """Tell whether text adapted from a document under this licence may be published.

    Upper and lower case do not matter (the Hub writes identifiers in lower case). An unknown
    identifier is no permission.
    """
    return licence.lower() in {identifier.lower() for identifier in ADAPTABLE}


def licence_fields(stated: object, name: object = None, url: object = None) -> dict[str, Any]:
    """The fields of a :class:`loaders.corpus.Corpus` that speak of its licence.

    Args:
        stated: an SPDX identifier, in any case, or a list of them; or nothing.
        name, url: the licence's name, and its address, if it has no identifier.

    Returns:
        ``licence`` and ``republishable``, and ``licence_name`` and ``licence_url`` where the
        licence is ``other``: of what is not known to allow it, nothing may be published.
    """
    names = (
        [stated] if isinstance(stated, str) else list(stated) if isinstance(stated, list) else []
    )
    spdx = {identifier.lower(): identifier for identifier in ADAPTABLE}
    known = spdx.get(str(names[0]).lower()) if len(names) == 1 else None
    if known is not None:
        return {"licence": known, "republishable": True}
    return {
        "licence": "other",
        "licence_name": str(name or ", ".join(map(str, names)) or "unknown"),
        "licence_url": str(url or ""),
        "republishable": bool(names) and all(may_republish(str(each)) for each in names),
    }
