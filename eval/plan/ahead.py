"""Work that is done one step ahead: the host makes the next thing ready while a device is busy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import TypeVar

_Value = TypeVar("_Value")


def one_ahead(makes: Iterable[Callable[[], _Value]], *, ahead: bool = True) -> Iterator[_Value]:
    """Make values in their order, each in a thread while the one before it is worked with.

    There is never more than one that nobody has asked for yet. An error is raised where its value
    would come.

    Args:
        makes: the maker of each of them.
        ahead: else each is made when it is asked for, which is as fast where the work with it takes
            the same processors.
    """
    if not ahead:
        for make in makes:
            yield make()
        return
    with ThreadPoolExecutor(1, thread_name_prefix="ahead") as thread:
        coming: Future[_Value] | None = None
        try:
            for make in makes:
                last, coming = coming, thread.submit(make)
                if last is not None:
                    yield last.result()
            if coming is not None:
                yield coming.result()
        finally:
            thread.shutdown(cancel_futures=True)
