"""Train an encoder of sentences on the structure of documents, by one combination of criteria.

A loss is no score that other tasks have: nothing is compared or shown with the runs of these.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.escapes import markdown_code
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.statistics.scores import REFERENCE, Score
from coherencegym.eval.tasks.collect import about_dataset
from coherencegym.eval.tasks.criteria.gru import NewGRU
from coherencegym.eval.tasks.criteria.options import GRU, terms_of
from coherencegym.eval.tasks.criteria.sentences import PlacedSentence, StructurePart
from coherencegym.eval.tasks.criteria.words import Targets
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.training.encoder import Encoder
from coherencegym.eval.tasks.training.fine_tuning import WEIGHT_DECAY, Trained, prepared_trainer
from coherencegym.eval.tasks.training.options import Settings
from coherencegym.eval.tasks.training.results import Words
from coherencegym.eval.tasks.training.training import CardText, Training, TrainingData

#: The learning rate of decoders, which are new, as that of the paper's code for all there is.
DECODER_RATE = 1e-3
#: Fewer documents than this to learn from, and the results say what they are worth.
_FEW = 10_000
#: The losses of a prediction: at the beginning; with the weights that were kept; of the best
#: prediction that is the same for every sentence, what no encoder is needed for; and with the
#: weights that were kept on the sentences that were learned from.
BEFORE, AFTER, BY_FREQUENCIES, LEARNED = "before", "after", "by frequencies", "after, on train"
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
    words = Words(
        "documents", "sentences", "least loss", (BEFORE, AFTER, BY_FREQUENCIES, LEARNED), True
    )

    @property
    def test(self) -> StructurePart:
        """The sentences that losses are measured on."""
        part: StructurePart = self.data.inputs[0]
        return part

    def train(self, part: TrainingData, seed: int, *, progress: bool = False) -> Trained:
        """Train an encoder from one seed, and measure its losses."""
        from transformers import set_seed

        from coherencegym.eval.tasks.criteria.decoders import CriteriaModel

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
            losses[LEARNED] = mean_losses(model, learned, collate, size)
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
            for metric in self.words.columns
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

    def card(self, own: Results) -> CardText:
        """What the card of an encoder says."""
        name = str(self.encoder.about["name"])
        what = "A bidirectional GRU over word vectors" if name == GRU else markdown_code(name)
        new = " Load the model with CoherenceGym; transformers alone does not know its type."
        return CardText(
            pipeline="feature-extraction",
            tags=("coherencegym", "discourse", "sentence-embeddings"),
            title="A sentence encoder trained on the structure of documents",
            about=f"{what}, trained with the criteria `{self.own['criteria']}` of Chen, Chu and "
            "Gimpel (2019). The vector of a sentence is the mean of its last hidden states."
            + new
            * (name == GRU),
            use=(
                "```bash",
                "coherencegym probe --model FOLDER --dataset coherencegym/discourse_tasks --layers "
                "last",
                "```",
            ),
            figures=f"{_LEGEND[0].upper()}{_LEGEND[1:]}.",
            learned="The model has learned the structure of these documents; other genres may "
            "differ.",
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
    from coherencegym.eval.tasks.criteria.decoders import padded

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
