"""A dataset as a benchmark of the Hub: its tasks, their ids, and ``eval.yaml``, which lists them.

The ids of tasks are here and nowhere else: ``eval.yaml`` in the dataset, ``.eval_results``
in a model's repository, and the overview have them from this module. Read:
https://huggingface.co/docs/hub/eval-results, and inspect_ai's ``_eval/task/hf.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from coherencegym.eval.kinds import kind_named
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.table_kind import SAMPLE

#: The file at the root of a dataset.
EVAL_YAML = "eval.yaml"
#: The splits of a task, the first that is there.
_SPLITS = ("test", "validation", "train")
_COMMENT = (
    "# The ids of the tasks are stable: results name them (.eval_results/*.yaml of a model).\n"
)


def task_id(config: str, metric: str = "") -> str:
    """The id of a score on a config; ``metric`` in words where it is not the primary one."""
    return "_".join([config, *re.findall(r"\w+", metric.lower())])


def headline_id(task: str) -> str:
    """The id of the mean over the configs of a headline, given the task that computes it."""
    return "headline" if task == ITEMS.task else f"headline_{task}"


def suite_headline(configs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """The configs of pairs whose scores make a suite's one number.

    Those of the project's sample are in it where there is no other.
    """
    chosen = [name for name in ITEMS.configs(configs) if configs[name].get("in_headline")]
    return _without_sample(chosen, configs)


def headline_configs(configs: Mapping[str, Mapping[str, Any]]) -> dict[str, list[str]]:
    """Task -> the configs that its score of a dataset is over, by rank.

    Of pairs these are the configs of the headline, of other kinds of tables all, but for diagnostic
    ones. No task computes a score of texts that an encoder learns from.
    """
    found: dict[str, list[str]] = {}
    for name, about in sorted(configs.items(), key=lambda entry: (entry[1]["rank"], entry[0])):
        kind = kind_named(about["kind"])
        if kind is ITEMS:
            counts = name in suite_headline(configs)
        else:
            counts = bool(kind.task) and not kind.learns and not about.get("is_diagnostic")
        if counts:
            found.setdefault(kind.task, []).append(name)
    return {task: _without_sample(names, configs) for task, names in found.items()}


def _without_sample(names: Iterable[str], configs: Mapping[str, Mapping[str, Any]]) -> list[str]:
    chosen = list(names)
    return [name for name in chosen if configs[name]["corpus"]["name"] != SAMPLE] or chosen


def benchmark_tasks(configs: Mapping[str, Mapping[str, Any]]) -> list[dict[str, str]]:
    """The tasks of a manifest's configs, with their ids: one for each headline config.

    Where a headline is over several configs, their mean is a task of its own, which is shown on the
    first of them.
    """
    found = []
    for task, names in headline_configs(configs).items():
        ids = [(task_id(name), name) for name in names]
        if len(names) > 1:
            ids.insert(0, (headline_id(task), names[0]))
        found += [
            {"id": own, "config": name, "split": main_split(configs[name]["splits"])}
            for own, name in ids
        ]
    return found


def main_split(splits: Iterable[str]) -> str:
    """The split of a config that its task is on."""
    known = list(splits)
    return next((split for split in _SPLITS if split in known), known[0])


def eval_yaml(manifest: Mapping[str, Any]) -> str:
    """The ``eval.yaml`` of a manifest; empty where no table of it is scored."""
    import yaml

    tasks = benchmark_tasks(manifest["configs"])
    if not tasks:
        return ""
    whole = {
        "name": f"CoherenceGym: {manifest['title']}",
        "description": f"{manifest['hypothesis']} {manifest['description']}",
        "tasks": tasks,
    }
    return _COMMENT + str(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=100))
