"""The part that the results of every task have: model, data, settings, signature."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.eval.data.notes import Note, detail, first_names, partial_notes
from coherencegym.eval.data.source import Source
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.models.provenance import Provenance
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.statistics.scores import Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.table import Table


@dataclass(frozen=True)
class TaskResults:
    """The part that the results of every task have.

    Attributes:
        signature: one line from which they can be reproduced.
        model, dataset: facts for ``results.json``.
        settings: the user's choices, and what came of them.
        notes: lines that a reader of the scores must know.
        task: its name.
        headline: the suite's one number, where it has one.
        outcomes: those of every unit; None where the results have them in another form.
    """

    signature: str
    model: Mapping[str, Any]
    dataset: Mapping[str, Any]
    settings: Mapping[str, Any]
    notes: Sequence[Note]
    task: str = field(default="score", kw_only=True)
    headline: Headline | None = field(default=None, kw_only=True)
    outcomes: OutcomeTables | None = field(default=None, kw_only=True, repr=False)

    @property
    def rows(self) -> Sequence[Score]:
        """The scores, in the form that every task has."""
        raise NotImplementedError

    @property
    def metrics(self) -> Sequence[Metric]:
        """The metrics of the outcomes."""
        return ()

    def more(self) -> dict[str, Any]:
        """The keys of ``results.json`` that only this task has."""
        return {}


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
    yield from contamination_notes(corpora, model.provenance)


def _corpora(source: Source, configs: Iterable[str]) -> list[Mapping[str, Any]]:
    known = source.manifest.get("configs", {})
    return [known.get(config, {}).get("corpus", {}) for config in configs]


def contamination_notes(corpora: Iterable[Mapping[str, Any]], model: Provenance) -> Iterator[Note]:
    """A line on whether the model may have read the texts; none where their year is not known."""
    years = {
        str(corpus.get("title", "")): int(corpus["public_since"])
        for corpus in corpora
        if corpus.get("public_since")
    }
    if not years:
        return
    latest = model.latest_year
    younger = [title for title, year in years.items() if latest is not None and year > latest]
    verdict = "the model may have been trained on these texts"
    if len(younger) == len(years):
        verdict = "these texts were not public then"
    elif younger:
        verdict += f", but not on those of {first_names(younger)}"
    said = ", ".join(f"{year} ({title})" for title, year in years.items())
    facts = ", ".join(model.facts()) or "its training data are unknown"
    yield detail(
        f"texts public since {said}; the model: {facts}; {verdict} (see Contamination in the "
        "dataset's card)"
    )


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
        "rows_sha256": hashlib.sha256("\n".join(digests).encode()).hexdigest(),
        "verified": verified,
        "tables": list(tables),
        **{name: source.manifest[name] for name in SUITE_FACTS if source.manifest.get(name)},
        **_limitations(source, {str(table["config"]): None for table in tables}),
    }


def language_in(source: Source, config: str) -> str:
    """The language of a config (ISO 639-1; ``mul``: several); empty where none is stated."""
    return str(_corpora(source, [config])[0].get("language", ""))


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
        # Without it all items count in the suite's one number.
        **({"headline_value": value} if (value := getattr(table, "headline_value", "")) else {}),
        # Rows that are not in memory are not read again for it.
        "families": "families" not in more
        and any(getattr(row, "extra", {}).get(FAMILY) for row in rows),
        **more,
    }
