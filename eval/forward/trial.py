"""Trials of what a model may read together, on the plan's own sequences, scored both ways.

Some models go on from a cache as if it were the text; some cannot, and some do so without a word
and wrongly (Mamba, FalconMamba and Jamba when the rest has more than one token). A window or a
length that no config tells of (:mod:`eval.models.config`) would show in a text beside a longer one.
So every run finds out. Where two ways agree, the model has also given one text the same answers
twice, whatever came behind it. What no trial has shown of the longest text is found out by
:func:`answers_alike`.

In float32 two ways agree where no surprisal differs by more than :data:`TOLERANCE`. In half
precision every way of running rounds otherwise, whether a beginning is shared or not. So the
question is asked in float32, with the same weights, at the same tolerance: a cache that is gone on
from wrongly shows there however much half precision rounds. Measured on a CPU over 25 seeds of
eight architectures in bfloat16 and float16 (GPT-2, Llama, OPT, GPT-NeoX, Cohere, Granite, windows
of Mistral and Gemma 2; packed and from a cache; 12 to 24 texts), half of the texts were off float32
by 1.00 times as much with sharing as without (the median over 800 trials). A beginning that is
shared is kept in the format in which attention reads it anyway, so that no part of it needs more
precision.

In half precision every layer rounds, and how a text is batched changes the rounding. Some texts are
run a second time with the same weights in float32; what a task makes of both shows by how much its
own numbers may be off (:mod:`eval.tasks.score.scoring`). That a text gives the same number alone
and in a batch would say nothing: on a CPU bfloat16 repeats itself to the bit and is off all the
same.
"""

from __future__ import annotations

import hashlib
import heapq
import json
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from importlib.metadata import PackageNotFoundError, version
from itertools import compress
from typing import TYPE_CHECKING, Any, Protocol

from coherencegym.eval.forward.cache import RowStore
from coherencegym.eval.forward.passes import (
    MODEL_ERRORS,
    CannotShareError,
    Forward,
    Questions,
    fetched,
    run_alone,
    run_batch,
    unmasked_layer,
)
from coherencegym.eval.models.load import runs_remote_code
from coherencegym.eval.models.machine import devices, input_device, quantization_of
from coherencegym.eval.plan.plan import Batch, Budget, Plan, make_batches
from coherencegym.eval.text.sequence import Sharing, TokenSequence

if TYPE_CHECKING:
    import numpy as np


#: Surprisals (bits) of sequences, by their places in a plan.
Bits = Mapping[int, "np.ndarray"]
#: Errors of what cannot be done in float32: layers of its own that know one number format, weights
#: that are elsewhere, no memory.
_FAILURES = (*MODEL_ERRORS, CannotShareError, MemoryError)


def is_exact(dtype: object) -> bool:
    """Tell whether a number format is no half precision."""
    return str(dtype).removeprefix("torch.") in ("float32", "float64")


def unless_finite(dtype: object) -> str:
    """Advice where a model of this number format gives a number that is not finite."""
    if is_exact(dtype):
        return "expected another revision or copy of the model, as it is in float32 already"
    return "try --dtype float32"


class Store(Protocol):
    """Surprisals of earlier runs; see :mod:`eval.forward.cache`."""

    def get_many(self, sequences: Sequence[TokenSequence]) -> list[np.ndarray | None]:
        """The reads of each sequence, in bits; None where some of them are not known."""

    def put(self, results: Sequence[tuple[TokenSequence, np.ndarray]]) -> None:
        """Keep what was read of sequences, in bits."""


def drawn_by_name(names: Iterable[tuple[int, str]], size: int) -> set[int]:
    """Choose some numbers by the digests of their names: for these always the same, in any order.

    The choice has nothing to do with what they are names of, as the statistics want it.
    """
    digests = (
        (hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest(), number)
        for number, name in names
    )
    return {number for _, number in heapq.nsmallest(size, digests)}


def exactly(forward: Forward, work: Callable[[], Bits]) -> Bits | None:
    """Do some work of a half-precision model in float32; None where that cannot be had."""
    import numpy as np

    try:
        with forward.in_float32():
            found = work()
    except _FAILURES:
        return None
    return found if all(bool(np.isfinite(each).all()) for each in found.values()) else None


