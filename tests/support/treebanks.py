"""Small treebanks with coreference, in CoNLL-U, from sentences with brackets."""

from __future__ import annotations

MASC, FEM, NEUT = (f"Gender={gender}|Number=Sing" for gender in ("Masc", "Fem", "Neut"))
PLURAL = "Number=Plur"
PERSONAL = "Person=3|PronType=Prs"
#: Form -> part of speech and features. ``Mann/Dat`` in a sentence is the dative.
WORDS = {
    **dict.fromkeys(("Mann", "Hund", "Mensch", "Kollege", "Garten"), f"NOUN {MASC}"),
    **dict.fromkeys(("Menschen", "Mannes"), f"NOUN {MASC}"),
    **dict.fromkeys(("Frau", "Stadt"), f"NOUN {FEM}"), "Haus": f"NOUN {NEUT}",
    "Kindern": f"NOUN {PLURAL}", "Frauen": f"NOUN {PLURAL}", "Kinder": f"NOUN {PLURAL}",
    "Abgeordneter": f"NOUN {MASC}", "Herr": f"NOUN {MASC}", "Ministerin": f"NOUN {FEM}",
    "Anna": f"PROPN {FEM}", "Weber": f"PROPN {MASC}", "Jens": f"PROPN {MASC}",
    "Annas": f"PROPN {FEM}",
    "er": f"PRON Case=Nom|{MASC}|{PERSONAL}", "ihn": f"PRON Case=Acc|{MASC}|{PERSONAL}",
    "ihm": f"PRON Case=Dat|{MASC}|{PERSONAL}", "ihr": f"PRON Case=Dat|{FEM}|{PERSONAL}",
    "sie": f"PRON {PERSONAL}", "es": f"PRON Case=Nom|{NEUT}|{PERSONAL}",
    "ihnen": f"PRON Case=Dat|{PLURAL}|{PERSONAL}", "ich": "PRON Case=Nom|Person=1|PronType=Prs",
    **dict.fromkeys(("sein", "ihre", "seinen"), "DET Gender=Masc|Number=Sing|Poss=Yes"),
    **dict.fromkeys(("sah", "half", "kam", "ist", "lag", "ging", "kamen", "zag"), "VERB _"),
    **dict.fromkeys(("zu", "im", "mit", "von"), "ADP _"), ",": "PUNCT _", ".": "PUNCT _",
    "man": "NOUN Gender=Com|Number=Sing", "huis": f"NOUN {NEUT}",
    "hij": f"PRON Case=Nom|Number=Sing|{PERSONAL}", "hem": f"PRON Case=Acc|Number=Sing|{PERSONAL}",
    "zijn": "PRON Person=3|Poss=Yes|PronType=Prs",
}  # fmt: skip
NOUNS = ("NOUN", "PROPN", "PRON")


def treebank(*sentences: str) -> str:
    """Sentences in CoNLL-U. ``[der Mann/Nom]`` is a mention of the one entity.

    A word depends on the verb, one in a mention on its first noun.
    """
    text = "# newdoc id = a\n# global.Entity = eid-phrase_type\n"
    for sentence in sentences:
        tokens = sentence.split()
        bare = [token.strip("[]").partition("/") for token in tokens]
        known = [WORDS.get(form, WORDS.get(form.lower(), "ADJ _")).split() for form, *_ in bare]
        verb = next(n for n, (pos, _) in enumerate(known, 1) if pos == "VERB")
        noun = opened = 0
        for number, (token, (form, _, case), (pos, feats)) in enumerate(
            zip(tokens, bare, known, strict=True), 1
        ):
            if begins := token.startswith("["):
                places = range(number - 1, len(tokens))
                end = next(place for place in places if tokens[place].endswith("]"))
                inside = [n for n in range(number, end + 2) if known[n - 1][0] in NOUNS]
                noun, opened = (inside or [number])[0], end + 1
            head = noun if number <= opened and number != noun else verb * (number != verb)
            case = case or feats.partition("Case=")[2].partition("|")[0]
            relation = "case" if pos == "ADP" else "nsubj" if case == "Nom" else "obj"
            feats = f"Case={case}|{feats}" if case and "Case" not in feats else feats
            mark = f"{'(' * begins}1{'-pp' * (begins and pos == 'ADP')}{')' * (number == opened)}"
            misc = f"Entity={mark}" if begins or number == opened else "_"
            columns = (number, form, form, pos, "_", feats, head, relation, "_", misc)
            text += "\t".join(map(str, columns)) + "\n"
        text += "\n"
    return text
