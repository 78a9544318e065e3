"""What the Hub's client raises while something is pushed, in one line that says what to do."""

from __future__ import annotations

from typing import Any

from coherencegym.hub.answers import TRANSPORTS, AnswerError, causes, described, is_page


def hub_problem(error: BaseException, again: str) -> tuple[int, str] | None:
    """The exit code and the line for an error; None where it is no matter of the Hub.

    The code is 2 where the user can mend it, 1 where the Hub failed or could not be reached. What
    goes wrong in the upload threads of the client comes wrapped in another error, so causes are
    looked at. Nothing that the Hub or the client says is repeated: it may hold addresses.

    Args:
        error: what was raised.
        again: what readers see now, and how to go on: the end of a line.
    """
    from huggingface_hub.errors import (
        HfHubHTTPError,
        LocalEntryNotFoundError,
        OfflineModeIsEnabled,
    )

    for cause in causes(error):
        if isinstance(cause, AnswerError):
            return 2, (
                f"{cause}, which no Hub does: a proxy, a login page of the network or HF_ENDPOINT "
                f"is in the way; {again}"
            )
        if isinstance(cause, OfflineModeIsEnabled):
            return 2, "HF_HUB_OFFLINE is set; unset it to push to the Hub"
        if isinstance(cause, HfHubHTTPError) and cause.response is not None:
            return _refusal(cause.response, again)
        library = type(cause).__module__.partition(".")[0]
        broken = isinstance(cause, (LocalEntryNotFoundError, ConnectionError, TimeoutError))
        if library in TRANSPORTS or broken:
            return 1, f"the connection to the Hub broke ({type(cause).__name__}); {again}"
    return None


def _refusal(response: Any, again: str) -> tuple[int, str]:
    from huggingface_hub import constants

    status = response.status_code
    is_hub = str(response.url).startswith(f"{constants.ENDPOINT}/") and not is_page(response)
    if status in (401, 403) and is_hub:
        return 2, (
            f"the Hub refused ({status}): this token may not write there; log in with "
            "`hf auth login`, or set HF_TOKEN to a token with write access"
        )
    if status == 409:
        return 2, "the Hub refused (409): somebody else made this tag or repository meanwhile"
    return (1 if status >= 500 else 2), f"{described(response)}; {again}"
