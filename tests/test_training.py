"""Scores during training: what is logged, when, and that training is as it would be without."""

from __future__ import annotations

import random
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from support.suites import no_classifiers
from transformers import GPT2Config, GPT2LMHeadModel, TrainerCallback

import coherencegym as cg
from coherencegym.errors import EvaluationError

pytest.importorskip("accelerate", reason="accelerate is not installed")

#: One of the tables of the suite, and few of its items.
FEW: dict[str, Any] = {"config": "sample", "limit": 2}
TEXTS = ["The dog ran home.", "She was tired and slept.", "He paid and left.", "It rained again."]
LIMIT = 6


@pytest.fixture(scope="module")
def tokenizer() -> Any:
    return cg.load_model("demo").tokenizer


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("built") / "story_cloze"
    with pytest.MonkeyPatch.context() as patched:
        no_classifiers(patched)
        return cg.build("story_cloze", corpus="sample", limit=40, output=place)


MakeTrainer = Callable[..., Any]


@pytest.fixture
def make_trainer(tmp_path: Path, tokenizer: Any) -> MakeTrainer:
    """A trainer of four steps on a tiny GPT-2 with dropout, always the same one."""
    from transformers import Trainer, TrainingArguments

    def make(callbacks: Any = (), **more: Any) -> Any:
        torch.manual_seed(1)
        config = GPT2Config(
            vocab_size=len(tokenizer), n_embd=16, n_layer=1, n_head=2, n_positions=256
        )
        assert config.resid_pdrop > 0
        encoded = [tokenizer(text)["input_ids"][:5] for text in TEXTS]
        arguments = {
            **{"max_steps": 4, "per_device_train_batch_size": 1, "learning_rate": 0.01},
            **{"logging_steps": 1, "save_strategy": "no", "report_to": "none"},
            **{"use_cpu": True, "disable_tqdm": True, "seed": 3},
        }
        return Trainer(
            GPT2LMHeadModel(config),
            TrainingArguments(str(tmp_path / "run"), **{**arguments, **more}),
            train_dataset=[{"input_ids": ids, "labels": ids} for ids in encoded],
            eval_dataset=[{"input_ids": ids, "labels": ids} for ids in encoded[:1]],
            processing_class=tokenizer,
            callbacks=list(callbacks),
        )

    return make


def entries(trainer: Any, key: str) -> list[tuple[int, float]]:
    return [(log["step"], log[key]) for log in trainer.state.log_history if key in log]


def generators() -> list[Any]:
    _, numbers, place, *_ = np.random.get_state()
    return [torch.get_rng_state().tolist(), random.getstate(), list(numbers), place]


def test_training_is_what_it_is_without_scores(make_trainer: MakeTrainer, folder: Path) -> None:
    plain = make_trainer()
    plain.train()
    left = generators()
    scored = make_trainer()
    scored.add_callback(cg.ScoreCallback(scored, folder, every=2, **FEW))
    scored.train()
    assert generators() == left
    assert entries(scored, "loss") == entries(plain, "loss")
    assert len(entries(plain, "loss")) == 4, "the log of the loss is made beside that of scores"
    assert entries(scored, "grad_norm") == entries(plain, "grad_norm")
    for own, other in zip(scored.model.parameters(), plain.model.parameters(), strict=True):
        assert torch.equal(own, other)
    assert scored.model.training
    assert [step for step, _ in entries(scored, "coherence/story_cloze")] == [0, 2, 4]


def test_a_masked_model_is_scored_while_it_is_trained(
    make_trainer: MakeTrainer, folder: Path
) -> None:
    from support.tiny_encoders import masked_model, masked_tokenizer

    masked = masked_tokenizer("bert")
    trainer = make_trainer()
    trainer.model, trainer.processing_class = (
        masked_model("bert", masked, max_position_embeddings=512),
        masked,
    )
    callback = cg.ScoreCallback(trainer, folder, every=2, **FEW)
    trainer.add_callback(callback)
    trainer.train()
    assert [step for step, _ in entries(trainer, "coherence/story_cloze")] == [0, 2, 4]
    with pytest.raises(EvaluationError, match="is a masked language model"):
        cg.ScoreCallback(trainer, folder, every=2, scorer="causal")


