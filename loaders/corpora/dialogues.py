"""Dialogues: PersonaChat, Dialogue NLI, and chat logs of Ubuntu.

PersonaChat in ParlAI's text format: small talk between two people, with given personas.

A line is ``<number> <utterance of the partner><TAB><utterance of self>[<TAB><TAB>candidates]``, or
``<number> your persona: ...``, or ``<number> partner's persona: ...``; a number that restarts at 1
begins a dialogue. Personas and candidates are left out, so that the files ``self``, ``both``,
``none`` and ``other``, ``original`` and ``revised``, with and without candidates all hold the same
dialogues: of each split one file is read, the first in the order of :data:`VARIANTS`.

Units are the utterances, speakers ``partner`` and ``self`` by turns; where one of them is
``__SILENCE__`` there is no unit (so ``self`` may begin). Text is detokenised and stays lower-case.

A discourse's id is ``<split>-<number of the dialogue in the file, four digits>``, such as
``test-0001``. A file without a split in its name (``self_original.txt``) has the split ``unsplit``.
Numbers count dialogues that are skipped as bad, too.

DialogueNLI: two sentences that dialogue partners said or are, and how they go together.

Welleck, Weston, Szlam and Cho 2019: pairs of PersonaChat utterances and persona sentences, labelled
through triples (``i``, ``has_profession``, ``nurse``). A discourse is the two sentences, which have
no speaker: the corpus does not say that one person says both. Its one judgement, over the whole,
is the label as the file has it; :data:`NLI_LABELS` says what that means. ``meta`` has ``label``,
``dtype`` (how the pair was made, such as ``e2swap_up``), ``origin`` (of each sentence:
``utterance, persona``; empty where ``dtype`` does not end as expected), ``triple1``, ``triple2``.

Despite the name each ``.jsonl`` is one JSON array; JSON lines are read, too. ``verified_test``, the
part of the test set whose labels three annotators looked at, is read by default; the others
(``test``, ``validation``, ``train``, and the ``EXTRA`` pairs of two utterances) by name.

What others write about the real files, which could not be seen: the verified set has no ``id`` (an
id is then ``<split>-<number in the file, six digits>``); some pairs stand twice with one label (the
second is left out and counted, as it would make a second item of one text); and
``dialogue_nli_EXTRA_uu_train.jsonl`` is cut off in its last record (``--skip-bad-rows`` reads it).

Ubuntu's chat logs, taken apart into threads by the annotation of who replies to whom.

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

import hashlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Literal

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit, line_units
from coherencegym.loaders.formats.json_records import RawText, TidyText, held_records, json_records
from coherencegym.loaders.formats.lines import (
    Line,
    LineError,
    check_text,
    numbered_lines,
    reporting,
    shown,
    text_problem,
    tidy,
)
from coherencegym.loaders.text.detokenize import detokenize
from coherencegym.loaders.text.sentences import Nicknames

#: Versions of one split in the order of preference: short files first.
VARIANTS = tuple(
    f"{whose}_{wording}{candidates}"
    for candidates in ("_no_cands", "")
    for whose in ("none", "self", "other", "both")
    for wording in ("original", "revised")
)

#: ParlAI's mark where a speaker says nothing.
_SILENCE = "__SILENCE__"

_NUMBERED = re.compile(r"(\d{1,6}) (.*)")
_PERSONA = re.compile(r"(?:your|partner's) persona:")
#: Beginnings of ParlAI's file names, each with the split as the Hub calls it.
_SPLITS = (("train_", "train"), ("valid_", "validation"), ("test_", "test"), ("", "unsplit"))
#: All the variants, for messages.
_ANY_VARIANT = "(none|self|other|both)_(original|revised)[_no_cands]"
#: A line as it should be, for messages.
_EXAMPLE = "'1 hello !<TAB>hi there .'"


def read_dialogues(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of dialogues. A bad line makes its whole dialogue a bad one."""
    number = 0
    for number, lines in _dialogues(file):
        units: list[Unit] = []
        line = 0
        with reporting(file, options):
            for expected, (line, content) in enumerate(lines, start=1):
                units += _utterances(file, expected, line, content)
            if not units:
                problem = "the dialogue ends without an utterance, expected some"
                raise LineError(line, problem, "empty dialogue")
            identifier = f"{file.split}-{number:04d}"
            yield Discourse(identifier, corpus.name, tuple(units), meta={"split": file.split})
    if not number:
        raise CorpusError(f"{file.path}:1: no dialogue, expected lines such as {_EXAMPLE}")


