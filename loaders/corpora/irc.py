"""Ubuntu's chat logs, taken apart into threads by the annotation of who replies to whom.

Kummerfeld et al. 2019: ``<log>.raw.txt`` is a log of many conversations at once, and
``<log>.annotation.txt`` has lines such as ``1002 1003 -``, each of two numbers of lines of the log,
counted from 0, of which one replies to the other; a line that replies to none has itself. A thread
is what replies hold together, in the order of the log. Its units are the messages with their
speakers, as they were written; what the server says (``=== ann has joined``) is no unit, and of
what people do (``/me``: ``=== ann waves``, ``* ann waves``) the unit is ``ann waves``. Mentions are
the nicknames in messages (:mod:`loaders.text.nicknames`) of whoever speaks, comes or goes in the
log.

Annotated is the end of each log; the lines before it are context for annotators, so a thread's
beginning may be missing. Threads of fewer than three messages are left out and counted. An id is
``<log>/<first line>``, counted from 1. ``meta`` has ``log``, and ``domain`` is ``chat``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Mention, SourceSpan, Unit
from coherencegym.loaders.formats.lines import numbered_lines, shown, text_problem, tidy
from coherencegym.loaders.text.nicknames import Nicknames

#: Messages that a thread has at least.
SHORTEST = 3

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


def read_threads(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read the threads of a log; ``file`` is its annotation, beside which the log stands.

    Raises:
        CorpusError: there is no log or no link, or a bad line.
    """
    raw = raw_file(file.path)
    if not raw.is_file():
        raise CorpusError(f"{file.path}:1: its log is missing, expected {raw}")
    links = list(_links(file, options))
    if not links:
        raise CorpusError(f"{file.path}:1: no link, expected lines such as '1002 1003 -'")
    bad: set[int] = set()
    lines, count, names = _lines(raw, {number for _, *link in links for number in link})
    if not any(map(_LINE.match, lines.values())):
        raise CorpusError(f"{raw}:1: no line of a chat log, expected such as '[03:10] <nick> text'")
    for number, text in sorted(lines.items()):
        if (problem := text_problem(text)) is not None:
            options.bad(f"{raw}:{number + 1}: {problem[0]}", problem[1])
            bad.add(number)
    known = []
    for line, one, other in links:
        if one in lines and other in lines:
            known.append((one, other))
            continue
        needed = (
            f"{max(one, other) + 1:,}, by line {line} of {file.path.name} (which counts from 0)"
        )
        options.bad(f"{raw}:1: {count:,} lines, expected at least {needed}", "log cut off")
    nicknames = Nicknames(
        names, [message[1] for message in map(_message, lines.values()) if message]
    )
    for thread in _components(known):
        if not bad.isdisjoint(thread):
            continue
        numbered = [(number, lines[number]) for number in thread]
        discourse = _discourse(corpus, file, raw, numbered, nicknames, options)
        if discourse is not None:
            yield discourse


def raw_file(path: Path) -> Path:
    """The log that an annotation is of."""
    return path.with_name(path.name[: -len(_ANNOTATION)] + ".raw.txt")


def _links(file: CorpusFile, options: ReadOptions) -> Iterator[tuple[int, int, int]]:
    """The line of the annotation, and the two numbers that it has."""
    for line, text in numbered_lines(file):
        if not text.strip():
            continue
        match = _LINK.fullmatch(text)
        if match is None:
            problem = text_problem(text) or (
                f"{shown(text)}, expected two numbers of lines such as '1002 1003 -'",
                "malformed link",
            )
            options.bad(f"{file.path}:{line}: {problem[0]}", problem[1])
            continue
        yield line, int(match[1]), int(match[2])


