"""German.

Pronouns and articles: *Duden. Die Grammatik* (2016), §§ 352-394; the adjectives after them: its
chapter on the adjective. The polite ``Sie`` and ``Ihr`` are the third person's forms with a
capital, and have no rows of their own. A number with a point is an ordinal.
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
