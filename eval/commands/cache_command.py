"""``coherencegym cache``: where surprisals and vectors are kept, how much, and away with them."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

from coherencegym.command_line import Parser
from coherencegym.eval.forward.cache import (
    CACHE_FORMAT,
    SUFFIX,
    VECTORS_FORMAT,
    VECTORS_SUFFIX,
    cache_folder,
)
from coherencegym.eval.forward.store import StoreListing, delete_store, listed
from coherencegym.eval.run.call import in_bytes

EXAMPLES = """\
  coherencegym cache
  coherencegym cache --clear --older-than 30
"""

#: The end of the name of a database -> the format that is read.
_FORMATS = {SUFFIX: CACHE_FORMAT, VECTORS_SUFFIX: VECTORS_FORMAT}
#: Names of the files that a cache makes: databases, damaged ones, and their companions.
_OURS = re.compile(
    rf"([0-9a-f]{{32}}({'|'.join(map(re.escape, _FORMATS))})(?:\.corrupt-[0-9]+)?)"
    r"(?:-wal|-shm|-journal|\.lock)?"
)


def add_arguments(parser: Parser) -> None:
    """Declare the options of ``cache``."""
    add = parser.add_argument
    add("--cache", type=Path, metavar="DIR", help="the folder; default as for score")
    add("--clear", action="store_true", help="delete what is listed")
    add(
        "--older-than",
        type=_age,
        metavar="DAYS",
        help="list only caches that were not used for DAYS days",
    )


def _age(text: str) -> timedelta:
    if not text.isdecimal() or int(text) > 36_500:
        raise argparse.ArgumentTypeError(f"{text} is no number of days from 0 to 36500")
    return timedelta(days=int(text))


def run(arguments: argparse.Namespace) -> int:
    """List, or delete, what is kept."""
    folder = cache_folder(arguments.cache)
    last = datetime.now(UTC) - (arguments.older_than or timedelta())
    found = [one for one in _databases(folder) if arguments.older_than is None or one.used < last]
    for one in found:
        print(_line(one))
    total = in_bytes(sum(one.size for one in found))
    print(f"{folder}: {len(found):,} {'cache' if len(found) == 1 else 'caches'}, {total}")
    if arguments.clear:
        freed = 0
        for one in found:
            if delete_store(one):
                freed += one.size
            else:
                print(f"{one.path.name}: a run is using it, so it stays")
        print(f"freed {in_bytes(freed)}")
    return 0


def _line(store: StoreListing) -> str:
    last = in_bytes(store.size), f"used {store.used:%Y-%m-%d}"
    if store.description is None:
        return "  ".join([store.path.name, "cannot be read", *last])
    texts = f"{store.texts:,} {'text' if store.texts == 1 else 'texts'}"
    device = f"on {store.description.get('device')}"
    return "  ".join([store.model, device, texts, *last])


def _databases(folder: Path) -> Iterator[StoreListing]:
    # Files that are not the cache's are left alone.
    groups: dict[tuple[str, str], list[Path]] = {}
    for path in sorted(folder.iterdir()) if folder.exists() else []:
        ours = _OURS.fullmatch(path.name)
        if ours and path.is_file() and not path.is_symlink():
            groups.setdefault((ours[1], ours[2]), []).append(path)
    for (name, suffix), files in groups.items():
        yield listed(folder / name, files, _FORMATS[suffix])
