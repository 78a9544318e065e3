"""What a run came to: of every task, in memory, in its folder, and for all that reads it later."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.benchmark import headline_id, main_split, task_id
from coherencegym.eval.data.notes import Note, cautions_first
from coherencegym.eval.outcomes.estimates import estimates
from coherencegym.eval.outcomes.metric import Metric
from coherencegym.eval.outcomes.schema import System
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, Verdict
from coherencegym.eval.report.formats import TableDocument, render_document
from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, only_cd, shown_rows
from coherencegym.eval.tasks.headline import (
    BELOW,
    NO_BETTER,
    Headline,
    headline_line,
    headline_of_one,
    verdict,
)
from coherencegym.eval.tasks.score.outcomes import Difference
from coherencegym.files.parquet import parquet_rows
from coherencegym.files.strict_json import held

if TYPE_CHECKING:
    import pandas  # type: ignore[import-untyped]


def no_outcomes() -> OutcomeTables:
    """The outcomes of no unit."""
    return OutcomeWriter().tables()


@dataclass(frozen=True)
class TableFacts:
    """A table that was asked about.

    Attributes:
        config, split: names.
        sha256: digest over the hashes of all its rows, asked about or not.
        items: the rows that were asked about: the first of the table.
        headline: the group of predictions that the table's own score is over; empty: all.
        breakdowns: columns by whose values scores are reported.
        families: items of different discourses share text, and intervals are over families.
        language: that of its texts, where the dataset says so.
    """

    config: str
    split: str
    sha256: str
    items: int = 0
    headline: str = ""
    breakdowns: tuple[str, ...] = ()
    families: bool = False
    language: str = ""


@dataclass(frozen=True, repr=False)
class Results:
    """What a model came to on a dataset, in memory or as a folder has it.

    Attributes:
        signature: one line from which it can be reproduced.
        model, dataset: facts, as ``results.json`` has them.
        settings: the user's choices, and what came of them.
        notes: lines that a reader of the scores must know.
        task: the name of the task.
        rows: the scores.
        headline: the suite's one number, where it has one.
        outcomes: those of every unit; none of several seeds, and where only scores were read.
        metrics: those of the outcomes, by their names.
        differences: scores against those of controls.
        more: the keys of ``results.json`` that only this task has.
        folder: where they lie; None of those in memory.
        asked: the task, where it is known and needed.
        inputs, details: the tables that were asked about in this run, and what the task returned
            of each; none of results that were read.
        options: the task's own, as they came to for the model.
        manifest: that of the dataset.
    """

    signature: str
    model: Mapping[str, Any]
    dataset: Mapping[str, Any]
    settings: Mapping[str, Any]
    notes: Sequence[Note]
    task: str = field(default="score", kw_only=True)
    rows: Sequence[Score] = field(default=(), kw_only=True)
    headline: Headline | None = field(default=None, kw_only=True)
    outcomes: OutcomeTables = field(default_factory=no_outcomes, kw_only=True)
    metrics: Mapping[str, Metric] = field(default_factory=dict, kw_only=True)
    differences: Sequence[Difference] = field(default=(), kw_only=True)
    more: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    folder: Path | None = field(default=None, kw_only=True)
    asked: Any = field(default=None, kw_only=True)
    inputs: Sequence[Any] = field(default=(), kw_only=True)
    details: Sequence[Any] = field(default=(), kw_only=True)
    options: Any = field(default=None, kw_only=True)
    manifest: Mapping[str, Any] = field(default_factory=dict, kw_only=True)

    @cached_property
    def estimates(self) -> list[tuple[Metric, System, Score]]:
        """Every score of the outcomes, with its interval."""
        return list(estimates(self.outcomes, self.metrics))

    @cached_property
    def tables(self) -> tuple[TableFacts, ...]:
        """The tables that were asked about."""
        return tuple(held(table, TableFacts) for table in self.dataset.get("tables", ()))

    def table(self, config: str, split: str) -> TableFacts | None:
        """The table of that name, or None."""
        same = (table for table in self.tables if (table.config, table.split) == (config, split))
        return next(same, None)

    @property
    def headline_configs(self) -> tuple[str, ...]:
        """The configs that the headline is over; none of results without one."""
        return self.headline.over if self.headline else ()

    @property
    def model_name(self) -> str:
        """The model, as the user named it."""
        return str(self.model["name"])

    @property
    def commit(self) -> str:
        """The model's commit on the Hub, or a digest of its files; empty where it has none."""
        return self.model.get("commit") or ""

    @property
    def suite(self) -> str:
        """The suite; empty of a dataset that is none."""
        return self.dataset.get("suite") or ""

    @property
    def version(self) -> str:
        """The suite's version; empty where it has none."""
        return self.dataset.get("version") or ""

    @property
    def data(self) -> str:
        """The dataset, as the user named it."""
        return self.dataset.get("name") or ""

    @property
    def dtype(self) -> str:
        """The numbers of the model."""
        return self.model.get("dtype") or ""

    @property
    def loaded_as(self) -> str:
        """The numbers of the model, and how else it was loaded where that changes a number."""
        more = (self.model.get(name) for name in ("quantization", "adapter", "arguments"))
        how = [self.dtype, *(json.dumps(one, sort_keys=True) for one in more if one)]
        return ", ".join(filter(None, how))

    @property
    def repo(self) -> str:
        """The dataset's id on the Hub; empty of one that is not there."""
        return self.dataset.get("repo") or ""

    @property
    def data_commit(self) -> str:
        """The dataset's commit on the Hub; empty of one that is not there."""
        return self.dataset.get("commit") or ""

    @property
    def rows_sha256(self) -> str:
        """The digest of all rows that were read, as the signature begins it."""
        return self.dataset.get("rows_sha256") or ""

    @property
    def named_suite(self) -> str:
        """The name of the suite; of a dataset that is none, its own."""
        return self.suite or self.data

    @property
    def place(self) -> Path:
        """The folder, or for those in memory the name of the model."""
        return self.folder if self.folder is not None else Path(self.model_name)

    @property
    def digests(self) -> dict[tuple[str, str], str]:
        """The digest of each table's rows, by config and split."""
        return {(table.config, table.split): table.sha256 for table in self.tables}

    @cached_property
    def number(self) -> Headline | None:
        """The run's one number: the headline, or its only score."""
        scores = [score for score in self.rows if score.level == "all"]
        if self.headline is not None or len(scores) != 1:
            return self.headline
        return headline_of_one(scores[0])

    @property
    def at_revision(self) -> str:
        """``@`` and the tag or commit of the model that was asked for; empty where none was."""
        revision = self.settings.get("model_revision")
        return f"@{revision}" if revision else ""

    @property
    def by_scorer(self) -> str:
        """The way in which surprisals were read, in brackets; empty where from left to right."""
        scorer, masking = (self.settings.get(name) for name in ("scorer", "masking"))
        if not masking:
            return ""
        return f" ({scorer}, {masking})" if masking == "original" else f" ({scorer})"

    @property
    def variant(self) -> str:
        """The revision and the way of reading, as they follow the name of the model."""
        return self.at_revision + self.by_scorer

    @property
    def cautions(self) -> list[str]:
        """The cautions on the run's one number, without the marks of its table of scores.

        A caution that begins with ``!`` is on rows of that table, which may be others than those
        behind the headline: whether the headline is over few items, its own number says.
        """
        texts = [note.text for note in self.notes if note.kind == "caution"]
        few = self.headline is not None and self.headline.n < FEW_ITEMS
        own = [f"fewer than {FEW_ITEMS} items: read the interval, not the score"] * few
        return [*(text.removeprefix("† ") for text in texts if not text.startswith("!")), *own]

    @cached_property
    def benchmark(self) -> dict[str, Score | Headline]:
        """The scores on tasks of the dataset's ``eval.yaml``, by their ids.

        These are the headline, where it is over several configs, and the score of each of its
        configs on the split of its task, by the metric of the headline.
        """
        if (head := self.number) is None:
            return {}
        known: dict[str, Score | Headline] = {}
        if len(head.over) > 1:
            known[headline_id(self.task)] = head
        splits: dict[str, list[str]] = {}
        for table in self.tables:
            splits.setdefault(table.config, []).append(table.split)
        asked = {config: main_split(splits[config]) for config in head.over if config in splits}
        for score in self.rows:
            counts = score.level == "all" and (head.is_controlled or score.metric == head.metric)
            if counts and asked.get(score.config) == score.split:
                own = score.controlled if head.is_controlled else score
                known.setdefault(task_id(score.config), own)
        return known

    @property
    def reported(self) -> list[Score | Headline]:
        """The headline, where there is more than one score to choose from, and those scores."""
        scores = [score for score in self.rows if score.level == "all"]
        every = [one for score in scores for one in score.both]
        return [*([self.headline] if self.headline and len(scores) > 1 else []), *every]

    @property
    def sections(self) -> list[ReportSection]:
        """The report: the task's own, where it has one and its run is at hand, or a table."""
        if self.details and self.asked.sections is not None:
            return list(self.asked.sections(self))
        shown = shown_rows(self.rows) if only_cd(self.rows) else self.rows
        return [ReportSection("Scores", score_table(shown))]

    def without_details(self) -> Results:
        """The same without items and outcomes, which take memory."""
        none: dict[str, Any] = {"inputs": (), "details": (), "manifest": {}}
        return replace(self, outcomes=no_outcomes(), **none)

    def to_pandas(self, kind: str = "scores") -> pandas.DataFrame:
        """A table of the results as a data frame; see :func:`rows`.

        Raises:
            EvaluationError: there is no such table.
        """
        return to_pandas(self, kind)

    @property
    def verdict(self) -> Verdict | None:
        """What the run's one number says of the model; None where it has none."""
        head = self.headline
        if head is None:
            return None
        return verdict(head, [one.ci_low for one in self.differences if one.config in head.over])

    def print(
        self, console: Any = None, *, verbose: bool = True, shown_by: str = grid.BY_OPTION
    ) -> None:
        """Print tables, verdict, notes and signature, or unless ``verbose`` what comes first."""
        console = grid.console_for(console)
        about, notes, said, head = self.dataset, self.notes, self.verdict, self.headline
        grid.print_heading(console, about["suite"], about["version"], self.model_name)
        if head is not None:
            console.print(grid.plain_text(headline_line(head)))
        hidden = [words for part in self.sections for words in part.print(console, verbose)]
        if said is not None and head is not None:
            console.print(grid.plain_text(said.sentence, "bold"))
            few = ["! fewer than"] * (head.n < FEW_ITEMS)
            said_above = (NO_BETTER, BELOW, *few)
            notes = [note for note in notes if not note.text.startswith(said_above)]
        left = None if verbose else hidden
        grid.print_notes(console, notes, self.signature, left, shown_by)

    def __str__(self) -> str:
        return grid.as_printed(
            lambda console: self.print(console, verbose=False, shown_by=grid.IN_REPORT)
        )

    def _repr_markdown_(self) -> str:
        shown = [part.body for part in self.sections if not part.is_detail]
        grids = [body for body in shown if isinstance(body, grid.Grid)]
        lines = [*map(str, cautions_first(self.notes)), self.signature]
        return render_document(TableDocument(grids, lines, ()), "markdown")

    def __repr__(self) -> str:
        number = f"{len(self.rows):,} score{'s' * (len(self.rows) != 1)}"
        return f"<Results of {self.model['name']} on {self.dataset['name']}: {number}>"


