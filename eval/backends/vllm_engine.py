"""A causal language model in vLLM: token ids in, log-probabilities of those very tokens out.

What is called is ``vllm.LLM.generate`` with ``SamplingParams(prompt_logprobs=0)``, which gives the
log-probability of every token of a prompt but the first, from the model's own output (neither
temperature nor penalties are applied to prompts), in natural logarithms. vLLM generates a token
behind each prompt; it is thrown away.

vLLM keeps the keys and values of prompts in blocks and goes on from them, but not their
log-probabilities: a request that asks for these is read from its beginning unless it says
``skip_reading_prefix_cache=False``, and then what it gives for tokens in the cache is undefined (as
many positions as were computed, or numbers of other texts). ``RequestOutput.num_cached_tokens``
says how many these are, so that what is computed can be told from what is not.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, first_line

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class Prompt:
    """Token ids, and the positions in them (increasing, none 0) whose surprisal is read."""

    ids: tuple[int, ...]
    positions: tuple[int, ...]


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

    def ask(self, prompts: Sequence[Prompt], *, cached: bool) -> list[np.ndarray | None]:
        """Surprisals (bits, float64) at the positions of each prompt.

        Args:
            prompts: texts, of which vLLM makes batches by itself.
            cached: go on from what earlier prompts left; else each is read from its beginning.

        Returns:
            For each prompt an array of shape (positions,); None where one of them was not computed
            as the cache reached beyond it.
        """
        from vllm import SamplingParams, TokensPrompt

        if not prompts:
            return []
        parameters = SamplingParams(
            max_tokens=1,
            temperature=0.0,
            prompt_logprobs=0,
            detokenize=False,
            skip_reading_prefix_cache=not cached,
        )
        texts = [TokensPrompt(prompt_token_ids=list(prompt.ids)) for prompt in prompts]
        try:
            outputs = self.llm.generate(texts, parameters, use_tqdm=False)
        except Exception as error:
            # Of its own, of torch and of the process that it runs the model in.
            raise EvaluationError(f"vLLM {self.version} failed: {first_line(error)}") from None
        found = [self._read(prompt, out) for prompt, out in zip(prompts, outputs, strict=True)]
        if not cached and any(bits is None for bits in found):
            raise EvaluationError(
                f"vLLM {self.version} went on from its cache where it was asked not to, so that "
                "log-probabilities are missing; expected --backend transformers"
            )
        return found

    def _read(self, prompt: Prompt, output: Any) -> np.ndarray | None:
        import numpy as np

        # The row of the token before gives a token its probability.
        if output.num_cached_tokens is None or output.num_cached_tokens >= prompt.positions[0]:
            return None
        rows = output.prompt_logprobs or ()
        length = len(prompt.ids)
        bits = []
        for position in prompt.positions:
            # From the end: some versions leave out the rows of tokens that were in the cache.
            place = position - length
            row = rows[place] if len(rows) >= -place else None
            own = (row or {}).get(prompt.ids[position])
            if own is None:
                raise EvaluationError(
                    f"vLLM {self.version} gives no log-probability of token "
                    f"{prompt.ids[position]} at position {position} of a prompt of {length} "
                    "tokens; expected --backend transformers"
                )
            bits.append(-own.logprob / math.log(2))
        return np.array(bits)
