"""Ends of sentences, told from places that only could be ends: abbreviations, initials, quotations.

English, and what other languages written in Latin letters share with it. A place is given as the
text before it and the text after it; both are only looked at near the place.
"""

from __future__ import annotations

import re

_NEVER = """
    adm approx arr assoc asst attn ave b bapt brig bro brt bt c ca capt cf cmdr col comdr cpl cr
    d dr e.g ed eds esp est excl fig figs fl fr fs ft gen gov hon hr i.e illus incl insp intro
    introd kgl lat lit lt maj messrs mgr mlle mme mr mrs ms mt nee no nos née op orig p perf pfc
    plc pp pres prof pseud pt publ pvt q.v r rep repr resp ret rev rt sen sfc sgt spc ss st ste
    supt syn tr trans treas univ v var viz vol vols vs
"""
#: Abbreviations that something always follows: their full stop ends no sentence.
NEVER = frozenset(_NEVER.split())

_SOMETIMES = """
    a.d a.k.a a.m al apr aug avg b.a b.c b.s bc bldg blvd bros cm co corp ct cv d.c dept dist div
    etc ext feb fri hrs inc jan jr jul jun kg km lb lbs ltd m.a m.d mi mins mm mo mph n.y nov
    oct oz p.m ph.d rd sec sep sept sp spp sq sr ssp st subsp thu thurs tue tues u.k u.n u.s
    u.s.a u.s.s.r wed yr yrs
"""
#: Abbreviations that can be the last word of a sentence, such as *Inc.* and *U.S.*
SOMETIMES = frozenset(_SOMETIMES.split())

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
#: Capitalised words that begin sentences and hardly ever follow an abbreviation in one.
STARTERS = frozenset(_STARTERS.split())

#: Verbs that say who spoke: after a quotation that ends in ``!`` or ``?`` the sentence goes on.
_SAID = (
    r"said|asked|cried|shouted|replied|answered|exclaimed|added|whispered|yelled|called|wrote|"
    r"wondered|says|asks|told|remarked|explained"
)
_REPORT = re.compile(rf"(?:[A-Z][\w.’'-]*\s+){{1,3}}(?:{_SAID})\b")

_CLOSERS = "\"'”’»)]"
_OPENERS = "\"'“‘«([¿¡"

_LAST_WORD = re.compile(r"(?:^|(?<=[\s(\[\"'“‘«/–—-]))([^\W\d_](?:\.?[^\W\d_])*)\.$")
_INITIAL = re.compile(r"(?:^|(?<=[\s(\[\"'“‘«.-]))[^\W\d_]\.$")
_NUMBERED = re.compile(r"^[(\[]?(?:\d{1,3}|[ivx]{1,4}|[a-zA-Z])[.)]$")
_FOOTNOTE = re.compile(r"\[\d{1,3}\]")
_FOOTNOTES = re.compile(r"(?:\s*\[\d{1,3}\])+$")
_WORD = re.compile(r"[^\W\d_]+(?!\.)")

#: Characters of the text before and after that decide.
NEAR = 200


def is_sentence_end(before: str, after: str) -> bool:
    """Tell whether a sentence ends between two texts that white space parts.

    Args:
        before: the text from the last sentence end on, its closing quotation marks included.
        after: the text that follows.

    Returns:
        False also where ``after`` goes on in lower case or with a footnote (``[8]``), where
        ``before`` is nothing but the number of a list (``1.``), and inside round brackets that are
        closed soon.
    """
    before, after = _FOOTNOTES.sub("", before.rstrip()), after.lstrip()[:NEAR]
    if not after:
        return True
    if _FOOTNOTE.match(after):
        return False
    first = after.lstrip(_OPENERS)[:1]
    if first.islower() or not (first.isalnum() or after[0] in _OPENERS):
        return False
    if _NUMBERED.match(before) or _inside_brackets(before, after):
        return False
    stripped = before.rstrip(_CLOSERS)
    if stripped[-1:] in ",:;&/–—-" or before[-1:] in _OPENERS.replace('"', "").replace("'", ""):
        return False
    if stripped != before and stripped[-1:] in ("!", "?") and _REPORT.match(after):
        return False
    if not stripped.endswith(".") or stripped.endswith(".."):
        return True
    return _ends_with_word(stripped[-NEAR:], after.lstrip(_OPENERS), quoted=stripped != before)


def _ends_with_word(before: str, after: str, quoted: bool) -> bool:
    """Tell whether the full stop after the last word of ``before`` ends a sentence."""
    match = _LAST_WORD.search(before)
    if match is None:
        return True
    word, following = match[1].lower(), _WORD.match(after)
    starts = following is not None and following[0] in STARTERS
    if quoted and len(word) > 1:
        return True
    if len(word) > 1 and word in NEVER:
        # Told apart from words (``No.``, ``Fig.``) by the number or name that follows.
        return word in ("no", "ed", "ms", "est", "fig", "var", "ret", "st") and starts
    if _INITIAL.search(before) or word in NEVER:
        return starts and match[1] != "c"
    if word in SOMETIMES or re.fullmatch(r"(?:[^\W\d_]\.)+[^\W\d_]", word):
        return starts
    return True


def _inside_brackets(before: str, after: str) -> bool:
    """Tell whether a round bracket is open that ``after`` closes before it opens another."""
    if before.count("(") <= before.count(")"):
        return False
    closing, opening = after.find(")"), after.find("(")
    return closing >= 0 and (opening < 0 or closing < opening)
