"""The coreference suite: two sentences, with a pronoun or with what it takes up."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.marked_texts import annotated
from support.suites import Sample, build_from, rows

from coherencegym.builders.command.cli import run_suite
from coherencegym.builders.coreference import SUITE
from coherencegym.builders.crossing.generator import Crossed
from coherencegym.builders.suite import Config
from coherencegym.cards.render import dataset_card
from coherencegym.eval.kinds.formula import parse_formula
from coherencegym.eval.kinds.items import Item, item_from_row
from coherencegym.eval.kinds.predictions import evaluate
from coherencegym.loaders.discourse import Alternative, Discourse, Unit
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.genders import gender_of_name

MENTION, SPILLOVER, CROSSED, CROSSED_SPILLOVER, *_ = SUITE.configs


@pytest.fixture(scope="module")
def built(
    built_sample: Sample,
) -> tuple[Path, dict[str, Any]]:
    """The suite built from the project's own documents."""
    return built_sample(SUITE.name)


def test_an_item_is_two_sentences_in_two_versions() -> None:
    discourse = annotated("It rained. / [An old man|1] came in. / Soon [he|1]'s dry.")
    (generated,) = MENTION.generator(discourse, Context())
    item = generated.item
    assert item.item_id == "d/u2c5"
    pronoun, repetition = item.conditions
    assert [region.content for region in pronoun.regions] == [
        "An old man came in.",
        "Soon he's dry.",
    ]
    assert repetition.content == "An old man came in. Soon the old man is dry."
    assert [(p.formula, p.metric) for p in item.predictions] == [
        ("(2;%repetition%) > (2;%pronoun%)", "mean"),
        ("(2;%repetition%) > (2;%pronoun%)", "sum"),
    ]
    (edit,) = item.edits
    assert (edit.condition_name, edit.before, edit.after) == (
        "repetition",
        "he's",
        "the old man is",
    )
    assert item.extra == {
        "gender": "masculine",
        "number": "singular",
        "antecedent_kind": "nominal",
        "antecedent_words": 3,
        "genre": "fiction",
    }
    assert generated.views == {
        "pronoun": ("Soon he's dry.",),
        "repetition": ("Soon the old man is dry.",),
    }


def test_the_spillover_is_the_same_text() -> None:
    discourse = annotated("[An old man|1] came in. / Soon [he|1]'s dry. / I saw [him|1].")
    (generated,) = SPILLOVER.generator(discourse, Context())
    pronoun, repetition = generated.item.conditions
    assert [r.content for r in pronoun.regions] == ["An old man came in.", "Soon", "he's", "dry."]
    assert [r.content for r in repetition.regions][1:] == ["Soon", "the old man is", "dry."]
    (prediction,) = generated.item.predictions
    assert (prediction.formula, prediction.metric) == ("(4;%repetition%) > (4;%pronoun%)", "mean")


def crossed(config: Config) -> Item:
    """The item of a config that is made of one schema."""
    text = "Ann met Mary at work. Ann left early, but she stayed on."
    start = text.index("she")
    place = Alternative(((0, start, start + 3),), ("Ann", "Mary"), 1)
    schema = Discourse("s", "winograd", (Unit(text),), alternatives=(place,))
    context = Context()
    generator = config.generator
    assert isinstance(generator, Crossed)
    (generated,) = generator.fit([schema], context, ())(schema, context)
    return generated.item


def test_a_schema_is_crossed_with_a_competitor_and_the_name() -> None:
    item = crossed(CROSSED)
    assert item.item_id == "s/u0c42-none/crossed/s/u0c42-competitor"
    texts = {c.condition_name: [r.content for r in c.regions] for c in item.conditions}
    competitor = "Ann met Mary at work. Ann left early, but"
    none = texts["none_pronoun"][0]
    assert re.fullmatch(r"([A-Z]\w+) met Mary at work\. \1 left early, but", none)
    assert gender_of_name(none.split()[0]) == "masculine"
    assert texts == {
        "none_pronoun": [none, "she", "stayed on."],
        "competitor_name": [competitor, "Mary", "stayed on."],
        "none_name": [none, "Mary", "stayed on."],
        "competitor_pronoun": [competitor, "she", "stayed on."],
    }
    (prediction,) = item.predictions
    assert prediction.metric == "sum"
    assert prediction.formula == (
        "(2;%none_name%) + (3;%none_name%) + (2;%competitor_pronoun%) + (3;%competitor_pronoun%) > "
        "(2;%none_pronoun%) + (3;%none_pronoun%) + (2;%competitor_name%) + (3;%competitor_name%)"
    )
    assert (item.extra["gender"], item.extra["competitor_between"]) == ("feminine", True)
    rest = crossed(CROSSED_SPILLOVER)
    assert rest.conditions == item.conditions
    assert rest.predictions[0].formula == (
        "(3;%none_name%) + (3;%competitor_pronoun%) > (3;%none_pronoun%) + (3;%competitor_name%)"
    )


