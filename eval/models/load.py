"""Load a causal language model with its tokenizer, and say what it has."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.arguments import ModelArguments, Scalar
from coherencegym.eval.models.causal import refuse_if_it_sees_ahead, refuse_unless_causal
from coherencegym.eval.models.files import refuse_unless_held, refuse_unless_sane
from coherencegym.eval.models.placement import devices, keep_selection, place, quantization
from coherencegym.eval.models.source import ModelSource, attempt, find, first_line

#: What a config calls the most tokens that its model can read, most usual first.
_CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx")
_PICKLED = {".bin", ".pt", ".pth", ".ckpt"}
#: A subfolder without an adapter: transformers would put one on by itself if peft is installed.
_NO_ADAPTER = {"subfolder": "no-adapter-from-here"}


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to score.

    Attributes:
        model: a transformers causal language model, in evaluation mode, on its device.
        tokenizer: its fast tokenizer.
        name: as the user named it.
        commit: the Hub commit, or for a folder ``sha256:`` and the digest of its weights, config
            and tokenizer.
        device: such as ``cpu`` or ``cuda:0``; several are joined by ``+``.
        dtype: of the weights, such as ``float32``; of those that are not quantized.
        parameters: how many weights.
        base: the model that ``commit`` is of, where ``name`` is an adapter.
        adapter: name and commit of the adapter on top of it.
        other_tokenizer: name and commit of the tokenizer, where it is not the model's.
        quantization: such as ``bitsandbytes-4bit``, or None.
        arguments: what ``--model-arg`` set that numbers may depend on.
        remote_code: code from the model's repository was run.
        notes: what a reader of the scores should know.
    """

    model: Any
    tokenizer: Any
    name: str
    commit: str
    device: str
    dtype: str
    parameters: int
    base: str | None = None
    adapter: Mapping[str, str] | None = None
    other_tokenizer: Mapping[str, str] | None = None
    quantization: str | None = None
    arguments: Mapping[str, Scalar] = field(default_factory=dict)
    remote_code: bool = False
    notes: tuple[str, ...] = ()

    def about(self) -> dict[str, Any]:
        """What results record of it."""
        return {
            "name": self.name,
            "commit": self.commit,
            "parameters": self.parameters,
            "device": self.device,
            "dtype": self.dtype,
            "base": self.base,
            "adapter": dict(self.adapter) if self.adapter else None,
            "tokenizer": dict(self.other_tokenizer) if self.other_tokenizer else None,
            "quantization": self.quantization,
            "arguments": dict(self.arguments),
            "remote_code": self.remote_code,
        }

    def identity(self) -> str:
        """All that surprisals depend on but the device, as one line of JSON: a key for caches."""
        about = self.about()
        adapter, tokenizer = about["adapter"], about["tokenizer"]
        return json.dumps(
            {
                "commit": self.commit,
                "adapter": adapter and adapter["commit"],
                "tokenizer": tokenizer and tokenizer["commit"],
                **{key: about[key] for key in ("dtype", "quantization", "arguments")},
            },
            sort_keys=True,
        )


def load(
    name: str,
    device: str = "auto",
    dtype: str = "auto",
    *,
    arguments: ModelArguments | None = None,
    device_map: str | None = None,
    trust_remote_code: bool = False,
) -> LoadedModel:
    """Load a model and its tokenizer from the Hub or a folder; ``demo`` is the embedded one.

    No code from the model's repository is run unless it is trusted, and only safetensors weights
    are read.

    Args:
        name: Hub id, folder or ``demo``; of a model, or of an adapter that names its model.
        device: ``auto`` (a GPU where there is one), or a torch device.
        dtype: ``auto`` (float32 on a CPU, bfloat16 on a GPU that has it, its own for a quantized
            model), or a torch dtype.
        arguments: revision, adapter, quantization and what else is for ``from_pretrained``.
        device_map: how accelerate spreads it over devices; None: it does not.
        trust_remote_code: run code from the model's repository if it needs it.

    Raises:
        EvaluationError: it is not there, is not a causal language model, or has no usable
            tokenizer, device, dtype or adapter.
    """
    from transformers import AutoModelForCausalLM

    arguments = arguments or ModelArguments()
    trust = trust_remote_code
    passed: dict[str, Any] = dict(arguments.passed)
    read = _read(name, arguments, trust)
    source, adapter, tokens = read.source, read.adapter, read.tokens
    placement = place(read.config, arguments, device, dtype, device_map)
    if read.embedded:
        passed["adapter_kwargs"] = _NO_ADAPTER
    refuse_unless_held(source, read.config, trust)
    model = _weights(
        AutoModelForCausalLM, source, trust, {**passed, **placement.settings}, placement.dtype
    )
    if placement.device is not None:
        model = model.to(placement.device)
    if adapter is not None:
        from coherencegym.eval.models.adapters import apply

        model = apply(model, adapter)
    model = model.eval()
    keep_selection(model)
    refuse_if_it_sees_ahead(name, model)
    remote_code = type(model).__module__.startswith("transformers_modules")
    return LoadedModel(
        model=model,
        tokenizer=read.tokenizer,
        name=name,
        commit=source.identity(code=remote_code),
        device=devices(model),
        dtype=str(model.dtype).removeprefix("torch."),
        parameters=model.num_parameters(),
        base=source.name if source.name != name else None,
        adapter=_named(adapter),
        other_tokenizer=_named(tokens) if arguments.tokenizer else None,
        quantization=quantization(model),
        arguments=arguments.numeric(),
        remote_code=remote_code,
        notes=_notes(source, adapter, remote_code, trust),
    )


