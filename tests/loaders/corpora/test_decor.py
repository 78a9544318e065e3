"""DECOR: incoherent sentences of essays, and what stands in their place."""

from __future__ import annotations

from pathlib import Path

from support.native_files import LAYOUTS, REWRITES

from coherencegym.loaders.corpora.judged import COHERENT, INCOHERENT
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus, sample_of


def test_a_rewrite_stands_in_the_place_of_the_sentence(tmp_path: Path) -> None:
    LAYOUTS["decor"].write(tmp_path)
    first, second = read(corpus("decor"), data_dir=tmp_path)
    assert first.id == "1/26"
    assert first.texts == ("The kettle sang.", "Ann came.", 'She said "tea".')
    (alternative,) = first.alternatives
    assert alternative.options == ('He said "tea".', 'She said "tea".')
    assert alternative.options[alternative.right] == first.texts[2]
    assert alternative.span == ((2, 0, 15),)
    assert first.judgements == ()
    assert first.meta == {
        "split": "test",
        "topic": "Tea is good.",
        "essay": "1",
        "reasons": "entity reference",
    }
    assert second.meta["reasons"] == "discourse relation, other"


def test_sentences_without_a_rewrite_are_judged(tmp_path: Path) -> None:
    header, first, second = REWRITES.splitlines()
    coherent = "1.txt,T,The kettle sang.,It was hot.,1.0,,,,,,,,"
    opening = "1.txt,T,,The kettle sang.,1.0,,,,,,,,"
    deleted = second.replace("So it hurt.", "DELETE")
    (tmp_path / "test").mkdir()
    (tmp_path / "test/test_1355_clean.csv").write_text(
        "\n".join((header, opening, coherent, first, deleted)) + "\n"
    )
    # It is read though only by name by default, as there is nothing else.
    reading = read(corpus("decor"), data_dir=tmp_path)
    one, two, three = reading
    assert reading.skipped == {"no sentence before it": 1}
    assert [discourse.meta["split"] for discourse in (one, two, three)] == ["test_all"] * 3
    assert (one.judgements[0].label, one.alternatives) == (COHERENT, ())
    assert [len(two.judgements), len(two.alternatives)] == [0, 1]
    assert (three.judgements[0].label, three.texts[-1]) == (INCOHERENT, "But it hurt.")
    assert three.judgements[0].span == ((2, 0, 12),)


def test_a_flag_that_is_not_0_holds_and_is_counted_where_it_is_not_1(tmp_path: Path) -> None:
    LAYOUTS["decor"].write(tmp_path)
    path = next(tmp_path.rglob("*.csv"))
    path.write_text(path.read_text().replace("0.0,0.0,1.0,0.0", "3.0,-1.0,1.0,0.00"))
    reading = read(corpus("decor"), data_dir=tmp_path)
    reasons = [discourse.meta["reasons"] for discourse in reading]
    assert reasons[1] == "semantic connection, entity reference, discourse relation, other"
    # ``0.00`` is 0.
    assert reading.skipped == {
        "repaired: flags of reasons that are neither 0 nor 1, taken for 1": 2
    }


def test_other_files_are_read_by_name_only(tmp_path: Path) -> None:
    layout = LAYOUTS["decor"]
    layout.write(tmp_path)
    for name in ("data/test/test_1355_clean.csv", "data/val/sent_rewrite_541.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(REWRITES)
    declared = corpus("decor")
    assert {d.meta["split"] for d in read(declared, data_dir=tmp_path)} == {"test"}
    found = read(declared, data_dir=tmp_path, splits=("validation",))
    assert [d.meta["split"] for d in found] == ["validation"] * 2


def test_the_sample() -> None:
    sample = sample_of(corpus("decor"))
    assert sample is not None
    rows = list(read(sample))
    assert len(rows) == 30
    assert len({row.meta["essay"] for row in rows}) == 14
    longer = 0
    for row in rows:
        original, rewrite = row.alternatives[0].options
        assert row.texts[-1] == rewrite != original
        assert len(row.units) >= 3
        assert row.meta["reasons"]
        longer += len(rewrite.split()) - len(original.split())
    # A rewrite that is longer would be known without reading it.
    assert abs(longer) < 10
