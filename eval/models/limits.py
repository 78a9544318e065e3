"""Lengths at which a model begins to read otherwise, as its config says: windows and positions.

Two things make what a model says of a text depend on what stands beside it in a batch. A *window*
hides what is far away from a token: a mask of pairs that replaces the model's own has to hide it
too, and where a model counts columns instead of positions, a packed row has to fit into it. And
where *positions* are scaled by the length of what is read, a short text beside a longer one would
be read as if it were as long. So the texts of a batch lie on one side of such a length, and
:mod:`eval.forward.trial` tries both sides of all of them.

Of the rope functions of transformers ``longrope`` (Ding et al. 2024; Phi-3) is of this kind: it
has factors for texts up to ``original_max_position_embeddings`` and others for longer ones, and
takes those of the longest position of a batch. ``dynamic`` begins beyond
``max_position_embeddings``, and longer texts are not scored. ``default``, ``linear``, ``yarn``,
``llama3`` and ``proportional`` depend on the position alone.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

#: Names in a config of the most tokens that its model can read, most usual first.
_CONTEXT_NAMES = ("max_position_embeddings", "n_positions", "max_seq_len", "n_ctx")
#: Names of a window that no mask of pairs can take the place of, as the model looks at columns or
#: at how much there is: GPT-Neo, RecurrentGemma, Doge, DeepSeek's and GLM's indexer.
_OWN_WINDOWS = (
    *("window_size", "attention_window", "attention_window_size"),
    *("local_attention", "keep_window_size", "index_topk"),
)
#: Names of how many tokens a layer chooses by their scores. Among equals it may choose others in
#: another row, seldom enough for a trial of some texts to miss.
_CHOSEN = ("index_topk", "keep_window_size")

#: RoBERTa and its kin number positions from after the padding token's id.
_FROM_PADDING = frozenset(
    {
        *("roberta", "roberta-prelayernorm", "xlm-roberta", "xlm-roberta-xl", "camembert", "xmod"),
        *("mpnet", "longformer", "data2vec-text", "ibert", "luke", "markuplm"),
    }
)


@dataclass(frozen=True, slots=True)
class Limits:
    """Lengths (tokens) at which a model begins to read otherwise; 0 where there is no such length.

    Attributes:
        sliding: tokens that a sliding layer sees, the one that looks included.
        chunk: tokens of a chunk, of layers that see their own chunk only.
        own: tokens that a layer sees, whatever mask it is given: it counts columns of a row.
        chosen: tokens of a text from which no layer chooses the tokens that it sees: a longer one
            is read alone.
        layers: the kinds of layers that the config names (``layer_types``), each with a mask of its
            own; empty where one mask serves them all.
        lengths: increasing; texts of more tokens than one of them have other positions.
    """

    sliding: int = 0
    chunk: int = 0
    own: int = 0
    chosen: int = 0
    layers: frozenset[str] = field(default_factory=frozenset)
    lengths: tuple[int, ...] = ()

    def side(self, length: int) -> int:
        """The side of :attr:`lengths` that a text is on: only texts of one side stand together."""
        return bisect_left(self.lengths, length)

    @property
    def boundaries(self) -> tuple[int, ...]:
        """All of these lengths, increasing."""
        found = {self.sliding, self.chunk, self.own, *self.lengths}
        return tuple(sorted(found - {0}))


#: Limits of a model that reads every length alike.
UNLIMITED = Limits()


def limits_of(config: Any) -> Limits:
    """Read a model's limits from its config (of transformers), or none where it has no config."""
    if config is None:
        return UNLIMITED
    text = _of_text(config)
    layers = frozenset(getattr(text, "layer_types", None) or ())

    def window(name: str, kind: str) -> int:
        # Unless the config names its kinds of layers and none has such a window.
        return _number(text, name) if not layers or kind in layers else 0

    # Code from a model's own repository may still use the older name.
    ropes = [getattr(text, name, None) for name in ("rope_parameters", "rope_scaling")]
    lengths = {_scaled_length(text, rope) for value in ropes for rope in _ropes(value)}
    return Limits(
        sliding=window("sliding_window", "sliding_attention"),
        chunk=window("attention_chunk_size", "chunked_attention"),
        own=_least(text, _OWN_WINDOWS),
        chosen=_least(text, _CHOSEN),
        layers=layers,
        lengths=tuple(sorted(lengths - {0})),
    )


def context_length(config: Any) -> int | None:
    """Most tokens that a model can read, or None where its config sets no limit."""
    if config is None:
        return None
    text = _of_text(config)
    length = next((found for name in _CONTEXT_NAMES if (found := _number(text, name))), None)
    if length is None or getattr(text, "model_type", "") not in _FROM_PADDING:
        return length
    return length - (text.pad_token_id or 0) - 1


def with_context(config: Any, tokens: int) -> Any:
    """A copy of a config whose model can read so many tokens at most."""
    copied = deepcopy(config)
    text = _of_text(copied)
    named = (name for name in _CONTEXT_NAMES if _number(text, name))
    setattr(text, next(named, _CONTEXT_NAMES[0]), tokens)
    return copied


def rope_types(config: Any) -> frozenset[str]:
    """The rope functions that a config names, such as ``linear``."""
    text = _of_text(config)
    values = [getattr(text, name, None) for name in ("rope_parameters", "rope_scaling")]
    found = (rope.get("rope_type") or rope.get("type") for v in values for rope in _ropes(v))
    return frozenset(str(kind) for kind in found if kind)


def _of_text(config: Any) -> Any:
    return config.get_text_config() if hasattr(config, "get_text_config") else config


def _number(text: Any, name: str) -> int:
    value = getattr(text, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


def _least(text: Any, names: Iterable[str]) -> int:
    return min((size for name in names if (size := _number(text, name))), default=0)


def _ropes(value: Any) -> Iterator[Mapping[str, Any]]:
    # A rope's parameters, or those of each kind of layers.
    if isinstance(value, Mapping):
        if "rope_type" in value or "type" in value:
            yield value
        else:
            for inner in value.values():
                yield from _ropes(inner)


def _scaled_length(text: Any, rope: Mapping[str, Any]) -> int:
    # The length beyond which a rope function takes other factors; 0: there is none.
    if "long_factor" not in rope and "longrope" not in (rope.get("rope_type"), rope.get("type")):
        return 0
    given = rope.get("original_max_position_embeddings")
    return given if isinstance(given, int) else _number(text, "original_max_position_embeddings")
