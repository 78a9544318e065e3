"""The examples of CONTRIBUTING.md and ``examples/contributing``, put together as they stand."""

from __future__ import annotations

import importlib.util
import math
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.commands import lint_examples
from support.native_files import LAYOUTS
from support.strategies import discourses

import coherencegym as cg
from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.errors import EvaluationError
from coherencegym.eval import kinds
from coherencegym.eval.backends import BACKENDS
from coherencegym.eval.commands.cli import main
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.table_kind import SuiteError, to_row
from coherencegym.eval.models.load import load_config
from coherencegym.eval.outcomes.estimates import estimates
from coherencegym.eval.outcomes.schema import MODEL, UnitRow
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.tasks.registry import TASKS
from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.discourse import Discourse, Edit, Unit, span_text, spans, undo
from coherencegym.loaders.languages import registry as registered_languages
from coherencegym.loaders.read import find, read
from coherencegym.loaders.registry import corpus
from coherencegym.loaders.text.sentences import split_sentences
from coherencegym.manipulations.editing import cut_excerpt
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.units import Shuffle

RECIPES = "loaders/corpora/recipes.py"
PORTUGUESE = "loaders/languages/portuguese.py"
REVERSE = "manipulations/reverse.py"
OMIT = "manipulations/omit.py"
ORDER = "builders/recipe_order.py"
HALVES = "eval/kinds/halves.py"
RECIPE_HALVES = "builders/recipe_halves.py"
MATCH_OPTIONS = "eval/tasks/match/options.py"
MATCH = "eval/tasks/match/task.py"
PERFECT = "eval/outcomes/perfect.py"
UNIFORM = "eval/backends/uniform.py"
#: Examples that are files of ``examples/contributing``; the page itself has the code of the others.
FILES = (PORTUGUESE, OMIT, HALVES, RECIPE_HALVES, MATCH_OPTIONS, MATCH, PERFECT, UNIFORM)


