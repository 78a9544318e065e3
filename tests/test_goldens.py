"""Every estimate that each task computes, by its meaning: no change of the code may move one.

``goldens/<task>.jsonl`` has a line for each, as :mod:`goldens.adapter` reads them from results.
Where a method changes they are written anew by
``python -m pytest tests/test_goldens.py --write-goldens``. Another machine's last digits may differ
where numbers come from a model's bits; ``--exact`` allows no difference.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from goldens.adapter import VALUES, Golden, unique
from goldens.runs import TASKS
from support.suites import Sample

FOLDER = Path(__file__).with_name("goldens")
#: Differences that a message names.
_MOST_NAMED = 20
#: Differences that are none, of counted numbers and of those that come from bits, which may be
#: large: the interval of two items is that of one number a hundred times over.
_COUNTED, _REAL, _RELATIVE = 1e-9, 1e-4, 1e-4
#: Vectors of a randomly initialised model tell labels no better than chance: which weight of the
#: penalty is best is then a tie, which the last digit decides, and a few of its answers with it.
_RANDOM, _PENALTY, _FLIPPED = "randomly initialised", "weight of the penalty", 3


def read(path: Path) -> dict[tuple[str, ...], Golden]:
    """The records of a file, by key."""
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    return unique(Golden(**json.loads(line)) for line in lines)


def write(found: Mapping[tuple[str, ...], Golden], path: Path) -> None:
    """Write records, one a line, in the order of their keys."""
    how: dict[str, Any] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
    lines = (json.dumps(found[key].as_json(), **how) for key in sorted(found))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def differences(
    found: Mapping[tuple[str, ...], Golden], golden: Mapping[tuple[str, ...], Golden], exact: bool
) -> Iterator[str]:
    """A line for each record that is missing, additional or changed."""
    for key in sorted({*found, *golden}):
        named = ", ".join(filter(None, key))
        if key not in found:
            yield f"missing: {named}"
        elif key not in golden:
            yield f"additional: {named}"
        elif changed := list(_changes(golden[key], found[key], exact)):
            yield f"changed: {named}: {'; '.join(changed)}"


def _changes(golden: Golden, found: Golden, exact: bool) -> Iterator[str]:
    allowed = 0.0 if exact else _allowed(golden)
    for name in VALUES:
        was, now = getattr(golden, name), getattr(found, name)
        if not _is_same(was, now, allowed):
            yield f"{name} {was} → {now}"


def _allowed(golden: Golden) -> float:
    if _RANDOM in golden.system:
        return math.inf if golden.metric == _PENALTY else _FLIPPED / (golden.n or 32)
    return _REAL if golden.is_real else _COUNTED


def _is_same(was: Any, now: Any, allowed: float) -> bool:
    if isinstance(was, Mapping) and isinstance(now, Mapping):
        return was.keys() == now.keys() and all(_is_same(was[n], now[n], allowed) for n in was)
    if isinstance(was, float | int) and isinstance(now, float | int):
        relative = _RELATIVE if allowed >= _REAL else 0.0
        return math.isclose(was, now, rel_tol=relative, abs_tol=allowed)
    return bool(was == now)


def check(found: Mapping[tuple[str, ...], Golden], path: Path, exact: bool = False) -> None:
    """Hold records to a file.

    Raises:
        Failed: they differ, one line a record.
    """
    lines = list(differences(found, read(path), exact))
    more = [f"and {len(lines) - _MOST_NAMED} more"] if len(lines) > _MOST_NAMED else []
    message = "\n".join([*lines[:_MOST_NAMED], *more])
    if lines:
        pytest.fail(f"{path.name}: {len(lines)} estimates differ\n{message}", pytrace=False)


@pytest.mark.parametrize("task", TASKS)
def test_the_estimates_of_the_samples(
    task: str, built_sample: Sample, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    found = unique(TASKS[task](built_sample, tmp_path))
    path = FOLDER / f"{task}.jsonl"
    if request.config.getoption("--write-goldens"):
        # Another machine's last digits are no news.
        old = read(path)
        same = (
            key
            for key in found.keys() & old.keys()
            if not any(_changes(old[key], found[key], False))
        )
        write({**found, **{key: old[key] for key in same}}, path)
    check(found, path, bool(request.config.getoption("--exact")))


def test_a_record_that_is_missing_additional_or_changed_is_named(tmp_path: Path) -> None:
    path = tmp_path / "toy.jsonl"
    margin = Golden(run="demo", suite="toy", metric="margin mean", value=0.5, low=0.1)
    share = Golden(run="demo", suite="toy", metric="accuracy", value=0.5, n=4, counts={"ties": 1})
    write(unique([margin, share]), path)
    check(unique([replace(margin, value=0.50001), replace(share, value=0.5 + 1e-12)]), path)
    many = [replace(margin, group=f"g{number}") for number in range(25)]
    for found, exact, said in (
        ([share], False, ["missing: demo, toy, test, margin mean, model"]),
        ([margin, share, many[3]], False, ["additional: demo, toy, test, g3, margin mean, model"]),
        ([margin, replace(share, value=0.50001)], False, ["accuracy, model: value 0.5 → 0.50001"]),
        ([margin, replace(share, counts={})], False, ["accuracy, model: counts {'ties': 1} → {}"]),
        ([margin, replace(share, n=None)], False, ["accuracy, model: n 4 → None"]),
        ([replace(margin, low=0.1000001), share], True, ["margin mean, model: low 0.1 → "]),
        ([margin, share, *many], False, ["25 estimates differ", "and 5 more"]),
    ):
        with pytest.raises(pytest.fail.Exception) as failed:
            check(unique(found), path, exact)
        message = str(failed.value)
        assert all(line in message for line in said)
        assert message.count("\n") <= 21


def test_what_results_say_twice_is_the_same() -> None:
    one = Golden(run="demo", suite="toy", metric="accuracy", value=0.5)
    assert unique([one, replace(one, n=4)])[one.key].n == 4
    with pytest.raises(AssertionError, match="value: "):
        unique([one, replace(one, value=0.6)])
