"""The one annotated-text type that every loader yields and every operator maps.

A :class:`Discourse` is an ordered tuple of units (sentences of a story, utterances of a dialogue)
with the annotations that only some corpora have. All values are frozen; offsets are characters into
the text of one unit. Text is what a reader would see: detokenised, in its natural spelling.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain

from coherencegym.words import join_texts

#: Parts (unit index, start, end) in reading order; more than one part where it is discontinuous.
Span = tuple[tuple[int, int, int], ...]


@dataclass(frozen=True, slots=True)
class SourceSpan:
    """The place of a unit: a file name and a range of characters (or a line number twice)."""

    file: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class ParsedWord:
    """A word of a unit, with its grammar in Universal Dependencies.

    Attributes:
        start, end: characters in the unit's text.
        lemma: its dictionary form.
        pos: part of speech (``VERB``, ``SCONJ``, ...).
        features: the column of a treebank (``Mood=Ind|Tense=Past|VerbForm=Fin``).
        relation: its relation to its head (``nsubj``, ``mark``, ``advcl``, ...).
        head: the number, from 0, of the unit's word that it depends on; none of a root.
    """

    start: int
    end: int
    lemma: str
    pos: str
    features: str
    relation: str
    head: int | None


@dataclass(frozen=True, slots=True)
class Unit:
    """One sentence or utterance.

    ``words`` are there where a corpus has their grammar, and the text is the corpus's own.
    """

    text: str
    speaker: str | None = None
    source: SourceSpan | None = None
    words: tuple[ParsedWord, ...] = field(default=(), repr=False)


def line_units(texts: Iterable[str], file: str, line: int) -> tuple[Unit, ...]:
    """Units that all stand on one line of a file."""
    source = SourceSpan(file, line, line)
    return tuple(Unit(text, source=source) for text in texts)


@dataclass(frozen=True, slots=True)
class Features:
    """The annotation of a mention; an empty string where nobody said anything.

    Attributes:
        entity: type of what is mentioned (``person``, ``place``, ``event``, ...; ``participant``
            of the conversation).
        status: information status (``new``, ``giv:act``, ...).
        link: the part that the mention has in its chain (``coref``, ``ana``, ``cata``, ``appos``,
            ``pred`` for a predicate, ``disc`` for a reference to what was said, ``sgl`` for a
            chain of one).
        function: the head's relation to the word it depends on, a Universal Dependencies relation
            (``nsubj``, ``appos``, ``reparandum``, ``expl``, ...).
        pos: part of speech of the head, a Universal Dependencies tag (``NOUN``, ``VERB``, ...).
        first_pos: part of speech of the first word: says whether its capital is a name's.
        predicate: true where it says what something is (``a doctor`` in ``she is a doctor``).
        pronoun: ``personal``, ``possessive``, ``reflexive``, ``reciprocal``, ``demonstrative``,
            ``relative``, ``interrogative``, ``indefinite`` or ``expletive``.
        person: ``1``, ``2`` or ``3``.
        number: ``singular`` or ``plural``.
        gender: ``masculine``, ``feminine``, ``neuter`` or ``common`` (both of the first two).
        case: ``nominative``, ``accusative``, ``dative`` or ``genitive``, where inflection shows it.
    """

    entity: str = ""
    status: str = ""
    link: str = ""
    function: str = ""
    pos: str = ""
    first_pos: str = ""
    predicate: bool = False
    pronoun: str = ""
    person: str = ""
    number: str = ""
    gender: str = ""
    case: str = ""


@dataclass(frozen=True, slots=True)
class Mention:
    """A mention of a discourse entity; mentions with one ``chain`` corefer.

    ``kind`` is ``pronoun``, ``nominal`` or ``proper``, by the head; ``head`` is the span of the
    head word. ``features`` is what operators choose mentions by.
    """

    span: Span
    chain: str
    kind: str
    head: Span | None = None
    features: Features = Features()


@dataclass(frozen=True, slots=True)
class Relation:
    """A discourse relation in the manner of the Penn Discourse Treebank.

    ``unified`` is its label in a set that several corpora share, where its corpus says it.
    """

    type: str
    connective: Span | None
    arg1: Span
    arg2: Span
    senses: tuple[str, ...] = ()
    unified: str = ""


@dataclass(frozen=True, slots=True)
class RhetoricalNode:
    """Two neighbouring stretches of elementary units, and how they relate.

    Attributes:
        first, middle, last: the left one is ``units[first:middle]`` of the tree, the right one
            ``units[middle:last]``.
        nuclearity: ``NN``, ``NS`` or ``SN``: for each stretch whether it is a nucleus or a
            satellite.
        relation: that of the satellite to the nucleus, or of both nuclei (``joint-list``).
    """

    first: int
    middle: int
    last: int
    nuclearity: str
    relation: str


@dataclass(frozen=True, slots=True)
class RhetoricalTree:
    """A binary tree in the manner of Rhetorical Structure Theory (Mann and Thompson 1988).

    ``units`` are the spans of its elementary units; ``nodes`` are the inner nodes, each before
    those below it.
    """

    units: tuple[Span, ...]
    nodes: tuple[RhetoricalNode, ...]


@dataclass(frozen=True, slots=True)
class Alternative:
    """Several fillers of one place: endings, Winograd candidates, hypotheses.

    ``options[right]`` is the coherent one, and is the text that stands at ``span``; of Winograd
    candidates it is what the pronoun there means.
    """

    span: Span
    options: tuple[str, ...]
    right: int


@dataclass(frozen=True, slots=True)
class HumanJudgement:
    """An annotator's label of a span, or of the whole discourse where ``span`` is none."""

    span: Span | None
    label: str
    annotator: str = ""


