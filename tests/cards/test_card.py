"""Cards: every heading filled, YAML that the Hub's clients read, edits visible."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from support.toy import SUITE, stories, toy_corpus

from coherencegym.builders.pipeline.build import BuildOptions, build
from coherencegym.builders.pipeline.sources import PlannedCorpus
from coherencegym.builders.release.manifest import write_documents
from coherencegym.cards.render import (
    MOST_WORDS,
    SIZES,
    dataset_card,
    quality_json,
    read_in_part,
    show_pair,
)
from coherencegym.eval.data.source import read_manifest
from coherencegym.eval.kinds.table_kind import SuiteError
from coherencegym.loaders.corpus import NEVER_RUN

Make = Callable[..., tuple[Path, dict[str, Any]]]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A build of the toy suite."""
    sources = [PlannedCorpus(toy_corpus("toy", {"test": stories(0, 25)}), SUITE.configs)]
    folder = tmp_path_factory.mktemp("toy")
    build(SUITE, sources, BuildOptions(), folder)
    return folder


@pytest.fixture
def manifest(built: Path) -> dict[str, Any]:
    return dict(read_manifest(built / "manifest.json"))


def front_matter(card: str) -> dict[str, Any]:
    _, block, _ = card.split("---\n", 2)
    parsed = yaml.safe_load(block)
    assert isinstance(parsed, dict)
    return parsed


def test_the_card_has_every_heading_of_the_hubs_template(manifest: dict[str, Any]) -> None:
    import huggingface_hub

    path = Path(huggingface_hub.__file__).parent / "templates" / "datasetcard_template.md"
    card = dataset_card(manifest)
    for heading in re.findall(r"^#+ .*$", path.read_text(), re.MULTILINE)[3:]:
        plain = heading.replace(" [optional]", "")
        assert re.search(rf"^{re.escape(plain)}$", card, re.MULTILINE), plain
    assert "More Information Needed" not in card
    assert "{{" not in card


def test_no_section_is_empty(manifest: dict[str, Any]) -> None:
    body = dataset_card(manifest).split("---\n", 2)[2]
    sections = re.split(r"^(#+ .*)$", body, flags=re.MULTILINE)[1:]
    for heading, text, following in zip(
        sections[::2], sections[1::2], [*sections[2::2], "#"], strict=True
    ):
        deeper = following.count("#") > heading.count("#")
        assert text.strip() or deeper, heading


def test_the_yaml_is_complete(manifest: dict[str, Any]) -> None:
    data = front_matter(dataset_card(manifest))
    assert [key for key, value in data.items() if not value] == []
    assert set(data) >= {
        "configs",
        "license",
        "language",
        "task_categories",
        "size_categories",
        "annotations_creators",
        "source_datasets",
        "pretty_name",
        "tags",
        "coherencegym",
    }
    assert data["license"] == "cc0-1.0"
    assert data["language"] == "en"
    assert data["size_categories"] == ["n<1K"]
    assert data["coherencegym"] == {"suite": "toy_order", "version": "1.0.0"}
    assert data["configs"] == [
        {
            "config_name": "toy_context",
            "data_files": [{"split": "test", "path": "data/toy_context/test-*"}],
            "default": True,
        }
    ]


def test_the_card_depends_on_the_manifest_alone(manifest: dict[str, Any], tmp_path: Path) -> None:
    write_documents(json.loads(json.dumps(manifest)), tmp_path)
    assert (tmp_path / "README.md").read_text() == dataset_card(manifest)


def test_a_manifest_of_an_earlier_toolkit_renders(manifest: dict[str, Any]) -> None:
    """A release keeps the configs that another machine built, maybe with an older version."""
    old = json.loads(json.dumps(manifest))
    del old["published"]
    for config in old["configs"].values():
        for key in ("controls", "length_confound", "headline", "splits_asked"):
            del config[key]
    assert dataset_card(old) == dataset_card(manifest)


