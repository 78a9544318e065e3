"""The Hub: its answers and errors; a repository, its head and tags, and one commit on that head.

What no Hub gives is refused, and each error is told in one line. A proxy or a portal may speak in
its place, and the Hub's client takes any status of 2xx for the Hub's word. A login page then ends
in an error of a JSON parser, or, where the client reads no answer (of a tag, or of an uploaded
file), in a success that was none; and a redirect of 307 would carry the content of a commit to
another host.

A repository is one of a dataset where nothing else is said.
"""

from __future__ import annotations

import hashlib
import re
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from traceback import walk_tb
from typing import Any
from urllib.parse import urlsplit

from coherencegym.errors import EvaluationError, first_line, one_line

#: Libraries whose errors mean that no answer came; which of them the client uses has changed.
_TRANSPORTS = frozenset({"httpx", "httpx2", "httpcore", "httpcore2", "requests", "urllib3"})

#: Errors to which an answer of another shape than expected leads.
_MISREAD = (ValueError, LookupError, TypeError, AttributeError)

#: Names that an error gives of those that there are.
_MOST_NAMED = 6
#: Tries to work a commit out anew after somebody else's came between.
TRIES = 3
#: Answers to a commit whose parent is no longer the head.
_MOVED = (409, 412)


class AnswerError(Exception):
    """An answer that no Hub gives; the message says which host answered what."""


@contextmanager
def hub_answers() -> Iterator[None]:
    """Watch the client of the Hub: what it would take for an answer has to be one."""
    from huggingface_hub import get_session

    watch = _Watch()
    client = get_session()
    before = client.event_hooks
    client.event_hooks = {**before, "response": [*before["response"], watch.check]}
    try:
        yield
    except Exception as error:
        if watch.last is None or not _is_misread(error):
            raise
        raise AnswerError(_described(watch.last)) from error
    finally:
        client.event_hooks = before


@contextmanager
def hub_errors(again: str) -> Iterator[None]:
    """Watch the client, as :func:`hub_answers` does, and say in one line what the Hub is at."""
    try:
        with hub_answers():
            yield
    except EvaluationError:
        raise
    except Exception as error:
        if (problem := hub_problem(error, again)) is None:
            raise
        raise EvaluationError(problem[1]) from None


def repository_info(api: Any, repo_id: str, repo_type: str = "dataset", **options: Any) -> Any:
    """The Hub's word on a repository: at least commit, files, and whether it is private."""
    info = api.repo_info(repo_id, repo_type=repo_type, **options)
    is_commit = isinstance(info.sha, str) and re.fullmatch("[0-9a-f]{40}", info.sha)
    if not is_commit or info.siblings is None or not isinstance(info.private, bool):
        raise AnswerError(
            f"{endpoint_host(api)} described {repo_id} without commit, files or who may see it"
        )
    return info


def endpoint_host(api: Any) -> str:
    """The host and port that a client of the Hub speaks to."""
    return urlsplit(str(api.endpoint)).netloc.rpartition("@")[2]


def _described(response: Any) -> str:
    # Such as ``example.org answered GET /x with 200 (text/html)``. Nothing of an address but hosts
    # and the path that was asked for: queries hold signatures, and where a portal leads to is its
    # own affair.
    asked = (response.history or [response])[0].request
    host, first = _host(response.url), _host(asked.url)
    kind = re.match(r"[\w.+-]+/[\w.+-]+", response.headers.get("Content-Type", ""), re.ASCII)
    return (
        f"{host} answered {_asked(asked)} with {response.status_code} "
        f"({kind[0] if kind else 'no content type'})"
        + (f", redirected from {first}" if host != first else "")
    )


def _is_page(response: Any) -> bool:
    return "html" in response.headers.get("Content-Type", "").lower()


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    current: BaseException | None = error
    while current is not None and id(current) not in seen:
        seen.add(id(current))
        yield current
        current = current.__cause__ or current.__context__


