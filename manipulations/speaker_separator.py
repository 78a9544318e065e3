"""Speaker separators: mark in the text where the speaker changes.

Beyer et al. 2021, section 4.6: dialogue models are trained with a separator between utterances. In
a dataset the separator is the abstract ``[SEP]``; the evaluator renders it for each model.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.operator import Context, Operator


@dataclass(frozen=True)
class SpeakerSeparator(Operator):
    """Write a mark (``[SEP]``) after every utterance of a dialogue except the last utterance.

    Attributes:
        separator: the mark. The operator writes a space before the mark.
        merge_runs: ``True`` writes no mark between neighbouring utterances of the same speaker.
            ``False`` (the default) writes a mark between all utterances, so that a dialogue and its
            shuffled version have the same number of marks.

    The operator does not change the name (``variant``): if the dialogue is a result named
    ``shuffled``, the result with marks is also named ``shuffled``. A dialogue that already contains
    the mark gives no result.
    """

    separator: str = "[SEP]"
    merge_runs: bool = False

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with separators; the variant stays what it was."""
        if any(self.separator in text for text in discourse.texts):
            context.skipped[f"the text itself contains {self.separator}"] += 1
            return
        if len(discourse.units) < 2:
            context.skipped["only one utterance"] += 1
            return
        result = discourse
        for i, (unit, following) in enumerate(pairwise(discourse.units)):
            same = unit.speaker is not None and unit.speaker == following.speaker
            if not (self.merge_runs and same):
                end, mark = len(unit.text), f" {self.separator}"
                result = replace_text(result, i, end, end, mark, operator="SpeakerSeparator")
        yield result