#: Bits by which surprisals may differ in float32: what is promised of every run.
TOLERANCE = 1e-4


@dataclass(frozen=True, slots=True)
class Trial:
    """The result of a trial.

    Attributes:
        passed: texts may be run in the way that was tried.
        difference: the largest difference (bits) between both ways, in float32 wherever that could
            be had; None where it could not, and where the model cannot go that way at all.
        tolerance: most that it may be, in bits.
        reason: a line for people where they may not, else empty.
        results: surprisals of each batch that was tried, by its place in the plan, where they may:
            it need not be run again.
        longest: tokens of the longest text, or row of one text, that was run in both ways.
    """

    passed: bool
    difference: float | None = None
    tolerance: float = TOLERANCE
    reason: str = ""
    results: Mapping[int, list[np.ndarray]] = field(default_factory=dict, repr=False)
    longest: int = 0


def alike_within(
    pairs: Iterable[tuple[np.ndarray, np.ndarray]], tolerance: float = TOLERANCE
) -> Trial:
    """The result of a trial with surprisals read one way and the other."""
    import numpy as np

    difference = max((float(np.abs(one - other).max()) for one, other in pairs), default=0.0)
    # No number is no pass either.
    if difference <= tolerance:
        return Trial(True, difference, tolerance)
    reason = f"a surprisal changes by {difference:.2g} bits, where {tolerance:.2g} are allowed"
    return Trial(False, difference, tolerance, reason)


#: Times that sharing may change a text more than padding does, without a float32 to hold it to.
_TIMES = 3.0
#: The name under which a cache has verdicts.
_NAME = "trials"
#: Bits that a longer neighbour may make of a text in half precision, without a float32 to hold it
#: to: rounding makes less, other positions more.
_GROSS = 0.5


def try_sharing(forward: Forward, plan: Plan, sharing: Sharing) -> Trial:
    """Run a batch or two of a plan with beginnings shared, and a few of their sequences without.

    Those sequences are run alone. All their tokens behind the shared beginning are compared, and
    what is read in it.

    Args:
        forward: the model.
        plan: one that shares.
        sharing: the way that is tried, in which the plan shares.
    """
    # How little of a neighbour the texts of a trial may see says nothing of others.
    if sharing == "packed" and (layer := unmasked_layer(forward.model)):
        return Trial(False, reason=f"{layer} mixes tokens where no attention mask reaches")
    numbers, compared = to_try(plan)
    tried = _Tried(forward, plan, numbers, _read_behind(plan, compared), list(compared))
    try:
        found = tried.found()
    except CannotShareError as error:
        return Trial(False, reason=str(error))
    longest = max(plan.sequences[index].length for index in compared)
    return replace(tried.trial(found), longest=longest)


def _read_behind(plan: Plan, compared: Mapping[int, int]) -> list[TokenSequence]:
    # Of some sequences all is read behind the beginning of so many tokens.
    sequences = list(plan.sequences)
    for index, prefix in compared.items():
        behind = tuple(range(prefix + 1, len(sequences[index].ids)))
        sequences[index] = sequences[index].united(TokenSequence(sequences[index].ids, behind))
    return sequences


