"""``python -m benchmarks.architectures``: what language models of transformers do with their input.

A tiny model with random weights is made of every configuration that transformers maps to a causal
language model. It is asked whether it sees what follows a token, whether it answers alike twice,
and whether padding and its cache leave it as it is; and this project scores forty texts with it,
which plain forward passes in float64 read one by one. ``benchmarks/architectures.md`` is the
output. A later run goes on where an earlier one stopped, and says which configurations are new and
which have changed since the table was written.
"""

from __future__ import annotations

import argparse
import copy
import inspect
import json
import math
import multiprocessing
import random
import re
import signal
import sys
import time
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from coherencegym.errors import EvaluationError, first_line
from coherencegym.eval.forward.execute import Execution, execute
from coherencegym.eval.models.config import (
    limits_of,
    refuse_unless_it_sees,
    scorer_of,
    settled_scorer,
)
from coherencegym.eval.plan.plan import Budget, make_plan
from coherencegym.eval.text.sequence import TokenSequence

if TYPE_CHECKING:
    import torch

VOCABULARY = 97
#: Nats by which a log-probability may move.
NATS = 1e-3
#: Bits that are promised of every surprisal.
BITS = 1e-4
#: Rounding (bits) of the model itself, alone and in float32, above which weights are drawn smaller.
_ROUNDING = 2e-5
#: Small, so that there are many batches.
_BUDGET = Budget(tokens=400, head_rows=400, cached=800)
_TABLE = Path(__file__).with_suffix(".md")
#: What is asked, with the heads of the columns.
_ASKED = {
    "causal": "causal",
    "repeatable": "repeatable",
    "left": "padding left",
    "right": "padding right",
    "at once": "cache, at once",
    "by token": "cache, by token",
}
#: Names of a cache among outputs and arguments.
_CACHES = ("past_key_values", "cache_params", "state", "mems")

_SETTINGS = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
#: Sizes in tiny configs, by the names of entries.
_TINY = {name: int(size) for size, names in _SETTINGS["sizes"].items() for name in names}
#: What a configuration needs beside, by its type.
_RECIPES: dict[str, dict[str, Any]] = _SETTINGS["recipes"]


def tiny_config(kind: str, **more: Any) -> Any:
    """The default config of a kind with small numbers in place of the usual large ones."""
    from transformers import AutoConfig

    recipe = _RECIPES.get(kind, {})
    try:
        default = AutoConfig.for_model(kind).to_dict()
    except Exception:
        # It takes more to be made at all.
        default = AutoConfig.for_model(kind, **recipe).to_dict()
    return AutoConfig.for_model(kind, **{**_shrunk(default), **recipe, **more})


