"""Curves by layer of folders that earlier runs of ``probe`` left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.files import read_outcome_tables
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.tasks.probe.curves import LayerCurve, curves_of
from coherencegym.eval.tasks.probe.results import LAYERS_FILE, layer_schema
from coherencegym.files.parquet_rows import parquet_rows
from coherencegym.files.strict_json import read_json


@dataclass(frozen=True)
class _Model:
    name: str


@dataclass(frozen=True)
class _Results:
    model: _Model
    task: str = "score"


def read_curves(folders: Sequence[Path]) -> list[LayerCurve]:
    """The curves of folders of results; none of those that are not of a probe.

    Of two of one name each is called by its folder.
    """
    found = [(folder, curve) for folder in folders for curve in _read_curves(folder)]
    names = [(curve.model, curve.config) for _, curve in found]
    alone = len({*names}) == len(names)
    return [
        curve if alone else replace(curve, model=folder.resolve().name) for folder, curve in found
    ]


def _read_curves(folder: Path) -> list[LayerCurve]:
    found = read_json(folder / MARKER, _Results)
    if found.task != "probe":
        return []
    if not (folder / LAYERS_FILE).is_file():
        raise EvaluationError(f"{folder}: no {LAYERS_FILE}; expected the whole folder of results")
    fits = list(parquet_rows(folder / LAYERS_FILE, layer_schema()))
    outcomes = read_outcome_tables(folder)
    return list(curves_of(short_model(found.model.name), fits, outcomes))
