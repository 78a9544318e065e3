"""What was measured on a GPU, as tables for people."""

from __future__ import annotations

from typing import Any

#: Parts of a data set that are no tools.
_NO_TOOLS = {"waits", "exactness"}
#: Parts of a shape that stand alone.
_PARTS = ("machine", "model", "attention", "widening")


def print_table(report: dict[str, Any], console: Any = None) -> None:
    """Print speed, exactness and attention of every shape; what failed says why."""
    import sys

    from rich.console import Console
    from rich.table import Table

    if console is None:
        console = Console(width=None if sys.stdout.isatty() else 180)
    for shape, found in report["shapes"].items():
        console.print(_about(shape, found), markup=False, highlight=False)
        table = Table(box=None)
        for column in ("items", "tool"):
            table.add_column(column)
        for column in ("seconds", "times ours", "tokens/s", "of the rate", "peak GB", "shared", ""):
            table.add_column(column, justify="right")
        for name, data in found.get("datasets", {}).items():
            ours = data.get("this project", {}).get("seconds")
            for tool, told in data.items():
                if tool not in _NO_TOOLS:
                    table.add_row(name, tool, *_cells(told, ours))
        console.print(table)
        for name, data in found.get("datasets", {}).items():
            for line in _lines(name, data):
                console.print(line, markup=False, highlight=False, soft_wrap=True)
        console.print()


def _about(shape: str, found: dict[str, Any]) -> str:
    about, model = found.get("machine", {}), found.get("model", {})
    device = about.get("gpu") or about.get("processor") or "no device"
    parts = [f"{shape} on {device} in {found.get('dtype', '?')}"]
    if "parameters" in model:
        parts.append(f"{model['parameters'] / 1e6:,.0f}M parameters")
    if "multiply_rate" in about:
        parts.append(f"matrix products at {about['multiply_rate'] / 1e12:,.1f} TFLOP/s")
    attention = found.get("attention", {})
    times = [f"{k} {v * 1e3:.2f} ms" for k, v in attention.items() if isinstance(v, float)]
    kernels = [f"{name}: {kernel}" for name, kernel in attention.get("kernels", {}).items()]
    parts += ["attention: " + ", ".join(times + kernels)] * bool(times)
    parts += [
        f"{name} failed: {part['failed']}"
        for name, part in (("it", found), *((n, found.get(n, {})) for n in _PARTS))
        if "failed" in part
    ]
    return "; ".join(parts)


def _cells(told: dict[str, Any], ours: float | None) -> list[str]:
    seconds = told.get("seconds")
    if seconds is None:
        return [""] * 6 + [told.get("failed", "not measured")]
    rate, peak = told.get("share_of_multiply_rate"), told.get("peak_bytes")
    return [
        f"{seconds:.2f}",
        f"{seconds / ours:.2f}" if ours else "",
        f"{told['tokens_a_second']:,.0f}" if "tokens_a_second" in told else "",
        f"{100 * rate:.0f} %" if rate is not None else "",
        f"{peak / 1e9:.2f}" if peak is not None else "",
        told.get("sharing", ""),
        told.get("failed", ""),
    ]


def _lines(name: str, data: dict[str, Any]) -> list[str]:
    lines = []
    trial = data.get("this project", {}).get("trial")
    if trial is not None:
        why = f"refused: {trial['reason']}" if trial["reason"] else "passed"
        lines.append(f"{name}: the trial of sharing {why}")
    waits = data.get("waits", {})
    if "a_batch" in waits:
        causes = ", ".join(f"{cause} {count}" for cause, count in waits["causes"].items())
        lines.append(f"{name}: the host waits {waits['a_batch']:.2g} times a batch ({causes})")
    for dtype, found in data.get("exactness", {}).items():
        if dtype != "failed":
            lines.append(
                f"{name}: {dtype} against plain float32: a token {found['token']:.2g} bits at most "
                f"({found['token_median']:.2g} median), a score {found['mean']:.2g} "
                f"({found['mean_median']:.2g}); {found['changed']} of {found['pairs']} pairs "
                "change their order"
            )
    failed = [
        (part, data[part]) for part in ("waits", "exactness") if "failed" in data.get(part, {})
    ]
    return lines + [f"{name}, {part} failed: {what['failed']}" for part, what in failed]
