"""Tables of documents: what a build counts and measures of drafts with intruders."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from coherencegym.builders.making.document_quality import document_quality
from coherencegym.builders.making.tables import Making
from coherencegym.builders.release.quality import Decision
from coherencegym.builders.suite import Config, DocumentDraft
from coherencegym.eval.kinds.documents import Document


def _document(draft: DocumentDraft, number: int) -> Document:
    return draft.document


def _groups(config: Config, draft: DocumentDraft) -> tuple[str]:
    return ("with an intruder" if draft.document.intruded else "coherent",)


def _quality(
    config: Config, drafts: Sequence[DocumentDraft], decisions: Sequence[Decision]
) -> dict[str, Any]:
    return document_quality(drafts)


DOCUMENT_TABLES = Making(value=_document, groups=_groups, quality=_quality)
