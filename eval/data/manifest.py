"""What a manifest says, as far as it is read here: the schema that somebody else's is held to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.published import Published
from coherencegym.files import strict_json
from coherencegym.files.strict_json import Many

#: The format that is read.
FORMAT = 1
#: The name of a config or split. It becomes part of a path, which must not lead out of the folder.
Name = Annotated[str, Field(pattern=r"^\w[\w.-]*$")]


@dataclass(frozen=True)
class _ArtefactScore:
    group: str
    formula: str
    metric: str
    score: float | None = None
    ci_low: float | None = None
    ci_high: float | None = None


@dataclass(frozen=True)
class _HumanScore:
    group: str
    score: float
    n: int
    ci_low: float | None = None
    ci_high: float | None = None


@dataclass(frozen=True)
class _Human:
    scores: Many[_HumanScore] = ()


@dataclass(frozen=True)
class _Quality:
    artefact: Many[_ArtefactScore] = ()
    human: _Human = _Human()


@dataclass(frozen=True)
class _Config:
    kind: str
    splits: dict[Name, Any]
    summary: str = ""
    regions: tuple[str, ...] = ()
    republishable: bool = False
    separator: bool | None = None
    breakdowns: tuple[str, ...] = ()
    headline: str = ""
    controls: tuple[str, ...] = ()
    length_confound: bool = False
    quality: dict[str, _Quality] = field(default_factory=dict)


@dataclass(frozen=True)
class _Manifest:
    configs: dict[Name, _Config]
    suite: str = ""
    version: str | None = None
    repo_id: str = ""
    citation: str = ""
    published: Many[Published] = ()


@dataclass(frozen=True)
class _Format:
    format: int


def read_manifest(path: Path, schema: type[Any] = _Manifest) -> Mapping[str, Any]:
    """A manifest, its keys in their order, held to what is read of it.

    Raises:
        EvaluationError: the file is none, or one of another format.
        OSError: it cannot be read.
    """
    found = strict_json.read(path, _Format).format
    if found != FORMAT:
        raise EvaluationError(
            f"{path}: format {found}; expected {FORMAT} (a newer release of this program may read "
            "it)"
        )
    strict_json.read(path, schema)
    return strict_json.read(path, dict[str, Any])
