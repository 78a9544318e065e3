"""Train an encoder of sentences on the structure of documents, by one combination of criteria.

Chen, Chu and Gimpel 2019, section 4. A loss is no score that other tasks have: nothing is compared
or shown with the runs of these.

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

A word is a run of letters and digits or of other signs, in lower case. The paper has text that is
tokenised already, and predicts words that are not among the 50,000 most frequent ones as one
unknown word; here a word that occurs once in the training is unknown, too, so that there is
something to learn about it however little is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import torch

from coherencegym.errors import EvaluationError
from coherencegym.escapes import markdown_code
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.documents import STRUCTURES, StructuredDocument
from coherencegym.eval.kinds.table_kind import rows_digest
from coherencegym.eval.models.word_gru import WordGRU, WordGRUConfig
from coherencegym.eval.statistics.scores import REFERENCE, Score
from coherencegym.eval.tasks.collect import about_dataset
from coherencegym.eval.tasks.table import Table
from coherencegym.eval.tasks.training import GRU, terms_of
from coherencegym.eval.tasks.training.encoder import WEIGHT_DECAY, Encoder, Trained, run_trainer
from coherencegym.eval.tasks.training.training import Training, TrainingData, one_table

#: The paper's code: Adam, 20 sentences a step, once through, sentences cut to 200 words.
GRU_SETTINGS: dict[str, Any] = {"learning_rate": 1e-3, "epochs": 1, "batch_size": 20}
GRU_LENGTH = 200


@dataclass(frozen=True)
class NewGRU:
    """A GRU before it is trained: its sizes, its tokenizer, and most words of a sentence."""

    config: WordGRUConfig
    tokenizer: Any
    max_length: int
    about: ClassVar[dict[str, Any]] = {"name": GRU, "commit": "new", "hub": False}

    @classmethod
    def of(
        cls, sentences: Sequence[PlacedSentence], dimensions: int, max_length: int | None = None
    ) -> NewGRU:
        """One that reads the words of sentences; ``dimensions``: of words and of a direction."""
        words, most = frequent_words(one.text for one in sentences), max_length or GRU_LENGTH
        sizes = {"embedding_size": dimensions, "direction_size": dimensions}
        config = WordGRUConfig(vocab_size=len(words) + 2, **sizes)
        return cls(config, word_tokenizer(words, most), most)

    def without_head(self) -> Any:
        """The encoder; what is random in it comes of torch's generator."""
        return WordGRU(self.config)


#: Levels that are told apart, and equal parts of a paragraph or document, as in the paper's code.
LEVELS, PLACES = 7, 20
_TRAIN, _VALIDATION = "train", "validation"


@dataclass(frozen=True, slots=True)
class PlacedSentence:
    """A sentence, and where it stands.

    Attributes:
        text: the sentence.
        previous, following: its neighbours in the document; empty where there is none.
        level: the depth of its section, from 0, 6 at most.
        place_in_paragraph, place_in_document: the place of the sentence in its paragraph, and of
            the paragraph in its document, as one of 20 equal parts from 0.
        section_title, document_title: empty where there is none.
    """

    text: str
    previous: str
    following: str
    level: int
    place_in_paragraph: int
    place_in_document: int
    section_title: str
    document_title: str


def placed_sentences(documents: Iterable[StructuredDocument]) -> Iterator[PlacedSentence]:
    """The sentences of documents in reading order."""
    for document in documents:
        sentences = list(document.sentences)
        paragraphs = sum(len(section.paragraphs) for section in document.sections)
        number = paragraph_number = 0
        for section in document.sections:
            for paragraph in section.paragraphs:
                for place, text in enumerate(paragraph):
                    yield PlacedSentence(
                        text=text,
                        previous=sentences[number - 1] if number else "",
                        following=sentences[number + 1] if number + 1 < len(sentences) else "",
                        level=min(section.level, LEVELS) - 1,
                        place_in_paragraph=PLACES * place // len(paragraph),
                        place_in_document=PLACES * paragraph_number // paragraphs,
                        section_title=section.title,
                        document_title=document.title,
                    )
                    number += 1
                paragraph_number += 1


def read_structures(
    dataset: str,
    train_on: Sequence[str] = (),
    test_on: Sequence[str] = (),
    split: str = "test",
    *,
    revision: str | None = None,
    max_items: int | None = None,
) -> TrainingData:
    """Read the documents of a training.

    Args:
        dataset: a Hub id or a folder.
        train_on: configs to learn from and to choose weights on; none: all of documents with
            structure.
        test_on: configs to measure on; none: those of ``train_on``.
        split: the one that is measured on.
        revision: tag or commit on the Hub.
        max_items: no more documents than this of each table.
    """
    source = find_dataset(dataset, revision, list(dict.fromkeys((*train_on, *test_on))))

    def part(chosen: Sequence[str], split: str) -> Table[StructuredDocument]:
        read = table_rows(source, chosen, (split,), kind=STRUCTURES)
        tables = [Table.of(source, one, one.read(max_items)) for one in read]
        found = one_table(tables)
        if not any(True for document in found.rows for _ in document.sentences):
            raise EvaluationError(f"split {split!r} of {found.config}: no sentence; expected some")
        sha256 = rows_digest(f"{table.config} {table.rows_sha256}" for table in tables)
        return replace(found, rows_sha256=sha256)

    training = part(train_on, _TRAIN)
    return TrainingData(
        source=source,
        configs=training.config,
        rows_sha256=training.rows_sha256,
        texts=len(training.rows),
        training=tuple(placed_sentences(training.rows)),
        validation=tuple(placed_sentences(part(train_on, _VALIDATION).rows)),
        inputs=(part(test_on or train_on, split),),
    )


