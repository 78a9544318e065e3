"""The tables of a run in its folder: ``units.parquet``, ``systems.parquet``, ``outcomes.parquet``.

They may come from anybody: :mod:`eval.outcomes.reading` holds them to their types.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from coherencegym.eval.outcomes.schema import outcome_schemas
from coherencegym.eval.outcomes.tables import OutcomeTables
from coherencegym.files.parquet import parquet_writer, write_parquet

#: The names of the files.
UNITS_FILE, SYSTEMS_FILE = "units.parquet", "systems.parquet"
OUTCOMES_FILE = "outcomes.parquet"
#: Units that are written at a time.
_AT_A_TIME = 1 << 16


def write_tables(tables: OutcomeTables, folder: Path) -> None:
    """Write the three files into a folder that is there."""
    import pyarrow as pa

    schemas = outcome_schemas()
    systems = pa.Table.from_pylist(
        [{"id": number, **asdict(one)} for number, one in enumerate(tables.systems)],
        schema=schemas["systems"],
    )
    for table, name in ((systems, SYSTEMS_FILE), (tables.outcomes, OUTCOMES_FILE)):
        write_parquet(table, folder / name)
    with parquet_writer(folder / UNITS_FILE, schemas["units"]) as file:
        for start in range(0, len(tables.units), _AT_A_TIME):
            part = tables.units.slice(start, _AT_A_TIME)
            columns = [_of_part(part[field.name], field.type) for field in file.schema]
            file.write_table(pa.Table.from_arrays(columns, schema=file.schema))


def outcomes_digest(folder: Path) -> str:
    """The SHA-256 of the three files of a folder that has them."""
    import hashlib

    digest = hashlib.sha256()
    for name in (UNITS_FILE, SYSTEMS_FILE, OUTCOMES_FILE):
        with (folder / name).open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return digest.hexdigest()


def _of_part(column: Any, kind: Any) -> Any:
    """A column of a part as the file has it, of its names those alone that the part has."""
    import pyarrow as pa

    if not pa.types.is_dictionary(column.type):
        return column
    whole = column.combine_chunks()
    own = whole.dictionary.take(whole.indices)
    return own if own.type == kind else own.dictionary_encode().cast(kind)