def test_what_reads_the_mention_or_the_text_alone_ties(built: tuple[Path, dict[str, Any]]) -> None:
    """And what reads the rest alone too: it is the same in all four."""
    for config in ("crossed", "crossed_spillover"):
        for row in rows(built[0], f"sample_{config}"):
            item = item_from_row(row)
            regions = {c.condition_name: [r.content for r in c.regions] for c in item.conditions}
            for alone in (slice(0, 1), slice(1, 3)):
                (prediction,) = item.predictions

                def value(region: Any, name: str, part: slice = alone, of: Any = regions) -> float:
                    return float(hash(tuple(of[name][part])) % 1009 + int(region))

                assert evaluate(parse_formula(prediction.formula), value).tie
            assert len({texts[2] for texts in regions.values()}) == 1


def test_crossed_items_of_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    entry = built[1]["configs"]["sample_crossed"]
    (score,) = [s for s in entry["quality"]["test"]["partial_input"] if not s["group"]]
    assert score["score"] == 0.5
    assert score["ci_low"] < 0.5 < score["ci_high"]
    assert entry["skipped"]["test"] == {
        "not a pronoun for a man or a woman": 34,
        "not two given names of the pronoun's gender": 12,
        "another pronoun of one of the two": 2,
    }
    found = rows(built[0], "sample_crossed")
    assert len({row["family"] for row in found}) == 13  # twins stay together
    assert [row["competitor_between"] for row in found] == [True, False] * 13
    texts = {row["item_id"].split("/")[0]: row["conditions"] for row in found}
    shown = {c["condition_name"]: c["content"] for c in texts["wsc-055"]}
    assert shown["competitor_name"] == (
        "Peter waited for Owen at the corner for half an hour. Then Peter gave up and walked home."
    )
    assert shown["none_pronoun"].endswith(
        "at the corner for half an hour. Then he gave up and walked home."
    )
    assert "Owen" not in shown["none_pronoun"]


def test_where_nothing_follows_there_is_no_spillover() -> None:
    discourse = annotated("[An old man|1] came in. / I saw [him|1].")
    context = Context()
    assert list(SPILLOVER.generator(discourse, context)) == []
    assert context.skipped == {"nothing follows the pronoun": 1}
    assert len(list(MENTION.generator(discourse, Context()))) == 1


def test_a_mention_at_the_start_leaves_an_empty_region() -> None:
    (generated,) = SPILLOVER.generator(annotated("[Ann|1 proper] ran. / [She|1] fell."), Context())
    assert [r.content for r in generated.item.conditions[1].regions] == [
        "Ann ran.",
        "",
        "Ann",
        "fell.",
    ]
    assert generated.item.extra["antecedent_kind"] == "proper"


def test_the_longest_phrase_is_an_option() -> None:
    suite = SUITE.configured(max_words=2)
    discourse = annotated("[An old man|1] came in. / [He|1] sat.")
    context = Context()
    assert list(suite.configs[0].generator(discourse, context)) == []
    assert context.skipped == {"antecedent: more than 2 words": 1}
    assert suite.settings == {"max_words": 2}


