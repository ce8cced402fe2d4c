"""Elastic nets with further options of the library, beside least squares and scikit-learn's nets."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.optimize
from sklearn import linear_model
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.model_selection import KFold
from sklearn.preprocessing import scale

import sheaf

X, Y = load_diabetes(return_X_y=True)
X = scale(X)


def test_relaxed_nets_are_least_squares_of_the_same_features():
    plain = sheaf.Lasso(10, tol=1e-10).fit(X, Y)
    used = plain.coef_ != 0
    assert 0 < used.sum() < X.shape[1]
    squares = linear_model.LinearRegression().fit(X[:, used], Y)
    relaxed = sheaf.Lasso(10, tol=1e-10, net_options={"relax": 0}).fit(X, Y)
    np.testing.assert_allclose(relaxed.coef_[used], squares.coef_, rtol=1e-6)
    assert not relaxed.coef_[~used].any()
    half = sheaf.Lasso(10, tol=1e-10, net_options={"relax": 0.5}).fit(X, Y)
    np.testing.assert_allclose(half.coef_, (plain.coef_ + relaxed.coef_) / 2, rtol=1e-6, atol=1e-9)


def test_searches_over_relaxed_nets():
    folds = list(KFold(4).split(X))
    grid = {"alpha": [5, 20], "net_options": [None, {"relax": 0.0}]}
    search = sheaf.SheafSearchCV(sheaf.Lasso(tol=1e-9), grid, cv=folds).fit(X, Y)
    for point, score in zip(search.cv_results_["params"], search.cv_results_["mean_test_score"]):
        expected = [sheaf.Lasso(tol=1e-9, **point).fit(X[a], Y[a]).score(X[b], Y[b]) for a, b in folds]
        assert score == pytest.approx(np.mean(expected), abs=1e-7)
    assert search.cv_results_["mean_test_score"].std() > 0.001


def test_penalty_factors_are_scales_of_features():
    """A penalty of f |w| on x is one of |f w| on x / f."""
    factors = np.array([1, 2, 0.5, 1, 3, 1, 1, 0.25, 1, 1])
    ours = sheaf.Lasso(1, tol=1e-12, net_options={"penalty_factors": factors}).fit(X, Y)
    theirs = linear_model.Lasso(1, tol=1e-12, max_iter=100000).fit(X / factors, Y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_ / factors, rtol=1e-6, atol=1e-6)


def test_limits_of_weights():
    limits = np.column_stack([np.full(10, -5.0), np.full(10, 12.0)])
    limits[3] = 0, np.inf
    alpha = 0.5
    net = sheaf.ElasticNet(alpha, l1_ratio=0, tol=1e-12, max_iter=100000, net_options={"limits": limits.ravel()}).fit(X, Y)
    left = np.vstack([X / np.sqrt(len(Y)), np.sqrt(alpha) * np.eye(10)])
    right = np.concatenate([(Y - Y.mean()) / np.sqrt(len(Y)), np.zeros(10)])
    expected = scipy.optimize.lsq_linear(left, right, (limits[:, 0], limits[:, 1]), tol=1e-14)
    np.testing.assert_allclose(net.coef_, expected.x, atol=1e-4)


def test_options_of_other_nets():
    cancer = scale(load_breast_cancer().data), load_breast_cancer().target
    net = sheaf.ElasticNetLogistic(0.05, l1_ratio=1, net_options={"upper_limit": 0}).fit(*cancer)
    assert np.all(net.coef_ >= 0) or np.all(net.coef_ <= 0)
    robust = sheaf.ElasticNetHuber(10, net_options={"lower_limit": 0}).fit(X, Y)
    assert robust.coef_.min() == 0
    assert sheaf.LassoCV(n_alphas=5, net_options={"lower_limit": 0}).fit(X, Y).coef_.min() >= 0


@pytest.mark.parametrize("options, said", [({"alpha": 1}, "parameter of Lasso"), ({"nothing": 1}, "nothing"), ({"relax": 2}, "relax")])
def test_mistakes(options, said):
    with pytest.raises(ValueError, match=said):
        sheaf.Lasso(net_options=options).fit(X, Y)
