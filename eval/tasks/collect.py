"""The results of a run, gathered from its outcomes: one way for all tasks."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from coherencegym.eval.data.notes import Note, caution, detail, first_names, partial_notes
from coherencegym.eval.data.signature import read_as, signature, versions
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.table_kind import FAMILY, rows_digest
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.scores import FEW_ITEMS, Score, shown_rows
from coherencegym.eval.tasks.headline import baseline_notes
from coherencegym.eval.tasks.options import signed_options
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.table import Table
from coherencegym.eval.tasks.task import Task


def collect_results(
    asked: Task[Any, Any, Any],
    source: Source,
    model: LoadedModel,
    pairs: Sequence[tuple[Any, Any]],
    outcomes: OutcomeTables,
    settings: Mapping[str, Any],
    options: Any,
    own: Mapping[str, Any],
    reading: Mapping[str, Any] = MappingProxyType({}),
) -> Results:
    """The results of a run on inputs of a dataset, at least one.

    Args:
        pairs: inputs, and their details.
        settings: the user's choices of model, data and reading, by their names.
        options: the task's own, as they came to.
        own: the same as results record them.
        reading: the choices of reading that a signature has.
    """
    about, details = model.about(), [detail for _, detail in pairs]
    tables = [table for table, _ in pairs]
    digests = [
        f"{table.config} {digest}"
        for table in tables
        for digest in getattr(table, "digests", ()) or [f"{table.split} {table.rows_sha256}"]
    ]
    dataset = about_dataset(
        source,
        digests,
        all(table.verified for table in tables),
        [
            about_table(
                table, table.rows, **_language(source, table.config), **asked.facts(table, detail)
            )
            for table, detail in pairs
        ],
    )
    came_to = {**asked.came_to(details), "intervals": INTERVALS, "versions": versions(about)}
    recorded = {**settings, **own, **came_to}
    signed = read_as(signed_options({**reading, **own}), recorded)
    results = Results(
        signature=signature(asked.command.name, about, dataset, recorded, signed),
        model=about,
        dataset=dataset,
        settings=recorded,
        notes=(),
        task=asked.command.name,
        outcomes=outcomes,
        metrics={metric.name: metric for metric in asked.metrics},
        asked=asked,
        inputs=tables,
        details=details,
        options=options,
        manifest=source.manifest,
    )
    rows = _rows(results) if asked.rows is None else asked.rows(results)
    results = replace(results, rows=rows, differences=asked.differences(results))
    results = replace(results, headline=asked.headline(results))
    results = replace(results, more=asked.more(results))
    notes = [*run_notes(source, model, tables, settings["max_items"]), *_notes(results)]
    return replace(results, notes=notes)


def _rows(results: Results) -> list[Score]:
    # Baselines stand beside the model, too; layers of a model are in its outcomes alone.
    asked: Task[Any, Any, Any] = results.asked
    known: dict[tuple[Any, ...], dict[str, Score]] = {}
    people: dict[tuple[Any, ...], Score] = {}
    for metric, system, score in results.estimates:
        place = score.config, score.split, score.group, metric.name
        known.setdefault(place, {})[system.label] = score
        if system.role == "people":
            # Those that a task adds last, where there are several.
            people[place] = score
    rows = []
    for metric, system, score in results.estimates:
        place = score.config, score.split, score.group, metric.name
        if system.role == "model":
            beside = asked.beside(known[place])
            by = people.get(place)
            if by is not None and by.score is not None:
                beside |= {"human_score": by.score, "human_n": by.n}
                beside |= {"human_ci_low": by.ci_low, "human_ci_high": by.ci_high}
            score = replace(score, **beside)
        if system.layer is None:
            rows.append(score)
    return rows


def _language(source: Source, config: str) -> dict[str, str]:
    # ISO 639-1; ``mul``: several; none where none is stated.
    language = str(_corpora(source, [config])[0].get("language", ""))
    return {"language": language} if language else {}


def _notes(found: Results) -> Iterator[Note]:
    yield from found.asked.notes(found)
    yield from baseline_notes(found.headline)
    marked = any(row.n < FEW_ITEMS for row in shown_rows(found.rows))
    if marked or any(len(table.rows) < FEW_ITEMS for table in found.inputs):
        what = found.asked.command.units
        yield caution(f"! fewer than {FEW_ITEMS} {what}: read the interval, not the score")


def run_notes(
    source: Source, model: LoadedModel, tables: Sequence[Table[Any]], limit: int | None
) -> Iterator[Note]:
    """Lines for a reader of any task's scores: on the dataset, the part read, the model."""
    yield from source.notes
    yield from partial_notes(
        source.manifest, [(table.config, len(table.rows)) for table in tables], limit
    )
    yield from model.lines()
    corpora = _corpora(source, [table.config for table in tables])
    yield from contamination_notes(corpora, model.training_cutoff)


