"""Dutch: a noun phrase or name said again where a pronoun stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from coherencegym.loaders.read import read
from coherencegym.loaders.registry import corpus
from coherencegym.manipulations.operator import Context
from coherencegym.manipulations.reference.antecedents import PronounRepetition

TAGS = {
    "de": "LID[bep,stan,rest]", "den": "LID[bep,dat,evmo]", "het": "LID[bep,stan,evon]",
    "een": "LID[onbep,stan,agr]", "man": "N[soort,ev,basis,zijd,stan]",
    "huis": "N[soort,ev,basis,onz,stan]", "mannen": "N[soort,mv,basis]",
    "Anna": "N[eigen,ev,basis,zijd,stan]", "Frits": "N[eigen,ev,basis,zijd,stan]",
    "hij": "VNW[pers,pron,nomin,vol,3,ev,masc]", "ie": "VNW[pers,pron,nomin,red,3,ev,masc]",
    "-ie": "VNW[pers,pron,nomin,red,3,ev,masc]", "hem": "VNW[pers,pron,obl,vol,3,ev,masc]",
    "zij": "VNW[pers,pron,nomin,vol,3v,ev,fem]", "ze": "VNW[pers,pron,stan,red,3,mv]",
    "haar": "VNW[bez,det,stan,vol,3,ev,prenom,zonder,agr]",
    "zijn": "VNW[bez,det,stan,vol,3,ev,prenom,zonder,agr]",
    "'t": "VNW[pers,pron,stan,red,3,ev,onz]",
    ".": "LET[]", ",": "LET[]", "oud": "ADJ[prenom,basis,zonder]",
    "oude": "ADJ[prenom,basis,met-e,stan]", "van": "VZ[init]", "is": "WW[pv,tgw,ev]",
}  # fmt: skip


def items(folder: Path, *sentences: str) -> tuple[list[str], str]:
    """The sentences with a repetition, and the reasons where there is none.

    ``[de man]`` is a mention of the one chain.
    """
    lines = ["#begin document (boek); part 000"]
    for sentence in sentences:
        opened = False
        for token in sentence.split():
            begins, ends = token.startswith("["), token.endswith("]")
            form = token.strip("[]")
            mark = "(1)" if begins and ends else "(1" if begins else "1)" if ends else "-"
            opened = (opened or begins) and not ends
            tag = TAGS.get(form, TAGS.get(form.lower(), "WW[pv,verl,ev]"))
            lines.append(f"boek\t0\t0\t{form}\t{tag}\t*\t-\t-\t-\t-\t*\t{mark}")
        lines.append("")
    (folder / "coref").mkdir()
    (folder / "features").mkdir()
    (folder / "coref/boek.conll").write_text("\n".join([*lines, "#end document", ""]))
    header = "filename\tsentno\tbegin\tend\tgender\tnumber\tcategory\tmentions\n"
    row = "boek\t99\t0\t1\t-\t-\tother\t1\n"
    (folder / "features/boek.tsv").write_text(header + row)
    (found,) = read(corpus("openboek"), data_dir=folder)
    context = Context(0, "coreference")
    return [one.texts[1] for one in PronounRepetition()(found, context)], "; ".join(context.skipped)


@pytest.mark.parametrize(
    ("before", "sentence", "repeated"),
    [
        ("[Anna] lachte luid .", "[Zij] zweeg toen .", "Anna zweeg toen."),
        ("[Een man] lachte luid .", "Toen zweeg [hij] weer .", "Toen zweeg de man weer."),
        ("[Een oude man] lachte luid .", "[Hij] zweeg toen .", "De oude man zweeg toen."),
        ("Daar viel [een huis] om .", "Toen brandde [hij] ook .", "Toen brandde het huis ook."),
        ("[De mannen] lachten luid .", "Toen zwegen [ze] weer .", "Toen zwegen de mannen weer."),
        ("Men zag [den man] daar .", "Toen zweeg [hij] weer .", "Toen zweeg de man weer."),
        ("Men zag [den man] daar .", "Toen riep men [hem] weer .", "Toen riep men den man weer."),
        ("[Anna] lachte luid .", "Toen viel [haar] hoed af .", "Toen viel Anna's hoed af."),
        ("[De man] lachte luid .", "Toen had [-ie] genoeg .", "Toen had de man genoeg."),
    ],
)
def test_the_phrase_has_the_form_of_its_place(
    tmp_path: Path, before: str, sentence: str, repeated: str
) -> None:
    assert items(tmp_path, before, sentence) == ([repeated], "")


@pytest.mark.parametrize(
    ("before", "sentence", "reason"),
    [
        ("Daar viel [een oud huis] om .", "[Hij] brandde toen .", "ending would change"),
        ("Den hoed nam [de man] mee .", "Toen riep men [hem] weer .", "case is not told"),
        ("[De man] lachte luid .", "Toen viel [zijn] hoed af .", "possessive of a noun phrase"),
        ("[Frits] lachte luid .", "Toen viel [zijn] hoed af .", "ends in s, x or z"),
        ("[Het huis] viel om .", "Toen brandde ['t] af .", "rarely refers to a noun"),
        ("[De mannen] lachten luid .", "Toen zweeg [hij] weer .", "another number"),
        ("Dat is [een man] .", "Toen zweeg [hij] weer .", "predicate nominal"),
        ("DE MAN LACHTE [DE MAN] .", "Toen zweeg [hij] weer .", "capitals"),
        ("[Anna] lachte luid .", "Toen nam [zij] [Anna] mee .", "before its noun phrase"),
    ],
)
def test_what_is_left_out_and_why(tmp_path: Path, before: str, sentence: str, reason: str) -> None:
    found, reasons = items(tmp_path, before, sentence)
    assert not found
    assert reason in reasons
