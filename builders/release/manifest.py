"""The manifest: everything a card prints and a merge needs, as one JSON file.

A release is always rendered from its manifest, so it can be merged from builds made on different
machines by people with different corpora.
"""

from __future__ import annotations

import json
from typing import Any

#: Parts of a config's entry that have a key for each split.
BY_SPLIT = ("splits", "quality", "skipped")

Manifest = dict[str, Any]


def dump_manifest(manifest: Manifest) -> str:
    """The manifest as the text of its file.

    Keys keep their order, which carries meaning (the columns of a table), so what is written must
    be in the order of :func:`in_order`.
    """
    return json.dumps(manifest, ensure_ascii=False, indent=1) + "\n"


def in_order(manifest: Manifest) -> Manifest:
    """The manifest with configs by rank and name, splits by name, and the first config the default.

    However a manifest was put together (built, merged, read back), equal content gives equal text.
    """
    configs = manifest["configs"]
    ordered = sorted(configs, key=lambda name: (configs[name]["rank"], name))
    return manifest | {
        "configs": {
            name: configs[name]
            | {key: dict(sorted(configs[name][key].items())) for key in BY_SPLIT}
            | {"default": number == 0}
            for number, name in enumerate(ordered)
        }
    }