def load_config(
    name: str, arguments: ModelArguments | None = None, trust_remote_code: bool = False
) -> tuple[Any, Any]:
    """A model's config and tokenizer, without its weights; the arguments are those of :func:`load`.

    Raises:
        EvaluationError: it is not there, is not a causal language model, or has no usable
            tokenizer.
    """
    read = _read(name, arguments or ModelArguments(), trust_remote_code)
    return read.config, read.tokenizer


@dataclass(frozen=True)
class _Read:
    """What is known of a model before its weights are read.

    ``adapter`` is there for a model with one, and ``embedded`` says that it lies beside the model's
    weights; ``tokens`` is where the tokenizer is from.
    """

    source: ModelSource
    adapter: ModelSource | None
    embedded: bool
    config: Any
    tokens: ModelSource
    tokenizer: Any


def _read(name: str, arguments: ModelArguments, trust: bool) -> _Read:
    from transformers import AutoConfig, AutoTokenizer

    source, adapter, embedded = _sources(name, arguments)
    refuse_unless_sane(source)
    config = attempt(
        f"model {name!r}",
        AutoConfig.from_pretrained,
        source.path,
        trust=trust,
        **source.settings,
        **arguments.passed,
    )
    refuse_unless_causal(name, config, trust)
    tokens = find(arguments.tokenizer, what="tokenizer") if arguments.tokenizer else source
    tokenizer = attempt(
        f"the tokenizer of {tokens.name!r}",
        AutoTokenizer.from_pretrained,
        tokens.path,
        trust=trust,
        **tokens.settings,
    )
    try:
        ids = tokenizer("a b", add_special_tokens=False)["input_ids"]
    except Exception as error:
        # What its files say of it may be anything.
        raise EvaluationError(
            f"the tokenizer of {tokens.name!r} cannot be used: {first_line(error)}"
        ) from None
    if not ids:
        raise EvaluationError(
            f"model {name!r} has no tokenizer files; expected a tokenizer.json beside its weights, "
            "or --model-arg tokenizer=FOLDER"
        )
    return _Read(source, adapter, embedded, config, tokens, tokenizer)


def _sources(name: str, arguments: ModelArguments) -> tuple[ModelSource, ModelSource | None, bool]:
    """The model's files, the adapter's, and whether an adapter lies beside the model's weights."""
    source = find(name, arguments.revision, arguments.subfolder)
    base = source.base_of_adapter()
    if base is not None and arguments.adapter:
        raise EvaluationError(
            f"--model-arg peft={arguments.adapter}: model {name!r} is an adapter or has one; "
            "expected one adapter"
        )
    adapter = source if base is not None else None
    if arguments.adapter:
        adapter = find(arguments.adapter, arguments.adapter_revision, what="adapter")
    if adapter is not None:
        from coherencegym.eval.models.adapters import refuse_unless_loadable

        refuse_unless_loadable(adapter)
    return base or source, adapter, base is source


def _weights(
    loader: Any, source: ModelSource, trust: bool, settings: Mapping[str, Any], dtype: Any
) -> Any:
    """The model with its weights, none of them missing."""
    what = f"model {source.name!r}"
    try:
        model, loading = attempt(
            what,
            loader.from_pretrained,
            source.path,
            trust=trust,
            dtype=dtype,
            use_safetensors=True,
            output_loading_info=True,
            **source.settings,
            **settings,
        )
    except EvaluationError:
        endings = {Path(name).suffix for name in source.names()}
        if ".safetensors" not in endings and endings & _PICKLED:
            raise EvaluationError(
                f"{what} has pickled weights only, which can hold code and are never read; where "
                "you trust them, AutoModelForCausalLM.from_pretrained(ID).save_pretrained(FOLDER) "
                "writes safetensors"
            ) from None
        raise
    if missing := sorted(loading["missing_keys"]):
        # transformers would go on with random numbers in their place.
        raise EvaluationError(
            f"{what} lacks {len(missing)} of its weights ({missing[0]}, ...); expected "
            "those of a causal language model, output head included"
        )
    return model


def _named(source: ModelSource | None) -> dict[str, str] | None:
    return {"name": source.name, "commit": source.identity()} if source is not None else None


def _notes(
    source: ModelSource, adapter: ModelSource | None, remote_code: bool, trust: bool
) -> tuple[str, ...]:
    notes = []
    if adapter is not None:
        notes.append(f"adapter {adapter.name} on {source.name}")
    if remote_code:
        notes.append("--trust-remote-code: code from the model's repository was run")
    elif trust:
        notes.append("--trust-remote-code: the model itself needed no code from its repository")
    return tuple(notes)


def context_length(config: Any) -> int | None:
    """Most tokens that a model can read, or None where its config sets no limit."""
    if config is None:
        return None
    text_config = config.get_text_config() if hasattr(config, "get_text_config") else config
    for name in _CONTEXT_NAMES:
        value = getattr(text_config, name, None)
        if isinstance(value, int) and value > 0:
            return value
    return None


def vocabulary_size(model: Any) -> int:
    """Entries of a model's input vocabulary."""
    return int(model.get_input_embeddings().weight.shape[0])
