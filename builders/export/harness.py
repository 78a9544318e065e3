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
from pathlib import Path
from typing import Any

from coherencegym.builders.export.pairs import PairTable
from coherencegym.eval.kinds.items import SuiteError

#: The Python file beside the task files, by the name that they call it.
MODULE = "item_pairs"

#: The split whose task has the config's name alone.
MAIN_SPLIT = "test"

_CONTENT = '(conditions | selectattr("condition_name", "equalto", {name}) | first).content'
#: Names that mean the same in a Jinja expression inside YAML.
_PLAIN = re.compile(r"[\w -]+", re.ASCII)
_PAIR = "{{[sentence_bad, sentence_good]}}"


@dataclass(frozen=True)
class HarnessTask:
    """A task file: its name without the ending, its text, and the function that it calls."""

    name: str
    text: str
    function: str = ""
    group: str = ""


@dataclass(frozen=True)
class ExportedRelease:
    """The published dataset that tasks read: Hub id, tag, version, and what the manifest says.

    ``configs`` has the manifest's entries, ``citation`` the BibTeX of the work behind the suite.
    """

    repo: str
    revision: str
    version: str
    suite: str
    configs: Mapping[str, Any]
    citation: str = ""

    @property
    def republishable(self) -> bool:
        """True where all of it may be passed on."""
        return all(config.get("republishable") for config in self.configs.values())


def rendered(template: str, **values: Any) -> str:
    """The text of a template for a file of an export."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("coherencegym.builders.export", "templates"),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"json": json.dumps, "cell": _cell}
    return environment.get_template(f"{template}.jinja").render(values)


def _cell(text: str) -> str:
    """A text as a cell of a Markdown table can hold it."""
    return text.replace("|", "\\|")


def tasks(table: PairTable, release: ExportedRelease) -> list[HarnessTask]:
    """The tasks of a config and split; none where there is no pair."""
    if not table.records:
        return []
    name = f"coherencegym_{release.suite}_{table.config}"
    if table.split != MAIN_SPLIT:
        name = f"{name}_{table.split}"
    if all(not table.headline or table.headline in record["groups"] for record in table.records):
        return [_task(name, table, release)]
    groups = dict.fromkeys(
        group
        for record in table.records
        for prediction in record["predictions"]
        for place, group in enumerate(prediction["groups"])
        if place or group == table.headline
    )
    return [
        _task(f"{name}_{_slug(group)}", table, release, group)
        for group in sorted(groups, key=lambda group: group != table.headline)
    ]


def in_no_task(table: PairTable, made: Sequence[HarnessTask]) -> int:
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


def _task(name: str, table: PairTable, release: ExportedRelease, group: str = "") -> HarnessTask:
    """The task of a table's pairs; of those of one group, where one is named."""
    records = [record for record in table.records if not group or group in record["groups"]]
    about = f"{release.suite} {release.version}, config {table.config}, split {table.split}"
    function, choice = (f"pairs_{_slug(group)}" if group else "documents"), _PAIR
    if table.one_pair is not None and not group and all(map(_PLAIN.fullmatch, table.one_pair)):
        good, bad = (_CONTENT.format(name=json.dumps(condition)) for condition in table.one_pair)
        function, choice = "", f"{{{{[{bad}, {good}]}}}}"
    text = rendered(
        "task.yaml",
        about=_one_line(f"{about}: {group}" if group else about),
        name=name,
        release=release,
        table=table,
        module=MODULE,
        function=function,
        choice=choice,
        pairs=len(records),
        same=sum(record["simple_LM_method"] for record in records),
    )
    return HarnessTask(name, text, function, group)


def module_text(made: Sequence[HarnessTask]) -> str:
    """The Python file that the tasks need; empty where none does.

    Raises:
        SuiteError: two groups give functions of one name.
    """
    if not any(task.function for task in made):
        return ""
    text = Path(__file__).with_name(f"{MODULE}.py").read_text(encoding="utf-8")
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
