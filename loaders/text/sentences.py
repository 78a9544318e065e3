"""Sentences of plain text, told from places that only could be ends of them.

:func:`split_sentences` is for articles, :func:`sentence_spans` for short texts that come without
sentence breaks, and :func:`rejoined` puts together what a splitter cut in two in tokenised text.

A nickname is whatever its owner liked, also a word of the language (``ubuntu``). Before a sign at
the beginning of a message (``ann: yes``, ``ann, ben: yes``) it is the one who is addressed,
in any letter case. Elsewhere it counts only as it is spelled, and only where it can be told from a
word: it has something other than letters (``ann_2``), or is more often addressed than not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from typing import Any

from coherencegym.loaders.corpus import CorpusError, ReadOptions
from coherencegym.loaders.discourse import Features, Mention
from coherencegym.loaders.formats.lines import RecordError, tidy
from coherencegym.loaders.languages.language import ENGLISH, SentenceRules
from coherencegym.loaders.languages.registry import language

#: The value of ``Features.entity`` of a mention of somebody who takes part in the conversation.
PARTICIPANT = "participant"

_ADDRESSEE = re.compile(r"[@(]?(?P<who>[^\s:,>]+)(?:[:,>]+(?=\s|$)| -+(?=\s))\s*")
_NICKNAME_WORD = re.compile(r"(?<!\S)[\"'(@]?(?P<who>[^\s\"'(@]\S*?)(?:'s)?[\"'),.:;!?>]*(?!\S)")


class Nicknames:
    """The names of all who take part in a log, and which of them its messages tell from words."""

    def __init__(self, names: Collection[str], messages: Iterable[str]) -> None:
        self._names = frozenset(names)
        self._folded = {name.casefold(): name for name in sorted(names)}
        addressed: Counter[str] = Counter()
        inside: Counter[str] = Counter()
        for message in messages:
            found = list(self._addressees(message))
            addressed.update(name for *_, name in found)
            start = found[-1][1] if found else 0
            inside.update(match["who"] for match in _NICKNAME_WORD.finditer(message, start))
        self._certain = {
            name for name in names if not name.isalpha() or addressed[name] > inside[name]
        }

    def mentions(self, message: str, unit: int, speaker: str | None = None) -> Iterator[Mention]:
        """The mentions in a message, in their order.

        ``speaker`` is the name that the message itself begins with (``ann waves``), if it does.
        """
        start = 0
        first = [(0, len(speaker), speaker)] if speaker is not None else self._addressees(message)
        for begin, start, name in first:
            yield _mention(unit, begin, start, name)
        for match in _NICKNAME_WORD.finditer(message, start):
            if match["who"] in self._certain:
                yield _mention(unit, *match.span("who"), match["who"])

    def _addressees(self, message: str) -> Iterator[tuple[int, int, str]]:
        at = 0
        while (match := _ADDRESSEE.match(message, at)) is not None:
            name = self._folded.get(match["who"].casefold())
            if name is None:
                return
            yield *match.span("who"), name
            at = match.end()


def _mention(unit: int, start: int, end: int, name: str) -> Mention:
    features = Features(entity=PARTICIPANT)
    return Mention(((unit, start, end),), chain=name, kind="proper", features=features)


_CLOSERS = "\"'”’»)]"
_OPENERS = "\"'“‘«([¿¡"

_LAST_WORD = re.compile(r"(?:^|(?<=[\s(\[\"'“‘«/–—-]))([^\W\d_](?:\.?[^\W\d_])*)\.$")
_INITIAL = re.compile(r"(?:^|(?<=[\s(\[\"'“‘«.-]))[^\W\d_]\.$")
_INITIALS = re.compile(r"(?:[^\W\d_]\.)+[^\W\d_]")
_NUMBERED = re.compile(r"^[(\[]?(?:\d{1,3}|[ivx]{1,4}|[a-zA-Z])[.)]$")
#: An ordinal, but no year.
_ORDINAL = re.compile(r"(?<!\w)\d{1,2}\.$")
_FOOTNOTE = re.compile(r"\[\d{1,3}\]")
_FOOTNOTES = re.compile(r"(?:\s*\[\d{1,3}\])+$")
_WORD = re.compile(r"[^\W\d_]+(?!\.)")

#: Runs of signs that no text needs: spaCy's tokenizer takes them off a word one by one, and copies
#: the rest of it each time.
_LONG_RUN = re.compile(r"(?<=[^\w\s]{2})[^\w\s]{100,}(?=[^\w\s]{2})")

#: Characters of the text before and after a place that decide.
_NEAR = 200

#: Places where spaCy's sentencizer sees no end, as its tokenizer keeps the full stop of ``U.S.``
#: and ``A.``, but there may be one; after an ellipsis; and behind the number of a footnote.
_MAY_END = re.compile(r"[.!?…][\"'”’»)\]]*(?:\s*\[\d{1,3}\])*\s+")

#: A stop before something in lower case: no ellipsis, and no quotation that goes on.
_PLAIN_STOP = re.compile(r"(?<![.…])(?:\.[\"'”’»)\]]*|[!?]+)$")

#: Words of short texts whose full stop ends no sentence; a letter is an initial, or ``b. 1980``.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘])"
    r"(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|Rev|Gen|Col|Capt|Lt|Sgt|Gov|Sen|Rep|No|vs|ca|cf|e\.g|i\.e|[A-Zbcdr])\.$"
)
_STOP = r"[.!?]+[\"'”’)\]]*"
_ENDS_IN_STOP = re.compile(f"{_STOP}$")
_GAP = re.compile(rf"(?<![.!?]){_STOP}\s+(?=[\"'“‘(\[]*(\w))")

#: Abbreviations of tokenised text before a number,
_OF_NUMBER = (
    r"No|Nos|c|ca|al|Op|op|Vol|vol|pp?|Fig|Figs|figs?|Eqs?|Sec|Art|Ch|Phys|Rev|Lett|Math|Nr"
)
#: abbreviations before a name,
_OF_NAME = (
    r"Mr|Mrs|Ms|Messrs|Dr|Drs|Prof|Rev|Fr|Hon|Gen|Col|Maj|Capt|Cpt|Lt|Sgt|Cpl|Gov|Govt|Sen|Rep|"
    r"Adm|Cmdr|Pres|Supt|St|Ste|Mt|Ft|vs|v|cf|viz|Phys|Math|Astron|Astrophys|Sci|Int|Nat|Proc|"
    r"Annu|Am|Soc|Univ|Dept|Bros|Msgr|Sr|resp"
)
#: abbreviations before anything that begins in lower case; one with a full stop inside is one, too.
_OF_MORE = (
    r"al|etc|Jr|Sr|Inc|Ltd|Co|Corp|ie|eg|approx|est|fl|lit|ft|in|Ph|Bus|Dept|incl|esp|Ing|"
    r"\w+(?:\.\w+)+|[A-Z]"
)
_BEFORE_NUMBER = re.compile(rf"(?:^|[\s.])(?:{_OF_NUMBER}) \.$")
_BEFORE_NAME = re.compile(rf"(?:^|\s)(?:{_OF_NAME}) \.$")
_BEFORE_LOWER = re.compile(rf"(?:^|\s)(?:{_OF_MORE}|{_OF_NAME}|{_OF_NUMBER}) \.(?: \))?$")


def split_sentences(
    text: str, code: str = "en", pipeline: str | None = None, options: ReadOptions | None = None
) -> Iterator[str]:
    """The sentences of a text, lazily by paragraph; an empty line always ends a sentence.

    By rule, spaCy's ``sentencizer`` says where sentences could end (it knows the full stops of many
    scripts), and :func:`is_sentence_end` which of these places are ends. In scripts without white
    space between sentences (Chinese, Japanese) the sentencizer has the last word. In a text in
    which a third of the sentences or more begin in lower case, any may.

    Args:
        text: plain text; a single line break is a space.
        code: ISO 639-1, of the language whose rules are used.
        pipeline: name of, or folder with, an installed spaCy pipeline that finds sentences; what it
            says is not corrected. None: the rules.
        options: count a text whose sentences begin in lower case.
    """
    splitter = _splitter(code, pipeline)
    if len(text) > splitter.max_length:
        problem = f"a text of {len(text):,} characters, expected at most {splitter.max_length:,}"
        raise RecordError(problem, "overlong field")
    paragraphs = re.split(r"\n\s*\n", text)
    rules, small = language(code).sentences, False
    if pipeline is None:
        paragraphs = list(map(tidy, paragraphs))
        small = _begin_small(paragraphs, rules)
    if small and options is not None:
        options.put_right("passages whose sentences begin in lower case, split at . ! ?")
    for paragraph in paragraphs:
        if pipeline is None:
            found = _by_rule(paragraph, splitter, rules, small)
        else:
            found = (sentence.text for sentence in splitter(paragraph).sents)
        yield from filter(None, map(tidy, found))


def _begin_small(paragraphs: Sequence[str], rules: SentenceRules) -> bool:
    starts = [paragraph.lstrip(_OPENERS)[:1] for paragraph in paragraphs[:1]]
    for paragraph in paragraphs:
        start = 0
        for gap in _MAY_END.finditer(paragraph):
            end = gap.end()
            before, after = paragraph[max(start, end - _NEAR) : end], paragraph[end : end + _NEAR]
            if is_sentence_end(before, after, rules, small=True):
                starts.append(after.lstrip(_OPENERS)[:1])
                start = end
    small = sum(map(str.islower, starts))
    return small >= 2 and 3 * small >= small + sum(map(str.isupper, starts))


def _by_rule(text: str, sentencizer: Any, rules: SentenceRules, small: bool) -> Iterator[str]:
    shielded = _LONG_RUN.sub(lambda run: "x" * len(run[0]), text)
    starts = {sentence.start_char for sentence in sentencizer(shielded).sents}
    # The sentencizer gives an opening quotation mark to the sentence before it.
    places = {_before_opening(text, start) for start in starts if start}
    places |= {match.end() for match in _MAY_END.finditer(text)}
    start = 0
    for place in sorted(places):
        spaced = text[place - 1 : place].isspace()
        if place == start or (not spaced and text[place - 1 : place].isascii()):
            continue
        if not spaced or is_sentence_end(
            text[start:place], text[place : place + 400], rules, small
        ):
            yield text[start:place]
            start = place
    yield text[start:]


def _before_opening(text: str, start: int) -> int:
    place = start
    while place and not text[place - 1].isspace() and not text[place - 1].isalnum():
        place -= 1
    return place if place and text[place - 1].isspace() else start


@lru_cache(maxsize=4)
def _splitter(code: str, pipeline: str | None) -> Any:
    import spacy

    if pipeline is None:
        try:
            splitter = spacy.blank(code)
        except ImportError as error:
            raise CorpusError(
                f"spaCy has no rules for the language {code!r}; name a trained pipeline"
            ) from error
        splitter.add_pipe("sentencizer")
        return splitter
    try:
        splitter = spacy.load(pipeline)
    except OSError as error:
        raise CorpusError(
            f"the spaCy pipeline {pipeline!r} is not installed; "
            f"get it with `python -m spacy download {pipeline}`"
        ) from error
    if not {"parser", "senter", "sentencizer"} & set(splitter.pipe_names):
        raise CorpusError(f"the spaCy pipeline {pipeline!r} does not find sentences")
    return splitter


def is_sentence_end(
    before: str, after: str, rules: SentenceRules = ENGLISH.sentences, small: bool = False
) -> bool:
    """Tell whether a sentence ends between two texts that white space parts.

    For languages whose sentences begin with a capital. None ends where
    ``after`` goes on in lower case or with a footnote (``[8]``), where ``before`` is nothing but
    the number of a list (``1.``), and inside round brackets that are closed soon.

    Args:
        before: the text from the last sentence end on, its closing quotation marks included.
        after: the text that follows.
        rules: the abbreviations of the language.
        small: a sentence of this text may begin in lower case.
    """
    before, after = _FOOTNOTES.sub("", before.rstrip()), after.lstrip()[:_NEAR]
    if not after:
        return True
    if _FOOTNOTE.match(after):
        return False
    first = after.lstrip(_OPENERS)[:1]
    if first.islower() and not (small and _may_precede_small(before)):
        return False
    if not (first.isalnum() or after[0] in _OPENERS):
        return False
    if _NUMBERED.match(before) or _inside_brackets(before, after):
        return False
    stripped = before.rstrip(_CLOSERS)
    if stripped[-1:] in ",:;&/–—-" or before[-1:] in _OPENERS.replace('"', "").replace("'", ""):
        return False
    if stripped != before and stripped[-1:] in ("!", "?") and _reports(after, rules):
        return False
    if not stripped.endswith(".") or stripped.endswith(".."):
        return True
    quoted = stripped != before
    return _stop_ends_sentence(stripped[-_NEAR:], after.lstrip(_OPENERS), quoted, rules)


def _may_precede_small(before: str) -> bool:
    # Not behind ``Yahoo!``.
    word = before.rpartition(" ")[2].lstrip(_OPENERS)
    is_name = word[:1].isupper() and before[-1:] in "!?"
    return not is_name and _PLAIN_STOP.search(before) is not None


def _reports(after: str, rules: SentenceRules) -> bool:
    said = rf"(?:[A-Z][\w.’'-]*\s+){{1,3}}(?:{rules.reporting})\b"
    return bool(rules.reporting and re.match(said, after))


def _stop_ends_sentence(before: str, after: str, quoted: bool, rules: SentenceRules) -> bool:
    if rules.ordinal_points and _ORDINAL.search(before):
        return False
    match = _LAST_WORD.search(before)
    if match is None:
        return True
    word, following = match[1].lower(), _WORD.match(after)
    starts = following is not None and following[0] in rules.starters
    if quoted and len(word) > 1:
        return True
    if len(word) > 1 and word in rules.never_last:
        return word in rules.words_too and starts
    if _INITIAL.search(before) or word in rules.never_last:
        return starts and match[1] != "c"
    return starts or not (word in rules.sometimes_last or _INITIALS.fullmatch(word))


def _inside_brackets(before: str, after: str) -> bool:
    if before.count("(") <= before.count(")"):
        return False
    closing, opening = after.find(")"), after.find("(")
    return closing >= 0 and (opening < 0 or closing < opening)


def ends_sentence(text: str) -> bool:
    """Tell whether what follows a short ``text`` begins a sentence; true of an empty text."""
    text = text.rstrip()[-_NEAR:]
    return not text or bool(_ENDS_IN_STOP.search(text) and not _ABBREVIATION.search(text))


def sentence_spans(text: str) -> list[tuple[int, int]]:
    """Start and end (characters) of each sentence of a text, without the white space between.

    A sentence ends at ``.``, ``!`` or ``?``, closing quotation marks and brackets included, where a
    capital letter or a digit follows: ``"Stop!" she said`` is one sentence. ``Dr.`` and the like
    end none.
    """
    spans, start = [], len(text) - len(text.lstrip())
    for gap in _GAP.finditer(text):
        end = gap.start() + len(gap[0].rstrip())
        if (gap[1].isupper() or gap[1].isdigit()) and ends_sentence(text[start:end]):
            spans.append((start, end))
            start = gap.end()
    if text[start:].strip():
        spans.append((start, len(text.rstrip())))
    return spans


def rejoined(sentences: Sequence[str]) -> list[str]:
    """The tokenised sentences with those joined that were one (``the No . | 7 is a lock``)."""
    whole: list[str] = []
    for sentence in sentences:
        if whole and sentence == "." and whole[-1][-1:] in {".", "!", "?"}:
            continue  # a full stop after a full stop
        if whole and _continues(whole[-1], sentence):
            whole[-1] += f" {sentence}"
        else:
            whole.append(sentence)
    return whole


def _continues(before: str, sentence: str) -> bool:
    if not any(map(str.isalnum, before)) or not any(map(str.isalnum, sentence)):
        return True
    first = sentence[0]
    if first in ",;:)]}%&":
        return True
    if first.isdigit():
        return _BEFORE_NUMBER.search(before) is not None
    if first.isupper() or first in "([`'":
        return _BEFORE_NAME.search(before) is not None
    return first.islower() and _BEFORE_LOWER.search(before) is not None
