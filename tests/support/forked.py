"""Work in a process of its own that has nothing to import again: a fork of this one."""

from __future__ import annotations

import multiprocessing
import os
import random
import socket
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path


class Fork:
    """A copy of this process that does some work, with its own variables and output.

    A fresh interpreter takes seconds to import what a test has imported already.
    """

    def __init__(self, work: Callable[[], int | None], folder: Path, **variables: object) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._streams = [folder / "stdout", folder / "stderr"]

        def run() -> None:
            for number, path in enumerate(self._streams, start=1):
                os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
            sys.stdout, sys.stderr = (os.fdopen(n, "w", closefd=False) for n in (1, 2))
            os.environ.update({name: str(value) for name, value in variables.items()})
            if (torch := sys.modules.get("torch")) is not None:
                # Torch makes its pool anew after a fork, which threads must not do side by side.
                torch.set_num_threads(torch.get_num_threads())
            sys.exit(work())

        self._process = multiprocessing.get_context("fork").Process(target=run)
        self._process.start()

    def signal(self, number: int) -> None:
        """Send it a signal."""
        assert self._process.pid is not None
        os.kill(self._process.pid, number)

    def wait(self, seconds: float = 120) -> tuple[int, str, str]:
        """Its exit status (less than 0: the signal that ended it), output and messages."""
        self._process.join(seconds)
        code = self._process.exitcode
        if code is None:
            self._process.kill()
            raise AssertionError(f"not done after {seconds} s: {self._streams[1].read_text()}")
        out, err = (path.read_text() for path in self._streams)
        return code, out, err


def rendezvous(count: int) -> dict[str, object]:
    """The variables by which torch's launcher lets so many processes find each other."""
    return {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": _free_port(), "WORLD_SIZE": count}


def _free_port() -> int:
    """A port for torch to open, which under load is seconds later.

    It is none of those that the system gives whoever asks for any, such as the servers of tests
    that run beside this one.
    """
    while True:
        port = random.SystemRandom().randrange(15_000, 32_000)
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port


def ranks(count: int, work: Callable[[], int | None], folder: Path) -> list[Fork]:
    """Forks with the variables that torch's launcher sets."""
    variables = rendezvous(count)
    return [
        Fork(work, folder / f"rank{rank}", RANK=rank, LOCAL_RANK=rank, **variables)
        for rank in range(count)
    ]
