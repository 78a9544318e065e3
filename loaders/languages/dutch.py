"""Dutch.

Pronouns and articles: *Algemene Nederlandse Spraakkunst*, chapters 5 and 4 (https://e-ans.ivdnt.org).
``haar`` and ``hun`` are personal or possessive by their place, and have no type; ``ze`` and ``zij``
are singular or plural by their verb, and have no number; ``het`` is an article, too, and more often
an expletive than not.
"""

from __future__ import annotations

from coherencegym.loaders.languages.language import (
    Language,
    SentenceRules,
    abbreviations,
    article_table,
    pronoun_table,
)
from coherencegym.loaders.languages.spacing import Spacing
from coherencegym.loaders.senses import connectives
from coherencegym.words import word_set

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
    pronouns=pronoun_table(
        types={
            "personal": "ik me mij jij je jou u hij hem zij ze het we wij ons jullie hen 'm 't 'k "
            "gij ge ie",
            "possessive": "mijn m'n jouw uw zijn z'n onze d'r hare zijne",
            "reflexive": "zich zichzelf mezelf mijzelf jezelf uzelf onszelf hemzelf haarzelf",
            "reciprocal": "elkaar elkander mekaar",
            "demonstrative": "dit dat deze die",
            "interrogative": "wie wat",
            "relative": "welke welk",
            "indefinite": "men iemand niemand iets niets alles iedereen ieder elk enige sommige "
            "sommigen velen",
        },
        persons={
            "1": "ik me mij mijn m'n we wij ons onze mezelf mijzelf onszelf 'k",
            "2": "jij je jou u jouw uw jullie jezelf uzelf gij ge",
            "3": "hij hem zij ze het zijn z'n haar hare d'r hen hun 'm 't ie zich zichzelf "
            "hemzelf haarzelf zijne",
        },
        singular="ik me mij mijn m'n mezelf mijzelf 'k hij hem het zijn z'n haar hare d'r 'm 't ie "
        "hemzelf haarzelf zijne jij jou jouw",
        plural="we wij ons onze onszelf jullie hen hun",
        genders={
            "masculine": "hij hem 'm ie hemzelf",
            "feminine": "haar hare d'r haarzelf",
            "neuter": "het 't",
        },
    ),
    # The articles of older spelling (den, eenen) agree in case, too: they are the novels' own.
    articles=article_table(
        {
            "de": "masculine feminine singular plural",
            "het": "neuter singular",
            "'t": "neuter singular",
        },
        {"een": "singular", "'n": "singular"},
    ),
    connectives=connectives("nl"),
)
