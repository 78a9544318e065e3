"""The machine and the libraries that models run on: devices, their memory, and several processes.

Several processes, one for each GPU, are started by ``accelerate launch``. All of them make the same
plan and run every so many of its batches; numbers are then added up, a batch that a process has not
run counting as 0. The batches are those of a single process, and so are the results.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from coherencegym.errors import EvaluationError, ProcessError, first_line
from coherencegym.eval.models.arguments import ModelArguments

if TYPE_CHECKING:
    import numpy as np


#: What is said of a model that is no model without its code.
NEEDS_CODE = "needs code from its repository; read it, and if you trust it give --trust-remote-code"


def quiet_libraries() -> None:
    """Keep the libraries' warnings off the terminal, and their bars out of pipes."""
    import logging

    import huggingface_hub.utils.logging as hub_logging
    import transformers
    from huggingface_hub.utils import disable_progress_bars  # type: ignore[attr-defined]

    # What it calls an error it raises as well.
    transformers.logging.set_verbosity(logging.CRITICAL)
    transformers.logging.disable_progress_bar()
    for name in ("accelerate", "bitsandbytes", "matplotlib"):
        logging.getLogger(name).setLevel(logging.ERROR)
    hub_logging.set_verbosity_error()  # type: ignore[no-untyped-call]
    if not sys.stderr.isatty():
        disable_progress_bars()


def require(package: str, what: str) -> None:
    """Refuse what needs a package that is not installed."""
    if find_spec(package) is None:
        raise EvaluationError(
            f"{what} needs {package}; expected pip install {package}, or the extra "
            "coherencegym[gpu]"
        )


def attempt(
    what: str, load: Callable[..., Any], *arguments: Any, trust: bool = False, **settings: Any
) -> Any:
    """Call a loader of transformers, for ``what`` as messages have it; ``trust`` is in its code."""
    from huggingface_hub import constants

    try:
        return load(*arguments, trust_remote_code=trust, **settings)
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        # Libraries raise whatever a damaged file leads them to; those in Rust even what is no
        # Exception, where they panic.
        said = _problem(error, trust)
        is_here = any(Path(one).is_dir() for one in arguments if isinstance(one, str | Path))
        if constants.HF_HUB_OFFLINE and isinstance(error, OSError) and not is_here:
            said = (
                f"{said.rstrip('.')}; HF_HUB_OFFLINE is set: only what was fetched before is read"
            )
        raise EvaluationError(f"{what} {said}") from None


def _problem(error: BaseException, trust: bool) -> str:
    from huggingface_hub.errors import StrictDataclassError

    said = str(error)
    if not trust and "trust_remote_code" in said:
        return NEEDS_CODE
    reason = first_line(error)
    if unknown := re.search(r"unexpected keyword argument '(\w+)'", said):
        reason = (
            f"{unknown[1]} is neither an argument of from_pretrained nor an entry of this model's "
            "config (see --model-arg)"
        )
    elif "ignore_mismatched_sizes" in said:
        reason = "its weights have other shapes than its config says"
    elif isinstance(error, StrictDataclassError) and said.strip():
        # The first line names the check, the last says what is wrong.
        reason = said.strip().splitlines()[-1].strip()
    return f"cannot be loaded: {reason}"


#: Ways in which accelerate spreads a model over devices.
DEVICE_MAPS = ("auto", "balanced", "balanced_low_0", "sequential")


@dataclass(frozen=True)
class Placement:
    """A place and a number format for a model.

    Attributes:
        device: that of the model as a whole; None where a map spreads it.
        dtype: a torch dtype, or ``auto`` for that of quantized weights.
        settings: arguments of ``from_pretrained``.
    """

    device: Any
    dtype: Any
    settings: Mapping[str, Any]


def place_model(
    config: Any, arguments: ModelArguments, device: str, dtype: str, device_map: str | None
) -> Placement:
    """Decide where a model goes; options are those of :func:`eval.models.load.load`."""
    stored_quantized = getattr(config, "quantization_config", None) is not None
    if arguments.memory and device_map is None:
        first = next(iter(arguments.memory))
        raise EvaluationError(f"--model-arg {first}: expected --device-map with it")
    if arguments.quantization and stored_quantized:
        first = next(iter(arguments.quantization))
        raise EvaluationError(f"--model-arg {first}: the model is quantized already")
    where = _device(device)
    number_format = "auto" if stored_quantized and dtype == "auto" else _dtype(dtype, where)
    settings: dict[str, Any] = {}
    if arguments.quantization:
        settings["quantization_config"] = _bitsandbytes(arguments.quantization)
    if device_map is not None:
        if os.environ.get("WORLD_SIZE", "1") != "1":
            raise EvaluationError(
                "--device-map: one process spreads a model over all GPUs; expected to be started "
                "without accelerate launch or torchrun"
            )
        if device != "auto":
            raise EvaluationError(f"--device {device} and --device-map: expected one of them")
        require("accelerate", "--device-map")
        settings |= {"device_map": device_map, **_memory(arguments.memory)}
    elif arguments.quantization or stored_quantized:
        # Quantized weights are made on their device, and many kinds cannot be moved.
        require("accelerate", "a quantized model")
        settings["device_map"] = {"": str(where)}
    return Placement(None if "device_map" in settings else where, number_format, settings)