def _lines(raw: Path, wanted: set[int]) -> tuple[dict[int, str], int, set[str]]:
    """The lines of these numbers (from 0), how many lines there are, and who takes part."""
    lines: dict[int, str] = {}
    names: set[str] = set()
    count = 0
    for count, text in numbered_lines(CorpusFile(raw, "")):
        if count - 1 in wanted:
            lines[count - 1] = text
        if who := _MESSAGE.fullmatch(text) or _JOINED.match(text):
            names.add(who["who"])
    return lines, count, names


def _components(links: Iterable[tuple[int, int]]) -> list[list[int]]:
    """Group what links hold together: numbers in order, components in the order of their first."""
    of: dict[int, list[int]] = {}
    for one, other in links:
        first, second = of.setdefault(one, [one]), of.setdefault(other, [other])
        if first is not second:
            small, large = sorted((first, second), key=len)
            large += small
            for number in small:
                of[number] = large
    return sorted(sorted(component) for component in {id(c): c for c in of.values()}.values())


def _discourse(
    corpus: Corpus,
    file: CorpusFile,
    raw: Path,
    thread: Sequence[tuple[int, str]],
    nicknames: Nicknames,
    options: ReadOptions,
) -> Discourse | None:
    """A thread of lines with their numbers (from 0); none where it is too short."""
    units: list[Unit] = []
    mentions: list[Mention] = []
    for number, text in thread:
        if (message := _message(text)) is None:
            continue
        who, said, acts = message
        mentions += nicknames.mentions(said, len(units), who if acts else None)
        units.append(Unit(said, who, SourceSpan(raw.name, number + 1, number + 1)))
    if len(units) < SHORTEST:
        if units:
            options.skipped["a thread of fewer than three messages"] += 1
        return None
    log = tidy(file.path.name[: -len(_ANNOTATION)])
    first = units[0].source
    return Discourse(
        id=f"{log}/{first.start if first else 0}",
        corpus=corpus.name,
        units=tuple(units),
        mentions=tuple(mentions),
        meta={"split": file.split, "domain": "chat", "log": log},
    )


def _message(text: str) -> tuple[str, str, bool] | None:
    """Read the speaker, the text, and whether it tells what they do; none where nobody speaks."""
    if match := _MESSAGE.fullmatch(text):
        who, said, acts = match["who"], tidy(match["said"]), False
    elif (match := _ACTION.fullmatch(text)) and not _SERVER.match(text):
        who, said, acts = match["who"], tidy(match["does"]), True
        said = said and f"{who} {said}"
    else:
        return None
    return (who, said, acts) if said else None


def _parts(path: Path) -> tuple[Path, ...]:
    """The annotation, and the log that it is of."""
    return tuple(file for file in (path, raw_file(path)) if file.is_file())


def _patterns() -> Iterator[FilePattern]:
    """The folders of the repository, and the same files in no folder."""
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
    citation="""\
@inproceedings{kummerfeld-etal-2019-large,
    title = "A Large-Scale Corpus for Conversation Disentanglement",
    author = "Kummerfeld, Jonathan K. and Gouravajhala, Sai R. and Peper, Joseph J. and
      Athreya, Vignesh and Gunasekara, Chulaka and Ganhotra, Jatin and Patel, Siva Sankalp and
      Polymenakos, Lazaros C and Lasecki, Walter",
    booktitle = "Proceedings of the 57th Annual Meeting of the Association for Computational
      Linguistics",
    year = "2019",
    address = "Florence, Italy",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/P19-1374",
    doi = "10.18653/v1/P19-1374",
    pages = "3846--3856",
}""",
    licence="CC-BY-4.0",
    republishable=True,
    obtain=(
        "get https://github.com/jkkummerfeld/irc-disentanglement and take its folder data "
        "(.raw.txt and .annotation.txt)"
    ),
    proven=True,
    patterns=tuple(_patterns()),
    reader=read_threads,
    parts=_parts,
    producers="People who ask and help in the chat channel #ubuntu (Kummerfeld et al. 2019).",
    source_datasets=("extended|other-irc-disentanglement",),
)
