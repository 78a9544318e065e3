"""Kinds of language models, by their configs, and the classes of transformers that make them.

A config is a few lines that anybody wrote, and transformers makes whatever it asks for: weights
that its files do not have are filled with random numbers first and refused afterwards. So what the
files say is held to each other before memory is taken for what one of them says.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.models.arguments import ATTENTION
from coherencegym.eval.models.libraries import attempt, require
from coherencegym.eval.models.placement import input_device
from coherencegym.eval.models.source import ADAPTER_CONFIG, ADAPTER_WEIGHTS, ModelSource
from coherencegym.files.strict_json import held, kind

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


#: The ``model_type`` of :mod:`eval.models.word_gru`.
WORD_GRU = "coherencegym_word_gru"
_WEIGHTS = "model.safetensors"
#: The file that says which of several files has which weights.
WEIGHT_INDEX = "model.safetensors.index.json"
#: Entries of a config that are how many modules there are, each of which Python makes.
_MODULES = re.compile(r"(?:layers?|blocks|experts|labels)$")
#: No model has more of them.
_MOST_MODULES = 10_000
#: Numbers that a model may hold beyond those of its files: masks, tables of positions.
_SLACK = 1 << 26
#: Tasks of adapters (those of peft) that bring a head of their own.
_OTHER_TASKS = ("SEQ_CLS", "TOKEN_CLS", "QUESTION_ANS")
#: Most times as many as its files hold: a tied head may be kept apart; quantized ones packed.
_TIED, _PACKED = 2, 32
_NEEDS_CODE = (
    "needs code from its repository; read it, and if you trust it give --trust-remote-code"
)


@dataclass(frozen=True)
class _Config:
    # As far as it is asked before transformers holds it to its own schema.
    architectures: tuple[str, ...] | None = None
    auto_map: dict[str, Any] | None = None
    quantization_config: dict[str, Any] | None = None


@dataclass(frozen=True)
class _Index:
    # Of weights that lie in several files.
    weight_map: dict[str, str]


def refuse_unless_sane(source: ModelSource) -> None:
    """Refuse a config that transformers could not even be asked about."""
    config = source.read_json("config.json")
    if config is None:
        if inside := source.models_inside():
            raise EvaluationError(
                f"model {source.name!r}: no config.json, but a folder of {len(inside):,} model"
                f"{'s' * (len(inside) > 1)}; expected one, such as "
                f"{inside[0]!r}, or of `score` --all-revisions '*' for all"
            )
        return
    where = f"model {source.name!r}: config.json: "
    _held(config, _Config, where)
    for name, value in _entries(config):
        if _MODULES.search(name) and isinstance(value, int) and value > _MOST_MODULES:
            raise EvaluationError(
                f"{where}{kind(name)} is {value:,}; expected at most {_MOST_MODULES:,}"
            )


def _held(value: Any, schema: Any, where: str) -> Any:
    try:
        return held(value, schema)
    except EvaluationError as error:
        raise EvaluationError(f"{where}{error}") from None


def _entries(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, dict):
        yield from value.items()
        for inside in value.values():
            yield from _entries(inside)


def refuse_other_head(name: str, config: Any, adapter: ModelSource | None = None) -> None:
    """Refuse files of a classifier, a reward model and the like, whose body alone would be read.

    Args:
        name: the user's name for it.
        config: the model's.
        adapter: the files of an adapter on top of it.
    """
    found = {f"model {name!r}": other_head(config)}
    if adapter is not None:
        task = (adapter.read_json(ADAPTER_CONFIG) or {}).get("task_type")
        found[f"adapter {adapter.name!r}"] = task if task in _OTHER_TASKS else ""
    for what, head in found.items():
        if head:
            raise EvaluationError(
                f"{what} has a head for another task ({head}); expected a language model, such as "
                "the one that it was trained from"
            )


def settled_scorer(
    name: str, config: Any, choice: ScorerChoice | None = "auto", trust: bool = False
) -> Scorer | None:
    """The way in which a model's surprisals are read, if its config shows that it can be.

    Args:
        name: the user's name for it.
        config: the model's.
        choice: the user's; ``auto``: by the config; None: its vectors alone are wanted.
        trust: code from the model's repository may be run; it may define one.
    """
    scorer = scorer_of(config) if choice == "auto" else choice
    problem = _problem(config, scorer, trust)
    attention = getattr(config, "_attn_implementation", None)
    if problem is None and not trust and attention not in (None, *ATTENTION):
        problem = (
            f"asks for attention {str(attention)!r}, which may be code from the Hub; expected "
            "--model-arg attn_implementation=sdpa, or --trust-remote-code"
        )
    if problem is not None:
        raise EvaluationError(f"model {name!r} {problem}")
    return scorer


def _problem(config: Any, scorer: Scorer | None, trust: bool) -> str | None:
    # The rest of a message on what the config shows.
    from transformers.models.auto import modeling_auto as auto

    model_type = getattr(config, "model_type", "")
    if scorer is not None and getattr(config, "is_encoder_decoder", False):
        return f"is an encoder with a decoder ({model_type}); expected one of the two"
    if scorer == "causal" and is_masked(config):
        return (
            f"is a masked language model ({model_type}); expected a causal one, which gives every "
            "token a probability from what precedes it; --scorer pll scores it"
        )
    any_model = ("AutoModel", {*auto.MODEL_MAPPING_NAMES, WORD_GRU})
    causal = ("AutoModelForCausalLM", auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES)
    masked = ("AutoModelForMaskedLM", auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES)
    what, expected, classes = {
        None: ("model", "that it has", [any_model]),
        "causal": ("causal language model", "that it has", [causal]),
        "mntp": ("language model", "that it has", [masked, causal]),
        "pll": ("masked language model", "for --scorer pll, or --scorer causal", [masked]),
    }[scorer]
    own_code = {name for name, _ in classes} & {*(getattr(config, "auto_map", None) or ())}
    if any(model_type in known for _, known in classes) or (trust and own_code):
        return None
    if own_code:
        return _NEEDS_CODE
    if scorer == "causal" and model_type in auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        return (
            f"reads images and text ({model_type}), and transformers does not load its text part "
            "as a causal language model; expected a model of text"
        )
    return (
        f"is of type {model_type!r}, which transformers has no {what} for without code from the "
        f"model's repository; expected one {expected}"
    )


def refuse_unless_held(source: ModelSource, config: Any, trust: bool, kind_of_model: Any) -> None:
    """Refuse a model whose config asks for far more than its files of weights hold.

    Args:
        source: the model's files.
        config: the model's.
        trust: code from the model's repository may be run.
        kind_of_model: the class of transformers that makes it, such as ``AutoModelForCausalLM``.
    """
    import torch

    what = f"model {source.name!r}"
    tensors, numbers = stored(source)
    if not tensors:
        return
    layers = getattr(config.get_text_config(), "num_hidden_layers", 0)
    if isinstance(layers, int) and layers > tensors:
        raise EvaluationError(
            f"{what}: its config asks for {layers:,} layers, but its files have {tensors:,} "
            "tensors; expected files that belong together"
        )
    if trust:
        # Code from the repository, which would be fetched anew here, may make what it likes.
        return
    with torch.device("meta"):
        made = attempt(what, kind_of_model.from_config, deepcopy(config), dtype=torch.float32)
    asked = sum(tensor.numel() for tensor in {*made.parameters(), *made.buffers()})
    packed = getattr(config, "quantization_config", None) is not None
    if asked > numbers * (_PACKED if packed else _TIED) + _SLACK:
        raise EvaluationError(
            f"{what}: its config asks for {asked:,} weights, but its files have {numbers:,}; "
            "expected files that belong together"
        )


def stored(source: ModelSource) -> tuple[int, int]:
    """Count tensors and numbers in files of weights, by their headers.

    There are none where the files have other names.
    """
    from safetensors import safe_open

    tensors = numbers = 0
    for name, path in _files(source):
        try:
            with safe_open(path, "pt") as file:
                for key in file.keys():  # noqa: SIM118 (it is no mapping)
                    tensors += 1
                    numbers += math.prod(file.get_slice(key).get_shape())
        except Exception as error:
            # The library has an error of its own, and those of the system.
            raise EvaluationError(
                f"model {source.name!r}: {name} cannot be read: {error}"
            ) from None
    return tensors, numbers


def _files(source: ModelSource) -> Iterator[tuple[str, Path]]:
    # As transformers looks for them, one before several.
    if (alone := source.file(_WEIGHTS)) is not None:
        yield _WEIGHTS, alone
        return
    index = source.read_json(WEIGHT_INDEX)
    if index is None:
        return
    where = f"model {source.name!r}: {WEIGHT_INDEX}: "
    names = sorted(set(_held(index, _Index, where).weight_map.values()))
    for name in names:
        if Path(name).name != name or not name.endswith(".safetensors"):
            raise EvaluationError(f"{where}{kind(name)}; expected a name of a safetensors file")
    source.fetch(names)
    for name in names:
        path = source.file(name)
        if path is None:
            raise EvaluationError(f"{where}{kind(name)} is not there; expected every file it names")
        yield name, path


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


def refuse_unless_in_vocabulary(
    size: int, tokenizer: Any, sequences: Iterable[Sequence[int]]
) -> None:
    """Refuse token ids that a model has no entry for; ``size`` is the count of its entries."""
    largest = max((max(ids) for ids in sequences if ids), default=0)
    if largest >= size:
        raise EvaluationError(
            f"the tokenizer gives token {largest} "
            f"({tokenizer.convert_ids_to_tokens(largest)!r}), but the model's vocabulary has "
            f"{size} entries; expected a tokenizer that belongs to the model"
        )


def refuse_unless_it_sees(name: str, model: Any, scorer: Scorer) -> None:
    """Refuse a causal model whose prediction changes with what follows, or a masked one's that does
    not: its surprisals would be others than they are called.
    """
    import torch

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
    change = float((logits[0] - logits[1]).abs().max()) / scale
    ahead = change > tolerance
    if ahead and scorer == "causal":
        raise EvaluationError(
            f"model {name!r} predicts a token from what follows it; expected a causal language "
            "model, or --scorer pll or mntp"
        )
    # Of a model that looks ahead a little, rounding is less than what it makes of it.
    if scorer != "causal" and change <= 1e-5:
        raise EvaluationError(
            f"model {name!r} predicts a token from what precedes it alone, masked or not; expected "
            "--scorer causal, or a model that sees all of a text"
        )
