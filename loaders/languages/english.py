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

_PERSONS = {
    "1": "i me my mine myself we us our ours ourselves",
    "2": "yourselves you your yours yourself thou thee thy",
    "3": "he him his himself she her hers herself it its itself they them their theirs themselves "
    "'em one oneself one's themself",
}

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
    # ``her`` has no type: it is personal or possessive by its place; ``that``, ``who`` and
    # ``which`` have the commonest of theirs.
    pronouns=pronoun_table(
        types={
            "personal": "i me us we you he him she it they them 'em thou thee",
            "possessive": "my mine our ours your yours his hers its their theirs thy one's",
            "reflexive": "myself ourselves yourself yourselves himself herself itself themselves "
            "themself oneself",
            "demonstrative": "this that these those",
            "interrogative": "what",
            "relative": "who whom whose which",
            "indefinite": "someone somebody something anyone anybody anything everyone everybody "
            "everything nobody nothing none one all both each some any many few several others "
            "another",
        },
        persons=_PERSONS,
        singular="i me my mine myself he him his himself she her hers herself it its itself",
        plural="we us our ours ourselves yourselves they them their theirs themselves 'em these "
        "those",
        genders={
            "masculine": "he him his himself",
            "feminine": "she her hers herself",
            "neuter": "it its itself",
        },
    ),
    articles=article_table({"the": ""}, {"a": "singular", "an": "singular"}),
    connectives=CONNECTIVES,
)
