"""Pickles of plain values, and pickles that would run something."""

from __future__ import annotations

import os
import pickle
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.formats.json_records import read_plain_pickle

ROWS = [("NS-Elaboration", ["He said", "so ."], ["It is ."]), ("NN-Joint", ["é"], ["b", "c"])]


class Harmful:
    """What a pickle may bring: a call."""

    def __reduce__(self) -> Any:
        return (os.mkdir, ("was-run",))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_plain_values_of_every_protocol(protocol: int, tmp_path: Path) -> None:
    path = tmp_path / "rows.pkl"
    path.write_bytes(pickle.dumps(ROWS, protocol=protocol))
    assert read_plain_pickle(path) == ROWS


@pytest.mark.parametrize("value", [Harmful(), [Harmful()], Path(), 1, None, {"a": 1}, len, b"x"])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_anything_else_is_refused_and_nothing_is_run(
    value: Any, protocol: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "rows.pkl"
    path.write_bytes(pickle.dumps(value, protocol=protocol))
    with pytest.raises(CorpusError, match=r"rows.pkl: byte \d+: the instruction [A-Z0-9_]+, exp"):
        read_plain_pickle(path)
    assert [file.name for file in tmp_path.iterdir()] == ["rows.pkl"]


def test_a_note_of_a_large_number_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "rows.pkl"
    path.write_bytes(b"\x80\x02]r\xff\xff\xff\x7f.")
    with pytest.raises(CorpusError, match="byte 3: note 2147483647, expected"):
        read_plain_pickle(path)


@given(st.binary(max_size=20), st.integers(0, 60))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_damaged_pickles_are_errors_of_one_line(tmp_path: Path, put: bytes, place: int) -> None:
    path = tmp_path / "rows.pkl"
    whole = pickle.dumps(ROWS, protocol=2)
    path.write_bytes(whole[:place] + put + whole[place + len(put) :])
    message = ""
    try:
        read_plain_pickle(path)
    except CorpusError as error:
        message = str(error)
    assert "\n" not in message
