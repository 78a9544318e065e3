"""CoNLL-2012, the layout of OntoNotes."""

from __future__ import annotations

import pytest
from support.small_corpora import OfFile, read_one

from coherencegym.loaders.corpora.conll2012 import ONTONOTES
from coherencegym.loaders.corpus import NEVER_RUN
from coherencegym.loaders.discourse import span_text
from coherencegym.loaders.read import read
from coherencegym.loaders.text.detokenize import detokenize, lay_out

BEGIN = "#begin document (bc/cctv/00/cctv_0000); part 000"
END = "#end document"


def rows(words: str, speaker: str = "-") -> str:
    """A sentence: words with tag and coreference after slashes."""
    lines = []
    for number, word in enumerate(words.split()):
        form, tag, coreference = word.split("~")
        lines.append(
            f"bc/cctv/00/cctv_0000   0   {number}   {form}   {tag}   (TOP*   -   -   -   "
            f"{speaker}   *   (ARG0*   {coreference}"
        )
    return "\n".join(lines) + "\n\n"


FIRST = rows(
    "The~DT~(12|(0 old~JJ~- ``~``~- dog~NN~0) ''~''~- of~IN~- Ms.~NNP~(3 Berg~NNP~3)|12) "
    "did~VBD~- n't~RB~- -LRB-~-LRB~- yet~RB~- -RRB-~-RRB~- bark~VB~- /.~.~-",
    "Ann_Lee",
)
SECOND = rows("It~PRP~(12) saw~VBD~- her~PRP$~(3)|(0 cat~NN~0) .~.~-")


def document(*sentences: str, begin: str = BEGIN) -> str:
    return f"{begin}\n{''.join(sentences)}{END}\n"


def test_sentences_speakers_and_mentions(of_file: OfFile) -> None:
    discourse = read_one(of_file(ONTONOTES, document(FIRST, SECOND)))
    assert discourse.id == "bc/cctv/00/cctv_0000/0"
    assert discourse.meta == {"split": "test", "genre": "bc"}
    assert discourse.texts == (
        'The old "dog" of Ms. Berg didn\'t (yet) bark.',
        "It saw her cat.",
    )
    assert [unit.speaker for unit in discourse.units] == ["Ann_Lee", None]
    assert [(span_text(discourse, m.span), m.chain, m.kind) for m in discourse.mentions] == [
        ('The old "dog" of Ms. Berg', "12", "nominal"),
        ('The old "dog', "0", "nominal"),
        ("Ms. Berg", "3", "proper"),
        ("It", "12", "pronoun"),
        ("her cat", "0", "nominal"),
        ("her", "3", "pronoun"),
    ]
    heads = [span_text(discourse, m.head) for m in discourse.mentions if m.head is not None]
    assert heads == ["dog", "dog", "Berg", "It", "cat", "her"]
    assert [m.features.pronoun for m in discourse.mentions[3:]] == ["personal", "", "possessive"]
    assert discourse.units[1].source is not None
    assert (discourse.units[1].source.start, discourse.units[1].source.end) == (18, 22)


def test_parts_are_documents(of_file: OfFile) -> None:
    later = BEGIN.replace("part 000", "part 001")
    reading = read(
        of_file(ONTONOTES, document(FIRST, SECOND) + document(FIRST, SECOND, begin=later))
    )
    assert [d.id.rpartition("/")[2] for d in reading] == ["0", "1"]


def test_skeletons_are_withheld(of_file: OfFile) -> None:
    skeleton = rows("[WORD]~PRP~(1) [WORD]~VBD~-")
    reading = read(of_file(ONTONOTES, document(skeleton) + document(FIRST, SECOND)))
    assert len(list(reading)) == 1
    assert reading.skipped == {"withheld text": 1}


def test_a_hyphen_of_its_own_touches_the_words_beside_it(of_file: OfFile) -> None:
    compound = rows("The~DT~(1 well~RB~- -~HYPH~- known~JJ~- dog~NN~1) -~:~- (~-LRB~- ran~VBD~-")
    discourse = read_one(of_file(ONTONOTES, document(compound, SECOND, rows("It~PRP~(1)"))))
    assert discourse.texts[0] == "The well-known dog - (ran"
    mention = discourse.mentions[0]
    assert span_text(discourse, mention.span) == "The well-known dog"
    assert mention.head is not None
    assert span_text(discourse, mention.head) == "dog"


def test_the_only_mention_of_a_chain_is_left_out(of_file: OfFile) -> None:
    reading = read(of_file(ONTONOTES, document(FIRST, SECOND, rows("He~PRP~(7) ran~VBD~-"))))
    (discourse,) = reading
    assert len(discourse.units) == 3
    assert len(discourse.mentions) == 6
    assert reading.skipped == {"mentions that are the only one of their chain": 1}


def test_the_reader_says_that_it_is_unproven() -> None:
    assert ONTONOTES.proven == NEVER_RUN
    assert not ONTONOTES.republishable


@pytest.mark.parametrize(
    ("tokens", "text"),
    [
        (["I", "ca", "n't", "."], "I can't."),
        (["``", "Yes", "''", ",", "he", "said"], '"Yes", he said'),
        (["I", "said", ",", "``", "Yes"], 'I said, "Yes'),
        (["``", "Yes", "''", ",", "``", "No"], '"Yes", "No'),
        (["He", "left", ".", "''"], 'He left."'),
        (["``", "One", "``", "two", "''"], '"One "two"'),
        (["so", "``", "''", "left"], 'so "" left'),
        (["$", "5", "-LRB-", "so", "-RRB-", "!"], "$5 (so)!"),
        (["the", "dogs", "'", "bowl"], "the dogs' bowl"),
        (["it", "'s", "10", ":", "30"], "it's 10:30"),
    ],
)
def test_tokens_have_their_place_in_the_natural_text(tokens: list[str], text: str) -> None:
    laid_out, places = lay_out(tokens)
    assert laid_out == text
    joined = "".join(laid_out[start:end] for start, end in places)
    assert joined == laid_out.replace(" ", "")


def test_where_detokenising_puts_signs_in_the_tokens_stay_apart() -> None:
    assert detokenize("i m here") == "i'm here"
    assert lay_out(["i", "m", "here"]) == ("i m here", [(0, 1), (2, 3), (4, 8)])
