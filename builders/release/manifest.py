"""The manifest: everything a card prints and a merge needs, as one JSON file.

The documents of a release are always rendered from its manifest, so it can be merged from builds
made on different machines by people with different corpora.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coherencegym.cards.render import dataset_card, quality_json
from coherencegym.eval.data.benchmark import EVAL_YAML, eval_yaml
from coherencegym.eval.kinds import kind_named
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.table_kind import SAMPLE, row_hash

#: The file by which a folder is known as a build, and a repository as a release.
MANIFEST = "manifest.json"
#: The documents that are rendered from it.
RELEASE_DOCUMENTS = (MANIFEST, "README.md", "quality.json", EVAL_YAML)
#: Parts of a config's entry that have a key for each split.
_BY_SPLIT = ("splits", "quality", "skipped")

Manifest = dict[str, Any]


def dump_manifest(manifest: Manifest) -> str:
    """The manifest as the text of its file, which :func:`eval.data.source.read_manifest` reads.

    Keys keep their order, which carries meaning (the columns of a table), so what is written must
    be in the order of :func:`in_order`. A list of corpus files that several configs have is written
    once, under ``files``; a config names it.
    """
    files: dict[str, Any] = {}
    configs = dict(manifest["configs"])
    for name, config in configs.items():
        corpus = config["corpus"]
        key = row_hash({"files": corpus["files"]})[:12]
        files[key] = corpus["files"]
        configs[name] = config | {"corpus": corpus | {"files": key}}
    written = manifest | {"configs": configs, "files": files}
    return json.dumps(written, ensure_ascii=False, indent=1) + "\n"


def release_documents(manifest: Manifest) -> dict[str, str]:
    """Name -> text: manifest, card, its figures, and ``eval.yaml`` where there is a task."""
    makers = (dump_manifest, dataset_card, quality_json, eval_yaml)
    texts = [make(manifest) for make in makers]
    return {name: text for name, text in zip(RELEASE_DOCUMENTS, texts, strict=True) if text}


def write_documents(manifest: Manifest, folder: Path) -> None:
    """Write the documents of a release into its folder."""
    for name, text in release_documents(manifest).items():
        (folder / name).write_text(text, encoding="utf-8")


def diagnostic_configs(configs: Mapping[str, Any]) -> list[str]:
    """The configs, of entries by name, whose scores say nothing of their suite's hypothesis."""
    return [name for name, config in configs.items() if config.get("is_diagnostic")]


def in_order(manifest: Manifest) -> Manifest:
    """The manifest with configs by rank and name, splits by name, and one config the default.

    That is the config of the headline with the most rows: what a reader of the dataset sees first
    is what its one number is about. Of several corpora the project's sample is the last choice, and
    a config without its texts comes after any with texts.

    However a manifest was put together (built, merged, read back), equal content gives equal text.
    """
    configs = manifest["configs"]
    ordered = sorted(configs, key=lambda name: (configs[name]["rank"], name))
    default = max(ordered, key=lambda name: _rank_as_default(configs[name]), default="")
    return manifest | {
        "configs": {
            name: configs[name]
            | {key: dict(sorted(configs[name][key].items())) for key in _BY_SPLIT}
            | {"default": name == default}
            for name in ordered
        }
    }


def _rank_as_default(config: dict[str, Any]) -> tuple[bool, bool, bool, int]:
    in_headline = bool(config.get("in_headline", kind_named(config["kind"]) is ITEMS))
    rows = sum(split["rows"] for split in config["splits"].values())
    return not config.get("stand_off"), in_headline, config["corpus"]["name"] != SAMPLE, rows
