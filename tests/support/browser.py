"""A headless browser for tests, where one is installed: W3C WebDriver over HTTP, no package."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

#: What a WebDriver calls an element that it returns.
_ELEMENT = "element-6066-11e4-a52e-4f735466cecf"
_OPTIONS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


class Browser:
    """One session of a browser."""

    def __init__(self, url: str, session: str) -> None:
        self._session = f"{url}/session/{session}"

    def get(self, url: str) -> None:
        """Open a page, and wait until it is loaded."""
        call("POST", f"{self._session}/url", {"url": url})

    def run(self, script: str, *arguments: Any) -> Any:
        """What a function body returns in the page."""
        body = {"script": script, "args": list(arguments)}
        return call("POST", f"{self._session}/execute/sync", body)

    def resize(self, width: int, height: int = 900) -> None:
        """Make the page so many pixels wide and high, as a telephone or a screen has them."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
        body = {"cmd": "Emulation.setDeviceMetricsOverride", "params": metrics}
        call("POST", f"{self._session}/goog/cdp/execute", body)

    def prefer(self, scheme: str) -> None:
        """Let pages know that their reader prefers them ``light`` or ``dark``."""
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        body = {"cmd": "Emulation.setEmulatedMedia", "params": {"features": features}}
        call("POST", f"{self._session}/goog/cdp/execute", body)

    def reset(self) -> None:
        """Take back size and colours, and forget what was logged."""
        for command in ("clearDeviceMetricsOverride", "setEmulatedMedia"):
            body = {"cmd": f"Emulation.{command}", "params": {}}
            call("POST", f"{self._session}/goog/cdp/execute", body)
        self.log("browser")
        self.log("performance")

    def find(self, selector: str) -> str:
        """The first element of a CSS selector."""
        body = {"using": "css selector", "value": selector}
        found: str = call("POST", f"{self._session}/element", body)[_ELEMENT]
        return found

    def click(self, selector: str) -> None:
        """Click as a user does: the element has to be in sight, and nothing over it."""
        call("POST", f"{self._session}/element/{self.find(selector)}/click", {})

    def type(self, selector: str, text: str) -> None:
        """Press keys in a field."""
        call("POST", f"{self._session}/element/{self.find(selector)}/value", {"text": text})

    def choose(self, name: str, label: str) -> None:
        """Choose an option of a ``select`` by its text."""
        options = f"[...document.getElementsByName({json.dumps(name)})[0].options]"
        place = self.run(f"return {options}.findIndex(o => o.text === arguments[0])", label)
        assert place >= 0, (label, self.run(f"return {options}.map(o => o.text)"))
        self.click(f"select[name={name}] option:nth-child({place + 1})")

    def log(self, kind: str) -> list[dict[str, Any]]:
        """What was logged since it was last asked for: ``browser`` or ``performance``."""
        entries: list[dict[str, Any]] = call("POST", f"{self._session}/se/log", {"type": kind})
        return entries

    def requested(self) -> list[str]:
        """The addresses that were asked for since the last call."""
        messages = (json.loads(entry["message"])["message"] for entry in self.log("performance"))
        return [
            message["params"]["request"]["url"]
            for message in messages
            if message["method"] == "Network.requestWillBeSent"
        ]


def wait(page: Browser, condition: str) -> None:
    """Until an expression holds in the page; two seconds."""
    script = f"""
      const end = Date.now() + 2000;
      return new Promise((resolve) => {{
        (function look() {{
          if (({condition}) || Date.now() > end) resolve({condition}); else setTimeout(look, 20);
        }})();
      }});"""
    assert page.run(script), condition


def call(method: str, url: str, body: dict[str, Any] | None = None) -> Any:
    """One command; what it returns."""
    request = urllib.request.Request(
        url,
        data=None if body is None else json.dumps(body).encode(),
        method=method,
        headers={"Content-Type": "application/json"},
    )
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=120) as answer:
            return json.load(answer)["value"]
    except urllib.error.HTTPError as error:
        raise AssertionError(json.load(error)["value"]["message"]) from None


@contextmanager
def headless(folder: Path) -> Iterator[Browser]:
    """A browser with a new profile in a folder; skips, saying so, where none is installed."""
    driver = shutil.which("chromedriver")
    names = ("chromium", "chromium-browser", "google-chrome", "chrome")
    browser = next(filter(None, map(shutil.which, names)), None)
    if driver is None or browser is None:
        missing = "chromedriver" if driver is None else "Chromium"
        pytest.skip(f"no browser to look at pages with: {missing} is not installed")
    with subprocess.Popen(
        [driver, "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdout is not None
            started = (re.search(r"successfully on port (\d+)", line) for line in process.stdout)
            url = f"http://127.0.0.1:{next(filter(None, started)).group(1)}"
            options = {"binary": browser, "args": [*_OPTIONS, f"--user-data-dir={folder}"]}
            logs = {"browser": "ALL", "performance": "ALL"}
            wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": logs}
            body = {"capabilities": {"alwaysMatch": wanted}}
            session = call("POST", f"{url}/session", body)["sessionId"]
            try:
                yield Browser(url, session)
            finally:
                call("DELETE", f"{url}/session/{session}")
        finally:
            process.terminate()
