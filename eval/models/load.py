"""Load a language model, or any model without its head, and say what it has."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.data.notes import Note, caution, detail
from coherencegym.eval.models.adapters import refuse_unless_adapter, with_adapter
from coherencegym.eval.models.arguments import ModelArguments, Scalar
from coherencegym.eval.models.config import (
    WEIGHT_INDEX,
    WORD_GRU,
    Scorer,
    ScorerChoice,
    class_for,
    context_length,
    is_headless,
    refuse_other_head,
    refuse_unless_held,
    refuse_unless_it_sees,
    refuse_unless_sane,
    settled_scorer,
)
from coherencegym.eval.models.machine import (
    Placement,
    attempt,
    devices,
    place_model,
    quantization_of,
)
from coherencegym.eval.models.source import ADAPTER_CONFIG, ModelSource, find_model

#: Weights that a class of transformers needs, for messages.
_EXPECTED = {
    "AutoModelForCausalLM": "a causal language model, output head included",
    "AutoModelForMaskedLM": "a masked language model, output head included",
    "AutoModelForSequenceClassification": "a classifier, its head included",
    "AutoModelForMultipleChoice": "a model for multiple choice, its head included",
}
_PICKLED = {".bin", ".pt", ".pth", ".ckpt"}
#: A subfolder without an adapter: transformers would put on one that lies beside the weights or
#: above them, or load what that one is for, if peft is installed.
_NO_ADAPTER = {"subfolder": "no-adapter-from-here"}


@dataclass
class Unloaded:
    """A language model whose weights are loaded when a text is read that no earlier run has read.

    Attributes:
        config: that of transformers.
        dtype: number format of the weights, as ``LoadedModel`` has it.
        scorer: the way in which its surprisals are read.
        load: loads it, in evaluation mode, on its device.
        vocabulary: entries of its input vocabulary.
    """

    config: Any
    dtype: str
    scorer: Scorer
    load: Callable[[], Any]
    vocabulary: int = 0
    _model: Any = field(default=None, repr=False)

    @property
    def loaded(self) -> Any:
        """The model of transformers."""
        if self._model is None:
            self._model = self.load()
        return self._model


@dataclass(frozen=True)
class LoadedModel:
    """A model ready to be asked.

    Attributes:
        model: a language model of transformers, or of :func:`load_encoder` one without a head, in
            evaluation mode, on its device; or one that waits for a text that is to be read.
        tokenizer: its fast tokenizer.
        name: the user's name for it.
        commit: the Hub commit, or for a folder ``sha256:`` and the digest of its weights, config
            and tokenizer.
        device: its name, such as ``cpu`` or ``cuda:0``; several are joined by ``+``.
        dtype: number format of the weights that are not quantized, such as ``float32``.
        parameters: count of the weights.
        scorer: the way in which its surprisals are read, unless another is chosen.
        base: the model that ``commit`` is of, where ``name`` is an adapter.
        adapter: name and commit of the adapter on top of it.
        other_tokenizer: name and commit of the tokenizer, where it is not the model's.
        quantization: its method, such as ``bitsandbytes-4bit``, or None.
        arguments: settings of ``--model-arg`` that numbers may depend on.
        remote_code: code from the model's repository was run.
        training_cutoff: the date at which its training data end, as the user states it.
        notes: facts that a reader of the scores should know.
        cautions: facts without which they would draw a wrong conclusion.
    """

    model: Any
    tokenizer: Any
    name: str
    commit: str
    device: str
    dtype: str
    parameters: int
    scorer: Scorer = "causal"
    base: str | None = None
    adapter: Mapping[str, str] | None = None
    other_tokenizer: Mapping[str, str] | None = None
    quantization: str | None = None
    arguments: Mapping[str, Scalar] = field(default_factory=dict)
    remote_code: bool = False
    training_cutoff: str | None = None
    notes: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()

    @classmethod
    def of(cls, name: str, model: Any, tokenizer: Any, **more: Any) -> LoadedModel:
        """A model in evaluation mode on its device; ``more`` is what it does not say itself."""
        return cls(
            model=model,
            tokenizer=tokenizer,
            name=name,
            device=devices(model),
            dtype=str(model.dtype).removeprefix("torch."),
            parameters=model.num_parameters(),
            quantization=quantization_of(model.config),
            remote_code=runs_remote_code(model),
            **more,
        )

    def about(self) -> dict[str, Any]:
        """The facts that results record."""
        return {
            "name": self.name,
            "commit": self.commit,
            "parameters": self.parameters,
            "context": context_length(getattr(self.model, "config", None)),
            "device": self.device,
            "dtype": self.dtype,
            "base": self.base,
            "adapter": dict(self.adapter) if self.adapter else None,
            "tokenizer": dict(self.other_tokenizer) if self.other_tokenizer else None,
            "quantization": self.quantization,
            "arguments": dict(self.arguments),
            "remote_code": self.remote_code,
            "training_cutoff": self.training_cutoff,
        }

    def lines(self) -> list[Note]:
        """The lines below a table of its scores."""
        return [*map(caution, self.cautions), *map(detail, self.notes)]

    def identity(self) -> str:
        """All that surprisals depend on but the device, as one line of JSON: a key for caches."""
        about = self.about()
        found = {key: about[key] for key in ("commit", "dtype", "quantization", "arguments")}
        for key in ("adapter", "tokenizer"):
            found[key] = about[key] and about[key]["commit"]
        return json.dumps(found, sort_keys=True)


def load(
    name: str | Path,
    device: str = "auto",
    dtype: str = "auto",
    *,
    arguments: ModelArguments | None = None,
    device_map: str | None = None,
    trust_remote_code: bool = False,
    scorer: ScorerChoice | None = "auto",
    head: Any = None,
    known: Callable[[LoadedModel], Mapping[str, int] | None] | None = None,
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
        device_map: the way in which accelerate spreads it over devices, or None.
        trust_remote_code: run code from the model's repository if it needs it.
        scorer: the way in which its surprisals are to be read, which says what head it needs;
            ``auto``: by its config; None: it gives tokens no probability.
        head: without a scorer the class of transformers that makes it, such as
            ``AutoModelForSequenceClassification``; None: no head is loaded.
        known: gives ``parameters`` and ``vocabulary`` of a model, as an earlier run has found them,
            from all else that is known of it; or None. Where it does, weights are loaded when they
            are needed. It is not asked where files do not say what device and number format weights
            have, nor where code is trusted.
    """
    if not isinstance(name, str | Path):
        raise EvaluationError(f"model {name!r}; expected a Hub id, a folder or demo")
    name, trust = str(name), trust_remote_code
    arguments = arguments or ModelArguments()
    read = _read(name, arguments, trust, scorer)
    own = read.scorer or "causal"
    placement = place_model(read.config, arguments, device, dtype, device_map)

    def weights() -> Any:
        model = _weights(read, placement, arguments, trust, head)
        if scorer is not None:
            refuse_unless_it_sees(name, model, own)
        return model

    def about(code: bool) -> dict[str, Any]:
        return {
            "name": name,
            "commit": read.source.identity(code=code),
            "base": read.source.name if read.source.name != name else None,
            "adapter": named(read.adapter),
            "other_tokenizer": named(read.tokens) if read.tokens is not read.source else None,
            "tokenizer": read.tokenizer,
            "arguments": arguments.numeric(),
            "scorer": own,
            "training_cutoff": arguments.training_cutoff,
            "notes": _notes(read.source, read.adapter, code, trust),
            "cautions": _cautions(read.config) if read.is_bare else (),
        }

    # Code is run only where it is trusted. Files are read for their digest here.
    facts = {} if trust else about(code=False)
    if known is not None and placement.device is not None and facts:
        number_format = str(placement.dtype).removeprefix("torch.")
        waiting = Unloaded(read.config, number_format, own, weights)
        import torch

        # With its number: ``cuda:0``.
        device = str(torch.empty(0, device=placement.device).device)
        found = LoadedModel(
            model=waiting, parameters=0, device=device, dtype=number_format, **facts
        )
        if counts := known(found):
            waiting.vocabulary = counts["vocabulary"]
            return replace(found, parameters=counts["parameters"])
    model = weights()
    return LoadedModel.of(model=model, **(facts or about(runs_remote_code(model))))


