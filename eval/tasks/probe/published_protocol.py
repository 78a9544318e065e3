"""The classifiers of Chen, Chu and Gimpel 2019 to the letter: ``--compat discoeval-2019``.

Settings are those of the released code (``ZeweiChu/DiscoEval`` at 262b253: ``tools/classifier.py``,
``tools/validation.py``, ``discoeval/*.py``), each task with its own: there, what the task DC sets
(a hidden layer, the passes of a round) leaks into every task that runs after it in the process. For
published numbers only: one seed, no scaling of features, and a stopping rule that counts all
unsuccessful rounds, not those in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from coherencegym.errors import ConfigError
from coherencegym.eval.tasks.probe.classifiers import (
    Fit,
    LabelledFeatures,
    Trainer,
    accuracy_of,
    predict_classes,
)

_SEED, _BATCH = 1111, 64
_SMALL = 1e-9


@dataclass(frozen=True)
class Protocol:
    """The settings of one task.

    Attributes:
        passes: over the training rows between two looks at validation: a round.
        tenacity: unsuccessful rounds in all after which the next one is the last.
        most_passes: no round begins after more of them.
        penalties: weights of the L2 penalty to choose from.
        hidden: units of a hidden layer (sigmoid), 0 for none.
    """

    passes: int
    tenacity: int = 5
    most_passes: int = 200
    penalties: tuple[float, ...] = (_SMALL,)
    hidden: int = 0


_CHOSEN = (1e-5, 1e-4, 1e-3, 1e-2)
#: Task -> its settings.
PROTOCOLS: Mapping[str, Protocol] = {
    "SP": Protocol(4, penalties=_CHOSEN),
    "BSO": Protocol(4, penalties=_CHOSEN),
    "DC": Protocol(15, tenacity=8, hidden=2000),
    "SSP": Protocol(4),
    "PDTB": Protocol(1, most_passes=15),
    "RST": Protocol(1, most_passes=15),
}


def protocol_of(task: str) -> Protocol:
    """The settings of a task."""
    if task not in PROTOCOLS:
        raise ConfigError(
            "--compat discoeval-2019: a config that is none of the paper's tasks; expected one of "
            f"{', '.join(PROTOCOLS)}, built with --corpus discoeval"
        )
    return PROTOCOLS[task]


def rounds(protocol: Protocol, run: Callable[[], float]) -> tuple[int, float, int]:
    """Run rounds until the published rule ends them.

    Args:
        protocol: the settings.
        run: runs a round and gives the accuracy on validation after it.

    Returns:
        The number of the best round (from 1, the first of equals), its accuracy, and how many
        rounds were run.
    """
    best, best_round, number, passes, failed = -1.0, 0, 0, 0, 0
    while passes <= protocol.most_passes:
        number, passes = number + 1, passes + protocol.passes
        if (found := run()) > best:
            best, best_round = found, number
        else:
            if failed >= protocol.tenacity:
                break
            failed += 1
    return best_round, best, number


def published_trainer(protocol: Protocol) -> Trainer:
    """The trainer of a task; the seed is the published one, and accuracy chooses, always."""

    def published(
        train: LabelledFeatures,
        valid: LabelledFeatures,
        test: Any,
        classes: int,
        *,
        seed: int = 0,
        in_place: bool = False,
    ) -> Fit:
        import torch

        best: tuple[float, float, float, Any] | None = None
        for penalty in protocol.penalties:
            accuracy, network = _train(protocol, penalty, train, valid, classes)
            rounded = round(100 * accuracy, 2)
            if best is None or rounded > best[0]:
                best = rounded, penalty, accuracy, network
        assert best is not None
        _, penalty, accuracy, network = best
        tested = torch.as_tensor(test, dtype=torch.float32)
        return Fit(penalty, accuracy, predict_classes(network, tested))

    return published


def _train(
    protocol: Protocol,
    penalty: float,
    train: LabelledFeatures,
    valid: LabelledFeatures,
    classes: int,
) -> tuple[float, Any]:
    import copy

    import numpy as np
    import torch

    draw = np.random.RandomState(_SEED)
    x, y = torch.as_tensor(train[0], dtype=torch.float32), torch.as_tensor(train[1])
    valid_x = torch.as_tensor(valid[0], dtype=torch.float32)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(_SEED)
        network = _network(x.shape[1], protocol.hidden, classes)
        optimiser = torch.optim.Adam(network.parameters(), weight_decay=penalty)
        kept, best = network, -1.0

        def run() -> float:
            nonlocal kept, best
            for _ in range(protocol.passes):
                for rows in torch.from_numpy(draw.permutation(len(x))).split(_BATCH):
                    loss = torch.nn.functional.cross_entropy(network(x[rows]), y[rows])
                    optimiser.zero_grad()
                    loss.backward()
                    optimiser.step()
            found = accuracy_of(predict_classes(network, valid_x), valid[1])
            if found > best:
                kept, best = copy.deepcopy(network), found
            return found

        _, accuracy, _ = rounds(protocol, run)
    return accuracy, kept


def _network(width: int, hidden: int, classes: int) -> Any:
    from torch import nn

    if not hidden:
        return nn.Sequential(nn.Linear(width, classes))
    return nn.Sequential(nn.Linear(width, hidden), nn.Sigmoid(), nn.Linear(hidden, classes))
