"""Values that a folder of results has beside outcomes: bits of regions, scores of sentences.

The files may be anybody's, and are held to their columns; where there is none, nothing is shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from math import isfinite, nan

from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.saved import Saved
from coherencegym.eval.tasks.detect.decisions import Decision, intruders
from coherencegym.eval.tasks.detect.results import DOCUMENTS_FILE, document_schema
from coherencegym.eval.tasks.score.files import REGIONS_FILE, regions_schema
from coherencegym.eval.views.compare.texts import ItemPlace
from coherencegym.files.parquet_rows import parquet_rows, rows_among
from coherencegym.files.strict_json import Many, read_json

#: Sum and mean (bits) of each region that has tokens, by config, split, item, condition and number.
RegionBits = Mapping[tuple[str, str, str, str, int], tuple[float, float]]


def region_bits(results: Saved, places: Set[ItemPlace]) -> RegionBits:
    """The surprisal of regions of some items that predictions read.

    Raises:
        EvaluationError: the file is damaged.
    """
    path = results.folder / REGIONS_FILE
    if not path.is_file():
        return {}
    rows = rows_among(path, regions_schema(), "item_id", {item for _, _, item in places})
    names = "config", "split", "item_id", "condition_name", "region_number"
    return {
        tuple(row[name] for name in names): (row["sum_bits"], row["mean_bits"])
        for row in rows
        if row["n_tokens"] and row["mean_bits"] is not None
        if (row["config"], row["split"], row["item_id"]) in places
    }


@dataclass(frozen=True, slots=True)
class SentenceScores:
    """A document as a detector scored it.

    Attributes:
        intruder: the place of its intruder; -1 without one.
        scores: those of its sentences, None for the opening one; none where it is too long.
        predicted: the sentences that are taken for intruders, by decision.
    """

    intruder: int
    scores: tuple[float | None, ...]
    predicted: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Threshold:
    config: str
    decision: Decision
    threshold: float


@dataclass(frozen=True)
class _Thresholds:
    thresholds: Many[_Threshold] = ()


def sentence_scores(results: Saved) -> Mapping[ItemPlace, SentenceScores]:
    """The documents that a detector scored, by config, split and id.

    Raises:
        EvaluationError: a file is damaged.
    """
    path = results.folder / DOCUMENTS_FILE
    if not path.is_file():
        return {}
    thresholds = read_json(results.folder / MARKER, _Thresholds).thresholds
    found = {}
    for row in parquet_rows(path, document_schema()):
        scores = row["scores"] or []
        own = [one for one in thresholds if one.config == row["config"]]
        found[row["config"], row["split"], row["item_id"]] = SentenceScores(
            row["intruder_position"],
            tuple(_finite(score) for score in scores),
            {one.decision: _predicted(scores, one) for one in own},
        )
    return found


def _predicted(scores: Sequence[float | None], threshold: _Threshold) -> tuple[int, ...]:
    values = [nan if score is None else score for score in scores]
    if len(values) < 2:
        return ()
    return intruders(values, threshold.threshold, threshold.decision)


def _finite(score: float | None) -> float | None:
    return score if score is not None and isfinite(score) else None
