"""The documents and intruders that Shen et al. (2021) released, with what people answered.

Nothing is retrieved: the corpus itself says which sentence is replaced, and by what. Human figures
(section 5 of the paper) are about these documents and no others.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Self

from coherencegym.builders.discourse.released import FAMILY_COLUMN
from coherencegym.builders.judgement.rows import HUMAN_COLUMN
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.suite import Column, Config, Contrast, GeneratedDocument
from coherencegym.eval.kinds.documents import DOCUMENTS, HUMAN, NO_INTRUDER, Document
from coherencegym.eval.kinds.table_kind import FAMILY
from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.operator import Context


def has_intruder_or_none(discourse: Discourse) -> bool:
    """Leave out the documents in which a probe edited the document's own sentence."""
    return discourse.meta.get("where", "") != "original"


@dataclass(frozen=True)
class Released:
    """A document with the replacement that its corpus gives for one of its sentences."""

    recipe: str = "the released replacement"
    contrasts: tuple[Contrast, ...] = ()
    family: Mapping[str, str] = field(default_factory=dict)

    def fit(self, discourses: Sequence[Discourse], context: Context, fits: Fits) -> Self:
        """The item generator that knows which of these documents share lines."""
        return replace(self, family=fits.families(discourses))

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[GeneratedDocument]:
        """Yield the document, intruded where the corpus has a replacement."""
        sentences, position, replaced = list(discourse.texts), NO_INTRUDER, ""
        for alternative in discourse.alternatives[:1]:
            ((position, start, end),) = alternative.span
            if position == 0 or (start, end) != (0, len(sentences[position])):
                context.skipped["the released intruder is no whole sentence after the first"] += 1
                return
            replaced = sentences[position]
            sentences[position] = alternative.options[1 - alternative.right]
        if len(sentences) < 2:
            context.skipped["fewer than two sentences"] += 1
            return
        extra = {
            FAMILY: self.family[discourse.id],
            "replaced": replaced,
            "domain": discourse.meta.get("domain", ""),
            "probe": discourse.meta.get("probe", ""),
            HUMAN: _human_positions(discourse),
        }
        document = Document(
            discourse.id, tuple(sentences), position, discourse.id, discourse.corpus, extra
        )
        yield GeneratedDocument(document, discourse.texts)


def _human_positions(discourse: Discourse) -> list[int]:
    # The authors number sentences otherwise.
    if discourse.meta.get("position") != discourse.meta.get("sen_position"):
        return []
    answers = [int(judgement.label) for judgement in discourse.judgements]
    return [answer for answer in answers if NO_INTRUDER <= answer < len(discourse.units)]


RELEASED = Config(
    prefix="detect",
    name="released",
    by="domain",
    corpora=("insted",),
    kind=DOCUMENTS,
    select=has_intruder_or_none,
    generator=Released(),
    summary="the documents and intruders that the authors of INSteD released",
    regions=(),
    columns={
        **FAMILY_COLUMN,
        "replaced": Column("string", "the original sentence, which the intruder replaces"),
        "domain": Column("string", "Wikipedia or CNN"),
        "probe": Column("string", "the linguistic probe in the intruder; empty for none"),
        HUMAN: HUMAN_COLUMN,
    },
    breakdowns=("probe",),
)
