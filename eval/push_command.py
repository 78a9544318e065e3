"""``python -m eval push``: results into a dataset repository on the Hub."""

from __future__ import annotations

import argparse
from pathlib import Path

EXAMPLES = """\
  python -m eval push results/sentence_order--gpt2 me/coherence-results
  python -m eval push results/sentence_order--gpt2 me/coherence-results --private --dry-run
  python -m eval --model gpt2 --dataset coherencegym/winograd --push-results me/coherence-results
"""

#: Libraries whose errors mean that no answer came.
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"})


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of ``push``."""
    parser.add_argument("folder", type=Path, metavar="RESULTS", help="a folder of results")
    parser.add_argument("repo_id", metavar="REPO", help="a dataset repository of the Hub")
    parser.add_argument("--private", action="store_true", help="make the repository private")
    parser.add_argument("--dry-run", action="store_true", help="say what would be pushed")


def run(arguments: argparse.Namespace) -> int:
    """Push a folder of results."""
    for line in pushed(arguments.folder, arguments.repo_id, arguments.private, arguments.dry_run):
        print(line)
    return 0


def pushed(folder: Path, repo_id: str, private: bool = False, dry_run: bool = False) -> list[str]:
    """Push, and say what was pushed, line by line.

    Raises:
        EvaluationError: the results cannot be read, or the Hub refused or could not be reached.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    from eval.errors import EvaluationError
    from eval.push_results import push

    try:
        return push(HfApi(), folder, repo_id, private=private, dry_run=dry_run).lines
    except HFValidationError:
        raise EvaluationError(
            f"{repo_id!r} is no name of a repository; expected USER/NAME"
        ) from None
    except HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else 0
        if status in (401, 403):
            raise EvaluationError(
                f"the Hub refused ({status}): this token may not write to {repo_id}; log in with "
                "`hf auth login`, or set HF_TOKEN to a token with write access"
            ) from None
        raise EvaluationError(
            f"the Hub answered {status}; nothing was pushed: run `python -m eval push {folder} "
            f"{repo_id}` again"
        ) from None
    except Exception as error:
        # The client hands on what its transport raises, whichever that is.
        if type(error).__module__.split(".")[0] not in _TRANSPORTS:
            raise
        raise EvaluationError(
            f"the connection to the Hub broke ({type(error).__name__}); nothing was pushed: run "
            f"`python -m eval push {folder} {repo_id}` again"
        ) from None
