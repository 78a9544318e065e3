"""Render a dataset card from a manifest, and from nothing else."""

from __future__ import annotations

from functools import cache
from typing import Any

from coherencegym.cards.example import escape, example_note, show_conditions
from coherencegym.cards.licences import licence_sentence, licence_table, licence_text
from coherencegym.cards.metadata import card_yaml, ordered_configs, pretty_name
from coherencegym.eval.kinds.registry import kind_named

#: Names and entries of configs, in the order of the card.
Configs = list[tuple[str, dict[str, Any]]]


def render_card(manifest: dict[str, Any]) -> str:
    """The card (YAML block and Markdown, headings of the Hub's template) of a manifest."""
    return str(_templates().get_template("card.md.jinja").render(card_values(manifest)))


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
    environment.filters["cell"] = lambda text: str(text).replace("|", "\\|").replace("\n", " ")
    environment.filters["aggregate"] = aggregate
    environment.filters["spread"] = spread_text
    environment.filters["plain"] = escape
    environment.filters["conditions"] = show_conditions
    environment.filters["note"] = example_note
    environment.filters["classifiers"] = classifiers
    return environment


def tables(configs: Configs) -> list[dict[str, Any]]:
    """The configs by kind of table, each with the kind and with what a card shows of it.

    That are the macros ``example`` and ``quality`` of ``templates/<kind>.md.jinja``, where there is
    one.

    Raises:
        SuiteError: there is no such kind.
    """
    by_kind: dict[str, Configs] = {}
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


def classifiers(configs: Configs) -> list[str]:
    """The views of the configs' artefact classifiers, each once."""
    return sorted({q["artefact_classifier"] for _, c in configs for q in c["quality"].values()})


def columns(configs: Configs) -> dict[str, Any]:
    """The columns of the tables and what they hold: those of their kinds, then the dataset's."""
    of_kinds = {
        name: {
            "type": "list" if isinstance(column.type, list) else column.type,
            "description": column.description,
        }
        for table in tables(configs)
        for name, column in table["kind"].columns.items()
    }
    return of_kinds | {name: c for _, config in configs for name, c in config["columns"].items()}


def card_values(manifest: dict[str, Any]) -> dict[str, Any]:
    """The variables of the template."""
    configs = ordered_configs(manifest)
    default, shown = configs[0]
    everything = [config for _, config in configs]
    return {
        "yaml": card_yaml(manifest),
        "manifest": manifest,
        "pretty_name": pretty_name(manifest),
        "owner": manifest["repo_id"].split("/")[0],
        "configs": configs,
        "kinds": kinds(configs),
        "tables": tables(configs),
        "default": default,
        "languages": sorted({config["corpus"]["language"] for config in everything}),
        "licence_sentence": licence_sentence(manifest),
        "licence_table": licence_table(manifest),
        "corpora": corpora(manifest),
        "metrics": sorted({p["metric"] for config in everything for p in config["predictions"]}),
        "any_separator": any(config["separator"] for config in everything),
        "any_groups": any(
            counts["groups"] for config in everything for counts in config["splits"].values()
        ),
        "any_training": any("train" in config["splits"] for config in everything),
        "columns": columns(configs),
        "example": shown["example"],
        "seeds": sorted({config["seed"] for config in everything}),
        "skips": skips(manifest),
        "controls": control_lines(manifest),
        # Manifests of earlier toolkits have no such keys: a release may keep configs of theirs.
        "length_configs": [name for name, config in configs if config.get("length_confound")],
        "published": manifest.get("published", []),
        "human": human_rows(configs),
        "questions": question_tables(human_rows(configs)),
    }


def kinds(
    configs: Configs,
) -> list[tuple[list[str], dict[str, Any]]]:
    """The configs by what they are: those that differ in their texts alone come together."""
    found: list[tuple[list[str], dict[str, Any]]] = []
    for name, config in configs:
        for names, other in found:
            if all(config.get(key) == other.get(key) for key in SHARED):
                names.append(name)
                break
        else:
            found.append(([name], config))
    return found


