"""Options that several subcommands have, and what they come to."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from coherencegym.command_line import Names, Parser, completed, rare
from coherencegym.errors import EvaluationError
from coherencegym.eval.backends.registry import BACKENDS, backend_named
from coherencegym.eval.forward.cache import VARIABLE
from coherencegym.eval.forward.distributed import world
from coherencegym.eval.kinds.items import METRICS
from coherencegym.eval.models.arguments import parse_model_arguments
from coherencegym.eval.models.kind import ScorerChoice
from coherencegym.eval.models.placement import DEVICE_MAPS
from coherencegym.eval.models.source import DEMO
from coherencegym.eval.plan.options import DEFAULT, MODES, Options
from coherencegym.eval.report.formats import TABLE, TABLE_FORMATS
from coherencegym.eval.tasks.options import flag_of
from coherencegym.eval.text.choices import MaskingChoice
from coherencegym.numbers import positive

if TYPE_CHECKING:
    from coherencegym.eval.data.dataset import ItemTable
    from coherencegym.eval.data.source import Source
    from coherencegym.eval.hub.every_eval_ever import EvaluationSource
    from coherencegym.eval.models.load import LoadedModel
    from coherencegym.eval.models.revisions import Checkpoint


#: The headings of help, in the order in which a run is described.
DATA, MODEL, WRITTEN = "data", "model", "output"
READING = "method"
PAIRS = "pairs of texts in a file"


def _all(text: str) -> str:
    if text != "all":
        raise argparse.ArgumentTypeError(f"{text!r}; expected all (--dataset takes a folder)")
    return text


def named(text: str) -> str:
    """A name that is not empty, for argparse: an empty one would be the folder that one is in."""
    if not text.strip():
        raise argparse.ArgumentTypeError("an empty name; expected a Hub id or a folder")
    return text


_DATASET: dict[str, Any] = {
    "metavar": "ID|FOLDER",
    "type": named,
    "help": "a Hub dataset, or a folder that holds one",
}


@dataclass(frozen=True)
class _Option:
    """An option that several subcommands declare alike.

    Attributes:
        group: the heading that it stands under.
        how: the settings of argparse.
        is_rare: true where only ``--help-all`` shows it.
    """

    group: str
    how: dict[str, Any]
    is_rare: bool = False


_ALIKE: dict[str, _Option] = {
    "--dataset": _Option(DATA, {"required": True, **_DATASET}),
    "--revision": _Option(DATA, {"metavar": "TAG", "help": "tag or commit of a Hub dataset"}, True),
    "--data-dir": _Option(
        DATA,
        {
            "type": Path,
            "metavar": "DIR",
            "help": "your copy of the corpora whose texts the dataset does not have",
        },
        True,
    ),
    "--model-revision": _Option(
        MODEL, {"metavar": "TAG", "help": "tag or commit of a Hub model"}, True
    ),
    "--split": _Option(
        DATA, {"default": "test", "metavar": "S", "help": "the split that is tested; default test"}
    ),
    # Results record it as ``max_items``.
    "--limit": _Option(
        DATA,
        {
            "type": positive,
            "metavar": "N",
            "dest": "max_items",
            "help": "read the first N rows of each table",
        },
    ),
    "--dry-run": _Option(
        WRITTEN,
        {
            "action": "store_true",
            "dest": "dry_run",
            "help": "print how much work a run would be; load no weights",
        },
    ),
    "--json": _Option(
        WRITTEN,
        {
            "action": "store_true",
            "help": "print results.json (for several runs a list); the rest is on standard error",
        },
        True,
    ),
    "--quiet": _Option(
        WRITTEN,
        {"action": "store_true", "help": "show no progress on standard error"},
        True,
    ),
    "--verbose": _Option(
        WRITTEN, {"action": "store_true", "help": "print all tables and notes in full"}
    ),
}


def add_alike(parser: Parser, *names: str, shown: bool = True) -> None:
    """Declare options as other subcommands do; ``shown`` false: only ``--help-all`` has them."""
    for name in names:
        option = _ALIKE[name]
        action = parser.group(option.group).add_argument(name, **option.how)
        if option.is_rare or not shown:
            rare(action)


def many(parser: Any, *names: str, **more: Any) -> argparse.Action:
    """Declare an option that takes several values, also when it is given several times."""
    settings = {"nargs": "+", "action": "extend", "default": [], **more}
    action: argparse.Action = parser.add_argument(*names, **settings)
    return action


def add_device(parser: Parser) -> None:
    """Declare where a model is loaded, and its numbers."""
    add = parser.group(MODEL).add_argument
    device = add(
        "--device",
        metavar="NAME",
        default="auto",
        help="auto, cpu, cuda, cuda:1, mps; default auto",
    )
    completed(device, Names(lambda: ("auto", "cpu", "cuda", "mps")))
    add(
        "--dtype",
        default="auto",
        choices=("auto", "float32", "bfloat16", "float16"),
        metavar="TYPE",
        help="float32, bfloat16, float16; auto: float32 on a CPU, else bfloat16",
    )


def add_model(parser: Parser, several: bool = False) -> None:
    """Declare ``--model`` (or ``several``), how it is loaded, and what its input looks like."""
    group = parser.group(MODEL)
    add = group.add_argument
    model = add(
        "--model",
        required=True,
        **({"nargs": "+", "action": "extend"} if several else {}),
        type=named,
        metavar="ID|FOLDER",
        help="Hub id or folder of a model; demo: a small model in the package",
    )
    completed(model, Names(lambda: (DEMO,), files="*/"))
    add_device(parser)
    _add_model_revision(parser, several)
    rare(
        add(
            "--backend",
            default="transformers",
            choices=tuple(BACKENDS),
            help="the library that runs it; "
            + "; ".join(f"{name}: {what}" for name, (what, _) in BACKENDS.items() if what),
        )
    )
    rare(
        many(
            group,
            "--model-arg",
            dest="model_args",
            metavar="KEY=VALUE",
            help="from_pretrained's own; also peft=, load_in_8bit=true, "
            "attn_implementation=eager, ...",
        )
    )
    rare(
        add(
            "--trust-remote-code",
            action="store_true",
            help="run code from the model's repository if it needs it; read it first",
        )
    )
    rare(
        add(
            "--device-map",
            choices=DEVICE_MAPS,
            help="spread a model that is larger than one GPU over all of them (needs accelerate)",
        )
    )
    _add_input(parser)


def _add_model_revision(parser: Parser, several: bool) -> None:
    if not several:
        add_alike(parser, "--model-revision")
        return
    option = _ALIKE["--model-revision"]
    what = "tags or commits of a Hub model, or the models in these subfolders of a folder"
    how = {**option.how, "default": None, "type": named, "help": what}
    group = parser.group(option.group).add_mutually_exclusive_group()
    rare(many(group, "--model-revision", **how))
    what = "the branches and tags of a Hub model, or the models in a folder, such as 'step*'"
    rare(many(group, "--all-revisions", type=named, metavar="PATTERN", help=what))


def each_model(arguments: argparse.Namespace) -> list[argparse.Namespace]:
    """The options of each of several models at each revision, in the order of the command line."""
    names = list(dict.fromkeys(arguments.model))
    found: list[Checkpoint] = [(name, None) for name in names]
    if arguments.all_revisions or arguments.model_revision:
        from coherencegym.eval.models.revisions import at_revisions, checkpoints

        revisions = list(dict.fromkeys(arguments.model_revision or ()))
        found = [
            one
            for name in names
            for one in (
                at_revisions(name, revisions)
                if revisions
                else checkpoints(name, arguments.all_revisions)
            )
        ]
    return [
        argparse.Namespace(**{**vars(arguments), "model": model, "model_revision": revision})
        for model, revision in found
    ]


def _add_input(parser: Parser) -> None:
    add = parser.group(READING).add_argument
    rare(
        add(
            "--bos",
            default="auto",
            choices=("auto", "always", "never"),
            help="start-of-text token before every text; auto: exactly one if the model has one",
        )
    )
    rare(
        add(
            "--separator",
            default="auto",
            metavar="auto|TEXT|none",
            help="text for [SEP] in dialogues; auto: the model's separator or end-of-text token",
        )
    )
    rare(
        add(
            "--separator-space",
            default="keep",
            choices=("keep", "drop"),
            help="the space after a separator",
        )
    )


def add_scoring(parser: Parser) -> None:
    """Declare how texts are scored, which only minimal pairs leave open."""
    add = parser.group(READING).add_argument
    rare(
        add(
            "--scorer",
            default="auto",
            choices=get_args(ScorerChoice),
            help="causal, pll (masked language models), mntp (masked next token prediction); "
            "default by the model",
        )
    )
    rare(
        add(
            "--masking",
            default="within_word_l2r",
            choices=get_args(MaskingChoice),
            help="pll and mntp: mask the rest of a token's word too (Kauf and Ivanova 2023), or "
            "not (Salazar et al. 2020)",
        )
    )
    rare(
        add(
            "--compat",
            choices=tuple(MODES),
            help="score as the programs behind the published numbers did "
            "(docs/published-numbers.md has a table)",
        )
    )
    rare(
        add(
            "--truncate",
            action="store_true",
            help="cut texts that are too long on the left, where all conditions are identical",
        )
    )
    rare(
        add(
            "--word-correction",
            action="store_true",
            help="surprisals of words, for tokens that begin with a space "
            "(Pimentel and Meister 2024)",
        )
    )
    rare(
        add(
            "--special-tokens",
            action="store_true",
            help="read the name of a special token in a text (<unk>, [SEP]) as that token, not as "
            "letters, as lm-evaluation-harness does",
        )
    )


def add_items(parser: Parser, several: bool = False) -> None:
    """Declare which items are read, of ``several`` datasets or one; see :func:`item_tables`."""
    group = parser.group(DATA)
    data = group.add_mutually_exclusive_group(required=True)
    if several:
        what = "Hub datasets, builds, or a folder of builds"
        many(data, "--dataset", **{**_DATASET, "default": None, "help": what})
        what = "all builds in ./suites, or all published"
        data.add_argument("--suites", dest="all_suites", type=_all, metavar="all", help=what)
    else:
        data.add_argument("--dataset", **_DATASET)
    many(
        data,
        "--suite",
        dest="suites",
        default=None,
        type=Path,
        metavar="FILE",
        help="SyntaxGym's JSON, or folders of it",
    )
    data.add_argument(
        "--pairs", type=Path, metavar="FILE", help="pairs of texts as CSV, TSV, JSON lines, parquet"
    )
    _add_pair_columns(parser)
    many(group, "--config", dest="configs", metavar="C", help="configs; default all")
    group.add_argument(
        "--split", metavar="S", help="one split, or all; default test if there is train, else all"
    )
    add_alike(parser, "--revision", "--data-dir")


def _add_pair_columns(parser: Parser) -> None:
    add = parser.group(PAIRS).add_argument
    for name, said in (
        ("good", "the better text; default sentence_good, good, chosen ..."),
        ("bad", "the worse text; default sentence_bad, bad, rejected ..."),
        ("context", "a text before both; default context or prompt, where there is one"),
        ("cluster-by", "column whose value names a pair's cluster; default each pair is a cluster"),
    ):
        rare(add(f"--{name}", metavar="COLUMN", help=said))
    said = "columns whose values form groups, each with its own score"
    rare(many(parser.group(PAIRS), "--group-by", metavar="COLUMN", help=said))
    said = "how the bits of a text's tokens are combined; default sum"
    rare(add("--aggregation", choices=METRICS, default="sum", help=said))


def add_tables(parser: Parser, said: str = "", *names: str) -> None:
    """Declare a model and which tables of a dataset it is asked about.

    ``said`` is what help has on the configs by default, and ``names`` are others of ``--config``.
    """
    add_model(parser)
    add_alike(parser, "--dataset")
    help_ = said or "configs; default all"
    group = parser.group(DATA)
    many(group, "--config", *names, dest="configs", metavar="C", help=help_)
    add_alike(parser, "--split", "--revision", "--data-dir", "--limit")


def add_batches(parser: Parser) -> None:
    """Declare how large a batch may be."""
    rare(
        parser.group(READING).add_argument(
            "--batch-tokens",
            type=positive,
            metavar="N",
            help="most tokens in a forward pass, padding included; default by device and memory",
        )
    )


def add_reading(parser: Parser, shared: str) -> None:
    """Declare batches, sharing (of ``shared``, texts that begin alike) and the cache."""
    add_batches(parser)
    add = parser.group(READING).add_argument
    rare(
        add(
            "--no-sharing",
            dest="share",
            action="store_false",
            help=f"read every text from its beginning, including the beginning that {shared} share",
        )
    )
    add_cache(parser, "surprisals")


def add_cache(parser: Parser, what: str) -> None:
    """Declare the cache of surprisals or vectors."""
    add = parser.group(READING).add_argument
    said = f"folder of cached {what}; default ${VARIABLE} or the user's folder for caches"
    rare(add("--cache", type=Path, metavar="DIR", help=said))
    rare(add("--no-cache", action="store_true", help=f"neither read nor write cached {what}"))


def add_results(parser: Parser, said: str) -> None:
    """Declare the folders of results that a subcommand reads."""
    parser.add_argument("results", nargs="+", type=Path, metavar="RESULTS", help=said)


def add_every_eval_ever(parser: Parser) -> None:
    """Declare who evaluated, for Every Eval Ever."""
    add = parser.group("for Every Eval Ever").add_argument
    add(
        "--organization",
        metavar="NAME",
        help="name of those who ran the evaluation; has to be given",
    )
    add(
        "--relationship",
        choices=("first_party", "third_party", "collaborative", "other"),
        default="third_party",
        metavar="HOW",
        help="relationship to who made the model: first_party, third_party, collaborative or "
        "other; default third_party",
    )


def evaluation_source(arguments: argparse.Namespace) -> EvaluationSource:
    """The source of an evaluation, by :func:`add_every_eval_ever`.

    Raises:
        EvaluationError: the user does not say.
    """
    from coherencegym.eval.hub.every_eval_ever import EvaluationSource

    if not arguments.organization:
        raise EvaluationError(
            "Every Eval Ever names who ran an evaluation; expected --organization NAME"
        )
    return EvaluationSource(arguments.organization, arguments.relationship)


def results_named(given: Sequence[Path]) -> list[Path]:
    """The folders of results that were named, as often as they were.

    The overview beside the runs is passed over, so that ``results/*`` names the runs.
    """
    from coherencegym.eval.results.read import run_folders
    from coherencegym.eval.views.overview import OVERVIEW_FILES

    chosen = [path for path in given if path.name not in OVERVIEW_FILES]
    return [run for path in chosen for run in run_folders([path])]


def add_format(parser: Parser, said: str = "", default: str | None = TABLE) -> None:
    """Declare ``--format``; ``said`` is the beginning of its help."""
    add = parser.group(WRITTEN).add_argument
    said += "table, markdown, latex; with unrounded numbers csv, json"
    said += f"; default {default}" if default else ""
    add("--format", choices=TABLE_FORMATS, default=default, metavar="FORMAT", help=said)


def add_output(parser: Parser, said: str, replaced: str, default: Path | None = None) -> None:
    """Declare ``--output`` and ``--overwrite``."""
    add = parser.group(WRITTEN).add_argument
    add("--output", type=Path, default=default, metavar="DIR", help=said)
    add("--overwrite", action="store_true", help=f"replace an existing folder of {replaced}")


def check_output(arguments: argparse.Namespace, output: Path) -> None:
    """Refuse a folder of results before any work; see :func:`check_folder`.

    Raises:
        EvaluationError: it may not be replaced, or is a folder that the options read, or in one.
    """
    from coherencegym.files.folders import check_folder

    given = vars(arguments)
    elsewhere = (given.get("calibrate_on") or "").rpartition(":")[0]
    data = [one for one in (arguments.dataset, elsewhere) if one]
    around = [arguments.model, *files_given(arguments)]
    check_folder(output, arguments.overwrite, inputs=data, around=around)


def dataset_source(arguments: argparse.Namespace, configs: Sequence[str]) -> Source:
    """The dataset that the options name; with ``--data-dir`` the rows that are made for it.

    Raises:
        EvaluationError: it is not there, or its rows come out otherwise than in the release.
    """
    from coherencegym.eval.data.source import find_dataset

    name, revision = arguments.dataset, arguments.revision
    if arguments.data_dir is not None:
        if arguments.rebuild is None:
            raise EvaluationError("--data-dir: only the command coherencegym makes rows for it")
        if world().size > 1:
            raise EvaluationError("--data-dir: several processes; first run `coherencegym rebuild`")
        where = arguments.data_dir, revision, configs
        name, revision = str(arguments.rebuild(name, *where)), None
    return find_dataset(name, revision, configs)


def item_tables(
    arguments: argparse.Namespace, max_items: int | None = None, *, in_parts: bool = False
) -> tuple[Source, Sequence[ItemTable]]:
    """The tables that the options of :func:`add_items` name, and where they are from.

    ``in_parts``: of many items not all are in memory; see :func:`eval.data.dataset.tables`.

    Raises:
        EvaluationError: they cannot be read, or an option of datasets was given for suites.
    """
    from coherencegym.eval.data.dataset import tables
    from coherencegym.eval.data.pairs import PairChoices
    from coherencegym.eval.data.syntaxgym import suites
    from coherencegym.eval.library import items_of_pairs

    files = files_given(arguments)
    if not files:
        for one in fields(PairChoices):
            if getattr(arguments, one.name) not in (one.default, []):
                option = flag_of(one.name)
                raise EvaluationError(
                    f"{option}: only for a file of pairs; expected --pairs with it"
                )
        source = dataset_source(arguments, arguments.configs)
        named = source, arguments.configs, arguments.split, max_items
        return source, list(tables(*named, in_parts=in_parts))
    for name in ("configs", "split", "revision", "data_dir"):
        if getattr(arguments, name):
            option = flag_of(name.removesuffix("s"))
            raise EvaluationError(f"{option}: {files[0]} has none; expected --dataset with it")
    if not arguments.pairs:
        return suites(files, max_items)
    own = {one.name: getattr(arguments, one.name) for one in fields(PairChoices)}
    items = items_of_pairs(arguments.pairs, PairChoices(**own), max_items)
    return items.source, items.tables


def files_given(arguments: argparse.Namespace) -> list[Path]:
    """The files that :func:`add_items` read in place of a dataset: suites, or pairs."""
    given = vars(arguments)
    return [*(given.get("suites") or ()), *filter(None, [given.get("pairs")])]


def chosen(arguments: argparse.Namespace, other: Sequence[str] = ()) -> Options:
    """Options of reading and running; what a subcommand does not declare is as it is by default.

    ``other`` are names that stand for something else in this subcommand.

    Raises:
        EvaluationError: an option contradicts ``--compat``.
    """
    known = {field.name for field in fields(Options)} - {*other}
    given = {name: value for name, value in vars(arguments).items() if name in known}
    mode = "" if "compat" in other else vars(arguments).get("compat") or ""
    options = Options(**given, rules=MODES.get(mode, DEFAULT))
    options.check(flag_of)
    return options


def load_model(
    arguments: argparse.Namespace, scores: bool = True, scorer: ScorerChoice = "causal"
) -> LoadedModel:
    """The model that the options name: one that ``scores`` texts, or any that has vectors of them.

    ``scorer`` is the way in which it scores them.

    Raises:
        EvaluationError: see :func:`eval.models.load.load`.
    """
    from coherencegym.eval.models.load import load_encoder

    backend = backend_named(arguments.backend)
    if not scores:
        backend.refuse_unless_whole("gives no vectors of texts")
    how = loading(arguments)
    place = (arguments.model, arguments.device, arguments.dtype)
    if scores:
        return backend.load_scorer(*place, scorer=scorer, **how)
    return load_encoder(*place, **how)


def model_name(one: argparse.Namespace) -> str:
    """The name of the model that options name, with the revision that they ask for."""
    at = f"@{one.model_revision}" if one.model_revision else ""
    return f"{one.model}{at}"


def load_head(arguments: argparse.Namespace, head: Any) -> LoadedModel:
    """The model that the options name, with a head of a class of transformers.

    Raises:
        EvaluationError: see :func:`eval.models.load.load_with_head`.
    """
    from coherencegym.eval.models.load import load_with_head

    backend_named(arguments.backend).refuse_unless_whole("takes no model with a head of its own")
    place = arguments.model, head, arguments.device, arguments.dtype
    return load_with_head(*place, **loading(arguments))


def loading(arguments: argparse.Namespace) -> dict[str, Any]:
    """The arguments by which models are loaded, but for name, device and dtype.

    Raises:
        EvaluationError: a pair of ``--model-arg`` is wrong.
    """
    return {
        "arguments": parse_model_arguments(arguments.model_args, arguments.model_revision),
        "device_map": arguments.device_map,
        "trust_remote_code": arguments.trust_remote_code,
    }


def model_config(arguments: argparse.Namespace, **how: Any) -> tuple[Any, Any]:
    """The config and tokenizer of the model that the options name.

    Raises:
        EvaluationError: see :func:`eval.models.load.load_config`; ``how`` are its other arguments.
    """
    from coherencegym.eval.models import load

    parsed = parse_model_arguments(arguments.model_args, arguments.model_revision)
    return load.load_config(arguments.model, parsed, arguments.trust_remote_code, **how)


def settings_of(
    arguments: argparse.Namespace, options: Options, names: Sequence[str]
) -> dict[str, Any]:
    """The settings of a run as results record them, these options by their names first.

    Raises:
        EvaluationError: a pair of ``--model-arg`` is wrong.
    """
    about_model = model_settings(arguments, ())
    return {**{name: getattr(arguments, name) for name in names}, **options.record(), **about_model}


def model_settings(arguments: argparse.Namespace, names: Sequence[str]) -> dict[str, Any]:
    """The settings of a run that has no options of reading; see :func:`settings_of`."""
    parsed = parse_model_arguments(arguments.model_args, arguments.model_revision)
    return {
        **{name: getattr(arguments, name) for name in names},
        "model_revision": parsed.revision,
        "model_args": parsed.record(),
        "device_map": arguments.device_map,
        "trust_remote_code": arguments.trust_remote_code,
    }


def output_of(
    arguments: argparse.Namespace, task: str = "", names: Mapping[str, str] | None = None
) -> Path:
    """The folder of results that the user names, or ``results/DATA--MODEL``, then the task.

    The ``names`` of datasets and models are given where several have to be told apart.

    A model that is read at a revision is ``MODEL@REVISION``, and a scorer or a masking that was
    asked for is named last, so that no run replaces another.
    """
    if arguments.output:
        return Path(arguments.output)
    from coherencegym.eval.results.folder import run_name

    data = arguments.dataset or _files_name(files_given(arguments))
    given = vars(arguments)
    how = task, given.get("scorer", ""), given.get("masking", "")
    data, model = (names.get(one, one) if names else one for one in (data, arguments.model))
    return Path("results") / run_name(data, model, *how, revision=given.get("model_revision"))


def _files_name(paths: Sequence[Path]) -> str:
    first = paths[0].resolve()
    more = f"-and-{len(paths) - 1}-more" if len(paths) > 1 else ""
    return (first.name if first.is_dir() else first.stem) + more
