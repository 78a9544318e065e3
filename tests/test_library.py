"""One call each: build, score and compare, with names, folders and values alike."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest
from support.datasets import write_spans_dataset
from support.results import write_results_folder
from support.span_texts import intruded
from support.suites import no_classifiers

import coherencegym as cg
from coherencegym.builders.registry import load_suite
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.models.source import find_model
from coherencegym.eval.tasks.results import Results

pytestmark = pytest.mark.usefixtures("demo_once")


@pytest.fixture(scope="module", autouse=True)
def without_classifiers() -> Iterator[None]:
    """Suites are built without partial-input baselines."""
    with pytest.MonkeyPatch.context() as patched:
        no_classifiers(patched)
        yield


@pytest.fixture(scope="module")
def demo() -> Any:
    return cg.load_model("demo")


@pytest.fixture(scope="module")
def winograd(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built") / "winograd"
    return cg.build("winograd", corpus="sample", limit=12, output=place)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built") / "story_cloze"
    return cg.build("story_cloze", corpus="sample", limit=12, output=place)


def test_names_folders_and_values_give_the_same_scores(folder: Path, demo: Any) -> None:
    score: Callable[..., Any] = cg.score
    by_name = score("demo", str(folder), limit=2)
    by_folder = score(demo, folder, limit=2)
    items = cg.load_items(folder, limit=2)
    by_value = score(demo, items)
    assert isinstance(by_name, cg.Results)
    assert by_name.rows == by_folder.rows == by_value.rows
    # The same weights, of which a folder of files is known by another digest than a loaded model.
    few = cg.load_items(folder, config="sample", limit=2)
    in_memory = score((demo.model, demo.tokenizer), few)
    assert score(demo.model, few, tokenizer=demo.tokenizer).rows == in_memory.rows
    assert in_memory.rows[0].score == by_name.rows[0].score
    assert score(demo, list(few)).rows[0].n == len(few)
    assert "CD" in str(by_name)
    assert by_name.model["name"] == "demo"


def test_results_are_written_where_they_should_go(folder: Path, demo: Any, tmp_path: Path) -> None:
    cg.score(demo, folder, config="sample", limit=3, output=str(tmp_path / "results"))
    assert (tmp_path / "results" / "report.html").is_file()


@pytest.fixture
def unasked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no model be asked anything."""

    def ask(*_: object, **__: object) -> None:
        raise AssertionError("scored before all was checked")

    monkeypatch.setattr("coherencegym.eval.run.runs.results_about", ask)


def test_what_is_there_is_refused_before_anything_is_scored(
    folder: Path, demo: Any, tmp_path: Path, unasked: None
) -> None:
    two = [cg.load_items(folder), cg.load_items(folder)]
    with pytest.raises(EvaluationError, match="two runs would be written there"):
        cg.score(demo, two, output=tmp_path)
    (tmp_path / "there").mkdir()
    with pytest.raises(EvaluationError, match=r"there exists; .* or pass overwrite=True"):
        cg.score(demo, folder, output=tmp_path / "there")
    (tmp_path / "file").touch()
    with pytest.raises(EvaluationError, match="nothing can be written in"):
        cg.score(demo, folder, output=tmp_path / "file" / "in")
    with pytest.raises(EvaluationError, match="model '/nonexistent': no such folder"):
        cg.score([demo, "/nonexistent"], folder)
    (tmp_path / "overview").mkdir()
    (tmp_path / "overview/index.html").touch()
    several = ["demo", replace(demo, name="other")]
    for overwrite in (False, True):
        with pytest.raises(EvaluationError, match=r"overview is not replaced: .* with output="):
            cg.score(several, folder, output=tmp_path, overwrite=overwrite)
    for inside in (folder, folder / "results"):
        with pytest.raises(EvaluationError, match=r"output= .* neither inside the other"):
            cg.score(demo, folder, output=inside, overwrite=True)