@dataclass(frozen=True)
class _Tried:
    """Batches of a plan, and some of their texts, which are run alone as well.

    Attributes:
        numbers: the places of the batches in the plan.
        sequences: those of the plan, of some of which more is read.
        compared: the texts.
        pads: padding itself is tried; else texts in padded batches are beyond doubt.
    """

    forward: Forward
    plan: Plan
    numbers: Sequence[int]
    sequences: Sequence[TokenSequence]
    compared: Sequence[int]
    pads: bool = False

    @property
    def batches(self) -> list[Batch]:
        return [self.plan.batches[number] for number in self.numbers]

    def found(self) -> Bits:
        return self._run(self.batches)

    def trial(self, found: Bits) -> Trial:
        if self.forward.is_exact:
            judged = self._alike(found, TOLERANCE)
        else:
            judged = self._in_half(found)
        if not judged.passed:
            return judged
        results = {
            number: [self._read(index, found[index]) for index in batch.indices]
            for number, batch in zip(self.numbers, self.batches, strict=True)
        }
        return replace(judged, results=results)

    def _alike(self, found: Bits, tolerance: float) -> Trial:
        return alike_within(_pairs(found, self._alone(), self.compared), tolerance)

    def _in_half(self, found: Bits) -> Trial:
        exact = _in_float32(self.forward, self._alone)
        if exact is not None:
            parts = [part for batch in self.batches if (part := _part(batch, self.compared))]
            right = self._right(parts, exact)
            if right.passed or self.pads or self._right(self._padded(), exact).passed:
                return right
            # Else this is no float32, or padding is wrong.
        if self.pads:
            return self._alike(found, _GROSS)
        noise = self._alike(self._run(self._padded()), _GROSS).difference or 0.0
        return self._alike(found, max(TOLERANCE, _TIMES * noise))

    def _right(self, batches: Sequence[Batch], exact: Bits) -> Trial:
        found = _in_float32(self.forward, lambda: self._run(batches))
        if found is None:
            return Trial(False, reason="it does not run in float32")
        return alike_within(_pairs(found, exact, self.compared))

    def _alone(self) -> Bits:
        return {index: run_alone(self.forward, self.sequences, index) for index in self.compared}

    def _run(self, batches: Iterable[Batch]) -> Bits:
        found: dict[int, np.ndarray] = {}
        for batch in batches:
            bits = run_batch(self.forward, self.sequences, batch)
            found.update(zip(batch.indices, bits, strict=True))
        return found

    def _padded(self) -> Sequence[Batch]:
        # In batches that share nothing and take no more than those of the plan.
        batches = self.plan.batches
        budget = Budget(
            tokens=max(batch.padded_tokens for batch in batches),
            head_rows=max(batch.head_rows for batch in batches),
            cached=0,
        )
        families = [(index,) for index in self.compared]
        return make_batches(
            self.sequences, families, budget, sharing="none", limits=self.plan.limits
        )

    def _read(self, index: int, bits: np.ndarray) -> np.ndarray:
        own, tried = self.plan.sequences[index], self.sequences[index]
        if own == tried:
            return bits
        place = {tuple(read): number for number, read in enumerate(tried.reads().tolist())}
        return bits[[place[tuple(read)] for read in own.reads().tolist()]]


def _in_float32(forward: Forward, work: Callable[[], Bits]) -> Bits | None:
    # None where that cannot be had.
    return None if quantization_of(forward.model.config) else exactly(forward, work)


