"""Find a dataset: a folder, or a Hub repository at a pinned revision.

A Hub dataset is fetched as a snapshot first. ``load_dataset(repo, revision=...)`` alone would go on
with whatever revision is in the cache when the Hub cannot be reached (huggingface/datasets#7928).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.manifest import read_manifest


@dataclass(frozen=True)
class Source:
    """Where a dataset was read from.

    Attributes:
        name: as the user named it.
        folder: the files on this machine.
        repo: Hub id, or None for a folder.
        revision: the tag or branch asked for on the Hub; None: the newest.
        commit: sha of the Hub commit, or None for a folder.
        manifest: what the build recorded; empty for somebody's own table.
        notes: what a reader of the scores should know.
    """

    name: str
    folder: Path
    repo: str | None = None
    revision: str | None = None
    commit: str | None = None
    manifest: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def suite(self) -> str:
        """The suite's name, or the dataset's where it has none."""
        return str(self.manifest.get("suite") or Path(self.name).name)

    @property
    def version(self) -> str | None:
        """The suite's version, where the dataset says."""
        return self.manifest.get("version")


def find(name: str, revision: str | None = None, configs: Sequence[str] = ()) -> Source:
    """Find a dataset: a folder, else a Hub repository, fetched whole at the revision.

    Args:
        name: folder or Hub id.
        revision: tag, branch or commit on the Hub; None: the newest.
        configs: fetch only these; none: all.

    Raises:
        EvaluationError: there is no such folder or repository, or not at this revision.
    """
    folder = Path(name)
    if folder.is_dir():
        if revision is not None:
            raise EvaluationError(
                f"--revision {revision}: {name!r} is a folder, which has no revisions; "
                "expected a Hub dataset"
            )
        return _with_manifest(Source(name, folder))
    if folder.exists() or name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise EvaluationError(f"dataset {name!r}: no such folder; expected a folder or a Hub id")
    return _with_manifest(_snapshot(name, revision, configs))


def _snapshot(name: str, revision: str | None, configs: Sequence[str]) -> Source:
    from huggingface_hub import snapshot_download
    from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

    patterns = ["README.md", "manifest.json", "data/*", "hashes/*"]
    if configs:
        patterns[2:] = [p for c in configs for p in (f"data/{c}/*", f"hashes/{c}-*")]
    at = f" at {revision!r}" if revision else ""
    try:
        path = snapshot_download(
            name, repo_type="dataset", revision=revision, allow_patterns=patterns
        )
    except HFValidationError:
        raise EvaluationError(f"dataset {name!r}: no such folder, and not a Hub id") from None
    except LocalEntryNotFoundError:
        raise EvaluationError(
            f"dataset {name!r}{at}: the Hub cannot be reached, and this revision was not fetched "
            "before"
        ) from None
    except Exception as error:
        # Besides the Hub's errors, whatever the client's transport raises: it was requests, then
        # httpx, then httpx2.
        reason = next((line for line in str(error).splitlines() if line.strip()), "")
        raise EvaluationError(
            f"dataset {name!r}{at}: not on the Hub, or not readable ({type(error).__name__}: "
            f"{reason.strip()[:200]})"
        ) from None
    folder = Path(path)
    return Source(name, folder, repo=name, revision=revision, commit=folder.name)


def _with_manifest(source: Source) -> Source:
    path = source.folder / "manifest.json"
    if not path.is_file():
        note = "no manifest.json: rows are not verified, and there is no artefact score"
        return replace(source, notes=(*source.notes, note))
    try:
        return replace(source, manifest=read_manifest(path))
    except (EvaluationError, OSError) as error:
        detail = str(error).removeprefix(f"{source.folder}/")
        raise EvaluationError(f"dataset {source.name!r}: {detail}") from None
