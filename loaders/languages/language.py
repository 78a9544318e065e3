"""The value that a language is: what turns its words into text, and text into sentences and words.

A new language is one module that declares a :class:`Language`, and a line in
:mod:`loaders.languages.registry`. Nothing else asks which language a text is in.

Which signs touch the word before them, and which the one after them, is the same in most languages
that are written in Latin letters; :class:`Spacing` has what differs. Scripts without spaces between
words (Chinese, Japanese) get none, but between words of other scripts.

Pronouns, articles and abbreviations are here, spaces in :mod:`loaders.text.detokenize`, connectives
in ``connectives/en.tsv``, classes of words in :mod:`coherencegym.words`.

Pronouns and articles: *Algemene Nederlandse Spraakkunst*, chapters 5 and 4 (https://e-ans.ivdnt.org).
``haar`` and ``hun`` are personal or possessive by their place, ``ze`` and ``zij`` singular or
plural by their verb; ``het`` is an article, too, and more often an expletive than not.

Pronouns and articles: *Duden. Die Grammatik* (2016), §§ 352-394; the adjectives after them: its
chapter on the adjective. The polite ``Sie`` and ``Ihr`` are the third person's forms with a
capital, and have no rows of their own. A number with a point is an ordinal.

Pronouns and articles: Serianni, *Grammatica italiana* (1989), chapters VII and IV. ``l'`` and the
articles that are one word with a preposition (``dell'``) touch the next word; ``lo``, ``la`` and
``gli`` are articles more often than pronouns, and have no entry as these.

No inflection, no articles; of pronouns the writing alone tells gender (``他``, ``她``, ``它``).
Zero pronouns are the rule where English has one. Pronouns: Li and Thompson, *Mandarin Chinese*
(1981), chapter 4.11. Where sentences end spaCy's sentencizer says (``。！？``).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from coherencegym.loaders.discourse import Features
from coherencegym.loaders.senses import CONNECTIVES, Connective, connectives
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
class Agreement:
    """The nouns that a form of an article stands with, and the adjectives between them.

    Attributes:
        genders: ``masculine``, ``feminine``, ``neuter``, ``common`` (both of the first two); empty
            where the form tells none. So are the others.
        numbers: ``singular``, ``plural``.
        cases: ``nominative``, ``accusative``, ``dative``, ``genitive``.
        ending: the end of adjectives after it; empty where they have no ending, or any.
    """

    genders: frozenset[str] = _NOTHING
    numbers: frozenset[str] = _NOTHING
    cases: frozenset[str] = _NOTHING
    ending: str = ""

    def fits(self, gender: str, number: str, case: str) -> bool:
        """Tell whether a noun of these features agrees; an unknown one fits where any does."""
        told = ((gender, self.genders), (number, self.numbers), (case, self.cases))
        return all(value in allowed for value, allowed in told if allowed)


@dataclass(frozen=True)
class ArticleForm:
    """A form of an article.

    Attributes:
        definite: true of ``the``, false of ``a``.
        agreements: its readings, for German ``der`` three.
    """

    definite: bool
    agreements: tuple[Agreement, ...]

    def agreement(self, gender: str, number: str, case: str) -> Agreement | None:
        """The reading that fits a noun of these features; none where none does."""
        fitting = (one for one in self.agreements if one.fits(gender, number, case))
        return next(fitting, None)


@dataclass(frozen=True)
class Language:
    """A language.

    Attributes:
        code: ISO 639-1 (``nl``).
        name: its English name.
        lay_out: makes natural text of tokens.
        sentences: the points that end none of its sentences.
        pronouns: form -> its readings: type, person, number, gender and case.
        expletives: the pronouns that more often than not stand for no noun (``het``).
        articles: form -> definiteness and agreement; empty where it has none.
        connectives: word -> its meanings and its syntax (:mod:`loaders.senses`), from
            ``connectives/<code>.tsv``, where each has its source.
    """

    code: str
    name: str
    lay_out: Layout
    sentences: SentenceRules = SentenceRules()
    pronouns: Mapping[str, Sequence[Features]] = field(default_factory=dict, repr=False)
    expletives: frozenset[str] = _NOTHING
    articles: Mapping[str, ArticleForm] = field(default_factory=dict, repr=False)
    connectives: Mapping[str, Connective] = field(default_factory=dict, repr=False)

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

    def definite_article(self, gender: str, number: str, case: str) -> tuple[str, str] | None:
        """Give the definite article that agrees with a noun, and the ending of adjectives after it.

        It is the first of the table that agrees; none where none does.

        Args:
            gender, number, case: words of :class:`Agreement`; empty where nobody says.
        """
        for form, article in self.articles.items():
            if article.definite and (agreement := article.agreement(gender, number, case)):
                return form, agreement.ending
        return None


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


def article_table(
    definite: Mapping[str, str], indefinite: Mapping[str, str]
) -> Mapping[str, ArticleForm]:
    """Articles by form.

    Args:
        definite, indefinite: form -> the nouns that it stands with, with commas between readings:
            genders, numbers and cases, and the ending of adjectives after it (``neuter singular
            -e, plural -e``).
    """
    return {
        form: ArticleForm(is_definite, tuple(map(_agreement, readings.split(","))))
        for is_definite, forms in ((True, definite), (False, indefinite))
        for form, readings in forms.items()
    }


def _agreement(reading: str) -> Agreement:
    words, _, ending = reading.partition("-")
    told = _told(words)
    return Agreement(told["gender"], told["number"], told["case"], ending.strip())


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
    articles=article_table({"the": ""}, {"a": "singular", "an": "singular"}),
    connectives=CONNECTIVES,
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
    # Of the cases Dutch has two, that of subjects and that of objects, here as in treebanks
    # nominative and accusative. Forms in -e, -en and -er after a possessive are of older spelling.
    pronouns=pronoun_table(
        {
            "personal 1 singular nominative": "ik 'k",
            "personal 1 singular accusative": "me mij",
            "personal 1 plural nominative": "we wij",
            "personal 1 plural accusative": "ons",
            "personal 2 singular nominative": "jij",
            "personal 2 singular accusative": "jou",
            "personal 2 plural": "jullie",
            "personal 2": "je u gij ge",
            "personal 3 singular masculine nominative": "hij ie -ie",
            "personal 3 singular masculine accusative": "hem 'm",
            "personal 3 singular feminine nominative": "zij ze",
            "personal 3 singular feminine accusative": "haar ze",
            "personal 3 singular neuter": "het 't",
            "personal 3 plural nominative": "zij ze",
            "personal 3 plural accusative": "hen hun ze",
            "possessive 1 singular": "mijn m'n mijne mijnen",
            "possessive 1 plural": "ons onze onzen",
            "possessive 2 singular": "jouw",
            "possessive 2": "je uw uwe uwen",
            "possessive 3 singular": "zijn z'n zijne zijnen zijner",
            "possessive 3 singular feminine": "haar d'r hare haren harer",
            "possessive 3 plural": "hun hunne hunnen hunner",
            "reflexive 1 singular": "mezelf mijzelf",
            "reflexive 1 plural": "onszelf",
            "reflexive 2": "jezelf uzelf",
            "reflexive 3": "zich zichzelf",
            "reflexive 3 singular masculine": "hemzelf",
            "reflexive 3 singular feminine": "haarzelf",
            "reciprocal": "elkaar elkander mekaar",
            "demonstrative": "dit dat deze die",
            "interrogative": "wie wat",
            "relative": "welke welk",
            "indefinite": "men iemand niemand iets niets alles iedereen ieder elk enige sommige "
            "sommigen velen",
        }
    ),
    expletives=word_set("het 't"),
    # The articles of older spelling (den, eenen) agree in case, too: they are the novels' own.
    articles=article_table(
        {
            "de": "common masculine feminine singular -e, plural -e",
            "het": "neuter singular -e",
            "'t": "neuter singular -e",
        },
        {"een": "singular", "'n": "singular"},
    ),
    connectives=connectives("nl"),
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
    pronouns=pronoun_table(
        {
            "personal 1 singular nominative": "ich",
            "personal 1 singular accusative": "mich",
            "personal 1 singular dative": "mir",
            "personal 1 plural nominative": "wir",
            "personal 1 plural": "uns",
            "personal 2 singular nominative": "du",
            "personal 2 singular accusative": "dich",
            "personal 2 singular dative": "dir",
            "personal 2 plural nominative": "ihr",
            "personal 2 plural": "euch",
            "personal 3 singular masculine nominative": "er",
            "personal 3 singular masculine accusative": "ihn",
            "personal 3 singular masculine dative": "ihm",
            "personal 3 singular feminine": "sie",
            "personal 3 singular feminine dative": "ihr",
            "personal 3 singular neuter": "es",
            "personal 3 singular neuter dative": "ihm",
            "personal 3 plural": "sie",
            "personal 3 plural dative": "ihnen",
            "possessive 1 singular": "mein meine meinen meinem meiner meines",
            "possessive 1 plural": "unser unsere unseren unserem unserer unseres",
            "possessive 2 singular": "dein deine deinen deinem deiner deines",
            "possessive 2 plural": "euer eure euren eurem eurer eures",
            "possessive 3 singular": "sein seine seinen seinem seiner seines",
            "possessive 3 singular feminine": "ihr ihre ihren ihrem ihrer ihres",
            "possessive 3 plural": "ihr ihre ihren ihrem ihrer ihres",
            "reflexive 3": "sich",
            "reciprocal": "einander",
            "demonstrative": "dies dieser diese dieses diesen diesem jener jene jenes jenen jenem",
            "interrogative nominative": "wer",
            "interrogative accusative": "wen",
            "interrogative dative": "wem",
            "interrogative": "was",
            "relative": "welcher welche welches",
            "indefinite": "man jemand niemand etwas nichts alles jeder",
        }
    ),
    expletives=word_set("es"),
    articles=article_table(
        {
            "der": "masculine singular nominative -e, feminine singular dative genitive -en, "
            "plural genitive -en",
            "die": "feminine singular nominative accusative -e, plural nominative accusative -en",
            "das": "neuter singular nominative accusative -e",
            "den": "masculine singular accusative -en, plural dative -en",
            "dem": "masculine neuter singular dative -en",
            "des": "masculine neuter singular genitive -en",
        },
        {
            "ein": "masculine singular nominative, neuter singular nominative accusative",
            "eine": "feminine singular nominative accusative",
            "einen": "masculine singular accusative",
            "einem": "masculine neuter singular dative",
            "einer": "feminine singular dative genitive",
            "eines": "masculine neuter singular genitive",
        },
    ),
    connectives=connectives("de"),
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
    pronouns=pronoun_table(
        {
            "personal 1 singular": "io me mi",
            "personal 1 plural": "noi ci",
            "personal 2 singular": "tu te ti lei",
            "personal 2 plural": "voi vi",
            "personal 3 singular masculine": "lui egli esso",
            "personal 3 singular feminine": "lei ella essa",
            "personal 3 plural": "loro",
            "personal 3 plural masculine": "essi",
            "personal 3 plural feminine": "esse",
            "possessive 1": "mio mia miei mie nostro nostra nostri nostre",
            "possessive 2": "tuo tua tuoi tue vostro vostra vostri vostre",
            "possessive 3": "suo sua suoi sue loro",
            "reflexive 3": "si sé",
            "demonstrative": "questo questa questi queste quello quella quelli quelle ciò",
            "interrogative": "chi",
            "relative": "cui quale quali",
            "indefinite": "qualcuno nessuno qualcosa niente nulla tutto tutti ognuno",
        }
    ),
    articles=article_table(
        {
            "il": "masculine singular",
            "lo": "masculine singular",
            "l'": "masculine feminine singular",
            "la": "feminine singular",
            "i": "masculine plural",
            "gli": "masculine plural",
            "le": "feminine plural",
        },
        {
            "un": "masculine singular",
            "uno": "masculine singular",
            "una": "feminine singular",
            "un'": "feminine singular",
        },
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
    pronouns=pronoun_table(
        {
            "personal 1 singular": "我",
            "personal 1 plural": "我们 咱们 我們",
            "personal 2 singular": "你 您",
            "personal 2 plural": "你们 你們",
            "personal 3 singular masculine": "他",
            "personal 3 singular feminine": "她",
            "personal 3 singular neuter": "它",
            "personal 3 plural": "他们 他們",
            "personal 3 plural feminine": "她们 她們",
            "personal 3 plural neuter": "它们 它們",
            "reflexive": "自己",
            "demonstrative": "这 那 這",
            "interrogative": "谁 什么 誰 什麼",
            "indefinite": "大家 有人 人家",
        }
    ),
    connectives=connectives("zh"),
)