def test_the_figures_beside_the_card_have_every_split_and_published_scores(
    manifest: dict[str, Any], built: Path
) -> None:
    row = {
        "config": "context",
        "row": "a|b",
        "model": "M-2",
        "score": 0.5,
        "source": "A 2021, Table 9",
        "corpus": "toy",
    }
    quoting = manifest | {"published": [row, row | {"corpus": "pdtb"}]}
    figures = json.loads(quality_json(quoting))
    assert figures["published"] == [row]
    (config,) = manifest["configs"].values()
    split = figures["configs"]["toy_context"]["splits"]["test"]
    assert split["rows"] == 25
    assert split["groups"] == config["splits"]["test"]["groups"]
    assert split["quality"] == config["quality"]["test"]
    assert split["skipped"] == config["skipped"]["test"]
    assert (built / "quality.json").read_text() == quality_json(manifest)
    card = dataset_card(manifest)
    assert card.count("(quality.json)") == 1
    assert len(card.split("---\n", 2)[2].split()) < 700


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("controlled", "A high one: yes, `toy_context` is controlled."),
        ("leaks", "A high one: no, `toy_context` leaks: n-grams alone can reach 83.7 %."),
        ("too small to tell", "A high one: not known, `toy_context` is too small to tell."),
        ("cannot be controlled", "A high one: no, `toy_context` cannot be controlled."),
    ],
)
def test_the_card_says_whether_scores_can_be_trusted(
    manifest: dict[str, Any], word: str, said: str
) -> None:
    (config,) = manifest["configs"].values()
    quality = config["quality"]["test"]
    quality["control"] |= {"word": word, "by": "n-grams, weighted", "score": 0.837}
    first = dataset_card(manifest).split("## Dataset Details")[0]
    assert f"\n**Can I trust a high score? A low one?** {said} A low one: no person" in first
    score = {"group": "", "score": 0.9, "ci_low": 0.75, "ci_high": 0.95}
    quality["human"] = {"scores": [score]}
    people = "A low one: people are right in 90.0 [75.0, 95.0] % of `toy_context`."
    assert f"{said} {people}\n" in dataset_card(manifest)


def test_a_built_folder_loads(built: Path, manifest: dict[str, Any], tmp_path: Path) -> None:
    from datasets import load_dataset

    data = load_dataset(str(built), "toy_context", cache_dir=str(tmp_path / "cache"))
    assert data["test"].num_rows == 25
    assert data["test"].features.to_dict() == manifest["configs"]["toy_context"]["features"]


def test_an_unproven_reader_and_a_closed_licence_are_said(tmp_path: Path) -> None:
    corpus = replace(toy_corpus("toy", {"test": stories(0, 3)}, licence="other"), proven=NEVER_RUN)
    card = dataset_card(
        build(SUITE, [PlannedCorpus(corpus, SUITE.configs)], BuildOptions(), tmp_path)
    )
    assert front_matter(card)["license"] == "other"
    assert front_matter(card)["license_name"]
    assert "terms of The toy corpus" in card
    assert "too few discourses" in card
    assert "; its reader was never run on the real files\n" in card


def test_the_licences_of_annotation_and_texts_are_shown_as_text(tmp_path: Path) -> None:
    corpus = replace(
        toy_corpus("toy", {"test": stories(0, 3)}, licence="CC-BY-4.0"),
        licence_name="by its <b>README</b>\n# all mine",
        text_licence="other",
        text_licence_name="no | adaptation ![x](https://x)",
        text_licence_url="https://example.org/a_b",
    )
    card = dataset_card(
        build(SUITE, [PlannedCorpus(corpus, SUITE.configs)], BuildOptions(), tmp_path)
    )
    annotation = r"CC-BY-4.0 (by its \<b\>README\</b\> \# all mine)"
    texts = r"no \| adaptation !\[x\](https://x) (<https://example.org/a_b>)"
    assert f": annotation {annotation}, texts {texts}; may be published: no; " in card
    assert f"- {texts}: `toy_context`\n" in card
    assert "\n# all mine" not in card
    assert front_matter(card)["license_name"] == "several-licences"


def condition(name: str, *regions: str) -> dict[str, Any]:
    return {
        "condition_name": name,
        "content": " ".join(regions),
        "regions": [{"region_number": i, "content": r} for i, r in enumerate(regions, 1)],
    }


def shown(*versions: list[str]) -> list[str]:
    """The texts of two conditions as a card shows them."""
    conditions = [condition(str(n), *regions) for n, regions in enumerate(versions)]
    return [text for _, text in show_pair({"conditions": conditions, "predictions": []})]


