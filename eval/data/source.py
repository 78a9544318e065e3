"""Find a dataset: a folder, or a Hub repository at a pinned revision, and read its manifest.

A Hub dataset is fetched as a snapshot first. ``load_dataset(repo, revision=...)`` alone would go on
with whatever revision is in the cache when the Hub cannot be reached (huggingface/datasets#7928).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import Note, caution, first_names
from coherencegym.files import strict_json
from coherencegym.files.strict_json import Many, MaybeName, MaybeRepository, Name, Share, held
from coherencegym.files.tables import FRAME_SUFFIXES
from coherencegym.hub import unread
from coherencegym.licence import SUITES, YES, is_closed, may_publish

#: The format that is read.
FORMAT = 1
#: The folder of builds when nobody names one: no package has this name.
BUILDS = Path("suites")
#: The organization on the Hub that has the suites.
PUBLISHER = "coherencegym"


@dataclass(frozen=True, slots=True)
class Published:
    """A CD score that a paper has published for a suite, as its manifest quotes it.

    Attributes:
        config: the config that it belongs to, without the corpus in its name; may be empty.
        row: the row of the paper's table, where a config has several (``as_causal → since``).
        model: the paper's name for it.
        source: the paper and the table in it.
        corpus: the corpus that it was computed on; empty in manifests of earlier releases.
    """

    config: str
    row: str
    model: str
    score: Share
    source: str
    corpus: str = ""


@dataclass(frozen=True, kw_only=True)
class _Score:
    group: str
    score: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


@dataclass(frozen=True, kw_only=True)
class _BaselineScore(_Score):
    formula: str = ""
    metric: str = ""


@dataclass(frozen=True, kw_only=True)
class _HumanScore(_Score):
    score: float
    n: int


@dataclass(frozen=True)
class _Human:
    scores: Many[_HumanScore] = ()


@dataclass(frozen=True, kw_only=True)
class _Control:
    version: int
    word: str
    effective_items: float
    weighed: bool
    by: str
    score: float
    ci_low: float
    ci_high: float
    cue: str = ""
    needed: int = 0
    smallest_difference: float | None = None


@dataclass(frozen=True)
class _Quality:
    partial_input: Many[_BaselineScore] = ()
    lexical_overlap: Many[_BaselineScore] = ()
    control: _Control | None = None
    human: _Human = _Human()


@dataclass(frozen=True)
class _Corpus:
    name: MaybeName = ""
    title: str = ""
    limitations: Many[str] = ()
    public_since: int = 0


@dataclass(frozen=True)
class _Baselines:
    content_hash: str


@dataclass(frozen=True)
class _Split:
    baselines: _Baselines | None = None


@dataclass(frozen=True)
class _Config:
    kind: Name
    splits: dict[Name, _Split]
    summary: str = ""
    regions: tuple[str, ...] = ()
    republishable: bool = False
    licences: dict[str, int] = field(default_factory=dict)
    choice: tuple[str, ...] | None = ()
    stand_off: bool = False
    separator: bool | None = None
    limit: int | None = None
    breakdowns: tuple[str, ...] = ()
    headline: str = ""
    controls: tuple[str, ...] = ()
    length_confound: bool = False
    in_headline: bool = True
    corpus: _Corpus = _Corpus()
    quality: dict[str, _Quality] = field(default_factory=dict)


@dataclass(frozen=True)
class Use:
    """A question that configs of a suite ask, and what a score on them cannot tell."""

    config: str
    asks: str
    cannot_tell: str = ""


@dataclass(frozen=True, kw_only=True)
class SuiteWords:
    """The words of a suite on itself, in its manifest and in results."""

    title: str = ""
    hypothesis: str = ""
    description: str = ""
    conditions: dict[str, str] = field(default_factory=dict)
    limitations: Many[str] = ()
    uses: Many[Use] = ()
    citation: str = ""


@dataclass(frozen=True)
class Rebuilt:
    """The stand-off release whose rows a folder has, made again and found to be the same.

    Attributes:
        repo, revision, commit: Hub id, the tag or branch asked for, and sha.
    """

    repo: MaybeRepository
    revision: str | None = None
    commit: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Manifest(SuiteWords):
    configs: dict[Name, _Config]
    suite: MaybeName = ""
    version: MaybeName | None = None
    repo_id: MaybeRepository = ""
    published: Many[Published] = ()
    rebuilt: Rebuilt | None = None


@dataclass(frozen=True)
class _Format:
    format: int
    files: dict[str, tuple[dict[str, Any], ...]] = field(default_factory=dict)


def read_manifest(path: Path, schema: type[Any] = _Manifest) -> Mapping[str, Any]:
    """A manifest, its keys in their order, held to what is read of it."""
    found = strict_json.read_json(path, _Format)
    if found.format != FORMAT:
        raise EvaluationError(
            f"{path}: format {found.format}; expected {FORMAT} (a newer release of this program "
            "may read it)"
        )
    strict_json.read_json(path, schema)
    manifest = strict_json.read_json(path, dict[str, Any])
    manifest.pop("files", None)
    for config in manifest["configs"].values():
        corpus = config.get("corpus", {})
        if isinstance(key := corpus.get("files"), str):
            corpus["files"] = list(found.files.get(key, ()))
    return manifest


def published(manifest: Mapping[str, Any], configs: Sequence[str]) -> tuple[Published, ...]:
    """The published scores that a manifest quotes for some configs (``<corpus>_<config>``).

    Only those on the corpus that such a config was built from: on other texts a score says nothing
    beside them.
    """
    about = manifest.get("configs", {})
    corpora = {config: about.get(config, {}).get("corpus", {}).get("name") for config in configs}
    return tuple(
        row
        for row in (held(entry, Published) for entry in manifest.get("published", ()))
        if any(
            corpus == row.corpus and (not row.config or f"_{config}".endswith(f"_{row.config}"))
            for config, corpus in corpora.items()
        )
    )


@dataclass(frozen=True)
class _LicensedCorpus:
    name: str = ""
    title: str = ""
    homepage: str = ""
    licence: str = ""


@dataclass(frozen=True)
class _Licensed:
    republishable: bool = False
    licences: dict[str, int] = field(default_factory=dict)
    corpus: _LicensedCorpus = _LicensedCorpus()


def published_part(manifest: Mapping[str, Any], config: str) -> str:
    """Say whether everybody may read the texts of a config: only if its manifest says so.

    It is an answer of :func:`coherencegym.licence.may_publish`, by the licence of the annotation,
    and that of the text of every document: a build that is not for the public may hold others. Of a
    corpus that is known to be closed nothing that a manifest says makes it open.
    """
    about = held(manifest.get("configs", {}).get(config, {}), _Licensed)
    closed = not about.republishable or is_closed(about.corpus.name) or not about.licences
    return may_publish(about.corpus.licence, about.licences, closed)


def may_be_published(manifest: Mapping[str, Any], config: str) -> bool:
    """Tell whether everybody may read all texts of a config: see :func:`published_part`."""
    return published_part(manifest, config) == YES


@dataclass(frozen=True)
class Source:
    """The place where a dataset was read.

    Attributes:
        name: the user's name for it.
        folder: the files on this machine.
        repo, commit: Hub id and sha, or None for a folder; of a folder that has the rows of a
            stand-off release, those of the release.
        revision: the tag or branch asked for on the Hub; None: the newest.
        manifest: the build's record; empty for somebody's own table.
        notes: lines for the reader of the scores.
    """

    name: str
    folder: Path
    repo: str | None = None
    revision: str | None = None
    commit: str | None = None
    manifest: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    def noted(self, notes: Iterable[Note]) -> Source:
        """The same with further lines for the reader of the scores."""
        return replace(self, notes=(*self.notes, *notes))

    @property
    def suite(self) -> str:
        """The suite's name, or the dataset's where it has none."""
        return str(self.manifest.get("suite") or Path(self.name).name)

    @property
    def version(self) -> str | None:
        """The suite's version, where the dataset says."""
        return self.manifest.get("version")


