"""Quality of a build's own items: lengths, identical conditions, and the artefact score.

The artefact score is the statistic of the CD score, with a classifier in the place of the language
model: the share of predictions for which a bag-of-words classifier that never sees the contrast in
its context scores the incoherent condition higher, out of fold. A language model has to beat it to
show more than habits of wording or position (compare Sharma et al. 2018 on Story Cloze endings, and
hypothesis-only baselines for inference).
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import mean
from typing import Any

from coherencegym.builders.suite import Config, Draft
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.eval.statistics.intervals import share_interval

#: Discourses that the classifier is trained on at most (the first ones in order of a hash).
MOST_DISCOURSES = 3000
#: Fewer discourses than this give no artefact score.
FEWEST_DISCOURSES = 20
FOLDS = 10


@dataclass(frozen=True, slots=True)
class Decision:
    """One prediction decided by the classifier: 1 right, 0 wrong, one half a tie.

    ``discourse`` is what its item was made from; ``owner`` is that, or the family of discourses
    that it belongs to (:class:`Draft`). ``item`` is its item's number, ``groups`` are those of its
    prediction, ``columns`` those that its item is in by its columns.
    """

    discourse: str
    owner: str
    item: int
    formula: str
    metric: str
    groups: tuple[str, ...]
    columns: tuple[str, ...]
    value: float


def quality(
    config: Config, drafts: Sequence[Draft], decisions: Sequence[Decision] | None = None
) -> dict[str, Any]:
    """The quality section of one config and split, as the manifest records it.

    Args:
        config: the config that the drafts are of.
        drafts: the drafts, at least one.
        decisions: the classifier's, where it learned from more drafts than these; those on other
            discourses are left aside.
    """
    if decisions is None:
        decisions = decide(drafts, config.breakdowns)
    own = {draft.item.discourse_id for draft in drafts}
    differences = [
        _words(draft, contrast.incoherent) - _words(draft, contrast.coherent)
        for draft in drafts
        for contrast in draft.contrasts
    ]
    identical = sum(
        draft.item.condition(contrast.incoherent).content
        == draft.item.condition(contrast.coherent).content
        for draft in drafts
        for contrast in draft.contrasts
    )
    return {
        "items": len(drafts),
        "discourses": len({draft.item.discourse_id for draft in drafts}),
        "identical_conditions": identical / len(differences),
        "length_difference": {
            "unit": "words, incoherent minus coherent condition",
            "mean": round(mean(differences), 3),
            "mean_absolute": round(mean(map(abs, differences)), 3),
            "largest": max(differences, key=abs),
        },
        "artefact_classifier": config.artefact,
        "artefact": scores_of(
            [decision for decision in decisions if decision.discourse in own], config.headline
        ),
    }


def _words(draft: Draft, condition: str) -> int:
    content = draft.item.condition(condition).content
    return len(content.replace(SEPARATOR, " ").split())


def artefact_scores(
    drafts: Sequence[Draft], breakdowns: Sequence[str], headline: str = ""
) -> list[dict[str, Any]]:
    """Artefact scores of all items together (group ``""``) and of each group.

    One for each formula and metric, and where a group has several of them one over all, in which
    an item's value is the mean over its predictions. With a ``headline`` the score of all items and
    those by column are over that group alone. Empty where there are fewer than
    :data:`FEWEST_DISCOURSES` discourses to learn from.
    """
    return scores_of(decide(drafts, breakdowns), headline)


def decide(drafts: Sequence[Draft], breakdowns: Sequence[str]) -> list[Decision]:
    """The classifier's decisions on the drafts, each out of fold.

    None where there are fewer than :data:`FEWEST_DISCOURSES` discourses to learn from.
    """
    drafts = _sample(drafts)
    if len({draft.item.discourse_id for draft in drafts}) < FEWEST_DISCOURSES:
        return []
    return list(_decide(drafts, breakdowns))


def scores_of(decisions: Sequence[Decision], headline: str = "") -> list[dict[str, Any]]:
    """The scores of :func:`artefact_scores`, from the classifier's decisions."""
    members: dict[str, list[Decision]] = defaultdict(list)
    for decision in decisions:
        wide = not headline or headline in decision.groups
        for group in (*decision.groups, *(("", *decision.columns) if wide else ())):
            members[group].append(decision)
    grouped: dict[tuple[str, str, str], list[Decision]] = defaultdict(list)
    for group, of_group in members.items():
        for decision in of_group:
            grouped[decision.formula, decision.metric, group].append(decision)
        formulas = {decision.formula for decision in of_group}
        metrics = {decision.metric for decision in of_group}
        if len(formulas) > 1 or len(metrics) > 1:
            formula = "" if len(formulas) > 1 else of_group[0].formula
            metric = "" if len(metrics) > 1 else of_group[0].metric
            grouped[formula, metric, group] = of_group
    scores = []
    for (formula, metric, group), several in sorted(grouped.items()):
        by_item: dict[int, list[Decision]] = defaultdict(list)
        for decision in several:
            by_item[decision.item].append(decision)
        values = [mean(decision.value for decision in own) for own in by_item.values()]
        owners = [own[0].owner for own in by_item.values()]
        interval = share_interval(values, owners, [len(o) for o in by_item.values()], folds=FOLDS)
        scores.append(
            {
                "formula": formula,
                "metric": metric,
                "group": group,
                "n": len(values),
                "n_discourses": len(set(owners)),
                "score": round(mean(values), 4),
                "ci_low": round(interval.low, 4),
                "ci_high": round(interval.high, 4),
                "ci_method": interval.method,
            }
        )
    return scores


