"""Figures of the judgements on one config and split, as the manifest records them."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from statistics import mean
from typing import Any

from coherencegym.builders.judgement.agreement import Label, alpha, majority
from coherencegym.builders.judgement.match import COHERENT, INCOHERENT, JudgedPair, human_ok
from coherencegym.builders.judgement.questions import CANT_TELL, NO, YES, Question
from coherencegym.builders.suite import Config
from coherencegym.eval.statistics.intervals import share_interval


def human_figures(config: Config, judged: Sequence[JudgedPair], digests: Sequence[str]) -> Any:
    """The human figures of a split.

    Args:
        config: whose headline and breakdowns say how scores are grouped; its further questions
            are reported where anybody answered them.
        judged: its judged pairs, at least one.
        digests: sha256 of the files of answers. Neither their names nor the annotators' are kept.
    """
    coherence, n_coherence = alpha(_coherence_labels(judged))
    form, n_form = alpha(_form_labels(judged))
    per_item: dict[str, list[JudgedPair]] = defaultdict(list)
    for one in judged:
        per_item[one.item.item_id].append(one)
    verdicts = Counter(human_ok(of_item) for of_item in per_item.values())
    further = [figures for q in config.questions if (figures := question_figures(q, judged))]
    return {
        "pairs": len(judged),
        "items": len(per_item),
        "annotators": len({vote.annotator for one in judged for vote in one.votes}),
        "answers": sum(len(one.votes) for one in judged),
        "questions_left_open": sum(
            v.open_questions + sum(question.name not in v.further for question in config.questions)
            for one in judged
            for v in one.votes
        ),
        "human_ok": {"true": verdicts[True], "false": verdicts[False], "null": verdicts[None]},
        "agreement": {
            "less_coherent": {"alpha": _rounded(coherence), "units": n_coherence},
            "grammatical": {"alpha": _rounded(form), "units": n_form},
        },
        "grammatical": _grammatical(judged),
        "scores": human_scores(config, judged),
        "answers_sha256": sorted(digests),
        **({"questions": further} if further else {}),
    }


def human_scores(config: Config, judged: Sequence[JudgedPair]) -> list[dict[str, Any]]:
    """The human upper bound over all pairs (group ``""``) and over each group.

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
        clusters = [one.item.cluster for one in members]
        interval = share_interval(values, clusters)
        scores.append(
            {
                "group": group,
                "n": len(members),
                "n_discourses": len(set(clusters)),
                "score": round(mean(values), 4),
                "ci_low": round(interval.low, 4),
                "ci_high": round(interval.high, 4),
                "ci_method": interval.method,
                "cant_tell": verdicts.count(CANT_TELL),
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
    given = {
        _unit(one): {
            v.annotator: v.further[question.name] for v in one.votes if question.name in v.further
        }
        for one in judged
    }
    asked = {unit: votes for unit, votes in given.items() if votes}
    if not asked:
        return {}
    answers = {}
    for value, words in question.answers:
        said = {
            unit: {name: YES if value in answer else NO for name, answer in votes.items()}
            for unit, votes in asked.items()
        }
        most = [majority(list(votes.values())) == YES for votes in said.values()]
        agreement, units = alpha(
            (name, unit, label) for unit, votes in said.items() for name, label in votes.items()
        )
        answers[value] = {
            "words": words,
            "share": round(mean(most), 4),
            "alpha": _rounded(agreement),
            "units": units,
        }
    return question.entry | {"pairs": len(asked), "answers": answers}


def _grammatical(judged: Sequence[JudgedPair]) -> dict[str, Any]:
    """Count, by condition, the texts that were judged, and the share that most call grammatical."""
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
    """List the text that each annotator called the less coherent: first or second by digest.

    Not the coherent or the incoherent one: where all agree with the suite that would leave no
    variation, and alpha no meaning. Digests are as good as the order in which pairs were shown, and
    the same for two sheets that show a pair in different orders.
    """
    for one in judged:
        order = sorted((one.pair.coherent_text, one.pair.incoherent_text), key=_digest)
        names = {COHERENT: one.pair.coherent_text, INCOHERENT: one.pair.incoherent_text}
        for vote in one.votes:
            if vote.less_coherent == CANT_TELL:
                yield vote.annotator, _unit(one), CANT_TELL
            elif vote.less_coherent is not None:
                place = order.index(names[vote.less_coherent])
                yield vote.annotator, _unit(one), ("first", "second")[place]


def _form_labels(judged: Sequence[JudgedPair]) -> Iterator[Label]:
    for one in judged:
        for vote in one.votes:
            for name, value in (
                (COHERENT, vote.coherent_grammatical),
                (INCOHERENT, vote.incoherent_grammatical),
            ):
                if value is not None:
                    yield vote.annotator, f"{_unit(one)} {name}", str(value)


def _unit(one: JudgedPair) -> str:
    return f"{one.item.item_id} {one.pair.coherent} {one.pair.incoherent}"


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)
