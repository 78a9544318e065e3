"""DiscoEval's sentence files: short documents from Wikipedia, arXiv, stories and chat.

Chen, Chu and Gimpel 2019 ask in which place of its document a sentence stood (SP), which of two
sentences came first (BSO), and whether a sentence was replaced by one of another document (DC).
Read are the documents behind the questions, in their order, one unit a sentence:

- ``SP``: ``label s1 ... s5``. The first sentence shown stood at place ``label`` (from 0), the
  others are in order; it is put back. Not so in Wikipedia's files: there the others are in no
  order (whatever the label, each of them is as likely to be the one that introduces the subject),
  so the text cannot be had. They are read by name only, as the splits ``unordered_train``,
  ``unordered_validation`` and ``unordered_test``; only the sentence shown first is in its place.
- ``DC``: ``label s1 ... s6``. Label 1 is a coherent document; those of label 0 are left out and
  counted.
- ``BSO``: ``s1 s2`` in their order. Two sentences are hardly a document, so these are read by name
  only, as the splits ``bso_train``, ``bso_validation`` and ``bso_test``.

The repository has them as ``data/SP/<domain>/test.txt`` and so on. ``meta`` has ``task`` and
``domain`` (``wikipedia``, ``arxiv``, ``rocstory``, ``chat``). An id is the place in the file,
``SP/wiki/test/000001``. The same sentences may stand in several documents: in both tasks, and in
chat, where documents are overlapping windows of one conversation.

Text is detokenised (:mod:`loaders.corpora.discoeval_text`). What the corpus itself masks stays as
it is (``<user>``, ``<unka>``); ``meta["masked"]`` says how often it does, where it does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from coherencegym.loaders.corpora.discoeval_text import MASKED, sentences
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, SourceSpan, Unit
from coherencegym.loaders.formats.lines import numbered_lines, shown, text_problem

#: The number of sentences that a line has after its label.
_SENTENCES = {"SP": 5, "BSO": 2, "DC": 6}
#: The labels of each task; a line of a task without labels begins with a sentence.
_LABELS = {"SP": ("0", "1", "2", "3", "4"), "DC": ("0", "1")}
#: The beginning of the names of splits whose texts are in no order.
UNORDERED = "unordered_"
#: Names of folders, and what their texts are called here; others keep their name.
_DOMAINS = {"wiki": "wikipedia", "roc": "rocstory", "rocstories": "rocstory"}


def read_documents(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
    """Read a file; its folders say which task and which domain it is of.

    Raises:
        CorpusError: the folders say nothing, the file is empty, or a line is bad.
    """
    task, folder = file.path.parent.parent.name.upper(), file.path.parent.name.lower()
    if task not in _SENTENCES:
        raise CorpusError(
            f"{file.path}:1: in no folder of a task, expected one such as 'SP/wiki/test.txt'"
        )
    domain = _DOMAINS.get(folder, folder)
    found = False
    for number, line in numbered_lines(file):
        if not line.strip():
            continue
        found = True
        fields = [field.strip() for field in line.split("\t")]
        if (problem := text_problem(line) or _problem(task, fields)) is not None:
            options.bad(f"{file.path}:{number}: {problem[0]}", problem[1])
            continue
        order = _in_order(task, fields)
        if order is None:
            options.skipped["label 0: a sentence was replaced"] += 1
            continue
        source = SourceSpan(file.path.name, number, number)
        texts = sentences(order, domain, ordered=not file.split.startswith(UNORDERED))
        if not texts:
            options.skipped["no sentence with a word"] += 1
            continue
        meta = {"split": file.split, "task": task, "domain": domain}
        if masked := len(MASKED.findall(" ".join(texts))):
            meta["masked"] = str(masked)
        yield Discourse(
            id=f"{task}/{folder}/{file.path.stem}/{number:06d}",
            corpus=corpus.name,
            units=tuple(Unit(text, source=source) for text in texts),
            meta=meta,
        )
    if not found:
        raise CorpusError(f"{file.path}:1: no line with text, expected sentences between tabs")


def _problem(task: str, fields: Sequence[str]) -> tuple[str, str] | None:
    """Say what is wrong with a line, and the short reason; none where it is fine."""
    labels = _LABELS.get(task, ())
    expected = _SENTENCES[task] + bool(labels)
    if len(fields) != expected:
        few = len(fields) < expected
        return (
            f"{len(fields)} fields, expected {expected} with tabs between them"
            + (" (is the line cut off?)" if few else ""),
            "truncated line" if few else "too many fields",
        )
    if labels and fields[0] not in labels:
        return f"label is {shown(fields[0])}, expected one of {', '.join(labels)}", "unknown label"
    for place, field in enumerate(fields, start=1):
        if not field:
            return f"field {place} is empty, expected a sentence", "empty sentence"
    return None


def _in_order(task: str, fields: Sequence[str]) -> list[str] | None:
    """The sentences as they stood; none where one of them is from another document."""
    if task == "SP":
        place, (moved, *others) = int(fields[0]), fields[1:]
        return [*others[:place], moved, *others[place:]]
    if task == "DC":
        return list(fields[1:]) if fields[0] == "1" else None
    return list(fields)


def _patterns() -> Iterator[FilePattern]:
    """The files as the repository has them, with or without its folder ``data``."""
    for folder, prefix in (("SP/wiki", UNORDERED), ("SP/*", ""), ("DC/*", ""), ("BSO/*", "bso_")):
        for part, split in (("train", "train"), ("valid", "validation"), ("test", "test")):
            for place in ("", "data/"):
                yield FilePattern(
                    f"{place}{folder}/{part}.txt",
                    f"{prefix}{split}",
                    f"{folder.replace('*', '<domain>')}/{part}.txt",
                    by_default=not prefix,
                )


CORPUS = Corpus(
    name="discoeval",
    title="DiscoEval",
    homepage="https://github.com/ZeweiChu/DiscoEval",
    citation="""\
@inproceedings{chen-etal-2019-evaluation,
    title = "Evaluation Benchmarks and Learning Criteria for Discourse-Aware Sentence
      Representations",
    author = "Chen, Mingda and Chu, Zewei and Gimpel, Kevin",
    booktitle = "Proceedings of the 2019 Conference on Empirical Methods in Natural Language
      Processing and the 9th International Joint Conference on Natural Language Processing
      (EMNLP-IJCNLP)",
    year = "2019",
    address = "Hong Kong, China",
    publisher = "Association for Computational Linguistics",
    url = "https://aclanthology.org/D19-1060",
    doi = "10.18653/v1/D19-1060",
    pages = "649--662",
}""",
    licence="other",
    licence_name="BSD-3-Clause for the repository; none stated for the texts",
    licence_url="https://github.com/ZeweiChu/DiscoEval/blob/master/LICENSE",
    republishable=False,
    obtain="get https://github.com/ZeweiChu/DiscoEval and take its folder data",
    proven=True,
    patterns=tuple(_patterns()),
    reader=read_documents,
    producers=(
        "Authors of Wikipedia articles, of arXiv abstracts, of the stories of ROCStories and of "
        "messages in Ubuntu's chat channels (Chen et al. 2019)."
    ),
    source_datasets=("extended|other-discoeval",),
)
