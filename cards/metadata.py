"""The YAML block of a card: what the Hub and ``load_dataset`` read."""

from __future__ import annotations

from typing import Any

from coherencegym.cards.licences import licence_field

#: Lower bounds of the Hub's size categories, and their names.
SIZES = (
    (0, "n<1K"),
    (1_000, "1K<n<10K"),
    (10_000, "10K<n<100K"),
    (100_000, "100K<n<1M"),
    (1_000_000, "1M<n<10M"),
    (10_000_000, "10M<n<100M"),
)


def ordered_configs(manifest: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The configs, the default first, then by rank."""
    return sorted(manifest["configs"].items(), key=lambda entry: (entry[1]["rank"], entry[0]))


def pretty_name(manifest: dict[str, Any]) -> str:
    """The dataset's name for people."""
    return f"CoherenceGym: {manifest['title']}"


def card_yaml(manifest: dict[str, Any]) -> str:
    """The YAML of a manifest's card, without its fences."""
    from datasets import DatasetInfo, Features
    from datasets.info import DatasetInfosDict
    from datasets.splits import SplitDict
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCardData

    configs = ordered_configs(manifest)
    rows = sum(split["rows"] for _, config in configs for split in config["splits"].values())
    sources = sorted({s for _, config in configs for s in config["corpus"]["source_datasets"]})
    languages = sorted({config["corpus"]["language"] for _, config in configs})
    data = DatasetCardData(
        pretty_name=pretty_name(manifest),
        language=languages if len(languages) > 1 else languages[0],
        annotations_creators=["machine-generated"],
        source_datasets=sources or ["original"],
        task_categories=list(manifest["task_categories"]),
        size_categories=[[name for least, name in SIZES if rows >= least][-1]],
        tags=["coherence", "discourse", "minimal-pairs", "surprisal", *manifest["tags"]],
        coherencegym={
            "suite": manifest["suite"],
            "version": manifest["version"],
            "kinds": {name: config["kind"] for name, config in configs},
        },
    )
    for key, value in licence_field(manifest).items():
        setattr(data, key, value)
    MetadataConfigs(
        {
            name: {
                "data_files": [
                    {"split": split, "path": f"data/{name}/{split}-*"} for split in config["splits"]
                ],
                **({"default": True} if config["default"] else {}),
            }
            for name, config in configs
        }
    ).to_dataset_card_data(data)
    infos = {}
    for name, config in configs:
        splits = config["splits"]
        infos[name] = DatasetInfo(
            config_name=name,
            features=Features.from_dict(config["features"]),
            splits=SplitDict.from_split_dict(
                [
                    {
                        "name": split,
                        "num_bytes": counts["num_bytes"],
                        "num_examples": counts["rows"],
                    }
                    for split, counts in splits.items()
                ]
            ),
            download_size=sum(counts["download_size"] for counts in splits.values()),
            dataset_size=sum(counts["num_bytes"] for counts in splits.values()),
        )
    DatasetInfosDict(infos).to_dataset_card_data(data)
    return str(data).strip()
