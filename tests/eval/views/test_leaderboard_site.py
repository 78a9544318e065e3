"""A leaderboard as files: what its pages hold, which texts may be shown, and any names."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from support.browser import Browser
from support.commands import one_line
from support.runs import OPEN, changed_copy, renamed_suite, score

from coherencegym.__main__ import main
from coherencegym.escapes import visible_lines
from coherencegym.eval.kinds.items import Item
from coherencegym.eval.outcomes.files import OUTCOMES_FILE
from coherencegym.eval.views.leaderboard.names import file_of, model_file, pair_file
from coherencegym.files.checksums import CHECKSUMS

HOSTILE = "</script><img src=x onerror=alert(1)>\u202e/../CON"


@pytest.fixture(scope="module")
def runs(
    tmp_path_factory: pytest.TempPathFactory,
    pair_items: list[Item],
    write_dataset: Callable[..., Path],
    make_tokenizer: Callable[..., Any],
    make_model: Callable[..., Any],
) -> Path:
    """Results of two models on a suite with texts for all, and on one with texts for nobody."""
    folder = tmp_path_factory.mktemp("runs")
    tokenizer = make_tokenizer()
    make_model("gpt2", tokenizer).save_pretrained(folder / "models/tiny")
    tokenizer.save_pretrained(folder / "models/tiny")
    from datasets import Value

    extra = {"extra": {"moved": Value("bool")}}
    data = {
        "open": write_dataset(folder / "data/open", pair_items, **extra, **OPEN),
        "shut": write_dataset(folder / "data/shut", pair_items, **extra, republishable=False),
    }
    for name, where in data.items():
        renamed_suite(where, name)
        for model in ("demo", str(folder / "models/tiny")):
            score(where, model, folder / "results" / f"{name}--{Path(model).name}")
    return folder


@pytest.fixture(scope="module")
def site(runs: Path) -> Path:
    """The leaderboard of them."""
    assert main(["leaderboard", str(runs / "results"), "--output", str(runs / "site")]) == 0
    return runs / "site"


def pages(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8")
        for path in sorted(folder.rglob("*.html"))
    }


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


def test_there_is_a_page_for_all_each_model_each_suite_and_each_pair(site: Path) -> None:
    names = [re.sub(r"-?[0-9a-f]{10}\.html", "", name) for name in pages(site)]
    assert names == [
        "index.html",
        *("models/demo", "models/tiny", "pairs/", "suites/open", "suites/shut"),
    ]


def test_every_link_goes_somewhere_on_the_site_and_nothing_is_loaded(site: Path) -> None:
    for name, page in pages(site).items():
        for link in re.findall(r'\shref="([^"]*)"', page):
            if link in ("", "data:,"):
                continue
            path, _, anchor = unescape(link).partition("#")
            target = (site / name).parent / path if path else site / name
            assert target.is_file(), f"{name}: {link}"
            if anchor and "=" not in anchor:
                assert f'id="{anchor}"' in target.read_text(), f"{name}: {link}"
        assert not re.search(r"<(img|link(?! rel=\"icon\")|iframe|script src|object)", page), name


def test_a_policy_lets_run_what_is_in_the_page_and_nothing_else(site: Path) -> None:
    for name, page in pages(site).items():
        policy = unescape(page.split('Content-Security-Policy" content="')[1].split('"')[0])
        assert policy.startswith("default-src 'none';"), name
        for kind in ("style", "script"):
            for text in re.findall(rf"<{kind}>(.*?)</{kind}>", page, re.DOTALL):
                digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
                assert f"{kind}-src 'sha256-{digest}'" in policy, name
        assert not re.search(r"\son\w+=|\sstyle=", page), name


def test_every_number_has_its_signature_behind_it(runs: Path, site: Path) -> None:
    signatures = [
        json.loads(path.read_text())["signature"]
        for path in sorted(runs.glob("results/*/results.json"))
    ]
    for name, page in pages(site).items():
        buttons = re.findall(r'<button type="button" class="number" popovertarget="([^"]+)"', page)
        assert bool(buttons) == (not name.startswith("pairs/")), name
        for target in buttons:
            card = page.split(f'<div popover id="{target}"')[1].split("</div>\n</div>")[0]
            assert any(one in unescape(card) for one in signatures), name
    index = unescape(pages(site)["index.html"])
    # Once in the card, and once in the CSV that is copied.
    assert all(index.count(signature) == 2 for signature in signatures)
    (pair,) = (page for name, page in pages(site).items() if name.startswith("pairs/"))
    assert all(signature in unescape(pair) for signature in signatures)


def test_texts_are_shown_where_every_licence_allows_it_and_nowhere_else(
    site: Path, pair_items: list[Item]
) -> None:
    (name,) = (name for name in pages(site) if name.startswith("pairs/"))
    page = pages(site)[name]
    data = data_of(page)
    assert len(data["runs"]) == 2
    by_part = {data["headings"][one["p"]]: data["items"][one["i"]] for one in data["predictions"]}
    assert "c" in by_part["open 1.0.0"]
    assert "c" not in by_part["shut 1.0.0"]
    assert "toy_context may not be published, by its licence" in page
    assert "Toys (CC0-1.0) https://toys" in page
    texts = {c.content for item in pair_items for c in item.conditions}
    for other, text in pages(site).items():
        if other != name:
            assert not [one for one in texts if one in unescape(text)], other


@pytest.mark.parametrize(
    "about",
    [
        {"republishable": False},
        {"licences": {}},
        {"licences": {"CC0-1.0": 7, "all rights reserved": 1}},
        {"licences": {"CC-BY-ND-4.0": 8}},
        {"republishable": "yes"},
        {"corpus": OPEN["corpus"] | {"licence": "CC-BY-ND-4.0"}},
        {"corpus": OPEN["corpus"] | {"name": "storycloze"}},
    ],
)
def test_a_manifest_that_does_not_allow_it_shows_no_text(
    runs: Path, tmp_path: Path, about: dict[str, Any]
) -> None:
    path = runs / "data/open/manifest.json"
    before = path.read_text()
    manifest = json.loads(before)
    manifest["configs"]["toy_context"] |= about
    path.write_text(json.dumps(manifest))
    try:
        words = ["leaderboard", *map(str, sorted((runs / "results").glob("open*")))]
        assert main([*words, "--output", str(tmp_path / "site")]) == 0
    finally:
        path.write_text(before)
    (page,) = (page for name, page in pages(tmp_path / "site").items() if name[:5] == "pairs")
    assert not any("c" in item for item in data_of(page)["items"])


def test_rows_that_no_build_vouches_for_show_no_text(runs: Path, tmp_path: Path) -> None:
    hashes = runs / "data/open/hashes"
    hashes.rename(runs / "elsewhere")
    try:
        folders = map(str, sorted((runs / "results").glob("open*")))
        assert main(["leaderboard", *folders, "--output", str(tmp_path / "site")]) == 0
    finally:
        (runs / "elsewhere").rename(hashes)
    (page,) = (page for name, page in pages(tmp_path / "site").items() if name[:5] == "pairs")
    assert "cannot be read" in page
    assert not any("c" in item for item in data_of(page)["items"])


def test_other_rows_than_those_that_were_scored_show_no_text(
    runs: Path, tmp_path: Path, write_dataset: Callable[..., Path], pair_items: list[Item]
) -> None:
    from datasets import Value

    other = write_dataset(
        tmp_path / "other", pair_items[:4], extra={"moved": Value("bool")}, **OPEN
    )

    def elsewhere(content: dict[str, Any]) -> None:
        content["dataset"]["name"] = str(other)

    folders = [
        changed_copy(run, tmp_path / run.name, elsewhere)
        for run in sorted((runs / "results").glob("open*"))
    ]
    assert main(["leaderboard", *map(str, folders), "--output", str(tmp_path / "site")]) == 0
    (page,) = (page for name, page in pages(tmp_path / "site").items() if name[:5] == "pairs")
    assert "are not those that were scored" in page
    assert not any("c" in item for item in data_of(page)["items"])


def test_the_same_results_give_the_same_bytes(runs: Path, site: Path, tmp_path: Path) -> None:
    results = sorted(map(str, (runs / "results").iterdir()), reverse=True)
    assert main(["leaderboard", *results, "--output", str(tmp_path / "site")]) == 0
    told = re.compile(r"\s*<li><bdi>\d+ runs of the folder [^<]*</bdi></li>")
    again = {name: told.sub("", page) for name, page in pages(tmp_path / "site").items()}
    assert again == {name: told.sub("", page) for name, page in pages(site).items()}


def test_names_of_anybody_are_text_and_files_are_safe(runs: Path, tmp_path: Path) -> None:
    def hostile(content: dict[str, Any]) -> None:
        content["model"]["name"] = HOSTILE
        content["dataset"] |= {"suite": HOSTILE, "title": HOSTILE, "description": HOSTILE}
        content["dataset"] |= {"limitations": [HOSTILE], "conditions": {HOSTILE: HOSTILE}}
        content["notes"] = [{"kind": "caution", "text": HOSTILE}]
        content["signature"] = HOSTILE
        content["settings"] |= {HOSTILE: HOSTILE, "rules": [HOSTILE]}

    def odd(content: dict[str, Any]) -> None:
        content["model"]["name"] = "../.."
        content["settings"]["versions"] = HOSTILE

    runs_of = sorted((runs / "results").glob("open*"))
    for run in runs_of:
        changed_copy(run, tmp_path / "results" / run.name, hostile)
    changed_copy(runs_of[0], tmp_path / "results/other", odd)
    out = tmp_path / "deep" / "site"
    assert main(["leaderboard", str(tmp_path / "results"), "--output", str(out)]) == 0
    for name, page in pages(out).items():
        assert re.fullmatch(r"(index|(models|suites|pairs)/[a-z0-9-]+)\.html", name)
        assert "<img" not in page, name
        assert page.count("<script") == page.count("</script>")
    assert len(list(out.glob("pairs/*.html"))) == 1
    assert {path.name for path in (tmp_path / "deep").iterdir()} == {"site"}
    assert visible_lines(unescape(HOSTILE)) in unescape(pages(out)["index.html"])


def test_files_of_names_that_look_alike_differ() -> None:
    names = ["a/b", "a-b", "A/B", "a_b", "ä/b", "a" * 300, "a" * 301, "", "..", "CON"]
    files = [model_file(name, (name,)) for name in names]
    assert len({file.lower() for file in files}) == len(names)
    assert all(len(file.split("/")[1]) <= 70 for file in files)
    assert pair_file(("a", "b"), ("c",)) != pair_file(("a",), ("b", "c", "d"))
    assert file_of("models", "../../etc/passwd", ("x",)).startswith("models/etc-passwd-")


def named(name: str) -> Callable[[dict[str, Any]], None]:
    """Another name of the model."""
    return lambda content: content["model"].update(name=name)


def test_pairs_beyond_the_limit_are_said_to_be_missing(runs: Path, tmp_path: Path) -> None:
    folders = [
        changed_copy(runs / "results/open--demo", tmp_path / "results" / name, named(name))
        for name in ("one", "two", "three")
    ]
    words = ["leaderboard", *map(str, folders), "--pairs", "2", "--output", str(tmp_path / "site")]
    assert main(words) == 0
    index = pages(tmp_path / "site")["index.html"]
    assert len(data_of(index)["pairs"]) == 2
    assert "2 of 3 pairs of models have a page" in index


def test_results_without_predictions_have_scores_and_no_comparison(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for run in sorted((runs / "results").glob("open*")):
        copy = changed_copy(run, tmp_path / "results" / run.name, lambda content: None)
        (copy / OUTCOMES_FILE).unlink()
    words = ["leaderboard", str(tmp_path / "results"), "--output", str(tmp_path / "site")]
    assert main(words) == 0
    assert "2 models, 1 column, 0 pairs" in capsys.readouterr().out
    index = pages(tmp_path / "site")["index.html"]
    assert "not compared with others, open--demo" in index
    assert str(tmp_path) not in index.replace(str(runs), "")


def test_two_models_are_compared_in_a_browser(site: Path, browser: Browser) -> None:
    browser.get((site / "index.html").as_uri())
    browser.click("#go")
    assert browser.run("return document.querySelector('h1').innerText") in (
        "demo against tiny",
        "tiny against demo",
    )
    shown = "return [...document.querySelectorAll('#list .id')].map((n) => n.innerText)"
    browser.choose("state", "any")
    browser.choose("part", "open 1.0.0")
    assert len(browser.run(shown)) == 8
    texts = "return document.querySelectorAll('#list dd').length"
    assert browser.run(texts) == 16
    browser.choose("part", "shut 1.0.0")
    assert len(browser.run(shown)) == 8
    assert browser.run(texts) == 0
    assert "runs=shut" in browser.run("return location.hash")
    for width in (400, 1400):
        browser.resize(width)
        assert browser.run("return document.documentElement.scrollWidth <= innerWidth")
    browser.click("#summary a[href^='#comparison-2']")
    browser.click(".trail a")
    assert browser.run("return document.querySelectorAll('.models tr').length") == 2
    assert browser.log("browser") == []


def test_leaderboard_json_has_the_numbers_of_the_runs(runs: Path, site: Path) -> None:
    content = json.loads((site / "leaderboard.json").read_text())
    assert content["models"] == ["demo", "tiny"] or content["models"] == ["tiny", "demo"]
    for column in content["columns"]:
        for run in column["runs"]:
            path = runs / "results" / f"{column['suite']}--{run['model']}" / "results.json"
            head = json.loads(path.read_text())["headline"]
            assert (run["score"], run["n"]) == (head["score"], head["n"])


# ---------------------------------------------------------------- the command


def test_a_dry_run_writes_nothing_and_lists_the_files(
    runs: Path, site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["leaderboard", str(runs / "results"), "--output", str(tmp_path / "out"), "--dry-run"]
    assert main(words) == 0
    said = capsys.readouterr().out
    listed = dict(re.findall(r"^  (\S+) \(([\d,]+) bytes\)$", said, re.MULTILINE))
    there = {p.relative_to(site).as_posix(): p for p in site.rglob("*.*") if p.name != CHECKSUMS}
    assert set(listed) == set(there)
    assert all(int(n.replace(",", "")) == there[p].stat().st_size for p, n in listed.items())
    assert list(tmp_path.iterdir()) == []


def test_a_leaderboard_is_replaced_only_when_asked_and_nothing_else_ever(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    words = ["leaderboard", str(runs / "results/open--demo"), "--output", str(out)]
    assert main(words) == 0
    (out / "models" / "mine.html").write_text("mine")
    capsys.readouterr()
    assert main(words) == 2
    assert "pass --overwrite" in one_line(capsys.readouterr().err)
    assert main([*words, "--overwrite"]) == 2
    assert "models/mine.html is not of the earlier output" in one_line(capsys.readouterr().err)
    (out / "models" / "mine.html").unlink()
    assert main([*words, "--overwrite"]) == 0
    inputs = [str(runs / "results"), str(runs / "results/open--demo")]
    for place in (*inputs, str(runs), str(runs / "results/open--demo/leaderboard")):
        assert main([*words[:-1], place, "--overwrite"]) == 2
        assert "neither inside the other" in one_line(capsys.readouterr().err)
    assert (runs / "results/open--demo/results.json").is_file()
    own = tmp_path / "own"
    own.mkdir()
    (own / "thesis.tex").write_text("mine")
    assert main([*words[:-1], str(own), "--overwrite"]) == 2
    (own / "leaderboard.json").write_text("{}")
    assert main([*words[:-1], str(own), "--overwrite"]) == 2
    assert capsys.readouterr().err.count(f"own is not replaced: it has no {CHECKSUMS}") == 2
    assert (own / "thesis.tex").read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["nowhere"], "nowhere: no such folder; expected a folder of results, or USER/NAME"),
        (["./a/b"], "./a/b: no such folder"),
        (["DATA"], "no results.json in it"),
        (["RUN", "--private"], "--private: no Space is made; expected --push-space USER/NAME"),
        (["RUN", "--push-space", "me"], "'me' is no name of a repository"),
        (["RUN", "--pairs", "-1"], "--pairs"),
    ],
)
def test_a_mistake_is_one_line(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    places = {"DATA": str(runs / "data"), "RUN": str(runs / "results/open--demo")}
    asked = [places.get(word, word) for word in words]
    try:
        code = main(["leaderboard", *asked, "--output", str(tmp_path / "out")])
    except SystemExit as stopped:
        code = int(stopped.code or 0)
    assert code == 2
    assert said in one_line(capsys.readouterr().err)
    assert not (tmp_path / "out").exists()


def test_damaged_results_are_named(
    runs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def damage(content: dict[str, Any]) -> None:
        content["dataset"]["conditions"] = ["not", "a", "mapping"]

    copy = changed_copy(runs / "results/open--demo", tmp_path / "bad", damage)
    assert main(["leaderboard", str(copy), "--output", str(tmp_path / "out")]) == 2
    assert "bad/results.json: dataset.conditions" in one_line(capsys.readouterr().err)
