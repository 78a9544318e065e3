"""The head of a CorefUD mention, its kind, and its features: from the fields and the grammar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from coherencegym.loaders.discourse import Features
from coherencegym.loaders.formats.conllu import Token
from coherencegym.loaders.text.pronouns import by_form

_NUMBERS = {"Sing": "singular", "Plur": "plural", "Ptan": "plural"}
_GENDERS = {"Masc": "masculine", "Fem": "feminine", "Neut": "neuter"}
_PRONOUN_TYPES = {
    "Prs": "personal",
    "Rcp": "reciprocal",
    "Dem": "demonstrative",
    "Rel": "relative",
    "Int": "interrogative",
    "Ind": "indefinite",
    "Tot": "indefinite",
    "Neg": "indefinite",
    "Emp": "reflexive",
}


def head_of(words: Sequence[Token], fields: Mapping[str, str]) -> Token:
    """The head word of a mention.

    It is the word that depends on none of the others; where several do so (an error, or no tree),
    the first of those that the annotator named, in GUM's ``minspan`` or CorefUD's ``head``.
    """
    inside = {int(word.id) for word in words}
    named = [
        words[int(number) - 1]
        for number in (fields.get("minspan") or fields.get("head") or "").split(",")
        if number.isascii() and number.isdigit() and 1 <= int(number[:6]) <= len(words)
    ]
    tops = [
        word
        for word in words
        if word.head is not None and word.head not in inside and word.deprel != "punct"
    ]
    both = [word for word in tops if word in named]
    return (both or tops or named or list(words))[0]


def kind_of(head: Token) -> str:
    """The kind of a mention with this head: pronoun, proper or nominal."""
    if head.upos == "PRON" or head.xpos in ("PRP", "PRP$", "WP", "WP$"):
        return "pronoun"
    return "proper" if head.upos == "PROPN" else "nominal"


def features_of(
    fields: Mapping[str, str], first: Token, head: Token, kind: str, predicate: bool
) -> Features:
    """Take the features of a mention from the fields of its bracket and the grammar of its words.

    Args:
        fields: the fields of its opening bracket.
        first: its first word.
        head: its head.
        kind: its kind.
        predicate: true where it is said of something else (``is a nurse``).
    """
    form = by_form(head.form) if kind == "pronoun" else None
    known = form or Features()
    return Features(
        entity=_value(fields.get("etype", fields.get("entity", ""))),
        status=_value(fields.get("infstat", "")),
        link=_value(fields.get("link", "")),
        function=_value(head.deprel),
        pos=_value(head.upos),
        first_pos=_value(first.upos),
        predicate=predicate,
        pronoun=(_pronoun(head) or known.pronoun) if kind == "pronoun" else "",
        person=head.feats.get("Person", known.person) if kind == "pronoun" else "",
        number=_NUMBERS.get(head.feats.get("Number", ""), known.number),
        gender=_GENDERS.get(head.feats.get("Gender", ""), known.gender),
    )


def _value(text: str) -> str:
    return "" if text == "_" else text


def _pronoun(head: Token) -> str:
    """The type of a pronoun; empty where its grammar does not say."""
    if head.deprel.split(":")[0] == "expl":
        return "expletive"
    kind = _PRONOUN_TYPES.get(head.feats.get("PronType", ""), "")
    if kind in ("", "personal"):
        if head.feats.get("Reflex") == "Yes":
            return "reflexive"
        if head.feats.get("Poss") == "Yes" or head.xpos == "PRP$":
            return "possessive"
    return kind
