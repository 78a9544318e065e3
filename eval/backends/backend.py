"""A backend: the library that runs language models, as a value that one module declares.

The backend of transformers, of which all the project's promises are, is declared here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from coherencegym.errors import EvaluationError
from coherencegym.eval.forward.execute import BatchProgress, Execution, all_known, execute
from coherencegym.eval.forward.trial import Store, Trials
from coherencegym.eval.models.arguments import ModelArguments, Scalar
from coherencegym.eval.models.config import Scorer, ScorerChoice, padding_of, scorer_of
from coherencegym.eval.models.load import LoadedModel, Unloaded, load, vocabulary_size
from coherencegym.eval.models.machine import ALONE, World
from coherencegym.eval.plan.options import DEFAULT_OPTIONS, Options
from coherencegym.eval.plan.plan import Plan, budget_of


@dataclass(frozen=True)
class RunContext:
    """The means to run a plan.

    Attributes:
        options: ways to read and run it, settled for the model.
        store, progress, world, beginnings, twice, trials: those of
            :func:`eval.forward.execute.execute`.
    """

    options: Options = DEFAULT_OPTIONS
    store: Store | None = None
    progress: BatchProgress | None = None
    world: World = ALONE
    beginnings: Sequence[int] = ()
    twice: Sequence[int] = ()
    trials: Trials | None = None


@dataclass(frozen=True)
class Backend:
    """A library that runs language models.

    Attributes:
        name: the word of ``--backend``, and the package whose version results record.
        title: its name in messages.
        load: loads a model that scores texts; its arguments are those of
            :func:`eval.models.load.load`.
        run: runs a plan through such a model.
        vocabulary: counts the entries of its input vocabulary.
        models: the class of what it loads; None: of all that no other backend loads, and results do
            not name it.
        scorers: the ways in which it reads texts.
        has_vectors: it gives vectors of texts, too, and takes models with any head.
        has_all_tokens: it gives log-probabilities of all tokens in a place, not of the text's own
            alone.
        numeric: gives the settings of ``--model-arg`` that numbers may depend on.
        caution: gives what a reader of a model's scores must know of the backend; empty: nothing.
    """

    name: str
    title: str
    load: Callable[..., LoadedModel]
    run: Callable[[Any, Plan, RunContext], Execution]
    vocabulary: Callable[[Any], int]
    models: type | None
    scorers: tuple[Scorer, ...] = ("causal",)
    has_vectors: bool = False
    has_all_tokens: bool = False
    numeric: Callable[[ModelArguments], dict[str, Scalar]] = ModelArguments.numeric
    caution: Callable[[Any], str] = lambda model: ""

    def load_scorer(
        self,
        name: str,
        device: str,
        dtype: str,
        *,
        arguments: ModelArguments,
        scorer: ScorerChoice = "auto",
        known: Callable[[LoadedModel], Mapping[str, int] | None] | None = None,
        **how: Any,
    ) -> LoadedModel:
        """Load a model that scores texts; arguments are those of :func:`eval.models.load.load`."""
        if scorer not in ("auto", *self.scorers):
            raise EvaluationError(
                f"--backend {self.name} and --scorer {scorer}: {self.title} reads "
                f"{' and '.join(self.scorers)} models alone; expected --backend transformers"
            )
        if self.models is None:
            how["known"] = known
        loaded = self.load(name, device, dtype, arguments=arguments, scorer=scorer, **how)
        cautions = (*loaded.cautions, *filter(None, [self.caution(loaded.model)]))
        named = {} if self.models is None else {"backend": self.name}
        recorded = {**named, **self.numeric(arguments)}
        return replace(loaded, arguments=recorded, cautions=cautions)

    def refuse_unless_whole(self, lack: str) -> None:
        """Refuse what needs a model whose vectors are there; ``lack`` says what is not."""
        if not self.has_vectors:
            raise EvaluationError(f"--backend {self.name} {lack}; expected --backend transformers")

    def refuse_unless_it_gives(self, options: Options) -> None:
        """Refuse options that need more than the backend gives."""
        if options.word_correction and not self.has_all_tokens:
            raise EvaluationError(
                "--word-correction needs sums over all tokens that begin a word, and "
                f"{self.title} gives the log-probabilities of single tokens; expected --backend "
                "transformers"
            )

    def scorer_of(self, model: Any) -> Scorer:
        """The way in which a model of it is read, unless another is asked for."""
        if len(self.scorers) == 1:
            return self.scorers[0]
        if isinstance(model, Unloaded):
            return model.scorer
        return scorer_of(getattr(model, "config", None), type(model).__name__)


def _run(model: Any, plan: Plan, context: RunContext) -> Execution:
    options = context.options
    if isinstance(model, Unloaded):
        found = all_known(plan, context.store, context.world, context.twice)
        if found is not None:
            return found
        model = model.loaded
    return execute(
        model,
        plan,
        budget_of(model, options.batch_tokens),
        share=options.share and not options.is_masked,
        padding=padding_of(getattr(model, "config", None)) if options.is_masked else None,
        store=context.store,
        progress=context.progress,
        world=context.world,
        beginnings=context.beginnings,
        twice=context.twice,
        trials=context.trials,
    )


BACKEND = Backend(
    name="transformers",
    title="transformers",
    load=load,
    run=_run,
    vocabulary=vocabulary_size,
    models=None,
    scorers=("causal", "pll", "mntp"),
    has_vectors=True,
    has_all_tokens=True,
)
