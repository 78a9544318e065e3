"""What a model's config says: the kind of the model, and where it begins to read otherwise.

A config is a few lines that anybody wrote, and transformers makes whatever it asks for: weights
that its files do not have are filled with random numbers first and refused afterwards. So what the
files say is held to each other before memory is taken for what one of them says.

Two things make what a model says of a text depend on what stands beside it in a batch. A *window*
hides what is far away from a token: a mask of pairs that replaces the model's own has to hide it
too, and where a model counts columns instead of positions, a packed row has to fit into it. And
where *positions* are scaled by the length of what is read, a short text beside a longer one would
be read as if it were as long. So the texts of a batch lie on one side of such a length, and
:mod:`eval.forward.trial` tries both sides of all of them.

Of the rope functions of transformers ``longrope`` (Ding et al. 2024; Phi-3) is of this kind: it
has factors for texts up to ``original_max_position_embeddings`` and others for longer ones, and
takes those of the longest position of a batch. ``dynamic`` begins beyond
``max_position_embeddings``, and longer texts are not scored. ``default``, ``linear``, ``yarn``,
``llama3`` and ``proportional`` depend on the position alone.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.models.arguments import ATTENTION
from coherencegym.eval.models.machine import NEEDS_CODE, attempt, input_device
from coherencegym.eval.models.source import ADAPTER_CONFIG, ModelSource
from coherencegym.files.strict_json import held, kind

#: Names in a config of the most tokens that its model can read, most usual first.
_CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx")
#: Names of a window that no mask of pairs can take the place of, as the model looks at columns or
#: at how much there is: GPT-Neo, RecurrentGemma, Doge, DeepSeek's and GLM's indexer.
_OWN_WINDOWS = (
    *("window_size", "attention_window", "attention_window_size"),
    *("local_attention", "keep_window_size", "index_topk"),
)
#: Names of how many tokens a layer chooses by their scores. Among equals it may choose others in
#: another row, seldom enough for a trial of some texts to miss.
_CHOSEN = ("index_topk", "keep_window_size")

#: RoBERTa and its kin number positions from after the padding token's id.
_FROM_PADDING = frozenset(
    {
        *("roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "camembert", "xmod"),
        *("mpnet", "longformer", "data2vec-text", "ibert", "luke", "markuplm"),
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths (tokens) at which a model begins to read otherwise; 0 where there is no such length.

    Attributes:
        sliding: tokens that a sliding layer sees, the one that looks included.
        chunk: tokens of a chunk, of layers that see their own chunk only.
        own: tokens that a layer sees, whatever mask it is given: it counts columns of a row.
        chosen: tokens of a text from which no layer chooses the tokens that it sees: a longer one
            is read alone.
        layers: the kinds of layers that the config names (``layer_types``), each with a mask of its
            own; empty where one mask serves them all.
        lengths: increasing; texts of more tokens than one of them have other positions.
    """

    sliding: int = 0
    chunk: int = 0
    own: int = 0
    chosen: int = 0
    layers: frozenset[str] = field(default_factory=frozenset)
    lengths: tuple[int, ...] = ()

    def side(self, length: int) -> int:
        """The side of :attr:`lengths` that a text is on: only texts of one side stand together."""
        return bisect_left(self.lengths, length)

    @property
    def boundaries(self) -> tuple[int, ...]:
        """All of these lengths, increasing."""
        found = {self.sliding, self.chunk, self.own, *self.lengths}
        return tuple(sorted(found - {0}))


#: Limits of a model that reads every length alike.
UNLIMITED = Limits()


def limits_of(config: Any) -> Limits:
    """Read a model's limits from its config (of transformers), or none where it has no config."""
    if config is None:
        return UNLIMITED
    text = _of_text(config)
    layers = frozenset(getattr(text, "layer_types", None) or ())

    def window(name: str, kind: str) -> int:
        # Unless the config names its kinds of layers and none has such a window.
        return _number(text, name) if not layers or kind in layers else 0

    lengths = {_scaled_length(text, rope) for rope in _ropes(text)}
    return Limits(
        sliding=window("sliding_window", "sliding_attention"),
        chunk=window("attention_chunk_size", "chunked_attention"),
        own=_least(text, _OWN_WINDOWS),
        chosen=_least(text, _CHOSEN),
        layers=layers,
        lengths=tuple(sorted(lengths - {0})),
    )