def load_encoder(name: str, device: str = "auto", dtype: str = "auto", **how: Any) -> LoadedModel:
    """Load a model for its vectors: an encoder, a decoder, or an encoder with a decoder.

    No head is loaded (but for an adapter, which is made for a whole model). The arguments are those
    of :func:`load`.

    Raises:
        EvaluationError: it is not there, transformers has no model of its type, or it has no usable
            tokenizer, device, dtype or adapter.
    """
    return load(name, device, dtype, scorer=None, **how)


def runs_remote_code(model: Any) -> bool:
    """True where a model's class is from code of its repository."""
    return type(model).__module__.startswith("transformers_modules")


def load_config(
    name: str,
    arguments: ModelArguments | None = None,
    trust_remote_code: bool = False,
    scorer: ScorerChoice | None = "causal",
) -> tuple[Any, Any]:
    """A model's config and tokenizer without weights; the arguments are those of :func:`load`."""
    read = _read(name, arguments or ModelArguments(), trust_remote_code, scorer)
    return read.config, read.tokenizer


@dataclass(frozen=True)
class _Read:
    # Before its weights are read; an adapter beside them is of the same source. Without a
    # ``scorer`` it needs no head.
    source: ModelSource
    adapter: ModelSource | None
    config: Any
    tokens: ModelSource
    tokenizer: Any
    scorer: Scorer | None

    @property
    def is_bare(self) -> bool:
        """The config of a model that is to have a head names no class with one."""
        return self.scorer == "causal" and is_headless(self.config)


