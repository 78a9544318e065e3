"""The licences on a card: one field for the Hub, and a table for people."""

from __future__ import annotations

from collections import defaultdict
from typing import Any


def licence_table(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """List the configs and the number of discourses under each licence."""
    configs: dict[str, list[str]] = defaultdict(list)
    discourses: dict[str, int] = defaultdict(int)
    for name, config in sorted(manifest["configs"].items()):
        for licence, count in config["licences"].items():
            text = licence_text(config["corpus"], licence)
            configs[text].append(name)
            discourses[text] += count
    return [
        {"licence": text, "configs": configs[text], "discourses": discourses[text]}
        for text in sorted(configs)
    ]


def licence_text(corpus: dict[str, Any], licence: str) -> str:
    """A licence as a person reads it."""
    if licence != "other":
        return licence
    name = corpus["licence_name"] or f"terms of {corpus['title']}"
    return f"{name} ({corpus['licence_url']})" if corpus["licence_url"] else str(name)


def licence_field(manifest: dict[str, Any]) -> dict[str, str]:
    """``license`` (and name and link where it is ``other``) for the YAML block.

    One licence throughout is named by its Hub identifier; several, or one that is no SPDX licence,
    are ``other`` with the table in the card.
    """
    table = licence_table(manifest)
    identifiers = {licence for c in manifest["configs"].values() for licence in c["licences"]}
    if len(identifiers) == 1 and "other" not in identifiers:
        return {"license": next(iter(identifiers)).lower()}
    name = "several-licences" if len(table) > 1 else "terms-of-the-source-corpus"
    return {"license": "other", "license_name": name, "license_link": "README.md#licence"}


def licence_sentence(manifest: dict[str, Any]) -> str:
    """The licence in one sentence of the card's description."""
    table = licence_table(manifest)
    if len(table) == 1:
        return str(table[0]["licence"])
    return "several, by config; see [Licence](#licence)"
