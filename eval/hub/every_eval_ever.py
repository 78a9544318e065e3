"""Results in the format of Every Eval Ever (https://github.com/evaleval/every_eval_ever).

A run is a JSON file with its scores, and a JSON line for each unit behind each of them, by the
schemas of version 0.3.0. Texts that may not be published stand there as digests alone. The names of
files are made from the run's signature, so that a run has the same wherever it is written.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.baselines import BASELINE_WORDS
from coherencegym.eval.hub.instances import (
    Instance,
    RunInstances,
    evaluation_name,
    read_instances,
)
from coherencegym.eval.hub.model_index import HUB_METRICS, TOOLKIT, written_at
from coherencegym.eval.results.runs import run_folders
from coherencegym.eval.statistics.scores import Score, is_correlation
from coherencegym.eval.tasks.headline import Headline

SCHEMA_VERSION = "0.3.0"
#: Relationships of those who evaluated to those who made the model.
RELATIONSHIPS = ("first_party", "third_party", "collaborative", "other")
_SHA256 = "sha256"
#: Fields of a score that have a place of their own.
_PLACED = (
    "config",
    "split",
    "metric",
    "system",
    "level",
    "score",
    "ci_low",
    "ci_high",
    "ci_method",
)


@dataclass(frozen=True)
class EvaluationSource:
    """The organization that ran the evaluation, and its relationship to the model's maker."""

    organization: str
    relationship: str = "third_party"


def evaluation_files(
    folders: Sequence[Path], source: EvaluationSource, dataset: Path | None = None
) -> dict[str, bytes]:
    """The two files of each run, by their paths in a repository.

    Args:
        folders: results of runs, or folders of those of several.
        source: the organization that ran them.
        dataset: the folder where the dataset is now; None: where it was. Without it instances have
            neither texts nor digests of texts.

    Raises:
        EvaluationError: a folder is none of results, or has no score.
        OSError: a file cannot be read.
    """
    files: dict[str, bytes] = {}
    for folder in run_folders(folders):
        made = _files_of(read_instances(folder, dataset), source)
        if known := made.keys() & files.keys():
            raise EvaluationError(f"{folder}: a run that is there twice: {min(known)}")
        files |= made
    return files


def _files_of(found: RunInstances, source: EvaluationSource) -> dict[str, bytes]:
    run = found.run
    scores = [score for score in run.reported if score.score is not None]
    if not scores:
        raise EvaluationError(f"{run.folder}: no score to report; expected at least one config")
    writer = _Writer(found, source)
    lines = [line for score in scores for line in writer.lines(score)]
    samples = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines).encode()
    whole = writer.whole(scores)
    if lines:
        whole["detailed_evaluation_results"] = {
            "format": "jsonl",
            "file_path": f"{writer.path}_samples.jsonl",
            "hash_algorithm": _SHA256,
            "checksum": hashlib.sha256(samples).hexdigest(),
            "total_rows": len(lines),
        }
    aggregate = json.dumps(whole, ensure_ascii=False, indent=1) + "\n"
    files = {f"{writer.path}.json": aggregate.encode()}
    return files | ({f"{writer.path}_samples.jsonl": samples} if lines else {})


