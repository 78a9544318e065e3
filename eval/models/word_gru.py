"""A bidirectional GRU over word vectors: the sentence encoder of Chen, Chu and Gimpel 2019.

It is a model as transformers has them, known by the type in its config, so that a folder with its
safetensors, config and tokenizer is loaded as any other, without code from anywhere. Layer 0 are
the word vectors, layer 1 the states of both directions; the vector of a sentence is the mean of its
states. Torch is imported with this module.
"""

from __future__ import annotations

from typing import Any

import torch
from transformers import AutoConfig, AutoModel, PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import BaseModelOutput

from coherencegym.eval.models.config import WORD_GRU


class WordGRUConfig(PreTrainedConfig):  # type: ignore[misc]
    """The sizes of a :class:`WordGRU`; those of the paper's code are the defaults.

    Attributes:
        vocab_size: words, padding and unknown ones included.
        embedding_size: dimensions of a word vector.
        direction_size: dimensions of a state of one direction.
    """

    model_type = WORD_GRU

    vocab_size: int = 50_002
    embedding_size: int = 300
    direction_size: int = 300
    pad_token_id: int | None = 0
    num_hidden_layers: int = 1

    @property
    def hidden_size(self) -> int:
        """Dimensions of a state."""
        return max(2 * self.direction_size, self.embedding_size)


class WordGRU(PreTrainedModel):  # type: ignore[misc]
    """One GRU in each direction over word vectors; padding is read by neither."""

    config_class = WordGRUConfig
    base_model_prefix = "gru"

    def __init__(self, config: WordGRUConfig) -> None:
        super().__init__(config)
        sizes = config.embedding_size, config.direction_size
        self.words = torch.nn.Embedding(config.vocab_size, sizes[0], padding_idx=0)
        self.states = torch.nn.GRU(*sizes, batch_first=True, bidirectional=True)
        self.post_init()

    def get_input_embeddings(self) -> Any:
        """The word vectors."""
        return self.words

    def set_input_embeddings(self, value: Any) -> None:
        """Take other word vectors."""
        self.words = value

    def _init_weights(self, module: Any) -> None:
        # As torch does it, but for word vectors as small as those of the paper's code.
        if isinstance(module, torch.nn.Embedding):
            reach = (3.0 / module.embedding_dim) ** 0.5
            torch.nn.init.uniform_(module.weight, -reach, reach)
            with torch.no_grad():
                module.weight[0].zero_()
        elif isinstance(module, torch.nn.GRU):
            module.reset_parameters()

    def forward(
        self,
        input_ids: Any,
        attention_mask: Any = None,
        output_hidden_states: bool = False,
        return_dict: bool = True,
    ) -> BaseModelOutput:
        """States of every word, shape (B, T, twice ``direction_size``).

        Args:
            input_ids: ids of words, shape (B, T).
            attention_mask: 1 where a word stands, from the left, 0 for padding; None: all do.
            output_hidden_states: give the word vectors, too, filled up with zeros to the width of
                the states (or the states to theirs).
            return_dict: always so.
        """
        vectors = self.words(input_ids)
        if attention_mask is None:
            states = self.states(vectors)[0]
        else:
            # Texts without a word still need one for a GRU; whoever pools leaves it out.
            lengths = attention_mask.sum(1).clamp(min=1).cpu()
            packed = torch.nn.utils.rnn.pack_padded_sequence(
                vectors, lengths, batch_first=True, enforce_sorted=False
            )
            states = torch.nn.utils.rnn.pad_packed_sequence(
                self.states(packed)[0], batch_first=True, total_length=input_ids.shape[1]
            )[0]
        width = self.config.hidden_size
        layers = tuple(
            torch.nn.functional.pad(layer, (0, width - layer.shape[2]))
            for layer in (vectors, states)
        )
        return BaseModelOutput(
            last_hidden_state=layers[1], hidden_states=layers if output_hidden_states else None
        )


def register_word_gru() -> None:
    """Let the Auto classes of transformers know the model."""
    AutoConfig.register(WORD_GRU, WordGRUConfig, exist_ok=True)
    AutoModel.register(WordGRUConfig, WordGRU, exist_ok=True)
