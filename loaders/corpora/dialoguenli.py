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

from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, HumanJudgement, SourceSpan, Unit
from coherencegym.loaders.formats.json_records import json_kind, json_records
from coherencegym.loaders.formats.lines import shown, text_problem, tidy
from coherencegym.loaders.text.detokenize import detokenize

#: The relations of the second sentence to the first, as the files and as we call them.
LABELS = {"negative": "contradiction", "neutral": "neutral", "positive": "entailment"}

_SENTENCES = ("sentence1", "sentence2")
TRIPLES = ("triple1", "triple2")

#: The letters at the end of ``dtype``, one for each sentence.
_ORIGINS = {"u": "utterance", "p": "persona"}


def read_pairs(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file of pairs: a JSON array, or JSON lines.

    Raises:
        CorpusError: the file is neither, or holds no record, or a bad one.
    """
    seen: set[bytes] = set()
    for record in json_records(file, options):
        problem = _problem(record.values)
        if problem is not None:
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
        triples = {name: " | ".join(map(tidy, record.values[name])) for name in TRIPLES}
        yield Discourse(
            id=tidy(record.values.get("id", f"{file.split}-{record.number:06d}")),
            corpus=corpus.name,
            units=(Unit(first, source=source), Unit(second, source=source)),
            judgements=(HumanJudgement(None, label),),
            meta={
                "split": file.split,
                "label": label,
                "dtype": dtype,
                "origin": _origin(dtype),
                **triples,
            },
        )


def _problem(values: dict[str, Any]) -> tuple[str, str] | None:
    """Say what is wrong with a record, and the short reason; none where it is fine."""
    for name in ("label", *_SENTENCES, *TRIPLES, "dtype"):
        if name not in values:
            return f"no field {name}, expected one", f"no {name}"
    for name in ("label", *_SENTENCES, "dtype", "id"):
        if name == "id" and name not in values:
            continue
        problem = _text_problem(name, values[name])
        if problem is not None:
            return problem
    for name in TRIPLES:
        triple = values[name]
        if not isinstance(triple, list) or len(triple) != 3:
            return f"{name} is no list of three, expected three texts", "malformed triple"
        for text in triple:
            problem = _text_problem(f"an entry of {name}", text)
            if problem is not None:
                return problem
    if values["label"] not in LABELS:
        expected = ", ".join(LABELS)
        return f"label is {shown(values['label'])}, expected one of {expected}", "unknown label"
    return None


def _text_problem(name: str, value: Any) -> tuple[str, str] | None:
    if not isinstance(value, str):
        return f"{name} is {json_kind(value)}, expected a text", "value that is no text"
    if not value.strip():
        return f"{name} is empty, expected a text", "empty text"
    problem = text_problem(value)
    return None if problem is None else (f"{name}: {problem[0]}", problem[1])


def _origin(dtype: str) -> str:
    """Name the origin of the two sentences by the end of ``dtype`` (``_up``, ``_pp``, ``_uu``)."""
    ending = dtype.rpartition("_")[2]
    if len(ending) != 2 or not set(ending) <= set(_ORIGINS):
        return ""
    return ", ".join(_ORIGINS[letter] for letter in ending)


def _patterns() -> tuple[FilePattern, ...]:
    """The files, beside each other or in the folders in which the archive has them."""
    files = (
        ("dialogue_nli", "verified_test", "verified_test"),
        ("dialogue_nli", "test", "test"),
        ("dialogue_nli", "dev", "validation"),
        ("dialogue_nli", "train", "train"),
        ("dialogue_nli_extra", "EXTRA_uu_test", "extra_test"),
        ("dialogue_nli_extra", "EXTRA_uu_dev", "extra_validation"),
        ("dialogue_nli_extra", "EXTRA_uu_train", "extra_train"),
    )
    return tuple(
        FilePattern(
            f"{folder}dialogue_nli_{part}.jsonl",
            split,
            f"dialogue_nli_{part}.jsonl",
            by_default=split == "verified_test",
        )
        for place, part, split in files
        for folder in ("", f"{place}/")
    )


CORPUS = Corpus(
    name="dialoguenli",
    title="Dialogue NLI",
    homepage="https://wellecks.github.io/dialogue_nli/",
    citation="""\
@inproceedings{welleck-etal-2019-dialogue,
    title = "Dialogue Natural Language Inference",
    author = "Welleck, Sean and Weston, Jason and Szlam, Arthur and Cho, Kyunghyun",
    booktitle = "Proceedings of the 57th Annual Meeting of the Association for Computational
      Linguistics",
    year = "2019",
    address = "Florence, Italy",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/P19-1363",
    doi = "10.18653/v1/P19-1363",
    pages = "3731--3741",
}""",
    # A mirror on the Hugging Face Hub says MIT, and that its maker does not own the rights.
    licence="other",
    licence_name="no licence found that its authors state",
    licence_url="https://wellecks.github.io/dialogue_nli/",
    republishable=False,
    obtain=(
        "download the archive from https://wellecks.github.io/dialogue_nli/ and unpack it "
        "(the data folder is its folder dnli)"
    ),
    proven=False,
    patterns=_patterns(),
    reader=read_pairs,
    producers=(
        "Crowd workers on Amazon Mechanical Turk, who wrote PersonaChat's utterances and persona "
        "sentences (Zhang et al. 2018) and labelled triples and pairs (Welleck et al. 2019)."
    ),
    source_datasets=("extended|other-dialogue-nli", "extended|other-personachat"),
    one_file_per_split=True,
)
