"""English pronouns: what their form alone says of type, person, number and gender."""

from __future__ import annotations

from typing import Any

from coherencegym.loaders.discourse import Features

_SINGULAR = {
    "1": "i me my mine myself",
    "3": "he him his himself she her hers herself it its itself",
}
_PLURAL = {
    "1": "we us our ours ourselves",
    "2": "yourselves",
    "3": "they them their theirs themselves 'em",
}
_EITHER = {"2": "you your yours yourself thou thee thy", "3": "one oneself one's themself"}
_GENDERS = {
    "masculine": "he him his himself",
    "feminine": "she her hers herself",
    "neuter": "it its itself",
}
_TYPES = {
    "personal": "i me we us you he him she it they them 'em thou thee",
    "possessive": "my mine our ours your yours his hers its their theirs thy one's",
    "reflexive": "myself ourselves yourself yourselves himself herself itself themselves themself "
    "oneself",
    "demonstrative": "this that these those",
    "interrogative": "what",
    "relative": "who whom whose which",
    "indefinite": "someone somebody something anyone anybody anything everyone everybody "
    "everything nobody nothing none one all both each some any many few several others another",
}


def _table() -> dict[str, Features]:
    columns: dict[str, dict[str, Any]] = {}
    for name, rows in (
        ("pronoun", _TYPES),
        ("gender", _GENDERS),
        ("person", _SINGULAR),
        ("person", _PLURAL),
        ("person", _EITHER),
        ("number", {"singular": " ".join(_SINGULAR.values())}),
        ("number", {"plural": " ".join(_PLURAL.values()) + " these those"}),
    ):
        for value, words in rows.items():
            for word in words.split():
                columns.setdefault(word, {})[name] = value
    return {word: Features(pos="PRON", **values) for word, values in columns.items()}


#: The features of each pronoun's form. ``her`` has no type: it is personal or possessive by its
#: place; ``that``, ``who`` and ``which`` have the commonest of theirs.
PRONOUNS = _table()


def by_form(text: str) -> Features | None:
    """Give the features that a pronoun's form shows; none where it is no pronoun."""
    return PRONOUNS.get(text.lower().replace("’", "'"))
