"""The runs of which goldens are kept: every sample, and rows made for what no sample has."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from goldens import adapter
from goldens.adapter import Golden
from support.datasets import (
    about_families,
    with_intruders,
    write_documents,
    write_spans_dataset,
    write_table,
)
from support.span_texts import abduction
from support.suites import WITHOUT_PAIRS, Sample

import coherencegym as cg
from coherencegym.builders.registry import SUITES
from coherencegym.eval.kinds.documents import RATINGS, RatedText
from coherencegym.eval.kinds.items import ITEMS, Condition, Item, Prediction, Region
from coherencegym.eval.models.in_memory import in_memory
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.results.comparison import at_layer, compare, holm_corrected
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.results.written import write_results
from coherencegym.eval.tasks.results import Results

#: Items of a config: what more of them have, the rows that are made here have as well.
_LIMIT = 12
#: Suites of whose samples ``score`` reads items.
_SUITES = [name for name in SUITES if name not in WITHOUT_PAIRS]
#: Suites on which two models are compared: rows by group, by column, by formula, of families.
_COMPARED = ("connectives", "coreference", "replies")
DEMO, HALF = "demo", "half of demo"
#: Words of made texts.
HABITS = ("went home", "sang a song", "lost the ball", "saw the sea", "made some tea", "slept")


@cache
def demo() -> LoadedModel:
    """The model that ships with the project."""
    return cg.load_model("demo")


@cache
def shallow(layers: int, name: str, context: int = 512) -> LoadedModel:
    """Its first layers only: another model, whose weights no release of a library draws anew."""
    from copy import deepcopy

    loaded = demo()
    model = deepcopy(loaded.model)
    model.model.layers = model.model.layers[:layers]
    model.config.num_hidden_layers = layers
    model.config.max_position_embeddings = context
    return in_memory(model, loaded.tokenizer, name)


def half() -> LoadedModel:
    """The other model of comparisons; it reads shorter texts."""
    return shallow(3, HALF, 256)


def saved(results: Results, folder: Path) -> Path:
    """A folder of results, without pages and figures."""
    folder.mkdir(parents=True)
    write_results(results, folder)
    return folder


def _compared(
    name: str, results: Results, other: Results, made: Path, **options: Any
) -> Iterator[Golden]:
    """The estimates of another model against one, on the same units."""
    folders = saved(results, made / "first"), saved(other, made / "second")
    found = compare(*(read_results(folder, outcomes=True) for folder in folders), **options)
    yield from adapter.read_comparison(f"{HALF} against {name}", found)


def score(sample: Sample, made: Path) -> Iterator[Golden]:
    """All samples of items, made ones, corrected words, two models."""
    places = {name: sample(name)[0] for name in _SUITES} | {"made": _made_items(made / "items")}
    for name, place in places.items():
        limit = None if name == "made" else _LIMIT
        results = _scored(demo(), place, limit=limit)
        yield from adapter.read_score(DEMO, results)
        if name in (*_COMPARED, "made"):
            other = _scored(half(), place, limit=limit)
            details = name == "connectives"
            yield from _compared(DEMO, results, other, made / name, details=details)
    corrected = _scored(demo(), places["replies"], word_correction=True)
    yield from adapter.read_score("demo, words corrected", corrected)


def _scored(model: LoadedModel, place: Path, **options: Any) -> Results:
    found = cg.score(model, place, **options)
    assert isinstance(found, Results)
    return found


def _made_items(folder: Path) -> Path:
    """Ties, conditions that are the same, texts that are too long, baselines and people.

    They have five formulas, two ways to add up a region, groups, columns, families and a control.
    """
    mean, equal, tie = (
        "(2;%odd%) > (2;%plain%)",
        "(1;%odd%) = (1;%plain%)",
        "(1;%odd%) > (1;%plain%)",
    )
    others = (equal, tie, "(2;%plain%) < (2;%odd%)", f"({mean}) & ({equal})")
    for config, shift in (("main", 1), ("other", 2)):
        items = []
        for number in range(36):
            first = f"Lily and Tim {HABITS[number % 6]}."
            odd = f" Then they {HABITS[(number + shift) % 6]}."
            plain = f" Then they {HABITS[(number * 5 + 3) % 6]}."
            if number in (7, 8):
                odd = plain
            if number in (10, 14):
                odd = " and so on" * {10: 400, 14: 110}[number]
            names = ["left", "fine"] if number % 3 else ["right"]
            if number == 11:
                names = []
            predictions = [(mean, "mean"), (mean, "sum"), (others[number % 4], "mean")]
            items.append(
                Item(
                    f"{config}{number}",
                    number + 1,
                    tuple(
                        Condition(
                            name,
                            first + text,
                            (Region(1, first), Region(2, text)),
                        )
                        for name, text in (("odd", odd), ("plain", plain))
                    ),
                    tuple(Prediction(f, how, tuple(names)) for f, how in predictions),
                    f"d{number // 2}",
                    "toy",
                    extra={
                        "genre": ("news", "fiction", "")[number % 3],
                        "family": f"f{number // 8}" if number < 16 else "",
                    },
                )
            )
        people = [
            {"group": "", "score": 0.75, "ci_low": 0.5, "ci_high": 0.9, "n": 12},
            {"group": "left", "score": 0.5, "ci_low": 0.2, "ci_high": 0.8, "n": 6},
        ]
        baselines = [
            {"group": group, "formula": mean, "metric": how, "score": value, "ci_low": value - 0.1}
            | {"ci_high": value + 0.1}
            for group, how, value in (("", "mean", 0.6), ("", "sum", 0.7), ("left", "mean", 0.55))
        ]
        quality = {
            "partial_input": baselines,
            "lexical_overlap": baselines[1:],
            "human": {"scores": people},
        }
        write_table(
            *(folder, ITEMS, "made", {"test": items}, config),
            extra={"genre": "string", "family": "string"},
            breakdowns=["genre"],
            quality={"test": quality},
            headline="left" if config == "other" else "",
            controls=["other"] if config == "main" else [],
            length_confound=True,
        )
    return folder


def detect(sample: Sample, made: Path) -> Iterator[Golden]:
    """Documents, probes, and documents that people judged."""
    stories = about_families(40)
    documents = with_intruders(stories, difficulty="high")
    people = [
        replace(
            document,
            extra={
                "difficulty": ("high", "low")[number % 2],
                "human": said if number % 5 else [],
            },
        )
        for number, document in enumerate(documents)
        for place in [document.intruder_position]
        for said in [([place, -1, 1, place], [2, place, -1, 1])[number % 2]]
    ]
    # The same sentences again, with another intruder: their scores tie.
    again = [
        replace(one, item_id=f"{one.item_id}/again", intruder_position=3, discourse_id="again")
        for one in people[12:20]
    ]
    long = replace(people[-1], item_id="long", sentences=("So it went on. " * 300, "End.", "No."))
    made_here = write_documents(
        made / "documents",
        {
            "validation": people[:12],
            "test": [*people[12:], *again, replace(long, intruder_position=1)],
        },
        extra={"difficulty": "string", "human": ["int64"]},
        breakdowns=["difficulty"],
    )
    runs = {
        DEMO: (sample("intruder_sentences")[0], ["detect_sample"]),
        f"{DEMO}, made documents": (made_here, []),
        f"{DEMO}, probes": (sample("linguistic_probes")[0], ["sample_animacy_up"]),
    }
    for name, (place, configs) in runs.items():
        results = _detected(demo(), place, configs)
        yield from adapter.read_detect(name, results)
        if not results.more["probes"]:
            other = _detected(half(), place, configs)
            yield from _compared(name, results, other, made / name)


def _detected(model: LoadedModel, place: Path, configs: Sequence[str]) -> Results:
    return cg.detect(model, place, config=configs)


def probe(sample: Sample, made: Path) -> Iterator[Golden]:
    """Three kinds of rows: two labels, several labels, a second label; and layers compared."""
    place = sample("discourse_tasks")[0]
    configs = ["relation_sample_implicit", "replaced_sample_similar"]
    results = cg.probe(demo(), place, config=configs, layers=[0, 3, 6], random_init=1)
    yield from adapter.read_probe(DEMO, results)
    folder = saved(results, made / "demo")
    layers = [at_layer(read_results(folder, outcomes=True), layer) for layer in (0, 3, 6)]
    found = holm_corrected([compare(layers[0], other) for other in layers[1:]])
    for layer, compared in zip((3, 6), found, strict=True):
        yield from adapter.read_comparison(f"layer {layer} against 0", compared)


def spans(sample: Sample, made: Path) -> Iterator[Golden]:
    """Two questions and a choice, also as published; two models."""
    place = sample("span_coherence")[0]
    configs = ["intruder_sample", "contradiction_sample"]
    results = cg.spans(demo(), place, config=configs)
    yield from adapter.read_spans(DEMO, results)
    other = cg.spans(half(), place, config=configs[1])
    yield from _compared(DEMO, results, other, made, anyway=True)
    choices = _made_choices(made / "choices")
    yield from adapter.read_spans(f"{DEMO}, choices", cg.spans(demo(), choices, temperature=30.0))
    published = cg.spans(demo(), choices, compat="storks-2021")
    yield from adapter.read_spans(f"{DEMO}, choices as published", published)


def _made_choices(folder: Path) -> Path:
    """Choices between two stories, most of them from sources that they share."""
    middles = ("Tim saw the sea.", "She lost the ball.", "It was hot.", "He sang a song.")
    pairs: list[tuple[int, int]] = [(1, 2), (0, 1), (1, 1), (0, 2)]
    texts = [
        replace(
            abduction(
                *(f"a{number}", f"Lily {HABITS[number % 6]}."),
                (middles[number % 4], middles[(number + 1 + number // 4 % 3) % 4]),
                *(f"Then Tim {HABITS[number // 3 % 6]}.", number % 2),
                *(pairs[number % 4], number % 3 == 0),
            ),
            discourse_id=f"d{number // 2}",
        )
        for number in range(24)
    ]
    return write_spans_dataset(folder, {"test": texts}, "abduction_made")


def correlate(sample: Sample, made: Path) -> Iterator[Golden]:
    """Both sets of ratings, and made ones; two models."""
    place = sample("coherence_ratings")[0]
    results = cg.correlate(demo(), place)
    yield from adapter.read_correlate(DEMO, results)
    other = cg.correlate(half(), place)
    yield from _compared(DEMO, results, other, made)
    yield from adapter.read_correlate(DEMO, cg.correlate(demo(), _made_ratings(made / "ratings")))


def _made_ratings(folder: Path) -> Path:
    """Texts of which some have the ratings of several people, and texts of one prompt."""
    draw = random.Random(0)
    texts = []
    for number, (name, sentences) in enumerate(about_families(30)):
        ratings = tuple(float(draw.randrange(1, 6)) for _ in range(1 + number % 4))
        mean, overlap = sum(ratings) / len(ratings), number % 7 / 7 if number % 5 else None
        about = {"prompt": f"p{number // 3}", "discourse_id": name, "corpus": "toy"}
        extra = {"genre": ("news", "fiction")[number // 2 % 2]}
        text = " ".join(sentences[: 1 + number % 4])
        texts.append(RatedText(name, text, mean, ratings, **about, overlap=overlap, extra=extra))
    columns: dict[str, Any] = {"extra": {"genre": "string"}, "breakdowns": ["genre"]}
    return write_table(folder, RATINGS, "made", {"test": texts}, "made", **columns)


#: Task -> its estimates.
TASKS = {one.__name__: one for one in (score, detect, probe, spans, correlate)}
