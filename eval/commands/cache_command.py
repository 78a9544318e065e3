"""``coherencegym cache``: where surprisals and vectors are kept, how much, and away with them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from coherencegym.command_line import Parser
from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.running import in_bytes
from coherencegym.eval.forward.cache import CACHE_FORMAT, SUFFIX, cache_folder
from coherencegym.eval.forward.store import StoreListing, delete_store, listed
from coherencegym.eval.forward.vector_store import delete_vectors, list_stores, states_folder

EXAMPLES = """\
  coherencegym cache
  coherencegym cache --clear --model gpt2 --dry-run
  coherencegym cache --clear --older-than 30
"""

#: Names of the files that a cache makes: databases, damaged ones, and their companions.
_OURS = re.compile(
    rf"([0-9a-f]{{32}}{re.escape(SUFFIX)}(?:\.corrupt-[0-9]+)?)(?:-wal|-shm|-journal|\.lock)?"
)


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``cache``."""
    add = parser.add_argument
    add("--cache", type=Path, metavar="DIR", help="the folder; default as for score")
    add("--clear", action="store_true", help="delete what is listed")
    add("--model", metavar="NAME", help="list only caches of this model")
    add(
        "--older-than",
        type=_age,
        metavar="DAYS",
        help="list only caches that were not used for DAYS days",
    )
    add("--dry-run", action="store_true", help="print what --clear would delete")


def _age(text: str) -> timedelta:
    if not text.isdecimal() or int(text) > 36_500:
        raise argparse.ArgumentTypeError(f"{text} is no number of days from 0 to 36500")
    return timedelta(days=int(text))


def run(arguments: argparse.Namespace) -> int:
    """List, or delete, what is kept."""
    if arguments.dry_run and not arguments.clear:
        raise EvaluationError("--dry-run says what --clear would delete; add --clear")
    folder = cache_folder(arguments.cache)
    last = datetime.now(UTC) - (arguments.older_than or timedelta())
    kept = [
        *(_Listed(one, one.path.name, _facts_of_run, delete_store) for one in _databases(folder)),
        *(
            _Listed(one, one.path.parent.name, _facts_of_vectors, delete_vectors)
            for one in list_stores(states_folder(arguments.cache))
        ),
    ]
    found = [
        one
        for one in kept
        if arguments.model in (None, "", one.store.model)
        and (arguments.older_than is None or one.store.used < last)
    ]
    for one in found:
        print(one)
    total = in_bytes(sum(one.store.size for one in found))
    print(f"{folder}: {len(found):,} {'cache' if len(found) == 1 else 'caches'}, {total}")
    if arguments.dry_run:
        print(f"would free {total}")
    elif arguments.clear:
        print(f"freed {in_bytes(sum(one.cleared() for one in found))}")
    return 0


@dataclass(frozen=True, slots=True)
class _Listed:
    store: StoreListing
    name: str
    facts: Callable[[StoreListing, dict[str, Any]], Iterator[str]]
    delete: Callable[[StoreListing], bool]

    def __str__(self) -> str:
        store = self.store
        last = in_bytes(store.size), f"used {store.used:%Y-%m-%d}"
        if store.description is None:
            return "  ".join([self.name, "cannot be read", *last])
        texts = f"{store.texts:,} {'text' if store.texts == 1 else 'texts'}"
        return "  ".join([*self.facts(store, dict(store.description)), texts, *last])

    def cleared(self) -> int:
        # The bytes that this has freed.
        if not self.delete(self.store):
            print(f"{self.name}: a run is using it, so it stays")
            return 0
        return self.store.size


def _facts_of_run(store: StoreListing, about: dict[str, Any]) -> Iterator[str]:
    given = about.get("identity")
    identity = dict(given) if isinstance(given, dict) else {}
    prefix, colon, digits = str(identity.pop("commit", "")).rpartition(":")
    dtype = identity.pop("dtype", "")
    arguments = identity.pop("arguments", None)
    yield f"{store.model}@{prefix}{colon}{digits[:12]}"
    yield f"{dtype} on {about.get('device')}"
    for values in (identity, arguments, about.get("settings")):
        if isinstance(values, dict):
            shown = {name: value for name, value in values.items() if value not in (None, {}, [])}
            yield from (f"{name}={value}" for name, value in shown.items())


def _facts_of_vectors(store: StoreListing, about: dict[str, Any]) -> Iterator[str]:
    yield store.model
    yield f"{about.get('model_dtype')} on {about.get('device')}"
    layers = ", ".join(map(str, about.get("layers", ())))
    yield f"vectors of layers {layers} in {about.get('dtype')}"


def _databases(folder: Path) -> Iterator[StoreListing]:
    # Files that are not the cache's are left alone.
    groups: dict[str, list[Path]] = {}
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        ours = _OURS.fullmatch(path.name)
        if ours and path.is_file() and not path.is_symlink():
            groups.setdefault(ours[1], []).append(path)
    for name, files in groups.items():
        yield listed(folder / name, files, CACHE_FORMAT)
