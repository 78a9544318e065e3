"""The devices that a model's weights lie on, and their number format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.arguments import ModelArguments
from coherencegym.eval.models.libraries import require

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

    @property
    def whole_device(self) -> str:
        """The device of the model as a whole as :func:`devices` names it, such as ``cuda:0``."""
        import torch

        return str(torch.empty(0, device=self.device).device)


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
        return Placement(None, number_format, settings)
    if arguments.quantization or stored_quantized:
        # Quantized weights are made on their device, and many kinds cannot be moved.
        require("accelerate", "a quantized model")
        settings["device_map"] = {"": str(where)}
        return Placement(None, number_format, settings)
    return Placement(where, number_format, settings)


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
