"""Neighbours are the exact ones whatever way they are found; groups never give each other any."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sparse_dot_topn import sp_matmul_topn

from coherencegym.manipulations.intruders import neighbours as module
from coherencegym.manipulations.intruders.neighbours import (
    MOST_DOCUMENTS,
    groups,
    nearest,
    text_vectors,
)

WORDS = st.sampled_from([f"w{i}" for i in range(12)])
SENTENCE = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
DOCUMENTS = st.lists(st.lists(SENTENCE, min_size=1, max_size=4), min_size=1, max_size=14)


def zipf(number: int, seed: int = 0) -> list[list[str]]:
    """Documents of five sentences whose words are as frequent as a language's."""
    generator = np.random.default_rng(seed)
    return [
        [" ".join(f"w{min(w, 3000)}" for w in generator.zipf(1.3, size=14)) for _ in range(5)]
        for _ in range(number)
    ]


def brute_force(vectors: Any, group_of: list[int], k: int) -> list[list[tuple[float, int]]]:
    dense = vectors.toarray().astype(np.float64)
    products = dense @ dense.T
    return [
        sorted(
            (-products[row, other], other)
            for other in range(len(dense))
            if group_of[other] != group_of[row] and products[row, other] > 0
        )[:k]
        for row in range(len(dense))
    ]


@given(DOCUMENTS, st.integers(1, 4), st.data())
def test_neighbours_are_those_of_a_full_product(
    documents: list[list[str]], k: int, data: Any
) -> None:
    vectors, _ = text_vectors(documents, 2**12)
    group_of = [data.draw(st.integers(0, len(documents))) for _ in documents]
    indices, found = nearest(vectors, k, group_of)
    for row, expected in enumerate(brute_force(vectors, group_of, k)):
        similarities = [-s for s, _ in expected if -s > 1e-6]
        ours = [float(s) for s in found[row] if s > 1e-6]
        assert ours == pytest.approx(similarities, abs=1e-5)
        others = [other for other in indices[row] if other >= 0]
        assert all(group_of[other] != group_of[row] for other in others)
        assert len(set(others)) == len(others)


def test_a_vector_is_the_sum_of_its_sentences_and_has_length_one() -> None:
    documents = [["the old bridge", "the new bridge"], ["a lighthouse"], ["the bridge"]]
    vectors, sentences = text_vectors(documents, 2**16)
    assert np.asarray(vectors.multiply(vectors).sum(axis=1)).ravel() == pytest.approx([1, 1, 1])
    assert sentences.first.tolist() == [0, 2, 3, 4]
    assert sentences.counts.sum() == 3 + 2 + 3 + 2 + 1 + 2 + 1  # words, and pairs in a sentence
    of = sentences.of([0, 3])
    # "the", "bridge" and no pair are common to the two.
    assert 0 < float(of[0].multiply(of[1]).sum()) < 1


def test_threads_blocks_and_rows_do_not_change_the_result(monkeypatch: pytest.MonkeyPatch) -> None:
    vectors, _ = text_vectors(zipf(150), 2**14)
    group_of = [i // 3 for i in range(150)]
    one = nearest(vectors, 5, group_of)
    monkeypatch.setattr(module, "BLOCK", 17)
    many = nearest(vectors, 5, group_of, threads=2)
    assert all(map(np.array_equal, one, many))
    some, _ = nearest(vectors, 5, group_of, rows=[149, 3, 77])
    assert np.array_equal(some[[3, 77, 149]], one[0][[3, 77, 149]])
    assert set(some[0]) == {-1}


FEW_WORDS = st.lists(
    st.lists(st.sampled_from(("oak", "elm", "ash")), min_size=1, max_size=4).map(
        lambda w: [" ".join(w * 2)]
    ),
    min_size=2,
    max_size=40,
)


@given(FEW_WORDS, st.integers(1, 5), st.integers(1, 9), st.booleans())
def test_blocks_decide_nothing_even_where_documents_are_equally_near(
    documents: list[list[str]], k: int, rows: int, in_groups: bool
) -> None:
    vectors, _ = text_vectors(documents, 2**10)
    group_of = [i // 3 if in_groups else i for i in range(len(documents))]
    whole = nearest(vectors, k, group_of)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "BLOCK", rows)
        parts = nearest(vectors, k, group_of)
    assert all(map(np.array_equal, whole, parts))
    # Of those that are equally near the one that stands first.
    products = sp_matmul_topn(vectors, vectors.T, top_n=len(documents), threshold=0.0)
    for row, near in enumerate(whole[0]):
        own = products.indptr[row], products.indptr[row + 1]
        found = zip(products.data[slice(*own)], products.indices[slice(*own)], strict=True)
        fitting = sorted((-p, i) for p, i in found if group_of[i] != group_of[row])
        assert near[near >= 0].tolist() == [i for _, i in fitting][:k]


def test_what_is_cut_off_is_not_as_near_as_what_stays() -> None:
    """Of many that are equally near the product keeps any; the first ones are found anyway."""
    generator = np.random.default_rng(1)
    texts = [" ".join(generator.choice(["oak", "elm", "ash"], 5)) for _ in range(150)]
    vectors, _ = text_vectors([[text] for text in texts], 2**10)
    found, _ = nearest(vectors, 6, range(150))
    products = sp_matmul_topn(vectors, vectors.T, top_n=150, threshold=0.0)
    for row, near in enumerate(found.tolist()):
        own = slice(products.indptr[row], products.indptr[row + 1])
        pairs = zip(-products.data[own], products.indices[own].tolist(), strict=True)
        assert near == [other for _, other in sorted(pairs) if other != row][:6]


def test_documents_that_share_lines_are_one_group() -> None:
    documents = [
        ["We met at the old mill.", "It rained the whole day."],
        ["It rained  the whole DAY.", "Nobody came to the fair."],  # with the first
        ["Nobody came to the fair.", "Thank you."],  # with the second, and so with the first
        ["The ferry left at noon.", "Thank you."],  # a short line connects nothing
    ]
    assert groups(documents) == [0, 0, 0, 3]
    assert groups([]) == []


def test_a_formula_connects_nothing() -> None:
    formula = "Its population was twelve in the last census."
    documents = [[formula, f"The village number {i} has a church."] for i in range(MOST_DOCUMENTS)]
    assert set(groups(documents)) == {0}
    documents.append([formula, "The last of the villages has none."])
    assert groups(documents) == list(range(MOST_DOCUMENTS + 1))


@given(st.lists(st.lists(st.integers(0, 15), min_size=1, max_size=3), max_size=12))
def test_groups_are_connected_components(documents: list[list[int]]) -> None:
    lines = [[f"this is line number {n}" for n in document] for document in documents]
    found = groups(lines)
    for i, one in enumerate(documents):
        assert found[i] <= i
        assert found[found[i]] == found[i]
        for j, other in enumerate(documents):
            if set(one) & set(other):
                assert found[i] == found[j]
    # No coarser than that: each group hangs together.
    for root in set(found):
        members = [i for i, group in enumerate(found) if group == root]
        reached, waiting = {members[0]}, [members[0]]
        while waiting:
            at = waiting.pop()
            near = [
                j for j in members if j not in reached and set(documents[at]) & set(documents[j])
            ]
            reached.update(near)
            waiting += near
        assert reached == set(members)