def rows(results: Results, kind: str = "scores") -> list[dict[str, Any]]:
    """A table of results as one flat dictionary a row.

    ``scores`` have a row for each config and each of its groups, ``predictions`` for every
    prediction of every item (``margin`` in bits), ``regions`` for every region that a prediction
    reads (``sum_bits``, ``mean_bits``), ``tokens`` for every token (``bits``). All but the first
    are those of :func:`coherencegym.score` alone. Those of :func:`coherencegym.probe` have
    ``layers``, a row for every classifier.

    Raises:
        EvaluationError: there is no such table, or these are no results, or of another task.
    """
    if not isinstance(results, Results):
        raise EvaluationError(
            f"a {type(results).__name__}; expected results, such as those of load_results(FOLDER)"
        )
    if kind == "scores":
        return [asdict(row) for row in results.rows]
    made = {} if results.asked is None else results.asked.frames
    if kind not in made:
        raise EvaluationError(
            f"rows: no table {kind!r} of {results.task}; expected one of "
            f"{', '.join(('scores', *made))}"
        )
    table: list[dict[str, Any]] = list(made[kind](results))
    return table


def to_pandas(results: Results, kind: str = "scores") -> pandas.DataFrame:
    """The same as a data frame.

    Raises:
        EvaluationError: there is no such table.
    """
    import pandas

    return pandas.DataFrame(rows(results, kind))


def rows_in_folder(results: Results, name: str, expected: str = "") -> list[dict[str, Any]] | None:
    """The rows of a file of results that were read; None of those in memory.

    Raises:
        EvaluationError: the file is not there.
    """
    if results.folder is None or results.details:
        return None
    if not (path := results.folder / name).is_file():
        raise EvaluationError(f"{path}: not there; expected {expected or 'the whole folder'}")
    return parquet_rows(path)