def test_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    counts = {
        name: entry["splits"]["test"]["rows"]
        for name, entry in manifest["configs"].items()
        if not name.endswith("_shuffled_context")
    }
    assert counts == {
        "sample_bio": 16,
        "sample_conversation": 5,
        "sample_fiction": 20,
        "sample_interview": 3,
        "sample_news": 16,
        "sample_voyage": 15,
        "sample_bio_spillover": 16,
        "sample_conversation_spillover": 5,
        "sample_fiction_spillover": 18,
        "sample_interview_spillover": 3,
        "sample_news_spillover": 16,
        "sample_voyage_spillover": 15,
        "sample_crossed": 26,
        "sample_crossed_spillover": 26,
    }
    for name in counts:
        if "_crossed" in name:
            continue
        for row in rows(folder, name):
            item = item_from_row(row)
            assert row["genre"] == name.split("_")[1]
            pronoun, repetition = item.conditions
            assert pronoun.regions[0] == repetition.regions[0]
            if name.endswith("_spillover"):
                assert pronoun.regions[1] == repetition.regions[1]
                assert pronoun.regions[3] == repetition.regions[3]
                assert any(map(str.isalnum, pronoun.regions[3].content))
            if row["number"] == "plural":
                assert row["gender"] == ""


def test_golden_items_of_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    found = {
        row["item_id"]: row["conditions"][1]["regions"][1]["content"]
        for genre in ("bio", "fiction", "news", "voyage", "conversation")
        for row in rows(built[0], f"sample_{genre}")
    }
    for item, sentence in {
        "SAMPLE_fiction_ferry/u1c29": (
            "On the morning of the storm, the old ferryman untied his boat as usual."
        ),
        "SAMPLE_fiction_orchard/u1c20": (
            "It was addressed to Hanna's grandmother, who had died in March."
        ),
        "SAMPLE_fiction_train/u4c1": '"The bird is asleep," the man answered.',
        "SAMPLE_news_school/u5c13": (
            "According to the pupils' teachers, they come late less often than before."
        ),
        "SAMPLE_bio_botanist/u1c37": (
            "The house was dark, but it protected the botanist Edwin Farr's plants."
        ),
        "SAMPLE_voyage_pass/u1c0": "The Kalt Pass is too steep for large caravans.",
        "SAMPLE_conversation_keys/u6c0": "The sock isn't even yours.",
    }.items():
        assert found[item] == sentence


def test_every_genre_has_an_partial_input_score_of_one_classifier(
    built: tuple[Path, dict[str, Any]],
) -> None:
    """A genre has too few documents to learn from; all of them together have enough."""
    for name, entry in built[1]["configs"].items():
        if "_crossed" in name:
            continue
        scores = entry["quality"]["test"]["partial_input"]
        whole = [score for score in scores if score["group"] == ""]
        assert [score["metric"] for score in whole] == ["mean"]  # the headline's
        for score in whole:
            assert score["n"] == entry["splits"]["test"]["rows"]
            assert score["n_discourses"] == entry["splits"]["test"]["discourses"] < 20
            assert score["score"] > 0.9  # a pronoun, or none


def test_the_card(built: tuple[Path, dict[str, Any]]) -> None:
    card = dataset_card(built[1])
    shown = "On the morning of the storm, **the old ferryman** (instead of: ~~he~~) untied"
    assert f"region 2: {shown}" in card
    assert f"every day for thirty years. {shown}" in card
    # Genres of one kind stand in one row.
    (row,) = [
        line for line in card.splitlines() if "`sample_fiction`, `" in line and "repeat=" in line
    ]
    assert row.startswith("| `sample_bio`, `sample_conversation`, `sample_fiction`,")
    # The genre with the most rows.
    assert "| `sample_fiction` (default) * | test | 20 |" in card
    assert "`sample_bio_spillover`" not in row
    assert "23 not the first mention in its sentence; 9 no noun phrase or name in the" in card
    assert "favours the longer condition" in card
    assert "`sample_voyage` counts only the predictions of the group `mean`.\n\n" in card
    assert card.count("<details><summary>The corpora: ") == 1
    assert "<details><summary>16 configs, 252 rows</summary>" in card


