"""Results that are there already: of the very run that is asked for, or of another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError, one_line
from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.notes import shown_setting
from coherencegym.eval.data.signature import versions
from coherencegym.eval.data.source import Source
from coherencegym.eval.results.folder import MARKER
from coherencegym.eval.results.read import read_results
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.tasks.results import Results
from coherencegym.eval.tasks.score.files import TOKENS_FILE
from coherencegym.files.strict_json import kind, read_json

#: Differences that an error names.
_MOST_NAMED = 3


def is_of_code(folder: Path) -> bool:
    """Tell whether results say that code from the model's repository was run."""
    return _part(read_json(folder / MARKER, dict[str, Any]), "model").get("remote_code") is True


def earlier_run(
    folder: Path,
    model: Mapping[str, Any],
    source: Source,
    tables: Sequence[ItemTable],
    settings: Mapping[str, Any],
    *,
    tokens: bool = False,
) -> Results:
    """The run of a folder, which is whole, if it is of the same model, rows and settings.

    Args:
        folder: a folder of results.
        model: facts of the model as it is now (:func:`eval.models.load.load_facts`).
        source, tables: the dataset as it is now.
        settings: the user's choices, as results record them.
        tokens: the surprisals of all tokens are wanted, too.
    """
    found = read_json(folder / MARKER, dict[str, Any])
    run = read_results(folder)
    others = list(_differences(found, model, source, tables, settings))
    if tokens and not (folder / TOKENS_FILE).is_file():
        others.append("without --tokens")
    if others:
        more = f" and {len(others) - _MOST_NAMED} more" if len(others) > _MOST_NAMED else ""
        raise EvaluationError(
            f"{folder}: results of another run: {'; '.join(others[:_MOST_NAMED])}{more}; name "
            "another folder with --output, or pass --overwrite"
        )
    return run


def _differences(
    found: Mapping[str, Any],
    model: Mapping[str, Any],
    source: Source,
    tables: Sequence[ItemTable],
    settings: Mapping[str, Any],
) -> Iterator[str]:
    about, data, chosen = (_part(found, name) for name in ("model", "dataset", "settings"))
    if (task := found.get("task", "score")) != "score":
        yield f"task {kind(task)}"
    # The number of a device changes nothing: a run may go on where it finds room.
    device = "+".join(
        sorted({one.partition(":")[0] for one in str(about.get("device")).split("+")})
    )
    yield from _unlike("model", {**about, "device": device}, model)
    now = {name: getattr(source, name) for name in ("name", "suite", "version", "commit")}
    yield from _unlike("dataset", data, now)
    rows = [(table.config, table.split, table.rows_sha256, len(table.items)) for table in tables]
    listed = data.get("tables")
    before = [one for one in (listed if isinstance(listed, list) else ()) if isinstance(one, dict)]
    names = ("config", "split", "sha256", "items")
    if [tuple(table.get(name) for name in names) for table in before] != rows:
        groups = [list(table.breakdowns) for table in tables]
        earlier_groups = [table.get("breakdowns") for table in before]
        # The columns of groups are in the rows.
        if len(before) == len(tables) and earlier_groups != groups:
            yield f"{_columns(earlier_groups)} (--group-by), and now {_columns(groups)}"
        else:
            yield "other rows of the dataset, or another --cluster-by"
    yield from _unlike("", chosen, {**settings, "intervals": INTERVALS})
    yield from _unlike("", _part(chosen, "versions"), versions(about))


#: Settings that the command line has under another name.
_OPTIONS = {"configs": "--config", "max_items": "--limit"}


def _columns(groups: Sequence[Any]) -> str:
    names = dict.fromkeys(kind(name) for own in groups if isinstance(own, list) for name in own)
    return f"scores by {', '.join(names) or 'no column'}"


def _unlike(what: str, then: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    for name, value in now.items():
        before = then.get(name)
        if before != value:
            named = f"{what} {_OPTIONS.get(name, name)}".strip()
            yield one_line(f"{named} {shown_setting(before)}, and now {shown_setting(value)}")


def _part(found: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    part = found.get(name)
    return part if isinstance(part, Mapping) else {}
