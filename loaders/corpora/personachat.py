"""PersonaChat in ParlAI's text format: small talk between two people, with given personas.

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
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import numbered_lines, shown, text_problem, tidy
from coherencegym.loaders.text.detokenize import detokenize

#: Versions of one split in the order of preference: short files first.
VARIANTS = tuple(
    f"{whose}_{wording}{candidates}"
    for candidates in ("_no_cands", "")
    for whose in ("none", "self", "other", "both")
    for wording in ("original", "revised")
)

#: ParlAI's mark where a speaker says nothing.
SILENCE = "__SILENCE__"

_NUMBERED = re.compile(r"(\d{1,6}) (.*)")
_PERSONA = re.compile(r"(?:your|partner's) persona:")
#: Beginnings of ParlAI's file names, each with the split as the Hub calls it.
_SPLITS = (("train_", "train"), ("valid_", "validation"), ("test_", "test"), ("", "unsplit"))
#: All the variants, for messages.
_ANY_VARIANT = "(none|self|other|both)_(original|revised)[_no_cands]"
#: A line as it should be, for messages.
_EXAMPLE = "'1 hello !<TAB>hi there .'"


@dataclass
class _Dialogue:
    """A dialogue while it is read; ``whole`` is false from the first bad line on."""

    number: int
    units: list[Unit] = field(default_factory=list)
    whole: bool = True


def read_dialogues(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of dialogues. A bad line makes its whole dialogue a bad one.

    Raises:
        CorpusError: there is no dialogue in the file, or a bad line.
    """
    any_line = False
    for dialogue in _dialogues(file, options):
        any_line = True
        if not dialogue.whole:
            continue
        yield Discourse(
            id=f"{file.split}-{dialogue.number:04d}",
            corpus=corpus.name,
            units=tuple(dialogue.units),
            meta={"split": file.split},
        )
    if not any_line:
        raise CorpusError(f"{file.path}:1: no dialogue, expected lines such as {_EXAMPLE}")


def _dialogues(file: CorpusFile, options: ReadOptions) -> Iterator[_Dialogue]:
    """Split the file where numbers restart, and report what is wrong with a dialogue once."""
    dialogue: _Dialogue | None = None
    previous = line = 0
    for line, content in numbered_lines(file):
        if not content.strip():
            continue
        number, problem = 0, text_problem(content)
        match = _NUMBERED.fullmatch(content)
        if match is not None:
            number = int(match[1])
        elif problem is None:
            problem = (
                f"no number at the start of {shown(content.strip())}, expected {_EXAMPLE}",
                "line without number",
            )
        if dialogue is None or number == 1:
            if dialogue is not None:
                yield _finished(dialogue, file, line, options)
            dialogue = _Dialogue(1 if dialogue is None else dialogue.number + 1)
            previous = 0
        if not dialogue.whole:
            continue
        if problem is None and number != previous + 1:
            expected = f"{previous + 1} or 1" if previous else "1"
            problem = (f"number {number}, expected {expected}", "number out of order")
        previous = number
        if problem is None and match is not None:
            problem = _add_utterances(dialogue, match[2], SourceSpan(file.path.name, line, line))
        if problem is not None:
            dialogue.whole = False
            options.bad(f"{file.path}:{line}: {problem[0]}", problem[1])
    if dialogue is not None:
        yield _finished(dialogue, file, line + 1, options)


def _finished(dialogue: _Dialogue, file: CorpusFile, line: int, options: ReadOptions) -> _Dialogue:
    """The dialogue, checked for being empty; ``line`` is the one after it."""
    if dialogue.whole and not dialogue.units:
        dialogue.whole = False
        message = f"{file.path}:{line - 1}: the dialogue ends without an utterance, expected some"
        options.bad(message, "empty dialogue")
    return dialogue


def _add_utterances(
    dialogue: _Dialogue, content: str, source: SourceSpan
) -> tuple[str, str] | None:
    """Append the utterances of one line; what is wrong with it, if anything, as for a text."""
    fields = content.split("\t")
    if _PERSONA.match(content):
        return None
    if len(fields) < 2:
        return (
            f"one utterance in {shown(content)}, expected two with a tab between them",
            "truncated line",
        )
    for speaker, raw in zip(("partner", "self"), fields, strict=False):
        if raw.strip() == SILENCE:
            continue
        text = tidy(detokenize(raw))
        if not text:
            return f"the utterance of {speaker} is empty, expected text", "empty utterance"
        dialogue.units.append(Unit(text, speaker, source))
    return None


CORPUS = Corpus(
    name="personachat",
    title="PersonaChat",
    homepage="https://github.com/facebookresearch/ParlAI/tree/main/projects/personachat",
    citation="""\
@inproceedings{zhang-etal-2018-personalizing,
    title = "Personalizing Dialogue Agents: {I} have a dog, do you have pets too?",
    author = "Zhang, Saizheng and Dinan, Emily and Urbanek, Jack and Szlam, Arthur and
      Kiela, Douwe and Weston, Jason",
    booktitle = "Proceedings of the 56th Annual Meeting of the Association for Computational
      Linguistics (Volume 1: Long Papers)",
    year = "2018",
    address = "Melbourne, Australia",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/P18-1205",
    doi = "10.18653/v1/P18-1205",
    pages = "2204--2213",
}""",
    licence="CC-BY-4.0",
    republishable=True,
    obtain=(
        "let ParlAI download it (`parlai display_data --task personachat`) "
        "and take the .txt files from its folder data/Persona-Chat/personachat"
    ),
    proven=True,
    patterns=tuple(
        FilePattern(f"{prefix}{variant}.txt", split, f"{prefix}{_ANY_VARIANT}.txt")
        for prefix, split in _SPLITS
        for variant in VARIANTS
    ),
    reader=read_dialogues,
    producers=(
        "Crowd workers on Amazon Mechanical Turk, in pairs, each given a persona to play "
        "(Zhang et al. 2018)."
    ),
    source_datasets=("extended|other-personachat",),
    one_file_per_split=True,
)
