"""Detectors against the definition, computed from whole texts with a plain forward pass."""

from __future__ import annotations

import math
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.options import Options
from coherencegym.eval.tasks.detect.detectors import detections, document_queries, load_detector
from coherencegym.eval.tasks.detect.documents import why_left_out
from coherencegym.eval.tasks.detect.options import DEFAULT_DETECTOR, DETECTORS
from coherencegym.eval.tasks.task import TaskContext

DOCUMENTS = [
    ["Lily had a red ball.", "She threw the ball to Tim.", "It was raining.", "Tim ran home."],
    ["The dog was sad.", "How are you?"],
    ["All alone."],
    ["Hello.", "I am fine, thank you!", "What did you do?"],
]


def scores_of(
    model: Any,
    tokenizer: Any,
    documents: Sequence[Sequence[str]],
    detector: str = DEFAULT_DETECTOR,
    **options: Any,
) -> list[list[float]]:
    loaded = LoadedModel.of("tiny", model, tokenizer, commit="unknown")
    return detections(TaskContext(loaded, Options(**options)), documents, detector)


@pytest.fixture(scope="module")
def pair(make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]) -> tuple[Any, Any]:
    tokenizer = make_tokenizer()
    return make_model("gpt2", tokenizer), tokenizer


def bits_of(model: Any, tokenizer: Any, text: str) -> tuple[float, int]:
    """Surprisal (bits) of a whole text after a start-of-text token, and its number of tokens."""
    import torch

    ids = [tokenizer.bos_token_id, *tokenizer(text, add_special_tokens=False)["input_ids"]]
    with torch.no_grad():
        logits = model(torch.tensor([ids])).logits[0].double()
    chosen = torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]]
    return float(-chosen.sum() / math.log(2)), len(ids) - 1


def expected(model: Any, tokenizer: Any, name: str, sentences: list[str], place: int) -> float:
    """The score by the chain rule: differences of the surprisals of whole texts."""

    def bits(*chosen: str) -> float:
        return bits_of(model, tokenizer, " ".join(chosen))[0] if chosen else 0.0

    def tokens(*chosen: str) -> int:
        return bits_of(model, tokenizer, " ".join(chosen))[1]

    before, own, after = sentences[:place], sentences[place], sentences[place + 1 :]
    size = tokens(*before, own) - tokens(*before)
    in_context = bits(*before, own) - bits(*before)
    context = bits(own) - in_context
    following = (bits(*before, *after) - bits(*before)) - (bits(*sentences) - bits(*before, own))
    if name == "mutual":
        # log p(document) - log p(sentence) - log p(document without it)
        return -(bits(own) + bits(*before, *after) - bits(*sentences)) / size
    return {"context": -context, "following": -following, "surprisal": in_context}[name] / size


@pytest.mark.parametrize("name", DETECTORS)
@pytest.mark.parametrize("share", [True, False])
def test_scores_are_those_of_the_definition(pair: tuple[Any, Any], name: str, share: bool) -> None:
    scores = scores_of(*pair, DOCUMENTS, name, share=share)
    assert [len(own) for own in scores] == [4, 2, 1, 3]
    for sentences, own in zip(DOCUMENTS, scores, strict=True):
        assert own[0] == -math.inf
        wanted = [expected(*pair, name, sentences, place) for place in range(1, len(sentences))]
        assert own[1:] == pytest.approx(wanted, abs=2e-4)


def test_without_a_start_of_text_what_is_unread_alone_is_left_out_of_both(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    import torch

    tokenizer = make_tokenizer(bos=None, eos=None)
    model = make_model("gpt2", tokenizer)
    sentences = ["The dog was sad.", "It was raining."]
    ((_, score),) = scores_of(model, tokenizer, [sentences], "context")

    def token_bits(text: str) -> tuple[list[float], list[int]]:
        encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
        ids = encoded["input_ids"]
        with torch.no_grad():
            logits = model(torch.tensor([ids])).logits[0].double()
        bits = -torch.log_softmax(logits, -1)[range(len(ids) - 1), ids[1:]] / math.log(2)
        return [math.nan, *bits.tolist()], [start for start, _ in encoded["offset_mapping"]]

    alone, starts = token_bits(sentences[1])
    whole, places = token_bits(" ".join(sentences))
    begins = len(sentences[0]) + 1
    in_document = [b for b, s in zip(whole, places, strict=True) if s >= begins - 1]
    kept = [b for b, s in zip(whole, places, strict=True) if s >= begins + starts[1]]
    assert len(kept) < len(in_document)
    assert score == pytest.approx(-(sum(alone[1:]) - sum(kept)) / len(in_document), abs=1e-4)


def test_documents_that_are_too_long_are_not_numbers_and_harm_no_other(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer, n_positions=48)
    long = ["The dog was sad and could not go."] * 8
    left_out, read = scores_of(model, tokenizer, [long, DOCUMENTS[1]])
    assert why_left_out(left_out) == "too_long"
    assert left_out[0] == -math.inf
    assert all(map(math.isnan, left_out[1:]))
    alone = scores_of(model, tokenizer, [DOCUMENTS[1]])[0]
    assert read == pytest.approx(alone, abs=1e-4)


def test_a_model_by_its_name() -> None:
    from coherencegym.manipulations.operator import Detector

    detector: Detector = load_detector("demo", "context", device="cpu")
    ((opening, near, far),) = detector(
        [["Lily had a red ball.", "She threw the ball to Tim.", "Tax rates fell."]]
    )
    assert opening == -math.inf
    assert near < far
    assert detector([]) == []
    assert detector([["One."]]) == [[-math.inf]]
    with pytest.raises(EvaluationError, match="no detector 'x'"):
        load_detector("demo", "x")


def test_a_detector_reads_no_more_than_it_needs() -> None:
    def conditions(name: str) -> list[list[str]]:
        queries = document_queries([DOCUMENTS[3]], name)
        return [[condition.content for condition in query.conditions] for query in queries]

    one, two, three = DOCUMENTS[3]
    whole, without = f"{one} {two} {three}", f"{one} {three}"
    assert conditions("surprisal") == [[whole]]
    assert conditions("context") == [[whole], [two, three]]
    assert conditions("following") == [[whole, without]]
    assert conditions("mutual") == [[whole, without], [two, three]]


def test_what_is_wrong_is_said(
    pair: tuple[Any, Any], make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    with pytest.raises(EvaluationError, match="no detector 'x'; expected one of mutual, context"):
        scores_of(*pair, DOCUMENTS, "x")
    with pytest.raises(EvaluationError, match="document 2: sentence 2 is empty"):
        scores_of(*pair, [["One.", "Two."], ["One.", " "]])
    bare = make_tokenizer(bos=None, eos=None)
    with pytest.raises(EvaluationError, match=r"no separator for \[SEP\]"):
        scores_of(make_model("gpt2", bare), bare, [["One [SEP] two.", "Three."]])


def test_importing_it_imports_no_torch(repository: Path) -> None:
    code = "import sys, eval.tasks.detect.detectors; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=repository, check=False).returncode == 0
