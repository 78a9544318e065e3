"""A model that somebody has loaded, or is training: what results say of it, and how it is asked."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.models.config import (
    ScorerChoice,
    refuse_unless_it_sees,
    scorer_of,
    settled_scorer,
)
from coherencegym.eval.models.load import LoadedModel, read_tokenizer, vocabulary_size
from coherencegym.eval.models.machine import devices, input_device
from coherencegym.eval.models.source import find_model

if TYPE_CHECKING:
    import torch

#: Beginning of a commit that is a digest of a model in memory.
_PREFIX = "memory:"
#: Entries of a config that say where a model is from, or that its weights say: saving sets some.
_NOT_THE_MODEL = ("_name_or_path", "architectures", "transformers_version", "dtype", "torch_dtype")
#: Bytes of weights that are brought to the CPU at once.
_CHUNK = 1 << 26


def tokenizer_of(model: Any) -> Any:
    """The tokenizer of the files that a model was loaded from: a folder, or a commit of the Hub."""
    config = getattr(model, "config", None)
    if not (name := getattr(config, "_name_or_path", "")):
        raise EvaluationError(
            f"a {type(model).__name__} that was not loaded from files names no tokenizer; expected "
            "tokenizer= with it"
        )
    revision = None if Path(name).is_dir() else getattr(config, "_commit_hash", None)
    return read_tokenizer(find_model(name, revision), "tokenizer=")


def in_memory(
    model: Any,
    tokenizer: Any,
    name: str | None = None,
    commit: str | None = None,
    *,
    scores: bool = True,
    scorer: ScorerChoice = "auto",
) -> LoadedModel:
    """Describe a model that is loaded, as results record it.

    Its name may be that of other weights (those that it was trained from), so that its commit is
    not the Hub's, but a digest of what it is now.

    Args:
        model: a language model of transformers, or one that peft or torch wrapped.
        tokenizer: its tokenizer.
        name: its name; None: as it was loaded, else its class.
        commit: name of these weights; None: :func:`state_digest`, which reads them all.
        scores: it is to give tokens a probability; else its vectors alone are wanted, and it may be
            any model.
        scorer: the way in which its surprisals are to be read; ``auto``: by its class.
    """
    from transformers.models.auto.configuration_auto import CONFIG_MAPPING_NAMES

    config = getattr(model, "config", None)
    if config is None or not hasattr(model, "get_input_embeddings"):
        raise EvaluationError(
            f"a {type(model).__name__} is no model of transformers; expected a language model, "
            "as AutoModelForCausalLM.from_pretrained or that of masked models returns it"
        )
    if not callable(tokenizer) or not hasattr(tokenizer, "convert_ids_to_tokens"):
        raise EvaluationError(
            f"a {type(tokenizer).__name__} is no tokenizer of transformers; expected the model's"
        )
    name = name or getattr(config, "_name_or_path", "") or type(model).__name__
    own = scorer_of(config, type(model).__name__) if scorer == "auto" else scorer
    if scores and getattr(config, "model_type", None) in CONFIG_MAPPING_NAMES:
        # Its code has been run: nothing is left to trust.
        settled_scorer(name, config, own, trust=True)
    adapters = ", ".join(map(str, getattr(model, "peft_config", None) or ()))
    if scores:
        refuse_unless_it_sees(name, model, own)
    return LoadedModel.of(
        name,
        model,
        tokenizer,
        scorer=own,
        commit=commit or state_digest(model, tokenizer),
        notes=(f"with adapters: {adapters}",) if adapters else (),
    )


@contextmanager
def evaluating(model: Any) -> Iterator[None]:
    """The model in evaluation mode: without dropout. Modules in training go back to it after."""
    in_training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        yield
    finally:
        for module in in_training:
            # Not train(), which would also take along the modules below.
            module.training = True


def state_digest(model: Any, tokenizer: Any) -> str:
    """``memory:`` and the sha256 (hex) of a model's config, weights and tokenizer.

    ``unknown`` for a model whose weights are partly elsewhere, on a disk for instance.
    """
    import torch

    state = model.state_dict()
    if any(isinstance(v, torch.Tensor) and v.device.type == "meta" for v in state.values()):
        return "unknown"
    about = {k: v for k, v in model.config.to_dict().items() if k not in _NOT_THE_MODEL}
    digest = hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode())
    digest.update(tokenizer_state(tokenizer))
    seen = set()
    for name, value in sorted(state.items()):
        if not isinstance(value, torch.Tensor):
            digest.update(f"{name} {value!r}\n".encode())
            continue
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        # Tied weights have several names and are read under the first.
        place = (value.device, value.data_ptr(), value.dtype, value.shape, value.stride())
        if value.data_ptr() and place in seen:
            continue
        seen.add(place)
        flat = value.detach().reshape(-1)
        step = max(1, _CHUNK // max(1, value.element_size()))
        for start in range(0, flat.numel(), step):
            part = flat[start : start + step].cpu().contiguous()
            digest.update(part.view(torch.uint8).numpy())
    return _PREFIX + digest.hexdigest()


def tokenizer_state(tokenizer: Any) -> bytes:
    """A tokenizer's doings with a text, and the names of its special tokens."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    own = backend.to_str() if backend is not None else sorted(tokenizer.get_vocab().items())
    special = sorted((name, str(text)) for name, text in tokenizer.special_tokens_map.items())
    return repr((own, special)).encode("utf-8", "surrogatepass")


