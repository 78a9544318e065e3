"""A model that somebody has loaded, or is training: what results say of it, and how it is asked."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.kind import ScorerChoice, scorer_of
from coherencegym.eval.models.load import LoadedModel, read_tokenizer
from coherencegym.eval.models.refusals import settled_scorer
from coherencegym.eval.models.source import find_model

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
    return LoadedModel.of(
        name,
        model,
        tokenizer,
        scores=scores,
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
