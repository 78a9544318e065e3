"""The CD score in one file, by transformers, torch and datasets alone.

    python cd_score.py MODEL SUITE [CONFIG]     # each of the first two a Hub id or a local folder

It is the share of predictions that hold (Beyer et al. 2021): ``(2;%shuffled%) > (2;%original%)``
says that region 2 is more surprising in the first text. ``coherencegym score`` reads all formulas.
"""

import re
import sys
from math import log
from statistics import fmean
from typing import Any

import torch
from datasets import load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer

COMPARISON = re.compile(r"\((\d+|\*);%([^%]+)%\) > \((\d+|\*);%([^%]+)%\)")
AGGREGATIONS = {"sum": torch.sum, "mean": torch.mean}


def region_bits(model: Any, tokenizer: Any, condition: Any) -> dict[str, torch.Tensor]:
    """The surprisals (bits) of the tokens of each region, by its number; ``*``: of all."""
    text = condition["content"]
    region_of: list[str] = []  # of each character
    for region in condition["regions"]:
        between = text.index(region["content"], len(region_of)) - len(region_of)
        region_of += [""] * between + [str(region["region_number"])] * len(region["content"])
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    # The first token of a text has a surprisal if a start-of-text token stands before it.
    begin = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    ids = torch.tensor(begin + encoded.input_ids)
    with torch.inference_mode():
        log_probabilities = model(ids[None]).logits[0, :-1].log_softmax(-1)
    bits = -log_probabilities.gather(1, ids[1:, None])[:, 0].double() / log(2)
    # A token is in the region of its first character that is not white space.
    firsts = [len(text) - len(text[start:].lstrip()) for start, _ in encoded.offset_mapping]
    own = [region_of[first] for first in firsts[1 - len(begin) :]]
    return {"*": bits, **{name: bits[[one == name for one in own]] for name in {*own}}}


def cd_score(name: str, suite: str, config: str | None = None) -> float:
    """The CD score of a causal language model on a suite: a mean over items, from 0 to 1."""
    model = AutoModelForCausalLM.from_pretrained(name, dtype=torch.float32).eval()
    tokenizer, scores = AutoTokenizer.from_pretrained(name), []
    for item in (item for split in load_dataset(suite, config).values() for item in split):
        bits = {c["condition_name"]: region_bits(model, tokenizer, c) for c in item["conditions"]}
        met = []
        for prediction in item["predictions"]:
            match = COMPARISON.fullmatch(prediction["formula"])
            assert match, f"{prediction['formula']}: no comparison of two regions"
            value, (left, first, right, second) = AGGREGATIONS[prediction["metric"]], match.groups()
            met.append(bool(value(bits[first][left]) > value(bits[second][right])))
        scores.append(fmean(met))
    return fmean(scores)


if __name__ == "__main__":
    print(f"CD score: {100 * cd_score(*sys.argv[1:]):.1f} %")
