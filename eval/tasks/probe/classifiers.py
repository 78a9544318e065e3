"""Classifiers of features: softmax regression (scikit-learn), and one hidden layer (torch).

Features are standardised by the mean and deviation of the training rows. The weight of the penalty
is chosen by the accuracy on validation rows, the stronger one of equals.

``isolated``: every segment is a text of its own, as in Chen, Chu and Gimpel 2019. ``in-context``:
the text is read once as it stands, and each slot's vector is pooled over its tokens there; under
causal attention it depends on what comes before it and nothing after. ``whole``: one vector, of the
last token of the text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from coherencegym.eval.kinds.documents import NO_PLACE, LabelledExample
from coherencegym.words import join_texts, place_texts

if TYPE_CHECKING:
    import numpy as np

    from coherencegym.eval.hidden_states import Passage, States

#: The choices of ``--encoding``.
ENCODINGS = ("isolated", "in-context", "whole")

#: The reason why an example has no vectors where a slot of it is nowhere in its text.
NO_TEXT = "no_text"


@dataclass(frozen=True)
class Readings:
    """Passages, and the spans that each slot of each example is the mean of.

    Attributes:
        passages: distinct texts.
        spans: the numbers of the spans, counted over all passages, of each slot of each example;
            none where the slot is nowhere in the text.
    """

    passages: list[Passage]
    spans: list[list[list[int]]]

    def left_out(self, states: States) -> list[str]:
        """The reason why each example has no vectors; empty where it has."""
        return [
            next(
                (
                    reason
                    for slot in slots
                    for reason in (
                        [states.left_out.get(span, "") for span in slot] if slot else [NO_TEXT]
                    )
                    if reason
                ),
                "",
            )
            for slots in self.spans
        ]

    def vectors(self, of_layer: Any, examples: Sequence[int]) -> Any:
        """The vectors of the slots of some examples.

        Args:
            of_layer: the vectors of all spans in one layer, shape (spans, width).
            examples: their numbers; each has vectors, and all have equally many slots.

        Returns:
            float32, shape (examples, slots, width).
        """
        import numpy as np

        slots = [slot for number in examples for slot in self.spans[number]]
        starts = np.cumsum([0, *map(len, slots)])[:-1]
        flat = np.fromiter((span for slot in slots for span in slot), dtype=np.int64)
        if len(flat) == len(slots):
            found = of_layer[flat]
        else:
            found = np.add.reduceat(of_layer[flat], starts, axis=0)
            found /= np.fromiter(map(len, slots), dtype=np.float32)[:, None]
        return found.reshape(len(examples), -1, of_layer.shape[1])


def readings(examples: Sequence[LabelledExample], encoding: str) -> Readings:
    """The passages of examples, each distinct one once."""
    from coherencegym.eval.hidden_states import Passage

    firsts: dict[Passage, int] = {}
    total = 0

    def number_of(text: str, *places: tuple[int, int]) -> int:
        nonlocal total
        passage = Passage(text, places or ((0, len(text)),))
        if passage not in firsts:
            firsts[passage] = total
            total += len(passage.spans)
        return firsts[passage]

    spans = []
    for example in examples:
        if encoding == "isolated":
            spans.append([[*map(number_of, slot.segments)] for slot in example.slots])
        elif encoding == "whole":
            spans.append([[number_of(join_texts(example.text or example.segments))]])
        else:
            spans.append(_in_context(example, number_of))
    return Readings(list(firsts), spans)


def _in_context(example: LabelledExample, number_of: Callable[..., int]) -> list[list[int]]:
    if NO_PLACE in example.places:
        return [[] for _ in example.slots]
    ends = place_texts(example.text)
    places = sorted({*example.places})
    first = number_of(join_texts(example.text), *(ends[place] for place in places))
    return [[first + places.index(place)] for place in example.places]


#: Inverse weights of the penalty (C of scikit-learn), from the strongest penalty to the weakest.
INVERSE_PENALTIES = (1e-4, 1e-3, 1e-2, 1e-1)
#: Weight decays of the hidden layer, from the strongest to the weakest.
WEIGHT_DECAYS = (1e-1, 1e-2, 1e-3, 1e-4)
#: Units of the hidden layer.
HIDDEN = 256
#: scikit-learn stops where the gradient of the mean loss is below this.
_TOLERANCE = 1e-5
_MOST_ITERATIONS = 2000
#: A fit is finished where its gradient is below this (float32 goes no further), or below this share
#: of what it is without weights. How many steps it took says nothing: of two balanced classes and a
#: strong penalty one is enough.
_SMALL_GRADIENT, _SMALL_SHARE = 1e-3, 0.1


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


class Trainer(Protocol):
    """A way to train a classifier."""

    def __call__(
        self,
        train: LabelledFeatures,
        valid: LabelledFeatures,
        test: np.ndarray,
        classes: int,
        *,
        seed: int = 0,
        in_place: bool = False,
    ) -> Fit:
        """Train on the first rows, choose the penalty by the second, and apply it to the third.

        Args:
            train, valid: rows.
            test: the features of rows.
            classes: the number of classes.
            seed: draws the first weights and the order of the rows.
            in_place: overwrite the features, as nobody needs them again: there is room for one
                copy of them only.
        """
        ...


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
    *,
    seed: int = 0,
    in_place: bool = False,
) -> Fit:
    """Train softmax regression; the arguments are those of :class:`Trainer`.

    The problem is convex, so that the seed changes nothing.
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
    # From where it is, and from the start if it did not get to an end; true if it did. One fit of
    # hundreds that is not done is no reason to lose the others.
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the gradient tells
        if _is_finished(model.fit(x, y), x, y):
            return True
        del model.coef_, model.intercept_
        return _is_finished(model.fit(x, y), x, y)


