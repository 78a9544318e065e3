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
from typing import Any

from coherencegym.loaders.discourse import Discourse, Mention, span_text
from coherencegym.loaders.languages.registry import language_of
from coherencegym.manipulations.operator import Context, NotApplicableError, refuse
from coherencegym.manipulations.reference.entities import (
    FORMS,
    MentionedText,
    may_be_either,
    name_stems,
)
from coherencegym.manipulations.reference.languages.language_rules import rules_of

#: The share of the wished length by which a cut may be longer or shorter, and the words by which
#: the two may differ.
TOLERANCE, DIFFERENCE = 0.25, 5
#: Words of a whole sentence, at least.
_FEWEST = 4
_TYPES = ("personal", "possessive", "")
_LINKS = ("cata", "pred", "appos", "disc")
_PARTS = ("appos", "compound", "flat", "reparandum", "vocative")
_SITUATIONS = ("event", "time", "quantity")


@dataclass(frozen=True)
class DistantMention:
    """A mention whose antecedents are far away.

    Attributes:
        mention: its place in the discourse.
        before: the earlier mentions of its entity.
        source: the last sentence before it that names the entity.
        between: the text between it and the last mention before it, without headings.
    """

    mention: Mention
    before: Sequence[Mention]
    source: int
    between: str

    @property
    def unit(self) -> int:
        """Its sentence."""
        return self.mention.span[0][0]

    @property
    def words(self) -> int:
        """Words between the two."""
        return _words(self.between)

    @property
    def variant(self) -> str:
        """The name of its texts."""
        unit, start, end = self.mention.span[0]
        return f"u{unit}c{start}-{end}"


@dataclass(frozen=True)
class AntecedentCut:
    """Two texts of sentences, the last of which has the same mention in both.

    Attributes:
        lost: the nearest sentences before the mention's, and its own.
        kept: the sentence with the antecedent, the nearest sentences, and the mention's own.
        shared: sentences at the end that both have.
        distant: the mention in the discourse that they were cut from.
        way: what stands on the way back to its last antecedent, as columns of a table.
    """

    lost: Discourse
    kept: Discourse
    shared: int
    distant: DistantMention
    way: Mapping[str, Any]


@dataclass(frozen=True)
class ContextCuts:
    """All of the text before a mention, and cuts of it that lose all antecedents, by length.

    Attributes:
        full: the document up to the end of the mention's sentence, without headings.
        lost: the nearest sentences before the mention's, and its own, by the length in words.
        kept: texts of the same length that keep the antecedent, where there are such.
        distant, way: those of :class:`AntecedentCut`.
    """

    full: Discourse
    lost: Mapping[int, Discourse]
    kept: Mapping[int, Discourse]
    distant: DistantMention
    way: Mapping[str, Any]


def antecedent_cuts(discourse: Discourse, words: int, context: Context) -> Iterator[AntecedentCut]:
    """Yield the cuts of every mention at about so many words before it; count why it has none.

    A mention may have two, of which the second is not as good: with the longer text on the other
    side. Their variants are ``u<unit>c<start>-<end>``, and the same with ``n2``.
    """
    text = _Text(discourse)
    for mention in discourse.mentions:
        with context.counting():
            yield from text.cuts(mention, words)


def context_cuts(
    discourse: Discourse, lengths: Sequence[int], beyond: int, context: Context
) -> Iterator[ContextCuts]:
    """Yield the texts of every mention whose antecedents are more than ``beyond`` words before it.

    All of them have the ``lengths`` up to ``beyond``, so that these are cuts of the same mentions.
    Longer ones are there where they lose all antecedents. Others are counted by reason.
    """
    text = _Text(discourse)
    for mention in discourse.mentions:
        with context.counting():
            yield text.all_cuts(mention, lengths, beyond, context)


