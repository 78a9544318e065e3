"""German and Dutch treebanks: a noun phrase or name said again in the case of its new place."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.treebanks import treebank

from coherencegym.loaders.corpora.own import annotated_texts
from coherencegym.loaders.read import read
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedents import PronounRepetition


def items(folder: Path, *sentences: str, code: str = "de") -> tuple[list[str], str]:
    """The last sentence with a repetition, and the reasons where there is none."""
    (folder / "a.conllu").write_text(treebank(*sentences), encoding="utf-8")
    own = annotated_texts(folder, "conllu", code)
    (found,) = read(own.corpus)
    context = Context(0, "coreference")
    return [one.texts[-1] for one in PronounRepetition()(found, context)], "; ".join(
        context.skipped
    )


@pytest.mark.parametrize(
    ("before", "sentence", "repeated"),
    [
        ("Da lag [ein Mann/Nom] .", "Dann kam [er] wieder .", "Dann kam der Mann wieder."),
        ("Da lag [ein Vater/Nom] .", "Dann kam [er] wieder .", "Dann kam der Vater wieder."),
        ("Da lag [ein Mann/Nom] .", "Sie half [ihm] wieder .", "Sie half dem Mann wieder."),
        ("Da lag [der Mann/Nom] .", "Sie sah [ihn] wieder .", "Sie sah den Mann wieder."),
        ("Da sah sie [einen Mann/Acc] .", "[Er] kam wieder .", "Der Mann kam wieder."),
        (
            "Da lag [eine alte Frau/Nom] .",
            "Dann kam [sie/Nom] wieder .",
            "Dann kam die alte Frau wieder.",
        ),
        ("Er half [der Frau/Dat] .", "[Sie/Nom] kam wieder .", "Die Frau kam wieder."),
        ("Er half [einem alten Mann/Dat] .", "Sie sah [ihn] .", "Sie sah den alten Mann."),
        ("Da lag [die Stadt/Nom] .", "Er kam mit [ihr] .", "Er kam mit der Stadt."),
        ("Da kamen [die Frauen/Nom] .", "Er half [ihnen] .", "Er half den Frauen."),
        (
            "Da kamen [seine Kinder/Nom] .",
            "Dann sah er [sie/Acc|Number=Plur] .",
            "Dann sah er seine Kinder.",
        ),
        ("Da kam [Anna Weber/Nom] .", "Er half [ihr] .", "Er half Anna Weber."),
        ("Da kam [Ministerin/Nom Anna] .", "Er half [ihr] .", "Er half Ministerin Anna."),
        ("Er kam [von der Stadt/Dat] .", "[Sie/Nom] lag da .", "Die Stadt lag da."),
        ("Da kam [Anna/Nom] .", "Er sah [ihre] Kinder .", "Er sah Annas Kinder."),
    ],
)
def test_the_phrase_is_in_the_case_of_its_place(
    tmp_path: Path, before: str, sentence: str, repeated: str
) -> None:
    assert items(tmp_path, before, sentence) == ([repeated], "")


@pytest.mark.parametrize(
    ("before", "sentence", "reason"),
    [
        ("Da lag [ein alter Mann/Nom] .", "Dann kam [er] wieder .", "adjective whose ending"),
        ("Da lag [der alte Mann/Nom] .", "Sie half [ihm] wieder .", "adjective whose ending"),
        ("Da kam [der Mensch/Nom] .", "Sie half [ihm] wieder .", "noun whose form"),
        ("Er half [dem Menschen/Dat] .", "Dann kam [er] wieder .", "noun whose form"),
        ("Da kam [ein Kollege/Nom] .", "Sie half [ihm] wieder .", "noun whose form"),
        ("Da kam [Herr/Nom Weber] .", "Sie half [ihm] wieder .", "noun whose form"),
        ("Er kam trotz [des Mannes/Gen] .", "Sie half [ihm] wieder .", "noun whose form"),
        ("Er half [den Kindern/Dat] .", "Er sah [sie/Acc|Number=Plur] .", "noun whose form"),
        ("Da kam [sein Hund/Nom] .", "Sie half [ihm] wieder .", "determiner whose form"),
        ("Da kam [ein Abgeordneter/Nom] .", "Dann kam [er] .", "noun whose form"),
        ("Da kam [die Angestellte/Nom] .", "Sie half [ihr] .", "noun whose form"),
        ("Da lag [der Hund/Nom und die Stadt] .", "Sie half [ihm] .", "coordination whose form"),
        ("Er lag [im Weber/Dat] .", "Sie sah [ihn] .", "noun without an article"),
        ("Er lag [in//obl Weber/Dat] .", "Sie sah [ihn] .", "noun without an article"),
        ("Da lag Rex , [der Hund/Nom/appos] .", "Sie half [ihm] .", "apposition"),
        ("Er sah , dass [der Hund/Nom] das war//cop .", "Sie half [ihm] .", "predicate nominal"),
        ("Da kam [Anna/Nom] .", "Er half [Ihr] .", "capital in a sentence"),
        ("Da kam [ihre Hund/Nom] .", "Dann kam [er] wieder .", "does not agree"),
        ("Da kam [dem Hund/Nom] .", "Dann kam [er] wieder .", "does not agree"),
        ("Da kam [der Hund] .", "Sie half [ihm] wieder .", "gender or case is not told"),
        ("Da lag [die Stadt/Nom] .", "Dann kam [er] wieder .", "another gender"),
        ("Da kamen [die Frauen/Nom] .", "Dann kam [er] wieder .", "another number"),
        ("Da lag [das Haus/Nom] .", "Dann kam [es] wieder .", "rarely refers to a noun"),
        ("Er lag [im Garten/Dat] .", "Sie sah [ihn] .", "noun without an article"),
        ("Er ist [ein Mann/Nom] .", "Dann kam [er] wieder .", "predicate nominal"),
        ("Er sah [Annas/Gen] Haus .", "Dann kam [sie] wieder .", "genitive"),
        ("Da lag [der Hund/Nom] .", "Sie kam zu [ihm] .", "one word with the article"),
        ("Da lag [der Hund/Nom] .", "Dann sah [ihn] die Frau/Nom .", "object before its subject"),
        ("Da lag [der Hund/Nom] .", "Dann kam [er] selbst .", "modifier after it"),
        ("Da kam [Anna/Nom] .", "Er sah [ihre] kleinen Kinder .", "adjective whose ending"),
        ("Da kam [Jens/Nom] .", "Er sah [sein] Haus .", "ends in s, ß, x or z"),
    ],
)  # fmt: skip
def test_what_is_left_out_and_why(tmp_path: Path, before: str, sentence: str, reason: str) -> None:
    found, reasons = items(tmp_path, before, sentence)
    assert not found
    assert reason in reasons


def test_the_noun_stays_where_only_the_article_changes(tmp_path: Path) -> None:
    texts = ("Da kam [eine Angestellte/Nom] .", "[Sie/Nom] kam wieder .")
    assert items(tmp_path, *texts) == (["Die Angestellte kam wieder."], "")


def test_a_dutch_treebank(tmp_path: Path) -> None:
    texts = ("Daar zag zij [een man] .", "Toen zag zij [hem] weer .", "[Hij] lag daar .")
    assert items(tmp_path, *texts[:2], code="nl") == (["Toen zag zij de man weer."], "")
    assert items(tmp_path, texts[0], texts[2], code="nl") == (["De man lag daar."], "")
    several = ("Daar lag [een mannen] .", "Zij zag [hen] .")
    assert items(tmp_path, *several, code="nl") == (
        [],
        "determiner that does not agree with its noun",
    )
