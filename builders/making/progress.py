"""Progress on a terminal, silence in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def spinner() -> Iterator[Callable[[str], None]]:
    """A function that shows what is being done, on standard error where that is a terminal."""
    from rich.console import Console

    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda message: None
        return
    with console.status("starting") as status:
        yield lambda message: status.update(message)
