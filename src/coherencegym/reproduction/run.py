"""A table of a paper computed again, by a model of the user's."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.command_line import did_you_mean
from coherencegym.errors import EvaluationError
from coherencegym.papers.published import Paper, PublishedTable, TableRow, read_papers

#: The corpus that is a folder of files in SyntaxGym's JSON, which needs no build.
SYNTAXGYM = "syntaxgym"
#: Rows of scores, as a data frame of results has them.
_Rows = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class ReproducedRow:
    """A row of a table with our score.

    Attributes:
        name: the paper's.
        configs: those that the score is the mean of.
        missing: those of the paper that are not there.
        split: the split that was scored.
        n: items.
        score, low, high: a share from 0 to 1, with its 95 % interval; None where there is none. The
            interval of a mean is that of independent configs (Zou and Donner 2008).
        published: the paper's scores by system, shares.
    """

    name: str
    configs: tuple[str, ...]
    missing: tuple[str, ...]
    split: str
    n: int
    score: float | None
    low: float | None
    high: float | None
    published: Mapping[str, float]


@dataclass(frozen=True)
class Reproduction:
    """A table computed again.

    Attributes:
        paper, table: their declarations; ``name`` is the table's.
        model: the model that was scored.
        rows: the rows in the paper's order, those without our score too.
        layers: the same rows by layer of the model, where the table is by layer; else empty.
        notes: lines on what differs from the paper.
        folder: the folder with the suites and the results.
    """

    paper: Paper
    name: str
    table: PublishedTable
    model: str
    rows: Sequence[ReproducedRow]
    notes: Sequence[str]
    folder: Path
    layers: Mapping[int, Sequence[ReproducedRow]] = field(default_factory=dict)


def find_paper(name: str) -> Paper:
    """A paper by its name."""
    papers = read_papers()
    if name not in papers:
        known = f"expected one of {', '.join(papers)}"
        raise EvaluationError(f"{name}: no such paper; {known}{did_you_mean(name, papers)}")
    return papers[name]


def find_table(paper: str, table: str) -> tuple[Paper, PublishedTable]:
    """A table by the names of its paper and its own."""
    found = find_paper(paper)
    if table not in found.tables:
        known = f"expected one of {', '.join(found.tables)}{did_you_mean(table, found.tables)}"
        raise EvaluationError(f"{paper}: no table {table!r}; {known}")
    return found, found.tables[table]


def reproduce(
    paper: str,
    table: str,
    model: str,
    *,
    data_dir: str | Path | None = None,
    output: str | Path | None = None,
    limit: int | None = None,
    device: str = "auto",
    dtype: str = "auto",
    say: Callable[[str], None] = lambda line: None,
) -> Reproduction:
    """Compute a table of a paper again: build its suite, run its task, collect its scores.

    Args:
        paper, table: their names, as ``coherencegym reproduce`` lists them.
        model: a Hub id, or a folder.
        data_dir: a folder of corpus files; None: where corpora are fetched to, by this function too
            where their files are open.
        output: the folder for suites and results; None: ``reproduced/PAPER-TABLE``.
        limit: no more items than this of each config, which the notes say.
        device, dtype: place and numbers of the model, as for :func:`coherencegym.score`.
        say: the function that is told each step.
    """
    from coherencegym.eval.models.load import load_config

    about, declared = find_table(paper, table)
    load_config(model, scorer=None)  # before minutes of building
    folder = Path("reproduced", f"{paper}-{table}") if output is None else Path(output)
    data = None if data_dir is None else Path(data_dir)
    datasets = _datasets(declared, folder, data, say)
    run = _Run(declared, model, folder / "results", limit, {"device": device, "dtype": dtype}, say)
    names = declared.values or declared.rows
    scored = [
        row
        for config, (where, split) in datasets.items()
        for chosen in _options_on(config, map(declared.row, names))
        for row in run.rows(config, where, split, chosen)
    ]
    if not scored:
        raise EvaluationError(
            f"{paper}, table {table}: no config of the table is there; " + "; ".join(run.notes)
        )
    rows = [_row(declared, name, [one for one in scored if one["layer"] is None]) for name in names]
    numbers = sorted({one["layer"] for one in scored} - {None})
    layers = {
        number: [
            _row(declared, name, [one for one in scored if one["layer"] == number])
            for name in names
        ]
        for number in numbers
    }
    notes = [*declared.differs, *_best_layers(layers), *run.notes]
    notes += _notes(rows, limit, declared.sizes)
    name = Path(model).name if Path(model).is_dir() else model
    return Reproduction(about, table, declared, name, rows, notes, folder, layers)


def _datasets(
    table: PublishedTable, folder: Path, data: Path | None, say: Callable[[str], None]
) -> dict[str, tuple[Path, str | None]]:
    """The config -> its dataset (a build, or a suite's file) and the split to score.

    Some released files lack the test split: then it is that of validation, which the notes say.
    """
    if table.corpus == SYNTAXGYM:
        files = sorted(_syntaxgym_folder(data, say).glob("**/*.json"))
        return {path.stem: (path, None) for path in files if path.stem in table.values}
    from coherencegym.builders.command.declared import suite_named
    from coherencegym.builders.command.run import is_current
    from coherencegym.builders.pipeline.options import BuildOptions
    from coherencegym.eval.data.source import find_dataset
    from coherencegym.library import build
    from coherencegym.loaders.corpus import CorpusNotFoundError
    from coherencegym.loaders.read import find, how_to_obtain
    from coherencegym.loaders.registry import corpus as corpus_named

    corpus = corpus_named(table.corpus)
    try:
        there = {file.path.name for file in find(corpus, data).files}
    except CorpusNotFoundError:
        if data is not None:
            raise
        _fetch(table.corpus, say)
    else:
        if missing := [name for name in table.needs if name not in there]:
            raise EvaluationError(
                f"{table.corpus}: no {' and no '.join(missing)}, of which the table is; to get the "
                f"files: {how_to_obtain(corpus)}"
            )
    suite = folder / table.suite
    options = BuildOptions(corpora=[table.corpus], data_dir=data)
    if not is_current(suite, suite_named(table.suite), options):
        again = " again, as its files, options or toolkit have changed" if suite.exists() else ""
        say(f"building {table.suite} from {table.corpus}{again}")
        build(table.suite, corpus=table.corpus, data_dir=data, output=suite, overwrite=True)
    built = find_dataset(str(suite)).manifest["configs"]
    wanted = [name for row in table.values or table.rows for name in table.row(row).configs]
    return {
        name: (suite, next((one for one in ("test", "validation") if one in entry["splits"]), None))
        for name, entry in built.items()
        if not wanted or any(_is(name, one) for one in wanted)
    }


def _syntaxgym_folder(data: Path | None, say: Callable[[str], None]) -> Path:
    from coherencegym.loaders.read import data_root

    folder = data_root(data) / SYNTAXGYM
    if not any(folder.glob("**/*.json")):
        if data is not None:
            raise EvaluationError(
                f"{folder}: no suite's file (.json); to get the files: `coherencegym corpora fetch "
                f"{SYNTAXGYM} --data-dir {data}`"
            )
        _fetch(SYNTAXGYM, say)
    return folder


def _fetch(corpus: str, say: Callable[[str], None]) -> None:
    """Fetch a corpus whose files are open; one that is not, or has terms, is an error."""
    from argparse import Namespace

    from coherencegym.loaders.fetching.command import run

    say(f"fetching {corpus}")
    chosen = {"names": [corpus], "accept": False, "dry_run": False, "data_dir": None}
    run(Namespace(**chosen, mirror=None))


def _options_on(config: str, rows: Iterable[TableRow]) -> list[Mapping[str, str]]:
    """The options with which a config is run: each once."""
    found: list[Mapping[str, str]] = []
    for row in rows:
        is_wanted = not row.configs or any(_is(config, one) for one in row.configs)
        if is_wanted and row.options not in found:
            found.append(row.options)
    return found


def _is(config: str, name: str) -> bool:
    return f"_{config}".endswith(f"_{name}")


class _Run:
    """The runs of a task on the configs of a table."""

    def __init__(
        self,
        table: PublishedTable,
        model: str,
        folder: Path,
        limit: int | None,
        how: Mapping[str, str],
        say: Callable[[str], None],
    ) -> None:
        self._table, self._model, self._folder = table, model, folder
        self._limit, self._how, self._say = limit, how, say
        self._refused: dict[str, list[str]] = defaultdict(list)

    @property
    def notes(self) -> list[str]:
        """A line for each reason why configs could not be asked about."""
        return [f"{', '.join(dict.fromkeys(own))}: {why}" for why, own in self._refused.items()]

    def rows(
        self, config: str, dataset: Path, split: str | None, chosen: Mapping[str, str]
    ) -> _Rows:
        """The scores of a config; none, and a note, where it cannot be asked about."""
        from coherencegym import library
        from coherencegym.eval.metrics.estimates import score_of

        table = self._table
        how = "".join(f", {name} {value}" for name, value in chosen.items())
        self._say(f"{table.task} {self._model} on {config}{how}")
        options: dict[str, Any] = {**table.options, **chosen, **self._how}
        if table.compat:
            options["compat"] = table.compat
        if dataset.is_dir():
            options |= {"config": config, "split": split}
        folder = self._folder / "-".join([config, *chosen.values()])
        given = {"output": folder, "overwrite": True, "limit": self._limit}
        try:
            found = getattr(library, table.task)(self._model, dataset, **options, **given)
        except EvaluationError as error:
            if (said := str(error)).startswith(about := f"config {config!r}: "):
                self._refused[said.removeprefix(about)].append(config)
                return []
            raise
        own = {"config": config, "options": chosen}
        rows = [{**row, **own, "layer": None} for row in found.to_pandas().to_dict("records")]
        if table.by_layer:
            rows += [
                {**asdict(score_of(one)), **own, "layer": one.system.layer}
                for one in found.estimates
                if one.system.layer is not None
            ]
        return rows


def _row(table: PublishedTable, name: str, scored: _Rows) -> ReproducedRow:
    about = table.row(name)
    metric = about.metric or table.metric
    found = [one for one in scored if _is_wanted(one, about, metric)]
    by_config = {str(one["config"]): one for one in found}
    missing = [one for one in about.configs if not any(_is(config, one) for config in by_config)]
    score = low = high = None
    if found:
        values = [float(one["score"]) for one in by_config.values()]
        score = math.fsum(values) / len(values)
        ends = [[one[key] for one in by_config.values()] for key in ("ci_low", "ci_high")]
        if not any(end is None or end != end for own in ends for end in own):
            low, high = (
                score
                + sign
                * math.hypot(*(v - e for v, e in zip(values, own, strict=True)))
                / len(values)
                for sign, own in zip((-1, 1), ends, strict=True)
            )
    published = zip(table.systems, table.values.get(name, ()), strict=False)
    return ReproducedRow(
        name=name,
        configs=tuple(by_config),
        missing=tuple(missing),
        split=", ".join(dict.fromkeys(str(one["split"]) for one in by_config.values())),
        n=sum(int(one["n"]) for one in by_config.values()),
        score=score,
        low=low,
        high=high,
        published={system: value / 100 for system, value in published if value == value},
    )


def _is_wanted(score: Mapping[str, Any], about: TableRow, metric: str) -> bool:
    return (
        (not about.configs or any(_is(score["config"], one) for one in about.configs))
        and score["options"] == about.options
        and score["metric"] == metric
        and (score["group"] == about.group)
        and (score["system"] == about.system if about.system else score["level"] != "reference")
        and score["level"] not in ("formula", "headline")
    )


def _best_layers(layers: Mapping[int, Sequence[ReproducedRow]]) -> list[str]:
    # The first of equals, as a row has the same place in all of them.
    found = {}
    for same in zip(*layers.values(), strict=True):
        known = {n: row.score for n, row in zip(layers, same, strict=True) if row.score is not None}
        if known:
            found[same[0].name] = max(known, key=lambda n: known[n])
    if not found:
        return []
    mean = math.fsum(found.values()) / len(found)
    each = ", ".join(f"{name} {layer}" for name, layer in found.items())
    said = f"best layer here, chosen on the tested rows as in the paper: {each}"
    return [f"{said}; mean {mean:.1f} of {len(found)}"]


def _notes(rows: Sequence[ReproducedRow], limit: int | None, sizes: Mapping[str, int]) -> list[str]:
    from coherencegym.eval.data.syntaxgym import SPLIT

    notes = []
    if limit is not None:
        notes.append(f"--limit {limit}: a part of the items, on which the paper has no score")
    for row in rows:
        if row.score is not None and row.missing:
            notes.append(f"{row.name}: without {', '.join(row.missing)}: not the paper's mean")
        size = sizes.get(row.name, row.n)
        if limit is None and row.score is not None and row.n != size:
            notes.append(f"{row.name}: {row.n:,} items here, {size:,} in the paper")
    others = defaultdict(list)
    for row in rows:
        if row.score is None:
            others["no score here"].append(row.name)
        elif row.split not in ("test", SPLIT):
            others[f"on the {row.split} split, as there is no test split here"].append(row.name)
    notes += [f"{', '.join(names)}: {said}" for said, names in others.items()]
    return notes
