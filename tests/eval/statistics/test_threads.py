"""One thread of linear algebra, whichever libraries are loaded."""

from __future__ import annotations

from threadpoolctl import threadpool_info, threadpool_limits

from coherencegym.eval.statistics.estimators import one_thread


def threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info()}


def test_one_thread_inside_and_as_many_as_before_behind_it() -> None:
    with one_thread():
        assert threads() == {1}
    import torch  # noqa: F401 (it brings a library of its own)

    with threadpool_limits(limits=2):
        assert 2 in threads()
        with one_thread():
            assert threads() == {1}
        assert 2 in threads()
