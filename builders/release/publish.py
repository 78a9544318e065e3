"""Publish a build: one commit of everything with its parent checked, then one tag on that commit.

Readers of the repository see the old release whole or the new one whole. Whatever cuts a run off,
running it again finishes the job: content that is there is not uploaded again, and a commit without
its tag only gets the tag.

Texts go into the repository of their class of licences. A stand-off release has all that describes
rows, without a word of their texts: whoever has the corpus makes the rows again
(:mod:`builders.command.rebuild`) and holds them to the row hashes of the release.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym import hub
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.release.changes import (
    Change,
    DatasetHead,
    PlannedRelease,
    PublishError,
    Version,
    dataset_head,
    plan_release,
)
from coherencegym.builders.release.manifest import MANIFEST, Manifest, hashes_path, in_order
from coherencegym.cards.render import licences_of_texts
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.data.source import may_be_published
from coherencegym.eval.kinds.table_kind import DISCOURSE, Row
from coherencegym.hub import TRIES, fetch, hub_answers, repository_info
from coherencegym.licence import OTHER, combined_licence, licence_class
from coherencegym.loaders.corpus import Corpus
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.registry import CORPORA, is_extension


def look_at_target(options: BuildOptions) -> tuple[bool, bool]:
    """Tell whether the repository is private, or will be made so, and whether it has a release.

    Offline, a dry run has what the options say.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import OfflineModeIsEnabled, RepositoryNotFoundError

    try:
        with hub_answers():
            info = repository_info(HfApi(), options.repo_id)
    except RepositoryNotFoundError:
        return options.private, False
    except OfflineModeIsEnabled:
        if not options.dry_run:
            raise
        return options.private, False
    if options.private and not info.private:
        raise PublishError(
            f"--private: {options.repo_id} exists and is public; make it private on the Hub first, "
            "or name another repository with --repo-id"
        )
    return info.private, any(file.rfilename == MANIFEST for file in info.siblings)


def publishable(manifest: Manifest, private: bool) -> tuple[Manifest, list[str]]:
    """The manifest without the configs that a public repository may not hold, and their names."""
    if private:
        return manifest, []
    held = closed_configs(manifest)
    configs = {name: c for name, c in manifest["configs"].items() if name not in held}
    return manifest | {"configs": configs}, held


def closed_configs(manifest: Manifest | None) -> list[str]:
    """The configs whose texts are there, and may not be published."""
    configs = manifest["configs"] if manifest else {}
    return sorted(
        name
        for name, config in configs.items()
        if not config.get("stand_off") and not may_be_published(manifest or {}, name)
    )


#: Parts of a config's entry that quote nothing.
_KEPT = (
    *("kind", "summary", "corpus", "republishable", "separator", "operators", "regions"),
    *("predictions", "columns", "breakdowns", "headline", "controls"),
    *("length_confound", "is_diagnostic", "task_defaults", "seed", "limit"),
    *("settings", "suite_version", "toolkit_version", "in_headline", "not_headline"),
    *("choice", "splits_asked", "rank", "licences", "withheld_discourses", "bad_rows", "skipped"),
)
#: Figures of a split that are about no file but the one of row hashes.
_COUNTS = ("rows", "discourses", "content_hash")


def without_texts(folder: Path, manifest: Manifest, configs: Collection[str]) -> Manifest:
    """The manifest with the entries of some configs as a stand-off release has them.

    An entry keeps the recipe, the digests of the corpus files, and numbers. Its example, the names
    of classes, and scores by values of a column, which may be words of a text, are left out.
    """
    entries = manifest["configs"]
    for name in configs:
        corpus = entries[name]["corpus"]["name"]
        if corpus not in CORPORA and not is_extension(corpus):
            raise PublishError(
                f"--stand-off: {name} is built from {corpus}, which `coherencegym corpora` does "
                "not list, so others cannot rebuild its rows; expected --private"
            )
    changed = {name: _entry(folder, name, entries[name]) for name in configs}
    return in_order(manifest | {"configs": {**entries, **changed}})


def _entry(folder: Path, name: str, entry: dict[str, Any]) -> dict[str, Any]:
    import pyarrow.parquet as pq
    from datasets import Features

    splits: dict[str, Any] = {}
    for split, counts in entry["splits"].items():
        schema = pq.read_schema(folder / hashes_path(name, split))
        splits[split] = {key: counts[key] for key in _COUNTS}
        splits[split]["groups"] = _without_values(counts["groups"])
    return {key: entry[key] for key in _KEPT if key in entry} | {
        "stand_off": True,
        "features": Features.from_arrow_schema(schema).to_dict(),
        "splits": splits,
        "quality": _without_values(entry["quality"]),
        "example": {},
    }


def _is_plain(group: str) -> bool:
    # ``genre=news`` has a value of a column, which may be a word of the text.
    _, is_value, value = group.partition("=")
    return not is_value or value in ("true", "false") or value.isdigit()


