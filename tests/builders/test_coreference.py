"""The coreference suite: two sentences, with a pronoun or with what it takes up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.marked_texts import annotated
from support.suites import Sample, build_from, rows

from coherencegym.builders.coreference import SUITE
from coherencegym.cards.render import dataset_card, quality_json
from coherencegym.eval.kinds.items import ITEMS
from coherencegym.manipulations.operator import Context

MENTION, SPILLOVER = SUITE.configs


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
        "antecedent_distance": 1,
        "antecedent_words": 3,
        "genre": "fiction",
    }
    assert generated.views == {
        "pronoun": ("Soon he's dry.",),
        "repetition": ("Soon the old man is dry.",),
    }


def test_the_antecedent_may_be_further_back_behind_pronouns() -> None:
    discourse = annotated("[An old man|1] came in. / [He|1] sat. / Soon [he|1]'s dry.")
    *_, generated = MENTION.generator(discourse, Context())
    assert [region.content for region in generated.item.condition("repetition").regions] == [
        "An old man came in. He sat.",
        "Soon the old man is dry.",
    ]
    assert generated.item.extra["antecedent_distance"] == 2
    assert generated.views["pronoun"] == ("Soon he's dry.",)


def test_the_spillover_is_the_same_text() -> None:
    discourse = annotated("[An old man|1] came in. / Soon [he|1]'s dry. / I saw [him|1].")
    (generated,) = SPILLOVER.generator(discourse, Context())
    pronoun, repetition = generated.item.conditions
    assert [r.content for r in pronoun.regions] == ["An old man came in.", "Soon", "he's", "dry."]
    assert [r.content for r in repetition.regions][1:] == ["Soon", "the old man is", "dry."]
    (prediction,) = generated.item.predictions
    assert (prediction.formula, prediction.metric) == ("(4;%repetition%) > (4;%pronoun%)", "mean")


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


def test_the_sample(built: tuple[Path, dict[str, Any]]) -> None:
    folder, manifest = built
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in manifest["configs"].items()}
    assert counts == {
        "sample": 82,
        "sample_spillover": 80,
    }
    for name in counts:
        for row in rows(folder, name):
            item = ITEMS.from_row(row)
            assert row["genre"] == row["discourse_id"].split("_")[1]
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
        for row in rows(built[0], "sample")
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


def test_the_genres_are_one_config_with_one_partial_input_score(
    built: tuple[Path, dict[str, Any]],
) -> None:
    """A genre has too few documents to learn from; each is a group."""
    for name, entry in built[1]["configs"].items():
        scores = entry["quality"]["test"]["partial_input"]
        whole = [score for score in scores if score["group"] == ""]
        assert len(whole) == 1  # the headline's
        for score in whole:
            assert score["n"] == entry["splits"]["test"]["rows"]
            assert score["n_discourses"] == entry["splits"]["test"]["discourses"] >= 20
            assert score["score"] > 0.9  # a pronoun, or none
        groups = entry["splits"]["test"]["groups"]
        genres = [number for name, number in groups.items() if name.startswith("genre=")]
        assert sum(genres) == entry["splits"]["test"]["rows"]
        assert len(genres) == 6


def test_the_card(built: tuple[Path, dict[str, Any]]) -> None:
    card = dataset_card(built[1])
    shown = "On the morning of the storm, **the old ferryman** untied"
    assert f"every day for thirty years. {shown}" in card
    skipped = json.loads(quality_json(built[1]))["configs"]["sample"]["splits"]["test"]["skipped"]
    assert skipped["not the first mention in its sentence"] == 119
    assert "favours the longer condition" in card
    assert "`sample` counts only predictions of the group `mean`." in card
    assert "The headline score is the score of the marked config, controlled if" in card
    assert "A high one: no, `sample` cannot be controlled." in card


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
    assert sorted(manifest["configs"]) == ["gum", "gum_spillover"]
    (row,) = rows(tmp_path / "out", "gum")
    assert row["conditions"][1]["regions"][1]["content"] == "I saw Ann's old friends here."
    assert (row["gender"], row["antecedent_words"]) == ("feminine", 1)


def test_the_real_documents(real_build: Callable[[str, str], Path]) -> None:
    built = real_build("coreference", "gum")
    manifest = json.loads((built / "manifest.json").read_text(encoding="utf-8"))
    entries = manifest["configs"]
    # Documents of the train, validation and test lists are in one split.
    assert {split for entry in entries.values() for split in entry["splits"]} == {"test"}
    counts = {name: entry["splits"]["test"]["rows"] for name, entry in entries.items()}
    assert counts == {"gum": 195, "gum_spillover": 195}
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
    assert len(texts) == 195
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
