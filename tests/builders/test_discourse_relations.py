"""Relations as labelled examples: nodes of trees, and pairs of arguments."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from support.strategies import discourses
from support.suites import Sample, rows

from coherencegym.builders.discourse.relations import (
    ArgumentPairs,
    TreeNodes,
    argument_text,
    in_context,
    relation_class,
)
from coherencegym.builders.discourse_tasks import SUITE
from coherencegym.builders.pipeline.kinds import Division, OwnSplits
from coherencegym.eval.kinds.documents import EXAMPLES, LabelledExample
from coherencegym.loaders.discourse import (
    Discourse,
    Relation,
    RhetoricalNode,
    RhetoricalTree,
    Span,
    Unit,
)
from coherencegym.loaders.senses import _unified, unified_relation
from coherencegym.manipulations.operator import Context


def discourse(*texts: str, **settings: object) -> Discourse:
    units = tuple(map(Unit, texts))
    return Discourse("d", "test", units, meta={"split": "test", "genre": "bio"}, **settings)  # type: ignore[arg-type]


def of(text: str, *parts: str) -> Span:
    """The span of parts of a one-sentence text, each looked for behind the one before."""
    found, start = [], 0
    for part in parts:
        start = text.index(part, start)
        found.append((0, start, start + len(part)))
        start += len(part)
    return tuple(found)


def made(generator: object, one: Discourse) -> tuple[list[LabelledExample], Counter[str]]:
    context = Context(0, "test")
    examples = list(generator(one, context))  # type: ignore[operator]
    for each in examples:
        EXAMPLES.check(each)
    return examples, context.skipped


@pytest.mark.parametrize(
    ("text", "parts", "expected"),
    [
        ("It rained, and we left.", [", and we left."], "and we left."),
        ("However, we left.", [", we left."], "we left."),
        ("We, however, left.", ["We,", "left."], "We left."),
        ("We, however, left.", ["We", ", left."], "We, left."),
        ("They (for instance) left.", ["They (", ") left."], "They left."),
        ("He left (because he was ill).", ["he was ill)."], "he was ill."),
        ("He (hence ill) left.", ["(", "ill"], "ill"),
        ('He said, "If it rains, we leave."', ['He said, "', "it rains"], 'He said, "it rains'),
        ("But — no. And so on.", ["—"], ""),
        ("One [1] left.", ["One [1] left."], "One [1] left."),
    ],
)
def test_the_text_of_an_argument(text: str, parts: list[str], expected: str) -> None:
    assert argument_text(discourse(text), of(text, *parts)) == expected


def test_arguments_in_context() -> None:
    text = "Although it rained, we left."
    one = discourse(text, "It was late.", "Nobody saw us.")
    first, second = of(text, "we left."), of(text, "it rained")
    pieces = ("Although", "it rained,", "we left.")
    assert in_context(one, first, second) == (pieces, (2, 1))
    across = ((0, 0, len(text)), (1, 0, 12))
    assert in_context(one, across, ((2, 0, 14),)) == (
        (f"{text} It was late.", "Nobody saw us."),
        (0, 1),
    )
    cut = of(text, "Although", "we left.")
    assert in_context(one, cut, second) == (("Although", "it rained,", "we left."), (-1, 1))


@given(discourses(max_units=4))
def test_pieces_read_as_the_text_does(one: Discourse) -> None:
    for relation in one.relations:
        pieces, places = in_context(one, relation.arg1, relation.arg2)
        touched = [unit for unit, _, _ in (*relation.arg1, *relation.arg2)]
        text = " ".join(one.texts[min(touched) : max(touched) + 1])
        assert " ".join(pieces) == text
        assert all(-1 <= place < len(pieces) for place in places)


def tree(*nodes: RhetoricalNode) -> Discourse:
    """It rained, so we left / because it was late. Nobody saw us."""
    units: tuple[Span, ...] = (
        ((0, 0, 10),),
        ((0, 11, 21),),
        ((0, 22, 42),),
        ((1, 0, 14),),
    )
    texts = "It rained, so we left because it was late.", "Nobody saw us."
    because = Relation(
        "Explicit", ((0, 22, 29),), ((0, 14, 21),), ((0, 30, 41),), ("Contingency.Cause.Reason",)
    )
    return discourse(*texts, tree=RhetoricalTree(units, nodes), relations=(because,))


ROOT = RhetoricalNode(0, 3, 4, "NN", "joint-list")
REASON = RhetoricalNode(1, 2, 3, "NS", "causal-cause")
CUT = RhetoricalNode(0, 1, 3, "NN", "same-unit")


def test_nodes_of_a_tree() -> None:
    (root, cut, reason), skipped = made(TreeNodes(), tree(ROOT, CUT, REASON))
    assert [each.label for each in (root, cut, reason)] == ["NN-joint", "NN-same-unit", "NS-causal"]
    assert root.slots[0].segments == ("It rained,", "so we left", "because it was late.")
    assert root.text == ("It rained, so we left because it was late.", "Nobody saw us.")
    assert root.places == (0, 1)
    assert (root.extra["edus"], root.extra["larger"], root.extra["size"]) == (4, 3, "2 to 9")
    assert [each.extra["same_sentence"] for each in (root, reason)] == [False, True]
    assert [each.extra["marked"] for each in (root, cut, reason)] == [False, False, True]
    assert [each.extra["aspect"] for each in (root, cut)] == ["meaning", "syntax"]
    assert [each.extra["unified"] for each in (root, cut, reason)] == ["conjunction", "", "causal"]
    assert not skipped


def test_nobody_knows_what_is_marked_without_connectives() -> None:
    ((reason,), _) = made(TreeNodes(), replace(tree(REASON), relations=()))
    assert reason.extra["marked"] is None
    assert made(TreeNodes(), discourse("A."))[1] == {"no rhetorical tree": 1}


def test_classes_of_relations() -> None:
    assert relation_class("organization-heading") == "organization"
    assert relation_class("same-unit") == "same-unit"


def related(*senses: str, kind: str = "Implicit", **spans: Span) -> Relation:
    own: dict[str, Span] = {"arg1": ((0, 0, 9),), "arg2": ((1, 0, 8),), **spans}
    return Relation(kind, None, own["arg1"], own["arg2"], senses)


def test_a_pair_with_two_senses_is_one_row() -> None:
    relations = (
        related("Expansion.Conjunction"),
        related("Contingency.Cause.Reason", "Expansion.Conjunction"),
        related("Temporal.Synchronous", kind="Explicit"),
    )
    one = discourse("It rained.", "We left.", relations=relations)
    (pair,), skipped = made(ArgumentPairs("Implicit"), one)
    assert (pair.label, pair.also) == ("Expansion.Conjunction", ("Contingency.Cause",))
    assert [slot.segments for slot in pair.slots] == [("It rained",), ("We left.",)]
    assert pair.extra["relation"] == "Expansion.Conjunction + Contingency.Cause.Reason"
    assert not skipped


@pytest.mark.parametrize(
    ("relation", "reason"),
    [
        (related("NoRel"), "an implicit relation with the sense NoRel"),
        (related("Cmparison.Concession"), "a sense of no known class (Cmparison.Concession)"),
        (related("Temporal"), "a sense of level 1 only (Temporal)"),
        (related(), "a relation without a sense"),
        (related("Temporal.Synchronous", arg2=((0, 4, 9),)), "arguments that overlap"),
        (related("Temporal.Synchronous", arg2=((1, 7, 8),)), "an argument without a word"),
    ],
)
def test_what_makes_no_row_is_counted(relation: Relation, reason: str) -> None:
    one = discourse("It rained.", "We left.", relations=(relation,))
    assert made(ArgumentPairs("Implicit"), one) == ([], {reason: 1})


def test_the_unified_labels_are_seventeen() -> None:
    assert len({*_unified().values()}) == 17
    assert unified_relation("Contingency.Cause.Reason") == unified_relation("causal-cause")


def test_a_corpus_keeps_its_own_splits_and_another_is_divided() -> None:
    def document(name: str, split: str, corpus: str) -> Discourse:
        return Discourse(name, corpus, (Unit(f"Text {name}."),), meta={"split": split})

    splits = OwnSplits(Division(0.2, 0.2))
    own = [document(str(i), "test", "gum") for i in range(30)]
    assert splits(own, 0) == {"test": own}
    sample = [document(str(i), "test", "sample") for i in range(40)]
    divided = splits(sample, 0)
    assert list(divided) == ["test", "train", "validation"]
    assert sum(map(len, divided.values())) == 40
    talks = [document(str(i), "unsplit", "tedmdb") for i in range(6)]
    assert splits(talks, 0) == {"test": talks}


def test_the_sample_from_end_to_end(built_sample: Sample, tmp_path: Path) -> None:
    from datasets import ClassLabel, load_dataset

    folder, manifest = built_sample(SUITE.name)
    nodes = manifest["configs"]["relation_sample_rst"]
    assert nodes["quality"]["test"]["bag_of_words"]["all"]["accuracy"] > 0.3
    assert sum(split["rows"] for split in nodes["splits"].values()) == 220
    assert len(rows(folder, "relation_sample_rst")) == nodes["splits"]["test"]["rows"]
    loaded = load_dataset(
        str(folder), "relation_sample_rst", split="train", cache_dir=str(tmp_path)
    )
    assert isinstance(loaded.features["label"], ClassLabel)
    assert set(loaded.features["label"].names) == {
        *("NN-joint", "NS-elaboration", "SN-adversative", "SN-attribution")
    }
    card = (folder / "README.md").read_text()
    assert "# Discourse tasks: " in card
    assert "relation_sample_rst" in (folder / "quality.json").read_text()
    # Only one class of explicit relations has ten rows to learn from.
    assert "relation_sample_explicit" not in manifest["configs"]


def test_real_relations(real_gum: list[Discourse]) -> None:
    found: Counter[str] = Counter()
    labels: Counter[str] = Counter()
    for one in real_gum:
        for generator in (TreeNodes(), ArgumentPairs("Explicit"), ArgumentPairs("Implicit")):
            examples, skipped = made(generator, one)
            found.update(skipped)
            found[generator.recipe[:20]] += len(examples)
            found[f"{generator.recipe[:20]} two"] += sum(bool(each.also) for each in examples)
            if "Explicit" not in generator.recipe:
                labels.update(each.label for each in examples)
    # Counted from the files by a script that splits lines at `|`: 2,588 explicit rows with a place,
    # of 2,538 pairs of arguments, and 1,446 implicit ones.
    assert found["TreeNodes(nuclearity"] == 10_170
    assert found["arguments that overlap"] == 9
    assert found["an argument without a word"] == 2
    assert found["ArgumentPairs(Explic"] == 2538 - 9 - 2
    assert found["ArgumentPairs(Implic"] == 1446 - 1
    assert found["an implicit relation with the sense NoRel"] == 1
    assert found["ArgumentPairs(Explic two"] == 50
    assert (labels["NN-same-unit"], labels["NS-elaboration"]) == (547, 2058)
    assert (labels["Expansion.Conjunction"], labels["Contingency.Purpose"]) == (415, 151)