def _dialogues(file: CorpusFile) -> Iterator[tuple[int, Iterator[Line]]]:
    # A dialogue begins where the lines' numbers restart.
    count = 0

    def dialogue(line: Line) -> int:
        nonlocal count
        numbered = _NUMBERED.fullmatch(line[1])
        if count == 0 or (numbered and int(numbered[1]) == 1):
            count += 1
        return count

    return groupby((line for line in numbered_lines(file) if line[1].strip()), dialogue)


def _utterances(file: CorpusFile, expected: int, line: int, content: str) -> Iterator[Unit]:
    check_text(content, line)
    if (numbered := _NUMBERED.fullmatch(content)) is None:
        problem = f"no number at the start of {shown(content.strip())}, expected {_EXAMPLE}"
        raise LineError(line, problem, "line without number")
    if int(numbered[1]) != expected:
        allowed = f"{expected} or 1" if expected > 1 else "1"
        problem = f"number {int(numbered[1])}, expected {allowed}"
        raise LineError(line, problem, "number out of order")
    if _PERSONA.match(numbered[2]):
        return
    fields = numbered[2].split("\t")
    if len(fields) < 2:
        problem = f"one utterance in {shown(fields[0])}, expected two with a tab between them"
        raise LineError(line, problem, "truncated line")
    for speaker, raw in zip(("partner", "self"), fields, strict=False):
        if raw.strip() == _SILENCE:
            continue
        if not (text := tidy(detokenize(raw))):
            problem = f"the utterance of {speaker} is empty, expected text"
            raise LineError(line, problem, "empty utterance")
        yield Unit(text, speaker, SourceSpan(file.path.name, line, line))


PERSONACHAT = Corpus(
    name="personachat",
    title="PersonaChat",
    homepage="https://github.com/facebookresearch/ParlAI/tree/main/projects/personachat",
    citation="zhang-etal-2018-personalizing",
    licence="CC-BY-4.0",
    text_licence_name="written for the corpus",
    obtain=(
        "let ParlAI download it (`parlai display_data --task personachat`) "
        "and take the .txt files from its folder data/Persona-Chat/personachat"
    ),
    proven=(
        "2026-11-29: 67 of the 10,907 dialogues, from one of the sixteen files of each split; "
        "67 documents, 1,048 units"
    ),
    patterns=tuple(
        FilePattern(f"{prefix}{variant}.txt", split, f"{prefix}{_ANY_VARIANT}.txt")
        for prefix, split in _SPLITS
        for variant in VARIANTS
    ),
    reader=read_dialogues,
    public_since=2018,
    public_source="Zhang et al. (2018)",
    producers=(
        "Crowd workers on Amazon Mechanical Turk, in pairs, each given a persona to play "
        "(Zhang et al. 2018)."
    ),
    source_datasets=("extended|other-personachat",),
    one_file_per_split=True,
)


#: The relations of the second sentence to the first, as the files and as we call them.
NLI_LABELS = {"negative": "contradiction", "neutral": "neutral", "positive": "entailment"}

#: The letters at the end of ``dtype``, one for each sentence.
_ORIGINS = {"u": "utterance", "p": "persona"}


@dataclass(frozen=True)
class _Pair:
    label: Literal["negative", "neutral", "positive"]
    sentence1: RawText
    sentence2: RawText
    triple1: tuple[TidyText, TidyText, TidyText]
    triple2: tuple[TidyText, TidyText, TidyText]
    dtype: TidyText
    id: TidyText = ""


