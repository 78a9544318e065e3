#!/usr/bin/env bash
# peft 0.21.2 (transformers 5.24.0, torch 2.13.0)
#
# LoRA on the embeddings of a GPT-2, whose output layer shares their weights, merged by
# merge_and_unload().
# Expected: the merged model gives the logits of the adapter; where it cannot (the output layer
#   changes with the embeddings), a warning says so, as it does for a Llama.
# Seen: GPT-2's logits move by tens without a warning: its output layer is not known to be tied.
#   Asked to keep them tied (ensure_weight_tying=True), peft says that there is nothing tied.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.24.0 peft==0.21.2
cd "$folder"
"$folder/venv/bin/python" - <<'PY'
import warnings

import torch
from peft import LoraConfig, get_peft_model
from transformers import GPT2Config, GPT2LMHeadModel, LlamaConfig, LlamaForCausalLM


def merged(model, name: str, **options) -> tuple[float, list[str]]:
    """Largest change of a logit by merging, and the warnings."""
    ids = torch.arange(20)[None]
    with warnings.catch_warnings(record=True) as caught, torch.no_grad():
        warnings.simplefilter("always")
        lora = LoraConfig(target_modules=[name], init_lora_weights=False, **options)
        adapted = get_peft_model(model.eval(), lora).eval()
        before = adapted(ids).logits
        after = adapted.merge_and_unload().eval()(ids).logits
    return float((before - after).abs().max()), [str(one.message) for one in caught]


def gpt2() -> GPT2LMHeadModel:
    torch.manual_seed(0)
    sizes = {"n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 2}
    return GPT2LMHeadModel(GPT2Config(vocab_size=50, initializer_range=0.3, **sizes))


torch.manual_seed(0)
llama = LlamaForCausalLM(
    LlamaConfig(
        vocab_size=50,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        tie_word_embeddings=True,
    )
)
moved, said = merged(llama, "embed_tokens")
print("Llama", moved, said)
assert any("tie" in text for text in said)
moved, said = merged(gpt2(), "wte")
print("GPT-2", moved, said)
assert moved > 10
assert not any("tie" in text for text in said)
moved, said = merged(gpt2(), "wte", ensure_weight_tying=True)
print("GPT-2, ensure_weight_tying", moved, said)
assert moved > 10
assert any("no tied modules" in text for text in said)
PY
