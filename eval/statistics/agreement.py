"""Groups of units by how many of the people who judged them gave the same answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence

#: Annotators who have to say the same for their document to count as agreed on (Shen et al. 2021,
#: section 4.3).
ENOUGH = 3
#: The names of groups: by the number of those who gave the commonest answer, or all of them; and
#: one that has several of these.
AGREEING, AGREED = "annotators who agree", f"at least {ENOUGH} annotators agree"


def agreement_groups(answers: Sequence[Hashable]) -> Iterator[str]:
    """The groups of a unit with these answers, if two or more people gave one.

    >>> list(agreement_groups([4, 4, 4, -1]))
    ['annotators who agree=3', 'at least 3 annotators agree']
    >>> list(agreement_groups([4, 4]))
    ['annotators who agree=all']
    """
    if len(answers) < 2:
        return
    most = max(Counter(answers).values())
    yield f"{AGREEING}={'all' if most == len(answers) else most}"
    if most >= ENOUGH:
        yield AGREED
