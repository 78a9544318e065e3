"""The value that a language is: what turns its words into text, and text into sentences and words.

A new language is one module that declares a :class:`Language`, and a line in
:mod:`loaders.languages.registry`. Nothing else asks which language a text is in.

Which signs touch the word before them, and which the one after them, is the same in most languages
that are written in Latin letters; :class:`Spacing` has what differs. Scripts without spaces between
words (Chinese, Japanese) get none, but between words of other scripts.

Abbreviations are here, and the pronouns of English; spaces in :mod:`loaders.text.detokenize`,
classes of words in :mod:`coherencegym.words`. Where Chinese sentences end spaCy's sentencizer says
(``。！？``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.loaders.discourse import Features
from coherencegym.loaders.text.detokenize import BRACKETS, lay_out
from coherencegym.words import is_unspaced, word_list, word_set

#: Signs that touch what is before them.
_CLOSING = re.compile(r"[.,;:!?…%)\]}»”’°]+|\.{2,}|[.?!]+[\"'”’]")
#: Signs that touch what is after them.
_OPENING = re.compile(r"[(\[{«“‘„‚¿¡#]+")
#: Signs of which two make a pair, so that the place says which one it is.
_EITHER = ('"', "'")
#: Between two words it touches both (``t/m``), between numbers neither (``7 / 8``).
_SLASH = "/"


@dataclass(frozen=True)
class Spacing:
    """The spaces of a language, a :data:`~loaders.languages.language.Layout`.

    Attributes:
        closing, opening: marks of quotation that are closing or opening ones here, though others
            use them otherwise (German ``“`` closes).
        spaced: signs with a space before them (French ``;:!?``).
        unspaced: signs without a space on either side, as the letters of Chinese have none.
        elided: words that touch the next one (Italian ``l'``); a regular expression.
        attached: words that touch the one before (French ``-t-il``); a regular expression.
    """

    closing: str = ""
    opening: str = ""
    spaced: str = ""
    unspaced: str = ""
    elided: str = r"(?!)"
    attached: str = r"(?!)"

    def __call__(self, tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
        """The text of some tokens, and the place of each token in it.

        >>> Spacing()(["Ja", ",", "hij", "(", "ook", ")", "zei", '"', "nee", '"', "."])[0]
        'Ja, hij (ook) zei "nee".'
        """
        if not all(map(str.strip, tokens)):
            raise ValueError(f"a token without characters in {tokens!r}")
        tokens = [BRACKETS.get(token, token) for token in tokens]
        text, places = "", list[tuple[int, int]]()
        sides = self._sides(tokens)
        for number, token in enumerate(tokens):
            touches = not text or sides[number - 1] > 0 or sides[number] < 0
            touches = touches or self._touch(tokens[number - 1], token)
            text += "" if touches else " "
            places.append((len(text), len(text) + len(token)))
            text += token
        return text, places

    def _touch(self, before: str, token: str) -> bool:
        if any(is_unspaced(one) or one in self.unspaced for one in (before[-1], token[0])):
            return True
        if re.fullmatch(self.elided, before, re.IGNORECASE):
            return True
        return re.fullmatch(self.attached, token, re.IGNORECASE) is not None

    def _sides(self, tokens: Sequence[str]) -> list[int]:
        # Of each token: -1 where it touches what is before it, 1 where it touches what follows.
        sides = [self._side(token) for token in tokens]
        for sign in _EITHER:
            own = [number for number, token in enumerate(tokens) if token == sign]
            opened = False
            for number in own:
                first, last = number == 0, number == len(tokens) - 1
                opened = first or (not last and not opened)
                sides[number] = 1 if opened else -1
        triples = zip(tokens, tokens[1:], tokens[2:], strict=False)
        for number, (one, sign, other) in enumerate(triples, 1):
            if sign == _SLASH and one[-1].isalpha() and other[0].isalpha():
                sides[number] = -1
                sides[number + 1] = sides[number + 1] or -1
        return sides

    def _side(self, token: str) -> int:
        if token in self.opening:
            return 1
        if token in self.closing:
            return -1
        if _OPENING.fullmatch(token):
            return 1
        return -1 if _CLOSING.fullmatch(token) and token not in self.spaced else 0


#: The tokens of a sentence -> its text as a reader would see it, and the place of each token in it
#: (start and end, characters). Raises ValueError for a token without characters.
Layout = Callable[[Sequence[str]], tuple[str, list[tuple[int, int]]]]

_NOTHING: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SentenceRules:
    """The places at which a point ends no sentence, for languages whose sentences begin large.

    Attributes:
        never_last: abbreviations that something always follows, in lower case, without their last
            point (``dr``, ``e.g``).
        words_too: those of ``never_last`` that are words as well.
        sometimes_last: abbreviations that can be the last word of a sentence (``inc``).
        starters: capitalised words that begin sentences, and hardly ever follow an abbreviation.
        reporting: verbs that say who spoke: after a quotation that ends in ``!`` or ``?`` the
            sentence goes on. A regular expression.
        ordinal_points: true where a number with a point is an ordinal (German ``am 3. Mai``).
    """

    never_last: frozenset[str] = _NOTHING
    words_too: frozenset[str] = _NOTHING
    sometimes_last: frozenset[str] = _NOTHING
    starters: frozenset[str] = _NOTHING
    reporting: str = ""
    ordinal_points: bool = False


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes:
        code: ISO 639-1 (``nl``).
        name: its English name.
        lay_out: makes natural text of tokens.
        sentences: the points that end none of its sentences.
        pronouns: form -> its readings: type, person, number, gender and case.
    """

    code: str
    name: str
    lay_out: Layout
    sentences: SentenceRules = SentenceRules()
    pronouns: Mapping[str, Sequence[Features]] = field(default_factory=dict, repr=False)

    def pronoun(self, form: str, kind: str = "") -> Features | None:
        """Give the features that a pronoun's form shows; none where it is no pronoun.

        Args:
            form: the form; of several readings it shows what they share.
            kind: the type of pronoun that it is here, if that is known: other readings do not
                count.
        """
        readings = self.pronouns.get(form.lower().replace("’", "'"), ())
        readings = [one for one in readings if one.pronoun == kind] or readings
        return _shared(readings) if readings else None

    def forms(self, value: str) -> frozenset[str]:
        """Give the pronouns that have a reading with a value (``reflexive``, ``1``, ``dative``)."""
        return frozenset(
            form
            for form, readings in self.pronouns.items()
            if any(value == getattr(one, name) for one in readings for name in _VALUES)
        )


_VALUES = {
    "pronoun": word_set(
        "personal possessive reflexive reciprocal demonstrative relative interrogative indefinite"
    ),
    "person": word_set("1 2 3"),
    "number": word_set("singular plural"),
    "gender": word_set("masculine feminine neuter common"),
    "case": word_set("nominative accusative dative genitive"),
}


def pronoun_table(rows: Mapping[str, str]) -> Mapping[str, tuple[Features, ...]]:
    """The readings of pronouns by form.

    Args:
        rows: values of :class:`~loaders.discourse.Features` with spaces between them (``personal 3
            singular masculine nominative``) -> the forms of which that is a reading.
    """
    table: dict[str, tuple[Features, ...]] = {}
    for values, forms in rows.items():
        told: dict[str, Any] = {name: "".join(found) for name, found in _told(values).items()}
        for form in forms.split():
            table[form] = (*table.get(form, ()), Features(pos="PRON", **told))
    return table


def _told(words: str) -> dict[str, frozenset[str]]:
    values = word_set(words)
    if unknown := values - frozenset().union(*_VALUES.values()):
        raise ValueError(f"{', '.join(sorted(unknown))} in {words!r}: no value of a pronoun")
    return {name: values & known for name, known in _VALUES.items()}


def _shared(readings: Sequence[Features]) -> Features:
    told = {name: {getattr(one, name) for one in readings} for name in _VALUES}
    same: dict[str, Any] = {name: value for name, (value, *others) in told.items() if not others}
    return Features(pos="PRON", **same)


def abbreviations(words: str) -> frozenset[str]:
    """Abbreviations as :class:`SentenceRules` has them: in lower case, without their last point."""
    return frozenset(re.sub(r"\.$", "", word) for word in words.lower().split())


ENGLISH = Language(
    code="en",
    name="English",
    lay_out=lay_out,
    sentences=SentenceRules(
        never_last=word_list("abbreviations_never_last"),
        words_too=word_set("no ed ms est fig var ret st"),
        sometimes_last=word_list("abbreviations_sometimes_last"),
        starters=word_list("sentence_starters"),
        reporting=(
            r"said|asked|cried|shouted|replied|answered|exclaimed|added|whispered|yelled|called|"
            r"wrote|wondered|says|asks|told|remarked|explained"
        ),
    ),
    # ``that``, ``who`` and ``which`` have the commonest of their types.
    pronouns=pronoun_table(
        {
            "personal 1 singular nominative": "i",
            "personal 1 singular accusative": "me",
            "personal 1 plural nominative": "we",
            "personal 1 plural accusative": "us",
            "personal 2": "you thou thee",
            "personal 3 singular masculine nominative": "he",
            "personal 3 singular masculine accusative": "him",
            "personal 3 singular feminine nominative": "she",
            "personal 3 singular feminine accusative": "her",
            "personal 3 singular neuter": "it",
            "personal 3 plural nominative": "they",
            "personal 3 plural accusative": "them 'em",
            "possessive 1 singular": "my mine",
            "possessive 1 plural": "our ours",
            "possessive 2": "your yours thy",
            "possessive 3 singular masculine": "his",
            "possessive 3 singular feminine": "her hers",
            "possessive 3 singular neuter": "its",
            "possessive 3 plural": "their theirs",
            "possessive 3": "one's",
            "reflexive 1 singular": "myself",
            "reflexive 1 plural": "ourselves",
            "reflexive 2": "yourself",
            "reflexive 2 plural": "yourselves",
            "reflexive 3 singular masculine": "himself",
            "reflexive 3 singular feminine": "herself",
            "reflexive 3 singular neuter": "itself",
            "reflexive 3 plural": "themselves",
            "reflexive 3": "themself oneself",
            "demonstrative": "this that",
            "demonstrative plural": "these those",
            "interrogative": "what",
            "relative": "who whom whose which",
            "indefinite": "someone somebody something anyone anybody anything everyone everybody "
            "everything nobody nothing none all both each some any many few several others another",
            "indefinite 3": "one",
        }
    ),
)


DUTCH = Language(
    code="nl",
    name="Dutch",
    lay_out=Spacing(attached=r"-ie"),  # had-ie
    sentences=SentenceRules(
        never_last=abbreviations(
            "a.u.b. afb. art. bijv. blz. bv. ca. d.m.v. d.w.z. dhr. dr. drs. excl. "
            "fig. gem. gen. i.p.v. i.v.m. incl. ing. ir. jhr. jl. lic. m.b.t. m.b.v. m.i.v. max. "
            "mej. mevr. mgr. min. mr. mw. n.a.v. nr. o.a. o.b.v. o.l.v. p. pag. plm. prof. resp. "
            "s.v.p. st. t.a.v. t.b.v. t.g.v. t.o.v. tel. v. v.a. vgl. vs. z.g. zgn."
        ),
        words_too=word_set("min art st"),
        sometimes_last=abbreviations(
            "a.s. b.v. c.q. c.s. cm. e.a. e.d. enz. etc. i.e. inz. jr. kg. km. m.m. n.chr. n.v. "
            "o.i.d. p.p. sr. u.s. v.chr. v.s. vs."
        ),
        starters=word_set(
            "Aan Al Alle Alleen Als Andere Bij Bovendien Daar Daarna Daarom Dan Dat De Deze Die "
            "Dit Door Dus Echter Een Elke En Er Het Hij Hoe Hun Ik In Je Maar Meer Men Met Na Naar "
            "Niet Nog Nu Of Om Omdat Ondanks Ook Op Over Pas Sinds Soms Te Tegen Tijdens Toch Toen "
            "Tot Uit Van Vanaf Veel Volgens Voor Vooral Waar Waarom Wat We Wel Wie Wij Ze Zij Zo "
            "Zodra"
        ),
        reporting=(
            r"zei|zegt|vroeg|vraagt|riep|roept|antwoordde|antwoordt|schreef|schrijft|fluisterde|"
            r"vertelde|vertelt|dacht|voegde|aldus|stelt|stelde|verklaarde|meent|vindt|vond"
        ),
    ),
)


GERMAN = Language(
    code="de",
    name="German",
    lay_out=Spacing(closing="“‘«", opening="„‚»", spaced="%"),
    sentences=SentenceRules(
        never_last=abbreviations(
            "abb. bd. bspw. bzw. ca. d.h. dr. evtl. frl. geb. ggf. hrsg. i.d.r. inkl. max. min. "
            "nr. o.ä. prof. rd. s.o. s.u. sog. st. str. tel. u.a. v.a. vgl. z.b. z.t. zzgl."
        ),
        sometimes_last=abbreviations("a.d. co. etc. jh. jr. mio. mrd. n.chr. sr. usf. usw. v.chr."),
        starters=word_set(
            "Aber Als Am An Auch Auf Aus Bei Da Dabei Dann Das Dass Der Des Die Dies Diese Doch "
            "Ein Eine Er Es Für Hier Ich Ihr Im In Ist Man Mit Nach Nicht Noch Nun Nur Ob Oder "
            "Schon Sie So Trotz Um Und Von Vor Wann Was Wenn Wer Wie Wir Wo Zu Zum Zur"
        ),
        reporting=r"sagte|sagt|fragte|fragt|rief|ruft|antwortete|meinte|meint|schrieb|erklärte",
        ordinal_points=True,
    ),
)


ITALIAN = Language(
    code="it",
    name="Italian",
    lay_out=Spacing(elided=r"(?!po['’])\w+['’]"),
    sentences=SentenceRules(
        never_last=abbreviations(
            "art. avv. ca. cfr. dott. dott.ssa ecc.mo es. fig. geom. ing. mons. n. pag. pagg. "
            "prof. prof.ssa rag. s. sig. sig.na sig.ra sigg. ss. tel. v."
        ),
        words_too=word_set("es art"),
        sometimes_last=abbreviations("a.c. co. d.c. ecc. etc. jr. p.zza s.p.a. s.r.l."),
        starters=word_set(
            "A Al Anche Ancora Che Chi Ci Come Con Così Da Dal Di Dopo Dove E È Era Gli Ha I Il In "
            "Infatti Inoltre Io L La Le Lei Lo Lui Ma Mentre Nel Nella Non Per Perché Perciò Più "
            "Poi Quando Quella Quello Questa Questo Se Secondo Si Sono Su Tra Tutti Un Una"
        ),
        reporting=r"disse|dice|chiese|chiede|gridò|rispose|risponde|aggiunse|scrisse|spiegò",
    ),
)


_SPACING = Spacing(unspaced="“”‘’—…·•[]")
#: The number of a heading, which a space follows.
_NUMBERED = re.compile(r"\d+(?:\.\d+)*\.")


def _lay_out(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text of some tokens, without spaces but between words of other scripts.

    >>> _lay_out(["拜伦", "（", "Lord", "Byron", "）", "。"])[0]
    '拜伦（Lord Byron）。'
    """
    text, places = _SPACING(tokens)
    if len(tokens) > 1 and _NUMBERED.fullmatch(tokens[0]) and places[1][0] == places[0][1]:
        first, *others = places
        text = f"{text[: first[1]]} {text[first[1] :]}"
        places = [first, *((start + 1, end + 1) for start, end in others)]
    return text, places


CHINESE = Language(
    code="zh",
    name="Chinese",
    lay_out=_lay_out,
)
