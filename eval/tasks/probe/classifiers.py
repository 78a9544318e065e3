"""Classifiers of features: softmax regression (scikit-learn), and those of a paper (torch).

Features are standardised by the mean and deviation of the training rows. The weight of the penalty
is chosen by the accuracy on validation rows, the stronger one of equals.

With ``--compat discoeval-2019`` they are those of Chen, Chu and Gimpel 2019 to the letter, with the
settings of the released code (``ZeweiChu/DiscoEval`` at 262b253: ``tools/classifier.py``,
``tools/validation.py``, ``discoeval/*.py``), each task with its own: there, what the task DC sets
(a hidden layer, the passes of a round) leaks into every task that runs after it in the process. For
published numbers only: one seed, no scaling of features, and a stopping rule that counts all
unsuccessful rounds, not those in a row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from coherencegym.errors import ConfigError

if TYPE_CHECKING:
    import numpy as np


#: Inverse weights of the penalty (C of scikit-learn), from the strongest penalty to the weakest.
INVERSE_PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)
#: scikit-learn stops where the gradient of the mean loss is below this.
_TOLERANCE = 1e-5
_MOST_ITERATIONS = 2000

#: Features, float32, shape (rows, dimensions), and classes, numbers from 0.
LabelledFeatures = tuple["np.ndarray", "np.ndarray"]


@dataclass(frozen=True)
class Fit:
    """A trained classifier, and what it says of the rows to test on.

    Attributes:
        setting: the weight that was chosen: C, or the weight decay.
        validation: its accuracy on the validation rows, from 0 to 1.
        log_probabilities: natural logarithms of the probabilities of all classes, of each row to
            test on, shape (rows, classes); minus infinity for a class that no training row has.
        constant: no feature varies in training: every row gets the most frequent class.
        finished: the optimiser got to an end; where not, these are the weights that it had.
    """

    setting: float
    validation: float
    log_probabilities: np.ndarray = field(repr=False)
    constant: bool = False
    finished: bool = True


def accuracy_of(log_probabilities: np.ndarray, classes: Any) -> float:
    """The share of rows whose most probable class is the right one."""
    return float((log_probabilities.argmax(axis=1) == classes).mean())


def _scaler(train: np.ndarray) -> tuple[Any, bool]:
    # True beside the function: none of the features varies.
    import numpy as np

    mean = train.mean(axis=0, dtype=np.float64)
    # The two-pass variance in float64 would need a copy of twice the size: column blocks do not.
    deviation = np.concatenate(
        [
            block.std(axis=0, dtype=np.float64)
            for block in np.array_split(train, max(1, train.shape[1] // 256), axis=1)
        ]
    )
    # What differs by rounding alone does not vary.
    still = deviation <= 1e-6 * np.maximum(abs(mean), 1e-6)
    centre, scale = mean.astype(np.float32), np.where(still, 0, 1 / np.where(still, 1, deviation))
    scale = scale.astype(np.float32)

    def standardised(features: np.ndarray, in_place: bool = False) -> Any:
        out = np.subtract(features, centre, out=features if in_place else None, dtype=np.float32)
        out *= scale
        return out

    return standardised, bool(still.all())


def _most_frequent(train_y: Any, valid_y: Any, rows: int, classes: int, setting: float) -> Fit:
    import numpy as np

    counts = np.bincount(train_y, minlength=classes)
    with np.errstate(divide="ignore"):
        found = np.log(counts / counts.sum())
    right = float((valid_y == counts.argmax()).mean())
    return Fit(setting, right, np.tile(found, (rows, 1)), constant=True)


def linear(
    train: LabelledFeatures,
    valid: LabelledFeatures,
    test: np.ndarray,
    classes: int,
    in_place: bool = False,
) -> Fit:
    """Train softmax regression on some rows, choose the penalty by others, and apply it to more.

    Args:
        train, valid: rows.
        test: the features of rows.
        classes: the number of classes.
        in_place: overwrite the features, as nobody needs them again: there is room for one copy of
            them only.
    """
    import numpy as np
    from sklearn.linear_model import LogisticRegression

    (train_x, train_y), (valid_x, valid_y) = train, valid
    standardised, constant = _scaler(train_x)
    seen = np.unique(train_y)
    if constant or len(seen) == 1:
        return _most_frequent(train_y, valid_y, len(test), classes, INVERSE_PENALTIES[0])
    train_x, valid_x = (standardised(x, in_place) for x in (train_x, valid_x))
    best: tuple[float, float, bool, Any] | None = None
    model = LogisticRegression(tol=_TOLERANCE, max_iter=_MOST_ITERATIONS, warm_start=True)
    for inverse in INVERSE_PENALTIES:
        model.set_params(C=inverse)
        finished = _fit(model, train_x, train_y)
        weights, intercept = model.coef_.T.astype(np.float32), model.intercept_.copy()
        accuracy = accuracy_of(_softmax(valid_x, weights, intercept, seen, classes), valid_y)
        if best is None or accuracy > best[0]:
            best = accuracy, inverse, finished, (weights, intercept)
    assert best is not None
    accuracy, inverse, finished, (weights, intercept) = best
    found = _softmax(standardised(test, in_place), weights, intercept, seen, classes)
    return Fit(inverse, accuracy, found, finished=finished)


def _fit(model: Any, x: Any, y: Any) -> bool:
    # True if it got to an end. One fit of hundreds that did not is no reason to lose the others.
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the number of steps tells
        model.fit(x, y)
    return int(model.n_iter_.max()) < _MOST_ITERATIONS


def _softmax(x: Any, weights: Any, intercept: Any, seen: Any, classes: int) -> Any:
    # Logarithms; minus infinity for classes that were not seen.
    import numpy as np
    from scipy.special import log_softmax

    logits = (x @ weights).astype(np.float64) + intercept
    if logits.shape[1] == 1:  # of two classes scikit-learn has the weights of the second
        logits = np.concatenate([-logits / 2, logits / 2], axis=1)
    out = np.full((len(x), classes), -np.inf)
    out[:, seen] = log_softmax(logits, axis=1)
    return out


def _predicted(network: Any, x: Any) -> Any:
    # The logarithms of probabilities, float64, shape (rows, classes).
    import torch

    with torch.inference_mode():
        return torch.log_softmax(network(x).double(), dim=1).numpy()


_SEED, _BATCH = 1111, 64
_SMALL = 1e-9


@dataclass(frozen=True)
class PublishedSettings:
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
PROTOCOLS: Mapping[str, PublishedSettings] = {
    "SP": PublishedSettings(4, penalties=_CHOSEN),
    "BSO": PublishedSettings(4, penalties=_CHOSEN),
    "DC": PublishedSettings(15, tenacity=8, hidden=2000),
    "SSP": PublishedSettings(4),
    "PDTB": PublishedSettings(1, most_passes=15),
    "RST": PublishedSettings(1, most_passes=15),
}


def protocol_of(task: str) -> PublishedSettings:
    """The settings of a task."""
    if task not in PROTOCOLS:
        raise ConfigError(
            "--compat discoeval-2019: a config that is none of the paper's tasks; expected one of "
            f"{', '.join(PROTOCOLS)}, built with --corpus discoeval"
        )
    return PROTOCOLS[task]


def rounds(protocol: PublishedSettings, run: Callable[[], float]) -> tuple[int, float, int]:
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


def as_published(
    protocol: PublishedSettings,
    train: LabelledFeatures,
    valid: LabelledFeatures,
    test: np.ndarray,
    classes: int,
    in_place: bool = False,
) -> Fit:
    """Train the classifier of a task; the arguments are those of :func:`linear`.

    The seed is the published one. Nothing is standardised, so that nothing is overwritten.
    """
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
    return Fit(penalty, accuracy, _predicted(network, tested))


def _train(
    protocol: PublishedSettings,
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
            found = accuracy_of(_predicted(network, valid_x), valid[1])
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
