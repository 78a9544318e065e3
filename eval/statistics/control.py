"""Control: whether items whose surface is balanced still tell the answer to what does not read.

Weights (:mod:`eval.statistics.balance`) close the cues that are counted. A checker then looks for
others: rules that are named beforehand, and classifiers that learn. Weights that are solved over
all items would make its cross-validation lie: what a left-out fold needs less of, the others have
more of, so that classifiers come out below one half where there is nothing to learn. The documents
are therefore parted in halves, the weights solved in each half apart, and classifiers learn in one
half, with its weights and without, and decide in the other; both ways, in several partitions.
"""

from __future__ import annotations

import hashlib
import math
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coherencegym.eval.kinds.items import SEPARATOR, GeneratedItem
from coherencegym.eval.statistics.bag_of_words import word_classifier
from coherencegym.eval.statistics.balance import (
    Balance,
    balanced,
    weighted_interval,
    weighted_size,
    wilson_limits,
)
from coherencegym.eval.statistics.effective_size import WITH
from coherencegym.eval.statistics.estimators import one_thread
from coherencegym.eval.statistics.overlap import whole_clusters
from coherencegym.eval.statistics.surface import (
    SURFACE_RULES,
    SurfaceDifferences,
    part_of,
    sides_of_contrast,
    surface_differences,
)
from coherencegym.words import with_spaces

if TYPE_CHECKING:
    import numpy as np

#: What a config is: what its controlled score may be taken for.
CONTROLLED, LEAKS = "controlled", "leaks"
TOO_SMALL, UNCONTROLLED = "too small to tell", "cannot be controlled"
#: The fewest effective items of a controlled config, and the share that the highest upper end of
#: all rules and classifiers is below.
FEWEST_EFFECTIVE, MOST_UPPER = 250, 0.6
_PARTITIONS = 3
#: Items that classifiers learn from at most.
_MOST_ITEMS = 4000
#: Fewer documents in a half than this teach a classifier nothing.
_FEWEST_DOCUMENTS = 10
#: A difference between the chances of both sides below which they tie.
_TIE = 1e-9


@dataclass(frozen=True)
class Checked:
    """The controlled score of a rule or classifier that does not read: from 0 to 1, with limits."""

    by: str
    score: float
    low: float
    high: float


@dataclass(frozen=True)
class Control:
    """What is said of the surface of some items.

    Attributes:
        word: one of the four.
        item_ids: those of the items that count.
        balance: the weights, solved over all of them.
        checked: the rules and classifiers, the one with the highest upper end first.
        decisions: of :attr:`by`, on each item, from 0 to 1; no number where it learned from a
            sample of the items that this one is not in.
        needed: effective items that would do, where these are too few to tell; otherwise 0.
    """

    word: str
    item_ids: Sequence[str]
    balance: Balance
    checked: Sequence[Checked]
    decisions: Sequence[float]
    needed: int = 0

    @property
    def by(self) -> Checked:
        """What leaks, or else what has the highest upper end."""
        return _strongest(self.checked)

    @property
    def weights(self) -> dict[str, float]:
        """Item id -> balance weight, whose mean is 1; empty where the items are not balanced."""
        if not self.balance.feasible:
            return {}
        scaled = self.balance.weights * len(self.item_ids)
        return {name: round(float(w), 9) for name, w in zip(self.item_ids, scaled, strict=True)}

    @property
    def surface(self) -> dict[str, float]:
        """Item id -> the decision of :attr:`by`, where it has one; empty where weights are."""
        if not self.balance.feasible:
            return {}
        decided = zip(self.item_ids, self.decisions, strict=True)
        return {name: value for name, value in decided if not math.isnan(value)}


