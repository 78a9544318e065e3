"""The kinds of tables, by their names. A new kind is one module and one line here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from coherencegym.eval.kinds.documents import DOCUMENTS, EXAMPLES, RATINGS, SPANS, STRUCTURES
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.table_kind import SuiteError, TableKind

#: Name -> kind. In a dataset of several the configs of the first come first, and one of them is
#: the default.
TABLE_KINDS: Mapping[str, TableKind[Any]] = {
    kind.name: kind for kind in (ITEMS, DOCUMENTS, EXAMPLES, SPANS, RATINGS, STRUCTURES)
}


def kind_named(name: str) -> TableKind[Any]:
    """The kind of that name."""
    if name not in TABLE_KINDS:
        raise SuiteError(
            f"table kind {name!r}; expected one of {', '.join(TABLE_KINDS)} (a newer release of "
            "this program may know it)"
        )
    return TABLE_KINDS[name]
