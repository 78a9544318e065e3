"""Where something is to be pushed."""

from __future__ import annotations

from coherencegym.errors import EvaluationError


def check_target(repo_id: str, needs_token: bool = False) -> None:
    """Refuse what no push could come of, before anything is computed for it.

    Raises:
        EvaluationError: no name of a repository, or nobody is logged in.
    """
    from huggingface_hub import get_token
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    try:
        validate_repo_id(repo_id)
    except HFValidationError:
        is_name = False
    else:
        is_name = repo_id.count("/") == 1
    if not is_name:
        raise EvaluationError(f"{repo_id!r} is no name of a repository; expected USER/NAME")
    if needs_token and get_token() is None:
        raise EvaluationError(
            f"to push to {repo_id} log in with `hf auth login`, or set HF_TOKEN to a token with "
            "write access"
        )
