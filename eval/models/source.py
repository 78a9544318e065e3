"""The places of models' files: a folder, the embedded model, or a Hub repository at one commit.

The commit is found first and everything is read at it, so that config, tokenizer and weights
belong together and the results can name it. (Asked for a branch, transformers would also let a
service on the Hub convert pickled weights, and read those.)
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.files.folders import sha256_of
from coherencegym.hub import unread

#: The model that comes with the package.
DEMO = "demo"
#: The files of an adapter.
ADAPTER_CONFIG, ADAPTER_WEIGHTS = "adapter_config.json", "adapter_model.safetensors"
#: Files of a folder that numbers depend on: weights, configs, and what tokenizers are read from.
_IDENTIFYING = (
    *("*.safetensors", "config.json", ADAPTER_CONFIG, "tokenizer*.json", "*.model"),
    *("vocab.*", "merges.txt", "added_tokens.json", "special_tokens_map.json"),
)


@dataclass(frozen=True)
class ModelSource:
    """The files of a model, a tokenizer or an adapter.

    Attributes:
        name: the user's name for it.
        path: a folder, or the Hub id.
        subfolder: a part of it, ``""`` for none.
        commit: sha of the Hub commit; None for a folder.
    """

    name: str
    path: str
    subfolder: str = ""
    commit: str | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """Arguments of ``from_pretrained`` besides the path."""
        settings = {"revision": self.commit, "subfolder": self.subfolder}
        return {key: value for key, value in settings.items() if value}

    @property
    def _folder(self) -> Path:
        return Path(self.path, self.subfolder)

    def identity(self, code: bool = False) -> str:
        """The Hub commit, or ``sha256:`` and the digest of a folder's files, Python code or not."""
        if self.commit is not None:
            return self.commit
        names = _IDENTIFYING + (("*.py",) if code else ())
        whole = hashlib.sha256()
        for path in sorted({path for name in names for path in self._folder.glob(name)}):
            whole.update(f"{path.name} {sha256_of(path)}\n".encode())
        return "sha256:" + whole.hexdigest()

    def read_json(self, name: str) -> dict[str, Any] | None:
        """An object in a JSON file; None where there is no such file."""
        path = self.file(name)
        if path is None:
            return None
        try:
            value = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise EvaluationError(f"{self.name!r}: {name} is no JSON object")
        return value

    def file(self, name: str) -> Path | None:
        """A file on this machine, fetched if need be; None where there is none."""
        if self.commit is None:
            path = self._folder / name
            return path if path.is_file() else None
        from huggingface_hub import hf_hub_download
        from huggingface_hub.errors import EntryNotFoundError

        inside = self.subfolder or None
        try:
            return Path(hf_hub_download(self.path, name, subfolder=inside, revision=self.commit))
        except EntryNotFoundError:
            # Not on the Hub, or not in the cache of a machine that cannot reach it.
            return None

    def fetch(self, names: Sequence[str]) -> None:
        """Bring files of a Hub repository to this machine, several at a time."""
        if self.commit is None:
            return
        from huggingface_hub import snapshot_download

        inside = [str(Path(self.subfolder, name)) for name in names]
        try:
            snapshot_download(self.path, revision=self.commit, allow_patterns=inside)
        except Exception as error:
            # Besides the Hub's errors, whatever the client's transport raises.
            raise EvaluationError(
                f"model {self.name!r}: its weights: {unread(error, self.path)}"
            ) from None

    def names(self) -> list[str]:
        """Names of the files; none where the Hub does not say."""
        if self.commit is None:
            return [path.name for path in self._folder.iterdir()]
        from huggingface_hub import HfApi

        try:
            names = HfApi().list_repo_files(self.path, revision=self.commit)
        except Exception:
            # This serves a better message only.
            return []
        return [name for name in names if Path(name).parent == Path(self.subfolder)]

    def models_inside(self) -> list[str]:
        """The folders in this one that hold a model or an adapter; none of a Hub repository."""
        names = models_in(self._folder) if self.commit is None else []
        return [str(self._folder / name) for name in names]

    def base_of_adapter(self) -> ModelSource | None:
        """The model that this adapter is for, itself where both are together; None: no adapter."""
        adapter = self.read_json(ADAPTER_CONFIG)
        if adapter is None:
            return None
        if self.file("config.json") is not None:
            return self
        base, revision = adapter.get("base_model_name_or_path"), adapter.get("revision")
        if not isinstance(base, str) or not base:
            raise EvaluationError(
                f"model {self.name!r} is an adapter that does not say for which model; expected "
                "--model MODEL --model-arg peft=" + self.name
            )
        found = find_model(base, revision if isinstance(revision, str) else None)
        if found.file("config.json") is None and found.file(ADAPTER_CONFIG) is not None:
            raise EvaluationError(f"model {self.name!r} is an adapter for an adapter ({base!r})")
        return found


def models_in(folder: Path) -> list[str]:
    """The subfolders that hold a model or an adapter, by name."""
    files = ("config.json", ADAPTER_CONFIG)
    return sorted({path.parent.name for file in files for path in folder.glob(f"*/{file}")})


def find_model(
    name: str, revision: str | None = None, subfolder: str = "", what: str = "model"
) -> ModelSource:
    """Find a model, a tokenizer or an adapter.

    Args:
        name: Hub id, folder or ``demo``.
        revision: tag, branch or commit on the Hub; None: the newest.
        subfolder: a part of the folder or repository.
        what: its name in messages.
    """
    if Path(subfolder).is_absolute() or ".." in Path(subfolder).parts:
        raise EvaluationError(f"--model-arg subfolder={subfolder}: expected a folder inside it")
    folder = Path(name)
    if name == DEMO:
        folder = Path(__file__).parent / "demo_model"
        if not (folder / "config.json").is_file():
            raise EvaluationError("the embedded model is not in this installation")
    if name and folder.is_dir():
        if revision is not None:
            raise EvaluationError(
                f"revision {revision}: {what} {name!r} is a folder, which has none; expected a "
                "Hub id"
            )
        if not Path(folder, subfolder).is_dir():
            raise EvaluationError(f"{what} {name!r} has no folder {subfolder!r}")
        return ModelSource(name, str(folder), subfolder)
    if not name or folder.exists() or name.count("/") > 1 or name.startswith((".", "/", "~")):
        raise EvaluationError(f"{what} {name!r}: no such folder; expected a folder or a Hub id")
    return ModelSource(name, name, subfolder, _commit(name, revision, what))


def _commit(name: str, revision: str | None, what: str) -> str:
    from huggingface_hub import HfApi

    at = f" at {revision!r}" if revision else ""
    try:
        return str(HfApi().resolve_revision(name, revision=revision).resolved)
    except Exception as error:
        # Besides the Hub's errors, whatever the client's transport raises.
        raise EvaluationError(
            f"{what} {name!r}{at}: no such folder, and {unread(error, name)}"
        ) from None