#: Most words of a vocabulary, as in the paper.
MOST_WORDS = 50_000
_PADDING, _UNKNOWN = "[PAD]", "[UNK]"
#: Predictions that are bags of words, and the attribute that they are of.
_BAGS = {
    "previous_sentence": "previous",
    "next_sentence": "following",
    "section_title": "section_title",
    "document_title": "document_title",
}


def words_of(text: str) -> list[str]:
    """The words of a text.

    >>> words_of("Don't stop!")
    ['don', "'", 't', 'stop', '!']
    """
    from tokenizers.pre_tokenizers import Whitespace

    return [word for word, _ in Whitespace().pre_tokenize_str(text.lower())]


def frequent_words(texts: Iterable[str]) -> list[str]:
    """The words that occur twice or more, the most frequent first; at most :data:`MOST_WORDS`."""
    counts = Counter(word for text in texts for word in words_of(text))
    found = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
    return [word for word, count in found if count > 1][:MOST_WORDS]


@dataclass(frozen=True)
class Targets:
    """The ids that are predicted of a sentence: those of the words of a bag, or of one class.

    Attributes:
        vocabularies: prediction -> word -> id, of those that are bags of words; id 0 is a word that
            is in none.
        max_words: words of a bag that are predicted; the others are cut.
    """

    vocabularies: Mapping[str, Mapping[str, int]]
    max_words: int = 200

    @classmethod
    def of(cls, sentences: Sequence[PlacedSentence], max_words: int = 200) -> Targets:
        """Those of sentences to learn from; both neighbours share a vocabulary, titles do not."""
        texts = {
            "previous_sentence": [one.text for one in sentences],
            "section_title": [one.section_title for one in sentences],
            "document_title": [one.document_title for one in sentences],
        }
        found = {
            name: {word: id for id, word in enumerate(frequent_words(own), start=1)}
            for name, own in texts.items()
        }
        return cls({**found, "next_sentence": found["previous_sentence"]}, max_words)

    def size(self, term: str) -> int:
        """The number of ids of a prediction."""
        if term in _BAGS:
            return len(self.vocabularies[term]) + 1
        return LEVELS if term == "level" else PLACES

    def ids(self, sentence: PlacedSentence, term: str) -> list[int]:
        """The ids that are right; none where there is nothing to predict."""
        if term not in _BAGS:
            return [int(getattr(sentence, term))]
        known = self.vocabularies[term]
        words = words_of(getattr(sentence, _BAGS[term]))[: self.max_words]
        return [known.get(word, 0) for word in words]

    def frequencies(self, sentences: Sequence[PlacedSentence], term: str) -> np.ndarray:
        """The best prediction that is the same for all sentences, shape (ids,).

        It is the mean of the right distributions, and of a uniform one so that nothing is 0.
        """
        size = self.size(term)
        found, rows = np.full(size, 1 / size), 1
        for sentence in sentences:
            if ids := self.ids(sentence, term):
                np.add.at(found, ids, 1 / len(ids))
                rows += 1
        return found / rows


def word_tokenizer(words: Sequence[str], max_length: int) -> Any:
    """A tokenizer of transformers that reads these words, and any other as an unknown one."""
    from tokenizers import Tokenizer
    from tokenizers.models import WordLevel
    from tokenizers.normalizers import Lowercase
    from tokenizers.pre_tokenizers import Whitespace
    from transformers import PreTrainedTokenizerFast

    ids = {word: number for number, word in enumerate((_PADDING, _UNKNOWN, *words))}
    tokenizer = Tokenizer(WordLevel(ids, unk_token=_UNKNOWN))
    tokenizer.normalizer = Lowercase()
    tokenizer.pre_tokenizer = Whitespace()
    return PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token=_PADDING,
        unk_token=_UNKNOWN,
        model_max_length=max_length,
    )


#: Fills up lists of ids.
NO_ID = -1
#: Tensors by their names.
Tensors = Mapping[str, Any]


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
        """Make a decoder of hidden layers so wide for each prediction, which has so many ids."""
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

    def losses(self, inputs: Tensors, targets: Tensors) -> dict[str, tuple[Any, Any]]:
        """The losses of a batch: prediction -> their sum, and over how many sentences it is.

        ``targets`` are the ids that are right, shape (B, most of any), filled up with -1.
        """
        vectors = sentence_vectors(self.encoder, inputs)
        return {
            term: summed_loss(decoder(vectors), targets[term])
            for term, decoder in self.decoders.items()
        }

    def forward(self, inputs: Tensors, targets: Tensors, return_loss: bool = True) -> Tensors:
        """The loss of a batch: the sum over the predictions of the mean over its sentences."""
        found = self.losses(inputs, targets).values()
        return {"loss": torch.stack([total / rows.clamp(min=1) for total, rows in found]).sum()}


