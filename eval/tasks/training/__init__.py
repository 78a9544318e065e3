"""Fine-tuning for every task that trains: its settings, which are options of ``train`` as well.

Where no paper fixes a number it is that of Devlin et al. 2019, appendix A.3: batches of 32,
learning rate 2e-5, 3 epochs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.command_line import above_zero, option, positive

#: Criterion -> the predictions from a sentence's vector whose losses it adds up.
CRITERIA: dict[str, tuple[str, ...]] = {
    "nsp": ("previous_sentence", "next_sentence"),
    "nl": ("level",),
    "spp": ("place_in_paragraph", "place_in_document"),
    "sdt": ("section_title", "document_title"),
}
#: The model that is the authors' own, made from nothing.
GRU = "gru"


def terms_of(criteria: Sequence[str]) -> list[str]:
    """The predictions of some criteria, in the order of :data:`CRITERIA`."""
    return [term for name, own in CRITERIA.items() if name in criteria for term in own]


def _count(default: int | None, said: str) -> Any:
    return option(default, said, parse=positive, metavar="N", rare=True)


@dataclass(frozen=True)
class Settings:
    """Settings of a training, whatever it is for; ``max_length`` None: as the encoder says."""

    learning_rate: float = option(
        2e-5,
        "highest learning rate; for gru 1e-3",
        parse=above_zero,
        metavar="X",
        rare=True,
    )
    epochs: int = _count(3, "largest number of epochs; for spans 10, for gru 1")
    batch_size: int = _count(32, "rows of a training step; for gru 20")
    patience: int = _count(2, "stop after N epochs without improvement on the validation split")
    max_length: int | None = _count(
        None,
        "largest number of tokens of a text, or of a sentence with its document; default 512, or "
        "the encoder's limit if lower",
    )
    device: str = option("auto", "auto: a GPU if there is one", choices=("auto", "cpu"), rare=True)


@dataclass(frozen=True)
class TaskOptions:
    """Options that only some trainings have a use for."""

    folds: int | None = _count(
        None, "spans: cross-validate on train and validation; each source is in one fold"
    )
    dimensions: int = _count(
        300, "encoder: dimensions of gru's word vectors, of each direction, and of decoders"
    )
