"""Relations: does a vector of each of two stretches of text say how the two relate?

Chen, Chu and Gimpel 2019 (DiscoEval), section 3.4, on the RST Discourse Treebank and the Penn
Discourse Treebank, which may not be published. Here on corpora in the manner of both that may be:
the inner nodes of GUM's rhetorical trees, and the explicit and implicit relations between two
arguments of GUM and the TED Multilingual Discourse Bank.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from coherencegym.builders.discourse.released import PROBED
from coherencegym.builders.suite import ANY_LANGUAGE, GENRE, Column, Config, Contrast
from coherencegym.eval.kinds.documents import EXAMPLES, NO_PLACE, LabelledExample, Slot
from coherencegym.loaders.discourse import (
    Discourse,
    Relation,
    RhetoricalNode,
    RhetoricalTree,
    Span,
    span_text,
)
from coherencegym.loaders.senses import unified_relation
from coherencegym.manipulations.operator import Context
from coherencegym.words import is_unspaced, join_texts, place_texts

#: Signs that belong to what stands before an argument, at its beginning.
_BEFORE = re.compile(
    r"(?:[，。；：、！？）》]+|[,;:!?…)\]”’]+(?=\s|$)|\.+(?=\s|$)|[–—-]+(?=\s|$)|\s)+"
)
#: Signs that belong to what stands after it, at its end.
_AFTER = re.compile(r"(?:\s*[(\[“‘]+|\s[\"'–—-]+|\s)+\Z")
#: Signs that join the word before them, and signs that the word after them joins.
_JOINING = re.compile(r"[,.;:!?…)\]”]")
_OPENING = re.compile(r"(?:^|\s)[\"'“‘(\[]\Z")
_BRACKETS = (("(", ")"), ("[", "]"), ("“", "”"))


def argument_text(discourse: Discourse, span: Span) -> str:
    """The text of an argument, without signs at its ends that belong to the text around it.

    Parts of one that is cut in two are joined by a space; the commas around what stood between
    them go with it. Empty where there is no word.
    """
    text, unit, stop = "", -1, 0
    for number, start, end in span:
        whole = discourse.units[number].text
        part = whole[start:end].strip()
        between = whole[stop:start].strip() if number == unit else ""
        unit, stop = number, end
        if not any(map(str.isalnum, part)) and not _JOINING.match(part):
            continue  # a bracket or a dash that opens something else
        if text.endswith(",") and (between.endswith(",") or part.startswith(",")):
            text, part = text[:-1], part.lstrip(", ")
        joined = not text or _JOINING.match(part) or _OPENING.search(text)
        text = text + part if joined else join_texts([text, part])
    return _alone(text)


def _alone(text: str) -> str:
    if (leading := _BEFORE.match(text)) is not None:
        text = text[leading.end() :]
    text = re.sub(r" ?\(\)|\[\]", "", _AFTER.sub("", text))
    for opening, closing in _BRACKETS:
        if text.startswith(opening) and closing not in text:
            text = text[1:]
        elif opening not in text:
            text = re.sub(rf"{re.escape(closing)}([.,;:!?]*)\Z", r"\1", text)
    if text.count('"') == 1:
        text = text.strip('"')
    return text.strip() if any(map(str.isalnum, text)) else ""


def in_context(discourse: Discourse, *spans: Span) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The sentences of arguments, cut where these begin and end, and which piece each is.

    Cuts are made at spaces, so that the pieces with single spaces between them read as the text
    does. An argument that is cut in two, or shares a piece with another one, has no place.
    """
    touched = [unit for span in spans for unit, _, _ in span]
    first, last = min(touched), max(touched)
    texts = discourse.texts[first : last + 1]
    text = join_texts(texts)
    starts = {unit: place for unit, (place, _) in enumerate(place_texts(texts), start=first)}
    stretches = [_stretch(text, [(starts[u] + a, starts[u] + b) for u, a, b in s]) for s in spans]
    placed = sorted(stretch for stretch in stretches if stretch is not None)
    if any(one[1] > other[0] for one, other in pairwise(placed)):
        return (text,), tuple(NO_PLACE for _ in spans)
    pieces: list[str] = []
    place_of: dict[tuple[int, int], int] = {}
    done = 0
    for start, end in placed:
        pieces += [before] if (before := text[done:start].strip()) else []
        place_of[start, end] = len(pieces)
        pieces.append(text[start:end].strip())
        done = end
    pieces += [after] if (after := text[done:].strip()) else []
    return tuple(pieces), tuple(NO_PLACE if s is None else place_of[s] for s in stretches)


