"""What a model's files say, held to each other before memory is taken for what one of them says.

A config is a few lines that anybody wrote, and transformers makes whatever it asks for: weights
that its files do not have are filled with random numbers first and refused afterwards.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.source import ModelSource, attempt
from coherencegym.files.strict_json import held, kind

_WEIGHTS = "model.safetensors"
_INDEX = "model.safetensors.index.json"
#: Entries of a config that are how many modules there are, each of which Python makes.
_MODULES = re.compile(r"(?:layers?|blocks|experts|labels)$")
#: No model has more of them.
MOST_MODULES = 10_000
#: Numbers that a model may hold beyond those of its files: masks, tables of positions.
_SLACK = 1 << 26
#: How many times as many as its files hold: a tied head may be kept apart; quantized ones packed.
_TIED, _PACKED = 2, 32


@dataclass(frozen=True)
class _Config:
    """The schema of a ``config.json``, as far as it is asked before transformers holds it to its
    own."""

    architectures: tuple[str, ...] | None = None
    auto_map: dict[str, Any] | None = None
    quantization_config: dict[str, Any] | None = None


@dataclass(frozen=True)
class _Index:
    """The schema of the index of weights that lie in several files."""

    weight_map: dict[str, str]


@dataclass(frozen=True)
class _Held:
    """How many tensors the files of weights have, and how many numbers."""

    tensors: int
    numbers: int


def refuse_unless_sane(source: ModelSource) -> None:
    """Refuse a config that transformers could not even be asked about.

    Raises:
        EvaluationError: a name that should be text is none, or more modules than any model has.
    """
    config = source.read_json("config.json")
    if config is None:
        return
    where = f"model {source.name!r}: config.json: "
    try:
        held(config, _Config)
    except EvaluationError as error:
        raise EvaluationError(f"{where}{error}") from None
    for name, value in _entries(config):
        if _MODULES.search(name) and isinstance(value, int) and value > MOST_MODULES:
            raise EvaluationError(
                f"{where}{kind(name)} is {value:,}; expected at most {MOST_MODULES:,}"
            )


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    """The names and values of an object and of those in it."""
    if isinstance(value, dict):
        yield from value.items()
        for inside in value.values():
            yield from _entries(inside)


def refuse_unless_held(source: ModelSource, config: Any, trust: bool) -> None:
    """Refuse a model whose config asks for far more than its files of weights hold.

    Args:
        source: the model's files.
        config: of transformers.
        trust: whether code from the model's repository may be run.

    Raises:
        EvaluationError: it does; or a file of weights is damaged, or one that the index names is
            not there.
    """
    import torch
    from transformers import AutoModelForCausalLM

    what = f"model {source.name!r}"
    found = _held(source)
    if found is None:
        return
    layers = getattr(config.get_text_config(), "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > found.tensors:
        raise EvaluationError(
            f"{what}: its config asks for {layers:,} layers, but its files have {found.tensors:,} "
            "tensors; expected files that belong together"
        )
    if trust:
        # Code from the repository, which would be fetched anew here, may make what it likes.
        return
    with torch.device("meta"):
        made = attempt(
            what, AutoModelForCausalLM.from_config, deepcopy(config), dtype=torch.float32
        )
    asked = sum(tensor.numel() for tensor in {*made.parameters(), *made.buffers()})
    packed = getattr(config, "quantization_config", None) is not None
    most = found.numbers * (_PACKED if packed else _TIED) + _SLACK
    if asked > most:
        raise EvaluationError(
            f"{what}: its config asks for {asked:,} weights, but its files have {found.numbers:,}; "
            "expected files that belong together"
        )


def _held(source: ModelSource) -> _Held | None:
    """What the headers of the files say; None where the weights have other names."""
    from safetensors import safe_open

    tensors = numbers = 0
    for name, path in _files(source):
        try:
            with safe_open(path, "pt") as file:
                for key in file.keys():  # noqa: SIM118 (it is no mapping)
                    tensors += 1
                    size = 1
                    for side in file.get_slice(key).get_shape():
                        size *= side
                    numbers += size
        except Exception as error:
            # The library has an error of its own, and those of the system.
            raise EvaluationError(
                f"model {source.name!r}: {name} cannot be read: {error}"
            ) from None
    return _Held(tensors, numbers) if tensors else None


def _files(source: ModelSource) -> Iterator[tuple[str, Path]]:
    """The files of weights, by name: as transformers looks for them, one before several."""
    if (alone := source.file(_WEIGHTS)) is not None:
        yield _WEIGHTS, alone
        return
    index = source.read_json(_INDEX)
    if index is None:
        return
    where = f"model {source.name!r}: {_INDEX}: "
    try:
        names = sorted(set(held(index, _Index).weight_map.values()))
    except EvaluationError as error:
        raise EvaluationError(f"{where}{error}") from None
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise EvaluationError(f"{where}{kind(name)}; expected a name of a safetensors file")
    source.fetch(names)
    for name in names:
        path = source.file(name)
        if path is None:
            raise EvaluationError(f"{where}{kind(name)} is not there; expected every file it names")
        yield name, path
