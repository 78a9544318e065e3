"""What was measured, as ratios, and the table of it."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import mean
from typing import Any

from benchmarks.data import DATASETS
from benchmarks.tools import TITLES
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.text.sequence import common_start

#: Bits by which two tools may differ in what they say of one region.
AGREEMENT = 1e-2


def shared_share(items: Sequence[Item], tokenizer: str) -> dict[str, float]:
    """Of all tokens of the items, the share that repeats what an earlier condition begins with.

    Of each condition its longest beginning that one of the conditions before it has as well.
    """
    from transformers import AutoTokenizer

    encode = AutoTokenizer.from_pretrained(tokenizer)
    total, shared, words = 0, 0, 0
    for item in items:
        rows = [encode.encode(c.content, add_special_tokens=False) for c in item.conditions]
        for number, row in enumerate(rows):
            shared += max((common_start([row, other]) for other in rows[:number]), default=0)
        total += sum(map(len, rows))
        words += sum(len(c.content.split()) for c in item.conditions)
    return {"tokens": total, "tokens_per_word": total / words, "shared": shared / total}


def summarise(report: dict[str, Any]) -> None:
    """Add ``summary`` to every data set: by tool, the ratios, memory and errors.

    Raises:
        ValueError: two tools were run on different weights.
    """
    for name, data in report["datasets"].items():
        weights = {r["weights"] for one in data["rounds"] for r in one.values()}
        if len(weights | {data["reference"]["weights"]}) > 1:
            raise ValueError(f"{name}: the tools had different weights")
        data["summary"] = {
            tool: _tool_summary(data, tool) for tool in TITLES if tool in data["rounds"][0]
        }
        ours = [r["coherencegym"] for r in data["rounds"] if "coherencegym" in r]
        if ours:
            data["rate"] = _rates(ours)


def _tool_summary(data: dict[str, Any], tool: str) -> dict[str, Any]:
    results = [one[tool] for one in data["rounds"]]
    summary: dict[str, Any] = {
        "seconds": [r["seconds"] for r in results],
        "peak_bytes": _most(r["peak_bytes"] for r in results),
        "error_bits_a_token": _region_error(results[0], data["reference"]),
        "largest_token_error_bits": _token_error(results[0], data["reference"]),
    }
    if "coherencegym" in data["rounds"][0]:
        ours = [one["coherencegym"] for one in data["rounds"]]
        summary["ratios"] = [
            r["seconds"] / o["seconds"] for r, o in zip(results, ours, strict=True)
        ]
        summary["largest_difference_bits"] = max(
            abs(a - b) for a, b in zip(results[0]["sums"], ours[0]["sums"], strict=True)
        )
    return summary


def _most(values: Any) -> int | None:
    known = [value for value in values if value is not None]
    return max(known, default=None)


def _region_error(result: dict[str, Any], reference: dict[str, Any]) -> float:
    """The largest error of a region's sum, divided by its tokens."""
    pairs = zip(result["sums"], reference["sums"], reference["tokens"], strict=False)
    return float(max(abs(a - b) / len(tokens) for a, b, tokens in pairs))


def _token_error(result: dict[str, Any], reference: dict[str, Any]) -> float | None:
    if result["tokens"] is None:
        return None
    pairs = zip(result["tokens"], reference["tokens"], strict=False)
    return float(max(abs(a - b) for x, y in pairs for a, b in zip(x, y, strict=True)))


def _rates(results: Sequence[dict[str, Any]]) -> dict[str, Any]:
    plan = results[0]["plan"]
    work = plan["floating_point_work"]
    rates: dict[str, Any] = {
        "plan": plan,
        "share_of_multiply_rate": [work / r["seconds"] / r["multiply_rate"] for r in results],
        "multiply_rate": [r["multiply_rate"] for r in results],
        "tokens_a_second": [plan["tokens_once"] / r["seconds"] for r in results],
    }
    if "copy_rate" in results[0]:
        # The least time: the arithmetic, or the weights read once a pass, whichever is longer.
        rates["share_of_limit"] = [
            max(
                work / r["multiply_rate"],
                plan["passes"] * plan["weight_bytes"] / r["copy_rate"],
            )
            / r["seconds"]
            for r in results
        ]
    return rates


