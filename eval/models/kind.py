"""Kinds of language models, by their configs, and the classes of transformers that make them."""

from __future__ import annotations

import re
from typing import Any, Literal

#: Ways to read a token's surprisal: given what stands before it (``causal``); given all of the
#: text, with the token masked (``pll``), also where a model predicts a masked token one place
#: before it (``mntp``).
Scorer = Literal["causal", "pll", "mntp"]
#: The same, or by the model.
ScorerChoice = Literal["auto", "causal", "pll", "mntp"]
#: The entry of a config that names a masked language model in code of its repository.
_OWN_MASKED = "AutoModelForMaskedLM"
#: Names of classes with a head that gives tokens no probability.
_OTHER_HEAD = re.compile(
    "RewardModel$|For(?![A-Za-z0-9]*(LM|Language|Generation|PreTraining))[A-Z]"
)


def scorer_of(config: Any, made: str = "") -> Scorer:
    """``pll`` for a masked language model, ``causal`` for any other.

    Args:
        config: the model's; None: nothing is known of it.
        made: the name of the class that it was made of, if it has been made.
    """
    if made.endswith("ForMaskedLM"):
        return "pll"
    if config is None or made.endswith(("ForCausalLM", "LMHeadModel")):
        return "causal"
    own_code = getattr(config, "auto_map", None) or {}
    if _OWN_MASKED in own_code and "AutoModelForCausalLM" not in own_code:
        return "pll"
    return "pll" if is_masked(config) else "causal"


def is_masked(config: Any) -> bool:
    """True for a masked language model by its classes, or by its type where it names none."""
    from transformers.models.auto import modeling_auto

    masked = modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    model_type = getattr(config, "model_type", "")
    declared = set(getattr(config, "architectures", None) or ())
    # An entry may name several classes, one for each task.
    entries = modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES.values()
    causal = {c for entry in entries for c in ([entry] if isinstance(entry, str) else entry)}
    if all(name.endswith("Model") for name in declared - causal) and not declared & causal:
        # A model without a head is of its type.
        return model_type in masked and not getattr(config, "is_decoder", False)
    return bool(declared & set(masked.values())) and not declared & causal


def other_head(config: Any) -> str:
    """The class, such as a classifier's, of a model without a head for language; else empty."""
    declared = getattr(config, "architectures", None) or [""]
    return str(declared[0]) if all(map(_OTHER_HEAD.search, declared)) else ""


def is_headless(config: Any) -> bool:
    """Tell whether a config names no class, or only classes without a head (``LlamaModel``)."""
    declared = getattr(config, "architectures", None) or ()
    return all(name.endswith("Model") and "Head" not in name for name in declared)


def class_for(config: Any, scorer: Scorer, trust: bool = False) -> Any:
    """The class of transformers that makes a model of a config with the head that a scorer needs.

    Models that predict a masked token one place before it come as either.
    """
    from transformers import AutoModelForCausalLM, AutoModelForMaskedLM
    from transformers.models.auto import modeling_auto

    if scorer == "causal":
        return AutoModelForCausalLM
    own_code = trust and _OWN_MASKED in (getattr(config, "auto_map", None) or {})
    known = getattr(config, "model_type", "") in modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    return AutoModelForMaskedLM if scorer == "pll" or own_code or known else AutoModelForCausalLM


def padding_of(config: Any) -> int:
    """The id that fills up rows of a model that is told what is text."""
    text = config.get_text_config() if hasattr(config, "get_text_config") else config
    padding = getattr(text, "pad_token_id", None)
    return padding if isinstance(padding, int) and padding >= 0 else 0
