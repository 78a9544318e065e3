#!/usr/bin/env bash
# datasets 5.2.0
#
# JSON Lines or parquet files of two splits, with a column that is empty in every row of the first
# (a list of labels that no training document has; a note that is null) and filled in the second.
# Expected: the column has the type of what is in it; or each split has its own.
# Seen: DatasetGenerationError: "Couldn't cast array of type string to null". The split that is
#   named first decides for all; with test named before train the same files are read.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q datasets==5.2.0
cd "$folder"
HF_HOME="$folder/cache" "$folder/venv/bin/python" -W ignore - <<'PY'
import json
from pathlib import Path

import datasets
from datasets import Dataset, load_dataset
from datasets.exceptions import DatasetGenerationError

datasets.disable_progress_bars()
datasets.logging.set_verbosity(datasets.logging.CRITICAL)
for name, empty, filled in (("labels", [], ["contrast"]), ("note", None, "checked")):
    rows = {"train": {name: empty}, "test": {name: filled}}
    for split, row in rows.items():
        Path(f"{name}-{split}.jsonl").write_text(json.dumps(row) + "\n")
        Dataset.from_list([row]).to_parquet(f"{name}-{split}.parquet")
    for kind, ending in (("json", "jsonl"), ("parquet", "parquet")):
        for order in (("train", "test"), ("test", "train")):
            files = {split: f"{name}-{split}.{ending}" for split in order}
            try:
                read = load_dataset(kind, data_files=files)
                seen = {split: table[0] for split, table in read.items()}
                assert order[0] == "test"
                assert seen == rows
            except DatasetGenerationError as error:
                seen = str(error.__cause__)
                assert order[0] == "train"
                assert "to null" in seen
            print(name, kind, order, seen)
PY
