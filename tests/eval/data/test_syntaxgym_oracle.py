"""Published suites on a real model, against a computation that shares no code with the scorer.

The oracle joins regions, tokenises, runs one whole sentence at a time in float64 with the full
softmax, and finds a token's region by counting printed characters, not by offsets of regions.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

SUITES = (
    "center_embed",
    "cleft_modifier",
    "fgd_hierarchy",
    "fgd_subject",
    "nn-nv-rpl",
    "npi_src_any",
    "npz_ambig_mod",
    "number_orc",
    "reflexive_orc_fem",
    "reflexive_prep_masc",
    "subordination",
    "subordination_src-src",
)


@pytest.fixture(scope="module")
def real(stories260k: Path) -> tuple[Any, Any, Any]:
    """The model as it is scored, the same in float64, and the tokenizer."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    torch.set_num_threads(1)
    models = [
        AutoModelForCausalLM.from_pretrained(stories260k, dtype=dtype).eval()
        for dtype in (torch.float32, torch.float64)
    ]
    return models[0], models[1], AutoTokenizer.from_pretrained(stories260k)


def oracle(model: Any, ids: list[int]) -> list[float]:
    """-log2 p of every token but the first, which is None's stand-in NaN."""
    import torch

    with torch.inference_mode():
        logits = model(input_ids=torch.tensor([ids])).logits[0]
    assert logits.dtype == torch.float64
    norm = torch.logsumexp(logits, dim=-1)
    return [math.nan] + [
        float(norm[p - 1] - logits[p - 1, ids[p]]) / math.log(2) for p in range(1, len(ids))
    ]


def owners(regions: list[str], text: str, spans: list[tuple[int, int]]) -> list[int]:
    """The region (from 1) of each token: by how many printed characters stand before it."""

    def printed(piece: str) -> int:
        return len("".join(piece.split()))

    ends = [printed(" ".join(regions[: n + 1])) for n in range(len(regions))]
    assert ends[-1] == printed(text)
    found = []
    for start, _ in spans:
        before = printed(text[:start])
        found.append(next(n for n, end in enumerate(ends, start=1) if before < end))
    return found


def sums(
    items: Sequence[Any], model: Any, tokenizer: Any
) -> dict[tuple[int, str, int], tuple[float, int]]:
    """Sum of bits and number of tokens by item number, condition and region."""
    found: dict[tuple[int, str, int], tuple[float, int]] = {}
    for item in items:
        for condition in item["conditions"]:
            contents = [region["content"].strip() for region in condition["regions"]]
            text = " ".join(content for content in contents if content)
            encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
            ids = [tokenizer.bos_token_id, *encoded["input_ids"]]
            bits = oracle(model, ids)[1:]
            places = owners(contents, text, encoded["offset_mapping"])
            for region in range(1, len(contents) + 1):
                own = [b for b, place in zip(bits, places, strict=True) if place == region]
                key = (item["item_number"], condition["condition_name"], region)
                found[key] = (math.fsum(own), len(own))
    return found


@pytest.mark.parametrize("name", SUITES)
def test_region_sums_equal_the_float64_oracle(
    name: str, real: tuple[Any, Any, Any], shared: Path
) -> None:
    from support.results import judged_predictions

    from coherencegym.eval.data.syntaxgym import read_suite
    from coherencegym.eval.kinds.formula import read_of
    from coherencegym.eval.kinds.items import Prediction
    from coherencegym.eval.tasks.score.scoring import score_items

    model, exact, tokenizer = real
    path = shared / "corpora" / "syntaxgym" / f"{name}.json"
    table = read_suite(path)
    published = json.loads(path.read_text())
    assert len(table.items) == len(published["items"])
    first = next(iter(table.items))
    assert [p.formula for p in first.predictions] == [
        prediction["formula"].strip() for prediction in published["predictions"]
    ]
    names = [condition.condition_name for condition in first.conditions]
    whole = [Prediction(f"(*;%{name}%) > 0", "sum") for name in names]
    # One in four: the next is of the same templates.
    some = list(table.items)[::4]
    items = [replace(item, predictions=(*item.predictions, *whole)) for item in some]
    as_published, everything = (
        {item.item.item_number: item for item in score_items(model, tokenizer, chosen).items}
        for chosen in (some, items)
    )
    expected = sums(published["items"][::4], exact, tokenizer)
    for (number, name, region), (total, tokens) in expected.items():
        bits = everything[number].conditions[name].region_bits(region)
        assert len(bits) == tokens
        assert abs(math.fsum(bits) - total) <= 1e-4 * tokens
    for number, item in as_published.items():
        for prediction in item.item.predictions:
            for read, name in read_of(prediction.formula):
                total, tokens = expected[number, name, int(read)]
                bits = item.conditions[name].region_bits(read)
                assert len(bits) == tokens
                assert abs(math.fsum(bits) - total) <= 1e-4 * tokens
        assert all(prediction.outcome is not None for prediction in judged_predictions(item))
    assert {number for number, _, _ in expected} == set(as_published)


def test_the_twelve_are_all_there_is(shared: Path) -> None:
    folder = shared / "corpora" / "syntaxgym"
    assert sorted(file.stem for file in folder.glob("*.json")) == sorted(SUITES)


def test_the_compatible_mode_counts_the_start_token_as_0_in_the_first_region(
    real: tuple[Any, Any, Any], shared: Path
) -> None:
    """This tokenizer adds a start token by itself, so sums stay and counts grow by one."""
    from coherencegym.eval.data.syntaxgym import read_suite
    from coherencegym.eval.kinds.items import Prediction
    from coherencegym.eval.plan.options import SYNTAXGYM_2021, Options
    from coherencegym.eval.tasks.score.scoring import score_items

    model, exact, tokenizer = real
    path = shared / "corpora" / "syntaxgym" / "fgd_subject.json"
    items = [
        replace(item, predictions=(Prediction("(*;%what_gap%) > 0", "sum"),))
        for item in read_suite(path, max_items=5).items
    ]
    scored = score_items(model, tokenizer, items, Options(rules=SYNTAXGYM_2021))
    expected = sums(json.loads(path.read_text())["items"][:5], exact, tokenizer)
    for item in scored.items:
        for region in range(1, 9):
            total, tokens = expected[item.item.item_number, "what_gap", region]
            bits = item.conditions["what_gap"].region_bits(region)
            assert len(bits) == tokens + (region == 1)
            assert abs(math.fsum(bits) - total) <= 1e-4 * tokens
