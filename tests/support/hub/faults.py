"""Failures on demand: what a test asks the server to do to the next matching requests."""

from __future__ import annotations

import threading
from dataclasses import dataclass

from support.hub.wire import Answer


@dataclass
class Fault:
    """One planned failure; `times` counts down."""

    method: str | None
    path_contains: str
    status: int | None
    message: str
    code: str
    times: int
    after: bool
    answer: Answer | None

    @property
    def cut(self) -> bool:
        return self.status is None and self.answer is None


class Faults:
    """Planned failures, consumed in the order in which they were added."""

    def __init__(self) -> None:
        self._planned: list[Fault] = []
        self._lock = threading.Lock()

    def add(
        self,
        *,
        method: str | None = None,
        path_contains: str = "",
        status: int | None = None,
        cut: bool = False,
        times: int = 1,
        after: bool = False,
        message: str = "a planned fault",
        code: str = "",
        answer: Answer | None = None,
    ) -> None:
        """Fail the next `times` requests of this method whose unquoted path contains the string.

        `status` answers with that status (and `message`, and `code` as X-Error-Code); `cut` closes
        the connection without an answer; `answer` is what somebody else says, such as the portal of
        a network. With `after` the request first takes effect: the case
        in which a client cannot know whether its commit was made.
        """
        if sum((cut, status is not None, answer is not None)) != 1:
            raise ValueError("a fault has either a status, an answer or cut=True")
        fault = Fault(method, path_contains, status, message, code, times, after, answer)
        with self._lock:
            self._planned.append(fault)

    def take(self, method: str, path: str) -> Fault | None:
        """The first planned fault that fits this request, used up by one."""
        with self._lock:
            for fault in self._planned:
                if fault.method in (None, method) and fault.path_contains in path:
                    fault.times -= 1
                    if fault.times == 0:
                        self._planned.remove(fault)
                    return fault
        return None

    @property
    def pending(self) -> int:
        """How many failures are still to come; 0 says that a test met all it planned."""
        with self._lock:
            return sum(fault.times for fault in self._planned)

    def clear(self) -> None:
        with self._lock:
            self._planned.clear()
