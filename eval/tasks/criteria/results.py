"""Losses of encoders that learned from structure, over seeds, and the card of each.

A loss is no score that other tasks have: nothing is compared or shown with the runs of these.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from coherencegym.escapes import markdown_code, markdown_table
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.tasks.collect import about_dataset
from coherencegym.eval.tasks.criteria.beginnings import Beginning
from coherencegym.eval.tasks.criteria.options import GRU, name_of
from coherencegym.eval.tasks.criteria.sentences import StructureData
from coherencegym.eval.tasks.criteria.train import TermLoss, TrainedEncoder
from coherencegym.eval.tasks.training.card import card_front, card_training
from coherencegym.eval.tasks.training.fine_tuning import Settings
from coherencegym.eval.tasks.training.seeds import Spread, signed_data, signed_settings

#: The name of the task in results.
TASK = "train-encoder"
#: Fewer documents than this to learn from, and the results say what they are worth.
_FEW = 10_000


@dataclass(frozen=True)
class EncoderResults:
    """Encoders of one combination of criteria, one of each seed.

    Attributes:
        signature: one line from which they can be reproduced.
        model, dataset, settings: facts on the beginning, the documents and the training.
        notes: lines that a reader of the losses must know.
        trained: the encoders.
    """

    signature: str
    model: Mapping[str, Any]
    dataset: Mapping[str, Any]
    settings: Mapping[str, Any]
    notes: Sequence[Note]
    trained: Sequence[TrainedEncoder]

    @property
    def losses(self) -> list[tuple[TermLoss, ...]]:
        """The losses of each prediction, by seed."""
        return list(zip(*(one.losses for one in self.trained), strict=True))

    def content(self) -> dict[str, Any]:
        """The content of ``losses.json``."""
        return {
            "task": TASK,
            **{name: getattr(self, name) for name in ("signature", "model", "dataset", "settings")},
            "notes": [asdict(note) for note in self.notes],
            "seeds": [
                {
                    "folder": f"seed-{one.seed}",
                    **{name: getattr(one, name) for name in ("seed", "best", "epochs", "steps")},
                    "losses": [asdict(loss) for loss in one.losses],
                }
                for one in self.trained
            ],
        }


def collect_encoders(
    data: StructureData,
    start: Beginning,
    criteria: Sequence[str],
    settings: Settings,
    trained: Sequence[TrainedEncoder],
    chosen: Mapping[str, Any],
) -> EncoderResults:
    """The results of a combination of criteria.

    Args:
        data: the sentences.
        start: the beginning of all seeds.
        criteria: their names.
        settings: those of the training.
        trained: the encoders of the seeds.
        chosen: other options: ``configs``, ``split``, ``max_items``.
    """
    model = trained[0].model
    about = {
        **start.about,
        "parameters": model.num_parameters(),
        "dtype": str(model.dtype).removeprefix("torch."),
        "device": str(model.device),
    }
    recorded = {
        **chosen,
        **asdict(settings),
        "max_length": start.max_length,
        "class_weights": None,
        "criteria": name_of(criteria),
        "dimensions": start.hidden,
        "train_on": data.training.configs,
        "training_sha256": data.training.sha256,
        "training_documents": data.training.documents,
        "training_sentences": len(data.training.sentences),
        "intervals": INTERVALS,
        "versions": versions(about),
    }
    test = data.test
    measured = {"config": test.configs, "split": test.split, "sha256": test.sha256}
    tables = [{**measured, "items": test.documents}]
    dataset = about_dataset(data.source, [test.sha256], test.verified, tables)
    signed = {
        "criteria": name_of(criteria),
        "seeds": ",".join(str(one.seed) for one in trained),
        "dimensions": start.hidden,
        **signed_settings(recorded),
    }
    learned = signed_data(data.training.configs, data.training.sha256)
    return EncoderResults(
        signature=signature(TASK, about, dataset, recorded, signed, train=learned),
        model=about,
        dataset=dataset,
        settings=recorded,
        notes=[*data.source.notes, *_notes(data, trained)],
        trained=trained,
    )


def _notes(data: StructureData, trained: Sequence[TrainedEncoder]) -> Iterator[Note]:
    number = data.training.documents
    yield detail(
        f"trained on {number:,} documents of {data.training.configs} "
        f"({len(data.training.sentences):,} sentences)"
    )
    if number < _FEW:
        yield caution(
            f"trained on only {number:,} documents: enough to show that the training runs, not to "
            "compare criteria; the paper's encoder read 42 million sentences"
        )
    for one in trained:
        yield detail(
            f"seed {one.seed}: least loss on validation {one.best:.3f} nats, {one.epochs:g} "
            f"epochs, {one.steps:,} steps"
        )


def encoder_card(results: EncoderResults) -> str:
    """The card of the encoder of one seed."""
    return "\n".join([*_front(results), *_figures(results), *_training(results)]) + "\n"


def _front(results: EncoderResults) -> Iterator[str]:
    name, criteria = str(results.model["name"]), results.settings["criteria"]
    tags = ("coherencegym", "discourse", "sentence-embeddings")
    yield from card_front(
        name, results.model["hub"], results.dataset["repo"], "feature-extraction", tags
    )
    what = "A bidirectional GRU over word vectors," if name == GRU else f"{markdown_code(name)},"
    yield from (
        "# A sentence encoder trained on the structure of documents",
        "",
        f"{what} trained with the criteria `{criteria}` of Chen, Chu and Gimpel (2019). The vector "
        "of a sentence is the mean of its last hidden states."
        + " Load the model with CoherenceGym; transformers alone does not know its type."
        * (name == GRU),
        "",
        "```bash",
        "coherencegym probe --model FOLDER --dataset coherencegym/discourse_tasks --layers last",
        "```",
    )


def _figures(results: EncoderResults) -> Iterator[str]:
    yield from ("", "## Losses", "", *markdown_table(LOSS_COLUMNS, map(loss_cells, results.losses)))
    split = markdown_code(results.settings["split"])
    yield from ("", f"The losses are in nats, on {split}; {LOSS_LEGEND}")


#: Columns of a table of losses.
LOSS_COLUMNS = (
    *("prediction", "sentences", "before", "after", "by frequencies", "after, on train"),
)
LOSS_LEGEND = (
    "by frequencies: a baseline that predicts the frequencies in train for every sentence; the "
    "loss of a bag of words is the mean over its words"
)


def loss_cells(losses: Sequence[TermLoss]) -> tuple[str, ...]:
    """The cells of a row of a table of losses: those of one prediction, of all seeds."""

    def cell(name: str) -> str:
        spread = Spread.of([getattr(loss, name) for loss in losses])
        return f"{spread.mean:.3f}" + f" ± {spread.deviation:.3f}" * (spread.deviation > 0)

    one = losses[0]
    names = ("before", "after", "by_frequencies", "learned")
    return one.term.replace("_", " "), f"{one.sentences:,}", *map(cell, names)


def _training(results: EncoderResults) -> Iterator[str]:
    settings, (one,) = results.settings, results.trained
    about = {
        "encoder": f"{results.model['name']} at {results.model['commit']}",
        "data": f"{results.dataset['name']}, {settings['train_on']}",
        "training sentences": f"{settings['training_sentences']:,}",
        "seed": one.seed,
        "learning rate": settings["learning_rate"],
        "batch size": settings["batch_size"],
        "epochs": f"{one.epochs:g} of at most {settings['epochs']} ({one.steps:,} steps)",
        "lowest loss on validation": f"{one.best:.3f}",
        "maximum number of tokens of a sentence": settings["max_length"],
    }
    learned = "The model has learned the structure of these documents; other genres may differ."
    yield from card_training(about, learned, results.signature)
