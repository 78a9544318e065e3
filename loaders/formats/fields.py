"""Records held to a schema: a dataclass whose fields have these types, or any of pydantic's."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, Field, PlainValidator

from coherencegym.errors import EvaluationError
from coherencegym.files.strict_json import held
from coherencegym.loaders.corpus import ReadOptions
from coherencegym.loaders.formats.lines import text_problem, tidy
from coherencegym.loaders.formats.records import Record

_T = TypeVar("_T")


def _usable(value: Any) -> str:
    if not isinstance(value, str):
        raise ValueError("a text")
    if problem := text_problem(value):
        raise ValueError(f"usable text: {problem[0]}")
    return value


def _filled(value: Any) -> str:
    if not _usable(value).strip():
        raise ValueError("a text that is not empty")
    return str(value)


def _identifier(value: Any) -> str:
    return tidy(_filled(str(value) if type(value) is int else value))


#: A text as it stands, which may be empty; one that may not; that with single spaces.
AnyText = Annotated[str, PlainValidator(_usable)]
RawText = Annotated[str, PlainValidator(_filled)]
TidyText = Annotated[RawText, AfterValidator(tidy)]
#: A text, or a number that stands for one.
Identifier = Annotated[str, PlainValidator(_identifier)]
#: A whole number.
WholeNumber = Annotated[int, Field(strict=True, ge=-(10**9), le=10**9)]


def held_records(
    records: Iterable[Record], schema: type[_T], options: ReadOptions
) -> Iterator[tuple[Record, _T]]:
    """The records with their values as a schema has them; what does not fit it is a bad row."""
    for record in records:
        try:
            value = held(record.values, schema)
        except EvaluationError as error:
            options.bad(f"{record.place}: {error}", "malformed record")
        else:
            yield record, value
