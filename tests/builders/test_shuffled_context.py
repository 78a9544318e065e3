"""The control of crossed configs."""

from __future__ import annotations

from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from coherencegym.builders.crossing.generator import shuffled_words
from coherencegym.builders.registry import load_suite


def test_a_shuffled_context_has_its_words_and_nothing_else_moves(built_sample: Any) -> None:
    folder, manifest = built_sample("replies")
    configs = manifest["configs"]
    assert configs["sample_crossed"]["controls"] == ["sample_crossed_shuffled_context"]
    import pyarrow.parquet as pq

    rows, controls = (
        pq.read_table(next((folder / "data" / name).glob("*.parquet"))).to_pylist()
        for name in ("sample_crossed", "sample_crossed_shuffled_context")
    )
    moved = 0
    for row, control in zip(rows, controls, strict=True):
        assert control["item_id"] == f"{row['item_id']}/shuffled_context"
        assert row["predictions"] == control["predictions"]
        orders: dict[str, set[str]] = {}
        for one, other in zip(row["conditions"], control["conditions"], strict=True):
            (context, target), (shuffled, same) = (
                [region["content"] for region in each["regions"]] for each in (one, other)
            )
            assert target == same
            assert sorted(context.split()) == sorted(shuffled.split())
            names = [
                [(place, word) for place, word in enumerate(text.split()) if word[0] == "<"]
                for text in (context, shuffled)
            ]
            assert names[0] == names[1]
            orders.setdefault(context, set()).add(shuffled)
            moved += context != shuffled
        # Whichever reply stands after it.
        assert {len(found) for found in orders.values()} == {1}
    assert moved > 0.9 * 4 * len(rows)


@given(st.lists(st.sampled_from(["a", "b", "<c>", "d"]), max_size=12), st.integers(0, 9))
def test_texts_of_an_item_that_differ_in_a_word_have_one_permutation(
    words: list[str], seed: int
) -> None:
    """That of a longer text keeps the order of the words that both have at their beginnings."""
    numbered = [f"{word}{place}" if word[0] != "<" else word for place, word in enumerate(words)]
    changed = [word.replace("a", "x") for word in numbered]
    one, other, longer = (
        shuffled_words(" ".join(text), Random(seed)).split()
        for text in (numbered, changed, [*numbered, "end"])
    )
    assert [word.replace("a", "x") for word in one] == other
    fixed = [word for word in longer if word != "end" and word[0] != "<"]
    assert fixed == [word for word in one if word[0] != "<"]
    assert [place for place, word in enumerate(one) if word[0] == "<"] == [
        place for place, word in enumerate(numbered) if word[0] == "<"
    ]


def test_every_crossed_config_has_the_control_and_no_headline_has_it() -> None:
    for name in ("replies", "story_cloze", "winograd", "connectives"):
        suite = load_suite(name)
        crossed = [c for c in suite.configs if c.name.startswith("crossed")]
        plain = [c for c in crossed if not c.name.endswith("_shuffled_context")]
        assert len(crossed) == 2 * len(plain) > 0
        assert all(f"{c.name}_shuffled_context" in c.controls for c in plain)
        assert not any(suite.in_headline(c) for c in crossed if c not in plain)
