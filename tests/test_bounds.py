"""The releases that `make bounds` tests are the lowest that an installation may have."""

from __future__ import annotations

import configparser
from pathlib import Path

from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parent.parent


def test_the_lowest_releases_that_are_tested_are_those_that_are_allowed() -> None:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg", encoding="utf-8")
    allowed = {}
    for line in config["options"]["install_requires"].split("\n"):
        if line:
            requirement = Requirement(line)
            (bound,) = requirement.specifier
            assert bound.operator == ">="
            allowed[requirement.name] = Version(bound.version)
    lines = (ROOT / "tests" / "bounds.txt").read_text(encoding="utf-8").splitlines()
    tested = dict(line.split("==") for line in lines if not line.startswith("#"))
    assert len(tested) > 4
    # Of torch there is one release that all tests are run with.
    assert Version(tested.pop("torch")) > allowed["torch"]
    assert {name: allowed[name] for name in tested} == {
        name: Version(version) for name, version in tested.items()
    }
