"""Replies: a reply to another message of the same hour is more surprising than one's own.

Two messages of one log of a chat channel, each with the messages that it replies to (Kummerfeld et
al. 2019), exchange places; both directions are scored together, so that how likely a message is by
itself, and how likely the talk before it, cancel. A text is the messages of one person as a log has
them, each behind its speaker in angle brackets; the reply of the other person is the last one. In
the two texts that are crossed both people have the same nicknames, those of the first text: a name
that nobody there bears would give a reply away. So would the replier's own earlier messages, by how
they are written, which are left out.

    coherencegym build replies --corpus irc --data-dir PATH
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from coherencegym.builders.crossing.generator import (
    Crossed,
    crossed_columns,
    with_shuffled_contexts,
)
from coherencegym.builders.crossing.partners import Couple, LeastRepeating, Partner, any_two, stems
from coherencegym.builders.suite import Column, Config, Suite, Use
from coherencegym.loaders.corpus import cited
from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.loaders.text.sentences import PARTICIPANT
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.probes.sentence import Replacement, apply

#: Messages before a reply that its context has at most.
_MOST = 3
#: Words of a message that says something by itself, and those of them that are of no closed class.
_WORDS, _STEMS = 4, 2
#: Stand for the nicknames of whoever is replied to, and of whoever replies.
_MARKS = ("\ue000", "\ue001")
_THANKS = re.compile(
    r"\b(?:thank\w*|thanx|thx|ty|cheers|welcome|np|no prob\w*|no worries|sorry|good luck)\b", re.I
)
#: Nobody can tell what a link is to, and commands to a bot are no replies.
_NO_TALK = re.compile(r"https?:|www\.|\S+\.(?:com|org|net)\b|^\W*!|^/")
#: An address, and signs that may stand around a nickname.
_ADDRESSED = re.compile(r"\S+(?::+|>)(?=\s)")
_SIGNS = "\"'()[]<>,.:;!?@"


def replies(discourse: Discourse, context: Context) -> Iterator[Partner]:
    """Give the replies of a thread: parts are what was said before, with the replier, and it."""
    earlier = _earlier(discourse)
    named: dict[int, list[Mention]] = defaultdict(list)
    for mention in discourse.mentions:
        if mention.features.entity == PARTICIPANT:
            named[mention.span[0][0]].append(mention)
    for unit in sorted(earlier):
        if reason := _unfit(discourse, unit, earlier[unit], named):
            context.skipped[reason] += 1
            continue
        before = _before(discourse, unit, earlier, named)
        people = _speakers(discourse, before[-1], unit)
        *said, reply = (_template(discourse, each, named[each], people) for each in (*before, unit))
        turns = [f"<{_MARKS[0]}> {text}" for text in said]
        template = " ".join((*turns, f"<{_MARKS[1]}>")), reply
        yield Partner(
            discourse,
            _called(template, people),
            name=str(unit),
            alike=("?" in reply,),
            columns={"people": people, "messages": len(before), "template": template},
        )


def _earlier(discourse: Discourse) -> dict[int, list[int]]:
    found: dict[int, list[int]] = defaultdict(list)
    for link in discourse.meta.get("replies", "").split():
        first, _, then = link.partition("-")
        found[int(then)].append(int(first))
    return found


def _speakers(discourse: Discourse, *units: int) -> tuple[str, ...]:
    return tuple(discourse.units[unit].speaker or "" for unit in units)


def _unfit(
    discourse: Discourse,
    unit: int,
    earlier: Sequence[int],
    named: Mapping[int, Sequence[Mention]],
) -> str:
    if len(earlier) > 1:
        return "a reply to several messages"
    people = _speakers(discourse, earlier[0], unit)
    if len(set(people)) < 2:
        return "the same speaker goes on"
    pair = (earlier[0], unit)
    if any(_others(discourse, each, named.get(each, ()), people) for each in pair):
        return "somebody else is named, or somebody without a sign"
    texts = [discourse.texts[each] for each in pair]
    if any(map(_NO_TALK.search, texts)):
        return "a link or a command"
    if any(text.startswith(f"{who} ") for text, who in zip(texts, people, strict=True)):
        return "what somebody does"
    if _THANKS.search(texts[1]):
        return "thanks and the like"
    if any(_says_little(discourse, each, named.get(each, ())) for each in pair):
        return "a message that says little"
    return ""


def _others(
    discourse: Discourse, unit: int, named: Sequence[Mention], people: Sequence[str]
) -> bool:
    # ``natfallo: yes`` is to somebody, whose name is not spelt so, and ``stevenj 1.0 is old`` too.
    text = _without_names(discourse, unit, named)
    speakers = {one.speaker.casefold() for one in discourse.units if one.speaker}
    words = {word.strip(_SIGNS) for word in text.casefold().split()}
    unmarked = bool(speakers & words) or (not named and _ADDRESSED.match(text) is not None)
    return unmarked or any(mention.chain not in people for mention in named)


def _without_names(discourse: Discourse, unit: int, named: Sequence[Mention]) -> str:
    nobody = [Replacement(start, end, "") for m in named for _, start, end in m.span]
    return apply(discourse.texts[unit], nobody)


def _says_little(discourse: Discourse, unit: int, named: Sequence[Mention]) -> bool:
    text = _without_names(discourse, unit, named)
    words = [word for word in text.split() if any(map(str.isalpha, word))]
    return len(words) < _WORDS or len(stems(text)) < _STEMS


def _before(
    discourse: Discourse,
    unit: int,
    earlier: Mapping[int, Sequence[int]],
    named: Mapping[int, Sequence[Mention]],
) -> list[int]:
    # What the replier said earlier is left out: how they write would tell which reply is theirs.
    found = [at := earlier[unit][0]]
    people = _speakers(discourse, at, unit)
    while len(found) < _MOST and len(above := earlier.get(at, ())) == 1:
        (at,) = above
        who, text = discourse.units[at].speaker, discourse.texts[at]
        others = _others(discourse, at, named.get(at, ()), people)
        if who not in people or others or _NO_TALK.search(text):
            break
        if who == people[0]:
            found.insert(0, at)
    return found


def _template(
    discourse: Discourse, unit: int, named: Sequence[Mention], people: Sequence[str]
) -> str:
    marks = [
        Replacement(start, end, _MARKS[people.index(mention.chain)])
        for mention in named
        for _, start, end in mention.span
    ]
    return apply(discourse.texts[unit], marks)


def _called(template: tuple[str, ...], people: Sequence[str]) -> tuple[str, ...]:
    for mark, name in zip(_MARKS, people, strict=True):
        template = tuple(part.replace(mark, name) for part in template)
    return template


def with_same_names(one: Partner, other: Partner, context: Context) -> tuple[Partner, Partner]:
    """Give the second one's people the nicknames of the first one's."""
    return one, replace(other, parts=_called(other.columns["template"], one.columns["people"]))


def of_two_threads(one: Partner, other: Partner) -> bool:
    """Tell whether two replies are of different threads."""
    return one.discourse.id != other.discourse.id and any_two(one, other)


def chat_columns(couple: Couple) -> dict[str, Any]:
    """The columns of two replies."""
    return {
        "nicknames": list(couple.first.columns["people"]),
        "messages": [each.columns["messages"] for each in (couple.first, couple.second)],
    }


SUITE = Suite(
    name="replies",
    title="Replies",
    version="3.0.0",
    hypothesis=(
        "A model that notices incoherence finds replies less surprising after the messages that "
        "they reply to than after each other's."
    ),
    description=(
        "Pairs of replies from one log of a chat channel (about an hour). Each reply stands after "
        "the messages that it answers, and after the messages that the other reply answers."
    ),
    conditions={
        "messages_1_reply_1": "messages, and the reply to the last of them",
        "messages_2_reply_2": "messages of another thread of the same log, and the reply to them",
        "messages_1_reply_2": "the first messages with the reply of the other thread",
        "messages_2_reply_1": "the messages of the other thread with the first reply",
    },
    uses=(
        Use(
            "",
            "which reply answers which message",
            "whether a reply answers the message or shares its topic",
        ),
    ),
    limitations=(
        "The two threads are about different problems. Of all replies that may be exchanged, those "
        "come first that repeat fewer words of their own messages than of each other's. Repeated "
        "words may still decide an item; balance weights remove this.",
        "The replier's earlier messages in the thread are not shown, so writing style cannot "
        "identify the reply. A reply that refers to a hidden message is less informative.",
        "A reply can fit the other messages by chance, most often as an answer to a question of "
        "the same form.",
        "By construction, participants and addressees are no cue: the suite does not test whether "
        "a model keeps track of people.",
    ),
    citation=cited("kummerfeld-etal-2019-large"),
    one_split=True,
    configs=with_shuffled_contexts(
        Config(
            name="crossed",
            corpora=("irc",),
            generator=Crossed(
                partners=replies,
                operators="replies to one message by somebody else, both of some words",
                couple=LeastRepeating(of_two_threads, with_same_names),
                family="log",
                names=("messages", "reply"),
                columns=chat_columns,
            ),
            summary="two replies within one hour of a channel, each after the messages that it "
            "answers and after the messages that the other reply answers; the replies are scored "
            "in all four combinations",
            regions=("up to three messages of one person, and the next nickname", "a reply"),
            columns=crossed_columns(
                nicknames=Column(
                    ["string"], "the author of the messages, and the author of the reply"
                ),
                messages=Column(["int32"], "the number of messages before each reply"),
            ),
            partial_input="bags of words of the messages before the reply and of the reply",
        ),
    ),
    tags=("dialogue", "reply-selection"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
