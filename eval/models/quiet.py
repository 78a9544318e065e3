"""Libraries that say nothing of their own on the terminal."""

from __future__ import annotations

import sys


def quiet_libraries() -> None:
    """Keep the libraries' warnings off the terminal, and their bars out of pipes."""
    import logging

    import datasets
    import huggingface_hub.utils.logging as hub_logging
    import transformers
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    # What it calls an error it raises as well.
    transformers.logging.set_verbosity(logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    datasets.logging.set_verbosity_error()
    datasets.disable_progress_bars()
    for name in ("accelerate", "bitsandbytes"):
        logging.getLogger(name).setLevel(logging.ERROR)
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    if not sys.stderr.isatty():
        disable_progress_bars()
