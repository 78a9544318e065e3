"""PEFT adapters, such as LoRA (Hu et al. 2022), on top of a model."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.placement import input_device
from coherencegym.eval.models.source import ModelSource, first_line, require

_WEIGHTS = "adapter_model.safetensors"


def refuse_unless_loadable(adapter: ModelSource) -> None:
    """Refuse an adapter before the model's weights are loaded.

    Raises:
        EvaluationError: peft is not installed, there is no adapter, its weights are not
            safetensors, or its kind is one that changes more than the model's layers.
    """
    require("peft", f"the adapter {adapter.name!r}")
    config = adapter.read_json("adapter_config.json")
    if config is None:
        raise EvaluationError(f"adapter {adapter.name!r} has no adapter_config.json")
    if adapter.file(_WEIGHTS) is None:
        raise EvaluationError(
            f"adapter {adapter.name!r} has no {_WEIGHTS}; pickled weights are never read: load it "
            "where you trust it and save it again with save_pretrained"
        )
    from peft import PEFT_TYPE_TO_TUNER_MAPPING
    from peft.tuners.tuners_utils import BaseTuner

    kind = str(config.get("peft_type"))
    tuner = PEFT_TYPE_TO_TUNER_MAPPING.get(kind)
    # What is only new layers leaves peft's wrapper with nothing to do, so that the model can be
    # called without it (AdaLoRA's adds a term to the loss). Megatron's layers would come from a
    # module that the config names.
    if (
        (getattr(tuner, "forward", None) is not BaseTuner.forward and kind != "ADALORA")
        or config.get("alora_invocation_tokens")
        or config.get("megatron_config")
    ):
        raise EvaluationError(
            f"adapter {adapter.name!r} ({kind[:40]}) does something else than change the model's "
            "layers, or this peft does not know it; expected one like LoRA"
        )


def apply(model: Any, adapter: ModelSource) -> Any:
    """Put an adapter's weights into a model.

    Args:
        model: a loaded transformers model; its layers are changed in place.
        adapter: one that :func:`refuse_unless_loadable` lets through.

    Returns:
        The model itself, whose forward takes what it took before.

    Raises:
        EvaluationError: the adapter does not fit the model, or the model not into the memory.
    """
    from peft import PeftModel

    if any(weights.device.type == "meta" for weights in model.parameters()):
        raise EvaluationError(
            f"adapter {adapter.name!r}: a part of the model is kept elsewhere for want of memory, "
            "and peft cannot change it there; expected more memory, or the adapter merged into the "
            "model"
        )
    config, weights = adapter.file("adapter_config.json"), adapter.file(_WEIGHTS)
    assert config is not None
    assert weights is not None
    folder = Path(config).parent
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            adapted = PeftModel.from_pretrained(
                model, str(folder), torch_device=str(input_device(model))
            )
        except Exception as error:
            # peft raises whatever the layers that an adapter asks for lead to.
            raise EvaluationError(
                f"adapter {adapter.name!r} does not fit the model: {first_line(error)[:300]}"
            ) from None
    if any("missing adapter keys" in str(warning.message) for warning in caught):
        # peft would go on with what it starts training from, which changes nothing.
        raise EvaluationError(
            f"adapter {adapter.name!r} lacks weights that its config asks for in this model; "
            "expected an adapter made for it"
        )
    return adapted.get_base_model()
