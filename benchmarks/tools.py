"""The tools: each takes items, and gives the surprisal (bits) of what is read of every condition.

All get the same text with one start-of-text token before it, so that the first token of a text has
a surprisal too: this project adds it itself, ``token_score`` and ``conditional_score`` are asked
for it (``bos_token``), ``loglikelihood`` adds it to an empty context and finds it written before
others.
"""

from __future__ import annotations

import logging
import math
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import Any

from benchmarks.data import texts
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.text.sequence import common_start


@dataclass
class Answer:
    """What a tool said.

    Attributes:
        sums: for each item and condition, in order, the surprisal (bits) of what is read.
        tokens: the same by token, where the tool gives tokens.
        plan: what this project ran.
    """

    sums: list[float]
    tokens: list[list[float]] | None = None
    plan: Any = field(default=None, repr=False)


#: Called with items; made once for a model, before the clock starts.
Tool = Callable[[Sequence[Item]], Answer]


def coherencegym(model: Any, tokenizer: Any, batch: int) -> Tool:
    """This project, as ``coherencegym score`` calls it; ``batch`` is not used."""
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.tasks.score.scoring import score_items

    def run(items: Sequence[Item]) -> Answer:
        scored = score_items(model, tokenizer, items, Options(scorer="auto"))
        tokens = [
            one.conditions[c.condition_name].region_bits(c.regions[-1].region_number).tolist()
            for one in scored.items
            for c in one.item.conditions
        ]
        return Answer([math.fsum(bits) for bits in tokens], tokens, scored.plan)

    return run


def token_score(model: Any, tokenizer: Any, batch: int) -> Tool:
    """Minicons' ``token_score``: every token of the text, of which the last are what is read."""
    how = {"surprisal": True, "base_two": True, "bos_token": True}
    return _by_token(partial(_minicons(model, tokenizer).token_score, **how), tokenizer, batch)


def masked_token_score(model: Any, tokenizer: Any, batch: int) -> Tool:
    """Minicons' ``token_score`` of a masked model: every token of the text, as above."""
    how = {"surprisal": True, "base_two": True, "PLL_metric": "within_word_l2r"}
    score = _minicons_masked(model, tokenizer).token_score
    return _by_token(partial(score, **how), tokenizer, batch)


def masked_conditional_score(model: Any, tokenizer: Any, batch: int) -> Tool:
    """Minicons' ``conditional_score`` of a masked model: rows of what is read alone."""
    score = _minicons_masked(model, tokenizer).conditional_score
    return _by_sum(partial(score, PLL_metric="within_word_l2r"), batch)


def _by_token(
    score: Callable[[list[str]], list[list[tuple[str, float]]]], tokenizer: Any, batch: int
) -> Tool:
    """A tool that gives the surprisals of all tokens of some texts."""

    def run(items: Sequence[Item]) -> Answer:
        pairs = [text for item in items for text in texts(item)]
        counts = _read_counts(tokenizer, [(p.before, p.read) for p in pairs])
        tokens: list[list[float]] = []
        for start in range(0, len(pairs), batch):
            scores = score([pair.whole for pair in pairs[start : start + batch]])
            for own, count in zip(scores, counts[start : start + batch], strict=True):
                tokens.append([bits for _, bits in own[-count:]])
        return Answer([math.fsum(bits) for bits in tokens], tokens)

    return run


def _by_sum(score: Callable[..., list[float]], batch: int) -> Tool:
    """A tool that adds up what is read, given what stands before it, as Minicons does."""

    def run(items: Sequence[Item]) -> Answer:
        pairs = [text for item in items for text in texts(item)]
        sums: list[float] = []
        for start in range(0, len(pairs), batch):
            part = pairs[start : start + batch]
            sums += score(
                [pair.before for pair in part],
                [pair.read for pair in part],
                separator="",
                reduction=lambda bits: -bits.sum().item(),
                base_two=True,
            )
        return Answer(sums)

    return run


def loglikelihood(model: Any, tokenizer: Any, batch: int | str) -> Tool:
    """lm-evaluation-harness: ``HFLM.loglikelihood`` of what is read, given what is before it."""
    logging.disable(logging.WARNING)
    from lm_eval.models.huggingface import HFLM

    harness = HFLM(pretrained=model, tokenizer=tokenizer, batch_size=batch)
    bos = tokenizer.bos_token

    def run(items: Sequence[Item]) -> Answer:
        pairs = [text for item in items for text in texts(item)]
        requests = [
            SimpleNamespace(args=(bos + p.before if p.before else "", p.read)) for p in pairs
        ]
        results = harness.loglikelihood(requests, disable_tqdm=True)
        return Answer([-value / math.log(2) for value, _ in results])

    return run