class Reporter(TrainerCallback):  # type: ignore[misc]
    """What TensorBoard's and W&B's are: given to the trainer, and told of every log."""

    def __init__(self) -> None:
        self.told: dict[int, dict[str, float]] = {}

    def on_log(self, args: Any, state: Any, control: Any, logs: Any = None, **_: Any) -> None:
        if "coherence/story_cloze" in logs:
            self.told[state.global_step] = dict(logs)


def test_what_is_logged_is_what_the_checkpoint_scores(
    make_trainer: MakeTrainer, folder: Path, tmp_path: Path
) -> None:
    reporter = Reporter()
    trainer = make_trainer([reporter], save_strategy="steps", save_steps=2)
    trainer.add_callback(cg.ScoreCallback(trainer, str(folder), every=3, limit=LIMIT))
    trainer.train()
    assert sorted(reporter.told) == [0, 3, 4], "the last step, too"
    results: Any = cg.score(str(tmp_path / "run" / "checkpoint-4"), folder, limit=LIMIT)
    headline = results.headline
    told = reporter.told[4]
    assert {key: value for key, value in told.items() if key != "epoch"} == {
        "coherence/story_cloze": headline.score,
        "coherence/story_cloze_low": headline.ci_low,
        "coherence/story_cloze_high": headline.ci_high,
        "coherence/story_cloze/sample": results.rows[0].score,
        **{
            f"coherence/story_cloze/{row.config}": row.score
            for row in results.rows[1:]
            if row.level == "all"
        },
    }
    assert told["coherence/story_cloze/sample_crossed"] == 0.5
    assert results.rows[0].n == LIMIT
    assert entries(trainer, "coherence/story_cloze")[-1] == (4, headline.score)


def test_tables_are_read_once_and_several_have_their_names(
    make_trainer: MakeTrainer, folder: Path, tmp_path: Path
) -> None:
    copied = Path(shutil.copytree(folder, tmp_path / "story_cloze"))
    items = cg.load_items(folder, **FEW)
    trainer = make_trainer()
    with pytest.raises(EvaluationError, match="story_cloze is there 2 times"):
        cg.ScoreCallback(trainer, [copied, items], every=2)
    other = cg.build("winograd", corpus="sample", limit=4, output=tmp_path / "winograd")
    callback = cg.ScoreCallback(trainer, [copied, other], every=4, limit=2)
    shutil.rmtree(copied / "data")
    shutil.rmtree(other / "data")
    trainer.add_callback(callback)
    trainer.train()
    logs = [log for log in trainer.state.log_history if "coherence/story_cloze" in log]
    assert len(logs) == 2
    assert all("coherence/winograd" in log for log in logs)


