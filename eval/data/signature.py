"""The signature of a run: what was read, how, and with which versions."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from typing import Any


def versions(model: Mapping[str, Any]) -> dict[str, str]:
    """Versions of this program and of the packages whose version may change a number.

    An adapter, quantized weights or another backend, of which results say in ``model``, bring in a
    package more.
    """
    more = ["peft"] if model.get("adapter") else []
    if str(model.get("quantization")).startswith("bitsandbytes"):
        more.append("bitsandbytes")
    found = {"coherencegym": "uninstalled"}
    if backend := (model.get("arguments") or {}).get("backend"):
        more.append(str(backend))
    for package in ("coherencegym", "torch", "transformers", "tokenizers", *more):
        with suppress(PackageNotFoundError):
            found[package] = version(package)
    return found


def signature(
    task: str,
    model: Mapping[str, Any],
    dataset: Mapping[str, Any],
    settings: Mapping[str, Any],
    own: Mapping[str, Any],
    **data: Any,
) -> str:
    """``key:value`` pairs joined by ``|``: what was read, how, and with which versions.

    Args:
        task: its name, which is left out where it is ``score``.
        model, dataset, settings: those that results record.
        own: the choices that only the task has.
        data: other data that are read, by name.
    """
    parts: dict[str, Any] = {
        "model": f"{model.get('base') or model['name']}@{_short(model['commit'])}",
        "adapter": _at(model.get("adapter")),
        "tokenizer": _at(model.get("tokenizer")),
        "args": ",".join(f"{k}={v}" for k, v in (model.get("arguments") or {}).items()) or None,
        "quant": model.get("quantization"),
        "code": "repository" if model.get("remote_code") else None,
        # The rows of a stand-off release are in a folder, and are the release's.
        "data": (dataset.get("repo") or dataset["name"])
        + (f"@{dataset['revision']}" if dataset["revision"] else ""),
        "version": dataset["version"],
        "commit": _short(dataset["commit"]) if dataset["commit"] else None,
        "rows": dataset["rows_sha256"][:12],
        "task": task if task != "score" else None,
        **data,
        "configs": ",".join(settings["configs"]) or "all",
        "split": settings["split"] or "default",
        **own,
        "dtype": model["dtype"],
        "device": model["device"],
        "max": settings["max_items"],
        "ci": settings["intervals"],
        **settings["versions"],
    }
    return "|".join(
        f"{key}:{str(value).replace('|', '/')}" for key, value in parts.items() if value is not None
    )


#: Options of reading of which :func:`read_as` says more under other names.
_RENAMED = ("bos", "separator", "truncate", "word_correction", "special_tokens")


def read_as(signed: Mapping[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """The signed choices, with what those of reading came to where the settings say it."""
    if "start_of_text" not in settings:
        return dict(signed)
    return {
        "truncate": "yes" if settings["truncate"] else "no",
        "words": "corrected" if settings["word_correction"] else None,
        "names": "tokens" if settings.get("special_tokens") else None,
        "tie": settings["tie_bits"],
        **{name: value for name, value in signed.items() if name not in _RENAMED},
        "bos": _start(settings),
        "sep": _separator(settings),
    }


def _at(source: Mapping[str, str] | None) -> str | None:
    return f"{source['name']}@{_short(source['commit'])}" if source else None


def _start(settings: Mapping[str, Any]) -> str:
    # And, where a mode lets the tokenizer add them, after every text.
    added = settings["added_tokens"]
    if added is not None:
        return f"tokenizer={_ids(*added['before'])},end={_ids(*added['after'])}"
    return f"{settings['bos']}={_ids(settings['start_of_text']['token_id'])}"


def _ids(*ids: int | None) -> str:
    # Ids are unambiguous; their texts (`<|endoftext|>`) are in the settings.
    return "+".join(str(token_id) for token_id in ids if token_id is not None) or "none"


def _separator(settings: Mapping[str, Any]) -> str | None:
    rendering = settings["separator_rendering"]
    if rendering is None:
        return None
    choice = settings["separator"] if settings["separator"] in ("auto", "none") else "text"
    ids = "undefined" if rendering["ids"] is None else _ids(*rendering["ids"])
    return f"{choice}={ids}"


def _short(commit: str) -> str:
    prefix, colon, digits = commit.rpartition(":")
    return f"{prefix}{colon}{digits[:12]}"
