"""Operators on single units: another ending of a text, and marks where the speaker changes.

Beyer et al. 2021, section 4.2, on the Story Cloze Test (Mostafazadeh et al. 2016).

Beyer et al. 2021, section 4.6: dialogue models are trained with a separator between utterances. In
a dataset the separator is the abstract ``[SEP]``; the evaluator renders it for each model.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass

from coherencegym.loaders.discourse import Discourse
from coherencegym.manipulations.editing import replace_text
from coherencegym.manipulations.operator import Context, Operator


@dataclass(frozen=True)
class EndingSwap(Operator):
    """Replace the last sentence of a text by a wrong ending that the corpus lists for the text.

    Attributes:
        name: the name of the result, by default ``distractor_ending``. If a text has several
            results, the second and later results have this name and a number, such as
            ``distractor_ending-2``.

    Each wrong ending of a text gives one result. A text without a wrong ending gives no result. The
    Story Cloze Test, for example, is a corpus that lists wrong endings.
    """

    name: str = "distractor_ending"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse once for each wrong ending."""
        last = len(discourse.units) - 1
        text = discourse.units[last].text
        whole = (last, 0, len(text))
        ending = next((a for a in discourse.alternatives if a.span == (whole,)), None)
        if ending is None:
            context.skipped["no alternative ending"] += 1
            return
        wrong = dict.fromkeys(t for i, t in enumerate(ending.options) if i != ending.right)
        if text in wrong:
            context.skipped["the two endings are the same"] += 1
            del wrong[text]
        for number, other in enumerate(wrong, start=1):
            swapped = replace_text(discourse, *whole, other, operator="EndingSwap")
            name = self.name if number == 1 else f"{self.name}-{number}"
            yield dataclasses.replace(swapped, variant=name)


@dataclass(frozen=True)
class SpeakerSeparator(Operator):
    """Write a mark (``[SEP]``) after every utterance of a dialogue except the last utterance.

    Attributes:
        separator: the mark. The operator writes a space before the mark.

    The operator does not change the name (``variant``): if the dialogue is a result named
    ``shuffled``, the result with marks is also named ``shuffled``. A dialogue that already contains
    the mark gives no result.
    """

    separator: str = "[SEP]"

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the discourse with separators; the variant stays what it was."""
        if any(self.separator in text for text in discourse.texts):
            context.skipped[f"the text itself contains {self.separator}"] += 1
            return
        if len(discourse.units) < 2:
            context.skipped["only one utterance"] += 1
            return
        result = discourse
        for i, text in enumerate(discourse.texts[:-1]):
            end, mark = len(text), f" {self.separator}"
            result = replace_text(result, i, end, end, mark, operator="SpeakerSeparator")
        yield result
