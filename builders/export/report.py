"""The report of an export, for whoever opens its folder: every config's fate, in Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from coherencegym.builders.export.harness import Release, Task, in_no_task
from coherencegym.builders.export.pairs import PairTable
from coherencegym.builders.export.syntaxgym import SuiteTable

_SUITES = """\
# {suite} {version} as test suites in SyntaxGym's JSON

From `{repo}` at `{revision}`. Score them with `python -m eval --model MODEL --suite FOLDER`, or \
with SyntaxGym's own programs.

In this format the text of a condition is its regions joined by one space, and a suite has one \
metric, and one set of conditions and predictions for all its items. Items whose text is another \
are left out. Where items of a config differ in metric, conditions or predictions there is a suite \
for each combination; an item with two metrics is in two of them. An item has the `item_number` \
that it has in the dataset; `items.jsonl` has its id and the groups of its predictions, for which \
the format has no place.

SyntaxGym's own programs take `*` for the sum of the regions' values, so that with another metric \
than `sum` a formula with `*` over several regions means something else there.
"""

_PAIRS = """\
# {suite} {version} as pairs of texts

From `{repo}` at `{revision}`. Each `.jsonl` file has one pair a line, with BLiMP's names: in \
`sentence_good` and `sentence_bad` stand whole texts. Predictions about the same two texts, by \
another metric or of another region, are one pair; `predictions` has them all.

**To compare the log-probabilities of the two texts is not what most suites do.** They compare a \
region, or means over tokens. `simple_LM_method`, BLiMP's name, is true where a prediction of the \
pair is by sum, over the whole text or over all of it after a beginning that both share: there, \
and only there, it is the same comparison.

`tasks/` has tasks for lm-evaluation-harness, which read the published dataset: \
`lm_eval --model hf --model_args pretrained=MODEL --include_path tasks --tasks \
coherencegym_{suite}`. The harness stops at a text that is longer than the model's context. For a \
copy on your machine change `dataset_path` in a task file to its folder, and remove \
`dataset_kwargs`.

`[SEP]` in a text of the dataset stands for a change of speaker, which the evaluator renders for \
each model. The harness would take it literally, so that pairs with it are left out.
"""


def suites_report(made: Sequence[SuiteTable], release: Release) -> str:
    """The text of ``SUITES.md``."""
    rows = [
        (
            f"`{suite.name}.json`",
            f"`{table.config}`",
            table.split,
            str(len(suite.items)),
            suite.shape.metric,
            ", ".join(f"`{c.condition_name}`" for c in suite.items[0].conditions),
            ", ".join(f"`{formula}`" for formula in suite.formulas),
        )
        for table in made
        for suite in table.suites
    ]
    heads = ("file", "config", "split", "items", "metric", "conditions", "predictions")
    return "\n".join(
        [
            _SUITES.format(**_names(release)),
            *(_table(heads, rows) if rows else ["No item can be written in this format.", ""]),
            *_left_out(made),
            *_licences(release),
        ]
    )


def pairs_report(
    made: Sequence[PairTable], tasks: Mapping[str, Sequence[Task]], release: Release
) -> str:
    """The text of ``PAIRS.md``; ``tasks`` has those of each config and split."""
    rows = [
        (
            f"`{table.config}`",
            table.split,
            str(len(table.records)),
            str(table.same_comparison),
            str(in_no_task(table, tasks[f"{table.config}-{table.split}"])),
            ", ".join(f"`{task.name}`" for task in tasks[f"{table.config}-{table.split}"])
            or "none",
        )
        for table in made
    ]
    heads = ("config", "split", "pairs", "same comparison as the suite's", "in no task", "tasks")
    return "\n".join(
        [
            _PAIRS.format(**_names(release)),
            *_table(heads, rows),
            *_left_out(made),
            *_licences(release),
        ]
    )


def _names(release: Release) -> dict[str, str]:
    return {
        "suite": release.suite,
        "version": release.version,
        "repo": release.repo,
        "revision": release.revision,
    }


def _left_out(made: Sequence[SuiteTable] | Sequence[PairTable]) -> Iterator[str]:
    rows = [
        (f"`{table.config}`", table.split, str(count), reason)
        for table in made
        for reason, count in table.refused.most_common()
    ]
    if rows:
        yield "## Left out\n"
        yield from _table(("config", "split", "count", "reason"), rows)


def _licences(release: Release) -> Iterator[str]:
    """List the licence of each config, and those configs that may not be passed on."""
    yield "## Licences\n"
    rows = [
        (
            f"`{name}`",
            ", ".join(config.get("licences", ())),
            "yes" if config.get("republishable") else "no",
        )
        for name, config in release.configs.items()
    ]
    yield from _table(("config", "licence", "may be republished"), rows)
    if not all(config.get("republishable") for config in release.configs.values()):
        yield (
            "What may not be republished is for your own use; a task for it needs a private copy "
            "of the dataset on the Hub.\n"
        )


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    yield f"| {' | '.join(heads)} |"
    yield f"|{'---|' * len(heads)}"
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in row)} |"
    yield ""
