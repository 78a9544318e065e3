"""One thread of linear algebra: for small problems, and for sums that are the same everywhere."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import cache
from typing import Any


def one_thread() -> AbstractContextManager[object]:
    """Limit linear algebra to one thread in here.

    The problems are small, and ten times slower where threads wait for cores; and sums in one order
    give the same result on every machine.
    """
    limiter: AbstractContextManager[object] = _libraries("torch" in sys.modules).limit(limits=1)
    return limiter


@cache  # the search for the libraries takes longer than a small fit
def _libraries(torch: bool) -> Any:
    # Those that scikit-learn loads, and torch's if it is here.
    import sklearn.linear_model  # noqa: F401
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
