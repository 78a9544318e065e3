"""A leaderboard as a static Space of the Hub: its files, and the card that says so, in one commit.

A Space that a leaderboard was pushed to before has the new one instead; what else lies in it is its
owner's, and stays. A Space of anything else is refused. A push is one commit on the head that was
read: readers see the leaderboard of before or that of after.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.hub.push_results import Pushed
from coherencegym.eval.views.leaderboard.names import FOLDERS, INDEX, LEADERBOARD_MARKER
from coherencegym.files.checksums import CHECKSUMS
from coherencegym.hub.commits import TRIES, Head, commit, fetch, open_repository

_CARD = "README.md"
_SPACE = "space"
#: Files that the Hub puts into every Space.
_OF_THE_HUB = (".gitattributes", _CARD)


def leaderboard_files(folder: Path) -> dict[str, bytes]:
    """The files of a leaderboard by their paths in it, but for the list of them."""
    found = (path for path in sorted(folder.rglob("*")) if path.is_file())
    found = (path for path in found if path.name != CHECKSUMS)
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def push_leaderboard(
    api: Any,
    files: Mapping[str, bytes],
    repo_id: str,
    title: str,
    *,
    private: bool = False,
    dry_run: bool = False,
) -> Pushed:
    """Push a leaderboard to a static Space, which is made if it is not there: all in one commit.

    Args:
        api: a client of the Hub.
        files: see :func:`leaderboard_files`.
        repo_id: USER/NAME.
        title: the Space's, where its card is written.
        private: make it private, if it is made.
        dry_run: say what would be pushed; asks for reading only.

    Raises:
        EvaluationError: the Space is no leaderboard's, is public where a private one was asked for,
            or somebody else kept committing.
        AnswerError: something else than the Hub answered.
        huggingface_hub.errors.HfHubHTTPError: the Hub refused or failed.
    """
    for _ in range(TRIES):
        head, lines = open_repository(api, repo_id, private, dry_run, _SPACE)
        is_new = not head.exists or _is_new(api, repo_id, head)
        if not is_new:
            _check_space(api, repo_id, head)
        whole = {**files, _CARD: _card(title)} if is_new else dict(files)
        adds = {path: content for path, content in whole.items() if not head.has(path, content)}
        deletes = [path for path in head.digests if path not in whole and _goes(path, is_new)]
        if not adds and not deletes:
            return Pushed([f"{repo_id} has this leaderboard already"])
        lines += [
            f"  {'replace' if path in head.digests else 'add'} {path} ({len(content):,} bytes)"
            for path, content in sorted(adds.items())
        ]
        lines += [f"  delete {path}" for path in sorted(deletes)]
        if dry_run:
            return Pushed([*lines, f"would be pushed to the Space {repo_id}"])
        message = f"Leaderboard of {title}" if is_new else "A new leaderboard"
        done = commit(api, repo_id, head.sha, adds, deletes, message=message, repo_type=_SPACE)
        if done is not None:
            return Pushed([*lines, f"pushed to the Space {repo_id} ({done.oid[:10]})"], done.oid)
    raise EvaluationError(
        f"{repo_id}: somebody else committed {TRIES} times meanwhile; nothing was pushed: run the "
        "command again"
    )


def _is_new(api: Any, repo_id: str, head: Head) -> bool:
    # It has nothing but what the Hub puts there.
    if LEADERBOARD_MARKER in head.digests or head.sdk not in ("", "static"):
        return False
    if set(head.digests) <= set(_OF_THE_HUB):
        return True
    return len(api.list_repo_commits(repo_id, repo_type=_SPACE, revision=head.sha)) == 1


def _check_space(api: Any, repo_id: str, head: Head) -> None:
    # One that no leaderboard was pushed to, or that is another thing by now, is refused.
    if LEADERBOARD_MARKER not in head.digests:
        what = (
            f"a Space of {head.sdk}" if head.sdk not in ("", "static") else "no leaderboard's Space"
        )
        raise EvaluationError(
            f"{repo_id}: {what}, and its files are not replaced; name another Space, or delete them"
        )
    card = fetch(api, repo_id, _CARD, head.sha, _SPACE) if _CARD in head.digests else None
    if card is None or _sdk(card) != "static":
        raise EvaluationError(
            f"{repo_id}: its {_CARD} does not say `sdk: static`, so that nothing would be shown; "
            "put it between the lines of --- at the top"
        )


def _sdk(card: Path) -> str:
    import yaml

    text = card.read_text(encoding="utf-8", errors="replace").replace("\r\n", "\n")
    _, _, rest = text.removeprefix("\ufeff").partition("---\n")
    try:
        about = yaml.safe_load(rest.partition("\n---")[0])
    except yaml.YAMLError:
        return ""
    return str(about.get("sdk", "")) if isinstance(about, dict) else ""


def _goes(path: str, is_new: bool) -> bool:
    # A file of an earlier leaderboard that the new one has not, or of the Hub.
    if is_new:
        return path not in _OF_THE_HUB
    return path.partition("/")[0] in FOLDERS or path in (INDEX, LEADERBOARD_MARKER)


def _card(title: str) -> bytes:
    import yaml

    about = {"title": title, "sdk": "static", "app_file": INDEX, "pinned": False}
    block = yaml.safe_dump(about, sort_keys=False, allow_unicode=True, width=1000)
    text = (
        "A leaderboard of [CoherenceGym](https://github.com/coherencegym/coherencegym): how often "
        "language models find the incoherent version of a text the more surprising one. "
        "`coherencegym leaderboard` writes every file but this one."
    )
    return f"---\n{block}---\n\n{text}\n".encode("utf-8", "replace")
