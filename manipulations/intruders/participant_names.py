"""Names in a message that is put into another conversation: of those who take part there.

A message that speaks to somebody whom nobody else in the conversation has ever named gives itself
away by the name alone, as nobody's coherence would: names are exchanged, one for one.
"""

from __future__ import annotations

from collections.abc import Iterator

from coherencegym.loaders.discourse import Discourse, Mention
from coherencegym.loaders.text.nicknames import PARTICIPANT
from coherencegym.manipulations.probes.probe import Replacement


def exchanged_names(
    source: Discourse, unit: int, host: Discourse, slot: int
) -> tuple[Replacement, ...] | None:
    """Find the names to exchange where a message takes the place of another one.

    Each name becomes one that the host mentions outside the slot, the same one in the whole
    message, and no two become one. A name that the host mentions itself stays. Whoever tells of
    themselves (``ann waves``) becomes whoever speaks in the slot, if that is mentioned; others
    become whom the replaced message names, or else those who are named nearest to it, and the
    speaker of the slot last.

    Args:
        source: the document that the message is from; ``unit`` is its index.
        host: the document it is put into; ``slot`` is the index of the message that it replaces.

    Returns:
        The replacements in the message, in their order; none where it names more people than the
        host outside the slot.
    """
    named = list(_names(source, unit))
    if not named:
        return ()
    free = _by_distance(host, slot)
    names = dict.fromkeys(mention.chain for mention in named)
    becomes = {name: name for name in names if name in free}
    if len(names) > len(free):
        return None
    speaker, own = host.units[slot].speaker, source.units[unit].speaker
    free = [name for name in free if name not in becomes]
    for name in names:
        if name in becomes:
            continue
        wanted = [other for other in free if (other == speaker) == (name == own)]
        becomes[name] = (wanted or free)[0]
        free.remove(becomes[name])
    return tuple(
        Replacement(start, end, becomes[mention.chain])
        for mention in named
        for _, start, end in mention.span
        if becomes[mention.chain] != mention.chain
    )


def _names(discourse: Discourse, unit: int) -> Iterator[Mention]:
    """The mentions of participants in a unit."""
    for mention in discourse.mentions:
        if mention.features.entity == PARTICIPANT and mention.span[0][0] == unit:
            yield mention


def _by_distance(host: Discourse, slot: int) -> list[str]:
    """List the people named outside the slot: whom the slot names first, then the nearest first."""
    places = {
        unit: [mention.chain for mention in _names(host, unit)]
        for unit in {mention.span[0][0] for mention in host.mentions}
    }
    outside = {name for unit, names in places.items() if unit != slot for name in names}
    ordered = [
        name for unit in sorted(places, key=lambda u: (abs(u - slot), u)) for name in places[unit]
    ]
    return [name for name in dict.fromkeys(ordered) if name in outside]
