"""Endpoints that read a revision: listings, files, and downloads from the storage origin."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from urllib.parse import parse_qs

from support.hub.site import Context, Route
from support.hub.store import Blob, HubError
from support.hub.wire import Answer, content_answer, json_answer


def tree(context: Context) -> Answer:
    files = context.commit.files
    folder = context.args.get("path", "").strip("/")
    prefix = f"{folder}/" if folder else ""
    inside = {path: blob for path, blob in files.items() if path.startswith(prefix)}
    if folder and not inside:
        raise HubError(404, f"{folder} does not exist", "EntryNotFound")
    recursive = context.call.flag("recursive")
    listed = [_folder(path, files) for path in sorted(set(_folders(inside, prefix, recursive)))]
    for path, blob in sorted(inside.items()):
        if recursive or "/" not in path.removeprefix(prefix):
            listed.append(_file(path, blob))
    return json_answer(listed)


def _folders(paths: Mapping[str, Blob], prefix: str, recursive: bool) -> Iterator[str]:
    for path in paths:
        parts = path.removeprefix(prefix).split("/")[:-1]
        for depth in range(1, (len(parts) if recursive else min(len(parts), 1)) + 1):
            yield prefix + "/".join(parts[:depth])


def _file(path: str, blob: Blob) -> dict[str, object]:
    entry: dict[str, object] = {
        "type": "file",
        "path": path,
        "oid": blob.git_oid,
        "size": blob.size,
    }
    if blob.lfs:
        entry["lfs"] = {"oid": blob.sha256, "size": blob.size, "pointerSize": len(blob.pointer)}
    return entry


def _folder(path: str, files: Mapping[str, Blob]) -> dict[str, object]:
    inside = sorted((p, b.git_oid) for p, b in files.items() if p.startswith(f"{path}/"))
    oid = hashlib.sha1(repr(inside).encode()).hexdigest()  # not git's, but as stable
    return {"type": "directory", "path": path, "oid": oid, "size": 0}


def paths_info(context: Context) -> Answer:
    files = context.commit.files
    listed = []
    for path in parse_qs(context.call.body.decode()).get("paths", []):
        if path in files:
            listed.append(_file(path, files[path]))
        elif any(other.startswith(f"{path}/") for other in files):
            listed.append(_folder(path, files))
    return json_answer(listed)


def resolve(context: Context) -> Answer:
    """A file: from here if git holds it, else by a redirect to the storage origin."""
    commit = context.commit
    pin = {"X-Repo-Commit": commit.sha}  # the client asks for every later file by this sha
    blob = commit.files.get(context.args["path"])
    if blob is None:
        raise HubError(404, "Entry not found", "EntryNotFound", pin)
    etag = f'"{blob.oid}"'
    if not blob.lfs:
        asked = context.call.headers.get("range")
        return content_answer(blob.data, {**pin, "ETag": etag}, asked)
    site = context.site
    place = f"/{context.args['id']}/{blob.sha256}"
    location = f"{site.storage_url}{place}?signature={site.signature(f'GET {place}')}"
    linked = {"X-Linked-Size": str(blob.size), "X-Linked-ETag": etag}
    return Answer(302, b"", {**pin, **linked, "Location": location})


def download(context: Context) -> Answer:
    """On the storage origin: an LFS object, to whoever holds a signed address."""
    check_signature(context, "GET")
    blob = context.site.repos[context.args["id"]].objects[context.args["oid"]]
    return content_answer(
        blob.data, {"ETag": f'"{blob.sha256}"'}, context.call.headers.get("range")
    )


def check_signature(context: Context, method: str) -> None:
    """Refuse an unsigned address, and one signed for another use."""
    expected = context.site.signature(f"{method} {context.call.path}")
    if context.call.query.get("signature") != [expected]:
        raise HubError(403, "SignatureDoesNotMatch")
    if "authorization" in context.call.headers:
        # So does S3. Here it shows a client that carries the user's token to another host.
        raise HubError(400, "Only one auth mechanism allowed")


ROUTES = [
    Route("GET", "/api/datasets/{id}/tree/{rev}", tree),
    Route("GET", "/api/datasets/{id}/tree/{rev}/{path}", tree),
    Route("POST", "/api/datasets/{id}/paths-info/{rev}", paths_info),
    Route("GET", "/datasets/{id}/resolve/{rev}/{path}", resolve),
    Route("GET", "/spaces/{id}/resolve/{rev}/{path}", resolve),
    # A model is read under other paths, and alike.
    Route("GET", "/api/models/{id}/tree/{rev}", tree),
    Route("GET", "/api/models/{id}/tree/{rev}/{path}", tree),
    Route("GET", "/{id}/resolve/{rev}/{path}", resolve),
]
STORAGE_ROUTES = [Route("GET", "/{id}/{oid}", download)]
