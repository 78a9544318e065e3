"""Turn tokenised text back into what a reader would see.

Meant for two traditions: lower-case dialogue data with every sign set apart
(``i don ' t know .``, or with the apostrophe lost: ``i don t know .``), and Penn Treebank text
(``do n't``, two backquotes, ``-LRB-``). Signs are joined to words only where they stand alone
between spaces, so text in natural spelling passes unchanged. Nothing is invented: no capitals, no
missing full stops.

A backquote that stands alone opens a quotation in a quotation. Two backquotes open and two
apostrophes close a quotation where a text has both. Where it has one of them only, and with ``"``,
marks open and close by turns.

What tokenisation destroyed is left as it is where there are two readings: ``10 17`` (a time),
``t shirt`` (a hyphen), ``1 , 1`` (a list or a number).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

#: Pattern -> replacement, and pieces in lower case one of which stands in the text wherever the
#: pattern matches: most texts have none, which shows in a fraction of the time.
_Rules = Mapping[str, tuple[str | Callable[[re.Match[str]], str], tuple[str, ...]]]

#: Signs that the Penn Treebank writes otherwise.
BRACKETS = {
    "-LRB-": "(", "-RRB-": ")", "-LSB-": "[", "-RSB-": "]", "-LCB-": "{", "-RCB-": "}",
    "``": '"', "''": '"', "`": "'",
}  # fmt: skip

#: Characters that may follow a sign that stood alone: a quotation mark that was joined already,
#: other signs.
_END = r"(?=[\"']*(?:[.,;:!?…]|\s|$))"

#: Words and decades that begin with an apostrophe: ``'em``, ``'til``, ``'80s``.
_ELIDED = r"(?:[Ee]m|[Nn]|[Tt]il|[Tt]is|[Tt]was|[Cc]ause|[Rr]ound|\d\ds?(?!-))(?![\w'])"
_BEFORE_ELIDED = re.compile(rf"' {_ELIDED}(?! ')")
_MARK = re.compile(rf"(?<!\S)(?:(?P<lone>')(?!\S)|[`'](?=\w)(?!{_ELIDED}))")
#: The text before a lone apostrophe: a number (``10 ' 17``), what may be a plural.
_NUMBER, _PLURAL = re.compile(r"[0-9] \Z"), re.compile(r"\ws \Z")


def _without_spaces(match: re.Match[str]) -> str:
    return match[0].replace(" ", "")


#: Signs that the words beside them tell. Rules are in order.
_IN_WORDS: _Rules = {
    # “ so ” ‘ so ’ it ’ s, I ’M, CA N’T
    r"(?i)(?<=\w) ’ (t|s|m|re|ve|ll|d)(?![\w’])": (r"’\1", (" ’ ",)),
    r"(?i)(?<=\w) (n’t|’(?:t|s|m|re|ve|ll|d))(?![\w’])": (r"\1", (" n’t", " ’")),
    r"(?<!\S)([“‘]) (?=\S)": (r"\1", ("“ ", "‘ ")),
    r"(?<=\S) ([”’])(?!\w)": (r"\1", (" ”", " ’")),
    # don ' t, do n't, it 's, rock ' n roll, gon na
    r"(?i)(?<=\w) ' (t|s|m|re|ve|ll|d)(?![\w'])": (r"'\1", (" ' ",)),
    r"(?i)(?<=\w) (n't|'(?:t|s|m|re|ve|ll|d))(?![\w'])": (r"\1", (" n't", " '")),
    r"(?<=\w) ' n(?= \w)": (r" 'n", (" ' n ",)),
    r"(?i)\b(gon|wan) (na)(?!\S)": (r"\1\2", ("n na",)),
}
#: Ends of contractions, where its apostrophe is lost: i m, don t. In lower case only, for
#: the data that lost its apostrophes has no capitals.
_CLITICS = frozenset(("t", "s", "m", "re", "ve", "ll", "d"))
_CONTRACTIONS: _Rules = {
    r"(?<!\S)(i) (m|ve|ll|d)(?!\S)": (r"\1'\2", ("i ",)),
    r"(?<!\S)(you|we|they) (re|ve|ll|d)(?!\S)": (r"\1'\2", ("you ", "we ", "they ")),
    r"(?<!\S)(he|she|it) (s|ll|d)(?!\S)": (r"\1'\2", ("he ", "it ")),
    r"(?<!\S)(that|what|who|there|here|where|how|let) (s)(?!\S)": (r"\1'\2", (" s",)),
    r"(?<!\S)((?:are|ca|could|did|do|does|had|has|have|is|might|must|should|was|were|wo|would)n)"
    r" (t)(?!\S)": (r"\1'\2", ("n t",)),
}
_NUMBERS: _Rules = {
    # 70 , 000 and 97 . 9, 10 : 30, $ 5, # 5, 5 %
    r"(?<!\S)(\d{1,3}(?: , \d{3})+)(?!\S)": (_without_spaces, (" , ",)),
    r"(?<!\S)(\d+) ([.:]) (\d+)(?!\S)": (r"\1\2\3", (" . ", " : ")),
    r"(?<!\S)([$£€#]) (?=\d)": (r"\1", ("$ ", "£ ", "€ ", "# ")),
    r"(?<=\d) %(?!\S)": ("%", (" %",)),
    # u . s . (a single letter at the end of a sentence is no abbreviation)
    r"(?<!\S)[A-Za-z] \.(?: [A-Za-z] \.)+(?!\S)": (_without_spaces, (" . ",)),
}
#: Signs that are told once other signs are joined.
_AFTER_SIGNS: _Rules = {
    # word ( s ), ( so )
    r"(?<=\w) \( (s|es) \)(?!\w)": (r"(\1)", (" ( ",)),
    r"(?<!\S)([\"']*[(\[{]) (?=\S)": (r"\1", ("( ", "[ ", "{ ")),
    rf"(?<=\S) ([)\]}}]){_END}": (r"\1", (" )", " ]", " }")),
    # "Emma" 's
    r"(?<=[.!?\"”)\]}>]) ('s)(?![\w'])": (r"\1", (" 's",)),
}


def detokenize(text: str) -> str:
    """The text as a reader would see it; text that is not tokenised comes back unchanged.

    White space at the ends is dropped where there is anything to do.

    >>> detokenize("hello , how are you ? i don ' t know . . .")
    "hello, how are you? i don't know..."
    """
    text = _replaced(_treebank_signs(text), _IN_WORDS)
    if not _CLITICS.isdisjoint(text.split()):
        text = _replaced(text, _CONTRACTIONS)
    text = _replaced(text, _NUMBERS)
    if '"' in text:
        # Lone quotation marks open and close by turns; one alone ends a word, or begins the text.
        marks = [match.start() for match in re.finditer(r'(?<!\S)"(?!\S)', text)]
        text = _joined(text, *_by_turns(marks))
    return _replaced(_closing_signs(_apostrophes(text)), _AFTER_SIGNS)


def _replaced(text: str, rules: _Rules) -> str:
    lower = text.lower()  # rules only join: they make no piece that is not there now
    for pattern, (replacement, pieces) in rules.items():
        if any(map(lower.__contains__, pieces)):
            text = re.sub(pattern, replacement, text)
    return text


def lay_out(tokens: Sequence[str]) -> tuple[str, list[tuple[int, int]]]:
    """The text of some tokens as a reader would see it, and the place of each token in it.

    >>> lay_out(["-LRB-", "I", "do", "n't", "-RRB-"])
    ("(I don't)", [(0, 1), (1, 2), (3, 5), (5, 8), (8, 9)])
    """
    forms = [BRACKETS.get(token, token) for token in tokens]
    plain = " ".join(forms)
    # Of the tokens, not of their forms: two backquotes open, and ``"`` says nothing of that.
    text = detokenize(" ".join(tokens))
    if "".join(text.split()) != "".join(plain.split()):
        text = plain  # a sign was put in or changed, so the places would be lost
    # Only white space differs, so the characters of the text belong to the tokens in order.
    at = [index for index, character in enumerate(text) if not character.isspace()]
    places: list[tuple[int, int]] = []
    used = 0
    for form in forms:
        start, used = used, used + len("".join(form.split()))
        if start == used:
            raise ValueError(f"a token without characters: {form!r}")
        places.append((at[start], at[used - 1] + 1))
    return text, places


def _treebank_signs(text: str) -> str:
    if not any(piece in text for piece in ("`", "''", "B-")):
        return text
    text = re.sub(r"(?<!\S)`(?:\s+(?=\S)|(?!\S))", "'", text)  # one alone opens
    text = re.sub(r"(?<!\S)``\s+''(?!\S)", '""', text)  # nothing is quoted
    tokens = text.split()
    opening, closing = tokens.count("``"), tokens.count("''")
    if (opening and closing) or opening == 1:
        text = re.sub(r"(?<!\S)``\s+(?=\S)", '"', text)
    if (opening and closing) or closing == 1:
        text = re.sub(r"(?<=\S)\s+''(?!\S)", '"', text)
    return re.sub(r"(?<!\S)(?:-[LR][RSC]B-|``|'')(?!\S)", lambda m: BRACKETS[m.group()], text)


def _apostrophes(text: str) -> str:
    # In front of what is elided, after a plural, or around a quotation. One that follows a
    # quotation that is open (```so ' he said``) closes it.
    if "'" not in text and "`" not in text:
        return text
    left, right, pairs = list[int](), list[int](), list[int]()
    is_open = False
    for match in _MARK.finditer(text):
        place = match.start()
        if not match["lone"]:
            is_open = True
        elif is_open:
            left.append(place)
            is_open = False
        elif _BEFORE_ELIDED.match(text, place) and not _is_behind(_NUMBER, text, place):
            right.append(place)
        else:
            pairs.append(place)
    last = len(text) - 2
    plurals = [place for place in pairs if place < last and _is_behind(_PLURAL, text, place)]
    if len(pairs) > 1:
        # Of two that could both be a plural's neither is a quotation's; of an odd number one is.
        spare = plurals if len(plurals) == len(pairs) else plurals[: len(pairs) % 2]
        left += spare
        pairs = sorted(set(pairs) - set(spare))
    opening, closing = _by_turns(pairs)
    return _joined(text, right + opening, left + closing)


def _is_behind(pattern: re.Pattern[str], text: str, place: int) -> bool:
    return pattern.search(text, max(0, place - 3), place) is not None


def _by_turns(marks: Sequence[int]) -> tuple[list[int], list[int]]:
    # The last of an odd number closes, unless it begins the text.
    paired = len(marks) - len(marks) % 2
    opening, closing = list(marks[:paired:2]), list(marks[1:paired:2])
    (closing if not marks or marks[-1] else opening).extend(marks[paired:])
    return opening, closing


def _joined(text: str, opening: Sequence[int], closing: Sequence[int]) -> str:
    gone: set[int] = set()
    for step, ends in ((-1, closing), (1, opening)):
        for place in ends:
            at = place + step
            while 0 <= at < len(text) and text[at].isspace():
                gone.add(at)
                at += step
    return "".join(letter for at, letter in enumerate(text) if at not in gone)


def _closing_signs(text: str) -> str:
    # An ellipsis between spaces is natural spelling too, unless another sign stands alone.
    if not re.search(r"(?<!\S)[.,;:!?](?=[\"']*(?:\s|$))", text):
        return text
    return re.sub(rf"(?<=\S) ((?:[.,;:!?…]+ )*[.,;:!?…]+){_END}", _without_spaces, text)
