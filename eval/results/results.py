"""Everything that a run reports, gathered in one value."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from coherencegym.eval.data.dataset import FILTER_MODEL, ItemTable, chosen_with, filtered_note
from coherencegym.eval.data.notes import Note, caution, detail, first_names, partial_notes
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.data.source import Published, Source, published
from coherencegym.eval.data.syntaxgym import SPLIT as SUITE_SPLIT
from coherencegym.eval.forward.agreement import TIMES, Trial
from coherencegym.eval.metrics.metric import Metric
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.outcomes.tables import OutcomeTables, OutcomeWriter
from coherencegym.eval.plan.options import MODES, Rules
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.statistics.scores import FEW_ITEMS
from coherencegym.eval.tasks.results import TaskResults, about_dataset, about_table
from coherencegym.eval.tasks.score.closeness import LEVEL
from coherencegym.eval.tasks.score.controls import Difference, differences
from coherencegym.eval.tasks.score.headline import floor_notes, headline_of
from coherencegym.eval.tasks.score.lengths import LengthCorrelation, length_correlations
from coherencegym.eval.tasks.score.metrics import Judgement
from coherencegym.eval.tasks.score.outcomes import ACCURACY, MARGIN
from coherencegym.eval.tasks.score.scoring import Scored
from coherencegym.eval.tasks.score.summary import ItemScore, Macro, macro, shown_rows, summarise
from coherencegym.eval.tasks.score.tally import ItemTally
from coherencegym.eval.tasks.score.word_effect import WordEffect, effect_line

Tables = Sequence[tuple[ItemTable, Scored]]


@dataclass(frozen=True)
class Results(TaskResults):
    """Everything that a run reports.

    ``tables`` are the items that are shown, with their surprisals: all, or of tables that were read
    in parts a sample; ``judged`` is what became of their predictions, by config and split. Scores
    are over all items.
    """

    scores: Sequence[ItemScore]
    macros: Sequence[Macro]
    tables: Tables
    differences: Sequence[Difference] = ()
    lengths: Sequence[LengthCorrelation] = ()
    published: Sequence[Published] = ()
    word_effects: Sequence[WordEffect] = ()
    judged: Mapping[tuple[str, str], Sequence[Judgement]] = field(default_factory=dict)
    predictions: OutcomeTables | None = None

    @property
    def outcomes(self) -> OutcomeTables | None:
        """What became of the predictions of all items."""
        return self.predictions

    @property
    def metrics(self) -> Sequence[Metric]:
        """Those of predictions."""
        return ACCURACY, MARGIN

    @property
    def rows(self) -> Sequence[ItemScore]:
        """The scores, as the results of every task have them."""
        return self.scores

    def more(self) -> dict[str, Any]:
        """The keys of ``results.json`` that only this task has."""
        return {
            "macro": [asdict(macro) for macro in self.macros],
            "differences": [asdict(difference) for difference in self.differences],
            "lengths": [asdict(length) for length in self.lengths],
            "published": [asdict(row) for row in self.published],
            "word_effects": [asdict(effect) for effect in self.word_effects],
        }

    def __repr__(self) -> str:
        rows = f"{len(self.scores):,} scores" if len(self.scores) != 1 else "1 score"
        return f"<Results of {self.model['name']} on {self.dataset['name']}: {rows}>"


def gather(
    source: Source, model: LoadedModel, tables: Tables, settings: Mapping[str, Any]
) -> Results:
    """The results of a run on the tables of a dataset, at least one.

    ``settings`` are the choices that the command line and :func:`eval.library.score` record.
    """
    writer = OutcomeWriter()
    tallies = []
    for table, scored in tables:
        tallies.append(ItemTally(table, writer))
        tallies[-1].add(scored)
    return gather_tallies(source, model, tallies, writer.tables(), settings)


def gather_tallies(
    source: Source,
    model: LoadedModel,
    tallies: Sequence[ItemTally],
    outcomes: OutcomeTables,
    settings: Mapping[str, Any],
) -> Results:
    """The results of a run on tables that were scored in parts; the rest as for :func:`gather`."""
    about = {**model.about(), "context": tallies[0].last.context}
    dataset = _about_dataset(source, tallies)
    recorded = _recorded(settings, tallies, versions(about))
    tables = [one.table for one in tallies]
    scores = [score for table in tables for score in summarise(outcomes, table)]
    found = Results(
        signature=signature(about, dataset, recorded),
        model=about,
        dataset=dataset,
        settings=recorded,
        notes=(),
        scores=scores,
        macros=[one for table in tables if (one := macro(outcomes, table))],
        tables=[one.shown for one in tallies],
        differences=list(_differences(tables, outcomes)),
        lengths=[one for table in tables for one in length_correlations(outcomes, table)],
        published=published(source.manifest, [table.config for table in tables]),
        word_effects=[one.word_effect for one in tallies if one.word_effect],
        judged={_at(one.table): one.judgements for one in tallies},
        headline=headline_of(tables, outcomes, scores),
        predictions=outcomes,
    )
    return replace(found, notes=list(_notes(found, source, model, tallies)))


def _at(table: ItemTable) -> tuple[str, str]:
    return table.config, table.split


def _recorded(
    settings: Mapping[str, Any], tallies: Sequence[ItemTally], found_versions: Mapping[str, str]
) -> dict[str, Any]:
    """The user's choices, and what came of them."""
    first = tallies[0].last
    rendering = next((one.last.separator for one in tallies if one.last.separator), None)
    return {
        **settings,
        "start_of_text": asdict(first.start),
        "separator_rendering": asdict(rendering) if rendering else None,
        "rules": asdict(first.rules),
        "added_tokens": asdict(first.added) if first.added else None,
        "tie_bits": first.rules.tie_bits,
        "numeric_error": _numeric_error(tallies),
        "intervals": INTERVALS,
        "versions": dict(found_versions),
    }


