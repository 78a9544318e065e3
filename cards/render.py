"""Render a dataset card from a manifest, and from nothing else."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from coherencegym.cards.metadata import (
    card_yaml,
    licence_table,
    licence_text,
    licences_of_texts,
    ordered_configs,
)
from coherencegym.escapes import markdown_filters, markdown_text
from coherencegym.eval.data.benchmark import benchmark_tasks, suite_headline
from coherencegym.eval.data.dataset import LEXICAL_OVERLAP, MEASURED_BASELINES, PARTIAL_INPUT
from coherencegym.eval.data.source import Published, published, published_part
from coherencegym.eval.kinds.registry import kind_named
from coherencegym.eval.statistics.control import (
    FEWEST_EFFECTIVE,
    MOST_UPPER,
    TOO_SMALL,
    UNCONTROLLED,
)
from coherencegym.files.templates import templates_of
from coherencegym.licence import IN_PART, combined_licence
from coherencegym.loaders.corpus import REPAIRED

#: Regions less alike than this have no word in common that a reader would look for.
_ALIKE = 0.5


def show_pair(row: dict[str, Any], headline: str = "") -> list[tuple[str, str]]:
    """Conditions of a row, each with its whole text: those that a prediction compares.

    That is the first prediction of the headline group, or else the first one. In bold is what
    another condition does not have in that region; regions of the same words in another order have
    no mark.
    """
    own = [p for p in row["predictions"] if headline in p["groups"]] or row["predictions"]
    formula = own[0]["formula"] if own else ""
    found = [c for c in row["conditions"] if f"%{c['condition_name']}%" in formula]
    pair = found if len(found) > 1 else row["conditions"][:2]
    first, second = pair[0], pair[-1 if len(pair) < 2 else 1]
    return [(c["condition_name"], _whole(c, second if c is first else first)) for c in pair]


def _whole(condition: dict[str, Any], other: dict[str, Any]) -> str:
    content, text, position = condition["content"], "", 0
    for region, of_other in zip(condition["regions"], other["regions"], strict=True):
        start = content.index(region["content"], position)
        text += markdown_text(content[position:start])
        text += _marked(region["content"], of_other["content"])
        position = start + len(region["content"])
    return text


def _marked(text: str, other: str) -> str:
    words, others = (re.findall(r"\s+|\w+|[^\w\s]", one) for one in (text, other))
    if Counter("".join(words).split()) == Counter("".join(others).split()):
        return markdown_text(text)
    matcher = SequenceMatcher(None, others, words, False)
    if matcher.ratio() < _ALIKE:
        return _bold(text)
    parts = [(what, "".join(words[start:end])) for what, _, _, start, end in matcher.get_opcodes()]
    return "".join(markdown_text(part) if what == "equal" else _bold(part) for what, part in parts)


def _bold(text: str) -> str:
    # White space at its ends stays outside the marks, which do not hold there.
    if not (inner := text.strip()):
        return text
    before, _, after = text.partition(inner)
    return f"{before}**{markdown_text(inner)}**{after}"


#: Rows of a table that is not folded, and names that are listed before the others are counted.
_SHOWN_ROWS, _SHOWN_NAMES = 12, 3
#: Names and entries of configs, in the order of the card.
_Configs = list[tuple[str, dict[str, Any]]]


def dataset_card(manifest: dict[str, Any]) -> str:
    """The card (YAML block and Markdown, headings of the Hub's template) of a manifest."""
    configs = ordered_configs(manifest)
    tables = _tables(configs)
    default = next((name for name, config in configs if config["default"]), configs[0][0])
    of_default = next(table for table in tables if default in dict(table["configs"]))
    chosen = suite_headline(manifest["configs"])
    headline = [(name, config) for name, config in configs if name in chosen]
    corpora, tasks = _corpora(configs), benchmark_tasks(manifest["configs"])
    rows = [split["rows"] for _, config in configs for split in config["splits"].values()]
    card = (
        _templates()
        .get_template("card.md.jinja")
        .render(
            yaml=card_yaml(manifest),
            manifest=manifest,
            configs=configs,
            default=default,
            shown=manifest["configs"][default],
            shown_by=of_default["card"],
            shown_kind=of_default["kind"],
            headline=[name for name, _ in headline],
            counted=_counted(configs),
            measured=any(baseline_score(q, PARTIAL_INPUT) for q in _qualities(configs)),
            labelled=any(table["kind"].labels for table in tables),
            benchmark=[task.id for task in tasks],
            part=read_in_part(manifest),
            published=_published(published(manifest, [name for name, _ in configs])),
            everything=[config for _, config in configs],
            kinds=_kinds(configs),
            tables=tables,
            bare=[name for name, config in configs if config.get("stand_off")],
            licence=combined_licence(licences_of_texts(manifest)),
            licence_table=licence_table(manifest),
            corpora=corpora,
            cited=[c for c in corpora if c["citation"] not in ("", manifest["citation"])],
            rows=sum(rows),
            many=len(rows) > _SHOWN_ROWS,
            columns=_columns(configs, tables),
            skips=skips(manifest),
            judged=any("human" in quality for quality in _qualities(configs)),
        )
    )
    # Parts of a template that are left out leave their empty lines.
    return re.sub(r"\n{3,}", "\n\n", str(card))


@cache
def _templates() -> Any:
    # Read once: that takes longer than to fill them in.
    environment = templates_of("cards", trim_blocks=False, lstrip_blocks=False)
    environment.globals |= {"fewest": FEWEST_EFFECTIVE, "most": round(100 * MOST_UPPER)}
    environment.filters |= markdown_filters() | {
        "scored": baseline_score,
        "beside": groups_beside,
        "spread": _spread_text,
        "sampled": _sampled,
        "share": _share_text,
        "points": _points_text,
        "effective": _effective_text,
        "control": lambda control: said_of_control(control or {}) or "–",
        "baseline": _baseline_text,
        "pair": show_pair,
        "names": _names,
        "classifiers": _classifiers,
    }
    return environment


def _tables(configs: _Configs) -> list[dict[str, Any]]:
    # ``card`` are the macros ``opening`` and ``quality`` of ``templates/<kind>.md.jinja``.
    by_kind: dict[str, _Configs] = {}
    for name, config in configs:
        by_kind.setdefault(config["kind"], []).append((name, config))
    return [
        {
            "kind": kind_named(name),
            "configs": own,
            "card": _templates().select_template([f"{name}.md.jinja", "rows.md.jinja"]).module,
        }
        for name, own in by_kind.items()
    ]


def _classifiers(configs: _Configs) -> list[str]:
    return sorted(
        {q["partial_input_classifier"] for _, c in configs for q in c["quality"].values()}
    )


def _sampled(configs: _Configs) -> str:
    of_train = [(name, config["quality"].get("train", {})) for name, config in configs]
    said = [
        f"`{name}` from {q['bag_learned_from']:,} of {q['items']:,} rows, of whole documents"
        for name, q in of_train
        if 0 < (q.get("bag_learned_from") or 0) < q["items"]
    ]
    return f" ({'; '.join(said)})" if said else ""


def _columns(configs: _Configs, tables: list[dict[str, Any]]) -> dict[str, Any]:
    # Of a column of several kinds the first one says what it is.
    of_kinds: dict[str, Any] = {}
    for table in tables:
        for name, column in table["kind"].columns.items():
            kind = "list" if isinstance(column.type, list) else column.type
            of_kinds.setdefault(name, {"type": kind, "description": column.description})
    return of_kinds | {name: c for _, config in configs for name, c in config["columns"].items()}


def _kinds(configs: _Configs) -> list[tuple[list[str], dict[str, Any]]]:
    # Those that differ in their texts alone come together.
    shared = ("summary", "regions", "predictions", "operators", "separator", "headline")
    found: dict[str, tuple[list[str], dict[str, Any]]] = {}
    for name, config in configs:
        found.setdefault(str([config.get(key) for key in shared]), ([], config))[0].append(name)
    return list(found.values())


def _counted(configs: _Configs) -> dict[str, list[str]]:
    # The groups whose predictions alone count in the scores of configs.
    found: dict[str, list[str]] = {}
    for name, config in configs:
        if group := config.get("headline"):
            found.setdefault(group, []).append(name)
    return found


def _names(names: list[str]) -> str:
    others = len(names) - _SHOWN_NAMES
    return ", ".join(f"`{name}`" for name in names[:_SHOWN_NAMES]) + (
        f" and {others} more" if others > 0 else ""
    )


def _qualities(configs: _Configs) -> Iterator[dict[str, Any]]:
    return (quality for _, config in configs for quality in config["quality"].values())


def _published(scores: Sequence[Published]) -> dict[str, Any]:
    rows: dict[tuple[str, str], dict[str, Any]] = {}
    for one in scores:
        row = rows.setdefault(
            (one.config, one.row), {"config": one.config, "row": one.row, "scores": {}}
        )
        row["scores"][one.model] = one.score
    if not rows:
        return {}
    return {
        "rows": list(rows.values()),
        "models": list(dict.fromkeys(one.model for one in scores)),
        "sources": list(dict.fromkeys(one.source for one in scores)),
        "corpora": list(dict.fromkeys(one.corpus for one in scores)),
    }


def read_in_part(manifest: dict[str, Any], *, absent: bool = True) -> list[str]:
    """Say which part of its corpora a build has read, where it has not read all of them.

    Args:
        manifest: the build's.
        absent: also name the corpora that it could have read.
    """
    limits: dict[str, list[str]] = {}
    configs = ordered_configs(manifest)
    for name, config in configs:
        if most := config.get("limit"):
            said = f"of each split the first {most:,} discourses were read (`--limit {most}`)"
            limits.setdefault(said, []).append(name)
        if asked := config.get("splits_asked"):
            limits.setdefault(f"of splits only {', '.join(asked)} was asked for", []).append(name)
    lines = [
        said + ("" if len(own) == len(configs) else f": {', '.join(f'`{name}`' for name in own)}")
        for said, own in limits.items()
    ]
    there = {config["corpus"]["name"] for _, config in configs}
    others = [name for name in manifest.get("corpora", ()) if name not in there]
    return [*lines, *([f"no config is from {', '.join(others)}"] if others and absent else [])]


def baseline_score(quality: dict[str, Any], name: str, group: str = "") -> dict[str, Any] | None:
    """The score of a baseline over all items, or of a group of predictions, if there is one."""
    return next((score for score in quality.get(name, []) if score["group"] == group), None)


def groups_beside(config: dict[str, Any], quality: dict[str, Any]) -> list[str]:
    """The groups of predictions that a config's items have beside the one of its own score.

    None where its score is over all of them, or over several of what is predicted.
    """
    groups = [own["groups"][0] for own in config.get("predictions", ()) if own["groups"]]
    if config.get("headline") not in groups:
        return []
    return [
        group
        for group in dict.fromkeys(groups)
        if group != config["headline"] and baseline_score(quality, LEXICAL_OVERLAP, group)
    ]


def label_baselines(quality: dict[str, Any]) -> dict[str, float | None]:
    """The accuracies on labelled examples that need no vector; empty for tables of other kinds."""
    if "bag_of_words" not in quality:
        return {}
    found = {
        "bag of words": quality["bag_of_words"].get("all"),
        "most frequent": quality["most_frequent"],
    }
    return {what: (own or {}).get("any_label") for what, own in found.items()}


def _baseline_text(quality: dict[str, Any]) -> str:
    if not (baselines := label_baselines(quality)):
        if PARTIAL_INPUT not in quality:
            return "–"
        texts = [_share_text(baseline_score(quality, name)) for name in MEASURED_BASELINES]
        return "; ".join([*texts, said_of_control(quality.get("control") or {}) or "–"])
    return "; ".join("–" if one is None else f"{100 * one:.1f}" for one in baselines.values())


def _corpora(configs: _Configs) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, config in configs:
        corpus = config["corpus"]
        about = {
            "licence_of_annotation": licence_text(corpus, "licence"),
            "licence_of_texts": licence_text(corpus, "text_licence"),
            "may_be_published": published_part({"configs": {name: config}}, name),
            "files": {},
            "limitations": [],
        }
        entry = found.setdefault(f"{corpus['name']} {corpus['title']}", corpus | about)
        if entry["may_be_published"] != about["may_be_published"]:
            entry["may_be_published"] = IN_PART
        new = (each for each in corpus.get("limitations", ()) if each not in entry["limitations"])
        entry["limitations"] += new
        for file in corpus["files"]:
            digest = file.get("sha256") or file.get("revision", "")
            entry["files"][f"{file['name']} ({digest[:12]})"] = True
    return list(found.values())


def skips(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """List what was not used, by config and split: counts by reason, commonest first.

    What was not used of a corpus, or repaired in it, while it was read is said once for all configs
    that were made from it in one reading; ``repaired`` tells the two apart.
    """
    counted: dict[tuple[str, str, bool, str], dict[str, int]] = {}
    for name, config in ordered_configs(manifest):
        for split, counts in config["skipped"].items():
            counted[name, split, False, ""] = counts
        unread = dict(config["bad_rows"])
        if withheld := config["withheld_discourses"]:
            unread["withheld: may not be published, by its licence"] = withheld
        corpus = f"corpus {config['corpus']['name']}"
        for repaired in (False, True):
            own = {
                reason.removeprefix(REPAIRED): count
                for reason, count in unread.items()
                if reason.startswith(REPAIRED) is repaired
            }
            counted.setdefault((corpus, "all", repaired, str(own)), own)
    return [
        {
            "config": name,
            "split": split,
            "repaired": repaired,
            "reasons": sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])),
        }
        for (name, split, repaired, _), counts in counted.items()
        if counts
    ]


