"""The rows of a stand-off release, made from one's own corpus files and held to its hashes."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.builders.command.show import explain, print_lines, spinner
from coherencegym.builders.pipeline.build import build
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.pipeline.sources import PlannedCorpus, find_sources
from coherencegym.builders.registry import all_suites, load_suite
from coherencegym.builders.release.manifest import (
    Manifest,
    hashes_path,
    in_order,
    read_hashes,
    write_documents,
)
from coherencegym.builders.suite import Suite
from coherencegym.command_line import Parser, finish
from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.data.source import (
    BUILDS,
    Rebuilt,
    Source,
    find_dataset,
    read_manifest,
    stand_off_configs,
)
from coherencegym.files.folders import check_folder, written_beside
from coherencegym.files.strict_json import Name, held
from coherencegym.loaders.registry import CORPORA, is_extension

#: Folders of a build that have files of a config.
_FILES = ("data/{}/*", "hashes/{}-*", "baselines/{}/*")


@dataclass(frozen=True)
class _File:
    name: str
    sha256: str = ""
    revision: str = ""

    @property
    def digest(self) -> str:
        return (self.sha256 or self.revision)[:12]


@dataclass(frozen=True)
class _Corpus:
    name: Name
    files: tuple[_File, ...] = ()


@dataclass(frozen=True)
class _Recipe:
    # How the rows of a config are made, as the release says.
    corpus: _Corpus
    seed: int
    suite_version: str
    limit: int | None = None
    splits_asked: tuple[Name, ...] = ()
    settings: dict[str, Any] = field(default_factory=dict)
    in_headline: bool = True
    not_headline: str = ""
    splits: dict[Name, Any] = field(default_factory=dict)

    def suite(self, name: str) -> Suite:
        """The suite with the settings of the release."""
        # A release says nothing of a Python file that is here, whatever name it has.
        corpus = self.corpus.name
        has_corpus = corpus in CORPORA or is_extension(corpus)
        for what, one, is_here in (
            ("suite", name, name in all_suites()),
            ("corpus", corpus, has_corpus),
        ):
            if not is_here:
                raise EvaluationError(
                    f"the release is made with the {what} {one!r}, which is not installed here"
                )
        declared = load_suite(name)
        known = declared.settings
        return declared.configured(**{k: v for k, v in self.settings.items() if k in known})


def rebuild(
    dataset: str,
    data_dir: Path | None = None,
    *,
    revision: str | None = None,
    configs: Sequence[str] = (),
    output: Path | None = None,
    overwrite: bool = False,
    say: Callable[[str], None] = lambda line: None,
    progress: Callable[[str], None] = lambda message: None,
) -> Path:
    """Make the rows of a stand-off release from one's own copy of its corpora, and verify them.

    Args:
        dataset: a Hub id, or a folder of such a release.
        data_dir: a folder of corpus files; None: the folders where corpora are looked for.
        revision: tag or commit; None: the newest.
        configs: the configs to make; none: all whose texts are not in the release.
        output: the folder; None: ``suites/NAME-VERSION``. One that has the rows already stays.
        overwrite: replace another build in it.
        say: told what was made, and the corpus files and rows that are not those of the release.
        progress: told what is being done.

    Returns:
        A folder of a suite: the configs that were made, and those whose texts the release has.
    """
    source = find_dataset(dataset, revision, configs)
    bare = [name for name in stand_off_configs(source.manifest) if not configs or name in configs]
    if not bare:
        what = f"config {first_names(configs)}" if configs else "every config"
        raise EvaluationError(
            f"dataset {dataset!r}: {what} has its texts, or is not there; expected a stand-off "
            "release"
        )
    folder = output or BUILDS / f"{Path(source.repo or dataset).name}-{source.version}"
    made_from = asdict(Rebuilt(source.repo or "", source.revision, source.commit))
    if source.commit and not overwrite and _is_made(folder, source.commit, bare):
        say(f"{folder} has the rows of {dataset} already")
        return folder
    # Rows of the same release, of other configs, are made again.
    overwrite = overwrite or (bool(source.commit) and _is_made(folder, source.commit or "", ()))
    check_folder(folder, overwrite, around=[data_dir] if data_dir else [])
    recipes = {name: held(source.manifest["configs"][name], _Recipe) for name in bare}
    alike = defaultdict(list)
    for name, one in recipes.items():
        settings = json.dumps(one.settings, sort_keys=True)
        alike[one.seed, one.limit, one.splits_asked, settings].append(name)
    with written_beside(folder, overwrite) as work:
        entries: dict[str, Any] = {}
        for names in alike.values():
            of_these = {name: recipes[name] for name in names}
            entries |= _made(source, of_these, data_dir, work, say, progress)
        texts = source.manifest["configs"]
        others = {} if configs else {name: texts[name] for name in texts if name not in bare}
        for name in others:
            _take(source.folder, name, work)
        manifest: Manifest = {**source.manifest, "configs": {**others, **entries}}
        write_documents(
            in_order(manifest | ({"rebuilt": made_from} if source.commit else {})), work
        )
    paths = [hashes_path(name, split) for name in bare for split in recipes[name].splits]
    rows = sum(len(_hashes(folder / path)) for path in paths)
    say(f"{rows:,} rows are those of {dataset} {source.version}; written to {folder}")
    return folder


def _is_made(folder: Path, commit: str, configs: Sequence[str]) -> bool:
    try:
        made = read_manifest(folder / "manifest.json")
    except (EvaluationError, OSError):
        return False
    is_same: bool = made.get("rebuilt", {}).get("commit") == commit
    return is_same and set(configs) <= made["configs"].keys()


def _made(
    source: Source,
    recipes: Mapping[str, _Recipe],
    data_dir: Path | None,
    folder: Path,
    say: Callable[[str], None],
    progress: Callable[[str], None],
) -> dict[str, Any]:
    # The entries of configs with one recipe; their files are moved into ``folder``.
    for recipe in recipes.values():
        suite = recipe.suite(source.suite)
    options = BuildOptions(
        corpora=sorted({one.corpus.name for one in recipes.values()}),
        data_dir=data_dir,
        seed=recipe.seed,
        limit=recipe.limit,
        splits=recipe.splits_asked,
        skip_bad_rows=True,  # a row that is left out by that is missed below
    )
    found = []
    for one in find_sources(suite, options)[0]:
        wanted = [c for c in one.configs if c.by or c.full_name(one.corpus.name) in recipes]
        found.append(PlannedCorpus(one.corpus, tuple(wanted), one.found))
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        built = build(suite, found, options, work, progress=progress)["configs"]
        files = _other_files(recipes, built)
        for line in files:
            say(line)
        rows = [
            f"{name} {row}"
            for name, one in recipes.items()
            for split in one.splits
            for row in _other_rows(source.folder, work, hashes_path(name, split))
        ]
        if rows:
            for row in rows:
                say(row)
            other = {one.suite_version for one in recipes.values()} - {suite.version}
            said = [f"version {one} of the suite, not {suite.version}" for one in sorted(other)]
            said += [first_names(files, 1)] if files else []
            said.append(f"{len(rows):,} rows are not those of the release: {first_names(rows, 1)}")
            raise EvaluationError(
                f"dataset {source.name!r}: {'; '.join(said)}; nothing was written"
            )
        for name in recipes:
            _take(work, name, folder)
    headline = ("in_headline", "not_headline")  # as it was among all configs of the release
    released = source.manifest["configs"]
    return {
        name: {key: value for key, value in built[name].items() if key not in headline}
        | {key: released[name][key] for key in headline if key in released[name]}
        for name in recipes
    }


def _take(place: Path, config: str, folder: Path) -> None:
    for pattern in _FILES:
        for path in place.glob(pattern.format(config)):
            target = folder / path.relative_to(place)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(path, target)


def _other_files(recipes: Mapping[str, _Recipe], built: Mapping[str, Any]) -> list[str]:
    # What is said of files that are not those of the release.
    expected, found = set[_File](), set[_File]()
    for name, recipe in recipes.items():
        if name in built:
            expected |= {*recipe.corpus.files}
            found |= {*held(built[name]["corpus"], _Corpus).files}
    here = {file.name: file.digest for file in found - expected}
    return [
        f"corpus file {file.name} is {here.get(file.name, 'not there')}, expected {file.digest}"
        for file in sorted(expected - found, key=lambda file: (file.name, file.digest))
    ]


def _other_rows(release: Path, made: Path, path: str) -> list[str]:
    # In the order of the release, then those that it does not have; all of them where only their
    # order is another.
    expected, found = (_hashes(folder / path) for folder in (release, made))
    if not expected:
        raise EvaluationError(f"the release has no row hashes ({path})")
    if list(expected.items()) == list(found.items()):
        return []
    ids = [*expected, *(one for one in found if one not in expected)]
    return [one for one in ids if expected.get(one) != found.get(one)] or ids


def _hashes(path: Path) -> dict[str, str]:
    return read_hashes(path) if path.is_file() else {}


EXAMPLES = """\
  coherencegym rebuild OWNER/story_cloze --data-dir ~/corpora/storycloze
  coherencegym score --model gpt2 --dataset suites/story_cloze-3.0.0
