"""Matched order: units in another order, in which each stands as well in its place as before.

Where any order may be drawn a shuffled text shows by itself: what opens or closes a text stands
inside it. Here the first and the last unit stay, and of all orders of those between them that one
is taken that a classifier of positions finds as likely as the original. It has learned from other
texts, as in AFLite (Le Bras et al. 2020, "Adversarial filters of dataset biases"), and knows
single units only, so that what is left to tell the orders apart is how units go together. The
*least* suspicious order, which AFLite's idea suggests, gives itself away by being less suspicious
than the original.

The classifier says how much a unit by itself looks as if it stood in a place of its text: naive
Bayes of each unit's words, first words, length and capitals. It is cross-fitted: what it says of a
text it has learned from others.

Grosz, Joshi and Weinstein 1995. The forward centers of a unit are the entities that it mentions,
the most salient first; the backward center is the first of those of the unit before that it
mentions again. Salience is by information status first (what is given, and pronouns, before what is
new), then by grammatical function and place, after Strube and Hahn 1999: on the 80 documents of GUM
at hand 93 % of the transitions are then those that GUM has (4,291 of 4,624), and 88 % by
function and place alone.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, permutations
from typing import Any

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.manipulations.operator import Context, Operator
from coherencegym.manipulations.units import kendall_tau, reorder
from coherencegym.words import with_spaces

#: The entities of a unit by their chains, the most salient first.
Centers = tuple[str, ...]

NO_CENTER, ESTABLISHMENT = "null", "establishment"
CONTINUE, RETAIN, SMOOTH_SHIFT, ROUGH_SHIFT = "continue", "retain", "smooth-shift", "rough-shift"

#: Functions by salience; all others come behind them.
_FUNCTIONS = {"nsubj": 0, "csubj": 0, "obj": 1, "iobj": 1}


def has_centers(discourse: Discourse) -> bool:
    """Tell whether the mentions of a discourse say enough for centering: their functions."""
    return any(mention.features.function for mention in discourse.mentions)


def forward_centers(discourse: Discourse) -> tuple[Centers, ...]:
    """The forward centers of each unit."""
    ranks: list[dict[str, tuple[bool, bool, int, int]]] = [{} for _ in discourse.units]
    for mention in discourse.mentions:
        own = ranks[mention.span[0][0]]
        own[mention.chain] = min(own.get(mention.chain, (True, True, 9, 0)), _rank(mention))
    return tuple(tuple(sorted(own, key=own.__getitem__)) for own in ranks)


def _rank(mention: Mention) -> tuple[bool, bool, int, int]:
    features = mention.features
    return (
        not features.status.startswith("giv"),
        mention.kind != "pronoun",
        _FUNCTIONS.get(features.function.partition(":")[0], len(_FUNCTIONS)),
        mention.span[0][1],
    )


def transitions(centers: Sequence[Centers]) -> tuple[str, ...]:
    """The transitions between units with these forward centers: one fewer than there are units."""
    found = []
    backward: str | None = None
    for before, now in pairwise(centers):
        center = next((entity for entity in before if entity in now), None)
        if center is None:
            found.append(NO_CENTER)
        elif backward is None:
            found.append(ESTABLISHMENT)
        elif center == backward:
            found.append(CONTINUE if now[0] == center else RETAIN)
        else:
            found.append(SMOOTH_SHIFT if now[0] == center else ROUGH_SHIFT)
        backward = center
    return tuple(found)


def broken_transitions(centers: Sequence[Centers]) -> int:
    """Count rough shifts, and units that are about nothing of what the one before is about.

    The latter tell the order of a text from others best (Karamanis, Poesio, Mellish and Oberlander
    2009, "Evaluating centering for information ordering using corpora").
    """
    made = transitions(centers)
    return made.count(ROUGH_SHIFT) + made.count(NO_CENTER)


#: The places (from 0) of the original's units.
Permutation = tuple[int, ...]
#: Units of a text whose orders are counted out: 720 for the longest.
SHORTEST, LONGEST = 4, 8

MATCHED_ORDER = "MatchedOrder"
#: Texts that the classifier does not see when it is asked about one of them: one of so many parts.
_FOLDS = 10

_TOKEN = re.compile(r"\w+|[^\w\s]")
_CAPITAL = re.compile(r"(?<=\s)[A-Z]")
#: Longer units, and more names, count as so long and so many.
_LONGEST, _MOST_NAMES = 40, 4

_NO_ORDER = "no order that differs enough from the original"
_NO_MATCH = "no order as plausible as the original"


@dataclass(frozen=True)
class MatchedOrder(Operator):
    """Put the units of a text in a new order that a classifier finds as probable as the original.

    Attributes:
        most_kept: the largest number of units that may directly follow the same unit as in the
            original text.
        highest_tau: the largest rank correlation (Kendall's tau) between the new and the original
            order. Kendall's tau is computed without the first and the last unit of the text, which
            stay in place.
        caliper: the limit for the difference between the log-probabilities that the classifier
            gives to the new and the original order. A text without a new order within this limit
            gives no result.

    The units are sentences or turns. A classifier estimates from the words of each unit how
    probable the unit is at each position. The product of these probabilities is the probability of
    an order. The operator takes the new order whose probability is closest to the probability of
    the original order. Words that are typical of a position, such as a greeting at the beginning of
    a dialogue, therefore do not reveal which text is the original.

    Call :meth:`fit` with many texts before you use the operator, because the classifier learns from
    these texts. All these texts must have the same number of units, from 4 to 8. The result is
    named ``matched``.

    Some corpora annotate grammatical functions (such as subject). For these corpora, the new order
    also has more incoherent transitions between neighbouring sentences than the original order. By
    Centering Theory, a transition is incoherent if, for example, the two sentences have no person
    or thing in common (:mod:`manipulations.matched_order`).
    """

    most_kept: int = 1
    highest_tau: float = 0.0
    caliper: float = 1.0

    def __post_init__(self) -> None:
        if self.most_kept < 0:
            raise ValueError(f"most_kept is {self.most_kept}; expected 0 or more")
        if not -1 <= self.highest_tau <= 1:
            raise ValueError(f"highest_tau is {self.highest_tau}; expected -1 to 1")
        if self.caliper <= 0:
            raise ValueError(f"caliper is {self.caliper}; expected more than 0")

    def orders(self, discourse: Discourse) -> list[Permutation]:
        """The orders that could be taken; none of a text of too few or too many units."""
        size = len(discourse.units)
        if not SHORTEST <= size <= LONGEST:
            return []
        centers = forward_centers(discourse) if has_centers(discourse) else ()
        found = []
        for inside in permutations(range(1, size - 1)):
            order = (0, *inside, size - 1)
            kept = sum(after == before + 1 for before, after in pairwise(order))
            same = [discourse.texts[place] for place in order] == [*discourse.texts]
            if same or kept > self.most_kept or kendall_tau(inside) > self.highest_tau:
                continue
            moved = [centers[place] for place in order] if centers else ()
            if not centers or broken_transitions(moved) > broken_transitions(centers):
                found.append(order)
        return found

    def fit(
        self, discourses: Sequence[Discourse], cluster_ids: Sequence[str], context: Context
    ) -> FittedMatchedOrder:
        """The operator with an order for each of these discourses, which are equally long.

        ``cluster_ids`` says of each what it is from: nothing that was chosen for a text depends on
        the other texts of its cluster.
        """
        chosen: dict[str, Permutation] = {}
        reasons: dict[str, str] = {}
        scores_of = place_scores(discourses, cluster_ids)
        for discourse, scores in zip(discourses, scores_of, strict=True):

            def habit(order: Sequence[int], scores: Any = scores) -> float:
                return math.fsum(scores[unit, place] for place, unit in enumerate(order))

            orders = self.orders(discourse)
            # Orders that fit equally well are equally likely.
            context.random(discourse, MATCHED_ORDER, **vars(self)).shuffle(orders)
            own = habit(range(len(discourse.units)))
            differences = [round(abs(habit(order) - own), 9) for order in orders]
            if not orders:
                reasons[discourse.id] = _NO_ORDER
            elif min(differences) > self.caliper:
                reasons[discourse.id] = _NO_MATCH
            else:
                chosen[discourse.id] = orders[differences.index(min(differences))]
        return FittedMatchedOrder(chosen, reasons)


@dataclass(frozen=True)
class FittedMatchedOrder(Operator):
    """The discourses in the orders that were chosen for them, by their ids, or why in none."""

    chosen: Mapping[str, Permutation]
    reasons: Mapping[str, str]

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the reordered discourse."""
        if reason := self.reasons.get(discourse.id):
            context.skipped[reason] += 1
            return
        order = self.chosen[discourse.id]
        yield reorder(discourse, order, variant="matched", operator=MATCHED_ORDER)


def unit_features(text: str) -> list[str]:
    """The features of a unit alone: words, the first ones, the last, length, digits, capitals."""
    tokens = _TOKEN.findall(with_spaces(text.lower()))
    return [
        *(f"word {token}" for token in tokens),
        *(f"{place} {token}" for place, token in enumerate(tokens[:3])),
        f"first {' '.join(tokens[:2])}",
        f"last {' '.join(tokens[-1:])}",
        f"length {min(len(tokens), _LONGEST) // 4}",
        f"names {min(len(_CAPITAL.findall(text)), _MOST_NAMES)}",
        *(["digit"] if any(map(str.isdigit, text)) else []),
    ]


def place_scores(texts: Sequence[Discourse], cluster_ids: Sequence[str]) -> list[Any]:
    """Score how well each unit of a text fits each place, by a classifier that knows others only.

    Args:
        texts: discourses of equally many units, whose first and last are left aside.
        cluster_ids: the name of what each is from; the classifier has learned from others only.

    Returns:
        For each text an array (units, units): the logarithm of the probability of the second's
        place given the first's words. All zero where one cluster has everything.
    """
    import numpy as np
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.model_selection import GroupKFold
    from sklearn.naive_bayes import MultinomialNB

    size = len(texts[0].units) if texts else 0
    scores = [np.zeros((size, size)) for _ in texts]
    parts = min(_FOLDS, len(set(cluster_ids)))
    if parts < 2:
        return scores
    inside = range(1, size - 1)
    counted = CountVectorizer(analyzer=unit_features, binary=True)
    units = counted.fit_transform(unit for text in texts for unit in text.texts[1:-1])
    places = np.tile(inside, len(texts))
    rows = np.arange(units.shape[0]).reshape(len(texts), len(inside))
    for train, test in GroupKFold(n_splits=parts).split(rows, groups=cluster_ids):
        learned = units[rows[train].ravel()]
        known = learned.getnnz(axis=0) > 0  # not even the words of the others are known
        model = MultinomialNB().fit(learned[:, known], places[rows[train].ravel()])
        said = model.predict_log_proba(units[rows[test].ravel()][:, known])
        for number, own in zip(test, said.reshape(len(test), len(inside), -1), strict=True):
            scores[number][1:-1, 1:-1] = own
    return scores