def test_each_run_is_written_as_soon_as_it_is_scored(
    folder: Path, demo: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coherencegym.eval.run import runs

    real = runs.results_about
    models = [demo, replace(demo, name="other")]

    def stop_at_the_second(task: Any, context: Any, *rest: Any) -> Any:
        if context.model.name == "other":
            raise KeyboardInterrupt
        return real(task, context, *rest)

    monkeypatch.setattr(runs, "results_about", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        cg.score(models, folder, config="sample", limit=2, output=tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["story_cloze--demo"]
    monkeypatch.undo()
    cg.score(models, folder, config="sample", limit=2, output=tmp_path, overwrite=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("overview", "story_cloze--demo", "story_cloze--other"),
    ]


def test_another_model_is_added_to_an_overview(folder: Path, demo: Any, tmp_path: Path) -> None:
    how: dict[str, Any] = {"config": "sample", "limit": 2, "output": tmp_path}
    cg.score([demo, replace(demo, name="other")], folder, **how)
    found = cg.score(replace(demo, name="third"), folder, **how)
    assert isinstance(found, cg.Results)
    assert (tmp_path / "story_cloze--third/results.json").is_file()
    head = (tmp_path / "overview/overview.md").read_text().split("| suite |")[1].splitlines()[0]
    assert all(f" {name} |" in head for name in ("demo", "other", "third"))
    with pytest.raises(EvaluationError, match=r"story_cloze--third exists; .* overwrite=True"):
        cg.score(replace(demo, name="third"), folder, **how)


def test_a_loaded_model_has_the_tokenizer_of_its_files(folder: Path) -> None:
    from transformers import AutoModelForCausalLM

    files = find_model("demo").path
    model = AutoModelForCausalLM.from_pretrained(files)
    score: Callable[..., Any] = cg.score
    how = {"config": "sample", "limit": 2}
    assert score(model, folder, **how).rows == score("demo", folder, **how).rows
    model.config._name_or_path = ""
    with pytest.raises(EvaluationError, match=r"not loaded from files .* expected tokenizer="):
        cg.score(model, folder)


def test_a_model_in_training_is_not_taken_for_one_that_sees_ahead(folder: Path, demo: Any) -> None:
    from transformers import GPT2Config, GPT2LMHeadModel

    sizes: Any = {"n_embd": 16, "n_layer": 1, "n_head": 2, "n_positions": 256}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(demo.tokenizer), **sizes))
    assert model.training
    results: Any = cg.score((model, demo.tokenizer), folder, config="sample", limit=2)
    assert results.rows[0].n == 2
    assert model.training


def test_a_comparison_shows_itself(folder: Path, demo: Any) -> None:
    results = cg.score(demo, folder, config="sample", limit=5)
    shorter = cg.score(demo, folder, config="sample", limit=5, bos="never")
    found = cg.compare(results, shorter, anyway=True)
    assert "against" in str(found)
    assert found.comparisons[0].rows[0].n == 5
    assert "|---|" in found._repr_markdown_()
    message = r"^demo and demo: not comparable: .*--anyway, anyway=True in Python, compares"
    with pytest.raises(EvaluationError, match=message):
        cg.compare(results, shorter)
    assert cg.compare([results, results]).comparisons[0].rows[0].difference == 0


def test_a_suite_is_built(tmp_path: Path) -> None:
    how: dict[str, Any] = {"limit": 4, "permutations": 2}
    made = cg.build("sentence_order", corpus="sample", output=tmp_path / "s", **how)
    assert made == tmp_path / "s"
    assert len(cg.load_items(made, config="sample_narration_all")) == 8
    suite = load_suite("sentence_order")
    assert cg.build(suite, corpus="sample", output=tmp_path / "s", **how) == made


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda f: cg.score("demo", 3), "3 is of type int; expected a dataset's name or folder"),
        (
            lambda f: cg.score(3, f),
            "3 is of type int; expected a model id, a folder, a loaded model",
        ),
        (lambda f: cg.score([], f), "no model; expected at least one"),
        (lambda f: cg.score("demo", f, limt=3), "no option 'limt'; expected one of aggregation"),
        (lambda f: cg.score("demo", [{"a": 1}], limit=3), "--limit: chooses from a dataset"),
        (lambda f: cg.score(object(), f), "expected a model id"),
        (
            lambda f: cg.load_items(cast(Any, None)),
            "None is of type NoneType; expected a dataset's name",
        ),
        (lambda f: cg.load_items(f, limit=0), "^limit: 0; expected at least 1"),
        (lambda f: cg.load_items(f, limit=cast(Any, "three")), 'limit: "three"; expected'),
        (lambda f: cg.load_items(f, config=cast(Any, 3)), "config: 3; expected an array"),
        (lambda f: cg.load_items(f, split=cast(Any, 3)), "split: 3; expected a string"),
        (lambda f: cg.load_items("x.json", split="test"), "--split: x.json has none"),
        (lambda f: cg.load_items("nowhere.json"), "nowhere.json: No such file"),
        (lambda f: cg.score("demo", [{"a": 1}], limit=0), "limit: 0; expected at least 1"),
        (lambda f: cg.compare(f), "results of 1 run; expected two or more"),
        (lambda f: cg.compare(f, f, seed=-1), "seed=-1; expected a whole number of at least 0"),
        (
            lambda f: cg.rows(cast(Any, f)),
            "a PosixPath; expected results, such as those of load_results",
        ),
        (lambda f: cg.score("demo", [{"a": 1}]), "row without item_id"),
        (lambda f: cg.score("demo", ""), "dataset '': no such folder"),
        (lambda f: cg.score("", f), "model '': no such folder"),
        (
            lambda f: cg.score("demo", f, bos="x"),
            "bos='x'; expected one of 'auto', 'always', 'never'",
        ),
        (lambda f: cg.score("demo", f, batch_tokens=0), "batch_tokens: 0; expected at least 1"),
        (lambda f: cg.score("demo", f, dtype=cast(Any, 3)), "dtype=3; expected one of 'auto'"),
        (
            lambda f: cg.score("demo", f, output=cast(Any, 3)),
            "output: 3; expected",
        ),
        (
            lambda f: cg.build(cast(Any, 3)),
            "3 is of type int; expected a suite's name, a Python file",
        ),
        (lambda f: cg.build("winograd", corpus=cast(Any, 3)), "corpus=3; expected a name, or a"),
        (lambda f: cg.build("winograd", output=cast(Any, 3)), "output: 3; expected"),
        (lambda f: cg.build("winograd", limit=0), "limit: 0; expected at least 1"),
        (lambda f: cg.build("winograd", limit="x"), 'limit: "x"; expected a'),
        (lambda f: cg.build("winograd", splits="test"), 'splits: "test"; expected an array'),
        (lambda f: cg.build("sentence_order", permutations="x"), 'permutations: "x"; expected a'),
        (lambda f: cg.build("sentence_order", permutations=0), "permutations is 0; expected at"),
        (lambda f: cg.build("sentence_order", sentences=3), "sentences: 3; expected"),
        (lambda f: cg.build("sentence_order", sentences=[3]), "sentences: .*expected"),
        (lambda f: cg.build("winograd", corpora=["sample"]), "no option 'corpora'; .*'corpus'"),
        (
            lambda f: cg.build("story_cloze", output=f),
            "exists; .* with output=, or pass overwrite=True",
        ),
        (
            lambda f: cg.build("winograd", genre="nope"),
            "genre='nope'; expected one of 'narration'",
        ),
        (lambda f: cg.load_model(cast(Any, 3)), "model 3; expected a Hub id, a folder or demo"),
        (lambda f: cg.compare(1, 2), "1 is of type int; expected results or a folder of them"),
        (lambda f: cg.build("story_close"), "no suite 'story_close'.*did you mean 'story_cloze'"),
        (lambda f: cg.build("winograd", corpsu="x"), "no option 'corpsu'"),
        (lambda f: cg.build("winograd", corpus="sampel"), "not built from corpus 'sampel'"),
    ],
)
def test_a_mistake_says_what_was_expected(
    folder: Path, call: Callable[[Path], object], said: str
) -> None:
    with pytest.raises(EvaluationError, match=said) as raised:
        call(folder)
    assert "\n" not in str(raised.value)
    assert "has no attribute" not in str(raised.value)


