"""Implicit relations: the connective that says how two sentences relate, where none is written.

Two neighbouring sentences, and the adverbial that annotators would put between them (``however``,
``therefore``, ``for example``, ``then``), against one that says something else. The relations are
GUM's (GDTB, Liu et al. 2024), those of the TED Multilingual Discourse Bank, and others in the
manner of the Penn Discourse Treebank.

- ``crossed``: two such relations of one genre, each with both adverbials, so that how frequent
  an adverbial is, and how difficult a sentence, cancel.
- ``cloze``: an adverbial for each way in which sentences may relate; what it costs itself, and what
  follows, apart. Where the sentences can change places the converse is asked, too: what was said
  with ``as a result`` in one order is said with ``after all`` in the other. After DiSQ (Miao et al.
  2024), whose consistency is that a question and its converse get matching answers.

    coherencegym build implicit_relations --corpus gum --data-dir PATH
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.builders.crossing.generator import (
    Crossed,
    crossed_columns,
    with_shuffled_contexts,
)
from coherencegym.builders.crossing.partners import Couple, MostSimilar, Partner, any_two
from coherencegym.builders.suite import (
    GENRE,
    Column,
    Config,
    Contrast,
    GeneratedItem,
    Suite,
    Use,
    generate_item,
)
from coherencegym.eval.kinds.items import ITEMS, Prediction
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.connectives.implied_connectives import (
    WAYS,
    Implied,
    Way,
    exclude_each_other,
    implied_connectives,
    says_how_it_goes_on,
    within_sentence,
)
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.operator import Context

#: Best first.
_CORPORA = ("pdtb", "gum", "tedmdb")
MIAO_2024 = """@inproceedings{miao-etal-2024-discursive,
    title = "Discursive Socratic Questioning: Evaluating the Faithfulness of Language Models' Understanding of Discourse Relations",
    author = "Miao, Yisong and Liu, Hongfu and Lei, Wenqiang and Chen, Nancy and Kan, Min-Yen",
    booktitle = "Proceedings of the 62nd Annual Meeting of the Association for Computational Linguistics (Volume 1: Long Papers)",
    year = "2024",
    pages = "6277--6295",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/2024.acl-long.341",
}"""  # noqa: E501
#: The first sentence, the adverbial and its comma, the rest of the second sentence.
_REGIONS = (
    "the first sentence, or the first two",
    "an adverbial with its comma",
    "the rest of the second sentence",
)


def _adverbial(word: str) -> str:
    return f"{word[0].upper()}{word[1:]},"


def relations_to_cross(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give two sentences and the adverbial between them, for each relation that has one."""
    for each in implied_connectives(discourse, context):
        texts = discourse.texts[each.relation.arg1[0][0] : each.unit + 1]
        parts = (each.first, _adverbial(each.word), each.second)
        columns = {"implied": each, "texts": texts}
        yield Partner(discourse, parts, f"u{each.unit}", columns=columns)


def adverbials_change_places(one: Partner, other: Partner) -> bool:
    """Tell whether neither adverbial says what the other does, nor stands in its sentences.

    Nor may the relations share a sentence.
    """
    if not any_two(one, other) or set(one.columns["texts"]) & set(other.columns["texts"]):
        return False
    first, second = one.columns["implied"], other.columns["implied"]
    if first.has(second.word) or second.has(first.word):
        return False
    return exclude_each_other(first.way, second.way)


def _crossed(couple: Couple) -> dict[str, Any]:
    both: list[Implied] = [one.columns["implied"] for one in (couple.first, couple.second)]
    return {
        "connectives": [each.word for each in both],
        "annotated": [each.relation.implied for each in both],
        "senses": [" + ".join(each.relation.senses) for each in both],
        "ways": [each.way for each in both],
        "genre": couple.first.discourse.meta.get("genre", ""),
    }


#: Words that point to the sentence before: one with such a word cannot come first.
_POINTING = re.compile(
    r"\b(?:he|she|it|they|him|hers?|them|his|its|theirs?|this|that|these|those|such|there|then"
    r"|another|others?|also|too|both|one|here|do|did|does|so|same|first|second)\b",
    re.IGNORECASE,
)
_CONVERSE = "converse_"
_NAME = "ConnectiveSubstitution"
#: Groups of predictions: what is compared, and of which order of the sentences.
REST, ADVERBIAL, TOGETHER = "rest", "connective", "connective and rest"
BEST = "best of all"
ASKED, CONVERSE = "rest, where the converse is asked", "rest of the converse"
BOTH, CONSISTENT = "both ways right", "both ways alike"