def _notes(
    found: Results, source: Source, model: LoadedModel, tallies: Sequence[ItemTally]
) -> Iterator[Note]:
    yield from (*source.notes, *model.lines())
    tables = [one.table for one in tallies]
    masked = scorer_notes(found.settings, tables)
    yield from masked
    read = [(one.table.config, one.n_items) for one in tallies]
    yield from partial_notes(source.manifest, read, found.settings.get("max_items"))
    if not masked:
        yield from compat_notes(tallies[0].last.rules, model.dtype, tables)
    yield from floor_notes(found.headline)
    for one in tallies:
        chosen = ({FILTER_MODEL: name} for name in one.chosen_with)
        if chosen_with(chosen, model.name, model.commit):
            yield filtered_note(one.table.config, model.name)
    yield from _shown_notes(found.tables, tallies)
    yield from score_notes(found.scores, tallies)
    yield from map(detail, map(effect_line, found.word_effects))


def _shown_notes(tables: Tables, tallies: Sequence[ItemTally]) -> Iterator[Note]:
    """A line on each table of which the page has a sample."""
    for one, (_, scored) in zip(tallies, tables, strict=True):
        if len(scored.items) < one.n_items:
            yield detail(
                f"{one.table.config}: report.html shows predictions of a sample of "
                f"{len(scored.items):,} of its {one.n_items:,} items, which is the same in every "
                "run; scores and intervals are over all"
            )


def _differences(tables: Sequence[ItemTable], outcomes: OutcomeTables) -> Iterator[Difference]:
    """Each table against those of its controls that were scored."""
    known = set(map(_at, tables))
    for table in tables:
        controls = [name for name in table.controls if (name, table.split) in known]
        yield from differences(outcomes, *_at(table), controls)


def _numeric_error(tallies: Sequence[ItemTally]) -> dict[str, float] | None:
    """The largest numeric error of a table (bits for a spread of 1); None where none was needed."""
    errors = [run.error for one in tallies for run in one.runs if run.error]
    return {"bits": max(errors), "level": LEVEL} if errors else None


