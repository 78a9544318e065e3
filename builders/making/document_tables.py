"""Write the splits of a config of kind ``documents``, and what the manifest says of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.making.document_quality import document_quality
from coherencegym.builders.release.rows import to_table, write_split
from coherencegym.builders.suite import Config, DocumentDraft
from coherencegym.eval.kinds.documents import document_features, document_to_row
from coherencegym.loaders.corpus import Corpus
from coherencegym.loaders.discourse import Discourse


def write_documents_split(
    config: Config,
    corpus: Corpus,
    split: str,
    discourses: Sequence[Discourse],
    drafts: Sequence[DocumentDraft],
    folder: Path,
    name: str,
) -> tuple[dict[str, Any], dict[str, Any], Counter[str]]:
    """Write one split.

    Returns:
        Its counts and its quality for the manifest, and how many documents have which licence.
    """
    rows = [document_to_row(draft.document) for draft in drafts]
    written = write_split(folder, name, split, to_table(rows, document_schema(config)))
    groups = Counter(
        "with an intruder" if draft.document.intruded else "coherent" for draft in drafts
    )
    for column in config.breakdowns:
        groups.update(
            f"{column}={value}"
            for draft in drafts
            if (value := str(draft.document.extra[column]).lower())
        )
    counts = {
        "rows": written.rows,
        "discourses": len({draft.document.discourse_id for draft in drafts}),
        "num_bytes": written.num_bytes,
        "download_size": written.download_size,
        "content_hash": written.content_hash,
        "groups": dict(sorted(groups.items())),
        "details": {},
    }
    ids = {draft.document.discourse_id for draft in drafts}
    licences = Counter(d.licence or corpus.licence for d in discourses if d.id in ids)
    return counts, document_quality(drafts), licences


def document_schema(config: Config) -> Any:
    """The features of the config's table."""
    return document_features({column: spec.type for column, spec in config.columns.items()})


def document_example(drafts: Sequence[DocumentDraft]) -> dict[str, Any]:
    """A row to show in the card: the first intruded one of modest length, else the shortest."""
    intruded = [draft for draft in drafts if draft.document.intruded] or list(drafts)

    def length(draft: DocumentDraft) -> int:
        return sum(map(len, draft.document.sentences))

    modest = (draft for draft in intruded if length(draft) <= 900)
    return document_to_row(next(modest, min(intruded, key=length)).document)
