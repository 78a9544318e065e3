"""XML that other people made, element by element, with nothing fetched and nothing expanded.

expat alone, with every way to an entity closed: a declaration of one, a reference to one that is
not built in, and an external one are each refused, so no file can name another file or grow while
it is read (an "XML bomb"). A ``DOCTYPE`` that names a DTD is passed over; the DTD is never opened.
Namespaces are passed over too: an element is known by its own name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.formats.lines import LONGEST_FIELD, shown

_CHUNK = 1 << 16
#: Elements inside one another; no corpus format comes near.
_DEEPEST = 50


@dataclass(frozen=True, slots=True)
class Element:
    """An element that has been closed.

    Attributes:
        path: names from the root down to this element.
        line: the line of its start tag (1-based).
        attributes: its attributes by name.
        text: the characters directly in it, without those of the elements in it.
    """

    path: tuple[str, ...]
    line: int
    attributes: Mapping[str, str]
    text: str

    @property
    def name(self) -> str:
        """The last name of the path."""
        return self.path[-1]


@dataclass
class _Open:
    name: str
    line: int
    attributes: Mapping[str, str]
    pieces: list[str] = field(default_factory=list)
    length: int = 0
    blank: bool = True


def elements(path: Path) -> Iterator[Element]:
    """The elements of an XML file in the order in which they end, lazily."""
    reader = _Reader(path)
    with path.open("rb") as stream:
        fed = 0
        while chunk := stream.read(_CHUNK):
            fed += len(chunk)
            closed = reader.feed(chunk)
            # What expat cannot cut yet, it keeps: a tag that never ends would fill the memory.
            if fed - reader.parser.CurrentByteIndex > LONGEST_FIELD + 2 * _CHUNK:
                raise reader.error(f"a tag of more than {LONGEST_FIELD:,} bytes, expected short")
            yield from closed
        if not fed:
            raise CorpusError(f"{path}:1: the file is empty, expected XML")
        yield from reader.feed(b"", last=True)


class _Reader:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.stack: list[_Open] = []
        self.closed: list[Element] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.EntityDeclHandler = self._declared
        self.parser.ExternalEntityRefHandler = self._external
        self.parser.SkippedEntityHandler = self._skipped

    def feed(self, chunk: bytes, *, last: bool = False) -> list[Element]:
        try:
            self.parser.Parse(chunk, last)
        except expat.ExpatError as error:
            message = expat.ErrorString(error.code)
            raise self.error(f"no XML from here on ({message}), expected well-formed XML") from None
        except (LookupError, ValueError) as error:  # what Python says to an unknown encoding
            raise self.error(
                f"an encoding that cannot be read ({shown(str(error))}), expected UTF-8 or "
                "ISO-8859-1"
            ) from None
        done, self.closed = self.closed, []
        return done

    def error(self, problem: str) -> CorpusError:
        return CorpusError(f"{self.path}:{self.parser.CurrentLineNumber}: {problem}")

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if len(self.stack) == _DEEPEST:
            raise self.error(f"elements nested more than {_DEEPEST} deep, expected fewer")
        if any(len(value) > LONGEST_FIELD for value in attributes.values()):
            raise self.error(f"an attribute of more than {LONGEST_FIELD:,} characters")
        if self.stack and self.stack[-1].blank:
            # Lines between elements, of which a file may have very many.
            self.stack[-1].pieces.clear()
            self.stack[-1].length = 0
        self.stack.append(_Open(name.rpartition(":")[2], self.parser.CurrentLineNumber, attributes))

    def _end(self, name: str) -> None:
        path = tuple(element.name for element in self.stack)
        done = self.stack.pop()
        self.closed.append(Element(path, done.line, done.attributes, "".join(done.pieces)))

    def _characters(self, text: str) -> None:
        element = self.stack[-1]
        element.pieces.append(text)
        element.length += len(text)
        element.blank = element.blank and text.isspace()
        if element.length > LONGEST_FIELD:
            raise self.error(
                f"<{element.name}> of line {element.line} holds more than {LONGEST_FIELD:,} "
                "characters, expected less (is its end tag missing?)"
            )

    def _declared(self, name: str, *details: object) -> None:
        raise self.error(f"a declaration of the entity {shown(name)}, expected none: it is refused")

    def _external(self, *details: object) -> int:
        raise self.error("an external entity, expected none: nothing is fetched")

    def _skipped(self, name: str, is_parameter: bool) -> None:
        if not is_parameter:
            raise self.error(f"the entity {shown(name)}, expected none but XML's own five")
