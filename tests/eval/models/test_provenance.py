"""What is known of a model's training data, and the line that sets it beside the texts' year."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.hub.server import HubServer

from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.models.source import NOTHING_KNOWN, Provenance, find_model, find_provenance
from coherencegym.eval.tasks.collect import contamination_notes

CARD = '---\ndatasets:\n- me/stories\n- c4\n- "bad\\e[31m"\nbase_model: me/base\n---\n# Model\n'


@pytest.mark.parametrize(
    ("card", "known"),
    [
        (CARD, Provenance(datasets=("me/stories", "c4"))),
        ("---\ndatasets: c4\n---\n", Provenance(datasets=("c4",))),
        ("---\ndatasets: {a: [b]}\nbase_model: 3\n---\n", NOTHING_KNOWN),
        ("---\n: [\n---\n", NOTHING_KNOWN),
        ("---\n- a list\n---\n", NOTHING_KNOWN),
        ("# No metadata\n", NOTHING_KNOWN),
        ("", NOTHING_KNOWN),
    ],
)
def test_the_card_of_a_folder(tmp_path: Path, card: str, known: Provenance) -> None:
    (tmp_path / "README.md").write_text(card)
    assert find_provenance([find_model(str(tmp_path))]) == known


def test_a_folder_without_a_card_and_what_the_user_states(tmp_path: Path) -> None:
    assert find_provenance([find_model(str(tmp_path))]) == NOTHING_KNOWN
    assert find_provenance([find_model(str(tmp_path))], "2023-09").record() == {"cutoff": "2023-09"}


def test_the_hub_says_when(hub_clients: HubServer, tmp_path: Path) -> None:
    hub_clients.seed("me/model", {"README.md": CARD.encode()}, "v1")
    hub_clients.seed("me/model", {"README.md": b"", "config.json": b"{}"}, "v2")
    old, new = (find_provenance([find_model("me/model", tag)]) for tag in ("v1", "v2"))
    assert old.datasets == ("me/stories", "c4")
    assert (new.datasets, new.changed) == ((), "2024-01-01")
    assert old.changed == "2024-01-01"
    # Of an adapter on a folder, the base's age is not known, nor that of the whole.
    both = find_provenance([find_model(str(tmp_path)), find_model("me/model", "v1")])
    assert (both.changed, both.datasets) == ("", old.datasets)


def test_where_the_hub_does_not_answer_nothing_is_known(hub_clients: HubServer) -> None:
    hub_clients.seed("me/model", {"README.md": CARD.encode()}, "v1")
    source = find_model("me/model")
    hub_clients.stop()
    assert find_provenance([source]) == NOTHING_KNOWN


def test_a_card_in_the_cache_is_read_without_the_hub(
    hub_clients: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub_clients.seed("me/model", {"README.md": CARD.encode()}, "v1")
    source = find_model("me/model")
    assert source.file("README.md") is not None
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    found = find_provenance([source])
    assert (found.datasets, found.changed) == (("me/stories", "c4"), "")


TOYS, NEW = ({"title": "Toys", "public_since": 1999}, {"title": "New", "public_since": 2024})
UNKNOWN = {"title": "Letters", "public_since": 0}


@pytest.mark.parametrize(
    ("corpora", "model", "said"),
    [
        (
            [TOYS, UNKNOWN],
            NOTHING_KNOWN,
            "texts public since 1999 (Toys); the model: its training data are unknown; the model "
            "may have been trained on these texts",
        ),
        (
            [TOYS],
            Provenance("", "2024-02-19", ("c4",)),
            "texts public since 1999 (Toys); the model: its files are of 2024-02-19 "
            "at the latest, its card names the training data c4; the model may have been trained "
            "on these texts",
        ),
        (
            [TOYS, NEW],
            Provenance("2023-09", "2024-02-19"),
            "the model may have been trained on these texts, but not on those of New",
        ),
        ([NEW], Provenance("2023"), "(as stated by the user); these texts were not public then"),
        ([TOYS], Provenance(changed="1999-01-01"), "the model may have been"),
    ],
)
def test_the_year_of_the_texts_beside_it(
    corpora: list[dict[str, Any]], model: Provenance, said: str
) -> None:
    (note,) = contamination_notes(corpora, model)
    assert said in note.text
    assert note.kind == "detail"


def test_texts_of_no_known_year_have_no_line() -> None:
    assert not list(contamination_notes([UNKNOWN], Provenance("2023")))


def test_a_training_cutoff_is_recorded_and_changes_no_number() -> None:
    found = parse_model_arguments(["training_cutoff=2023"])
    assert found.record() == {"training_cutoff": "2023"}
    assert found.numeric() == {}
