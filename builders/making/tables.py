"""The work of a build on the drafts of one kind of table, beside what the kind itself says."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from coherencegym.builders.judgement.match import Matcher
from coherencegym.builders.release.quality import Decision
from coherencegym.builders.suite import Config

D = TypeVar("D")

#: Puts the column ``human_ok`` into rows: (matcher, config, its full name, split, drafts, rows) ->
#: the figures for the manifest; empty where nobody was asked about these rows.
Judge = Callable[[Matcher, Config, str, str, Sequence[D], Sequence[dict[str, Any]]], dict[str, Any]]


def itself(draft: Any, number: int) -> Any:
    """The draft: it is what a row is made of."""
    return draft


def no_groups(config: Config, draft: Any) -> Iterable[str]:
    """No group."""
    return ()


def no_details(config: Config, drafts: Sequence[Any]) -> dict[str, int]:
    """No count."""
    return {}


def no_decisions(drafts: Sequence[Any], breakdowns: Sequence[str]) -> list[Decision]:
    """No decision: there is no classifier."""
    return []


def no_quality(
    config: Config, drafts: Sequence[Any], decisions: Sequence[Decision]
) -> dict[str, Any]:
    """Count the rows, which is all that is known of any kind."""
    return {"items": len(drafts)}


@dataclass(frozen=True)
class Making(Generic[D]):
    """The way from drafts to a table. ``D`` is what the drafters of the kind yield.

    As it stands it serves a kind whose drafters yield what its ``to_row`` takes, and of whose
    quality nothing is measured.

    Attributes:
        value: (draft, its number from 1) -> what the kind's ``to_row`` takes.
        groups: (config, draft) -> the groups that its row is counted in, beside those by columns.
        details: (config, drafts) -> further counts, by group.
        decide: (drafts, breakdowns) -> what a classifier says of all drafts of a split: of every
            config that one is spread over.
        quality: (config, drafts, what was decided) -> the quality section of the manifest.
        judge: the judging of such rows by people: see :data:`Judge`.
    """

    value: Callable[[D, int], Any] = itself
    groups: Callable[[Config, D], Iterable[str]] = no_groups
    details: Callable[[Config, Sequence[D]], dict[str, int]] = no_details
    decide: Callable[[Sequence[D], Sequence[str]], list[Decision]] = no_decisions
    quality: Callable[[Config, Sequence[D], Sequence[Decision]], dict[str, Any]] = no_quality
    judge: Judge[D] | None = None
