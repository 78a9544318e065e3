"""What the Hub's client raises while something is pushed, in one line that says what to do."""

from __future__ import annotations

from collections.abc import Iterator

from eval.errors import EvaluationError

#: Libraries whose errors mean that no answer came; which of them the client uses has changed.
TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"})


def explained(error: Exception, repo_id: str, again: str) -> EvaluationError | None:
    """The line for an error, or None where it is a mistake of this program.

    What goes wrong in the upload threads of the client comes wrapped in another error, so causes
    are looked at. Nothing that the Hub or the client says is repeated: it may hold addresses.

    Args:
        error: what was raised.
        repo_id: where something was to be pushed.
        again: the command that does it again.
    """
    from huggingface_hub.errors import (
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
    )

    for cause in _causes(error):
        if isinstance(cause, EvaluationError):
            return cause
        if isinstance(cause, OfflineModeIsEnabled):
            return EvaluationError("HF_HUB_OFFLINE is set; unset it to push to the Hub")
        if isinstance(cause, HfHubHTTPError) and cause.response is not None:
            return _refusal(cause.response.status_code, repo_id, again)
        library = type(cause).__module__.split(".")[0]
        if library in TRANSPORTS or isinstance(cause, LocalEntryNotFoundError):
            return EvaluationError(
                f"the connection to the Hub broke ({type(cause).__name__}); a push is one commit, "
                f"made or not made: run `{again}` again"
            )
    return None


def _refusal(status: int, repo_id: str, again: str) -> EvaluationError:
    if status in (401, 403):
        return EvaluationError(
            f"the Hub refused ({status}): this token may not write to {repo_id}; log in with "
            "`hf auth login`, or set HF_TOKEN to a token with write access"
        )
    return EvaluationError(
        f"the Hub answered {status}; a push is one commit, made or not made: run `{again}` again"
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__
