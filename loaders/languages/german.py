"""German.

Pronouns and articles: *Duden. Die Grammatik* (2016), §§ 352-394. ``sie`` and ``ihr`` are of several
persons, numbers and types, and have none here. A number with a point is an ordinal.
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
        types={
            "personal": "ich mich mir du dich dir er ihn ihm es wir uns euch sie ihnen",
            "possessive": "mein meine dein deine sein seine unser unsere euer eure",
            "reflexive": "sich",
            "reciprocal": "einander",
            "demonstrative": "dies dieser diese dieses jener jene jenes",
            "interrogative": "wer was wen wem",
            "relative": "welcher welche welches",
            "indefinite": "man jemand niemand etwas nichts alles jeder",
        },
        persons={
            "1": "ich mich mir mein meine wir uns unser unsere",
            "2": "du dich dir dein deine euch euer eure",
            "3": "er ihn ihm es sein seine sich",
        },
        singular="ich mich mir mein meine du dich dir dein deine er ihn ihm es sein seine",
        plural="wir uns unser unsere euch euer eure ihnen",
        genders={"masculine": "er ihn", "neuter": "es"},
    ),
    articles=article_table(
        {
            "der": "masculine feminine singular plural",
            "die": "feminine singular plural",
            "das": "neuter singular",
            "den": "masculine singular plural",
            "dem": "masculine neuter singular",
            "des": "masculine neuter singular",
        },
        {
            "ein": "masculine neuter singular",
            "eine": "feminine singular",
            "einen": "masculine singular",
            "einem": "masculine neuter singular",
            "einer": "feminine singular",
            "eines": "masculine neuter singular",
        },
    ),
    connectives=connectives("de"),
)
