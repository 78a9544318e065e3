"""A dataset as a benchmark of the Hub: its tasks, their ids, and ``eval.yaml``, which lists them.

The ids of tasks are here and nowhere else: ``eval.yaml`` in the dataset, ``.eval_results``
in a model's repository, and the overview have them from this module. Read:
https://huggingface.co/docs/hub/eval-results, and inspect_ai's ``_eval/task/hf.py``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from coherencegym.eval.kinds import kind_named
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.kinds.table_kind import SAMPLE


def versions(model: Mapping[str, Any]) -> dict[str, str]:
    """Versions of this program and of the packages whose version may change a number.

    An adapter, quantized weights or another backend, of which results say in ``model``, bring in a
    package more.
    """
    more = ["peft"] if model.get("adapter") else []
    if str(model.get("quantization")).startswith("bitsandbytes"):
        more.append("bitsandbytes")
    found = {"coherencegym": "uninstalled"}
    if backend := (model.get("arguments") or {}).get("backend"):
        more.append(str(backend))
    for package in ("coherencegym", "torch", "transformers", "tokenizers", *more):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def signature(
    task: str,
    model: Mapping[str, Any],
    dataset: Mapping[str, Any],
    settings: Mapping[str, Any],
    own: Mapping[str, Any],
    **data: Any,
) -> str:
    """``key:value`` pairs joined by ``|``: what was read, how, and with which versions.

    Args:
        task: its name, which is left out where it is ``score``.
        model, dataset, settings: those that results record.
        own: the choices that only the task has.
        data: other data that are read, by name.
    """
    parts: dict[str, Any] = {
        "model": f"{model.get('base') or model['name']}@{_short(model['commit'])}",
        "adapter": _at(model.get("adapter")),
        "tokenizer": _at(model.get("tokenizer")),
        "args": ",".join(f"{k}={v}" for k, v in (model.get("arguments") or {}).items()) or None,
        "quant": model.get("quantization"),
        "code": "repository" if model.get("remote_code") else None,
        # The rows of a stand-off release are in a folder, and are the release's.
        "data": (dataset.get("repo") or dataset["name"])
        + (f"@{dataset['revision']}" if dataset["revision"] else ""),
        "version": dataset["version"],
        "commit": _short(dataset["commit"]) if dataset["commit"] else None,
        "rows": dataset["rows_sha256"][:12],
        "task": task if task != "score" else None,
        **data,
        "configs": ",".join(settings["configs"]) or "all",
        "split": settings["split"] or "default",
        **own,
        "dtype": model["dtype"],
        "device": model["device"],
        "max": settings["max_items"],
        "ci": settings["intervals"],
        **settings["versions"],
    }
    return "|".join(
        f"{key}:{str(value).replace('|', '/')}" for key, value in parts.items() if value is not None
    )


#: Options of reading of which :func:`read_as` says more under other names.
_RENAMED = ("bos", "separator", "truncate", "word_correction", "special_tokens")


def read_as(signed: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The signed choices, with what those of reading came to where the settings say it."""
    if "start_of_text" not in settings:
        return dict(signed)
    return {
        "truncate": "yes" if settings["truncate"] else "no",
        "words": "corrected" if settings["word_correction"] else None,
        "names": "tokens" if settings.get("special_tokens") else None,
        "tie": settings["tie_bits"],
        **{name: value for name, value in signed.items() if name not in _RENAMED},
        "bos": _start(settings),
        "sep": _separator(settings),
    }


def _at(source: Mapping[str, str] | None) -> str | None:
    return f"{source['name']}@{_short(source['commit'])}" if source else None


def _start(settings: Mapping[str, Any]) -> str:
    # And, where a mode lets the tokenizer add them, after every text.
    added = settings["added_tokens"]
    if added is not None:
        return f"tokenizer={_ids(*added['before'])},end={_ids(*added['after'])}"
    return f"{settings['bos']}={_ids(settings['start_of_text']['token_id'])}"


def _ids(*ids: int | None) -> str:
    # Ids are unambiguous; their texts (`<|endoftext|>`) are in the settings.
    return "+".join(str(token_id) for token_id in ids if token_id is not None) or "none"


def _separator(settings: Mapping[str, Any]) -> str | None:
    rendering = settings["separator_rendering"]
    if rendering is None:
        return None
    choice = settings["separator"] if settings["separator"] in ("auto", "none") else "text"
    ids = "undefined" if rendering["ids"] is None else _ids(*rendering["ids"])
    return f"{choice}={ids}"


def _short(commit: str) -> str:
    prefix, colon, digits = commit.rpartition(":")
    return f"{prefix}{colon}{digits[:12]}"


#: The file at the root of a dataset.
EVAL_YAML = "eval.yaml"
#: The splits of a task, the first that is there.
_SPLITS = ("test", "validation", "train")
_COMMENT = (
    "# The ids of the tasks are stable: results name them (.eval_results/*.yaml of a model).\n"
)


@dataclass(frozen=True, slots=True)
class BenchmarkTask:
    """A task of a dataset: its id, and the table that it is on."""

    id: str
    config: str
    split: str


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


def benchmark_tasks(configs: Mapping[str, Mapping[str, Any]]) -> list[BenchmarkTask]:
    """The tasks of a manifest's configs: one for each headline config.

    Where a headline is over several configs, their mean is a task of its own, which is shown on the
    first of them.
    """
    found = []
    for task, names in headline_configs(configs).items():
        ids = [(task_id(name), name) for name in names]
        if len(names) > 1:
            ids.insert(0, (headline_id(task), names[0]))
        found += [
            BenchmarkTask(own, name, main_split(configs[name]["splits"])) for own, name in ids
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
        "tasks": [asdict(task) for task in tasks],
    }
    return _COMMENT + str(yaml.safe_dump(whole, sort_keys=False, allow_unicode=True, width=100))
