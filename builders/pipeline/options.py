"""The settings of a build."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from pydantic import Field

from coherencegym.engines import LOCAL


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """The settings of a build that decide its bytes, and how it is run.

    ``limit`` is of the discourses of a split; without ``splits`` all that are there are read, but
    for those that a corpus reads only by name. ``data_dir`` is looked in first. ``num_proc``,
    ``engine`` and ``address`` decide no byte: see :func:`engines.started`.
    """

    seed: int = 0
    limit: Annotated[int, Field(ge=1)] | None = None
    splits: tuple[str, ...] = ()
    data_dir: Path | None = None
    skip_bad_rows: bool = False
    num_proc: Annotated[int, Field(ge=1)] | None = None
    engine: str = LOCAL
    address: str = ""
    repo_id: str = ""
    version: str = ""