def checked_items(generated: Sequence[GeneratedItem], headline: str = "") -> Control:
    """Balance the surface of items, and look for what gives them away all the same.

    ``headline`` is the group of predictions that count; empty: all. Items without one do not count.
    """
    counted = list(_counted(generated, headline))
    differences = surface_differences(counted)
    balance = balanced(differences)
    clusters = [made.item.cluster for made in counted]
    ids = [made.item.item_id for made in counted]
    if not counted:
        return Control(TOO_SMALL, ids, balance, (), (), FEWEST_EFFECTIVE)
    results = {
        Checked(name, *_score(values, balance.weights, clusters)): values
        for name, values in zip(SURFACE_RULES, differences.decided.T, strict=True)
    }
    for name, (values, weights) in _learned(counted, differences).items():
        results[Checked(name, *_score(values, weights, clusters))] = values
    checked = sorted(results, key=lambda result: (-result.high, result.by))
    word, needed = _word(balance, checked)
    return Control(word, ids, balance, checked, results[_strongest(checked)].tolist(), needed)


def _counted(generated: Sequence[GeneratedItem], headline: str) -> Iterator[GeneratedItem]:
    for made in generated:
        contrasts = made.contrasts
        if headline:
            contrasts = tuple(c for c in contrasts if headline in c.prediction.groups)
        if contrasts:
            yield replace(made, contrasts=contrasts)


def _strongest(checked: Sequence[Checked]) -> Checked:
    return next(filter(_leaks, checked), checked[0])


def _word(balance: Balance, checked: Sequence[Checked]) -> tuple[str, int]:
    if not balance.solved:
        return UNCONTROLLED, 0
    if any(map(_leaks, checked)):
        return LEAKS, 0
    few = not balance.feasible or balance.effective < FEWEST_EFFECTIVE
    if few or checked[0].high >= MOST_UPPER:
        return TOO_SMALL, max(FEWEST_EFFECTIVE, _needed(checked))
    return CONTROLLED, 0


def _leaks(result: Checked) -> bool:
    return result.low > 0.5 and result.high >= MOST_UPPER


def _needed(checked: Sequence[Checked]) -> int:
    # Effective items with which the highest upper end would be low enough if scores stayed.
    most = max(result.score for result in checked)
    for items in (250, 300, 400, 500, 700, 1000, 1500, 2000, 3000, 5000):
        if wilson_limits(min(max(most, 0.5), 0.58), items)[1] < MOST_UPPER:
            return items
    return 10_000


def _score(values: Any, weights: Any, clusters: Sequence[str]) -> tuple[float, float, float]:
    # Items that no partition decided have no weight.
    import numpy as np

    places = np.flatnonzero(weights)
    names = [clusters[int(place)] for place in places]
    share = weighted_size(values[places], weights[places], names)[0]
    interval = weighted_interval(values[places], weights[places], names)
    return share, interval.low, interval.high


def _learned(
    generated: Sequence[GeneratedItem], differences: SurfaceDifferences
) -> dict[str, tuple[Any, Any]]:
    # Of each classifier the decision on each item, the mean over partitions, and the weights of
    # items, which are 0 for those that none decided: of very many items a sample is learned from.
    import numpy as np

    number = len(generated)
    chosen = whole_clusters(range(number), lambda place: generated[place].item.cluster, _MOST_ITEMS)
    # Each learns from the differences of some contrasts, and gives a score to each of others.
    learners = {
        "regression": (_regression, differences.values),
        "boosting": (_boosting, differences.values),
        "n-grams": (_n_grams, _grams(generated)),
    }
    of_item = np.bincount(differences.item, minlength=number)
    total: dict[str, Any] = defaultdict(lambda: np.full(number, 0.0))
    weights = np.zeros(number)
    partitions = 0
    for halves in _partitions(chosen, [made.item.cluster for made in generated]):
        partitions += 1
        own = [balanced(part_of(differences, places)).weights for places in halves]
        for learned, decided in ((0, 1), (1, 0)):
            weights[halves[decided]] += own[decided] * len(halves[decided])
            rows, tested = (
                np.flatnonzero(np.isin(differences.item, halves[side]))
                for side in (learned, decided)
            )
            of_row = np.zeros(number)
            of_row[halves[learned]] = own[learned]
            under = (of_row / np.maximum(1, of_item))[differences.item[rows]]
            for name, (learner, seen) in learners.items():
                for how, weight in (("", np.ones(len(rows))), (", weighted", under)):
                    scores = learner(seen, rows, weight / weight.mean(), tested)
                    right = np.where(abs(scores) < _TIE, 0.5, scores > 0)
                    places = differences.item[tested]
                    np.add.at(total[name + how], places, right / of_item[places])
    undecided = np.where(weights > 0, 0.0, np.nan)
    return {name: (values / partitions + undecided, weights) for name, values in total.items()}