DOCUMENT = """\
# global.Entity = GRP-etype-infstat-salience-centering-minspan-link-identity
# newdoc id = GUM_{genre}_test
# sent_id = GUM_{genre}_test-1
# text = Ann ran.
1	Ann	Ann	PROPN	NNP	Number=Sing	2	nsubj	_	Entity=(1-person-new-nn-cf1-1-coref)
2	ran	run	VERB	VBD	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	.	_	2	punct	_	_

# sent_id = GUM_{genre}_test-2
# text = {pronoun} fell.
1	{pronoun}	she	PRON	PRP	{feats}	2	nsubj	_	Entity=(1-person-giv:act-nn-cf1-1-ana)
2	fell	fall	VERB	VBD	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	.	_	2	punct	_	_

"""
SHE = "Case=Nom|Gender=Fem|Number=Sing|Person=3|PronType=Prs"


def test_a_genre_without_items_has_no_config_and_the_summary_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    for genre, pronoun, feats in (("bio", "She", SHE), ("news", "I", "Person=1|PronType=Prs")):
        text = DOCUMENT.format(genre=genre, pronoun=pronoun, feats=feats)
        (tmp_path / f"GUM_{genre}_test.conllu").write_text(text)
    with pytest.raises(SystemExit) as stopped:
        run_suite(SUITE, ["--corpus", "gum", "--data-dir", str(tmp_path), "--output", "out"])
    assert stopped.value.code == 0
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_text())
    assert list(manifest["configs"]) == ["gum_bio", "gum_bio_spillover"]
    out = capsys.readouterr().out
    assert "no config gum_news: no item in 1 discourses (1 first or second person)\n" in out
    assert "no config gum_news_spillover: no item in 1 discourses" in out
    assert {path.name for path in (tmp_path / "out" / "data").iterdir()} == set(manifest["configs"])


#: ``she and others``: the mention of them all begins where that of the pronoun does.
COORDINATION = """\
# global.Entity = GRP-etype-infstat-salience-centering-minspan-link-identity
# newdoc id = GUM_podcast_test
# sent_id = GUM_podcast_test-1
# text = Ann ran.
1	Ann	Ann	PROPN	NNP	Number=Sing	2	nsubj	_	Entity=(1-person-new-nn-cf1-1-coref)
2	ran	run	VERB	VBD	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	.	_	2	punct	_	_

# sent_id = GUM_podcast_test-2
# text = I saw {pronoun} {and} {noun} here.
1	I	I	PRON	PRP	Person=1|PronType=Prs	2	nsubj	_	_
2	saw	see	VERB	VBD	_	0	root	_	_
3	{pronoun}	she	PRON	PRP	{feats}	{head}	{deprel}	_	{misc}
4	{and}	and	CCONJ	CC	_	5	cc	_	_
5	{noun}	other	NOUN	NNS	Number=Plur	{noun_head}	conj	_	Entity=2)
6	here	here	ADV	RB	_	2	advmod	_	SpaceAfter=No
7	.	.	PUNCT	.	_	2	punct	_	_

"""


def test_a_longer_mention_that_begins_with_the_pronoun(tmp_path: Path) -> None:
    """It is not taken for the pronoun, and a pronoun that begins a coordination is left out."""
    misc = "Entity=(2-person-new-nn-cf2-1,3-sgl(1-person-giv:act-nn-cf1-1-ana)"
    joined = COORDINATION.format(
        **{"pronoun": "her", "and": "and", "noun": "others", "feats": SHE, "misc": misc},
        **{"head": 2, "deprel": "obj", "noun_head": 3},
    )
    possessive = SHE.replace("PronType=Prs", "Poss=Yes|PronType=Prs").replace("Case=Nom|", "")
    owned = COORDINATION.format(
        **{"pronoun": "her", "and": "old", "noun": "friends", "feats": possessive, "misc": misc},
        **{"head": 5, "deprel": "nmod:poss", "noun_head": 2},
    )
    owned = owned.replace("old\tand\tCCONJ\tCC", "old\told\tADJ\tJJ").replace("podcast", "essay")
    (tmp_path / "GUM_podcast_test.conllu").write_text(joined)
    (tmp_path / "GUM_essay_test.conllu").write_text(owned)
    manifest = build_from(SUITE, "gum", tmp_path / "out", data_dir=tmp_path)
    assert sorted(manifest["configs"]) == ["gum_essay", "gum_essay_spillover"]
    (row,) = rows(tmp_path / "out", "gum_essay")
    assert row["conditions"][1]["regions"][1]["content"] == "I saw Ann's old friends here."
    assert (row["gender"], row["antecedent_words"]) == ("feminine", 1)