def prompt_logprobs(model: Any, tokenizer: Any, batch: int) -> Tool:
    """vLLM: ``LLM.generate`` with ``prompt_logprobs`` of many texts, which it batches by itself.

    It loads the same weights from files. Beginnings are read for each text, as its cache of them
    has no log-probabilities.
    """
    import tempfile

    import vllm

    with tempfile.TemporaryDirectory() as folder:
        model.save_pretrained(folder)
        engine = vllm.LLM(
            folder,
            runner="generate",
            skip_tokenizer_init=True,
            dtype=str(model.dtype).removeprefix("torch."),
            load_format="safetensors",
            generation_config="vllm",
            enable_prefix_caching=False,
            enable_chunked_prefill=False,
            # The model is on the device as well, in this process.
            gpu_memory_utilization=0.5,
        )
    settings = vllm.SamplingParams(max_tokens=1, prompt_logprobs=0, detokenize=False)

    def score(wholes: list[str]) -> list[list[tuple[str, float]]]:
        encoded = tokenizer(wholes, add_special_tokens=False)["input_ids"]
        asked = [
            vllm.TokensPrompt(prompt_token_ids=[tokenizer.bos_token_id, *ids]) for ids in encoded
        ]
        found = engine.generate(asked, settings, use_tqdm=False)
        return [
            [
                ("", -row[token].logprob / math.log(2))
                for row, token in zip(one.prompt_logprobs[1:], ids, strict=True)
            ]
            for one, ids in zip(found, encoded, strict=True)
        ]

    return _by_token(score, tokenizer, batch)


def by_hand(model: Any, tokenizer: Any, batch: int) -> Tool:
    """A loop as one writes it for a causal model.

    It sorts texts by length, reads what the texts of an item begin with once, into a cache, and
    asks the head only where something is read.
    """
    import torch
    from torch.nn.utils.rnn import pad_sequence

    body, head = model.base_model, model.get_output_embeddings()

    def run(items: Sequence[Item]) -> Answer:
        pairs = [list(texts(item)) for item in items]
        bos = tokenizer.bos_token_id
        rows = [
            [
                [bos, *ids]
                for ids in tokenizer([p.whole for p in own], add_special_tokens=False)["input_ids"]
            ]
            for own in pairs
        ]
        counts = [_read_counts(tokenizer, [(p.before, p.read) for p in own]) for own in pairs]
        sums: dict[tuple[int, int], float] = {}
        alone: list[tuple[int, int]] = []
        for number in sorted(range(len(items)), key=lambda one: max(map(len, rows[one]))):
            places = [(number, text) for text in range(len(rows[number]))]
            if common_start(rows[number]) > 4:
                sums |= read(places, rows, counts)
            else:
                alone += places
        alone.sort(key=lambda place: len(rows[place[0]][place[1]]))
        for start in range(0, len(alone), batch):
            sums |= read(alone[start : start + batch], rows, counts)
        return Answer([sums[place] for place in sorted(sums)])

    def read(
        places: list[tuple[int, int]], rows: list[list[list[int]]], counts: list[list[int]]
    ) -> dict[tuple[int, int], float]:
        own = [torch.tensor(rows[item][text]) for item, text in places]
        first = [
            len(row) - counts[item][text] for row, (item, text) in zip(own, places, strict=True)
        ]
        # What is read first is told by the token before it, which is not in the cache.
        start = min(common_start([row.tolist() for row in own]), min(first) - 1)
        sums = {}
        with torch.inference_mode():
            cache = None
            if start:
                cache = body(input_ids=own[0][None, :start], use_cache=True).past_key_values
                cache.batch_repeat_interleave(len(own))
            ends = pad_sequence([row[start:] for row in own], batch_first=True)
            hidden = body(input_ids=ends, past_key_values=cache)[0]
            for place, row, begin, states in zip(places, own, first, hidden, strict=True):
                logits = head(states[begin - 1 - start : len(row) - 1 - start])
                logs = logits.log_softmax(-1).gather(1, row[begin:, None])
                sums[place] = -float(logs.double().sum()) / math.log(2)
        return sums

    return run