def test_texts_are_encoded_and_planned_once_for_all_scores(
    make_trainer: MakeTrainer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from coherencegym.eval import surprisal

    planned: list[object] = []
    real: Any = surprisal.__dict__["prepare"]

    def counted(*given: Any, **how: Any) -> Any:
        planned.append(given)
        return real(*given, **how)

    monkeypatch.setattr(surprisal, "prepare", counted)
    trainer = make_trainer()
    trainer.add_callback(cg.ScoreCallback(trainer, folder, every=2, limit=2))
    trainer.train()
    assert len(entries(trainer, "coherence/story_cloze")) == 3
    assert len(planned) == 4, "one for each table"


def test_scores_go_with_evaluations(make_trainer: MakeTrainer, folder: Path) -> None:
    trainer = make_trainer(eval_strategy="steps", eval_steps=3)
    trainer.add_callback(cg.ScoreCallback(trainer, folder, **FEW))
    trainer.train()
    evaluated = [step for step, _ in entries(trainer, "eval_loss")]
    assert evaluated == [3, 4]
    assert [step for step, _ in entries(trainer, "coherence/story_cloze")] == [0, *evaluated]
    trainer.evaluate()
    assert len(entries(trainer, "coherence/story_cloze")) == 3, "a step is scored once"


def test_a_run_that_goes_on_is_not_scored_again_where_it_stopped(
    make_trainer: MakeTrainer, folder: Path
) -> None:
    trainer = make_trainer(save_strategy="steps", save_steps=2)
    trainer.add_callback(cg.ScoreCallback(trainer, folder, every=2, **FEW))
    trainer.train()
    saved = Path(trainer.args.output_dir) / "checkpoint-2"
    again = make_trainer()
    again.add_callback(cg.ScoreCallback(again, folder, every=2, **FEW))
    again.train(resume_from_checkpoint=str(saved))
    key = "coherence/story_cloze"
    assert entries(again, key) == entries(trainer, key)


def test_only_the_main_process_scores(make_trainer: MakeTrainer, folder: Path) -> None:
    trainer = make_trainer()
    trainer.is_world_process_zero = lambda: False
    trainer.add_callback(cg.ScoreCallback(trainer, folder, every=1, **FEW))
    trainer.train()
    assert entries(trainer, "loss")
    assert not entries(trainer, "coherence/story_cloze")


def test_the_model_may_be_trained_in_half_precision(
    make_trainer: MakeTrainer, folder: Path
) -> None:
    trainer = make_trainer(bf16=True)
    trainer.add_callback(cg.ScoreCallback(trainer, folder, every=2, **FEW))
    trainer.train()
    assert len(entries(trainer, "coherence/story_cloze")) == 3


def test_what_cannot_be_scored_is_refused_before_training(
    make_trainer: MakeTrainer, folder: Path
) -> None:
    trainer = make_trainer()
    refused: list[tuple[Any, Any, dict[str, Any], str]] = [
        ("gpt2", folder, {}, r"a str is no trainer; expected trainer\.add_callback"),
        (trainer, folder, {}, "makes none .*; expected every=STEPS"),
        (trainer, folder, {"every": 0}, "every=0; expected a whole number of steps"),
        (trainer, folder, {"every": True}, "every=True; expected a whole number of steps"),
        (trainer, "/nonexistent", {"every": 1}, "/nonexistent"),
        (trainer, [], {"every": 1}, "no dataset; expected a dataset's name"),
        (trainer, folder, {"every": 1, "limit": 0}, "limit: 0; expected"),
        (trainer, folder, {"every": 1, "config": "none"}, "none"),
        (trainer, folder, {"every": 1, "botch": 1}, "no option 'botch'"),
        (trainer, folder, {"every": 1, "tokenizer": "gpt2"}, "a str is no tokenizer"),
    ]
    for own, data, options, said in refused:
        with pytest.raises(EvaluationError, match=said) as caught:
            cg.ScoreCallback(own, data, **options)
        assert "\n" not in str(caught.value)
    trainer.processing_class = None
    with pytest.raises(
        EvaluationError, match="the trainer has no processing_class; pass the tokenizer as"
    ):
        cg.ScoreCallback(trainer, folder, every=1)
    trainer.is_fsdp_enabled = True
    with pytest.raises(EvaluationError, match="spread over processes"):
        cg.ScoreCallback(trainer, folder, every=1)


def test_a_model_that_breaks_is_left_to_its_training(
    make_trainer: MakeTrainer, folder: Path
) -> None:
    trainer = make_trainer(max_grad_norm=0.0, learning_rate=float("inf"))
    trainer.add_callback(cg.ScoreCallback(trainer, folder, every=2, **FEW))
    with pytest.warns(UserWarning, match="no scores at step [24]: .* not finite"):
        trainer.train()
    assert trainer.state.global_step == 4
    assert [step for step, _ in entries(trainer, "coherence/story_cloze")] == [0]


def test_items_that_have_no_score_end_a_run_before_it_begins(
    make_trainer: MakeTrainer, folder: Path
) -> None:
    trainer = make_trainer()
    trainer.model.config.n_positions = 8
    trainer.add_callback(cg.ScoreCallback(trainer, folder, every=2, **FEW))
    with pytest.raises(EvaluationError, match="no item has a score: too long"):
        trainer.train()
    assert trainer.state.global_step == 0


def test_the_callback_costs_nothing_before_it_is_used() -> None:
    code = (
        "import sys, coherencegym\nassert 'ScoreCallback' in dir(coherencegym)\n"
        "print(sorted({'torch', 'transformers', 'accelerate'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
