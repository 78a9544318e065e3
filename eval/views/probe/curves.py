"""The curves of a run by layer: of results in memory, and of a folder that an earlier run left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from coherencegym.errors import EvaluationError
from coherencegym.eval.outcomes.files import OUTCOMES_FILE, read_outcome_tables
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.eval.report.figures import short_model
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.tasks.probe.results import (
    ANY_SENSE,
    LAYERS_FILE,
    NEW_WEIGHTS,
    ProbeResults,
    layer_rows,
    layer_schema,
)
from coherencegym.eval.views.probe.plot import LayerCurve
from coherencegym.files.parquet_rows import parquet_rows
from coherencegym.files.strict_json import Many, Share, Some, read_json


@dataclass(frozen=True)
class _Probe:
    """The facts of a config in ``results.json``, as far as they are read."""

    config: str
    split: str
    layer: int
    layers: Some[int]
    most_frequent: Share
    bag_of_words: Share | None = None


@dataclass(frozen=True)
class _Model:
    name: str


@dataclass(frozen=True)
class _Results:
    model: _Model
    task: str = "score"
    probes: Many[_Probe] = ()


def layer_curves(results: ProbeResults) -> list[LayerCurve]:
    """The curves of a run, one for each config."""
    probes = [
        _Probe(own.config, own.split, own.layer, own.layers, own.most_frequent, own.bag_of_words)
        for own in results.scores
    ]
    model = short_model(str(results.model["name"]))
    assert results.outcomes is not None
    return list(_curves(model, probes, list(layer_rows(results)), results.outcomes))


def read_curves(folders: Sequence[Path]) -> list[LayerCurve]:
    """The curves of folders of results; none of those that are not of a probe.

    Of two of one name each is called by its folder.

    Raises:
        EvaluationError: a file of a probe is not there, or is not what a run writes.
        OSError: a file cannot be read.
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
    return list(_curves(short_model(found.model.name), found.probes, fits, outcomes))


def _curves(
    model: str,
    probes: Sequence[_Probe],
    fits: Sequence[Mapping[str, object]],
    outcomes: OutcomeTables,
) -> Iterator[LayerCurve]:
    right = {
        (one.config, one.split, one.system.layer): outcomes.cells(one.places)
        for one in outcomes.series()
        if one.metric == ANY_SENSE.name and one.system.role == "model"
    }
    drawn: dict[tuple[object, ...], dict[object, dict[int, float]]] = {}
    for fit in fits:
        if fit["what"] == NEW_WEIGHTS:
            draws = drawn.setdefault((fit["config"], fit["split"]), {})
            draws.setdefault(fit["draw"], {})[int(str(fit["layer"]))] = float(str(fit["test"]))
    for own in probes:
        name = own.config, own.split
        # The mean of all layers, which is one layer only, is judged under no name of its own.
        by_layer = [right.get((*name, layer if layer >= 0 else None)) for layer in own.layers]
        random = [list(draw.values()) for draw in drawn.get(name, {}).values()]
        if not all(by_layer) or any(len(draw) != len(by_layer) for draw in random):
            raise EvaluationError(
                f"{model}: {own.config}: layers of results.json, {LAYERS_FILE} and "
                f"{OUTCOMES_FILE} differ; the files are not of one run: probe the model again"
            )
        found = [ANY_SENSE.estimate(cells) for cells in by_layer if cells is not None]
        yield LayerCurve(
            model=model,
            config=own.config,
            layers=own.layers,
            test=[one.value or 0.0 for one in found],
            low=[one.low or 0.0 for one in found],
            high=[1.0 if one.high is None else one.high for one in found],
            chosen=own.layer,
            random=random,
            bag_of_words=own.bag_of_words,
            most_frequent=own.most_frequent,
        )
