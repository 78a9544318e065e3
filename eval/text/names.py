"""Names of special tokens in texts: ``<unk>`` in a treebank, ``<|im_start|>`` in a chat.

A name is letters like any other, so that no text can end itself or speak for somebody, and costs
the bits of its letters. Other programs, such as lm-evaluation-harness, read the token in its place,
and so does ``--special-tokens``. ``[SEP]`` alone is no name, but a change of speaker.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from coherencegym.eval.data.notes import Note, caution, first_names
from coherencegym.eval.kinds.items import SEPARATOR
from coherencegym.eval.text.places import special_ids

#: The key of texts with a change of speaker.
TURN = ""


def count_names(tokenizer: Any, texts: Iterable[str], *, separated: bool) -> Counter[str]:
    """Count the texts with a name of a special token, by the first name in each.

    Args:
        separated: ``[SEP]`` is a change of speaker, and counted as :data:`TURN`.
    """
    numbers = special_ids(tokenizer)
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        # A tokenizer in Python writes every added token as letters.
        numbers |= {*getattr(tokenizer, "added_tokens_decoder", ())}
    names = {str(tokenizer.convert_ids_to_tokens(number)) for number in numbers}
    # A single character, such as a line break that also ends a text, is read as the token anyway.
    known = {name: name for name in names if len(name) > 1}
    if separated:
        known[SEPARATOR] = TURN
    name = re.compile("|".join(map(re.escape, sorted(known, key=len, reverse=True))) or "(?!)")
    found = map(name.search, dict.fromkeys(texts))
    return Counter(known[match[0]] for match in found if match)


def name_notes(found: Counter[str], special_tokens: bool) -> Iterator[Note]:
    """Cautions on counted texts; ``special_tokens``: their names are read as these tokens."""
    if turns := found[TURN]:
        yield caution(f"texts with {SEPARATOR}, read as a change of speaker: {turns:,}")
    if named := found.total() - turns:
        names = first_names(sorted(filter(None, found)))
        read = "these tokens" if special_tokens else "letters"
        yield caution(
            f"texts with names of special tokens ({names}), read as {read} "
            f"(see --special-tokens): {named:,}"
        )
