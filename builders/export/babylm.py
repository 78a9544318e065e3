"""Rows for the BabyLM pipeline's zero-shot tasks, which compare what a suite's predictions do.

That pipeline (``babylm/evaluation-pipeline-2025``, and ``strict/`` in its successor
``babylm-org/babylm-eval``) adds up the log-probabilities of a completion's tokens, and the highest
sum wins. What a row compares depends on the task that reads it:

- ``blimp``: two whole texts;
- ``entity_tracking``: two or more continuations of one beginning, the first of which is right;
- ``comps``: one continuation of two beginnings;
- ``ewok``: two contexts and two targets. It is for crossed items only, in two rows, so that each
  context is asked. Some versions compare the targets after the first context, and later ones the
  first target after both contexts, so that a row with one context would there be a tie. For two
  continuations of one beginning ``entity_tracking`` is the same comparison in all of them.

A sum is what a prediction compares if its metric is the sum, or the mean over the same words. What
follows a region is left out, as a causal model has not read it yet.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.builders.export.harness import MAIN_SPLIT
from coherencegym.builders.export.item_pairs import (
    SAME_TEXT,
    WITHOUT_TEXT,
    LeftOutError,
    not_a_sum,
    passage,
)
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.kinds.formula import (
    WHOLE,
    Comparison,
    Junction,
    Truth,
    parse_formula,
    sum_of,
)
from coherencegym.eval.kinds.items import Condition, Item, Prediction

#: The tasks, by the names that the pipeline's option ``--task`` has for them.
BLIMP, EWOK, COMPS, ENTITY_TRACKING = "blimp", "ewok", "comps", "entity_tracking"

#: The items that the fast version has of a config, at most.
FAST_ITEMS = 200

#: Reasons why a prediction is left out.
OTHER_FORMULA = "a formula that no task of the pipeline compares"
NOT_CROSSED = "four conditions that are not two contexts with two targets"
BOTH_DIFFER = "regions that differ after contexts that differ"
NOT_JOINED = "no single space before the region, where the pipeline puts one"


@dataclass(frozen=True)
class BabylmRow:
    """A row for a task of the pipeline.

    Attributes:
        task: the task whose reader compares it.
        group: the suite, config, split and group of the prediction.
        fields: the row in the form written.
    """

    task: str
    group: tuple[str, str, str, str]
    fields: dict[str, Any]

    @property
    def name(self) -> str:
        """The name under which the pipeline counts it."""
        return group_name(self.group)

    @property
    def place(self) -> tuple[str, str, str]:
        """The (config, split, item) that it is of."""
        _, config, split, _ = self.group
        return config, split, self.fields["item_id"]

    def path(self, version: str) -> str:
        """The file that it is in, of the version ``full`` or ``fast``.

        Readers take every file of a folder and call its results by the folder's name. Of ``comps``
        they count all rows of a folder as one, so that there each name has its own; of
        ``entity_tracking`` they average files of three names alone, of which this is the first.
        """
        ending = "_fast" if version == "fast" else ""
        folder, file = f"{self.group[0]}{ending}", f"{self.name}.jsonl"
        if self.task == COMPS:
            folder, file = f"{self.name}{ending}", "comps_base.jsonl"
        elif self.task == ENTITY_TRACKING:
            file = f"regular_{file}"
        return f"{version}/{self.task}/{folder}/{file}"


@dataclass
class BabylmTable:
    """The rows of one config and split, and how many predictions are left out, by reason.

    ``same_words`` counts the predictions by mean that the sum compares as well.
    """

    config: str
    split: str
    rows: list[BabylmRow] = field(default_factory=list)
    refused: Counter[str] = field(default_factory=Counter)
    same_words: int = 0

    @property
    def items(self) -> list[tuple[str, str, str]]:
        """The (config, split, item) of each that has a row, in their order."""
        return list(dict.fromkeys(row.place for row in self.rows))


def babylm_table(table: ItemTable, suite: str) -> BabylmTable:
    """The rows of a table, in its order."""
    made = BabylmTable(table.config, table.split)
    widest = max((len(p.groups) for item in table.items for p in item.predictions), default=0)
    for item in table.items:
        for prediction in item.predictions:
            try:
                found = list(_rows(item, prediction))
            except LeftOutError as reason:
                made.refused[str(reason)] += 1
                continue
            made.same_words += prediction.metric == "mean"
            # The last is an aggregate, but of those that no aggregate has.
            last = prediction.groups[-1] if len(prediction.groups) == widest > 0 else ""
            group = (suite, table.config, table.split, last)
            about = _about(table, item, prediction)
            made.rows += [
                BabylmRow(task, group, _counted_under(task, group) | fields | about)
                for task, fields in found
            ]
    return made


def fast_items(suite: str, tables: Sequence[BabylmTable]) -> set[tuple[str, str, str]]:
    """The (config, split, item) of the fast version: those of a config whose hashes are lowest."""
    by_config: dict[str, list[tuple[str, str, str]]] = {}
    for table in tables:
        by_config.setdefault(table.config, []).extend(table.items)
    return {
        place
        for places in by_config.values()
        for place in sorted(places, key=lambda place: _hash(suite, *place))[:FAST_ITEMS]
    }


def _hash(*parts: str) -> bytes:
    return hashlib.sha256("\0".join(parts).encode()).digest()


def group_name(group: tuple[str, str, str, str]) -> str:
    """The name of a (suite, config, split, group) in the pipeline: letters of any script, and _."""
    suite, config, split, last = group
    parts = (suite, config, "" if split == MAIN_SPLIT else split, last.replace(">", " over "))
    # It names files, and a dataset can say anything.
    return "__".join(filter(None, (re.sub(r"[\W_]+", "_", part).strip("_") for part in parts)))


def _counted_under(task: str, group: tuple[str, str, str, str]) -> dict[str, str]:
    # By these the pipeline counts a row; for other tasks it goes by the file's name.
    name = group_name(group)
    if task == BLIMP:
        return {"field": "discourse", "linguistics_term": group[0], "UID": name}
    if task == EWOK:
        crossed = dict.fromkeys(("ContextType", "ContextDiff", "TargetDiff"), "crossed")
        return {"Domain": name} | crossed
    return {}


def _about(table: ItemTable, item: Item, prediction: Prediction) -> dict[str, Any]:
    # The pipeline does not read these.
    return {
        "item_id": item.item_id,
        "discourse_id": item.discourse_id,
        "corpus": item.corpus,
        "config": table.config,
        "split": table.split,
        "formula": prediction.formula,
        "metric": prediction.metric,
        "groups": list(prediction.groups),
    }


@dataclass(frozen=True, slots=True)
class _Passage:
    before: str
    joint: str
    text: str

    @property
    def halves(self) -> tuple[str, str]:
        return self.before, self.text


def _passage(condition: Condition, first: int, last: int) -> _Passage:
    regions = [region.content for region in condition.regions]
    return _Passage(*passage(condition.content, regions, first, last))


@dataclass(frozen=True, slots=True)
class _Sides:
    # Sums of the regions from ``first`` to ``last``.
    less: tuple[str, ...]
    more: tuple[str, ...]
    first: int
    last: int

    def passages(self, item: Item, names: Sequence[str]) -> list[_Passage]:
        return [_passage(item.condition(name), self.first, self.last) for name in names]


def _rows(item: Item, prediction: Prediction) -> Iterator[tuple[str, dict[str, Any]]]:
    node = parse_formula(prediction.formula)
    if isinstance(node, Junction):
        good, bad = _against_several(item, node)
        yield _compared(prediction, good, bad)
        return
    sides = _sides(item, node)
    if len(sides.less) == len(sides.more) == 1:
        (good,), bad = sides.passages(item, sides.less), sides.passages(item, sides.more)
        yield _compared(prediction, good, bad)
    elif len(sides.less) == len(sides.more) == 2:
        if prediction.metric != "sum":
            raise LeftOutError(not_a_sum(prediction.metric))
        for own in _crossed(item, sides):
            yield EWOK, own
    else:
        raise LeftOutError(OTHER_FORMULA)


def _sides(item: Item, node: Truth) -> _Sides:
    if not isinstance(node, Comparison) or node.operator == "=":
        raise LeftOutError(OTHER_FORMULA)
    less, more = sum_of(node.left), sum_of(node.right)
    if not (less and more):
        raise LeftOutError(OTHER_FORMULA)
    if node.operator == ">":
        less, more = more, less
    places = {name: sorted(map(str, own)) for name, own in (less | more).items()}
    (regions, *others) = places.values()
    if others.count(regions) < len(others) or less.keys() & more.keys():
        raise LeftOutError(OTHER_FORMULA)
    if regions == [WHOLE]:
        return _Sides(tuple(less), tuple(more), 1, len(item.conditions[0].regions))
    if WHOLE in regions:
        raise LeftOutError(OTHER_FORMULA)
    numbers = sorted(map(int, regions))
    if numbers != list(range(numbers[0], numbers[-1] + 1)):
        raise LeftOutError(OTHER_FORMULA)
    return _Sides(tuple(less), tuple(more), numbers[0], numbers[-1])


def _against_several(item: Item, node: Junction) -> tuple[_Passage, list[_Passage]]:
    if node.operator != "&":
        raise LeftOutError(OTHER_FORMULA)
    every = [_sides(item, part) for part in node.parts]
    if len({(sides.less, sides.first, sides.last) for sides in every}) > 1 or any(
        len(sides.less) > 1 or len(sides.more) > 1 for sides in every
    ):
        raise LeftOutError(OTHER_FORMULA)
    (good,) = every[0].passages(item, every[0].less)
    bad = [each for sides in every for each in sides.passages(item, sides.more)]
    if any(other.before != good.before for other in bad):
        raise LeftOutError(OTHER_FORMULA)
    return good, bad


def _compared(
    prediction: Prediction, good: _Passage, bad: Sequence[_Passage]
) -> tuple[str, dict[str, Any]]:
    passages = [good, *bad]
    same_words = all(other.text == good.text for other in bad)
    if prediction.metric != "sum" and not (prediction.metric == "mean" and same_words):
        raise LeftOutError(not_a_sum(prediction.metric))
    if any(other.halves == good.halves for other in bad):
        raise LeftOutError(SAME_TEXT)
    befores = [passage.before for passage in passages]
    if not any(befores) and len(bad) == 1:
        return BLIMP, {"sentence_good": good.text, "sentence_bad": bad[0].text}
    if len(set(befores)) == 1:
        if good.before:
            _hold_to_one_space(passages)
        space = " " if good.before else ""
        options = [space + passage.text for passage in passages]
        number = len(options)
        return ENTITY_TRACKING, {"input_prefix": good.before, "options": options, "numops": number}
    if not same_words:
        raise LeftOutError(BOTH_DIFFER)
    _hold_to_one_space(passages)
    contexts = {"prefix_acceptable": good.before, "prefix_unacceptable": bad[0].before}
    return COMPS, contexts | {"property_phrase": good.text}


def _hold_to_one_space(passages: Sequence[_Passage]) -> None:
    if not all(passage.before for passage in passages):
        raise LeftOutError(WITHOUT_TEXT)
    if any(passage.joint != " " for passage in passages):
        raise LeftOutError(NOT_JOINED)


def _crossed(item: Item, sides: _Sides) -> Iterator[dict[str, str]]:
    for first in range(sides.first, sides.last + 1):
        part = _Sides(sides.less, sides.more, first, sides.last)
        one, two = own = part.passages(item, sides.less)
        exchanged = part.passages(item, sides.more)
        crossed = {(one.before, two.text), (two.before, one.text)}
        if (
            one.before != two.before
            and one.text != two.text
            and {passage.halves for passage in exchanged} == crossed
        ):
            _hold_to_one_space([*own, *exchanged])
            for here, there in ((one, two), (two, one)):
                contexts = {"Context1": here.before, "Context2": there.before}
                yield contexts | {"Target1": here.text, "Target2": there.text}
            return
        # A region that both sides read after the same texts adds the same to both: the next may be
        # the one where the targets begin.
        heads = [
            Counter(item.condition(name).content[: _end(item, name, first)] for name in names)
            for names in (sides.less, sides.more)
        ]
        if heads[0] != heads[1]:
            break
    raise LeftOutError(NOT_CROSSED)


def _end(item: Item, name: str, region: int) -> int:
    return item.condition(name).region_offsets()[region - 1][1]
