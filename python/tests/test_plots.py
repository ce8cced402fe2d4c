"""Pictures show what the results hold."""

from __future__ import annotations

import numpy as np
import pytest

import sheaf

pytest.importorskip("matplotlib").use("Agg")


def test_a_search_over_one_parameter(two_classes):
    search = sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": [10, 0.01, 1]}).fit(*two_classes)
    ax = search.plot()
    x, y = ax.lines[0].get_data()
    np.testing.assert_array_equal(x, [0.01, 1, 10])
    np.testing.assert_array_equal(y, search.cv_results_["mean_test_score"][[1, 2, 0]])
    assert ax.get_xscale() == "log" and ax.get_xlabel() == "C"


def test_a_search_over_two(two_classes):
    grid = {"C": [1, 10], "gamma": [0.01, 0.1, 1]}
    search = sheaf.SheafSearchCV(sheaf.SVC(), grid, scoring=["accuracy", "f1"], refit="f1").fit(*two_classes)
    table = search.plot().images[0].get_array()
    np.testing.assert_array_equal(table, search.cv_results_["mean_test_f1"].reshape(2, 3))
    with pytest.raises(ValueError, match="one or two parameters"):
        sheaf.SheafSearchCV(sheaf.SVC(), {"C": [1]}).fit(*two_classes).plot()


def test_stability_by_chance(two_classes):
    selector = sheaf.StabilitySelector(4, n_alphas=8, n_permutations=2).fit(*two_classes)
    assert selector.stability_by_chance_.shape == (2,)
    assert sheaf.StabilitySelector(4, n_alphas=8).fit(*two_classes).stability_by_chance_.shape == (0,)


def test_stability(two_classes):
    selector = sheaf.StabilitySelector(4, n_alphas=8).fit(*two_classes)
    bars = selector.plot().patches
    np.testing.assert_array_equal([bar.get_width() for bar in bars], sorted(selector.frequencies_[selector.frequencies_ > 0])[::-1])
