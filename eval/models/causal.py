"""Refuse what is no causal language model: by its config, and by what it does."""

from __future__ import annotations

from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.arguments import ATTENTION
from coherencegym.eval.models.source import first_line


def refuse_unless_causal(name: str, config: Any, trust: bool = False) -> None:
    """Refuse what a config shows not to be a causal language model.

    Args:
        name: as the user named it.
        config: of transformers.
        trust: whether code from the model's repository may be run; it may define one.

    Raises:
        EvaluationError: a masked language model, an encoder with a decoder, no language model, or
            one that asks for code from the Hub.
    """
    from transformers.models.auto import modeling_auto

    causal = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES
    masked = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    declared = set(getattr(config, "architectures", None) or ())
    kind = getattr(config, "model_type", "")
    own_code = "AutoModelForCausalLM" in (getattr(config, "auto_map", None) or {})
    if getattr(config, "is_encoder_decoder", False):
        raise EvaluationError(
            f"model {name!r} is an encoder with a decoder ({kind}); expected a decoder alone"
        )
    is_masked = bool(declared & set(masked.values()))
    if not declared and kind in masked and not getattr(config, "is_decoder", False):
        is_masked = True
    # An entry may name several classes, one for each task.
    classes = {
        c for entry in causal.values() for c in ([entry] if isinstance(entry, str) else entry)
    }
    if is_masked and not declared & classes:
        raise EvaluationError(
            f"model {name!r} is a masked language model ({kind}); expected a causal one, "
            "which gives every token a probability from what precedes it"
        )
    if kind not in causal and not (trust and own_code):
        if own_code:
            raise EvaluationError(
                f"model {name!r} needs code from its repository; read it, and if you trust it give "
                "--trust-remote-code"
            )
        if kind in modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
            raise EvaluationError(
                f"model {name!r} reads images and text ({kind}), and transformers does not load "
                "its text part as a causal language model; expected a model of text"
            )
        raise EvaluationError(
            f"model {name!r} is of type {kind!r}, which transformers has no causal language model "
            "for without code from the model's repository; expected one that it has"
        )
    attention = getattr(config, "_attn_implementation", None)
    if not trust and attention is not None and attention not in ATTENTION:
        raise EvaluationError(
            f"model {name!r} asks for attention {str(attention)!r}, which may be code from the "
            "Hub; expected --model-arg attn_implementation=sdpa, or --trust-remote-code"
        )


def refuse_if_it_sees_ahead(name: str, model: Any) -> None:
    """Refuse a model whose prediction changes with what follows: surprisal is then meaningless.

    Raises:
        EvaluationError: it does, or it cannot be run.
    """
    import torch

    from coherencegym.eval.models.placement import input_device

    size = int(model.get_input_embeddings().weight.shape[0])
    ids = torch.tensor([[1, 2, 3, 4], [1, 2, 3, 5]], device=input_device(model)) % size
    try:
        with torch.inference_mode():
            logits = model(input_ids=ids).logits[:, 2].float()
    except Exception as error:
        # Its first pass: whatever its layers, quantized, adapted or its own, cannot do.
        raise EvaluationError(f"model {name!r} cannot be run: {first_line(error)[:300]}") from None
    # Two rows of one batch may differ by rounding, in half precision or quantized by a little more.
    exact = model.dtype == torch.float32 and getattr(model, "hf_quantizer", None) is None
    tolerance = 1e-3 if exact else 0.1
    scale = max(1.0, float(logits.abs().max()))
    if float((logits[0] - logits[1]).abs().max()) > tolerance * scale:
        raise EvaluationError(
            f"model {name!r} predicts a token from what follows it; expected a causal language "
            "model"
        )
