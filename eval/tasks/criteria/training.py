"""Train an encoder of sentences on the structure of documents, by one combination of criteria.

A loss is no score that other tasks have: nothing is compared or shown with the runs of these.

From the vector of a sentence a decoder of its own predicts each of these, and the loss is the sum
over those that are on, each with weight 1:

- ``nsp``: -log p(previous sentence) - log p(next sentence), bags of words;
- ``nl``: -log p(level), how deep the section lies, 1 to 7;
- ``spp``: -log p(place of the sentence in its paragraph) - log p(place of the paragraph in the
  document), each one of 20 equal parts;
- ``sdt``: -log p(section title) - log p(document title), bags of words.

The log probability of a bag of words is the mean over its words, as in the paper's code (its
formula has the sum). The code has the places as numbers, too; 20 parts know no longest document. A
sentence without one of these (the first has nothing before it, text above all headings no section
title) counts in the other losses alone; the paper's data have none such. A decoder has two hidden
layers (ReLU); the code has a further linear map of the hidden width in those of bags, which adds
nothing that the last one cannot do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import torch

from coherencegym.errors import EvaluationError
from coherencegym.escapes import markdown_code
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.statistics.scores import REFERENCE, Score
from coherencegym.eval.tasks.collect import about_dataset
from coherencegym.eval.tasks.criteria.sentences import (
    NewGRU,
    PlacedSentence,
    StructurePart,
    Targets,
)
from coherencegym.eval.tasks.training.encoder import (
    WEIGHT_DECAY,
    Encoder,
    Trained,
    prepared_trainer,
)
from coherencegym.eval.tasks.training.options import GRU, Settings, terms_of
from coherencegym.eval.tasks.training.training import CardText, Training, TrainingData

#: Fills up lists of ids.
NO_ID = -1


def summed_loss(logits: Any, ids: Any) -> tuple[Any, Any]:
    """The sum of the mean of -log p (nats) over the ids of each row, and how many rows have any.

    Args:
        logits: shape (B, classes).
        ids: shape (B, most of any), filled up with -1.
    """
    there = ids != NO_ID
    right = torch.log_softmax(logits.float(), -1).gather(1, ids.clamp(min=0))
    numbers = there.sum(1)
    rows = -(right * there).sum(1) / numbers.clamp(min=1)
    return rows.sum(), (numbers > 0).sum()


class CriteriaModel(torch.nn.Module):  # type: ignore[misc]
    """An encoder with a decoder for each prediction, as the Trainer trains it."""

    def __init__(self, encoder: Any, sizes: Mapping[str, int], hidden: int) -> None:
        """Make the decoders.

        Args:
            encoder: a model of transformers without a head.
            sizes: prediction -> the number of its ids.
            hidden: width of the decoders' hidden layers.
        """
        super().__init__()
        self.encoder = encoder
        width = int(encoder.config.hidden_size)
        self.decoders = torch.nn.ModuleDict(
            {
                term: torch.nn.Sequential(
                    *(torch.nn.Linear(width, hidden), torch.nn.ReLU()),
                    *(torch.nn.Linear(hidden, hidden), torch.nn.ReLU()),
                    torch.nn.Linear(hidden, size),
                )
                for term, size in sizes.items()
            }
        )

    def losses(
        self, inputs: Mapping[str, Any], targets: Mapping[str, Any]
    ) -> dict[str, tuple[Any, Any]]:
        """The losses of a batch: prediction -> their sum, and over how many sentences it is.

        ``targets`` are the ids that are right, shape (B, most of any), filled up with -1.
        """
        vectors = sentence_vectors(self.encoder, inputs)
        return {
            term: summed_loss(decoder(vectors), targets[term])
            for term, decoder in self.decoders.items()
        }

    def forward(
        self, inputs: Mapping[str, Any], targets: Mapping[str, Any], return_loss: bool = True
    ) -> dict[str, Any]:
        """The loss of a batch: the sum over the predictions of the mean over its sentences."""
        found = self.losses(inputs, targets).values()
        return {"loss": torch.stack([total / rows.clamp(min=1) for total, rows in found]).sum()}


def sentence_vectors(encoder: Any, inputs: Mapping[str, Any]) -> Any:
    """The mean of an encoder's last states over a text's own tokens, shape (B, width).

    Args:
        encoder: a model of transformers without a head.
        inputs: ``input_ids``, ``attention_mask``, and ``special_tokens_mask``, all (B, T): tokens
            that the tokenizer adds are in no vector, as they are in no probe's.
    """
    mask = inputs["attention_mask"]
    states = encoder(input_ids=inputs["input_ids"], attention_mask=mask).last_hidden_state
    own = (mask * (1 - inputs["special_tokens_mask"])).unsqueeze(-1)
    return (states * own).sum(1) / own.sum(1).clamp(min=1)


def padded(rows: Sequence[Sequence[int]]) -> Any:
    """Lists of ids as a tensor, filled up with -1; there is at least one column."""
    width = max(1, *map(len, rows))
    return torch.tensor([[*row, *[NO_ID] * (width - len(row))] for row in rows])


#: The learning rate of decoders, which are new, as that of the paper's code for all there is.
DECODER_RATE = 1e-3
#: Fewer documents than this to learn from, and the results say what they are worth.
_FEW = 10_000
#: The losses of a prediction: at the beginning; with the weights that were kept; and of the best
#: prediction that is the same for every sentence, what no encoder is needed for.
BEFORE, AFTER, BY_FREQUENCIES = "before", "after", "by frequencies"
_LEGEND = (
    "by frequencies: a baseline that predicts the frequencies in train for every sentence; the "
    "loss of a bag of words is the mean over its words"
)


@dataclass(frozen=True)
class EncoderTraining(Training):
    """Encoders of one combination of criteria.

    Attributes:
        targets: the ids that are predicted.
        criteria: names; their losses are added up.
    """

    targets: Targets
    criteria: Sequence[str]

    name = "train-encoder"
    texts, rows, best = "documents", "sentences", "least loss"
    in_nats = True

    @property
    def test(self) -> StructurePart:
        """The sentences that losses are measured on."""
        part: StructurePart = self.data.inputs[0]
        return part

    def train(self, part: TrainingData, seed: int, *, progress: bool = False) -> Trained:
        """Train an encoder from one seed, and measure its losses."""
        from transformers import set_seed

        start, targets, settings = self.encoder, self.targets, self.settings
        is_new = isinstance(start, NewGRU)
        terms = terms_of(self.criteria)
        learned, measured = part.training, self.test.sentences
        _require_targets(terms, targets, learned, "train")
        _require_targets(terms, targets, part.validation, "validation")
        _require_targets(terms, targets, measured, self.test.split)
        set_seed(seed)
        sizes = {term: targets.size(term) for term in terms}
        model = CriteriaModel(start.without_head(), sizes, self.own["dimensions"])
        collate, size = collator_of(start, targets, terms), 2 * settings.batch_size
        arguments = {
            "prediction_loss_only": True,
            "metric_for_best_model": "loss",
            "greater_is_better": False,
        }
        if is_new:
            plain = {"lr_scheduler_type": "constant", "warmup_steps": 0, "max_grad_norm": 0.0}
            arguments |= plain
        with prepared_trainer(
            model,
            learned,
            settings,
            seed,
            progress,
            arguments,
            data_collator=collate,
            eval_dataset=part.validation,
            optimizers=(_optimizer(model, settings, plain=is_new), None),
        ) as trainer:
            losses = {BEFORE: mean_losses(model, measured, collate, size)}
            trainer.train()
            losses[AFTER] = mean_losses(model, measured, collate, size)
        losses[BY_FREQUENCIES] = constant_losses(targets, terms, learned, measured)
        scores = [
            Score(
                config=term.replace("_", " "),
                split=self.test.split,
                group="",
                level=REFERENCE,
                n=sum(1 for sentence in measured if targets.ids(sentence, term)),
                metric=metric,
                score=losses[metric][term],
                ci_low=None,
                ci_high=None,
            )
            for term in terms
            for metric in (BEFORE, AFTER, BY_FREQUENCIES)
        ]
        trained = Trained.by(trainer, model.encoder, start.tokenizer)
        test = {name: getattr(self.test, name) for name in ("split", "sha256")}
        tables = [{"config": self.test.configs, **test, "items": self.test.documents}]
        digests, verified = [self.test.sha256], self.test.verified
        dataset = about_dataset(self.data.source, digests, verified, tables)
        notes = list(self.notes(trained))
        return replace(trained, results=self.collect([trained], dataset, [notes], [scores]))

    def notes(self, trained: Trained) -> Iterator[Note]:
        """Lines on how an encoder was made."""
        yield from self.data.source.notes
        yield from super().notes(trained)
        if (number := self.data.texts) < _FEW:
            yield caution(
                f"trained on only {number:,} documents: enough to show that the training runs, not "
                "to compare criteria; the paper's encoder read 42 million sentences"
            )
        yield detail(f"losses of {self.own['criteria']} in nats on {self.test.split}; {_LEGEND}")

    @property
    def card(self) -> CardText:
        """What the card of an encoder says."""
        name = str(self.encoder.about["name"])
        what = "A bidirectional GRU over word vectors" if name == GRU else markdown_code(name)
        new = " Load the model with CoherenceGym; transformers alone does not know its type."
        return CardText(
            pipeline="feature-extraction",
            title="A sentence encoder trained on the structure of documents",
            about=f"{what}, trained with the criteria `{self.own['criteria']}` of Chen, Chu and "
            "Gimpel (2019). The vector of a sentence is the mean of its last hidden states."
            + new
            * (name == GRU),
            use="coherencegym probe --model FOLDER --dataset coherencegym/discourse_tasks "
            "--layers last",
        )


def _require_targets(
    terms: Sequence[str], targets: Targets, sentences: Sequence[PlacedSentence], split: str
) -> None:
    for term in terms:
        if not any(targets.ids(sentence, term) for sentence in sentences):
            what = term.replace("_", " ")
            raise EvaluationError(
                f"split {split!r}: no sentence has a {what}; expected documents that do, or other "
                "--criteria"
            )


def _optimizer(model: Any, settings: Settings, *, plain: bool) -> Any:
    import torch

    return torch.optim.AdamW(
        [
            {"params": model.encoder.parameters(), "lr": settings.learning_rate},
            {
                "params": model.decoders.parameters(),
                "lr": settings.learning_rate if plain else DECODER_RATE,
            },
        ],
        # Without decay it is Adam.
        weight_decay=0.0 if plain else WEIGHT_DECAY,
    )


def collator_of(
    encoder: Encoder | NewGRU, targets: Targets, terms: Sequence[str]
) -> Callable[[Sequence[PlacedSentence]], dict[str, Any]]:
    """Sentences to a batch of tensors: ``inputs`` of the encoder, ``targets`` of the decoders."""

    def collate(sentences: Sequence[PlacedSentence]) -> dict[str, Any]:
        inputs = encoder.tokenizer(
            [one.text for one in sentences],
            truncation=True,
            max_length=encoder.max_length,
            padding=True,
            padding_side="right",
            return_attention_mask=True,
            return_special_tokens_mask=True,
            return_tensors="pt",
        )
        names = ("input_ids", "attention_mask", "special_tokens_mask")
        return {
            "inputs": {name: inputs[name] for name in names},
            "targets": {
                term: padded([targets.ids(one, term) for one in sentences]) for term in terms
            },
        }

    return collate


def mean_losses(
    model: Any,
    sentences: Sequence[PlacedSentence],
    collate: Callable[[Sequence[PlacedSentence]], dict[str, Any]],
    batch_size: int,
) -> dict[str, float]:
    """The mean loss of each prediction over the sentences that it is of, in nats."""
    import torch

    device = next(model.parameters()).device
    totals: dict[str, list[float]] = {}
    was_training = model.training
    model.eval()
    with torch.inference_mode():
        for first in range(0, len(sentences), batch_size):
            batch = sentences[first : first + batch_size]
            made = {
                name: {key: value.to(device) for key, value in part.items()}
                for name, part in collate(batch).items()
            }
            for term, (total, rows) in model.losses(**made).items():
                sums = totals.setdefault(term, [0.0, 0.0])
                sums[0] += float(total)
                sums[1] += int(rows)
    model.train(was_training)
    return {term: total / rows for term, (total, rows) in totals.items()}


def constant_losses(
    targets: Targets,
    terms: Sequence[str],
    learned: Sequence[PlacedSentence],
    measured: Sequence[PlacedSentence],
) -> dict[str, float]:
    """The losses on some sentences of predicting the frequencies of others, in nats."""
    import numpy as np

    found = {}
    for term in terms:
        logs = -np.log(targets.frequencies(learned, term))
        rows = [float(logs[ids].mean()) for one in measured if (ids := targets.ids(one, term))]
        found[term] = sum(rows) / len(rows)
    return found
