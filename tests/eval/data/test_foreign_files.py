"""What somebody else's files may hold: every damage is one line, or is read; no traceback."""

from __future__ import annotations

import json
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.commands import one_line

from coherencegym.builders.export.__main__ import main as export
from coherencegym.builders.judgement.questions import main as judge
from coherencegym.errors import EvaluationError
from coherencegym.eval import models
from coherencegym.eval.commands.cli import main
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.kinds.table_kind import row_hash
from coherencegym.eval.models.load import load, load_config

DEMO = Path(models.__file__).parent / "demo_model"
EVIL = "\x1b[2J\u202e\n" + "z" * 3000


def deep(levels: int) -> list[Any]:
    value: list[Any] = []
    for _ in range(levels):
        value = [value]
    return value


VALUES: tuple[Any, ...] = (
    None,
    True,
    "text",
    -1,
    2.5,
    10**9,
    10**400,
    [],
    [7],
    {},
    {"a": 1},
    EVIL,
    deep(300),
)


def places(value: Any, place: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Where something stands in JSON; of an array only the beginning."""
    inside = value.items() if isinstance(value, dict) else enumerate(value[:2])
    for key, part in inside:
        yield (*place, key)
        if isinstance(part, dict | list):
            yield from places(part, (*place, key))


def damaged(content: str, draw: random.Random) -> bytes:
    """JSON in which one thing is wrong."""
    document = json.loads(content)
    place = draw.choice(list(places(document)))[: draw.randint(1, 5)]
    holder = document
    for key in place[:-1]:
        holder = holder[key]
    kind = draw.choice(("value", "value", "gone", "name", "cut", "byte", "twice"))
    if kind == "value":
        holder[place[-1]] = draw.choice(VALUES)
    elif kind == "gone":
        del holder[place[-1]]
    elif kind == "name" and isinstance(holder, dict):
        holder["../" + EVIL] = holder.pop(place[-1])
    data = bytearray(json.dumps(document).encode())
    if kind == "cut":
        del data[draw.randrange(len(data)) :]
    elif kind == "byte":
        data[draw.randrange(len(data))] = draw.randrange(256)
    elif kind == "twice":
        data[1:1] = b'"x": 1, "x": 2, '
    return bytes(data)


def ends_well(code: int, said: str) -> None:
    """Done, or one short line that a terminal does nothing about."""
    assert code in (0, 2)
    if code:
        assert one_line(said)[:-1].isprintable()
        assert len(said) <= 501


@pytest.fixture(scope="module")
def folder(
    tmp_path_factory: pytest.TempPathFactory,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    """A dataset of two rows, ``data``, and results on it, ``results``."""
    folder = tmp_path_factory.mktemp("foreign")
    items = [
        Item(**{**vars(item), "extra": {"moved": item.extra["moved"], "family": "f"}})
        for item in pair_items[:2]
    ]
    score = {"group": "", "formula": "f", "metric": "mean", "score": 0.5, "n": 2}
    write_dataset(
        folder / "data",
        items,
        extra={"moved": "bool", "family": "string"},
        breakdowns=["moved"],
        quality={"test": {"partial_input": [score], "human": {"scores": [score]}}},
        regions=["first", "second"],
        summary="a summary",
    )
    words = ["--model", "demo", "--dataset", str(folder / "data"), "--device", "cpu", "--no-cache"]
    assert main([*words, "--output", str(folder / "results")]) == 0
    return folder


@pytest.mark.parametrize("seed", range(40))
def test_damaged_manifests(
    seed: int, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder / "data", tmp_path / "data")
    path = tmp_path / "data" / "manifest.json"
    path.write_bytes(damaged(path.read_text(), random.Random(seed)))
    words = ["--model", "demo", "--dataset", str(tmp_path / "data"), "--limit", "1"]
    ends_well(main([*words, "--output", str(tmp_path / "o")]), capsys.readouterr().err)
    out = str(tmp_path / "suites")
    code = export(["syntaxgym", str(tmp_path / "data"), "--output", out])
    ends_well(code, capsys.readouterr().err)


#: What a name may not have: control characters of both sets, marks of direction, joiners, ends of
#: lines, and what leads out of a folder or a word of a shell.
NO_NAMES = (
    *("\x1b]0;t\x07", "a\x9b2J", "a\u202eb", "a\u200db", "a\nb"),
    *("../a", "/a", "a b", "$(a)", "-a"),
)


@pytest.mark.parametrize("name", NO_NAMES)
@pytest.mark.parametrize(
    "place",
    [
        ("suite",),
        ("version",),
        ("repo_id",),
        ("configs", "toy_context", "kind"),
        ("configs", "toy_context", "corpus", "name"),
    ],
)
def test_what_no_name_may_have_is_refused(
    name: str, place: tuple[str, ...], folder: Path, tmp_path: Path
) -> None:
    shutil.copytree(folder / "data", tmp_path / "data")
    path = tmp_path / "data" / "manifest.json"
    manifest = json.loads(path.read_text())
    holder = manifest
    for key in place[:-1]:
        holder = holder.setdefault(key, {})
    holder[place[-1]] = name
    path.write_text(json.dumps(manifest))
    with pytest.raises(EvaluationError, match="expected a name of letters, digits"):
        find_dataset(str(tmp_path / "data"))


def poisoned(value: Any) -> Any:
    """JSON in which every text that is no name says something to a terminal."""
    if isinstance(value, dict):
        names = ("suite", "version", "repo_id", "kind", "name", "formula", "metric", "sha256")
        kept = (*names, "content_hash", "group", "breakdowns", "features", "headline", "published")
        return {key: part if key in kept else poisoned(part) for key, part in value.items()}
    if isinstance(value, list):
        return [poisoned(part) for part in value]
    return f"{value}{EVIL[:60]}\x9b2J\x1b]0;t\x07" if isinstance(value, str) else value


def test_a_poisoned_dataset_says_nothing_to_a_terminal(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "da\x1b]0;t\x07\u202eta"
    shutil.copytree(folder / "data", data)
    path = data / "manifest.json"
    path.write_text(json.dumps(poisoned(json.loads(path.read_text()))))

    def change(rows: list[dict[str, Any]]) -> None:
        for row in rows:
            row["item_id"] += "\x1b[2J\u202e"
            for condition in row["conditions"]:
                region = condition["regions"][-1]
                assert condition["content"].endswith(region["content"])
                condition["content"] += " \x1b]8;;x\x07\u202e"
                region["content"] += " \x1b]8;;x\x07\u202e"
            for prediction in row["predictions"]:
                prediction["groups"] = ["gro\x1b[2Jup"]

    rewritten(data, change)
    model = ("--model", "demo", "--dataset", str(data), "--device", "cpu", "--no-cache")
    results = str(tmp_path / "re\x9bsults")
    (item, *_) = next(iter(tables(find_dataset(str(data))))).items
    ran = []
    for command, words in (
        (main, ["score", *model, "--output", results, "--verbose"]),
        (main, ["show", *model[:-1], "--item", item.item_id]),
        (main, ["compare", results, str(folder / "results"), "--anyway"]),
        (main, ["overview", results]),
        (export, ["syntaxgym", str(data), "--output", str(tmp_path / "su\x1b[2Jites")]),
        (judge, [str(data), "--output", str(tmp_path / "ju\u202edge")]),
    ):
        ran.append(command(words))
        out, err = capsys.readouterr()
        assert out.replace("\n", "").replace("\xa0", " ").isprintable(), words
        assert err.replace("\n", "").isprintable(), words
        assert out + err
    assert ran.count(0) >= 4, ran


@pytest.mark.parametrize("seed", range(40))
def test_damaged_results(
    seed: int, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(folder / "results", tmp_path / "r")
    path = tmp_path / "r" / "results.json"
    path.write_bytes(damaged(path.read_text(), random.Random(seed)))
    for words in (
        ["compare", str(folder / "results"), str(tmp_path / "r")],
        ["overview", str(tmp_path / "r")],
    ):
        ends_well(main(words), capsys.readouterr().err)


@pytest.mark.parametrize("seed", range(40))
def test_damaged_suites(seed: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    regions = [{"region_number": n, "content": f"word {n}"} for n in (1, 2)]
    conditions = [{"condition_name": name, "regions": regions} for name in "ab"]
    suite = {
        "meta": {"name": "s", "metric": ["sum", "mean"]},
        "region_meta": {"1": "first", "2": "second"},
        "predictions": [{"type": "formula", "formula": "(2;%a%) > (2;%b%)"}],
        "items": [{"item_number": n, "conditions": conditions} for n in (1, 2)],
    }
    path = tmp_path / "suite.json"
    path.write_bytes(damaged(json.dumps(suite), random.Random(seed)))
    words = ["--model", "demo", "--dataset", str(path), "--limit", "1"]
    ends_well(main([*words, "--output", str(tmp_path / "o")]), capsys.readouterr().err)


def rewritten(data: Path, change: Callable[[list[dict[str, Any]]], Any]) -> None:
    """Change the rows of a dataset, and their hashes with them."""
    import pyarrow
    from pyarrow import parquet

    (path,), (hashes,) = data.glob("data/*/*.parquet"), data.glob("hashes/*.parquet")
    rows = parquet.read_table(path).to_pylist()
    change(rows)
    parquet.write_table(pyarrow.Table.from_pylist(rows), path)
    rows = parquet.read_table(path).to_pylist()
    made = [{"item_id": row["item_id"], "sha256": row_hash(row)} for row in rows]
    parquet.write_table(pyarrow.Table.from_pylist(made), hashes)


@pytest.mark.parametrize(
    ("place", "value", "said"),
    [
        (("item_id",), None, "item_id: null; expected a string"),
        (("item_number",), None, "item_number: null; expected a whole number"),
        (("conditions",), None, "conditions: null; expected an array"),
        (("conditions", 0), None, "conditions[0]: null; expected an object"),
        (("conditions", 0, "condition_name"), None, "[0].condition_name: null; expected a string"),
        (("conditions", 1, "content"), None, "conditions[1].content: null; expected a string"),
        (("conditions", 0, "regions", 1), None, "regions[1]: null; expected an object"),
        (("conditions", 0, "regions", 0, "content"), None, "[0].content: null; expected a string"),
        (("predictions", 0, "formula"), None, "predictions[0].formula: null; expected a string"),
        (("predictions", 0, "groups"), [None], "groups[0]: null; expected a string"),
        (("discourse_id",), None, "discourse_id: null; expected a string"),
    ],
)
def test_rows_with_nulls_are_named(
    place: tuple[Any, ...], value: Any, said: str, folder: Path, tmp_path: Path
) -> None:
    def change(rows: list[dict[str, Any]]) -> None:
        holder: Any = rows[0]
        for key in place[:-1]:
            holder = holder[key]
        holder[place[-1]] = value

    shutil.copytree(folder / "data", tmp_path / "data")
    rewritten(tmp_path / "data", change)
    with pytest.raises(EvaluationError) as error:
        list(tables(find_dataset(str(tmp_path / "data"))))
    assert said in str(error.value)


@pytest.mark.parametrize(
    ("column", "values"), [("other", ["x", "x"]), ("sha256", [None, "x"]), ("sha256", [1, 2])]
)
def test_hashes_of_another_kind(
    column: str, values: list[Any], folder: Path, tmp_path: Path
) -> None:
    import pyarrow
    from pyarrow import parquet

    shutil.copytree(folder / "data", tmp_path / "data")
    (path,) = (tmp_path / "data").glob("hashes/*.parquet")
    parquet.write_table(pyarrow.table({"item_id": ["a", "b"], column: values}), path)
    with pytest.raises(EvaluationError, match=r"is not the row that was published"):
        list(tables(find_dataset(str(tmp_path / "data"))))


# ---------------------------------------------------------------- models


@pytest.fixture
def model(tmp_path: Path) -> Path:
    shutil.copytree(DEMO, tmp_path / "model")
    return tmp_path / "model"


def configured(folder: Path, file: str = "config.json", /, **entries: Any) -> None:
    path = folder / file
    path.write_text(json.dumps({**json.loads(path.read_text()), **entries}))


def with_header(model: Path, header: bytes, length: int | None = None) -> None:
    """Give the weights another header; ``length`` is what the file says of it (bytes)."""
    path = model / "model.safetensors"
    content = path.read_bytes()
    (old,) = struct.unpack("<Q", content[:8])
    size = struct.pack("<Q", len(header) if length is None else length)
    path.write_bytes(size + header + content[8 + old :])


def in_two(model: Path, **index: Any) -> None:
    """An index in place of the one file of weights."""
    (model / "model.safetensors").rename(model / "model-1.safetensors")
    entries = {"metadata": {"total_size": 1}, "weight_map": {"a": "model-1.safetensors"}, **index}
    (model / "model.safetensors.index.json").write_text(json.dumps(entries))


MODELS: dict[str, tuple[Callable[[Path], Any], str]] = {
    "a number for a list": (
        lambda m: configured(m, architectures=7),
        "config.json: architectures: 7; expected an array",
    ),
    "a number for names": (
        lambda m: configured(m, auto_map=[1]),
        "config.json: auto_map: an array; expected an object",
    ),
    "a list for a format": (lambda m: configured(m, dtype=[1]), "cannot be loaded"),
    "a text for a number": (lambda m: configured(m, vocab_size=EVIL), "cannot be loaded"),
    "nested": (lambda m: (m / "config.json").write_text("[" * 100_000), "config.json"),
    "no tensor of that name": (lambda m: configured(m, pad_token_id=10**9), "cannot be loaded"),
    "layers without end": (
        lambda m: configured(m, num_hidden_layers=10**12),
        '"num_hidden_layers" is 1,000,000,000,000; expected at most 10,000',
    ),
    "more layers than tensors": (
        lambda m: configured(m, num_hidden_layers=9999),
        "asks for 9,999 layers, but its files have",
    ),
    "wide": (lambda m: configured(m, intermediate_size=10**7), "weights, but its files have 1,4"),
    "long words": (lambda m: configured(m, vocab_size=10**9), "weights, but its files have 1,4"),
    "empty weights": (lambda m: (m / "model.safetensors").write_bytes(b""), "cannot be read"),
    "a header without end": (lambda m: with_header(m, b"{}", 2**62), "model.safetensors cannot be"),
    "a header of another kind": (lambda m: with_header(m, b'{"a": 5}'), "model.safetensors cannot"),
    "cut weights": (
        lambda m: (m / "model.safetensors").write_bytes(
            (m / "model.safetensors").read_bytes()[:-10]
        ),
        "model.safetensors cannot be read",
    ),
    "an index of no names": (lambda m: in_two(m, weight_map=[]), "weight_map: an array; expected"),
    "a name that is a number": (lambda m: in_two(m, weight_map={"a": 5}), "weight_map.a: 5; exp"),
    "a name that leads out": (
        lambda m: in_two(m, weight_map={"a": "../model-1.safetensors"}),
        '"../model-1.safetensors"; expected a name of a safetensors file',
    ),
    "a file that is not there": (
        lambda m: in_two(m, weight_map={"a": "model-2.safetensors"}),
        '"model-2.safetensors" is not there',
    ),
    "a tokenizer of another kind": (
        lambda m: configured(m, "tokenizer.json", model={"type": EVIL}),
        "the tokenizer of",
    ),
    "a version that is true": (
        lambda m: configured(m, "tokenizer.json", version=True),
        "invalid type: boolean",
    ),
    "half a tokenizer": (
        lambda m: (m / "tokenizer.json").write_text((m / "tokenizer.json").read_text()[:5000]),
        "the tokenizer of",
    ),
    "a length that is a text": (
        lambda m: configured(m, "tokenizer_config.json", model_max_length="long"),
        "the tokenizer of",
    ),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_a_damaged_model_is_one_line(
    name: str, model: Path, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    damage, said = MODELS[name]
    damage(model)
    words = ["--model", str(model), "--dataset", str(folder / "data"), "--device", "cpu"]
    assert main([*words, "--no-cache", "--output", str(model / "out")]) == 2
    error = capfd.readouterr().err
    ends_well(2, error)
    assert said in error
    assert not (model / "out").exists()


def test_nothing_is_made_of_what_a_config_alone_says(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Four gigabytes of random numbers would be made before transformers looks at the shapes."""
    from transformers import AutoModelForCausalLM

    def made(*_: Any, **__: Any) -> None:
        raise AssertionError("the weights were asked for")

    monkeypatch.setattr(AutoModelForCausalLM, "from_pretrained", made)
    configured(model, intermediate_size=10**6)
    with pytest.raises(EvaluationError, match="expected files that belong together"):
        load(str(model), "cpu")


@pytest.mark.parametrize("file", ["config.json", "tokenizer_config.json"])
@pytest.mark.parametrize("seed", range(8))
def test_damaged_model_files(seed: int, file: str, model: Path) -> None:
    (model / file).write_bytes(damaged((model / file).read_text(), random.Random(seed)))
    with suppress(EvaluationError):
        load_config(str(model))
