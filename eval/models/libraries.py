"""Libraries as they are called: quietly, and their many-lined errors in one line."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError, first_line


def quiet_libraries() -> None:
    """Keep the libraries' warnings off the terminal, and their bars out of pipes."""
    import logging

    import huggingface_hub.utils.logging as hub_logging
    import transformers
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    # What it calls an error it raises as well.
    transformers.logging.set_verbosity(logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    for name in ("accelerate", "bitsandbytes", "matplotlib"):
        logging.getLogger(name).setLevel(logging.ERROR)
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    if not sys.stderr.isatty():
        disable_progress_bars()


def require(package: str, what: str) -> None:
    """Refuse what needs a package that is not installed."""
    if find_spec(package) is None:
        raise EvaluationError(
            f"{what} needs {package}; expected pip install {package}, or the extra "
            "coherencegym[gpu]"
        )


def attempt(
    what: str, load: Callable[..., Any], *arguments: Any, trust: bool = False, **settings: Any
) -> Any:
    """Call a loader of transformers, for ``what`` as messages have it; ``trust`` is in its code."""
    from huggingface_hub import constants

    try:
        return load(*arguments, trust_remote_code=trust, **settings)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # Libraries raise whatever a damaged file leads them to; those in Rust even what is no
        # Exception, where they panic.
        said = _problem(error, trust)
        is_here = any(Path(one).is_dir() for one in arguments if isinstance(one, str | Path))
        if constants.HF_HUB_OFFLINE and isinstance(error, OSError) and not is_here:
            said = (
                f"{said.rstrip('.')}; HF_HUB_OFFLINE is set: only what was fetched before is read"
            )
        raise EvaluationError(f"{what} {said}") from None


def _problem(error: BaseException, trust: bool) -> str:
    from huggingface_hub.errors import StrictDataclassError

    said = str(error)
    if not trust and "trust_remote_code" in said:
        return (
            "needs code from its repository; read it, and if you trust it give --trust-remote-code"
        )
    reason = first_line(error)
    if unknown := re.search(r"unexpected keyword argument '(\w+)'", said):
        reason = (
            f"{unknown[1]} is neither an argument of from_pretrained nor an entry of this model's "
            "config (see --model-arg)"
        )
    elif "ignore_mismatched_sizes" in said:
        reason = "its weights have other shapes than its config says"
    elif isinstance(error, StrictDataclassError) and said.strip():
        # The first line names the check, the last says what is wrong.
        reason = said.strip().splitlines()[-1].strip()
    return f"cannot be loaded: {reason}"
