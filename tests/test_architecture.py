"""The house: which rooms may import which, no circles, no halls. CONTRIBUTING has the drawing."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

#: From the ground up: a room imports its own modules and those of rooms that stand before it.
EVAL = (
    "kinds",
    "data",
    "models",
    "text",
    "plan",
    "forward",
    "backends",
    "surprisal",
    "hidden_states",
    "statistics",
    "outcomes",
    "metrics",
    "report",
    "tasks",
    "results",
    "views",
    "hub",
    "run",
    "commands",
)
#: What every room may import: the ground floor.
GROUND = frozenset(
    {
        *("escapes", "errors", "terminal", "command_line", "extensions"),
        *("files", "hub", "licence", "engines", "papers", "words"),
    }
)
#: The doors of the house, which open all rooms: the command, the library, that for trainers, and
#: the reproduction of papers.
DOORS = frozenset({"__main__", "battery", "library", "training", "reproduction", ""})
#: Rooms beside the evaluator, and what of the house each may import.
ROOMS = {
    "loaders": frozenset(),
    "manipulations": frozenset({"loaders"}),
    "cards": frozenset({"eval.kinds", "eval.data", "eval.statistics", "loaders"}),
    # A build may be filtered by a detector, and an export or a judgement reads a dataset again;
    # its table looks as those of scores do, and its card shows what a model scored.
    "builders": frozenset(
        {
            *("loaders", "manipulations", "cards"),
            *("eval.kinds", "eval.data", "eval.statistics", "eval.tasks"),
            *("eval.results", "eval.report", "eval.views"),
        }
    ),
}
MOST_MODULES = 25
PACKAGE = "coherencegym"

Graph = Mapping[str, frozenset[str]]


@pytest.fixture(scope="module")
def graph(repository: Path) -> Graph:
    """Module -> the modules of the house that it imports, type-only and lazy imports included."""
    root = repository / "src" / PACKAGE
    paths = {
        ".".join((PACKAGE, *path.relative_to(root).with_suffix("").parts)).removesuffix(
            ".__init__"
        ): path
        for top in (root, *(room for room in root.iterdir() if room.is_dir()))
        for path in (top.glob("*.py") if top == root else top.resolve().rglob("*.py"))
        for path in [top / path.relative_to(top.resolve()) if top != root else path]
    }
    return {
        name: frozenset(imported(ast.parse(path.read_text(encoding="utf-8")), paths) - {name})
        for name, path in paths.items()
    }


def imported(tree: ast.AST, names: Iterable[str]) -> set[str]:
    """The modules of the house that a module imports."""
    known, found = set(names), set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            assert not node.level, "imports are absolute"
            inner = {f"{node.module}.{alias.name}" for alias in node.names}
            # A name of a package may be a module of it; else the package itself is imported.
            found |= inner & known or {node.module}
    return found & known


def room(module: str) -> str:
    """``eval.text`` for a module of the evaluator's rooms, else the first name: ``loaders``."""
    parts = module.split(".")[1:]
    return ".".join(parts[:2]) if parts[:1] == ["eval"] else "".join(parts[:1])


def test_imports_go_one_way(graph: Graph) -> None:
    order = [f"eval.{name}" for name in EVAL]
    wrong = []
    for module, targets in graph.items():
        own = room(module)
        for target in targets:
            other = room(target)
            if own in DOORS or other in (own, "") or other in GROUND:
                continue
            if own in GROUND:
                allowed = False
            elif own in order:
                allowed = other in order[: order.index(own)]
            elif own in ROOMS:
                allowed = other in ROOMS[own]
            else:  # ``eval`` itself and its ``__main__`` open the doors of all its rooms.
                allowed = other in order
            if not allowed:
                wrong.append(f"{module} -> {target}")
    assert not wrong, "\n".join(sorted(wrong))


def test_the_ground_floor_stands_by_itself(graph: Graph) -> None:
    order = (
        "escapes",
        "errors",
        "terminal",
        "command_line",
        "extensions",
        "licence",
        "files",
        "papers",
        "words",
        "hub",
        "engines",
    )
    for module, targets in graph.items():
        if (own := room(module)) in GROUND:
            assert {room(t) for t in targets} <= {*order[: order.index(own)], own}, module


def test_only_the_terminal_has_a_console(repository: Path) -> None:
    """A console of rich's own obeys what stands in a text."""
    for top in ("builders", "cards", "eval", "loaders", "manipulations", "src/coherencegym"):
        for path in sorted((repository / top).rglob("*.py")):
            if path.name != "terminal.py":
                text = path.read_text(encoding="utf-8")
                assert not re.search(r"(?<!\w)Console\(|import Console\b", text), path


def test_there_is_no_circle(graph: Graph) -> None:
    left = {module: set(targets) for module, targets in graph.items()}
    while free := [module for module, targets in left.items() if not targets & left.keys()]:
        for module in free:
            del left[module]
    # What is left imports itself in the end: shown are the modules that go round.
    assert not left, sorted(left)


def test_no_folder_is_a_hall(graph: Graph, repository: Path) -> None:
    folders = Counter(
        folder
        for module in graph
        if (folder := module.rpartition(".")[0])
        and not any(other.startswith(f"{module}.") for other in graph)
    )
    assert {name: n for name, n in folders.items() if n > MOST_MODULES} == {}
    assert folders[f"{PACKAGE}.eval.tasks"] > 5, "the folders are counted"


def test_rooms_say_what_they_are_for(graph: Graph, repository: Path) -> None:
    packages = defaultdict(str)
    for module in graph:
        path = repository / "src" / Path(*module.split("."))
        if path.is_dir():
            packages[module] = (
                ast.get_docstring(ast.parse((path / "__init__.py").read_text())) or ""
            )
    assert len(packages) > 25
    assert all(len(text) > 10 for text in packages.values()), packages


#: Names that every module of a kind has.
HOOKS = frozenset(
    {"BACKEND", "COMMAND", "CORPUS", "SUITE", "TASK", "EXAMPLES"}
    | {"add_arguments", "main", "make_parser", "run", "write"}
)


def public_names(tree: ast.Module) -> set[str]:
    """The names that a module defines for others."""
    names: set[str] = set()
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            targets = node.targets if isinstance(node, ast.Assign) else [node.target]
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return {name for name in names if not name.startswith("_")}


def test_a_public_name_has_one_meaning(repository: Path) -> None:
    places = defaultdict(list)
    for top in ("builders", "cards", "eval", "loaders", "manipulations"):
        for path in sorted((repository / top).rglob("*.py")):
            for name in public_names(ast.parse(path.read_text(encoding="utf-8"))) - HOOKS:
                places[name].append(str(path.relative_to(repository)))
    assert not {name: where for name, where in places.items() if len(where) > 1}