def print_results(report: dict[str, Any], console: Any = None) -> None:
    """Print a table of each data set, and the machine; plain text in a pipe."""
    import sys

    from rich.console import Console
    from rich.table import Table

    if console is None:
        # A pipe has no width; rich would fold at 80 columns.
        console = Console(width=None if sys.stdout.isatty() else 140)
    clock = "CPU time" if report["model"]["device"] == "cpu" else "time"
    settings = report["settings"]
    for name, data in report["datasets"].items():
        table = Table(box=None, title_justify="left", title=_title(name, data))
        table.add_column("tool")
        columns = [f"{clock}, s", "times ours", "(rounds)", "peak MB"]
        columns += ["error, bits a token", "worst token", "agrees within"]
        for column in columns:
            table.add_column(column, justify="right")
        for tool, summary in data["summary"].items():
            table.add_row(TITLES[tool], *_cells(summary))
        console.print(table)
        if "rate" in data:
            console.print(_rate_line(data["rate"]))
        console.print()
    about = report["machine"]
    console.print(f"{about['processor']}, {about['cores']} cores" + _gpu(about))
    versions = ", ".join(f"{n} {v}" for n, v in about["versions"].items())
    console.print(f"Python {about['python']}, {versions}")
    model = report["model"]
    console.print(
        f"model {model['shape']} on {model['device']} in {model['dtype']}; other tools in batches "
        f"of {settings['batch']}; tokenizer: {settings['tokenizer']}"
    )


def _title(name: str, data: dict[str, Any]) -> str:
    return (
        f"{name}: {DATASETS[name][0]}\n{data['items']} items, {data['tokens']:,} tokens, "
        f"{100 * data['shared']:.0f} % of them repeat an earlier condition's beginning"
    )


def _cells(summary: dict[str, Any]) -> list[str]:
    ratios = summary.get("ratios", [])
    difference = summary.get("largest_difference_bits")
    if difference is None:
        agrees = ""
    else:
        agrees = f"{difference:.1e}" + (" DIFFERS" if difference > AGREEMENT else "")
    return [
        f"{mean(summary['seconds']):.1f}",
        f"{mean(ratios):.2f}" if ratios else "",
        f"{min(ratios):.2f} to {max(ratios):.2f}" if ratios else "",
        _megabytes(summary["peak_bytes"]),
        f"{summary['error_bits_a_token']:.1e}",
        _small(summary["largest_token_error_bits"]),
        agrees,
    ]


def _megabytes(value: int | None) -> str:
    return "" if value is None else f"{value / 1e6:,.0f}"


def _small(value: float | None) -> str:
    return "" if value is None else f"{value:.1e}"


def _gpu(about: dict[str, Any]) -> str:
    return f", {about['gpu']}" if "gpu" in about else ""


def _rate_line(rate: dict[str, Any]) -> str:
    plan = rate["plan"]
    line = (
        f"this project: {plan['tokens_once']:,} tokens read of {plan['tokens']:,}, "
        f"{plan['head_rows']:,} head rows, {plan['floating_point_work'] / 1e9:,.0f} GFLOP, alone "
        f"{plan['floating_point_work'] / max(rate['multiply_rate']):.1f} s, "
        f"{100 * mean(rate['share_of_multiply_rate']):.0f} % of the matrix-multiply rate "
        f"({max(rate['multiply_rate']) / 1e9:,.0f} GFLOP/s), "
        f"{mean(rate['tokens_a_second']):,.0f} tokens/s"
    )
    if "share_of_limit" in rate:
        line += f", {100 * mean(rate['share_of_limit']):.0f} % of the memory or arithmetic limit"
    return line
