"""Task files for lm-evaluation-harness (EleutherAI) that read a published dataset at its tag.

A task compares the log-probabilities of two whole texts, as BLiMP's task does. Where every row is
one pair of the same two conditions, the task file says so by itself; where rows have several, or
some of them none, it names a function in :data:`MODULE` beside it, a copy of
:mod:`builders.export.item_pairs`. Where not all pairs are in a config's headline, one accuracy
would mix pairs of different kinds: there is a task for the headline, and for each group that is not
the first of its prediction, which is a detail.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from typing import Any

from coherencegym.builders.export.pairs import PairTable
from coherencegym.eval.kinds.items import SuiteError

#: The Python file beside the task files, by the name that they call it.
MODULE = "item_pairs"

#: The split whose task has the config's name alone.
MAIN_SPLIT = "test"

# JSON strings are YAML strings. The description of a task is no place for words about it: the
# harness puts it before every text.
_TASK = """\
# {about}
# lm_eval --model hf --model_args pretrained=MODEL --include_path FOLDER --tasks {task}
#
# acc compares the sums of log-probabilities of the two whole texts, acc_norm the sums divided by
# the number of characters.
# {comparison}
task: {task}
tag: {tag}
dataset_path: {dataset}
dataset_name: {config}
dataset_kwargs:
  revision: {revision}
test_split: {split}
{process}output_type: multiple_choice
doc_to_text: ""
# The incoherent text first: the harness gives a tie to the first, and a tie is no success.
doc_to_choice: {choice}
doc_to_target: 1
# The text as it stands, after the start token; the default would put a space before it.
target_delimiter: ""
num_fewshot: 0
metric_list:
  - metric: acc
    aggregation: mean
    higher_is_better: true
  - metric: acc_norm
    aggregation: mean
    higher_is_better: true
metadata:
  version: {version}
  suite: {suite}
  pairs: {pairs}
  same_comparison_as_the_suite: {same}
"""

_CONTENT = '(conditions | selectattr("condition_name", "equalto", {name}) | first).content'
#: Names that mean the same in a Jinja expression inside YAML.
_PLAIN = re.compile(r"[\w -]+", re.ASCII)
_PAIR = "{{[sentence_bad, sentence_good]}}"


@dataclass(frozen=True)
class Task:
    """A task file: its name without the ending, its text, and the function that it calls."""

    name: str
    text: str
    function: str = ""
    group: str = ""


@dataclass(frozen=True)
class Release:
    """The published dataset that tasks read: Hub id, tag, version, and what the manifest says.

    ``configs`` has the manifest's entries, ``citation`` the BibTeX of the work behind the suite.
    """

    repo: str
    revision: str
    version: str
    suite: str
    configs: Mapping[str, Any]
    citation: str = ""


def tasks(table: PairTable, release: Release) -> list[Task]:
    """The tasks of a config and split; none where there is no pair."""
    if not table.records:
        return []
    name = f"coherencegym_{release.suite}_{table.config}"
    if table.split != MAIN_SPLIT:
        name = f"{name}_{table.split}"
    if all(not table.headline or table.headline in record["groups"] for record in table.records):
        return [_task(name, table, release, table.records)]
    groups = dict.fromkeys(
        group
        for record in table.records
        for prediction in record["predictions"]
        for place, group in enumerate(prediction["groups"])
        if place or group == table.headline
    )
    return [
        _task(
            f"{name}_{_slug(group)}",
            table,
            release,
            [record for record in table.records if group in record["groups"]],
            group,
        )
        for group in sorted(groups, key=lambda group: group != table.headline)
    ]


def in_no_task(table: PairTable, made: Sequence[Task]) -> int:
    """Count how many pairs of a table none of its tasks reads."""
    if any(not task.group for task in made):
        return 0
    groups = {task.group for task in made}
    return sum(groups.isdisjoint(record["groups"]) for record in table.records)


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace(">", " over ")).strip("_")


def _one_line(text: str) -> str:
    """A text as a comment can hold it."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def _task(
    name: str,
    table: PairTable,
    release: Release,
    records: Sequence[Mapping[str, Any]],
    group: str = "",
) -> Task:
    same = sum(record["simple_LM_method"] for record in records)
    about = f"{release.suite} {release.version}, config {table.config}, split {table.split}"
    function = ""
    choice = _PAIR
    if table.one_pair is not None and not group and all(map(_PLAIN.fullmatch, table.one_pair)):
        good, bad = (_CONTENT.format(name=json.dumps(name)) for name in table.one_pair)
        choice = f"{{{{[{bad}, {good}]}}}}"
    else:
        function = f"pairs_{_slug(group)}" if group else "documents"
    text = _TASK.format(
        about=_one_line(f"{about}: {group}" if group else about),
        task=name,
        tag=f"coherencegym_{release.suite}",
        dataset=json.dumps(release.repo),
        config=json.dumps(table.config),
        revision=json.dumps(release.revision),
        split=json.dumps(table.split),
        process=f"process_docs: !function {MODULE}.{function}\n" if function else "",
        choice="'{}'".format(choice.replace("'", "''")),
        version=json.dumps(release.version),
        suite=json.dumps(release.suite),
        pairs=len(records),
        same=same,
        comparison=_comparison(same, len(records)),
    )
    return Task(name, text, function, group)


def _comparison(same: int, total: int) -> str:
    """Say, for the head of a task file, whether acc is a CD score."""
    if same == total:
        return "Here acc is a CD score, of the predictions by sum."
    if not same:
        return "Neither is a CD score: the suite compares a region, or means over tokens."
    return f"acc is what the suite compares in {same} of {total} pairs: it is no CD score."


def module_text(made: Sequence[Task]) -> str:
    """The Python file that the tasks need; empty where none does.

    Raises:
        SuiteError: two groups give functions of one name.
    """
    if not any(task.function for task in made):
        return ""
    text = (
        files("coherencegym.builders.export").joinpath(f"{MODULE}.py").read_text(encoding="utf-8")
    )
    named: dict[str, str] = {}
    for function, group in ((task.function, task.group) for task in made if task.group):
        if named.setdefault(function, group) != group:
            raise SuiteError(f"groups {named[function]!r} and {group!r} differ in signs alone")
    for function, group in sorted(named.items()):
        text += (
            f"\n\ndef {function}(rows: Iterable[Mapping[str, Any]]) -> Any:\n"
            f'    """The pairs of one group."""\n'
            f"    return documents(rows, {group!r})\n"
        )
    return text
