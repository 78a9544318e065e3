"""Vectors by layer: those of a plain loop, for any batch and many architectures."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.tiny_encoders import CAUSAL, KINDS

from coherencegym.errors import EvaluationError
from coherencegym.eval import Passage, States, hidden_states, states
from coherencegym.eval.models import in_memory as bodies
from coherencegym.eval.models.in_memory import body_of

Made = Callable[[str], tuple[Any, Any]]

SENTENCES = [
    "Lily had a red ball.",
    "She threw the ball to Tim.",
    "It was raining all day, and the dog could not go out to play.",
    "What did you do at the weekend?",
    "Hello!",
    "Tim ran.",
]


def passage(*sentences: str) -> Passage:
    """Sentences joined by a space, each a span."""
    spans, start = [], 0
    for sentence in sentences:
        spans.append((start, start + len(sentence)))
        start += len(sentence) + 1
    return Passage(" ".join(sentences), tuple(spans))


PASSAGES = [*map(passage, SENTENCES), passage(*SENTENCES[:2]), passage(SENTENCES[5], SENTENCES[0])]


def plain(model: Any, tokenizer: Any, passages: list[Passage], pool: str) -> np.ndarray:
    """One text at a time, nothing padded: shape (layers, spans, width)."""
    found = []
    for each in passages:
        batch = tokenizer(each.text, return_offsets_mapping=True, return_special_tokens_mask=True)
        ids, offsets = batch["input_ids"], batch["offset_mapping"]
        special = batch["special_tokens_mask"]
        if tokenizer.bos_token_id is not None:
            # The tiny causal models' tokenizer adds nothing by itself.
            ids = [tokenizer.bos_token_id, *ids]
            offsets, special = [(0, 0), *offsets], [1, *special]
        module = model.get_encoder() if model.config.is_encoder_decoder else model
        with torch.inference_mode():
            layers = module(torch.tensor([ids]), output_hidden_states=True).hidden_states
        for start, end in each.spans:
            own = [
                place
                for place, ((a, b), added) in enumerate(zip(offsets, special, strict=True))
                if not added and start <= b - len(each.text[a:b].lstrip()) < end
            ]
            own = {"mean": own, "last": own[-1:], "cls": [0]}[pool]
            found.append(torch.stack([layer[0, own].mean(0) for layer in layers]).numpy())
    return np.stack(found, axis=1)


def all_layers(found: States) -> np.ndarray:
    return np.stack([found.layer(number) for number in found.layers])


@pytest.mark.parametrize("pool", ["mean", "last", "cls"])
@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_a_plain_loop(made: Made, kind: str, pool: Any) -> None:
    if pool == "cls" and (kind in CAUSAL or kind == "t5"):
        pytest.skip("nothing in front of a text has seen it")
    model, tokenizer = made(kind)
    model = model.double()
    found = states(model, tokenizer, PASSAGES, pool=pool, dtype="float32", batch_tokens=100)
    expected = plain(model, tokenizer, PASSAGES, pool)
    assert found.layers == tuple(range(len(expected)))
    assert np.abs(expected[-1]).std() > 0.01
    scale = max(1.0, np.abs(expected).max())
    np.testing.assert_allclose(all_layers(found), expected, atol=1e-5 * scale)


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_the_same_for_any_batch(made: Made, kind: str) -> None:
    model, tokenizer = made(kind)
    alone, together = (
        all_layers(states(model, tokenizer, PASSAGES, dtype="float32", batch_tokens=tokens))
        for tokens in (1, 1000)
    )
    tolerance = 1e-5 * max(1.0, float(np.abs(alone).max()))
    np.testing.assert_allclose(together, alone, atol=tolerance)
    backwards = states(model, tokenizer, PASSAGES[::-1], dtype="float32", batch_tokens=60)
    order = np.concatenate(
        [np.flatnonzero(np.repeat(range(8), [1] * 6 + [2] * 2) == n) for n in reversed(range(8))]
    )
    np.testing.assert_allclose(all_layers(backwards), alone[:, order], atol=tolerance)


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_model_is_shows_in_what_it_does(made: Made, kind: str) -> None:
    model, _ = made(kind)
    body = body_of(model)
    assert body.causal == (kind in CAUSAL)
    assert (body.layers, body.width) == (2, 32)
    # The others end every block with a norm of its own, and have none behind the last.
    final = {*CAUSAL, "t5", "modernbert"}
    assert body.normed == (frozenset({2}) if kind in final else frozenset())


@pytest.mark.parametrize("kind", CAUSAL)
def test_a_head_is_not_run_and_changes_nothing(
    made: Made, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = made(kind)
    ids = torch.tensor([[1, 5, 6, 7]])
    with torch.inference_mode():
        whole = model(ids, output_hidden_states=True).hidden_states
        own = body_of(model).hidden_states(ids)
    assert all(torch.equal(one, other) for one, other in zip(whole, own, strict=True))
    monkeypatch.setattr(type(model), "forward", None)
    assert states(model, tokenizer, PASSAGES[:1]).layer(2).shape == (1, 32)


@pytest.mark.parametrize("kind", ["gpt2", "bert"])
def test_what_stands_in_the_first_place_is_in_no_mean(
    made: Made, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = made(kind)
    before = all_layers(states(model, tokenizer, PASSAGES))
    read = bodies._hidden_states

    def planted(*arguments: Any) -> Any:
        layers = [layer.clone() for layer in read(*arguments)]
        for layer in layers:
            layer[:, 0] = 1e4 / layer.shape[2] ** 0.5
        return layers

    monkeypatch.setattr(bodies, "_hidden_states", planted)
    np.testing.assert_array_equal(all_layers(states(model, tokenizer, PASSAGES)), before)


def test_without_a_start_token_the_first_place_is_left_out_of_a_causal_model(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    tokenizer = make_tokenizer(bos=None)
    model = make_model("gpt2", tokenizer, bos_token_id=None)
    assert len(tokenizer("dog the dog")["input_ids"]) > 3
    found = states(model, tokenizer, [Passage.whole("D"), Passage("D x", ((0, 1), (2, 3)))])
    assert found.left_out == {0: "no_token", 1: "no_token"}
    assert np.isnan(found.layer(2)).all(axis=1).tolist() == [True, True, False]


def test_the_embedding_of_the_token_in_front_is_the_same_for_every_text(made: Made) -> None:
    model, tokenizer = made("bert")
    found = states(model, tokenizer, PASSAGES, pool="cls")
    assert len(np.unique(found.layer(0), axis=0)) == 1
    # One vector a text.
    assert len(np.unique(found.layer(2), axis=0)) == len(PASSAGES)


@pytest.mark.parametrize(
    ("kind", "said"),
    [
        ("gpt2", "pool cls: the first token of this model sees nothing of the text; expected"),
        ("t5", "pool cls: the tokenizer puts no such token in front; expected mean or last"),
    ],
)
def test_cls_is_refused_where_there_is_none(made: Made, kind: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        states(*made(kind), PASSAGES, pool="cls")


def test_white_space_at_the_edges_changes_nothing_that_is_read_of_a_causal_model(
    made: Made,
) -> None:
    model, tokenizer = made("llama")
    for pool in ("mean", "last"):
        found = states(
            model,
            tokenizer,
            [
                Passage.whole("Tim ran."),
                Passage.whole("Tim ran. \n"),
                Passage("Tim ran.  x", ((0, 10),)),
            ],
            pool=pool,
            dtype="float32",
        ).layer(2)
        np.testing.assert_allclose(found[1:], found[[0, 0]], atol=1e-5)


def test_what_is_left_out_is_said(made: Made) -> None:
    model, tokenizer = made("roberta")
    long = Passage("ball " * 70, ((0, 4), (5, 9)))
    given = [Passage("", ((0, 0),)), PASSAGES[0], long, Passage("a  b", ((1, 3), (3, 4)))]
    found = states(model, tokenizer, given)
    # One place of 64 is the padding's.
    assert found.context == 63
    assert found.left_out == {0: "no_token", 2: "too_long", 3: "too_long", 4: "no_token"}
    assert np.isnan(found.layer(1)).all(axis=1).tolist() == [n in found.left_out for n in range(6)]
    assert len(found.sequences) == 2


@pytest.mark.parametrize("kind", ["roberta", "bert", "opt"])
def test_the_context_is_what_can_be_read(made: Made, kind: str) -> None:
    model, tokenizer = made(kind)
    context = states(model, tokenizer, PASSAGES[:1]).context
    assert context is not None
    around = 1 if kind in CAUSAL else 2
    ball = "x" if len(tokenizer("x", add_special_tokens=False)["input_ids"]) == 1 else "!"
    texts = [Passage.whole(" ".join([ball] * n)) for n in range(context // 2 - 3, context)]
    found = states(model, tokenizer, texts)
    sizes = [len(tokenizer(t.text, add_special_tokens=False)["input_ids"]) for t in texts]
    expected = [n for n, size in enumerate(sizes) if size + around > context]
    assert sorted(found.left_out) == expected
    assert 0 < len(expected) < len(texts)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"layers": [3]}, r"layer 3: expected 0 \(embeddings\) to 2"),
        ({"layers": [-1]}, r"layer -1: expected 0 \(embeddings\) to 2"),
        ({"layers": []}, r"no layer: expected some of 0"),
        ({"pool": "max"}, "pool 'max': expected one of mean, last, cls"),
    ],
)
def test_a_wrong_choice_is_one_line(made: Made, given: dict[str, Any], said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        states(*made("gpt2"), PASSAGES, **given)


@pytest.mark.parametrize("span", [(-1, 3), (2, 1), (0, 9)])
def test_a_span_outside_the_text_is_refused(made: Made, span: tuple[int, int]) -> None:
    with pytest.raises(EvaluationError, match=r"text 'Tim ran.': span .* of 8 characters"):
        states(*made("gpt2"), [Passage("Tim ran.", (span,))])


def test_a_layer_that_was_not_asked_for_is_refused(made: Made) -> None:
    found = states(*made("gpt2"), PASSAGES, layers=[2, 0])
    assert found.layers == (0, 2)
    assert found.normed == {2}
    with pytest.raises(EvaluationError, match="layer 1: expected one of 0, 2"):
        found.layer(1)


def test_a_vector_that_is_no_number_is_refused(made: Made) -> None:
    model, tokenizer = made("gpt2")
    model.transformer.h[1].mlp.c_proj.bias.data[0] = float("nan")
    with pytest.raises(EvaluationError, match=r"layer 2: a vector of '.*' is not finite; expe"):
        states(model, tokenizer, PASSAGES)
    with pytest.raises(EvaluationError, match=r"is not finite; try --dtype float32"):
        states(model.half(), tokenizer, PASSAGES)


def test_a_vector_that_the_disk_cannot_hold_is_refused(made: Made) -> None:
    model, tokenizer = made("gpt2")
    model.transformer.wpe.weight.data[:, 0] = 1e5
    with pytest.raises(EvaluationError, match=r"layer 0: .* 1e\+05, which float16 cannot hold"):
        states(model, tokenizer, PASSAGES)
    assert states(model, tokenizer, PASSAGES, dtype="float32").layer(0).max() > 9e4


def test_a_model_in_bfloat16_is_kept_in_float32(made: Made) -> None:
    model, tokenizer = made("gpt2")
    found = states(model.bfloat16(), tokenizer, PASSAGES)
    layer = found.layer(2)
    assert (layer != layer.astype(np.float16)).any()


def test_texts_that_differ_beside_others_are_read_alone(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a model that mixes what stands in a batch."""
    model, tokenizer = made("gpt2")
    expected = all_layers(states(model, tokenizer, PASSAGES, dtype="float32"))
    read = bodies._hidden_states
    shapes = []

    def mixing(module: Any, ids: Any, mask: Any) -> Any:
        shapes.append(tuple(ids.shape))
        layers = read(module, ids, mask)
        return [layer + (len(ids) - 1) for layer in layers]

    monkeypatch.setattr(bodies, "_hidden_states", mixing)
    found = all_layers(states(model, tokenizer, PASSAGES, dtype="float32"))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    # What it is was tried with two texts, and so was what they do to each other.
    assert [rows for rows, _ in shapes] == [2, 2, 1, *[1] * len(PASSAGES)]