def _stretch(text: str, parts: list[tuple[int, int]]) -> tuple[int, int] | None:
    gaps = (text[one[1] : other[0]] for one, other in pairwise(parts))
    if any(any(map(str.isalnum, gap)) for gap in gaps):
        return None
    start, end = parts[0][0], parts[-1][1]
    while start < end and text[start].isspace():
        start += 1
    # A comma that the annotation gives to the argument is written with the word before it.
    while start < end and start and not text[start - 1].isspace() and not text[start].isalnum():
        start += 1
    if _is_inside_word(text, start):
        start = text.rfind(" ", 0, start) + 1
    while text[start : start + 1].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if _is_inside_word(text, end):
        closing = text.find(" ", end)
        end = len(text) if closing < 0 else closing
    return (start, end) if start < end else None


def _is_inside_word(text: str, place: int) -> bool:
    # Between letters of Chinese one may cut anywhere.
    before, after = text[place - 1 : place], text[place : place + 1]
    return bool(before.strip() and after.strip()) and not (
        is_unspaced(before) or is_unspaced(after)
    )


#: Relations of rhetorical trees that are not of what is said: parts of a unit that another cuts in
#: two, and headings, greetings and the like.
_ASPECTS = {
    "same-unit": "syntax",
    "organization": "layout",
    "textual-organization": "layout",  # the RST Discourse Treebank's name for it
}
#: The senses at the top of the hierarchy of the third Penn Discourse Treebank.
_LEVEL_1 = ("Comparison", "Contingency", "Expansion", "Temporal")


def relation_class(relation: str) -> str:
    """The coarse class of a relation of GUM's trees: what is before the first hyphen.

    >>> relation_class("joint-list"), relation_class("same-unit")
    ('joint', 'same-unit')
    """
    return relation if relation in _ASPECTS else relation.partition("-")[0]


@dataclass(frozen=True)
class TreeNodes:
    """One row for each inner node of a rhetorical tree: both children, and how they relate.

    Attributes:
        coarse: true where relations are finer than the classes that are asked for.
        sentences: true where the units of a discourse are sentences.
    """

    coarse: bool = True
    sentences: bool = True
    contrasts: tuple[Contrast, ...] = ()

    @property
    def recipe(self) -> str:
        """The operator as the manifest records it."""
        return f"TreeNodes(nuclearity and {'class of the ' if self.coarse else ''}relation)"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield the nodes, from the root down."""
        if (tree := discourse.tree) is None:
            context.skipped["no rhetorical tree"] += 1
            return
        texts = [span_text(discourse, unit) for unit in tree.units]
        joined = _joined_units(tree, discourse.relations)
        for node in tree.nodes:
            children = texts[node.first : node.middle], texts[node.middle : node.last]
            spans = tree.units[node.first : node.last]
            of_sentences = {
                "same_sentence": len({part[0] for span in spans for part in span}) == 1,
                "marked": _marked(node, joined) if discourse.relations else None,
            }
            kind = relation_class(node.relation) if self.coarse else node.relation
            yield LabelledExample(
                item_id=f"{discourse.id}/{node.first + 1}-{node.middle}-{node.last}",
                slots=tuple(Slot(tuple(child)) for child in children),
                text=tuple(" ".join(child) for child in children),
                places=(0, 1),
                label=f"{node.nuclearity}-{kind}",
                discourse_id=discourse.id,
                corpus=discourse.corpus,
                extra={
                    **({"genre": discourse.meta.get("genre", "")} if self.sentences else {}),
                    "relation": node.relation,
                    "unified": unified_relation(node.relation),
                    "aspect": _ASPECTS.get(kind.lower(), "meaning"),
                    "edus": len(spans),
                    "larger": (largest := max(map(len, children))),
                    "size": "1" if largest == 1 else "2 to 9" if largest < 10 else "10 or more",
                    **(of_sentences if self.sentences else {}),
                },
            )


def _joined_units(tree: RhetoricalTree, relations: Sequence[Relation]) -> list[tuple[int, int]]:
    starts = [unit[0][:2] for unit in tree.units]
    found = []
    for relation in relations:
        if relation.type == "Explicit":
            spans = relation.arg1, relation.arg2
            one, other = sorted(bisect_right(starts, span[0][:2]) - 1 for span in spans)
            found.append((one, other))
    return found


def _marked(node: RhetoricalNode, joined: Sequence[tuple[int, int]]) -> bool:
    return any(node.first <= one < node.middle <= other < node.last for one, other in joined)


@dataclass(frozen=True)
class GivenPairs:
    """One row for each discourse that is nothing but the two arguments of a relation.

    A row of a pair that has another one with another sense says that sense, too.
    """

    recipe = "GivenPairs()"
    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield the pair. Which argument comes first in the text nobody knows."""
        (relation,) = discourse.relations
        label, *also = relation.senses
        yield LabelledExample(
            item_id=discourse.id,
            slots=tuple(Slot((text,)) for text in discourse.texts),
            text=(),
            places=(NO_PLACE, NO_PLACE),
            label=label,
            discourse_id=discourse.id,
            corpus=discourse.corpus,
            also=tuple(also),
            extra={
                "family": discourse.meta["family"],
                "unified": unified_relation(label) or unified_relation(label.partition(".")[2]),
            },
        )


