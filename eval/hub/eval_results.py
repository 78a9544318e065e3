"""Scores for a model's own repository: ``.eval_results/NAME.yaml``, a file for each benchmark.

The Hub shows it where the dataset is registered as a benchmark and its ``eval.yaml`` names the task
(https://huggingface.co/docs/hub/eval-results).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.baselines import BASELINE_WORDS
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.statistics.scores import CD, Score
from coherencegym.eval.tasks.headline import Headline
from coherencegym.eval.tasks.results import Results

#: The address that results lead to, unless another is named.
TOOLKIT = "https://github.com/coherencegym/coherencegym"


def results_yaml(entries: Sequence[Mapping[str, Any]]) -> str:
    """Entries of ``.eval_results`` as YAML."""
    import yaml

    return str(yaml.safe_dump(list(entries), sort_keys=False, allow_unicode=True, width=1000))


def result_entries(run: Results, source_url: str = TOOLKIT) -> list[dict[str, Any]]:
    """The entries of an ``.eval_results`` file: one for each task of the dataset's ``eval.yaml``.

    Scores are shares. The date is the day (UTC) on which the results were written, where they lie
    in a folder.

    Args:
        run: a run on a dataset of the Hub.
        source_url: an address where a reader finds more; by default the toolkit's own.
    """
    try:
        from huggingface_hub import EvalResultEntry, eval_result_entries_to_yaml
    except ImportError:
        raise EvaluationError(
            "--eval-results: this huggingface_hub does not know the form; expected a newer one"
        ) from None
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
    about: dict[str, Any] = {"items" if score.metric == CD else "n": score.n}
    if isinstance(score, Headline):
        about = {"over": ", ".join(score.over)} | about
    else:
        about = {"split": score.split} | about
    if score.ci_low is not None and score.ci_high is not None:
        about |= {"ci_low": _share(score.ci_low), "ci_high": _share(score.ci_high)}
    if score.metric != CD and score.chance is not None:
        about[score.chance_name.replace(" ", "_")] = _share(score.chance)
    for name in BASELINE_WORDS:
        if (value := getattr(score, name)) is not None:
            about[name] = _share(value)
    return {**about, "signature": run.signature}


def _share(value: float) -> float:
    return round(value, 4)
