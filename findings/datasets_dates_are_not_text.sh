#!/usr/bin/env bash
# datasets 5.2.0
#
# JSON Lines whose documents are named by their days, as issues of a newspaper are.
# Expected: JSON's strings stay strings.
# Seen: where every row of the column looks like a date, its type is a timestamp and a row's name
#   comes back as a datetime; one row "supplement" more, and all are strings. Names joined to a
#   second file of the same corpus fit or do not, by what else the column has.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q datasets==5.2.0
cd "$folder"
HF_HOME="$folder/cache" "$folder/venv/bin/python" -W ignore - <<'PY'
import datetime
import json
from pathlib import Path

import datasets
from datasets import load_dataset

datasets.disable_progress_bars()


def names(*days: str) -> list[object]:
    path = Path(f"{len(days)}.jsonl")
    path.write_text("".join(json.dumps({"document": day}) + "\n" for day in days))
    return list(load_dataset("json", data_files=str(path), split="train")["document"])


dates, mixed = names("2019-01-01", "2019-01-02"), names("2019-01-01", "2019-01-02", "supplement")
print(dates, mixed)
assert dates == [datetime.datetime(2019, 1, 1), datetime.datetime(2019, 1, 2)]
assert mixed == ["2019-01-01", "2019-01-02", "supplement"]
PY