@dataclass(frozen=True)
class ArgumentPairs:
    """One row for each pair of arguments of relations of a type, with the sense of level 2.

    A pair with several senses is one row: the first is its label, the others are right too. Without
    a type relations of all types make rows, with their unified label.
    """

    type: str = ""
    contrasts: tuple[Contrast, ...] = ()

    @property
    def recipe(self) -> str:
        """The operator as the manifest records it."""
        what = "senses of level 2" if self.type else "unified labels"
        return f"ArgumentPairs({self.type or 'all types'}, {what})"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[LabelledExample]:
        """Yield the pairs in the order of the annotation."""
        pairs: dict[tuple[Span, Span], list[Relation]] = defaultdict(list)
        for relation in discourse.relations:
            if self.type not in ("", relation.type):
                continue
            if reason := self._unusable(relation):
                context.skipped[reason] += 1
            else:
                pairs[relation.arg1, relation.arg2].append(relation)
        for number, ((arg1, arg2), relations) in enumerate(pairs.items(), start=1):
            texts = [argument_text(discourse, span) for span in (arg1, arg2)]
            if not all(texts):
                context.skipped["an argument without a word"] += 1
                continue
            label, *also = dict.fromkeys(
                label
                for one in relations
                for label in (map(level_2, one.senses) if self.type else [one.unified])
            )
            pieces, places = in_context(discourse, arg1, arg2)
            yield LabelledExample(
                item_id=f"{discourse.id}/{self.type.lower() or 'relation'}-{number:03}",
                slots=tuple(Slot((text,)) for text in texts),
                text=pieces,
                places=places,
                label=label,
                discourse_id=discourse.id,
                corpus=discourse.corpus,
                also=tuple(also),
                extra={
                    "relation": " + ".join(
                        dict.fromkeys(s for one in relations for s in one.senses)
                    ),
                    "same_sentence": len({unit for unit, _, _ in (*arg1, *arg2)}) == 1,
                    "discontinuous": NO_PLACE in places,
                    **(self._of_type if self.type else _of_all_types)(discourse, relations),
                },
            )

    def _of_type(self, discourse: Discourse, relations: Sequence[Relation]) -> dict[str, Any]:
        first = relations[0]
        words = (span_text(discourse, one.connective) for one in relations if one.connective)
        return {
            "genre": discourse.meta.get("genre", ""),
            "unified": unified_relation(first.senses[0]),
            "connective": " + ".join(dict.fromkeys(word.lower() for word in words)),
            "marked": self.type == "Explicit",
            "order": "Arg1 first" if first.arg1[0] < first.arg2[0] else "Arg2 first",
        }

    def _unusable(self, relation: Relation) -> str:
        if not (relation.senses if self.type else relation.unified):
            return "a relation without a sense"
        for sense in relation.senses if self.type else ():
            top, _, rest = sense.partition(".")
            if top == "NoRel":
                return "an implicit relation with the sense NoRel"
            if top not in _LEVEL_1:
                return f"a sense of no known class ({sense})"
            if not rest:
                return f"a sense of level 1 only ({sense})"
        parts = sorted((*relation.arg1, *relation.arg2))
        if any(one[0] == other[0] and one[2] > other[1] for one, other in pairwise(parts)):
            return "arguments that overlap"
        return ""


def _of_all_types(discourse: Discourse, relations: Sequence[Relation]) -> dict[str, Any]:
    types = dict.fromkeys(one.type.lower() for one in relations)
    # The part of a corpus begins with its language.
    code = discourse.meta.get("dataset", "").partition(".")[0]
    return {"language": code, "type": " + ".join(types)}


def level_2(sense: str) -> str:
    """The first two levels of a sense.

    >>> level_2("Contingency.Cause.Reason"), level_2("Contingency.Cause+Belief.Reason+Belief")
    ('Contingency.Cause', 'Contingency.Cause+Belief')
    """
    return ".".join(sense.split(".")[:2])


