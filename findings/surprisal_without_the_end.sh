#!/usr/bin/env bash
# surprisal 0.1.7 (transformers 5.24.0, torch 2.13.0)
#
# CausalHuggingFaceModel(...).surprise(text) gives surprisals in nats.
# Expected: a token's surprisal is -log softmax of the model's logits at that token.
# Seen: the end-of-sequence token, which the package takes as padding, is removed from the
#   vocabulary before the softmax. Every surprisal falls by -log(1 - p(end)), where the text ends
#   or not; texts that are compared at their ends lose different amounts.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.24.0 surprisal==0.1.7
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
import torch
from surprisal import AutoHuggingFaceModel
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import GPT2Config, GPT2LMHeadModel, PreTrainedTokenizerFast

TEXT = "The cat sat on the mat."
tokens = Tokenizer(models.BPE())
tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
tokens.decoder = decoders.ByteLevel()
trainer = trainers.BpeTrainer(
    vocab_size=300,
    special_tokens=["<s>", "</s>"],
    initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
)
tokens.train_from_iterator([TEXT] * 5, trainer)
tokenizer = PreTrainedTokenizerFast(tokenizer_object=tokens, bos_token="<s>", eos_token="</s>")
torch.manual_seed(0)
sizes = {"n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 2, "initializer_range": 0.4}
model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes)).eval()
with torch.no_grad():  # a model that often expects the end
    model.lm_head.weight[1] *= 3
model.save_pretrained("model")
tokenizer.save_pretrained("model")

ids = [0, *tokenizer(TEXT)["input_ids"]]
with torch.no_grad():
    log_probabilities = torch.log_softmax(model(torch.tensor([ids])).logits[0].double(), -1)
plain = -log_probabilities[range(len(ids) - 1), ids[1:]]
ends = log_probabilities[:-1, 1].exp()
scored = AutoHuggingFaceModel.from_pretrained("model", model_class="gpt")
found = torch.tensor([float(value) for value in scored.surprise(TEXT)[0].surprisals])
print("softmax of the model", [round(float(v), 3) for v in plain])
print("the package         ", [round(float(v), 3) for v in found])
print("p(end) before each  ", [round(float(v), 3) for v in ends])
assert (plain - found).max() > 0.01
assert torch.allclose(found.double(), plain + torch.log1p(-ends), atol=1e-3)
PY
