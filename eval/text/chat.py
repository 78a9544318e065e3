"""Chat templates: what stands around a prompt where a model was trained to be talked to.

The tokenizer's own template is rendered once (transformers does so in a sandbox), with one message
of a user and the beginning of an answer. What it puts before and behind the message becomes tokens,
special ones where it names them; the message itself is text like any other, so that no text can
speak for the user or for the model. The answer follows at once, without a space, as
lm-evaluation-harness has it (its ``--apply_chat_template``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.text.reading import TokenReader

#: Stands for the message while a template is rendered.
_MESSAGE = "What-the-user-says"
PROMPT = "{prompt}"


@dataclass(frozen=True, slots=True)
class Chat:
    """Token ids before and behind a message, and the template around :data:`PROMPT`."""

    before: tuple[int, ...]
    behind: tuple[int, ...]
    text: str


def has_chat_template(tokenizer: Any) -> bool:
    """Tell whether a tokenizer says how its model is talked to."""
    return bool(getattr(tokenizer, "chat_template", None))


def chat_of(tokenizer: Any) -> Chat:
    """The chat template of a tokenizer, around one message."""
    option = "--apply-chat-template"
    if not has_chat_template(tokenizer):
        raise EvaluationError(
            f"{option}: the model's tokenizer has no chat template; expected one, or no such option"
        )
    try:
        rendered = tokenizer.apply_chat_template(
            [{"role": "user", "content": _MESSAGE}], tokenize=False, add_generation_prompt=True
        )
    except Exception as error:
        raise EvaluationError(
            f"{option}: the chat template cannot be rendered: {first_line(error)}"
        ) from None
    parts = str(rendered).split(_MESSAGE)
    if len(parts) != 2:
        raise EvaluationError(
            f"{option}: the chat template has the message {len(parts) - 1} times; expected once"
        )
    before, behind = parts
    reader = TokenReader(tokenizer, special_names=True)
    (opening,) = reader.read([before])
    closing = reader.read_continuation(behind)
    return Chat(tuple(opening.ids.tolist()), tuple(closing.ids.tolist()), before + PROMPT + behind)
