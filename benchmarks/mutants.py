"""Faults put into the code one at a time: does the test that is to notice each of them fail?

The faults are in ``benchmarks/mutants.toml``. A fault is a text that stands once in the product,
wherever that is, and what is put in its place; so they outlive files that move. The tests of each
run in a copy of the product and its tests, never in the checkout::

    python -m benchmarks.mutants                        # all, one after another
    python -m benchmarks.mutants tie_holds --jobs 2     # one of them, or several at a time

A line a mutant says whether it died, and by which test; at the end those tests run again without
any fault, since a test that fails in any case has killed nothing. The exit code is 1 where a mutant
lived, could not be made, or was killed by such a test.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue

ROOT = Path(__file__).resolve().parent.parent
MUTANTS = Path(__file__).with_suffix(".toml")
#: The folders of the product, in which faults are put, and what its tests need beside them.
ROOMS = ("builders", "cards", "eval", "loaders", "manipulations", "src")
TESTS = "tests"
KINDS = {".py", ".html", ".md", ".tsv", ".txt"}
_RUN = ("-m", "pytest", "-q", "-rfE", "--tb=no", "-p", "no:cacheprovider")
#: Seconds for the tests of one mutant.
_PATIENCE = 300
#: Lines in which pytest names a test that failed; one that could not be collected has no ``::``.
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::[^\[\s]+(?:\[.*?\])?)(?: - .*)?$", re.MULTILINE)
DIED, LIVED, NOT_FOUND = "died", "lived", "text not found"


@dataclass(frozen=True)
class Mutant:
    """A fault.

    Attributes:
        name: what it is called on the command line.
        breaks: a sentence that says what breaks for a user.
        find, replacement: a text that stands once in the product, and what it becomes.
        tests: paths or ids of tests, one of which is to fail.
    """

    name: str
    breaks: str
    find: str
    replacement: str
    tests: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """What became of a mutant.

    Attributes:
        fate: ``died``, ``lived``, or the reason why nothing can be said.
        test: the id of the test that it died by.
        seconds: the time that its tests took.
    """

    mutant: Mutant
    fate: str
    test: str = ""
    seconds: float = 0.0

    def __str__(self) -> str:
        """A line."""
        what = f"{self.fate}: {self.test or self.mutant.breaks}"
        return f"{self.mutant.name:<32} {self.seconds:5.1f} s  {what}"


def read_mutants(path: Path) -> list[Mutant]:
    """The mutants of a file of TOML, a table each.

    Raises:
        ValueError: two have the same name, or one changes nothing or has no test.
    """
    tables = tomllib.loads(path.read_text("utf-8"))["mutant"]
    found = [Mutant(**{**table, "tests": tuple(table["tests"])}) for table in tables]
    if len({one.name for one in found}) < len(found):
        raise ValueError(f"{path}: two mutants have the same name")
    for one in found:
        if one.find == one.replacement or not one.tests:
            raise ValueError(f"{path}: {one.name} changes nothing, or has no test")
    return found


class Copy:
    """A copy of the product and its tests, into which one fault is put at a time."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__")
        folder.mkdir()
        for path in root.iterdir():
            if path.name in (*ROOMS, TESTS):
                shutil.copytree(path, folder / path.name, symlinks=True, ignore=ignored)
            elif path.is_file():
                shutil.copy2(path, folder)
        self._texts = {path: path.read_text("utf-8") for path in self._files()}
        # Bytecode is known by the size of its source and the second of its last change, and faults
        # may follow each other faster: each has a time of its own.
        self._time = 1_000_000_000
        self._check()

    def _files(self) -> Iterator[Path]:
        for room in ROOMS:
            # Links to other rooms are not followed.
            for above, _, names in os.walk(self.folder / room):
                yield from (Path(above, name) for name in names if Path(name).suffix in KINDS)

    def _check(self) -> None:
        """See that it is this copy that is imported, whatever is installed."""
        code = "import coherencegym; print(coherencegym.__file__)"
        found = self._python(("-c", code)).stdout.strip()
        if not Path(found).resolve().is_relative_to(self.folder.resolve()):
            raise RuntimeError(f"coherencegym is imported from {found}, not from {self.folder}")

    def _python(self, arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
        # With CI examples of hypothesis are the same in every run.
        paths = os.pathsep.join((str(self.folder / "src"), str(self.folder)))
        return subprocess.run(
            (sys.executable, *arguments),
            cwd=self.folder,
            env=os.environ | {"PYTHONPATH": paths, "CI": "1"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_PATIENCE,
        )

    def failed(self, tests: Iterable[str], *options: str) -> tuple[list[str], str]:
        """The tests that fail; and why they could not be run, or nothing."""
        done = self._python((*_RUN, *options, *tests))
        found = _FAILED.findall(done.stdout)
        if found or done.returncode == 0:
            return found, ""
        # Nothing that failed is named: wrong arguments, no tests, or no import.
        lines = (done.stdout + done.stderr).strip().splitlines() or ["no output"]
        return [], f"tests did not run ({lines[-1].strip()})"

    def outcome(self, mutant: Mutant) -> Outcome:
        """Put a fault into the copy, run its tests, and take it out again."""
        places = [path for path, text in self._texts.items() if mutant.find in text]
        times = sum(self._texts[path].count(mutant.find) for path in places)
        if times != 1:
            return Outcome(mutant, f"{NOT_FOUND} ({times} times there)" if times else NOT_FOUND)
        (place,) = places
        text, began = self._texts[place], time.monotonic()
        try:
            self._write(place, text.replace(mutant.find, mutant.replacement))
            found, why = self.failed(mutant.tests, "-x")
        except subprocess.TimeoutExpired:
            found, why = [], f"no answer in {_PATIENCE} s"
        finally:
            self._write(place, text)
        seconds = time.monotonic() - began
        return Outcome(mutant, DIED if found else why or LIVED, "".join(found[:1]), seconds)

    def _write(self, path: Path, text: str) -> None:
        path.write_text(text, "utf-8")
        self._time += 1
        os.utime(path, (self._time, self._time))


def run(root: Path, mutants: Sequence[Mutant], jobs: int = 1) -> bool:
    """Run mutants of the product in a folder, print a line each, and tell whether all died."""
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        jobs = max(1, min(jobs, len(mutants)))
        copies = [Copy(root, Path(folder, str(number))) for number in range(jobs)]
        free: SimpleQueue[Copy] = SimpleQueue()
        for copy in copies:
            free.put(copy)

        def one(mutant: Mutant) -> Outcome:
            copy = free.get()
            try:
                return copy.outcome(mutant)
            finally:
                free.put(copy)

        outcomes = []
        with ThreadPoolExecutor(jobs) as pool:
            for outcome in pool.map(one, mutants):
                print(outcome, flush=True)
                outcomes.append(outcome)
        died = [outcome for outcome in outcomes if outcome.fate == DIED]
        anyway, why = copies[0].failed({o.test for o in died}) if died else ([], "")
        for test in anyway:
            print(f"fails without any fault, too: {test}")
        if why:
            print(f"without any fault: {why}")
        print(f"{len(died)} of {len(outcomes)} died")
        return len(died) == len(outcomes) and not anyway and not why


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the mutants that are named, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.mutants", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("names", nargs="*", metavar="NAME", help="mutants; all where none is named")
    parser.add_argument("--jobs", type=int, default=1, help="at a time; default: 1")
    chosen = parser.parse_args(arguments)
    mutants = read_mutants(MUTANTS)
    if unknown := set(chosen.names) - {mutant.name for mutant in mutants}:
        parser.error(f"no mutant {', '.join(sorted(unknown))}")
    wanted = [one for one in mutants if not chosen.names or one.name in chosen.names]
    return 0 if run(ROOT, wanted, chosen.jobs) else 1


if __name__ == "__main__":
    sys.exit(main())