def sentence_vectors(encoder: Any, inputs: Tensors) -> Any:
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
#: The losses of a prediction: with the weights that were kept, and of the best prediction that is
#: the same for every sentence, what no encoder is needed for.
AFTER, BY_FREQUENCIES = "after", "by frequencies"


@dataclass(frozen=True)
class EncoderTraining(Training):
    """Encoders of one combination of criteria, ``own["criteria"]``: their losses are added up."""

    name = "train-encoder"
    texts, rows, best = "documents", "sentences", "least loss"
    in_nats = True

    @cached_property
    def targets(self) -> Targets:
        """The ids that are predicted."""
        return Targets.of(self.data.training)

    def train(self, part: TrainingData, seed: int, *, progress: bool = False) -> Trained:
        """Train an encoder from one seed, and measure its losses."""
        from transformers import set_seed

        start, targets, settings = self.encoder, self.targets, self.settings
        is_new = isinstance(start, NewGRU)
        terms = terms_of(self.own["criteria"].split("+"))
        (test,), learned = self.data.inputs, part.training
        measured = tuple(placed_sentences(test.rows))
        parts = (_TRAIN, learned), (_VALIDATION, part.validation), (test.split, measured)
        for split, sentences in parts:
            for term in terms:
                if not any(targets.ids(sentence, term) for sentence in sentences):
                    raise EvaluationError(
                        f"split {split!r}: no sentence has a {term.replace('_', ' ')}; expected "
                        "documents that do, or other --criteria"
                    )
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
        rate = settings.learning_rate
        optimizer = torch.optim.AdamW(
            [
                {"params": model.encoder.parameters(), "lr": rate},
                {"params": model.decoders.parameters(), "lr": rate if is_new else DECODER_RATE},
            ],
            # Without decay it is Adam.
            weight_decay=0.0 if is_new else WEIGHT_DECAY,
        )
        state = run_trainer(
            model,
            learned,
            settings,
            seed,
            progress,
            arguments,
            data_collator=collate,
            eval_dataset=part.validation,
            optimizers=(optimizer, None),
        )
        losses = {
            AFTER: mean_losses(model, measured, collate, size),
            BY_FREQUENCIES: constant_losses(targets, terms, learned, measured),
        }
        scores = [
            Score(
                config=term.replace("_", " "),
                split=test.split,
                group="",
                level=REFERENCE,
                n=sum(1 for sentence in measured if targets.ids(sentence, term)),
                metric=metric,
                score=losses[metric][term],
                ci_low=None,
                ci_high=None,
            )
            for term in terms
            for metric in losses
        ]
        trained = Trained(model.encoder, start.tokenizer, seed, *state)
        table = {"config": test.config, "split": test.split, "sha256": test.rows_sha256}
        tables = [{**table, "items": len(test.rows)}]
        dataset = about_dataset(self.data.source, [test.rows_sha256], test.verified, tables)
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
        yield detail(
            f"losses of {self.own['criteria']} in nats on {self.data.inputs[0].split}; by "
            "frequencies: a "
            "baseline that predicts the frequencies in train for every sentence; the loss of a bag "
            "of words is the mean over its words"
        )

    @property
    def card(self) -> dict[str, str]:
        """What the card of an encoder says."""
        name = str(self.encoder.about["name"])
        what = "A bidirectional GRU over word vectors" if name == GRU else markdown_code(name)
        said = " Load the model with CoherenceGym; transformers alone does not know its type."
        new = said if name == GRU else ""
        return {
            "pipeline": "feature-extraction",
            "title": "A sentence encoder trained on the structure of documents",
            "about": f"{what}, trained with the criteria `{self.own['criteria']}` of Chen, Chu and "
            f"Gimpel (2019). The vector of a sentence is the mean of its last hidden states.{new}",
            "use": "coherencegym probe --model FOLDER --dataset coherencegym/discourse_tasks "
            "--layers last",
        }


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
    device = next(model.parameters()).device
    totals: dict[str, list[float]] = {}
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
    return {term: total / rows for term, (total, rows) in totals.items()}


def constant_losses(
    targets: Targets,
    terms: Sequence[str],
    learned: Sequence[PlacedSentence],
    measured: Sequence[PlacedSentence],
) -> dict[str, float]:
    """The losses on some sentences of predicting the frequencies of others, in nats."""
    found = {}
    for term in terms:
        logs = -np.log(targets.frequencies(learned, term))
        rows = [float(logs[ids].mean()) for one in measured if (ids := targets.ids(one, term))]
        found[term] = sum(rows) / len(rows)
    return found