def context_length(config: Any) -> int | None:
    """Most tokens that a model can read, or None where its config sets no limit."""
    if config is None:
        return None
    text = _of_text(config)
    length = next((found for name in _CONTEXT_NAMES if (found := _number(text, name))), None)
    if length is None or getattr(text, "model_type", "") not in _FROM_PADDING:
        return length
    return length - (text.pad_token_id or 0) - 1


def with_context(config: Any, tokens: int) -> Any:
    """A copy of a config whose model can read so many tokens at most."""
    copied = deepcopy(config)
    text = _of_text(copied)
    named = (name for name in _CONTEXT_NAMES if _number(text, name))
    setattr(text, next(named, _CONTEXT_NAMES[0]), tokens)
    return copied


def rope_types(config: Any) -> frozenset[str]:
    """The rope functions that a config names, such as ``linear``."""
    found = (rope.get("rope_type") or rope.get("type") for rope in _ropes(_of_text(config)))
    return frozenset(str(kind) for kind in found if kind)


def _of_text(config: Any) -> Any:
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _number(text: Any, name: str) -> int:
    value = getattr(text, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _least(text: Any, names: Iterable[str]) -> int:
    return min((size for name in names if (size := _number(text, name))), default=0)


def _ropes(text: Any) -> Iterator[Mapping[str, Any]]:
    # A rope's parameters, or those of each kind of layers. Code from a model's own repository may
    # still use the older name.
    values = [getattr(text, name, None) for name in ("rope_parameters", "rope_scaling")]
    for value in values:
        if isinstance(value, Mapping) and not {"rope_type", "type"} & {*value}:
            values += value.values()
        elif isinstance(value, Mapping):
            yield value


def _scaled_length(text: Any, rope: Mapping[str, Any]) -> int:
    # The length beyond which a rope function takes other factors; 0: there is none.
    if "long_factor" not in rope and "longrope" not in (rope.get("rope_type"), rope.get("type")):
        return 0
    given = rope.get("original_max_position_embeddings")
    return given if isinstance(given, int) else _number(text, "original_max_position_embeddings")


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


def is_headless(config: Any) -> bool:
    """Tell whether a config names no class, or only classes without a head (``LlamaModel``)."""
    declared = getattr(config, "architectures", None) or ()
    return all(name.endswith("Model") and "Head" not in name for name in declared)


def class_for(config: Any, scorer: Scorer | None, trust: bool) -> Any:
    """The class of transformers that makes a model of a config with the head that a scorer needs.

    Without a scorer there is no head, and of two halves it is the encoder. Models that predict a
    masked token one place before it come as either.
    """
    import transformers
    from transformers.models.auto import modeling_auto as auto

    model_type = getattr(config, "model_type", "")
    if scorer is None:
        is_half = model_type in auto.MODEL_FOR_TEXT_ENCODING_MAPPING_NAMES
        return transformers.AutoModelForTextEncoding if is_half else transformers.AutoModel
    own_code = trust and _OWN_MASKED in (getattr(config, "auto_map", None) or {})
    known = own_code or model_type in auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES
    is_causal = scorer == "causal" or (scorer == "mntp" and not known)
    return transformers.AutoModelForCausalLM if is_causal else transformers.AutoModelForMaskedLM


def padding_of(config: Any) -> int:
    """The id that fills up rows of a model that is told what is text."""
    padding = getattr(_of_text(config), "pad_token_id", None)
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
    declared = [str(one) for one in getattr(config, "architectures", None) or [""]]
    found = {f"model {name!r}": declared[0] if all(map(_OTHER_HEAD.search, declared)) else ""}
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
    from transformers.models.auto.modeling_auto import MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES

    model_type = getattr(config, "model_type", "")
    if scorer is not None and getattr(config, "is_encoder_decoder", False):
        return f"is an encoder with a decoder ({model_type}); expected one of the two"
    if scorer == "causal" and is_masked(config):
        return (
            f"is a masked language model ({model_type}); expected a causal one, which gives every "
            "token a probability from what precedes it; `coherencegym score --scorer pll` reads it"
        )
    made = class_for(config, scorer, trust)
    own_code = made.__name__ in (getattr(config, "auto_map", None) or ())
    if type(config) in made._model_mapping or (trust and own_code):
        return None
    if own_code:
        return NEEDS_CODE
    if scorer == "causal" and model_type in MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES:
        return (
            f"reads images and text ({model_type}), and transformers does not load its text part "
            "as a causal language model; expected a model of text"
        )
    kinds = {None: "model", "mntp": "language model", "pll": "masked language model"}
    what = kinds.get(scorer, "causal language model")
    expected = "for --scorer pll, or --scorer causal" if scorer == "pll" else "that it has"
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
