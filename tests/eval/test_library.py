"""The library: the same results as the command line, and what a notebook makes of them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
import torch
from markdown_it import MarkdownIt
from support.results import write_results_folder

import coherencegym as cg
import coherencegym.eval as package
from coherencegym import Results, load_items, load_model, rows, to_pandas
from coherencegym.errors import EvaluationError
from coherencegym.escapes import markdown_text
from coherencegym.eval.commands.cli import main
from coherencegym.eval.kinds.items import Item, SuiteError
from coherencegym.eval.kinds.table_kind import to_row
from coherencegym.eval.models.in_memory import evaluating, in_memory, state_digest
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.report.grid import share_with_interval
from coherencegym.eval.results.comparison import obstacles
from coherencegym.eval.results.folder import read_results
from coherencegym.eval.results.written import results_json
from coherencegym.eval.surprisal import Surprisals
from coherencegym.eval.tasks.score.scored_table import ScoredItemTable


def score(
    model: Any,
    tokenizer: Any,
    items: Any,
    *,
    name: str | None = None,
    commit: str | None = None,
    **options: Any,
) -> Any:
    """The results of a model in memory, under this name."""
    with evaluating(model):
        return cg.score(in_memory(model, tokenizer, name, commit), items, **options)


@pytest.fixture(scope="module")
def demo() -> LoadedModel:
    return load_model("demo", device="cpu")


@pytest.fixture(scope="module")
def data(
    tmp_path_factory: pytest.TempPathFactory,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
) -> Path:
    from datasets import Value

    return write_dataset(
        tmp_path_factory.mktemp("library") / "data",
        pair_items,
        extra={"moved": Value("bool")},
        breakdowns=["moved"],
    )


@pytest.fixture(scope="module")
def results(demo: LoadedModel, data: Path) -> Results:
    about: Any = {"name": "demo", "commit": demo.commit}
    made: Results = score(demo.model, demo.tokenizer, load_items(data), **about)
    return made


def test_pairs_may_be_lists_or_come_one_by_one() -> None:
    pairs = [("It rained. We got wet.", "We got wet. It rained."), ("He sat.", "Sat he.")]
    asked: list[Any] = [pairs, [[*one] for one in pairs], iter(pairs)]
    known, *others = (rows(cg.score("demo", given)) for given in asked)  # type: ignore[arg-type]
    assert others == [known, known]
    with pytest.raises(cg.EvaluationError, match="pairs: row 1: bad: None; expected a text"):
        cg.score("demo", [("He sat.", None)])


def test_the_library_and_the_command_line_give_the_same_results(
    results: Results, data: Path, tmp_path: Path
) -> None:
    argv = ["--model", "demo", "--dataset", str(data), "--output", str(tmp_path / "command")]
    assert main([*argv, "--no-cache", "--device", "cpu"]) == 0
    write_results_folder(results, tmp_path / "library")
    ours, theirs = (
        json.loads((tmp_path / name / "results.json").read_text())
        for name in ("library", "command")
    )
    assert ours == theirs
    names = [{path.name for path in (tmp_path / n).iterdir()} for n in ("library", "command")]
    # A model in memory has no command that loads it.
    assert {*names[0], "run.yaml"} == names[1]
    for name in ("regions", "units", "systems", "outcomes"):
        file = f"{name}.parquet"
        ours, theirs = ((tmp_path / n / file).read_bytes() for n in ("library", "command"))
        assert ours == theirs
    assert (
        obstacles(
            read_results(tmp_path / "library", outcomes=True),
            read_results(tmp_path / "command", outcomes=True),
        )
        == []
    )


@pytest.mark.parametrize(
    "options",
    [
        {"bos": "never", "truncate": True, "share": False, "batch_tokens": 64},
        {"compat": "syntaxgym-2021"},
        {"word_correction": True, "separator": "none"},
        {"special_tokens": True, "bos": "always"},
    ],
)
def test_options_are_those_of_the_command_line(
    demo: LoadedModel, data: Path, tmp_path: Path, options: dict[str, Any]
) -> None:
    argv = ["--model", "demo", "--dataset", str(data), "--output", str(tmp_path / "out")]
    for name, value in options.items():
        option = f"--{name.replace('_', '-')}"
        if name == "share":
            argv += ["--no-sharing"]
        else:
            argv += [option] if value is True else [option, str(value)]
    assert main([*argv, "--no-cache", "--device", "cpu", "--split", "test"]) == 0
    items = load_items(data, split="test")
    ours = score(demo.model, demo.tokenizer, items, name="demo", commit=demo.commit, **options)
    theirs = json.loads((tmp_path / "out" / "results.json").read_text())
    assert theirs.pop("outcomes_sha256")
    assert json.loads(json.dumps(results_json(ours))) == theirs


def test_options_reach_the_run(
    demo: LoadedModel,
    pair_items: list[Item],
    make_item: Callable[..., Item],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tokenizer = demo.tokenizer
    story = pair_items[3].conditions[0].content
    alike = [
        make_item(
            {"a": [story, "So they went home."], "b": [story, f"So the dog ran {number} times."]},
            "(2;%b%) > (2;%a%)",
            item_id=f"d{number}/x",
        )
        for number in range(8)
    ]
    runs: list[Surprisals[Item]] = []
    add = ScoredItemTable.add

    def kept(table: ScoredItemTable, scored: Surprisals[Item]) -> None:
        runs.append(scored)
        add(table, scored)

    monkeypatch.setattr(ScoredItemTable, "add", kept)
    for share, tokens in ((True, None), (False, None), (False, 128)):
        score(demo.model, tokenizer, alike, share=share, batch_tokens=tokens)
    shared, alone, small = runs
    assert shared.execution.sharing is not None
    assert alone.execution.sharing is None
    assert len(small.plan.batches) > len(alone.plan.batches)
    turns = make_item(
        {"a": ["Tim ran. [SEP] So did I."], "b": ["Tim ran. [SEP] No dog."]},
        "(1;%a%) > (1;%b%)",
    )
    for separator, text in (("none", ""), (" and", " and")):
        found = score(demo.model, tokenizer, [turns], separator=separator).details[0].rendering
        assert found.separator is not None
        assert found.separator.text == text


def test_items_from_choose_and_say_what_they_are(data: Path, tmp_path: Path) -> None:
    items = load_items(data, config="toy_context", limit=3)
    assert repr(items) == "<Items of toy 1.0.0: toy_context (test) 3>"
    assert len(items) == len(list(items)) == 3
    assert items.chosen == {"configs": ["toy_context"], "split": None, "max_items": 3}
    with pytest.raises(EvaluationError, match="no config 'tyo'"):
        load_items(data, config="tyo")


def test_suites_in_syntaxgyms_json(demo: LoadedModel, tmp_path: Path) -> None:
    conditions = [
        {
            "condition_name": name,
            "regions": [
                {"region_number": 1, "content": "The dog"},
                {"region_number": 2, "content": text},
            ],
        }
        for name, text in (("good", "was sad."), ("bad", "were sad."))
    ]
    suite = {
        "meta": {"name": "agreement", "metric": "sum"},
        "predictions": [{"type": "formula", "formula": "(2;%bad%) > (2;%good%)"}],
        "region_meta": {"1": "subject", "2": "verb"},
        "items": [{"item_number": 1, "conditions": conditions}],
    }
    file = tmp_path / "agreement.json"
    file.write_text(json.dumps(suite))
    found = score(demo.model, demo.tokenizer, load_items(file))
    assert [(s.config, s.n) for s in found.rows if s.level == "all"] == [("agreement", 1)]


def test_items_and_rows_from_memory(
    demo: LoadedModel, results: Results, pair_items: list[Item]
) -> None:
    known: Any = results.rows[0]
    given: list[Any] = [pair_items, (to_row(item) for item in pair_items)]
    for items in given:
        found = score(demo.model, demo.tokenizer, items, name="demo")
        (whole, *_), (known, *_) = found.rows, results.rows
        numbers = [(one.n, one.score, one.margin_mean) for one in (whole, known)]
        assert numbers[0] == numbers[1]
        assert whole.config == "items"
        assert any("from memory" in note.text for note in found.notes)
    with pytest.raises(EvaluationError, match="no dataset; expected"):
        score(demo.model, demo.tokenizer, [])
    with pytest.raises(EvaluationError, match="item 2 is a str; expected an Item"):
        score(demo.model, demo.tokenizer, [pair_items[0], "a"])
    with pytest.raises(SuiteError, match=r"d0/shuffled: there more than once"):
        score(demo.model, demo.tokenizer, [pair_items[0]] * 2)


def test_rows_are_flat_and_in_bits(results: Results) -> None:
    kinds = ("scores", "predictions", "regions", "tokens")
    for kind in kinds:
        listed = rows(results, kind)
        frame = to_pandas(results, kind)
        assert len(frame) == len(listed) > 0
        assert list(frame.columns) == list(listed[0])
    regions = rows(results, "regions")
    tokens = rows(results, "tokens")
    region = regions[0]
    key = ("item_id", "condition_name", "region_number")
    own = [
        token["bits"]
        for token in tokens
        if all(token[k] == region[k] for k in key) and token["bits"] is not None
    ]
    assert len(own) == region["n_tokens"]
    assert sum(own) == pytest.approx(region["sum_bits"])
    with pytest.raises(EvaluationError, match="no table 'items' of score; expected one of scores"):
        rows(results, "items")


class Cells(HTMLParser):
    """The cells of the tables of a page, and its elements."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.elements: set[str] = set()
        self.cells: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.add(tag)
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def parsed(results: Results) -> Cells:
    page = Cells()
    # As Jupyter reads it, which also obeys what is HTML in Markdown.
    page.feed(MarkdownIt().enable("table").render(results._repr_markdown_()))
    assert page.open == []
    return page


