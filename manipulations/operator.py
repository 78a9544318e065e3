"""Operators: what they share, their random key, what they may count, and composition with ``|``.

An operator is a frozen dataclass whose fields are its whole configuration. Called with a discourse
it yields new discourses, or nothing where it does not apply, and then counts why.
"""

from __future__ import annotations

import hashlib
import json
import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from typing import Any

from coherencegym.loaders.discourse import Discourse

#: A detector of intruders handed to an operator: documents (their sentences) -> a score for each
#: sentence, the higher the more it looks like an intruder; minus infinity for the opening one.
#: Never imported from eval.
Detector = Callable[[Sequence[Sequence[str]]], list[list[float]]]


class NotApplicableError(Exception):
    """The reason why an operator leaves a place as it is, in a few words."""


def first_reason(*rules: tuple[object, str]) -> str:
    """The reason of the first rule that holds; empty where none does."""
    return next((reason for holds, reason in rules if holds), "")


def refuse(*rules: tuple[object, str]) -> None:
    """Raise with the reason of the first rule that holds."""
    if reason := first_reason(*rules):
        raise NotApplicableError(reason)


@dataclass
class Context:
    """The things that operators get: the seed, the suite's name, and a place to count.

    ``skipped`` counts, by reason, the discourses (or places in one) where an operator did not
    apply. A context is made for one discourse or for many: no result depends on which.
    """

    seed: int = 0
    suite: str = ""
    skipped: Counter[str] = field(default_factory=Counter)

    def random(self, discourse: Discourse, operator: str, **settings: Any) -> random.Random:
        """A generator for one operator on one discourse.

        The key is (seed, suite, corpus, discourse id, operator, settings) and nothing else: not the
        place in a pipeline, the process, or which other discourses exist.
        """
        key = [self.seed, self.suite, discourse.corpus, discourse.id, operator, settings]
        text = json.dumps(key, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
        digest = hashlib.sha256(text.encode("utf-8")).digest()
        return random.Random(int.from_bytes(digest, "big"))

    @contextmanager
    def counting(self) -> Iterator[None]:
        """Count the reason of a :class:`NotApplicableError` that is raised within."""
        try:
            yield
        except NotApplicableError as reason:
            self.skipped[str(reason)] += 1


class Operator:
    """A mapping from a discourse to its manipulated versions, with ``|`` and a printable recipe."""

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield the manipulated versions; nothing, and a count, where it does not apply."""
        raise TypeError(f"{type(self).__name__} is not fitted: call its method fit first")

    def __or__(self, other: Operator) -> Pipeline:
        """This operator, then ``other`` on each of its results."""
        return Pipeline((self, other))

    def __str__(self) -> str:
        """The operator as Python would make it, without fields that have their default."""
        settings = [
            f"{f.name}={value!r}"
            for f in fields(self)  # type: ignore[arg-type]
            if (value := getattr(self, f.name)) != f.default
        ]
        return f"{type(self).__name__}({', '.join(settings)})"


@dataclass(frozen=True)
class Pipeline(Operator):
    """Apply several operators to a text, one after another.

    The pipeline ``A() | B()`` applies the operator ``B`` to every result of the operator ``A``. If
    several results get the same name from ``B``, the name from ``A`` comes first: for example,
    ``shuffled-1/gender_flip`` and ``shuffled-2/gender_flip``.
    """

    steps: tuple[Operator, ...] = ()

    def __call__(self, discourse: Discourse, context: Context) -> Iterator[Discourse]:
        """Yield what the last step makes of what the steps before it made."""

        results = [discourse]
        for step in self.steps:
            made = [(before, after) for before in results for after in step(before, context)]
            often = Counter(after.variant for _, after in made)
            results = [
                _named_after(before, after) if often[after.variant] > 1 else after
                for before, after in made
            ]
        yield from results

    def __or__(self, other: Operator) -> Pipeline:
        """These operators, then ``other``."""
        return Pipeline((*self.steps, other))

    def __str__(self) -> str:
        """The steps joined by ``|``, without empty ones."""
        return " | ".join(filter(None, map(str, self.steps)))


def _named_after(before: Discourse, after: Discourse) -> Discourse:
    # An operator that keeps the name of what it is given, or begins with it, has said it already.
    names = [before.variant, after.variant]
    if f"{names[1]}/".startswith(f"{names[0]}/"):
        return after
    return replace(after, variant="/".join(filter(None, names)))
