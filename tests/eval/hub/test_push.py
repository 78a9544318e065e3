"""Results on a Hub, by the real client against a server on the loopback interface."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
import yaml
from huggingface_hub import (
    CommitOperationAdd,
    DatasetCard,
    HfApi,
    parse_eval_result_entries,
)
from markdown_it import MarkdownIt
from pyarrow import parquet
from support.hub.portal import INSTEAD, PAGE, UNREAD, WRITES, Portal, check_line, check_portal
from support.hub.server import HubServer
from support.results import model_facts

from coherencegym.errors import EvaluationError
from coherencegym.eval.commands.cli import main
from coherencegym.eval.hub.formats import result_entries
from coherencegym.eval.hub.push import (
    FIRST_MARK,
    LAST_MARK,
    config_name,
    push_results,
    render_results_card,
    run_folder,
    with_list,
)
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.results.folder import read_results

REPO = "coherencegym/results"


def read_card(text: str) -> Any:
    """A card, whose metadata may have any key."""
    return DatasetCard(text)


def changed(scored: Path, folder: Path, **about: Any) -> Path:
    """The same results, as if another model had them."""
    shutil.copytree(scored, folder)
    content = json.loads((folder / "results.json").read_text())
    content["model"]["name"] = about.get("model", "other/model")
    content["signature"] += about.get("signature", "|other")
    (folder / "results.json").write_text(json.dumps(content))
    return folder


def test_a_run_is_one_commit_with_a_card_that_loads(
    hub: HubServer, hub_api: HfApi, scored: Path, pair_items: list[Item]
) -> None:
    outcome = push_results(hub_api, [scored], REPO)
    first, *before = hub.commits(REPO)
    assert first.sha == outcome.commit
    assert len(before) == 1  # the Hub's own
    place = run_folder(read_results(scored))
    files = hub.files(REPO)
    tables = {f"{name}.parquet" for name in ("regions", "units", "systems", "outcomes")}
    kept = {"results.json", *tables}
    assert set(files) == {f"{place}/{name}" for name in kept} | {"README.md", ".gitattributes"}
    for name in kept:
        assert files[f"{place}/{name}"] == (scored / name).read_bytes()
    card = read_card(files["README.md"].decode())
    assert isinstance(card.data.tags, list)
    assert "coherencegym" in card.data.tags
    assert card.data.license is None
    score = next(s for s in read_results(scored).rows if s.level == "all")
    assert score.score is not None
    row = f"| toy 1.0.0 | {score.n} | [{100 * score.score:.1f} "
    assert row in card.text
    assert f"]({place}/results.json) |" in card.text
    assert (scored / "report.html").is_file()  # which has the texts


def strings(value: Any) -> Iterator[str]:
    """All texts in a value of JSON, names included."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        yield from (text for pair in value.items() for each in pair for text in strings(each))
    elif isinstance(value, list):
        yield from (text for each in value for text in strings(each))


def test_no_text_of_an_item_leaves_the_machine(
    hub: HubServer, hub_api: HfApi, scored: Path, pair_items: list[Item]
) -> None:
    """In no cell of a table, whatever its compression, and nowhere in the rest."""
    push_results(hub_api, [scored], REPO)
    texts = {r.content for item in pair_items for c in item.conditions for r in c.regions}
    # Three words in a row: also of a text that is cut.
    words = {
        " ".join(text.split()[i : i + 3]) for text in texts for i in range(len(text.split()) - 2)
    }
    assert len(words) > 20
    found: list[str] = []
    for path, content in hub.files(REPO).items():
        if path.endswith(".parquet"):
            rows = parquet.read_table(BytesIO(content)).to_pylist()
            assert rows
            found += strings(rows)
        elif path.endswith(".json"):
            found += strings(json.loads(content))
        elif not path.endswith(".png"):
            found.append(content.decode())
    assert not [(text, word) for text in found for word in words if word in text]


