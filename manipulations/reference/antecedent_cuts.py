"""Cuts of the text before a mention: one that loses all antecedents, one as long that keeps one.

How far back a reader of a text looks shows in what is lost with the text further back (Khandelwal
et al. 2018 cut the context of language models). To cut loses more than an antecedent, so that two
texts of the same length are compared: the nearest sentences before the mention, none of which
mentions its referent; and fewer of them, behind the last sentence that names it.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import accumulate

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.loaders.languages.registry import language_of
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.entities import (
    FORMS,
    Entity,
    entities,
    may_be_either,
    name_stems,
)
from coherencegym.manipulations.reference.languages.language_rules import rules_of
from coherencegym.manipulations.reference.noun_phrases import NotApplicableError

#: The share of the wished length by which a cut may be longer or shorter, and the words by which
#: the two may differ.
TOLERANCE, DIFFERENCE = 0.25, 5
#: Words of a whole sentence, at least.
_FEWEST = 4
_TYPES = ("personal", "possessive", "")
_LINKS = ("cata", "pred", "appos", "disc")
_SITUATIONS = ("event", "time", "quantity")


@dataclass(frozen=True)
class DistantMention:
    """A mention, and the way back to its last antecedent.

    Attributes:
        mention: its place in the discourse.
        form: ``pronoun``, ``name`` or ``phrase``.
        between: the text between the two, without headings.
        sentences, mentions: sentences from the one to the other, and mentions of anything between
            them.
        competitors: other entities, mentioned between them, that it could mean by type, number and
            gender, as far as they are annotated.
        earlier, repeated: the number of earlier mentions of the referent, and of those by the
            very words of the mention.
    """

    mention: Mention
    form: str
    between: str
    sentences: int
    mentions: int
    competitors: int
    earlier: int
    repeated: int

    @property
    def words(self) -> int:
        """Words between the two."""
        return _words(self.between)


@dataclass(frozen=True)
class AntecedentCut:
    """Two texts of sentences, the last of which has the same mention in both.

    Attributes:
        lost: the nearest sentences before the mention's, and its own.
        kept: the sentence with the antecedent, the nearest sentences, and the mention's own.
        shared: sentences at the end that both have.
        distant: the mention in the discourse that they were cut from.
    """

    lost: Discourse
    kept: Discourse
    shared: int
    distant: DistantMention


@dataclass(frozen=True)
class ContextCuts:
    """All of the text before a mention, and cuts of it that lose all antecedents, by length.

    Attributes:
        full: the document up to the end of the mention's sentence, without headings.
        lost: the nearest sentences before the mention's, and its own, by the length in words.
        kept: texts of the same length that keep the antecedent, where there are such.
        distant: the mention in the document.
    """

    full: Discourse
    lost: Mapping[int, Discourse]
    kept: Mapping[int, Discourse]
    distant: DistantMention


def antecedent_cuts(discourse: Discourse, words: int, context: Context) -> Iterator[AntecedentCut]:
    """Yield the cuts of every mention at about so many words before it; count why it has none.

    A mention may have two, of which the second is not as good: with the longer text on the other
    side. Their variants are ``u<unit>c<start>-<end>``, and the same with ``n2``.
    """
    text = _Text(discourse)
    for mention in discourse.mentions:
        try:
            yield from text.cuts(mention, words)
        except NotApplicableError as reason:
            context.skipped[str(reason)] += 1


def context_cuts(
    discourse: Discourse, lengths: Sequence[int], beyond: int, context: Context
) -> Iterator[ContextCuts]:
    """Yield the texts of every mention whose antecedents are more than ``beyond`` words before it.

    All of them have the ``lengths`` up to ``beyond``, so that these are cuts of the same mentions.
    Longer ones are there where they lose all antecedents. Others are counted by reason.
    """
    text = _Text(discourse)
    for mention in discourse.mentions:
        try:
            yield text.all_cuts(mention, lengths, beyond, context)
        except NotApplicableError as reason:
            context.skipped[str(reason)] += 1


@dataclass(frozen=True)
class _Text:
    discourse: Discourse

    @cached_property
    def entities(self) -> dict[str, Entity]:
        return entities(self.discourse)

    @cached_property
    def prose(self) -> list[int]:
        headings = set(map(int, self.discourse.meta.get("headings", "").split()))
        return [n for n in range(len(self.discourse.units)) if n not in headings]

    @cached_property
    def ends(self) -> list[int]:
        # Words of the document up to the end of each unit, headings not counted.
        prose = set(self.prose)
        lengths = (_words(t) if n in prose else 0 for n, t in enumerate(self.discourse.texts))
        return list(accumulate(lengths))

    @cached_property
    def pronouns(self) -> dict[int, list[Mention]]:
        found: dict[int, list[Mention]] = {}
        for mention in self.discourse.mentions:
            if mention.kind == "pronoun":
                found.setdefault(mention.span[0][0], []).append(mention)
        return found

    @cached_property
    def stems(self) -> list[frozenset[str]]:
        return [name_stems([text]) for text in self.discourse.texts]

    def cuts(self, mention: Mention, words: int) -> Iterator[AntecedentCut]:
        place = self._place(mention, words)
        pairs = self._pairs(place, words)
        if not pairs:
            raise NotApplicableError("no two cuts at sentences of the same length")
        self._refuse_names(place, min(first for first, _ in pairs))
        distant = self._distant(place)
        for number, (first, kept_first) in enumerate(pairs, start=1):
            variant = place.variant + "n2" * (number > 1)
            kept = [place.source, *self._between(kept_first, place.unit)]
            yield AntecedentCut(
                lost=self._excerpt([*self._between(first, place.unit), place.unit], variant),
                kept=self._excerpt([*kept, place.unit], variant),
                shared=len(kept),
                distant=distant,
            )

    def all_cuts(
        self, mention: Mention, lengths: Sequence[int], beyond: int, context: Context
    ) -> ContextCuts:
        place = self._place(mention, beyond)
        before = self._between(0, place.unit)
        if place.source not in before:
            raise NotApplicableError("antecedent in a heading")
        if len({self.discourse.units[n].speaker for n in (*before, place.unit)}) > 1:
            raise NotApplicableError("another speaker")
        lost, kept = {}, {}
        for words in (length for length in lengths if length < place.words):
            try:
                first = self._nearest(place, words)
                if pairs := self._pairs(place, words):
                    # The longer text is the one or the other by chance.
                    key = {"mention": place.variant, "words": words}
                    chance = context.random(self.discourse, "context_cuts", **key)
                    first, kept_first = chance.choice(pairs)
                    nearest = [place.source, *self._between(kept_first, place.unit)]
                    kept[words] = self._excerpt([*nearest, place.unit], place.variant)
                self._refuse_names(place, first)
            except NotApplicableError:
                kept.pop(words, None)
                if words <= beyond:
                    raise
                break
            chosen = [*self._between(first, place.unit), place.unit]
            lost[words] = self._excerpt(chosen, place.variant)
        full = self._excerpt([*before, place.unit], place.variant)
        return ContextCuts(full, lost, kept, self._distant(place))

    def _place(self, mention: Mention, words: int) -> _Place:
        # A mention whose antecedents are more than so many words away, in good English.
        discourse, entity = self.discourse, self.entities[mention.chain]
        unit, start, _ = mention.span[0]
        _check(discourse, mention, self.pronouns.get(unit, ()))
        before = entity.before(mention)
        if not before:
            raise NotApplicableError("first mention of its entity")
        last = before[-1].span[-1]
        if last[0] == unit:
            raise NotApplicableError("an antecedent within the cut")
        texts = [
            discourse.units[last[0]].text[last[2] :],
            *(discourse.texts[n] for n in self._between(last[0] + 1, unit)),
            discourse.units[unit].text[:start],
        ]
        between = " ".join(text.strip() for text in texts if text.strip())
        if _words(between) <= words:
            raise NotApplicableError("an antecedent within the cut")
        named = [one.span[0][0] for one in before if one.kind != "pronoun"]
        if not named:
            raise NotApplicableError("no name or noun phrase before it")
        if named[-1] == 0:
            raise NotApplicableError("antecedent in the first sentence, which may hold a title")
        for place, whose in ((unit, "its sentence"), (named[-1], "the antecedent's sentence")):
            if fault := self._fault(place):
                raise NotApplicableError(f"English of {whose}: {fault}")
        return _Place(mention, unit, named[-1], last[0], between, before)

    def _refuse_names(self, place: _Place, first: int) -> None:
        # Of a text from a sentence on.
        discourse, (unit, start, end) = self.discourse, place.mention.span[0]
        entity = self.entities[place.mention.chain]
        stems = entity.stems | name_stems([discourse.units[unit].text[start:end]])
        behind = range(first, unit)
        if any(not stems.isdisjoint(self.stems[n]) for n in behind):
            raise NotApplicableError("a word of its name within the cut")
        if len({discourse.units[n].speaker for n in (place.source, *behind, unit)}) > 1:
            raise NotApplicableError("another speaker")

    def _distant(self, place: _Place) -> DistantMention:
        discourse, mention, before = self.discourse, place.mention, place.before
        between = [m for m in discourse.mentions if before[-1].span < m.span < mention.span]
        others = {m.chain for m in between if m.features.person not in ("1", "2")}
        entity = self.entities[mention.chain]
        said = span_text(discourse, mention.span).lower()
        return DistantMention(
            mention=mention,
            form=FORMS[mention.kind],
            between=place.between,
            sentences=place.unit - place.last,
            mentions=len(between),
            competitors=sum(
                may_be_either(entity, self.entities[chain]) for chain in others - {mention.chain}
            ),
            earlier=len(before),
            repeated=sum(span_text(discourse, one.span).lower() == said for one in before),
        )

    def _fault(self, unit: int) -> str:
        types, text = self.discourse.meta.get("sentence_types", ""), self.discourse.units[unit].text
        fragment = "frag" in types.split()[unit : unit + 1] or _words(text) < _FEWEST
        return "a fragment" if fragment else rules_of(self.discourse).fault_of_sentence(text)

    def _lengths(self, place: _Place) -> dict[int, int]:
        # Words before the mention in the texts from each sentence behind its last antecedent on.
        unit = place.unit
        prefix = _words(self.discourse.units[unit].text[: place.mention.span[0][1]])
        starts = self._between(place.last + 1, unit)
        return {n: self.ends[unit - 1] - self.ends[n - 1] + prefix for n in starts}

    def _nearest(self, place: _Place, words: int) -> int:
        off = [(abs(length - words), n) for n, length in self._lengths(place).items()]
        best = min(off, default=None)
        if best is None or best[0] > TOLERANCE * words:
            raise NotApplicableError("no cut at a sentence of this length")
        return best[1]

    def _pairs(self, place: _Place, words: int) -> list[tuple[int, int]]:
        # First sentences of the two cuts: the best pair, and the best with the other text longer.
        most, least = (1 + TOLERANCE) * words, (1 - TOLERANCE) * words
        lengths = self._lengths(place)
        opener = _words(self.discourse.units[place.source].text)
        fit = [
            (abs(kept - lost), abs(lost - words), kept - lost, first, other)
            for first, lost in lengths.items()
            if least <= lost <= most
            for other, rest in lengths.items()
            if other > first and least <= (kept := rest + opener) <= most
            if abs(kept - lost) <= DIFFERENCE
        ]
        best = min(fit, default=None)
        if best is None:
            return []
        second = min((one for one in fit if one[2] * best[2] < 0), default=best)
        return [one[3:] for one in dict.fromkeys((best, second))]

    def _between(self, first: int, end: int) -> list[int]:
        return self.prose[bisect_left(self.prose, first) : bisect_left(self.prose, end)]

    def _excerpt(self, chosen: list[int], variant: str) -> Discourse:
        units = tuple(self.discourse.units[n] for n in chosen)
        return replace(
            self.discourse, units=units, mentions=(), relations=(), tree=None, variant=variant
        )


@dataclass(frozen=True)
class _Place:
    # Units of the mention, of the last sentence that names its referent, and of the last mention.
    mention: Mention
    unit: int
    source: int
    last: int
    between: str
    before: Sequence[Mention]

    @property
    def words(self) -> int:
        return _words(self.between)

    @property
    def variant(self) -> str:
        unit, start, end = self.mention.span[0]
        return f"u{unit}c{start}-{end}"


def _check(discourse: Discourse, mention: Mention, pronouns: Sequence[Mention]) -> None:
    # ``pronouns`` are those of its sentence.
    features = mention.features
    if len(mention.span) > 1 or features.predicate or features.link in _LINKS:
        raise NotApplicableError("predicate, apposition, or in two parts")
    if features.function in ("appos", "compound", "flat", "reparandum", "vocative"):
        raise NotApplicableError("predicate, apposition, or in two parts")
    if features.person in ("1", "2") or features.pronoun not in _TYPES:
        raise NotApplicableError("no pronoun of the third person")
    if features.entity in _SITUATIONS:
        raise NotApplicableError("a situation, a time or an amount")
    phrase = mention.kind == "nominal"
    first = span_text(discourse, mention.span).lower().split(" ", 1)[0]
    article = language_of(discourse).articles.get(first)
    if phrase and not (article and article.definite):
        raise NotApplicableError("no definite phrase")
    if any(
        one is not mention
        and mention.span[0][1] <= one.span[0][1]
        and one.span[-1][2] <= mention.span[0][2]
        for one in pronouns
    ):
        raise NotApplicableError("a pronoun in the phrase")


def _words(text: str) -> int:
    return len(text.split())