def test_words_that_the_other_condition_does_not_have_are_bold() -> None:
    original, changed = shown(["The cat slept.", "it ran."], ["The cat slept.", "the dog ran."])
    assert original == "The cat slept. **it** ran."
    assert changed == "The cat slept. **the dog** ran."


def test_other_words_are_bold_as_a_whole_and_the_same_words_not_at_all() -> None:
    assert shown(["One *fell.*"], ["Two ran away."]) == ["**One \\*fell.\\***", "**Two ran away.**"]
    same = ["One fell. Two ran."], ["Two ran. One fell."]
    assert shown(*same) == [text for (text,) in same]


def test_a_separator_in_one_condition_is_shown_there() -> None:
    change, same = shown(["One. [SEP]", "End."], ["One.", "End."])
    assert (change, same) == ("One. **\\[SEP\\]** End.", "One. End.")


def test_sizes_are_in_order() -> None:
    assert list(SIZES) == sorted(SIZES)


def documents_of(manifest: dict[str, Any], kind: str) -> dict[str, Any]:
    """The manifest with a config of another kind after its own."""
    (config,) = manifest["configs"].values()
    row = {
        "item_id": "d",
        "sentences": ["It rained.", "A *goat* sang."],
        "intruder_position": 1,
        "discourse_id": "d",
        "corpus": "toy",
    }
    quality = {"items": 1, "intruded": 1, "words": {}, "sentence_alone": None}
    about = {"kind": kind, "rank": 10_000, "default": False, "example": row, "columns": {}}
    other = config | about | {"quality": {"test": quality}, "predictions": [], "regions": []}
    return manifest | {"configs": manifest["configs"] | {"detect_toy": other}}


def test_a_card_says_of_each_kind_what_its_rows_are(manifest: dict[str, Any]) -> None:
    alone, both = dataset_card(manifest), dataset_card(documents_of(manifest, "documents"))
    assert "\nEach row is an item: " in alone
    assert "\nEach row of `toy_context` is an item: " in both
    assert "\nEach row of `detect_toy` is a document divided into sentences" in both
    for card, times in ((alone, 0), (both, 1)):
        assert card.count("coherencegym score --model gpt2") == 1
        assert card.count("coherencegym detect --model gpt2") == times
        assert card.count("| config | rows |") == 1 + times


def test_a_dataset_of_documents_alone_shows_one(manifest: dict[str, Any]) -> None:
    both = documents_of(manifest, "documents")
    card = dataset_card(both | {"configs": {"detect_toy": both["configs"]["detect_toy"]}})
    assert "\n> It rained. **A \\*goat\\* sang.**\n" in card
    assert "coherencegym score --model" not in card
    assert "CD score" not in card


def test_a_card_of_a_kind_that_is_not_known_is_refused(manifest: dict[str, Any]) -> None:
    with pytest.raises(SuiteError, match="table kind 'verses'; expected one of items, documents"):
        dataset_card(documents_of(manifest, "verses"))


def test_the_card_opens_with_a_sentence_a_pair_and_two_lines_of_use(
    manifest: dict[str, Any],
) -> None:
    _, _, body = dataset_card(manifest).split("---\n", 2)
    first = body[: body.index("\n## ")]
    assert "\n\nShuffled is worse.\n\n> *original*: Ann saw 0 dogs." in first
    assert "\n> *shuffled*: " in first
    assert "pip install coherencegym\ncoherencegym score --model gpt2 --dataset " in first


def test_a_card_of_many_configs_has_no_more_words_than_it_may(manifest: dict[str, Any]) -> None:
    (config,) = manifest["configs"].values()
    long = config | {"summary": "so many words " * 60, "default": False}
    configs = {"toy_context": config} | {f"c{n}": long | {"rank": n + 1} for n in range(20)}
    for number, one in enumerate(configs.values()):  # kinds that differ are listed one by one
        one["operators"] = f"{number}"
    _, _, body = dataset_card(manifest | {"configs": configs}).split("---\n", 2)
    assert 900 < len(body.split()) <= MOST_WORDS
    assert re.search(r"and 1[6-9] more configs", body)
    # All of them are in the headline.
    listed = [int(n) for n in re.findall(r"\| `c(\d+)` \* \|", body)]
    first, *_ = (n for n in range(20) if n not in listed)
    assert f"The headline score is the mean over the marked configs and `c{first}`, " in body


