#!/usr/bin/env bash
# minicons 0.3.39 (transformers 5.24.0, torch 2.13.0)
#
# IncrementalLMScorer.word_score_tokenized(texts, tokenize_function) scores words.
# Expected: without a beginning-of-sequence token the first word has no score of its own, and
#   each other word has the log-probability of its tokens.
# Seen: each word has the score of the word after it ("The" has that of "cat"), and the last word
#   has that of the full stop. With bos_token=True the words and scores fit.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.24.0 minicons==0.3.39
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
import torch
from minicons import scorer
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
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=tokens, bos_token="<s>", eos_token="</s>", pad_token="</s>"
)
torch.manual_seed(0)
sizes = {"n_positions": 64, "n_embd": 32, "n_layer": 2, "n_head": 2, "initializer_range": 0.4}
GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), **sizes)).save_pretrained("model")
tokenizer.save_pretrained("model")

model = scorer.IncrementalLMScorer("model", "cpu")
by_token = [value for _, value in model.token_score(TEXT)[0]]
by_word = model.word_score_tokenized([TEXT], tokenize_function=str.split)[0]
print(model.token_score(TEXT)[0])
print(by_word)
assert [word for word, _ in by_word] == TEXT.split()
shifted = by_token[1:]  # what stands at "cat", "sat", ..., "."
assert all(abs(value - other) < 1e-4 for (_, value), other in zip(by_word, shifted, strict=True))
with_start = [value for _, value in model.token_score(TEXT, bos_token=True)[0]]
words = model.word_score_tokenized([TEXT], tokenize_function=str.split, bos_token=True)[0]
assert abs(words[0][1] - with_start[1]) < 1e-4
PY