@dataclass(frozen=True)
class Body:
    """The part of a model that makes hidden states.

    Layer 0 are the embeddings, layer L is what the last block makes.

    Attributes:
        module: it; of an encoder with a decoder the encoder.
        config: the model's.
        causal: a token sees nothing that stands behind it.
        layers: L, the number of blocks.
        width: dimensions of a state.
        normed: layers whose states have gone through the model's final norm. (A block may begin or
            end with norms of its own.)
    """

    module: Any
    config: Any
    causal: bool
    layers: int
    width: int
    normed: frozenset[int]

    @property
    def device(self) -> Any:
        """The torch device that token ids go to."""
        return input_device(self.module)

    @property
    def is_exact(self) -> bool:
        """Its numbers are float32 or finer, and not quantized."""
        quantized = getattr(self.module, "hf_quantizer", None) is not None
        return str(self.module.dtype) in ("torch.float32", "torch.float64") and not quantized

    def hidden_states(
        self, ids: torch.Tensor, mask: torch.Tensor | None = None
    ) -> Sequence[torch.Tensor]:
        """Hidden states of every layer, 0 to L, each of shape (B, T, width).

        Args:
            ids: token ids, shape (B, T).
            mask: 1 where a token is read, 0 for padding, shape (B, T); None: all are.
        """
        return _hidden_states(self.module, ids.to(self.device), mask)


def body_of(model: Any) -> Body:
    """The body of a model of transformers, which is run on four tokens to see what it is."""
    import torch

    name = type(model).__name__
    module = _without_head(model)
    size = vocabulary_size(module)
    # Two texts that differ in what comes last.
    ids = torch.tensor([[1, 2, 3, size - 1], [1, 2, 3, size - 2]], device=input_device(module))
    with torch.inference_mode(), _final_norms(module) as normed:
        try:
            states = list(_hidden_states(module, ids % size, None))
        except Exception as error:
            # Its first pass: whatever its layers, quantized or its own, cannot do.
            raise EvaluationError(
                f"model {name!r} cannot be run: {first_line(error)[:300]}"
            ) from None
    shapes = {tuple(layer.shape) for layer in states}
    if len(states) < 2 or len(shapes) != 1 or (shape := shapes.pop())[:2] != ids.shape:
        raise EvaluationError(
            f"model {name!r} gives no hidden states of one shape for all layers; expected a model "
            "with a vector for every token after every layer"
        )
    behind = states[-1][:, 2].float()
    scale = max(1.0, float(behind.abs().max()))
    return Body(
        module,
        model.config,
        # Two rows of one batch may differ by rounding.
        causal=float((behind[0] - behind[1]).abs().max())
        <= scale * (1e-5 if module.dtype in (torch.float32, torch.float64) else 1e-2),
        layers=len(states) - 1,
        width=shape[2],
        normed=frozenset(
            number
            for number, layer in enumerate(states)
            if number and any(torch.equal(layer, own.to(layer.device)) for own in normed)
        ),
    )


def _without_wrapper(model: Any) -> Any:
    is_wrapped = hasattr(model, "peft_config") and hasattr(model, "get_base_model")
    return model.get_base_model() if is_wrapped else model


def _without_head(model: Any) -> Any:
    model = _without_wrapper(model)
    if getattr(model.config, "is_encoder_decoder", False):
        return model.get_encoder()
    return model.base_model


def _hidden_states(
    module: Any, ids: torch.Tensor, mask: torch.Tensor | None
) -> Sequence[torch.Tensor]:
    more: dict[str, Any] = {}
    if mask is not None:
        more["attention_mask"] = mask.to(ids.device)
    if "use_cache" in inspect.signature(module.forward).parameters:
        more["use_cache"] = False
    found = module(input_ids=ids, output_hidden_states=True, return_dict=True, **more)
    return tuple(found.hidden_states)


@contextmanager
def _final_norms(module: Any) -> Iterator[list[torch.Tensor]]:
    # Of norms that belong to none of the repeated blocks.
    import torch

    lists = [each for each in module.modules() if isinstance(each, torch.nn.ModuleList)]
    repeated = {inside for each in lists for inside in each.modules()}
    made: list[torch.Tensor] = []

    def keep(_module: Any, _arguments: Any, output: Any) -> None:
        if isinstance(output, torch.Tensor):
            made.append(output)

    hooks = [
        each.register_forward_hook(keep)
        for each in module.modules()
        if "norm" in type(each).__name__.lower() and each not in repeated
    ]
    try:
        yield made
    finally:
        for hook in hooks:
            hook.remove()


def initialise_randomly(loaded: LoadedModel, seed: int) -> LoadedModel:
    """The same architecture, randomly initialised as transformers does it, and the tokenizer.

    A random encoder's vectors still carry the words of a text: it is the baseline for what training
    has put into a model's vectors (Zhang and Bowman 2018; Wieting and Kiela 2019).

    Args:
        loaded: a model.
        seed: that of torch's generator, which is left as it was.
    """
    import torch

    model = _without_wrapper(loaded.model)
    config = deepcopy(model.config)
    if getattr(config, "quantization_config", None) is not None:
        del config.quantization_config
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        untrained = type(model)._from_config(config, dtype=torch.float32)
    untrained = untrained.to(device=input_device(model), dtype=model.dtype).eval()
    return replace(
        loaded,
        model=untrained,
        name=f"{loaded.name} with random weights {seed}",
        commit=state_digest(untrained, loaded.tokenizer),
        device=devices(untrained),
        base=None,
        adapter=None,
        quantization=None,
        notes=(f"weights drawn at random (seed {seed})",),
    )
