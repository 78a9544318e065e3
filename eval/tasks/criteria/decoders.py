"""The losses of Chen, Chu and Gimpel 2019, section 4. Torch is imported with this module.

From the vector of a sentence a decoder of its own predicts each of these, and the loss is the sum
over those that are on, each with weight 1:

- ``nsp``: -log p(previous sentence) - log p(next sentence), bags of words;
- ``nl``: -log p(level), how deep the section lies, 1 to 7;
- ``spp``: -log p(place of the sentence in its paragraph) - log p(place of the paragraph in the
  document), each one of 20 equal parts;
- ``sdt``: -log p(section title) - log p(document title), bags of words.

The log probability of a bag of words is the mean over its words, as in the paper's code (its
formula has the sum). The code has the places as numbers, too; 20 parts know no longest document. A
sentence without one of these (the first has nothing before it, text above all headings no section
title) counts in the other losses alone; the paper's data have none such. A decoder has two hidden
layers (ReLU); the code has a further linear map of the hidden width in those of bags, which adds
nothing that the last one cannot do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

#: Fills up lists of ids.
NO_ID = -1


def summed_loss(logits: Any, ids: Any) -> tuple[Any, Any]:
    """The sum of the mean of -log p (nats) over the ids of each row, and how many rows have any.

    Args:
        logits: shape (B, classes).
        ids: shape (B, most of any), filled up with -1.
    """
    there = ids != NO_ID
    right = torch.log_softmax(logits.float(), -1).gather(1, ids.clamp(min=0))
    numbers = there.sum(1)
    rows = -(right * there).sum(1) / numbers.clamp(min=1)
    return rows.sum(), (numbers > 0).sum()


class CriteriaModel(torch.nn.Module):  # type: ignore[misc]
    """An encoder with a decoder for each prediction, as the Trainer trains it."""

    def __init__(self, encoder: Any, sizes: Mapping[str, int], hidden: int) -> None:
        """Make the decoders.

        Args:
            encoder: a model of transformers without a head.
            sizes: prediction -> the number of its ids.
            hidden: width of the decoders' hidden layers.
        """
        super().__init__()
        self.encoder = encoder
        width = int(encoder.config.hidden_size)
        self.decoders = torch.nn.ModuleDict(
            {
                term: torch.nn.Sequential(
                    *(torch.nn.Linear(width, hidden), torch.nn.ReLU()),
                    *(torch.nn.Linear(hidden, hidden), torch.nn.ReLU()),
                    torch.nn.Linear(hidden, size),
                )
                for term, size in sizes.items()
            }
        )

    def losses(
        self, inputs: Mapping[str, Any], targets: Mapping[str, Any]
    ) -> dict[str, tuple[Any, Any]]:
        """The losses of a batch: prediction -> their sum, and over how many sentences it is.

        ``targets`` are the ids that are right, shape (B, most of any), filled up with -1.
        """
        vectors = sentence_vectors(self.encoder, inputs)
        return {
            term: summed_loss(decoder(vectors), targets[term])
            for term, decoder in self.decoders.items()
        }

    def forward(
        self, inputs: Mapping[str, Any], targets: Mapping[str, Any], return_loss: bool = True
    ) -> dict[str, Any]:
        """The loss of a batch: the sum over the predictions of the mean over its sentences."""
        found = self.losses(inputs, targets).values()
        return {"loss": torch.stack([total / rows.clamp(min=1) for total, rows in found]).sum()}


def sentence_vectors(encoder: Any, inputs: Mapping[str, Any]) -> Any:
    """The mean of an encoder's last states over a text's own tokens, shape (B, width).

    Args:
        encoder: a model of transformers without a head.
        inputs: ``input_ids``, ``attention_mask``, and ``special_tokens_mask``, all (B, T): tokens
            that the tokenizer adds are in no vector, as they are in no probe's.
    """
    mask = inputs["attention_mask"]
    states = encoder(input_ids=inputs["input_ids"], attention_mask=mask).last_hidden_state
    own = (mask * (1 - inputs["special_tokens_mask"])).unsqueeze(-1)
    return (states * own).sum(1) / own.sum(1).clamp(min=1)


def padded(rows: Sequence[Sequence[int]]) -> Any:
    """Lists of ids as a tensor, filled up with -1; there is at least one column."""
    width = max(1, *map(len, rows))
    return torch.tensor([[*row, *[NO_ID] * (width - len(row))] for row in rows])
