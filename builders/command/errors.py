"""Errors in one line, and the difference between those that the user can mend and others."""

from __future__ import annotations

from collections.abc import Callable

from coherencegym.command_line import USER_ERROR, finish


def finished(prog: str, command: Callable[[], int]) -> int:
    """Run a command of this room to its exit code: see :func:`coherencegym.command_line.finish`."""
    return finish(prog, command, explain)


def explain(error: Exception) -> tuple[int, str] | None:
    """Exit code and message of an error; none where it is a mistake of this program.

    2 where the user can mend it, 1 where the Hub failed or could not be reached.
    """
    from coherencegym.errors import EvaluationError, one_line
    from coherencegym.hub.answers import hub_problem
    from coherencegym.loaders.corpus import BadRowError, CorpusError

    # Who raised it, or saw it pass, may know what was done before.
    notes = getattr(error, "__notes__", ())
    # Ours first: one that came of an answer of the Hub says more than the answer. What the client
    # raises is an OSError, too.
    if isinstance(error, ModuleNotFoundError) and not (error.name or "").startswith("coherencegym"):
        return USER_ERROR, one_line(
            f"{error.name} is not installed; expected pip install {error.name}"
        )
    if not isinstance(error, (CorpusError, EvaluationError)):
        again = "; ".join([*notes, "run the same command again to finish"])
        if (problem := hub_problem(error, again)) is not None:
            return problem
        if not isinstance(error, OSError):
            return None
    skip = isinstance(error, BadRowError) and "--skip-bad-rows" not in str(error)
    said = "; ".join([one_line(error), *notes])
    return USER_ERROR, said + "; --skip-bad-rows leaves it out and goes on" * skip
