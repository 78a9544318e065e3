"""Description length: how many bits the labels cost somebody who has the vectors.

The online code of Voita and Titov 2020 ("Information-theoretic probing with minimum description
length", section 2.2): labels are sent in blocks, each by the probabilities of a classifier that was
trained on the blocks before it, the first by a uniform code. It needs no size for the probe, and
counts how easily the labels are learned as well as how well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from coherencegym.eval.tasks.probe.classifiers import Trainer

#: Ends of the blocks, in per cent of the training rows.
BLOCK_ENDS = (0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.25, 12.5, 25, 50, 100)
#: Fewer rows than this are not divided into rows to learn from and rows to choose by.
_FEWEST_TO_DIVIDE = 20


@dataclass(frozen=True)
class Description:
    """The cost of sending labels.

    Attributes:
        bits: the length of the online code.
        uniform: the length (bits) of a code that knows nothing but the number of classes.
    """

    bits: float
    uniform: float

    @property
    def compression(self) -> float:
        """The uniform code's bits over those of the online code.

        1 is nothing of labels that are equally frequent, of others :func:`frequency_compression`.
        """
        return self.uniform / self.bits if self.bits else math.inf


def frequency_compression(y: Any, classes: int) -> float:
    """The compression by a code that knows how frequent each of so many classes is, and no more.

    >>> import numpy as np
    >>> round(frequency_compression(np.repeat([0, 1, 2, 3], [55, 25, 15, 5]), 4), 3)
    1.249
    """
    import numpy as np

    shares = np.bincount(y) / len(y)
    shares = shares[shares > 0]
    entropy = -float((shares * np.log2(shares)).sum())
    return math.log2(classes) / entropy if entropy else math.inf


def described(first: int, block_bits: Sequence[Any], classes: int) -> Description:
    """The description of labels: ``first`` of them uniformly, the others at so many bits each.

    >>> import numpy as np
    >>> found = described(2, [np.full(8, math.log2(4 / 3))], 2)
    >>> round(found.bits, 4), round(found.compression, 4)
    (5.3203, 1.8796)
    """
    own = sum(float(bits.sum()) for bits in block_bits)
    number = first + sum(len(bits) for bits in block_bits)
    each = math.log2(classes)
    return Description(first * each + own, number * each)


def description_length(
    x: Any, y: Any, classes: int, train: Trainer, *, seed: int = 0
) -> Description:
    """The online code of the classes ``y`` (numbers from 0), given features ``x``.

    Rows are sent in an order drawn by ``seed``. A tenth of the rows that a classifier learns from
    is held out to choose its penalty, by their likelihood. Its probabilities are mixed with uniform
    ones, which weigh as much as one row for each class: it gives none to a class it has not seen.
    """
    import numpy as np

    mixed = np.random.default_rng(seed).permutation(len(y))
    ends = sorted({min(len(y), math.ceil(len(y) * end / 100)) for end in BLOCK_ENDS})
    # Nothing can be learned from one class: the uniform code goes on until there are two.
    while len(ends) > 1 and len(np.unique(y[mixed[: ends[0]]])) < 2:
        ends.pop(0)
    bits = []
    for known, end in pairwise(ends):
        learned, sent = mixed[:known], mixed[known:end]
        held = max(1, known // 10) if known >= _FEWEST_TO_DIVIDE else 0
        fit, choose = (learned[held:], learned[:held]) if held else (learned, learned)
        if len(np.unique(y[fit])) < 2:
            fit = learned
        model = train(
            (x[fit], y[fit]), (x[choose], y[choose]), classes, seed=seed, by_likelihood=True
        )
        found = np.exp(model.log_probabilities(x[sent]))[np.arange(len(sent)), y[sent]]
        bits.append(-np.log2((known * found + 1) / (known + classes)))
    return described(ends[0], bits, classes)