def _read(name: str, arguments: ModelArguments, trust: bool, choice: ScorerChoice | None) -> _Read:
    source, adapter = _sources(name, arguments)
    refuse_unless_sane(source)
    config = read_config(source, trust, **arguments.passed)
    # Adapters are made for whole models.
    wanted = "causal" if choice is None and adapter is not None else choice
    scorer = settled_scorer(name, config, wanted, trust)
    if choice is not None:
        refuse_other_head(name, config, adapter)
    if arguments.tokenizer:
        tokens = find_model(arguments.tokenizer, what="tokenizer")
    else:
        # An adapter that has one was trained with it: it may have more tokens than the model's.
        tokens = adapter if adapter is not None and adapter.file("tokenizer.json") else source
    tokenizer = read_tokenizer(tokens, "--model-arg tokenizer=FOLDER", trust)
    return _Read(source, adapter, config, tokens, tokenizer, scorer)


def read_config(source: ModelSource, trust: bool = False, **settings: Any) -> Any:
    """A model's config, of a type of transformers or of this project."""
    from transformers import AutoConfig

    if (source.read_json("config.json") or {}).get("model_type") == WORD_GRU:
        from coherencegym.eval.models.word_gru import register_word_gru

        register_word_gru()
    what = f"model {source.name!r}"
    settings = {**source.settings, **settings}
    return attempt(what, AutoConfig.from_pretrained, source.path, trust=trust, **settings)


def read_tokenizer(tokens: ModelSource, option: str, trust: bool = False) -> Any:
    """The tokenizer among some files; ``option`` is what would name another."""
    from transformers import AutoTokenizer

    what, load = f"the tokenizer of {tokens.name!r}", AutoTokenizer.from_pretrained

    def refusal(lack: str) -> str:
        expected = f"expected a tokenizer.json beside its weights, or {option}"
        return f"model {tokens.name!r} has {lack}; {expected}"

    try:
        tokenizer = attempt(what, load, tokens.path, trust=trust, **tokens.settings)
    except EvaluationError as error:
        # What transformers says where there is none is a list of ways to make one.
        is_missing = "backend tokenizer" in str(error)
        said = refusal("no tokenizer files") if is_missing else str(error)
        raise EvaluationError(said) from None
    try:
        ids = tokenizer("a b", add_special_tokens=False)["input_ids"]
    except Exception as error:
        # What its files say of it may be anything.
        raise EvaluationError(f"{what} cannot be used: {first_line(error)}") from None
    # Of some types transformers makes a tokenizer of nothing, which knows special tokens alone.
    if not ids or len(tokenizer) <= len(tokenizer.all_special_ids):
        raise EvaluationError(refusal("no tokenizer files, or only special tokens in them"))
    return tokenizer


def _sources(name: str, arguments: ModelArguments) -> tuple[ModelSource, ModelSource | None]:
    # The model's files, and the adapter's, which may be the same.
    source = find_model(name, arguments.revision, arguments.subfolder)
    base = source.base_of_adapter()
    if base is not None and arguments.adapter:
        raise EvaluationError(
            f"--model-arg peft={arguments.adapter}: model {name!r} is an adapter or has one; "
            "expected one adapter"
        )
    adapter = source if base is not None else None
    if arguments.adapter:
        adapter = find_model(arguments.adapter, arguments.adapter_revision, what="adapter")
    if adapter is not None:
        refuse_unless_adapter(adapter)
    return base or source, adapter


