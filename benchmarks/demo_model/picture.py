"""Controlled score against tokens seen: a panel for each phenomenon, a line for each size.

    python -m benchmarks.demo_model.picture --models runs/ladder --suites suites

It scores every checkpoint of :mod:`benchmarks.demo_model.train` on the configs of :data:`PANELS`,
of suites that ``coherencegym build`` wrote. Scores are kept beside the models in ``scores.jsonl``:
a stopped command goes on where it was.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from coherencegym.eval.report import figures
from coherencegym.eval.results.run_table import LearningCurve
from coherencegym.eval.statistics.scores import CONTROLLED_CD
from coherencegym.eval.tasks.headline import Headline

#: What a panel is called, and its suite, config and split.
PANELS = {
    "order: Wikipedia": ("sentence_order", "discoeval_matched_documents", "test"),
    "dialogue: PersonaChat": ("sentence_order", "personachat_matched_dialogue", "unsplit"),
    "intruder: GUM": ("intruder_sentences", "gum_same_document", "test"),
    "reference: WinoGrande": ("winograd", "winogrande_partial", "validation"),
    "connective: GUM": ("connectives", "gum_crossed", "test"),
    "story ending: samples": ("story_cloze", "sample", "test"),
}
_KEPT = ("n", "score", "ci_low", "ci_high", "effective_items")


def scored(models: Path, suites: Path, limit: int | None) -> Iterator[dict[str, Any]]:
    """The controlled score of every checkpoint on every panel; what is kept is not scored again."""
    import coherencegym as cg

    path = models / "scores.jsonl"
    kept = [json.loads(line) for line in path.open(encoding="utf-8")] if path.exists() else []
    known = {(row["panel"], row["size"], row["tokens"]): row for row in kept}
    # Of each power of two all panels, then the next.
    checkpoints = sorted(models.glob("*/tokens-*"), key=lambda folder: (folder.name, folder))
    for folder in checkpoints:
        size, tokens = folder.parent.name, int(folder.name.removeprefix("tokens-"))
        for panel, (suite, config, split) in PANELS.items():
            if (panel, size, tokens) not in known:
                options = {"config": config, "split": split, "limit": limit}
                run: Any = cg.score(folder, suites / suite, **options)
                whole = run.rows[0]
                head = {
                    "n": whole.n,
                    "score": whole.controlled_score,
                    "ci_low": whole.controlled_ci_low,
                    "ci_high": whole.controlled_ci_high,
                    "effective_items": whole.effective_items,
                }
                about = {"panel": panel, "suite": f"{suite} {run.version}", "size": size}
                row = {**about, "tokens": tokens, **head}
                with path.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(row) + "\n")
                known[panel, size, tokens] = row
            yield known[panel, size, tokens]


def curves(rows: Sequence[dict[str, Any]]) -> list[LearningCurve]:
    """A curve for each panel and size, from small to large."""
    points: dict[tuple[str, str], dict[int, Headline]] = {}
    for row in rows:
        head = Headline(
            over=(PANELS[row["panel"]][1],),
            metric=CONTROLLED_CD,
            **{name: row[name] for name in _KEPT},
        )
        points.setdefault((row["panel"], row["size"]), {})[row["tokens"]] = head
    order = sorted(points, key=lambda key: (list(PANELS).index(key[0]), float(key[1][:-1])))
    return [
        LearningCurve(
            size, panel, "token", list(points[panel, size]), [*points[panel, size].values()]
        )
        for panel, size in order
    ]


def main(argv: Sequence[str] | None = None) -> None:
    """Score what is not scored yet, print the table of first and last, and draw."""
    from coherencegym.eval.views.plots import draw_curves

    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.demo_model.picture", description=__doc__
    )
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--suites", type=Path, default=Path("suites"))
    parser.add_argument("--limit", type=int, help="items of a config at most")
    parser.add_argument("--output", type=Path, default=Path("docs/ladder.svg"), metavar="SVG")
    arguments = parser.parse_args(argv)
    rows = list(scored(arguments.models, arguments.suites, arguments.limit))
    drawn = curves(rows)
    with figures.style():
        figure = draw_curves(drawn)
        figure.suptitle("Controlled score by size and training", fontsize=11, fontweight="bold")
        figures.write_svg(figure, arguments.output, Description=json.dumps(rows))
    for curve in drawn:
        for tokens, head in zip(curve.counts, curve.heads, strict=True):
            low, score, high = (100 * (v or 0) for v in (head.ci_low, head.score, head.ci_high))
            shown = f"{score:.1f} [{low:.1f}, {high:.1f}]"
            print(f"{curve.suite:24} {curve.training:5} {int(tokens):>10,} {shown}")


if __name__ == "__main__":
    main()
