"""Endpoints that write content: preupload, LFS transfer, commit."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterable
from fnmatch import fnmatch
from typing import Any

from support.hub.content import check_signature
from support.hub.site import Context, Route
from support.hub.store import Blob, Commit, HubError, Repo
from support.hub.wire import Answer, json_answer

REGULAR_LIMIT = 10 * 1024 * 1024  # git takes no bigger file on the Hub


def upload_mode(commit: Commit, path: str, sample: bytes, size: int) -> str:
    """`lfs` for what .gitattributes names, for big files and for binary ones; else `regular`."""
    attributes = commit.files.get(".gitattributes")
    for line in attributes.data.decode().splitlines() if attributes else []:
        pattern, *settings = line.split()
        if "filter=lfs" in settings and fnmatch(path.rsplit("/", 1)[-1], pattern):
            return "lfs"
    return "lfs" if size > REGULAR_LIMIT or b"\0" in sample else "regular"


def preupload(context: Context) -> Answer:
    context.writable(by_pull_request=context.call.flag("create_pr"))
    commit = context.commit
    files = []
    for file in context.call.json()["files"]:
        path = file["path"]
        mode = upload_mode(commit, path, base64.b64decode(file["sample"]), file["size"])
        entry = {"path": path, "uploadMode": mode, "shouldIgnore": False}
        if path in commit.files:  # lets the client leave out of the commit what has not changed
            entry["oid"] = commit.files[path].oid
        files.append(entry)
    return json_answer({"files": files})


def batch(context: Context) -> Answer:
    # The request does not say whether a branch or a pull request will use the objects.
    repo = context.writable(by_pull_request=True)
    objects = []
    for wanted in context.call.json()["objects"]:
        answer = {"oid": wanted["oid"], "size": wanted["size"]}
        if wanted["oid"] not in repo.objects:
            answer["actions"] = _actions(context, repo, wanted["oid"])
        objects.append(answer)
    return json_answer({"transfer": "basic", "objects": objects})


def _actions(context: Context, repo: Repo, oid: str) -> dict[str, dict[str, str]]:
    site = context.site
    place = f"/{repo.id}/{oid}"
    upload = f"{site.storage_url}{place}?signature={site.signature(f'PUT {place}')}"
    verify = f"{site.url}/datasets/{repo.id}.git/info/lfs/objects/verify"
    return {"upload": {"href": upload}, "verify": {"href": verify}}


def store_object(context: Context) -> Answer:
    """On the storage origin: the bytes of an LFS object, whose name must be their sha256."""
    check_signature(context, "PUT")
    data, oid = context.call.body, context.args["oid"]
    if hashlib.sha256(data).hexdigest() != oid:
        raise HubError(400, "The content does not have the announced sha256")
    context.site.repos[context.args["id"]].objects[oid] = Blob(data, lfs=True)
    return Answer(200)


def verify(context: Context) -> Answer:
    repo = context.writable(by_pull_request=True)
    asked = context.call.json()
    stored = repo.objects.get(asked["oid"])
    if stored is None or stored.size != asked["size"]:
        raise HubError(404, "Object not found or of another size")
    return json_answer({})


def commit(context: Context) -> Answer:
    """All of a commit or nothing, on top of the parent that the client has seen."""
    as_pull = context.call.flag("create_pr")
    repo = context.writable(by_pull_request=as_pull)
    head = context.commit
    header, *operations = [json.loads(line) for line in context.call.body.splitlines()]
    about = header["value"]
    if about.get("parentCommit", head.sha) != head.sha:
        raise HubError(412, "A commit has happened since. Please refresh and try again.")
    author = context.account.name if context.account else ""
    files = apply(repo, head, operations)
    made = repo.write(head.sha, files, about["summary"], about.get("description", ""), author)
    # Of a model nothing comes before its name.
    is_model = context.call.path.startswith("/api/models/")
    base = f"{context.site.url}/{repo.id if is_model else repo.place}"
    answer = {"success": True, "commitUrl": f"{base}/commit/{made.sha}", "commitOid": made.sha}
    if as_pull:
        answer["pullRequestUrl"] = f"{base}/discussions/{repo.open_pull(made)}"
    else:
        repo.advance(context.args["rev"], made)
    return json_answer(answer)


def apply(repo: Repo, head: Commit, operations: Iterable[dict[str, Any]]) -> dict[str, Blob]:
    """The tree that the operations make of the head's."""
    files = dict(head.files)
    for operation in operations:
        key, value = operation["key"], operation["value"]
        path = value["path"]
        if key == "file":
            files[path] = Blob(base64.b64decode(value["content"]), lfs=False)
        elif key == "lfsFile":
            if value["oid"] not in repo.objects:
                raise HubError(400, "An LFS pointer pointed to a file that does not exist")
            files[path] = repo.objects[value["oid"]]
        elif key in ("deletedFile", "deletedFolder"):
            prefix = f"{path.rstrip('/')}/" if key == "deletedFolder" else path
            gone = [
                p for p in files if (p.startswith(prefix) if prefix.endswith("/") else p == path)
            ]
            if not gone:
                raise HubError(404, "A file with this name doesn't exist", "EntryNotFound")
            for name in gone:
                del files[name]
        else:
            raise HubError(400, f"Unknown operation {key}")
    return files


ROUTES = [
    Route("POST", "/api/datasets/{id}/preupload/{rev}", preupload),
    Route("POST", "/datasets/{id}.git/info/lfs/objects/batch", batch),
    Route("POST", "/datasets/{id}.git/info/lfs/objects/verify", verify),
    Route("POST", "/api/datasets/{id}/commit/{rev}", commit),
    Route("POST", "/api/spaces/{id}/preupload/{rev}", preupload),
    Route("POST", "/api/models/{id}/preupload/{rev}", preupload),
    Route("POST", "/api/models/{id}/commit/{rev}", commit),
    Route("POST", "/api/spaces/{id}/commit/{rev}", commit),
]
STORAGE_ROUTES = [Route("PUT", "/{id}/{oid}", store_object)]
