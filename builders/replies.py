"""Replies: a reply to another message of the same hour is more surprising than one's own.

Two messages of one log of a chat channel, each with the messages that it replies to (Kummerfeld et
al. 2019), exchange places; both directions are scored together, so that how likely a message is by
itself, and how likely the talk before it, cancel. Nicknames, which give many replies away, are the
same in both, and what the replier said earlier is left out: how somebody writes gives replies away,
too.

    coherencegym build replies --corpus irc --data-dir PATH
"""

from __future__ import annotations

from coherencegym.builders.crossing.chat import (
    WithSameNames,
    chat_columns,
    of_two_threads,
    replies,
)
from coherencegym.builders.crossing.generator import CROSSED_BREAKDOWNS, Crossed, crossed_columns
from coherencegym.builders.crossing.partners import ClosestInLength
from coherencegym.builders.suite import Column, Config, Suite, Use
from coherencegym.loaders.corpora.citations import cited

SUITE = Suite(
    name="replies",
    title="Replies",
    version="2.0.0",
    hypothesis=(
        "A model that notices incoherence finds replies less surprising after the messages that "
        "they reply to than after each other's."
    ),
    description=(
        "Pairs of replies of one log of a chat channel, an hour or so of it, each after the "
        "messages of somebody that it replies to and after those of the other."
    ),
    conditions={
        "messages_1_reply_1": "messages, and the reply to the last of them",
        "messages_2_reply_2": "messages of another thread of the same log, and the reply to them",
        "messages_1_reply_2": "the first messages with the reply of the other thread",
        "messages_2_reply_1": "the messages of the other thread with the first reply",
    },
    uses=(Use("", "which reply answers which message", "a shared topic word from an answer"),),
    limitations=(
        "The two threads are about different problems. Pairs whose replies repeat more than one "
        "word more of their own messages than of the other's are left out, and repeated words "
        "still tell some of the rest: compare the lexical-overlap baseline.",
        "What the replier said earlier in the thread is not shown, so that nobody can tell by the "
        "hand of a writer which reply is theirs. A classifier of typing habits (how somebody is "
        "addressed, capitals, apostrophes, marks at the end, smileys, spelling) that learned from "
        "other threads is right on 51.5 % of all pairs of replies of three logs of Ubuntu IRC; "
        "with those messages it was right on 73.7 %. An answer to one of them says less alone.",
        "Few items are left: 43 of three logs of Ubuntu IRC, of 163 replies that say something.",
        "A reply can fit the other messages by chance, most often an answer to a question of the "
        "same form: of 43 items of version 1.0.0 that one reader read who knew the answers, the "
        "right combinations were clearly better in 38.",
        "Who takes part, and whom they speak to, is no cue by construction: the suite says nothing "
        "about keeping track of people.",
        "Of 16 pairs from a log of Ubuntu IRC that was set aside, which a language model read "
        "twice, blind, all were good English, and the incoherent side was found in 16 and 15 "
        "(`docs/quality.md` of the toolkit).",
    ),
    citation=cited("kummerfeld-etal-2019-large"),
    one_split=True,
    configs=(
        Config(
            name="crossed",
            corpora=("irc",),
            generator=Crossed(
                partners=replies,
                operators="replies to one message by somebody else, both of some words",
                couple=WithSameNames(ClosestInLength(of_two_threads)),
                family="log",
                names=("messages", "reply"),
                columns=chat_columns,
            ),
            summary="two replies of one hour of a channel, each after the messages that it replies "
            "to and after the other's; the replies are scored, over all four",
            regions=("up to three messages of one person, and who speaks next", "a reply"),
            columns=crossed_columns(
                nicknames=Column(["string"], "whoever is replied to, and whoever replies"),
                messages=Column(["int32"], "how many messages are before each reply"),
            ),
            breakdowns=CROSSED_BREAKDOWNS,
            partial_input="bags of words of the messages before the reply and of the reply",
        ),
    ),
    tags=("dialogue", "reply-selection"),
)

if __name__ == "__main__":
    from coherencegym.builders.command.cli import run_suite

    run_suite(SUITE)
