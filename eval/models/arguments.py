"""``--model-arg key=value``: what is said about a model beyond its name, checked and sorted.

The special keys are those of lm-evaluation-harness, so that its users need not learn others, and
``training_cutoff``. What is not special goes to ``from_pretrained``, which also sets entries of the
model's config.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from coherencegym.errors import EvaluationError

Scalar = None | bool | int | float | str

#: Keys that have an option, or no place here, and what to do instead.
_REFUSALS = """
pretrained model pretrained_model_name_or_path: expected --model
dtype torch_dtype: expected --dtype
device: expected --device
device_map parallelize: expected --device-map
trust_remote_code: expected --trust-remote-code
batch_size max_batch_size: expected --batch-tokens
add_bos_token prefix_token_id: expected --bos
truncation: expected --truncate
use_safetensors weights_only from_tf from_flax: weights are read from safetensors files only
state_dict: weights are read from safetensors files only
token use_auth_token: expected `hf auth login` or HF_TOKEN
cache_dir: expected HF_HUB_CACHE in the environment
local_files_only: expected HF_HUB_OFFLINE=1 in the environment
force_download proxies user_agent: it is left to the Hub's client
quantization_config: expected load_in_8bit=true or load_in_4bit=true
gguf_file gptqmodel autogptq: not supported; expected a folder or Hub repository of safetensors
delta: not supported; expected a folder or Hub repository of safetensors
ignore_mismatched_sizes: weights of another shape would be replaced by random numbers
use_kernels kernel_config allow_all_kernels: it runs code from the Hub
config model_type architectures auto_map: it is not for the user of this program to set
output_loading_info return_unused_kwargs return_dict: it is not for the user of this program to set
output_hidden_states output_attentions use_cache: it is not for the user of this program to set
adapter_kwargs adapter_name key_mapping: it is not for the user of this program to set
code_revision distributed_config tp_plan tp_size: it is not for the user of this program to set
max_memory: it is not for the user of this program to set
"""
_REFUSED = {
    key: advice
    for keys, _, advice in (line.partition(": ") for line in _REFUSALS.strip().splitlines())
    for key in keys.split()
}
#: Keys that this program reads itself, and what their values are.
_STRINGS = {
    "revision": "a tag, branch or commit",
    "subfolder": "a folder's name",
    "tokenizer": "a Hub id or a folder",
    "peft": "a Hub id or a folder",
    "peft_revision": "a tag, branch or commit",
    "training_cutoff": "a year, a month or a day, such as 2023-09",
}
_DATE = re.compile(r"[12]\d{3}(-\d{2}){0,2}", re.ASCII)
#: Ways to compute attention that run no code from the Hub.
ATTENTION = ("eager", "sdpa", "flex_attention", "flash_attention_2", "flash_attention_3")
#: Beginnings of the settings that `transformers.BitsAndBytesConfig` takes.
_QUANTIZATION = ("bnb_4bit_", "llm_int8_")
#: Keys that say where weights lie; no number depends on it.
_MEMORY = ("max_memory_per_gpu", "max_cpu_memory", "offload_folder", "offload_buffers")


@dataclass(frozen=True)
class ModelArguments:
    """The settings of ``--model-arg`` and ``--model-revision``.

    Attributes:
        revision: tag, branch or commit of a model on the Hub; None: the newest.
        subfolder: a part of the folder or repository, ``""`` for none.
        tokenizer: Hub id or folder of another tokenizer, or None.
        adapter: Hub id or folder of a PEFT adapter on top of the model, or None.
        adapter_revision: its tag, branch or commit.
        training_cutoff: the date at which the training data end, as the user states it, or None.
        quantization: settings of bitsandbytes; empty for none.
        memory: ``max_memory_per_gpu``, ``max_cpu_memory``, ``offload_folder``, ``offload_buffers``.
        passed: arguments of ``from_pretrained``.
    """

    revision: str | None = None
    subfolder: str = ""
    tokenizer: str | None = None
    adapter: str | None = None
    adapter_revision: str | None = None
    training_cutoff: str | None = None
    quantization: Mapping[str, Scalar] = field(default_factory=dict)
    memory: Mapping[str, Scalar] = field(default_factory=dict)
    passed: Mapping[str, Scalar] = field(default_factory=dict)

    def record(self) -> dict[str, Scalar]:
        """All keys that were given but the revision, by name, as the results record them."""
        named = {
            "subfolder": self.subfolder or None,
            "tokenizer": self.tokenizer,
            "peft": self.adapter,
            "peft_revision": self.adapter_revision,
            "training_cutoff": self.training_cutoff,
        }
        given = {key: value for key, value in named.items() if value is not None}
        return dict(sorted({**given, **self.quantization, **self.memory, **self.passed}.items()))

    def numeric(self) -> dict[str, Scalar]:
        """The keys on which numbers may depend and that no commit stands for."""
        return dict(sorted({**self.quantization, **self.passed}.items()))


def scalar(text: str) -> Scalar:
    """The value of a key: ``true``, ``false``, ``null``, a number, a quoted or a bare string."""
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text in ("null", "None"):
        return None
    for pattern, kind in ((r"[+-]?\d+", int), (r"[+-]?(\d+\.\d*|\.?\d+)([eE][+-]?\d+)?", float)):
        if re.fullmatch(pattern, text, re.ASCII):
            return kind(text)
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1]
    if not text.startswith(("{", "[", "'", '"')):
        return text
    with suppress(ValueError):
        if isinstance(value := json.loads(text), str):
            return value
    raise EvaluationError(f"{text}: expected true, false, null, a number or a string that closes")


def parse_model_arguments(texts: Sequence[str], revision: str | None = None) -> ModelArguments:
    """Sort ``key=value`` pairs.

    Args:
        texts: the pairs, as given.
        revision: that of ``--model-revision``.
    """
    given: dict[str, Scalar] = {}
    for key, value in map(_pair, texts):
        if key in given:
            raise EvaluationError(f"--model-arg {key}: given twice")
        given[key] = value
    strings = {key: str(given.pop(key)) for key in _STRINGS if key in given}
    if revision is not None and strings.setdefault("revision", revision) != revision:
        raise EvaluationError(
            f"--model-arg revision={strings['revision']} and --model-revision {revision}: "
            "expected one of them"
        )
    if "peft_revision" in strings and "peft" not in strings:
        raise EvaluationError("--model-arg peft_revision: expected peft=ADAPTER with it")
    cutoff = strings.get("training_cutoff")
    if cutoff is not None and not _DATE.fullmatch(cutoff):
        raise EvaluationError(
            f"--model-arg training_cutoff={cutoff}: expected {_STRINGS['training_cutoff']}"
        )
    attention = given.get("attn_implementation", ATTENTION[0])
    if attention not in ATTENTION:
        raise EvaluationError(
            f"--model-arg attn_implementation={attention}: expected one of {', '.join(ATTENTION)}"
        )
    return ModelArguments(
        revision=strings.get("revision"),
        subfolder=strings.get("subfolder", ""),
        tokenizer=strings.get("tokenizer"),
        adapter=strings.get("peft"),
        adapter_revision=strings.get("peft_revision"),
        training_cutoff=cutoff,
        quantization=_take_quantization(given),
        memory={key: given.pop(key) for key in _MEMORY if key in given},
        passed=given,
    )


def _pair(text: str) -> tuple[str, Scalar]:
    key, equals, value = text.partition("=")
    key, value = key.strip(), value.strip()
    if not equals or not re.fullmatch(r"[a-zA-Z][a-zA-Z0-9_]*", key):
        # Not the text itself: it may be a token.
        raise EvaluationError(f"--model-arg {key!r}: expected key=value")
    if key in _REFUSED:
        raise EvaluationError(f"--model-arg {key}: not accepted; {_REFUSED[key]}")
    if re.search(r"^[^\"']*,\s*[a-zA-Z]\w*=", value):
        raise EvaluationError(
            f"--model-arg {key}: several pairs in one; expected them apart, or quotes around "
            "the value"
        )
    try:
        found = scalar(value)
    except EvaluationError as error:
        raise EvaluationError(f"--model-arg {key}={error}") from None
    if key not in _STRINGS:
        return key, found
    # A commit may look like a number.
    string = found if isinstance(found, str) else value
    if not string:
        raise EvaluationError(f"--model-arg {key}: expected {_STRINGS[key]}")
    return key, string


def _take_quantization(given: dict[str, Scalar]) -> dict[str, Scalar]:
    widths = {key: given.pop(key) for key in ("load_in_4bit", "load_in_8bit") if key in given}
    for key, value in widths.items():
        if not isinstance(value, bool):
            raise EvaluationError(f"--model-arg {key}={value}: expected true or false")
    details = {key: given.pop(key) for key in list(given) if key.startswith(_QUANTIZATION)}
    asked = [key for key, value in widths.items() if value]
    if len(asked) > 1:
        raise EvaluationError("--model-arg load_in_4bit, load_in_8bit: expected one of them")
    if not asked and details:
        raise EvaluationError(
            f"--model-arg {next(iter(details))}: expected load_in_4bit=true or "
            "load_in_8bit=true with it"
        )
    return {asked[0]: True, **details} if asked else {}