def test_nothing_heavy_is_imported_with_the_name() -> None:
    assert cg.__version__
    assert {"score", "build", "compare", "load_items"} <= set(dir(cg))
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        cg.scores  # noqa: B018


@pytest.fixture(scope="module")
def texts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    known = [intruded(f"k{n}", n % 3 + 1 if n % 2 else -1) for n in range(4)]
    splits = {"validation": known, "test": [replace(t, item_id=f"t-{t.item_id}") for t in known]}
    return write_spans_dataset(tmp_path_factory.mktemp("texts") / "texts", splits, "toy")


def test_spans_are_those_of_the_command(texts: Path, demo: Any, tmp_path: Path) -> None:
    found = cg.spans(demo, texts, output=tmp_path / "rows")
    (own,) = found.more["spans"]
    assert (own["config"], own["question"]) == ("toy", "coherence")
    assert own["about"]["calibrated_on"] == "validation"
    assert {row.n for row in found.rows if row.level == "all" and row.metric == "strict"} == {4}
    assert "strict" in str(found)
    assert (tmp_path / "rows" / "report.html").is_file()
    again = cg.spans("demo", texts, device="cpu")
    assert again.rows == found.rows
    argv = ["spans", "--model", "demo", "--dataset", str(texts), "--device", "cpu"]
    assert main([*argv, "--no-cache", "--output", str(tmp_path / "command")]) == 0
    assert compare_files(tmp_path / "command", again, tmp_path / "library")


def compare_files(command: Path, results: Any, folder: Path) -> bool:
    """The command's folder has the same scores and the same signature as the library's results."""
    write_results_folder(results, folder)
    ours, theirs = (json.loads((f / "results.json").read_text()) for f in (folder, command))
    signatures = (one["signature"].partition("|split")[2] for one in (ours, theirs))
    assert ours["scores"] == theirs["scores"]
    assert len(set(signatures)) == 1
    return bool(ours["spans"] == theirs["spans"])