def read_pairs(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of pairs: a JSON array, or JSON lines."""
    seen: set[bytes] = set()
    for record, pair in held_records(json_records(file, options), _Pair, options):
        first, second = (tidy(detokenize(text)) for text in (pair.sentence1, pair.sentence2))
        digest = hashlib.sha256("\0".join((pair.label, first, second)).encode()).digest()
        if digest in seen:
            options.skipped["the same pair with the same label again"] += 1
            continue
        seen.add(digest)
        triples = {"triple1": " | ".join(pair.triple1), "triple2": " | ".join(pair.triple2)}
        yield Discourse(
            id=pair.id or f"{file.split}-{record.number:06d}",
            corpus=corpus.name,
            units=line_units((first, second), file.path.name, record.line),
            judgements=(HumanJudgement(None, pair.label),),
            meta={"split": file.split, "label": pair.label, "dtype": pair.dtype}
            | {"origin": _nli_origin(pair.dtype), **triples},
        )


def _nli_origin(dtype: str) -> str:
    # ``dtype`` ends in two letters, one a sentence: ``_up``, ``_pp``, ``_uu``.
    ending = dtype.rpartition("_")[2]
    if len(ending) != 2 or not set(ending) <= set(_ORIGINS):
        return ""
    return ", ".join(_ORIGINS[letter] for letter in ending)


#: Folder in the archive, part of the file's name, split.
_NLI_FILES = (
    ("dialogue_nli", "verified_test", "verified_test"),
    ("dialogue_nli", "test", "test"),
    ("dialogue_nli", "dev", "validation"),
    ("dialogue_nli", "train", "train"),
    ("dialogue_nli_extra", "EXTRA_uu_test", "extra_test"),
    ("dialogue_nli_extra", "EXTRA_uu_dev", "extra_validation"),
    ("dialogue_nli_extra", "EXTRA_uu_train", "extra_train"),
)

DIALOGUENLI = Corpus(
    name="dialoguenli",
    title="Dialogue NLI",
    homepage="https://wellecks.github.io/dialogue_nli/",
    citation="welleck-etal-2019-dialogue",
    # A mirror on the Hugging Face Hub says MIT, and that its maker does not own the rights.
    licence_name="the authors state no licence",
    text_licence="CC-BY-4.0",
    text_licence_name="texts of PersonaChat",
    obtain=(
        "download the archive from https://wellecks.github.io/dialogue_nli/ and unpack it "
        "(the data folder is its folder dnli)"
    ),
    patterns=tuple(
        FilePattern(f"{folder}{name}", split, name, by_default=split == "verified_test")
        for place, part, split in _NLI_FILES
        for name in (f"dialogue_nli_{part}.jsonl",)
        for folder in ("", f"{place}/")
    ),
    reader=read_pairs,
    limitations=(
        "Some contradictions are weak: a person may have two jobs, or two favorite bands.",
    ),
    public_since=2018,
    public_source="PersonaChat, Zhang et al. (2018); the labels since Welleck et al. (2019)",
    producers=(
        "Crowd workers on Amazon Mechanical Turk, who wrote PersonaChat's utterances and persona "
        "sentences (Zhang et al. 2018) and labelled triples and pairs (Welleck et al. 2019)."
    ),
    source_datasets=("extended|other-dialogue-nli", "extended|other-personachat"),
    one_file_per_split=True,
)


#: Messages that a thread has at least.
_SHORTEST_THREAD = 3

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
    lines, count, names = _log_lines(raw, {number for _, *link in links for number in link})
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
        if len(said) >= _SHORTEST_THREAD:
            yield _thread_discourse(corpus, file, raw.path.name, said, replies, nicknames)
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


def _log_lines(raw: CorpusFile, wanted: set[int]) -> tuple[dict[int, str], int, set[str]]:
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


def _thread_discourse(
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


def _irc_patterns() -> Iterator[FilePattern]:
    example = f"data/{{0}}/<log>{_ANNOTATION}"
    for folder, split in (("train", "train"), ("dev", "validation"), ("test", "test")):
        for place in ("data/", ""):
            yield FilePattern(f"{place}{folder}/*{_ANNOTATION}", split, example.format(folder))
    yield FilePattern(f"*.train-?{_ANNOTATION}", "train", example.format("train"))
    for logs, split, folder in ((_VALIDATION, "validation", "dev"), (_TEST, "test", "test")):
        for log in logs.split():
            yield FilePattern(f"{log}{_ANNOTATION}", split, example.format(folder))


IRC = Corpus(
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
    patterns=tuple(_irc_patterns()),
    reader=read_threads,
    parts=lambda path: tuple(filter(Path.is_file, (path, _raw_file(path)))),
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
