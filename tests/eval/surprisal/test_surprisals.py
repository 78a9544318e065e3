"""The primitive by itself: conditions and regions in, surprisals out, no prediction anywhere."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from coherencegym.eval.kinds.items import Condition, Region
from coherencegym.eval.plan.options import SYNTAXGYM_2021, Options
from coherencegym.eval.plan.requests import Query
from coherencegym.eval.surprisal import surprisals


def test_what_is_asked_is_read_and_nothing_else(
    make_tokenizer: Callable[..., Any], make_model: Callable[..., Any]
) -> None:
    tokenizer = make_tokenizer()
    model = make_model("gpt2", tokenizer)
    parts = (Region(1, "The dog was sad."), Region(2, "It was raining."))
    text = Condition("whole", "The dog was sad. It was raining.", parts)
    asked = [Query("one", [text], {"whole": {2}}), Query("none", [text], {})]
    one, none = (answer.conditions["whole"] for answer in surprisals(model, tokenizer, asked).items)
    regions = np.array(one.encoding.regions)
    assert (np.isnan(one.bits) == (regions != 2)).all()
    assert np.isnan(none.bits).all()
    every = surprisals(model, tokenizer, asked[1:], Options(every_token=True)).items[0]
    bits = every.conditions["whole"].bits
    assert np.isnan(bits).sum() == 1  # the start-of-text token
    assert bits[regions == 2] == pytest.approx(one.bits[regions == 2], abs=1e-4)


def test_what_is_recorded_is_what_json_holds_and_the_cache_goes_by_how_texts_are_run() -> None:
    options = Options(rules=SYNTAXGYM_2021, share=False)
    assert options.record()["compat"] == "syntaxgym-2021"
    assert options.identity() != Options().identity() == Options(bos="never").identity()
