"""The request log: enough to see what a client did, nothing that is secret."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Literal

from support.hub.wire import Call


@dataclass(frozen=True)
class Request:
    """One request and how it ended."""

    origin: Literal["hub", "storage"]
    method: str
    path: str  # unquoted, without the query: a storage address carries its signature there
    status: int  # what the client was told; 0: the connection was closed without an answer
    account: str  # "alice (write)"; empty for an anonymous request or a refused token
    body: str  # a summary

    def __str__(self) -> str:
        who = self.account or "anonymous"
        where = f"[{self.origin}, {who}]"
        return f"{self.method} {self.path} -> {self.status} {where} {self.body}".rstrip()


def summary(call: Call) -> str:
    """A body in a few words: operations of a commit, names and short values of JSON, or a size."""
    if not call.body:
        return ""
    try:
        lines: list[Any] = [json.loads(line) for line in call.body.splitlines()]
    except ValueError:
        return f"{len(call.body)} bytes"
    if "/commit/" in call.path and all("key" in line for line in lines):
        return "; ".join(_operation(line["key"], line["value"]) for line in lines)
    return "; ".join(_short(line) for line in lines)


def _operation(key: str, value: dict[str, Any]) -> str:
    if key == "header":
        parent = value.get("parentCommit")
        return repr(value["summary"]) + (f" on {parent}" if parent else "")
    return f"{key} {value['path']}"


def _short(value: object) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_short(v) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{k}: {_short(v)}" for k, v in value.items()) + "}"
    text = str(value)
    return text if len(text) <= 80 and text.isprintable() else f"<{len(text)} characters>"
