"""Correlate the scores of texts with people's ratings of them.

A score of a text is its surprisal in bits, taken negative: higher is better. It is held against the
ratings by Spearman's coefficient as it is, with the length of the text held constant, and within
prompts. Beside the model stand baselines that need no understanding, and one rater against the
others.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from statistics import fmean

from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.kinds.documents import RatedText
from coherencegym.eval.kinds.formula import WHOLE
from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.kinds.table_kind import SAMPLE
from coherencegym.eval.outcomes.label_metrics import PartialSpearman, Spearman, SpearmanWithin
from coherencegym.eval.outcomes.schema import System, baseline
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.report import grid
from coherencegym.eval.report.blocks import ReportSection, TextLists
from coherencegym.eval.report.score_table import score_table
from coherencegym.eval.statistics.bag_of_words import predicted_ratings
from coherencegym.eval.statistics.effective_size import ranks_of
from coherencegym.eval.statistics.scores import BAG_OF_WORDS, LENGTH, ONE_RATER, REPEATED_WORDS
from coherencegym.eval.surprisal import Answer
from coherencegym.eval.tasks.correlate.options import COMMAND
from coherencegym.eval.tasks.headline import Headline, mean_headline
from coherencegym.eval.tasks.options import NoOptions
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.table import Table
from coherencegym.eval.tasks.task import Task, TaskContext

#: Bits per token are what a run's one number is of.
BY_TOKEN, BY_CHARACTER, IN_ALL = SYSTEMS = (
    System(label="bits per token"),
    System(label="bits per character"),
    System(label="bits in total"),
)


#: The texts of each table that are listed.
_MOST_TEXTS = 100

#: A text, its score, and how many shares of all texts the score puts it above its rating's place.
Misplaced = tuple[RatedText, float, float]


def correlate_sections(found: Results) -> Iterator[ReportSection]:
    """The parts of the report."""
    yield ReportSection(
        "Correlations with ratings",
        score_table([row for row in found.rows if not row.group or row.system == BY_TOKEN.label]),
        "Scores are negative surprisals, so a higher score predicts a higher rating. A "
        "correlation of 1 is perfect, and 0 is chance. The rows below the model's three scores "
        "are people, and baselines that need no understanding of the text.",
    )
    placed = {table.name: by_misplacement(found, table) for table in found.inputs}
    yield ReportSection(
        "Texts",
        TextLists(
            tuple(
                (name, f"{min(len(own), _MOST_TEXTS):,} of {len(own):,} texts", (_listed(own),))
                for name, own in placed.items()
            )
        ),
        'The texts whose score and rating disagree most come first. "off" is the difference of '
        "the two ranks in per cent of all texts: + means that the score ranks the text higher than "
        "its rating does.",
    )


def by_misplacement(found: Results, table: Table[RatedText]) -> list[Misplaced]:
    """The texts of a table that have a score, those first that it places worst."""
    outcomes, first = found.outcomes, next(iter(found.metrics))
    places = outcomes.places_of(table.config, table.split, first, BY_TOKEN)
    scores = {outcome.unit.item: outcome.value for outcome in outcomes.rows(places)}
    known = [(row, value) for row in table.rows if (value := scores[row.item_id]) is not None]
    if not known:
        return []
    ranks = [ranks_of(own) for own in ([v for _, v in known], [row.rating for row, _ in known])]
    moved = (ranks[0] - ranks[1]) / len(known)
    placed = [(*one, float(by)) for one, by in zip(known, moved, strict=True)]
    return sorted(placed, key=lambda one: (-abs(one[2]), one[0].item_id))


def _listed(texts: Sequence[Misplaced]) -> grid.Grid:
    rows = []
    for row, value, moved in texts[:_MOST_TEXTS]:
        ratings = ", ".join(f"{one:g}" for one in row.ratings) if len(row.ratings) > 1 else ""
        about = ": ".join(filter(None, (row.item_id, row.prompt)))
        numbers = f"{row.rating:g}" + f" ({ratings})" * bool(ratings), f"{value:.3f}"
        rows.append(grid.GridRow((row.text, *numbers, f"{100 * moved:+.0f}", about)))
    return grid.made("text", ("rating", "score", "off, %", "from"), rows)


SPEARMAN_OF_ALL = Spearman("spearman", "Spearman")
SPEARMAN_GIVEN_LENGTH = PartialSpearman("spearman_given_length", "partial Spearman (length)")
SPEARMAN_WITHIN = SpearmanWithin("spearman_within_prompts", "Spearman within prompts")
_TEXT = "text"


def query(rated: RatedText) -> Query:
    """The whole text, read once."""
    condition = Condition(_TEXT, rated.text, (Region(1, rated.text),))
    return Query(rated.item_id, [condition], {_TEXT: frozenset({WHOLE})})


def correlate(
    context: TaskContext, table: Table[RatedText], options: NoOptions, writer: OutcomeWriter
) -> None:
    """Add the outcomes of every text, by the model's scores and by baselines."""
    answers = context.surprisals(table, list(map(query, table.rows)))
    scored = [scores(rated, own) for rated, own in zip(table.rows, answers, strict=True)]
    units = writer.units(map(table.unit, table.rows))
    for number, system in enumerate(SYSTEMS):
        values = [None if own is None else own[number] for own in scored]
        _add(writer, table, units, system, values)
    add_baselines(writer, table, units)


