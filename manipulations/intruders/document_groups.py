"""Groups of documents that belong together because they share lines.

Windows of one conversation overlap, and copies of an article differ in a sentence. Such documents
go to one side of a division into training and test, and none is taken for the neighbour of another:
a sentence out of the next window of the same conversation is no intruder.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence

#: Lines of fewer words ("Thank you.") say nothing about where they come from.
FEWEST_WORDS = 4
#: A line of more documents than this is a formula ("Its population was 12 in 2010."), no copy.
MOST_DOCUMENTS = 100


def normalised(line: str) -> str:
    """A line as it is compared: case folded, white space as single spaces."""
    return " ".join(line.casefold().split())


def groups(documents: Sequence[Sequence[str]]) -> list[int]:
    """Give each document the index of the first one of its group.

    Two documents that have a line in common are of one group, and so are all that are connected in
    this way. Lines of fewer than :data:`FEWEST_WORDS` words, and those that more than
    :data:`MOST_DOCUMENTS` documents have, connect nothing. Time is linear in the text.

    Args:
        documents: the lines (sentences, utterances) of each.
    """
    import numpy as np

    keys, owners = array("q"), array("q")
    for index, lines in enumerate(documents):
        # The hash of a line and not the line: little memory for a hundred thousand documents.
        for key in {hash(n) for n in map(normalised, lines) if len(n.split()) >= FEWEST_WORDS}:
            keys.append(key)
            owners.append(index)
    parent = list(range(len(documents)))

    def first(index: int) -> int:
        while parent[index] != index:
            parent[index] = parent[parent[index]]
            index = parent[index]
        return index

    order = np.argsort(np.array(keys), kind="stable")
    lines_of, owner_of = np.array(keys)[order], np.array(owners)[order]
    starts = np.flatnonzero(np.r_[True, lines_of[1:] != lines_of[:-1]]) if len(order) else order
    sizes = np.diff(np.r_[starts, len(order)])
    for start, size in zip(starts, sizes, strict=True):
        if not 2 <= size <= MOST_DOCUMENTS:
            continue
        members = owner_of[start : start + size].tolist()
        root = min(map(first, members))
        for member in members:
            parent[first(member)] = root
    return [first(index) for index in range(len(documents))]