#: Values that configs of one kind share.
SHARED = ("summary", "regions", "predictions", "operators", "separator", "headline")


def control_lines(manifest: dict[str, Any]) -> list[str]:
    """Write a sentence for each config that has controls in the dataset, with their names."""
    lines = []
    for name, config in ordered_configs(manifest):
        present = [c for c in config.get("controls", []) if c in manifest["configs"]]
        if present:
            listed = " and ".join(f"`{control}`" for control in present)
            them = "its control" if len(present) == 1 else "its controls"
            lines.append(
                f"**`{name}` has {listed} as {them}**: the same manipulation and prediction "
                "without the incoherence. What a score on it shows is the difference of the mean "
                f"margin from that of {them}, which the evaluator reports with its interval."
            )
    return lines


def human_rows(configs: Configs) -> list[dict[str, Any]]:
    """The judgements of people on the items, by config and split; empty where nobody was asked.

    ``bound`` is the score of all pairs, none where nobody said which text is the less coherent.
    """
    return [
        {
            **quality["human"],
            "config": name,
            "split": split,
            "bound": next((s for s in quality["human"]["scores"] if s["group"] == ""), None),
        }
        for name, config in configs
        for split, quality in config["quality"].items()
        if "human" in quality
    ]


def question_tables(human: list[dict[str, Any]]) -> list[dict[str, Any]]:
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


#: Fields of a corpus's entry in the manifest that the card prints.
SHOWN = ("name", "title", "homepage", "citation", "producers", "proven")


def corpora(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """The corpora behind the configs, each once, with what was read of them."""
    found: dict[str, dict[str, Any]] = {}
    for _, config in ordered_configs(manifest):
        corpus = config["corpus"]
        entry = found.setdefault(
            f"{corpus['name']} {corpus['title']}",
            {
                **{key: corpus[key] for key in SHOWN},
                "licence_text": licence_text(corpus, corpus["licence"]),
                "republishable": config["republishable"],
                "names": [],
            },
        )
        for file in corpus["files"]:
            digest = file.get("sha256") or file.get("revision", "")
            text = f"{file['name']} ({digest[:12]})"
            if text not in entry["names"]:
                entry["names"].append(text)
    return [entry | {"files": ", ".join(entry["names"])} for entry in found.values()]


def skips(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """List what was left out, by config and split: the reasons with their counts, commonest first.

    What was left out while a corpus was read is said once for all configs that were made from it
    in one reading.
    """
    read: set[tuple[str, str]] = set()
    rows: list[dict[str, Any]] = []

    def add(config: str, split: str, counts: dict[str, int]) -> None:
        reasons = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))
        if reasons:
            rows.append({"config": config, "split": split, "reasons": reasons})

    for name, config in ordered_configs(manifest):
        for split, counts in config["skipped"].items():
            add(name, split, counts)
        withheld = (
            {"withheld: its licence does not allow republishing": n}
            if (n := config["withheld_discourses"])
            else {}
        )
        counts = config["bad_rows"] | withheld
        reading = (config["corpus"]["name"], str(counts))
        if counts and reading not in read:
            read.add(reading)
            add(f"corpus {config['corpus']['name']}", "all", counts)
    return rows


def spread_text(spread: dict[str, float], digits: int) -> str:
    """A mean and the quartiles.

    >>> spread_text({"mean": 15.25, "q1": 10, "median": 14, "q3": 19}, 1)
    '15.2; 10.0, 14.0, 19.0'
    """
    quartiles = (f"{spread[name]:.{digits}f}" for name in ("q1", "median", "q3"))
    return f"{spread['mean']:.{digits}f}; {', '.join(quartiles)}"


def aggregate(quality: dict[str, Any]) -> dict[str, Any] | None:
    """The artefact score over all items, if there is one."""
    return next((score for score in quality.get("artefact", ()) if score["group"] == ""), None)
