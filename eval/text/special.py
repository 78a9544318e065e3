"""Start of text and separator: which token a model gets for each, decided once and recorded.

**Start of text** (``--bos``). A model can only be asked about a first token if something stands
before it, and models differ in what they were trained to see there:

- the tokenizer defines a BOS token: that one, whether or not the tokenizer adds it by itself
  (GPT-2's defines one and does not add it);
- it defines none, but the model's config names as ``bos_token_id`` a special token of this
  tokenizer (Qwen: ``<|endoftext|>``): that one. This is our evidence that the model was trained
  with its end-of-text token as document boundary; an end-of-text token that the config does not
  name as a beginning is no such evidence, since chat models end turns with it;
- else none, and the first token of a text has no surprisal.

``always`` goes on to the tokenizer's end-of-text token where ``auto`` finds none; ``never`` uses
none.

**Separator** (``--separator``). ``[SEP]`` is rendered as the tokenizer's separator token, else as
its end-of-text token; ``TEXT`` renders it as that text (one token if it is a special token), and
``none`` leaves it out, so that the text reads as its twin without separators. White space before a
separator is removed; the space after it stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.eval.text.sequence import special_ids

if TYPE_CHECKING:
    import numpy as np

BosChoice = Literal["auto", "always", "never"]


@dataclass(frozen=True, slots=True)
class Start:
    """The token put before every text: its id, its text and why; ``token_id`` None for none."""

    token_id: int | None
    text: str
    reason: str


@dataclass(frozen=True, slots=True)
class Separator:
    """A rendering of ``[SEP]``: token ids, their text and why.

    ``ids`` are None where this tokenizer has no separator, and a text that needs one cannot be
    scored.
    """

    ids: tuple[int, ...] | None
    text: str
    reason: str


def start_of_text(tokenizer: Any, config: Any, choice: BosChoice = "auto") -> Start:
    """The token that stands before every text; ``config`` is the model's, or None."""
    if choice == "never":
        return Start(None, "", "asked for none")
    declared = getattr(config, "bos_token_id", None)
    if tokenizer.bos_token_id is not None:
        token_id, reason = tokenizer.bos_token_id, "the tokenizer's BOS"
    elif isinstance(declared, int) and declared in special_ids(tokenizer):
        token_id, reason = declared, "the config's BOS"
    elif choice == "auto":
        return Start(None, "", "the model has none")
    elif tokenizer.eos_token_id is not None:
        token_id, reason = tokenizer.eos_token_id, "the end-of-text token, as asked"
    else:
        raise EvaluationError(
            "--bos always: the tokenizer has neither a BOS nor an end-of-text token; expected "
            "--bos auto or never"
        )
    return Start(token_id, str(tokenizer.convert_ids_to_tokens(token_id)), reason)


@dataclass(frozen=True, slots=True)
class Added:
    """Token ids that stand before and after a text, as those that a tokenizer adds by itself.

    They count to the first and to the last region, or else (``counts``) to none.
    """

    before: tuple[int, ...]
    after: tuple[int, ...]
    counts: bool = True


def added_by(tokenizer: Any) -> Added:
    """The tokens that a tokenizer puts around any text unless it is told not to."""
    ids, own = (
        tuple(tokenizer("a", add_special_tokens=adds, verbose=False)["input_ids"])
        for adds in (True, False)
    )
    for place in range(len(ids) - len(own) + 1):
        if own and ids[place : place + len(own)] == own:
            return Added(ids[:place], ids[place + len(own) :])
    return Added(ids, ())


def begins_with_cls(tokenizer: Any) -> bool:
    """Tell whether a tokenizer puts the token in front of a text whose vector is all of it."""
    return added_by(tokenizer).before[:1] == (tokenizer.cls_token_id,)


def separator(tokenizer: Any, choice: str = "auto") -> Separator:
    """The rendering of ``[SEP]`` for this tokenizer.

    ``choice`` is ``auto``, ``none``, or the text to put in place of it.
    """
    if choice == "none":
        return Separator((), "", "left out, as asked")
    if choice != "auto":
        from coherencegym.eval.text.reading import TokenReader

        reader = TokenReader(tokenizer, special_names=True)
        ids = tuple(reader.read_continuation(choice).ids.tolist())
        if not ids:
            raise EvaluationError(
                f"--separator {choice!r} gives no token; expected auto, none or a text"
            )
        return Separator(ids, choice, "the text asked for")
    for token_id, reason in (
        (tokenizer.sep_token_id, "the tokenizer's separator"),
        (tokenizer.eos_token_id, "the end-of-text token"),
    ):
        if token_id is not None:
            text = str(tokenizer.convert_ids_to_tokens(token_id))
            return Separator((token_id,), text, reason)
    return Separator(None, "", "the tokenizer has none")


@dataclass(frozen=True, slots=True, eq=False)
class Rendered:
    """A text without its separators.

    Attributes:
        origin: the place of each character of ``text`` in the content, shape (N,); empty where no
            separator was taken out, and each character is in its own place.
        breaks: the places (characters in ``text``) where a separator stood.
    """

    text: str
    origin: np.ndarray
    breaks: tuple[int, ...]


def take_out_separators(content: str, separator: Separator | None) -> Rendered:
    """A content without its separators; None for ``separator``: ``[SEP]`` is ordinary text."""
    import numpy as np

    if separator is None or SEPARATOR not in content:
        return Rendered(content, np.empty(0, dtype=np.int64), ())
    pieces, origin, breaks = [], list[int](), []
    start = 0
    parts = content.split(SEPARATOR)
    for number, part in enumerate(parts):
        right = len(part.rstrip()) if number < len(parts) - 1 else len(part)
        if number:
            breaks.append(len(origin))
        pieces.append(part[:right])
        origin.extend(range(start, start + right))
        start += len(part) + len(SEPARATOR)
    return Rendered("".join(pieces), np.array(origin, dtype=np.int64), tuple(breaks))
