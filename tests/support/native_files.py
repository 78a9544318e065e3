"""Two small discourses in each layout that a loader reads, under the names of the real files.

The word ``kettle`` stands once in one file, in the text of the first discourse.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Layout:
    """A corpus in one of its layouts: its files by relative path.

    Where a document has several files, those of the first document are called after ``a``, and
    those of the second after ``b``.
    """

    corpus: str
    files: dict[str, str]

    @property
    def main(self) -> str:
        """The file with the text of the first discourse."""
        return [name for name, content in self.files.items() if "kettle" in content][-1]

    def write(self, folder: Path) -> None:
        """Write the files."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content.encode())


def _lines(*records: dict[str, Any]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def _array(*records: dict[str, Any]) -> str:
    return "[\n" + ",\n".join(map(json.dumps, records)) + "\n]\n"


STORIES = """\
InputStoryid,InputSentence1,InputSentence2,InputSentence3,InputSentence4,\
RandomFifthSentenceQuiz1,RandomFifthSentenceQuiz2,AnswerRightEnding
s1,The kettle sang.,"Ann said ""tea"".",She poured it.,It was hot.,She drank it.,It flew.,1
s2,Bo ran.,He fell.,It hurt.,He sat.,He slept well.,He got up.,2
"""
ROCSTORIES = """\
storyid,storytitle,sentence1,sentence2,sentence3,sentence4,sentence5
s1,Tea,The kettle sang.,"Ann said ""tea"".",She poured it.,It was hot.,She drank it.
s2,A run,Bo ran.,He fell.,It hurt.,He sat.,He got up.
"""
DIALOGUES = """\
1 your persona: i like tea .
2 the kettle sang .\toh ! tea ?\t\tyes|no
3 yes .\tno milk !
1 hi .\thello .
"""
WINOGRAD_XML = """\
<?xml version="1.0" encoding="UTF-8"?>
<collection>
<schema>
<text><txt1>The kettle does not fit into the box because</txt1>
<pron>it</pron><txt2>is too large.</txt2></text>
<answers><answer>the teapot</answer><answer>the box</answer></answers>
<correctAnswer>A.</correctAnswer><source>(x)</source>
</schema>
<schema>
<text><pron>He</pron><txt2>won &amp; ran.</txt2></text>
<answers><answer>Al</answer><answer>Bo</answer></answers>
<correctAnswer>B</correctAnswer>
</schema>
</collection>
"""
BLANKS: tuple[dict[str, Any], ...] = (
    {
        "qID": "Q1",
        "sentence": "The kettle did not fit because _ was too large.",
        "option1": "teapot",
        "option2": "box",
        "answer": "1",
    },
    {
        "qID": "Q2",
        "sentence": "_ won\n, and ran.",
        "option1": "Al",
        "option2": "Bo",
        "answer": "2",
    },
)
CONLLU = """\
# newdoc id = GUM_bio_a
# global.Entity = GRP-etype-infstat-minspan-link
# speaker = B
1\tThe\tthe\tDET\tDT\t_\t2\tdet\t_\tEntity=(1-object-new-2-coref
2\tkettle\tpot\tNOUN\tNN\tNumber=Sing\t3\tnsubj\t_\tEntity=1)
3-4\tdidn't\t_\t_\t_\t_\t_\t_\t_\t_
3\tdid\tdo\tAUX\tVBD\t_\t5\taux\t_\t_
4\tn't\tnot\tPART\tRB\t_\t5\tadvmod\t_\t_
5\tsing\tsing\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No
5.1\t_\t_\t_\t_\t_\t_\t_\t_\t_
6\t.\t.\tPUNCT\t.\t_\t5\tpunct\t_\t_

# text = It was hot.
1\tIt\tit\tPRON\tPRP\tPerson=3|PronType=Prs\t3\tnsubj\t_\tEntity=(1-object-giv:act-1-ana)
2\twas\tbe\tAUX\tVBD\t_\t3\tcop\t_\t_
3\thot\thot\tADJ\tJJ\t_\t0\troot\t_\tSpaceAfter=No
4\t.\t.\tPUNCT\t.\t_\t3\tpunct\t_\t_

# newdoc id = GUM_bio_b
1\tAnn\tAnn\tPROPN\tNNP\t_\t2\tnsubj\t_\tEntity=(2[1/2]-person-new-1-coref)
2\tran\trun\tVERB\tVBD\t_\t0\troot\t_\t_
3\ttoo\ttoo\tADV\tRB\t_\t2\tadvmod\t_\tEntity=(2[2/2])
"""
CONLL2012 = """\
#begin document (bc/a); part 000
bc/a 0 0 The DT (TOP(S* - - - Ann * (1
bc/a 0 1 kettle NN * - - - Ann * 1)
bc/a 0 2 sang VBD * sing 1 1 Ann * -

bc/a 0 0 It PRP * - - - - * (1)
bc/a 0 1 ran VBD * run 1 1 - * -

#end document
#begin document (bc/b); part 000
bc/b 0 0 Bo NNP * - - - - * (2)|(3
bc/b 0 1 's POS * - - - - * -
bc/b 0 2 hat NN * - - - - * 3)

bc/b 0 0 He PRP * - - - - * (2)
bc/b 0 1 lost VBD * - - - - * -
bc/b 0 2 it PRP * - - - - * (3)

#end document
"""
PAIRS: tuple[dict[str, Any], ...] = (
    {
        "label": "negative",
        "sentence1": "my kettle is old .",
        "sentence2": "i hate tea .",
        "triple1": ["i", "have", "a pot"],
        "triple2": ["i", "dislike", "tea"],
        "dtype": "x_up",
        "id": "p1",
    },
    {
        "label": "neutral",
        "sentence1": "i am é .",
        "sentence2": "i sing .",
        "triple1": ["<none>", "<none>", "<none>"],
        "triple2": ["i", "like", "songs"],
        "dtype": "x_pp",
        "id": "p2",
    },
)
CONVERSATIONS: tuple[dict[str, Any], ...] = (
    {
        "hypothesis": "SpeakerA has tea.",
        "id": 1,
        "dialog_source": "SW1",
        "label": 1,
        "type": "fact",
        "turns": [{"speaker": "A", "text": "The kettle  sang."}],
        "conflict_pair": [0, 0],
    },
    {
        "hypothesis": "SpeakerB runs.",
        "id": 2,
        "dialog_source": "SW2",
        "label": 1,
        "type": "n/a",
        "turns": [{"speaker": "B", "text": "É?"}, {"speaker": "A", "text": "I run."}],
        "conflict_pair": [0, 1],
    },
)
ABDUCTIONS: tuple[dict[str, Any], ...] = (
    {
        "observation_1": "The kettle sang.",
        "hypothesis_1": "Ann made tea.",
        "hypothesis_2": "Ann slept.",
        "observation_2": "She drank it.",
        "label": 1,
        "id": "val_1",
        "conflict_pair": [0, 1],
        "23_plausible": False,
    },
    {
        "observation_1": "Bo ran.",
        "hypothesis_1": "He sat.",
        "hypothesis_2": "He fell.",
        "observation_2": "It hurt.",
        "label": 2,
        "id": "val_2",
        "conflict_pair": [1, 2],
        "23_plausible": None,
    },
)


#: Of an MMAX2 document: words, span of the sentence, spans of two mentions of one chain.
_MMAX = {
    "a": ("The kettle sang . It ran", "word_1..word_4", "word_1..word_2", "word_5"),
    "b": ("Bo left . He ran", "word_1..word_3", "word_1", "word_4"),
}
_XML = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE {0} SYSTEM "{0}.dtd">\n'


def _mmax(chain: str) -> dict[str, str]:
    """Two documents of three files each; the DTDs that they name are not there."""
    files = {}
    for name, (text, sentence, first, second) in _MMAX.items():
        words = "\n".join(f'<word id="word_{i}">{w}</word>' for i, w in enumerate(text.split(), 1))
        files[f"Basedata/{name}_words.xml"] = f"{_XML.format('words')}<words>\n{words}\n</words>\n"
        levels = {
            "coref": (
                f'<markable id="markable_1" span="{first}" {chain}="set_1" mention="np"/>\n'
                f'<markable id="markable_2" span="{second}" {chain}="set_1"/>'
            ),
            "sentence": f'<markable id="markable_9" span="{sentence}" speaker="A"/>',
        }
        for level, markables in levels.items():
            files[f"Markables/{name}_{level}_level.xml"] = (
                f'{_XML.format("markables")}<markables xmlns="www.eml.org/NameSpaces/{level}">\n'
                f"{markables}\n</markables>\n"
            )
    return files


#: Of a document with discourse relations: its raw text, and spans of connective and arguments.
_RELATIONS = {
    "a": ("The kettle sang . But Ann slept .", "18..21", "0..15", "22..31"),
    "b": ("He ran because it rained .", "7..14", "0..6", "15..24"),
}


def _related(annotation: str, raw: str) -> dict[str, str]:
    """Raw texts of two documents, and a relation of each in pipe format."""
    files = {}
    for document, (text, connective, one, two) in _RELATIONS.items():
        start, end = map(int, connective.split(".."))
        columns = [""] * 34
        columns[:2], columns[7] = ["Explicit", connective], text[start:end]
        columns[8], columns[14], columns[20] = "Comparison.Contrast", one, two
        files[annotation.format(document)] = "|".join(columns) + "\n"
        files[raw.format(document)] = text
    return files


def _words_of(document: str) -> str:
    """The words of a document with relations in CoNLL-U."""
    rows = [
        f"{i}\t{word}\t_\tNOUN\t_\t_\t{int(i > 1)}\t_\t_\t_"
        for i, word in enumerate(_RELATIONS[document][0].split(), start=1)
    ]
    return f"# newdoc id = GUM_bio_{document}\n" + "\n".join(rows) + "\n"


def _tree_of(document: str) -> str:
    """A tree of two leaves: the first two words, and the others."""
    words = _RELATIONS[document][0].split()
    first, second = " ".join(words[:2]), " ".join(words[2:])
    return (
        "( Root (span 1 2)\n"
        f"  ( Nucleus (leaf 1) (rel2par span) (text _!{first}_!) )\n"
        f"  ( Satellite (leaf 2) (rel2par adversative-contrast) (text _!{second}_!) )\n)\n"
    )


#: The header of a table of relations.
RELS = (
    "doc\tunit1_toks\tunit2_toks\tunit1_txt\tunit2_txt\tu1_raw\tu2_raw\ts1_toks\ts2_toks\t"
    "unit1_sent\tunit2_sent\tdir\trel_type\torig_label\tlabel"
)
#: A document that begins with a heading, and one of turns, with their relations.
TOKENS = """\
# newdoc_id = a
# sent_id = a-1
1\tThee\tthee\tNOUN\t_\t_\t5\tnsubj\t_\tSeg=B-seg
2\tDe\tde\tDET\t_\t_\t3\tdet\t_\tSeg=B-seg
3\tkettle\tketel\tNOUN\t_\t_\t5\tnsubj\t_\tSeg=O
4\t(\t(\tPUNCT\t_\t_\t5\tpunct\t_\tSeg=O
5\tzong\tzingen\tVERB\t_\t_\t0\troot\t_\tSeg=O
6\t)\t)\tPUNCT\t_\t_\t5\tpunct\t_\tSeg=O
7\t[\t[\tPUNCT\t_\t_\t5\tpunct\t_\tSeg=O
8\t1\t1\tNUM\t_\t_\t5\tdep\t_\tSeg=O
9\t]\t]\tPUNCT\t_\t_\t5\tpunct\t_\tSeg=O
10\t.\t.\tPUNCT\t_\t_\t5\tpunct\t_\tSeg=O

# sent_id = a-2
1\tmaar\tmaar\tCCONJ\t_\t_\t3\tcc\t_\tSeg=B-seg
2\tAnn\tAnn\tPROPN\t_\t_\t3\tnsubj\t_\tSeg=O
3\tsliep\tslapen\tVERB\t_\t_\t0\troot\t_\tSeg=O
4\t.\t.\tPUNCT\t_\t_\t3\tpunct\t_\tSeg=O

# newdoc id = b
# newturn_id = b-1
# newutterance_id = b-1-1
1\tdag\tdag\tINTJ\t_\t_\t7\tdiscourse\t_\tConn=O

# newutterance_id = b-1-2
1-2\tnaart\t_\t_\t_\t_\t_\t_\t_\t_
1\tnaar\tnaar\tADP\t_\t_\t2\tcase\t_\tConn=O
2\thet\thet\tPRON\t_\t_\t0\troot\t_\tConn=O

# newturn_id = b-2
1\tdank\tdank\tINTJ\t_\t_\t0\troot\t_\tConn=O
"""
TOKENS_RELS = RELS + "".join(
    "\n" + "\t".join((*fields.split("|"), *"----", "1-1", "1-1", *"--", "1<2", *labels))
    for fields, *labels in (
        ("a|1-1|2-6", "none", "preparation", "preparation"),
        ("a|2-6|11-13", "none", "Comparison.Contrast", "comparison.contrast"),
        ("b|1-3|4-4", "none", "restatement", "restatement"),
    )
)

DISCO = """\
connective\tsense\toffset\tsegment
since\tcausal\t17\tThe kettle sang, since it was hot.
while\tcontrast\t9\tWe came, while they left. "Yes".
"""

ARTICLES = {
    "a": "The kettle sang in the kitchen. Ann took two cups from the shelf. She poured the tea.",
    "b": "Bo ran to the station. He fell on the stairs, and it hurt. His train left without him.",
}


INTRUDED: tuple[dict[str, Any], ...] = (
    {
        "ctx": "Ann lit the fire. The kettle sang.  She poured the tea.",
        "file_id": 1,
        "to_be_replaced": "The kettle sang.",
        "replace_with": "The tram stopped.",
        "sen_position": 1,
        "train": 0,
        "label": 0,
    },
    {
        "ctx": "Bo ran. He fell. It hurt.",
        "file_id": 2,
        "to_be_replaced": "It hurt.",
        "replace_with": "They sang.",
        "sen_position": 2,
        "train": 0,
        "label": 0,
    },
)
ANSWERED = {"file_id": "1", "gold": "1", "annoated": ["1", "-1", "2"]}


REWRITES = """\
essay_id,topic,context,sentence,label,R1,R2,R3,R4,R5,R6,R7,Rewrite
1.txt,Tea is good.,The kettle sang. Ann came.,"He said ""tea"".",-1.0,,1.0,,,,,,"She said ""tea""."
2.txt,Running is good.,Bo ran. He fell.,But it hurt.,0.0,0.0,0.0,1.0,0.0,0.0,0.0,1.0,So it hurt.
"""
RATED = {
    str(number): {
        "StoryID": number,
        "Title": "A day",
        "Text": f"A day: {' '.join(sentences)}",
        "IncrementalData": {
            "sentences": sentences,
            "scores": {"annot0": 2, "annot1": 3},
            "reasons": {"annot0": {"1": [1, 3, 4]}, "annot1": {}},
            "consensus_score": 2,
        },
        "HolisticData": {"scores": {"annot0": 4.0}, "consensus_score": 4},
    }
    for number, sentences in (
        (11, ["The kettle sang.", "It was Tuesday."]),
        (12, ["Bo ran.", "É? He fell."]),
    )
}


def _one(corpus: str, name: str, content: str) -> Layout:
    return Layout(corpus, {name: content})


LAYOUTS = {
    "storycloze": _one("storycloze", "cloze_test_val__spring2016 - val.csv", STORIES),
    "storycloze tabs": _one(
        "storycloze",
        "cloze_test_val__spring2016 - val.tsv",
        STORIES.replace('"Ann said ""tea""."', 'Ann said "tea".').replace(",", "\t"),
    ),
    "rocstories": _one("rocstories", "ROCStories__spring2016 - stories.csv", ROCSTORIES),
    "personachat": _one("personachat", "test_self_original.txt", DIALOGUES),
    "winograd xml": _one("winograd", "WSCollection.xml", WINOGRAD_XML),
    "winograd array": _one("winograd", "wsc273.jsonl", _array(*BLANKS)),
    "winogrande": _one("winogrande", "winogrande_1.1/dev.jsonl", _lines(*BLANKS)),
    "gum": _one("gum", "en_gum-corefud-dev.conllu", CONLLU),
    "ontonotes": _one("ontonotes", "dev.english.v4_gold_conll", CONLL2012),
    "dialoguenli": _one("dialoguenli", "dialogue_nli_verified_test.jsonl", _array(*PAIRS)),
    "dialoguenli lines": _one("dialoguenli", "dialogue_nli_verified_test.jsonl", _lines(*PAIRS)),
    "verifiable conversations": _one(
        "verifiable", "ConvEnt_test_annotation_merged2.json", _array(*CONVERSATIONS)
    ),
    "verifiable choices": _one(
        "verifiable", "ART_test_rand200_annotation_merged2.json", _array(*ABDUCTIONS)
    ),
    "gum relations": Layout(
        "gum",
        {f"dep/GUM_bio_{document}.conllu": _words_of(document) for document in _RELATIONS}
        | {f"rst/lisp_binary/GUM_bio_{document}.dis": _tree_of(document) for document in _RELATIONS}
        | _related("rst/gdtb/pdtb/gold/00/GUM_bio_{}", "rst/gdtb/pdtb/raw/00/GUM_bio_{}"),
    ),
    "decor": _one("decor", "data/test/test_rewrite_213_no_delete.csv", REWRITES),
    "cohesentia": _one("cohesentia", "data/TestData.json", json.dumps(RATED)),
    "irc": Layout(
        "irc",
        {f"dev/{name}.annotation.txt": "0 1 -\n1 2 -\n" for name in "ab"}
        | {
            "dev/a.raw.txt": "[01:00] <ann> the kettle\n[01:01] <bo> oh\n[01:02] <ann> it is hot\n",
            "dev/b.raw.txt": "[01:00] <cy> é?\n[01:01] <ann> cy: no\n[01:02]  * cy waves\n",
        },
    ),
    "disrpt texts": Layout(
        "disrpt",
        {
            "nld.rst.x/nld.rst.x_dev.rels": f"{TOKENS_RELS}\n",
            "nld.rst.x/nld.rst.x_dev.conllu": TOKENS,
        },
    ),
    "pdtb": Layout("pdtb", _related("gold/02/wsj_{}", "raw/02/wsj_{}")),
    "tedmdb": Layout(
        "tedmdb", _related("English/ann/01/talk_{}_en.txt", "English/raw/01/talk_{}_en.txt")
    ),
    "disco": _one("disco", "disco.tsv", DISCO),
    "discoeval": _one(
        "discoeval",
        "SP/rocstory/test.txt",
        "1\tAnn said `` tea '' .\tThe kettle sang .\tShe poured it .\tIt was hot .\tShe drank .\n"
        "0\tBo ran .\tHe fell .\tIt did n't hurt .\tHe sat .\tHe got up .\n",
    ),
    "discoeval coherence": _one(
        "discoeval",
        "data/DC/chat/valid.txt",
        "1\tthe kettle sang .\t<user> : oh ?\t<user> , yes\ttea !\t<user> : no\twhy ?\n"
        "1\tBo ran .\tHe fell .\tIt hurt `` a lot '' .\tHe sat .\tHe slept .\tHe got up .\n",
    ),
    "insted": _one("insted", "official_wikipedia.jsonl", _lines(*INTRUDED)),
    "insted probes": Layout(
        "insted",
        {
            "linguistic_probe_data/human_annotation/injected_negation.jsonl": _lines(ANSWERED),
            "linguistic_probe_data/injected_to_negation.txt": _lines(*INTRUDED),
        },
    ),
    "documents": _one(
        "documents",
        "documents/articles.jsonl",
        _lines(*({"id": f"x{name}", "text": text} for name, text in ARTICLES.items())),
    ),
    "documents texts": Layout(
        "documents", {f"documents/{name}.txt": text for name, text in ARTICLES.items()}
    ),
    "arrau": Layout("arrau", _mmax("coref_set")),
    "parcor": Layout("parcor", _mmax("coref_class")),
}
