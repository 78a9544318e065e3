"""Chinese, in simplified or traditional characters.

No inflection, no articles; of pronouns the writing alone tells gender (``他``, ``她``, ``它``).
Zero pronouns are the rule where English has one. Pronouns: Li and Thompson, *Mandarin Chinese*
(1981), chapter 4.11. Where sentences end spaCy's sentencizer says (``。！？``).
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from coherencegym.loaders.languages.language import Language, pronoun_table
from coherencegym.loaders.languages.spacing import Spacing
from coherencegym.loaders.senses import connectives

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