def blocks(repository: Path, language: str) -> list[str]:
    text = (repository / "CONTRIBUTING.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def modules(repository: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """The documented modules, imported under their names in the package."""
    made: dict[str, Any] = {}
    folder = tmp_path_factory.mktemp("modules")
    examples = {path: repository / "examples/contributing" / path for path in FILES}
    for code in blocks(repository, "python"):
        path = code.splitlines()[0].removeprefix("# ")
        examples[path] = folder / path.replace("/", "_")
        examples[path].write_text(code)
    for path, file in examples.items():
        name = "coherencegym." + path.removesuffix(".py").replace("/", ".")
        spec = importlib.util.spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[name] = module
        spec.loader.exec_module(module)
        made[path] = module
    yield made
    for module in made.values():
        del sys.modules[module.__name__]


def build_recipes(
    repository: Path, modules: dict[str, Any], suite: Any, tmp_path: Path
) -> tuple[Path, dict[str, Any]]:
    """Build a suite from the documented file of recipes; the folder and the manifest."""
    data = tmp_path / "data"
    data.mkdir()
    (lines,) = blocks(repository, "tsv")
    (data / "recipes.tsv").write_text(lines)
    sources = [PlannedCorpus(modules[RECIPES].CORPUS, suite.configs)]
    folder = tmp_path / "out"
    folder.mkdir()
    return folder, build(suite, sources, BuildOptions(data_dir=data), folder)


def test_the_examples_make_a_suite(
    repository: Path, modules: dict[str, Any], tmp_path: Path
) -> None:
    assert list(modules) == [*FILES, RECIPES, REVERSE, ORDER]
    folder, manifest = build_recipes(repository, modules, modules[ORDER].SUITE, tmp_path)
    assert find(modules[RECIPES].CORPUS, tmp_path / "data").files
    entry = manifest["configs"]["recipes_all"]
    assert entry["operators"] == "original: unchanged; reversed: Reverse()"
    original, reverse = entry["example"]["conditions"]
    assert original["content"] == "Boil the water. Pour it over the leaves. Wait four minutes."
    assert reverse["content"] == "Wait four minutes. Pour it over the leaves. Boil the water."
    assert "# Recipe order: does a language model notice" in (folder / "README.md").read_text()


def test_the_example_makes_a_language(
    modules: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = modules[PORTUGUESE].PORTUGUESE
    tokens = [
        "O",
        "Sr.",
        "Lima",
        "deu",
        "-lhe",
        "o",
        "livro",
        ",",
        "disse",
        "ela",
        ";",
        '"',
        "é",
        "seu",
        '"',
        ".",
    ]
    text, places = own.lay_out(tokens)
    assert text == 'O Sr. Lima deu-lhe o livro, disse ela; "é seu".'
    assert [text[start:end] for start, end in places] == tokens
    monkeypatch.setitem(registered_languages.LANGUAGES, "pt", own)
    registered_languages.language.cache_clear()
    sentences = ["O Sr. Lima saiu.", "Comprou pão, leite, etc.", "Ela ficou."]
    assert list(split_sentences(" ".join(sentences), "pt")) == sentences
    for name, content in LAYOUTS["disrpt texts"].files.items():
        path = tmp_path / name.replace("nld", "por")
        path.parent.mkdir(exist_ok=True)
        path.write_text(content, encoding="utf-8")
    first, _ = read(corpus("disrpt"), data_dir=tmp_path)
    assert (first.id, first.meta["language"]) == ("por.rst.x/a", "pt")
    registered_languages.language.cache_clear()


@given(discourses(), st.integers(0, 9))
def test_the_example_that_takes_a_unit_out_can_be_undone(
    modules: dict[str, Any], discourse: Discourse, seed: int
) -> None:
    context = Context(seed)
    omit, reverse = modules[OMIT].Omit(), modules[REVERSE].Reverse()
    results = list(omit(discourse, context))
    if len(discourse.units) < 3:
        assert context.skipped == {"fewer than three units": 1}
        assert results == []
        return
    (result,) = results
    (edit,) = result.edits
    assert 0 < edit.unit < len(discourse.units) - 1
    assert discourse.texts == (*result.texts[: edit.unit], edit.before, *result.texts[edit.unit :])
    assert (result.variant, undo(result)) == ("omitted", discourse.texts)
    kept = [s for s in spans(discourse) if all(unit != edit.unit for unit, _, _ in s)]
    assert {span_text(result, s) for s in spans(result)} <= {span_text(discourse, s) for s in kept}
    # Before, between and behind other edits, and where a part is cut out of what came of them.
    for pipeline in (omit | omit, reverse | omit | reverse, omit | Shuffle() | omit):
        for changed in pipeline(discourse, Context(seed)):
            assert undo(changed) == discourse.texts
            last = len(changed.units) - 1
            whole = [
                undo(cut_excerpt(changed, *ends)) for ends in ((0, last), (0, 0), (last, last))
            ]
            assert whole == [discourse.texts, discourse.texts[:1], discourse.texts[-1:]]


def test_a_unit_taken_out_belongs_to_an_excerpt_around_it(modules: dict[str, Any]) -> None:
    texts = ("A.", "B.", "C.", "D.", "E.")
    edits = (
        Edit("Omit", 1, 0, "B.", "", removed=True),
        Edit("Test", 1, 0, "C.", "X."),
        Edit("Omit", 2, 0, "D.", "", removed=True),
    )
    left = Discourse("d", "c", (Unit("A."), Unit("X."), Unit("E.")), edits=edits)
    assert undo(left) == texts
    ends = {(0, 0): texts[:1], (0, 1): texts[:3], (1, 1): texts[2:3], (1, 2): texts[2:]}
    for (first, last), expected in ends.items():
        assert undo(cut_excerpt(left, first, last)) == expected


def test_the_example_of_a_kind_is_built_shown_and_read(
    repository: Path, modules: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind = modules[HALVES].HALVES
    monkeypatch.setattr(kinds, "TABLE_KINDS", {**kinds.TABLE_KINDS, kind.name: kind})  # its line
    suite = modules[RECIPE_HALVES].SUITE
    folder, manifest = build_recipes(repository, modules, suite, tmp_path)
    entry = manifest["configs"]["recipes_all"]
    assert entry["kind"] == "halves"
    assert entry["splits"]["test"]["rows"] == 4
    card = (folder / "README.md").read_text()
    assert "Each row is two texts, and whether they belong together." in card
    assert "- `second`: Pour it over the leaves. Wait four minutes." in card
    assert "coherencegym match --model gpt2" in card
    (table,) = table_rows(find_dataset(str(folder)), kind=kind)
    assert table.verified
    ordered, reverse, *_ = table.read()
    assert (ordered.together, reverse.together) == (True, False)
    assert reverse.second == "Wait four minutes. Pour it over the leaves."
    with pytest.raises(EvaluationError, match=r"kind 'halves'; expected items \(.*another command"):
        list(table_rows(find_dataset(str(folder)), kind=kinds.TABLE_KINDS["items"]))


def test_the_example_of_a_task_is_a_subcommand(
    repository: Path,
    modules: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    kind = modules[HALVES].HALVES
    monkeypatch.setattr(kinds, "TABLE_KINDS", {**kinds.TABLE_KINDS, kind.name: kind})
    monkeypatch.setitem(TASKS, "match", ("tell halves", modules[MATCH].__package__))  # its line
    data, _ = build_recipes(repository, modules, modules[RECIPE_HALVES].SUITE, tmp_path)
    asked = ["match", "--model", "demo", "--device", "cpu", "--dataset", str(data), "--verbose"]
    assert main([*asked, "--output", str(tmp_path / "none")]) == 0
    assert main([*asked, "--output", str(tmp_path / "some"), "--saved", "1000"]) == 0
    printed = capsys.readouterr().out
    assert "recipes_all (test)" in printed
    assert "AUC, %" in printed
    assert "|task:match|configs:all|split:test|saved:1000.0|" in printed
    assert "second half" in printed
    assert "Saved bits" in (tmp_path / "none/report.html").read_text()

    run = read_results(tmp_path / "some")
    assert {score.metric: score.score for score in run.rows}["accuracy"] == 0.5
    saved = read_results(tmp_path / "some", outcomes=True)
    assert (saved.task, saved.settings["saved"]) == ("match", 1000.0)
    area, *_ = read_results(tmp_path / "none").rows
    assert (area.metric, area.n, area.chance) == ("AUC", 4, 0.5)
    outcomes = [one for one in saved.outcomes.rows() if one.metric == "auc"]
    right = [one.value for one in outcomes if one.target]
    wrong = [one.value for one in outcomes if not one.target]
    assert len(right) == len(wrong) == 2
    assert area.score == sum(a > b for a in right for b in wrong if a and b) / 4

    folders = [str(tmp_path / name) for name in ("none", "some")]
    assert main(["plot", *folders, "--output", str(tmp_path / "plots")]) == 0
    assert main(["compare", *folders]) == 2
    assert "saved: 0.0 and 1000.0" in capsys.readouterr().err
    assert main(["compare", *folders, "--anyway"]) == 0
    assert "recipes_all: accuracy" in capsys.readouterr().out
    assert main([*asked, "--split", "x", "--output", str(tmp_path / "x")]) == 2
    assert "no split 'x'" in capsys.readouterr().err

    from coherencegym.eval.run.runs import run_task
    from coherencegym.eval.tasks.registry import task_named

    about: dict[str, Any] = {"model": "demo", "device": "cpu", "dataset": data}
    found = run_task(task_named("match"), {**about, "saved": 1000.0})
    assert isinstance(found, cg.Results)
    assert found.signature == saved.signature
    assert "accuracy, %" in str(found)
    with pytest.raises(EvaluationError, match="match: no option 'save'; expected one of"):
        run_task(task_named("match"), {**about, "save": 1000.0})


def test_the_example_of_a_metric_is_one_file(modules: dict[str, Any]) -> None:
    metric = modules[PERFECT].Perfect("perfect")
    writer = OutcomeWriter()
    units = writer.units(
        UnitRow(config="c", split="s", item=str(n), cluster=str(n)) for n in range(20)
    )
    writer.add(units, "perfect", MODEL, [min(1.0, n / 10) for n in range(20)])
    ((_, _, score),) = estimates(writer.tables(), {"perfect": metric})
    assert score.score == 0.5
    assert score.ci_low is not None
    assert score.ci_high is not None
    assert 0 < score.ci_low < 0.5 < score.ci_high < 1


def test_the_example_of_a_metric_stands_in_the_module_of_metrics(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = (repository / "eval/outcomes/metrics.py").read_text()
    example = (repository / "examples/contributing" / PERFECT).read_text()
    new = example[example.index("class Perfect") :]
    above = "\n\n#: The kinds of metrics"
    last = "PartialSpearman, SpearmanWithin)"
    assert module.count(above) == module.count(last) == 1
    file = tmp_path / "metrics.py"
    changed = module.replace(above, f"\n\n{new}{above}")
    file.write_text(changed.replace(last, last[:-1] + ", Perfect)"))
    spec = importlib.util.spec_from_file_location("changed_metrics", file)
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    monkeypatch.setitem(sys.modules, "changed_metrics", made)
    spec.loader.exec_module(made)
    saved = made.SavedMetric(*("m", "", True, "perfect"))
    assert made.known_metrics([saved], "results.json") == {"m": made.Perfect("m")}


def test_the_example_of_a_backend_scores_and_says_what_it_is(
    repository: Path,
    modules: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    name = modules[UNIFORM].__name__
    monkeypatch.setitem(BACKENDS, "uniform", ("chance", name))  # its line
    data, _ = build_recipes(repository, modules, modules[ORDER].SUITE, tmp_path)
    out, cache = tmp_path / "scores", str(tmp_path / "cache")
    asked = [
        "score",
        "--model",
        "demo",
        "--backend",
        "uniform",
        "--dataset",
        str(data),
        "--verbose",
    ]
    assert main([*asked, "--output", str(out), "--cache", cache]) == 0
    printed = capsys.readouterr().out
    assert "no model has read the texts: all tokens have the same probability" in printed
    assert "args:backend=uniform" in printed
    rows = pq.read_table(out / "regions.parquet").to_pylist()
    vocabulary = load_config("demo")[0].vocab_size
    assert [row["mean_bits"] for row in rows] == pytest.approx([math.log2(vocabulary)] * len(rows))
    assert main([*asked, "--output", str(out), "--cache", cache, "--overwrite"]) == 0
    assert "texts were cached (" in capsys.readouterr().out
    wrong = [*asked, "--output", str(tmp_path / "wrong")]
    assert main([*wrong, "--scorer", "pll"]) == 2
    assert "the uniform model reads causal models alone" in capsys.readouterr().err
    assert main([*wrong, "--word-correction"]) == 2
    assert "the uniform model gives the log-probabilities of" in capsys.readouterr().err


def test_the_example_of_a_kind_refuses_what_it_is_not(modules: dict[str, Any]) -> None:
    kind, made = modules[HALVES].HALVES, modules[HALVES].Halves("d", "A.", "B.", True, "d", "c")
    row = to_row(made)
    assert kind.from_row(row) == made
    for changed, message in (
        ({"second": " "}, "d: an empty half; expected two texts"),
        ({"together": None}, "d: together"),
    ):
        with pytest.raises(SuiteError, match=message):
            kind.from_row(row | changed)


def test_the_example_reader_says_what_is_wrong(modules: dict[str, Any], tmp_path: Path) -> None:
    (tmp_path / "recipes.tsv").write_text("tea\tBoil the water.\n")
    with pytest.raises(CorpusError, match=r"recipes\.tsv:1: 1 steps, expected two or more"):
        list(read(modules[RECIPES].CORPUS, data_dir=tmp_path))


def test_the_page_names_every_example_that_is_a_file(repository: Path) -> None:
    root = repository / "examples/contributing"
    assert {path.relative_to(root).as_posix() for path in root.rglob("*.py")} == set(FILES)
    page = (repository / "CONTRIBUTING.md").read_text()
    assert [path for path in FILES if f"(examples/contributing/{path})" not in page] == []


def test_the_examples_pass_the_linter(repository: Path, tmp_path: Path) -> None:
    lint_examples(repository, tmp_path, blocks(repository, "python"), "I001")
