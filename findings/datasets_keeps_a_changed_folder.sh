#!/usr/bin/env bash
# datasets 5.2.0
#
# A folder with a README that names its data files by a pattern (as on the Hub) is loaded, its
# parquet file is made anew with other rows, and it is loaded again.
# Expected: the new rows, as the file has another size and time; without the README they come.
# Seen: the rows of before, in a new process as well, and of any other folder of the same name with
#   the same README; the copy is kept under the folder's name and the patterns alone. streaming=True
#   reads the file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q datasets==5.2.0
cd "$folder"
cat > load.py <<'PY'
import sys
from pathlib import Path

import datasets
from datasets import Dataset, load_dataset

datasets.disable_progress_bars()
place, count, described = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "README"
(place / "data").mkdir(parents=True, exist_ok=True)
Dataset.from_dict({"n": list(range(count))}).to_parquet(place / "data/test-00000-of-00001.parquet")
if described:
    lines = ["---", "configs:", "- config_name: a", "  data_files:", "  - split: test"]
    (place / "README.md").write_text("\n".join([*lines, "    path: data/test-*", "---", ""]))
kept = load_dataset(str(place), split="test").num_rows
read = len(list(load_dataset(str(place), split="test", streaming=True)))
print(place, sys.argv[3], "written", count, "loaded", kept, "streamed", read)
assert read == count
assert kept == int(sys.argv[4])
PY
export HF_HOME="$folder/cache" HF_HUB_OFFLINE=1
run() { "$folder/venv/bin/python" -W ignore load.py "$@"; }
run one/suite 2 README 2
run one/suite 3 README 2
run other/suite 4 README 2
run one/plain 2 bare 2
run one/plain 3 bare 3
