"""What can be wrong with a file of each layout of :mod:`support.native_files`, and the message."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Damage:
    """A change to a file of a layout, and what comes of it.

    Attributes:
        old, new: text in the file, and what it is replaced by (once); lone surrogates are bytes.
        said: how the message goes on after the file's name and a colon.
        skipped: the reasons that are counted, with ``+`` between them; empty where nothing can be
            skipped, so that it stays an error.
        file: the damaged file, where it is not the layout's main one.
        kept: which of the two discourses are still read where bad ones are skipped.
    """

    old: str
    new: str
    said: str
    skipped: str = ""
    file: str = ""
    kept: tuple[int, ...] = (1,)


NUL = "a NUL byte, expected text"
BYTE = "byte 0xff is not UTF-8, expected UTF-8 (with or without a byte order mark)"
CUT = "(is it cut off?)"
USABLE = 'is old ."; expected usable text'
TOKEN = "no XML from here on (not well-formed (invalid token)), expected well-formed XML"
MISMATCH = "no XML from here on (mismatched tag)"


#: The reason where nothing says where the next record of an array begins.
REST = "malformed JSON, and what follows it"


def table(first: str, identifier: str, fields: int) -> dict[str, Damage]:
    """What can be wrong with a table of so many fields whose first sentence is in this column."""
    return {
        "NUL byte": Damage("kettle", "ke\0tle", f"2: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"2: {BYTE}", "not UTF-8"),
        "too few fields": Damage(
            "The kettle sang.,",
            "",
            f"2: {fields - 1} fields, expected {fields} as in the header (is the line cut off?)",
            "truncated line",
        ),
        "too many fields": Damage(
            "The kettle sang.,",
            "The kettle sang.,x,",
            f"2: {fields + 1} fields, expected {fields} as in the header",
            "too many fields",
        ),
        "overlong field": Damage(
            "kettle",
            "kettle" * 20_000,
            "2: a field of more than 100,000 characters, expected fewer (is a quotation mark",
            "overlong field",
        ),
        "field beyond the csv module's own limit": Damage(
            "kettle", "kettle" * 30_000, "2: field larger than field limit", "malformed quoting"
        ),
        "quote never closed": Damage(
            "The kettle sang.,",
            '"The kettle sang.',
            "2: ',' expected after '\"'",
            "malformed quoting",
        ),
        "line break in a field": Damage(
            "The kettle sang.",
            '"The\nkettle sang."',
            "2: a line break inside a field",
            "line break in a field",
        ),
        "empty sentence": Damage("The kettle sang.", " ", f"2: {first} is empty", "empty sentence"),
        "empty id": Damage("\ns1,", "\n,", f"2: {identifier} is empty", "empty id"),
        "duplicate id": Damage("\ns2,", "\ns1,", "3: id 's1' stands at", "duplicate id", kept=(0,)),
        "column missing": Damage(f"{first},", "Other,", f"1: no column {first}"),
        "column twice": Damage(f"{first},", f"{first},{first},", f"1: column {first} stands twice"),
    }


def json(place: str) -> dict[str, Damage]:
    """What can be wrong with any file of JSON objects, the first of which is at this place."""
    bad, kept = ("malformed JSON", (1,)) if place.isdigit() else (REST, ())
    return {
        name: Damage(old, new, f"{place}: {said}", bad, kept=kept)
        for name, (old, new, said) in {
            "NUL byte": ("kettle", "ke\0tle", "no JSON (invalid control character), expected an"),
            "bracket never closed": ("{", '{"list": [1, ', "no JSON (expecting ',' delimiter)"),
            "quote never closed": (' "', ' "x" "', "no JSON (expecting ',' delimiter)"),
            "name twice": ("{", '{"x": 1, "x": 2, ', "the name 'x' stands twice in an object"),
            "NaN": ("{", '{"x": NaN, ', "NaN, expected a value that JSON has"),
        }.items()
    }


def records(place: str, changes: dict[str, tuple[str, str, str]]) -> dict[str, Damage]:
    """What does not fit the schema of a record at this place: text, its replacement, message."""
    return {
        name: Damage(old, new, f"{place}: {said}", "malformed record")
        for name, (old, new, said) in changes.items()
    }


def inferences(place: str) -> dict[str, Damage]:
    """What can be wrong with any record of two sentences, the first of which is at this place."""
    changes = {
        "not UTF-8": ("kettle", "kett\udcffe", f'sentence1: "my kett\\udcffe {USABLE}: {BYTE}'),
        "half a surrogate": (
            *("kettle", "k\\ud83dettle"),
            f'sentence1: "my k\\ud83dettle {USABLE}: half of a surrogate',
        ),
        "escaped NUL": ("kettle", "ke\\u0000tle", f'sentence1: "my ke\\u0000tle {USABLE}: {NUL}'),
        "overlong field": (
            *("kettle", "kettle" * 20_000),
            'sentence1: "my kettlekettlekettlekettlekettlekettle...; expected usable text: a field',
        ),
        "unknown label": (
            *('"negative"', '"contradiction"'),
            "label: \"contradiction\"; expected 'negative', 'neutral' or 'positive'",
        ),
        "sentence missing": ('"sentence2"', '"x"', "no 'sentence2'; expected an object with it"),
        "sentence that is none": ('"my kettle is old ."', "null", "sentence1: null; expected a te"),
        "id that is none": ('"p1"', "7", "id: 7; expected a text"),
        "empty sentence": (
            '"my kettle is old ."',
            '" \\n"',
            r'sentence1: " \n"; expected a text th',
        ),
        "triple of two": (', "a pot"]', "]", "triple1: no 2; expected an object with it"),
        "triple that is none": ('["i", "have", "a pot"]', '"x"', 'triple1: "x"; expected an array'),
        "entry that is none": ('"a pot"', "2", "triple1[2]: 2; expected a text"),
    }
    return json(place) | records(place, changes)


def mmax(chain: str) -> dict[str, Damage]:
    """What can be wrong with a document of three files; all of it spoils the document."""
    doctype, words = "<!DOCTYPE words", '<!DOCTYPE words SYSTEM "words.dtd">'
    coref, sentence = "Markables/a_coref_level.xml", "Markables/a_sentence_level.xml"
    changes = {
        "NUL byte": ("kettle", "ke\0tle", f"5: {TOKEN}", ""),
        "not UTF-8": ("kettle", "ke\udcfftle", f"5: {TOKEN}", ""),
        "bomb": (words, f"{doctype} [<!ENTITY a 'ha'>]>", "2: a declaration of the entity 'a'", ""),
        "external entity": (
            *(words, f"{doctype} [<!ENTITY x SYSTEM 'file:///etc/hostname'>]>"),
            *("2: a declaration of the entity 'x', expected none: it is refused", ""),
        ),
        "unknown entity": ("kettle", "&kettle;", "5: the entity 'kettle', expected none but", ""),
        "element never closed": ("kettle</word>", "kettle", f"10: {MISMATCH}", ""),
        "duplicate word id": (
            '"word_2"',
            '"word_1"',
            "5: word id 'word_1', expected each once",
            "",
        ),
        "word without text": (">kettle<", "> <", "5: word 'word_2' is empty, expected a word", ""),
        "span outside the text": (
            *("..word_2", "..word_99"),
            "4: span of 'markable_1' has 'word_99', expected words of the document",
            coref,
        ),
        "span never closed": (
            *("..word_2", ".."),
            "4: span of 'markable_1' has '', expected words of the document",
            coref,
        ),
        "empty span": (
            *('"word_5"', '""', "5: span of 'markable_2' has '', expected words of the document"),
            coref,
        ),
        "span backwards": (
            *("word_1..word_2", "word_2..word_1"),
            "4: span of 'markable_1' is 'word_2..word_1', expected words in their order",
            coref,
        ),
        "markable never closed": (
            f' {chain}="set_1"/>',
            f' {chain}="set_1">',
            f"6: {MISMATCH}",
            coref,
        ),
        "duplicate markable id": (
            *("markable_1", "markable_2"),
            "5: markable id 'markable_2', expected each once",
            coref,
        ),
        "markable without id": (
            *('id="markable_1" ', "", "4: markable id '', expected each once", coref),
        ),
        "sentences that overlap": (
            '<markable id="markable_9"',
            '<markable id="markable_8" span="word_4..word_5"/><markable id="markable_9"',
            "4: overlaps another sentence",
            sentence,
        ),
        "sentence outside the text": (
            *("..word_4", "..word_44"),
            "4: span of 'markable_9' has 'word_44', expected words of the document",
            sentence,
        ),
    }
    return {
        name: Damage(old, new, said, "malformed document", file)
        for name, (old, new, said, file) in changes.items()
    }


PAIR = "an object; expected conflict_pair of two turns"
SHORT = "a thread of fewer than three messages"
NO_UTF = "byte 6 is no UTF-8, expected text"
UNPLACED = "relations without their raw text"


def raw() -> dict[str, Damage]:
    """What can be wrong with a raw text; it spoils the document."""
    spoilt = "malformed document"
    return {
        "NUL byte": Damage("kettle", "ke\0tle", f"1: {NUL}", spoilt),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"1: {NO_UTF}", spoilt),
    }


def tree(file: str) -> dict[str, Damage]:
    """What can be wrong with the tree of this file; it spoils the tree only."""
    changes = {
        "tree cut off": ("_!) )\n)", "_!) )", "3: the file ends inside of the tree, expected a"),
        "text not closed": ("_!) )\n)", " )\n)", "3: a text that does not end, expected '_!)'"),
        "two trees": ("\n)\n", "\n)\n(", "5: '(' after the tree, expected the end"),
        "no root": ("Root", "Rot", "1: 'Rot', expected 'Root'"),
        "no number": ("(leaf 1)", "(leaf x)", "2: leaf with 'x', expected 1 of 1 or more"),
        "leaves out of order": ("leaf 2", "leaf 3", "3: a text, expected it in a leaf with the"),
        "no word": ("_!The kettle", "_! ", "2: leaf 1 without a word, expected a text"),
        "no relation": ("adversative-contrast", "span", "1: nuclei that are span and span, expe"),
        "two satellites": ("Nucleus", "Satellite", "1: two satellites, expected at least one"),
        "unknown list": ("rel2par span", "rel2par", "2: ('rel2par'), expected Nucleus, Satellite"),
    }
    found = {
        name: Damage(old, new, said, "malformed tree", file, kept=(0, 1))
        for name, (old, new, said) in changes.items()
    }
    other = Damage("slept .", "ran .", " character", "tree of another text", file, kept=(0, 1))
    return {**found, "tree of another text": other}


def related(file: str) -> dict[str, Damage]:
    """What can be wrong with a relation of this file; it spoils the relation only."""
    changes = {
        "span outside the text": (
            "22..31",
            "22..99",
            "the span 22..99 lies",
            "span outside the text",
        ),
        "span never closed": ("18..21", "18..", "connective has the span '18..'", "bad span"),
        "span backwards": ("0..15", "15..0", "Arg1 has the span '15..0'", "bad span"),
        "offset elsewhere": (
            *("18..21", "17..20", "the connective is 'But', but 'Bu' stands"),
            "connective elsewhere",
        ),
        "unknown sense": ("Comparison", "Comprison", "sense 'Comprison.Contrast'", "unknown sense"),
        "no sense": ("Comparison.Contrast", "", "an explicit relation without", "no sense"),
        "unknown type": ("Explicit", "Explict", "'Explict' is no type", "unknown type of relation"),
        "NUL byte in a relation": (
            "Explicit",
            "Expl\0icit",
            "a NUL byte, expected text",
            "NUL byte",
        ),
        "span of one number": ("0..15", "9", "Arg1 has the span '9'", "bad span"),
        "too few columns": ("|22..31|||||||||||||", "", "20 columns parted by", "too few columns"),
    }
    return {
        name: Damage(old, new, f"1: {said}", reason, file, kept=(0, 1))
        for name, (old, new, said, reason) in changes.items()
    }


def sentences(fields: int, labels: str) -> dict[str, Damage]:
    """What can be wrong with a line of a label and sentences with tabs between them."""
    return {
        "NUL byte": Damage("kettle", "ke\0tle", f"1: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"1: {BYTE}", "not UTF-8"),
        "too few fields": Damage(
            ".\t", ". ", f"1: {fields - 1} fields, expected {fields} with tabs", "truncated line"
        ),
        "too many fields": Damage(
            ".\t", ".\t\t", f"1: {fields + 1} fields, expected {fields} with", "too many fields"
        ),
        "unknown label": Damage(
            "1\t", "7\t", f"1: label is '7', expected one of {labels}", "unknown label"
        ),
    }


_OVERLAP = "repaired: spans whose parts overlap or are out of order"


def overlapping(old: str, new: str) -> Damage:
    """A mention whose span says some of its words twice, or not in their order."""
    return Damage(old, new, "", _OVERLAP, "Markables/a_coref_level.xml")


#: What public releases are known to have wrong, which is put right and counted, without a flag.
PUT_RIGHT: dict[str, dict[str, Damage]] = {
    "disrpt texts": {
        f"no columns behind {last!r}": Damage(
            *("\troot\t_\tSeg=O", last, ""),
            "repaired: rows without their last columns",
            "nld.rst.x/nld.rst.x_dev.conllu",
        )
        for last in ("\troot\t_", "\troot\t\t", "\troot")
    }
    | {
        "parts that overlap": Damage(
            *("11-13", "11-12,12-13", ""),
            "repaired: units whose parts overlap or are out of order",
            "nld.rst.x/nld.rst.x_dev.rels",
        )
    },
    "gum relations": {
        "span of a node": Damage(
            *("span 1 2", "span 2 2", ""),
            "repaired: spans of a tree's node that are not its units'",
            "rst/lisp_binary/GUM_bio_a.dis",
        )
    },
    **{
        corpus: {
            "part in another": overlapping("word_1..word_2", "word_1..word_2,word_2"),
            "parts that overlap": overlapping("word_1..word_2", "word_2,word_1..word_2"),
            "parts out of order": overlapping("word_1..word_2", "word_2,word_1"),
        }
        for corpus in ("arrau", "parcor")
    },
}
DECLARED = "<!DOCTYPE c [<!ENTITY a 'ha'><!ENTITY b '&a;&a;&a;&a;'>]><collection>&b;"
EXTERNAL = "<!DOCTYPE c [<!ENTITY x SYSTEM 'file:///etc/hostname'>]><collection>&x;"
PARAMETER = "<!DOCTYPE c [<!ENTITY % x SYSTEM 'http://localhost:9/x'> %x;]><collection>"

DAMAGES: dict[str, dict[str, Damage]] = {
    "storycloze": {
        **table("InputSentence1", "InputStoryid", 8),
        "unknown answer": Damage(
            *("It flew.,1", "It flew.,3", "2: AnswerRightEnding is '3', expected 1 or 2"),
            "answer neither 1 nor 2",
        ),
        "no answers": Damage(
            ",AnswerRightEnding", ",x", "1: no column AnswerRightEnding, expected"
        ),
    },
    "rocstories": {
        **table("sentence1", "storyid", 7),
    },
    "personachat": {
        "NUL byte": Damage("kettle", "ke\0tle", f"2: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"2: {BYTE}", "not UTF-8"),
        "one utterance": Damage(
            " .\toh ! tea ?\t\t",
            " .",
            "2: one utterance in 'the kettle sang .yes|no'",
            "truncated line",
        ),
        "empty utterance": Damage(
            "\tno milk !", "\t ", "3: the utterance of self is empty", "empty utterance"
        ),
        "number out of order": Damage(
            "2 the", "4 the", "2: number 4, expected 2 or 1", "number out of order"
        ),
        "no number": Damage("2 the", "the", "2: no number at the start of", "line without number"),
        "first number": Damage("1 y", "2 y", "1: number 2, expected 1", "number out of order"),
        "empty dialogue": Damage(
            "2 the kettle sang .\toh ! tea ?\t\tyes|no\n3 yes .\tno milk !\n",
            "",
            "1: the dialogue ends without an utterance",
            "empty dialogue",
        ),
    },
    "winograd xml": {
        "NUL byte": Damage("kettle", "ke\0tle", f"4: {TOKEN}"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"4: {TOKEN}"),
        "bomb": Damage(
            "<collection>", DECLARED, "2: a declaration of the entity 'a', expected none"
        ),
        "external entity": Damage("<collection>", EXTERNAL, "2: a declaration of the entity 'x'"),
        "parameter entity": Damage("<collection>", PARAMETER, "2: a declaration of the entity 'x'"),
        "unknown entity": Damage("kettle", "&kettle;", "4: no XML from here on (undefined entity)"),
        "element never closed": Damage("</pron><txt2>is", "<txt2>is", f"5: {MISMATCH}"),
        "no pronoun": Damage(
            *("<pron>it</pron>", "", "3: schema 1: no <pron> in <text>, expected the pronoun"),
            "no pronoun",
        ),
        "one candidate": Damage(
            *("<answer>the box</answer>", "", "3: schema 1: 1 <answer>, expected two"),
            "not two candidates",
        ),
        "empty candidate": Damage(
            "<answer>the box", "<answer> ", "3: an empty candidate", "empty candidate"
        ),
        "the same candidates": Damage(
            "<answer>the box",
            "<answer>The teapot",
            "3: the candidates are 'the teapot, The",
            "same candidates",
        ),
        "unknown answer": Damage(
            *(">A.<", ">C.<", "3: schema 1: <correctAnswer> is 'C.', expected A or B"),
            "unknown answer",
        ),
        "pronoun twice": Damage(
            *("<pron>it", "<pron>he</pron><pron>it", "3: schema 1: <text/pron> stands twice"),
            "part twice",
        ),
    },
    "winograd array": {
        **json("2: record 1"),
        "array never closed": Damage(
            "\n]",
            "",
            f"3: record 2: the file ends after it, expected a closing bracket {CUT}",
            "array cut off, and what follows it",
            kept=(0, 1),
        ),
        "comma missing": Damage(
            "},",
            "}",
            "2: record 1: '{' after it, expected a comma or",
            REST,
            kept=(0,),
        ),
        "nothing in it": Damage("[", "[]", "1: the array is empty, expected objects"),
    },
    "winogrande": {
        **json("1"),
        "not UTF-8": Damage("kettle", "kett\udcffe", f"1: {BYTE}", "not UTF-8"),
        "no blank": Damage("because _", "because", "1: 0 blanks (_) in sentence", "not one blank"),
        "two blanks": Damage(
            "because", "because _", "1: 2 blanks (_) in sentence", "not one blank"
        ),
        "unknown answer": Damage(
            '"answer": "1"',
            '"answer": "3"',
            "1: answer is \"'3'\", expected 1 or 2",
            "unknown answer",
        ),
        "answer that nobody gives": Damage(
            *(', "answer": "1"', ""),
            "1: no answer, expected 1 or 2; is this a test set, which is given out without",
            "unknown answer",
        ),
        "duplicate id": Damage("Q2", "Q1", "2: id 'Q1' stands at", "duplicate id", kept=(0,)),
        "wrong type": Damage('"teapot"', "5", "1: option1 is '5', expected text", "wrong type"),
    },
    "gum": {
        "NUL byte": Damage("kettle", "ke\0tle", f"5: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"5: {BYTE}", "not UTF-8"),
        "mention never closed": Damage(
            "Entity=1)",
            "_",
            "4: a mention of entity '1' is opened and not closed",
            "unclosed mention",
        ),
        "mention never opened": Damage(
            "Entity=(1-object-new-2-coref",
            "_",
            "5: '1)' closes a mention that is not open",
            "unopened mention",
        ),
        "bracket never closed": Damage(
            "Entity=1)", "Entity=1)(", "5: Entity='1)(', expected brackets", "malformed brackets"
        ),
        "part that is none": Damage(
            "(1-object-giv",
            "(1[3/2]-object-giv",
            "14: entity '1[3/2]', expected an id such as",
            "malformed brackets",
        ),
        "parts out of order": Damage(
            "(2[1/2]-",
            "(2[2/2]-",
            "20: part 2 of a mention of entity '2', expected part 1 before it",
            "parts of a mention out of order",
            kept=(0,),
        ),
        "part missing": Damage(
            "Entity=(2[2/2])",
            "_",
            "20: a mention of entity '2' is opened and not closed",
            "unclosed mention",
            kept=(0,),
        ),
        "sentence without words": Damage(
            "\n\n# text",
            "\n\n# no words\n\n# text",
            "13: a sentence without words",
            "sentence without words",
        ),
        "brackets without their comment": Damage(
            "# global.Entity = GRP-etype-infstat-minspan-link\n",
            "",
            "3: Entity= without a # global.Entity comment",
            "no # global.Entity + no # global.Entity",
            kept=(),
        ),
        "too many fields": Damage(
            "giv:act-1-ana", "giv:act-1-ana-x", "14: 6 fields in Entity=", "malformed brackets"
        ),
        "head outside the text": Damage(
            "\t2\tdet",
            "\t9\tdet",
            "4: head 9 of 'The', expected at most 6",
            "head outside the sentence",
        ),
        "ids out of order": Damage(
            "\n2\tkettle", "\n3\tkettle", "5: id '3', expected 2", "ids out of order"
        ),
        "range never closed": Damage(
            "3-4\tdidn", "3-9\tdidn", "11: the sentence ends after word 6", "sentence cut off"
        ),
        "too few columns": Damage(
            "\tDET\tDT", "\tDET", "4: 9 columns, expected 10", "wrong number of columns"
        ),
        "words and text differ": Damage(
            "was hot.\n", "is hot.\n", "13: the words give", "words do not give # text"
        ),
        "duplicate id": Damage(
            "GUM_bio_b", "GUM_bio_a", "19: id 'GUM_bio_a' stands at", "duplicate id", kept=(0,)
        ),
    },
    "ontonotes": {
        "NUL byte": Damage("kettle", "ke\0tle", f"3: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"3: {BYTE}", "not UTF-8"),
        "mention never closed": Damage(
            " 1)\n",
            " -\n",
            "2: a mention of entity '1' is opened and not closed",
            "unclosed mention",
        ),
        "mention never opened": Damage(
            " (1\n", " -\n", "3: '1)' closes a mention that is not open", "unopened mention"
        ),
        "bracket that is none": Damage(
            " (1\n", " (1|(\n", "2: coreference '(1|(', expected brackets su", "malformed brackets"
        ),
        "too few columns": Damage(
            " kettle NN *", " kettle NN", "3: 11 columns, expected 12", "wrong number of columns"
        ),
        "never ended": Damage(
            "#end document\n", "", "8: the document of line 1 does not end", "document cut off"
        ),
        "never begun": Damage(
            "#begin document (bc/a); part 000\n",
            "",
            "1: a line outside a document",
            "line outside a document",
        ),
        "empty document": Damage(
            "#begin",
            "#begin document (bc/c); part 000\n\n#end document\n#begin",
            "1: a document without words",
            "empty document",
            kept=(0, 1),
        ),
        "malformed beginning": Damage(
            "(bc/a)", "bc/a", "1: a malformed beginning", "malformed beginning"
        ),
        "duplicate id": Damage(
            "(bc/b)", "(bc/a)", "11: id 'bc/a/0' stands at", "duplicate id", kept=(0,)
        ),
    },
    "dialoguenli": {
        **inferences("2: record 1"),
        "array never closed": Damage(
            "\n]",
            "",
            f"3: record 2: the file ends after it, expected a closing bracket {CUT}",
            "array cut off, and what follows it",
            kept=(0, 1),
        ),
        "no object": Damage(
            "{", "7, {", "2: record 1: 7, expected an object", "no JSON object", kept=(0, 1)
        ),
        "duplicate id": Damage('"p2"', '"p1"', "3: id 'p1' stands at", "duplicate id", kept=(0,)),
        "nothing in it": Damage("[", "[]", "1: the array is empty, expected objects"),
    },
    "dialoguenli lines": {
        **inferences("1"),
        "no object": Damage(
            "{", "7\n{", "1: the file begins with '7'", "no JSON object", kept=(0, 1)
        ),
        "no object in the middle": Damage(
            "}\n", "}\n[1]\n", "2: an array, expected an object", "no JSON object", kept=(0, 1)
        ),
        "duplicate id": Damage('"p2"', '"p1"', "2: id 'p1' stands at", "duplicate id", kept=(0,)),
    },
    "verifiable conversations": {
        **json("2: record 1"),
        **records(
            "2: record 1",
            {
                "not UTF-8": (
                    "kettle",
                    "kett\udcffe",
                    'turns[0].text: "The kett\\udcffe  sang."; ',
                ),
                "hypothesis missing": ('"hypothesis"', '"guess"', "no 'hypothesis'; expected an o"),
                "id that is none": ('"id": 1', '"id": "x"', 'id: "x"; expected a whole number'),
                "unknown label": ('"label": 1', '"label": 2', "label: 2; expected 0 or 1"),
                "no turns": (
                    '"turns": [',
                    '"turns": [], "x": [',
                    "turns: an empty array; expected",
                ),
                "turn that is none": ('"turns": [', '"turns": [3, ', "turns[0]: 3; expected an o"),
                "turn without speaker": ('"speaker"', '"who"', "turns[0]: no 'speaker'; expected"),
                "evidence outside the dialogue": ("[0, 0]", "[0, 1]", f"{PAIR} from 0 to 0, or"),
                "evidence missing": ("[0, 0]", "[]", PAIR),
                "evidence of nothing": ('"label": 1', '"label": 0', PAIR),
            },
        ),
        "duplicate id": Damage(
            '"id": 2', '"id": 1', "3: id 'ce-1' stands at", "duplicate id", kept=(0,)
        ),
    },
    "verifiable choices": {
        **json("2: record 1"),
        **records(
            "2: record 1",
            {
                "not UTF-8": (
                    "kettle",
                    "kett\udcffe",
                    'observation_1: "The kett\\udcffe sang."; e',
                ),
                "unknown label": ('"label": 1', '"label": 0', "label: 0; expected 1 or 2"),
                "the same twice": ("Ann slept.", "Ann made tea.", "an object; expected two differ"),
                "unknown conflict": ("[0, 1]", "[2, 2]", "an object; expected conflict_pair to be"),
                "second pair that is none": (
                    *("false", '"no"', '["23_plausible"]: "no"; expected true or false'),
                ),
                "second pair not said": ("false", "null", "an object; expected 23_plausible bes"),
            },
        ),
    },
    "decor": {
        "NUL byte": Damage("kettle", "ke\0tle", f"2: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"2: {BYTE}", "not UTF-8"),
        "too few fields": Damage(
            "-1.0,,", "-1.0,", "2: 12 fields, expected 13 as in the", "truncated line"
        ),
        "unknown label": Damage(
            "-1.0", "2", "2: label is '2', expected 1 (coherent), 0 or", "unknown label"
        ),
        "unknown flag": Damage(",1.0,", ",yes,", "2: R2 is 'yes', expected a num", "unknown flag"),
        "a coherent sentence rewritten": Damage(
            "-1.0", "1", "2: a rewrite of a coherent", "rewrite of a coherent sentence"
        ),
        "empty sentence": Damage(
            '"He said ""tea""."', " ", "2: sentence is empty, expected a text", "empty sentence"
        ),
        "empty id": Damage("1.txt", "", "2: essay_id is empty, expected an", "empty essay_id"),
        "column missing": Damage("Rewrite", "Other", "1: no column Rewrite; expected"),
        "duplicate id": Damage(
            "2.txt,Running is good.,Bo ran. He fell.",
            '1.txt,Running is good.,"Bo ran. He fell, and fell."',
            "3: id '1/26' stands at",
            "duplicate id",
            kept=(0,),
        ),
    },
    "cohesentia": {
        "NUL byte": Damage(
            *("kettle", "ke\0tle", "1: member 1: no JSON (invalid control", REST), kept=()
        ),
        "bracket never closed": Damage(
            *("[1, 3, 4]", "[1, 3, 4", "1: member 1: no JSON (expec", REST), kept=()
        ),
        "cut off": Damage(
            *(', "12": {', ', "12": ', '1: member 2: "StoryID", expected an object'),
            "no JSON object + " + REST,
            kept=(0,),
        ),
        "name that is none": Damage(
            *('"12":', "12:", "1: member 2: no name in quotation marks", REST), kept=(0,)
        ),
        "colon missing": Damage(
            *('"12":', '"12"', "1: member 2: no colon after the name of a", REST), kept=(0,)
        ),
        "Infinity": Damage(
            *("4.0", "Infinity", "1: member 1: Infinity, expected a value", REST), kept=()
        ),
        "name twice": Damage(
            *('"Title"', '"Text"', "1: member 1: the name 'Text' stands twice", REST), kept=()
        ),
        "member that is none": Damage(
            '{"11"',
            '{"0": 3, "11"',
            "1: member 1: 3, expected an object",
            "no JSON object",
            kept=(0, 1),
        ),
        **records(
            "1: member 1",
            {
                "not UTF-8": ("kettle", "kett\udcffe", 'Text: "A day: The kett\\udcffe sang'),
                "title missing": ('"Title"', '"Heading"', "no 'Title'; expected an object with it"),
                "id that is none": ('"StoryID": 11', '"StoryID": "x"', 'StoryID: "x"; expected a '),
                "rating too high": (
                    *('"annot1": 3', '"annot1": 6'),
                    "IncrementalData.scores.annot1: 6; expected at most 5",
                ),
                "rating that is none": (
                    *('"annot0": 4.0', '"annot0": "4"', 'HolisticData.scores.annot0: "4"; expecte'),
                ),
                "no ratings": ('{"annot0": 4.0}', "{}", "HolisticData.scores: an object; expec"),
                "no rating that is a number": (
                    *('{"annot0": 4.0}', '{"annot0": NaN}', "HolisticData.scores: an object; ex"),
                ),
                "no way of rating": (
                    *('"HolisticData": {', '"HolisticData": 3, "x": {', "HolisticData: 3; expecte"),
                ),
                "no sentences": (
                    *('"sentences": [', '"sentences": "x", "y": ['),
                    'IncrementalData.sentences: "x"; expected an array',
                ),
                "empty sentence": (
                    *('["The kettle sang."', '[" "', 'IncrementalData.sentences[0]: " "; expected'),
                ),
                "reason of no sentence": (
                    *('{"1": [1', '{"-1": [1'),
                    'IncrementalData.reasons.annot0["-1"]: "-1"; expected the number of a sent',
                ),
                "unknown reason": (
                    *("[1, 3, 4]", "[1, 9]"),
                    'IncrementalData.reasons.annot0["1"][1]: 9; expected at most 8',
                ),
                "reasons of no annotator": (
                    *('"annot1": {}', '"annot1": 3'),
                    "IncrementalData.reasons.annot1: 3; expected an object",
                ),
            },
        ),
        "duplicate id": Damage(
            '"StoryID": 12',
            '"StoryID": 11',
            "1: id 'cohesentia-11' stands at",
            "duplicate id",
            kept=(0,),
        ),
    },
    "discoeval": {
        **sentences(6, "0, 1, 2, 3, 4"),
        "empty sentence": Damage(
            "The kettle sang .", " ", "1: field 3 is empty, expected a sentence", "empty sentence"
        ),
    },
    "discoeval coherence": sentences(7, "0, 1"),
    "insted": {
        **json("1"),
        **records(
            "1",
            {
                "not UTF-8": (
                    "kettle",
                    "kett\udcffe",
                    'ctx: "Ann lit the fire. The kett\\udcffe s',
                ),
                "field missing": ('"train"', '"trian"', "no 'train'; expected an object with it"),
                "wrong type": ('"Ann', '5, "x": "', "ctx: 5; expected a text"),
                "position that is none": (
                    *('"sen_position": 1', '"sen_position": -2'),
                    "sen_position: -2; expected at least -1",
                ),
                "unknown train": ('"train": 0', '"train": 2', "train: 2; expected at most 1"),
                "empty text": (
                    *('"The tram stopped."', '" "', "an object; expected to_be_replaced and repl"),
                ),
            },
        ),
        "duplicate id": Damage(
            '"file_id": 2',
            '"file_id": 1',
            "2: id 'wikipedia/test/1' stands at",
            "duplicate id",
            kept=(0,),
        ),
    },
    "insted probes": {
        "malformed answers": Damage(
            '["1", "-1", "2"]',
            '"1"',
            '1: annoated: "1"; expected an array',
            "malformed record",
            "linguistic_probe_data/human_annotation/injected_negation.jsonl",
            kept=(0, 1),
        ),
    },
    "documents": {
        **json("1"),
        "not UTF-8": Damage("kettle", "kett\udcffe", f"1: {BYTE}", "not UTF-8"),
        "half a surrogate": Damage("kettle", "k\\ud800ttle", "1: half of a surrogate", "not UTF-8"),
        "no text": Damage(
            '"text"',
            '"txt"',
            "1: no column 'sentences' or 'text' or 'article'; the columns are 'id', 'txt'",
            "column missing",
        ),
        "wrong type": Damage(
            '"text": ', '"text": 5, "x": ', "1: text has '5', expected text", "wrong type"
        ),
        "unknown split": Damage(
            *('"text"', '"split": "tset", "text"', "1: split is 'tset', expected one of train"),
            "unknown split",
        ),
        "duplicate id": Damage('"xb"', '"xa"', "2: id 'xa' stands at", "duplicate id", kept=(0,)),
    },
    "documents texts": {
        "NUL byte": Damage("kettle", "ke\0tle", f"1: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"1: {BYTE}", "not UTF-8"),
    },
    "arrau": mmax("coref_set"),
    "parcor": mmax("coref_class"),
    "gum relations": {
        "NUL byte": Damage("kettle", "ke\0tle", f"1: {NUL}", UNPLACED, kept=(0, 1)),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"1: {NO_UTF}", UNPLACED, kept=(0, 1)),
        "other words": Damage(
            *("kettle", "pot", " character 4: 'pot sang . But Ann slept .', expected 'kettle'"),
            UNPLACED,
            kept=(0, 1),
        ),
        **related("rst/gdtb/pdtb/gold/00/GUM_bio_a"),
        **tree("rst/lisp_binary/GUM_bio_a.dis"),
    },
    "irc": {
        "NUL byte": Damage("kettle", "ke\0tle", f"1: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"1: {BYTE}", "not UTF-8"),
        "log cut off": Damage(
            "[01:02] <ann> it is hot\n",
            "",
            "1: 2 lines, expected at least 3, by line 2 of",
            f"log cut off + {SHORT}",
        ),
        "no link": Damage(
            *("0 1 -\n1 2 -\n", "\n", "1: no link, expected lines such as", ""),
            "dev/a.annotation.txt",
        ),
        "link that is none": Damage(
            "1 2 -",
            "1 x -",
            "2: '1 x -', expected two numbers of lines",
            f"malformed link + {SHORT}",
            "dev/a.annotation.txt",
        ),
    },
    "disrpt texts": {
        "NUL byte": Damage("kettle", "ke\0tle", f"5: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"5: {BYTE}", "not UTF-8"),
        "too few columns": Damage(
            "\tketel", "", "5: 9 columns, expected 10 with tabs", "wrong number of columns"
        ),
        "ids out of order": Damage(
            "3\tkettle", "4\tkettle", "5: id '4', expected 3", "ids out of order"
        ),
        **{
            name: Damage(
                old, new, said, reason, "nld.rst.x/nld.rst.x_dev.rels", kept=(0, 1) * bool(reason)
            )
            for name, (old, new, said, reason) in {
                "NUL byte in a row": ("a\t1", "a\0\t1", f"2: {NUL}", "NUL byte"),
                "too few fields": ("\t1<2", "", "2: 14 fields, expected 15", "truncated line"),
                "too many fields": ("1<2", "1\t2", "2: 16 fields, exp", "too many fields"),
                "empty field": ("\tnone", "\t", "2: rel_type is empty, exp", "empty field"),
                "bad tokens": ("2-6", "6-2", "2: unit2_toks is '6-2', exp", "bad tokens"),
                "column missing": ("orig_label", "other", "1: no column orig_label; exp", ""),
            }.items()
        },
        "other tokens": Damage(
            *("11-13", "11-15", "3: tokens that nld.rst.x_dev.conllu has not, expected those of a"),
            "tokens and text differ",
            "nld.rst.x/nld.rst.x_dev.rels",
            kept=(0, 1),
        ),
    },
    "pdtb": {**raw(), **related("gold/02/wsj_a")},
    "tedmdb": {**raw(), **related("English/ann/01/talk_a_en.txt")},
    "disco": {
        "NUL byte": Damage("kettle", "ke\0tle", f"2: {NUL}", "NUL byte"),
        "not UTF-8": Damage("kettle", "ke\udcfftle", f"2: {BYTE}", "not UTF-8"),
        "unknown sense": Damage(
            "causal", "casual", "2: 'casual' is no sense of 'since', expected", "unknown sense"
        ),
        "unknown connective": Damage(
            "since", "sinse", "2: 'sinse' is no connective of this corpus", "unknown connective"
        ),
        "offset elsewhere": Damage(
            "17", "16", "2: at offset 16 stands ' sinc'", "connective elsewhere"
        ),
        "offset outside the text": Damage(
            "17", "99", "2: at offset 99 stands '', expected", "connective elsewhere"
        ),
        "offset that is none": Damage("17", "²", "2: the offset is '²', expected", "bad offset"),
        "offset under zero": Damage("17", "-1", "2: the offset is '-1', expected", "bad offset"),
        "offset inside a word": Damage(
            "since\tcausal\t17\tThe kettle sang, since",
            "as\tcausal\t5\tThe has",
            "2: at offset 5 stands 'as', expected the word 'as'",
            "connective elsewhere",
        ),
    },
}
