"""The subcommand ``correlate``, which leaves nothing open."""

from __future__ import annotations

from coherencegym.eval.kinds.documents import RATINGS
from coherencegym.eval.tasks.options import CommandLine

COMMAND = CommandLine(
    name="correlate",
    kind=RATINGS,
    units="texts",
    examples="""\
  coherencegym build coherence_ratings --corpus sample
  coherencegym correlate --model demo --dataset suites/coherence_ratings
  coherencegym correlate --model gpt2 --dataset coherence_ratings --config cohesentia_holistic
""",
)
