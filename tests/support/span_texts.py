"""Texts with spans for tests: made by the rules of Storks and Chai 2021, toys and real files."""

import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.kinds.documents import UNDECIDED, GoldSpan, SpanText
from coherencegym.eval.tasks.spans.coherence import (
    SpanPlace,
    SpanPrediction,
    TextPrediction,
)
from coherencegym.eval.tasks.spans.task import SPAN_METRICS


def places(size: int) -> list[SpanPlace]:
    return [(start, end) for start in range(size) for end in range(start, size)]


def entailment(
    name: str, units: tuple[str, ...], label: int, evidence: list[int], **more: Any
) -> SpanText:
    """One text: a span is positive if it holds the evidence."""
    held = tuple((evidence[0], evidence[1]) for _ in range(1) if label)
    gold = tuple(
        GoldSpan(a, b, int(any(a <= i and j <= b for i, j in held))) for a, b in places(len(units))
    )
    about = {"speakers": (), "hypothesis": "It is so.", "discourse_id": name, **more}
    return SpanText(
        item_id=name, units=units, alternatives=(), label=label, evidence=held, gold=gold,
        corpus="conversational_entailment", **about,
    )  # fmt: skip


def abduction(
    name: str, first: str, hypotheses: tuple[str, str], last: str, label: int,
    pair: tuple[int, int], later_plausible: bool | None,
) -> SpanText:  # fmt: skip
    """A choice between two stories of three sentences; ``label`` from 0."""
    decided = {
        (1, 2): {(0, 2), (1, 2)},
        (0, 1): {(0, 2), (0, 1)} | ({(1, 2)} if later_plausible is False else set()),
        (1, 1): {(0, 2), (0, 1), (1, 2), (1, 1)},
        (0, 2): {(0, 2)},
    }[pair]
    return SpanText(
        item_id=name, units=(), speakers=(), hypothesis="",
        alternatives=tuple((first, middle, last) for middle in hypotheses),
        label=label, evidence=(pair,),
        gold=tuple(GoldSpan(*p, label if p in decided else UNDECIDED) for p in places(3)),
        discourse_id=name, corpus="abduction",
    )  # fmt: skip


def judged_one(text: SpanText, positive: Callable[[int, int], bool]) -> TextPrediction:
    return TextPrediction(
        text, {p: SpanPrediction.of_one_text(float(positive(*p))) for p in places(text.size)}
    )


def judged_choice(text: SpanText, first: Mapping[SpanPlace, float]) -> TextPrediction:
    """Answers from the probabilities of the first alternative; one half where none is said."""
    chances = {place: first.get(place, 0.5) for place in places(3)}
    return TextPrediction(
        text, {place: SpanPrediction.of_choice((p, 1 - p)) for place, p in chances.items()}
    )


def real_entailment(folder: Path) -> list[SpanText]:
    path = folder / "ConvEnt_test_annotation_merged2.json"
    return [
        entailment(
            str(row["id"]),
            tuple(turn["text"] for turn in row["turns"]),
            row["label"],
            row["conflict_pair"],
            speakers=tuple(turn["speaker"] for turn in row["turns"]),
            hypothesis=row["hypothesis"],
            discourse_id=row["dialog_source"],
        )
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]


def real_abduction(folder: Path) -> list[SpanText]:
    path = folder / "ART_test_rand200_annotation_merged2.json"
    return [
        abduction(
            row["id"],
            row["observation_1"],
            (row["hypothesis_1"], row["hypothesis_2"]),
            row["observation_2"],
            row["label"] - 1,
            tuple(row["conflict_pair"]),
            row["23_plausible"],
        )
        for row in json.loads(path.read_text(encoding="utf-8"))
    ]


STORY = ("Lily had a red ball.", "She threw the ball.", "Tim ran to the park.", "The dog was sad.")


def intruded(name: str, place: int, **more: Any) -> SpanText:
    """A text in which the unit at a place does not fit; -1: all fit."""
    units = tuple("It was raining." if n == place else unit for n, unit in enumerate(STORY))
    evidence = ((place - 1, place), (place, place + 1)) if 0 < place < 3 else ()
    gold = tuple(
        GoldSpan(a, b, int(b > a and a <= place <= b and place >= 0)) for a, b in places(4)
    )
    about = {"discourse_id": name, **more}
    return SpanText(
        item_id=name, units=units, speakers=(), hypothesis="", alternatives=(),
        label=int(place >= 0), evidence=evidence, gold=gold, corpus="toy", **about,
    )  # fmt: skip


def entailments(number: int, *, first: int = 0) -> list[SpanText]:
    """Short dialogues about what Lily or Tim had; every second hypothesis follows."""
    made = []
    for index in range(first, first + number):
        who = ("Lily", "Tim")[index // 2 % 2]
        units = (f"{who} had a red ball.", "Oh, how are you?", "It was raining.")[: 1 + index % 3]
        label = index % 2
        what = "ball" if label else "dog"
        made.append(
            entailment(
                f"e{index}", units, label, [0, 0],
                hypothesis=f"{who} had a {what}.", speakers=tuple("ABA"[: len(units)]),
                discourse_id=f"d{index // 2}",
            )
        )  # fmt: skip
    return made


def abductions(number: int) -> list[SpanText]:
    """Stories of three sentences with two middles."""
    pairs = ((1, 2), (0, 1), (1, 1))
    threw, rained = "She threw the ball to Tim.", "It was raining all day."
    return [
        abduction(
            f"val_{index}", "Lily had a red ball.",
            (threw, rained) if index % 2 else (rained, threw), "Tim ran to the park.",
            int(not index % 2),
            pairs[index % 3], True,
        )
        for index in range(number)
    ]  # fmt: skip


def shares(judged: Sequence[TextPrediction], threshold: float = 0.05) -> dict[str, float]:
    """The metrics of answers, where choices need this confidence."""
    found = {}
    for metric in SPAN_METRICS:
        pairs = [one.part(metric.name, threshold) for one in judged]
        whole = sum(part for _, part in pairs)
        found[metric.name] = sum(value for value, _ in pairs) / whole if whole else math.nan
    return found
