"""The choices of a run of ``detect``."""

from __future__ import annotations

from dataclasses import dataclass

from coherencegym.command_line import finite, option
from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.documents import DOCUMENTS
from coherencegym.eval.tasks.options import CommandLine

#: What a higher score of a detector means, by its name; the first is the default.
DETECTORS = {
    "mutual": "negative mutual information of the sentence and the rest, per token",
    "context": "negative bits per token that the context saves on the sentence",
    "following": "negative bits per token that the sentence saves on the text after it",
    "surprisal": "mean surprisal of the sentence after the text before it",
}
DEFAULT_DETECTOR = next(iter(DETECTORS))
#: The detector of a model that was trained to be one: it says itself what is an intruder.
CLASSIFIER = "classifier"


@dataclass(frozen=True)
class DetectOptions:
    """The detector, and how its scores become decisions."""

    detector: str = option(
        DEFAULT_DETECTOR,
        f"score of a sentence: {', '.join(DETECTORS)} or {CLASSIFIER}",
        choices=(*DETECTORS, CLASSIFIER),
        metavar="NAME",
    )
    calibrate_on: str | None = option(
        None,
        "config, or DATASET:CONFIG, whose validation split gives the threshold",
        parse=str,
        metavar="CONFIG",
    )
    threshold: float | None = option(
        None, "use this threshold for all decisions", parse=finite, metavar="X"
    )


def check_detection(options: DetectOptions) -> DetectOptions:
    """The options."""
    if options.threshold is not None and options.calibrate_on is not None:
        raise EvaluationError(
            "--threshold: no threshold is chosen; expected no --calibrate-on with it"
        )
    return options


COMMAND = CommandLine(
    name="detect",
    kind=DOCUMENTS,
    options=DetectOptions,
    units="documents",
    examples="""\
  coherencegym detect --model gpt2 --dataset coherencegym/intruder_sentences --revision v1.0.0
  coherencegym detect --model demo --dataset suites/intruder_sentences --detector context
  coherencegym detect --model gpt2 --dataset DATA --calibrate-on detect_a --config detect_b
""",
)
