"""Logs of other evaluators by their paths: a format is a module, and a line in both functions."""

from __future__ import annotations

import json
from pathlib import Path

from coherencegym.errors import EvaluationError
from coherencegym.eval.results.logs.harness_log import harness_logs, read_harness_log
from coherencegym.eval.results.logs.inspect_log import is_inspect_log, read_inspect_log
from coherencegym.eval.results.logs.sample_log import saved_log
from coherencegym.eval.tasks.results import Results


def logs_at(path: Path) -> list[Path]:
    """The logs of other evaluators at a path, each of one model; empty: it is something else."""
    if path.is_dir() and (logs := sorted(path.glob("*.eval"))):
        return logs
    return [path] if is_inspect_log(path) else harness_logs(path)


def read_log(path: Path, cluster_by: str | None = None) -> tuple[Results, list[str]]:
    """A log as results, and the names of its metrics that are left out.

    Args:
        path: one of :func:`logs_at`.
        cluster_by: the column of a document, or field of a sample's metadata, that names clusters.
    """
    read = read_inspect_log if is_inspect_log(path) else read_harness_log
    try:
        log = read(path)
        json.dumps([log.model, log.settings, log.versions], ensure_ascii=False).encode()
        return saved_log(log, cluster_by)
    except UnicodeEncodeError:
        raise EvaluationError(
            f"{path}: half a character in a name or a setting; expected both halves"
        ) from None
