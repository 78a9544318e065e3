"""The terminal: what is printed is shown, and nothing in it is obeyed.

Names and texts come from manifests, results and corpora that anybody wrote. A control character in
one would colour, move or hide what stands on the screen, a bidirectional mark would turn it round.
Standard output and error of every command pass :func:`watched`, tables the :func:`shown_console`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, nullcontext, redirect_stdout
from functools import cache
from typing import Any, TextIO

from coherencegym.escapes import SPACES, visible

#: Colours, and moves from a bar to the one before it, which libraries write to standard error.
_OF_LIBRARIES = re.compile(r"(\r|\x1b\[A|\x1b\[[\d;]*m)")


class _Watched:
    # Rich writes what it makes of a text to the stream behind it (``rich_proxied_file``).
    def __init__(self, stream: TextIO, of_libraries: bool) -> None:
        self.rich_proxied_file = stream
        self._of_libraries = of_libraries

    def write(self, text: str) -> int:
        parts = _OF_LIBRARIES.split(text) if self._of_libraries else [text]
        parts[::2] = [visible(part, SPACES + "\n") for part in parts[::2]]
        return self.rich_proxied_file.write("".join(parts))

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rich_proxied_file, name)


@contextmanager
def watched() -> Iterator[None]:
    """Watch what is printed, and what libraries say on standard error, while a command runs."""
    before = sys.stdout, sys.stderr
    if not isinstance(sys.stdout, _Watched):
        sys.stdout = _Watched(sys.stdout, of_libraries=False)
    if not isinstance(sys.stderr, _Watched):
        sys.stderr = _Watched(sys.stderr, of_libraries=True)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


@contextmanager
def data_output(is_alone: bool) -> Iterator[TextIO]:
    """Standard output, which has data alone if so: what is printed then is on standard error."""
    out = sys.stdout
    with redirect_stdout(sys.stderr) if is_alone else nullcontext():
        yield out


def shown_console(file: Any = None, *, stderr: bool = False, **how: Any) -> Any:
    """Rich's console on a file, or on standard output or error; ``how``: its other arguments.

    Styles and cursors of rich's own reach the terminal; of texts nothing does that it would obey.
    """
    if file is None:
        file = sys.stderr if stderr else sys.stdout
    return _console_class()(file=getattr(file, "rich_proxied_file", file), **how)


@cache
def _console_class() -> Any:
    from rich.console import Console
    from rich.segment import Segment

    class ShownConsole(Console):
        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for segment in super().render(renderable, options):
                text = visible(segment.text, SPACES + "\n")
                shown = segment.control or text == segment.text
                yield segment if shown else Segment(text, segment.style)

    return ShownConsole
