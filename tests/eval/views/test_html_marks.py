"""Marks in texts: the words in which two texts differ."""

from hypothesis import given
from hypothesis import strategies as st

from coherencegym.eval.tasks.score.items_page import marked


def test_differences_are_whole_words() -> None:
    left = "He came late, although she had left early. It was the very end."
    right = "He came late, as she had left early. It was a very sad end."
    differing = [[text for text, differs in own if differs] for own in marked(left, right)]
    assert differing == [["although", "the"], ["as", "a", "sad"]]
    assert marked(left, left) == ([(left, False)], [(left, False)])


@given(st.text("ab .", max_size=20), st.text("ab .", max_size=20))
def test_pieces_are_the_text(left: str, right: str) -> None:
    for text, pieces in zip((left, right), marked(left, right), strict=True):
        assert "".join(piece for piece, _ in pieces) == text
