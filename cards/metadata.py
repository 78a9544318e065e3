"""The YAML block of a card, which the Hub and ``load_dataset`` read, and the licences."""

from __future__ import annotations

import re
from typing import Any

from coherencegym.escapes import markdown_text
from coherencegym.licence import OTHER, combined_licence

#: Lower bounds of the Hub's size categories, and their names.
SIZES = {
    0: "n<1K",
    1_000: "1K<n<10K",
    10_000: "10K<n<100K",
    100_000: "100K<n<1M",
    1_000_000: "1M<n<10M",
    10_000_000: "10M<n<100M",
}


def ordered_configs(manifest: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The configs by rank."""
    return sorted(manifest["configs"].items(), key=lambda entry: (entry[1]["rank"], entry[0]))


def card_yaml(manifest: dict[str, Any]) -> str:
    """The YAML of a manifest's card, without its fences."""
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCardData

    configs = ordered_configs(manifest)
    rows = sum(split["rows"] for _, config in configs for split in config["splits"].values())
    sources = sorted({s for _, config in configs for s in config["corpus"]["source_datasets"]})
    languages = sorted({config["corpus"]["language"] for _, config in configs})
    data = DatasetCardData(
        pretty_name=f"CoherenceGym: {manifest['title']}",
        language=languages if len(languages) > 1 else languages[0],
        annotations_creators=["machine-generated"],
        source_datasets=sources or ["original"],
        task_categories=list(manifest["task_categories"]),
        size_categories=[[name for least, name in SIZES.items() if rows >= least][-1]],
        tags=["coherence", "discourse", "minimal-pairs", "surprisal", *manifest["tags"]],
        coherencegym={"suite": manifest["suite"], "version": manifest["version"]},
    )
    for key, value in _licence_field(manifest).items():
        setattr(data, key, value)
    files = {name: _files_entry(name, config) for name, config in configs}
    MetadataConfigs(files).to_dataset_card_data(data)
    return str(data).strip()


def _files_entry(name: str, config: dict[str, Any]) -> dict[str, Any]:
    place = f"hashes/{name}-{{}}.parquet" if config.get("stand_off") else f"data/{name}/{{}}-*"
    files = [{"split": split, "path": place.format(split)} for split in config["splits"]]
    return {"data_files": files, **({"default": True} if config["default"] else {})}


def licence_table(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """List the configs and the number of discourses under each licence of texts."""
    found: dict[str, dict[str, Any]] = {}
    for name, config in sorted(manifest["configs"].items()):
        for licence, count in () if config.get("stand_off") else config["licences"].items():
            corpus = config["corpus"]
            text = (
                markdown_text(licence) if licence != OTHER else licence_text(corpus, "text_licence")
            )
            row = found.setdefault(text, {"licence": text, "configs": [], "discourses": 0})
            row["configs"].append(name)
            row["discourses"] += count
    return [found[text] for text in sorted(found)]


def licence_text(corpus: dict[str, Any], key: str) -> str:
    """A licence of a corpus, as Markdown that stays in its line.

    ``key``: ``licence`` is that of the annotation, ``text_licence`` that of the texts, which in
    manifests of earlier releases have no other.
    """
    licence, name, url = (
        corpus.get(f"{key}{end}", corpus[f"licence{end}"]) for end in ("", "_name", "_url")
    )
    if licence == OTHER:
        licence, name = name or f"terms of {corpus['title']}", ""
    # An address in angle brackets is one, whatever it has in it.
    link = f"<{url}>" if re.fullmatch(r"https?://[^\s<>|\\]+", url) else markdown_text(url)
    about = ", ".join(filter(None, (markdown_text(name), link)))
    return f"{markdown_text(licence)} ({about})" if about else markdown_text(licence)


def licences_of_texts(manifest: dict[str, Any]) -> set[str]:
    """The licences of the texts of a release, and of their annotation; empty where it has none."""
    with_texts = [c for c in manifest["configs"].values() if not c.get("stand_off")]
    return {
        licence
        for config in with_texts
        for licence in (config["corpus"]["licence"], *config["licences"])
    }


def _licence_field(manifest: dict[str, Any]) -> dict[str, str]:
    # The licence that all texts may be published under together, by its Hub identifier; where there
    # is none, as in a folder of one's own, ``other`` with the table in the card.
    identifiers = licences_of_texts(manifest)
    if licence := combined_licence(identifiers):
        return {"license": licence.lower()}
    name = "several-licences" if len(identifiers) > 1 else "terms-of-the-source-corpus"
    name = name if identifiers else "no-texts"
    return {"license": OTHER, "license_name": name, "license_link": "README.md#licence"}
