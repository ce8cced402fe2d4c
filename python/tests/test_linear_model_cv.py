"""Models that choose their penalty by cross-validation, against scikit-learn's."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets, linear_model
from sklearn.base import clone
from sklearn.model_selection import KFold, LeaveOneOut, StratifiedKFold
from sklearn.preprocessing import scale

import sheaf
from sheaf._compat import search_weighs_scores

DIABETES = datasets.load_diabetes(return_X_y=True)
CANCER = scale(datasets.load_breast_cancer().data), datasets.load_breast_cancer().target
WINE = scale(datasets.load_wine().data), datasets.load_wine().target
ALPHAS = [0.001, 0.01, 0.1, 1, 10]
#: Later releases of scikit-learn take the number of alphas in place of a list of them.
COUNT = "n_alphas" if "n_alphas" in inspect.signature(linear_model.LassoCV).parameters else "alphas"


@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
@pytest.mark.parametrize("cv", [5, KFold(4, shuffle=True, random_state=1)], ids=["number", "shuffled"])
def test_ridge(cv, weighted):
    X, y = DIABETES
    weights = np.random.RandomState(0).rand(len(y)) + 0.1 if weighted else None
    ours = sheaf.RidgeCV(ALPHAS, cv=cv).fit(X, y, weights)
    theirs = linear_model.RidgeCV(ALPHAS, cv=cv).fit(X, y, weights)
    if weighted and not search_weighs_scores():  # as earlier releases of scikit-learn do not
        theirs = linear_model.Ridge(ours.alpha_).fit(X, y, weights)
    else:
        assert ours.alpha_ == theirs.alpha_
        assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-3)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", ["tall", "wide", "sparse"])
def test_ridge_leaves_one_out(shape, intercept):
    X, y = DIABETES
    if shape != "tall":
        X, y = datasets.make_regression(40, 90, noise=3, random_state=1)
    rows = sparse.csr_matrix(X * (np.abs(X) > 1)) if shape == "sparse" else X
    ours = sheaf.RidgeCV(ALPHAS, fit_intercept=intercept).fit(rows, y)
    theirs = linear_model.RidgeCV(ALPHAS, fit_intercept=intercept).fit(rows, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-6)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-4, atol=1e-3)
    one_by_one = sheaf.RidgeCV(
        [ours.alpha_], fit_intercept=intercept, cv=LeaveOneOut(), scoring="neg_mean_squared_error"
    ).fit(rows, y)
    assert ours.best_score_ == pytest.approx(one_by_one.best_score_, rel=1e-6)


def test_ridge_leaves_one_out_by_other_scores_and_weights():
    X, y = DIABETES
    ours = sheaf.RidgeCV(ALPHAS, scoring="neg_mean_absolute_error").fit(X, y)
    theirs = linear_model.RidgeCV(ALPHAS, scoring="neg_mean_absolute_error").fit(X, y)
    assert ours.alpha_ == theirs.alpha_
    assert ours.best_score_ == pytest.approx(theirs.best_score_, rel=1e-6)
    weights = np.random.RandomState(0).randint(0, 3, len(y))
    left = sheaf.RidgeCV(ALPHAS).fit(X[weights > 0], y[weights > 0], weights[weights > 0])
    zeros = sheaf.RidgeCV(ALPHAS).fit(X, y, weights)
    assert zeros.best_score_ == pytest.approx(left.best_score_, rel=1e-12)
    np.testing.assert_allclose(zeros.coef_, left.coef_, rtol=1e-6)


def test_alphas_differ_where_nearly_all_is_explained():
    """R2 is 0.99997: a share of the deviance without features would take most alphas for their neighbours."""
    X, y = datasets.make_regression(1000, 20, n_informative=10, noise=1, random_state=0)
    theirs = linear_model.LassoCV(cv=5, tol=1e-8, max_iter=100000).fit(X, y)
    ours = sheaf.LassoCV(cv=5).fit(X, y)
    assert theirs.alpha_ == pytest.approx(0.0879476, rel=1e-5)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    assert ours.mse_path_.mean(axis=1).min() == pytest.approx(1.0936128, rel=1e-4)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=5e-3)
    assert len(set(ours.mse_path_.mean(axis=1))) == 100

    ratios = [0.5, 0.9]
    expected = linear_model.ElasticNetCV(cv=5, l1_ratio=ratios, tol=1e-8, max_iter=100000).fit(X, y)
    found = sheaf.ElasticNetCV(cv=5, l1_ratio=ratios).fit(X, y)
    assert (found.alpha_, found.l1_ratio_) == (pytest.approx(expected.alpha_, rel=1e-9), expected.l1_ratio_)
    np.testing.assert_allclose(found.mse_path_, expected.mse_path_, rtol=1e-2)

    search = sheaf.SheafSearchCV(
        sheaf.Lasso(), {"alpha": theirs.alphas_}, cv=KFold(5), scoring="neg_mean_squared_error"
    ).fit(X, y)
    assert search.best_params_ == {"alpha": theirs.alpha_}
    np.testing.assert_allclose(-search.cv_results_["mean_test_score"], theirs.mse_path_.mean(axis=1), rtol=5e-3)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("params", [{}, {"alphas": ALPHAS}, {"fit_intercept": False, COUNT: 20}, {"positive": True}], ids=str)
def test_lasso(container, params):
    X, y = container(DIABETES[0]), DIABETES[1]
    ours = sheaf.LassoCV(tol=1e-8, **params).fit(X, y)
    theirs = linear_model.LassoCV(tol=1e-8, max_iter=100000, **params).fit(X, y)
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-2)
    assert ours.intercept_ == pytest.approx(theirs.intercept_, abs=1e-6)


def test_rows_may_be_trained_on_and_tested():
    X, y = DIABETES
    rows = np.arange(len(y))
    cv = [(rows, rows[:100]), (rows[50:], rows)]
    ours = sheaf.LassoCV(tol=1e-8, cv=cv).fit(X, y)
    theirs = linear_model.LassoCV(tol=1e-8, max_iter=100000, cv=cv).fit(X, y)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)


@pytest.mark.parametrize("l1_ratio", [0.5, [0.2, 0.5, 0.95, 1]], ids=str)
def test_elastic_net(l1_ratio):
    X, y = DIABETES
    for params in ({COUNT: 30}, {"alphas": ALPHAS}):
        ours = sheaf.ElasticNetCV(l1_ratio=l1_ratio, tol=1e-8, **params).fit(X, y)
        theirs = linear_model.ElasticNetCV(l1_ratio=l1_ratio, tol=1e-8, max_iter=100000, **params).fit(X, y)
        assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
        assert ours.l1_ratio_ == theirs.l1_ratio_
        assert ours.alphas_.shape == theirs.alphas_.shape and ours.mse_path_.shape == theirs.mse_path_.shape
        np.testing.assert_allclose(ours.alphas_, theirs.alphas_, rtol=1e-9)
        np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)


@pytest.mark.parametrize("data", [CANCER, WINE], ids=["cancer", "wine"])
@pytest.mark.parametrize("scoring", [None, "neg_log_loss"])
def test_logistic_regression(data, scoring):
    X, y = data
    params = {"Cs": [0.001, 0.01, 0.1, 1, 10], "scoring": scoring, "cv": StratifiedKFold(4)}
    ours = sheaf.LogisticRegressionCV(tol=1e-9, max_iter=1000, **params).fit(X, y)
    theirs = linear_model.LogisticRegressionCV(tol=1e-9, max_iter=100000, **params).fit(X, y)
    np.testing.assert_allclose(ours.Cs_, theirs.Cs_)
    np.testing.assert_array_equal(ours.C_, theirs.C_)
    assert list(ours.scores_) == list(theirs.scores_)
    for label, scores in theirs.scores_.items():
        np.testing.assert_allclose(ours.scores_[label], scores, atol=1e-4)
    assert ours.coef_.shape == theirs.coef_.shape
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
    decisions = X @ ours.coef_.T + ours.intercept_
    np.testing.assert_allclose(ours.decision_function(X), decisions if len(ours.C_) > 1 else decisions[:, 0], atol=1e-6)
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-4)


def test_elastic_net_logistic():
    X, y = CANCER
    folds = StratifiedKFold(3)
    params = {"cv": folds, "scoring": "neg_log_loss"}
    ours = sheaf.ElasticNetLogisticCV(l1_ratio=[0.5, 1], n_alphas=8, eps=0.01, tol=1e-9, **params).fit(X, y)
    assert ours.alphas_.shape == (2, 8) and ours.scores_.shape == (2, 8, 3)
    assert np.count_nonzero(sheaf.ElasticNetLogistic(ours.alphas_[0, 0] * 1.001).fit(X, y).coef_) == 0
    assert np.count_nonzero(sheaf.ElasticNetLogistic(ours.alphas_[0, 0] * 0.98, tol=1e-9).fit(X, y).coef_) > 0
    means = ours.scores_.mean(axis=-1)
    best = np.unravel_index(means.argmax(), means.shape)
    assert ours.alpha_ == ours.alphas_[best] and ours.l1_ratio_ == [0.5, 1][best[0]]
    for s, (train, test) in enumerate(folds.split(X, y)):
        theirs = linear_model.LogisticRegression(
            penalty="elasticnet",
            solver="saga",
            l1_ratio=ours.l1_ratio_,
            C=1 / (ours.alpha_ * len(train)),
            tol=1e-6,
            max_iter=20000,
        ).fit(X[train], y[train])
        losses = -np.log(theirs.predict_proba(X[test])[np.arange(len(test)), y[test]])
        assert -ours.scores_[best][s] == pytest.approx(losses.mean(), rel=1e-3)


def test_bad_input():
    X, y = DIABETES
    with pytest.raises(ValueError, match="alphas must be given where l1_ratio is 0"):
        sheaf.ElasticNetCV(l1_ratio=0).fit(X, y)
    with pytest.raises(ValueError, match=r"alphas\[0\] == 0.*must be > 0"):
        sheaf.RidgeCV([0.0, 1.0]).fit(X, y)
    with pytest.raises(ValueError, match="refit must be True"):
        sheaf.LogisticRegressionCV(refit=False).fit(*WINE)
    with pytest.raises(ValueError, match="each against the rest"):
        sheaf.LogisticRegressionCV(penalty="l1").fit(*WINE)
    with pytest.raises(ValueError, match="not over LassoCV"):
        sheaf.SheafSearchCV(sheaf.LassoCV(), {"eps": [0.1]}).fit(X, y)


def test_models_are_files_of_the_program(tmp_path):
    model = sheaf.LassoCV(n_alphas=5).fit(*DIABETES)
    model.save_model(tmp_path / "model.txt")
    plain = sheaf.Lasso(model.alpha_).fit(*DIABETES)
    assert (tmp_path / "model.txt").read_text() == plain._model.text()


@pytest.mark.parametrize(
    "estimator",
    [
        sheaf.RidgeCV(ALPHAS),
        sheaf.LassoCV(n_alphas=8, tol=1e-9),
        sheaf.ElasticNetCV(n_alphas=8, tol=1e-9),
        sheaf.LogisticRegressionCV(Cs=[0.01, 0.1, 1], tol=1e-9, max_iter=1000, scoring="neg_log_loss"),
        sheaf.ElasticNetLogisticCV(n_alphas=8, tol=1e-9, scoring="neg_log_loss"),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_weights_are_repeated_rows(estimator):
    """In training and in scores, for splits that are given; rows of weight 0 are as good as not there."""
    X, y = CANCER if hasattr(estimator, "scoring") and estimator.scoring else DIABETES
    X, y = X[:150], y[:150]
    rng = np.random.RandomState(4)
    weights = rng.randint(0, 4, len(y))
    fold = rng.randint(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    splits = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(3)]
    again = [(np.flatnonzero(fold[repeated] != k), np.flatnonzero(fold[repeated] == k)) for k in range(3)]
    weighed = clone(estimator).set_params(cv=splits).fit(X, y, sample_weight=weights)
    copied = clone(estimator).set_params(cv=again).fit(X[repeated], y[repeated])
    assert weighed.best_score_ == pytest.approx(copied.best_score_, rel=1e-6)
    np.testing.assert_allclose(weighed.coef_, copied.coef_, rtol=1e-5, atol=1e-5 * np.abs(copied.coef_).max())


def test_penalties_that_are_given_are_checked_as_by_scikit_learn():
    X, y = DIABETES
    for model, bound in ((sheaf.LassoCV, ">= 0.0"), (sheaf.RidgeCV, "> 0.0")):
        with pytest.raises(ValueError, match=rf"alphas\[1\] == -1, must be {bound}"):
            model(alphas=(1, -1, 0.5)).fit(X, y)
        with pytest.raises(TypeError, match=r"alphas\[2\] must be an instance of float, not str"):
            model(alphas=(1, 0.5, "0.1")).fit(X, y)


def test_constant_targets_have_the_penalties_of_scikit_learn():
    X, _ = DIABETES
    ours = sheaf.LassoCV(**{COUNT: 3}).fit(X, np.full(len(X), 5.0))
    assert ours.alphas_.tolist() == [np.finfo(float).resolution] * 3
    np.testing.assert_array_equal(ours.predict(X), 5.0)
