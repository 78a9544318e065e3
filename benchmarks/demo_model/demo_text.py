"""How the demo model's training text is made from sampled stories and dialogues.

Sampled stories know a dozen names and two openings. So that a small model learns that *a name once
introduced is picked up*, and what first sentences look like elsewhere, copies of a story may be
given other names, another opening or the first person, or end after about five sentences. Every
change is a rule below; none adds content of its own. The names were written down for this project.
"""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

#: The separator token: a change of speaker.
SEPARATOR = "[SEP]"


def words(text: str) -> list[str]:
    """The words of a text, as a list."""
    return text.split()


SHE = words(
    "Lily Sue Mia Amy Lucy Sally Daisy Anna Emma Jane Emily Jenny Bella Lisa Ellie Poppy Jill Polly"
    " Lila Rosie Luna Sara Sarah Molly Mimi Ella Betty Kitty Ann Jen"
)
HE = words(
    "Timmy Tim Max Tom Benny Sam Tommy Jack Billy Bob Bobo Ben Sammy Remy Fred Bobby Joe Andy John"
    " Freddy Teddy Robby Peter Johnny Jerry Carl Pete Leo Finn Toby Rob Spot Buddy Fin"
)
NEW_SHE = words(
    "Aaliyah Abena Adele Agnes Aisha Alice Alma Amara Amelia Amina Ana Andrea Angela Anika Anita"
    " Anne Annika Astrid Aya Barbara Beatriz Bianca Bridget Camila Carla Carmen Carol Caroline"
    " Catherine Cecilia Celia Chioma Chloe Christine Clara Claire Daniela Deborah Denise Diana Dina"
    " Donna Dora Edith Elena Eleanor Elif Elise Eliza Emilia Esther Eva Eve Farah Fatima Fiona"
    " Frances Gabriela Gemma Gina Grace Greta Gwen Hana Hannah Harriet Heather Heidi Helen Hilda"
    " Hope Ida Imani Ines Ingrid Irene Iris Isabel Ivy Jasmine Joan Joanna Josie Judith Julia June"
    " Karen Kate Katya Keiko Kelly Kim Laila Lara Laura Leah Leila Lena Linda Lola Lorna Louise"
    " Lucia Lydia Mabel Maggie Mai Margaret Maria Marina Marta Martha Mary Maya Megan Mei Mina"
    " Miriam Monica Nadia Naomi Natalie Nia Nina Noor Nora Olga Olivia Paula Penny Petra Pia Priya"
    " Rachel Rana Rebecca Rita Rosa Rose Ruth Sabine Sana Sandra Shira Silvia Sofia Sonia Stella"
    " Susan Tamar Tanya Tara Teresa Tess Thea Tina Uma Ursula Vera Victoria Wendy Ximena Yara"
    " Yasmin Yuki Zainab Zoe"
)
NEW_HE = words(
    "Aaron Abdul Adam Ahmed Alan Albert Alec Ali Amir Andre Anton Arjun Arthur Ben Bilal Boris"
    " Brandon Brian Bruno Caleb Carlos Cesar Charlie Chen Chris Colin Connor Daniel Dario David"
    " Dennis Derek Diego Dmitri Douglas Duncan Edgar Eduardo Eli Elias Emeka Emil Enzo Eric Ethan"
    " Evan Farid Felix Femi Frank Gabriel Gary George Gilbert Grant Greg Hamid Hans Harold Harry"
    " Hassan Hector Henry Hiro Hugo Hussein Ian Ibrahim Igor Isaac Ivan Jamal James Jason Javier"
    " Jens Jin Joel Jonas Jorge Joseph Juan Julian Kareem Karl Keith Kenji Kevin Kofi Kurt Kwame"
    " Lars Leon Liam Lloyd Louis Luca Lucas Luis Malik Marco Marcus Mario Mark Martin Mateo Matt"
    " Maurice Mehmet Miguel Milo Mohammed Nate Nathan Neil Nico Noah Oliver Omar Oscar Otto Owen"
    " Pablo Patrick Paul Pedro Philip Pierre Rafael Raj Ralph Ramon Ravi Ray Reza Ricardo Richard"
    " Robert Roman Ron Rory Ruben Russell Samir Sanjay Scott Sean Sergei Simon Stefan Steve Tariq"
    " Theo Thomas Tobias Tyler Victor Viktor Vincent Walter Wei Will Xavier Yusuf Zach"
)

