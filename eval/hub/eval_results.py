"""Scores for a model's own repository: ``.eval_results/NAME.yaml``, a file for each benchmark.

The Hub shows it where the dataset is registered as a benchmark and its ``eval.yaml`` names the task
(https://huggingface.co/docs/hub/eval-results).

Files of others stay as they are: these have names of their own. An entry is there already where one
of the same dataset and task names the same signature, on the main branch or in a pull request that
is open.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from textwrap import indent
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.dataset import BASELINE_WORDS
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.hub.push_changes import Pushed, push_changes
from coherencegym.eval.results.folder import MARKER, read_results, run_folders
from coherencegym.eval.statistics.scores import CD, CD_METRICS, Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.hub import Head, fetch


def with_list(
    text: str, key: str, new: Sequence[Any], stays: Callable[[Any], bool] = lambda _: True
) -> str:
    """A mapping in YAML, in whose list under a key ``new`` items stand before those that stay.

    The key comes last where it is not there. The caller looks whether the YAML is as it should be:
    not every layout is known here.
    """
    import yaml

    root = yaml.compose(text, yaml.SafeLoader)
    node = next((value for own, value in root.value if own.value == key), None) if root else None
    if isinstance(node, yaml.SequenceNode):
        kept = [stays(one) for one in yaml.safe_load(text)[key]]
        return _edited_list(text, node, kept, new)
    if node is None:
        return text + _dumped({key: list(new)})
    place = node.end_mark.index
    return f"{text[:place]}\n{_dumped(list(new))}" + text[place:].lstrip("\n")


def _edited_list(text: str, node: Any, kept: Sequence[bool], new: Sequence[Any]) -> str:
    # The text with new items of a list, which is a node in it, and some of the others after them.
    start, end = node.start_mark.index, node.end_mark.index
    if node.flow_style:
        spans = [text[one.start_mark.index : one.end_mark.index] for one in node.value]
        spans = [span for span, stays in zip(spans, kept, strict=True) if stays]
        whole = ", ".join([*map(json.dumps, new), *spans])
        return f"{text[:start]}[{whole}]{text[end:]}"
    margin = " " * node.start_mark.column
    start -= len(margin)
    items = [start + found.start() for found in re.finditer(f"^{margin}-", text[start:end], re.M)]
    spans = [text[one:other] for one, other in pairwise([*items, end])]
    spans = [span if stays else _remarks(span) for span, stays in zip(spans, kept, strict=True)]
    whole = (indent(_dumped(list(new)), margin) if new else "") + "".join(spans) or " []\n"
    return text[:start] + whole + text[end:]


def _dumped(value: Any) -> str:
    import yaml

    return str(yaml.safe_dump(value, sort_keys=False, allow_unicode=True, width=float("inf")))


def _remarks(span: str) -> str:
    # Of an item that goes: what follows it is somebody's.
    lines = span.splitlines(keepends=True)
    return "".join(line for line in lines if not line.strip() or line.lstrip().startswith("#"))


#: The address that results lead to, unless another is named.
TOOLKIT = "https://github.com/coherencegym/coherencegym"


def result_entries(run: Results, source_url: str = TOOLKIT) -> list[dict[str, Any]]:
    """The entries of an ``.eval_results`` file: one for each task of the dataset's ``eval.yaml``.

    Scores are shares. The date is the day (UTC) on which the results were written, where they lie
    in a folder.

    Args:
        run: a run on a dataset of the Hub.
        source_url: an address where a reader finds more; by default the toolkit's own.
    """
    from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml

    if not run.repo:
        raise EvaluationError(
            f"{run.folder}: the items of {run.suite} were not read from the Hub; expected results "
            "on a Hub dataset, or none of --eval-results"
        )
    if not run.benchmark:
        raise EvaluationError(f"{run.folder}: no score of a headline config; expected at least one")
    entries = [
        EvalResultEntry(
            dataset_id=run.repo,
            task_id=task,
            value=_share(score.score),
            dataset_revision=run.data_commit or None,
            date=written_at(run).date().isoformat() if run.folder else None,
            source_url=source_url,
            source_name="CoherenceGym",
            notes=f"{_said(score)}, "
            + ", ".join(f"{key} {said}" for key, said in _arguments(run, score).items()),
        )
        for task, score in run.benchmark.items()
        if score.score is not None
    ]
    return list(eval_result_entries_to_yaml(entries))


def written_at(run: Results) -> datetime:
    """The time (UTC) at which the results of a folder were written."""
    return datetime.fromtimestamp((run.place / MARKER).stat().st_mtime, UTC)


def _said(score: Score | Headline) -> str:
    if isinstance(score, Headline):
        return f"{score.metric}, headline: {score.words}"
    return score.what or CD


#: The Hub's names of metrics that are no accuracies.
HUB_METRICS = {
    "F1": "f1",
    "AUC": "roc_auc",
    "Spearman": "spearmanr",
    "precision": "precision",
    "recall": "recall",
}


def _arguments(run: Results, score: Score | Headline) -> dict[str, Any]:
    about: dict[str, Any] = {"items" if score.metric in CD_METRICS else "n": score.n}
    if isinstance(score, Headline):
        about = {"over": ", ".join(score.over)} | about
    else:
        about = {"split": score.split} | about
    if score.ci_low is not None and score.ci_high is not None:
        about |= {"ci_low": _share(score.ci_low), "ci_high": _share(score.ci_high)}
    if score.effective_items is not None:
        about["effective_items"] = round(score.effective_items, 1)
    if score.metric not in CD_METRICS and score.chance is not None:
        about[score.chance_name.replace(" ", "_")] = _share(score.chance)
    for name in BASELINE_WORDS:
        if (value := getattr(score, name)) is not None:
            about[name] = _share(value)
    return {**about, "signature": run.signature}


def _share(value: float) -> float:
    return round(value, 4)


#: The folder of results in a model's repository.
FOLDER = ".eval_results"


def push_to_model(
    api: Any,
    folders: Sequence[Path],
    repo_id: str,
    *,
    source_url: str = TOOLKIT,
    create_pr: bool = False,
    dry_run: bool = False,
) -> Pushed:
    """Put the scores of runs into ``.eval_results`` of a model's repository: all in one commit.

    Args:
        api: a client of the Hub.
        folders: results of one model, or folders of those of several runs.
        repo_id: the model's, which has to be there.
        source_url: an address where a reader finds more of the results.
        create_pr: open a pull request, unless one that is open has them all.
        dry_run: say what would be pushed; asks for reading only.
    """
    runs = [read_results(folder) for folder in run_folders(folders)]
    models = list(dict.fromkeys(run.model_name for run in runs))
    if len(models) > 1:
        raise EvaluationError(
            f"{repo_id}: results of {len(models)} models ({first_names(models)}); expected those "
            "of one, which the repository is of"
        )
    entries: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        entries.setdefault(run.repo, []).extend(result_entries(run, source_url))
    message = f"CoherenceGym results on {first_names(list(entries))}"

    def appended(head: Head) -> dict[str, bytes]:
        there = _read_files(api, repo_id, head)
        known = {_identity(one) for text in there.values() for one in _parsed(text) or ()}
        return dict(
            _appended(repo_id, dataset, new, there)
            for dataset, own in entries.items()
            if (new := [one for one in own if _identity(one) not in known])
        )

    how: dict[str, Any] = {"repo_type": "model", "create_pr": create_pr, "dry_run": dry_run}
    pushed = push_changes(api, repo_id, appended, message, **how)
    return replace(pushed, lines=[f"results of {models[0]}", *pushed.lines])


def _read_files(api: Any, repo_id: str, head: Head) -> dict[str, str]:
    paths = (path for path in sorted(head.digests) if path.startswith(f"{FOLDER}/"))
    return {
        path: fetch(api, repo_id, path, head.sha, "model").read_bytes().decode("utf-8", "replace")
        for path in paths
        if path.endswith((".yaml", ".yml"))
    }


def _identity(entry: Any) -> tuple[str, str, str]:
    about = entry.get("dataset") if isinstance(entry, dict) else None
    about = about if isinstance(about, dict) else {}
    notes = entry.get("notes") if isinstance(entry, dict) else None
    signature = str(notes).rpartition(", signature ")[2]
    return str(about.get("id")), str(about.get("task_id")), signature


def _parsed(text: str) -> list[Any] | None:
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return [] if found is None else found if isinstance(found, list) else None


def _appended(
    repo_id: str, dataset: str, new: Sequence[Mapping[str, Any]], there: Mapping[str, str]
) -> tuple[str, bytes]:
    path = f"{FOLDER}/coherencegym__{dataset.replace('/', '__')}.yaml"
    before = _parsed(there.get(path, ""))
    if before is None:
        raise EvaluationError(
            f"{repo_id}: {path}: no list of results in YAML; nothing was pushed: mend it first"
        )
    return path, _dumped([*before, *new]).encode()
