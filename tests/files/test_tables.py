"""Tables of people's own: no field of a row is lost or moved into another column."""

from __future__ import annotations

from pathlib import Path

import pandas  # type: ignore[import-untyped]
import pytest

from coherencegym.errors import EvaluationError
from coherencegym.files.tables import builder_of, read_frame, rows_of


@pytest.mark.parametrize(
    "rows",
    ["He sat, slowly.,He slowly.", '"It rained.","Rained it.","a remark"', "He sat.,Sat he.,"],
)
def test_rows_with_more_fields_than_the_header_are_refused(rows: str, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(f"good,bad\n{rows}\n")
    with pytest.raises(
        EvaluationError, match=r"pairs\.csv: cannot be read \(rows have more fields"
    ):
        read_frame(path)
    with pytest.raises(ValueError, match="rows have more fields than the header"):
        list(rows_of(builder_of(str(tmp_path), "default"), "train", ["good"]))


def test_an_index_that_pandas_wrote_is_a_column(tmp_path: Path) -> None:
    path = tmp_path / "texts.parquet"
    frame = pandas.DataFrame({"id": ["a", "b"], "text": ["It rained.", "It stopped."]})
    frame.set_index("id").to_parquet(path)
    assert read_frame(path).to_dict("list") == frame.to_dict("list")
