"""Chat templates as tokens around a text, against a template that is tokenized whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from coherencegym.errors import EvaluationError
from coherencegym.eval.kinds.items import SEPARATOR, Condition, Region
from coherencegym.eval.plan.requests import Query, prepare
from coherencegym.eval.text.special import chat_of

TEMPLATE = (
    "{{ bos_token }}{% for m in messages %}<|{{ m['role'] }}|>\n{{ m['content'] | trim }}"
    "{{ eos_token }}\n{% endfor %}{% if add_generation_prompt %}<|assistant|>\n{% endif %}"
)


def test_the_tokens_are_those_of_the_template(make_tokenizer: Callable[..., Any]) -> None:
    tokenizer = make_tokenizer()
    tokenizer.chat_template = TEMPLATE
    asked, answer = "Is the dog sad? </s> Yes or no?", "yes"
    regions = (Region(1, asked + SEPARATOR), Region(2, answer))
    condition = Condition("c", f"{asked}{SEPARATOR}{answer}", regions)
    query = Query("q", [condition], {"c": {2}})
    chat = chat_of(tokenizer)
    assert chat.text == "<s><|user|>\n{prompt}</s>\n<|assistant|>\n"
    (fitted,) = prepare(tokenizer, None, [query], uses_separator=False, chat=chat).fitted
    encoding = fitted.encodings["c"]

    def ids(text: str) -> list[int]:
        settings = {"add_special_tokens": False, "split_special_tokens": True}
        found: list[int] = tokenizer(text, **settings)["input_ids"]
        return found

    # What a user writes is text, whatever it is called.
    assert tokenizer.eos_token_id not in ids(asked)
    assert list(encoding.ids) == [
        *(tokenizer.bos_token_id, *ids("<|user|>\n"), *ids(asked)),
        *(tokenizer.eos_token_id, *ids("\n<|assistant|>\n"), *ids(answer)),
    ]
    assert [encoding.ids[place] for place in encoding.of_region[2]] == ids(answer)


@pytest.mark.parametrize(
    ("template", "said"),
    [
        (None, "has no chat template; expected one"),
        ("{{ raise_exception('only with tools') }}", "cannot be rendered: .*only with tools"),
        ("{% for m in messages %}hello{% endfor %}", "has the message 0 times; expected once"),
    ],
)
def test_templates_that_cannot_be_used(
    make_tokenizer: Callable[..., Any], template: str | None, said: str
) -> None:
    tokenizer = make_tokenizer()
    tokenizer.chat_template = template
    with pytest.raises(EvaluationError, match=said):
        chat_of(tokenizer)
