"""Figures of the judgements on one config and split, as the manifest records them.

Of pairs they are over the predictions (:func:`human_figures`), of other rows over one question a
row (:func:`row_figures`). ``scores`` is human performance by group in both.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from statistics import mean
from typing import Any, NamedTuple

from coherencegym.builders.judgement.match import (
    COHERENT,
    INCOHERENT,
    JudgedPair,
    JudgedRow,
    human_ok,
    majority,
)
from coherencegym.builders.judgement.questions import CANNOT_TELL, NO, YES, Question
from coherencegym.builders.release.baselines import score_figures
from coherencegym.builders.suite import Config
from coherencegym.eval.statistics.agreement import agreement_groups
from coherencegym.eval.statistics.scores import text_of

#: (annotator, unit, label).
Label = tuple[str, str, str]


def alpha(labels: Iterable[Label]) -> tuple[float | None, int]:
    """Krippendorff's alpha for nominal labels, with missing ones (Krippendorff 2011).

    Alpha, and the number of units that at least two annotators labelled, which it is over. None
    where there is no such unit, or no variation: where all labels are equal nobody can tell
    agreement from habit (nltk says 1 there).
    """
    units: dict[str, list[Label]] = defaultdict(list)
    for label in sorted(labels):
        units[label[1]].append(label)
    shared = [label for of_unit in units.values() if len(of_unit) > 1 for label in of_unit]
    number = len({unit for _, unit, _ in shared})
    if len({label for _, _, label in shared}) < 2:
        return None, number

    from nltk.metrics.agreement import AnnotationTask

    return float(AnnotationTask(data=shared).alpha()), number


def human_figures(config: Config, judged: Sequence[JudgedPair], digests: Sequence[str]) -> Any:
    """The human figures of a split, of which at least one pair was judged.

    The config's headline and breakdowns say how scores are grouped; its further questions are
    reported where anybody answered them. Of the files of answers only their sha256 are kept.
    """
    per_item: dict[str, list[JudgedPair]] = defaultdict(list)
    for one in judged:
        per_item[one.item.item_id].append(one)
    verdicts = Counter(human_ok(of_item) for of_item in per_item.values())
    votes = [vote for one in judged for vote in one.votes]
    further = [figures for q in config.questions if (figures := question_figures(q, judged))]
    return {
        "pairs": len(judged),
        "annotators": len({vote.annotator for vote in votes}),
        "human_ok": {"true": verdicts[True], "false": verdicts[False], "null": verdicts[None]},
        "agreement": {
            "less_coherent": alpha_figures(_coherence_labels(judged)),
            "grammatical": alpha_figures(_form_labels(judged)),
        },
        "grammatical": _grammatical(judged),
        "scores": human_scores(config, judged),
        "answers_sha256": sorted(digests),
        **({"questions": further} if further else {}),
    }


def human_scores(config: Config, judged: Sequence[JudgedPair]) -> list[dict[str, Any]]:
    """Human performance over all pairs (group ``""``) and over each group.

    The share of pairs of which most annotators call the incoherent text the less coherent one; a
    pair without a majority, and one of which most cannot tell, count as not found. The score of all
    pairs, and those by column, are over the config's headline where it has one, as the CD score is.
    """
    groups: dict[str, list[JudgedPair]] = defaultdict(list)
    for one in judged:
        if not one.has_verdicts:
            continue
        for group in one.pair.groups:
            groups[group].append(one)
        if not config.headline or config.headline in one.pair.groups:
            groups[""].append(one)
            for column in config.breakdowns:
                groups[f"{column}={str(one.item.extra[column]).lower()}"].append(one)
    scores = []
    for group, members in sorted(groups.items()):
        verdicts = [one.verdict for one in members]
        values = [float(verdict == INCOHERENT) for verdict in verdicts]
        scores.append(
            {
                "group": group,
                **score_figures(values, [one.item.cluster for one in members]),
                "cannot_tell": verdicts.count(CANNOT_TELL),
                "coherent_worse": verdicts.count(COHERENT),
                "no_majority": verdicts.count(None),
            }
        )
    return scores


def question_figures(question: Question, judged: Sequence[JudgedPair]) -> dict[str, Any]:
    """Count people's answers to a further question; empty where nobody answered it.

    Of each answer the share of the pairs (those of which anybody answered the question) to which
    more than half of those who answered gave it, and alpha of giving it or not. The words of the
    question stand beside, so that a merge of releases cannot part them.
    """
    name = question.name
    asked: dict[str, dict[str, tuple[str, ...]]] = {}
    for one in judged:
        said = {v.annotator: v.further[name] for v in one.votes if name in v.further}
        if said:
            asked[_unit(one)] = said
    if not asked:
        return {}
    answers = {}
    for value, words in question.answers:
        labels = [
            (who, unit, YES if value in answer else NO)
            for unit, votes in asked.items()
            for who, answer in votes.items()
        ]
        gave = [[value in answer for answer in votes.values()] for votes in asked.values()]
        share = round(mean(majority(votes) is True for votes in gave), 4)
        answers[value] = {"words": words, "share": share, **alpha_figures(labels)}
    return question.entry | {"pairs": len(asked), "answers": answers}


def _grammatical(judged: Sequence[JudgedPair]) -> dict[str, Any]:
    found: dict[str, list[bool]] = defaultdict(list)
    for one in judged:
        for name in (one.pair.coherent, one.pair.incoherent):
            if (value := one.grammatical(name)) is not None:
                found[name].append(value)
    return {
        name: {"texts": len(values), "share": round(mean(values), 4)}
        for name, values in sorted(found.items())
    }


def _coherence_labels(judged: Sequence[JudgedPair]) -> Iterator[Label]:
    for one in judged:
        for vote in one.votes:
            if vote.less_coherent is not None:
                yield vote.annotator, _unit(one), _less_coherent(one, vote.less_coherent)


def _less_coherent(one: JudgedPair, vote: str) -> str:
    # By digest, not the coherent or the incoherent text: where all agree with the suite that would
    # leave no variation, and alpha no meaning. Digests are as good as the order in which pairs were
    # shown, and the same for two sheets that show a pair in different orders.
    if vote == CANNOT_TELL:
        return vote
    texts = one.pair.coherent_text, one.pair.incoherent_text
    order = sorted(texts, key=lambda text: hashlib.sha256(text.encode("utf-8")).hexdigest())
    names = {COHERENT: one.pair.coherent_text, INCOHERENT: one.pair.incoherent_text}
    return ("first", "second")[order.index(names[vote])]


def _form_labels(judged: Sequence[JudgedPair]) -> Iterator[Label]:
    for one in judged:
        for vote in one.votes:
            said = {COHERENT: vote.coherent_grammatical, INCOHERENT: vote.incoherent_grammatical}
            for name, value in said.items():
                if value is not None:
                    yield vote.annotator, f"{_unit(one)} {name}", str(value)


def _unit(one: JudgedPair) -> str:
    return f"{one.item.item_id} {one.pair.coherent} {one.pair.incoherent}"


def alpha_figures(labels: Iterable[Label]) -> dict[str, Any]:
    """Alpha as a manifest has it, and the units that it is over; see :func:`alpha`."""
    value, units = alpha(labels)
    return {"alpha": None if value is None else round(value, 4), "units": units}


def row_figures(
    judged: Sequence[JudgedRow], breakdowns: Sequence[str], digests: Sequence[str]
) -> dict[str, Any]:
    """The human figures of a split of spans, documents or examples, of which one or more has votes.

    ``scores`` are the share of those to which most gave a right answer: of all (group ``""``), by
    column, and by how many annotators agree. ``one_annotator`` is the share of all answers that are
    right, each of those judged with the same weight; ``by_answer`` counts by the dataset's answer.
    ``kappa`` is Cohen's of all answers and the dataset's, those who cannot tell left out (not of
    majorities: of two people that would be those who agree); ``alpha`` Krippendorff's among people.
    ``annotators`` is None where the corpus has the answers and does not say whose.
    """
    answers = [(one, who, answer) for one in judged for who, answer in one.votes.items()]
    known = [(one.asked.right[0], answer) for one, _, answer in answers if answer != CANNOT_TELL]
    kappa = cohens_kappa(known)
    clusters = [one.row.cluster for one in judged]
    of_one = [mean(a in one.asked.right for a in one.votes.values()) for one in judged]
    by_answer: dict[str, list[bool]] = defaultdict(list)
    for one in judged:
        by_answer[one.asked.answer_kind].append(one.is_ok)
    return {
        "judged": len(judged),
        "annotators": len({who for _, who, _ in answers if isinstance(who, str)}) or None,
        "scores": [
            _row_score(group, members) for group, members in _row_groups(judged, breakdowns)
        ],
        "one_annotator": score_figures(of_one, clusters),
        "by_answer": {
            kind: {"n": len(own), "agree": sum(own)} for kind, own in sorted(by_answer.items())
        },
        "kappa": None if kappa is None else round(kappa, 4),
        **alpha_figures((str(who), one.asked.id, answer) for one, who, answer in answers),
        "answers_sha256": sorted(digests),
    }


def _row_groups(
    judged: Sequence[JudgedRow], breakdowns: Sequence[str]
) -> Iterator[tuple[str, list[JudgedRow]]]:
    yield "", list(judged)
    groups: dict[str, list[JudgedRow]] = defaultdict(list)
    for one in judged:
        for column in breakdowns:
            if (value := one.row.extra.get(column)) not in (None, ""):
                groups[f"{column}={text_of(value)}"].append(one)
        for group in agreement_groups(list(one.votes.values())):
            groups[group].append(one)
    yield from sorted(groups.items())


def _row_score(group: str, members: Sequence[JudgedRow]) -> dict[str, Any]:
    verdicts = [one.verdict for one in members]
    values = [float(one.is_ok) for one in members]
    return {
        "group": group,
        **score_figures(values, [one.row.cluster for one in members]),
        "cannot_tell": verdicts.count(CANNOT_TELL),
        "no_majority": verdicts.count(None),
    }


class ComparedAnswer(NamedTuple):
    """An annotator's answer beside the dataset's: of pairs the text that is less coherent."""

    config: str
    annotator: str
    right: str
    answer: str


def answers_to_pair(config: str, one: JudgedPair) -> Iterator[ComparedAnswer]:
    """The answers on coherence to a pair of a config."""
    for vote in one.votes:
        if vote.less_coherent is not None:
            yield ComparedAnswer(config, vote.annotator, INCOHERENT, vote.less_coherent)


def answers_to_row(one: JudgedRow) -> Iterator[ComparedAnswer]:
    """The answers to the question about a row; of several right answers the one that was given."""
    for who, answer in one.votes.items():
        right = answer if answer in one.asked.right else one.asked.right[0]
        yield ComparedAnswer(one.asked.config, str(who), right, answer)


def agreement_lines(answers: Iterable[ComparedAnswer]) -> list[str]:
    """Say for each annotator and config how often the answer is the dataset's, and Cohen's κ.

    Whoever cannot tell does not agree; κ is over the others. Pairs have no κ.
    """
    found: dict[tuple[str, str], list[tuple[str, str]]] = {}
    for one in answers:
        found.setdefault((one.config, one.annotator), []).append((one.right, one.answer))
    return [
        f"{config}, {annotator}: {_agreement(pairs)}"
        for (config, annotator), pairs in sorted(found.items())
    ]


def _agreement(pairs: Sequence[tuple[str, str]]) -> str:
    agree, counts = sum(gold == answer for gold, answer in pairs), Counter(a for _, a in pairs)
    text = f"{agree} of {len(pairs)} answers are the dataset's"
    if counts[CANNOT_TELL]:
        text += f", {counts[CANNOT_TELL]} cannot tell"
    kappa = cohens_kappa([(gold, answer) for gold, answer in pairs if answer != CANNOT_TELL])
    return text if kappa is None else f"{text}; κ {kappa:.2f}"


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Cohen's κ of the right labels and an annotator's; None where all right labels are equal.

    κ would then be 0 for whoever errs once, however rarely.
    """
    from sklearn.metrics import cohen_kappa_score

    if len({right for right, _ in pairs}) < 2:
        return None
    golds, given = zip(*pairs, strict=True)
    return float(cohen_kappa_score(golds, given))
