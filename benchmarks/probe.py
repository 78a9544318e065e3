"""What the fits of a probe cost: processor time and memory, on vectors that are made up.

    python -m benchmarks.probe [--rows 20000] [--width 768] [--classes 12] [--layers 2]

As many rows of two slots as a large task has, with vectors on disk a layer at a time, as
``eval.states`` leaves them, whose dimensions have a power-law spectrum and some of which carry the
label. Fitted is what ``coherencegym probe`` fits of a layer (the input ``pair``, four penalties).
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.measure import base_memory, peak_memory


def made(folder: Path, rows: int, width: int, classes: int, layers: int) -> Any:
    """Write the vectors of both slots of each row for each layer; the class of each row."""
    import numpy as np

    random = np.random.default_rng(0)
    y = random.integers(classes, size=rows)
    spectrum = (1 / np.sqrt(np.arange(1, width + 1))).astype(np.float32)
    signal = random.normal(size=(classes, width)).astype(np.float32) * 0.05
    for layer in range(layers):
        vectors = random.standard_normal((2 * rows, width), dtype=np.float32)
        vectors[1::2] += signal[y]
        np.save(folder / f"{layer}.npy", (vectors * spectrum).astype(np.float16))
    return y


def measure(rows: int, width: int, classes: int, layers: int) -> dict[str, Any]:
    """Processor seconds a layer, the accuracy that came of it, and the most memory."""
    import numpy as np

    from coherencegym.eval.tasks.probe.classifiers import accuracy_of, linear
    from coherencegym.eval.tasks.probe.probe import INPUTS, ProbeRows, best_layer, fit_layers

    with TemporaryDirectory() as temporary:
        folder = Path(temporary)
        y = made(folder, rows, width, classes, layers)
        ends = int(0.7 * rows), int(0.85 * rows)
        table = ProbeRows(
            slice(0, ends[0]), slice(ends[0], ends[1]), slice(ends[1], rows), y, y, classes
        )

        def features(layer: int) -> Any:
            vectors = np.load(folder / f"{layer}.npy", mmap_mode="r").astype(np.float32)
            return INPUTS["pair"](vectors.reshape(rows, 2, width))

        base = base_memory("cpu")
        start = time.process_time()
        fits = fit_layers(features, table, range(layers), linear)
        seconds = time.process_time() - start
    peak = peak_memory("cpu")
    best = fits[best_layer(fits)]
    return {
        "rows": rows,
        "dimensions": 4 * width,
        "classes": classes,
        "seconds_a_layer": round(seconds / layers, 1),
        "accuracy": round(accuracy_of(best.log_probabilities, y[ends[1] :]), 3),
        "base_mb": base and round(base / 1e6),
        "peak_mb": peak and round(peak / 1e6),
    }


def main() -> None:
    """Estimate, and print one object of JSON."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--width", type=int, default=768)
    parser.add_argument("--classes", type=int, default=12)
    parser.add_argument("--layers", type=int, default=2)
    options = parser.parse_args()
    print(json.dumps(measure(options.rows, options.width, options.classes, options.layers)))


if __name__ == "__main__":
    main()
