"""``--model-arg key=value``: what is read, what is refused."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from coherencegym.errors import EvaluationError
from coherencegym.eval.models.arguments import ModelArguments, Scalar, parse_model_arguments, scalar


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("None", None),
        ("12", 12),
        ("-3", -3),
        ("1.5", 1.5),
        ("1e-5", 1e-5),
        (".5", 0.5),
        ('"12"', "12"),
        ("'true'", "true"),
        (r'"a\"b"', 'a"b'),
        ("eager", "eager"),
        ("20GiB", "20GiB"),
        ("./a=b", "./a=b"),
        ("nan", "nan"),
        ("", ""),
    ],
)
def test_values(text: str, value: Scalar) -> None:
    found = scalar(text)
    assert (found, type(found)) == (value, type(value))


@given(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
def test_what_json_writes_is_read(value: Scalar) -> None:
    assert scalar(json.dumps(value)) == value


@pytest.mark.parametrize("text", ['"open', "{}", "[1]", "'open", '"a"b"'])
def test_values_that_are_none(text: str) -> None:
    with pytest.raises(EvaluationError):
        scalar(text)


def test_pairs_are_sorted_by_what_reads_them() -> None:
    pairs = ["revision=v1", "subfolder=a/b", "peft=me/lora", "peft_revision=2", "tokenizer=./t"]
    pairs += ["load_in_4bit=true", "load_in_8bit=false", "bnb_4bit_quant_type=nf4"]
    pairs += ["max_cpu_memory=1GiB", "sliding_window=64", "attn_implementation=eager"]
    found = parse_model_arguments(pairs)
    assert found == ModelArguments(
        revision="v1",
        subfolder="a/b",
        tokenizer="./t",
        adapter="me/lora",
        adapter_revision="2",
        quantization={"load_in_4bit": True, "bnb_4bit_quant_type": "nf4"},
        memory={"max_cpu_memory": "1GiB"},
        passed={"sliding_window": 64, "attn_implementation": "eager"},
    )
    assert list(found.record()) == sorted(found.record())
    # Of the adapter the results have the commit; where weights lie changes no number.
    assert set(found.numeric()) == {
        *("load_in_4bit", "bnb_4bit_quant_type", "sliding_window", "attn_implementation")
    }
    assert parse_model_arguments([]) == ModelArguments()
    assert parse_model_arguments(["revision=v1"], "v1").revision == "v1"
    assert [
        parse_model_arguments([f"revision={text}"]).revision for text in ("0123", "1e5", '"true"')
    ] == [*("0123", "1e5", "true")]


@pytest.mark.parametrize(
    ("pairs", "what"),
    [
        (["dtype=float16"], "--model-arg dtype: not accepted; expected --dtype"),
        (["torch_dtype=float16"], "expected --dtype"),
        (["device_map=auto"], "expected --device-map"),
        (["parallelize=True"], "expected --device-map"),
        (["trust_remote_code=True"], "expected --trust-remote-code"),
        (["use_safetensors=false"], "safetensors files only"),
        (["output_loading_info=true"], "not for the user"),
        (["gguf_file=q4.gguf"], "safetensors"),
        (["attn_implementation=someone/flash"], "expected one of eager, sdpa"),
        (["attn_implementation=1"], "expected one of eager, sdpa"),
        (["use_kernels=true"], "code from the Hub"),
        (["a=1", "a=2"], "a: given twice"),
        (["novalue"], "'novalue': expected key=value"),
        (["_commit_hash=1"], "expected key=value"),
        (["peft=x,load_in_4bit=True"], "several pairs in one"),
        (["a={}"], "expected true, false"),
        (["peft="], "peft: expected a Hub id or a folder"),
        (["peft_revision=v1"], "expected peft=ADAPTER"),
        (["load_in_4bit=1"], "load_in_4bit=1: expected true or false"),
        (["load_in_4bit=true", "load_in_8bit=true"], "expected one of them"),
        (["bnb_4bit_quant_type=nf4"], "expected load_in_4bit=true"),
        (["revision=v2"], "expected one of them"),
    ],
)
def test_what_is_refused_says_what_to_do(pairs: list[str], what: str) -> None:
    with pytest.raises(EvaluationError) as caught:
        parse_model_arguments(pairs, "v1")
    assert what in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_token_is_not_repeated() -> None:
    with pytest.raises(EvaluationError) as caught:
        parse_model_arguments(["token=hf_secret"])
    assert "hf_secret" not in str(caught.value)
    assert "HF_TOKEN" in str(caught.value)
