"""This project's own texts, and the registry."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from coherencegym.licence import BY_DOCUMENT, CLOSED, IN_PART, NO, OPEN, YES, may_republish
from coherencegym.loaders.corpus import Corpus, CorpusError
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import CORPORA, corpus, sample_of


def test_stories() -> None:
    sample = sample_of(corpus("storycloze"))
    assert sample is not None
    stories = list(read(sample))
    assert len(stories) >= 200
    assert {story.corpus for story in stories} == {"sample"}
    assert {story.meta["split"] for story in stories} == {"test"}
    assert all(len(story.units) == 5 for story in stories)
    rights = Counter(story.alternatives[0].right for story in stories)
    assert abs(rights[0] - rights[1]) <= 1
    texts = [story.texts[:4] for story in stories]
    assert len(set(texts)) == len(texts)
    for story in stories:
        first, second = story.alternatives[0].options
        assert first != second


def test_dialogues() -> None:
    sample = sample_of(corpus("personachat"))
    assert sample is not None
    dialogues = list(read(sample))
    assert len(dialogues) >= 60
    for dialogue in dialogues:
        assert 8 <= len(dialogue.units) <= 14
        assert [unit.speaker for unit in dialogue.units[:2]] == ["partner", "self"]


def test_schemas() -> None:
    sample = sample_of(corpus("winograd"))
    assert sample is not None
    schemas = list(read(sample))
    assert len(schemas) == 74
    assert {schema.meta["split"] for schema in schemas} == {"test"}
    assert len({schema.text for schema in schemas}) == 74
    families = Counter(schema.meta["family"] for schema in schemas)
    assert set(families.values()) == {2}
    for one, two in zip(schemas[::2], schemas[1::2], strict=True):
        assert one.meta["family"] == two.meta["family"]
        assert one.alternatives[0].options == two.alternatives[0].options
        assert {one.alternatives[0].right, two.alternatives[0].right} == {0, 1}


def test_documents_with_coreference() -> None:
    sample = sample_of(corpus("gum"))
    assert sample is not None
    documents = list(read(sample))
    assert len(documents) == 44
    assert sum(len(document.mentions) for document in documents) == 854
    genres = Counter(document.meta["genre"] for document in documents)
    assert set(genres) == {"fiction", "news", "bio", "voyage", "conversation", "interview"}
    assert min(genres.values()) >= 5
    for document in documents:
        assert 4 <= len(document.units) <= 8
        assert document.licence is None
        spoken = document.meta["genre"] in ("conversation", "interview")
        assert all((unit.speaker is not None) == spoken for unit in document.units)
        sizes = Counter(mention.chain for mention in document.mentions)
        assert sum(size > 1 for size in sizes.values()) >= 2
        for mention in document.mentions:
            assert mention.head is not None
            assert mention.features.function
            single = sizes[mention.chain] == 1
            assert (mention.features.link in ("sgl", "pred")) >= single


def test_pronouns_of_the_sample_are_those_of_the_text() -> None:
    """Every third-person pronoun is a mention, except the ``it`` that stands for nothing."""
    sample = sample_of(corpus("gum"))
    assert sample is not None
    word = re.compile(r"\b(he|she|him|his|they|them|their|herself|himself|themselves)\b", re.I)
    for document in read(sample):
        marked = {m.head for m in document.mentions if m.kind == "pronoun"}
        for number, unit in enumerate(document.units):
            for match in word.finditer(unit.text):
                if unit.text[match.start() :].startswith("He or she"):
                    continue
                assert ((number, match.start(), match.end()),) in marked, (document.id, match)


def test_pairs() -> None:
    sample = sample_of(corpus("dialoguenli"))
    assert sample is not None
    reading = read(sample)
    pairs = list(reading)
    assert reading.skipped == {}
    # In turns, so that the first few (--limit) have some of each.
    assert [pair.meta["label"] for pair in pairs] == ["negative", "neutral", "positive"] * 60
    sentences = [text for pair in pairs for text in pair.texts]
    assert len(set(sentences)) == len(sentences)
    for sentence in sentences:
        assert sentence[0].isupper()
        assert sentence[-1] == "."
    assert all(pair.meta["origin"] == "utterance, utterance" for pair in pairs)


def test_short_documents() -> None:
    sample = sample_of(corpus("documents"))
    assert sample is not None
    reading = read(sample)
    documents = list(reading)
    assert (len(documents), reading.skipped) == (120, {})
    # One domain: too few documents to be divided further.
    assert not any("domain" in document.meta for document in documents)
    clusters = Counter(document.id.rpartition("-")[0] for document in documents)
    assert len(clusters) == 12
    assert set(clusters.values()) == {10}
    for document in documents:
        assert 4 <= len(document.units) <= 7
        assert document.meta["title"]
    sentences = [text for document in documents for text in document.texts]
    assert len(set(sentences)) >= len(sentences) - 3  # "Nobody was hurt."


def test_the_short_documents_have_what_probes_look_for() -> None:
    sample = sample_of(corpus("documents"))
    assert sample is not None
    documents = list(read(sample))
    for words in ("he|she", "this|these|that|those", "and|but|because|although", "was|were"):
        with_one = [d for d in documents if re.search(rf"\b({words})\b", d.text, re.I)]
        assert len(with_one) >= 60, words


def test_a_sample_is_cc0_whatever_the_corpus_is() -> None:
    sample = sample_of(corpus("storycloze"))
    assert sample is not None
    assert (sample.name, sample.native) == ("sample", "storycloze")
    assert (sample.licence, sample.licence_name, sample.licence_url) == ("CC0-1.0", "", "")
    assert sample.republishable
    assert not sample.proven
    assert "mostafazadeh" not in sample.citation


def test_no_sample_in_the_format_of_rocstories() -> None:
    assert sample_of(corpus("rocstories")) is None


def test_the_samples_together_are_one_corpus() -> None:
    sample = corpus("sample")
    formats = "storycloze personachat winograd gum disco pdtb tedmdb dialoguenli irc documents "
    formats += "decor cohesentia"
    assert sample.native.split(", ") == formats.split()
    everything = list(read(sample))
    parts = [part for name in sample.native.split(", ") if (part := sample_of(CORPORA[name]))]
    assert everything == [discourse for part in parts for discourse in read(part)]


def test_samples_are_found_in_the_package_only(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    other = tmp_path_factory.mktemp("sample")
    (other / "test_self_original.txt").write_text("1 a\tb\n")
    sample = sample_of(corpus("personachat"))
    assert sample is not None
    assert len(list(read(sample, data_dir=other))) >= 60


def test_the_stricter_of_two_licences_decides() -> None:
    declared = CORPORA["tedmdb"]
    assert (declared.licence, declared.text_licence) == ("CC-BY-4.0", "CC-BY-NC-ND-4.0")
    assert not declared.republishable
    for annotation, texts, answer in (
        ("CC-BY-4.0", "", YES),
        ("CC-BY-4.0", "CC0-1.0", YES),
        ("CC-BY-4.0", "CC-BY-ND-4.0", NO),
        ("other", "CC0-1.0", NO),
        ("MIT AND CC0-1.0", "MIT", YES),
        ("MIT AND CC-BY-ND-4.0", "MIT", NO),
        ("CC-BY-4.0", BY_DOCUMENT, IN_PART),
    ):
        own = replace(declared, name="mine", licence=annotation, text_licence=texts)
        assert (own.may_be_published, own.republishable) == (answer, answer != NO), answer
        assert replace(own, name="tedmdb").may_be_published == NO
    assert CORPORA["gum"].licence_of_texts == "other", "a document without a licence has none"


def test_what_is_closed_is_known_without_the_declarations() -> None:
    closed = {name for name, declared in CORPORA.items() if not declared.republishable}
    # Of a user's own documents the user says the licence.
    assert closed == CLOSED | {"documents"}
    assert {*CORPORA} - CLOSED == OPEN
    by_licence = {
        name
        for name, declared in CORPORA.items()
        if not (may_republish(declared.licence) and may_republish(declared.text_licence))
    }
    assert by_licence == closed | {"gum"}


def test_the_documents_have_the_licences_of_all(repository: Path) -> None:
    text = (repository / "docs/corpora.md").read_text(encoding="utf-8")

    def said(declared: Corpus, key: str) -> str:
        identifier, name = getattr(declared, key), getattr(declared, f"{key}_name")
        return name if identifier == "other" else ", ".join(filter(None, (identifier, name)))

    for name, own in CORPORA.items():
        licences = " | ".join(said(own, key) for key in ("licence", "text_licence"))
        assert f"| `{name}` | {licences} | {own.may_be_published} |\n" in text


def test_an_unknown_corpus_gets_a_hint() -> None:
    with pytest.raises(CorpusError, match=r"did you mean 'storycloze'.*there are storycloze, roc"):
        corpus("StoryClose")
    with pytest.raises(CorpusError, match=r"^no corpus is called 'xyz'; there are"):
        corpus("xyz")
