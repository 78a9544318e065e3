"""The parts of a model card that every trained model has: metadata, its training, safe cells."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from coherencegym.escapes import markdown_code, markdown_table


def card_front(
    name: str, hub: bool, repo: str | None, pipeline: str, tags: Sequence[str]
) -> Iterator[str]:
    """The metadata of the card of a model that was trained from ``name``, which may be on the Hub.

    Args:
        name, hub: the encoder.
        repo: the Hub repository of the data, if it is one.
        pipeline: the Hub's name of what the model does.
        tags: words that it is found by.
    """
    # JSON is YAML: names from elsewhere cannot break out of the metadata.
    yield from ("---", "library_name: transformers", f"pipeline_tag: {pipeline}")
    if hub:
        yield f"base_model: {json.dumps(name)}"
    if repo:
        yield f"datasets: {json.dumps([repo])}"
    yield from (f"tags: [{', '.join(tags)}]", "---", "")


def card_training(about: Mapping[str, Any], learned: str, signature: str) -> Iterator[str]:
    """The last section of a card.

    Args:
        about: facts on how the model was made, by name.
        learned: a sentence on what it may have learned.
        signature: that of the results of its seed.
    """
    rows = ((key, str(value)) for key, value in about.items())
    yield from ("", "## Training", "", *markdown_table(("", ""), rows))
    yield from (
        "",
        f"{learned} The licences of the encoder and of the data apply to the model; this card "
        "states none.",
        "",
        markdown_code(signature),
    )


def encoder_cell(model: Mapping[str, Any], settings: Mapping[str, Any]) -> str:
    """The encoder of a trained model, and whether it was trained, too."""
    frozen = ", frozen: only the head was trained" if settings["freeze"] else ""
    return f"{model['name']} at {model['commit']}{frozen}"
