"""Results in the format of Every Eval Ever (https://github.com/evaleval/every_eval_ever).

A run is a JSON file with its scores, by the schema of version 0.3.0; results by item stay in the
folder of the run. The name of the file is made from the run's signature, so that a run has the same
wherever it is written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any
from uuid import UUID

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.benchmark import headline_id, task_id
from coherencegym.eval.hub.eval_results import HUB_METRICS, TOOLKIT, written_at
from coherencegym.eval.results.folder import read_results, run_folders
from coherencegym.eval.statistics.scores import Score, is_correlation
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results

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
        # Of a folder its own name: where it lies says nothing to others.
        model = Path(run.model_name).name if Path(run.model_name).is_absolute() else run.model_name
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
            "evaluation_description": run.words.hypothesis or run.named_suite,
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
