"""Learning criteria: what is asked of a sentence, each loss, what is learned, what is written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from support.structures import planted, sentence, write_structures

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import DocumentSection, StructuredDocument
from coherencegym.eval.tasks.training import CRITERIA, Settings, terms_of
from coherencegym.eval.tasks.training.criteria import (
    AFTER,
    BY_FREQUENCIES,
    EncoderTraining,
    NewGRU,
    Targets,
    collator_of,
    frequent_words,
    mean_losses,
    placed_sentences,
    read_structures,
    words_of,
)
from coherencegym.eval.tasks.training.encoder import Trained
from coherencegym.eval.tasks.training.training import TrainingData

EVERY = tuple(CRITERIA)
CHOSEN: dict[str, Any] = {"configs": [], "split": "test", "max_items": None}


def test_where_each_sentence_stands() -> None:
    document = StructuredDocument(
        "d",
        "Rain",
        (
            DocumentSection("", 1, (("A", "B", "C"),)),
            DocumentSection("Why", 9, (("D",), ("E", "F"))),
        ),
        "d",
        "toy",
    )
    found = list(placed_sentences([document]))
    assert "".join(one.text for one in found) == "ABCDEF"
    assert [one.previous for one in found] == ["", *"ABCDE"]
    assert [one.following for one in found] == [*"BCDEF", ""]
    assert [one.level for one in found] == [0, 0, 0, 6, 6, 6]  # deeper ones count as the deepest
    assert [one.place_in_paragraph for one in found] == [0, 6, 13, 0, 0, 10]  # of 20 parts
    assert [one.place_in_document for one in found] == [0, 0, 0, 6, 13, 13]
    assert [one.section_title for one in found] == ["", "", "", "Why", "Why", "Why"]
    assert {one.document_title for one in found} == {"Rain"}


def test_terms_are_in_one_order() -> None:
    assert terms_of(["spp", "nsp"]) == [
        *("previous_sentence", "next_sentence", "place_in_paragraph", "place_in_document"),
    ]


def test_words_that_occur_once_are_unknown() -> None:
    assert words_of("Don't STOP!") == ["don", "'", "t", "stop", "!"]
    assert frequent_words(["b a b", "a b c"]) == ["b", "a"]
    sentences = [sentence("b a b", following="a b c")]
    targets = Targets.of([*sentences, sentence("a b c")], max_words=2)
    assert targets.size("next_sentence") == 3
    assert targets.ids(sentences[0], "next_sentence") == [2, 1]  # the third word is cut
    assert replace(targets, max_words=3).ids(sentences[0], "next_sentence") == [2, 1, 0]
    assert targets.ids(sentences[0], "previous_sentence") == []


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Documents whose words say where they stand."""
    folder = tmp_path_factory.mktemp("told") / "data"
    splits = {"train": planted(30, 1), "validation": planted(5, 2), "test": planted(10, 3)}
    return write_structures(folder, splits)


