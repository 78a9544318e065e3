"""Bags of words: what they learn, and what they refuse."""

from __future__ import annotations

import pytest

from coherencegym.eval.statistics.bag_of_words import FitError, bag_of_words, word_classifier


def rows(*words: str) -> list[tuple[str, str]]:
    return [tuple(pair.split("|", 1)) for pair in words]  # type: ignore[misc]


#: The second slot says the label by its word, the first says nothing.
TRAIN = rows(*["so it|good day"] * 10, *["so it|bad night"] * 10)
LABELS = ["yes"] * 10 + ["no"] * 10


def test_a_word_gives_the_label_away_in_its_slot_only() -> None:
    texts = {"train": TRAIN, "test": rows("good night|good", "good day|bad")}
    found = bag_of_words(texts, {"train": LABELS, "test": ["yes", "no"]})
    assert found.predictions["test"] == ("yes", "no")
    assert found.strength == 1.0  # nothing to choose it on


def test_the_penalty_is_chosen_on_validation_and_the_strongest_of_equals_wins() -> None:
    texts = {"train": TRAIN, "validation": TRAIN, "test": TRAIN[:1]}
    found = bag_of_words(texts, {"train": LABELS, "validation": LABELS, "test": ["no"]})
    assert found.strength == 0.3
    assert found.predictions["validation"] == tuple(LABELS)
    assert found.predictions["test"] == ("yes",)


def test_a_split_without_rows_has_no_predictions() -> None:
    found = bag_of_words({"train": TRAIN, "test": []}, {"train": LABELS, "test": []})
    assert found.predictions == {"test": ()}


def test_known_words_of_a_script_without_spaces_are_told() -> None:
    train = [(text,) for text in ("甲乙但丙丁", "戊己但庚辛", "甲乙却丙丁", "戊己却庚辛") * 2]
    labels = {"train": ["yes", "yes", "no", "no"] * 2, "test": ["yes", "no"]}
    texts = {"train": train, "test": [("壬癸但子丑",), ("壬癸却子丑",)]}
    known = bag_of_words(texts, labels, frozenset(["甲乙", "丙丁", "戊己", "庚辛", "壬癸", "子丑"]))
    assert known.predictions["test"] == ("yes", "no")
    # Of pairs of characters none is known.
    (first, second) = bag_of_words(texts, labels).predictions["test"]
    assert first == second


@pytest.mark.parametrize(
    ("texts", "labels", "said"),
    [
        ({"test": TRAIN}, {"test": LABELS}, "no two labels in split 'train'"),
        ({"train": TRAIN}, {"train": ["yes"] * 20}, "no two labels"),
        ({"train": rows("a|b", "c|d")}, {"train": ["x", "y"]}, "no word stands in two rows"),
    ],
)
def test_nothing_to_learn_from(
    texts: dict[str, list[tuple[str, str]]], labels: dict[str, list[str]], said: str
) -> None:
    with pytest.raises(FitError, match=said):
        bag_of_words(texts, labels)


@pytest.mark.parametrize("classes", [2, 5])
def test_the_fast_classifier_says_what_the_exact_one_does(classes: int) -> None:
    """On bags of words that say much, but not all, of the label."""
    import numpy as np
    from scipy.sparse import csr_matrix
    from sklearn.linear_model import LogisticRegression

    drawn = np.random.default_rng(0)
    labels = drawn.integers(classes, size=400).tolist()
    own = drawn.random((400, 200)) < np.where(
        np.arange(200) % classes == np.array(labels)[:, None], 0.1, 0.05
    )
    seen, rest = csr_matrix(own[:300] * 1.0), csr_matrix(own[300:] * 1.0)
    fast = word_classifier(seen, labels[:300])
    exact = LogisticRegression(max_iter=1000).fit(seen, labels[:300])
    assert np.mean(fast.predict(rest) == exact.predict(rest)) > 0.9
    assert np.mean(fast.predict(rest) == labels[300:]) > 1.2 / classes
    assert (word_classifier(seen, labels[:300]).predict(rest) == fast.predict(rest)).all()


def test_what_says_nothing_of_the_label_has_no_weight() -> None:
    """Of crossed texts each part stands once on each side: sums tie, and not but for noise."""
    import numpy as np
    from scipy.sparse import csr_matrix

    drawn = np.random.default_rng(0)
    rows, labels = [], []
    for _ in range(40):
        (a, b), (c, d) = drawn.choice(12, 2, replace=False), drawn.choice(12, 2, replace=False)
        for context, target, label in ((a, c, 0), (b, d, 0), (a, d, 1), (b, c, 1)):
            rows.append(np.eye(24)[context] + np.eye(24)[12 + target])
            labels.append(label)
    model = word_classifier(csr_matrix(np.array(rows)), labels)
    assert np.abs(model.coef_).max() < 1e-12
