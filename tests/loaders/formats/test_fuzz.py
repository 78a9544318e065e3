"""Whatever the bytes of a file: discourses, or a CorpusError of one line.

Every registered corpus is read from any bytes. Damage is done to the two discourses of every layout
in :mod:`support.native_files`, and to the sample of every corpus that has one: a new loader is
tested here as soon as it has a sample.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.native_files import LAYOUTS
from support.small_corpora import assert_clean
from support.strategies import FEW

from coherencegym.errors import LONGEST
from coherencegym.loaders.corpus import Corpus, CorpusError, CorpusFile
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import Reading, find, read
from coherencegym.loaders.registry import CORPORA, sample_of

NATIVE = [name for name, corpus in CORPORA.items() if not corpus.native]
SAMPLES = [name for name in NATIVE if sample_of(CORPORA[name]) is not None]

#: Bytes that mean something to one of the formats, and bytes that mean nothing to any.
PIECES = st.one_of(
    st.sampled_from(
        [
            b"\x07",
            b"\x1b[2J",
            b"\x7f",
            b"\xc2\x9b",
            b"\n",
            b"\r",
            b"\r\n",
            b"\n\n",
            b"\t",
            b" ",
            b"\0",
            b"\xff",
            b"\xe2\x80",
        ]
    ),
    st.sampled_from(["\ufeff", "\u2028", "\xa0", "\x85", "é", "²"]).map(str.encode),
    st.sampled_from(
        b', " "" \' < > </ /> <a> </schema> & &x; <!-- ]]> <!ENTITY <![CDATA[ word_ .. = . % '
        b"{ } [ ] }, {}, : NaN null \\ \\ud800 \\u0000 _ __ ( (1 1) (1) [1/2] | || - # "
        b"1 2 -1 99999999 1e999".split()
    ),
    st.binary(max_size=4),
)

#: How far into a file damage is done: a reader that is asked for three discourses gets that far.
REACH = 4000


@st.composite
def damaged(draw: st.DrawFn, content: bytes) -> bytes:
    """The content with a few pieces deleted, doubled, swapped, put in, or with its end cut off."""
    for _ in range(draw(st.integers(1, 4))):
        last = min(len(content), REACH)
        start = draw(st.integers(0, last))
        middle = start + draw(st.integers(0, min(40, last - start)))
        end = middle + draw(st.integers(0, min(40, last - middle)))
        before, one, two, after = (
            *(content[:start], content[start:middle]),
            *(content[middle:end], content[end:]),
        )
        content = before + draw(
            st.one_of(
                st.just(two + after),
                st.just(one + one + two + after),
                st.just(two + one + after),
                st.just(one),
                PIECES.map(lambda piece, rest=two + after: piece + rest),  # type: ignore[misc]
            )
        )
    return content


def until_error(reading: Reading) -> Iterator[Discourse]:
    try:
        yield from reading
    except CorpusError as error:
        message = str(error)
        assert len(message.splitlines()) == 1
        assert len(message) <= LONGEST
        message.encode("utf-8")


def attempt(corpus: Corpus, limit: int | None = None) -> None:
    """Read a corpus strictly and without its bad rows; the second gives no less."""
    strict = list(until_error(read(corpus, limit=limit)))
    kept = list(until_error(read(corpus, limit=limit, skip_bad_rows=True)))
    assert len(kept) >= len(strict)
    for discourse in (*strict, *kept):
        assert_clean(discourse)
    assert len({discourse.id for discourse in kept}) == len(kept)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("fuzz")


@pytest.mark.parametrize("name", NATIVE)
@FEW
@given(content=st.one_of(st.binary(max_size=200), st.lists(PIECES, max_size=30).map(b"".join)))
def test_any_bytes(name: str, content: bytes, folder: Path) -> None:
    path = folder / "file_words.xml"
    path.write_bytes(content)
    attempt(replace(CORPORA[name], files=(CorpusFile(path, "test"),)))


@pytest.mark.parametrize("name", LAYOUTS)
@FEW
@given(data=st.data())
def test_damaged_layouts(name: str, data: st.DataObject, folder: Path) -> None:
    layout = LAYOUTS[name]
    place = folder / name
    layout.write(place)
    victim = data.draw(st.sampled_from(sorted(layout.files)))
    (place / victim).write_bytes(data.draw(damaged(layout.files[victim].encode())))
    corpus = CORPORA[layout.corpus]
    attempt(replace(corpus, folder=place / corpus.name if corpus.own_folder else place))


@pytest.mark.parametrize("name", LAYOUTS)
def test_control_characters_are_in_no_text(name: str, tmp_path: Path) -> None:
    """They are white space, or nothing that the format has."""
    layout = LAYOUTS[name]
    place = tmp_path / name
    layout.write(place)
    main = place / layout.main
    text = main.read_text(encoding="utf-8")
    main.write_text(text.replace("kettle", "\x1b[2J kettle\x9b\x07", 1), encoding="utf-8")
    corpus = CORPORA[layout.corpus]
    attempt(replace(corpus, folder=place / corpus.name if corpus.own_folder else place))


def one_by_one(path: Path, folder: Path) -> Iterator[tuple[str, Path]]:
    """Each document of a CoNLL-U file in a file of its own in a folder: its name and the file."""
    mark = "# newdoc id = "
    for document in path.read_text(encoding="utf-8").split(mark)[1:]:
        name = document.partition("\n")[0]
        single = folder / f"{name}.conllu"
        single.write_text(mark + document, encoding="utf-8")
        yield name, single


@cache
def copied(sample: Corpus, place: Path) -> Mapping[Path, Corpus]:
    """Copy a sample: the files in the copy, and the corpus that is read because of each.

    Of files that stand beside one document of many, that document alone is read.
    """
    assert sample.folder is not None
    shutil.copytree(sample.folder, place)
    victims = sorted(path for path in place.rglob("*") if path.is_file())
    files = find(replace(sample, folder=place)).files
    singles: dict[str, CorpusFile] = {}
    for file in files:
        if file.path.suffix == ".conllu":
            (place / file.split).mkdir()
            for name, path in one_by_one(file.path, place / file.split):
                singles[name] = CorpusFile(path, file.split)

    def read_for(victim: Path) -> CorpusFile:
        owners = (f for f in files if victim == f.path or victim in f.parts)
        return singles.get(victim.stem) or next(owners, files[0])

    return {victim: replace(sample, files=(read_for(victim),)) for victim in victims}


@pytest.mark.parametrize("name", SAMPLES)
@FEW
@given(data=st.data())
def test_damaged_samples(name: str, data: st.DataObject, folder: Path) -> None:
    sample, place = sample_of(CORPORA[name]), folder / f"{name} sample"
    assert sample is not None
    files = copied(sample, place)
    victim = data.draw(st.sampled_from(list(files)))
    whole = victim.read_bytes()
    try:
        victim.write_bytes(data.draw(damaged(whole)))
        attempt(files[victim], limit=3)
    finally:
        victim.write_bytes(whole)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_cut_off_anywhere_is_noticed_or_shorter(name: str, folder: Path) -> None:
    sample = sample_of(CORPORA[name])
    assert sample is not None
    for victim, corpus in copied(sample, folder / f"{name} sample").items():
        whole = victim.read_bytes()
        for cut in (0.1, 0.37, 0.71, 0.999):
            victim.write_bytes(whole[: int(len(whole) * cut)])
            attempt(corpus)
        victim.write_bytes(whole)
