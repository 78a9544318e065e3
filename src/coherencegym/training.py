"""Scores of a model while it is trained: a callback for the ``Trainer`` of transformers.

Needs the ``train`` extra, as the trainer itself does (accelerate).
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from transformers import Trainer, TrainerCallback

from coherencegym.command_line import options_in
from coherencegym.errors import EvaluationError
from coherencegym.eval.models.in_memory import evaluating, in_memory
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.plan.cached_plans import CachedPlans
from coherencegym.eval.plan.options import Options
from coherencegym.eval.run.call import task_options
from coherencegym.eval.run.data import each_dataset, read_dataset
from coherencegym.eval.run.runs import results_about
from coherencegym.eval.tasks.options import refuse_unknown
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.task import TASK
from coherencegym.eval.tasks.task import TaskContext


class ScoreCallback(TrainerCallback):  # type: ignore[misc]
    """Score the model that a trainer trains, and log the scores as the trainer logs its loss.

    ::

        trainer = Trainer(model, args, train_dataset=texts, processing_class=tokenizer)
        trainer.add_callback(cg.ScoreCallback(trainer, "suites/story_cloze", every=500, limit=200))
        trainer.train()

    It takes the trainer, as callbacks of transformers have no other way to its log: that reaches
    ``trainer.state.log_history``, the console and what ``report_to`` names. Each entry has, for a
    suite, ``coherence/SUITE`` (its headline, a share from 0 to 1), ``coherence/SUITE_low`` and
    ``coherence/SUITE_high`` (the 95 % interval), and ``coherence/SUITE/CONFIG``, with ``/SPLIT``
    where a config has several. What has no score is left out.

    The first scores are those of step 0, so that what cannot be scored ends a run before it begins.
    The model stays where it is and goes back to training mode, and no random number is drawn:
    training is what it would be without scores. Of several processes the main one scores.
    """

    def __init__(
        self,
        trainer: Any,
        data: Any,
        *,
        every: int | None = None,
        tokenizer: Any = None,
        config: str | Sequence[str] = (),
        split: str | None = None,
        revision: str | None = None,
        limit: int | None = None,
        **options: Any,
    ) -> None:
        """Read the data, once, and check that the trainer's model can be scored on it.

        Args:
            trainer: a trainer of transformers, to which the callback is added by its
                ``add_callback``.
            data: a dataset or several, see :func:`coherencegym.score`.
            every: steps of training from one score to the next; the last step has one, too. None:
                a score at each evaluation of the trainer.
            tokenizer: that of the model; None: the trainer's ``processing_class``.
            config, split, revision, limit: parts of a dataset given by name, see
                :func:`coherencegym.load_items`; ``limit`` keeps scores fast.
            options: ``scorer``, ``bos``, ``separator``, ``truncate``, ..., see
                :func:`coherencegym.score`.

        Raises:
            EvaluationError: that is no trainer, nothing would be scored, the model is no
                language model or spread over processes, the data cannot be read, two datasets have
                the same name, or an option is wrong.
        """
        _check(trainer, every)
        self._trainer, self._every = trainer, every
        self._tokenizer = trainer.processing_class if tokenizer is None else tokenizer
        if self._tokenizer is None:
            raise EvaluationError(
                "ScoreCallback: the trainer has no processing_class; pass the tokenizer as "
                "ScoreCallback(..., tokenizer=...), or as Trainer(..., processing_class=...)"
            )
        refuse_unknown("ScoreCallback: ", options, options_in(Options))
        chosen = {"config": config, "split": split, "revision": revision, "limit": limit}
        given = {**chosen, **options, "model": trainer.model, "dataset": data}
        self._model, data, self._reading, self._own, _ = task_options(TASK, given, "ScoreCallback")
        datasets, _ = each_dataset(data)
        self._read = [read_dataset(TASK, one, self._own) for one in datasets]
        names = Counter(read.source.suite for read in self._read)
        if twice := [name for name, n in names.items() if n > 1]:
            raise EvaluationError(
                f"ScoreCallback: {twice[0]} is there {names[twice[0]]} times, and its scores would "
                "be logged under one name; expected it once"
            )
        self._scored_at = -1
        # Encoded and planned at the first scores, for all that follow.
        self._plans = CachedPlans()
        with evaluating(trainer.model):
            self._loaded(0)

    def on_train_begin(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Score the model that training begins with, unless an earlier run goes on."""
        self._scored_at = -1
        if state.global_step == 0:
            self._score(state, control)

    def on_step_end(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Score at every so many steps, and at the last."""
        step = state.global_step
        if self._every and (step % self._every == 0 or step >= state.max_steps):
            self._score(state, control)

    def on_evaluate(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        """Score with an evaluation, if that is when scores are wanted."""
        if self._every is None:
            self._score(state, control)

    def _loaded(self, step: int) -> LoadedModel:
        # A name of the weights of its own spares reading them all for a digest.
        model, scorer = self._trainer.model, self._reading.scorer
        return in_memory(model, self._tokenizer, commit=f"step {step}", scorer=scorer)

    def _score(self, state: Any, control: Any) -> None:
        if not state.is_world_process_zero or self._scored_at == state.global_step:
            return
        self._scored_at = state.global_step
        wanted = control.should_log
        with evaluating(self._trainer.model):
            # Still in evaluation mode: trainers that add means over training steps to what they
            # log, and then forget them (TRL's), do not take this for a log of training.
            if logs := self._scores(state.global_step):
                self._trainer.log(logs)
        # Any log counts as the one that the trainer is about to make of its loss.
        control.should_log = wanted

    def _scores(self, step: int) -> dict[str, float]:
        logs: dict[str, float] = {}
        try:
            loaded = self._loaded(step)
            reading = self._reading.settled(loaded.scorer)
            plans = self._plans.of(loaded.tokenizer)
            settings = replace(self._model, model=loaded).record()
            for read in self._read:
                context = TaskContext(loaded, reading, plans=plans)
                results = results_about(TASK, context, read, self._own, settings)
                logs |= _logged(results, read.source.suite)
            if not logs:
                raise EvaluationError(
                    "no item has a score: too long for the model, or nothing to compare"
                )
        except EvaluationError as error:
            if step == 0:
                raise
            # What was scored before is broken by training: NaN. That is not ours to end.
            warnings.warn(f"ScoreCallback: no scores at step {step}: {error}", stacklevel=2)
            return {}
        return logs


def _check(trainer: Any, every: int | None) -> None:
    if not isinstance(trainer, Trainer):
        raise EvaluationError(
            f"ScoreCallback: a {type(trainer).__name__} is no trainer; expected "
            "trainer.add_callback(ScoreCallback(trainer, data))"
        )
    if every is not None and (type(every) is not int or every < 1):
        raise EvaluationError(
            f"ScoreCallback: every={every!r}; expected a whole number of steps, at least 1, or None"
        )
    if every is None and trainer.args.eval_strategy == "no":
        raise EvaluationError(
            "ScoreCallback: every=None scores at each evaluation, of which this trainer makes none "
            "(eval_strategy='no'); expected every=STEPS"
        )
    from transformers.integrations.deepspeed import is_deepspeed_zero3_enabled

    config = getattr(getattr(trainer.model, "config", None), "distributed_config", None)
    if trainer.is_fsdp_enabled or is_deepspeed_zero3_enabled() or config is not None:
        raise EvaluationError(
            "ScoreCallback: the model's weights are spread over processes (FSDP, ZeRO-3 or tensor "
            "parallel), and one alone cannot score it; expected `coherencegym score` on checkpoints"
        )


def _logged(results: Results, suite: str) -> Mapping[str, float]:
    name = f"coherence/{suite}"
    logs: dict[str, float | None] = {}
    if headline := results.headline:
        logs[name] = headline.score
        logs |= {f"{name}_low": headline.ci_low, f"{name}_high": headline.ci_high}
    rows = [row for row in results.rows if row.level == "all"]
    splits = Counter(row.config for row in rows)
    for row in rows:
        split = f"/{row.split}" if splits[row.config] > 1 else ""
        logs[f"{name}/{row.config}{split}"] = row.controlled.score
    return {key: value for key, value in logs.items() if value is not None}
