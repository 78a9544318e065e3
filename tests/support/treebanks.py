"""Small treebanks with coreference, in CoNLL-U, from sentences with brackets."""

from __future__ import annotations

MASC, FEM, NEUT = (f"Gender={gender}|Number=Sing" for gender in ("Masc", "Fem", "Neut"))
PLURAL = "Number=Plur"
PERSONAL = "Person=3|PronType=Prs"
#: Part of speech and features -> forms.
_ROWS = {
    f"NOUN {MASC}": "Mann Vater Hund Mensch Kollege Garten Menschen Mannes Abgeordneter Herr",
    f"NOUN {FEM}": "Frau Stadt Ministerin Angestellte",
    f"NOUN {NEUT}": "Haus huis",
    f"NOUN {PLURAL}": "Kinder Kindern Frauen",
    "NOUN Gender=Com|Number=Sing": "man",
    f"NOUN Gender=Com|{PLURAL}": "mannen",
    f"PROPN {MASC}": "Weber Jens",
    f"PROPN {FEM}": "Anna Annas",
    f"PRON Case=Nom|{MASC}|{PERSONAL}": "er",
    f"PRON Case=Acc|{MASC}|{PERSONAL}": "ihn",
    f"PRON {MASC}|{PERSONAL}": "ihm",
    f"PRON Case=Dat|{FEM}|{PERSONAL}": "ihr",
    f"PRON {PERSONAL}": "sie",
    f"PRON Case=Nom|{NEUT}|{PERSONAL}": "es",
    f"PRON {PLURAL}|{PERSONAL}": "ihnen hen",
    f"PRON Number=Sing|{PERSONAL}": "hij hem",
    "DET Gender=Masc|Number=Sing|Poss=Yes": "sein ihre seinen",
    "VERB _": "sah half kam kamen ist lag zag",
    "ADP _": "zu im in mit von",
    "PUNCT _": ", .",
}
WORDS = {form: known for known, forms in _ROWS.items() for form in forms.split()}
NOUNS = ("NOUN", "PROPN", "PRON")


def treebank(*sentences: str) -> str:
    """Sentences in CoNLL-U. ``[der Mann/Nom]`` is a mention of the one entity.

    A word depends on the verb, one in a mention on its first noun. ``Mann/Nom/appos`` has another
    relation than usual; ``war//cop`` depends on the noun before it.
    """
    text = "# newdoc id = a\n# global.Entity = eid-phrase_type\n"
    for sentence in sentences:
        tokens = sentence.split()
        bare = [(*token.strip("[]").split("/"), "", "")[:3] for token in tokens]
        known = [WORDS.get(form, WORDS.get(form.lower(), "ADJ _")).split() for form, *_ in bare]
        verb = next(n for n, (pos, _) in enumerate(known, 1) if pos == "VERB")
        noun = opened = 0
        for number, (token, (form, case, relation), (pos, feats)) in enumerate(
            zip(tokens, bare, known, strict=True), 1
        ):
            if begins := token.startswith("["):
                places = range(number - 1, len(tokens))
                end = next(place for place in places if tokens[place].endswith("]"))
                inside = [n for n in range(number, end + 2) if known[n - 1][0] in NOUNS]
                noun, opened = (inside or [number])[0], end + 1
            inside_mention = number <= opened and number != noun
            head = noun if inside_mention or relation == "cop" else verb * (number != verb)
            case = case or feats.partition("Case=")[2].partition("|")[0]
            usual = "case" if pos == "ADP" else "nsubj" if case == "Nom" else "obj"
            feats = f"Case={case}|{feats}" if case and "Case" not in feats else feats
            mark = f"{'(' * begins}1{'-pp' * (begins and pos == 'ADP')}{')' * (number == opened)}"
            misc = f"Entity={mark}" if begins or number == opened else "_"
            columns = (number, form, form, pos, "_", feats, head, relation or usual, "_", misc)
            text += "\t".join(map(str, columns)) + "\n"
        text += "\n"
    return text
