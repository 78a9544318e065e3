"""Folders of results that may be compared: the same items, scored by the same rules.

Models, their precision and the machine may differ: that is what is compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from coherencegym.eval.results.labels import printable
from coherencegym.eval.results.saved import Saved, SavedTable
from coherencegym.files.strict_json import kind

#: Settings that may differ. All others that were chosen may not, those of a later release included:
#: the tables say which items were scored, the mode its rules, and the rest is about the model and
#: the machine, or changes no item's score. What a choice came to for a model (its start token, the
#: numeric error) stands there as an object, and may differ too.
MAY_DIFFER = frozenset(
    {
        *("configs", "split", "max_items"),
        "tie_bits",
        *("batch_tokens", "share", "seed", "resamples", "intervals"),
        *("detector", "calibrate_on", "threshold"),
        *("device", "device_map", "dtype", "model_args", "model_revision", "trust_remote_code"),
    }
)


def obstacles(baseline: Saved, model: Saved) -> list[str]:
    """Reasons why the scores of two folders cannot be compared; empty: they can."""
    return [*_different_data(baseline, model), *_different_settings(baseline, model)]


#: Settings that only a trained detector has: how it was trained is of the model.
_TRAINING = frozenset(
    {
        *("learning_rate", "epochs", "batch_size", "evaluations", "patience", "max_length"),
        *("class_weights", "training", "train_on", "training_sha256", "training_documents"),
        *("training_pairs", "pairs", "truncated_pairs"),
    }
)


def remarks(baseline: Saved, model: Saved) -> list[str]:
    """Other differences that may have changed a number, a few words each."""
    lines = []
    if baseline.model.dtype != model.model.dtype:
        lines.append(f"dtype: {_both(baseline.model.dtype, model.model.dtype)}")
    for name in ("detector", "calibrate_on", "threshold"):
        values = baseline.settings.get(name), model.settings.get(name)
        if values[0] != values[1]:
            lines.append(f"{name}: {_both(*values)}")
    ours, theirs = baseline.settings["versions"], model.settings["versions"]
    for package in dict.fromkeys([*ours, *theirs]):
        if ours.get(package) != theirs.get(package):
            lines.append(f"{package}: {_both(ours.get(package), theirs.get(package))}")
    return lines


def _both(left: Any, right: Any) -> str:
    return f"{kind(left)} and {kind(right)}"


def _different_data(baseline: Saved, model: Saved) -> Iterator[str]:
    commits = baseline.dataset.commit, model.dataset.commit
    if None not in commits and commits[0] != commits[1]:
        yield f"dataset commit: {_both(*commits)}"
    for table in baseline.tables:
        other = model.table(table.config, table.split)
        if other is None:
            yield f"{_name(table)}: only in the first"
        elif table.sha256 != other.sha256:
            yield f"{_name(table)}: the rows differ"
        elif table.items != other.items:
            yield f"{_name(table)}: {table.items:,} and {other.items:,} items"
        if other is not None and table.headline != other.headline:
            yield f"{_name(table)}: score over {_both(table.headline, other.headline)}"
    for table in model.tables:
        if baseline.table(table.config, table.split) is None:
            yield f"{_name(table)}: only in the second"


def _name(table: SavedTable) -> str:
    return printable(f"{table.config} ({table.split})")


def _different_settings(baseline: Saved, model: Saved) -> Iterator[str]:
    left, right = baseline.settings, model.settings
    if (baseline.task == "score") != (model.task == "score"):
        yield f"task: {_both(baseline.task, model.task)}"
    shared = left.keys() & right.keys() if baseline.task != model.task else {*left, *right}
    for name in dict.fromkeys([*left, *right]):
        # A release that does not know a setting does what a later one does without it.
        values = left.get(name) or None, right.get(name) or None
        is_object = any(isinstance(value, Mapping) for value in values)
        differs_by_model = name in MAY_DIFFER or name in _TRAINING or name not in shared
        if not differs_by_model and not is_object and values[0] != values[1]:
            yield f"{name}: {_both(left.get(name), right.get(name))}"
    rules = left.get("rules"), right.get("rules")
    if rules[0] != rules[1] and left.get("compat") == right.get("compat"):
        yield "rules of scoring: those of two releases"