def _device(choice: str) -> Any:
    import torch

    if choice == "auto":
        if torch.cuda.is_available():
            return torch.device("cuda")
        return torch.device("mps" if torch.backends.mps.is_available() else "cpu")
    try:
        device = torch.device(choice)
        torch.empty(0, device=device)
    except (RuntimeError, AssertionError, NotImplementedError):
        raise EvaluationError(
            f"device {choice!r} is not there; expected auto, cpu or a device that torch sees"
        ) from None
    return device


def _dtype(choice: str, device: Any) -> Any:
    import torch

    if choice != "auto":
        return getattr(torch, choice)
    if device.type == "cuda" and torch.cuda.is_bf16_supported():
        return torch.bfloat16
    return torch.float32


def _memory(given: Mapping[str, Any]) -> dict[str, Any]:
    import torch

    settings = {key: given[key] for key in given if key.startswith("offload_")}
    limits: dict[int | str, Any] = {}
    if "max_memory_per_gpu" in given:
        limits |= dict.fromkeys(range(torch.cuda.device_count()), given["max_memory_per_gpu"])
    if "max_cpu_memory" in given:
        limits["cpu"] = given["max_cpu_memory"]
    return {**settings, "max_memory": limits} if limits else settings


def _bitsandbytes(given: Mapping[str, Any]) -> Any:
    from transformers import BitsAndBytesConfig

    first = next(iter(given))
    require("bitsandbytes", f"--model-arg {first}")
    try:
        config, unused = BitsAndBytesConfig.from_dict(dict(given), return_unused_kwargs=True)
    except (TypeError, ValueError, AttributeError) as error:
        raise EvaluationError(f"--model-arg {first}: {error}") from None
    if unused:
        raise EvaluationError(f"--model-arg {next(iter(unused))}: not known to bitsandbytes")
    return config


def quantization_of(model_config: Any) -> str | None:
    """The quantization that a model's config says, such as ``bitsandbytes-4bit``, or None."""
    config = getattr(model_config, "quantization_config", None)
    if config is None:
        return None
    about = config if isinstance(config, Mapping) else config.to_dict()
    method = about.get("quant_method", "quantized")
    method = getattr(method, "value", method)
    widths = [bits for bits in (4, 8) if about.get(f"load_in_{bits}bit")]
    widths = widths or [bits for bits in [about.get("bits")] if bits]
    return f"{method}-{widths[0]}bit" if widths else str(method)


def input_device(model: Any) -> Any:
    """The device of the input embeddings, where token ids go.

    Embeddings that are loaded for each pass from elsewhere are nowhere themselves (torch calls
    their device ``meta``); accelerate then moves ids from the CPU to where they are needed.
    """
    import torch

    device = model.get_input_embeddings().weight.device
    return torch.device("cpu") if device.type == "meta" else device


def send(values: Any, device: Any) -> Any:
    """A tensor on a device, of whole numbers or of a tensor on the CPU.

    A GPU takes them out of page-locked memory when it gets there: a plain copy would be waited for,
    with all that the GPU still has to do before it.
    """
    import torch

    # An empty list has no number to go by.
    tensor = torch.tensor(values, dtype=torch.long) if isinstance(values, Sequence) else values
    if device.type == "cuda" and tensor.device.type == "cpu":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


def devices(model: Any) -> str:
    """The devices that a model lies on, such as ``cpu`` or ``cuda:0+cuda:1``."""
    spread = getattr(model, "hf_device_map", None)
    if not spread:
        return str(input_device(model))
    named = {f"cuda:{place}" if isinstance(place, int) else str(place) for place in spread.values()}
    return "+".join(sorted(named))


_Result = TypeVar("_Result")


def in_memory_of(device: Any, work: Callable[[], _Result]) -> _Result | None:
    """The result of some work on a torch device; None where its memory did not suffice.

    It is then free again.
    """
    try:
        return work()
    except (RuntimeError, MemoryError) as error:
        if not is_out_of_memory(error):
            raise
        # The traceback holds the tensors that were in the way.
        error.__traceback__ = None
    import gc

    import torch

    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
    return None


def out_of_memory(tokens: int) -> EvaluationError:
    """The error where one text of so many tokens is too much."""
    return EvaluationError(
        f"out of memory for one text of {tokens:,} tokens; try --dtype bfloat16, another --device, "
        "or --device-map auto"
    )


