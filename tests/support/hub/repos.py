"""Endpoints about whole repositories: create, describe, references, history."""

from __future__ import annotations

import yaml
from huggingface_hub.repocard import REGEX_YAML_BLOCK

from support.hub.site import Context, Route
from support.hub.store import Blob, Commit
from support.hub.wire import Answer, json_answer


def whoami(context: Context) -> Answer:
    account = context.account
    if account is None:
        return json_answer({"error": "Invalid username or password."}, 401)
    orgs = [{"type": "org", "name": name} for name in sorted(account.namespaces - {account.name})]
    token = {"displayName": f"{account.role} token", "role": account.role}
    auth = {"type": "access_token", "accessToken": token}
    return json_answer({"type": "user", "name": account.name, "orgs": orgs, "auth": auth})


def create(context: Context) -> Answer:
    asked = context.call.json()
    kind, sdk = asked.get("type"), asked.get("sdk", "")
    if (kind, sdk) not in (("dataset", ""), ("space", "static")):
        return json_answer({"error": "This loopback Hub holds datasets and static Spaces"}, 400)
    account = context.writer_of(asked.get("organization"))
    repo_id = f"{asked.get('organization') or account.name}/{asked['name']}"
    url = {"url": f"{context.site.url}/{kind}s/{repo_id}"}
    key = f"spaces/{repo_id}" if sdk else repo_id
    if key in context.site.repos:
        # `exist_ok` reads the address from the body of the refusal.
        return json_answer({"error": f"You already created this {kind} repo", **url}, 409)
    context.site.create(key, asked.get("visibility") == "private", account.name)
    return json_answer(url)


def info(context: Context) -> Answer:
    repo = context.repo
    commit = repo.resolve(context.args.get("rev", "main"))
    blobs = context.call.flag("blobs")
    return json_answer(
        {
            "id": repo.id,
            "author": repo.id.split("/")[0],
            "sha": commit.sha,
            "createdAt": list(repo.history("main"))[-1].date,
            "lastModified": commit.date,
            "private": repo.private,
            **({"cardData": card} if (card := _card(commit.files.get("README.md"))) else {}),
            **({"sdk": repo.sdk} if repo.sdk else {}),
            "gated": False,
            "disabled": False,
            "tags": [],
            "siblings": [
                _sibling(path, blob, blobs) for path, blob in sorted(commit.files.items())
            ],
        }
    )


def _card(readme: Blob | None) -> object:
    # Metadata that cannot be read are none, as there.
    found = REGEX_YAML_BLOCK.search(readme.data.decode("utf-8", "replace")) if readme else None
    try:
        return yaml.safe_load(found[2]) if found else None
    except yaml.YAMLError:
        return None


def _sibling(path: str, blob: Blob, with_blobs: bool) -> dict[str, object]:
    entry: dict[str, object] = {"rfilename": path}
    if with_blobs:
        entry |= {"size": blob.size, "blobId": blob.git_oid}
    if with_blobs and blob.lfs:
        lfs = {"sha256": blob.sha256, "size": blob.size, "pointerSize": len(blob.pointer)}
        entry["lfs"] = lfs
    return entry


def refs(context: Context) -> Answer:
    repo = context.repo

    def entry(name: str, ref: str, target: str) -> dict[str, str]:
        return {"name": name, "ref": ref, "targetCommit": target}

    listed = {
        "branches": [entry(name, f"refs/heads/{name}", sha) for name, sha in repo.branches.items()],
        "tags": [entry(t.name, f"refs/tags/{t.name}", t.target) for t in repo.tags.values()],
        "converts": [],
    }
    if context.call.flag("include_prs"):
        pulls = ((f"refs/pr/{number}", sha) for number, sha in repo.pulls.items())
        listed["pullRequests"] = [entry(ref, ref, sha) for ref, sha in pulls]
    return json_answer(listed)


def discussions(context: Context) -> Answer:
    """The pull requests, all of them open; discussions are not held."""
    repo = context.repo

    def entry(number: int, commit: Commit) -> dict[str, object]:
        return {
            "num": number,
            "title": commit.title,
            "author": {"name": commit.author},
            "createdAt": commit.date,
            "status": "open",
            "isPullRequest": True,
            "repo": {"name": repo.id, "type": context.call.path.split("/")[2].rstrip("s")},
        }

    found = [entry(number, repo.resolve(sha)) for number, sha in repo.pulls.items()]
    return json_answer({"discussions": found, "count": len(found), "start": 0})


def commits(context: Context) -> Answer:
    def entry(commit: Commit) -> dict[str, object]:
        return {
            "id": commit.sha,
            "title": commit.title,
            "message": commit.description,
            "date": commit.date,
            "authors": [{"user": commit.author}],
        }

    return json_answer([entry(commit) for commit in context.repo.history(context.args["rev"])])


def add_tag(context: Context) -> Answer:
    asked = context.call.json()
    context.writable().add_tag(asked["tag"], context.args["rev"], asked.get("message", ""))
    return json_answer({})


def delete_tag(context: Context) -> Answer:
    context.writable().delete_tag(context.args["rev"])
    return json_answer({})


def add_branch(context: Context) -> Answer:
    start = context.call.json().get("startingPoint", "main")
    context.writable().add_branch(context.args["rev"], start)
    return json_answer({})


def validate_yaml(context: Context) -> Answer:
    """Only what a server without a YAML parser can say; a fault of status 400 plays the rest."""
    warnings = []
    if not str(context.call.json()["content"]).startswith("---"):
        warnings.append({"message": "empty or missing yaml metadata in repo card"})
    return json_answer({"errors": [], "warnings": warnings})


def settings(context: Context) -> Answer:
    context.writable().private = context.call.json()["visibility"] == "private"
    return json_answer(context.call.json())


ROUTES = [
    Route("GET", "/api/whoami-v2", whoami),
    Route("POST", "/api/repos/create", create),
    Route("POST", "/api/validate-yaml", validate_yaml),
    Route("GET", "/api/datasets/{id}", info),
    Route("GET", "/api/datasets/{id}/revision/{rev}", info),
    Route("PUT", "/api/datasets/{id}/settings", settings),
    Route("GET", "/api/spaces/{id}", info),
    Route("GET", "/api/spaces/{id}/commits/{rev}", commits),
    Route("GET", "/api/models/{id}", info),
    Route("GET", "/api/models/{id}/revision/{rev}", info),
    Route("GET", "/api/datasets/{id}/refs", refs),
    Route("GET", "/api/models/{id}/refs", refs),
    Route("GET", "/api/datasets/{id}/discussions", discussions),
    Route("GET", "/api/models/{id}/discussions", discussions),
    Route("GET", "/api/models/{id}/commits/{rev}", commits),
    Route("GET", "/api/datasets/{id}/commits/{rev}", commits),
    Route("POST", "/api/datasets/{id}/tag/{rev}", add_tag),
    Route("DELETE", "/api/datasets/{id}/tag/{rev}", delete_tag),
    Route("POST", "/api/datasets/{id}/branch/{rev}", add_branch),
]