def test_each_run_loads_by_itself_and_can_be_compared(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    from datasets import get_dataset_config_names, load_dataset
    from huggingface_hub import snapshot_download

    other = changed(scored, tmp_path / "other")
    for folder in (scored, other):
        push_results(hub_api, [folder], REPO)
    places = [run_folder(read_results(folder)) for folder in (scored, other)]
    kinds = ("outcomes", "regions", "systems", "units")
    names = [config_name(kind, place) for place in places for kind in kinds]
    assert sorted(get_dataset_config_names(REPO)) == sorted(names)
    for name, columns in (
        (names[0], ("unit_id", "metric", "value", "reason")),
        (names[1], ("item_id", "condition_name", "region_number", "sum_bits")),
        (names[3], ("item", "config", "formula", "groups")),
    ):
        rows = load_dataset(REPO, name, split="test")
        assert set(rows.column_names) >= set(columns)
        ids = {tuple(row[column] for column in columns[:2]) for row in rows}
        assert len(ids) == len(rows)  # one run's: another would have them again
    card = hub.files(REPO)["README.md"].decode()
    assert all(f'load_dataset("{REPO}", "{name}", split="test")' in card for name in names)
    # What comes back from the Hub is a folder of results as any other.
    fetched = Path(snapshot_download(REPO, repo_type="dataset"))
    assert read_results(fetched / places[1], outcomes=True).model_name == "other/model"


def test_the_same_run_again_is_no_commit_and_another_stands_beside(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    push_results(hub_api, [scored], REPO)
    again = push_results(hub_api, [scored], REPO)
    assert again.commit == ""
    assert again.lines == [f"{REPO} has these results already"]
    push_results(hub_api, [changed(scored, tmp_path / "other")], REPO)
    assert len(hub.commits(REPO)) == 3
    files = hub.files(REPO)
    assert sum(path.endswith("results.json") for path in files) == 2
    card = files["README.md"].decode()
    assert "| demo |" in card
    assert "| model |" in card


def test_a_dry_run_writes_nothing(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    outcome = push_results(hub_api, [scored], REPO, dry_run=True)
    first, *lines, last = outcome.lines
    assert (first, last) == (f"{REPO} is not there: would be made", f"would be pushed to {REPO}")
    assert any("regions.parquet (" in line for line in lines)
    assert hub.repositories() == []
    assert push_results(hub_api, [scored], REPO).lines[0] == f"{REPO} is not there: made"
    before = hub.commits(REPO)
    push_results(hub_api, [changed(scored, tmp_path / "other")], REPO, dry_run=True)
    assert hub.commits(REPO) == before


def test_somebody_else_commits_meanwhile(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    push_results(hub_api, [scored], REPO)
    commit = HfApi.create_commit
    others = iter(range(99))

    def late(self: HfApi, repo_id: str, operations: Any, **more: Any) -> Any:
        if next(others) < times:
            add = CommitOperationAdd(f"note-{next(others)}.txt", b"hello")
            commit(self, repo_id, [add], commit_message="meanwhile", repo_type="dataset")
        return commit(self, repo_id, operations, **more)

    monkeypatch.setattr(HfApi, "create_commit", late)
    times = 1
    push_results(hub_api, [changed(scored, tmp_path / "second")], REPO)
    files = hub.files(REPO)
    assert sum(path.endswith("results.json") for path in files) == 2
    assert any(path.startswith("note-") for path in files)
    times = 99
    with pytest.raises(EvaluationError, match="3 times meanwhile; nothing was pushed"):
        push_results(hub_api, [changed(scored, tmp_path / "third", signature="|third")], REPO)
    assert sum(path.endswith("results.json") for path in hub.files(REPO)) == 2


def test_names_of_models_lead_nowhere_and_break_no_table(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    nasty = changed(scored, tmp_path / "nasty", model="../../x | <b>`y`</b>\n# z")
    push_results(hub_api, [nasty], REPO)
    (place,) = {p.rpartition("/")[0] for p in hub.files(REPO) if p.endswith("results.json")}
    assert ".." not in place.split("/")
    card = hub.files(REPO)["README.md"].decode()
    assert "<b>" not in card.partition("```text")[0]
    assert "\n# z" not in card
    assert card.count("\n```") == 4  # two blocks of code, none ended by a name
    rows = [line for line in card.splitlines() if line.startswith("| ")]
    assert "# z |" in rows[0]
    assert len({row.replace("\\|", "").count("|") for row in rows}) == 1


def test_a_signature_stays_in_its_block(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    nasty = changed(scored, tmp_path / "nasty", signature=f"```\n```` {LAST_MARK} # mine")
    for folder in (nasty, scored):
        push_results(hub_api, [folder], REPO)
        card = read_card(hub.files(REPO)["README.md"].decode())
        kinds = [(token.type, token.info) for token in MarkdownIt().parse(card.text)]
        fences = [info for kind, info in kinds if kind == "fence"]
        assert fences == ["python", "text"]
        assert kinds[-1] == ("html_block", "")
        assert "\n`````text\n" in card.text
        assert card.text.endswith(f"\n`````\n\n{LAST_MARK}\n")


def test_a_run_in_the_repository_that_is_none_is_said(
    hub: HubServer, hub_api: HfApi, scored: Path
) -> None:
    hub_api.create_repo(REPO, repo_type="dataset")
    add = CommitOperationAdd(f"runs/s/1.0/m/{'0' * 12}/results.json", b"{}")
    hub_api.create_commit(REPO, [add], commit_message="x", repo_type="dataset")
    with pytest.raises(
        EvaluationError, match=rf"{REPO}: runs/s/1.0/m/0+/results.json: no 'format'"
    ):
        push_results(hub_api, [scored], REPO)


@pytest.mark.parametrize("which", ["read_token", "stranger_token"])
def test_who_may_not_write_is_told_in_one_line_without_the_token(
    which: str,
    hub_clients: HubServer,
    scored: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    token = getattr(hub_clients, which)
    monkeypatch.setenv("HF_TOKEN", token)
    monkeypatch.setattr("huggingface_hub.constants.HF_TOKEN", token, raising=False)
    assert main(["push", str(scored), REPO]) == 2
    printed = capsys.readouterr()
    assert printed.err.startswith("coherencegym push: the Hub refused (40")
    assert printed.err.count("\n") == 1
    assert token not in printed.err + printed.out


def test_no_folder_no_name_no_hub(
    hub_clients: HubServer,
    hub_sleeps: list[float],
    scored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for argv, said in (
        ((str(tmp_path), REPO), "expected a folder that coherencegym score wrote"),
        ((str(scored), "a b/c d"), "expected USER/NAME"),
    ):
        assert main(["push", *argv]) == 2
        error = capsys.readouterr().err
        assert said in error
        assert error.count("\n") == 1
    hub_clients.stop()
    assert main(["push", str(scored), REPO]) == 2
    error = capsys.readouterr().err
    assert "the connection to the Hub broke" in error
    assert error.count("\n") == 1


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("kind", ["503", "cut"])
def test_a_push_that_is_cut_off_is_made_whole_by_the_next(
    hub_clients: HubServer,
    hub_sleeps: list[float],
    scored: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    after: bool,
) -> None:
    status = None if kind == "cut" else int(kind)
    hub_clients.faults.add(path_contains="/commit/", status=status, cut=kind == "cut", after=after)
    assert main(["push", str(scored), REPO]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert "run the same command again" in error
    made = len(hub_clients.commits(REPO))
    assert made == 1 + after
    if not after:
        assert set(hub_clients.files(REPO)) == {".gitattributes"}
    assert main(["push", str(scored), REPO]) == 0
    assert ("has these results already" in capsys.readouterr().out) == after
    assert len(hub_clients.commits(REPO)) == 2


def test_an_upload_that_keeps_failing_is_one_line(
    hub_clients: HubServer,
    hub_sleeps: list[float],
    scored: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hub_clients.faults.add(method="PUT", status=503, times=99)
    assert main(["push", str(scored), REPO]) == 2
    error = capsys.readouterr().err
    assert re.match(
        r"coherencegym push: localhost:\d+ answered PUT /\S+ with 503 \(\S+\); a push is",
        error,
    )
    assert error.count("\n") == 1
    assert set(hub_clients.files(REPO)) == {".gitattributes"}


STEPS = [("GET", f"/api/datasets/{REPO}"), ("HEAD", "/resolve/"), ("GET", "/resolve/"), *WRITES]


@pytest.mark.parametrize("instead", INSTEAD)
@pytest.mark.parametrize(("method", "path"), STEPS, ids=[f"{m} {p}" for m, p in STEPS])
def test_an_answer_that_is_not_the_hubs_is_one_line_and_the_next_push_finishes(
    hub_clients: HubServer,
    hub_sleeps: list[float],
    scored: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    portal: Portal,
    method: str,
    path: str,
    instead: str,
) -> None:
    is_new = path == "/repos/create"
    if not is_new:
        other = changed(scored, tmp_path / "other")
        for file in (*other.glob("*.parquet"), *other.glob("*.png")):
            file.unlink()  # or they would be there already
        push_results(HfApi(endpoint=hub_clients.url, token=hub_clients.write_token), [other], REPO)
    old = {} if is_new else hub_clients.files(REPO)
    hub_clients.faults.add(
        method=method, path_contains=path, times=99, answer=INSTEAD[instead](portal)
    )
    capsys.readouterr()
    code = main(["push", str(scored), REPO])
    out, err = capsys.readouterr()
    check_portal(portal)
    assert hub_clients.faults.pending < 99
    hub_clients.faults.clear()
    if (path, instead) in UNREAD:
        assert code == 0
    else:
        assert code == 2
        check_line(err.rstrip("\n"), hub_clients.write_token)
        assert out == ""
        assert is_new == (REPO not in hub_clients.repositories())
        assert is_new or hub_clients.files(REPO) == old
    assert main(["push", str(scored), REPO]) == 0
    assert len(hub_clients.commits(REPO)) == (2 if is_new else 3)


@pytest.mark.parametrize("path", ["/repos/create", "/commit/"])
def test_what_took_effect_though_a_page_answered_is_not_done_twice(
    hub_clients: HubServer, scored: Path, capsys: pytest.CaptureFixture[str], path: str
) -> None:
    hub_clients.faults.add(method="POST", path_contains=path, answer=PAGE, after=True)
    assert main(["push", str(scored), REPO]) == 2
    check_line(capsys.readouterr().err.rstrip("\n"), hub_clients.write_token)
    assert main(["push", str(scored), REPO]) == 0
    assert len(hub_clients.commits(REPO)) == 2


#: What YAML reads otherwise than it stands there.
OWN_TAGS = "- 3.10 # mine\n- [no]\nlanguage: no\nlicense: cc-by-4.0\n"
OWN_CONFIG = "- config_name: on\n  data_files: 'mine/*.csv' \n\n# the end\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_owners_part_of_the_card_stays_to_the_byte(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path, newline: str
) -> None:
    push_results(hub_api, [scored], REPO)
    card = hub.files(REPO)["README.md"].decode()
    for old, new in (
        ("\nconfigs:\n", f"\n{OWN_TAGS}configs:\n"),
        ("---\n\n", f"{OWN_CONFIG}---\n\nBefore.\n"),
        ("pretty_name: ", "# pretty_name: "),
    ):
        card = card.replace(old, new, 1)
    whole = f"{card}\nAfter.\n".replace("\n", newline).encode()
    hub.seed(REPO, {"README.md": whole.replace(b"---", b"---  ", 1), "mine/a.csv": b"a\n1\n"})
    push_results(hub_api, [changed(scored, tmp_path / "other")], REPO)
    assert push_results(hub_api, [scored], REPO).commit == ""
    again = hub.files(REPO)["README.md"]
    lines = iter(again.splitlines(keepends=True))
    own = f"---  \n# pretty_name: Results in {REPO}\n{OWN_TAGS}{OWN_CONFIG}---\n\nBefore.\n"
    assert all(
        line in lines for line in own.replace("\n", newline).encode().splitlines(keepends=True)
    )
    assert again.endswith(whole[whole.index(b"After.") :])
    assert again.count(FIRST_MARK.encode()) == again.count(LAST_MARK.encode()) == 1
    about = yaml.safe_load(again.partition(b"---  ")[2].partition(b"---")[0])
    assert about["configs"][-1]["config_name"] is True
    assert len(about["configs"]) == 9
    assert b"| model |" in again


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("", "k:\n- new\n"),
        ("a: 1.10\n", "a: 1.10\nk:\n- new\n"),
        ("k:\na: no\n", "k:\n- new\na: no\n"),
        ("k: # why\n", "k:\n- new\n # why\n"),
        ("k:\n- mine # so\n- old\n# last\na: no\n", "k:\n- new\n- mine # so\n# last\na: no\n"),
        ("a: b\nk:\n  - old\n\n  - - x\n    - 'y'\n", "a: b\nk:\n  - new\n\n  - - x\n    - 'y'\n"),
        ("k: [old, 3.10, {a: no}] # so\na: 1\n", 'k: ["new", 3.10, {a: no}] # so\na: 1\n'),
        ("k: []\n", 'k: ["new"]\n'),
    ],
)
def test_a_list_is_edited_in_the_layout_that_it_has(text: str, made: str) -> None:
    assert with_list(text, "k", ["new"], lambda one: one != "old") == made
    assert yaml.safe_load(made)["k"][0] == "new"


@pytest.mark.parametrize(
    ("card", "said"),
    [
        (b"---\nlicense: mit\n---\n# My dataset\n", "somebody's own card"),
        (b"# My dataset\n", "somebody's own card"),
        (b"---\n- a\n---\n", "its metadata cannot be read"),
        (b"---\na: [\n---\n", "its metadata cannot be read"),
        (b"---\n\xff\n---\n", "README.md is not UTF-8"),
        (b"---\ntags: mine\n---\n", "its metadata cannot be gone on with"),
        (b"---\n{tags: [mine]}\n---\n", "its metadata cannot be gone on with"),
    ],
)
def test_a_card_of_somebodys_own_is_left_alone(
    hub: HubServer, hub_api: HfApi, scored: Path, card: bytes, said: str
) -> None:
    hub.seed(REPO, {"README.md": card})
    with pytest.raises(EvaluationError, match=said):
        push_results(hub_api, [scored], REPO)
    assert hub.files(REPO)["README.md"] == card


def test_a_card_of_metadata_alone_is_gone_on_with(
    hub: HubServer, hub_api: HfApi, scored: Path
) -> None:
    hub.seed(REPO, {"README.md": b"---\r\nlicense: mit\r\n---\r\n"})
    push_results(hub_api, [scored], REPO)
    card = read_card(hub.files(REPO)["README.md"].decode())
    assert card.data.license == "mit"
    assert "| demo |" in card.text


def test_private_is_private_or_refused(
    hub: HubServer, hub_api: HfApi, scored: Path, tmp_path: Path
) -> None:
    push_results(hub_api, [scored], REPO, private=True)
    assert hub_api.dataset_info(REPO).private
    push_results(hub_api, [changed(scored, tmp_path / "other")], REPO)
    other = "coherencegym/public"
    hub_api.create_repo(other, repo_type="dataset")
    with pytest.raises(EvaluationError, match="exists and is public"):
        push_results(hub_api, [scored], other, private=True)
    assert set(hub.files(other)) == {".gitattributes"}


def test_a_repository_that_somebody_else_makes_meanwhile(
    hub: HubServer,
    hub_api: HfApi,
    scored: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    create = HfApi.create_repo
    theirs = changed(scored, tmp_path / "theirs")

    def late(self: HfApi, repo_id: str, **more: Any) -> Any:
        monkeypatch.undo()
        push_results(hub_api, [theirs], repo_id)
        return create(self, repo_id, **more)

    monkeypatch.setattr(HfApi, "create_repo", late)
    push_results(hub_api, [scored], REPO)
    card = hub.files(REPO)["README.md"].decode()
    assert "| demo |" in card
    assert "| model |" in card


def test_folders_of_this_machine_are_said(hub_api: HfApi, scored: Path, tmp_path: Path) -> None:
    nameless = changed(scored, tmp_path / "x", model="/home/me/models/x")
    lines = push_results(hub_api, [nameless], REPO, dry_run=True).lines
    (said,) = (line for line in lines if "names of folders of this machine" in line)
    assert "/home/me/models/x" in said
    assert "; to publish other names, score again with Hub ids or relative paths" in said
    assert any(re.search(r"runs/toy/1\.0\.0/x/\w{12}/results\.json", line) for line in lines)


def on_the_hub(scored: Path, folder: Path) -> Path:
    """The same results, as if their dataset had been read from the Hub."""
    shutil.copytree(scored, folder)
    content = json.loads((folder / "results.json").read_text())
    content["dataset"] |= {"repo": "me/toy", "name": "me/toy", "commit": "c0ffee" * 6 + "c0ff"}
    (folder / "results.json").write_text(json.dumps(content))
    return folder


def test_a_file_for_the_models_eval_results(scored: Path, tmp_path: Path) -> None:
    folder = on_the_hub(scored, tmp_path / "hub")
    (entry,) = parse_eval_result_entries(result_entries(read_results(folder)))
    score = next(s for s in read_results(folder).rows if s.level == "all")
    assert (entry.dataset_id, entry.task_id) == ("me/toy", "toy_context")
    assert entry.dataset_revision == "c0ffee" * 6 + "c0ff"
    assert entry.value == round(score.score or 0, 4)
    assert read_results(folder).signature in (entry.notes or "")
    with pytest.raises(EvaluationError, match="were not read from the Hub"):
        result_entries(read_results(scored))


def test_the_card_has_the_table_of_the_overview_best_first(scored: Path) -> None:
    run = read_results(scored)
    assert run.headline is not None
    runs = {}
    for number, score in enumerate((0.25, 0.75, 0.5)):
        head = replace(run.headline, score=score, ci_low=None, ci_high=None)
        about: Any = {"model": model_facts(f"m{number}"), "signature": f"m{number}"}
        runs[f"runs/a/b/c/{number}"] = replace(run, headline=head, **about)
    card = render_results_card("me/results", runs, {place: [] for place in runs})
    names, _, row = (line for line in card.splitlines() if line.startswith("|"))
    assert names.split(" | ")[2:5] == ["m1", "m2", "m0"]
    places = (1, 75), (2, 50), (0, 25)
    cells = [f"[{share}.0](runs/a/b/c/{number}/results.json)" for number, share in places]
    assert row.split(" | ")[2:5] == cells


def test_a_folder_of_runs_is_one_commit(
    hub_clients: HubServer, scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runs = tmp_path / "runs"
    for name in ("one", "two"):
        changed(scored, runs / name, model=f"me/{name}", signature=f"|{name}")
    (runs / "index.html").write_text("the overview")
    before = len(hub_clients.repositories())
    assert main(["push", str(runs), str(scored), REPO, "--dry-run"]) == 0
    assert capsys.readouterr().out.count("/results.json (") == 3
    assert len(hub_clients.repositories()) == before
    assert main(["push", str(runs), str(scored), REPO]) == 0
    assert f"pushed to {REPO} (" in capsys.readouterr().out
    made, *others = hub_clients.commits(REPO)
    assert len(others) == 1  # the Hub's own
    assert made.title == "me/one, me/two, demo on toy 1.0.0"
    files = hub_clients.files(REPO)
    places = [run_folder(read_results(folder)) for folder in (runs / "one", runs / "two", scored)]
    for place, folder in zip(places, (runs / "one", runs / "two", scored), strict=True):
        assert files[f"{place}/results.json"] == (folder / "results.json").read_bytes()
    assert not [path for path in files if path.endswith("index.html")]
    (head,) = (line for line in files["README.md"].decode().splitlines() if "| suite |" in line)
    assert {"one", "two", "demo"} <= {*head.split(" | ")}
    # Of runs that are there only the others are pushed.
    assert main(["push", str(scored), str(runs), REPO]) == 0
    assert capsys.readouterr().out.count("has these results already") == 1
    changed(scored, runs / "three", model="me/three", signature="|three")
    assert main(["push", str(runs), REPO]) == 0
    added = [line for line in capsys.readouterr().out.splitlines() if "/results.json (" in line]
    assert len(added) == 1
    assert "me__three" in added[0]
    assert len(hub_clients.commits(REPO)) == 3


def test_one_run_in_two_folders_is_refused(
    hub_clients: HubServer, scored: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(scored, tmp_path / "again")
    assert main(["push", str(scored), str(tmp_path / "again"), REPO]) == 2
    error = capsys.readouterr().err
    assert f"again: results of the same run as {scored}; expected each once" in error
    assert error.count("\n") == 1
    assert REPO not in hub_clients.repositories()
    assert main(["push", str(scored), str(scored), REPO]) == 0  # the same folder is one


def test_several_runs_are_pushed_together_when_all_are_there(
    hub_clients: HubServer,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("a", "b"):
        write_dataset(tmp_path / "data" / name, pair_items[:2], extra={"moved": "bool"})
    argv = ["--model", "demo", "--dataset", str(tmp_path / "data"), "--no-cache"]
    assert main([*argv, "--output", str(tmp_path / "out")]) == 0
    assert main(["push", str(tmp_path / "out"), REPO]) == 0
    assert f"pushed to {REPO} (" in capsys.readouterr().out
    assert len(hub_clients.commits(REPO)) == 2
    assert sum(path.endswith("results.json") for path in hub_clients.files(REPO)) == 2
