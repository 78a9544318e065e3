#!/usr/bin/env bash
# transformers 5.24.0 (tokenizers 0.23.3)
#
# A tokenizer.json of the tokenizers library whose post-processor puts <s> before each text.
# Expected: add_bos_token=False leaves <s> out and add_eos_token=True puts </s> at the end, as
#   argument of AutoTokenizer.from_pretrained and in tokenizer_config.json alike.
# Seen: the argument does it. In tokenizer_config.json, where a model's own setting stands, both
#   words are read and change nothing, and no message says so: surprisals that are meant to have
#   no start token have one.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q transformers==5.24.0 tokenizers==0.23.3
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer

TEXT = "The cat sat."
made = Tokenizer(models.BPE())
made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
made.decoder = decoders.ByteLevel()
made.train_from_iterator([TEXT] * 5, trainers.BpeTrainer(special_tokens=["<s>", "</s>"]))
made.post_processor = processors.TemplateProcessing(single="<s> $A", special_tokens=[("<s>", 0)])
Path("model").mkdir()
made.save("model/tokenizer.json")


def tokens(**options: bool) -> list[str]:
    settings = {"bos_token": "<s>", "eos_token": "</s>", **options}
    Path("model/tokenizer_config.json").write_text(json.dumps(settings))
    tokenizer = AutoTokenizer.from_pretrained("model")
    print(options, type(tokenizer).__name__, tokenizer.tokenize(TEXT), tokenizer(TEXT)["input_ids"])
    return tokenizer.convert_ids_to_tokens(tokenizer(TEXT)["input_ids"])


plain = tokens()
assert plain[0] == "<s>"
assert tokens(add_bos_token=False) == plain
assert tokens(add_eos_token=True) == plain
assert tokens() == plain
given = AutoTokenizer.from_pretrained("model", add_bos_token=False)
print("as an argument", given(TEXT)["input_ids"])
assert given.convert_ids_to_tokens(given(TEXT)["input_ids"]) == plain[1:]
PY
