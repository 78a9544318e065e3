"""Adapters of PEFT: checked before weights are loaded, and put into a model."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.models.machine import input_device, require
from coherencegym.eval.models.source import ADAPTER_CONFIG, ADAPTER_WEIGHTS, ModelSource


def _resize(model: Any, weights: Path) -> None:
    # As peft does not: to as many rows of embeddings as an adapter has that was trained with more.
    from safetensors import safe_open

    ends = [*filter(None, (model.get_input_embeddings(), model.get_output_embeddings()))]
    names = [re.escape(name) for name, one in model.named_modules() if one in ends]
    whole = re.compile(
        rf"base_model\.model\.({'|'.join(names)})"
        r"(\.(modules_to_save|token_adapter|base_layer))*\.weight"
    )
    with safe_open(weights, "pt") as file:
        found = ((whole.fullmatch(key), key) for key in file.keys())  # noqa: SIM118 (no mapping)
        rows = {match[1]: file.get_slice(key).get_shape()[0] for match, key in found if match}
    sizes, now = {*rows.values()}, int(model.get_input_embeddings().weight.shape[0])
    if len(sizes) != 1 or (size := sizes.pop()) == now:
        return
    if size > now and len(rows) < len({id(end.weight) for end in ends}):
        raise EvaluationError(
            f"it has {size:,} embeddings for the input or the output alone, and the model has "
            f"{now:,}; expected an adapter that was saved with both"
        )
    model.resize_token_embeddings(size, mean_resizing=False)


def with_adapter(model: Any, adapter: ModelSource) -> Any:
    """The model with an adapter in its layers, which are changed in place.

    The model itself comes back, and its forward takes what it took before.
    """
    from peft import PeftModel

    if any(weights.device.type == "meta" for weights in model.parameters()):
        raise EvaluationError(
            f"adapter {adapter.name!r}: a part of the model is kept elsewhere for want of memory, "
            "and peft cannot change it there; expected more memory, or the adapter merged into the "
            "model"
        )
    config, weights = adapter.file(ADAPTER_CONFIG), adapter.file(ADAPTER_WEIGHTS)
    # Both are there, and now on this machine.
    assert config is not None
    assert weights is not None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            _resize(model, weights)
            wrapped = PeftModel.from_pretrained(
                model, str(config.parent), torch_device=str(input_device(model))
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
    return wrapped.get_base_model()


def refuse_unless_adapter(adapter: ModelSource) -> None:
    """Refuse an adapter before the model's weights are loaded."""
    require("peft", f"the adapter {adapter.name!r}")
    config = adapter.read_json(ADAPTER_CONFIG)
    if config is None:
        raise EvaluationError(f"adapter {adapter.name!r} has no {ADAPTER_CONFIG}")
    if adapter.file(ADAPTER_WEIGHTS) is None:
        raise EvaluationError(
            f"adapter {adapter.name!r} has no {ADAPTER_WEIGHTS}; pickled weights are never read: "
            "load it where you trust it and save it again with save_pretrained"
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
