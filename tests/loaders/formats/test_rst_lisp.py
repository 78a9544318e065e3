"""Rhetorical trees as s-expressions; what is wrong with one is in :mod:`support.damages`."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.loaders.discourse import RhetoricalNode
from coherencegym.loaders.formats.lines import LineError
from coherencegym.loaders.formats.relations import LispTree, parse_tree

#: A tree without its texts: how many units it has, or its two children.
SHAPES = st.recursive(st.just(1), lambda shape: st.tuples(shape, shape), max_leaves=12)
WORDS = st.sampled_from(["a", "( b", "c )", "d ) ) (", "( text e", "é", "_!", "rel2par"])


def written(tree: LispTree) -> str:
    """A tree as its file has it, written from its root down without recursion."""
    by_span = {(node.first, node.last): node for node in tree.nodes}
    source, left = "", [(0, len(tree.units), "Root", "span")]
    while left:
        first, last, role, relation = left.pop()
        if role == ")":
            source += ")\n"
            continue
        source += f"( {role} "
        where = f"(rel2par {relation})" if role != "Root" else ""
        left.append((0, 0, ")", ""))
        if last - first == 1:
            source += f"(leaf {last}) {where} (text _!{tree.units[first]}_!) "
            continue
        node = by_span[first, last]
        source += f"(span {first + 1} {last}) {where}\n"
        names = {"N": "Nucleus", "S": "Satellite"}
        own = [
            node.relation if node.nuclearity in ("NN", role * 2) or role == "S" else "span"
            for role in node.nuclearity
        ]
        left.append((node.middle, last, names[node.nuclearity[1]], own[1]))
        left.append((first, node.middle, names[node.nuclearity[0]], own[0]))
    return source


@st.composite
def trees(draw: st.DrawFn) -> LispTree:
    """A tree of any shape, whose texts have brackets in them."""
    units: list[str] = []
    nodes: list[RhetoricalNode] = []

    def grow(shape: object) -> None:
        if not isinstance(shape, tuple):
            units.append(" ".join(draw(st.lists(WORDS, min_size=1, max_size=3))))
            return
        first, place = len(units), len(nodes)
        grow(shape[0])
        middle = len(units)
        grow(shape[1])
        nuclearity = draw(st.sampled_from(["NN", "NS", "SN"]))
        relation = draw(st.sampled_from(["joint-list", "same-unit", "causal-result"]))
        nodes.insert(place, RhetoricalNode(first, middle, len(units), nuclearity, relation))

    grow(draw(SHAPES))
    nodes.sort(key=lambda node: (node.first, -node.last))
    return LispTree(tuple(units), tuple(nodes))


@given(trees())
def test_what_was_written_is_read(tree: LispTree) -> None:
    assert parse_tree(written(tree)) == tree


@given(st.text("()_! \n", max_size=30) | trees().map(lambda tree: written(tree)[:-2]))
def test_any_text_is_a_tree_or_a_fault_of_a_line(source: str) -> None:
    with pytest.raises(LineError) as fault:
        parse_tree(source)
    assert 1 <= fault.value.line <= source.count("\n") + 1


def test_a_tree_may_be_deeper_than_the_stack() -> None:
    size = 20_000
    nodes = tuple(RhetoricalNode(i, i + 1, size, "NN", "joint-list") for i in range(size - 1))
    tree = LispTree(tuple(f"w{i}" for i in range(size)), nodes)
    assert parse_tree(written(tree)) == tree


def test_a_fault_names_the_line_of_the_list() -> None:
    source = (
        "( Root (span 1 2)\n(Nucleus (leaf 1) (text _!a\nb_!))\n(Nucleus (leaf 1) (text _!c_!)))"
    )
    with pytest.raises(LineError, match="a text, expected it in a leaf with the number 2") as fault:
        parse_tree(source)
    assert fault.value.line == 4