_UNIFIED = Column(
    "string", "the relation as one of the 17 labels of DISRPT 2025; empty where it has none"
)
_SAME_SENTENCE = Column("bool", "whether both segments are in one sentence")
_NODE_COLUMNS = {
    "relation": Column("string", "the label of the relation in the corpus"),
    "unified": _UNIFIED,
    "aspect": Column(
        "string",
        "what the relation is about: `meaning`; `syntax` (both segments are parts of one unit "
        "that another unit interrupts); `layout` (headings, greetings and the like)",
    ),
    "edus": Column("int32", "elementary discourse units in both children"),
    "larger": Column("int32", "elementary discourse units in the larger child"),
    "size": Column("string", "`larger` as one of `1`, `2 to 9`, `10 or more`"),
}
_TREE_COLUMNS = {
    "genre": GENRE,
    **_NODE_COLUMNS,
    "same_sentence": _SAME_SENTENCE,
    "marked": Column(
        "bool",
        "whether an annotated connective links a part of one child to a part of the other; null "
        "if the corpus does not annotate connectives",
    ),
}
_PAIR_COLUMNS = {
    "genre": GENRE,
    "relation": Column("string", "the sense in the corpus; several are joined by ` + `"),
    "unified": _UNIFIED,
    "connective": Column(
        "string", "the connective, lower-case; it is in neither argument; empty if there is none"
    ),
    "same_sentence": _SAME_SENTENCE,
    "marked": Column("bool", "whether there is a connective"),
    "order": Column("string", "which argument begins first in the text"),
    "discontinuous": Column(
        "bool", "whether an argument is interrupted by other words, or by the other argument"
    ),
}
_DISRPT_COLUMNS = {
    "relation": Column(
        "string", "the label of the relation in its corpus; several are joined by ` + `"
    ),
    "language": Column("string", "the language (ISO 639-3)"),
    "type": Column("string", "`explicit`, `implicit` or another type that the corpus gives"),
    "same_sentence": _SAME_SENTENCE,
    "discontinuous": _PAIR_COLUMNS["discontinuous"],
}
_GIVEN_COLUMNS = {
    "family": Column("string", "an id shared by rows with the same two texts"),
    "unified": _UNIFIED,
}
_PAIR = PROBED["relation"]
_CHILDREN = ("left child", "right child")
_ARGUMENTS = ("Arg1", "Arg2")


def _pairs_of(name: str, kind: str, summary: str) -> Iterator[Config]:
    yield Config(
        prefix="relation",
        name=name,
        kind=EXAMPLES,
        corpora=("gum", "tedmdb"),
        generator=ArgumentPairs(kind),
        summary=f"{summary}: senses of level 2, as in the Penn Discourse Treebank",
        regions=_ARGUMENTS,
        columns=_PAIR_COLUMNS,
        breakdowns=("genre", "same_sentence", "order"),
        task_defaults=_PAIR,
    )
    yield Config(
        prefix="relation",
        name=name,
        kind=EXAMPLES,
        corpora=("discoeval",),
        generator=GivenPairs(),
        select=lambda discourse: discourse.meta["task"] == f"PDTB-{kind[0]}",
        summary=f"{summary}: DiscoEval's own rows (PDTB-{kind[0]})",
        regions=_ARGUMENTS,
        columns=_GIVEN_COLUMNS,
        fewest_of_a_class=0,
        task_defaults={**_PAIR, "protocol": "PDTB"},
    )


#: The configs of relations, best first.
RELATIONS = (
    Config(
        prefix="relation",
        name="rst",
        kind=EXAMPLES,
        corpora=("gum",),
        generator=TreeNodes(),
        summary="both children of a node of a rhetorical tree: nuclearity and class of relation",
        regions=_CHILDREN,
        columns=_TREE_COLUMNS,
        breakdowns=("genre", "aspect", "size", "same_sentence", "marked"),
        task_defaults=_PAIR,
    ),
    *_pairs_of("explicit", "Explicit", "two arguments without the connective that joins them"),
    *_pairs_of("implicit", "Implicit", "two arguments without a connective"),
    Config(
        prefix="relation",
        name="rst",
        kind=EXAMPLES,
        corpora=("discoeval",),
        generator=TreeNodes(coarse=False, sentences=False),
        select=lambda discourse: discourse.meta["task"] == "RST",
        summary="both children of a node of a rhetorical tree: DiscoEval's own rows (RST-DT)",
        regions=_CHILDREN,
        columns=_NODE_COLUMNS,
        breakdowns=("aspect", "size"),
        fewest_of_a_class=0,
        task_defaults={**_PAIR, "protocol": "RST"},
    ),
    # One for a language, with its rare classes.
    Config(
        prefix="relation",
        name="",
        kind=EXAMPLES,
        corpora=("disrpt",),
        languages=ANY_LANGUAGE,
        by="language",
        fewest_of_a_class=0,
        generator=ArgumentPairs(),
        summary="two units and the unified label of the relation between them (DISRPT 2025)",
        regions=("unit 1", "unit 2"),
        columns=_DISRPT_COLUMNS,
        breakdowns=("type", "same_sentence"),
        task_defaults=_PAIR,
    ),
)
