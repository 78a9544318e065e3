"""What is said of a probe, in words."""

import numpy as np

from coherencegym.eval.tasks.probe.classifiers import Fit
from coherencegym.eval.tasks.probe.probe import is_uncertain


def test_the_choice_of_a_layer_is_uncertain_over_few_rows() -> None:
    fits = {
        layer: Fit(1.0, accuracy, np.zeros((1, 2)))
        for layer, accuracy in enumerate((0.6, 0.75, 0.7))
    }
    assert is_uncertain(fits, 20)
    assert not is_uncertain(fits, 200)
    assert not is_uncertain(fits, 2000)
