"""Generalised linear models against scikit-learn's: multinomial logistic regression, counts and positive numbers."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import read_dense
from scipy import sparse
from scipy.special import log_softmax, softmax
from sklearn import datasets, linear_model
from sklearn.metrics import d2_tweedie_score
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, scale
from sklearn.utils.class_weight import compute_class_weight

import sheaf

WINE = scale(datasets.load_wine().data), datasets.load_wine().target
MORE_CLASSES = ["iris", "wine", "vehicle", "vowel", "glass", "sklearn-digits"]
TIGHT = {"tol": 1e-10, "max_iter": 10000}
CLOSE = {"solver": "newton-cg", **TIGHT}


def _classes(name):
    X, y = datasets.load_digits(return_X_y=True) if name == "sklearn-digits" else read_dense(name)
    X, y = X[:500], y[:500]
    return scale(X[:, X.std(axis=0) > 0]), y


def _objective(model, X, y, C, weights=1.0):
    """Of a multinomial model, as scikit-learn writes it."""
    z = X @ model.coef_.T + model.intercept_
    codes = np.searchsorted(model.classes_, y)
    losses = -log_softmax(z, axis=1)[np.arange(len(y)), codes]
    return C * np.sum(weights * losses) + np.sum(model.coef_**2) / 2


@pytest.mark.parametrize("name", MORE_CLASSES)
@pytest.mark.parametrize("C", [0.1, 10])
def test_multinomial(name, C):
    X, y = _classes(name)
    ours = sheaf.LogisticRegression(C=C, tol=1e-9, max_iter=1000).fit(X, y)
    theirs = linear_model.LogisticRegression(C=C, **TIGHT).fit(X, y)
    assert _objective(ours, X, y, C) == pytest.approx(_objective(theirs, X, y, C), rel=1e-6)
    size = np.abs(theirs.coef_).max()
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3 * size)
    size = max(np.abs(theirs.intercept_).max(), size)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-3 * size)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
    np.testing.assert_allclose(ours.decision_function(X), X @ ours.coef_.T + ours.intercept_, atol=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), softmax(ours.decision_function(X), axis=1), atol=1e-9)
    assert ours.coef_.shape == theirs.coef_.shape and ours.intercept_.shape == theirs.intercept_.shape
    assert ours.n_iter_.shape == theirs.n_iter_.shape


def test_multinomial_at_the_same_optimum():
    X, y = WINE
    for fit_intercept in (True, False):
        ours = sheaf.LogisticRegression(fit_intercept=fit_intercept, tol=1e-11, max_iter=1000).fit(X, y)
        theirs = linear_model.LogisticRegression(fit_intercept=fit_intercept, **CLOSE).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-6)
        np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-6)
    by_column = sheaf.LogisticRegression(tol=1e-11, max_iter=1000).fit(sparse.csc_matrix(X), y)
    np.testing.assert_allclose(by_column.coef_, sheaf.LogisticRegression(tol=1e-11).fit(X, y).coef_, atol=1e-6)


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 1, 1: 5, 2: 0.5}], ids=["none", "balanced", "given"])
def test_weights_of_multinomial_models(class_weight):
    X, y = WINE
    weights = np.random.RandomState(0).randint(0, 4, len(y)).astype(float)
    ours = sheaf.LogisticRegression(class_weight=class_weight, tol=1e-11, max_iter=1000)
    # scikit-learn 1.9 balances by the weights of rows, Sheaf as 1.2 by their number.
    by_rows = dict(enumerate(compute_class_weight("balanced", classes=np.unique(y), y=y)))
    theirs = linear_model.LogisticRegression(class_weight=by_rows if class_weight == "balanced" else class_weight, **CLOSE)
    for given in (None, weights):
        np.testing.assert_allclose(ours.fit(X, y, given).coef_, theirs.fit(X, y, given).coef_, atol=1e-4)


def test_one_against_the_rest():
    X, y = WINE
    for params in ({"multi_class": "ovr"}, {"solver": "liblinear"}):
        ours = sheaf.LogisticRegression(tol=1e-9, **params).fit(X, y)
        theirs = OneVsRestClassifier(linear_model.LogisticRegression(**TIGHT)).fit(X, y)
        coefficients = np.vstack([binary.coef_ for binary in theirs.estimators_])
        np.testing.assert_allclose(ours.coef_, coefficients, atol=1e-4)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    with pytest.raises(ValueError, match="for three classes or more"):
        sheaf.LogisticRegression(multi_class="multinomial").fit(X[y < 2], y[y < 2])


def test_without_a_penalty():
    X, y = read_dense("diabetes")
    X = scale(X)
    theirs = linear_model.LogisticRegression(penalty=None, solver="newton-cholesky", tol=1e-10).fit(X, y)
    for params in ({"penalty": None}, {"C": np.inf}):
        ours = sheaf.LogisticRegression(tol=1e-10, **params).fit(X, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5)
        np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-5)
    X, y = read_dense("vehicle")
    X = scale(X)[:, :6]
    ours = sheaf.LogisticRegression(penalty=None, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(penalty=None, **TIGHT).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)
    with pytest.raises(ValueError, match="must be one model"):
        sheaf.LogisticRegression(penalty=None, multi_class="ovr").fit(X, y)


def test_a_search_over_costs_is_scikit_learns():
    X, y = WINE
    grid = {"C": [0.01, 0.1, 1, 10, np.inf]}
    ours = sheaf.SheafSearchCV(
        sheaf.LogisticRegression(tol=1e-10, max_iter=1000), {"C": grid["C"][:-1]}, scoring="neg_log_loss"
    ).fit(X, y)
    theirs = GridSearchCV(
        linear_model.LogisticRegression(**TIGHT), {"C": grid["C"][:-1]}, scoring="neg_log_loss"
    ).fit(X, y)
    for s in range(5):
        key = f"split{s}_test_score"
        np.testing.assert_allclose(ours.cv_results_[key], theirs.cv_results_[key], atol=1e-5)
    assert ours.best_params_ == theirs.best_params_


@pytest.mark.parametrize("cv", [5, KFold(4, shuffle=True, random_state=0)], ids=["stratified", "unequal"])
@pytest.mark.parametrize("class_weight", [None, "balanced", {1: 4}], ids=["none", "balanced", "given"])
def test_searches_train_what_fits_train(cv, class_weight):
    X, y = WINE
    model = sheaf.LogisticRegression(class_weight=class_weight, tol=1e-9, max_iter=1000)
    grid = {"C": [0.01, 1, 100]}
    for fit in ({}, {"sample_weight": np.random.RandomState(0).rand(len(y))}):
        ours = sheaf.SheafSearchCV(model, grid, cv=cv, scoring="neg_log_loss").fit(X, y, **fit)
        theirs = GridSearchCV(model, grid, cv=cv, scoring="neg_log_loss").fit(X, y, **fit)
        scores = theirs.cv_results_["mean_test_score"]
        np.testing.assert_allclose(ours.cv_results_["mean_test_score"], scores, atol=1e-6)


def test_decision_values_in_searches():
    def margin(model, X, y):
        values = model.decision_function(X)
        assert values.shape == (len(X), 3)
        return float(np.abs(values).mean())

    for model in (sheaf.LogisticRegression(tol=1e-9), sheaf.SVC(gamma=0.1, tol=1e-6)):
        ours = sheaf.SheafSearchCV(model, {"C": [0.1, 1]}, scoring=margin).fit(*WINE)
        theirs = GridSearchCV(model, {"C": [0.1, 1]}, scoring=margin).fit(*WINE)
        np.testing.assert_allclose(
            ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], rtol=1e-4
        )


def test_a_search_with_and_without_penalties():
    X, y = read_dense("diabetes")
    grid = [{"C": [0.1, 1, np.inf]}, {"penalty": [None]}]
    model = make_pipeline(StandardScaler(), sheaf.LogisticRegression(tol=1e-9))
    grid = [{f"logisticregression__{name}": values for name, values in one.items()} for one in grid]
    ours = sheaf.SheafSearchCV(model, grid, scoring="neg_log_loss").fit(X, y)
    theirs = GridSearchCV(model, grid, scoring="neg_log_loss").fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-7)
    assert ours.cv_results_["mean_test_score"][2] == ours.cv_results_["mean_test_score"][3]


def _numbers(name):
    """Rows and a target above 0."""
    if name == "sklearn-diabetes":
        X, y = datasets.load_diabetes(return_X_y=True)
    else:
        X, y = read_dense(name, 800)
    return scale(X[:, X.std(axis=0) > 0]), np.maximum(y, 0.5)


REGRESSORS = [
    ("PoissonRegressor", {}),
    ("GammaRegressor", {}),
    ("TweedieRegressor", {}),
    ("TweedieRegressor", {"power": 1}),
    ("TweedieRegressor", {"power": 1.5}),
    ("TweedieRegressor", {"power": 1.9, "link": "log"}),
    ("TweedieRegressor", {"power": 2}),
]


@pytest.mark.parametrize("data", ["sklearn-diabetes", "housing_scale", "abalone"])
@pytest.mark.parametrize("name, params", REGRESSORS, ids=str)
def test_regressors(data, name, params):
    X, y = _numbers(data)
    power = {"PoissonRegressor": 1, "GammaRegressor": 2, "TweedieRegressor": 0}[name]
    for alpha in (0.001, 1):
        for weights in (None, np.random.RandomState(0).randint(0, 4, len(y)).astype(float)):
            ours = getattr(sheaf, name)(alpha=alpha, tol=1e-10, max_iter=1000, **params).fit(X, y, weights)
            theirs = getattr(linear_model, name)(alpha=alpha, tol=1e-9, max_iter=100000, **params).fit(X, y, weights)
            size = max(1, np.abs(theirs.coef_).max(), abs(theirs.intercept_))
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5 * size)
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-5 * size)
            np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-4)
            assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-6)
            explained = d2_tweedie_score(y, theirs.predict(X), sample_weight=weights, power=params.get("power", power))
            assert ours.score(X, y, weights) == pytest.approx(explained, abs=1e-6)


def test_regressors_without_a_penalty():
    X, y = _numbers("sklearn-diabetes")
    for name, params in REGRESSORS:
        ours = getattr(sheaf, name)(alpha=0, tol=1e-10, fit_intercept=True, **params).fit(X, y)
        theirs = getattr(linear_model, name)(alpha=0, tol=1e-9, max_iter=100000, **params).fit(X, y)
        np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-3)


@pytest.mark.parametrize("name, params", REGRESSORS, ids=str)
def test_searches_of_regressors(name, params):
    X, y = _numbers("sklearn-diabetes")
    grid = {"alpha": [0, 0.01, 1, 10]}
    ours = sheaf.SheafSearchCV(getattr(sheaf, name)(tol=1e-9, max_iter=1000, **params), grid).fit(X, y)
    theirs = GridSearchCV(getattr(linear_model, name)(tol=1e-8, max_iter=10000, **params), grid).fit(X, y)
    np.testing.assert_allclose(
        ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-5
    )
    assert ours.best_params_ == theirs.best_params_
    assert ours.score(X, y) == pytest.approx(theirs.score(X, y), abs=1e-5)


def test_powers_and_deviances_in_searches():
    X, y = _numbers("sklearn-diabetes")
    model = make_pipeline(StandardScaler(), sheaf.TweedieRegressor(alpha=0.1, tol=1e-9, max_iter=1000))
    grid = {"tweedieregressor__power": [0, 1, 1.5, 2]}
    ours, theirs = sheaf.SheafSearchCV(model, grid).fit(X, y), GridSearchCV(model, grid).fit(X, y)
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], theirs.cv_results_["mean_test_score"], atol=1e-7)
    model = sheaf.PoissonRegressor(tol=1e-9)
    how = {"scoring": ["neg_mean_poisson_deviance", "r2"], "refit": "r2"}
    ours = sheaf.SheafSearchCV(model, {"alpha": [0.1, 1]}, **how).fit(X, y)
    theirs = GridSearchCV(model, {"alpha": [0.1, 1]}, **how).fit(X, y)
    for score in how["scoring"]:
        np.testing.assert_allclose(ours.cv_results_[f"mean_test_{score}"], theirs.cv_results_[f"mean_test_{score}"])


def test_the_score_is_the_deviance_that_is_explained():
    X, y = _numbers("sklearn-diabetes")
    model = sheaf.TweedieRegressor(power=1.5).fit(X, y)
    assert model.score(X, y) == d2_tweedie_score(y, model.predict(X), power=1.5)


@pytest.mark.parametrize(
    "model, words",
    [
        (sheaf.PoissonRegressor(alpha=-1), "PoissonRegressor: parameter alpha: .*0 or more"),
        (sheaf.PoissonRegressor(alpha="much"), "alpha must be a number"),
        (sheaf.PoissonRegressor(warm_start=True), "warm_start"),
        (sheaf.PoissonRegressor(), "target of row 3 is -1; the family poisson is for numbers of 0 or more"),
        (sheaf.GammaRegressor(), "target of row 3 is -1; the family gamma is for numbers above 0"),
        (sheaf.TweedieRegressor(power=0.5), "power must be 0 or from 1 to 2, not 0.5"),
        (sheaf.TweedieRegressor(power=3), "power must be 0 or from 1 to 2, not 3"),
        (sheaf.TweedieRegressor(power=1, link="identity"), "link must be one of 'auto', 'log'"),
        (sheaf.TweedieRegressor(link="log"), "link must be one of 'auto', 'identity'"),
        (sheaf.TweedieRegressor(alpha=0), "rows do not determine"),
    ],
)
def test_bad_input_of_regressors(model, words):
    X = np.random.RandomState(0).rand(5, 5)
    with pytest.raises(ValueError, match=words):
        model.fit(X, [1, 2, -1, 2, 3])


def test_models_are_files_of_the_program(tmp_path):
    X, y = _numbers("sklearn-diabetes")
    model = sheaf.GammaRegressor().fit(X, y)
    model.save_model(tmp_path / "model.txt")
    assert (tmp_path / "model.txt").read_text() == model._model.text()
    sheaf.LogisticRegression().fit(*WINE).save_model(tmp_path / "model.txt")
    assert "multinomial" in (tmp_path / "model.txt").read_text()
