"""What the Hub keeps, in memory: repositories with frozen commits, refs and LFS objects."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cached_property
from types import MappingProxyType

# What the Hub puts into every new dataset repository, shortened to the patterns that matter here.
GITATTRIBUTES = b"".join(
    b"*.%s filter=lfs diff=lfs merge=lfs -text\n" % suffix
    for suffix in (b"parquet", b"arrow", b"bin", b"gz", b"npz", b"tar", b"zip", b"zst")
)
BIRTH = datetime(2024, 1, 1, tzinfo=UTC)
# What it puts into every new static Space beside these.
OF_A_SPACE = {
    "README.md": b"---\ntitle: Space\nsdk: static\npinned: false\n---\n",
    "index.html": b"<h1>Welcome to your static Space!</h1>",
    "style.css": b"body { padding: 2rem; }",
}


class HubError(Exception):
    """An answer other than success, as the Hub words it."""

    def __init__(
        self, status: int, message: str, code: str = "", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.code = (
            code  # X-Error-Code: the clients tell "no such revision" from "no such file" by it
        )
        self.headers = dict(headers or {})


@dataclass(frozen=True)
class Blob:
    """The content of one file, and whether git holds it or only a pointer to it."""

    data: bytes
    lfs: bool

    @property
    def size(self) -> int:
        return len(self.data)

    @cached_property
    def sha256(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    @cached_property
    def pointer(self) -> bytes:
        version = "https://git-lfs.github.com/spec/v1"
        return f"version {version}\noid sha256:{self.sha256}\nsize {self.size}\n".encode()

    @cached_property
    def git_oid(self) -> str:
        """The git blob id; of an LFS file, that of its pointer."""
        return git_oid(self.pointer if self.lfs else self.data)

    @property
    def oid(self) -> str:
        """What `preupload` and the ETag name the content by."""
        return self.sha256 if self.lfs else self.git_oid


def git_oid(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


@dataclass(frozen=True)
class Commit:
    """One commit with its whole tree, which nothing changes afterwards."""

    sha: str
    parent: str | None
    title: str
    description: str
    author: str
    date: str
    files: Mapping[str, Blob] = field(repr=False)


@dataclass(frozen=True)
class Tag:
    """An annotated tag; `message` is empty for a lightweight one."""

    name: str
    target: str
    message: str


@dataclass
class Repo:
    """One repository: of a dataset, or with ``sdk`` a Space."""

    id: str
    private: bool
    author: str
    sdk: str = ""
    objects: dict[str, Blob] = field(default_factory=dict)  # LFS: by sha256
    branches: dict[str, str] = field(default_factory=dict)
    tags: dict[str, Tag] = field(default_factory=dict)
    pulls: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._commits: dict[str, Commit] = {}
        files = {".gitattributes": GITATTRIBUTES, **(OF_A_SPACE if self.sdk else {})}
        blobs = {path: Blob(data, False) for path, data in files.items()}
        first = self.write(None, blobs, "initial commit")
        self.branches["main"] = first.sha

    @property
    def place(self) -> str:
        """What follows the host in the address of its page."""
        return f"{'spaces' if self.sdk else 'datasets'}/{self.id}"

    def resolve(self, revision: str) -> Commit:
        """A branch, a tag, a full ref, a pull request, a sha or the start of one."""
        kind, _, name = revision.removeprefix("refs/").partition("/")
        sha: str | None = None
        if not revision.startswith("refs/"):
            tag = self.tags.get(revision)
            sha = self.branches.get(revision) or (tag.target if tag else None)
        elif kind == "heads":
            sha = self.branches.get(name)
        elif kind == "tags" and name in self.tags:
            sha = self.tags[name].target
        elif kind == "pr" and name.isdigit():
            sha = self.pulls.get(int(name))
        if sha is None and len(revision) >= 7:
            found = [sha for sha in self._commits if sha.startswith(revision)]
            sha = found[0] if len(found) == 1 else None
        if sha is None:
            raise HubError(404, f"Invalid rev id: {revision}", "RevisionNotFound")
        return self._commits[sha]

    def history(self, revision: str) -> Iterator[Commit]:
        """Commits from the newest to the first."""
        sha: str | None = self.resolve(revision).sha
        while sha is not None:
            commit = self._commits[sha]
            yield commit
            sha = commit.parent

    def write(
        self,
        parent: str | None,
        files: Mapping[str, Blob],
        title: str,
        description: str = "",
        author: str = "",
    ) -> Commit:
        """A new commit that no ref points to yet."""
        number = len(self._commits)
        # A count in place of a clock: a test's history is the same on every run, and in order.
        date = (BIRTH + timedelta(seconds=number)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        tree = sorted((path, blob.git_oid) for path, blob in files.items())
        identity = json.dumps([self.id, number, parent, title, description, tree])
        commit = Commit(
            sha=hashlib.sha1(identity.encode()).hexdigest(),
            parent=parent,
            title=title,
            description=description,
            author=author or self.author,
            date=date,
            files=MappingProxyType(dict(files)),
        )
        self._commits[commit.sha] = commit
        return commit

    def advance(self, revision: str, commit: Commit) -> None:
        """Let a branch (or pull request) point to a commit made on top of it."""
        branch = revision.removeprefix("refs/heads/")
        pull = revision.removeprefix("refs/pr/")
        if branch in self.branches:
            self.branches[branch] = commit.sha
        elif pull.isdigit() and int(pull) in self.pulls:
            self.pulls[int(pull)] = commit.sha
        else:
            raise HubError(400, f"Not a branch: {revision}")

    def open_pull(self, commit: Commit) -> int:
        """A pull request, of one commit; the branch stays where it is."""
        number = len(self.pulls) + 1
        self.pulls[number] = commit.sha
        return number

    def add_tag(self, name: str, revision: str, message: str) -> None:
        target = self.resolve(revision).sha
        if name in self.tags:
            raise HubError(409, f"Tag reference exists already: {name}")
        self.tags[name] = Tag(name, target, message)

    def delete_tag(self, name: str) -> None:
        if self.tags.pop(name, None) is None:
            raise HubError(404, f"Tag not found: {name}", "RevisionNotFound")

    def add_branch(self, name: str, start: str) -> None:
        target = self.resolve(start).sha
        if name in self.branches:
            raise HubError(409, f"Reference already exists: {name}")
        self.branches[name] = target
