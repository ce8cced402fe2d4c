"""Pictures show what the results hold."""

from __future__ import annotations

import numpy as np
import pandas as pd
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


def test_long_names_are_not_cut(two_classes):
    X, y = two_classes
    names = [f"relative abundance of a microbe with a long name, number {k}" for k in range(X.shape[1])]
    ax = sheaf.StabilitySelector(4, n_alphas=8).fit(pd.DataFrame(X, columns=names), y).plot()
    ax.figure.canvas.draw()
    labels = ax.get_yticklabels()
    assert {label.get_text() for label in labels} <= set(names) and len(labels) > 1
    assert min(label.get_window_extent().x0 for label in labels) >= 0
