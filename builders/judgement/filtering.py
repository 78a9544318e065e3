"""Filters by readers: of the items that were read, those on which readers prefer the original.

The answers are those to pairs, and their readers never those who measure human performance. People
prefer the original of an item if most of them, of every pair that was read, call the incoherent
text the less coherent. Models, two or more, have all to do so, and in both orders of the texts:
whoever has a liking for A or B keeps nothing by it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from coherencegym.builders.judgement.match import INCOHERENT, JudgedPair, Matcher
from coherencegym.builders.judgement.questions import MODEL_READER, PAIR, is_model
from coherencegym.builders.judgement.read import Answers, read_answers
from coherencegym.builders.suite import Column, Config, GeneratedItem, Suite
from coherencegym.eval.data.dataset import FILTER_MODEL, FILTER_MODELS
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.tasks.pair_readings import READING_PROMPT
from coherencegym.loaders.corpus import CorpusError

#: Sorts of readers, and the ends of the names of configs that they filtered.
PEOPLE, MODELS = "people", "models"
_SUFFIXES = {PEOPLE: "people_filtered", MODELS: "model_filtered"}
_SUMMARIES = {
    PEOPLE: "only items of which people who read them blind prefer the original",
    MODELS: "only items of which models that read them blind prefer the original",
}
_COLUMN = Column("string", "the models with which the item was chosen")


@dataclass(frozen=True)
class FilteredSplit:
    """The items of a split that were read, and those of them that are kept, in their order."""

    read: int
    kept: list[GeneratedItem]


class ReaderFilter:
    """Chooses items by the answers of readers of one sort: :data:`PEOPLE` or :data:`MODELS`."""

    def __init__(self, suite: str, readers: str, answers: Answers) -> None:
        self.readers = readers
        self.matcher = Matcher(suite, answers)
        names = sorted({one.annotator for one in answers.answers})
        self.models = tuple(name.removeprefix(MODEL_READER) for name in names if is_model(name))
        self.n_readers = len(names)

    def name(self, unfiltered: str) -> str:
        """The name of a config, filtered."""
        return "_".join(filter(None, (unfiltered, _SUFFIXES[self.readers])))

    def config(self, unfiltered: Config) -> Config:
        """The declaration of a config, filtered: nobody is asked about its pairs once more."""
        summary = f"{unfiltered.summary.rstrip('.')}; {_SUMMARIES[self.readers]}"
        columns = dict(unfiltered.columns) | ({FILTER_MODEL: _COLUMN} if self.models else {})
        return replace(
            unfiltered,
            name=self.name(unfiltered.name),
            summary=summary,
            columns=columns,
            questions=(),
        )

    def about(self, unfiltered: str) -> dict[str, Any]:
        """The entry of a filtered config in the manifest: people are counted, models named."""
        return {
            "unfiltered": unfiltered,
            "readers": self.readers,
            "number": self.n_readers,
            "models": list(self.models),
            **({"prompt": f"eval/tasks/templates/{READING_PROMPT}"} if self.models else {}),
            "answers_sha256": sorted(self.matcher.answers.digests),
        }

    def choose(self, config: str, split: str, items: Sequence[GeneratedItem]) -> FilteredSplit:
        """The items of a config and split that were read, and those that are kept.

        Raises:
            CorpusError: a reader answered a pair twice, or a model in one order only.
        """
        read, kept = 0, []
        for one in items:
            judged = [
                pair
                for pair in self.matcher.judged(config, split, one.item)
                if pair.has_verdicts and self._is_whole(pair)
            ]
            read += bool(judged)
            if judged and all(map(self._is_preferred, judged)):
                kept.append(self._marked(one))
        return FilteredSplit(read, kept)

    def _is_whole(self, judged: JudgedPair) -> bool:
        if not self.models:
            return True
        times = Counter(vote.annotator for vote in judged.votes)
        for model, number in times.items():
            if number != 2:
                raise CorpusError(
                    f"--judged: {model} read a pair of {judged.item.item_id} in one order, "
                    "expected both: take the answers as `coherencegym judge --model` writes them"
                )
        # What is too long for one of them was not read.
        return len(times) == self.n_readers

    def _is_preferred(self, judged: JudgedPair) -> bool:
        if not self.models:
            return judged.verdict == INCOHERENT
        return all(vote.less_coherent == INCOHERENT for vote in judged.votes)

    def _marked(self, one: GeneratedItem) -> GeneratedItem:
        if not self.models:
            return one
        before = one.item.extra.get(FILTER_MODEL)
        named = FILTER_MODELS.join(filter(None, (before, *self.models)))
        item: Item = replace(one.item, extra={**one.item.extra, FILTER_MODEL: named})
        return replace(one, item=item)


def reader_filters(
    suite: Suite, paths: Sequence[Path], skip_bad_rows: bool, others: Answers | None
) -> list[ReaderFilter]:
    """The filters of the answers in some files: one of people, one of models, or both.

    Args:
        suite: the suite that is built.
        paths: the files; none: there is no filter.
        skip_bad_rows: count lines that are no answers.
        others: the answers that human performance is measured by.

    Raises:
        CorpusError: a line is no answer to a pair, a reader is also one of the ``others``, only one
            model read, or as :func:`builders.judgement.read.read_answers`.
    """
    if others is not None:
        _refuse(others, is_model, "--judgements", "a model", "answers of people: models filter")
    if not paths:
        return []
    answers = read_answers(paths, skip_bad_rows, suite.questions)
    for one in answers.answers:
        if one.unit != PAIR:
            raise CorpusError(f"{one.place}: a {one.unit}, expected answers to pairs in --judged")
    if others is not None:
        measured = {one.annotator for one in others.answers}
        who = measured.__contains__
        what = "other people: who chose the items does not measure human performance on them"
        _refuse(answers, who, "--judged", "also in --judgements", what)
        if set(answers.digests) & set(others.digests):
            raise CorpusError(f"--judged: a file with the content of one in --judgements; {what}")
    found = []
    for readers in _SUFFIXES:
        own = [one for one in answers.answers if is_model(one.annotator) == (readers == MODELS)]
        if own:
            found.append(ReaderFilter(suite.name, readers, replace(answers, answers=tuple(own))))
            if len(found[-1].models) == 1:
                raise CorpusError(
                    f"--judged: answers of {found[-1].models[0]} alone, expected those of two "
                    "models of different families: coherencegym judge FOLDER --model ONE OTHER"
                )
    return found


def _refuse(
    answers: Answers, is_wrong: Callable[[str], bool], option: str, what: str, expected: str
) -> None:
    for one in answers.answers:
        if is_wrong(one.annotator):
            raise CorpusError(
                f"{one.place}: {option} has answers of {one.annotator}, {what}; expected {expected}"
            )
