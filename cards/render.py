"""Render a dataset card from a manifest, and from nothing else."""

from __future__ import annotations

from functools import cache
from typing import Any

from coherencegym.cards.example import escape, example_note, show_conditions
from coherencegym.cards.metadata import card_yaml, licence_table, licence_text, ordered_configs
from coherencegym.eval.kinds.registry import kind_named

#: Names and entries of configs, in the order of the card.
_Configs = list[tuple[str, dict[str, Any]]]


def dataset_card(manifest: dict[str, Any]) -> str:
    """The card (YAML block and Markdown, headings of the Hub's template) of a manifest.

    Raises:
        SuiteError: a config is of a kind that is not known.
    """
    configs = ordered_configs(manifest)
    tables, human = _tables(configs), _human_rows(configs)
    card = (
        _templates()
        .get_template("card.md.jinja")
        .render(
            yaml=card_yaml(manifest),
            manifest=manifest,
            configs=configs,
            # The first is the default.
            default=configs[0][0],
            everything=[config for _, config in configs],
            kinds=_kinds(configs),
            tables=tables,
            licence_table=licence_table(manifest),
            corpora=_corpora(configs),
            columns=_columns(configs, tables),
            skips=skips(manifest),
            human=human,
            questions=_question_tables(human),
        )
    )
    return str(card)


@cache
def _templates() -> Any:
    """The templates, read once: that takes longer than to fill them in."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("coherencegym.cards", "templates"),
        undefined=jinja2.StrictUndefined,
        keep_trailing_newline=True,
        autoescape=False,
    )
    environment.filters |= {
        "cell": lambda text: str(text).replace("|", "\\|").replace("\n", " "),
        "aggregate": artefact_score,
        "spread": _spread_text,
        "plain": escape,
        "conditions": show_conditions,
        "note": example_note,
        "classifiers": _classifiers,
    }
    return environment


def _tables(configs: _Configs) -> list[dict[str, Any]]:
    """The configs by kind of table, each with the kind and with what a card shows of it.

    That are the macros ``example`` and ``quality`` of ``templates/<kind>.md.jinja``, where there is
    one.
    """
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
    """The views of the configs' artefact classifiers, each once."""
    return sorted({q["artefact_classifier"] for _, c in configs for q in c["quality"].values()})


def _columns(configs: _Configs, tables: list[dict[str, Any]]) -> dict[str, Any]:
    """The columns of the tables and what they hold: those of their kinds, then the dataset's."""
    of_kinds = {
        name: {
            "type": "list" if isinstance(column.type, list) else column.type,
            "description": column.description,
        }
        for table in tables
        for name, column in table["kind"].columns.items()
    }
    return of_kinds | {name: c for _, config in configs for name, c in config["columns"].items()}


def _kinds(configs: _Configs) -> list[tuple[list[str], dict[str, Any]]]:
    """The configs by what they are: those that differ in their texts alone come together."""
    shared = ("summary", "regions", "predictions", "operators", "separator", "headline")
    found: dict[str, tuple[list[str], dict[str, Any]]] = {}
    for name, config in configs:
        found.setdefault(str([config.get(key) for key in shared]), ([], config))[0].append(name)
    return list(found.values())


def _human_rows(configs: _Configs) -> list[dict[str, Any]]:
    """The judgements of people on the items, by config and split; empty where nobody was asked.

    ``bound`` is the score of all pairs, none where nobody said which text is the less coherent.
    """
    return [
        {
            **quality["human"],
            "config": name,
            "split": split,
            "bound": _of_all(quality["human"]["scores"]),
        }
        for name, config in configs
        for split, quality in config["quality"].items()
        if "human" in quality
    ]


def _of_all(scores: list[dict[str, Any]]) -> dict[str, Any] | None:
    return next((score for score in scores if score["group"] == ""), None)


def artefact_score(quality: dict[str, Any]) -> dict[str, Any] | None:
    """The artefact score over all items, if there is one."""
    return _of_all(quality.get("artefact", []))


def _question_tables(human: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The further questions that people were asked: each with its answers and its rows.

    A question that reads otherwise in another config is another one.
    """
    found: dict[str, dict[str, Any]] = {}
    for of_split in human:
        for figures in of_split.get("questions", ()):
            words = {value: answer["words"] for value, answer in figures["answers"].items()}
            key = str((figures["name"], figures["text"], words, figures["several"]))
            table = found.setdefault(key, {**figures, "words": words, "rows": []})
            table["rows"].append(figures | {key: of_split[key] for key in ("config", "split")})
    return list(found.values())


def _corpora(configs: _Configs) -> list[dict[str, Any]]:
    """The corpora behind the configs, each once, with what was read of them."""
    found: dict[str, dict[str, Any]] = {}
    for _, config in configs:
        corpus = config["corpus"]
        about = {
            "licence_text": licence_text(corpus, corpus["licence"]),
            "republishable": config["republishable"],
            "files": {},
        }
        entry = found.setdefault(f"{corpus['name']} {corpus['title']}", corpus | about)
        for file in corpus["files"]:
            digest = file.get("sha256") or file.get("revision", "")
            entry["files"][f"{file['name']} ({digest[:12]})"] = True
    return list(found.values())


def skips(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """List what was left out, by config and split: the reasons with their counts, commonest first.

    What was left out while a corpus was read is said once for all configs that were made from it
    in one reading.
    """
    counted: dict[tuple[str, str, str], dict[str, int]] = {}
    for name, config in ordered_configs(manifest):
        for split, counts in config["skipped"].items():
            counted[name, split, ""] = counts
        unread = dict(config["bad_rows"])
        if withheld := config["withheld_discourses"]:
            unread["withheld: its licence does not allow republishing"] = withheld
        counted.setdefault((f"corpus {config['corpus']['name']}", "all", str(unread)), unread)
    return [
        {
            "config": name,
            "split": split,
            "reasons": sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])),
        }
        for (name, split, _), counts in counted.items()
        if counts
    ]


def _spread_text(spread: dict[str, float], digits: int) -> str:
    """A mean and the quartiles: ``15.2; 10.0, 14.0, 19.0``."""
    quartiles = (f"{spread[name]:.{digits}f}" for name in ("q1", "median", "q3"))
    return f"{spread['mean']:.{digits}f}; {', '.join(quartiles)}"
