"""Scripts without spaces between words (Chinese, Japanese): texts are joined, words told."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

#: Ideographs and kana, with the punctuation and the wide forms that stand among them.
_UNSPACED = "\u3000-\u303f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"
_ONE = re.compile(f"[{_UNSPACED}]")
#: Runs of letters alone.
_LETTERS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
_QUOTES = "\"'“”‘’"


def is_unspaced(character: str) -> bool:
    """Tell whether a character is of a script without spaces."""
    return _ONE.match(character) is not None


def join_texts(texts: Iterable[str]) -> str:
    """Texts that follow one another: with a space between them, and with none in Chinese.

    >>> join_texts(["It rained.", "She stayed."]), join_texts(["下雨了。", "她没走。"])
    ('It rained. She stayed.', '下雨了。她没走。')
    """
    texts = list(texts)
    plain = " ".join(texts)
    if plain.isascii() or not _ONE.search(plain):
        return plain
    joined = ""
    for text in texts:
        before, after = joined.rstrip(_QUOTES)[-1:], text.lstrip(_QUOTES)[:1]
        touch = not joined or is_unspaced(before) or is_unspaced(after)
        joined += text if touch else f" {text}"
    return joined


def place_texts(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Start and end (characters) of each text in what :func:`join_texts` makes of them."""
    joined, places = "", list[tuple[int, int]]()
    for text in texts:
        joined = join_texts([joined, text]) if places else text
        places.append((len(joined) - len(text), len(joined)))
    return places


def with_spaces(text: str) -> str:
    """A text whose words have spaces between them; of Chinese, pairs of neighbouring characters.

    Pairs of characters are the usual words of retrieval where nobody says what the words are
    (Nie and Ren 1999). A text of other scripts comes back as it is.

    >>> with_spaces("我们看到了GDP。"), with_spaces("It rained.")
    ('我们 们看 看到 到了 GDP。', 'It rained.')
    """
    return text if text.isascii() else _LETTERS.sub(_pairs, text)


def count_words(text: str) -> int:
    """The number of words between spaces; of Chinese, of characters."""
    return len(_LETTERS.sub(lambda run: f" {' '.join(run[0])} ", text).split())


def _pairs(run: re.Match[str]) -> str:
    letters = run[0]
    pairs = [letters[place : place + 2] for place in range(max(1, len(letters) - 1))]
    before = " " * (run.start() > 0 and not run.string[run.start() - 1].isspace())
    return f"{before}{' '.join(pairs)} "
