"""Ubuntu's chat logs, taken apart into threads by the annotation of who replies to whom.

Kummerfeld et al. 2019: ``<log>.raw.txt`` is a log of many conversations at once, and
``<log>.annotation.txt`` has lines such as ``1002 1003 -``, each of two numbers of lines of the log,
counted from 0, of which one replies to the other; a line that replies to none has itself. A thread
is what replies hold together, in the order of the log. Its units are the messages with their
speakers, as they were written; what the server says (``=== ann has joined``) is no unit, and of
what people do (``/me``: ``=== ann waves``, ``* ann waves``) the unit is ``ann waves``. Mentions are
the nicknames in messages (:mod:`loaders.text.sentences`) of whoever speaks, comes or goes in the
log.

Annotated is the end of each log; the lines before it are context for annotators, so a thread's
beginning may be missing. Threads of fewer than three messages are left out and counted. An id is
``<log>/<first line>``, counted from 1. ``meta`` has ``log``, ``domain``, which is ``chat``, and
``replies``: for each reply the units of the earlier message and of the later one (``0-1 0-2``).
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import (
    LineError,
    check_text,
    numbered_lines,
    reporting,
    shown,
    text_problem,
    tidy,
)
from coherencegym.loaders.text.sentences import Nicknames

#: Messages that a thread has at least.
_SHORTEST = 3

#: The logs of data/dev and data/test; those to train on have ``train`` in their names.
_VALIDATION = (
    "2004-11-15_03 2005-06-27_12 2005-08-08_01 2008-12-11_11 2009-02-23_10 2009-03-03_10 "
    "2009-10-01_17 2011-05-29_19 2011-11-13_02 2016-12-19_20"
)
_TEST = (
    "2005-07-06_14 2007-01-11_12 2007-12-01_03 2008-07-14_18 2010-08-17_18 2013-09-01_02 "
    "2014-06-18_13 2015-03-18_05 2016-02-22_17 2016-06-08_07"
)

_ANNOTATION = ".annotation.txt"
_LINK = re.compile(r"([0-9]{1,7}) ([0-9]{1,7}) -\s*")
_LINE = re.compile(r"===|\[[0-9:]{5,8}\] ")
_MESSAGE = re.compile(r"\[[0-9:]{5,8}\] <(?P<who>[^>\s]+)>(?P<said>.*)")
_ACTION = re.compile(r"(?:===|\[[0-9:]{5,8}\]\s+\*) (?P<who>\S+) (?P<does>.*)")
#: Somebody comes or goes: also whoever says nothing may be spoken to.
_JOINED = re.compile(r"=== (?P<who>\S+) (?:\[|has (?:joined|left|quit)\b|is now known as\b)")
#: Messages of the server about a user or the channel.
_SERVER = re.compile(
    r"=== (?:\S+ \[[^\]]*\]\s+(?:has|is|was)\b|\S+ (?:is now known as|has (?:joined|left|quit))\b|"
    r"mode/|\.\.\[|\S+ (?:sets mode|changed the topic)\b)"
)

#: The speaker, the text, and whether it tells what they do.
_Message = tuple[str, str, bool]


def read_threads(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read the threads of a log; ``file`` is its annotation, beside which the log stands."""
    raw = CorpusFile(_raw_file(file.path), file.split)
    if not raw.path.is_file():
        raise CorpusError(f"{file.path}:1: its log is missing, expected {raw.path}")
    links = list(_links(file, options))
    lines, count, names = _lines(raw, {number for _, *link in links for number in link})
    if not any(map(_LINE.match, lines.values())):
        raise CorpusError(
            f"{raw.path}:1: no line of a chat log, expected such as '[03:10] <nick> text'"
        )
    bad = set()
    for number, text in sorted(lines.items()):
        if problem := text_problem(text):
            options.bad(f"{raw.path}:{number + 1}: {problem[0]}", problem[1])
            bad.add(number)
    known = []
    for line, *link in links:
        if lines.keys() >= set(link):
            known.append(link)
            continue
        needed = f"{max(link) + 1:,}, by line {line} of {file.path.name} (which counts from 0)"
        too_few = f"{count:,} lines, expected at least {needed}"
        options.bad(f"{raw.path}:1: {too_few}", "log cut off")
    messages = {number: _message(text) for number, text in lines.items()}
    nicknames = Nicknames(names, [message[1] for message in messages.values() if message])
    replies: dict[int, list[int]] = defaultdict(list)
    for earlier, later in sorted({(min(link), max(link)) for link in known}):
        if earlier < later:
            replies[later].append(earlier)
    for thread in filter(bad.isdisjoint, _components(known)):
        said = [(number, message) for number in thread if (message := messages[number])]
        if len(said) >= _SHORTEST:
            yield _discourse(corpus, file, raw.path.name, said, replies, nicknames)
        elif said:
            options.skipped["a thread of fewer than three messages"] += 1


def _raw_file(path: Path) -> Path:
    return path.with_name(path.name[: -len(_ANNOTATION)] + ".raw.txt")


