"""A causal language model in vLLM: token ids in, log-probabilities of those very tokens out.

What is called is ``vllm.LLM.generate`` with ``SamplingParams(prompt_logprobs=0)``, which gives the
log-probability of every token of a prompt but the first, from the model's own output (neither
temperature nor penalties are applied to prompts), in natural logarithms. vLLM generates a token
behind each prompt; it is thrown away. Every text is read from its beginning: vLLM's cache of
beginnings has no log-probabilities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import accumulate, groupby
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.backends.backend import RunContext
from coherencegym.eval.forward.execute import Execution, begin
from coherencegym.eval.forward.numeric import BY_ITSELF, Bits, second_reading
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
    """Run a plan; what is read a second time is read one text at a time."""
    store = context.store
    execution, done = begin(plan, store, progress=context.progress)
    execution.widened = not plan.sequences
    left = [index for index in range(len(plan.sequences)) if index not in done]
    ends = list(accumulate(plan.sequences[index].length for index in left))
    for _, chunk in groupby(zip(left, ends, strict=True), lambda pair: pair[1] // _CHUNK):
        indices, reached = zip(*chunk, strict=True)
        execution.keep(indices, engine.ask([plan.sequences[index] for index in indices]), store)
        if context.progress is not None:
            context.progress(reached[-1], ends[-1])

    def by_itself(indices: Sequence[int]) -> Bits:
        return {index: engine.ask([plan.sequences[index]])[0] for index in indices}

    again = second_reading(plan.sequences, context.twice, by_itself, BY_ITSELF, store)
    execution.again = again or {}
    return execution
