"""What went wrong, in one line, and whether the user can mend it."""

from __future__ import annotations

from collections.abc import Iterator

#: Modules whose errors say that no answer came.
TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"})


def explain(error: Exception) -> tuple[int, str] | None:
    """Exit code and message of an error; none where it is a mistake of this program.

    2 where the user can mend it, 1 where the Hub failed or could not be reached. What goes wrong in
    the upload threads of the Hub's client comes wrapped in another error, so causes are looked at.
    """
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    from builders.export.write import ExportError
    from builders.release.manifest import ManifestError
    from builders.release.remote import PublishError
    from builders.release.version import VersionError
    from eval.errors import EvaluationError, one_line
    from eval.suite import SuiteError
    from loaders.corpus import BadRowError, CorpusError

    for cause in _causes(error):
        if isinstance(cause, OfflineModeIsEnabled):
            return 2, "HF_HUB_OFFLINE is set; unset it to publish, or pass --dry-run"
        if isinstance(cause, HfHubHTTPError) and cause.response is not None:
            return _refusal(cause.response.status_code)
        if _is_transport(cause):
            return 1, (
                f"the connection to the Hub broke ({type(cause).__name__}); readers still see "
                "a whole release: run the same command again to finish"
            )
    ours = (
        *(CorpusError, PublishError, ManifestError, VersionError),
        *(SuiteError, EvaluationError, ExportError, OSError),
    )
    if not isinstance(error, ours):
        return None
    message = one_line(error)
    if isinstance(error, BadRowError) and "--skip-bad-rows" not in message:
        message += "; --skip-bad-rows leaves it out and goes on"
    return 2, message


def _is_transport(error: BaseException) -> bool:
    """Whether no answer came; the client calls a file it could not ask for one not in the cache."""
    from huggingface_hub.errors import LocalEntryNotFoundError

    library = type(error).__module__.split(".")[0]
    return library in TRANSPORTS or isinstance(error, LocalEntryNotFoundError)


def _refusal(status: int) -> tuple[int, str]:
    if status in (401, 403):
        return 2, (
            f"the Hub refused ({status}): this token may not write there; log in with "
            "`hf auth login`, or set HF_TOKEN to a token with write access"
        )
    if status == 409:
        return 2, "the Hub refused (409): somebody else made this tag or repository meanwhile"
    return (1 if status >= 500 else 2), (
        f"the Hub answered {status}; readers still see a whole release: run the same command "
        "again to finish"
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