def hub_problem(error: BaseException, again: str) -> tuple[int, str] | None:
    """The exit code and the line for an error; None where it is no matter of the Hub.

    The code is 2 where the user can mend it, 1 where the Hub failed or could not be reached. The
    line ends with ``again``: what readers see now, and how to go on. What goes wrong in the upload
    threads of the client comes wrapped in another error, so causes are looked at. Nothing that the
    Hub or the client says is repeated: it may hold addresses.
    """
    from huggingface_hub import errors

    for cause in _causes(error):
        if isinstance(cause, AnswerError):
            return 2, (
                f"{cause}, which no Hub does: a proxy, a login page of the network or HF_ENDPOINT "
                f"is in the way; {again}"
            )
        if isinstance(cause, errors.OfflineModeIsEnabled):
            return 2, "HF_HUB_OFFLINE is set; unset it to reach the Hub"
        if isinstance(cause, errors.HfHubHTTPError) and cause.response is not None:
            return _refusal(cause.response, again)
        lost = (errors.LocalEntryNotFoundError, ConnectionError, TimeoutError)
        if isinstance(cause, lost) or _is_of_transport(cause):
            return 1, f"the connection to the Hub broke ({type(cause).__name__}); {again}"
    return None


def unread(error: BaseException, repo_id: str, repo_type: str = "model") -> str:
    """Say why a repository could not be read, and what to do: the end of a line.

    Args:
        error: the client's, or that of its transport.
        repo_id: a Hub id.
        repo_type: ``model`` or ``dataset``.
    """
    from huggingface_hub import constants, errors

    if isinstance(error, errors.HFValidationError):
        return "not a Hub id; expected one of them"
    if isinstance(error, errors.GatedRepoError):
        return "access has to be granted first: ask on its page, and log in with `hf auth login`"
    if isinstance(error, errors.RevisionNotFoundError):
        return f"the repository has no such revision{_revisions(repo_id, repo_type)}"
    if isinstance(error, errors.RepositoryNotFoundError):
        return "not on the Hub, or private (then log in with `hf auth login`)"
    if getattr(getattr(error, "response", None), "status_code", 0) == 401:
        return "the Hub does not know this token; log in with `hf auth login`, or unset HF_TOKEN"
    lost = (errors.LocalEntryNotFoundError, errors.RevisionResolutionError, ConnectionError)
    if isinstance(error, (*lost, TimeoutError)) or _is_of_transport(error):
        is_off = constants.HF_HUB_OFFLINE
        return (
            ("HF_HUB_OFFLINE is set" if is_off else "the Hub cannot be reached")
            + ", and it was not fetched before; expected "
            + ("no HF_HUB_OFFLINE, or " if is_off else "a network, or ")
            + "its files here: where there is a network, `hf download "
            + ("" if repo_type == "model" else f"--repo-type {repo_type} ")
            + f"{repo_id} --local-dir FOLDER` writes them"
        )
    return f"not readable ({type(error).__name__}: {first_line(error)[:200]})"


def _revisions(repo_id: str, repo_type: str) -> str:
    from huggingface_hub import HfApi

    try:
        found = HfApi().list_repo_refs(repo_id, repo_type=repo_type)
    except Exception:
        # This serves a better message only.
        return ""
    return "; " + some_names([one.name for one in (*found.tags, *found.branches)])


def some_names(known: Sequence[str]) -> str:
    """Say which names there are: of many the first and the last show what they are like."""
    if not known:
        return "there is none"
    half = _MOST_NAMED // 2
    few = known if len(known) <= _MOST_NAMED else [*known[:half], "...", *known[-half:]]
    return one_line(f"there are {', '.join(few)} ({len(known):,})")


def _refusal(response: Any, again: str) -> tuple[int, str]:
    from huggingface_hub import constants

    status = response.status_code
    is_hub = str(response.url).startswith(f"{constants.ENDPOINT}/") and not _is_page(response)
    if status in (401, 403) and is_hub:
        return 2, (
            f"the Hub refused ({status}): this token may not write there; log in with "
            f"`hf auth login`, or set HF_TOKEN to a token with write access; {again}"
        )
    if status == 409:
        return 2, f"the Hub refused (409): this tag or repository was made meanwhile; {again}"
    return (1 if status >= 500 else 2), f"{_described(response)}; {again}"


class _Watch:
    # ``last``: this thread's last answer.
    def __init__(self) -> None:
        self.last: Any = None
        self._thread = threading.get_ident()

    def check(self, response: Any) -> None:
        # No Hub answers so to a request that writes, or that asks for JSON.
        # The threads of an upload read nothing out of their answers.
        if threading.get_ident() == self._thread:
            self.last = response
        request = response.request
        writes = request.method not in ("GET", "HEAD")
        if writes and response.has_redirect_location:
            there = _host(request.url.join(response.headers["Location"]))
            if there != _host(request.url):
                raise AnswerError(f"{_host(request.url)} redirects {_asked(request)} to {there}")
        is_read = writes or request.url.path.startswith("/api/")
        # Storage may call an empty answer a page.
        if is_read and response.is_success and _is_page(response) and response.read():
            raise AnswerError(_described(response))


