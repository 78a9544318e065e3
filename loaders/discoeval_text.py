"""The sentences of DiscoEval's files as a reader would see them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from loaders.detokenize import detokenize
from loaders.lines import tidy

#: A name or a word that the corpus hides: ``<user>``, ``<unka>``, ``<unk#a.>``.
MASKED = re.compile(r"<(?:user|unk[^\s<>]*)>")

#: Whom a message is for, at its beginning (``<user> :``); who wrote it is not in the files.
_ADDRESSEE = re.compile(r"<(?:user|unk[a#]*)>(?: [:,])+(?:\s+|$)|<unk[a#]*[:,]>(?:\s+|$)")


def sentences(tokenised: Sequence[str], domain: str) -> list[str]:
    """The sentences of one document, in order; those without a word are left out.

    Args:
        tokenised: the sentences as the file has them, in the order of the document.
        domain: what kind of text it is, as ``meta["domain"]`` has it.
    """
    texts = []
    for sentence in tokenised:
        plain = _ADDRESSEE.sub("", sentence, count=1) if domain == "chat" else sentence
        texts.append(tidy(detokenize(plain)))
    return [text for text in texts if any(map(str.isalnum, text))]
