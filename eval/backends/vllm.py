"""Load a model into vLLM, for models that are too large or too slow in transformers.

Config and tokenizer are read as for every model, and refused by the same rules; vLLM gets token ids
alone. This was written against the sources of vLLM 0.28 to 0.33, and not yet run with it.

What is called is ``vllm.LLM.generate`` with ``SamplingParams(prompt_logprobs=0)``, which gives the
log-probability of every token of a prompt but the first, from the model's own output (neither
temperature nor penalties are applied to prompts), in natural logarithms. vLLM generates a token
behind each prompt; it is thrown away. Every text is read from its beginning: vLLM's cache of
beginnings has no log-probabilities.
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.backends.backend import Backend, RunContext
from coherencegym.eval.forward.execute import Execution, begin
from coherencegym.eval.models.arguments import ModelArguments, Scalar
from coherencegym.eval.models.config import (
    ScorerChoice,
    context_length,
    limits_of,
    refuse_unless_held,
    rope_types,
    stored,
    with_context,
)
from coherencegym.eval.models.load import LoadedModel, load_config, named
from coherencegym.eval.models.machine import attempt, quantization_of
from coherencegym.eval.models.source import find_model
from coherencegym.eval.plan.plan import Plan
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import numpy as np

#: Tokens that are handed to vLLM at a time, before what came of them is kept.
_CHUNK = 1 << 18


@dataclass(frozen=True)
class Engine:
    """A model that vLLM has loaded.

    Attributes:
        llm: a ``vllm.LLM``.
        config: that of transformers, with the context that vLLM leaves for a text.
        vocabulary: entries of the input vocabulary.
        version: that of vLLM.
    """

    llm: Any = field(repr=False)
    config: Any = field(repr=False)
    vocabulary: int
    version: str

    def ask(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray]:
        """What is read of each sequence (bits, float64); vLLM makes batches by itself."""
        from vllm import SamplingParams, TokensPrompt

        if not sequences:
            return []
        parameters = SamplingParams(
            max_tokens=1, temperature=0.0, prompt_logprobs=0, detokenize=False
        )
        texts = [TokensPrompt(prompt_token_ids=list(sequence.ids)) for sequence in sequences]
        try:
            outputs = self.llm.generate(texts, parameters, use_tqdm=False)
        except Exception as error:
            # Of its own, of torch and of the process that it runs the model in.
            raise EvaluationError(f"vLLM {self.version} failed: {first_line(error)}") from None
        return [
            self._read(sequence, out.prompt_logprobs or ())
            for sequence, out in zip(sequences, outputs, strict=True)
        ]

    def _read(self, sequence: TokenSequence, rows: Sequence[Any]) -> np.ndarray:
        import numpy as np

        bits = []
        for position in sequence.positions:
            token = sequence.ids[position]
            row = rows[position] if position < len(rows) else None
            if row is None or token not in row:
                raise EvaluationError(
                    f"vLLM {self.version} gives no log-probability of token {token} at position "
                    f"{position} of a prompt of {len(sequence.ids)} tokens; expected --backend "
                    "transformers"
                )
            bits.append(-row[token].logprob / math.log(2))
        return np.array(bits)


def read_prompts(engine: Engine, plan: Plan, context: RunContext) -> Execution:
    """Run a plan."""
    store = context.store
    execution, done = begin(plan, store, progress=context.progress)
    left = [index for index in range(len(plan.sequences)) if index not in done]
    ends = list(accumulate(plan.sequences[index].length for index in left))
    for _, chunk in groupby(zip(left, ends, strict=True), lambda pair: pair[1] // _CHUNK):
        indices, reached = zip(*chunk, strict=True)
        execution.keep(indices, engine.ask([plan.sequences[index] for index in indices]), store)
        if context.progress is not None:
            context.progress(reached[-1], ends[-1])
    return execution


#: The oldest release that computes the output head in float32 when it is asked to.
OLDEST = (0, 28)
#: Settings of ``--model-arg`` that are vLLM's own here; the others are of transformers.
SETTINGS = (
    *("tensor_parallel_size", "pipeline_parallel_size", "gpu_memory_utilization"),
    *("kv_cache_memory_bytes", "cpu_offload_gb", "max_model_len", "max_num_batched_tokens"),
    *("max_num_seqs", "enforce_eager", "block_size", "kv_cache_dtype", "quantization", "seed"),
)
#: The share of a GPU's memory that vLLM takes unless it is told otherwise, and the least that is
#: left to it here.
_UTILIZATION, _LEAST_UTILIZATION = 0.9, 0.5
#: Bytes for each token of a text and entry of the vocabulary while log-probabilities are computed:
#: logits and their log-softmax in float32, and a mask for ranks. vLLM's profiler does not count
#: them, as it does not ask for log-probabilities (vllm-project/vllm issue 52054).
_BYTES_OF_LOGITS = 9
#: The variable with which the numbers of a text do not depend on the texts beside it; a beta.
_INVARIANT = "VLLM_BATCH_INVARIANT"
#: Those on which no number depends but by rounding.
_MEMORY = ("gpu_memory_utilization", "kv_cache_memory_bytes", "cpu_offload_gb")
#: Ways to scale positions that vLLM takes for texts of every length where transformers does not.
_OTHER_ROPES = frozenset({"dynamic"})
_OPTION = "--backend vllm"


def _load(
    name: str,
    device: str,
    dtype: str,
    *,
    arguments: ModelArguments | None = None,
    device_map: str | None = None,
    trust_remote_code: bool = False,
    scorer: ScorerChoice = "auto",
) -> LoadedModel:
    from transformers import AutoModelForCausalLM

    arguments = arguments or ModelArguments()
    _refuse_options(arguments, device_map)
    vllm = _library()
    kind = _device(device)
    own, tokens = dict(arguments.passed), arguments.tokenizer
    source = find_model(name, arguments.revision)
    if source.base_of_adapter() is not None:
        _refuse_adapter(f"model {name!r}")
    config, tokenizer = load_config(name, replace(arguments, passed={}), trust_remote_code)
    refuse_unless_held(source, config, trust_remote_code, AutoModelForCausalLM)
    quantized = quantization_of(config)
    unquantized = quantized is None and "quantization" not in own
    llm = attempt(
        f"model {name!r}",
        vllm.LLM,
        str(Path(source.path).resolve()) if source.commit is None else source.path,
        trust=trust_remote_code,
        runner="generate",
        skip_tokenizer_init=True,
        dtype=dtype if dtype != "auto" else "bfloat16" if quantized is None else "auto",
        load_format="safetensors",
        # Else what the model's files say of sampling would be taken.
        generation_config="vllm",
        # Log-probabilities are not in it.
        enable_prefix_caching=False,
        # Log-probabilities of a prompt that is read in chunks have crashed it (issue 14239).
        enable_chunked_prefill=False,
        logprobs_mode="raw_logprobs",
        **({"revision": source.commit} if source.commit else {}),
        # It has no such product for weights that are packed.
        **({"hf_overrides": {"head_dtype": "float32"}} if unquantized else {}),
        **_room_for_logits(name, config, kind, own),
        **own,
    )
    about = llm.llm_engine.model_config
    remote_code = trust_remote_code and bool(getattr(config, "auto_map", None))
    _refuse_positions(name, config, int(about.max_model_len))
    # The last place is for the token that it generates.
    known, room = context_length(config), int(about.max_model_len) - 1
    context = room if known is None else min(known, room)
    return LoadedModel(
        model=Engine(llm, with_context(config, context), about.get_vocab_size(), _version()),
        tokenizer=tokenizer,
        name=name,
        commit=source.identity(code=remote_code),
        device=kind,
        dtype=str(about.dtype).removeprefix("torch."),
        parameters=stored(source)[1],
        other_tokenizer=named(find_model(tokens, what="tokenizer") if tokens else None),
        quantization=quantized or (str(own["quantization"]) if own.get("quantization") else None),
        remote_code=remote_code,
        training_cutoff=arguments.training_cutoff,
    )


def _refuse_options(arguments: ModelArguments, device_map: str | None) -> None:
    if os.environ.get("WORLD_SIZE", "1") != "1":
        raise EvaluationError(
            f"{_OPTION}: it divides a model over GPUs by itself; expected to be started without "
            "accelerate launch or torchrun, and --model-arg tensor_parallel_size=N"
        )
    if device_map is not None:
        raise EvaluationError(
            f"--device-map: not for {_OPTION}; expected --model-arg tensor_parallel_size=N"
        )
    others = [key for key in arguments.passed if key not in SETTINGS]
    taken = [*others, *arguments.quantization, *arguments.memory]
    if arguments.subfolder:
        taken.append("subfolder")
    if taken:
        raise EvaluationError(
            f"--model-arg {taken[0]}: not for {_OPTION}; expected one of {', '.join(SETTINGS)}"
        )
    if arguments.adapter:
        _refuse_adapter("--model-arg peft")


def _refuse_adapter(where: str) -> NoReturn:
    raise EvaluationError(
        f"{where}: {_OPTION} takes no adapter; expected one that is merged into its model, or "
        "--backend transformers"
    )


def _library() -> Any:
    os.environ.setdefault("VLLM_NO_USAGE_STATS", "1")
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    try:
        import vllm
    except ImportError:
        raise EvaluationError(
            f"{_OPTION} needs vllm; expected pip install 'coherencegym[vllm]'"
        ) from None
    found = re.match(r"(\d+)\.(\d+)", _version())
    if found is None or tuple(map(int, found.groups())) < OLDEST:
        oldest = ".".join(map(str, OLDEST))
        raise EvaluationError(
            f"{_OPTION}: vLLM {_version()} sums the output head in the model's number format; "
            f"expected {oldest} or newer"
        )
    return vllm


def _version() -> str:
    import vllm

    return str(vllm.__version__)


def _device(device: str) -> str:
    from vllm.platforms import current_platform

    kind = str(current_platform.device_type)
    if device not in ("auto", kind):
        raise EvaluationError(
            f"--device {device}: this vLLM is for {kind}; expected auto, and CUDA_VISIBLE_DEVICES "
            "to choose among GPUs"
        )
    return kind


def _room_for_logits(name: str, config: Any, kind: str, own: Mapping[str, Any]) -> dict[str, float]:
    # The share of the GPU that vLLM may take, so that log-probabilities have room beside it.
    if kind == "cpu" or {"gpu_memory_utilization", "kv_cache_memory_bytes"} & own.keys():
        return {}
    from vllm.platforms import current_platform

    length = own.get("max_model_len") or context_length(config)
    if length is None:
        return {}
    total = int(current_platform.get_device_total_memory())
    needed = int(length) * int(config.get_text_config().vocab_size) * _BYTES_OF_LOGITS
    share = min(_UTILIZATION, math.floor(100 * (1 - needed / total)) / 100)
    if share < _LEAST_UTILIZATION:
        longest = int(length * (1 - _LEAST_UTILIZATION) * total / needed)
        raise EvaluationError(
            f"model {name!r}: log-probabilities of a text of {length:,} tokens take "
            f"{needed / 2**30:,.0f} GiB of the GPU's {total / 2**30:,.0f}; expected --model-arg "
            f"max_model_len={longest} or less, or gpu_memory_utilization=SHARE, to decide yourself"
        )
    return {"gpu_memory_utilization": share}


def _refuse_positions(name: str, config: Any, most: int) -> None:
    # vLLM reads such positions otherwise in a context of ``most`` tokens.
    first = min(limits_of(config).lengths, default=most)
    if most > first:
        raise EvaluationError(
            f"model {name!r} has other positions in texts of more than {first:,} tokens, and vLLM "
            f"takes these for all texts; expected --model-arg max_model_len={first}, or --backend "
            "transformers"
        )
    if others := sorted(rope_types(config) & _OTHER_ROPES):
        raise EvaluationError(
            f"model {name!r} scales its positions by the rope type {others[0]}, which vLLM does "
            "for texts of every length; expected --backend transformers"
        )


def _numeric(arguments: ModelArguments) -> dict[str, Scalar]:
    chosen = {key: value for key, value in arguments.numeric().items() if key not in _MEMORY}
    if os.environ.get(_INVARIANT, "0") not in ("", "0"):
        chosen["batch_invariant"] = True
    return chosen


BACKEND = Backend(
    name="vllm",
    title="vLLM",
    load=_load,
    run=read_prompts,
    vocabulary=lambda engine: int(engine.vocabulary),
    models=Engine,
    numeric=_numeric,
    caution=lambda engine: (
        f"unproven: the numbers are those of vLLM {engine.version}, and the way there has been "
        "held to transformers with a stand-in alone"
    ),
)
