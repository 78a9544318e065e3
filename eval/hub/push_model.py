"""Results in a model's own repository, as files of ``.eval_results``: one commit or pull request.

Entries of others stay as they are, to the letter: new ones follow them. An entry is there already
where one of the same dataset and task names the same signature, on the main branch or in a pull
request that is open.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.data.notes import first_names
from coherencegym.eval.hub.eval_results import TOOLKIT, result_entries, results_yaml
from coherencegym.eval.hub.push_changes import Pushed, push_changes
from coherencegym.eval.hub.yaml_lists import edited_list
from coherencegym.eval.results.read import read_results, run_folders
from coherencegym.hub.commits import Head, fetch

#: The folder of results in a model's repository.
FOLDER = ".eval_results"


def push_to_model(
    api: Any,
    folders: Sequence[Path],
    repo_id: str,
    *,
    source_url: str = TOOLKIT,
    create_pr: bool = False,
    dry_run: bool = False,
) -> Pushed:
    """Put the scores of runs into ``.eval_results`` of a model's repository: all in one commit.

    Args:
        api: a client of the Hub.
        folders: results of one model, or folders of those of several runs.
        repo_id: the model's, which has to be there.
        source_url: an address where a reader finds more of the results.
        create_pr: open a pull request, unless one that is open has them all.
        dry_run: say what would be pushed; asks for reading only.
    """
    runs = [read_results(folder) for folder in run_folders(folders)]
    models = list(dict.fromkeys(run.model_name for run in runs))
    if len(models) > 1:
        raise EvaluationError(
            f"{repo_id}: results of {len(models)} models ({first_names(models)}); expected those "
            "of one, which the repository is of"
        )
    entries: dict[str, list[Mapping[str, Any]]] = {}
    for run in runs:
        entries.setdefault(run.repo, []).extend(result_entries(run, source_url))
    message = f"CoherenceGym results on {first_names(list(entries))}"

    def appended(head: Head) -> dict[str, bytes]:
        there = _read_files(api, repo_id, head)
        known = {_identity(one) for text in there.values() for one in _parsed(text) or ()}
        return dict(
            _appended(repo_id, dataset, new, there)
            for dataset, own in entries.items()
            if (new := [one for one in own if _identity(one) not in known])
        )

    how: dict[str, Any] = {"repo_type": "model", "create_pr": create_pr, "dry_run": dry_run}
    message = f"CoherenceGym results on {first_names(list(entries))}"
    pushed = push_changes(api, repo_id, appended, message, **how)
    return replace(pushed, lines=[f"results of {models[0]}", *pushed.lines])


def _read_files(api: Any, repo_id: str, head: Head) -> dict[str, str]:
    paths = (path for path in sorted(head.digests) if path.startswith(f"{FOLDER}/"))
    return {
        path: fetch(api, repo_id, path, head.sha, "model").read_bytes().decode("utf-8", "replace")
        for path in paths
        if path.endswith((".yaml", ".yml"))
    }


def _identity(entry: Any) -> tuple[str, str, str]:
    about = entry.get("dataset") if isinstance(entry, dict) else None
    about = about if isinstance(about, dict) else {}
    notes = entry.get("notes") if isinstance(entry, dict) else None
    signature = str(notes).rpartition(", signature ")[2]
    return str(about.get("id")), str(about.get("task_id")), signature


def _parsed(text: str) -> list[Any] | None:
    import yaml

    try:
        found = yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError, ValueError):
        return None
    return [] if found is None else found if isinstance(found, list) else None


def _appended(
    repo_id: str, dataset: str, new: Sequence[Mapping[str, Any]], there: Mapping[str, str]
) -> tuple[str, bytes]:
    import yaml

    path = f"{FOLDER}/{dataset.replace('/', '__')}.yaml"
    old = there.get(path, "")
    before = _parsed(old)
    if before is None:
        raise EvaluationError(
            f"{repo_id}: {path}: no list of results in YAML; nothing was pushed: mend it first"
        )
    text = old + "\n" * (bool(old) and not old.endswith("\n"))
    node = yaml.compose(text, yaml.SafeLoader)
    if isinstance(node, yaml.SequenceNode):
        text = edited_list(text, node, [True] * len(before), after=new)
    else:
        text += results_yaml(new)
    if _parsed(text) != [*before, *new]:
        raise EvaluationError(
            f"{repo_id}: {path}: a list in a layout that cannot be gone on with; nothing was "
            "pushed: begin each entry with a dash in a line of its own"
        )
    return path, text.encode()
