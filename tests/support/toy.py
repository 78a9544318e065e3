"""A small suite on a small corpus whose texts a test chooses."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from coherencegym.builders.suite import Config, Contrast, MinimalPairs, Suite, context_and_last
from coherencegym.loaders.corpus import Corpus, CorpusFile, FilePattern, ReadOptions
from coherencegym.loaders.discourse import Discourse, Unit
from coherencegym.manipulations.operator import Pipeline
from coherencegym.manipulations.units import Shuffle

#: The repository of the suite, which is no suite of the toolkit's.
REPO = "coherencegym/toy_order"
#: Split -> discourse id -> sentences.
Texts = Mapping[str, Mapping[str, Sequence[str]]]


def last_unit(discourse: Discourse) -> tuple[str, ...]:
    return (discourse.units[-2].text,)


SUITE = Suite(
    name="toy_order",
    title="Toy order",
    version="1.0.0",
    hypothesis="Shuffled is worse.",
    description="A toy.",
    conditions={"original": "as it is", "shuffled": "not as it is"},
    limitations=("It is a toy.",),
    citation="@misc{toy}",
    configs=(
        Config(
            name="context",
            corpora=("toy",),
            genre="narration",
            generator=MinimalPairs(
                versions={"original": Pipeline(), "shuffled": Shuffle(keep_last=1)},
                regions=context_and_last,
                contrasts=(Contrast("shuffled", "original", 2),),
                view=last_unit,
            ),
            summary="the last sentence is scored",
            regions=("the context", "the last sentence"),
            partial_input="a bag of words of the sentence before the last",
        ),
    ),
)


def toy_corpus(name: str, texts: Texts, **settings: Any) -> Corpus:
    """A corpus that holds these texts."""

    def reader(corpus: Corpus, file: CorpusFile, options: ReadOptions) -> Iterator[Discourse]:
        for identifier, sentences in texts[file.split].items():
            licence = settings.get("document_licences", {}).get(identifier)
            yield Discourse(
                identifier,
                name,
                tuple(map(Unit, sentences)),
                meta={"split": file.split},
                licence=licence,
            )

    return Corpus(
        name=name,
        title=f"The {name} corpus",
        homepage="https://example.org/toy",
        citation="@misc{corpus}",
        licence=settings.get("licence", "CC0-1.0"),
        obtain="it is made by the tests",
        proven="2026-11-29: the whole toy",
        patterns=tuple(FilePattern(f"{split}.txt", split) for split in texts),
        reader=reader,
        files=tuple(CorpusFile(Path(name), split, revision="0" * 40) for split in texts),
    )


def stories(start: int, stop: int, marker: str = "") -> dict[str, list[str]]:
    """Stories of four sentences, one a number."""
    return {
        f"s{i}": [f"Ann saw {i} dogs.", "They barked.", f"She ran{marker}.", "It was late."]
        for i in range(start, stop)
    }
