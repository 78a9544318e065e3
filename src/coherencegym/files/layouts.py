"""The names of the files of every output: what else a list of them has is somebody's own."""

from __future__ import annotations

import re
from collections.abc import Container

_NAME = "[^/]+"
_TABLE = rf"{_NAME}/{_NAME}-\d{{5}}-of-\d{{5}}\.parquet"
_FIGURE = r"\w+\.(?:png|svg)"
_FORMS = "html|jinja|json|md|model|parquet|png|safetensors|spm|svg|tiktoken|txt"
_TRAINED = rf"(?:seed|fold)-\d+/{_NAME}\.(?:{_FORMS})"
#: The file of an overview, which lies beside what else is in a folder.
OVERVIEW = "overview.md"
#: The file that every output of a kind has -> the names that others of it may have.
_LAYOUTS = {
    "manifest.json": rf"README\.md|eval\.yaml|(?:data|baselines)/{_TABLE}"
    rf"|hashes/{_NAME}\.parquet",
    "results.json": rf"run\.yaml|report\.html|\w+\.parquet|{_FIGURE}|{_TRAINED}",
    "losses.json": _TRAINED,
    "comparison.json": r"comparison\.(?:png|svg)",
    "plots.json": _FIGURE,
    OVERVIEW: r"index\.html|curve\.(?:png|svg)",
    "item.png": r"item\.svg",
    "sheet.html": r"\w+\.jsonl",
    "answers.jsonl": "",
    "SUITES.md": rf"items\.jsonl|{_NAME}-{_NAME}\.json",
    "PAIRS.md": rf"{_NAME}-{_NAME}\.jsonl|local\.(?:py|yaml)|tasks/\w+/\w+(?:\.md|\.py|\.yaml)?",
    "INSPECT.md": rf"{_NAME}-{_NAME}\.jsonl|questions\.py",
    "BABYLM.md": rf"(?:full|fast)/\w+/{_NAME}/{_NAME}\.jsonl",
}
#: An export of results, which may be alone.
_EXPORT = rf"data/(?:{_NAME}/){{3}}[0-9a-f-]{{36}}\.json"


def is_ours(name: str, listed: Container[str]) -> bool:
    """Tell whether an output whose list has the names ``listed`` may have a file of a name."""
    stem, _, form = name.rpartition(".")
    other = {"png": f"{stem}.svg", "svg": f"{stem}.png"}.get(form, name)
    own = [rf"{re.escape(one)}|{names}" for one, names in _LAYOUTS.items() if one in listed]
    found = any(re.fullmatch(names, name) for names in (*own, _EXPORT))
    return found and other in listed


def is_whole(listed: Container[str]) -> bool:
    """Tell whether a list is of an output that has its folder for itself."""
    return any(one in listed for one in _LAYOUTS if one != OVERVIEW)