def find_dataset(name: str, revision: str | None = None, configs: Sequence[str] = ()) -> Source:
    """Find a dataset: a folder, else a Hub repository, fetched whole at the revision.

    ``revision`` is a tag, branch or commit, None for the newest; only ``configs`` are fetched, all
    where there are none.
    """
    folder = Path(name)
    if name and folder.is_dir():
        if revision is not None:
            raise EvaluationError(
                f"--revision {revision}: {name!r} is a folder, which has no revisions; "
                "expected a Hub dataset"
            )
        return _with_manifest(Source(name, folder))
    if folder.is_file():
        raise EvaluationError(
            f"dataset {name!r}: a file; expected a folder or a Hub id (coherencegym score also "
            f"reads pairs of texts: {', '.join(FRAME_SUFFIXES)})"
        )
    if not name or folder.exists() or name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise _not_found(name, "no such folder; expected a folder or a Hub id")
    return _with_manifest(_snapshot(name, revision, configs))


def _snapshot(name: str, revision: str | None, configs: Sequence[str]) -> Source:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import RepositoryNotFoundError, RevisionNotFoundError

    patterns = ["README.md", "manifest.json", "data/*", "hashes/*", "baselines/*"]
    if configs:
        kinds = ("data/{}/*", "hashes/{}-*", "baselines/{}/*")
        patterns[2:] = [kind.format(config) for config in configs for kind in kinds]
    at = f" at {revision!r}" if revision else ""
    try:
        path = snapshot_download(
            name, repo_type="dataset", revision=revision, allow_patterns=patterns
        )
    except Exception as error:
        # Besides the Hub's errors, whatever the client's transport raises: it was requests, then
        # httpx, then httpx2.
        said = f"no such folder, and {unread(error, name, 'dataset')}"
        if isinstance(error, RevisionNotFoundError):
            raise EvaluationError(f"dataset {name!r}{at}: {said}") from None
        published = isinstance(error, RepositoryNotFoundError)
        raise _not_found(name, said, at, published=published) from None
    folder = Path(path)
    return Source(name, folder, repo=name, revision=revision, commit=folder.name)