def _about_dataset(source: Source, tallies: Sequence[ItemTally]) -> dict[str, Any]:
    counts = ("too_long", "truncated", "spanning_tokens")
    about = [
        about_table(one.table, (), **{name: getattr(one, name) for name in counts})
        | {"items": one.n_items, "families": one.families}
        for one in tallies
    ]
    tables = [one.table for one in tallies]
    digests = (f"{table.config} {table.split} {table.rows_sha256}" for table in tables)
    return about_dataset(source, digests, all(table.verified for table in tables), about)


def compat_notes(rules: Rules, dtype: str, tables: Sequence[ItemTable]) -> list[Note]:
    """A line that scores may be held against published ones, or not; none where nobody would."""
    if rules.name:
        said = f"--compat {rules.name}: scored as the published numbers were"
        if dtype == "float32":
            return [detail(f"{said}, and comparable")]
        return [caution(f"{said}, but in {dtype}, not in float32")]
    if any(table.split == SUITE_SPLIT for table in tables):
        modes = " or ".join(f"--compat {name}" for name in MODES)
        return [caution(f"not comparable with published numbers; with {modes} they are")]
    return []


_MASKED = {
    "within_word_l2r": "with it and the rest of its word masked",
    "original": "with it alone masked",
}


def scorer_notes(settings: Mapping[str, Any], tables: Sequence[ItemTable]) -> list[Note]:
    """Lines on surprisals that are not read from left to right; none where they are."""
    if settings.get("masking") is None:
        return []
    published = (
        "not comparable with published numbers, which are of models that read from left to right"
    )
    return [
        *([caution(published)] if any(table.split == SUITE_SPLIT for table in tables) else []),
        detail(
            f"{settings['scorer']}: a token's surprisal is that given all of the text, what "
            f"follows it too, {_MASKED[settings['masking']]}"
        ),
    ]


