"""Detectors: scores of sentences as intruders, from a language model's surprisals.

All detectors look at what a sentence and its document have to do with each other. For a document of
sentences s_1 ... s_n, with surprisals S in bits,

- what the context before it does for sentence i: h_i = S(s_i) - S(s_i | s_<i);
- what it does for what follows: f_i = S(s_>i | s_<i) - S(s_>i | s_<i, s_i), 0 for the last.

h_i is the pointwise mutual information (PMI) of the sentence and what precedes it (Church and Hanks
1990), which Holtzman et al. 2021 ("Surface Form Competition") use to rank texts by what
a context does for them and not by how frequent they are. By the chain rule h_i + f_i is the PMI of
the sentence and all the rest of its document, log2 p(s_1 ... s_n) - log2 p(s_i) - log2 p(the
document without s_i). An intruder shares less with its document, so a score is a negated help. It
is divided by the number of tokens of the sentence: long sentences have more of everything. The
unit is bits per token; higher is more like an intruder.

The task is that of Shen et al. 2021 ("Evaluating Document Coherence Modeling", TACL 9), who
fine-tune classifiers for it; these detectors are not trained.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from coherencegym.errors import EvaluationError


@dataclass(frozen=True)
class DocumentBits:
    """Bits that were read of a document of n sentences; all tuples are of length n.

    Attributes:
        bits: surprisal of each sentence after those before it.
        tokens: tokens of each sentence that have a surprisal.
        alone: bits of each sentence read by itself; 0 for the opening one, and all 0 where the
            detector does not ask for them.
        matched: the part of ``bits`` that stands against ``alone``: without a start-of-text token
            the first token of a sentence by itself has no surprisal, and is left out of both.
        following: bits of the sentences after each one, when it is taken out; as ``alone``.
        following_tokens: the number of these tokens.
    """

    bits: tuple[float, ...]
    tokens: tuple[int, ...]
    alone: tuple[float, ...]
    matched: tuple[float, ...]
    following: tuple[float, ...]
    following_tokens: tuple[int, ...]

    def context_help(self, sentence: int) -> float:
        """h (bits): how much less surprising a sentence is after those before it than alone."""
        return self.alone[sentence] - self.matched[sentence]

    def following_help(self, sentence: int) -> float:
        """f (bits): how much less surprising what follows is with the sentence than without."""
        return self.following[sentence] - sum(self.bits[sentence + 1 :])

    def per_token(self, sentence: int, bits: float) -> float:
        """Bits over the tokens of a sentence."""
        # Plus 0: no help at all is not minus nothing.
        return bits / max(1, self.tokens[sentence]) + 0.0


@dataclass(frozen=True)
class SurprisalDetector:
    """A way to score sentences.

    Attributes:
        name, summary: its score, in a word and for people.
        alone: it needs every sentence but the opening one read by itself.
        without: it needs the document read without each sentence that something follows.
        score: gives bits per token from what was read and the place of a sentence (1 to n - 1).
    """

    name: str
    summary: str
    alone: bool
    without: bool
    score: Callable[[DocumentBits, int], float]


def _mutual(read: DocumentBits, sentence: int) -> float:
    helps = read.context_help(sentence) + read.following_help(sentence)
    return read.per_token(sentence, -helps)


def _context(read: DocumentBits, sentence: int) -> float:
    return read.per_token(sentence, -read.context_help(sentence))


def _following(read: DocumentBits, sentence: int) -> float:
    return read.per_token(sentence, -read.following_help(sentence))


def _surprisal(read: DocumentBits, sentence: int) -> float:
    return read.per_token(sentence, read.bits[sentence])


def _removal(read: DocumentBits, sentence: int) -> float:
    bits = sum(read.bits[:sentence]) + read.following[sentence]
    tokens = sum(read.tokens[:sentence]) + read.following_tokens[sentence]
    return sum(read.bits) / max(1, sum(read.tokens)) - bits / max(1, tokens)


#: The detectors by name; the first is the default.
DETECTORS = {
    detector.name: detector
    for detector in (
        SurprisalDetector(
            "mutual",
            "negative mutual information of the sentence and the rest, per token",
            True,
            True,
            _mutual,
        ),
        SurprisalDetector(
            "context",
            "negative bits per token that the context saves on the sentence",
            True,
            False,
            _context,
        ),
        SurprisalDetector(
            "following",
            "negative bits per token that the sentence saves on the text after it",
            False,
            True,
            _following,
        ),
        SurprisalDetector(
            "surprisal",
            "mean surprisal of the sentence after the text before it",
            False,
            False,
            _surprisal,
        ),
        SurprisalDetector(
            "removal",
            "mean surprisal of the document, minus its mean surprisal without the sentence",
            False,
            True,
            _removal,
        ),
    )
}
DEFAULT_DETECTOR = next(iter(DETECTORS))


def detector_of(name: str) -> SurprisalDetector:
    """The detector of that name."""
    if name not in DETECTORS:
        raise EvaluationError(f"no detector {name!r}; expected one of {', '.join(DETECTORS)}")
    return DETECTORS[name]