def is_out_of_memory(error: BaseException) -> bool:
    """Tell whether a device or the machine had no memory left."""
    import torch

    if isinstance(error, torch.OutOfMemoryError | MemoryError):
        return True
    text = str(error).lower()
    return isinstance(error, RuntimeError) and (
        "out of memory" in text or "can't allocate memory" in text
    )


def give_back_pieces() -> None:
    """Give the system the memory that is free in C libraries, which keep it for themselves."""
    import ctypes

    import pyarrow

    pyarrow.default_memory_pool().release_unused()
    with suppress(AttributeError, OSError):  # only the GNU library has a name for that
        ctypes.CDLL(None).malloc_trim(0)


@dataclass(frozen=True, slots=True)
class World:
    """The processes of a run.

    Attributes:
        rank: the number of this one.
        size: count of all.
        local_rank: the number of this one on its machine, and of its GPU.
    """

    rank: int = 0
    size: int = 1
    local_rank: int = 0

    @property
    def is_first(self) -> bool:
        """True for the process that reports."""
        return self.rank == 0

    def total(self, values: np.ndarray) -> np.ndarray:
        """The sum over all processes, element by element; float64, of one shape in all of them."""
        return self._reduce(values, "SUM")

    def greatest(self, values: np.ndarray) -> np.ndarray:
        """The greatest of all processes, element by element."""
        return self._reduce(values, "MAX")

    def agree(self, flags: Sequence[bool]) -> list[bool]:
        """The conjunction of each flag over all processes."""
        import numpy as np

        least = self._reduce(np.array(flags, dtype=np.float64), "MIN")
        return [bool(flag) for flag in least]

    def pooled(
        self, values: Sequence[np.ndarray | None], counts: Sequence[int]
    ) -> list[np.ndarray | None]:
        """The arrays that any process has, each as the first that has it has it; else None.

        Machines keep what they have computed each for itself: after one was lost, every other
        knows other arrays. ``counts`` are their lengths, float64.
        """
        if self.size == 1:
            return list(values)
        import numpy as np

        own = np.array([each is not None for each in values], dtype=np.float64)
        # The first process has the greatest number; 0: nobody has it.
        first = self.greatest(own * (self.size - self.rank))
        sent = np.flatnonzero((self.total(own) < self.size) & (first > 0)).tolist()
        pooled = list(values)
        if not sent:
            return pooled
        ends = np.cumsum([counts[index] for index in sent])
        flat = np.zeros(int(ends[-1]))
        for index, end in zip(sent, ends, strict=True):
            found = values[index]
            if found is not None and first[index] == self.size - self.rank:
                flat[end - counts[index] : end] = found
        for index, array in zip(sent, np.split(self.total(flat), ends[:-1]), strict=True):
            pooled[index] = array
        return pooled

    def _reduce(self, values: np.ndarray, operation: str) -> np.ndarray:
        if self.size == 1:
            return values
        import numpy as np
        import torch
        import torch.distributed as processes

        shared = torch.from_numpy(np.array(values, dtype=np.float64))
        try:
            processes.all_reduce(shared, op=getattr(processes.ReduceOp, operation))
        except RuntimeError as error:  # as the torch library says that a connection was closed
            raise ProcessError(
                f"process {self.rank} of {self.size} has lost another one "
                f"({first_line(error)[-120:]}); expected all of them to the end: start them again, "
                "and what is cached is not computed again"
            ) from None
        reduced: np.ndarray = shared.numpy()
        return reduced


#: One process, which needs nobody.
ALONE = World()


def world() -> World:
    """The processes that the launcher has started, from the environment."""
    defaults = {"RANK": "0", "WORLD_SIZE": "1", "LOCAL_RANK": "0"}
    try:
        found = World(*(int(os.environ.get(name, text)) for name, text in defaults.items()))
        if 0 <= found.rank < found.size and found.local_rank >= 0:
            return found
    except ValueError:
        pass
    said = ", ".join(f"{name}={os.environ.get(name)}" for name in defaults)
    raise EvaluationError(
        f"the environment says {said}; expected what accelerate launch or torchrun sets"
    )


def own_device(choice: str, processes: World) -> str:
    """The device of this process, where several were asked to take a GPU: each its own."""
    if processes.size == 1 or choice not in ("auto", "cuda"):
        return choice
    import torch

    return f"cuda:{processes.local_rank}" if torch.cuda.is_available() else choice


@contextmanager
def join_processes(processes: World) -> Iterator[None]:
    """Join the others of a run, and leave them at the end."""
    if processes.size == 1:
        yield
        return
    import torch.distributed

    # Only a few numbers are exchanged, so that what every machine has is good enough.
    torch.distributed.init_process_group("gloo", rank=processes.rank, world_size=processes.size)
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()