def _spread_text(spread: dict[str, float], digits: int) -> str:
    quartiles = (f"{spread[name]:.{digits}f}" for name in ("q1", "median", "q3"))
    return f"{spread['mean']:.{digits}f}; {', '.join(quartiles)}"


def said_of_control(control: Mapping[str, Any]) -> str:
    """A control in words: ``leaks (n-grams 71.4 [57.9, 81.9])``; empty where none was checked."""
    if not (word := control.get("word", "")):
        return ""
    if word == UNCONTROLLED:
        return f"{word} ({control['cue']})"
    if word == TOO_SMALL:
        return f"{word} ({control['effective_items']:.0f} of {control['needed']:,} effective items)"
    score, low, high = (f"{100 * control[name]:.1f}" for name in ("score", "ci_low", "ci_high"))
    return f"{word} ({control['by']} {score} [{low}, {high}])"


def _effective_text(control: Mapping[str, Any] | None) -> str:
    return "–" if not control else f"{control['effective_items']:,.0f}"


def _points_text(control: Mapping[str, Any] | None) -> str:
    if not control:
        return "–"
    difference = control["smallest_difference"]
    return "none: too few items" if difference is None else f"{100 * difference:.1f}"


def _share_text(score: dict[str, Any] | None) -> str:
    if score is None:
        return "too few discourses"
    value, low, high = (100 * score[name] for name in ("score", "ci_low", "ci_high"))
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"
