"""Near-duplicates: found with the likelihood that the bands give, and none invented."""

from __future__ import annotations

import random

import pytest

from coherencegym.loaders.text.near_duplicates import BANDS, ROWS, NearDuplicates, band_keys


def words(number: int, draw: random.Random) -> list[str]:
    return [f"w{draw.randrange(20_000)}" for _ in range(number)]


def test_the_same_text_and_no_other() -> None:
    seen = NearDuplicates()
    text = "The kettle sang in the kitchen, and Ann took two cups from the shelf."
    assert not seen.add(text)
    assert seen.add(text)
    assert seen.add("  the KETTLE sang in the kitchen and Ann took two cups from the shelf ")
    assert not seen.add("The train left the station, and Bo ran after it until he fell.")
    assert not seen.add("")
    assert seen.add("")


def test_a_dropped_text_is_not_remembered() -> None:
    """A chain of texts, each like the one before it, is compared with the first."""
    draw = random.Random(0)
    text = words(120, draw)
    seen = NearDuplicates()
    assert not seen.add(" ".join(text))
    kept = 0
    for place in range(0, 120, 3):
        text[place] = f"new{place}"
        kept += not seen.add(" ".join(text))
    assert 1 <= kept <= 6


@pytest.mark.parametrize(
    ("similarity", "least", "most"),
    [(0.3, 0.0, 0.02), (0.5, 0.01, 0.12), (0.7, 0.4, 0.72), (0.9, 0.98, 1.0)],
)
def test_the_likelihood_grows_with_the_similarity(
    similarity: float, least: float, most: float
) -> None:
    """Texts whose ends differ share that part of their shingles; 300 pairs a similarity."""
    draw = random.Random(7)
    found = 0
    for _ in range(300):
        shared = words(100, draw)
        # Of n shingles each with s shared, the similarity is s / (2n - s).
        own = round(96 * (1 - similarity) / (2 * similarity))
        seen = NearDuplicates()
        seen.add(" ".join(shared + words(own, draw)))
        found += seen.add(" ".join(shared + words(own, draw)))
    assert least <= found / 300 <= most
    assert least <= 1 - (1 - similarity**ROWS) ** BANDS <= most


def test_many_texts_are_told_apart() -> None:
    draw = random.Random(1)
    texts = [" ".join(words(20, draw)) for _ in range(1500)]
    seen = NearDuplicates()
    assert sum(map(seen.add, texts)) == 0
    assert all(map(seen.add, texts))


def test_the_keys_are_fixed() -> None:
    """The same texts always give the same answer, on every machine."""
    keys = band_keys("the kettle sang in the kitchen all day long")
    assert keys[:2].tolist() == [0x88B4F8FD384E8333, 0x99A4DCB7C2817A6D]
