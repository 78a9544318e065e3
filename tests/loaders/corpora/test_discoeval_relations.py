"""DiscoEval's relation files."""

from __future__ import annotations

import pickle
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from coherencegym.loaders.corpora.discoeval import DISCOEVAL_ROWS
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import read

LABELS = "Comparison.Contrast\nContingency.Cause\n"
ROWS = "1\tit rained\twe left\n0\tit rained\twe left\n1\t`` so '' it is n't\tall right\n"


def arguments(folder: Path, rows: str = ROWS, labels: str = LABELS) -> Path:
    own = folder / "PDTB/Implicit"
    own.mkdir(parents=True)
    (own / "train.txt").write_text(rows)
    (own / "labelset.txt").write_text(labels)
    return folder


def children(folder: Path, rows: Any) -> Path:
    (folder / "RST").mkdir()
    (folder / "RST/RST_TRAIN.pkl").write_bytes(pickle.dumps(rows, protocol=2))
    return folder


def found(folder: Path, **options: Any) -> list[Discourse]:
    return list(read(DISCOEVAL_ROWS, data_dir=folder, **options))


def test_a_pair_with_two_senses_is_two_rows_of_a_family(tmp_path: Path) -> None:
    first, second, third = found(arguments(tmp_path))
    assert first.relations[0].senses == ("Contingency.Cause", "Comparison.Contrast")
    assert second.relations[0].senses == ("Comparison.Contrast", "Contingency.Cause")
    assert first.meta["family"] == second.meta["family"] != third.meta["family"]
    assert (first.id, first.texts) == ("PDTB/Implicit/train/000001", ("it rained", "we left"))
    assert third.texts == ('"so" it isn\'t', "all right")
    assert {d.meta["task"] for d in (first, second, third)} == {"PDTB-I"}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("2\ta\tb\n", "1: label is '2', expected one of 0, 1"),
        ("0\ta\n", "1: 2 fields, expected 3 with tabs between them"),
        ("0\ta\tb\tc\n", "1: 4 fields, expected 3 with tabs between them"),
        ("0\ta\tb\n1\ta\t.\n", "2: an argument has no word, expected some"),
    ],
)
def test_bad_rows(rows: str, said: str, tmp_path: Path) -> None:
    folder = arguments(tmp_path, rows)
    with pytest.raises(CorpusError, match=said):
        found(folder)


def test_missing_senses(tmp_path: Path) -> None:
    (arguments(tmp_path) / "PDTB/Implicit/labelset.txt").unlink()
    with pytest.raises(CorpusError, match=r"labelset.txt: missing, expected the senses"):
        found(tmp_path)


def test_children_are_a_tree_of_one_node(tmp_path: Path) -> None:
    row = ("NS-Manner-Means", ["He said ,", "so ."], ["It 's ."])
    (one,) = found(children(tmp_path, [row]))
    assert one.texts == ("He said,", "so.", "It's.")
    assert one.tree is not None
    (node,) = one.tree.nodes
    assert (node.first, node.middle, node.last) == (0, 2, 3)
    assert (node.nuclearity, node.relation) == ("NS", "Manner-Means")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("NN-Joint", '2: label: "N"; expected a label such as'),
        (("NN-Joint", ["a"]), "2: no 'right'; expected an object with it"),
        (("SS-Joint", ["a"], ["b"]), '2: label: "SS-Joint"; expected a label such as'),
        (("NN-Joint", ["a"], []), "2: right: an empty array; expected at least one"),
        (("NN-Joint", ["a"], [["b"]]), r"2: right\[0\]: an array; expected a text"),
        (("NN-Joint", ["a"], [" "]), r'2: right\[0\]: " "; expected a text that is not empty'),
    ],
)
def test_bad_children(row: Any, said: str, tmp_path: Path) -> None:
    folder = children(tmp_path, [("NN-Joint", ["a"], ["b"]), row])
    with pytest.raises(CorpusError, match=said):
        found(folder)
    assert len(found(folder, skip_bad_rows=True)) == 1


def test_real_rows(shared: Path) -> None:
    patterns = [one for one in DISCOEVAL_ROWS.patterns if "PDTB" in one.glob or "RST" in one.glob]
    relations = replace(DISCOEVAL_ROWS, patterns=tuple(patterns))
    every = list(read(relations, data_dir=shared / "corpora"))
    senses = Counter(
        (d.meta["task"], d.meta["split"], d.relations[0].senses[0].split(".")[1])
        for d in every
        if d.relations
    )
    # Specification of the files, section 1.
    implicit = [144, 984, 2216, 50, 113, 2060, 752, 242, 1641, 376, 115]
    counts = [n for (task, split, _), n in senses.items() if (task, split) == ("PDTB-I", "train")]
    assert sorted(counts) == sorted(implicit)
    assert senses["PDTB-I", "train", "Pragmatic cause"] == 50
    trees = [d.tree.nodes[0] for d in every if d.tree is not None]
    labels = Counter(f"{node.nuclearity}-{node.relation}" for node in trees)
    assert (len(trees), len(labels), labels["NS-Elaboration"]) == (2045, 37, 800)
