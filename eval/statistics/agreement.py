"""Groups of units by how many of the people who judged them gave the same answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

#: Annotators who have to say the same for their document to count as agreed on (Shen et al. 2021,
#: section 4.3).
ENOUGH = 3
#: The names of groups: by the number of those who gave the commonest answer, and two that overlap.
AGREEING = "annotators who agree"
AGREED, UNANIMOUS = f"at least {ENOUGH} annotators agree", "all annotators agree"


def agreement_groups(answers: Sequence[Hashable]) -> Iterator[str]:
    """The groups of a unit with these answers, if two or more people gave one.

    >>> list(agreement_groups([4, 4, 4, -1]))
    ['annotators who agree=3', 'at least 3 annotators agree']
    """
    if len(answers) < 2:
        return
    most = max(Counter(answers).values())
    yield f"{AGREEING}={most}"
    if most >= ENOUGH:
        yield AGREED
    if most == len(answers):
        yield UNANIMOUS
