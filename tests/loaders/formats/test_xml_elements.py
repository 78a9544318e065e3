"""The elements of XML files, and XML that is refused."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import pytest

from coherencegym.loaders.corpus import CorpusError, CorpusFile
from coherencegym.loaders.formats.xml_elements import elements


@pytest.fixture
def file(tmp_path: Path) -> CorpusFile:
    return CorpusFile(tmp_path / "file", "test")


def found(file: CorpusFile, content: bytes | str) -> list[tuple[str, int, str]]:
    file.path.write_bytes(content.encode() if isinstance(content, str) else content)
    return [("/".join(e.path), e.line, e.text) for e in elements(file.path)]


def test_elements_in_the_order_in_which_they_end(file: CorpusFile) -> None:
    assert found(file, "<a>x<b>1 &amp; 2</b>\n<c k='v'/>y<![CDATA[<]]></a>") == [
        ("a/b", 1, "1 & 2"),
        ("a/c", 2, ""),
        ("a", 1, "x\ny<"),
    ]


def test_the_declared_encoding_counts(file: CorpusFile) -> None:
    text = "<?xml version='1.0' encoding='ISO-8859-1'?><a>é</a>"
    assert found(file, text.encode("latin-1")) == [("a", 1, "é")]


BOMB = """\
<?xml version="1.0"?>
<!DOCTYPE words [
<!ENTITY a "ha ha ha">
<!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">
]>
<words><word id="word_1">&b;</word></words>
"""
XML = {
    "bomb": (BOMB, "3: a declaration of the entity 'a', expected none"),
    "file": (
        '<!DOCTYPE words [<!ENTITY x SYSTEM "file:///etc/hostname">]>\n<words>&x;</words>',
        "1: a declaration of the entity 'x', expected none",
    ),
    "parameter": (
        '<!DOCTYPE words [<!ENTITY % x SYSTEM "x">%x;]>\n<words/>',
        "1: a declaration of the entity 'x'",
    ),
    "unknown": (
        '<!DOCTYPE words SYSTEM "w.dtd">\n<words>\n&x;</words>',
        "3: the entity 'x', expected none",
    ),
    "undefined": (
        "<words>\n&x;</words>",
        "2: no XML from here on (undefined entity), expected well-formed XML",
    ),
    "mismatched": ("<a>\n<b></a>", "2: no XML from here on (mismatched tag)"),
    "overlong comment": ("<!--" + "x" * 1_000_000, "1: a tag of more than 100,000 bytes"),
    "overlong value": ("<a b='" + "x" * 1_000_000, "1: a tag of more than 100,000 bytes"),
    "cut off": (
        "<words>\n<word",
        "2: no XML from here on (unclosed token), expected well-formed XML",
    ),
    "unclosed": (
        "<words>\n<word>\n",
        "3: no XML from here on (no element found), expected well-formed XML",
    ),
    "no XML": ("word_1 word_2", "1: no XML from here on (syntax error), expected well-formed XML"),
    "empty": ("", "1: the file is empty, expected XML"),
    "encoding": (
        '<?xml version="1.0" encoding="klingon"?><a/>',
        "1: an encoding that cannot be read ('unknown encoding: klingon')",
    ),
    "multi-byte": (
        '<?xml version="1.0" encoding="shift_jis"?><a/>',
        "1: an encoding that cannot be read",
    ),
    "deep": ("<a>" * 200, "1: elements nested more than 50 deep"),
    "overlong text": (
        f"<a>{'x ' * 60_000}</a>",
        "1: <a> of line 1 holds more than 100,000 characters",
    ),
    "overlong attribute": (
        f"<a b='{'x' * 110_000}'/>",
        "1: an attribute of more than 100,000 characters",
    ),
    "overlong tag": (f"<a {'x' * 1_000_000}", "1: a tag of more than 100,000 bytes"),
}


@pytest.mark.parametrize("name", XML)
def test_xml_that_is_refused(tmp_path: Path, name: str) -> None:
    content, problem = XML[name]
    path = tmp_path / "x.xml"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(CorpusError) as caught:
        list(elements(path))
    assert str(caught.value).startswith(f"{path}:{problem}")
    assert "\n" not in str(caught.value)


def test_elements_with_namespace_attributes_text_and_line(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_bytes(
        '<?xml version="1.0" encoding="ISO-8859-1"?>\n<!DOCTYPE a SYSTEM "missing.dtd">\n'
        '<a xmlns="u"><n:b xmlns:n="v"\n c="&lt;1">é&amp;<!-- no --></n:b>\n</a>'.encode("latin-1")
    )
    inner, outer = elements(path)
    assert (inner.name, inner.text, inner.line) == ("b", "é&", 3)
    assert inner.attributes["c"] == "<1"
    assert (outer.name, outer.text.strip(), outer.line) == ("a", "", 3)


@pytest.mark.parametrize("start", [b"<a>", b"<a b='", b"<!-- ", b"<"])
def test_an_endless_element_is_not_held_in_memory(tmp_path: Path, start: bytes) -> None:
    path = tmp_path / "x.xml"
    with path.open("wb") as stream:
        stream.write(b"<r>" + start)
        for _ in range(50):
            stream.write(b"x" * 1_000_000)
    tracemalloc.start()
    with pytest.raises(
        CorpusError, match=r"x.xml:1: (<a> of line 1 holds more than|a tag of more than)"
    ):
        list(elements(path))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5_000_000


def test_many_lines_between_elements_are_no_overlong_text(tmp_path: Path) -> None:
    path = tmp_path / "x.xml"
    path.write_text("<a>" + ("<b/>" + "\n" * 30) * 5000 + "</a>")
    assert sum(element.name == "b" for element in elements(path)) == 5000


def test_a_dtd_that_is_named_is_not_opened(file: CorpusFile) -> None:
    (file.path.parent / "x.dtd").write_text("<!ENTITY x 'from the DTD'>")
    assert found(file, "<!DOCTYPE a SYSTEM 'x.dtd'><a>text</a>") == [("a", 1, "text")]