def float64(model: Any, tokenizer: Any, batch: int) -> Tool:
    """The reference: one text at a time, no padding, no sharing, in the model's own precision.

    Transformers' plain forward and a log softmax; nothing of this project but the positions read.
    """
    import torch

    def run(items: Sequence[Item]) -> Answer:
        pairs = [text for item in items for text in texts(item)]
        counts = _read_counts(tokenizer, [(p.before, p.read) for p in pairs])
        if tokenizer.mask_token_id is not None:
            own = [_masked_bits(model, tokenizer, p.whole) for p in pairs]
            own = [bits[-count:] for bits, count in zip(own, counts, strict=True)]
            return Answer([math.fsum(bits) for bits in own], own)
        tokens: list[list[float]] = []
        device = model.get_input_embeddings().weight.device
        for pair, count in zip(pairs, counts, strict=True):
            ids = tokenizer.encode(tokenizer.bos_token + pair.whole, add_special_tokens=False)
            batch_of_one = torch.tensor([ids], device=device)
            with torch.inference_mode():
                logits = model(input_ids=batch_of_one, use_cache=False).logits[0, :-1]
                logs = logits.log_softmax(dim=-1).gather(1, batch_of_one[0, 1:, None])[:, 0]
            tokens.append((-logs[-count:].double() / math.log(2)).tolist())
        return Answer([math.fsum(bits) for bits in tokens], tokens)

    return run


def _masked_bits(model: Any, tokenizer: Any, text: str) -> list[float]:
    """Surprisals (bits) of the tokens of a text, each in a row of its own, one row at a time."""
    import torch

    encoded = tokenizer(text)
    ids, words = encoded["input_ids"], encoded.word_ids()
    device = model.get_input_embeddings().weight.device
    bits = []
    for place in [place for place, word in enumerate(words) if word is not None]:
        later = (p for p in range(place, len(ids)) if words[p] == words[place])
        row = torch.tensor([ids], device=device)
        row[0, list(later)] = tokenizer.mask_token_id
        with torch.inference_mode():
            logs = model(input_ids=row).logits[0, place].log_softmax(dim=-1)
        bits.append(-float(logs[ids[place]]) / math.log(2))
    return bits


TOOLS: dict[str, Callable[[Any, Any, Any], Tool]] = {
    "coherencegym": coherencegym,
    "token_score": token_score,
    "by_hand": by_hand,
    "loglikelihood": loglikelihood,
    "prompt_logprobs": prompt_logprobs,
    "masked_token_score": masked_token_score,
    "masked_conditional_score": masked_conditional_score,
    "reference": float64,
}
#: What they are called in the table.
TITLES = {
    "coherencegym": "this project",
    "token_score": "minicons token_score",
    "by_hand": "a loop by hand",
    "loglikelihood": "lm-evaluation-harness",
    "masked_token_score": "minicons token_score, masked",
    "masked_conditional_score": "minicons conditional_score, masked",
}
#: The same, with those that are timed on a GPU alone.
GPU_TITLES = {**TITLES, "prompt_logprobs": "vLLM prompt_logprobs"}
#: For what begins with the first token nothing is a condition.
NEEDS_CONTEXT = {"masked_conditional_score"}
#: Those for masked language models, beside this project.
MASKED_TOOLS = frozenset({"masked_token_score", "masked_conditional_score"})


def _minicons(model: Any, tokenizer: Any) -> Any:
    warnings.simplefilter("ignore")
    from minicons.scorer import IncrementalLMScorer

    device = str(model.get_input_embeddings().weight.device)
    return IncrementalLMScorer(model, device=device, tokenizer=tokenizer)


def _minicons_masked(model: Any, tokenizer: Any) -> Any:
    warnings.simplefilter("ignore")
    from minicons.scorer import MaskedLMScorer

    device = str(model.get_input_embeddings().weight.device)
    # Its name for the call in earlier releases of transformers, which this one has no more.
    tokenizer.batch_encode_plus = tokenizer.__call__
    return MaskedLMScorer(model, device=device, tokenizer=tokenizer)


def _read_counts(tokenizer: Any, pairs: Sequence[tuple[str, str]]) -> list[int]:
    """How many tokens are read of each text: those that do not end before the region."""
    whole = tokenizer([a + b for a, b in pairs], add_special_tokens=False).input_ids
    before = tokenizer([a for a, _ in pairs], add_special_tokens=False).input_ids
    return [len(a) - len(b) for a, b in zip(whole, before, strict=True)]
