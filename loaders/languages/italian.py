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
        types={
            "personal": "io me mi tu te ti lui lei egli ella esso essa noi ci voi vi loro essi "
            "esse",
            "possessive": "mio mia miei mie tuo tua tuoi tue suo sua suoi sue nostro nostra nostri "
            "nostre vostro vostra vostri vostre",
            "reflexive": "si sé",
            "demonstrative": "questo questa questi queste quello quella quelli quelle ciò",
            "interrogative": "chi",
            "relative": "cui quale quali",
            "indefinite": "qualcuno nessuno qualcosa niente nulla tutto tutti ognuno",
        },
        persons={
            "1": "io me mi mio mia miei mie noi ci nostro nostra nostri nostre",
            "2": "tu te ti tuo tua tuoi tue voi vi vostro vostra vostri vostre",
            "3": "lui egli ella esso essa loro essi esse suo sua suoi sue si sé",
        },
        singular="io me mi tu te ti lui egli ella esso essa",
        plural="noi voi essi esse",
        genders={"masculine": "lui egli esso essi", "feminine": "ella essa esse"},
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