def _pairs(
    found: Bits, expected: Bits, texts: Iterable[int]
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    return ((found[index], expected[index]) for index in texts)


def _part(batch: Batch, texts: Sequence[int]) -> Batch | None:
    # None where none has one of these texts.
    kept = [not set(group).isdisjoint(texts) for group in batch.groups]
    if not any(kept):
        return None
    groups = tuple(compress(batch.groups, kept))
    return replace(batch, groups=groups, prefixes=tuple(compress(batch.prefixes, kept)))


class Trials:
    """Verdicts of trials: for all tables of a run and, in its cache, for later runs.

    A verdict holds for one model, run in one way (:func:`_circumstances`), and texts no longer than
    those that were tried. A model with code of its own is tried each time.

    Args:
        store: the cache; None: there is none.
    """

    def __init__(self, store: Store | None = None) -> None:
        self._store = store if isinstance(store, RowStore) else None
        self._known: dict[str, dict[str, Any]] = {}
        if self._store is not None:
            self._known = self._store.recall(_NAME) or {}

    def known(self, forward: Forward, processes: int, name: str, plan: Plan) -> Trial | None:
        """The verdict of an earlier trial that holds for a plan; None where there is none."""
        found = self._known.get(_circumstances(forward.model, processes), {}).get(name)
        if found is None or runs_remote_code(forward.model):
            return None
        trial, longest, sides = Trial(**found["trial"]), *_reach(plan, name)
        holds = longest <= found["longest"] and sides <= set(found["sides"])
        return trial if holds or not trial.passed else None

    def keep(self, forward: Forward, processes: int, name: str, plan: Plan, found: Trial) -> None:
        """Keep the verdict of a trial on a plan."""
        own = self._known.setdefault(_circumstances(forward.model, processes), {})
        longest, sides = _reach(plan, name)
        trial = asdict(replace(found, results={}))
        own[name] = {"trial": trial, "longest": longest, "sides": sorted(sides)}
        if self._store is not None:
            self._store.remember(_NAME, self._known)


def _reach(plan: Plan, name: str) -> tuple[int, set[int]]:
    # The longest row, and on which sides of the model's limits texts are.
    batches = [batch for batch in plan.batches if batch.shares is (name in ("packed", "cache"))]
    lengths = [plan.sequences[index].length for batch in batches for index in batch.indices]
    sides = {bisect_left(plan.limits.boundaries, length) for length in lengths}
    return max((batch.length for batch in batches), default=0), sides


#: Packages that bring kernels of their own.
_KERNELS = (
    *("kernels", "triton", "flash-attn", "flash-linear-attention", "mamba-ssm", "causal-conv1d"),
    *("bitsandbytes", "xformers", "liger-kernel"),
)


def _circumstances(model: Any, processes: int) -> str:
    # A digest of all that a verdict may depend on beside the texts.
    import torch
    import transformers

    device = input_device(model)
    kernels: Any = torch.backends.cpu.get_cpu_capability()
    if device.type == "cuda":
        place = torch.cuda.get_device_name(device), torch.cuda.get_device_capability(device)
        kernels = (*place, torch.version.cuda)
    versions = [torch.__version__, transformers.__version__]
    for package in _KERNELS:
        with suppress(PackageNotFoundError):
            versions.append(f"{package} {version(package)}")
    about = {
        "class": type(model).__name__,
        "config": model.config.to_dict(),
        "dtype": str(model.get_input_embeddings().weight.dtype),
        "quantization": quantization_of(model.config),
        "attention": getattr(model.config, "_attn_implementation", None),
        "device": (devices(model), kernels),
        "processes": processes,
        "versions": versions,
    }
    return hashlib.sha256(json.dumps(about, sort_keys=True, default=str).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Group:
    # It shares a beginning of ``prefix`` tokens, in batch ``number``; ``lengths`` are by the
    # positions of its sequences in the plan, in their order.
    number: int
    prefix: int
    lengths: Mapping[int, int]

    @property
    def length(self) -> int:
        return max(self.lengths.values())

    @property
    def unequal(self) -> int:
        return self.length - min(self.lengths.values())

    @property
    def row(self) -> int:
        return self.prefix + sum(length - self.prefix for length in self.lengths.values())

    @property
    def goes_on(self) -> bool:
        # Two tokens or more follow the beginning: one alone is what caches are made for.
        return self.length - self.prefix >= 2

    @property
    def compared(self) -> tuple[int, int, int]:
        # The shortest, the longest and the last, which stands farthest off in a packed row.
        by_length = self.lengths.__getitem__
        *_, last = self.lengths
        return min(self.lengths, key=by_length), max(self.lengths, key=by_length), last


def to_try(plan: Plan) -> tuple[list[int], dict[int, int]]:
    """Choose what to try of a plan that shares beginnings.

    The longest beginning (with two more tokens, where there are any), the most unequal lengths, the
    longest row, the longest text, the batch of most beginnings, and what comes closest to each of
    the model's limits, on both sides. Of each group its shortest, longest and last sequence are
    compared.

    Returns:
        The places of batches in the plan; and the sequences to compare, each with how many tokens
        it shares.
    """
    groups = _groups(plan)
    first = max(groups, key=lambda group: (group.goes_on, group.prefix, group.unequal))
    others = [group for group in groups if group is not first] or [first]
    chosen = [
        first,
        # Another one where it can be, as one group may be right by chance.
        max(others, key=lambda group: (group.unequal, group.goes_on, group.prefix)),
        max(groups, key=lambda group: group.row),
        max(groups, key=lambda group: group.length),
        # A cache that is not put in order may be right where all goes on from one beginning.
        max(groups, key=lambda group: len(plan.batches[group.number].groups)),
    ]
    for boundary in plan.limits.boundaries:
        by_length = sorted(groups, key=lambda group: group.length)
        chosen += [group for group in by_length if group.length <= boundary][-1:]
        chosen += [group for group in by_length if group.length > boundary][:1]
    compared = {index: group.prefix for group in chosen for index in group.compared}
    return sorted({group.number for group in chosen}), compared


def _groups(plan: Plan) -> list[_Group]:
    return [
        _Group(number, prefix, {index: plan.sequences[index].length for index in group})
        for number, batch in enumerate(plan.batches)
        if batch.shares
        for group, prefix in zip(batch.groups, batch.shared, strict=True)
    ]


def beside_longer(forward: Forward, plan: Plan) -> Trial | None:
    """Run batches without sharing in which a text is padded the most, and such texts alone.

    The most is meant in tokens, as a share of the text, and in the longest row.

    Returns:
        What came of it; None where no text stands beside a longer one.
    """
    padded = [
        (batch.length - length, batch.length, number, index)
        for number, batch in enumerate(plan.batches)
        if not batch.shares
        for index in batch.indices
        if (length := plan.sequences[index].length) < batch.length
    ]
    if not padded:
        return None
    padded.sort(reverse=True)
    chosen = [
        padded[0],
        max(padded, key=lambda entry: entry[0] / entry[1]),
        max(padded, key=lambda entry: entry[1]),
    ]
    numbers = sorted({number for _, _, number, _ in chosen})
    compared = sorted({index for *_, index in chosen})
    tried = _Tried(forward, plan, numbers, plan.sequences, compared, pads=True)
    return replace(tried.trial(tried.found()), longest=max(length for _, length, *_ in chosen))


def answers_alike(forward: Forward, plan: Plan, shown: int) -> Trial | None:
    """Read the longest text of a plan, and half of it by itself.

    Where these differ, the text is read again, and with other ends. If that changes nothing, it is
    the length of a text that does: texts that are run alone may be read so.

    Args:
        forward: the model.
        plan: its sequences.
        shown: tokens of the longest text that agrees with itself in another trial.

    Returns:
        What came of it, if it failed with the rest of a message; None where there is no longer one.
    """
    texts = [plan.sequences[index] for batch in plan.batches for index in batch.indices]
    text = max(texts, key=lambda text: text.length, default=None)
    if text is None or text.length <= shown:
        return None
    ids = text.seen[: text.length]
    if text.masked is None:
        # Odd, so that no chunk of tokens that see each other ends there.
        cuts = [len(ids) // part | 1 for part in (2, 4, 8)]
        asked = TokenSequence(text.ids, tuple(range(1, cuts[0] + 1))).reads()
        half = ids[: cuts[0]]
    else:
        cuts, asked, half = [], text.reads(), ids
    (first, other), tolerance = _bits(forward, asked, [ids, half])
    found = alike_within([(first, other)], tolerance)
    if found.passed:
        return found
    changed = [ids[:cut] + ids[: len(ids) - cut] for cut in cuts]
    (first, again, *others), tolerance = _bits(forward, asked, [ids, ids, *changed])
    pairs = [(first[:cut], other[:cut]) for cut, other in zip(cuts, others, strict=True)]
    for trial, what, wanted in (
        (alike_within([(first, again)], tolerance), "answers differently each time", "repeatable"),
        (alike_within(pairs, tolerance), "predicts a token from what follows it", "causal"),
    ):
        # No number is for whoever looks at all of them.
        if trial.difference is not None and trial.difference > tolerance:
            return replace(trial, reason=f"{what}: {trial.reason}; expected a {wanted} model")
    return Trial(True)


def _bits(
    forward: Forward,
    asked: np.ndarray,
    texts: Sequence[Sequence[int]],
) -> tuple[list[np.ndarray], float]:
    # What is read of token ids, each by itself, in float32 where that can be had; and by how much
    # it may differ.
    import torch

    def work() -> Bits:
        found = {}
        for number, ids in enumerate(texts):
            questions = Questions(1, len(ids))
            places = questions.want(0, *asked.T)
            with torch.inference_mode():
                answers, _ = forward.read(torch.tensor([ids]), questions)
            found[number] = fetched(answers)[places]
        return found

    if forward.is_exact:
        return list(work().values()), TOLERANCE
    exact = _in_float32(forward, work)
    return list((exact or work()).values()), TOLERANCE if exact else _GROSS