def test_the_real_schemas(tmp_path: Path, shared: Path) -> None:
    data = shared / "corpora" / "winograd"
    manifest = build_from(SUITE, "winograd", tmp_path, data_dir=data)
    both = ["winograd_crossed", "winograd_crossed_spillover"]
    assert sorted(manifest["configs"]) == sorted(
        [*both, *(f"{name}_shuffled_context" for name in both)]
    )
    for entry in manifest["configs"].values():
        assert entry["splits"]["test"]["rows"] == 56
        assert entry["skipped"]["test"] == {
            "not a pronoun for a man or a woman": 128,
            "not two given names of the pronoun's gender": 56,
            "another pronoun, or the competitor, after it": 9,
            "another pronoun of one of the two": 8,
            "noun of one gender": 8,
            "in one clause with the mention before": 6,
            "nothing follows": 2,
        }
        assert entry["quality"]["test"]["partial_input"][0]["score"] == 0.5
    found = rows(tmp_path, "winograd_crossed")
    assert sum(row["competitor_between"] for row in found) == 29
    texts = {row["item_id"].split("/")[0]: row["conditions"][0]["content"] for row in found}
    # Between the two names a pronoun is the first one's, and changes with that name.
    assert re.fullmatch(
        r"[A-Z]\w+ did a lot worse than his good friend Lucy on the test because she had studied "
        r"so hard\.",
        texts["wsc-030"],
    )


def test_the_real_documents(real_build: Callable[[str, str], Path]) -> None:
    built = real_build("coreference", "gum")
    manifest = json.loads((built / "manifest.json").read_text(encoding="utf-8"))
    entries = manifest["configs"]
    # Documents of the train, validation and test lists are in one split.
    assert {split for entry in entries.values() for split in entry["splits"]} == {"test"}
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in entries.items()}
    assert {name: n for name, n in counts.items() if not name.endswith("_spillover")} == {
        "gum_academic": 8,
        "gum_bio": 53,
        "gum_conversation": 7,
        "gum_court": 20,
        "gum_interview": 15,
        "gum_news": 7,
        "gum_speech": 12,
        "gum_textbook": 13,
        "gum_vlog": 9,
        "gum_voyage": 11,
    }
    skipped: Counter[str] = Counter()
    for name, entry in entries.items():
        if not name.endswith("_spillover"):
            skipped.update(entry["skipped"]["test"])
    assert skipped["not the first mention in its sentence"] > 900
    for reason, least in {
        "first or second person": 2500,
        "reflexive pronoun": 20,
        "relative pronoun or question word": 20,
        "expletive it": 50,
        "another speaker": 30,
        "antecedent: predicate nominal": 30,
        "antecedent: clausal or event mention": 20,
        "antecedent: quantified phrase": 10,
        "antecedent: apposition": 4,
        "antecedent: more than 15 words": 2,
        "antecedent: disfluency": 1,
        "disfluent sentence": 20,
        "predicate that repeats the phrase": 2,
        "heading or fragment before": 2,
    }.items():
        assert skipped[reason] >= least, reason
    texts = {
        row["item_id"]: row["conditions"][1]["regions"][1]["content"]
        for name in counts
        if not name.endswith("_spillover")
        for row in rows(built, name)
    }
    assert len(texts) == 155
    for item, beginning in {
        "GUM_bio_emperor/u25c15": "Thus commenced Norton's unprecedented",
        "GUM_bio_galois/u7c36": "It is unsurprising, in the light of Galois's character",
        "GUM_conversation_grounded/u120c0": "The blades are right here.",
        "GUM_interview_cocktail/u11c121": "Regarding how long the beverage will be made available, "
        "Stan remarked to The Brooklyn Paper, \"We'll keep it around until Santorum is irrelevant.",
        "GUM_speech_impeachment/u3c49": "It is an oath rooted in the Revolution fought by "
        "Senators' grandparents",
        "GUM_bio_dvorak/u2c23": "After Bedřich Smetana, Antonín Leopold Dvořák was the next",
        "GUM_voyage_athens/u22c9": "Although Athens had a prestigious past",
    }.items():
        assert texts[item].startswith(beginning), texts[item]
