"""Scorers of spans: surprisals and heads against what is computed by hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support import tiny_tokenizers
from support.datasets import write_spans_dataset
from support.span_texts import STORY, abductions, entailments, intruded, places

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.source import Source, find_dataset
from coherencegym.eval.kinds.documents import SpanText
from coherencegym.eval.models.load import LoadedModel, load
from coherencegym.eval.outcomes.tables import OutcomeWriter
from coherencegym.eval.plan.options import Options
from coherencegym.eval.plan.plan import Budget, make_plan
from coherencegym.eval.plan.requests import prepare
from coherencegym.eval.tasks.spans.coherence import (
    BAG,
    CHOICE,
    COHERENCE,
    ENTAILMENT,
    MOST_FREQUENT,
    NEVER,
    SpanTable,
    baselines_of,
    read_span_tables,
)
from coherencegym.eval.tasks.spans.options import (
    CLASSIFIER,
    MULTIPLE_CHOICE,
    SpanOptions,
)
from coherencegym.eval.tasks.spans.scorers import (
    fitted_slope,
    head_answers,
    kind_of_head,
    positive_class,
    probability,
    span_queries,
    surprisal_answers,
)
from coherencegym.eval.tasks.spans.task import add_span_outcomes, ask_table, span_notes
from coherencegym.eval.tasks.task import TaskContext


def table_of(
    question: str, rows: Sequence[SpanText], calibration: Sequence[SpanText] = ()
) -> SpanTable:
    positive = {ENTAILMENT: "entailed", COHERENCE: "incoherent", CHOICE: "better"}[question]
    about = Source("toy", Path()), "toy", "test", tuple(rows), "", False, False, (), ()
    return SpanTable(*about, tuple(calibration), "validation", question, positive)


@pytest.fixture(scope="module")
def causal(make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]) -> LoadedModel:
    tokenizer = make_tokenizer()
    return LoadedModel.of("tiny", make_model("gpt2", tokenizer), tokenizer, commit="unknown")


def bits_by_hand(loaded: LoadedModel, before: str, text: str) -> tuple[float, int]:
    """Bits and tokens of a text after another one, each read in a pass of its own."""
    import torch

    tokenizer = loaded.tokenizer
    known = [tokenizer.bos_token_id, *tokenizer(before, add_special_tokens=False)["input_ids"]]
    if not before:
        known = known[:1]
    ids = tokenizer(f"{before} {text}" if before else text, add_special_tokens=False)["input_ids"]
    ids = [tokenizer.bos_token_id, *ids]
    assert ids[: len(known)] == known
    with torch.no_grad():
        logs = loaded.model(torch.tensor([ids])).logits[0].double().log_softmax(-1)
    found = [-float(logs[n - 1, ids[n]]) / math.log(2) for n in range(len(known), len(ids))]
    return sum(found), len(found)


def test_choices_by_bits(causal: LoadedModel) -> None:
    rows = abductions(3)
    found = surprisal_answers(TaskContext(causal), table_of(CHOICE, rows), temperature=2.0)
    for row, own in zip(rows, found.judged, strict=True):
        answers = own.predicted
        for a, b in places(3):
            bits = [bits_by_hand(causal, "", " ".join(s[a : b + 1]))[0] for s in row.alternatives]
            first = 1 / (1 + math.exp((bits[0] - bits[1]) / 2.0))
            assert answers[a, b].probability == pytest.approx(max(first, 1 - first), abs=1e-4)
            assert answers[a, b].margin == pytest.approx(abs(2 * first - 1), abs=1e-4)


def test_hypotheses_by_what_the_span_saves(causal: LoadedModel) -> None:
    rows, known = entailments(6), entailments(12, first=6)
    found = surprisal_answers(TaskContext(causal), table_of(ENTAILMENT, rows, known))

    def gain(row: SpanText, a: int, b: int) -> float:
        said = zip(row.speakers, row.units, strict=True)
        text = " ".join([f"Speaker{who}: {unit}" for who, unit in said][a : b + 1])
        alone, tokens = bits_by_hand(causal, "", row.hypothesis)
        after, _ = bits_by_hand(causal, text, row.hypothesis)
        return (alone - after) / tokens

    _, threshold = fitted_slope(
        [gain(row, 0, row.size - 1) for row in known], [row.label for row in known], "toy"
    )
    assert found.about["threshold"] == pytest.approx(threshold, abs=1e-3)
    learned = found.about["weight"], found.about["threshold"]
    for row, own in zip(rows, found.judged, strict=True):
        answers = own.predicted
        for place in places(row.size):
            expected = probability(gain(row, *place), *learned)
            assert answers[place].probability == pytest.approx(expected, abs=1e-3)
            assert answers[place].answer == int(answers[place].probability >= 0.5)


def test_what_holds_together_by_the_lowest_gain(causal: LoadedModel) -> None:
    rows = [intruded("a", 1), intruded("b", -1)]
    known = [intruded(f"k{n}", n % 3 + 1 if n % 2 else -1) for n in range(6)]
    found = surprisal_answers(TaskContext(causal), table_of(COHERENCE, rows, known))
    learned = found.about["weight"], found.about["threshold"]
    answers = found.judged[0].predicted
    units = rows[0].units
    for a, b in places(4):
        if a == b:
            assert (answers[a, b].answer, answers[a, b].probability) == (0, 0.0)
            continue
        gains = []
        for unit in range(a + 1, b + 1):
            alone, tokens = bits_by_hand(causal, "", units[unit])
            after, _ = bits_by_hand(causal, " ".join(units[a:unit]), units[unit])
            gains.append((alone - after) / tokens)
        expected = probability(-min(gains), *learned)
        assert answers[a, b].probability == pytest.approx(expected, abs=1e-3)


def test_spans_with_one_beginning_are_one_reading(causal: LoadedModel) -> None:
    """As many sequences as beginnings; a hypothesis after each span shares what it begins with."""
    text = table_of(COHERENCE, [intruded("a", 1)])
    choice = table_of(CHOICE, abductions(1))

    def requests(table: SpanTable) -> Any:
        return prepare(causal.tokenizer, None, span_queries(table)).requests

    assert len(make_plan(requests(text)).sequences) == len(STORY)
    # (2, 2) is the same text in both alternatives.
    assert len(make_plan(requests(choice)).sequences) == 2 * 3 - 1
    long = replace(
        entailments(3)[2],
        units=(*STORY, *(f"Then {unit}" for unit in STORY)),
        speakers=(),
        gold=intruded("x", 1).gold,
    )
    gold = tuple(replace(long.gold[0], start=a, end=b, answer=0) for a, b in places(8))
    asked = requests(table_of(ENTAILMENT, [replace(long, gold=gold)]))
    plan = make_plan(asked, Budget(tokens=4000, head_rows=4000, cached=8000),
                     sharing="packed")  # fmt: skip
    assert len(plan.sequences) == 1 + 36
    starts = sum(
        max(seq.length for seq in plan.sequences if seq.ids[:12] == beginning)
        for beginning in {seq.ids[:12] for seq in plan.sequences}
    )
    assert plan.tokens_once < 0.66 * plan.tokens
    assert plan.tokens_once < 3.2 * starts


def test_the_threshold_is_set_on_the_first_split_with_both_labels(tmp_path: Path) -> None:
    rows = entailments(4)

    def labelled(row: SpanText, label: int) -> SpanText:
        whole = 0, row.size - 1
        gold = (replace(o, answer=label) if (o.start, o.end) == whole else o for o in row.gold)
        return replace(row, label=label, gold=tuple(gold))

    same = [labelled(row, 1) for row in rows]
    both = [labelled(row, number % 2) for number, row in enumerate(rows)]

    def read(**changed: list[SpanText]) -> SpanTable:
        splits = {"test": rows, "validation": same, "train": both} | changed
        folder = write_spans_dataset(tmp_path / str(len(list(tmp_path.iterdir()))), splits, "toy")
        (found,), _ = read_span_tables(find_dataset(str(folder)), (), "test", None)
        return found

    assert read().calibrated_on == "train"
    assert [row.label for row in read().calibration] == [row.label for row in both]
    assert read(validation=both).calibrated_on == "validation"
    assert read(train=same).calibrated_on == "validation"


def test_nothing_to_set_the_threshold_on(causal: LoadedModel) -> None:
    with pytest.raises(
        EvaluationError, match=r"toy .test.: the rows that the threshold is set on have"
    ):
        surprisal_answers(TaskContext(causal), table_of(ENTAILMENT, entailments(2)))


def test_a_text_that_is_too_long_is_left_out(causal: LoadedModel) -> None:
    rows = abductions(2)
    long = replace(
        rows[1], alternatives=tuple((*s[:2], "the dog " * 200) for s in rows[1].alternatives)
    )
    found = surprisal_answers(TaskContext(causal), table_of(CHOICE, [rows[0], long]))
    assert [isinstance(own, str) for own in found.rows] == [False, True]


@pytest.mark.parametrize("question", [ENTAILMENT, COHERENCE, CHOICE])
def test_a_text_is_left_out_where_a_token_crosses_what_is_compared(
    make_model: Callable[..., Any], question: str
) -> None:
    """The first row of each has two neighbours that share a token; the others have none."""
    tokenizer = tiny_tokenizers.several_words(
        ["ball. Lily had", "raining. Tim ran", "day. Tim ran"]
    )
    model = LoadedModel.of("tiny", make_model("gpt2", tokenizer), tokenizer, commit="unknown")
    (choice,) = abductions(1)
    other = tuple(("Tim had a dog.", middle, "It was.") for _, middle, _ in choice.alternatives)
    apart = entailments(8)
    fitting = replace(intruded("c", -1), units=("Lily had a dog.",) * 4)
    rows = {
        ENTAILMENT: [apart[0], *(replace(row, units=("Oh!",), speakers=("B",)) for row in apart)],
        COHERENCE: [intruded("a", 1), intruded("b", 2), fitting],
        CHOICE: [choice, replace(choice, item_id="c2", alternatives=other)],
    }[question]
    rows = [replace(row, item_id=f"r{number}") for number, row in enumerate(rows)]
    table = table_of(question, rows, rows[1:])
    found = surprisal_answers(TaskContext(model), table)
    assert [isinstance(own, str) for own in found.rows] == [True] + [False] * (len(rows) - 1)
    assert found.left_out == {"too_long": 0, "crossing": 1}
    writer = OutcomeWriter()
    add_span_outcomes(writer, found)
    said = f"1 of {len(rows)} texts are left out: a token crosses the edge of what is compared"
    about: Any = SimpleNamespace(rows=[], details=[found], options=SpanOptions())
    assert any(said in str(note) for note in span_notes(about))
    assert {row.reason for row in writer.tables().rows()} == {"", "crossing"}


def head_model(
    folder: Path, tokenizer: Any, kind: str = "classifier", **config: Any
) -> LoadedModel:
    """A tiny BERT with a head, saved and loaded."""
    import torch
    from transformers import BertConfig, BertForMultipleChoice, BertForSequenceClassification

    tokenizer.pad_token = tokenizer.eos_token
    torch.manual_seed(0)
    settings = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2,
        intermediate_size=64, max_position_embeddings=128, initializer_range=0.5,
        pad_token_id=tokenizer.pad_token_id, **config,
    )  # fmt: skip
    made = BertForMultipleChoice if kind == MULTIPLE_CHOICE else BertForSequenceClassification
    made(settings).save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return load(str(folder), "cpu", scorer=None, head=kind_of_head(kind))


THREE = {0: "contradiction", 1: "neutral", 2: "entailment"}


def test_the_order_of_labels_and_of_rows_changes_nothing(
    tmp_path: Path, make_tokenizer: Callable[..., Any]
) -> None:
    import torch

    model = head_model(tmp_path / "m", make_tokenizer(), id2label=THREE)
    rows = entailments(9)
    options = SpanOptions(scorer=CLASSIFIER)
    found = head_answers(model, table_of(ENTAILMENT, rows), options)
    assert found.about["label"] == 2
    predicted = [one for own in found.judged for one in own.predicted.values()]
    assert {one.answer for one in predicted} == {0, 1}
    turned = head_answers(model, table_of(ENTAILMENT, rows[::-1]), options)
    order = [1, 2, 0]
    with torch.no_grad():
        head = model.model.classifier
        head.weight.copy_(head.weight[order])
        head.bias.copy_(head.bias[order])
    model.model.config.id2label = {0: "neutral", 1: "entailment", 2: "contradiction"}
    other = head_answers(model, table_of(ENTAILMENT, rows), options)
    assert other.about["label"] == 1
    assert len(found.judged) == len(other.judged) == len(turned.judged) == len(rows)
    for one, two, three in zip(found.judged, other.judged, turned.judged[::-1], strict=True):
        for place, own in one.predicted.items():
            for changed in (two.predicted[place], three.predicted[place]):
                assert changed.answer == own.answer
                assert changed.probability == pytest.approx(own.probability, abs=1e-5)


@pytest.mark.parametrize(
    ("labels", "positive", "question", "expected"),
    [
        (["contradiction", "entailment", "neutral"], "entailed", ENTAILMENT, 1),
        (["entailment", "not_entailment"], "entailed", ENTAILMENT, 0),
        (["coherent", "incoherent"], "incoherent", COHERENCE, 1),
        (["LABEL_0", "LABEL_1"], "entailed", ENTAILMENT, None),
        (["good", "bad"], "incoherent", COHERENCE, None),
    ],
)
def test_labels_say_what_is_positive(
    labels: list[str], positive: str, question: str, expected: int | None
) -> None:
    named = dict(enumerate(labels))
    if expected is None:
        with pytest.raises(EvaluationError, match=f"model 'm': its labels .0: {labels[0]}, 1: .*"
                           f"--label-map {positive}=NUMBER"):  # fmt: skip
            positive_class(named, positive, question, "m")
    else:
        assert positive_class(named, positive, question, "m") == expected


def test_what_is_too_long_for_a_head(tmp_path: Path, make_tokenizer: Callable[..., Any]) -> None:
    model = head_model(tmp_path / "m", make_tokenizer(), id2label=THREE)
    rows = entailments(3)
    rows[2] = replace(rows[2], units=("the dog " * 200, *rows[2].units[1:]))
    table = table_of(ENTAILMENT, rows)
    left = head_answers(model, table, SpanOptions(scorer=CLASSIFIER))
    assert [isinstance(own, str) for own in left.rows] == [False, False, True]
    cut = head_answers(model, table, SpanOptions(scorer=CLASSIFIER, truncate=True))
    assert (cut.cut, cut.left_out["too_long"]) == (1, 0)


def test_heads_of_choices(tmp_path: Path, make_tokenizer: Callable[..., Any]) -> None:
    model = head_model(tmp_path / "m", make_tokenizer(), MULTIPLE_CHOICE)
    table = table_of(CHOICE, abductions(4))
    found = head_answers(model, table, SpanOptions(scorer=MULTIPLE_CHOICE))
    assert len(found.judged) == 4
    for own in found.judged:
        assert own.predicted[0, 0].margin == pytest.approx(0.0, abs=1e-6)
        assert own.predicted[0, 2].margin > 0
    of_one_text = table_of(ENTAILMENT, entailments(2))
    with pytest.raises(EvaluationError, match=r"one text and no choice"):
        head_answers(model, of_one_text, SpanOptions(scorer=MULTIPLE_CHOICE))
    with pytest.raises(
        EvaluationError, match="a choice between texts; expected a model for multiple"
    ):
        head_answers(model, table, SpanOptions(scorer=CLASSIFIER))


def test_baselines_of_each_question() -> None:
    known = entailments(12)
    found = baselines_of(table_of(ENTAILMENT, entailments(6), known), entailments(6))
    assert list(found) == ["never", "always", "most frequent", "bag of words"]
    # "ball" is in the first unit alone, and every word of the hypothesis with it.
    judged = found[BAG][5]
    assert judged.text.label == 1
    assert [judged.predicted[place].answer for place in places(3)] == [1, 1, 1, 0, 0, 0]
    found = baselines_of(table_of(CHOICE, abductions(3)), abductions(3))
    assert list(found) == [NEVER, MOST_FREQUENT]
    odd = baselines_of(
        table_of(COHERENCE, [intruded("a", 1)], [intruded("b", 2), intruded("c", -1)]),
        [intruded("a", 1)],
    )[BAG][0]
    assert odd.predicted[0, 0].answer == 0


@pytest.mark.parametrize("scorer", ["classifier", "surprisal"])
@pytest.mark.parametrize("question", [ENTAILMENT, COHERENCE, CHOICE])
def test_the_size_of_batches_changes_nothing(
    causal: LoadedModel, tmp_path: Path, make_tokenizer: Callable[..., Any],
    scorer: str, question: str,
) -> None:  # fmt: skip
    known = [intruded(f"k{n}", n % 3 + 1 if n % 2 else -1) for n in range(6)]
    table = {
        ENTAILMENT: table_of(ENTAILMENT, entailments(6), entailments(12, first=6)),
        COHERENCE: table_of(COHERENCE, [intruded("a", 1), intruded("b", -1)], known),
        CHOICE: table_of(CHOICE, abductions(4)),
    }[question]
    model, options = causal, SpanOptions(scorer=scorer)
    if scorer == "classifier":
        kind = MULTIPLE_CHOICE if question == CHOICE else CLASSIFIER
        labels = {0: "none", 1: table.positive}
        model = head_model(tmp_path / "m", make_tokenizer(), kind, id2label=labels)
        named: dict[str, Any] = {"label_map": f"{table.positive}=1"} if kind == CLASSIFIER else {}
        options = SpanOptions(scorer=kind, **named)
    ways = [Options(), Options(batch_tokens=1), Options(share=False)]
    first, *others = [
        ask_table(TaskContext(model, how), table, options, OutcomeWriter()).judged for how in ways
    ]
    assert len(first) == len(table.rows)
    for found in others:
        for one, other in zip(first, found, strict=True):
            for place, own in one.predicted.items():
                assert other.predicted[place].probability == pytest.approx(
                    own.probability, abs=1e-5
                )
                assert other.predicted[place].margin == pytest.approx(own.margin, abs=1e-5)
