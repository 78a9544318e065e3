"""A Hub on the loopback interface, for driving the real `huggingface_hub` and `datasets` clients.

Two origins, as on the real Hub: one for the API, one for LFS objects, which clients reach through
signed addresses and must reach without their token. Standard library only. It holds datasets,
which can be read and written as models, too, and static Spaces, whose ids here begin with
`spaces/`; of these it takes only files that git holds.
"""

from __future__ import annotations

import secrets
import threading
import traceback
from collections.abc import Mapping
from types import TracebackType
from typing import Literal

from support.hub import content, repos, uploads, viewer
from support.hub.faults import Faults
from support.hub.log import Request, summary
from support.hub.site import Account, Site, dispatch
from support.hub.store import Blob, Commit, HubError, Tag
from support.hub.wire import CUT, Answer, Call, Origin, json_answer

HUB_ROUTES = [*repos.ROUTES, *content.ROUTES, *uploads.ROUTES, *viewer.ROUTES]
STORAGE_ROUTES = [*content.STORAGE_ROUTES, *uploads.STORAGE_ROUTES]


class HubServer:
    """Start it, point a client at `url` with one of the tokens, then look at what came of it.

    `write_token` and `read_token` belong to alice, a member of `namespace`; `stranger_token` may
    write, but only in bob's own namespace. Data survives `stop` and `start`, as does the address.
    """

    def __init__(self, namespace: str = "coherencegym") -> None:
        self.faults = Faults()
        self.crashes: list[str] = []  # tracebacks of bugs in this server; a test must find none
        self.write_token, self.read_token, self.stranger_token = (
            f"hf_{secrets.token_hex(17)}" for _ in range(3)
        )
        ours = frozenset({"alice", namespace})
        self._site = Site()
        self._site.accounts = {
            self.write_token: Account("alice", ours, "write"),
            self.read_token: Account("alice", ours, "read"),
            self.stranger_token: Account("bob", frozenset({"bob"}), "write"),
        }
        self._requests: list[Request] = []
        self._lock = threading.RLock()  # one action at a time: a commit is all or nothing
        self._hub = Origin(lambda call: self._respond("hub", call))
        self._storage = Origin(lambda call: self._respond("storage", call))

    @property
    def url(self) -> str:
        return self._hub.url

    @property
    def storage_url(self) -> str:
        # Another host than the Hub's, as it is there: older clients do not look at the port.
        return self._storage.url.replace("127.0.0.1", "localhost")

    def start(self) -> None:
        self._hub.start()
        self._storage.start()
        self._site.url, self._site.storage_url = self.url, self.storage_url

    def stop(self) -> None:
        """Refuse connections from now on, kept-alive ones too."""
        self._hub.stop()
        self._storage.stop()

    def __enter__(self) -> HubServer:
        self.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self.stop()

    # What tests prepare and look at -------------------------------------------------------------

    def seed(
        self,
        repo_id: str,
        files: Mapping[str, bytes],
        tag: str | None = None,
        private: bool = False,
    ) -> str:
        """Commit the files to main without HTTP, in a new repository if need be; the new sha."""
        with self._lock:
            repo = self._site.repos.get(repo_id) or self._site.create(repo_id, private, "alice")
            head = repo.resolve("main")
            tree = dict(head.files)
            for path, data in files.items():
                mode = uploads.upload_mode(head, path, data[:512], len(data))
                blob = tree[path] = Blob(data, mode == "lfs")
                if blob.lfs:
                    repo.objects[blob.sha256] = blob
            commit = repo.write(head.sha, tree, "seed")
            repo.advance("main", commit)
            if tag is not None:
                repo.add_tag(tag, "main", "")
            return commit.sha

    def repositories(self) -> list[str]:
        with self._lock:
            return sorted(self._site.repos)

    def commits(self, repo_id: str, revision: str = "main") -> list[Commit]:
        """Newest first. The last is the Hub's own, with nothing but .gitattributes."""
        with self._lock:
            return list(self._site.repos[repo_id].history(revision))

    def tags(self, repo_id: str) -> dict[str, Tag]:
        with self._lock:
            return dict(self._site.repos[repo_id].tags)

    def files(self, repo_id: str, revision: str = "main") -> dict[str, bytes]:
        """Every file of a revision, .gitattributes among them."""
        with self._lock:
            tree = self._site.repos[repo_id].resolve(revision).files
            return {path: blob.data for path, blob in tree.items()}

    def pull_requests(self, repo_id: str) -> list[int]:
        """Their numbers."""
        with self._lock:
            return sorted(self._site.repos[repo_id].pulls)

    def lfs_objects(self, repo_id: str) -> set[str]:
        """The sha256 of every uploaded object, whether or not a commit refers to it."""
        with self._lock:
            return set(self._site.repos[repo_id].objects)

    @property
    def requests(self) -> list[Request]:
        with self._lock:
            return list(self._requests)

    def clear_requests(self) -> None:
        with self._lock:
            self._requests.clear()

    # One request ----------------------------------------------------------------------------------

    def _respond(self, origin: Literal["hub", "storage"], call: Call) -> Answer:
        with self._lock:
            fault = self.faults.take(call.method, call.path)
            account: Account | None = None
            try:
                account = self._site.authenticate(call) if origin == "hub" else None
                if fault is None or fault.after:
                    routes = HUB_ROUTES if origin == "hub" else STORAGE_ROUTES
                    answer = dispatch(self._site, routes, call, account)
            except HubError as error:
                answer = _refusal(error)
            except Exception:
                self.crashes.append(f"{call.method} {call.path}\n{traceback.format_exc()}")
                answer = _refusal(HubError(500, "A bug in the loopback Hub: see HubServer.crashes"))
            if fault is not None:
                failure = HubError(fault.status or 0, fault.message, fault.code)
                answer = fault.answer or (CUT if fault.cut else _refusal(failure))
            who = f"{account.name} ({account.role})" if account else ""
            line = Request(origin, call.method, call.path, answer.status, who, summary(call))
            self._requests.append(line)
            return answer


def _refusal(error: HubError) -> Answer:
    headers = {"X-Error-Message": error.message, **error.headers}
    if error.code:
        headers["X-Error-Code"] = error.code
    # `errors` is where validate-yaml's reasons are read from, `error` everyone else's.
    body = {"error": error.message, "errors": [{"message": error.message}]}
    return json_answer(body, error.status, headers)
