"""One browser for all modules: to start it takes longer than most of what is looked at."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from support.browser import Browser, headless


@pytest.fixture(scope="session")
def one_browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with headless(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


@pytest.fixture
def browser(one_browser: Browser) -> Browser:
    """A browser of the usual size and colours, which has logged nothing."""
    one_browser.reset()
    return one_browser
