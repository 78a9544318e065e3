"""Prompted choices: what is asked of a pair, where the right answer stands, and who reads it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.suites import build_from, no_classifiers, rows
from support.toy import SUITE, stories, toy_corpus

from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.choices import ask_pair
from coherencegym.builders.pipeline.sources import PlannedCorpus, Sources
from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.builders.suite import PromptedChoice, Suite
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.benchmark import benchmark_tasks, eval_yaml
from coherencegym.eval.data.dataset import tables
from coherencegym.eval.data.source import find_dataset
from coherencegym.eval.data.table_rows import table_rows
from coherencegym.eval.kinds.choices import PROMPTED_CHOICES, choice_question_from_row
from coherencegym.eval.kinds.items import ITEMS, Condition, Region
from coherencegym.eval.kinds.table_kind import SuiteError
from coherencegym.eval.tasks.detect.tables import split_tables

CONFIG = "toy_context_choice"
USUAL = PromptedChoice()


def condition(*regions: str, text: str = "") -> Condition:
    """A condition of these regions, whose text is they themselves with spaces between."""
    numbered = tuple(Region(number, one) for number, one in enumerate(regions, start=1))
    return Condition("c", text or " ".join(filter(None, regions)), numbered)


@pytest.mark.parametrize(
    ("right", "wrong", "asked"),
    [
        (
            condition("It rained.", "We stayed in."),
            condition("It rained.", "We swam on."),
            (
                "Which continuation makes this text more coherent?\n\nIt rained.",
                "We stayed in.",
                "We swam on.",
            ),
        ),
        (
            condition("I was tired,", "so", "I slept."),
            condition("I was tired,", "but", "I slept."),
            (
                "What makes this text more coherent in place of ____?\n\n"
                "I was tired, ____ I slept.",
                "so",
                "but",
            ),
        ),
        (
            condition("Ann met Tom.", "He", "left."),
            condition("Ann met Eve.", "He", "left."),
            (
                "Which beginning, in place of ____, makes this text more coherent?\n\n"
                "____ He left.",
                "Ann met Tom.",
                "Ann met Eve.",
            ),
        ),
        (
            condition("Wake up. Eat."),
            condition("Eat. Wake up."),
            ("Which text is more coherent?", "Wake up. Eat.", "Eat. Wake up."),
        ),
        # What both sides of a region share is quoted once, as whole sentences.
        (
            condition("One. Two. Three.", "End."),
            condition("One. 2. Three.", "End."),
            (
                "What makes this text more coherent in place of ____?\n\nOne. ____ Three. End.",
                "Two.",
                "2.",
            ),
        ),
        # An empty region takes the next one with it.
        (
            condition("Rain fell.", "", "We stayed."),
            condition("Rain fell.", "However,", "We stayed."),
            (
                "Which continuation makes this text more coherent?\n\nRain fell.",
                "We stayed.",
                "However, We stayed.",
            ),
        ),
        # A comma stays with the text that it stands in.
        (
            condition("It was late.", "Still", ", we ran.", text="It was late. Still, we ran."),
            condition("It was late.", "So", ", we ran.", text="It was late. So, we ran."),
            (
                "What makes this text more coherent in place of ____?\n\n"
                "It was late. ____, we ran.",
                "Still",
                "So",
            ),
        ),
        # A change of speaker is a new line, and belongs to the text around the gap.
        (
            condition("Tea?", "[SEP] Yes. [SEP]", "Here."),
            condition("Tea?", "[SEP] A dog. [SEP]", "Here."),
            (
                "What makes this dialogue more coherent in place of ____? (Each line is a turn.)"
                "\n\nTea?\n____\nHere.",
                "Yes.",
                "A dog.",
            ),
        ),
    ],
)
def test_what_is_asked(right: Condition, wrong: Condition, asked: tuple[str, str, str]) -> None:
    assert ask_pair(right, wrong) == asked


def test_a_suite_says_in_words_what_is_asked() -> None:
    right, wrong = condition("Hi.", "Hello."), condition("Hi.", "Bread.")
    assert ask_pair(right, wrong, "Who replies?") == ("Who replies?\n\nHi.", "Hello.", "Bread.")


@pytest.fixture(autouse=True)
def _fast(monkeypatch: pytest.MonkeyPatch) -> None:
    no_classifiers(monkeypatch)


def asking(choice: PromptedChoice | None = USUAL) -> Suite:
    """The toy suite, whose pairs are asked about."""
    return replace(SUITE, configs=tuple(replace(c, choice=choice) for c in SUITE.configs))


def made(folder: Path, number: int = 9, suite: Suite | None = None, **options: Any) -> Any:
    """A build of the toy suite; its manifest."""
    folder.mkdir(exist_ok=True)
    suite = suite or asking()
    splits = {"test": stories(0, number), "validation": stories(number, number + 4)}
    sources = Sources([PlannedCorpus(toy_corpus("toy", splits), suite.configs)])
    return build(suite, sources, BuildOptions(**options), folder)


def test_a_table_of_questions_stands_beside_the_pairs(tmp_path: Path) -> None:
    manifest = made(tmp_path)
    assert list(manifest["configs"]) == ["toy_context", CONFIG]
    entry = manifest["configs"][CONFIG]
    assert (entry["kind"], entry["in_headline"], entry["default"]) == ("choices", False, False)
    for split, number in (("test", 9), ("validation", 4)):
        pairs = {row["item_id"]: row for row in rows(tmp_path, "toy_context", split)}
        asked = [choice_question_from_row(row) for row in rows(tmp_path, CONFIG, split)]
        assert len(asked) == number
        assert [one.item_id for one in asked] == list(pairs)
        # As often first as second, but for one row, and not in turns.
        targets = [one.target for one in asked]
        assert abs(2 * sum(targets) - number) <= 1
        for one in asked:
            original, shuffled = pairs[one.item_id]["conditions"]
            right, wrong = one.choices[one.target], one.choices[1 - one.target]
            _, quoted = one.question.split("\n\n")
            assert quoted.replace("____", right) == original["content"]
            assert quoted.replace("____", wrong) == shuffled["content"]


def test_the_order_of_answers_follows_from_the_seed(tmp_path: Path) -> None:
    tables = {}
    for name, seed in (("one", 0), ("again", 0), ("other", 7)):
        made(tmp_path / name, 30, seed=seed)
        tables[name] = rows(tmp_path / name, CONFIG)
    assert tables["one"] == tables["again"]
    # More rows leave those as they are that were there.
    made(tmp_path / "more", 41)
    assert rows(tmp_path / "more", CONFIG)[:30] == tables["one"]
    order = {
        name: {row["item_id"]: row["target"] for row in found} for name, found in tables.items()
    }
    assert order["one"] != order["other"]
    targets = list(order["one"].values())
    assert targets not in ([n % 2 for n in range(30)], [1 - n % 2 for n in range(30)])


def test_pairs_that_are_no_question_have_none(tmp_path: Path) -> None:
    assert list(made(tmp_path / "a", suite=asking(None))["configs"]) == ["toy_context"]
    chosen = asking(PromptedChoice(coherent=("another",)))
    assert list(made(tmp_path / "b", suite=chosen)["configs"]) == ["toy_context"]


def test_the_evaluator_leaves_them_alone(tmp_path: Path) -> None:
    made(tmp_path / "toy")
    source = find_dataset(str(tmp_path / "toy"))
    assert {table.config for table in tables(source)} == {"toy_context"}
    said = r"a table of kind 'choices'; expected items \(inspect eval reads it\)"
    with pytest.raises(EvaluationError, match=said):
        list(table_rows(source, [CONFIG], kind=ITEMS))
    # `detect` takes the pairs for probes, as all others than questions are pairs.
    with pytest.raises(EvaluationError, match="coherencegym score scores other items"):
        list(split_tables(source, (), "test", None))


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"choices": ["one"]}, "q: 1 choices; expected two or more, each once"),
        ({"choices": ["one", "one"]}, "q: 2 choices; expected two or more, each once"),
        ({"choices": ["one", " "]}, "q: an empty text; expected a question and its choices"),
        ({"target": 2}, "q: target 2; expected 0 to 1"),
    ],
)
def test_a_row_that_is_no_question_is_refused(changes: dict[str, Any], said: str) -> None:
    row = {"item_id": "q", "question": "Which?", "choices": ["one", "two"], "target": 1}
    row |= {"discourse_id": "d", "corpus": "c"}
    assert PROMPTED_CHOICES.to_row(choice_question_from_row(row)) == row
    with pytest.raises(SuiteError) as error:
        choice_question_from_row(row | changes)
    assert str(error.value) == said


def test_eval_yaml_names_every_headline_config_and_its_choice(tmp_path: Path) -> None:
    manifest = made(tmp_path)
    read = yaml.safe_load((tmp_path / "eval.yaml").read_text(encoding="utf-8"))
    assert list(read) == ["name", "description", "tasks"]
    assert [(one["id"], one["config"], one["split"]) for one in read["tasks"]] == [
        ("toy_context", "toy_context", "test"),
        (CONFIG, CONFIG, "test"),
    ]
    # inspect refuses the file where one of its tasks is without these.
    wanted = {"id", "config", "split", "field_spec", "solvers", "scorers"}
    assert all(set(one) == wanted for one in read["tasks"])
    surprisal, choice = read["tasks"]
    assert choice["solvers"] == [{"name": "multiple_choice"}]
    assert choice["scorers"] == [{"name": "choice"}]
    columns = manifest["configs"][CONFIG]["features"]
    spec = choice["field_spec"]
    assert {*spec["metadata"], spec["input"], spec["target"], spec["choices"]} <= set(columns)
    assert surprisal["scorers"] == [{"name": "model_graded_qa", "args": {"model": "mockllm/model"}}]
    made(tmp_path / "plain", suite=asking(None))
    plain = yaml.safe_load((tmp_path / "plain" / "eval.yaml").read_text(encoding="utf-8"))
    assert plain["tasks"] == [{"id": "toy_context", "config": "toy_context", "split": "test"}]


def entry(kind: str, rank: int, corpus: str = "c", **more: Any) -> dict[str, Any]:
    """As much of a manifest's entry as tasks follow from."""
    about = {"kind": kind, "rank": rank, "corpus": {"name": corpus}, "splits": {"test": {}}}
    return about | more


