#!/usr/bin/env bash
# lm-eval 0.4.13 (datasets 5.2.0)
#
# A multiple_choice task names its right answer by doc_to_target.
# Expected: where the template gives a text that is one of the choices, that choice is right, as
#   it is for "one" among ["one", "three", "two"].
# Seen: a text of digits is taken as the number of a choice, counted from 0: among the choices
#   ["1", "3", "2"] the target "1" means the choice "3". No message says so.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install -q torch==2.13.0 transformers==5.24.0 datasets==5.2.0 lm-eval==0.4.13
cd "$folder"
"$folder/venv/bin/python" -W ignore - <<'PY'
import json
import os
from pathlib import Path

os.environ["HF_HOME"] = "cache"
from lm_eval.api.task import ConfigurableTask


def accuracy(name: str, choices: list[str], answer: str) -> float:
    """Accuracy of a model that prefers the first choice."""
    row = {"question": "How many?", "choices": choices, "answer": answer}
    Path(f"{name}.jsonl").write_text(json.dumps(row) + "\n")
    task = ConfigurableTask(
        config={
            "task": name,
            "dataset_path": "json",
            "dataset_kwargs": {"data_files": {"test": f"{name}.jsonl"}},
            "test_split": "test",
            "output_type": "multiple_choice",
            "doc_to_text": "{{question}}",
            "doc_to_choice": "{{choices}}",
            "doc_to_target": "{{answer}}",
            "metric_list": [{"metric": "acc"}],
        }
    )
    scores = [(-1.0, False), (-5.0, False), (-9.0, False)]
    return task.process_results(task.test_docs()[0], scores)["acc"]


words = accuracy("words", ["one", "three", "two"], "one")
digits = accuracy("digits", ["1", "3", "2"], "1")
print("words", words, "digits", digits)
assert (words, digits) == (1.0, 0.0)
PY