@dataclass(frozen=True)
class Cloze:
    """One item for each implicit relation: an adverbial of its own way, and of those that are not.

    Of each way the commonest adverbial is put, whatever the annotator's was, so that the
    alternatives are the same everywhere. Where the second sentence can stand first, the conditions
    of the converse are there, too, with the adverbials that say the same in that order.
    """

    contrasts: tuple[Contrast, ...] = ()
    recipe = "implied_connectives | ConnectiveSubstitution(the commonest adverbial of each way)"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedItem]:
        """Yield the items of a document."""
        for each in implied_connectives(discourse, context):
            if not (others := each.alternatives()):
                context.skipped["no adverbial that is plainly wrong"] += 1
                continue
            ways = (WAYS[each.way], *others)
            base = _three_units(discourse, each.unit, each.first, each.second)
            versions = {_condition(way.words[0]): _put(base, way.words[0]) for way in ways}
            asked = self._converse(discourse, each, ways)
            contrasts = [one for way in others for one in _compared(ways[0], way, bool(asked))]
            made = generate_item(
                f"u{each.unit}",
                versions | asked,
                lambda version: [[0], [1], [2]],
                tuple(contrasts),
                lambda version: (version.texts[1],),
                _columns(discourse, each, others, bool(asked)),
            )
            junctions = _junctions(ways[0], others, bool(asked))
            item = replace(made.item, predictions=(*made.item.predictions, *junctions))
            ITEMS.check(item)
            yield replace(made, item=item)

    def _converse(
        self, discourse: Discourse, each: Implied, ways: tuple[Way, ...]
    ) -> dict[str, Discourse]:
        second, only = discourse.texts[each.unit], each.relation.arg1[0][0] == each.unit - 1
        put = [way.converse for way in ways if way.converse]
        if not ways[0].converse or len(put) < 2 or _POINTING.search(second) or not only:
            return {}
        if says_how_it_goes_on(each.first) or not (
            first := within_sentence(discourse, each.unit - 1)
        ):
            return {}
        base = _three_units(discourse, each.unit, second, first)
        return {_CONVERSE + _condition(word): _put(base, word) for word in put}


def _three_units(discourse: Discourse, unit: int, first: str, rest: str) -> Discourse:
    units = tuple(Unit(text) for text in (first, "", rest))
    return Discourse(discourse.id, discourse.corpus, units, meta=discourse.meta, variant=f"u{unit}")


def _put(base: Discourse, word: str) -> Discourse:
    return replace_text(base, 1, 0, 0, _adverbial(word), operator=_NAME)


def _condition(word: str) -> str:
    # Without spaces, for formulas of other tools.
    return word.replace(" ", "_")


def _compared(way: Way, other: Way, asked: bool) -> Iterator[Contrast]:
    worse, better = _condition(other.words[0]), _condition(way.words[0])
    detail = f"{way.name} → {other.name}"
    asked = asked and bool(other.converse)
    rest = (detail, REST, *((ASKED,) if asked else ()))
    yield Contrast(worse, better, 3, "sum", rest)
    yield Contrast(worse, better, 2, "sum", (detail, ADVERBIAL))
    yield Contrast(worse, better, 2, "sum", (detail, TOGETHER), last=3)
    if asked:
        worse, better = (_CONVERSE + _condition(one.converse) for one in (other, way))
        yield Contrast(worse, better, 3, "sum", (detail, CONVERSE))


def _junctions(way: Way, others: Sequence[Way], asked: bool) -> Iterator[Prediction]:
    # Best of all, and DiSQ's on a pair and its converse.
    right = _condition(way.words[0])
    each = (
        Contrast(_condition(other.words[0]), right, 2, "sum", last=3).formula for other in others
    )
    yield Prediction(" & ".join(each), "sum", (f"{way.name} → any", BEST))
    for other in others if asked else ():
        if not other.converse:
            continue
        worse, better = (_CONVERSE + _condition(one.converse) for one in (other, way))
        two = Contrast(_condition(other.words[0]), right, 3), Contrast(worse, better, 3)
        right_ones = " & ".join(one.formula for one in two)
        wrong_ones = " & ".join(one.formula.replace(">", "<") for one in two)
        detail = f"{way.name} → {other.name}"
        yield Prediction(right_ones, "sum", (detail, BOTH))
        yield Prediction(f"({right_ones}) | ({wrong_ones})", "sum", (detail, CONSISTENT))


def _columns(
    discourse: Discourse, each: Implied, others: Sequence[Way], asked: bool
) -> dict[str, Any]:
    return {
        "annotated": each.relation.implied,
        "sense": each.relation.senses[0],
        "way": each.way,
        "alternatives": [other.name for other in others],
        "converse": asked,
        "genre": discourse.meta.get("genre", ""),
    }


