"""The verdict on a score, in words: what it says of a model beside chance and its baselines.

A page, a terminal and a card say the same, so the sentence is made here, of numbers alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from coherencegym.eval.data.dataset import BASELINE_TITLES, HUMAN_PERFORMANCE, PLAIN_BASELINES
from coherencegym.eval.report.blocks import Bearing, Verdict
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.report.grid import number_cell, score_cell, share_cell
from coherencegym.eval.statistics.scores import (
    CD,
    CONTROLLED_CD,
    FEW_ITEMS,
    Score,
    chance_names,
    is_correlation,
)
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.outcomes import Difference

#: The adjective of a version that a suite of this toolkit made.
INCOHERENT = "incoherent"


def verdict(
    model: str,
    one: Score | Headline,
    over: str = "",
    differences: Sequence[Difference] = (),
    worse: str = INCOHERENT,
) -> Verdict | None:
    """The verdict on a model's score; None where it has none.

    Args:
        model: its name.
        one: the score.
        over: says what was averaged; empty: nothing.
        differences: those from its controls, by which a score that has some is judged.
        worse: the adjective of the version that is to be the more surprising one.
    """
    if one.score is None:
        return None
    number = _number(one.score, one.metric)
    interval = ""
    if one.ci_low is not None and one.ci_high is not None:
        form = partial(number_cell, form="+.2f") if is_correlation(one.metric) else share_cell
        interval = f" [{form(one.ci_low)}, {form(one.ci_high)}]"
    what = f"{model} finds the {worse} version more surprising in {number} of items{interval}"
    if one.metric == CONTROLLED_CD:
        what += ", weighted so that no counted cue tells it"
    elif one.metric != CD:
        what = f"{model} reaches {number} {one.metric}{interval}"
    if is_correlation(one.metric):
        what = f"{model}'s scores correlate with the ratings by {number}{interval} ({one.metric})"
    what += f", averaged over {over}" if over else ""
    is_controlled = one.metric == CONTROLLED_CD
    fields = one.held_against if isinstance(one, Headline) else PLAIN_BASELINES
    references = {
        chance_names([one], article=True): one.chance,
        **{f"the {BASELINE_TITLES[name]}": getattr(one, name) for name in fields},
    }
    beside = [_beside(one, value) for value in references.values()]
    # To be better than a baseline below chance is no more than to be better than chance.
    against = [
        f"{name} ({_number(value, one.metric)})"
        for name, value in references.items()
        if value is not None and (one.chance is None or value >= one.chance)
    ]
    if against:
        what += f", against {' and '.join(filter(None, (', '.join(against[:-1]), against[-1])))}"
    if isinstance(one, Headline) and is_controlled:
        shows, bearing = _controlled(one, worse)
    else:
        shows, bearing = _meaning(one, worse, *beside)
    if any(each.ci_low is not None for each in differences):
        shows, bearing = _beside_controls(differences)
    if one.human_score is not None:
        shows += f"; {HUMAN_PERFORMANCE} is {_number(one.human_score, one.metric)}"
    if one.n < FEW_ITEMS:
        shows += f"; these are only {one.n} items: read the interval, not the score"
    return Verdict(what, shows, bearing)


def verdict_of(results: Results) -> Verdict | None:
    """The verdict on the run's one number, where it has one."""
    head = results.headline
    if head is None:
        return None
    over = " and ".join(head.over) if len(head.over) <= 3 else f"{len(head.over)} configs"
    over *= len(head.over) > 1
    differences = [each for each in results.differences if each.config in head.over]
    # Of one's own pairs, and of a suite's file, nobody has said that a version is incoherent.
    worse = INCOHERENT if results.dataset.get("conditions") else "worse"
    return verdict(short_model(results.model_name), head, over, differences, worse)


def _number(value: float | None, metric: str) -> str:
    # In one line.
    return score_cell(value, metric).replace(" ", "\N{NO-BREAK SPACE}")


#: A score whose interval is above another, below it, or has it.
_MORE, _LESS, _NO_MORE = "above", "below", "not above"


def _beside(one: Score | Headline, other: float | None) -> str:
    # Empty where one of them is not known.
    if other is None or one.ci_low is None or one.ci_high is None:
        return ""
    return _MORE if one.ci_low > other else _LESS if one.ci_high < other else _NO_MORE


def _controlled(one: Headline, worse: str) -> tuple[str, Bearing]:
    if one.is_below:
        plain = _number(one.plain_score, CD)
        return f"it prefers the {worse} versions (plain score {plain})", "below"
    if not one.is_above_chance:
        return "this shows nothing beyond counted cues such as repeated words and lengths", "open"
    if not one.is_above_baseline:
        return "the surface of the texts explains this", "open"
    return "neither counted cues nor a classifier of the surface explain this", "shows"


def _meaning(
    one: Score | Headline,
    worse: str,
    against_chance: str,
    against_partial_input: str,
    against_lexical_overlap: str,
) -> tuple[str, Bearing]:
    if not against_chance:
        return "without an interval and a chance level, this says little", "open"
    if against_chance == _LESS and is_correlation(one.metric):
        return "it finds less coherent texts less surprising", "below"
    if against_chance == _LESS and one.metric != CD:
        return "a system that reads nothing does better", "below"
    if against_chance == _LESS:
        return f"it prefers the {worse} versions", "below"
    if against_chance == _NO_MORE:
        is_about_coherence = worse == INCOHERENT or is_correlation(one.metric)
        noticed = "incoherence" if is_about_coherence else "the difference"
        return f"this does not show that it notices {noticed}", "open"
    if against_partial_input not in ("", _MORE):
        return "this does not show that it reads", "open"
    if against_lexical_overlap not in ("", _MORE):
        return "this shows no more than that it expects repeated words", "open"
    if not against_partial_input:
        return (
            "without a partial-input baseline, this does not show that it uses the context",
            "shows",
        )
    if not against_lexical_overlap:
        return "the parts of the items alone do not explain this", "shows"
    return "neither the parts of the items alone nor repeated words explain this", "shows"


def _beside_controls(differences: Sequence[Difference]) -> tuple[str, Bearing]:
    where = "in the controls, in which the same change makes no text less coherent"
    if all(each.ci_low is not None and each.ci_low > 0 for each in differences):
        return f"its margins are larger than {where}", "shows"
    no_larger = f"but its margins are not shown to be larger than {where}"
    return f"{no_larger}, so this does not show that it notices incoherence", "open"
