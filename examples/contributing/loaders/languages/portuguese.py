"""Portuguese: spaces, abbreviations, the words that begin sentences and that report speech."""

from __future__ import annotations

from coherencegym.loaders.languages.language import (
    Language,
    SentenceRules,
    Spacing,
    abbreviations,
)
from coherencegym.words import word_set

PORTUGUESE = Language(
    code="pt",
    name="Portuguese",
    lay_out=Spacing(attached=r"-(?:se|lo|la|los|las|lhe|lhes|me|te|nos)"),
    sentences=SentenceRules(
        never_last=abbreviations("av. dr. dra. pág. prof. profa. sr. sra. séc."),
        sometimes_last=abbreviations("a.c. d.c. etc. ltda."),
        starters=word_set("A Ainda As Assim Ela Ele Em Esta Este Mas Não No O Os Para Quando"),
        reporting="disse|perguntou|respondeu|gritou",
    ),
)
