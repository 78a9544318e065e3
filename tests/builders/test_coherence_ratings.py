"""Coherence ratings: stories as whoever rated them read them."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.native_files import LAYOUTS
from support.suites import Sample

from coherencegym.builders.coherence_ratings import SUITE, Rate
from coherencegym.loaders.discourse import Discourse, HumanJudgement, Unit
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus
from coherencegym.manipulations.operator import Context


def test_each_way_has_its_text_and_ratings(tmp_path: Path) -> None:
    LAYOUTS["cohesentia"].write(tmp_path)
    story, _ = read(corpus("cohesentia"), data_dir=tmp_path)
    (holistic,) = Rate("holistic")(story, Context())
    (incremental,) = Rate("incremental")(story, Context())
    assert holistic.text == "A day: The kettle sang. It was Tuesday."
    assert incremental.text == "The kettle sang. It was Tuesday."
    assert (holistic.rating, holistic.ratings) == (4.0, (4.0,))
    assert (incremental.rating, incremental.ratings) == (2.5, (2.0, 3.0))
    assert holistic.prompt == "A day"
    assert incremental.extra == {"consensus": "2", "sentences": 2}


def test_a_story_without_a_rating_is_counted() -> None:
    context = Context()
    meta = {"text": "A.", "title": "T", "holistic": ""}
    assert list(Rate("holistic")(Discourse("s", "c", (Unit("A."),), meta=meta), context)) == []
    assert context.skipped == {"no rating": 1}


def test_repeated_words_are_counted() -> None:
    meta = {"text": "The cat ran. The cat slept. A tree fell.", "title": "T", "holistic": "3"}
    judged = (HumanJudgement(None, "3", "holistic 0"),)
    story = Discourse("s", "c", (Unit("The cat ran."),), judgements=judged, meta=meta)
    (row,) = Rate("holistic")(story, Context())
    # The first two sentences share one of two content words each, the others none.
    assert row.overlap == pytest.approx(0.25)


def test_the_suite_of_the_sample(
    built_sample: Sample,
) -> None:
    folder, manifest = built_sample(SUITE.name)
    assert set(manifest["configs"]) == {"sample_holistic", "sample_incremental"}
    quality = manifest["configs"]["sample_holistic"]["quality"]["test"]
    assert quality["ratings"] == {"least": 1.0, "mean": 3.0, "most": 5.0}
    card = (folder / "README.md").read_text()
    assert "| `sample_holistic` (default) | **test 36** | 1.0 to 5.0 |" in card
    assert "coherencegym correlate --model gpt2" in card
