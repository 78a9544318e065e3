"""Results as logs of Inspect, which ``inspect view`` opens: one for each table, through its API.

A sample is an item with its predictions, or another unit that is right or wrong by itself. Its
scores are shares; clusters, groups and margins are in its metadata. Intervals and baselines are
with the metrics of the log.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.baselines import BASELINE_WORDS, HUMAN_PERFORMANCE
from coherencegym.eval.hub.instances import (
    Instance,
    RunInstances,
    evaluation_name,
    read_instances,
)
from coherencegym.eval.hub.model_index import written_at
from coherencegym.eval.outcomes.schema import name_of_group
from coherencegym.eval.results.runs import run_folders
from coherencegym.eval.statistics.scores import Score


def write_inspect_logs(folders: Sequence[Path], target: Path, dataset: Path | None = None) -> int:
    """Write a log for each score of a config and split that has instances.

    Args:
        folders: results of runs, or folders of those of several.
        target: a folder that is there.
        dataset: the folder where the dataset is now; None: where it was. Without it samples have no
            texts.

    Returns:
        The number of logs.

    Raises:
        EvaluationError: Inspect is not installed, a folder is none of results, or no score has
            instances.
        OSError: a file cannot be read or written.
    """
    try:
        from inspect_ai.log import write_eval_log
    except ImportError:
        raise EvaluationError(
            "--format inspect needs inspect-ai; expected pip install 'coherencegym[inspect]'"
        ) from None
    count = 0
    for folder in run_folders(folders):
        found = read_instances(folder, dataset)
        for score in found.run.scores:
            if score.level == "all" and (instances := found.of(score)):
                log, count = _log(found, score, instances), count + 1
                names = Path(found.run.model).name, log.eval.task, log.eval.eval_id
                write_eval_log(log, f"{target / '--'.join(map(_name, names))}.eval", format="eval")
    if not count:
        raise EvaluationError(f"{folders[0]}: no score of units that are right or wrong")
    return count


def _log(found: RunInstances, score: Score, instances: Sequence[Instance]) -> Any:
    from inspect_ai.log import (
        EvalConfig,
        EvalDataset,
        EvalLog,
        EvalMetric,
        EvalResults,
        EvalScore,
        EvalSpec,
        EvalStats,
    )

    run = found.run
    time = written_at(run).isoformat()
    task = "_".join(filter(None, (run.named_suite, evaluation_name(run, score), score.split)))
    digest = hashlib.sha256(f"{run.signature}|{task}".encode()).hexdigest()
    samples = [_sample(instance, score) for instance in instances]
    dataset = EvalDataset(
        name=run.repo or run.data,
        samples=len(samples),
        sample_ids=[sample.id for sample in samples],
        shuffled=False,
    )
    spec = EvalSpec(
        eval_id=digest[:22],
        run_id=hashlib.sha256(run.signature.encode()).hexdigest()[:22],
        task_id=digest[22:44],
        created=time,
        task=task,
        task_version=run.version or 0,
        task_description=run.words.hypothesis or None,
        dataset=dataset,
        model=run.model,
        config=EvalConfig(epochs=1),
        packages=dict(run.settings.get("versions") or {}),
        metadata={"signature": run.signature, "config": score.config, "split": score.split},
    )
    interval = {"ci_low": score.ci_low, "ci_high": score.ci_high, "ci_method": score.ci_method}
    values = {"accuracy": score.score, "chance": score.chance, HUMAN_PERFORMANCE: score.human_score}
    values |= {words: getattr(score, field) for field, words in BASELINE_WORDS.items()}
    metrics = {
        name: EvalMetric(name=name, value=value, metadata=interval if name == "accuracy" else None)
        for name, value in values.items()
        if value is not None
    }
    scorer = _name(score.metric)
    scored = EvalScore(
        name=scorer,
        scorer=scorer,
        scored_samples=len(samples),
        unscored_samples=0,
        metrics=metrics,
        metadata={"n": score.n, "left_out": dict(score.counts)},
    )
    return EvalLog(
        status="success",
        eval=spec,
        results=EvalResults(
            total_samples=len(samples), completed_samples=len(samples), scores=[scored]
        ),
        stats=EvalStats(started_at=time, completed_at=time),
        samples=samples,
    )


def _sample(instance: Instance, score: Score) -> Any:
    from inspect_ai.log import EvalSample
    from inspect_ai.model import ModelOutput
    from inspect_ai.scorer import Score as InspectScore

    unit = instance.outcomes[0].unit
    texts = [f"{name}: {text}" for name, text in instance.texts.items()]
    said = "\n".join(instance.decisions)
    groups = (name_of_group(group) for one in instance.outcomes for group in one.unit.groups)
    explained = {"margins_bits": list(instance.margins)}
    return EvalSample(
        id=instance.name,
        epoch=1,
        input="\n\n".join(texts) or instance.name,
        target="\n".join(one.unit.formula for one in instance.outcomes),
        output=ModelOutput.from_content("", said),
        scores={
            _name(score.metric): InspectScore(value=instance.value, answer=said, metadata=explained)
        },
        metadata={
            "item_id": unit.item,
            "discourse_id": unit.discourse,
            "cluster": unit.cluster,
            "groups": list(dict.fromkeys(groups)),
        },
    )


def _name(text: str) -> str:
    return re.sub(r"[^\w.-]+", "_", text, flags=re.ASCII).strip("._").lower() or "unnamed"
