"""Errors in one line, and the difference between those that the user can mend and others."""

from __future__ import annotations

#: The end of a line about the Hub.
AGAIN = "readers still see a whole release: run the same command again to finish"


def explain(error: Exception) -> tuple[int, str] | None:
    """Exit code and message of an error; none where it is a mistake of this program.

    2 where the user can mend it, 1 where the Hub failed or could not be reached.
    """
    from coherencegym.builders.export.write import ExportError
    from coherencegym.builders.release.remote import PublishError
    from coherencegym.builders.release.version import VersionError
    from coherencegym.errors import EvaluationError, one_line
    from coherencegym.eval.kinds.items import SuiteError
    from coherencegym.hub.answers import hub_problem
    from coherencegym.loaders.corpus import BadRowError, CorpusError

    ours = (
        *(CorpusError, PublishError, VersionError),
        *(SuiteError, EvaluationError, ExportError),
    )
    # Ours first: one that came of an answer of the Hub says more than the answer. What the client
    # raises is an OSError, too.
    if not isinstance(error, ours) and (problem := hub_problem(error, AGAIN)) is not None:
        return problem
    if not isinstance(error, (*ours, OSError)):
        return None
    help_ = ""
    if isinstance(error, BadRowError) and "--skip-bad-rows" not in str(error):
        help_ = "; --skip-bad-rows leaves it out and goes on"
    return 2, one_line(f"{error}{help_}")
