"""Scores in the formats of others: a model's own repository on the Hub, and Every Eval Ever.

``.eval_results/NAME.yaml`` of a model is a file for each benchmark. The Hub shows it where the
dataset is registered as a benchmark and its ``eval.yaml`` names the task
(https://huggingface.co/docs/hub/eval-results). Files of others stay as they are: these have names
of their own. An entry is there already where one of the same dataset and task names the same
signature, on the main branch or in a pull request that is open.

For Every Eval Ever (https://github.com/evaleval/every_eval_ever) a run is a JSON file with its
scores, by the schema of version 0.3.0; results by item stay in the folder of the run. The name of
the file is made from the run's signature, so that a run has the same wherever it is written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.benchmark import headline_id, task_id
from coherencegym.eval.data.dataset import BASELINE_WORDS
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.hub.push import Pushed, dump_yaml, public_name, push_changes
from coherencegym.eval.results.folder import MARKER, read_results, run_folders
from coherencegym.eval.statistics.scores import CD, CD_METRICS, Score, is_correlation
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results
from coherencegym.hub import Head, fetch

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
    return path, dump_yaml([*before, *new]).encode()


SCHEMA_VERSION = "0.3.0"
#: Fields of a score that have a place of their own.
_PLACED = {"config", "split", "metric", "system", "level", "score", "over"}
#: Facts of a model that results may have.
_FACTS = ("parameters", "context", "dtype", "device", "quantization", "adapter", "arguments")
_PLACED |= {"ci_low", "ci_high", "ci_method"}


def evaluation_files(
    folders: Sequence[Path], organization: str, relationship: str = "third_party"
) -> dict[str, bytes]:
    """The file of each run, by its path in a repository.

    Args:
        folders: results of runs, or folders of those of several.
        organization: who ran them.
        relationship: that to the model's maker.
    """
    files: dict[str, bytes] = {}
    for folder in run_folders(folders):
        run = read_results(folder)
        model = public_name(run)
        owner, _, name = model.rpartition("/")
        uuid = str(UUID(bytes=hashlib.sha256(run.signature.encode()).digest()[:16], version=4))
        collection = f"coherencegym_{run.named_suite}"
        path = "/".join(("data", *map(_name, (collection, owner or "unknown", name)), uuid))
        if f"{path}.json" in files:
            raise EvaluationError(f"{folder}: a run that is there twice: {path}.json")
        content = _evaluation(run, model, uuid)
        content["source_metadata"] |= {
            "source_organization_name": organization,
            "evaluator_relationship": relationship,
        }
        files[f"{path}.json"] = (json.dumps(content, ensure_ascii=False, indent=1) + "\n").encode()
    return files


def _evaluation(run: Results, model: str, uuid: str) -> dict[str, Any]:
    scores = [score for score in run.reported if score.score is not None]
    if not scores:
        raise EvaluationError(f"{run.folder}: no score to report; expected at least one config")
    versions = run.settings.get("versions") or {}
    time = written_at(run)
    collection = _name(f"coherencegym_{run.named_suite}")
    return {
        "schema_version": SCHEMA_VERSION,
        "evaluation_id": f"{collection}/{model}/{time.timestamp()}",
        "evaluation_timestamp": time.isoformat(),
        "retrieved_timestamp": str(time.timestamp()),
        "source_metadata": {"source_name": "CoherenceGym", "source_type": "evaluation_run"},
        "model_info": _model_info(run, model, versions),
        "eval_library": {
            "name": "coherencegym",
            "version": versions.get("coherencegym", "unknown"),
            "additional_details": {"url": TOOLKIT, "signature": run.signature},
        },
        "evaluation_results": [_result(run, score, uuid) for score in scores],
    }


def _model_info(run: Results, model: str, versions: Mapping[str, str]) -> dict[str, Any]:
    engine = str((run.model.get("arguments") or {}).get("backend", "transformers"))
    # That of a model of the Hub is git's; of a folder it is a digest of the files.
    is_open = re.fullmatch("[0-9a-f]{40}", run.commit) is not None
    about = {"commit": run.commit, "revision": run.settings.get("model_revision")}
    return {
        "name": model,
        "id": model,
        **({"developer": model.partition("/")[0]} if "/" in model else {}),
        "inference_engine": {"name": engine, "version": versions.get(engine, "unknown")},
        "additional_details": {
            "deployment_type": "self_deployed",
            "model_availability": "open_weights" if is_open else "unknown",
            **_details(about | {name: run.model.get(name) for name in _FACTS}),
        },
    }


def _result(run: Results, score: Score | Headline, uuid: str) -> dict[str, Any]:
    if isinstance(score, Headline):
        name, split = headline_id(run.task), ""
        place: dict[str, Any] = {"over": ", ".join(score.over)}
    else:
        name, split = task_id(score.config, score.what), score.split
        place = {"config": score.config, "split": split}
        place["rows_sha256"] = run.digests.get((score.config, split))
    details = {key: value for key, value in asdict(score).items() if key not in _PLACED}
    uncertainty: dict[str, Any] = {"num_samples": score.n}
    if score.ci_low is not None and score.ci_high is not None:
        uncertainty["confidence_interval"] = {
            "lower": score.ci_low,
            "upper": score.ci_high,
            "confidence_level": 0.95,
            "method": score.ci_method or "unknown",
        }
    source: dict[str, Any] = {
        "dataset_name": f"CoherenceGym {run.named_suite}",
        "source_type": "hf_dataset" if run.repo else "other",
        "additional_details": _details(
            {"version": run.version, "commit": run.data_commit, **place}
        ),
    }
    if run.repo:
        source |= {"hf_repo": run.repo, "samples_number": score.n}
        of_split = split or run.settings.get("split")
        source |= {"hf_split": of_split} if of_split else {}
    return {
        "evaluation_result_id": "/".join(filter(None, (uuid, name, split))),
        "evaluation_name": name,
        "source_data": source,
        "evaluation_timestamp": written_at(run).isoformat(),
        "metric_config": {
            "evaluation_description": run.dataset.get("hypothesis") or run.named_suite,
            "metric_id": f"coherencegym.{_name(score.metric.lower())}",
            "metric_name": score.metric,
            "metric_kind": HUB_METRICS.get(score.metric, "accuracy"),
            "metric_unit": "correlation" if is_correlation(score.metric) else "proportion",
            "lower_is_better": False,
            "score_type": "continuous",
            "min_score": -1 if is_correlation(score.metric) else 0,
            "max_score": 1,
        },
        "score_details": {
            "score": score.score,
            "details": _details(details | place),
            "uncertainty": uncertainty,
        },
    }


def _details(about: Mapping[str, Any]) -> dict[str, str]:
    # All values of details are strings; what is not known is left out.
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in about.items()
        if value not in (None, "", {}, [], ())
    }


def _name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip("._") or "unnamed"
