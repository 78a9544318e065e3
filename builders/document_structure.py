"""Document structure: what sentence encoders learn from, sections, paragraphs and titles.

Chen, Chu and Gimpel 2019, section 4: an encoder of sentences learns from the structure of documents
(``coherencegym train encoder``), and is probed with the suite ``discourse_tasks``. The paper's
documents are Wikipedia's; here they are any with headings: GUM's, Markdown files, and datasets
whose rows have sections.

    coherencegym build document_structure --corpus gum --data-dir PATH
    coherencegym build document_structure --texts FOLDER --genre sections
    coherencegym build document_structure --hub-dataset ID --genre sections --text-column sections
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from coherencegym.builders.pipeline.kinds import Division, OwnSplits
from coherencegym.builders.suite import ANY_LANGUAGE, Config, Contrast, Suite
from coherencegym.eval.kinds.documents import STRUCTURES, DocumentSection, StructuredDocument
from coherencegym.loaders.corpus import cited
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.text.sections import SECTIONS
from coherencegym.manipulations.operator import Context


@dataclass
class _Section:
    title: str = ""
    level: int = 1
    paragraphs: list[list[str]] = field(default_factory=list)


@dataclass(frozen=True)
class DivideIntoSections:
    """A document as it is, divided at its headings."""

    recipe = "unchanged, divided into sections and paragraphs"
    contrasts: tuple[Contrast, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[StructuredDocument]:
        """Yield it, unless it has fewer than two sentences."""
        title, sections = document_sections(discourse)
        if sum(len(paragraph) for one in sections for paragraph in one.paragraphs) < 2:
            context.skipped["fewer than two sentences"] += 1
            return
        yield StructuredDocument(
            item_id=discourse.id,
            title=title,
            sections=sections,
            discourse_id=discourse.id,
            corpus=discourse.corpus,
        )


def document_sections(discourse: Discourse) -> tuple[str, tuple[DocumentSection, ...]]:
    """The title of a document, and its sections that have text of their own.

    Its title is the corpus's, or else the heading of level 1 that it begins with. Captions are
    in no section.
    """
    marks = (one.split(":") for one in discourse.meta.get(SECTIONS, "").split())
    levels = {int(unit): int(level) for unit, level in marks}
    headings = {int(one) for one in discourse.meta.get("headings", "").split()}
    begins = {int(one) for one in discourse.meta.get("paragraphs", "").split()}
    title, sections = "", [_Section()]
    begun = False
    for number, text in enumerate(discourse.texts):
        level = levels.get(number)
        if level is None:
            if number not in headings:
                paragraphs = sections[-1].paragraphs
                if number in begins or not paragraphs:
                    paragraphs.append([])
                paragraphs[-1].append(text)
                begun = True
        elif level == 1 and not begun and len(sections) == 1:
            title = f"{title} {text}".strip()
        elif number - 1 in levels and number not in begins:
            sections[-1].title += f" {text}"  # a heading of several sentences
        else:
            sections.append(_Section(text, level))
    return discourse.meta.get("title", title), tuple(
        DocumentSection(one.title, one.level, tuple(map(tuple, one.paragraphs)))
        for one in sections
        if one.paragraphs
    )


SUITE = Suite(
    name="document_structure",
    title="Document structure",
    version="1.0.0",
    hypothesis=(
        "A sentence encoder that has learned from the structure of documents gives vectors that "
        "encode more of their discourse."
    ),
    description=(
        "Documents with their titles, sections and paragraphs. A sentence encoder learns from "
        "`train` to predict from a sentence's vector the sentences before and after it, its "
        "position, the depth of its section, and the titles above it. Losses on `test` show how "
        "well it does so; the suite `discourse_tasks` probes what else its vectors encode."
    ),
    conditions={},
    limitations=(
        "Training on a few hundred documents shows that the method runs, not how well it works: "
        "the paper's encoder read 42 million sentences of Wikipedia.",
        "The depth of a section is as fine as the corpus annotates it: of headings without a "
        "depth there are two levels, above the first heading and below it.",
        "In a dialogue, a paragraph is a turn; in a list, it is an item.",
    ),
    citation=cited("chen-etal-2019-evaluation"),
    divide=OwnSplits(Division(0.1, 0.1)),
    configs=(
        Config(
            name="",
            prefix="structure",
            corpora=("gum",),
            genre="sections",
            languages=ANY_LANGUAGE,
            kind=STRUCTURES,
            generator=DivideIntoSections(),
            summary="documents with sections, paragraphs and sentences",
            regions=(),
        ),
    ),
    tags=("sentence-embeddings", "document-structure"),
    task_categories=("feature-extraction",),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
