"""Stand-off releases: all that describes rows, without a word of their texts.

Whoever has the corpus makes the rows again (:mod:`builders.command.rebuild`) and holds them to the
row hashes of the release.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

from coherencegym.builders.release.changes import PublishError
from coherencegym.builders.release.manifest import Manifest, in_order
from coherencegym.builders.release.rows import hashes_path
from coherencegym.loaders.registry import CORPORA, is_extension

#: Parts of a config's entry that quote nothing.
_KEPT = (
    *("kind", "summary", "corpus", "republishable", "separator", "operators", "regions"),
    *("predictions", "columns", "breakdowns", "headline", "controls"),
    *("length_confound", "is_diagnostic", "question", "task_defaults", "seed", "limit"),
    *("settings", "suite_version", "toolkit_version", "in_headline", "not_headline"),
    "choice",
    *("splits_asked", "rank", "licences", "withheld_discourses", "bad_rows", "skipped"),
)
#: Figures of a split that are about no file but the one of row hashes.
_COUNTS = ("rows", "discourses", "content_hash")


def without_texts(folder: Path, manifest: Manifest, configs: Collection[str]) -> Manifest:
    """The manifest with the entries of some configs as a stand-off release has them.

    An entry keeps the recipe, the digests of the corpus files, and numbers. Its example, the names
    of classes, and scores by values of a column, which may be words of a text, are left out.

    Args:
        folder, manifest: the build.
        configs: those whose texts are left out.
    """
    entries = manifest["configs"]
    for name in configs:
        corpus = entries[name]["corpus"]["name"]
        if corpus not in CORPORA and not is_extension(corpus):
            raise PublishError(
                f"--stand-off: {name} is built from {corpus}, which `coherencegym corpora` does "
                "not list, so others cannot rebuild its rows; expected --private"
            )
    changed = {name: _entry(folder, name, entries[name]) for name in configs}
    return in_order(manifest | {"configs": {**entries, **changed}})


def _entry(folder: Path, name: str, entry: dict[str, Any]) -> dict[str, Any]:
    splits: dict[str, Any] = {}
    features: dict[str, Any] = {}
    for split, counts in entry["splits"].items():
        size, stored, features = _row_hashes(folder / hashes_path(name, split))
        splits[split] = {key: counts[key] for key in _COUNTS} | {
            "num_bytes": size,
            "download_size": stored,
            "groups": _without_values(counts["groups"]),
            "details": counts["details"],
        }
    return {key: entry[key] for key in _KEPT if key in entry} | {
        "stand_off": True,
        "features": features,
        "splits": splits,
        "quality": _without_values(entry["quality"]),
        "example": {},
    }


def _row_hashes(path: Path) -> tuple[int, int, dict[str, Any]]:
    import pyarrow.parquet as pq
    from datasets import Features

    table = pq.read_table(path)
    features = Features.from_arrow_schema(table.schema).to_dict()
    return table.nbytes, path.stat().st_size, features


def _is_plain(group: str) -> bool:
    # ``genre=news`` has a value of a column, which may be a word of the text.
    _, is_value, value = group.partition("=")
    return not is_value or value in ("true", "false") or value.isdigit()


def _without_values(figures: Any) -> Any:
    if isinstance(figures, dict):
        return {key: _without_values(own) for key, own in figures.items() if _is_plain(key)}
    if isinstance(figures, list):
        return [_without_values(one) for one in figures if _is_plain(_group(one))]
    return figures


def _group(one: Any) -> str:
    return str(one.get("group", "")) if isinstance(one, dict) else ""