def _not_found(name: str, said: str, at: str = "", *, published: bool = False) -> EvaluationError:
    # With the build beside it that may be meant, or the suite that is on the Hub.
    meant = {path.parent.name: str(path.parent) for path in BUILDS.glob("[!.]*/manifest.json")}
    if published:
        suites = {suite: f"{PUBLISHER}/{suite}" for suite in SUITES}
        meant = {**meant, **suites} if name.startswith(f"{PUBLISHER}/") else {**suites, **meant}
    close = get_close_matches(Path(name).name, meant, n=1)
    hint = f"; did you mean {meant[close[0]]!r}?" if close else ""
    return EvaluationError(f"dataset {name!r}{at}: {said}{hint}")


def _with_manifest(source: Source) -> Source:
    path = source.folder / "manifest.json"
    if not path.is_file():
        return source.noted([caution("no manifest.json: rows are not verified")])
    try:
        manifest = read_manifest(path)
    except (EvaluationError, OSError) as error:
        detail = str(error).removeprefix(f"{source.folder}/")
        raise EvaluationError(f"dataset {source.name!r}: {detail}") from None
    if source.repo is None and (rebuilt := manifest.get("rebuilt")):
        source = replace(source, **rebuilt)
    source = replace(source, manifest=manifest)
    bare = stand_off_configs(manifest)
    if 0 < len(bare) < len(manifest["configs"]):
        said = f"without {first_names(bare)}: their texts are not in the dataset"
        return source.noted([caution(f"{said}; `coherencegym rebuild {source.name}` makes them")])
    return source


def stand_off_configs(manifest: Mapping[str, Any]) -> list[str]:
    """The configs of a manifest whose rows are described, and not there."""
    return [name for name, about in manifest.get("configs", {}).items() if about.get("stand_off")]