"""


def make_parser(prog: str = "coherencegym rebuild") -> Parser:
    """The parser of the command."""
    about = "Make the rows of a stand-off release from your own copy of its corpora."
    parser = Parser(prog, about, EXAMPLES)
    add = parser.add_argument
    add("dataset", metavar="ID|FOLDER", help="a stand-off release: a Hub dataset, or a folder")
    add("--data-dir", metavar="DIR", type=Path, help="folder with the files of its corpora")
    several: Any = {"nargs": "+", "action": "extend", "default": []}
    add("--config", dest="configs", metavar="C", help="configs; default all", **several)
    add("--revision", metavar="TAG", help="tag or commit; default the newest")
    add("--output", metavar="DIR", type=Path, help="default: suites/NAME-VERSION")
    add("--overwrite", action="store_true", help="replace an earlier build")
    return parser


def main(argv: Sequence[str] | None = None, prog: str = "coherencegym rebuild") -> int:
    """Rebuild a release; returns the exit code."""
    given = vars(make_parser(prog).parse_args(argv))

    def work() -> int:
        lines: list[str] = []
        try:
            with spinner() as progress:
                rebuild(given.pop("dataset"), **given, say=lines.append, progress=progress)
        finally:
            print_lines(lines)
        return 0

    return finish(prog, work, explain)