@pytest.fixture(scope="module")
def silent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same documents without that signal."""
    folder = tmp_path_factory.mktemp("silent") / "data"
    sizes = {"train": (30, 1), "validation": (5, 2), "test": (10, 3)}
    return write_structures(
        folder, {split: planted(*size, told=False) for split, size in sizes.items()}
    )


def trained(
    data: TrainingData, criteria: Sequence[str] = EVERY, seed: int = 0, **more: Any
) -> Trained:
    start = NewGRU.of(data.training, 16)
    given = {"device": "cpu", "learning_rate": 0.01, "epochs": 6, "patience": 6, **more}
    how = Settings(**{"batch_size": 20, **given})
    own = {"criteria": "+".join(criteria), "dimensions": 16}
    return EncoderTraining(data, start, how, CHOSEN, own).train(data, seed)


def losses_of(one: Trained) -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = {}
    for score in one.results.rows:
        found.setdefault(score.config, {"sentences": score.n})[score.metric] = score.score
    return found


def test_each_loss_is_what_an_independent_computation_says(told: Path) -> None:
    """In float64 with numpy, sentence by sentence, from the weights alone."""
    import numpy as np
    import torch

    from coherencegym.eval.tasks.training.criteria import CriteriaModel

    data = read_structures(str(told))
    sentences = list(placed_sentences(data.inputs[0].rows))[:37]
    start = NewGRU.of(data.training, 5)
    targets = Targets.of(data.training)
    terms = terms_of(EVERY)
    torch.manual_seed(3)
    sizes = {term: targets.size(term) for term in terms}
    model = CriteriaModel(start.without_head(), sizes, 7).eval()
    weights = {name: own.detach().double().numpy() for name, own in model.named_parameters()}
    known = start.tokenizer.get_vocab()

    def gru(vectors: np.ndarray, end: str) -> list[np.ndarray]:
        state, states = np.zeros(5), []
        for vector in vectors:
            own = weights[f"encoder.states.weight_ih_{end}"] @ vector
            own = own + weights[f"encoder.states.bias_ih_{end}"]
            back = weights[f"encoder.states.weight_hh_{end}"] @ state
            back = back + weights[f"encoder.states.bias_hh_{end}"]
            reset, update = (1 / (1 + np.exp(-(own + back)[at : at + 5])) for at in (0, 5))
            new = np.tanh(own[10:] + reset * back[10:])
            state = (1 - update) * new + update * state
            states.append(state)
        return states

    found: dict[str, list[float]] = {term: [] for term in terms}
    for one in sentences:
        ids = [known.get(word, known["[UNK]"]) for word in words_of(one.text)]
        vectors = weights["encoder.words.weight"][ids]
        there, back = gru(vectors, "l0"), gru(vectors[::-1], "l0_reverse")[::-1]
        vector = np.mean([np.concatenate(pair) for pair in zip(there, back, strict=True)], axis=0)
        for term in terms:
            out = vector
            for layer in (0, 2, 4):
                name = f"decoders.{term}.{layer}"
                out = weights[f"{name}.weight"] @ out + weights[f"{name}.bias"]
                out = np.maximum(out, 0) if layer < 4 else out
            logs = out - np.log(np.exp(out).sum())
            right = targets.ids(one, term)
            if right:
                found[term].append(-float(np.mean([logs[each] for each in right])))
    measured = mean_losses(model, sentences, collator_of(start, targets, terms), 8)
    for term in terms:
        assert measured[term] == pytest.approx(math.fsum(found[term]) / len(found[term]), abs=1e-5)
    whole = collator_of(start, targets, terms)(sentences)
    with torch.inference_mode():
        assert float(model(**whole)["loss"]) == pytest.approx(sum(measured.values()), abs=1e-4)


def test_frequencies_are_those_of_what_is_learned_from() -> None:
    learned = [sentence("a", level=0), sentence("b", level=0), sentence("c", level=2)]
    targets = Targets.of(learned)
    found = targets.frequencies(learned, "level")
    assert found == pytest.approx([(2 + 1 / 7) / 4, *[1 / 28], (1 + 1 / 7) / 4, *[1 / 28] * 4])


def test_a_planted_signal_is_learned(told: Path) -> None:
    losses = losses_of(trained(read_structures(str(told))))
    chance = {"level": math.log(2), "place in paragraph": math.log(4)}
    for term, one in losses.items():
        assert one[AFTER] < one[BY_FREQUENCIES] - 0.2 or term == "place in document", term
    for term, expected in chance.items():
        assert losses[term][BY_FREQUENCIES] == pytest.approx(expected, abs=0.03)
        assert losses[term][AFTER] < 0.1, term
    # Of the four paragraphs a sentence tells two apart.
    assert math.log(2) - 0.05 < losses["place in document"][AFTER] < 1.0
    assert losses["document title"][AFTER] < 0.1 + losses_floor("document_title")
    assert losses["section title"]["sentences"] == 80
    assert losses["next sentence"]["sentences"] == 160 - 10


def losses_floor(term: str) -> float:
    """The least loss of a title of two words, each half of the bag."""
    assert term == "document_title"
    return math.log(2)


def test_without_the_signal_it_stays_at_chance(silent: Path) -> None:
    losses = losses_of(trained(read_structures(str(silent)), ("nl", "spp"), epochs=2))
    for term in ("level", "place in paragraph", "place in document"):
        assert losses[term][AFTER] > losses[term][BY_FREQUENCIES] - 0.05, term


def test_a_criterion_alone_has_its_own_losses(told: Path) -> None:
    data = read_structures(str(told))
    for name, terms in CRITERIA.items():
        losses = losses_of(trained(data, (name,), epochs=1, batch_size=64))
        assert [*losses] == [term.replace("_", " ") for term in terms]
        # What has not learned predicts all ids alike.
        sizes = [Targets.of(data.training).size(term) for term in terms]
        after = [loss[AFTER] for loss in losses.values()]
        assert all(own < math.log(size) for own, size in zip(after, sizes, strict=True))


def test_a_seed_decides_everything(told: Path) -> None:
    whole = read_structures(str(told))
    # A batch or two tell.
    data = replace(whole, training=whole.training[:64])

    def numbers(seed: int) -> tuple[Any, bytes]:
        one = trained(data, ("nsp", "sdt"), seed, epochs=1)
        state = b"".join(own.numpy().tobytes() for own in one.model.state_dict().values())
        return one.results.rows, state

    first, again, other = (numbers(seed) for seed in (4, 4, 5))
    assert first == again != other


def test_what_has_no_sentence_is_named(tmp_path: Path) -> None:
    plain = [
        replace(one, sections=(replace(one.sections[0], title=""),), title="") for one in planted(4)
    ]
    folder = write_structures(
        tmp_path / "data", dict.fromkeys(("train", "validation", "test"), plain)
    )
    data = read_structures(str(folder))
    with pytest.raises(EvaluationError, match="'train': no sentence has a section title; expected"):
        trained(data, ("sdt",))
