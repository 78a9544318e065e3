"""Ernest Davis's XML of the Winograd Schema Challenge.

A ``schema`` holds ``text`` (``txt1``, ``pron``, ``txt2``), ``quote``, ``answers`` (``answer``
twice; more in the pronoun disambiguation problems of 2016, whose files look the same),
``correctAnswer`` (``A``, ``A.``, ``B`` ... with white space) and ``source``.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherencegym.loaders.corpora.winograd.schema import BadSchemaError, Schema
from coherencegym.loaders.corpus import CorpusError, CorpusFile, ReadOptions
from coherencegym.loaders.formats.lines import shown
from coherencegym.loaders.formats.xml_elements import Element, elements

_LETTERS = "ABCDEFGHIJ"
#: Elements in a schema; one has about 15.
_MOST_PARTS = 1000
_PARTS = ("text/txt1", "text/pron", "text/txt2", "correctAnswer", "source")


def read_xml(file: CorpusFile, options: ReadOptions) -> Iterator[Schema]:
    """Read a file of schemas.

    Raises:
        CorpusError: the file is no XML or has no schema, or a bad schema.
    """
    number = 0
    inside: list[Element] = []
    for element in elements(file.path):
        if element.name != "schema":
            inside.append(element)
            if len(inside) > _MOST_PARTS:
                raise CorpusError(
                    f"{file.path}:{element.line}: {_MOST_PARTS:,} elements without a </schema>, "
                    "expected a collection of Winograd schemas"
                )
            continue
        number += 1
        try:
            yield _schema(number, element, inside)
        except BadSchemaError as bad:
            where = f"{file.path}:{element.line}: schema {number}"
            options.bad(f"{where}: {bad.problem}", bad.reason)
        inside = []
    if not number:
        raise CorpusError(f"{file.path}:1: no <schema>, expected a collection of Winograd schemas")


def _schema(number: int, element: Element, inside: list[Element]) -> Schema:
    """The schema of an element, from the elements in it.

    Raises:
        BadSchemaError: a part is missing, stands twice, or says something else than expected.
    """
    depth = len(element.path)
    found: dict[str, list[str]] = {}
    for part in inside:
        found.setdefault("/".join(part.path[depth:]), []).append(part.text)
    for name in _PARTS:
        if len(found.get(name, ())) > 1:
            raise BadSchemaError(f"<{name}> stands twice, expected it once", "part twice")
    text = {name: "".join(found.get(name, ())) for name in _PARTS}
    if not text["text/pron"].strip():
        raise BadSchemaError("no <pron> in <text>, expected the pronoun", "no pronoun")
    answers = tuple(found.get("answers/answer", ()))
    if len(answers) < 2 or len(answers) > len(_LETTERS):
        raise BadSchemaError(f"{len(answers)} <answer>, expected two", "not two candidates")
    letters = _LETTERS[: len(answers)]
    letter = text["correctAnswer"].strip().rstrip(".").strip().upper()
    if len(letter) != 1 or letter not in letters:
        raise BadSchemaError(
            f"<correctAnswer> is {shown(text['correctAnswer'].strip())}, expected "
            f"{', '.join(letters[:-1])} or {letters[-1]}",
            "unknown answer",
        )
    return Schema(
        number=number,
        line=element.line,
        left=text["text/txt1"],
        pronoun=text["text/pron"],
        right=text["text/txt2"],
        options=answers,
        answer=letters.index(letter),
        credit=text["source"],
    )
