"""A stand-in for vLLM: its names and signatures (0.28 to 0.33), with a tiny model inside.

Whoever asks for what the real one refuses gets an error.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
import torch

#: Of the names that ``EngineArgs`` has beside those of ``LLM.__init__``.
ENGINE_ARGUMENTS = frozenset(
    {
        *("load_format", "generation_config", "enable_prefix_caching", "logprobs_mode"),
        *("max_model_len", "max_num_batched_tokens", "max_num_seqs", "pipeline_parallel_size"),
        *("block_size", "kv_cache_dtype", "max_logprobs", "disable_log_stats"),
        "enable_chunked_prefill",
    }
)


class ValidationError(ValueError):
    """As ``vllm.exceptions.VLLMValidationError``."""


@dataclass
class SamplingParams:
    """The fields of 0.28 that a request for log-probabilities has to do with."""

    n: int = 1
    temperature: float = 1.0
    top_p: float = 1.0
    top_k: int = 0
    min_p: float = 0.0
    seed: int | None = None
    ignore_eos: bool = False
    max_tokens: int | None = 16
    min_tokens: int = 0
    logprobs: int | None = None
    prompt_logprobs: int | None = None
    flat_logprobs: bool = False
    detokenize: bool = True
    skip_special_tokens: bool = True

    def __post_init__(self) -> None:
        if self.max_tokens is not None and self.max_tokens < 1:
            raise ValidationError(f"max_tokens must be at least 1, got {self.max_tokens}.")


class TokensPrompt(dict[str, Any]):
    """A typed dictionary of its token ids."""


@dataclass
class Logprob:
    logprob: float
    rank: int | None = None
    decoded_token: str | None = None


@dataclass
class RequestOutput:
    request_id: str
    prompt: str | None
    prompt_token_ids: list[int] | None
    prompt_logprobs: list[dict[int, Logprob] | None] | None
    outputs: list[Any]
    finished: bool


class LLM:
    """``vllm.LLM``, with a folder for a model."""

    #: Tokens that were read, and the prompts of each call.
    tokens = 0
    calls: list[int]
    made: LLM

    def __init__(
        self,
        model: str,
        *,
        runner: str = "auto",
        tokenizer: str | None = None,
        skip_tokenizer_init: bool = False,
        trust_remote_code: bool = False,
        tensor_parallel_size: int = 1,
        dtype: str = "auto",
        quantization: str | None = None,
        revision: str | None = None,
        seed: int = 0,
        gpu_memory_utilization: float = 0.92,
        cpu_offload_gb: float = 0,
        enforce_eager: bool = False,
        hf_overrides: Mapping[str, Any] | None = None,
        kv_cache_memory_bytes: int | None = None,
        **kwargs: Any,
    ) -> None:
        from transformers import AutoModelForCausalLM

        if unknown := set(kwargs) - ENGINE_ARGUMENTS:
            name = unknown.pop()
            raise TypeError(f"EngineArgs.__init__() got an unexpected keyword argument {name!r}")
        assert runner == "generate"
        assert skip_tokenizer_init, "it would read a tokenizer of its own"
        assert kwargs["load_format"] == "safetensors"
        assert not trust_remote_code
        self.utilization = gpu_memory_utilization
        self.asked: dict[str, Any] = {"dtype": dtype, "hf_overrides": hf_overrides, **kwargs}
        number_format = getattr(torch, dtype)
        self.model = AutoModelForCausalLM.from_pretrained(Path(model), dtype=number_format).eval()
        self.in_float32 = (hf_overrides or {}).get("head_dtype") == "float32"
        config = self.model.config
        most = kwargs.get("max_model_len") or config.max_position_embeddings
        if most > config.max_position_embeddings:
            raise ValidationError(f"User-specified max_model_len ({most}) is greater than derived")
        about = SimpleNamespace(
            max_model_len=most, dtype=number_format, get_vocab_size=lambda: config.vocab_size
        )
        self.llm_engine = SimpleNamespace(model_config=about)
        self.calls = []
        LLM.made = self

    def generate(
        self,
        prompts: Sequence[TokensPrompt],
        sampling_params: SamplingParams | None = None,
        *,
        use_tqdm: bool = True,
        lora_request: Any = None,
        priority: Any = None,
        tokenization_kwargs: Any = None,
        mm_processor_kwargs: Any = None,
    ) -> list[RequestOutput]:
        assert sampling_params is not None
        assert not sampling_params.detokenize
        assert not use_tqdm
        self.calls.append(len(prompts))
        for prompt in prompts:
            length = len(prompt["prompt_token_ids"])
            if length >= (most := self.llm_engine.model_config.max_model_len):
                raise ValidationError(
                    f"The decoder prompt (length {length}) plus the number of requested output "
                    f"tokens (at least 1) is longer than the maximum model length of {most}."
                )
        return [
            self._one(str(number), prompt["prompt_token_ids"], sampling_params)
            for number, prompt in enumerate(prompts)
        ]

    def _one(self, name: str, ids: list[int], parameters: SamplingParams) -> RequestOutput:
        self.tokens += len(ids)
        rows = None
        if parameters.prompt_logprobs is not None:
            rows = self._rows(ids, parameters.prompt_logprobs)
        return RequestOutput(name, None, ids, rows, [object()], True)

    def _rows(self, ids: list[int], number: int) -> list[dict[int, Logprob] | None]:
        with torch.inference_mode():
            output = self.model(input_ids=torch.tensor([ids]), output_hidden_states=True)
            logits = output.logits[0]
            if self.in_float32:
                head = self.model.get_output_embeddings().weight.float()
                logits = output.hidden_states[-1][0].float() @ head.T
            logs = torch.log_softmax(logits, dim=-1, dtype=torch.float32)
        assert number == 0
        own = [
            {token: Logprob(float(logs[place, token]), 1)} for place, token in enumerate(ids[1:])
        ]
        return [None, *own]


def install(
    monkeypatch: pytest.MonkeyPatch,
    version: str = "0.30.0",
    device: str = "cpu",
    memory: int = 1 << 34,
) -> type[LLM]:
    """Put the stand-in where vLLM would be; the class that is loaded. ``memory``: the GPU's."""
    package, platforms = ModuleType("vllm"), ModuleType("vllm.platforms")
    named = {
        "__version__": version,
        "LLM": LLM,
        "SamplingParams": SamplingParams,
        "TokensPrompt": TokensPrompt,
        "RequestOutput": RequestOutput,
    }
    for name, value in named.items():
        setattr(package, name, value)
    platforms.current_platform = SimpleNamespace(  # type: ignore[attr-defined]
        device_type=device, get_device_total_memory=lambda device_id=0: memory
    )
    monkeypatch.setitem(sys.modules, "vllm", package)
    monkeypatch.setitem(sys.modules, "vllm.platforms", platforms)
    return LLM


def arguments_of(function: Any) -> set[str]:
    """The names of a function's arguments."""
    return set(inspect.signature(function).parameters) - {"self", "kwargs"}
