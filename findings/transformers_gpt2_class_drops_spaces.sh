#!/usr/bin/env bash
# transformers 5.24.0 (tokenizers 0.23.3)
#
# A tokenizer.json with SentencePiece's marks for spaces ("▁the"), and tokenizer_class
# "GPT2Tokenizer" in tokenizer_config.json, as conversions leave it.
# Expected: the file decides how a text is cut; where the class does not fit, a message says so, as
#   it does for "LlamaTokenizerFast" with a byte-level file.
# Seen: the class puts its own byte-level step in the place of the file's. The words are cut
#   without their spaces, tokens that the file has ("▁the") are never used, the text that comes
#   back has no spaces, and no message says so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q transformers==5.24.0 tokenizers==0.23.3
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY' 2>&1 | tee said
import json
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
from transformers import AutoTokenizer

TEXT = "The cat sat."
made = Tokenizer(models.BPE(unk_token="<unk>"))
made.pre_tokenizer = pre_tokenizers.Metaspace()
made.decoder = decoders.Metaspace()
made.train_from_iterator([TEXT] * 5, trainers.BpeTrainer(special_tokens=["<unk>"]))
Path("model").mkdir()
made.save("model/tokenizer.json")


def tokens(name: str) -> tuple[list[str], str]:
    Path("model/tokenizer_config.json").write_text(json.dumps({"tokenizer_class": name}))
    tokenizer = AutoTokenizer.from_pretrained("model")
    ids = tokenizer(TEXT)["input_ids"]
    return tokenizer.convert_ids_to_tokens(ids), tokenizer.decode(ids)


fast = tokens("PreTrainedTokenizerFast")
gpt2 = tokens("GPT2Tokenizer")
print("PreTrainedTokenizerFast", fast)
print("GPT2Tokenizer", gpt2)
assert fast == (made.encode(TEXT).tokens, TEXT)
assert all("▁" in token for token in fast[0])
assert not any("▁" in token for token in gpt2[0])
assert " " not in gpt2[1]
PY
! grep -q "tokenizer_class" said