def _links(file: CorpusFile, options: ReadOptions) -> Iterator[tuple[int, int, int]]:
    found = False
    for line, text in numbered_lines(file):
        if match := _LINK.fullmatch(text):
            found = True
            yield line, int(match[1]), int(match[2])
        elif text.strip():
            problem = f"{shown(text)}, expected two numbers of lines such as '1002 1003 -'"
            with reporting(file, options):
                check_text(text, line)
                raise LineError(line, problem, "malformed link")
    if not found:
        raise CorpusError(f"{file.path}:1: no link, expected lines such as '1002 1003 -'")


def _lines(raw: CorpusFile, wanted: set[int]) -> tuple[dict[int, str], int, set[str]]:
    lines: dict[int, str] = {}
    names: set[str] = set()
    count = 0
    for count, text in numbered_lines(raw):
        if count - 1 in wanted:
            lines[count - 1] = text
        if who := _MESSAGE.fullmatch(text) or _JOINED.match(text):
            names.add(who["who"])
    return lines, count, names


def _components(links: Iterable[Sequence[int]]) -> list[list[int]]:
    of: dict[int, list[int]] = {}
    for one, other in links:
        first, second = of.setdefault(one, [one]), of.setdefault(other, [other])
        if first is not second:
            small, large = sorted((first, second), key=len)
            large += small
            of.update(dict.fromkeys(small, large))
    return sorted(sorted(component) for component in {id(c): c for c in of.values()}.values())


def _discourse(
    corpus: Corpus,
    file: CorpusFile,
    raw: str,
    thread: Sequence[tuple[int, _Message]],
    replies: Mapping[int, Sequence[int]],
    nicknames: Nicknames,
) -> Discourse:
    unit_of = {number: unit for unit, (number, _) in enumerate(thread)}
    links = " ".join(
        f"{unit_of[earlier]}-{unit}"
        for number, unit in unit_of.items()
        for earlier in replies.get(number, ())
        if earlier in unit_of
    )
    log = tidy(file.path.name[: -len(_ANNOTATION)])
    return Discourse(
        id=f"{log}/{thread[0][0] + 1}",
        corpus=corpus.name,
        units=tuple(
            Unit(said, who, SourceSpan(raw, number + 1, number + 1))
            for number, (who, said, _) in thread
        ),
        mentions=tuple(
            mention
            for unit, (_, (who, said, acts)) in enumerate(thread)
            for mention in nicknames.mentions(said, unit, who if acts else None)
        ),
        meta={"split": file.split, "domain": "chat", "log": log, "replies": links},
    )


def _message(text: str) -> _Message | None:
    if match := _MESSAGE.fullmatch(text):
        who, said, acts = tidy(match["who"]), tidy(match["said"]), False
    elif (match := _ACTION.fullmatch(text)) and not _SERVER.match(text):
        who, said, acts = tidy(match["who"]), tidy(match["does"]), True
        said = said and f"{who} {said}"
    else:
        return None
    return (who, said, acts) if who and said else None


def _parts(path: Path) -> tuple[Path, ...]:
    return (path, raw) if (raw := _raw_file(path)).is_file() else (path,)


def _patterns() -> Iterator[FilePattern]:
    example = f"data/{{0}}/<log>{_ANNOTATION}"
    for folder, split in (("train", "train"), ("dev", "validation"), ("test", "test")):
        for place in ("data/", ""):
            yield FilePattern(f"{place}{folder}/*{_ANNOTATION}", split, example.format(folder))
    yield FilePattern(f"*.train-?{_ANNOTATION}", "train", example.format("train"))
    for logs, split, folder in ((_VALIDATION, "validation", "dev"), (_TEST, "test", "test")):
        for log in logs.split():
            yield FilePattern(f"{log}{_ANNOTATION}", split, example.format(folder))


CORPUS = Corpus(
    name="irc",
    title="Ubuntu IRC, disentangled",
    homepage="https://jkk.name/irc-disentanglement/",
    citation="kummerfeld-etal-2019-large",
    licence="CC-BY-4.0",
    licence_name="stated in LICENSE.md for the folder `data`",
    text_licence_name="stated in LICENSE.md; the logs are in the folder `data`",
    obtain=(
        "get https://github.com/jkkummerfeld/irc-disentanglement and take its folder data "
        "(.raw.txt and .annotation.txt)"
    ),
    proven=(
        "2026-11-29: 3 of the 173 logs at commit 82ed04f9627a; 40 documents, 601 units, 243 "
        "annotations, 32 left out"
    ),
    patterns=tuple(_patterns()),
    reader=read_threads,
    parts=_parts,
    sample_patterns=(f"*{_ANNOTATION}",),
    public_since=2004,
    public_source="the channel's logs, which are public: Kummerfeld et al. (2019)",
    producers="People who ask and help in the chat channel #ubuntu (Kummerfeld et al. 2019).",
    limitations=(
        "The texts are from a help channel of the years 2004 to 2018, with abbreviations, "
        "spelling errors and shell commands.",
    ),
    source_datasets=("extended|other-irc-disentanglement",),
)