class _Writer:
    def __init__(self, found: RunInstances, source: EvaluationSource) -> None:
        run = found.run
        self.found, self.run, self.source = found, run, source
        # Of a folder its own name: where it lies says nothing to others.
        self.model = Path(run.model).name if Path(run.model).is_absolute() else run.model
        owner, _, name = self.model.rpartition("/")
        collection = f"coherencegym_{run.named_suite}"
        digest = hashlib.sha256(run.signature.encode()).digest()
        self.uuid = str(UUID(bytes=digest[:16], version=4))
        places = map(_name, (collection, owner or "unknown", name))
        self.path = "/".join(("data", *places, self.uuid))
        self.time = written_at(run)
        self.identity = f"{_name(collection)}/{self.model}/{self.time.timestamp()}"

    def whole(self, scores: Sequence[Score | Headline]) -> dict[str, Any]:
        run = self.run
        versions = run.settings.get("versions") or {}
        return {
            "schema_version": SCHEMA_VERSION,
            "evaluation_id": self.identity,
            "evaluation_timestamp": self.time.isoformat(),
            "retrieved_timestamp": str(self.time.timestamp()),
            "source_metadata": {
                "source_name": "CoherenceGym",
                "source_type": "evaluation_run",
                "source_organization_name": self.source.organization,
                "evaluator_relationship": self.source.relationship,
            },
            "model_info": self._model_info(versions),
            "eval_library": {
                "name": "coherencegym",
                "version": versions.get("coherencegym", "unknown"),
                "additional_details": {"url": TOOLKIT, "signature": run.signature},
            },
            "evaluation_results": [self._result(score) for score in scores],
        }

    def _model_info(self, versions: Mapping[str, str]) -> dict[str, Any]:
        run, facts = self.run, self.run.facts
        engine = str((facts.arguments or {}).get("backend", "transformers"))
        # That of a model of the Hub is git's; of a folder it is a digest of the files.
        is_open = re.fullmatch("[0-9a-f]{40}", run.commit) is not None
        about = {
            "commit": run.commit,
            "revision": run.settings.get("model_revision"),
            "parameters": facts.parameters,
            "context_tokens": facts.context,
            "dtype": facts.dtype,
            "device": facts.device,
            "quantization": facts.quantization,
            "adapter": facts.adapter,
            "arguments": facts.arguments,
        }
        return {
            "name": self.model,
            "id": self.model,
            **({"developer": self.model.partition("/")[0]} if "/" in self.model else {}),
            "inference_engine": {"name": engine, "version": versions.get(engine, "unknown")},
            "additional_details": {
                "deployment_type": "self_deployed",
                "model_availability": "open_weights" if is_open else "unknown",
                **_details(about),
            },
        }

    def _result(self, score: Score | Headline) -> dict[str, Any]:
        metric, value = score.metric, score.score
        uncertainty: dict[str, Any] = {"num_samples": score.n}
        if score.ci_low is not None and score.ci_high is not None:
            uncertainty["confidence_interval"] = {
                "lower": score.ci_low,
                "upper": score.ci_high,
                "confidence_level": 0.95,
                "method": score.ci_method or "unknown",
            }
        return {
            "evaluation_result_id": self._result_id(score),
            "evaluation_name": evaluation_name(self.run, score),
            "source_data": self._source_data(score),
            "evaluation_timestamp": self.time.isoformat(),
            "metric_config": {
                "evaluation_description": self.run.words.hypothesis or self.run.named_suite,
                "metric_id": f"coherencegym.{_name(metric.lower())}",
                "metric_name": metric,
                "metric_kind": HUB_METRICS.get(metric, "accuracy"),
                "metric_unit": "correlation" if is_correlation(metric) else "proportion",
                "lower_is_better": False,
                "score_type": "continuous",
                "min_score": -1 if is_correlation(metric) else 0,
                "max_score": 1,
            },
            "score_details": {
                "score": value,
                "details": _details(self._said_of(score)),
                "uncertainty": uncertainty,
            },
        }

    def _said_of(self, score: Score | Headline) -> dict[str, Any]:
        if isinstance(score, Headline):
            fields = ("n", "n_cells", "chance", "chance_name", "human_score", *BASELINE_WORDS)
            return {"over": ", ".join(score.over)} | {key: getattr(score, key) for key in fields}
        names = ("config", "split", "metric", "system", "level")
        rows = (row for row in self.found.rows if row["level"] == "all")
        for row in rows:
            if all(row.get(name, getattr(score, name)) == getattr(score, name) for name in names):
                return {key: own for key, own in row.items() if key not in _PLACED}
        return {}

    def _result_id(self, score: Score | Headline) -> str:
        split = "" if isinstance(score, Headline) else score.split
        return "/".join(filter(None, (self.uuid, evaluation_name(self.run, score), split)))

    def _source_data(self, score: Score | Headline) -> dict[str, Any]:
        run = self.run
        about: dict[str, Any] = {"version": run.version, "commit": run.data_commit}
        split = run.settings.get("split") if isinstance(score, Headline) else score.split
        if not isinstance(score, Headline):
            about |= {"config": score.config, "split": score.split}
            about["rows_sha256"] = run.rows.get((score.config, score.split))
        named = {"dataset_name": f"CoherenceGym {run.named_suite}"}
        if not run.repo:
            return {**named, "source_type": "other", "additional_details": _details(about)}
        return {
            **named,
            "source_type": "hf_dataset",
            "hf_repo": run.repo,
            **({"hf_split": split} if split else {}),
            "samples_number": score.n,
            "additional_details": _details(about),
        }

    def lines(self, score: Score | Headline) -> Iterator[dict[str, Any]]:
        if isinstance(score, Headline):
            return
        sha256 = self.run.rows.get((score.config, score.split), "")
        for instance in self.found.of(score):
            said, asked = instance.decisions, _asked(instance)
            hidden = {name: _digest(text) for name, text in instance.texts.items()}
            seen = instance.texts if instance.is_open else hidden
            unread = f"{instance.name} of the rows {_SHA256}:{sha256}"
            unit = instance.outcomes[0].unit
            yield {
                "schema_version": SCHEMA_VERSION,
                "evaluation_id": self.identity,
                "model_id": self.model,
                "evaluation_name": evaluation_name(self.run, score),
                "evaluation_result_id": self._result_id(score),
                "sample_id": instance.name,
                "sample_hash": _sample_hash(instance.texts, asked) if instance.texts else None,
                "interaction_type": "single_turn",
                "input": {
                    "raw": _joined(seen) if seen else unread,
                    "reference": asked,
                    "choices": list(seen.values()) or None,
                },
                "output": {"raw": said},
                "answer_attribution": [
                    {
                        "turn_idx": 0,
                        "source": "output.raw",
                        "extracted_value": f"{instance.value:g}",
                        "extraction_method": score.metric,
                        "is_terminal": True,
                    }
                ],
                "evaluation": {"score": instance.value, "is_correct": instance.value == 1},
                "metadata": _details(
                    {
                        "config": score.config,
                        "split": score.split,
                        "discourse": unit.discourse,
                        "cluster": unit.cluster,
                        "texts": "open" if instance.is_open else "digests" if seen else "none",
                    }
                ),
            }


def _asked(instance: Instance) -> list[str]:
    # The predictions that are to hold; of another unit there is none.
    units = (outcome.unit for outcome in instance.outcomes)
    return [f"{unit.formula} [{unit.aggregation}]" for unit in units if unit.formula]


def _joined(texts: Mapping[str, str]) -> str:
    return "\n".join(f"{name}: {text}" for name, text in texts.items())


def _digest(text: str) -> str:
    return f"{_SHA256}:{hashlib.sha256(text.encode('utf-8', 'replace')).hexdigest()}"


def _sample_hash(texts: Mapping[str, str], asked: Sequence[str]) -> str:
    # Of the texts themselves, so that it is the same where they may not be shown.
    return hashlib.sha256((_joined(texts) + "".join(asked)).encode("utf-8", "replace")).hexdigest()


def _details(about: Mapping[str, Any]) -> dict[str, str]:
    # All values of details are strings; what is not known is left out.
    return {
        key: value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        for key, value in about.items()
        if value is not None and value != "" and value != {} and value != []
    }


def _name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip("._") or "unnamed"
