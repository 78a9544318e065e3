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
from typing import Any

from coherencegym.loaders.corpora.citations import cited
from coherencegym.loaders.corpora.json_fields import Problem, missing_field, text_field_problem
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.json_records import json_records
from coherencegym.loaders.formats.lines import shown, tidy
from coherencegym.loaders.text.detokenize import detokenize

#: The relations of the second sentence to the first, as the files and as we call them.
LABELS = {"negative": "contradiction", "neutral": "neutral", "positive": "entailment"}

_SENTENCES = ("sentence1", "sentence2")
_TRIPLES = ("triple1", "triple2")

#: The letters at the end of ``dtype``, one for each sentence.
_ORIGINS = {"u": "utterance", "p": "persona"}


def read_pairs(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of pairs: a JSON array, or JSON lines."""
    seen: set[bytes] = set()
    for record in json_records(file, options):
        if problem := _problem(record.values):
            options.bad(f"{record.place}: {problem[0]}", problem[1])
            continue
        first, second = (tidy(detokenize(record.values[name])) for name in _SENTENCES)
        label, dtype = record.values["label"], tidy(record.values["dtype"])
        digest = hashlib.sha256("\0".join((label, first, second)).encode()).digest()
        if digest in seen:
            options.skipped["the same pair with the same label again"] += 1
            continue
        seen.add(digest)
        source = SourceSpan(file.path.name, record.line, record.line)
        triples = {name: " | ".join(map(tidy, record.values[name])) for name in _TRIPLES}
        yield Discourse(
            id=tidy(record.values.get("id", f"{file.split}-{record.number:06d}")),
            corpus=corpus.name,
            units=(Unit(first, source=source), Unit(second, source=source)),
            judgements=(HumanJudgement(None, label),),
            meta={"split": file.split, "label": label, "dtype": dtype}
            | {"origin": _origin(dtype), **triples},
        )


def _problem(values: dict[str, Any]) -> Problem | None:
    if problem := missing_field(values, ("label", *_SENTENCES, *_TRIPLES, "dtype")):
        return problem
    names = ("label", *_SENTENCES, "dtype", "id")
    texts = [(name, values[name]) for name in names if name in values]
    for name in _TRIPLES:
        triple = values[name]
        if not isinstance(triple, list) or len(triple) != 3:
            return f"{name} is no list of three, expected three texts", "malformed triple"
        texts += [(f"an entry of {name}", text) for text in triple]
    if problem := next(filter(None, (text_field_problem(*named) for named in texts)), None):
        return problem
    if values["label"] not in LABELS:
        expected = ", ".join(LABELS)
        return f"label is {shown(values['label'])}, expected one of {expected}", "unknown label"
    return None


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
    citation=cited("welleck-etal-2019-dialogue"),
    # A mirror on the Hugging Face Hub says MIT, and that its maker does not own the rights.
    licence_name="the authors state no licence",
    licence_url="https://wellecks.github.io/dialogue_nli/",
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