class _Text(MentionedText):
    @cached_property
    def prose(self) -> list[int]:
        return [n for n in range(len(self.discourse.units)) if n not in self.headings]

    @cached_property
    def ends(self) -> list[int]:
        # Words of the document up to the end of each unit, headings not counted.
        texts = enumerate(self.discourse.texts)
        return list(accumulate(0 if n in self.headings else _words(text) for n, text in texts))

    def cuts(self, mention: Mention, words: int) -> Iterator[AntecedentCut]:
        distant = self._distant(mention, words)
        pairs = self._pairs(distant, words)
        if not pairs:
            raise NotApplicableError("no two cuts at sentences of the same length")
        self._refuse_names(distant, min(first for first, _ in pairs))
        way = self._way(distant)
        for number, (first, kept_first) in enumerate(pairs, start=1):
            variant = distant.variant + "n2" * (number > 1)
            kept = [distant.source, *self._between(kept_first, distant.unit)]
            yield AntecedentCut(
                lost=self._excerpt([*self._between(first, distant.unit), distant.unit], variant),
                kept=self._excerpt([*kept, distant.unit], variant),
                shared=len(kept),
                distant=distant,
                way=way,
            )

    def all_cuts(
        self, mention: Mention, lengths: Sequence[int], beyond: int, context: Context
    ) -> ContextCuts:
        distant = self._distant(mention, beyond)
        unit, variant = distant.unit, distant.variant
        before = self._between(0, unit)
        if distant.source not in before:
            raise NotApplicableError("antecedent in a heading")
        self._refuse_speakers((*before, unit))
        lost, kept = {}, {}
        for words in (length for length in lengths if length < distant.words):
            try:
                first = self._nearest(distant, words)
                if pairs := self._pairs(distant, words):
                    # The longer text is the one or the other by chance.
                    key = {"mention": variant, "words": words}
                    chance = context.random(self.discourse, "context_cuts", **key)
                    first, kept_first = chance.choice(pairs)
                    nearest = [distant.source, *self._between(kept_first, unit)]
                    kept[words] = self._excerpt([*nearest, unit], variant)
                self._refuse_names(distant, first)
            except NotApplicableError:
                kept.pop(words, None)
                if words <= beyond:
                    raise
                break
            lost[words] = self._excerpt([*self._between(first, unit), unit], variant)
        full = self._excerpt([*before, unit], variant)
        return ContextCuts(full, lost, kept, distant, self._way(distant))

    def _distant(self, mention: Mention, words: int) -> DistantMention:
        # A mention whose antecedents are more than so many words away, in good English.
        discourse, (unit, start, _) = self.discourse, mention.span[0]
        self._check(mention)
        before = self.entities[mention.chain].before(mention)
        if not before:
            raise NotApplicableError("first mention of its entity")
        last = before[-1].span[-1]
        texts = [
            discourse.units[last[0]].text[last[2] :],
            *(discourse.texts[n] for n in self._between(last[0] + 1, unit)),
            discourse.units[unit].text[:start],
        ]
        between = " ".join(text.strip() for text in texts if text.strip())
        if last[0] == unit or _words(between) <= words:
            raise NotApplicableError("an antecedent within the cut")
        named = [each.span[0][0] for each in before if each.kind != "pronoun"]
        if not named:
            raise NotApplicableError("no name or noun phrase before it")
        if named[-1] == 0:
            raise NotApplicableError("antecedent in the first sentence, which may hold a title")
        for place, whose in ((unit, "its sentence"), (named[-1], "the antecedent's sentence")):
            if fault := self._fault(place):
                raise NotApplicableError(f"English of {whose}: {fault}")
        return DistantMention(mention, before, named[-1], between)

    def _check(self, mention: Mention) -> None:
        features, (unit, start, end) = mention.features, mention.span[0]
        first = span_text(self.discourse, mention.span).lower().split(" ", 1)[0]
        article = language_of(self.discourse).articles.get(first)
        apart = len(mention.span) > 1 or features.predicate or features.link in _LINKS
        refuse(
            (apart or features.function in _PARTS, "predicate, apposition, or in two parts"),
            (
                features.person in ("1", "2") or features.pronoun not in _TYPES,
                "no pronoun of the third person",
            ),
            (features.entity in _SITUATIONS, "a situation, a time or an amount"),
            (
                mention.kind == "nominal" and not (article and article.definite),
                "no definite phrase",
            ),
            (
                any(
                    each.kind == "pronoun"
                    and each is not mention
                    and start <= each.span[0][1]
                    and each.span[-1][2] <= end
                    for each in self.of_unit[unit]
                ),
                "a pronoun in the phrase",
            ),
        )

    def _refuse_names(self, distant: DistantMention, first: int) -> None:
        # Of a text from a sentence on.
        unit, start, end = distant.mention.span[0]
        stems = self.entities[distant.mention.chain].stems
        stems |= name_stems([self.discourse.units[unit].text[start:end]])
        behind = range(first, unit)
        if any(not stems.isdisjoint(self.stems[n]) for n in behind):
            raise NotApplicableError("a word of its name within the cut")
        self._refuse_speakers((distant.source, *behind, unit))

    def _refuse_speakers(self, units: Sequence[int]) -> None:
        if len({self.discourse.units[n].speaker for n in units}) > 1:
            raise NotApplicableError("another speaker")

    def _way(self, distant: DistantMention) -> dict[str, Any]:
        mention, before = distant.mention, distant.before
        between = [
            each for each in self.discourse.mentions if before[-1].span < each.span < mention.span
        ]
        others = {each.chain for each in between if each.features.person not in ("1", "2")}
        entity = self.entities[mention.chain]
        said = span_text(self.discourse, mention.span)
        same = (span_text(self.discourse, each.span).lower() == said.lower() for each in before)
        return {
            "form": FORMS[mention.kind],
            "distance_words": distant.words,
            "distance_sentences": distant.unit - before[-1].span[-1][0],
            "distance_mentions": len(between),
            # As far as type, number and gender are annotated.
            "competitors": sum(
                may_be_either(entity, self.entities[chain]) for chain in others - {mention.chain}
            ),
            "earlier_mentions": len(before),
            "same_words_before": sum(same),
        }

    def _fault(self, unit: int) -> str:
        types, text = self.discourse.meta.get("sentence_types", ""), self.discourse.units[unit].text
        fragment = "frag" in types.split()[unit : unit + 1] or _words(text) < _FEWEST
        return "a fragment" if fragment else rules_of(self.discourse).fault_of_sentence(text)

    def _lengths(self, distant: DistantMention) -> dict[int, int]:
        # Words before the mention in the texts from each sentence behind its last antecedent on.
        unit, start, _ = distant.mention.span[0]
        prefix = _words(self.discourse.units[unit].text[:start])
        starts = self._between(distant.before[-1].span[-1][0] + 1, unit)
        return {n: self.ends[unit - 1] - self.ends[n - 1] + prefix for n in starts}

    def _nearest(self, distant: DistantMention, words: int) -> int:
        off = [(abs(length - words), n) for n, length in self._lengths(distant).items()]
        best = min(off, default=None)
        if best is None or best[0] > TOLERANCE * words:
            raise NotApplicableError("no cut at a sentence of this length")
        return best[1]

    def _pairs(self, distant: DistantMention, words: int) -> list[tuple[int, int]]:
        # First sentences of the two cuts: the best pair, and the best with the other text longer.
        most, least = (1 + TOLERANCE) * words, (1 - TOLERANCE) * words
        lengths = self._lengths(distant)
        opener = _words(self.discourse.units[distant.source].text)
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


def _words(text: str) -> int:
    return len(text.split())
