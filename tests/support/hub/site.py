"""Who may do what: accounts, repositories and the two addresses they are reached at."""

from __future__ import annotations

import hashlib
import hmac
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal
from urllib.parse import unquote

from support.hub.store import Commit, HubError, Repo
from support.hub.wire import Answer, Call


@dataclass(frozen=True)
class Account:
    """A user, as one of their tokens lets them act."""

    name: str
    namespaces: frozenset[str]
    role: Literal["read", "write"]


class Site:
    """All that the request handlers share."""

    def __init__(self) -> None:
        self.url = ""
        self.storage_url = ""
        self.repos: dict[str, Repo] = {}  # by id; a Space's begins with `spaces/`
        self.accounts: dict[str, Account] = {}  # by token
        self._secret = secrets.token_bytes(16)

    def authenticate(self, call: Call) -> Account | None:
        """The account behind the request's token, or None for an anonymous one."""
        authorization = call.headers.get("authorization")
        if authorization is None:
            return None
        account = self.accounts.get(authorization.removeprefix("Bearer "))
        if account is None:
            # No error code: by these very words the clients tell a bad token from a missing repo.
            raise HubError(401, "Invalid credentials in Authorization header")
        return account

    def create(self, repo_id: str, private: bool, author: str) -> Repo:
        if repo_id in self.repos:
            raise HubError(409, "You already created this dataset repo")
        sdk = "static" if repo_id.startswith("spaces/") else ""
        repo = Repo(repo_id.removeprefix("spaces/"), private, author, sdk)
        self.repos[repo_id] = repo
        return repo

    def signature(self, text: str) -> str:
        """Proof that this site handed out a storage address: no token is sent there."""
        return hmac.new(self._secret, text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True)
class Context:
    """One request on its way through a handler."""

    site: Site
    call: Call
    account: Account | None
    args: Mapping[str, str]  # what the route's placeholders matched, unquoted

    @property
    def repo(self) -> Repo:
        """The repository, if this account may know that it exists."""
        repo = self.site.repos.get(self.args["id"])
        if repo is None or (repo.private and not self._is_member(repo.id)):
            raise HubError(404, "Repository not found", "RepoNotFound")
        return repo

    @property
    def commit(self) -> Commit:
        return self.repo.resolve(self.args["rev"])

    def writable(self, *, by_pull_request: bool = False) -> Repo:
        """The repository, if this account may write to it (or may propose to)."""
        repo = self.repo
        if self.account is None:
            # Over https the clients read any 401 of a repository as "not found"; over the plain
            # http of a loopback they need the code to come to the same error.
            raise HubError(401, "Invalid username or password.", "RepoNotFound")
        if self.account.role != "write":
            raise HubError(403, "Forbidden: you must use a write token to upload to a repository.")
        if not by_pull_request and not self._is_member(repo.id):
            hint = "pass `create_pr=1` as a query parameter to create a Pull Request"
            raise HubError(403, f"Forbidden: {hint}")
        return repo

    def writer_of(self, namespace: str | None) -> Account:
        """The account, if it may create repositories in this namespace (None: its own)."""
        if self.account is None:
            raise HubError(401, "Invalid username or password.")
        namespace = namespace or self.account.name
        if self.account.role != "write" or namespace not in self.account.namespaces:
            raise HubError(
                403, "You don't have the rights to create a dataset under this namespace"
            )
        return self.account

    def _is_member(self, repo_id: str) -> bool:
        return self.account is not None and repo_id.split("/")[0] in self.account.namespaces


Handler = Callable[[Context], Answer]


@dataclass(frozen=True)
class Route:
    """A method and a path such as `/api/datasets/{id}/tag/{rev}`, and who answers it."""

    method: str
    path: str
    handler: Handler

    def match(self, call: Call) -> dict[str, str] | None:
        method = "GET" if call.method == "HEAD" else call.method
        if method != self.method:
            return None
        pattern = self.path.replace("{id}", "(?P<id>[^/]+/[^/]+)").replace("{path}", "(?P<path>.+)")
        found = re.fullmatch(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", pattern), call.target)
        args = {k: unquote(v) for k, v in found.groupdict().items()} if found else None
        if args and "/spaces/{id}" in self.path:
            args["id"] = f"spaces/{args['id']}"
        return args


def dispatch(site: Site, routes: Iterable[Route], call: Call, account: Account | None) -> Answer:
    """The first route that fits."""
    for route in routes:
        args = route.match(call)
        if args is not None:
            return route.handler(Context(site, call, account, args))
    raise HubError(404, f"Sorry, this loopback Hub has no {call.method} {call.path}")
