"""Pushes of a build: to which repositories, with what in each, and what is refused before."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from coherencegym.builders.pipeline.licences import LicenceShare, licence_classes
from coherencegym.builders.pipeline.options import BuildOptions
from coherencegym.builders.release.manifest import Manifest
from coherencegym.builders.release.publish import (
    closed_configs,
    look_at_target,
    publish,
    publishable,
)
from coherencegym.builders.release.rows import hashes_path
from coherencegym.builders.release.stand_off import without_texts
from coherencegym.eval.data.source import published_part
from coherencegym.hub.answers import hub_answers
from coherencegym.hub.commits import check_rights, check_target
from coherencegym.licence import closed_line

#: Builds the share of one class of licences into an empty folder.
BuildShare = Callable[[Path, LicenceShare], Manifest]
#: The folder and manifest of what goes into one repository, which the manifest names.
_Release = tuple[Path, Manifest]


def resolve_target(options: BuildOptions) -> tuple[bool, bool]:
    """Tell whether the push goes to a private repository, and whether that has a release.

    Offline, a dry run has what the options say.
    """
    from huggingface_hub import HfApi
    from huggingface_hub.errors import OfflineModeIsEnabled

    try:
        with hub_answers():
            return look_at_target(HfApi(), options)
    except OfflineModeIsEnabled:
        if not options.dry_run:
            raise
        return options.private, False


def check_rights_of(options: BuildOptions) -> None:
    """Refuse a token that cannot push there, before minutes of building."""
    from huggingface_hub import HfApi

    check_target(options.repo_id, needs_token=True)
    if not options.create_pr:  # which anybody may open
        with hub_answers():
            check_rights(HfApi(), options.repo_id)


def push_build(
    options: BuildOptions,
    folder: Path,
    manifest: Manifest,
    private: bool,
    progress: Callable[[str], None],
    build_share: BuildShare | None = None,
) -> tuple[list[str], str]:
    """Publish a build, or in a dry run say what publishing would do: lines, and the version.

    Texts of each class of licences go into a repository of their own; in a private one they are
    together. Whatever can be refused is refused before the first of several repositories changes.
    Where a push breaks off, those before it are published whole, and the error says which.

    Args:
        options, folder, manifest, private: the place, the build, and who sees the place.
        progress: told what is being done.
        build_share: builds what goes into one of several repositories; none: all go into one.
    """
    from huggingface_hub.errors import OfflineModeIsEnabled
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    if not sys.stderr.isatty():
        disable_progress_bars()  # the client's own bars, silent in a pipe as ours are
    if options.stand_off and not private:
        manifest = without_texts(folder, manifest, closed_configs(manifest))
    public, held = publishable(manifest, private)
    lines = [
        f"left out of the push: {closed_line(name, published_part(manifest, name))} (pass "
        "--private for a private one, or --stand-off to publish no texts)"
        for name in held
    ]
    with tempfile.TemporaryDirectory() as work:
        releases = [(folder, public)]
        if build_share is not None and not private and public["configs"]:
            releases = _divided(folder, public, options.repo_id, Path(work), build_share)
        try:
            return _push_all(options, releases, progress, lines)
        except OfflineModeIsEnabled:
            if not options.dry_run:
                raise
            names = ", ".join(made["repo_id"] for _, made in releases)
            lines.append(f"repository {names}: changes unknown (HF_HUB_OFFLINE is set)")
            return lines, str(manifest["version"])


def _divided(
    folder: Path, manifest: Manifest, repo_id: str, work: Path, build_share: BuildShare
) -> list[_Release]:
    # By class of licences, the freest first; what has no texts is in the first repository.
    configs = manifest["configs"]
    bare = {name: config for name, config in configs.items() if config.get("stand_off")}
    texts = {name: config for name, config in configs.items() if name not in bare}
    classes = licence_classes(texts.values())
    parts: dict[str, _Release] = {}
    if len(classes) == 1:
        parts[classes[0]] = folder, manifest | {"configs": texts}
    for name in classes if len(classes) > 1 else ():
        part = work / f"texts{name}"
        part.mkdir()
        made = build_share(part, LicenceShare(name))
        if made["configs"]:
            parts[name] = part, made
    if bare:
        place, made = parts.pop("", (folder, manifest | {"configs": {}}))
        for name, config in bare.items() if place != folder else ():
            for path in (hashes_path(name, split) for split in config["splits"]):
                shutil.copy(folder / path, place / path)
        parts = {"": (place, made | {"configs": {**made["configs"], **bare}}), **parts}
    if not parts:  # no two texts of an item go together
        return [(folder, manifest | {"configs": {}})]
    names = [repo_id + name for name in parts]
    return [
        (place, made | {"repo_id": own} | ({"beside": others} if others else {}))
        for own, (place, made) in zip(names, parts.values(), strict=True)
        for others in [[name for name in names if name != own]]
    ]


def _push_all(
    options: BuildOptions,
    releases: Sequence[_Release],
    progress: Callable[[str], None],
    lines: list[str],
) -> tuple[list[str], str]:
    from huggingface_hub import HfApi

    versions = []
    names = [str(made["repo_id"]) for _, made in releases]
    tries = (True, False) if len(releases) > 1 and not options.dry_run else (options.dry_run,)
    for dry_run in tries:
        for number, (folder, manifest) in enumerate(releases):
            one = replace(options, repo_id=names[number], dry_run=dry_run)
            try:
                with hub_answers():
                    outcome = publish(HfApi(), folder, manifest, one, progress)
            except Exception as error:
                if number and not dry_run:
                    error.add_note(
                        f"published: {', '.join(names[:number])}; not published: "
                        f"{', '.join(names[number:])}"
                    )
                raise
            if dry_run == options.dry_run:
                lines += outcome.lines
                versions.append(outcome.version)
    return lines, versions[0]
