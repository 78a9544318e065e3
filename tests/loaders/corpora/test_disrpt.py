"""Tables of relations of the DISRPT shared task."""

from __future__ import annotations

from pathlib import Path

from support.native_files import LAYOUTS, RELS

from coherencegym.builders.discourse_tasks import SUITE
from coherencegym.loaders.corpora.disrpt import CORPUS
from coherencegym.loaders.discourse import Discourse, span_text
from coherencegym.loaders.read import read
from coherencegym.manipulations.operator import Context


def found(folder: Path) -> list[Discourse]:
    return list(read(CORPUS, data_dir=folder))


def test_documents_read_as_they_are_written(tmp_path: Path) -> None:
    LAYOUTS["disrpt"].write(tmp_path)
    one, other = found(tmp_path)
    assert (one.id, one.texts) == ("eng.pdtb.x/a", ("The kettle sang.", "but Ann slept."))
    assert other.texts == ("He, tired left.",)
    (relation,) = one.relations
    assert (relation.type, relation.senses, relation.unified) == (
        *("Explicit", ("comparison.contrast",)),
        "contrast",
    )
    texts = [span_text(one, span) for span in (relation.arg1, relation.arg2)]
    assert texts == ["The kettle sang", "but Ann slept"]
    assert span_text(other, other.relations[0].arg1) == "He left."
    assert one.meta == {"split": "test", "dataset": "eng.pdtb.x", "language": "en"}


def test_other_languages_have_the_spaces_that_their_text_says(tmp_path: Path) -> None:
    (tmp_path / "fra.sdrt.x_dev.rels").write_text(RELS)
    one, other = found(tmp_path)
    assert one.texts == ("The kettle sang .", "but Ann slept .")
    assert other.texts == ("He , tired left.",)


def test_one_config_for_each_table(tmp_path: Path) -> None:
    LAYOUTS["disrpt"].write(tmp_path)
    (config,) = (each for each in SUITE.configs if each.corpora == ("disrpt",))
    one, other = found(tmp_path)
    (row,) = config.generator(one, Context(0, "test"))
    assert (row.label, row.extra["type"], row.places) == ("contrast", "explicit", (0, 1))
    (row,) = config.generator(other, Context(0, "test"))
    assert (row.extra["language"], row.extra["relation"]) == ("eng", "cause")
    assert config.by == "dataset"


def test_withheld_text_is_left_out_and_counted(tmp_path: Path) -> None:
    withheld = RELS.replace("The kettle sang\t", "___ ______ ____\t")
    (tmp_path / "eng.pdtb.pdtb_train.rels").write_text(withheld)
    reading = read(CORPUS, data_dir=tmp_path)
    assert [one.id for one in reading] == ["eng.pdtb.pdtb/b"]
    assert reading.skipped == {"withheld text": 1}