def _is_finished(model: Any, x: Any, y: Any) -> bool:
    import numpy as np

    size = _gradient(x, y, model.classes_, model.coef_, model.intercept_, 1 / (model.C * len(y)))
    if size <= _SMALL_GRADIENT:
        return True
    # Without weights the likeliest intercept is that of the frequencies of the classes.
    logs = np.log(np.bincount(np.searchsorted(model.classes_, y)) / len(y))
    intercept = logs[1:] - logs[:1] if len(logs) == 2 else logs
    start = _gradient(x, y, model.classes_, np.zeros_like(model.coef_), intercept, 0.0)
    return size <= _SMALL_SHARE * start


def _gradient(x: Any, y: Any, seen: Any, weights: Any, intercept: Any, penalty: float) -> float:
    # The largest part of the gradient of the mean loss, with a penalty on squared weights / 2.
    import numpy as np

    # Minus the probabilities, plus one for the class that is right.
    off = -np.exp(_softmax(x, weights.T.astype(x.dtype), intercept, slice(None), len(seen)))
    off[np.arange(len(y)), np.searchsorted(seen, y)] += 1
    if len(weights) == 1:  # of two classes scikit-learn has the weights of the second
        off = off[:, 1:]
    slopes = penalty * weights - off.T.astype(x.dtype) @ x / len(y)
    return float(max(np.abs(slopes).max(), np.abs(off.mean(axis=0)).max()))


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


def hidden_layer(
    train: LabelledFeatures,
    valid: LabelledFeatures,
    test: np.ndarray,
    classes: int,
    *,
    seed: int = 0,
    in_place: bool = False,
) -> Fit:
    """Train a classifier with one hidden layer of 256 rectified units.

    Adam, batches of 64, until five passes have brought nothing on the validation rows, at most
    fifty; the weights of the best pass are kept. The arguments are those of :class:`Trainer`.
    """
    import torch

    (train_x, train_y), (valid_x, valid_y) = train, valid
    standardised, constant = _scaler(train_x)
    if constant or len(set(train_y.tolist())) == 1:
        return _most_frequent(train_y, valid_y, len(test), classes, WEIGHT_DECAYS[0])
    data = [torch.from_numpy(standardised(x, in_place)) for x in (train_x, valid_x)]
    labels = [torch.as_tensor(y) for y in (train_y, valid_y)]
    best: tuple[float, float, Any] | None = None
    for decay in WEIGHT_DECAYS:
        accuracy, network = _train_network(data, labels, classes, decay, seed)
        if best is None or accuracy > best[0]:
            best = accuracy, decay, network
    assert best is not None
    accuracy, decay, network = best
    tested = torch.from_numpy(standardised(test, in_place))
    return Fit(decay, accuracy, predict_classes(network, tested))


def predict_classes(network: Any, x: Any) -> Any:
    """The logarithms of a network's probabilities, float64, shape (rows, classes)."""
    import torch

    with torch.inference_mode():
        return torch.log_softmax(network(x).double(), dim=1).numpy()


def _train_network(
    data: Sequence[Any],
    labels: Sequence[Any],
    classes: int,
    decay: float,
    seed: int,
) -> tuple[float, Any]:
    # The best accuracy on validation rows, and the network that has it.
    import copy

    import torch

    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = torch.nn.Sequential(
            torch.nn.Linear(data[0].shape[1], HIDDEN),
            torch.nn.ReLU(),
            torch.nn.Linear(HIDDEN, classes),
        )
        optimiser = torch.optim.AdamW(network.parameters(), lr=1e-3, weight_decay=decay)
        best, kept, waited = -math.inf, copy.deepcopy(network), 0
        for _ in range(50):
            for rows in torch.randperm(len(data[0])).split(64):
                loss = torch.nn.functional.cross_entropy(network(data[0][rows]), labels[0][rows])
                optimiser.zero_grad()
                loss.backward()
                optimiser.step()
            found = accuracy_of(predict_classes(network, data[1]), labels[1].numpy())
            if found > best:
                best, kept, waited = found, copy.deepcopy(network), 0
            elif (waited := waited + 1) == 5:
                break
        return best, kept


#: The choices of ``--probe``.
TRAINERS: dict[str, Trainer] = {"linear": linear, "mlp": hidden_layer}
