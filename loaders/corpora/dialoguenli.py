"""DialogueNLI: two sentences that dialogue partners said or are, and how they go together.

Welleck, Weston, Szlam and Cho 2019: pairs of PersonaChat utterances and persona sentences, labelled
through triples (``i``, ``has_profession``, ``nurse``). A discourse is the two sentences, which have
no speaker: the corpus does not say that one person says both. Its one judgement, over the whole,
is the label as the file has it; :data:`LABELS` says what that means. ``meta`` has ``label``,
``dtype`` (how the pair was made, such as ``e2swap_up``), ``origin`` (of each sentence:
``utterance, persona``; empty where ``dtype`` does not end as expected), ``triple1``, ``triple2``.

Despite the name each ``.jsonl`` is one JSON array; JSON lines are read, too. ``verified_test``, the
part of the test set whose labels three annotators looked at, is read by default; the others
(``test``, ``validation``, ``train``, and the ``EXTRA`` pairs of two utterances) by name.

What others write about the real files, which could not be seen: the verified set has no ``id`` (an
id is then ``<split>-<number in the file, six digits>``); some pairs stand twice with one label (the
second is left out and counted, as it would make a second item of one text); and
``dialogue_nli_EXTRA_uu_train.jsonl`` is cut off in its last record (``--skip-bad-rows`` reads it).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.json_records import RawText, TidyText, held_records, json_records
from coherencegym.loaders.formats.lines import tidy
from coherencegym.loaders.text.detokenize import detokenize

#: The relations of the second sentence to the first, as the files and as we call them.
LABELS = {"negative": "contradiction", "neutral": "neutral", "positive": "entailment"}

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
        source = SourceSpan(file.path.name, record.line, record.line)
        triples = {"triple1": " | ".join(pair.triple1), "triple2": " | ".join(pair.triple2)}
        yield Discourse(
            id=pair.id or f"{file.split}-{record.number:06d}",
            corpus=corpus.name,
            units=(Unit(first, source=source), Unit(second, source=source)),
            judgements=(HumanJudgement(None, pair.label),),
            meta={"split": file.split, "label": pair.label, "dtype": pair.dtype}
            | {"origin": _origin(pair.dtype), **triples},
        )


def _origin(dtype: str) -> str:
    # ``dtype`` ends in two letters, one a sentence: ``_up``, ``_pp``, ``_uu``.
    ending = dtype.rpartition("_")[2]
    if len(ending) != 2 or not set(ending) <= set(_ORIGINS):
        return ""
    return ", ".join(_ORIGINS[letter] for letter in ending)


#: Folder in the archive, part of the file's name, split.
_FILES = (
    ("dialogue_nli", "verified_test", "verified_test"),
    ("dialogue_nli", "test", "test"),
    ("dialogue_nli", "dev", "validation"),
    ("dialogue_nli", "train", "train"),
    ("dialogue_nli_extra", "EXTRA_uu_test", "extra_test"),
    ("dialogue_nli_extra", "EXTRA_uu_dev", "extra_validation"),
    ("dialogue_nli_extra", "EXTRA_uu_train", "extra_train"),
)

CORPUS = Corpus(
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
        for place, part, split in _FILES
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
