"""Dutch.

Pronouns and articles: *Algemene Nederlandse Spraakkunst*, chapters 5 and 4 (https://e-ans.ivdnt.org).
``haar`` and ``hun`` are personal or possessive by their place, ``ze`` and ``zij`` singular or
plural by their verb; ``het`` is an article, too, and more often an expletive than not.
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
