"""Portuguese. Pronouns, articles: Cunha and Cintra, *Nova gramática* (1985), chapters 11, 9."""

from __future__ import annotations

from coherencegym.loaders.languages.language import (
    Language,
    SentenceRules,
    Spacing,
    abbreviations,
    article_table,
    pronoun_table,
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
    pronouns=pronoun_table(
        {
            "personal 1 singular nominative": "eu",
            "personal 1 singular": "me mim",
            "personal 1 plural": "nós nos",
            "personal 2 singular nominative": "tu",
            "personal 2 singular": "te ti",
            "personal 3 singular masculine": "ele",
            "personal 3 singular feminine": "ela",
            "personal 3 singular dative": "lhe",
            "personal 3 plural masculine": "eles",
            "personal 3 plural feminine": "elas",
            "personal 3 plural dative": "lhes",
            "reflexive 3": "se si",
            "possessive 1": "meu minha nosso nossa",
            "possessive 2": "teu tua",
            "possessive 3": "seu sua",
            "demonstrative": "este esta isto esse essa isso aquele aquela aquilo",
        }
    ),
    articles=article_table(
        {
            "o": "masculine singular",
            "a": "feminine singular",
            "os": "masculine plural",
            "as": "feminine plural",
        },
        {"um": "masculine singular", "uma": "feminine singular"},
    ),
)
