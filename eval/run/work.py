"""The work of a run that is not made: what it would cost, from config and tokenizer alone."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from coherencegym.errors import one_line
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.kinds.items import joined_condition
from coherencegym.terminal import shown_console

if TYPE_CHECKING:
    from coherencegym.eval.plan.options import Options
    from coherencegym.eval.plan.requests import Query
    from coherencegym.eval.run.options import ModelOptions
    from coherencegym.eval.text.sequence import Sharing


@dataclass(frozen=True)
class Work:
    """The cost of a run that was not made: rows of its table, and lines under it."""

    rows: tuple[tuple[str, ...], ...]
    notes: tuple[str, ...]


def planned_work(
    model: ModelOptions,
    texts: Iterable[tuple[str, Sequence[Query], bool]],
    options: Options,
    *,
    in_chat: bool = False,
    known: MutableMapping[object, Work] | None = None,
) -> Work:
    """The work of a run; only the model's config and tokenizer are read.

    Args:
        model: its options.
        texts: the name of each table, what is read of it, and whether ``[SEP]`` is a separator.
        options: reading and running.
        in_chat: they are read where the tokenizer's chat template lets the model speak.
        known: the work on these very texts with other models. That of one alike is taken from
            there, and the texts are not read; that of another is kept there.
    """
    from coherencegym.eval.models.kind import class_for, scorer_of
    from coherencegym.eval.models.limits import limits_of
    from coherencegym.eval.plan.cached import identity_of
    from coherencegym.eval.plan.explain import (
        MEANING,
        explain_row,
        operations,
        operations_per_second,
        time_text,
        weights_of,
    )
    from coherencegym.eval.plan.memory import default_budget
    from coherencegym.eval.plan.plan import make_plan
    from coherencegym.eval.plan.requests import prepare
    from coherencegym.eval.text.chat import chat_of
    from coherencegym.eval.text.words import word_beginnings

    config, tokenizer = model.config(scorer=options.scorer)
    about = {**config.to_dict(), "_name_or_path": None}
    # A tokenizer that cannot say what it does is like no other.
    alike = identity_of(tokenizer) or object(), json.dumps(about, sort_keys=True, default=str)
    if known is not None and alike in known:
        return known[alike]
    scorer = scorer_of(config) if options.scorer == "auto" else options.scorer
    options = options.settled(scorer)
    how: dict[str, Any] = {"chat": chat_of(tokenizer) if in_chat else None}
    if options.word_correction:
        how["words"] = word_beginnings(tokenizer, config.get_text_config().vocab_size)
    device = "cpu" if model.device in ("auto", "cpu") else model.device.partition(":")[0]
    budget = default_budget(device, options.batch_tokens)
    weights = weights_of(config, class_for(config, scorer, model.trust_remote_code))
    sharing: Sharing = "packed" if options.share and not options.is_masked else "none"
    rows, shared, work = [], False, 0
    for name, queries, uses_separator in texts:
        if options.rules.joins_regions:
            queries = [_joined(query) for query in queries]
        how["uses_separator"] = uses_separator
        prepared = prepare(tokenizer, config, queries, options, **how)
        plan = make_plan(prepared.requests, budget, sharing=sharing, limits=limits_of(config))
        rows.append(explain_row(name, plan))
        shared |= plan.shares
        work += operations(plan, *weights)
    notes = [f"{name}: {meaning}" for name, meaning in MEANING.items()]
    if scorer != "causal":
        notes.append(f"{scorer}: each token that is read is a text of its own, and masked in it")
    if shared:
        notes.append("beginnings are shared if a trial shows that the model can")
    if device == "cpu":
        notes.append(
            f"about {time_text(work / operations_per_second())} on this machine's processor, "
            "without loading the model; a small model may take several times as long, because "
            "arithmetic is a small part of its time"
        )
    found = Work(tuple(rows), tuple(notes))
    if known is not None:
        known[alike] = found
    return found


def _joined(query: Query) -> Query:
    # As a mode reads them; see :func:`eval.plan.options.with_joined_regions`.
    joined = [joined_condition(one.condition_name, one.regions) for one in query.conditions]
    return replace(query, conditions=joined)


def print_works(alike: Mapping[Work, Sequence[str]]) -> None:
    """Print what runs would cost, each plan once, with the models that have it."""
    *_, last = alike
    several = sum(map(len, alike.values())) > 1
    for work, names in alike.items():
        if several:
            counted = f"each of {len(names):,} models" if len(names) > 1 else "one model"
            print(one_line(f"the plan of {counted}: {first_names(names)}"))
        # What is under the last plan, too, is said there alone.
        own = [note for note in work.notes if work == last or note not in last.notes]
        _print_work(replace(work, notes=tuple(own)))


def _print_work(work: Work) -> None:
    from coherencegym.eval.plan.explain import explain_table

    shown = shown_console()
    table = explain_table(work.rows)
    # Numbers that are cut off are worse than lines that wrap.
    wide = shown_console(width=10_000).measure(table).maximum
    shown_console(width=max(shown.width, wide)).print(table)
    for note in work.notes:
        shown.print(f"· {note}", markup=False, highlight=False, soft_wrap=True)