def _is_misread(error: BaseException) -> bool:
    from huggingface_hub.errors import HfHubHTTPError, OfflineModeIsEnabled

    chain = list(_causes(error))
    if any(isinstance(cause, (HfHubHTTPError, OfflineModeIsEnabled)) for cause in chain):
        return False
    if any(map(_is_of_transport, chain)):
        return False
    return any(map(_is_odd, chain)) and any(map(_is_of_client, chain))


def _is_of_transport(error: BaseException) -> bool:
    return type(error).__module__.partition(".")[0] in _TRANSPORTS


def _is_odd(error: BaseException) -> bool:
    if isinstance(error, (ConnectionError, TimeoutError)):
        return False  # the other client's, which speaks to the Hub's storage
    # An OSError without a number is the client's own: a file without a commit, or of another size.
    return isinstance(error, _MISREAD) or (isinstance(error, OSError) and error.errno is None)


def _is_of_client(error: BaseException) -> bool:
    frames = (frame.f_globals.get("__name__", "") for frame, _ in walk_tb(error.__traceback__))
    return any(name.startswith("huggingface_hub.") for name in frames)


def _asked(request: Any) -> str:
    # Without the query, and no more of a long path than one can read.
    path = request.url.raw_path.partition(b"?")[0].decode("ascii")
    return f"{request.method} {path if len(path) <= 160 else path[:160] + '...'}"


def _host(url: Any) -> str:
    # Without a user's name.
    return str(url.netloc.decode("ascii"))


def check_target(repo_id: str, needs_token: bool = False) -> None:
    """Refuse with ``EvaluationError`` what no push could come of: no name, or no token."""
    from huggingface_hub import get_token
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id  # type: ignore[attr-defined]

    is_name = repo_id.count("/") == 1
    try:
        validate_repo_id(repo_id)
    except HFValidationError:
        is_name = False
    if not is_name:
        raise EvaluationError(f"{repo_id!r} is no name of a repository; expected USER/NAME")
    if needs_token and get_token() is None:
        raise EvaluationError(
            f"to push to {repo_id} log in with `hf auth login`, or set HF_TOKEN to a token with "
            "write access"
        )


def check_rights(api: Any, repo_id: str) -> None:
    """Refuse a push that the Hub would refuse, as far as it says beforehand whose token it is.

    A token of fine grain may do what only a try shows. Where the Hub does not say, nothing is
    refused: people are told of that by the push.
    """
    from huggingface_hub.errors import HfHubHTTPError

    try:
        about = api.whoami()
    except HfHubHTTPError as error:
        if error.response is not None and error.response.status_code in (401, 403):
            raise
        return
    token = about.get("auth", {}).get("accessToken", {})
    role, user = token.get("role"), about.get("name")
    if role == "read":
        raise EvaluationError(
            f"to push to {repo_id}: this token may not write there, only read; log in with "
            "`hf auth login`, or set HF_TOKEN to a token with write access"
        )
    owners = [user, *(organisation["name"] for organisation in about.get("orgs", ()))]
    owner = repo_id.partition("/")[0]
    if role == "write" and owner not in owners:
        raise EvaluationError(
            f"to push to {repo_id}: this token is of {user}, who is no member of {owner}; expected "
            f"--repo-id with one of {', '.join(owners)} before the slash, or another token"
        )


@dataclass(frozen=True)
class Head:
    """The head of a repository.

    Attributes:
        private: true where only its owners see it.
        sha: commit of the main branch; empty where there is no repository.
        digests: path in it -> sha256 of a large file, git's name of another.
    """

    private: bool = False
    sha: str = ""
    digests: Mapping[str, str] = field(default_factory=dict)

    @property
    def exists(self) -> bool:
        """True where the repository is there, and one may see it."""
        return bool(self.sha)

    def has(self, path: str, content: bytes) -> bool:
        """Tell whether it holds a file of this content there."""
        by_git = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        return self.digests.get(path) in (by_git, hashlib.sha256(content).hexdigest())