@dataclass(frozen=True, slots=True)
class Edit:
    """A change that an operator made: ``before`` was replaced by ``after`` in one unit.

    ``start`` is the character in the unit where ``after`` now begins, so that undoing the edits of
    a discourse last to first gives the text that it was made from (:func:`undo`).
    ``source_discourse`` and ``source_unit`` say where inserted text came from, if from a unit.
    ``removed``: the whole unit was taken out; ``before`` is its text, ``after`` is empty, and
    ``unit`` is the index of what followed it.
    """

    operator: str
    unit: int
    start: int
    before: str
    after: str
    source_discourse: str | None = None
    source_unit: int | None = None
    removed: bool = False


@dataclass(frozen=True)
class Discourse:
    """An annotated text.

    Attributes:
        id: stable identifier from the corpus, unique within it.
        corpus: name of the corpus as the registry has it.
        units: sentences or utterances in reading order, at least one.
        mentions, relations, alternatives, judgements: annotations; empty where the corpus has none.
        tree: the document's rhetorical tree, if it has one.
        licence: the licence of the text, if it differs from that of its corpus's texts.
        meta: further properties (``split``, ``genre``, ``title``); read, never written.
        variant: the name of the operator's result (``shuffled``); empty for the original.
        edits: the changes by operators, in the order in which they were made.

    Raises:
        ValueError: there is no unit, or a span points outside the text.
    """

    id: str
    corpus: str
    units: tuple[Unit, ...]
    mentions: tuple[Mention, ...] = ()
    relations: tuple[Relation, ...] = ()
    alternatives: tuple[Alternative, ...] = ()
    judgements: tuple[HumanJudgement, ...] = ()
    licence: str | None = None
    meta: Mapping[str, str] = field(default_factory=dict)
    variant: str = ""
    edits: tuple[Edit, ...] = ()
    tree: RhetoricalTree | None = None

    def __post_init__(self) -> None:
        if not self.units:
            raise ValueError(f"{self.corpus}/{self.id}: a discourse needs at least one unit")
        for unit, start, end in chain.from_iterable(spans(self)):
            inside = 0 <= unit < len(self.units)
            if not inside or not 0 <= start <= end <= len(self.units[unit].text):
                raise ValueError(
                    f"{self.corpus}/{self.id}: span {(unit, start, end)} lies outside the text"
                )

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """The texts of the units."""
        return tuple(unit.text for unit in self.units)

    @property
    def text(self) -> str:
        """The whole text: the units joined by one space; in Chinese by none."""
        return join_texts(self.texts)


def is_parsed(discourse: Discourse) -> bool:
    """Tell whether the grammar of its words is known."""
    return any(unit.words for unit in discourse.units)


def spans(discourse: Discourse) -> Iterator[Span]:
    """Every span of every annotation of a discourse."""
    found: Iterable[Span | None] = (
        *(span for mention in discourse.mentions for span in (mention.span, mention.head)),
        *(span for each in discourse.relations for span in (each.connective, each.arg1, each.arg2)),
        *(alternative.span for alternative in discourse.alternatives),
        *(judgement.span for judgement in discourse.judgements),
        *(discourse.tree.units if discourse.tree is not None else ()),
    )
    return (span for span in found if span is not None)


def span_text(discourse: Discourse, span: Span) -> str:
    """The text under a span; the parts of a discontinuous one joined by one space."""
    return " ".join(discourse.units[unit].text[start:end] for unit, start, end in span)


def undo(discourse: Discourse) -> tuple[str, ...]:
    """The texts of the units as they were before any of the discourse's edits.

    Raises:
        ValueError: an edit does not describe the text that is there.
    """
    texts = list(discourse.texts)
    for edit in reversed(discourse.edits):
        if edit.removed:
            texts.insert(edit.unit, edit.before)
            continue
        text, end = texts[edit.unit], edit.start + len(edit.after)
        if text[edit.start : end] != edit.after:
            raise ValueError(f"{discourse.corpus}/{discourse.id}: {edit} is not in {text!r}")
        texts[edit.unit] = text[: edit.start] + edit.before + text[end:]
    return tuple(texts)
