"""Options of every run of a task beside its own: model, data, and what becomes of the results."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from coherencegym.command_line import flag_of, named, option, positive
from coherencegym.errors import EvaluationError
from coherencegym.eval.backends import BACKENDS, backend_named
from coherencegym.eval.data.pairs import PairChoices
from coherencegym.eval.forward.cache import VARIABLE
from coherencegym.eval.models.arguments import ModelArguments, parse_model_arguments
from coherencegym.eval.models.config import ScorerChoice
from coherencegym.eval.models.machine import DEVICE_MAPS
from coherencegym.files.strict_json import SomeNames

if TYPE_CHECKING:
    from coherencegym.eval.models.load import LoadedModel

#: The headings of help, in the order in which a run is described.
DATA, MODEL, METHOD, WRITTEN = "data", "model", "method", "output"
#: The options of commands that take several models alone.
CHECKPOINTS = ("all_revisions",)
_Limit = Annotated[int, Field(ge=1)]


@dataclass(frozen=True)
class ModelOptions:
    """A model, and the way in which it is loaded."""

    model: Any = option(
        None,
        "Hub id or folder of a model; demo: a small model in the package",
        parse=named,
        metavar="ID|FOLDER",
        group=MODEL,
        many=None,
        required=True,
    )
    device: str = option(
        "auto",
        "auto, cpu, cuda, cuda:1, mps",
        metavar="NAME",
        group=MODEL,
    )
    dtype: str = option(
        "auto",
        "float32, bfloat16, float16; default float32 on a CPU, else bfloat16",
        choices=("auto", "float32", "bfloat16", "float16"),
        metavar="TYPE",
        group=MODEL,
    )
    model_revision: SomeNames = option(
        (),
        "tag or commit of a Hub model, or the model in this subfolder of a folder",
        parse=named,
        metavar="TAG",
        group=MODEL,
        many=None,
        rare=True,
    )
    all_revisions: SomeNames = option(
        (),
        "the branches and tags of a Hub model, or the models in a folder, such as 'step*'",
        parse=named,
        metavar="PATTERN",
        group=MODEL,
        many=True,
        rare=True,
    )
    backend: str = option(
        "transformers",
        "the library that runs it; "
        + "; ".join(f"{name}: {what}" for name, (what, _) in BACKENDS.items() if what),
        choices=BACKENDS,
        group=MODEL,
        rare=True,
    )
    model_arg: SomeNames = option(
        (),
        "from_pretrained's own; also peft=, load_in_8bit=true, attn_implementation=eager, ...",
        metavar="KEY=VALUE",
        group=MODEL,
        many=True,
        rare=True,
    )
    trust_remote_code: bool = option(
        False,
        "run code from the model's repository if it needs it; read it first",
        group=MODEL,
        rare=True,
    )
    device_map: str | None = option(
        None,
        "spread a model that is larger than one GPU over all of them (needs accelerate)",
        choices=DEVICE_MAPS,
        group=MODEL,
        rare=True,
    )

    @property
    def is_loaded(self) -> bool:
        """True of a model in memory."""
        return not isinstance(self.model, str)

    @property
    def revision(self) -> str | None:
        """The one revision of the model."""
        return next(iter(self.model_revision), None)

    @property
    def name(self) -> str:
        """The name of the model, with the revision that is asked for."""
        if self.is_loaded:
            return str(self.model.name)
        return f"{self.model}@{self.revision}" if self.revision else self.model

    @property
    def arguments(self) -> ModelArguments:
        """What is said of the model beyond its name."""
        return parse_model_arguments(self.model_arg, self.revision)

    def how(self) -> dict[str, Any]:
        """The arguments by which models are loaded, but for name, device and dtype."""
        return {
            "arguments": self.arguments,
            "device_map": self.device_map,
            "trust_remote_code": self.trust_remote_code,
        }

    def config(self, **how: Any) -> tuple[Any, Any]:
        """The config and tokenizer; ``how``: see :func:`eval.models.load.load_config`."""
        from coherencegym.eval.models import load

        return load.load_config(self.model, self.arguments, self.trust_remote_code, **how)

    def load(self, scorer: ScorerChoice = "causal", known: Any = None) -> LoadedModel:
        """Load it as a model that scores texts in this way; ``known``: that of `load`."""
        backend, place = backend_named(self.backend), (self.model, self.device, self.dtype)
        return backend.load_scorer(*place, scorer=scorer, known=known, **self.how())

    def load_vectors(self) -> LoadedModel:
        """Load it as a model that has vectors of texts."""
        from coherencegym.eval.models.load import load_encoder

        backend_named(self.backend).refuse_unless_whole("gives no vectors of texts")
        return load_encoder(self.model, self.device, self.dtype, **self.how())

    def load_head(self, head: Any) -> LoadedModel:
        """Load it with a head of a class of transformers."""
        from coherencegym.eval.models.load import load

        backend = backend_named(self.backend)
        backend.refuse_unless_whole("takes no model with a head of its own")
        place = self.model, self.device, self.dtype
        return load(*place, scorer=None, head=head, **self.how())

    def record(self) -> dict[str, Any]:
        """The settings of the model as results record them."""
        return {
            "model_revision": None if self.is_loaded else self.arguments.revision,
            "model_args": dict(self.model.arguments) if self.is_loaded else self.arguments.record(),
            "device_map": self.device_map,
            "trust_remote_code": (
                self.model.remote_code if self.is_loaded else self.trust_remote_code
            ),
        }


def distinct(values: Iterable[Any]) -> list[Any]:
    """Each name and each value in memory once, in their order."""
    return list({one if isinstance(one, str) else id(one): one for one in values}.values())


def each_model(options: ModelOptions) -> list[ModelOptions]:
    """The options of each model at each revision, in their order."""
    several = options.model if isinstance(options.model, list) else [options.model]
    if not several:
        raise EvaluationError("no model; expected at least one")
    patterns = options.all_revisions
    if patterns and options.model_revision:
        raise EvaluationError("--all-revisions and --model-revision: expected one of the two")
    models = distinct(several)
    if not patterns and not options.model_revision:
        return [replace(options, model=model) for model in models]
    from coherencegym.eval.models.checkpoints import at_revisions, checkpoints

    revisions = list(dict.fromkeys(options.model_revision))
    return [
        replace(options, model=name, model_revision=(revision,) if revision else ())
        for model in models
        for name, revision in (
            checkpoints(model, patterns) if patterns else at_revisions(model, revisions)
        )
    ]


@dataclass(frozen=True)
class DataOptions:
    """A dataset, and the part of it that is read."""

    dataset: Any = option(
        None,
        "a Hub dataset, or a folder that holds one",
        parse=named,
        metavar="ID|FOLDER",
        group=DATA,
        required=True,
    )
    config: SomeNames = option(
        (), "configs; default all that the task can read", metavar="C", group=DATA, many=True
    )
    split: str | None = option("test", "the split that is tested", metavar="S", group=DATA)
    revision: str | None = option(
        None, "tag or commit of a Hub dataset", metavar="TAG", group=DATA, rare=True
    )
    limit: _Limit | None = option(
        None, "read the first N rows of each table", parse=positive, metavar="N", group=DATA
    )

    def record(self) -> dict[str, Any]:
        """The choices as results record them."""
        return {"configs": list(self.config), "split": self.split, "max_items": self.limit}


@dataclass(frozen=True)
class ItemOptions(PairChoices, DataOptions):
    """A dataset of items, a file of SyntaxGym's, or pairs of texts in a file."""

    dataset: Any = option(
        None,
        "Hub dataset, build, or file: SyntaxGym's JSON, or pairs of texts as CSV, TSV, JSON lines, "
        "parquet",
        parse=named,
        metavar="ID|FOLDER|FILE",
        group=DATA,
        many=None,
        required=True,
    )
    split: str | None = option(
        None,
        "one split, or all; default all, as nothing is trained on pairs",
        metavar="S",
        group=DATA,
    )

    def refuse(self, names: Sequence[str], where: str) -> None:
        """Refuse that options of these names are given: what ``where`` says has no use for them."""
        usual = {one.name: one.default for one in fields(self)}
        for name in names:
            if getattr(self, name) != usual[name]:
                raise EvaluationError(f"{flag_of(name)}: {where}")


@dataclass(frozen=True)
class OutputOptions:
    """What becomes of the results, and of what a model was asked."""

    cache: Path | None = option(
        None,
        f"folder of the cache; default ${VARIABLE} or the user's folder for caches",
        parse=Path,
        metavar="DIR",
        group=METHOD,
        rare=True,
    )
    no_cache: bool = option(False, "neither read nor write the cache", group=METHOD, rare=True)
    output: Path | None = option(
        None,
        "default results/DATA--MODEL--TASK, for score without TASK",
        parse=Path,
        metavar="DIR",
        group=WRITTEN,
    )
    overwrite: bool = option(False, "replace an existing folder of results", group=WRITTEN)
    quiet: bool = option(False, "show no progress on standard error", group=WRITTEN, rare=True)


@dataclass(frozen=True)
class ShellOptions:
    """What only the shell has: what is printed."""

    json: bool = option(
        False,
        "print results.json (for several runs a list); the rest is on standard error",
        group=WRITTEN,
        rare=True,
    )
    verbose: bool = option(False, "print all tables and notes in full", group=WRITTEN)
