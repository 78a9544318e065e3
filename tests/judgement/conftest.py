"""Builds of samples to draw pairs from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from support.suites import Sample


@pytest.fixture(scope="session")
def sample_build(built_sample: Sample) -> Callable[[str], Path]:
    """``sample_build(suite)``: the folder of a build of the sample; nobody writes into it."""
    return lambda suite: built_sample(suite)[0]