def test_a_notebook_shows_the_table(results: Results) -> None:
    page = parsed(results)
    assert {"script", "style", "img", "link", "iframe"} & page.elements == set()
    whole = next(s for s in results.rows if s.level == "all")
    assert "toy_context" in page.cells
    assert "moved=true" not in page.cells  # of few items
    assert share_with_interval(whole.score, whole.ci_low, whole.ci_high) in page.cells
    assert "margin, bits [95 % interval]" in page.cells
    assert markdown_text(results.signature) in results._repr_markdown_()
    assert share_with_interval(whole.score, whole.ci_low, whole.ci_high) in str(results)
    assert repr(results).startswith("<Results of demo on ")
    assert "\n" not in repr(results)


def test_names_are_text_in_a_notebook(demo: LoadedModel, pair_items: list[Item]) -> None:
    nasty = "<img src=x onerror=alert(1)>"
    found = score(demo.model, demo.tokenizer, pair_items[:1], name=nasty, commit="<script>")
    assert {"img", "script"} & parsed(found).elements == set()
    assert "\\<img" in found._repr_markdown_()
    assert nasty in str(found)


def test_a_model_in_training_is_asked_without_dropout_and_goes_on_training(
    make_model: Callable[..., Any], make_tokenizer: Callable[..., Any], pair_items: list[Item]
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer, embd_pdrop=0.5, resid_pdrop=0.5)
    still = score(model, tokenizer, pair_items[:3])
    model.train()
    model.transformer.wte.eval()  # somebody froze it
    modes = [module.training for module in model.modules()]
    asked = score(model, tokenizer, pair_items[:3])
    assert rows(asked, "regions") == rows(still, "regions")
    assert asked.signature == still.signature
    assert [module.training for module in model.modules()] == modes
    with pytest.raises(KeyboardInterrupt), evaluating(model):
        raise KeyboardInterrupt
    assert [module.training for module in model.modules()] == modes