def _without_values(figures: Any) -> Any:
    if isinstance(figures, dict):
        return {key: _without_values(own) for key, own in figures.items() if _is_plain(key)}
    if isinstance(figures, list):
        groups = (str(one.get("group", "")) if isinstance(one, dict) else "" for one in figures)
        pairs = zip(figures, groups, strict=True)
        return [_without_values(one) for one, group in pairs if _is_plain(group)]
    return figures


#: The reason why an item is in no repository.
INCOMPATIBLE = "texts under two licences that exclude each other"


def documents_in(row: Row, known: Container[str]) -> set[str]:
    """The ids of the documents that a row has texts of, of a corpus whose ids are ``known``.

    A document that lent a text stands in a column such as ``partner_discourse``, or in an edit.
    """
    named = {row[name] for name in row if name == DISCOURSE or name.endswith("_discourse")}
    named |= {edit["source_discourse"] for edit in row.get("edits", ())}
    return {document_of(name, known) for name in named if name}


def document_of(name: str, known: Container[str]) -> str:
    """The id of the document that an item, or a part of a document, is of, by its own id.

    >>> document_of("GUM_bio_byron/1-6/matched", {"GUM_bio_byron"})
    'GUM_bio_byron'
    """
    parts = name.split("/")
    starts = ("/".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((start for start in starts if start in known), name)


def licence_classes(configs: Iterable[Mapping[str, Any]]) -> list[str]:
    """The classes of licences of the texts in the entries of a manifest, the freest first."""
    return sorted(
        {
            licence_class(combined_licence((config["corpus"]["licence"], licence)))
            for config in configs
            for licence in config["licences"]
        },
        key=lambda name: ("", "-sa", "-nc", "-odbl").index(name),
    )


@dataclass
class LicenceShare:
    """The share of a build whose texts are of one class of licences.

    Attributes:
        name: the class, see :func:`coherencegym.licence.licence_class`.
    """

    name: str
    _licences: dict[str, tuple[str, str]] = field(default_factory=dict)

    def read(self, corpus: Corpus, discourses: Iterable[Discourse]) -> None:
        """Learn the licences of the discourses of a corpus: of the annotation, and of the text."""
        texts = corpus.licence_of_texts
        self._licences = {d.id: (corpus.licence, d.licence or texts) for d in discourses}

    def _class_of(self, documents: Iterable[str]) -> str | None:
        licences = [one for each in documents for one in self._licences.get(each, (OTHER,))]
        found = combined_licence(licences)
        return licence_class(found) if found else None

    def of(self, name: str, discourses: Sequence[Discourse]) -> list[Discourse]:
        """The discourses whose own text is of a class of licences."""
        return [each for each in discourses if self._class_of([each.id]) == name]

    def generate(
        self,
        discourses: Sequence[Discourse],
        generate: Callable[[Sequence[Discourse]], tuple[list[Any], Counter[str]]],
        row_of: Callable[[Any], Row],
    ) -> tuple[list[Any], Counter[str]]:
        """The items that are of the class, in the order of the discourses, and what was skipped.

        An item of several documents is of the class that all of them allow, so an item of a freer
        document may be of the class, too.
        """
        generated, skipped = generate(self.of(self.name, discourses))
        if self.name:
            generated += generate(self.of("", discourses))[0]
        order = {discourse.id: number for number, discourse in enumerate(discourses)}
        chosen = []
        for made in generated:
            row = row_of(made)
            found = self._class_of(documents_in(row, self._licences))
            is_own = self._class_of([row[DISCOURSE]]) == self.name
            skipped[INCOMPATIBLE] += is_own and found is None
            if found == self.name:
                chosen.append((order[row[DISCOURSE]], made))
        return [made for _, made in sorted(chosen, key=lambda one: one[0])], +skipped


def publish(
    api: Any,
    folder: Path,
    manifest: Manifest,
    options: BuildOptions,
    progress: Callable[[str], None] = lambda message: None,
) -> list[str]:
    """Publish the configs of ``manifest``, whose files are in ``folder``; what to say of it."""
    if not manifest["configs"]:
        raise PublishError("none of the configs may be published; see --private")
    for attempt in range(1, TRIES + 1):
        progress(f"reading {options.repo_id}")
        head = dataset_head(api, options.repo_id)
        sha = head.sha
        version = str(_chosen_version(manifest, head, options))
        release = plan_release(
            folder,
            manifest | {"version": version},
            head,
            prune=options.prune,
            fetch_hashes=lambda path, sha=sha: fetch(api, options.repo_id, path, sha),  # type: ignore[misc]
        )
        private = head.private if head.exists else options.private
        if not private:
            _check_licences(release, options.repo_id)
        _check_version(release, head, options.repo_id)
        lines = _describe(release, head, options)
        if not private and (gone := closed_configs(head.manifest)):
            lines.append(
                f"  earlier commits of {options.repo_id} hold what may not be published "
                f"({first_names(gone)}): whoever sees the repository can read it there"
            )
        if options.dry_run:
            return lines
        if not release.adds and not release.deletes:
            done = "content was there, tag was missing:"
            return [*lines, _tag(api, options, version, head.sha, head, done)]
        progress(f"uploading {len(release.adds)} files")
        try:
            commit = _commit(api, options, release, head)
        except Exception as error:
            seen = "readers still see a whole release"
            error.add_note(seen if head.manifest else "readers see no release, or a whole one")
            raise
        if commit is None:
            if attempt < TRIES:
                progress("somebody else committed in between; reading again")
            continue
        return [*lines, _tag(api, options, version, commit.oid, head, "published")]
    raise PublishError(
        f"{options.repo_id}: somebody else committed {TRIES} times while this release was being "
        "made; nothing was published: run the command again"
    )


def _check_licences(release: PlannedRelease, repo_id: str) -> None:
    # The build's texts, and those that the head holds and the commit keeps, where it was private
    # once, say; what no manifest describes may be anything.
    closed = closed_configs(release.manifest)
    if not closed and not release.unknown:
        if (found := licences_of_texts(release.manifest)) and not combined_licence(found):
            raise PublishError(
                f"{repo_id} would hold texts under licences that exclude each other: "
                f"{', '.join(sorted(found))}; remove the configs that it holds with --prune, or "
                "name another repository with --repo-id; nothing was uploaded"
            )
        return
    what = "configs that may not be published" if closed else "files that no manifest describes"
    kept = bool(release.unknown) or any(name in release.kept for name in closed)
    way = "make it private, drop them with --prune, or" if kept else "make it private, or"
    raise PublishError(
        f"{repo_id} is public and would hold {what}: {first_names(closed or release.unknown)}; "
        f"{way} name another repository with --repo-id; nothing was uploaded"
    )


def _chosen_version(manifest: Manifest, head: DatasetHead, options: BuildOptions) -> Version:
    if options.version:
        return Version.parse(options.version)
    versions = [Version.parse(manifest["version"])]
    if head.manifest is not None:
        versions.append(Version.parse(head.manifest["version"]))
    return max(versions)


def _check_version(release: PlannedRelease, head: DatasetHead, repo_id: str) -> None:
    version = Version.parse(release.manifest["version"])
    change = release.change
    if change is Change.NONE:
        return
    if head.manifest is None:
        if f"v{version}" in head.tags:
            raise PublishError(f"{repo_id} has a tag v{version} without a release; raise --version")
        return
    old = Version.parse(head.manifest["version"])
    if version == old and f"v{old}" not in head.tags:
        return  # the run that made head was cut off before its tag: nobody was told of this version
    least = old.raised(change)
    if version >= least and f"v{version}" not in head.tags:
        return
    while f"v{least}" in head.tags:
        least = least.raised(change)
    reasons = [
        f"{config}/{split}: {rows}"
        for (config, split), rows in release.rows.items()
        if rows.change is not Change.NONE
    ]
    if release.removed:
        reasons.append(f"removed: {', '.join(release.removed)}")
    raise PublishError(
        f"{repo_id}: version {version} cannot follow {old} "
        f"({'; '.join(reasons) or 'only the card or the manifest changed'}): this is a "
        f"{change.level} change, pass --version {least}; nothing was uploaded"
    )


def _commit(api: Any, options: BuildOptions, release: PlannedRelease, head: DatasetHead) -> Any:
    parent = head.sha
    if not head.exists:
        hub.make_repository(api, options.repo_id, options.private)
        parent = repository_info(api, options.repo_id).sha
    return hub.commit(
        api,
        options.repo_id,
        parent,
        release.adds,
        release.deletes,
        message=options.message or f"{release.manifest['title']} {release.manifest['version']}",
    )


def _tag(
    api: Any, options: BuildOptions, version: str, commit: str, head: DatasetHead, done: str
) -> str:
    tag = f"v{version}"
    if tag in head.tags:
        return f"nothing to do: {options.repo_id} at {tag} has this content"
    try:
        hub.make_tag(api, options.repo_id, tag, commit, options.message or f"Version {version}")
    except Exception as error:
        error.add_note(
            f"the commit {commit[:10]} is made and readers of the newest see it, but it has no tag "
            f"{tag}"
        )
        raise
    return f"{done} {options.repo_id} {tag} ({commit[:10]})"


def _describe(release: PlannedRelease, head: DatasetHead, options: BuildOptions) -> list[str]:
    would = "would be " * options.dry_run
    made = "does not exist, would be made" if would else "made"
    lines = [
        f"repository {options.repo_id}: "
        + (f"head {head.sha[:10]}" if head.exists else made)
        + (", private" if head.private or (not head.exists and options.private) else "")
    ]
    for path, content in sorted(release.adds.items()):
        size = len(content) if isinstance(content, bytes) else content.stat().st_size
        lines.append(f"  {'replace' if path in head.digests else 'add'} {path} ({size:,} bytes)")
    lines += [f"  delete {path}" for path in sorted(release.deletes)]
    for (config, split), rows in release.rows.items():
        lines.append(f"  rows {config}/{split}: {rows}")
    if release.kept:
        lines.append(f"  {would}kept, not made by this build: {', '.join(release.kept)}")
    if release.removed:
        lines.append(f"  {would}removed by --prune: {', '.join(release.removed)}")
    if not release.adds and not release.deletes:
        lines.append("  no file changes")
    lines.append(f"  tag v{release.manifest['version']}, change: {release.change.level}")
    return lines