def score_notes(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> list[Note]:
    """Lines that a reader of the table must know."""
    return [line for note in _NOTES for line in note(scores, tallies)]


def _headlines(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    over: dict[str, list[str]] = {}
    for one in tallies:
        if one.table.headline:
            over.setdefault(one.table.headline, []).append(one.table.config)
    for headline, configs in over.items():
        names = first_names(list(dict.fromkeys(configs)))
        yield detail(
            f"{names}: the row of a config, and rows such as name=value, count only the "
            f"predictions of the group {headline!r}"
        )


def _hidden_groups(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    details = [score for score in scores if score.level == "detail"]
    if hidden := len(details) - len(shown_rows(details)):
        yield detail(
            f"{hidden:,} groups of fewer than {FEW_ITEMS} items: in results.json and report.html"
        )


def _few_items(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    if any(s.n < FEW_ITEMS or 0 < s.human_n < FEW_ITEMS for s in shown_rows(scores)):
        yield caution(f"! fewer than {FEW_ITEMS} items: read the interval, not the score")


def _families(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    families = [s for s in scores if s.level == "all" and s.n_clusters < s.n_discourses]
    if families:
        listed = ", ".join(f"{s.config} {s.n_clusters:,} of {s.n:,} items" for s in families)
        yield detail(f"intervals over families of items that share text: {listed}")


def _first_tokens(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    if any(score.first_left_out for score in scores):
        yield caution(
            "† no start-of-text token: the first token of a text has no surprisal and is left "
            "out; conditions may leave out different tokens"
        )


_REASONS = {
    "identical": "their conditions are the same tokens for this model",
    "separator": "this tokenizer has no separator for [SEP] (see --separator)",
    "empty": "a region has no token with a surprisal",
}


def _undefined(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    why: Counter[str] = Counter()
    for score in scores:
        if score.level == "all":
            why.update(score.undefined_why)
    for reason, count in why.items():
        yield caution(f"undefined: {count:,}, {_REASONS[reason]}")


def _lengths(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    if too_long := sum(one.too_long for one in tallies):
        context = tallies[0].last.context
        yield caution(f"too long: {too_long:,} for the model's context of {context:,} tokens")
    if cut := sum(one.truncated for one in tallies):
        yield caution(f"cut to fit: {cut:,}, on the left, where all conditions are identical")


def _refusals(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    """Things that were not done together, as it would have changed numbers."""
    runs = [run for one in tallies for run in one.runs]
    trials = [(run.sharing, run.beside) for run in runs]
    for reason in sorted({s.reason for s, _ in trials if s is not None and not s.passed}):
        yield caution(f"beginnings of texts were not shared by conditions: {reason}")
    for reason in sorted({b.reason for _, b in trials if b is not None and not b.passed}):
        yield caution(f"texts were read one at a time: beside a longer one {reason}")
    if any(s.by_rule for s, _ in trials if s is not None and s.passed):
        yield detail(
            "texts of an item in one row were attended to by FlexAttention: as the model was "
            "loaded, or as no fused kernel of torch takes their mask here"
        )
    yield from _shared_in_half([s for s, _ in trials if s is not None and s.passed])
    if halved := sum(run.halved for run in runs):
        yield detail(f"memory ended {halved:,} times: smaller batches were run")


def _shared_in_half(trials: Sequence[Trial]) -> Iterator[Note]:
    """The reason for sharing in half precision, by the trial in which most was lost by it."""
    measured = [(t.precision, t.difference) for t in trials if t.precision is not None]
    if measured:
        found, difference = max(measured, key=lambda each: each[0].tried - each[0].apart)
        right = "" if difference is None else f" (in float32 {difference:.1g} bits apart at most)"
        yield detail(
            f"beginnings of texts were shared by conditions{right}: of {found.texts:,} texts half "
            f"are off float32 by up to {found.tried:.2g} bits in what is read of them, and by "
            f"{found.apart:.2g} alone or in batches that share nothing; {TIMES:g} times as much "
            "passes"
        )


def _too_close(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    runs = [run for one in tallies for run in one.runs]
    if error := max((run.error for run in runs), default=0.0):
        reference = (
            "the same weights in float32"
            if all(run.widened for run in runs)
            else "the same texts alone, as float32 could not be had, which shows only a part of it"
        )
        yield caution(
            f"too close: predictions that the number format may have turned, by differences within "
            f"{error * math.sqrt(2 / 10):.2g} bits for two means of ten tokens (and as their "
            f"formula has it for others), which {1 - LEVEL:.0%} of items keep to, by a sample "
            f"held to {reference}; they are in the score"
        )


def _spanning_tokens(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    if spanning := sum(one.spanning_tokens for one in tallies):
        yield detail(f"tokens over a region's end: {spanning:,}, counted to where they begin")


def _missing_controls(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    tables = [one.table for one in tallies]
    there = set(map(_at, tables))
    for table in tables:
        missing = [name for name in table.controls if (name, table.split) not in there]
        if missing:
            yield caution(
                f"{table.config}: not scored with its controls {', '.join(missing)}, without which "
                "its score says little"
            )


def _artefacts(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    if any(score.artefact_score is not None for score in scores):
        yield detail(
            "artefact: the same statistic for a classifier that never sees the contrast in "
            "context; a model must beat it to show more than that"
        )
    if any(score.overlap_score is not None for score in scores):
        yield detail(
            "overlap: the same for the side that repeats more words of the text before it; a model "
            "must beat it, too, to show more than that"
        )


def _people(scores: Sequence[ItemScore], tallies: Sequence[ItemTally]) -> Iterator[Note]:
    judged = [f"{s.config} {s.human_n:,}" for s in scores if s.level == "all" and s.human_n]
    if judged:
        yield detail(
            "human: the share of judged pairs of which most people call the incoherent text the "
            f"less coherent ({', '.join(judged)} pairs); the interval is in results.json"
        )


#: Notes, in the order in which they are printed.
_NOTES = (
    _headlines,
    _hidden_groups,
    _few_items,
    _families,
    _first_tokens,
    _undefined,
    _lengths,
    _refusals,
    _too_close,
    _spanning_tokens,
    _missing_controls,
    _artefacts,
    _people,
)
