"""The block of scores for a model's own card, as the Hub reads it (``model-index``)."""

from __future__ import annotations

from typing import Any

from eval.errors import EvaluationError
from eval.runs import Run


def model_index(run: Run) -> str:
    """The YAML of a ``model-index`` with one entry for each config.

    Args:
        run: one model's scores on one dataset.

    Returns:
        YAML to paste between the ``---`` lines at the top of a model card.

    Raises:
        EvaluationError: there is no score to report.
    """
    from huggingface_hub import EvalResult, ModelCardData

    results = []
    for score in run.scores:
        if score.level != "all" or score.score is None:
            continue
        arguments: dict[str, Any] = {"items": score.n, "signature": run.signature}
        if score.ci_low is not None:
            arguments |= {"ci_low": round(score.ci_low, 4), "ci_high": round(score.ci_high or 0, 4)}
        results.append(
            EvalResult(
                task_type="text-generation",
                dataset_type=f"coherencegym/{run.suite}",
                dataset_name=f"CoherenceGym {run.suite} {run.version}".rstrip(),
                dataset_config=score.config,
                dataset_split=score.split or None,
                metric_type="accuracy",
                metric_name="CD score",
                metric_value=round(score.score, 4),
                metric_args=arguments,
            )
        )
    if not results:
        raise EvaluationError(f"{run.folder}: no score to report; expected at least one config")
    name = run.model.rpartition("/")[2] or run.model
    return str(ModelCardData(model_name=name, eval_results=results).to_yaml())