def test_tasks_of_several_configs_and_kinds() -> None:
    configs = {
        "b": entry("items", 2, in_headline=True),
        "a": entry("items", 1, in_headline=True),
        "control": entry("items", 3, in_headline=False),
        "sample": entry("items", 4, "sample", in_headline=True),
        "documents": entry("documents", 10_001, splits={"train": {}, "validation": {}}),
        "a_choice": entry("choices", 60_001, choice_of="a"),
        "learned": entry("structures", 50_001),
    }
    assert [(one.id, one.config, one.split) for one in benchmark_tasks(configs)] == [
        ("headline", "a", "test"),
        ("a", "a", "test"),
        ("b", "b", "test"),
        ("documents", "documents", "validation"),
        ("a_choice", "a_choice", "test"),
    ]
    assert [one.id for one in benchmark_tasks(configs) if one.is_choice] == ["a_choice"]
    about = {"configs": {"learned": configs["learned"]}, "title": "", "hypothesis": ""}
    assert eval_yaml(about) == ""


#: Suites of pairs that are not asked about: neither text of their pairs is incoherent.
NOT_ASKED = {"illusions", "salience", "reference_distance"}


@pytest.mark.parametrize(
    "name",
    [
        name
        for name in SUITES
        if any(load_suite(name).in_headline(config) for config in load_suite(name).configs)
    ],
)
def test_every_suite_of_pairs_has_questions(name: str, tmp_path: Path) -> None:
    """Of its sample: all texts of a pair are in the question and its answers, and once."""
    manifest = build_from(load_suite(name), "sample", tmp_path, limit=60)
    asked = {n: e for n, e in manifest["configs"].items() if e["kind"] == "choices"}
    assert bool(asked) is (name not in NOT_ASKED)
    for config, about in asked.items():
        for split in about["splits"]:
            items = {row["item_id"]: row for row in rows(tmp_path, about["choice_of"], split)}
            found = [choice_question_from_row(row) for row in rows(tmp_path, config, split)]
            assert abs(2 * sum(one.target for one in found) - len(found)) <= 1
            for one in found:
                texts = [
                    _bare(each["content"])
                    for each in ITEMS.to_row(ITEMS.from_row(items[one.item_id.partition("#")[0]]))[
                        "conditions"
                    ]
                ]
                first, _, quoted = one.question.partition("\n\n")
                quoted = quoted or "____"
                whole = quoted if "____" in quoted else f"{quoted} ____"
                for choice in one.choices:
                    assert _bare(whole.replace("____", choice)) in texts, (one.item_id, first)


def _bare(text: str) -> str:
    # Letters and signs alone: turns and lines are set otherwise.
    return "".join(text.replace("[SEP]", "").split())
