"""What a classifier gets of the vectors of slots, and what it can see in that."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.errors import EvaluationError
from coherencegym.eval.tasks.probe.classifiers import linear
from coherencegym.eval.tasks.probe.study import INPUTS, input_of


def test_features_by_hand() -> None:
    both = np.array([[[1, 2], [3, -1]], [[3, -1], [1, 2]]])
    assert INPUTS["order"].make(both).tolist() == [[1, 2, 3, -1, -2, 3], [3, -1, 1, 2, 2, -3]]
    assert INPUTS["pair"].make(both)[0].tolist() == [1, 2, 3, -1, 3, -2, 2, 3]
    five = np.array([5, 1, 2, 3, 4]).reshape(1, 5, 1)
    assert INPUTS["position"].make(five).tolist() == [[5, 4, 3, 2, 1]]
    tree = np.array([[[(1 + 3) / 2, (0 + 2) / 2], [2, 2]]])  # a child is the mean of its units
    assert INPUTS["pair"].make(tree).tolist() == [[2, 1, 2, 2, 4, 2, 0, 1]]
    six = np.arange(12).reshape(1, 6, 2)
    assert INPUTS["concatenation"].make(six).tolist() == [list(range(12))]
    alone = input_of("first", "position", 5)
    assert alone.make(five).tolist() == [[5]]
    assert alone.blocks(5) == 1
    neighbours = input_of("neighbours", "concatenation", 6).make(six)
    assert neighbours.tolist() == [[*range(12), 0, 3, 8, 15, 24, 35, 48, 63, 80, 99]]


@given(st.integers(1, 6), st.integers(1, 4), st.sampled_from([*INPUTS]), st.booleans())
def test_blocks_are_counted(slots: int, width: int, name: str, neighbours: bool) -> None:
    choice = "neighbours" if neighbours else "published"
    if INPUTS[name].slots not in (None, slots) or (neighbours and slots < 2):
        with pytest.raises(EvaluationError, match="--input"):
            input_of(choice, name, slots)
        return
    found = input_of(choice, name, slots)
    made = found.make(np.zeros((3, slots, width), dtype=np.float32))
    assert made.shape == (3, found.blocks(slots) * width)
    assert made.dtype == np.float32


def test_a_difference_adds_nothing_that_is_linear() -> None:
    random = np.random.default_rng(0)
    pairs = random.normal(size=(40, 2, 3))
    assert np.linalg.matrix_rank(INPUTS["order"].make(pairs)) == 6
    five = random.normal(size=(40, 5, 3))
    assert np.linalg.matrix_rank(INPUTS["position"].make(five)) == 15


def test_only_products_see_that_two_vectors_fit() -> None:
    signs = np.array([[a, b] for a in (-1, 1) for b in (-1, 1)] * 50, dtype=np.float32)
    fits = (signs.prod(axis=1) > 0).astype(int)
    x = {name: INPUTS[name].make(signs[..., None]) for name in ("order", "pair")}
    assert linear((x["pair"], fits), (x["pair"], fits), x["pair"], 2).validation == 1
    blind = linear((x["order"], fits), (x["order"], fits), x["order"], 2)
    assert blind.finished  # without weights: nothing that one vector says changes the odds
    assert np.exp(blind.log_probabilities) == pytest.approx(0.5, abs=1e-3)
    # With some preference to follow: three of the four pairs at most.
    uneven = np.concatenate([np.arange(200), np.arange(0, 200, 4)])
    learned = x["order"][uneven], fits[uneven]
    model = linear(learned, (x["order"], fits), x["order"], 2)
    assert model.validation <= 0.75


def test_an_unknown_input_is_named() -> None:
    with pytest.raises(EvaluationError, match="input 'sum'; expected one of concatenation"):
        input_of("published", "sum", 2)
    assert input_of("published", "", 2).make is INPUTS["pair"].make
    assert input_of("published", "", 6).make is INPUTS["concatenation"].make
    with pytest.raises(EvaluationError, match="--input pair: pair is of 2 slots, not of 5"):
        input_of("pair", "position", 5)