def _sample(drafts: Sequence[Draft]) -> list[Draft]:
    """The drafts of at most :data:`MOST_DISCOURSES` discourses, in their order."""
    ids = {draft.item.discourse_id for draft in drafts}
    if len(ids) <= MOST_DISCOURSES:
        return list(drafts)
    chosen = set(sorted(ids, key=lambda i: hashlib.sha256(i.encode()).digest())[:MOST_DISCOURSES])
    return [draft for draft in drafts if draft.item.discourse_id in chosen]


def _decide(drafts: Sequence[Draft], breakdowns: Sequence[str]) -> Iterable[Decision]:
    texts: list[tuple[str, ...]] = []
    labels: list[int] = []
    owners: list[str] = []
    row_of: dict[tuple[int, str], int] = {}
    for number, draft in enumerate(drafts):
        incoherent = {contrast.incoherent for contrast in draft.contrasts}
        for name, view in draft.views.items():
            row_of[number, name] = len(texts)
            texts.append(tuple(text.replace(SEPARATOR, " ") for text in view))
            labels.append(int(name in incoherent))
            owners.append(draft.owner)
    scores = out_of_fold_scores(texts, labels, owners)
    for number, draft in enumerate(drafts):
        values = tuple(f"{column}={str(draft.item.extra[column]).lower()}" for column in breakdowns)
        for contrast in draft.contrasts:
            worse = scores[row_of[number, contrast.incoherent]]
            better = scores[row_of[number, contrast.coherent]]
            value = 0.5 if abs(worse - better) < 1e-9 else float(worse > better)
            yield Decision(
                draft.item.discourse_id,
                draft.owner,
                number,
                contrast.formula,
                contrast.metric,
                contrast.groups,
                values,
                value,
            )


def out_of_fold_scores(
    texts: Sequence[tuple[str, ...]], labels: Sequence[int], owners: Sequence[str]
) -> list[float]:
    """Score how incoherent texts look to a classifier trained on the other discourses' texts.

    Logistic regression on one binary bag of words (unigrams and bigrams) for each text of a tuple;
    folds by discourse (``owners``), so no discourse is on both sides.
    """
    import numpy as np
    from scipy.sparse import hstack
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GroupKFold
    from threadpoolctl import threadpool_limits

    views = len(texts[0])
    pattern = r"\w+|[^\w\s]"
    y = np.array(labels)
    scores = np.zeros(len(texts))
    folds = GroupKFold(n_splits=min(FOLDS, len(set(owners))))
    for train, test in folds.split(texts, y, owners):
        learned, unseen = [], []
        for view in range(views):
            bag = CountVectorizer(token_pattern=pattern, ngram_range=(1, 2), binary=True)
            try:
                learned.append(bag.fit_transform([texts[i][view] for i in train]))
            except ValueError:  # no word at all in this view: nothing to learn from it
                continue
            unseen.append(bag.transform([texts[i][view] for i in test]))
        if not learned:
            continue
        # One thread: the problems are small, and ten times slower where threads wait for cores;
        # and sums in one order give the same score on every machine.
        with threadpool_limits(limits=1):
            model = LogisticRegression(max_iter=1000).fit(hstack(learned).tocsr(), y[train])
        scores[test] = model.decision_function(hstack(unseen).tocsr())
    return [float(score) for score in scores]
