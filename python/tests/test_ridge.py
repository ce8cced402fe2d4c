"""Ridge regression beside least squares of SciPy and scikit-learn's Ridge."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import scipy.linalg
import scipy.optimize
from scipy import sparse
from sklearn import linear_model
from sklearn.datasets import load_diabetes, make_regression

import sheaf

X, Y = load_diabetes(return_X_y=True)
TARGETS = np.column_stack([Y, np.sqrt(Y), X[:, 0] * 50])
WEIGHTS = np.random.RandomState(0).randint(0, 4, len(Y)).astype(float)


@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csr_matrix], ids=["dense", "fortran", "sparse"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["", "weights"])
def test_several_targets(weights, intercept, container):
    for rows in (X, X[:, :2], np.random.RandomState(1).rand(len(Y), 600)):
        how = {"alpha": 0.3, "fit_intercept": intercept}
        ours = sheaf.Ridge(**how).fit(container(rows), TARGETS, sample_weight=weights)
        theirs = linear_model.Ridge(**how, solver="cholesky").fit(rows, TARGETS, sample_weight=weights)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-7, atol=1e-8 * np.abs(theirs.coef_).max())
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_ + np.zeros(3), atol=1e-7)
        np.testing.assert_allclose(ours.predict(container(rows)), theirs.predict(rows), atol=1e-7)


def test_large_means_and_trends_cost_no_digits():
    random = np.random.RandomState(3)
    rows = random.randn(3000, 6) + np.linspace(0, 50, 3000)[:, None] * [1, -1, 2, 0, 0, 3] + 1e4
    targets = rows[:, :2] - rows[:, 2:4] + random.randn(3000, 2)
    means = rows.mean(axis=0), targets.mean(axis=0)
    centred = rows - means[0]
    expected = scipy.linalg.solve(centred.T @ centred + 3 * np.eye(6), centred.T @ (targets - means[1])).T
    for count in (1, 2):
        ours = sheaf.Ridge(alpha=3.0).fit(rows, targets[:, 0] if count == 1 else targets)
        np.testing.assert_allclose(np.atleast_2d(ours.coef_), expected[:count], rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("rows", [X, X[:8], np.hstack([X, X[:, :3]])], ids=["tall", "wide", "collinear"])
@pytest.mark.parametrize("intercept", [True, False])
def test_without_a_penalty_the_shortest_weights_that_fit_best(intercept, rows):
    targets = Y[: len(rows)]
    ours = sheaf.Ridge(alpha=0, fit_intercept=intercept).fit(rows, targets)
    means = (rows.mean(axis=0), targets.mean()) if intercept else (0, 0)
    expected = scipy.linalg.lstsq(rows - means[0], targets - means[1], cond=1e-10)[0]
    np.testing.assert_allclose(ours.coef_, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())
    assert ours.intercept_ == pytest.approx(means[1] - np.sum(means[0] * expected), abs=1e-6)


@pytest.mark.parametrize("alpha", [0.0, 0.1, 10.0])
@pytest.mark.parametrize("intercept", [True, False])
def test_weights_of_0_and_above(intercept, alpha):
    ours = sheaf.Ridge(alpha=alpha, positive=True, fit_intercept=intercept, max_iter=100000).fit(X, Y, WEIGHTS)
    kept = WEIGHTS > 0
    roots = np.sqrt(WEIGHTS[kept])[:, None]
    centre = intercept * WEIGHTS @ X / WEIGHTS.sum(), intercept * WEIGHTS @ Y / WEIGHTS.sum()
    left = np.vstack([roots * (X[kept] - centre[0]), np.sqrt(alpha) * np.eye(X.shape[1])])
    right = np.concatenate([roots[:, 0] * (Y[kept] - centre[1]), np.zeros(X.shape[1])])
    expected = scipy.optimize.nnls(left, right)[0]
    np.testing.assert_allclose(ours.coef_, expected, atol=1e-3 * expected.max())
    assert np.all(ours.coef_ >= 0) and ours.intercept_ == pytest.approx(centre[1] - np.sum(centre[0] * expected), rel=1e-4)


def test_searches_over_positive_weights():
    grid = {"alpha": [0.01, 1, 100]}
    ours = sheaf.SheafSearchCV(sheaf.Ridge(positive=True, max_iter=10000), grid, cv=4).fit(X, Y)
    for alpha, score in zip(grid["alpha"], ours.cv_results_["mean_test_score"]):
        single = sheaf.Ridge(alpha, positive=True, max_iter=10000)
        expected = [single.fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in _folds(4)]
        assert score == pytest.approx(np.mean(expected), abs=1e-5)


def _folds(count):
    from sklearn.model_selection import KFold

    return KFold(count).split(X)


def test_names_of_targets_are_in_the_file(tmp_path):
    table, targets = make_regression(60, 4, n_targets=2, random_state=0)
    model = sheaf.Ridge().fit(table, pd.DataFrame(targets, columns=["height", "mass"]))
    model.save_model(tmp_path / "model.txt")
    assert "target height\ntarget mass\n" in (tmp_path / "model.txt").read_text()
    np.testing.assert_allclose(sheaf.load_model(tmp_path / "model.txt").predict(table), model.predict(table), atol=1e-9)


def test_mistakes():
    with pytest.raises(ValueError, match="positive is for one target"):
        sheaf.Ridge(positive=True).fit(X, TARGETS)
    with pytest.raises(ValueError, match="alpha"):
        sheaf.Ridge(alpha=-1).fit(X, Y)
    with pytest.raises(ValueError, match="alpha"):
        sheaf.Ridge(alpha=-1).fit(X, TARGETS)
