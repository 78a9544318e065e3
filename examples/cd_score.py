"""The plain CD score of a config in one file, by transformers, torch and datasets alone.

    python cd_score.py MODEL SUITE [CONFIG [SPLIT]]

MODEL is ``demo``, a Hub id or a folder, SUITE a Hub id or a folder. The score is the mean over
items of the share of predictions that hold (Beyer et al. 2021): ``(2;%shuffled%) > (2;%original%)``
says that region 2 is more surprising in the first text. ``coherencegym score`` reads all formulas
and splits, gives intervals, baselines and a controlled score, and leaves out items of equal texts.
"""

import json
import re
import sys
from importlib.resources import files
from math import log
from pathlib import Path
from statistics import fmean
from typing import Any

import torch
from datasets import load_dataset
from huggingface_hub import hf_hub_download
from transformers import AutoModelForCausalLM, AutoTokenizer

TERM = r"\((\d+|\*);%([^%]+)%\)"
FORMULA = re.compile(rf"{TERM}( \+ {TERM})* > {TERM}( \+ {TERM})*")
AGGREGATIONS = {"sum": torch.sum, "mean": torch.mean}


def region_bits(model: Any, tokenizer: Any, condition: Any) -> dict[str, torch.Tensor]:
    """The surprisals (bits) of the tokens of each region, by its number; ``*``: of all."""
    separator = tokenizer.sep_token or tokenizer.eos_token  # for a change of speaker
    parts = [condition["content"], *(region["content"] for region in condition["regions"])]
    text, *contents = (separator.join(re.split(r"\s*\[SEP\]", part)) for part in parts)
    region_of: list[str] = []  # of each character
    for region, content in zip(condition["regions"], contents, strict=True):
        between = text.index(content, len(region_of)) - len(region_of)
        region_of += [""] * between + [str(region["region_number"])] * len(content)
    encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
    # The first token of a text has a surprisal if a start-of-text token stands before it.
    begin = [] if tokenizer.bos_token_id is None else [tokenizer.bos_token_id]
    ids = torch.tensor(begin + encoded.input_ids)
    if len(ids) > getattr(model.config, "max_position_embeddings", len(ids)):
        return {}  # longer than the model's context
    with torch.inference_mode():
        log_probabilities = model(ids[None]).logits[0, :-1].log_softmax(-1)
    bits = -log_probabilities.gather(1, ids[1:, None])[:, 0].double() / log(2)
    # A token is in the region of its first character that is not white space, or else of the next
    # such character in the text; a separator is in none.
    firsts = [len(text) - len(text[start:].lstrip()) for start, _ in encoded.offset_mapping]
    own = ["" if text.startswith(separator, first) else region_of[first] for first in firsts]
    own = own[1 - len(begin) :]
    found = {name: bits[[one == name for one in own]] for name in {*own} - {""}}
    return {"*": bits[[one != "" for one in own]], **found}


def holds(prediction: Any, bits: dict[str, dict[str, torch.Tensor]]) -> bool:
    """Say whether a prediction holds; a tie does not."""
    if not FORMULA.fullmatch(prediction["formula"]):
        raise ValueError(f"{prediction['formula']}: expected sums of regions, compared by >")
    value = AGGREGATIONS[prediction["metric"]]
    sides = (re.findall(TERM, side) for side in prediction["formula"].split(" > "))
    left, right = (sum(value(bits[text][region]) for region, text in side) for side in sides)
    return bool(left - right > 1e-4)


def cd_score(name: str, suite: str, config: str | None = None, split: str = "test") -> float:
    """The plain CD score of a causal language model on a split of a config, from 0 to 1."""
    path = str(files("coherencegym") / "eval/models/demo_model") if name == "demo" else name
    model = AutoModelForCausalLM.from_pretrained(path, dtype=torch.float32).eval()
    how = {"split": split, "streaming": True}  # else datasets keeps the rows of an earlier build
    tokenizer, items = AutoTokenizer.from_pretrained(path), load_dataset(suite, config, **how)
    local = Path(suite, "manifest.json")
    manifest = local if local.is_file() else hf_hub_download(suite, local.name, repo_type="dataset")
    # Only predictions of this group count in the score; where there is none, all do.
    group = json.loads(Path(manifest).read_text("utf-8"))["configs"][items.config_name]["headline"]
    scores = []
    for item in items:
        bits = {c["condition_name"]: region_bits(model, tokenizer, c) for c in item["conditions"]}
        counted = [p for p in item["predictions"] if not group or group in p["groups"]]
        if counted and all(bits.values()):
            scores.append(fmean(holds(prediction, bits) for prediction in counted))
    return fmean(scores)


if __name__ == "__main__":
    try:
        print(f"plain CD score: {100 * cd_score(*sys.argv[1:]):.1f} %")
    except ValueError as error:  # no such config or split, or a formula that it does not read
        sys.exit(" ".join(str(error).split()))