SUITE = Suite(
    name="implicit_relations",
    title="Implicit relations",
    version="2.0.0",
    hypothesis=(
        "A model that notices incoherence infers how two sentences relate without a connective: it "
        "finds an adverbial that expresses another relation, and the text after it, more "
        "surprising than one that expresses the right relation."
    ),
    description=(
        "Two or three neighbouring sentences with an adverbial inserted before the last one: "
        "either the connective that annotation of discourse relations gives as implied (`As a "
        "result,`, `However,`, `For example,`, `Then,`), or an adverbial that expresses another "
        "relation."
    ),
    conditions={
        "relation_1_connective_1": "crossed: sentences with the adverbial that they imply",
        "relation_2_connective_2": "crossed: other sentences with the adverbial that they imply",
        "relation_1_connective_2": "crossed: the first sentences with the adverbial of the second",
        "relation_2_connective_1": "crossed: the other sentences with the adverbial of the first",
        **{
            _condition(way.words[0]): f"cloze: `{_adverbial(way.words[0])}` ({way.name})"
            for way in WAYS.values()
        },
        **{
            _CONVERSE + _condition(way.converse): "cloze: the sentences in the other order, and "
            f"`{_adverbial(way.converse)}` (the converse of {way.name})"
            for way in WAYS.values()
            if way.converse
        },
    },
    uses=(
        Use(
            "crossed",
            "how are two sentences without a connective related",
            "whether the adverbial fits both sentences or only its own (`Later, in 1963`)",
        ),
        Use(
            "cloze",
            "does the implied relation fit better than each other relation",
            "whether the model finds the right relation or prefers a frequent one",
        ),
    ),
    limitations=(
        "The authors did not write the adverbials, and some sentences read heavily with one. All "
        "conditions contain one. Relations whose connective cannot begin a sentence (`because`, "
        "`and`), about half of them, are left out.",
        "The annotated connective is one reading. A table, not a judgement of each item, decides "
        "which relations hardly hold together; `cloze` also leaves out contrasts that may be both.",
        "`crossed` needs two relations of one document or genre. How an adverbial fits its own "
        "sentence (`in 1963` after `Later,`) does not cancel, so that a model that never reads the "
        "first sentence may be above chance.",
        "`cloze`: some relations are far more frequent, so the adverbial alone often shows whether "
        "it is right; `crossed` avoids this. The config's score counts `rest`, the same text after "
        "different adverbials.",
        "`cloze` has two groups after DiSQ (Miao et al. 2024): `both ways alike` and `both ways "
        "right`, of a question and its converse. The converse is asked for contrast, result, "
        "sequence and instance, and its adverbials are rarer.",
    ),
    headline=("crossed",),
    citation=MIAO_2024,
    configs=with_shuffled_contexts(
        Config(
            name="crossed",
            corpora=_CORPORA,
            generator=Crossed(
                partners=relations_to_cross,
                operators="implied_connectives",
                couple=MostSimilar(
                    adverbials_change_places,
                    parts=(0, 2),
                    neighbours=500,
                    within=True,
                ),
                across=True,
                among="genre",
                join=lambda one, other: (one.parts[0], other.parts[1], one.parts[2]),
                region=2,
                last=3,
                names=("relation", "connective"),
                columns=_crossed,
            ),
            summary=(
                "two relations of one genre, each with both adverbials; the adverbial and its "
                "sentence are scored in all four combinations"
            ),
            regions=_REGIONS,
            columns=crossed_columns(
                connectives=Column(["string"], "the adverbials, lower-case"),
                annotated=Column(["string"], "the annotated connectives"),
                senses=Column(["string"], "the senses of the two relations in the corpus"),
                ways=Column(["string"], f"their senses in common terms: {', '.join(WAYS)}"),
                genre=GENRE,
            ),
            partial_input="bags of words of the first sentence, the adverbial and the rest",
        ),
        Config(
            name="cloze",
            corpora=_CORPORA,
            generator=Cloze(),
            summary=(
                "one adverbial for each way in which two sentences may relate; the adverbial and "
                "its sentence are scored separately"
            ),
            regions=_REGIONS,
            columns={
                "annotated": Column("string", "the annotator's connective"),
                "sense": Column("string", "the sense of the relation in the corpus"),
                "way": Column("string", f"the sense in common terms: {', '.join(WAYS)}"),
                "alternatives": Column(["string"], "the relations whose adverbials are also tried"),
                "converse": Column("bool", "whether the sentences are also exchanged"),
                "genre": GENRE,
            },
            breakdowns=("way", "genre"),
            headline=REST,
            partial_input="a bag of words of the adverbial alone",
        ),
    ),
    one_split=True,
    tags=("discourse-relations", "implicit-relations", "discourse-connectives"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
