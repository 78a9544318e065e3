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
from coherencegym.builders.crossing.generator import Crossed, crossed_columns
from coherencegym.builders.crossing.partners import LeastRepeating
from coherencegym.builders.crossing.shuffled import with_shuffled_contexts
from coherencegym.builders.suite import Column, Config, Suite, Use
from coherencegym.loaders.corpus import cited

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
                couple=WithSameNames(LeastRepeating(of_two_threads)),
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
