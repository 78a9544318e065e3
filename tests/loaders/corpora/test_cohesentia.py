"""CoheSentia: stories with ratings, and sentences with reasons."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from support.native_files import LAYOUTS, RATED

from coherencegym.loaders.corpora.judged import HOLISTIC, INCREMENTAL, ratings
from coherencegym.loaders.discourse import span_text
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of


def test_a_story_with_its_ratings_and_reasons(tmp_path: Path) -> None:
    LAYOUTS["cohesentia"].write(tmp_path)
    first, second = read(corpus("cohesentia"), data_dir=tmp_path)
    assert first.id == "cohesentia-11"
    assert first.texts == ("The kettle sang.", "It was Tuesday.")
    assert second.texts[1] == "É? He fell."
    assert ratings(first, HOLISTIC) == [4.0]
    assert ratings(first, INCREMENTAL) == [2.0, 3.0]
    reasons = [one for one in first.judgements if one.span is not None]
    # Two of the three numbers are of one group.
    assert [one.label for one in reasons] == ["cohesion", "consistency"]
    assert {one.annotator for one in reasons} == {"incremental 0"}
    assert {span_text(first, one.span or ()) for one in reasons} == {"It was Tuesday."}
    assert first.meta == {
        "split": "test",
        "title": "A day",
        "text": "A day: The kettle sang. It was Tuesday.",
        "holistic": "4",
        "incremental": "2",
    }


def test_a_rating_and_a_reason_that_are_none_are_left_out(tmp_path: Path) -> None:
    stories = json.loads(json.dumps(RATED))
    stories["11"]["IncrementalData"]["scores"]["annot0"] = float("nan")
    stories["12"]["IncrementalData"]["reasons"]["annot1"] = {"0": [8], "9": [1, 2]}
    (tmp_path / "TestData.json").write_text(json.dumps(stories))
    reading = read(corpus("cohesentia"), data_dir=tmp_path)
    first, second = reading
    assert ratings(first, INCREMENTAL) == [3.0]
    reasons = [one.label for one in second.judgements if one.annotator == "incremental 1"]
    assert reasons == ["3", "other"]
    assert reading.skipped == {
        "ratings that are no number": 1,
        "reasons for a sentence that the story has not": 1,
    }


def test_a_file_without_consensus(tmp_path: Path) -> None:
    stories = json.loads(json.dumps(RATED))
    for story in stories.values():
        del story["HolisticData"]["consensus_score"]
    (tmp_path / "TrainData.json").write_text(json.dumps(stories, indent=1))
    first, _ = read(corpus("cohesentia"), data_dir=tmp_path)
    assert (first.meta["holistic"], first.meta["incremental"]) == ("", "2")
    assert first.meta["split"] == "train"
    assert first.units[0].source is not None
    assert first.units[0].source.start == 2


def test_the_sample() -> None:
    sample = sample_of(corpus("cohesentia"))
    assert sample is not None
    stories = list(read(sample))
    assert len(stories) == 36
    assert set(Counter(story.meta["title"] for story in stories).values()) == {3}
    for story in stories:
        assert len(story.units) == 5
        assert story.text == story.meta["text"]
        assert ratings(story, HOLISTIC) == ratings(story, INCREMENTAL)
        bad = {one.span for one in story.judgements if one.span is not None}
        assert len(bad) == {5: 0, 3: 1, 1: 3}[int(ratings(story, HOLISTIC)[0])]
    # Stories that are longer where they are better would be known by that.
    lengths = [
        [len(story.text) for story in stories if ratings(story, HOLISTIC) == [grade]]
        for grade in (5, 3, 1)
    ]
    means = [sum(own) / len(own) for own in lengths]
    assert max(means) - min(means) < 10
