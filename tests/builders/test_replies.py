"""Replies of a chat that change places."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from support.suites import Sample, rows

from coherencegym.builders.crossing.generator import Crossed
from coherencegym.builders.crossing.partners import LeastRepeating, Partner
from coherencegym.builders.pipeline.kinds import Fits
from coherencegym.builders.replies import SUITE, of_two_threads, replies, with_same_names
from coherencegym.loaders.discourse import Discourse
from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus
from coherencegym.manipulations.operator import Context

BREAD = (
    ("ann", "my bread stays flat in this oven"),
    ("bo", "ann: give the dough two hours somewhere warm"),
    ("ann", "bo: I never wait that long, sadly"),
)
TYRE = (
    ("cy", "second puncture within a week, always at the front"),
    ("dee_2", "cy, feel along the rubber for sharp things"),
    ("cy", "found a tiny wire there, dee_2 you are good"),
)


def threads(folder: Path, *talks: tuple[tuple[str, str], ...]) -> list[Discourse]:
    """Read what a log and its annotation say of talks in which each message replies to the last."""
    lines: list[str] = []
    links: list[str] = []
    for talk in talks:
        for number, (who, said) in enumerate(talk):
            links.append(f"{max(0, len(lines) - 1) if number else len(lines)} {len(lines)} -")
            lines.append(f"[01:00] <{who}> {said}")
    (folder / "a.train-a.annotation.txt").write_text("\n".join(links) + "\n", encoding="utf-8")
    (folder / "a.train-a.raw.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return list(read(corpus("irc"), data_dir=folder, splits=["train"]))


def partners(folder: Path, talk: tuple[tuple[str, str], ...], context: Context) -> list[Partner]:
    (thread,) = threads(folder, talk)
    return list(replies(thread, context))


def test_both_texts_have_the_same_two_people(tmp_path: Path) -> None:
    found = threads(tmp_path, (*BREAD[:2], ("ann", "ok")), (*TYRE[:2], ("cy", "ok")))
    generator = SUITE.configs[0].generator
    assert isinstance(generator, Crossed)
    fitted = generator.fit(found, Context(), Fits())
    made = {
        one.item.item_id.split("/")[2]: one.item for own in found for one in fitted(own, Context())
    }
    item = made["1"]
    regions = {c.condition_name: [r.content for r in c.regions] for c in item.conditions}
    assert regions["messages_1_reply_1"] == [
        "<ann> my bread stays flat in this oven <bo>",
        "ann: give the dough two hours somewhere warm",
    ]
    assert regions["messages_2_reply_2"] == [
        "<ann> second puncture within a week, always at the front <bo>",
        "ann, feel along the rubber for sharp things",
    ]
    assert regions["messages_1_reply_2"] == [
        regions["messages_1_reply_1"][0],
        regions["messages_2_reply_2"][1],
    ]
    assert (item.extra["nicknames"], item.extra["messages"]) == (["ann", "bo"], [1, 1])
    assert (item.cluster, item.extra["partner_discourse"]) == ("a.train-a", "a.train-a/4")
    # What the replier said earlier is not there: how it is written would tell whose reply it is.
    _, later = partners(tmp_path, BREAD, Context())
    assert later.parts == ("<bo> ann: give the dough two hours somewhere warm <ann>", BREAD[2][1])


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ("ann: thanks, but that is too long for me", "thanks and the like"),
        ("ann: yes, two hours", "a message that says little"),
        ("look at http://example.org for many good recipes", "a link or a command"),
        ("!bread for everybody here tonight", "a link or a command"),
        ("cy: give the dough two hours somewhere warm", "somebody else is named"),
        ("anna: give the dough two hours somewhere warm", "somebody else is named"),
        ("bo gives the dough two hours somewhere warm", "somebody else is named"),
    ],
)
def test_replies_that_are_left(tmp_path: Path, message: str, reason: str) -> None:
    context = Context()
    assert not partners(tmp_path, (BREAD[0], ("bo", message), ("cy", "ok")), context)
    assert any(said.startswith(reason) for said in context.skipped), context.skipped


def test_one_speaker_and_several_messages(tmp_path: Path) -> None:
    context = Context()
    monologue = tuple(("ann", said) for _, said in BREAD)
    assert not partners(tmp_path, monologue, context)
    assert context.skipped == {"the same speaker goes on": 2}
    (tmp_path / "a.train-a.annotation.txt").write_text("0 1 -\n0 2 -\n1 2 -\n", encoding="utf-8")
    (thread,) = read(corpus("irc"), data_dir=tmp_path, splits=["train"])
    context = Context()
    assert not list(replies(thread, context))
    assert context.skipped == {"the same speaker goes on": 1, "a reply to several messages": 1}


def test_the_talk_before_ends_where_somebody_else_speaks(tmp_path: Path) -> None:
    talk = (("cy", "who bakes bread at home these days?"), *BREAD)
    found = partners(tmp_path, talk, Context())
    assert [partner.columns["messages"] for partner in found] == [1, 1, 1]
    assert [partner.parts[0].split()[0] for partner in found] == ["<cy>", "<ann>", "<bo>"]
    (last,) = partners(
        tmp_path, (*talk, ("bo", "then let it stand in the fridge overnight")), Context()
    )[3:]
    assert last.columns["messages"] == 2
    assert last.parts[0] == f"<ann> {BREAD[0][1]} <ann> {BREAD[2][1]} <bo>"


def test_replies_of_one_thread_stay(tmp_path: Path) -> None:
    found = partners(tmp_path, BREAD, Context())
    assert len(found) == 2
    assert not of_two_threads(*found)
    assert LeastRepeating(of_two_threads, with_same_names)(found, Context()) == []


def test_the_sample_is_at_chance(
    built_sample: Sample,
) -> None:
    _, manifest = built_sample(SUITE.name)
    entry = manifest["configs"]["sample_crossed"]
    assert entry["splits"]["test"]["rows"] == 45
    (score,) = [s for s in entry["quality"]["test"]["partial_input"] if not s["group"]]
    assert score["score"] == 0.5
    assert score["ci_low"] < 0.5 < score["ci_high"]


def test_real_chat(real_build: Callable[[str, str], Path]) -> None:
    folder = real_build("replies", "irc")
    entry = json.loads((folder / "manifest.json").read_text())["configs"]["irc_crossed"]
    assert entry["splits"]["test"]["rows"] == 78
    assert entry["skipped"]["test"] == {
        "a link or a command": 15,
        "a message that says little": 141,
        "a reply to several messages": 27,
        "no remaining partner fits": 7,
        "somebody else is named, or somebody without a sign": 38,
        "thanks and the like": 18,
        "the same speaker goes on": 155,
        "what somebody does": 3,
    }
    for row in rows(folder, "irc_crossed"):
        # Whoever speaks in a condition is one of the two.
        for condition in row["conditions"]:
            *before, replier = re.findall(r"(?<!\S)<([^<>\s]+)>", condition["content"])
            assert {*before, replier} == set(row["nicknames"])
            assert replier not in before