def test_ways_to_ask_are_compared_text_by_text(texts: Path, demo: Any) -> None:
    asked = [cg.spans(demo, texts, bos=bos) for bos in ("always", "never")]
    compared = cg.compare(*asked).comparisons[0]
    rows = {row.metric: row for row in compared.rows if row.level == "all"}
    for own, name in (("accuracy", "accuracy"), ("strict", "strict"), ("lenient", "lenient")):
        values = [
            next(s.score for s in one.rows if (s.metric, s.system, s.group) == (own, "", ""))
            for one in asked
        ]
        assert rows[name].n == 4
        assert (rows[name].baseline_score, rows[name].score) == pytest.approx(tuple(values))
    assert compared.remarks == ('bos: "always" and "never"',)
    other = cg.spans(demo, texts, rho="best")
    with pytest.raises(EvaluationError, match='rho: "folds" and "best"'):
        cg.compare(asked[0], other)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"scorer": "guess"}, "no option 'scorer'; expected one of"),
        ({"rho": "1.5"}, "rho='1.5'; expected one of 'folds', 'best'"),
        ({"temperature": 0.0}, "temperature: 0.0; expected greater than 0"),
        ({"label_map": "x=1"}, "--label-map: this model answers by surprisal"),
        ({"split": "dev"}, "config 'toy': no split 'dev'; expected one"),
        ({"compat": "storks-2021"}, "toy .test. is not of the paper"),
    ],
)
def test_what_is_wrong_about_spans_is_said(
    texts: Path, demo: Any, options: dict[str, Any], said: str
) -> None:
    with pytest.raises(EvaluationError, match=said):
        cg.spans(demo, texts, **options)


# ---------------------------------------------------------------- results read again


def test_results_are_read_back_as_they_were(folder: Path, demo: Any, tmp_path: Path) -> None:
    found = cg.score(demo, folder, limit=5, output=tmp_path / "run")
    read = cg.load_results(tmp_path / "run")
    assert isinstance(found, cg.Results)
    assert isinstance(read, Results)
    assert read.headline == found.headline
    assert [row.score for row in read.rows] == [row.score for row in found.rows]
    assert read.signature == found.signature
    assert list(read.notes) == list(found.notes)
    for kind in ("scores", "predictions", "regions"):
        # In JSON a tuple is a list.
        own = json.loads(json.dumps(cg.rows(found, kind)))
        assert json.loads(json.dumps(cg.rows(read, kind))) == own
        assert len(read.to_pandas(kind)) == len(own)
    assert str(found).splitlines()[:2] == str(read).splitlines()[:2]
    assert "|---|" in read._repr_markdown_()
    with pytest.raises(EvaluationError, match=r"tokens\.parquet: not there; expected"):
        read.to_pandas("tokens")
    (row,) = {one.p for one in cg.compare(read, tmp_path / "run").comparisons[0].rows}
    assert row == 1


def test_results_of_several_runs_are_read_as_their_overview(
    folder: Path, winograd: Path, demo: Any, tmp_path: Path
) -> None:
    shown: Any = cg.score(demo, [folder, winograd], limit=3, output=tmp_path / "runs")
    assert str(cg.load_results(tmp_path / "runs")) == str(shown)
    assert shown.to_pandas()[["model", "suite", "n"]].values.tolist() == [
        ["demo", "story_cloze", 3],
        ["demo", "winograd", 3],
    ]
    run = next((tmp_path / "runs").glob("winograd*"))
    frame = cg.compare(run, run).to_pandas()
    assert set(frame.difference) == {0.0}
    with pytest.raises(
        EvaluationError, match="no such folder; expected a folder that coherencegym"
    ):
        cg.load_results(tmp_path / "nothing")
    with pytest.raises(EvaluationError, match="3 is of type int; expected a folder of results"):
        cg.load_results(cast(Any, 3))


def test_a_folder_that_python_wrote_has_the_file_that_makes_it_again(
    winograd: Path, tmp_path: Path
) -> None:
    from coherencegym.__main__ import main

    config = ["sample_full"]
    how: dict[str, Any] = {"config": config, "limit": 3, "compat": "syntaxgym-2021"}
    cg.score("demo", winograd, output=tmp_path / "first", **how)
    assert main(["run", str(tmp_path / "first" / "run.yaml"), "--output", str(tmp_path / "2")]) == 0
    first, second = (cg.load_results(tmp_path / name) for name in ("first", "2"))
    assert first.to_pandas().equals(second.to_pandas())
    cg.score("demo", [("A b.", "B a.")], output=tmp_path / "pairs")
    assert not (tmp_path / "pairs" / "run.yaml").exists()