@contextmanager
def _readable(source: ModelSource) -> Iterator[ModelSource]:
    # Some releases, 5.21 too, look into a folder itself, whatever the subfolder: they get links to
    # all but the adapter's config. And none reads an index without ``metadata``, which it ignores.
    from transformers.utils import find_adapter_config_file

    index, config = source.read_json(WEIGHT_INDEX), source.file("config.json")
    is_whole = index is None or isinstance(index.get("metadata"), dict)
    has_adapter = source.commit is None and find_adapter_config_file(source.path, **_NO_ADAPTER)
    if config is None or (is_whole and not has_adapter):
        yield source
        return
    with TemporaryDirectory() as temporary:
        # Code from the model's repository goes by the folder's name.
        folder = Path(temporary, Path(source.path).resolve().name)
        folder.mkdir()
        for path in config.parent.iterdir():
            if path.name != ADAPTER_CONFIG:
                (folder / path.name).symlink_to(path.resolve())
        if not is_whole:
            (folder / WEIGHT_INDEX).unlink()
            (folder / WEIGHT_INDEX).write_text(json.dumps({**(index or {}), "metadata": {}}))
        yield replace(source, path=str(folder), subfolder="", commit=None)


def _weights(
    read: _Read, placement: Placement, arguments: ModelArguments, trust: bool, head: Any
) -> Any:
    # In evaluation mode, on its device, with its adapter.
    made = head or class_for(read.config, read.scorer, trust)
    refuse_unless_held(read.source, read.config, trust, made)
    settings = {**arguments.passed, **placement.settings, "dtype": placement.dtype}
    with _readable(read.source) as files:
        model = _whole(files, made, trust, settings, bare=read.is_bare)
    if placement.device is not None:
        model = model.to(placement.device)
    return (model if read.adapter is None else with_adapter(model, read.adapter)).eval()


def _whole(
    source: ModelSource,
    kind_of_model: Any,
    trust: bool,
    settings: Mapping[str, Any],
    *,
    bare: bool,
) -> Any:
    # ``bare``: the config names no class with a head.
    what = f"model {source.name!r}"
    more = {**settings, **source.settings, "use_safetensors": True, "output_loading_info": True}
    more["adapter_kwargs"] = _NO_ADAPTER
    load = kind_of_model.from_pretrained
    try:
        model, loading = attempt(what, load, source.path, trust=trust, **more)
    except EvaluationError:
        endings = {Path(name).suffix for name in source.names()}
        if ".safetensors" not in endings and endings & _PICKLED:
            raise EvaluationError(
                f"{what} has pickled weights only, which can hold code and are never read; where "
                f"you trust them, {kind_of_model.__name__}.from_pretrained(ID).save_pretrained("
                "FOLDER) writes safetensors"
            ) from None
        raise
    # An encoder's pooler is used for no vector, and many files have none.
    missing = sorted(key for key in loading["missing_keys"] if not key.startswith("pooler."))
    expected = "expected those of " + _EXPECTED.get(kind_of_model.__name__, "its type")
    if missing:
        # transformers would go on with random numbers in their place.
        raise EvaluationError(
            f"{what} lacks {len(missing)} of its weights ({missing[0]}, ...); {expected}"
        )
    # What is in no numbered layer is a head, and tied embeddings would stand in for the right one.
    heads = sorted(key for key in loading["unexpected_keys"] if not re.search(r"\.\d+\.", key))
    if bare and heads:
        raise EvaluationError(f"{what} has weights of another head ({heads[0]}); {expected}")
    return model


def named(source: ModelSource | None) -> dict[str, str] | None:
    """Name and commit of some files, as results record them."""
    return {"name": source.name, "commit": source.identity()} if source is not None else None


def _notes(
    source: ModelSource, adapter: ModelSource | None, remote_code: bool, trust: bool
) -> tuple[str, ...]:
    notes = [f"adapter {adapter.name} on {source.name}"] if adapter is not None else []
    if remote_code:
        notes.append("--trust-remote-code: code from the model's repository was run")
    elif trust:
        notes.append("--trust-remote-code: the model itself needed no code from its repository")
    return tuple(notes)


def _cautions(config: Any) -> tuple[str, ...]:
    # On a config that names no class with a head.
    declared = config.architectures
    if not declared or not config.get_text_config().tie_word_embeddings:
        return ()
    return (
        f"the model's config names a class without a head ({declared[0]}): its input embeddings "
        "are the head, which is right only if it was trained to predict tokens",
    )


def vocabulary_size(model: Any) -> int:
    """Entries of a model's input vocabulary."""
    if isinstance(model, Unloaded):
        return model.vocabulary
    return int(model.get_input_embeddings().weight.shape[0])