NAME = re.compile(r"\b(?:" + "|".join(SHE + HE) + r")\b")
SENTENCE_BREAK = re.compile(r"(?<=[.!?]) (?=[A-Z\"])|(?<=[.!?]\") (?=[A-Z\"])")
INTRODUCTION = re.compile(
    r"Once upon a time,? (?:there was|there lived|in .{1,40}? there was)"
    r" (an? [^.]{1,40}?) named ([A-Z]\w+)\. "
)
#: After these words, ``her`` is the object ("told her it was"), not the owner ("her ball").
AFTER_OBJECT = (
    "a|an|and|again|as|because|but|come|feel|find|for|from|go|he|how|if|in|into|it|not|on|so|some"
    "|that|the|they|to|up|very|was|what|when|where|while|with"
)
FIRST_PERSON = (
    (rf"\b[Hh]er(?= (?:{AFTER_OBJECT})\b|[.,!?;])", "me"),
    (r"\b(?:[Ss]he|[Hh]e)\b", "I"),
    (r"\bhim\b", "me"),
    (r"\b(?:her|his)\b", "my"),
    (r"\b(?:Her|His)\b", "My"),
    (r"\b(?:herself|himself)\b", "myself"),
    (r"\b(with|to|for|at|from|saw|told|asked|gave|behind|near|made|let) I\b", r"\1 me"),
    (r"\bThey\b", "We"),
    (r"\bthey\b", "we"),
)


def sentences(story: str) -> list[str]:
    """The sentences of a story on one line; a quotation's end stays with its sentence."""
    return SENTENCE_BREAK.split(story)


def rename(story: str, rng: random.Random) -> str:
    """The story with every known name replaced, the same name by the same new one."""
    mapping: dict[str, str] = {}

    def other(match: re.Match[str]) -> str:
        name = match.group()
        while name not in mapping:
            new = rng.choice(NEW_SHE if name in SHE else NEW_HE)
            if new not in mapping.values():
                mapping[name] = new
        return mapping[name]

    return NAME.sub(other, story)


def reopen(story: str, rng: random.Random) -> str:
    """The story without its formula: ``Once upon a time, there was a girl named Lily. She ...``.

    It becomes ``Lily was a girl. She ...``, ``There was a girl named Lily. She ...`` or
    ``Lily ...``; of another opening, ``Once upon a time,`` or ``One day,`` is left out.
    """
    match = INTRODUCTION.match(story)
    if match:
        what, name = match.groups()
        rest = story[match.end() :]
        draw = rng.random()
        bare = re.sub(r"^(?:She|He|It)\b", name, rest)
        if draw < 0.6 and bare.startswith(name):
            return bare
        if draw < 0.85:
            return f"{name} was {what}. {rest}"
        return f"There was {what} named {name}. {rest}"
    rest = re.sub(r"^(?:Once upon a time|One day),? ", "", story)
    named = re.match(r"an? [^.,]{1,40}? named ([A-Z]\w+) (?=\w+(?:ed|nt|aw|ound|as)\b)", rest)
    if named:
        rest = f"{named.group(1)} {rest[named.end() :]}"
    return rest[:1].upper() + rest[1:]


def first_person(story: str) -> str | None:
    """The story told by its only named person, or None: no or several names, or quotations."""
    names = set(NAME.findall(story))
    if len(names) != 1 or '"' in story:
        return None
    name = names.pop()
    told = re.sub(rf"\b{name}'s\b", "my", story)
    told = re.sub(rf"\b{name}\b", "I", told)
    for pattern, new in FIRST_PERSON:
        told = re.sub(pattern, new, told)
    told = re.sub(r"(?<=[.!?] )my\b|^my\b", "My", told)
    return None if re.search(r"\b(?:named|called) I\b", told) else told


def truecase(utterance: str) -> str:
    """The utterance with capitals at its sentence starts and in ``I``."""
    utterance = re.sub(r"\bi\b", "I", utterance)
    return re.sub(r"(?:^|(?<=[.!?] ))[a-z]", lambda match: match.group().upper(), utterance)


def dialogue_copy(dialogue: Sequence[str], rng: random.Random) -> str:
    """One training copy: with separators or spaces, in lower case (as it is) or with capitals."""
    turns = [truecase(turn) for turn in dialogue] if rng.random() < 0.5 else dialogue
    return (f"{SEPARATOR} " if rng.random() < 0.5 else " ").join(turns)


def story_copy(story: str, rng: random.Random) -> str:
    """One training copy of a story, with each change in its share of the copies."""
    if rng.random() < 0.8:
        story = reopen(story, rng)
    units = sentences(story)
    if rng.random() < 0.6:
        story = " ".join(units[: rng.choice((4, 5, 5, 5, 6))])
    if rng.random() < 0.3:
        told = first_person(story)
        if told is not None:
            return told
    if rng.random() < 0.85:
        story = rename(story, rng)
    return story
