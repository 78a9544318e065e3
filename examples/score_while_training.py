"""Scores of a tiny model while it is trained, with the ``Trainer`` of transformers.

    python score_while_training.py     # needs: pip install "coherencegym[train]"

The scores stand in the trainer's log beside the loss, as W&B or TensorBoard would show them. Of a
model this small, trained for seconds, they only show that a curve moves.
"""

from transformers import GPT2Config, GPT2LMHeadModel, Trainer, TrainingArguments, set_seed

import coherencegym as cg


def main(folder: str = "suites/story_cloze_20") -> list[tuple[int, float]]:
    """Train for a few steps on one sentence; the score at each step at which there is one."""
    suite = cg.build("story_cloze", corpus="sample", limit=20, output=folder)
    tokenizer = cg.load_model("demo").tokenizer
    set_seed(1)
    model = GPT2LMHeadModel(GPT2Config(vocab_size=len(tokenizer), n_embd=32, n_layer=1, n_head=2))
    texts = tokenizer(["The dog ran home."] * 8).input_ids
    arguments = TrainingArguments(
        "run",
        max_steps=6,
        logging_steps=2,
        learning_rate=0.03,
        save_strategy="no",
        report_to="none",
        use_cpu=True,
    )
    trainer = Trainer(
        model,
        arguments,
        train_dataset=[{"input_ids": ids, "labels": ids} for ids in texts],
        processing_class=tokenizer,
    )
    # `limit` keeps scores fast; `every` is a number of steps. The first scores are of step 0.
    trainer.add_callback(cg.ScoreCallback(trainer, suite, every=3, config="sample", limit=20))
    trainer.train()
    name = "coherence/story_cloze"
    return [(log["step"], log[name]) for log in trainer.state.log_history if name in log]


if __name__ == "__main__":
    for step, score in main():
        print(f"step {step}: {100 * score:.1f} %")