def test_the_digest_is_of_weights_config_and_tokenizer(
    make_model: Callable[..., Any], make_tokenizer: Callable[..., Any], tmp_path: Path
) -> None:
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    digest = state_digest(model, tokenizer)
    assert digest.startswith("memory:")
    assert len(digest) == len("memory:") + 64
    # Where it is from does not matter.
    model.save_pretrained(tmp_path)
    tokenizer.save_pretrained(tmp_path)
    again = AutoModelForCausalLM.from_pretrained(tmp_path), AutoTokenizer.from_pretrained(tmp_path)
    assert state_digest(*again) == digest
    assert state_digest(model, make_tokenizer(sep="<sep>")) != digest
    with torch.no_grad():
        model.transformer.wte.weight[0, 0] += 1e-3
    changed = state_digest(model, tokenizer)
    assert changed != digest
    model.config.layer_norm_epsilon *= 2
    assert state_digest(model, tokenizer) != changed
    assert state_digest(model.to(torch.bfloat16), tokenizer) != changed
    assert state_digest(model.to("meta"), tokenizer) == "unknown"


def test_results_name_what_was_asked(
    make_model: Callable[..., Any], make_tokenizer: Callable[..., Any], pair_items: list[Item]
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("llama", tokenizer)
    model.config._name_or_path = "me/base"
    found = score(model, tokenizer, pair_items[:2])
    assert found.model["name"] == "me/base"
    assert found.model["commit"] == state_digest(model, tokenizer)
    assert found.model["device"] == "cpu"
    assert found.model["parameters"] == model.num_parameters()
    assert found.signature.startswith("model:me/base@memory:")
    named = score(model, tokenizer, pair_items[:2], name="mine", commit="step 7")
    assert named.signature.startswith("model:mine@step 7|")
    del model.config._name_or_path
    assert score(model, tokenizer, pair_items[:2]).model["name"] == "LlamaForCausalLM"


def test_adapters_in_memory_are_said(
    make_model: Callable[..., Any], make_tokenizer: Callable[..., Any], pair_items: list[Item]
) -> None:
    peft = pytest.importorskip("peft")
    tokenizer = make_tokenizer()
    plain = make_model("llama", tokenizer)
    before = state_digest(plain, tokenizer)
    model = peft.get_peft_model(plain, peft.LoraConfig(task_type="CAUSAL_LM", r=2)).eval()
    found = score(model, tokenizer, pair_items[:2])
    assert "with adapters: default" in map(str, found.notes)
    assert found.model["commit"] not in (before, "unknown")


def test_what_is_no_causal_model_is_refused_in_one_line(
    demo: LoadedModel, make_tokenizer: Callable[..., Any], pair_items: list[Item]
) -> None:
    from transformers import AutoConfig, BertForMaskedLM, T5ForConditionalGeneration

    tokenizer = make_tokenizer()
    tiny = {"vocab_size": len(tokenizer), "hidden_size": 16, "num_hidden_layers": 1}
    bert = BertForMaskedLM(
        AutoConfig.for_model("bert", **tiny, num_attention_heads=2, intermediate_size=16)
    )
    t5 = T5ForConditionalGeneration(
        AutoConfig.for_model(
            "t5", vocab_size=len(tokenizer), d_model=16, d_ff=16, d_kv=8, num_layers=1, num_heads=2
        )
    )
    for model, said in (
        (bert, "masked language model"),
        (t5, "encoder with a decoder"),
        (torch.nn.Linear(2, 2), "a Linear is no model of transformers"),
    ):
        with pytest.raises(EvaluationError, match=said):
            score(model, tokenizer, pair_items[:1])
    with pytest.raises(EvaluationError, match="a str is no tokenizer"):
        score(demo.model, "gpt2", pair_items[:1])
    with pytest.raises(EvaluationError, match="compat='x'; expected one of 'syntaxgym-2021'"):
        score(demo.model, demo.tokenizer, pair_items[:1], compat="x")
    with pytest.raises(EvaluationError, match="--bos and --compat syntaxgym-2021"):
        score(demo.model, demo.tokenizer, pair_items[:1], compat="syntaxgym-2021", bos="never")


def test_the_public_names_are_there_and_cost_nothing_before_they_are_used() -> None:
    assert sorted(package.__all__) == package.__all__
    assert all(getattr(package, name) is not None for name in package.__all__)
    with pytest.raises(AttributeError, match="no attribute 'scores'"):
        package.scores  # noqa: B018
    code = (
        "import sys\nfrom coherencegym import load_items, score\n"
        "heavy = {'torch', 'transformers', 'datasets', 'rich', 'pyarrow', 'pandas', 'jinja2'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