def read_head(
    api: Any, repo_id: str, repo_type: str = "dataset", revision: str | None = None
) -> Head:
    """Read a repository's head, or an empty one where there is no repository.

    Args:
        revision: that of a pull request; None: the main branch.
    """
    from huggingface_hub.errors import RepositoryNotFoundError

    try:
        info = repository_info(api, repo_id, repo_type, files_metadata=True, revision=revision)
    except RepositoryNotFoundError:
        return Head()
    digests = {
        file.rfilename: file.lfs["sha256"] if file.lfs else file.blob_id for file in info.siblings
    }
    return Head(info.private, info.sha, digests)


def open_proposals(
    api: Any, repo_id: str, title: str, repo_type: str
) -> Iterator[tuple[str, Head]]:
    """The pull requests of a title that are open: the number of each (``#3``), and its head."""
    about = {"discussion_type": "pull_request", "discussion_status": "open"}
    for pull in api.get_repo_discussions(repo_id, repo_type=repo_type, **about):
        if pull.title == title:
            yield f"#{pull.num}", read_head(api, repo_id, repo_type, f"refs/pr/{pull.num}")


def fetch(api: Any, repo_id: str, path: str, revision: str, repo_type: str = "dataset") -> Path:
    """A file of a repository at a commit, from the client's cache if it is there."""
    return Path(api.hf_hub_download(repo_id, path, repo_type=repo_type, revision=revision))


def make_repository(api: Any, repo_id: str, private: bool) -> None:
    """Make a dataset's repository, unless somebody else just did."""
    api.create_repo(repo_id, repo_type="dataset", private=private or None, exist_ok=True)


def open_repository(api: Any, repo_id: str, private: bool, dry_run: bool) -> tuple[Head, list[str]]:
    """The head of a dataset's repository, made where it is not there, and what is said of that.

    Args:
        private: make it private; refuse one that is public.
        dry_run: make none.
    """
    head = read_head(api, repo_id)
    lines = []
    if not head.exists:
        made = "would be made" if dry_run else "made"
        lines.append(f"{repo_id} is not there: {made}{', private' if private else ''}")
        if not dry_run:
            make_repository(api, repo_id, private)
            # Somebody else may have made it, and pushed: what is there is read in any case.
            head = read_head(api, repo_id)
    if private and head.exists and not head.private:
        raise EvaluationError(
            f"--private: {repo_id} exists and is public; make it private on the Hub first, or "
            "name another repository"
        )
    return head, lines


def commit(
    api: Any,
    repo_id: str,
    parent: str,
    adds: Mapping[str, Path | bytes],
    deletes: Sequence[str] = (),
    *,
    message: str,
    create_pr: bool = False,
    repo_type: str = "dataset",
) -> Any:
    """Commit on the head that was read; none where somebody else's commit came first (409, 412).

    Args:
        adds: path in the repository -> local file or content.
        deletes: paths that go.
        create_pr: open a pull request instead.
    """
    from huggingface_hub import CommitOperationAdd, CommitOperationDelete
    from huggingface_hub.errors import HfHubHTTPError

    try:
        return api.create_commit(
            repo_id,
            [
                *(CommitOperationAdd(path, content) for path, content in sorted(adds.items())),
                *(CommitOperationDelete(path) for path in sorted(deletes)),
            ],
            commit_message=message,
            repo_type=repo_type,
            parent_commit=parent,
            create_pr=create_pr,
        )
    except HfHubHTTPError as error:
        if error.response is not None and error.response.status_code in _MOVED:
            return None
        raise


def read_tags(api: Any, repo_id: str) -> dict[str, str]:
    """Tag name -> commit, also where a tag is annotated."""
    refs = api.list_repo_refs(repo_id, repo_type="dataset")
    return {tag.name: tag.target_commit for tag in refs.tags}


def make_tag(api: Any, repo_id: str, tag: str, revision: str, message: str) -> None:
    """Tag a commit, and see the tag stand."""
    api.create_tag(repo_id, tag=tag, revision=revision, tag_message=message, repo_type="dataset")
    # The client reads no answer here, so any would do: the tag has to be seen.
    if read_tags(api, repo_id).get(tag) != revision:
        raise AnswerError(
            f"{endpoint_host(api)} took the tag {tag} of {repo_id} and does not have it"
        )
