"""Licences that let derived text be republished, by SPDX identifier."""

from __future__ import annotations

from typing import Any

#: Licences that allow publishing adapted text, on their conditions (credit, share alike, ...).
#: Licences with a no-derivatives clause are left out: a manipulated text is an adaptation.
ADAPTABLE = (
    *("CC0-1.0", "CC-BY-2.0", "CC-BY-2.5", "CC-BY-3.0", "CC-BY-4.0"),
    *("CC-BY-SA-2.0", "CC-BY-SA-2.5", "CC-BY-SA-3.0", "CC-BY-SA-4.0"),
    *("CC-BY-NC-2.0", "CC-BY-NC-3.0", "CC-BY-NC-4.0"),
    *("CC-BY-NC-SA-2.0", "CC-BY-NC-SA-3.0", "CC-BY-NC-SA-4.0"),
    *("Apache-2.0", "MIT", "BSD-2-Clause", "BSD-3-Clause", "Unlicense"),
    *("ODC-By-1.0", "ODbL-1.0", "PDDL-1.0"),
)
_BY_LOWER_CASE = {identifier.lower(): identifier for identifier in ADAPTABLE}


def may_republish(licence: str) -> bool:
    """Tell whether text adapted from a document under this licence may be published.

    Case does not matter (the Hub writes lower case). An unknown identifier is no permission.
    """
    return licence.lower() in _BY_LOWER_CASE


def licence_fields(stated: object, name: object = None, url: object = None) -> dict[str, Any]:
    """The fields of a :class:`loaders.corpus.Corpus` that speak of its licence.

    Of what is not known to allow it, nothing may be published.

    Args:
        stated: an SPDX identifier, in any case, or a list of them; or nothing.
        name, url: the licence's name, and its address, if it has no identifier.
    """
    names = stated if isinstance(stated, list) else [stated] if isinstance(stated, str) else []
    if len(names) == 1 and (known := _BY_LOWER_CASE.get(str(names[0]).lower())):
        return {"licence": known, "republishable": True}
    return {
        "licence": "other",
        "licence_name": str(name or ", ".join(map(str, names)) or "unknown"),
        "licence_url": str(url or ""),
        "republishable": bool(names) and all(may_republish(str(each)) for each in names),
    }
