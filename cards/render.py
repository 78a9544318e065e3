"""Render a dataset card, and the figures beside it, from a manifest and from nothing else.

The YAML block of a card is what the Hub and ``load_dataset`` read.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from difflib import SequenceMatcher
from functools import cache
from typing import Any

from coherencegym.escapes import markdown_filters, markdown_text, templates_of
from coherencegym.eval.data.benchmark import suite_headline
from coherencegym.eval.data.dataset import HUMAN_PERFORMANCE, LEXICAL_OVERLAP, PARTIAL_INPUT
from coherencegym.eval.data.source import published, published_part
from coherencegym.eval.kinds import kind_named
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.eval.statistics.control import CONTROLLED, TOO_SMALL, UNCONTROLLED
from coherencegym.licence import IN_PART, OTHER, combined_licence
from coherencegym.loaders.corpus import NEVER_RUN

#: Regions less alike than this have no word in common that a reader would look for.
_ALIKE = 0.5
#: Words of a text that is shown whole, though both conditions have most of it.
_LONG = 40


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
    content, parts, position = condition["content"], [""], 0
    pairs = list(zip(condition["regions"], other["regions"], strict=True))
    differ = [own["content"] != of_other["content"] for own, of_other in pairs]
    is_long = len(content.split()) > _LONG
    for place, (region, of_other) in enumerate(pairs):
        start = content.index(region["content"], position)
        between, position = content[position:start], start + len(region["content"])
        # Of a long text, only what stands beside a difference.
        if is_long and not any(differ[max(0, place - 1) : place + 2]):
            parts += [" … "] if parts[-1] != " … " else []
        else:
            own = _marked(region["content"], of_other["content"])
            parts.append(own if parts[-1] == " … " else markdown_text(between) + own)
    return "".join(parts).strip()


def _marked(text: str, other: str) -> str:
    words, others = (re.findall(r"\s+|\w+|[^\w\s]", one) for one in (text, other))
    if Counter("".join(words).split()) == Counter("".join(others).split()):
        long = text.split()
        if text != other or len(long) <= _LONG:
            return markdown_text(text)
        first, last = " ".join(long[: _LONG // 4]), " ".join(long[-_LONG // 2 :])
        return markdown_text(f"{first} … {last}")
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


#: Words of a card without its YAML, configs that it lists, and names before "and more", at most.
MOST_WORDS, _MOST, _SHOWN_NAMES = 1200, 5, 3
#: Names and entries of configs, in the order of the card.
_Configs = list[tuple[str, dict[str, Any]]]
#: Kind -> what a high score and a low one can be trusted for, where rows have no control.
_TRUST = {
    "examples": "A high accuracy, only above the bag of words and the most frequent class below: "
    "what these reach is in the words. A low one, only as far as other models do better.",
    "documents": "A high score, only above the classifier below that sees each sentence alone. A "
    "low one, only as far as readers find the intruders.",
    "spans": "A high score, only above the constant answers below. A low one, as far as the rules "
    "hold that gave spans their answers.",
    "ratings": "A high correlation, only above those of length, repeated words and a bag of words, "
    "which `correlate` prints. A low one, only up to how well raters agree.",
    "structures": "A low loss, only below that of predicting frequencies. A high one says how "
    "little was read.",
}
#: The page that says of each suite how its items were read.
_READ = "https://github.com/coherencegym/coherencegym/blob/main/docs/quality.md"


def dataset_card(manifest: dict[str, Any]) -> str:
    """The card (YAML block and Markdown, headings of the Hub's template) of a manifest.

    It lists as many configs as leave it no longer than :data:`MOST_WORDS`.
    """
    for most in range(_MOST, 0, -1):
        yaml, body = card_yaml(manifest), _body(manifest, most)
        if len(body.split()) <= MOST_WORDS:
            break
    return f"---\n{yaml}\n---\n{body}"


def _body(manifest: dict[str, Any], most: int) -> str:
    configs = ordered_configs(manifest)
    default = next((name for name, config in configs if config["default"]), configs[0][0])
    shown = manifest["configs"][default]
    kind = kind_named(shown["kind"])
    chosen = suite_headline(manifest["configs"])
    # What controls and the rest of many configs come to is beside the card.
    own = [each for each in configs if not each[1].get("is_diagnostic")] or configs
    listed = sorted(own, key=lambda each: (each[0] != default, each[0] not in chosen))[:most]
    qualities = [quality for _, config in configs for quality in config["quality"].values()]
    card = (
        _templates()
        .get_template("card.md.jinja")
        .render(
            manifest=manifest,
            configs=configs,
            default=default,
            shown=shown,
            kind=kind,
            labelled=any(kind_named(config["kind"]).labels for _, config in configs),
            tables=_tables(configs, listed, shown["kind"]),
            listed=listed,
            others=len(configs) - len(listed),
            trust=_trust([each for each in configs if each[0] in chosen], shown["kind"]),
            headline=chosen,
            unlisted=[name for name in chosen if name not in dict(listed)],
            conditions=_conditions(manifest["conditions"], listed),
            counted=_counted(listed),
            part=read_in_part(manifest),
            trained=any("train" in config["splits"] for _, config in configs),
            kinds=_kinds(listed),
            bare=[name for name, config in configs if config.get("stand_off")],
            licence=combined_licence(licences_of_texts(manifest)),
            licence_table=licence_table(manifest),
            corpora=_corpora(configs),
            controls=[
                (name, present)
                for name, config in listed
                if (present := [c for c in config.get("controls", ()) if c in manifest["configs"]])
            ],
            judged=any("human" in quality for quality in qualities),
        )
    )
    # Parts of a template that are left out leave their empty lines.
    return re.sub(r"\n{3,}", "\n\n", str(card))


def quality_json(manifest: dict[str, Any]) -> str:
    """The figures of a manifest by config, split and group, as the text of a JSON file.

    ``published`` are the scores that papers have published for these configs; of each config there
    are the rows that could not be read, and of each split counts, what gave no row, and quality.
    """
    configs = {
        name: {
            "bad_rows": config["bad_rows"],
            "withheld_discourses": config["withheld_discourses"],
            "splits": {
                split: {key: counts.get(key, {}) for key in _COUNTS}
                | {
                    "skipped": config["skipped"].get(split, {}),
                    "quality": config["quality"].get(split, {}),
                }
                for split, counts in config["splits"].items()
            },
        }
        for name, config in ordered_configs(manifest)
    }
    figures = {
        "suite": manifest["suite"],
        "version": manifest["version"],
        "published": [asdict(row) for row in published(manifest, [*configs])],
        "configs": configs,
    }
    return json.dumps(figures, ensure_ascii=False, indent=1) + "\n"


#: Counts of a split in :func:`quality_json`.
_COUNTS = ("rows", "discourses", "groups")


@cache
def _templates() -> Any:
    # Read once: that takes longer than to fill them in.
    environment = templates_of("cards", trim_blocks=False, lstrip_blocks=False)
    environment.filters |= markdown_filters() | {"pair": show_pair, "names": _names}
    return environment


def _tables(configs: _Configs, listed: _Configs, first: str) -> list[dict[str, Any]]:
    # One for each kind, ``first`` the kind of the default config; rows are of those listed.
    by_kind: dict[str, _Configs] = {first: []}
    for name, config in configs:
        by_kind.setdefault(config["kind"], []).append((name, config))
    tables = []
    for kind, own in by_kind.items():
        rows = []
        shown = kind_named(kind).configs(dict(listed))
        for name, config in (each for each in listed if each[0] in shown):
            split = measured_split(config)
            counts = (
                f"**{each} {counts['rows']:,}**" if each == split else f"{each} {counts['rows']:,}"
                for each, counts in config["splits"].items()
            )
            rows.append((name, ", ".join(counts), figures(config["quality"].get(split, {}))))
        heads = dict.fromkeys(head for _, _, cells in rows for head in cells)
        names = [name for name, _ in own]
        tables.append({"kind": kind_named(kind), "names": names, "heads": [*heads], "rows": rows})
    return tables


def measured_split(config: Mapping[str, Any]) -> str:
    """The split of a config whose figures are shown.

    That which people judged, or else the one of most effective items, ``test``, or any.
    """

    def rank(split: str) -> tuple[bool, float, bool]:
        quality = config["quality"].get(split, {})
        control = quality.get("control") or {}
        effective = float(control.get("effective_items", 0))
        return "human" in quality, effective, split == "test"

    return max(map(str, config["splits"]), key=rank)


def figures(quality: Mapping[str, Any]) -> dict[str, str]:
    """What a score of a split is held against, by the headings of a table: shares in per cent."""
    found: dict[str, str] = {}
    if PARTIAL_INPUT in quality:
        found["partial input, % [95 % interval]"] = _share(baseline_score(quality, PARTIAL_INPUT))
        overlap = baseline_score(quality, LEXICAL_OVERLAP)
        found["lexical overlap, %"] = f"{100 * overlap['score']:.1f}" if overlap else "–"
    if control := quality.get("control"):
        is_small, number = control["word"] == TOO_SMALL, f"{control['effective_items']:,.0f}"
        found["effective items"] = f"{number} of {control['needed']:,}" if is_small else number
        found["control"] = TOO_SMALL if is_small else said_of_control(control)
    if "bag_of_words" in quality:
        for what, own in (
            ("bag of words", quality["bag_of_words"].get("all")),
            ("most frequent", quality["most_frequent"]),
        ):
            found[f"{what}, %"] = f"{100 * own['any_label']:.1f}" if own else "–"
        found["ceiling, %"] = f"{100 * quality['ceiling']:.1f}"
    if alone := quality.get("sentence_alone"):
        found["sentence alone, % [95 % interval]"] = _share({**alone, "score": alone["accuracy"]})
        found["majority, %"] = f"{100 * alone['majority']:.1f}"
    for name, scores in quality.get("constants", {}).items():
        found[f"{name}, %"] = f"{100 * scores['accuracy']:.1f}"
    if ratings := quality.get("ratings"):
        found["ratings"] = f"{ratings['least']:.1f} to {ratings['most']:.1f}"
    if "human" in quality:
        found[f"{HUMAN_PERFORMANCE}, %"] = _share(quality["human"]["scores"][0])
    return found


def _share(score: Mapping[str, Any] | None) -> str:
    if score is None:
        return "too few discourses"
    value, low, high = (100 * score[name] for name in ("score", "ci_low", "ci_high"))
    return f"{value:.1f} [{low:.1f}, {high:.1f}]"


def _conditions(known: Mapping[str, str], configs: _Configs) -> dict[str, str]:
    # Those that items of these configs have; of other kinds all.
    there = {
        name
        for _, config in configs
        for made in config["predictions"]
        for name in re.findall("%([^%]+)%", made["formula"])
    }
    examples = (config["example"].get("conditions", ()) for _, config in configs)
    there |= {each["condition_name"] for example in examples for each in example}
    return {name: said for name, said in known.items() if not there or name in there}


def _trust(headline: _Configs, kind: str) -> str:
    if kind != ITEMS.name or not headline:
        return _TRUST.get(kind, "No control was computed for rows of this kind.")
    by_word: dict[str, list[tuple[str, dict[str, Any]]]] = {}
    people = []
    for name, config in headline:
        quality = config["quality"].get(measured_split(config), {})
        control = quality.get("control") or {"word": TOO_SMALL}
        by_word.setdefault(control["word"], []).append((name, control))
        if human := quality.get("human"):
            people.append(f"people are right in {_share(human['scores'][0])} % of `{name}`")
    high = "; ".join(_answer(word, own) for word, own in by_word.items())
    nobody = f"no person judged these items; of some suites [language models read a few]({_READ})"
    return f"A high one: {high}. A low one: {'; '.join(people[:_SHOWN_NAMES]) or nobody}."


def _answer(word: str, configs: list[tuple[str, dict[str, Any]]]) -> str:
    # Whether a high score of these configs can be trusted, which have one word of control.
    names, several = _names([name for name, _ in configs]), len(configs) > 1
    if word == CONTROLLED:
        return f"yes, {names} {'are' if several else 'is'} controlled"
    if word == TOO_SMALL:
        return f"not known, {names} {'are' if several else 'is'} too small to tell"
    if word == UNCONTROLLED:
        return f"no, {names} cannot be controlled"
    score, by = max((own["score"], own["by"].partition(",")[0]) for _, own in configs)
    return f"no, {names} leak{'s' * (not several)}: {by} alone can reach {100 * score:.1f} %"


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


def read_in_part(manifest: dict[str, Any]) -> list[str]:
    """Say which part of its corpora a build has read, where it has not read all of them."""
    limits: dict[str, list[str]] = {}
    configs = ordered_configs(manifest)
    for name, config in configs:
        if most := config.get("limit"):
            said = f"of each split the first {most:,} discourses were read (`--limit {most}`)"
            limits.setdefault(said, []).append(name)
        if asked := config.get("splits_asked"):
            limits.setdefault(f"of splits only {', '.join(asked)} was asked for", []).append(name)
    return [
        said + ("" if len(own) == len(configs) else f": {_names(own)}")
        for said, own in limits.items()
    ]


def baseline_score(quality: Mapping[str, Any], name: str, group: str = "") -> dict[str, Any] | None:
    """The score of a baseline over all items, or of a group of predictions, if there is one."""
    return next((score for score in quality.get(name, []) if score["group"] == group), None)


def _corpora(configs: _Configs) -> list[dict[str, Any]]:
    found: dict[str, dict[str, Any]] = {}
    for name, config in configs:
        corpus = config["corpus"]
        about = {
            "licence_of_annotation": licence_text(corpus, "licence"),
            "licence_of_texts": licence_text(corpus, "text_licence"),
            "may_be_published": published_part({"configs": {name: config}}, name),
            "unproven": corpus["proven"] == NEVER_RUN,
            "limitations": [],
        }
        entry = found.setdefault(f"{corpus['name']} {corpus['title']}", corpus | about)
        if entry["may_be_published"] != about["may_be_published"]:
            entry["may_be_published"] = IN_PART
        new = (each for each in corpus.get("limitations", ()) if each not in entry["limitations"])
        entry["limitations"] += new
    return list(found.values())


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


#: Lower bounds of the Hub's size categories, and their names.
SIZES = {
    0: "n<1K",
    1_000: "1K<n<10K",
    10_000: "10K<n<100K",
    100_000: "100K<n<1M",
    1_000_000: "1M<n<10M",
    10_000_000: "10M<n<100M",
}


def ordered_configs(manifest: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The configs by rank."""
    return sorted(manifest["configs"].items(), key=lambda entry: (entry[1]["rank"], entry[0]))


def card_yaml(manifest: dict[str, Any]) -> str:
    """The YAML of a manifest's card, without its fences."""
    from datasets.utils.metadata import MetadataConfigs
    from huggingface_hub import DatasetCardData

    configs = ordered_configs(manifest)
    rows = sum(split["rows"] for _, config in configs for split in config["splits"].values())
    sources = sorted({s for _, config in configs for s in config["corpus"]["source_datasets"]})
    languages = sorted({config["corpus"]["language"] for _, config in configs})
    data = DatasetCardData(
        pretty_name=f"CoherenceGym: {manifest['title']}",
        language=languages if len(languages) > 1 else languages[0],
        annotations_creators=["machine-generated"],
        source_datasets=sources or ["original"],
        task_categories=list(manifest["task_categories"]),
        size_categories=[[name for least, name in SIZES.items() if rows >= least][-1]],
        tags=["coherence", "discourse", "minimal-pairs", "surprisal", *manifest["tags"]],
        coherencegym={"suite": manifest["suite"], "version": manifest["version"]},
    )
    for key, value in _licence_field(manifest).items():
        setattr(data, key, value)
    files = {name: _files_entry(name, config) for name, config in configs}
    MetadataConfigs(files).to_dataset_card_data(data)
    return str(data).strip()


def _files_entry(name: str, config: dict[str, Any]) -> dict[str, Any]:
    place = f"hashes/{name}-{{}}.parquet" if config.get("stand_off") else f"data/{name}/{{}}-*"
    files = [{"split": split, "path": place.format(split)} for split in config["splits"]]
    return {"data_files": files, **({"default": True} if config["default"] else {})}


def licence_table(manifest: dict[str, Any]) -> list[dict[str, Any]]:
    """List the configs with texts under each licence."""
    found: dict[str, dict[str, Any]] = {}
    for name, config in sorted(manifest["configs"].items()):
        for licence in () if config.get("stand_off") else config["licences"]:
            corpus = config["corpus"]
            text = (
                markdown_text(licence) if licence != OTHER else licence_text(corpus, "text_licence")
            )
            found.setdefault(text, {"licence": text, "configs": []})["configs"].append(name)
    return [found[text] for text in sorted(found)]


def licence_text(corpus: dict[str, Any], key: str) -> str:
    """A licence of a corpus, as Markdown that stays in its line.

    ``key``: ``licence`` is that of the annotation, ``text_licence`` that of the texts, which in
    manifests of earlier releases have no other.
    """
    licence, name, url = (
        corpus.get(f"{key}{end}", corpus[f"licence{end}"]) for end in ("", "_name", "_url")
    )
    if licence == OTHER:
        licence, name = name or f"terms of {corpus['title']}", ""
    # An address in angle brackets is one, whatever it has in it.
    link = f"<{url}>" if re.fullmatch(r"https?://[^\s<>|\\]+", url) else markdown_text(url)
    about = ", ".join(filter(None, (markdown_text(name), link)))
    return f"{markdown_text(licence)} ({about})" if about else markdown_text(licence)


def licences_of_texts(manifest: dict[str, Any]) -> set[str]:
    """The licences of the texts of a release, and of their annotation; empty where it has none."""
    with_texts = [c for c in manifest["configs"].values() if not c.get("stand_off")]
    return {
        licence
        for config in with_texts
        for licence in (config["corpus"]["licence"], *config["licences"])
    }


def _licence_field(manifest: dict[str, Any]) -> dict[str, str]:
    # The licence that all texts may be published under together, by its Hub identifier; where there
    # is none, as in a folder of one's own, ``other`` with the table in the card.
    identifiers = licences_of_texts(manifest)
    if licence := combined_licence(identifiers):
        return {"license": licence.lower()}
    name = "several-licences" if len(identifiers) > 1 else "terms-of-the-source-corpus"
    name = name if identifiers else "no-texts"
    return {"license": OTHER, "license_name": name, "license_link": "README.md#licence"}