def _partitions(places: Sequence[int], clusters: Sequence[str]) -> Iterator[list[Any]]:
    # The places of the items of each half. Items of two documents connect these.
    import numpy as np

    names = _connected([clusters[place] for place in places])
    count = Counter(names)
    for partition in range(_PARTITIONS if len(count) >= 2 * _FEWEST_DOCUMENTS else 0):
        half: dict[str, int] = {}
        size = [0, 0]
        for name in sorted(count, key=lambda name: _hash(partition, name)):
            half[name] = int(size[0] > size[1])
            size[half[name]] += count[name]
        sides = [
            [p for p, name in zip(places, names, strict=True) if half[name] == h] for h in (0, 1)
        ]
        yield [np.array(side, dtype=np.int64) for side in sides]


def _hash(*parts: object) -> bytes:
    return hashlib.sha256("/".join(map(str, parts)).encode()).digest()


def _connected(clusters: Sequence[str]) -> list[str]:
    parent: dict[str, str] = {}

    def root(name: str) -> str:
        while parent.setdefault(name, name) != name:
            parent[name] = parent[parent[name]]
            name = parent[name]
        return name

    for cluster in clusters:
        first, _, second = cluster.partition(WITH)
        if second:
            parent[root(first)] = root(second)
    return [root(cluster.partition(WITH)[0]) for cluster in clusters]


def _regression(numbers: np.ndarray, rows: Any, weights: Any, tested: Any) -> Any:
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    size = np.sqrt((numbers[rows] ** 2).mean(axis=0))
    scaled = numbers / np.where(size > 0, size, np.inf)
    sign = np.where(np.arange(len(rows)) % 2, -1.0, 1.0)
    if not scaled[rows].any():
        return np.zeros(len(tested))
    model = LogisticRegression(C=0.1, fit_intercept=False, max_iter=1000)
    with one_thread():
        model.fit(scaled[rows] * sign[:, None], sign > 0, sample_weight=weights)
    return scaled[tested] @ model.coef_[0]


def _boosting(numbers: np.ndarray, rows: Any, weights: Any, tested: Any) -> Any:
    import numpy as np
    from sklearn.ensemble import HistGradientBoostingClassifier

    if not numbers[rows].any():
        return np.zeros(len(tested))
    # Each row and its negative: the two sides of a contrast have no order.
    both, twice = np.vstack([numbers[rows], -numbers[rows]]), np.tile(weights, 2)
    labels = np.repeat([1, 0], len(rows))
    edges = [_bin_edges(column, twice) for column in both.T]
    model = HistGradientBoostingClassifier(
        max_iter=60, learning_rate=0.1, max_leaf_nodes=8, min_samples_leaf=10, random_state=0
    )
    own, other = (_binned(sign * numbers[tested], edges) for sign in (1, -1))
    with one_thread():
        model.fit(_binned(both, edges), labels, sample_weight=twice)
        return model.decision_function(own) - model.decision_function(other)


#: Bins of a feature that boosting looks at, and what is no difference of two sums of weights.
_BINS, _EPSILON = 255, sys.float_info.epsilon


