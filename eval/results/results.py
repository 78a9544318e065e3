"""Everything that a run reports, gathered in one value."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from itertools import chain
from typing import Any

from coherencegym.eval.data.dataset import ItemTable
from coherencegym.eval.data.filtered import chosen_with, filtered_note
from coherencegym.eval.data.published import Published, about, published
from coherencegym.eval.data.signature import signature, versions
from coherencegym.eval.data.source import Source
from coherencegym.eval.data.syntaxgym import SPLIT as SUITE_SPLIT
from coherencegym.eval.kinds.compat import MODES, Rules
from coherencegym.eval.kinds.items import FAMILY
from coherencegym.eval.models.load import LoadedModel
from coherencegym.eval.statistics.intervals import INTERVALS
from coherencegym.eval.tasks.score.controls import Difference, differences
from coherencegym.eval.tasks.score.lengths import LengthCorrelation, length_correlations
from coherencegym.eval.tasks.score.metrics import Judgement, judge
from coherencegym.eval.tasks.score.scoring import Scored
from coherencegym.eval.tasks.score.summary import (
    FEW_ITEMS,
    ItemScore,
    Macro,
    macro,
    shown,
    summarise,
)
from coherencegym.eval.tasks.score.word_effect import WordEffect, effect_line, word_effect

Tables = Sequence[tuple[ItemTable, Scored]]


@dataclass(frozen=True)
class Results:
    """Everything that a run reports.

    ``tables`` are the items with their surprisals, ``judged`` what became of their predictions, by
    config and split.
    """

    signature: str
    model: Mapping[str, Any]
    dataset: Mapping[str, Any]
    settings: Mapping[str, Any]
    scores: Sequence[ItemScore]
    macros: Sequence[Macro]
    notes: Sequence[str]
    tables: Tables
    differences: Sequence[Difference] = ()
    lengths: Sequence[LengthCorrelation] = ()
    published: Sequence[Published] = ()
    word_effects: Sequence[WordEffect] = ()
    judged: Mapping[tuple[str, str], Sequence[Judgement]] = field(default_factory=dict)

    @property
    def rows(self) -> Sequence[ItemScore]:
        """The scores, as the results of every task have them."""
        return self.scores

    def __repr__(self) -> str:
        rows = f"{len(self.scores):,} scores" if len(self.scores) != 1 else "1 score"
        return f"<Results of {self.model['name']} on {self.dataset['name']}: {rows}>"


def gather(
    source: Source, model: LoadedModel, tables: Tables, settings: Mapping[str, Any]
) -> Results:
    """The results of a run.

    Args:
        source: the dataset.
        model: the model.
        tables: its items with their surprisals, at least one table.
        settings: what the user chose: ``configs``, ``split``, ``max_items``, ``bos``,
            ``separator``, ``separator_space``, ``truncate``, ``compat``, ``batch_tokens``,
            ``model_revision``, ``model_args``, ``device_map``,
            ``trust_remote_code``.
    """
    rules, added = tables[0][1].rules, tables[0][1].added
    scores, macros = [], []
    lengths: list[LengthCorrelation] = []
    effects: list[WordEffect] = []
    judged: dict[tuple[str, str], list[Judgement]] = {}
    for table, scored in tables:
        judgements = [judgement for item in scored.items for judgement in judge(item, rules)]
        judged[table.config, table.split] = judgements
        lengths += length_correlations(
            table.config, table.split, scored.items, judgements, asked=table.length_confound
        )
        scores += summarise(
            table.config,
            table.split,
            judgements,
            breakdowns=table.breakdowns,
            artefacts=table.artefacts,
            humans=table.humans,
            headline=table.headline,
        )
        effect = word_effect(
            table.config, table.split, scored.items, judgements, rules, table.headline
        )
        effects += [effect] if effect else []
        average = macro(table.config, table.split, judgements, table.headline)
        macros += [average] if average else []
    about_model = {**model.about(), "context": tables[0][1].context}
    about_dataset = _about_dataset(source, tables)
    rendering = next((s.separator for _, s in tables if s.separator is not None), None)
    all_settings = {
        **settings,
        "start_of_text": asdict(tables[0][1].start),
        "separator_rendering": asdict(rendering) if rendering else None,
        "rules": asdict(rules),
        "added_tokens": asdict(added) if added else None,
        "tie_bits": rules.tie_bits,
        "numeric_error": _numeric_error(tables),
        "intervals": INTERVALS,
        "versions": versions(about_model),
    }
    return Results(
        signature=signature(about_model, about_dataset, all_settings),
        model=about_model,
        dataset=about_dataset,
        settings=all_settings,
        scores=scores,
        macros=macros,
        notes=[
            *source.notes,
            *model.notes,
            *compat_notes(rules, model.dtype, tables),
            *(
                filtered_note(table.config, model.name)
                for table, _ in tables
                if chosen_with((i.extra for i in table.items), model.name, model.commit)
            ),
            *notes(scores, tables),
            *map(effect_line, effects),
        ],
        tables=tables,
        differences=list(chain.from_iterable(_differences(table, judged) for table, _ in tables)),
        lengths=lengths,
        published=about(published(source.manifest), [table.config for table, _ in tables]),
        word_effects=effects,
        judged=judged,
    )


def _differences(
    table: ItemTable, judged: Mapping[tuple[str, str], Sequence[Judgement]]
) -> list[Difference]:
    """A table against those of its controls that were scored."""
    controls = {
        name: judged[name, table.split] for name in table.controls if (name, table.split) in judged
    }
    return differences(table.config, table.split, judged[table.config, table.split], controls)


def _numeric_error(tables: Tables) -> dict[str, float] | None:
    """By metric, the largest measured error (bits) of a comparison; None where none was needed."""
    errors = [scored.execution.errors for _, scored in tables if scored.execution.errors]
    return {name: max(e[name] for e in errors) for name in errors[0]} if errors else None


def _about_dataset(source: Source, tables: Tables) -> dict[str, Any]:
    rows = "\n".join(f"{table.config} {table.split} {table.rows_sha256}" for table, _ in tables)
    return {
        "name": source.name,
        "suite": source.suite,
        "version": source.version,
        "repo": source.repo,
        "revision": source.revision,
        "commit": source.commit,
        "rows_sha256": hashlib.sha256(rows.encode()).hexdigest(),
        "verified": all(table.verified for table, _ in tables),
        "tables": [
            {
                "config": table.config,
                "split": table.split,
                "sha256": table.rows_sha256,
                "items": len(table.items),
                "too_long": sum(item.too_long for item in scored.items),
                "truncated": sum(item.truncated > 0 for item in scored.items),
                "spanning_tokens": scored.spanning_tokens,
                "headline": table.headline,
                "breakdowns": list(table.breakdowns),
                "families": any(item.extra.get(FAMILY) for item in table.items),
            }
            for table, scored in tables
        ],
    }


def compat_notes(rules: Rules, dtype: str, tables: Tables) -> list[str]:
    """Whether the scores may be held against published ones; nothing where nobody would."""
    if rules.name:
        exact = "and comparable" if dtype == "float32" else f"but in {dtype}, not in float32"
        return [f"--compat {rules.name}: scored as the published numbers were, {exact}"]
    if any(table.split == SUITE_SPLIT for table, _ in tables):
        modes = " or ".join(f"--compat {name}" for name in MODES)
        return [f"not comparable with published numbers; with {modes} they are"]
    return []


def _some(configs: Sequence[str]) -> str:
    """Names of configs, not too many."""
    names = list(dict.fromkeys(configs))
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more


def notes(scores: Sequence[ItemScore], tables: Tables) -> list[str]:
    """What a reader of the table must know, one line each."""
    over: dict[str, list[str]] = {}
    for table, _ in tables:
        if table.headline:
            over.setdefault(table.headline, []).append(table.config)
    lines = [
        f"{_some(configs)}: the config's own score and those by column are over {headline!r}"
        for headline, configs in over.items()
    ]
    details = [score for score in scores if score.level == "detail"]
    if hidden := len(details) - len(shown(details)):
        lines.append(
            f"{hidden:,} groups of fewer than {FEW_ITEMS} items: in results.json and report.html"
        )
    if any(s.n < FEW_ITEMS or 0 < s.human_n < FEW_ITEMS for s in shown(scores)):
        lines.append(f"! fewer than {FEW_ITEMS} items: read the interval, not the score")
    families = [s for s in scores if s.level == "all" and s.n_clusters < s.n_discourses]
    if families:
        listed = ", ".join(f"{s.config} {s.n_clusters:,} of {s.n:,} items" for s in families)
        lines.append(f"intervals over families of items that share text: {listed}")
    if any(score.first_left_out for score in scores):
        lines.append(
            "† no start-of-text token: the first token of a text has no surprisal and is left "
            "out; conditions may leave out different tokens"
        )
    why: dict[str, int] = {}
    for score in scores:
        if score.level == "all":
            for reason, count in score.undefined_why.items():
                why[reason] = why.get(reason, 0) + count
    for reason, count in why.items():
        lines.append(f"undefined: {count:,}, {_REASONS[reason]}")
    context = {scored.context for _, scored in tables}
    n_long = sum(item.too_long for _, scored in tables for item in scored.items)
    if n_long:
        lines.append(f"too long: {n_long:,} for the model's context of {context.pop():,} tokens")
    cut = sum(item.truncated > 0 for _, scored in tables for item in scored.items)
    if cut:
        lines.append(f"cut to fit: {cut:,}, on the left, where all conditions are identical")
    lines += _execution_notes(tables)
    spanning = sum(scored.spanning_tokens for _, scored in tables)
    if spanning:
        lines.append(f"tokens over a region's end: {spanning:,}, counted to where they begin")
    scored_tables = {(table.config, table.split) for table, _ in tables}
    for table, _ in tables:
        missing = [c for c in table.controls if (c, table.split) not in scored_tables]
        if missing:
            lines.append(
                f"{table.config}: not scored with its controls {', '.join(missing)}, without which "
                "its score says little"
            )
    if any(score.artefact_score is not None for score in scores):
        lines.append(
            "artefact: the same statistic for a classifier that never sees the contrast in "
            "context; a model must beat it to show more than that"
        )
    judged = [f"{s.config} {s.human_n:,}" for s in scores if s.level == "all" and s.human_n]
    if judged:
        lines.append(
            "human: the share of judged pairs of which most people call the incoherent text the "
            f"less coherent ({', '.join(judged)} pairs); the interval is in results.json"
        )
    return lines


def _execution_notes(tables: Tables) -> list[str]:
    """What happened on the way that a reader may want to know."""
    executions = [scored.execution for _, scored in tables]
    lines = []
    refused = {
        e.sharing.reason for e in executions if e.sharing is not None and not e.sharing.passed
    }
    for reason in sorted(refused):
        lines.append(f"beginnings of texts were not shared by conditions: {reason}")
    beside = {e.beside.reason for e in executions if e.beside is not None and not e.beside.passed}
    for reason in sorted(beside):
        lines.append(f"texts were read one at a time: beside a longer one {reason}")
    if halved := sum(execution.halved for execution in executions):
        lines.append(f"memory ended {halved:,} times: smaller batches were run")
    error = max((e.errors.get("mean", 0.0) for e in executions), default=0.0)
    if error:
        reference = (
            "the same weights in float32"
            if all(execution.widened for execution in executions)
            else "the same texts alone, as float32 could not be had, which shows only a part of it"
        )
        lines.append(
            f"too close: differences within the numeric error of this run, {error:.2g} bits for "
            f"means, measured on a sample against {reference}; they are in the score"
        )
    return lines


_REASONS = {
    "identical": "their conditions are the same tokens for this model",
    "separator": "this tokenizer has no separator for [SEP] (see --separator)",
    "empty": "a region has no token with a surprisal",
}
