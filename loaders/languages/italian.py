"""Italian.

Pronouns and articles: Serianni, *Grammatica italiana* (1989), chapters VII and IV. ``l'`` and the
articles that are one word with a preposition (``dell'``) touch the next word; ``lo``, ``la`` and
``gli`` are articles more often than pronouns, and have no entry as these.
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
from coherencegym.words import word_set

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