def test_a_batch_too_big_for_the_memory_is_halved(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = made("gpt2")
    expected = all_layers(states(model, tokenizer, PASSAGES, dtype="float32"))
    read = bodies._hidden_states

    def scarce(module: Any, ids: Any, mask: Any) -> Any:
        if ids.numel() > 60:
            raise MemoryError
        return read(module, ids, mask)

    monkeypatch.setattr(bodies, "_hidden_states", scarce)
    found = all_layers(states(model, tokenizer, PASSAGES, dtype="float32"))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    with pytest.raises(EvaluationError, match="out of memory for one text of"):
        states(model, tokenizer, [Passage.whole("a b c " * 30)])


def test_each_text_is_read_once_and_progress_is_said(
    made: Made, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = made("bert")
    seen: list[tuple[int, int]] = []
    found = states(
        model,
        tokenizer,
        [*PASSAGES, *PASSAGES],
        batch_tokens=60,
        progress=lambda *n: seen.append(n),
    )
    once = states(model, tokenizer, PASSAGES)
    assert (len(found.sequences), found.tokens) == (8, once.tokens)
    np.testing.assert_array_equal(found.layer(1)[:10], found.layer(1)[10:])
    assert seen[-1][0] == seen[-1][1] >= found.tokens
    assert [done for done, _ in seen] == sorted({done for done, _ in seen})


def test_the_model_is_left_as_it_was(made: Made) -> None:
    model, tokenizer = made("bert")
    model.train()
    states(model, tokenizer, PASSAGES)
    assert all(module.training for module in model.modules())
    hooks = [hook for module in model.modules() for hook in module._forward_hooks.values()]
    assert not [hook for hook in hooks if hook.__module__ == bodies.__name__]


def test_what_nobody_keeps_is_deleted_with_the_result(made: Made) -> None:
    found = states(*made("gpt2"), PASSAGES)
    folder = found.folder
    assert folder.is_dir()
    del found
    gc.collect()
    assert not folder.exists()


def test_no_text_is_no_error(made: Made) -> None:
    found = states(*made("gpt2"), [])
    assert found.layer(1).shape == (0, 32)


def test_a_tokenizer_of_another_model_is_refused(
    made: Made, make_model: Callable[..., Any]
) -> None:
    _, tokenizer = made("gpt2")
    model, _ = made("gpt2")
    model.resize_token_embeddings(100)
    with pytest.raises(EvaluationError, match="vocabulary has 100 entries"):
        states(model, tokenizer, PASSAGES)


def test_a_model_without_states_for_every_token_is_refused() -> None:
    from transformers import FunnelConfig, FunnelModel

    config = FunnelConfig(vocab_size=97, d_model=32, n_head=4, d_head=8, d_inner=48)
    with pytest.raises(EvaluationError, match=r"FunnelModel' (cannot be run|gives no hidden)"):
        body_of(FunnelModel(config).eval())


def test_a_passage_may_have_spans_that_overlap_in_any_order(made: Made) -> None:
    model, tokenizer = made("bert")
    text = "Tim ran. She threw it."
    given = [Passage(text, ((9, 22), (0, 8), (0, 22))), Passage(text, ((0, 8),))]
    found = states(model, tokenizer, given, dtype="float32").layer(2)
    np.testing.assert_allclose(found[1], found[3], atol=1e-6)
    first, second = (
        len(tokenizer(t, add_special_tokens=False)["input_ids"])
        for t in ("Tim ran.", " She threw it.")
    )
    np.testing.assert_allclose(
        found[2], (found[1] * first + found[0] * second) / (first + second), atol=1e-4
    )


def test_a_second_run_reads_nothing(
    made: Made, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokenizer = made("bert")
    first = states(model, tokenizer, PASSAGES, folder=tmp_path)
    expected = all_layers(first)
    assert first.cached == 0
    monkeypatch.setattr(hidden_states, "_pooled_states", None)
    second = states(model, tokenizer, PASSAGES[::-1], folder=tmp_path)
    assert second.cached == 8
    assert sorted(map(tuple, second.layer(2))) == sorted(map(tuple, expected[2]))
    # Other weights or another name: another database.
    monkeypatch.undo()
    model.encoder.layer[0].output.dense.bias.data += 1
    assert states(model, tokenizer, PASSAGES, folder=tmp_path).cached == 0
    assert states(model, tokenizer, PASSAGES, folder=tmp_path, identity="mine").cached == 0
    assert len(list(tmp_path.glob("*.sqlite"))) == 3


@pytest.mark.parametrize("kind", KINDS)
def test_texts_are_read_together(made: Made, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    model, tokenizer = made(kind)
    read = bodies._hidden_states
    rows = []

    def counted(module: Any, ids: Any, mask: Any) -> Any:
        rows.append(len(ids))
        return read(module, ids, mask)

    monkeypatch.setattr(bodies, "_hidden_states", counted)
    states(model, tokenizer, PASSAGES, batch_tokens=1000)
    # Behind what is tried: whether it sees ahead, and what a longer text does to a short one.
    assert len(rows) < 3 + len(PASSAGES)
    assert sum(rows[3:]) == len(PASSAGES)
