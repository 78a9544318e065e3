"""English: the tables that readers and operators have of it, as one value.

Pronouns, articles and abbreviations are here, spaces in :mod:`loaders.text.detokenize`, connectives
in ``connectives/en.tsv``, classes of words in :mod:`coherencegym.words`.
"""

from __future__ import annotations

from coherencegym.loaders.languages.language import (
    Language,
    SentenceRules,
    article_table,
    pronoun_table,
)
from coherencegym.loaders.senses import CONNECTIVES
from coherencegym.loaders.text.detokenize import lay_out
from coherencegym.words import word_set

_NEVER_LAST = """
    adm approx arr assoc asst attn ave b bapt brig bro brt bt c ca capt cf cmdr col comdr cpl cr
    d dr e.g ed eds esp est excl fig figs fl fr fs ft gen gov hon hr i.e illus incl insp intro
    introd kgl lat lit lt maj messrs mgr mlle mme mr mrs ms mt nee no nos née op orig p perf pfc
    plc pp pres prof pseud pt publ pvt q.v r rep repr resp ret rev rt sen sfc sgt spc ss st ste
    supt syn tr trans treas univ v var viz vol vols vs
"""
_SOMETIMES_LAST = """
    a.d a.k.a a.m al apr aug avg b.a b.c b.s bc bldg blvd bros cm co corp ct cv d.c dept dist div
    etc ext feb fri hrs inc jan jr jul jun kg km lb lbs ltd m.a m.d mi mins mm mo mph n.y nov
    oct oz p.m ph.d rd sec sep sept sp spp sq sr ssp st subsp thu thurs tue tues u.k u.n u.s
    u.s.a u.s.s.r wed yr yrs
"""
_STARTERS = """
    A About According After Afterwards All Along Also Although Among An And Another Any As At
    Based Because Before Besides Born Both Built But By Currently Despite Directed Do Does Due
    During Each Either Established Even Every Few Finally First Following For Formed Founded
    From Furthermore Given He Her Here His How However I If In Including Initially Instead It
    Its Just Known Later Like Located Many Meanwhile More Moreover Most Much My Named Nearby
    Neither Nevertheless No None Nor Not Nowadays Of Often On Once One Only Or Originally Other
    Others Our Over Overall People Perhaps Prior Produced Recently Released She Similarly Since
    So Some Sometimes Soon Still Subsequently Such That The Their Then There Thereafter These
    They This Those Though Through Throughout Thus To Today Together Two Under Unlike Until Upon
    Usually Was We Were What When Where Whether Which While Who Why With Within Without You Your
"""

ENGLISH = Language(
    code="en",
    name="English",
    lay_out=lay_out,
    sentences=SentenceRules(
        never_last=word_set(_NEVER_LAST),
        words_too=word_set("no ed ms est fig var ret st"),
        sometimes_last=word_set(_SOMETIMES_LAST),
        starters=word_set(_STARTERS),
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