def _bin_edges(column: Any, weights: Any) -> Any:
    # The weighted quantiles by which HistGradientBoostingClassifier bins a feature of many values,
    # which it finds one by one: most of the time that it takes. None: it has few.
    import numpy as np

    order = np.argsort(column)
    order = order[weights[order] != 0]
    values = column[order]
    if len(np.unique(values)) <= _BINS:
        return None
    reached = np.cumsum(weights[order])
    wanted = np.linspace(0, 100, _BINS + 1)[1:-1] / 100 * reached[-1]
    last = len(values) - 1
    at = np.clip(np.searchsorted(reached, wanted), 0, last)
    between = (values[at] + values[np.clip(at + 1, 0, last)]) / 2
    return np.unique(np.where(reached[at] - wanted > _EPSILON, values[at], between))


def _binned(numbers: Any, edges: Sequence[Any]) -> Any:
    import numpy as np

    binned = numbers.copy()
    for place, own in enumerate(edges):
        if own is not None:
            binned[:, place] = np.searchsorted(own, numbers[:, place])
    return binned


def _n_grams(grams: Any, rows: Any, weights: Any, tested: Any) -> Any:
    import numpy as np

    if not grams[rows].nnz:
        return np.zeros(len(tested))
    sign = np.where(np.arange(len(rows)) % 2, -1.0, 1.0)
    signed = grams[rows].multiply(sign[:, None]).tocsr()
    model = word_classifier(signed, [one > 0 for one in sign], intercept=False, weights=weights)
    return grams[tested] @ model.coef_[0]


def _grams(generated: Sequence[GeneratedItem]) -> Any:
    # Of each contrast the n-grams of its coherent side less those of the other: of what is
    # compared, of what stands before it, and the pieces of words of what is short.
    import numpy as np
    from scipy.sparse import csr_matrix, hstack
    from sklearn.feature_extraction.text import HashingVectorizer

    texts: dict[str, int] = {}
    used: list[tuple[int, int, int]] = []
    row = 0
    for made in generated:
        for contrast in made.contrasts:
            for sign, side in zip((1, -1), sides_of_contrast(made, contrast), strict=True):
                for context, target in side:
                    pair = (f"{_BEFORE}{context}", target)
                    for text in (with_spaces(text, made.words) for text in pair):
                        used.append((row, texts.setdefault(text, len(texts)), sign))
            row += 1
    hashes = HashingVectorizer(
        n_features=2**16,
        ngram_range=(1, 2),
        token_pattern=r"\w+|[^\w\s]",
        lowercase=False,
        binary=True,
        alternate_sign=False,
    )
    pieces = HashingVectorizer(
        n_features=2**16, analyzer="char_wb", ngram_range=(3, 5), binary=True, alternate_sign=False
    )
    if not used:
        return csr_matrix((row, 1))
    rows, columns, signs = zip(*used, strict=True)
    # What is on both sides adds up to nothing before its n-grams are counted.
    chosen = csr_matrix((signs, (rows, columns)), shape=(row, len(texts)), dtype=float)
    before = [text.startswith(_BEFORE) for text in texts]
    plain = [text.removeprefix(_BEFORE).replace(SEPARATOR, " ") for text in texts]
    kinds = []
    for kind in (True, False):
        own = csr_matrix(np.array([float(is_before == kind) for is_before in before]))
        kinds.append(chosen.multiply(own).tocsr() @ hashes.transform(plain))
    short = np.array([float(not text.startswith(_BEFORE) and len(text) < 300) for text in texts])
    kinds.append(chosen.multiply(csr_matrix(short)).tocsr() @ pieces.transform(plain))
    together = hstack(kinds).tocsr()
    together.eliminate_zeros()
    # Nearly all hashes are of no n-gram here; each of their columns would cost every step of a fit.
    return together[:, np.unique(together.indices)]


#: Marks what stands before: no text begins so.
_BEFORE = "\x00"
