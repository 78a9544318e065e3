"""A model without its head: its hidden states, what it sees, and the same randomly initialised."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.models.in_memory import state_digest
from coherencegym.eval.models.load import LoadedModel, vocabulary_size
from coherencegym.eval.models.placement import devices, input_device

if TYPE_CHECKING:
    import torch


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


def _without_head(model: Any) -> Any:
    if hasattr(model, "peft_config") and hasattr(model, "get_base_model"):
        model = model.get_base_model()
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

    model = loaded.model
    if hasattr(model, "peft_config") and hasattr(model, "get_base_model"):
        model = model.get_base_model()
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
