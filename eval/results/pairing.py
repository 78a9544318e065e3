"""Results that are compared with each other: of many, those of one suite and of like tasks."""

from __future__ import annotations

from collections.abc import Sequence

from coherencegym.errors import EvaluationError
from coherencegym.eval.tasks.results import Results


def by_suite(
    results: Sequence[Results], fewest: int = 2
) -> tuple[list[list[Results]], list[Results]]:
    """Results by suite and task, in the order in which these come.

    The models of a suite are in the order in which they come in all results, so that the baseline
    is the same everywhere.

    Args:
        results: two or more, or one whose layers are compared.
        fewest: results of a suite that are enough for a comparison.

    Returns:
        Those of each suite, and those that stand alone. Two that are all stand together, whatever
        they are of: a comparison says what keeps them apart.
    """
    models = list(dict.fromkeys(map(_model, results)))
    found: dict[tuple[str, str], list[Results]] = {}
    for one in sorted(results, key=lambda one: models.index(_model(one))):
        found.setdefault(_key(one), []).append(one)
    groups = [found[key] for key in dict.fromkeys(map(_key, results))]
    together = [group for group in groups if len(group) >= fewest]
    if not together and len(results) == 2:
        return [list(results)], []
    if not together:
        raise EvaluationError(
            f"{results[0].place} and {len(results) - 1:,} more: no two are of the same suite and "
            "task; expected results of two or more models on a suite"
        )
    return together, [one for group in groups if len(group) < fewest for one in group]


def _key(one: Results) -> tuple[str, str]:
    return one.suite, one.task


def _model(one: Results) -> tuple[str, str, str]:
    return one.model_name, one.commit, one.dtype
