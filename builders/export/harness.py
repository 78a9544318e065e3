"""A task folder for lm-evaluation-harness (EleutherAI), in the shape of its contribution guide.

A task has the pairs of :mod:`builders.export.item_pairs`, a document an item, so that its accuracy
is the suite's own score. Where not all pairs are in a config's headline, one accuracy would mix
pairs of different kinds: there is a task for the headline, and for each group that is not the first
of its prediction, which is a detail. The tasks of a suite are a group without a mean, as its
configs are.

The folder reads the published dataset at its tag, so that a copy of it is a pull request. Rows
become pairs by ``utils.py`` in it, a copy of :mod:`builders.export.item_pairs`. Beside it
``local.yaml`` and ``local.py``, a copy of :mod:`builders.export.local_pairs`, make the same tasks
read the pairs that are written with them.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.builders.export.pairs import PairTable
from coherencegym.builders.release.manifest import diagnostic_configs
from coherencegym.escapes import in_line, markdown_filters
from coherencegym.eval.data.source import published_part
from coherencegym.eval.kinds.items import SuiteError
from coherencegym.files.templates import templates_of
from coherencegym.licence import YES, closed_line
from coherencegym.loaders.languages.registry import language

#: The Python file beside the task files, by the name that they call it.
MODULE = "utils"

#: The tag of the tasks of all suites.
TAG = "coherencegym"

#: The split whose task has the config's name alone.
MAIN_SPLIT = "test"

#: The documents that the harness's own tests ask of a new task.
FEWEST_ITEMS = 10

#: The columns of its formatter.
_COLUMNS = 88


@dataclass(frozen=True)
class HarnessTask:
    """A task: its name, the table that its pairs are of, and what is said of them.

    Attributes:
        group: the group of predictions whose pairs it has; empty: all.
        items, pairs: the number of its items, and of their pairs.
        row: the row of ``coherencegym score`` that has its accuracy.
        predictions: the number of all predictions of that row.
        main: the suite's headline score is over them.
    """

    name: str
    table: PairTable
    group: str
    items: int
    pairs: int
    row: str
    predictions: int
    main: bool

    @property
    def function(self) -> str:
        """The function of :data:`MODULE` that makes its documents."""
        return f"pairs_{_slug(self.group)}" if self.group else "process_docs"

    @property
    def note(self) -> str:
        """A sentence on what its accuracy is."""
        row = f"row `{self.row}` of `coherencegym score`"
        if self.pairs == self.predictions:
            return f"acc is the CD score in the {row}."
        return f"acc is over {self.pairs} of the {self.predictions} predictions in the {row}."


@dataclass(frozen=True)
class ExportedRelease:
    """The published dataset that tasks read: Hub id, tag, version, and what the manifest says.

    ``configs`` has the manifest's entries, ``citation`` the BibTeX of the work behind the suite;
    ``is_benchmark``: there are scores in papers; ``is_local``: it is not published here, or not
    yet.
    """

    repo: str
    revision: str
    version: str
    suite: str
    configs: Mapping[str, Any]
    citation: str = ""
    title: str = ""
    description: str = ""
    hypothesis: str = ""
    is_benchmark: bool = False
    is_local: bool = False

    @property
    def family(self) -> str:
        """The name of the group of its tasks, and of their folder."""
        return f"{TAG}_{self.suite}"

    @property
    def works(self) -> list[tuple[str, str]]:
        """The titles of the works that are cited, with their addresses where they have one."""
        entries = re.split(r"^@", self.citation, flags=re.M)[1:]
        works = [(_field("title", entry), _field("url", entry)) for entry in entries]
        return [(title, url) for title, url in works if title]

    @property
    def corpora(self) -> dict[str, Mapping[str, Any]]:
        """The corpora of its configs by title, each once."""
        return {config["corpus"]["title"]: config["corpus"] for config in self.configs.values()}

    @property
    def origin(self) -> str:
        """Words for where the rows come from."""
        if self.is_local:
            return "a local build, which this export did not publish"
        return f"`{self.repo}` at `{self.revision}`"

    @property
    def diagnostics(self) -> list[str]:
        """The configs of pairs that say nothing of the hypothesis, and are not exported."""
        return diagnostic_configs(self.configs)

    @property
    def closed(self) -> list[str]:
        """Sentences on the configs of which not all may be passed on."""
        answers = {name: self.published_part(name) for name in self.configs}
        return [closed_line(name, answer) for name, answer in answers.items() if answer != YES]

    def published_part(self, config: str) -> str:
        """Say whether a config may be passed on: see :func:`eval.data.source.published_part`."""
        return published_part({"configs": self.configs}, config)


def rendered(template: str, **values: Any) -> str:
    """The text of a template for a file of an export."""
    environment = templates_of("builders.export")
    environment.filters |= markdown_filters() | {"json": json.dumps}
    environment.filters["language"] = lambda code: language(code).name
    text: str = environment.get_template(f"{template}.jinja").render(values)
    return text


def _field(name: str, entry: str) -> str:
    found = re.search(rf'\b{name}\s*=\s*["{{](.+?)["}}],?\s*\n', entry, flags=re.S)
    return in_line(re.sub("[{}]", "", found[1])).strip() if found else ""


def tasks(table: PairTable, release: ExportedRelease) -> list[HarnessTask]:
    """The tasks of a config and split; none where there is no pair."""
    if not table.records:
        return []
    name = f"{release.family}_{table.config}"
    if table.split != MAIN_SPLIT:
        name = f"{name}_{table.split}"
    if all(not table.headline or table.headline in record["groups"] for record in table.records):
        return [_task(name, table, release)]
    groups = dict.fromkeys(
        group
        for record in table.records
        for place, group in enumerate(record["groups"])
        if place or group == table.headline
    )
    return [
        _task(f"{name}_{_slug(group)}", table, release, group)
        for group in sorted(groups, key=lambda group: group != table.headline)
    ]


def _task(name: str, table: PairTable, release: ExportedRelease, group: str = "") -> HarnessTask:
    records = [record for record in table.records if not group or group in record["groups"]]
    row, of = group or table.config, table.predictions[group or table.headline]
    about = release.configs.get(table.config, {})
    main = about.get("in_headline") and not about.get("headline_value")
    main = bool(main) and group in ("", table.headline) and len(records) == of.total()
    if not table.headline and {record["metric"] for record in records} == {"sum"} < of.keys():
        name, row, of = f"{name}_sum", "sum", Counter(sum=of["sum"])
    items = len({record["item_id"] for record in records})
    return HarnessTask(name, table, group, items, len(records), row, of.total(), main)


def in_no_task(table: PairTable, made: Sequence[HarnessTask]) -> int:
    """Count how many pairs of a table none of its tasks reads."""
    if any(not task.group for task in made):
        return 0
    groups = {task.group for task in made}
    return sum(groups.isdisjoint(record["groups"]) for record in table.records)


def harness_files(made: Sequence[HarnessTask], release: ExportedRelease) -> dict[str, str]:
    """The texts of a task folder and of what reads local files, by path; none without a task.

    Raises:
        SuiteError: two groups give functions of one name.
    """
    if not made:
        return {}
    family = release.family
    values: dict[str, Any] = {"release": release, "family": family, "module": MODULE, "tag": TAG}
    folder = {
        "README.md": rendered("README.md", tasks=made, **values),
        f"_{family}.yaml": rendered("group.yaml", tasks=made, **values),
        "_template_yaml": rendered("template.yaml", **values),
        f"{MODULE}.py": module_text(made),
        **{f"{task.name}.yaml": rendered("task.yaml", task=task, **values) for task in made},
    }
    return {f"tasks/{family}/{name}": text for name, text in folder.items()} | {
        "local.yaml": rendered("local.yaml", **values),
        "local.py": _source("local_pairs"),
    }


def _slug(text: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", text.lower().replace(">", " over ")).strip("_")


def _source(module: str) -> str:
    return Path(__file__).with_name(f"{module}.py").read_text(encoding="utf-8")


def module_text(made: Sequence[HarnessTask]) -> str:
    """The Python file of the tasks, laid out as the harness's formatter would.

    Raises:
        SuiteError: two groups give functions of one name.
    """
    # Of blank lines behind the imports it wants two, where ours wants one.
    text = _source("item_pairs").replace("import Any\n\n#", "import Any\n\n\n#", 1)
    named: dict[str, str] = {}
    for function, group in ((task.function, task.group) for task in made if task.group):
        if named.setdefault(function, group) != group:
            raise SuiteError(f"groups {named[function]!r} and {group!r} differ in signs alone")
    for function, group in sorted(named.items()):
        shown = repr(group) if '"' in repr(group) else f'"{repr(group)[1:-1]}"'
        call = f"    return process_docs(rows, {shown})"
        if len(call) > _COLUMNS:
            call = f"    return process_docs(\n        rows, {shown}\n    )"
        text += f'\n\ndef {function}(rows):\n    """Pairs of one group."""\n{call}\n'
    return text
