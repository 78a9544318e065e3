"""Only files that have the names of an output are replaced, whatever a list says."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherencegym.errors import EvaluationError
from coherencegym.files.checksums import CHECKSUMS, checksums, write_checksums
from coherencegym.files.folders import check_folder, written_beside

#: The files of a build, of results, and of a page of several runs.
BUILD = ("manifest.json", "README.md", "data/sample/test-00000-of-00001.parquet")
RESULTS = ("results.json", "outcomes.parquet", "scores.png", "scores.svg", "seed-1/config.json")
OVERVIEW = ("overview.md", "index.html")


def write(folder: Path, *names: str) -> None:
    """An output with files of these names."""
    with written_beside(folder, overwrite=True) as work:
        for name in names:
            (work / name).parent.mkdir(parents=True, exist_ok=True)
            (work / name).write_text(name)


@pytest.mark.parametrize("output", [BUILD, RESULTS, OVERVIEW])
@pytest.mark.parametrize(
    "name",
    ["thesis.tex", "notes.md", "photo.png", "data/mine.parquet", "src/a/b.py", "seed-1/a.c"],
)
def test_a_list_by_hand_gives_no_file_away(
    tmp_path: Path, output: tuple[str, ...], name: str
) -> None:
    out = tmp_path / "out"
    write(out, *output)
    write(out, *output)
    (out / name).parent.mkdir(parents=True, exist_ok=True)
    (out / name).write_text("mine")
    for listed in (checksums(out), {name: checksums(out)[name]}):
        write_checksums(listed, out / CHECKSUMS)
        with pytest.raises(EvaluationError, match="out is not replaced: "):
            write(out, *output)
        assert (out / name).read_text() == "mine"
        assert checksums(out).keys() == {*output, name}


def test_an_output_lies_in_no_other_but_beside_an_overview(tmp_path: Path) -> None:
    for number, output in enumerate((BUILD, RESULTS)):
        out = tmp_path / str(number)
        write(out, *output)
        (tmp_path / "link").unlink(missing_ok=True)
        (tmp_path / "link").symlink_to(out)
        for place in (out / "in", out / "data" / "in", tmp_path / "link" / "in"):
            with pytest.raises(EvaluationError, match=r"the earlier output .* neither inside"):
                check_folder(place, True)
    write(tmp_path / "runs", *OVERVIEW)
    write(tmp_path / "runs" / "one", *RESULTS)
    with pytest.raises(EvaluationError, match=r"is not replaced: one is not of the earlier output"):
        check_folder(tmp_path / "runs", True)