def scores(rated: RatedText, answer: Answer[Query]) -> tuple[float, float, float] | None:
    """The scores of a text in the order of :data:`SYSTEMS`; None where it was not read."""
    condition = answer.conditions.get(_TEXT)
    if condition is None or not len(bits := condition.region_bits(WHOLE)):
        return None
    total = -float(bits.sum())
    return total / len(bits), total / len(rated.text), total


def add_baselines(writer: OutcomeWriter, table: Table[RatedText], units: Sequence[int]) -> None:
    """Add the outcomes of what is easier than coherence, where it is known, and of one person.

    - length: characters; the longer, the higher.
    - repeated words: the column ``overlap``.
    - bag of words: ratings that it predicts (:mod:`eval.statistics.bag_of_words`).
    - one rater: the first rating of a text, held against the mean of its others.
    """
    rows = table.rows

    lengths = [float(len(one.text)) for one in rows]
    _add(writer, table, units, baseline(LENGTH), lengths, partial=False)
    if any(one.overlap is not None for one in rows):
        _add(writer, table, units, baseline(REPEATED_WORDS), [one.overlap for one in rows])
    words = predicted_ratings(
        [one.text for one in rows], [one.rating for one in rows], [one.cluster for one in rows]
    )
    if words is not None:
        _add(writer, table, units, baseline(BAG_OF_WORDS), words)
    if any(len(one.ratings) > 1 for one in rows):
        others = [fmean(r[1:]) if len(r := one.ratings) > 1 else one.rating for one in rows]
        firsts = [one.ratings[0] if len(one.ratings) > 1 else None for one in rows]
        people = System(role="people", label=ONE_RATER)
        _add(writer, table, units, people, firsts, others, reason="one rating")


def _add(
    writer: OutcomeWriter,
    table: Table[RatedText],
    units: Sequence[int],
    system: System,
    values: Sequence[float | None],
    target: Sequence[float] | None = None,
    *,
    partial: bool = True,
    reason: str = "too_long",
) -> None:
    # ``target``: other numbers than the ratings.
    rows = table.rows
    held = [one.rating for one in rows] if target is None else target
    lengths = [float(len(one.text)) for one in rows]
    writer.add(units, SPEARMAN_OF_ALL.name, system, values, reason=reason, target=held)
    if partial:
        writer.add(
            units,
            SPEARMAN_GIVEN_LENGTH.name,
            system,
            values,
            reason=reason,
            target=held,
            given=lengths,
        )
    if max(Counter(one.cluster for one in rows).values()) > 1:
        writer.add(units, SPEARMAN_WITHIN.name, system, values, reason=reason, target=held)


def _headline(found: Results) -> Headline | None:
    # The project's sample counts only where there is nothing else.
    real = [t for t in found.inputs if any(one.corpus != SAMPLE for one in t.rows)]
    about = found.outcomes, found.rows, real or found.inputs
    return mean_headline(*about, SPEARMAN_OF_ALL, BY_TOKEN)


def _notes(found: Results) -> Iterator[Note]:
    yield detail(
        "scores are negative surprisals, so a higher score predicts a higher rating; a "
        "correlation is 1 if scores and ratings rank the texts alike, and 0 if the two ranks are "
        "unrelated"
    )
    yield detail(
        f"{SPEARMAN_GIVEN_LENGTH.said}: partial rank correlation, controlled for the number of "
        "characters"
    )
    yield detail(f"{SPEARMAN_WITHIN.said}: correlation of ranks among the texts of one prompt")
    if samples := [t.name for t in found.inputs if all(one.corpus == SAMPLE for one in t.rows)]:
        yield caution(
            f"{', '.join(samples)}: the authors set these grades; no raters judged the texts"
        )


TASK = Task(
    command=COMMAND,
    metrics=(SPEARMAN_OF_ALL, SPEARMAN_GIVEN_LENGTH, SPEARMAN_WITHIN),
    run=correlate,
    headline=_headline,
    sections=correlate_sections,
    notes=_notes,
)