def _shrunk(given: Mapping[str, Any]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    counts = {name: given[name] for name in _SETTINGS["layers"] if isinstance(given.get(name), int)}
    lists = {
        name: value
        for name, value in given.items()
        if isinstance(value, (list, tuple)) and len(value) > 2 and len(value) in counts.values()
    }
    # Of each kind of layer one.
    first: dict[str, int] = {}
    for number, layer in enumerate(zip(*lists.values(), strict=False)):
        kinds = [entry for entry in layer if not isinstance(entry, (int, float))]
        first.setdefault(str(kinds), number)
    layers = sorted(first.values()) if len(first) > 1 else [0, 1]
    heads = given.get("num_attention_heads")
    for name, value in given.items():
        if name in _SETTINGS["left_out"]:
            continue
        if name == "per_layer_config" and value:
            own = {int(number): _shrunk(entries) for number, entries in value.items()}
            made[name] = {str(new): own[old] for new, old in enumerate(layers) if old in own}
        elif isinstance(value, dict):
            made[name] = _shrunk(value)
            if own_type := value.get("model_type"):
                made[name] |= {**_RECIPES.get(own_type, {}), "model_type": own_type}
        elif name in counts:
            made[name] = len(layers)
        elif name in lists:
            made[name] = [value[number] for number in layers]
        elif "vocab_size" in name and isinstance(value, int):
            made[name] = VOCABULARY
        elif name.endswith("num_key_value_heads") and isinstance(value, int):
            made[name] = 4 if value == heads else min(value, 2)
        elif name.endswith("_token_id"):
            made[name] = _token(name, value)
        elif name in _TINY and value and isinstance(value, int) and value is not True:
            made[name] = _TINY[name]
        else:
            made[name] = value
    return made


def _token(name: str, value: Any) -> Any:
    if isinstance(value, int) and value < 5:
        return value
    return None if value is None else {"pad_token_id": 0, "bos_token_id": 1}.get(name, 2)


def tiny_model(kind: str, **more: Any) -> tuple[Any, Any, float]:
    """A tiny model, its copy in float64, and how far they are apart in bits, each text alone."""
    import torch
    from transformers import AutoModelForCausalLM

    for gain in (4.0, 2.0, 1.0, 0.5):
        torch.manual_seed(0)
        model = AutoModelForCausalLM.from_config(tiny_config(kind, **more)).eval().float()
        with torch.no_grad():
            for parameter in (p for p in model.parameters() if p.dim() > 1 and p.numel() > 1):
                mean, spread = parameter.mean().abs(), parameter.std()
                # What is drawn around 0 is drawn larger, so that differences show.
                if mean <= 0.2 * spread or spread == 0:
                    parameter.normal_(0, gain / math.sqrt(parameter.shape[-1]))
        exact = _in_float64(model)
        rounding = max(
            float((surprisals(model, text) - surprisals(exact, text)).abs().max())
            for text in texts()[::6]
        )
        if rounding < _ROUNDING:
            break
    return model, exact, rounding


def _in_float64(model: Any) -> Any:
    # Or the model itself, where its code makes float32 of what it is given.
    exact = copy.deepcopy(model).double()
    with suppress(Exception):
        # The faster way to run experts knows no float64.
        exact.set_experts_implementation("eager")
    try:
        surprisals(exact, texts()[0])
    except RuntimeError:
        return model
    return exact


def texts() -> list[TokenSequence]:
    """Forty texts in twelve families that begin alike, of which parts are read."""
    draw = random.Random(1)
    made: list[TokenSequence] = []
    for family in range(12):
        beginning = draw.choices(range(5, VOCABULARY), k=draw.choice([1, 3, 8, 17, 30, 61, 102]))
        for _ in range(3 + (family < 4)):
            end = draw.choice([1, 2, 3, 5, 9, 14, 40])
            ids = (*beginning, *draw.choices(range(5, VOCABULARY), k=end))
            first = len(beginning) if family % 2 else 1
            positions = tuple(range(first, len(ids)))
            made.append(TokenSequence(ids, positions, True, family=family))
    return made


def surprisals(model: Any, text: TokenSequence) -> torch.Tensor:
    """Bits at a text's positions, of a plain forward pass."""
    import torch

    logs = log_probabilities(model, torch.tensor([text.ids[: text.length]]))[0] / math.log(2)
    places = torch.tensor(text.positions)
    bits: torch.Tensor = -logs[places - 1, torch.tensor(text.ids)[places]]
    return bits


def log_probabilities(model: Any, ids: torch.Tensor, **more: Any) -> torch.Tensor:
    """In nats, shape (B, T, V), float64."""
    import torch

    with torch.inference_mode():
        logits = model(input_ids=ids, **more).logits
    if logits.dim() != 3 or logits.shape[:2] != ids.shape:
        raise ValueError(f"logits of shape {tuple(logits.shape)} for ids {tuple(ids.shape)}")
    return torch.log_softmax(logits.double(), dim=-1)


def _behaviour(model: Any) -> Iterator[tuple[str, float | str]]:
    # By how many nats each change moves what a model says of a text; or why that cannot be told.
    import torch

    draw = random.Random(2)
    ids, more = torch.tensor([draw.choices(range(5, VOCABULARY), k=64)]).split([41, 23], dim=1)
    plain, length, cut, padding = log_probabilities(model, ids), 41, 26, 7
    other = ids.clone()
    other[0, -1] = 5 + (other[0, -1] - 4) % (VOCABULARY - 5)
    behind = torch.cat([ids[:, :cut], more[:, : length - cut]], dim=1)
    pad = getattr(model.config.get_text_config(), "pad_token_id", None) or 0
    filler = torch.full((1, padding), pad)
    ones, zeros = torch.ones_like(ids), torch.zeros_like(filler)

    def padded(*rows: torch.Tensor, mask: Sequence[torch.Tensor], at: slice) -> float:
        # Beside a row without padding.
        full = torch.cat([ids, more[:, :padding]], dim=1)
        masks = torch.cat([torch.cat([*mask], dim=1), torch.ones_like(full)])
        both = torch.cat([torch.cat([*rows], dim=1), full])
        return far(log_probabilities(model, both, attention_mask=masks)[:1, at], plain)

    def far(one: torch.Tensor, two: torch.Tensor) -> float:
        return float((one - two).abs().max())

    def cached(step: int) -> float | str:
        found = _from_cache(model, ids, cut, step)
        return "none" if found is None else far(found, plain)

    asked: dict[str, Callable[[], float | str]] = {
        "repeatable": lambda: far(log_probabilities(model, ids), plain),
        "causal": lambda: max(
            far(log_probabilities(model, other)[:, :-1], plain[:, :-1]),
            far(log_probabilities(model, behind)[:, :cut], plain[:, :cut]),
            far(log_probabilities(model, torch.cat([ids, more], dim=1))[:, :length], plain),
        ),
        "left": lambda: padded(filler, ids, mask=(zeros, ones), at=slice(padding, None)),
        "right": lambda: padded(ids, filler, mask=(ones, zeros), at=slice(length)),
        "at once": lambda: cached(length),
        "by token": lambda: cached(1),
    }
    for name, ask in asked.items():
        try:
            yield name, ask()
        except Exception as error:
            yield name, f"{type(error).__name__}: {first_line(error)}"[:160]


def _from_cache(model: Any, ids: torch.Tensor, cut: int, step: int) -> torch.Tensor | None:
    import torch

    accepted = inspect.signature(model.forward).parameters
    more = {name: True for name in ("use_cache", "use_mems") if name in accepted}
    parts, held = [], dict[str, Any]()
    for part in [ids[:, :cut], *ids[:, cut:].split(step, dim=1)]:
        with torch.inference_mode():
            output = model(input_ids=part, **held, **more)
        parts.append(output.logits.double())
        held = {n: c for n in _CACHES if (c := getattr(output, n, None)) is not None}
        if not held:
            return None
    return torch.log_softmax(torch.cat(parts, dim=1), dim=-1)


def _ours(model: Any, exact: Any) -> dict[str, Any]:
    # What this project does with the texts, and the largest error.
    name = type(model).__name__
    asked = texts()
    try:
        scorer = scorer_of(model.config, name)
        settled_scorer(name, model.config, scorer)
        refuse_unless_it_sees(name, model, scorer)
        plan = make_plan(asked, limits=limits_of(model.config))
        runs = [execute(model, plan, _BUDGET, share=share) for share in (True, False)]
    except EvaluationError as error:
        said = re.sub(r"^model '\w+' ", "", first_line(error))
        return {"ours": f"refuses: {said}"}
    except Exception as error:
        return {"ours": f"fails: {type(error).__name__}: {first_line(error)}", "bits": math.nan}
    largest = max(
        float(abs(bits - surprisals(exact, text).numpy()).max())
        for run in runs
        for bits, text in zip(run.bits, run.plan.sequences, strict=True)
    )
    alone = ", and long texts alone" * bool(runs[0].plan.limits.chosen)
    return {"ours": _way(runs[0]) + alone, "bits": largest}


def _way(run: Execution) -> str:
    if run.beside is not None and not run.beside.passed:
        return "reads each text alone"
    if any(batch.prefixes for batch in run.plan.batches):
        return "packs"
    return "shares a cache" if run.plan.shares else "pads"


def measure(name: str) -> dict[str, Any]:
    """The row of a configuration: its name, or that and ``+ENTRY`` (true) or ``+ENTRY=NUMBER``."""
    import torch
    from transformers import logging

    torch.set_num_threads(1)
    logging.set_verbosity_error()
    kind, *entries = name.split("+")
    more = {e: int(n) if n else True for e, _, n in (entry.partition("=") for entry in entries)}
    row: dict[str, Any] = {"name": name, "transformers": version("transformers")}
    try:
        model, exact, rounding = tiny_model(kind, **more)
        row |= {"class": type(model).__name__, "rounding": rounding, "float32": exact is model}
        row |= dict(_behaviour(model))
        row["decodes"] = getattr(model.config, "is_decoder", None) is False
        row |= _ours(model, exact)
    except Exception as error:
        row["reason"] = f"{type(error).__name__}: {first_line(error)}"[:200]
    return row


def measure_apart(name: str, seconds: float) -> dict[str, Any]:
    """The same in a process of its own, which may crash or hang."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    process = context.Process(target=lambda: sender.send(measure(name)))
    process.start()
    sender.close()
    try:
        with suppress(EOFError):
            if receiver.poll(seconds):
                return dict(receiver.recv())
        process.join(1)
        code = process.exitcode
        reason = "timed out" if code is None else f"crashed ({_signal(code)})"
        return {"name": name, "transformers": version("transformers"), "reason": reason}
    finally:
        process.kill()
        process.join()


def _signal(code: int) -> str:
    return signal.Signals(-code).name if code < 0 else f"exit status {code}"


def cells(row: Mapping[str, Any]) -> list[str]:
    """A line of the table."""
    if "reason" in row:
        return [row["name"], *"–" * len(_ASKED), f"not made: {row['reason']}", "–"]
    asked = [_cell(row[name]) for name in _ASKED]
    bits = f"{row['bits']:.0e}{' (float32)' * row.get('float32', False)}" if "bits" in row else "–"
    return [row["name"], *asked, row["ours"], bits]


def _cell(value: float | str) -> str:
    if isinstance(value, str):
        return "none" if value == "none" else "error"
    return "yes" if value <= NATS else f"{value:.2g}"


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """The table as Markdown."""
    heads = ["configuration", *_ASKED.values(), "this project", "error, bits"]
    lines = [heads, ["---"] * len(heads), *map(cells, rows)]
    text = ["| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines]
    return "\n".join(text) + "\n"


def changes(before: str, after: str) -> list[str]:
    """Configurations that are new, gone, or otherwise; numbers count as one where they say no."""
    old, new = _lines(before), _lines(after)
    found = [f"new: {name}" for name in new if name not in old]
    found += [f"gone: {name}" for name in old if name not in new]
    both = [name for name in new if name in old and old[name] != new[name]]
    return found + [f"changed: {n}: {' | '.join(old[n])} -> {' | '.join(new[n])}" for n in both]


def _lines(text: str) -> dict[str, list[str]]:
    rows = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ")]
    return {
        name: [*(re.sub(r"^[\d.e+-]+$", "no", cell) for cell in asked), _held(bits)]
        for name, *asked, bits in rows[2:]
    }


def _held(bits: str) -> str:
    with suppress(ValueError):
        return "exact" if float(bits.partition(" ")[0]) <= BITS else "wrong"
    return bits


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure what no earlier run has, say what changed, write the table."""
    made = argparse.ArgumentParser(prog="python -m benchmarks.architectures")
    add = made.add_argument
    add("names", nargs="*", help="configurations; default all, and the table is written")
    add("--output", type=Path, default=Path("benchmarks/out/architectures"), metavar="DIR")
    add("--seconds", type=float, default=300, help="of one configuration; default 300")
    options = made.parse_args(arguments)
    # Imported once, for all forks.
    from transformers import AutoModelForCausalLM, GPT2LMHeadModel  # noqa: F401
    from transformers.models.auto import modeling_auto

    options.output.mkdir(parents=True, exist_ok=True)
    path = options.output / f"transformers-{version('transformers')}.jsonl"
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    # What could not be made is tried again.
    found = [row for row in map(json.loads, lines) if "reason" not in row]
    known = {row["name"]: row for row in found}
    queue = options.names or [
        *modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
        *_SETTINGS["variants"],
    ]
    rows = []
    for name in queue:
        start = time.monotonic()
        if name not in known:
            known[name] = measure_apart(name, options.seconds)
            known[name]["seconds"] = round(time.monotonic() - start, 1)
            with path.open("a", encoding="utf-8") as file:
                file.write(json.dumps(known[name]) + "\n")
            print(" | ".join(cells(known[name])), file=sys.stderr, flush=True)
        rows.append(known[name])
        # Encoders become decoders when they are told so.
        if known[name].get("decodes") and _cell(known[name]["causal"]) != "yes":
            queue.insert(len(rows), f"{name}+is_decoder")
    before = _TABLE.read_text(encoding="utf-8") if _TABLE.exists() else ""
    text = table(rows)
    print(text if options.names else "\n".join(changes(before, text)))
    minutes = sum(row["seconds"] for row in rows) / 60
    if not options.names:
        about = {"version": version("transformers"), "minutes": minutes, "limit": BITS}
        _TABLE.write_text(_SETTINGS["intro"].format(**about) + text, encoding="utf-8")
    silent = [row["name"] for row in rows if not row.get("bits", 0) <= BITS]
    print(f"{len(rows)} configurations in {minutes:.0f} minutes")
    print("wrong without a word:", ", ".join(silent) or "none")
    return bool(silent)


if __name__ == "__main__":
    sys.exit(main())