def test_the_card_says_how_a_folder_is_loaded(manifest: dict[str, Any]) -> None:
    assert '\nitems = load_dataset("suites/toy_order", "toy_context")  # ' in dataset_card(manifest)


def test_the_card_marks_the_headline(manifest: dict[str, Any]) -> None:
    card = dataset_card(manifest)
    assert "| `toy_context` (default) * |" in card
    assert "The headline score is the score of the marked config, controlled if" in card
    (config,) = manifest["configs"].values()
    configs = {"a": config, "b": config | {"default": False}, "c": config | {"in_headline": False}}
    card = dataset_card(manifest | {"configs": configs})
    assert "The headline score is the mean over the marked configs, controlled if" in card
    assert "| `b` * |" in card
    assert "| `c` * |" not in card


def test_limitations_of_a_corpus_stand_on_cards_of_what_is_made_from_it(
    manifest: dict[str, Any],
) -> None:
    (config,) = manifest["configs"].values()

    def made_from(title: str, *lines: str) -> dict[str, Any]:
        corpus = config["corpus"] | {"title": title, "limitations": [*lines]}
        return {**config, "corpus": corpus}

    configs = {
        "a": made_from("Old news", "It is old.", "It was printed."),
        "b": made_from("Old news", "It is old."),
        "c": made_from("The web", "It is *long*."),
    }
    _, _, after = dataset_card(manifest | {"configs": configs}).partition("and Limitations\n\n")
    lines = after.partition("\n\n")[0].splitlines()
    assert lines == [
        "- It is a toy.",
        "- Old news: It is old.",
        "- Old news: It was printed.",
        "- The web: It is *long*.",
    ]


def test_the_card_says_since_when_the_texts_have_been_public(manifest: dict[str, Any]) -> None:
    for config in manifest["configs"].values():
        config["corpus"] |= {"public_since": 2016, "public_source": "Somebody (2016)"}
    assert "; public since 2016 (Somebody (2016))\n" in dataset_card(manifest)
    for config in manifest["configs"].values():
        config["corpus"] |= {"public_since": 0, "public_source": ""}
    assert "; not known since when public\n" in dataset_card(manifest)


def test_the_card_says_what_was_not_read(manifest: dict[str, Any]) -> None:
    assert read_in_part(manifest) == []
    assert "only a part of the suite" not in dataset_card(manifest)
    (config,) = manifest["configs"].values()
    limited = config | {"limit": 40, "splits_asked": ["test"]}
    part = manifest | {"configs": {"toy_context": limited}}
    lines = [
        "of each split the first 40 discourses were read (`--limit 40`)",
        "of splits only test was asked for",
    ]
    assert read_in_part(part) == lines
    assert f"part of the suite's data:** {'; '.join(lines)}." in dataset_card(part)
    both = part | {"configs": {"toy_context": limited, "toy_all": config}}
    assert read_in_part(both)[0] == f"{lines[0]}: `toy_context`"


def test_the_opening_pair_is_of_the_headline_group_and_reads_as_the_text_does() -> None:
    names = ("original", "as", "since")
    row: dict[str, Any] = {
        "discourse_id": "d",
        "conditions": [
            condition(name, "It rained.", word, "we left.")
            | {"content": f"It rained. {word}, we left."}
            for name, word in zip(names, ("However", "As", "Since"), strict=True)
        ],
        "predictions": [
            {"formula": f"(3;%{name}%) > (3;%original%)", "groups": [group]}
            for name, group in (("as", "same"), ("since", "different"))
        ],
    }
    for made in row["conditions"]:
        made["regions"][2]["content"] = ", we left."
    pair = show_pair(row, "different")
    assert pair[0] == ("original", "It rained. **However**, we left.")
    assert pair[1] == ("since", "It rained. **Since**, we left.")
    assert [name for name, _ in show_pair(row)] == ["original", "as"]
    assert [name for name, _ in show_pair(row | {"predictions": []})] == ["original", "as"]
