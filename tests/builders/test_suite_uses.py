"""What configs are for: said by the suites, which results carry to an overview, and in docs."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from coherencegym.builders.registry import SUITES, load_suite
from coherencegym.builders.suite import Use

_LINK = re.compile(r": see \[[^]]*\]\([^)]*\)")


def told(page: str) -> dict[str, list[Use]]:
    """The first three columns of the table "What each suite asks", by suite."""
    table = page.partition("## What each suite asks")[2].partition("\n- **")[0]
    found: dict[str, list[Use]] = {}
    suite = ""
    for line in table.splitlines():
        if not line.startswith("| ") or line.startswith("| suite"):
            continue
        config, asks, cannot_tell = (cell.strip() for cell in line.strip("|").split("|")[:3])
        if not asks:
            continue  # the same on another corpus
        if (named := re.match(r"`(\w+)`", config)) and named[1] in SUITES:
            suite = named[1]
            config = config.removeprefix(named[0])
        use = Use(config.replace("`", "").strip(), asks, _LINK.sub("", cannot_tell))
        found.setdefault(suite, []).append(use)
    return found


@pytest.mark.parametrize("name", SUITES)
def test_the_document_says_what_the_suite_does(name: str, repository: Path) -> None:
    documented = told((repository / "docs/suites.md").read_text(encoding="utf-8"))
    assert list(load_suite(name).uses) == documented.get(name, [])


#: Words for those who write and annotate corpora.
_WHO = re.compile(r"crowd|annotator|learner|expert|\bworker|\bGPT|Mechanical Turk", re.IGNORECASE)


@pytest.mark.parametrize("name", SUITES)
def test_who_wrote_the_texts_is_said_by_their_corpus(name: str) -> None:
    """A suite is made from several corpora, and from this project's own samples."""
    suite = load_suite(name)
    said = [SUITES[name], suite.hypothesis, suite.description, *suite.limitations]
    said += [*suite.conditions.values(), *(config.summary for config in suite.configs)]
    said += [text for use in suite.uses for text in (use.asks, use.cannot_tell)]
    assert [text for text in said if _WHO.search(text)] == []