def _corpora(source: Source, configs: Iterable[str]) -> list[Mapping[str, Any]]:
    known = source.manifest.get("configs", {})
    return [known.get(config, {}).get("corpus", {}) for config in configs]


def contamination_notes(corpora: Iterable[Mapping[str, Any]], cutoff: str | None) -> Iterator[Note]:
    """A line on whether the model may have read the texts; none where their year is not known.

    ``cutoff`` is the date at which its training data end, as the user states it (``2023-09``).
    """
    years = {
        str(corpus.get("title", "")): int(corpus["public_since"])
        for corpus in corpora
        if corpus.get("public_since")
    }
    if not years:
        return
    younger = [title for title, year in years.items() if cutoff and year > int(cutoff[:4])]
    verdict = "the model may have been trained on these texts"
    if len(younger) == len(years):
        verdict = "these texts were not public then"
    elif younger:
        verdict += f", but not on those of {first_names(younger)}"
    said = ", ".join(f"{year} ({title})" for title, year in years.items())
    facts = f"end in {cutoff} (as stated by the user)" if cutoff else "are unknown"
    yield detail(f"texts public since {said}; the model: its training data {facts}; {verdict}")


#: Facts that a suite says of itself, in its manifest and in results.
SUITE_FACTS = (
    *("title", "hypothesis", "description", "conditions", "limitations", "uses"),
    "citation",
)


def about_dataset(
    source: Source, digests: Iterable[str], verified: bool, tables: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The facts of a dataset that results record; ``digests`` are those of its tables' rows."""
    return {
        "name": source.name,
        "suite": source.suite,
        "version": source.version,
        "repo": source.repo,
        "revision": source.revision,
        "commit": source.commit,
        "rows_sha256": rows_digest(digests),
        "verified": verified,
        "tables": list(tables),
        **{name: source.manifest[name] for name in SUITE_FACTS if source.manifest.get(name)},
        **_limitations(source, {str(table["config"]): None for table in tables}),
    }


def _limitations(source: Source, configs: Iterable[str]) -> dict[str, list[str]]:
    of_corpora = [
        f"{corpus.get('title', '')}: {line}"
        for corpus in _corpora(source, configs)
        for line in corpus.get("limitations", ())
    ]
    found = [*source.manifest.get("limitations", ()), *dict.fromkeys(of_corpora)]
    return {"limitations": found} if found else {}


def about_table(table: Any, rows: Sequence[Any], **more: Any) -> dict[str, Any]:
    """The facts of a table that results record, of which these rows were read."""
    return {
        "config": table.config,
        "split": table.split,
        "sha256": table.rows_sha256,
        "items": len(rows),
        "headline": getattr(table, "headline", ""),
        "breakdowns": list(table.breakdowns),
        # Rows that are not in memory are not read again for it.
        "families": "families" not in more
        and any(getattr(row, "extra", {}).get(FAMILY) for row in rows),
        **more,
    }
