"""``python -m loaders fetch``: list what can be fetched, say on which terms, fetch it."""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path

from coherencegym.loaders.corpus import CorpusError
from coherencegym.loaders.fetching.fetch import fetch, survey
from coherencegym.loaders.fetching.fetch_output import (
    described,
    print_files,
    print_summary,
    print_table,
    print_terms,
    progress_bar,
)
from coherencegym.loaders.fetching.link import check_base
from coherencegym.loaders.fetching.origin import PUBLIC, Origin, origin, origin_names
from coherencegym.loaders.find import DATA_VARIABLE, data_root
from coherencegym.loaders.registry import CORPORA

#: Environment variable that names a server to ask in place of the public origin.
MIRROR_VARIABLE = "COHERENCEGYM_MIRROR"
MOST_JOBS = 32

EXAMPLES = f"""\
examples:
  python -m loaders fetch                        what can be fetched, how much, on which terms
  python -m loaders fetch winograd               into the folder where loaders look
  python -m loaders fetch gum --accept           after reading its terms, which are printed
  python -m loaders fetch gum --dry-run          which files would come; asks no server
  python -m loaders fetch irc --data-dir ~/corpora
                                                 into ~/corpora/irc/

Files come from a pinned commit and are checked by size and sha256. A run that was cut off goes on
where it was when it is started again. --mirror (or ${MIRROR_VARIABLE}) names a server that answers
<repository>/<commit>/<path> as {PUBLIC} does; proxies are those
of the environment (HTTPS_PROXY, NO_PROXY). Without --data-dir, files go to ${DATA_VARIABLE}, or,
where that is not set, to the folder for caches.
"""


def add_parser(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to those of ``python -m loaders``."""
    parser = commands.add_parser(
        "fetch",
        help="download openly readable corpora, checked by digest",
        description="Download openly readable corpora from their public origin at a pinned commit.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help="origins to fetch; none: list")
    parser.add_argument(
        "--accept", action="store_true", help="accept the terms of those that have terms"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="say what would be fetched; ask no server"
    )
    parser.add_argument(
        "--data-dir",
        type=Path,
        metavar="DIR",
        default=argparse.SUPPRESS,
        help="put the files into DIR/NAME/",
    )
    parser.add_argument(
        "--jobs", type=_jobs, default=4, metavar="N", help="files at a time; default 4"
    )
    parser.add_argument(
        "--overwrite", action="store_true", help="replace files that have other content"
    )
    parser.add_argument(
        "--mirror", metavar="URL", help=f"server to ask; default ${MIRROR_VARIABLE}, or {PUBLIC}"
    )
    parser.add_argument(
        "--json", action="store_true", default=argparse.SUPPRESS, help="print the list as JSON"
    )


def _jobs(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= MOST_JOBS:
        raise argparse.ArgumentTypeError(f"{text!r}: expected a number from 1 to {MOST_JOBS}")
    return int(text)


def run(options: argparse.Namespace) -> int:
    """List, or fetch all that are named; terms are looked at before anything is fetched.

    Raises:
        CorpusError: what was asked for cannot be fetched, its terms were not accepted, or see
            :func:`loaders.fetching.fetch.fetch`.
    """
    if not options.names:
        listed = [described(origin(name)) for name in origin_names()]
        if options.json:
            print(json.dumps(listed, ensure_ascii=False, indent=2))
        else:
            print_table(listed)
        return 0
    if options.json:
        raise CorpusError("--json prints the list of what can be fetched, and goes with no name")
    base = check_base(options.mirror or os.environ.get(MIRROR_VARIABLE) or PUBLIC)
    wanted = [_wanted(name) for name in dict.fromkeys(options.names)]
    root = data_root(options.data_dir)
    for each in wanted:
        print_terms(each, root / each.name)
    unaccepted = [each.name for each in wanted if each.terms]
    if unaccepted and not (options.accept or options.dry_run):
        raise CorpusError(
            f"{', '.join(unaccepted)}: nothing was fetched: read the terms above, and pass "
            "--accept if you accept them"
        )
    for each in wanted:
        folder = root / each.name
        if options.dry_run:
            print_files(each, folder, survey(each, folder))
            continue
        before = fetch(
            each,
            folder,
            base=base,
            jobs=options.jobs,
            overwrite=options.overwrite,
            progress=progress_bar(each.name),
        )
        print_summary(each, folder, before)
    return 0


def _wanted(name: str) -> Origin:
    if name in CORPORA and name not in origin_names():
        raise CorpusError(
            f"{name}: cannot be fetched, no public copy of it is pinned here; "
            f"to get the files: {CORPORA[name].obtain}"
        )
    return origin(name)
