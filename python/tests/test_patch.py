"""Sheaf behind scikit-learn's names."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pytest
from sklearn import linear_model, neighbors, svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import scale

import sheaf.sklearn

CANCER = scale(load_breast_cancer().data), load_breast_cancer().target
WINE = scale(load_wine().data), load_wine().target
NUMBERS = load_diabetes(return_X_y=True)


@pytest.fixture
def patched():
    with sheaf.sklearn.patched():
        yield


PAIRS = [
    ("linear_model", "LogisticRegression", {"tol": 1e-8}, CANCER),
    ("linear_model", "LogisticRegression", {"tol": 1e-8}, WINE),
    ("linear_model", "LogisticRegression", {"tol": 1e-8, "multi_class": "ovr"}, WINE),
    ("linear_model", "LogisticRegression", {"tol": 1e-8, "multi_class": "multinomial"}, WINE),
    ("linear_model", "PoissonRegressor", {"tol": 1e-8, "max_iter": 1000}, NUMBERS),
    ("linear_model", "GammaRegressor", {"tol": 1e-8, "max_iter": 1000}, NUMBERS),
    ("linear_model", "TweedieRegressor", {"power": 1.5, "tol": 1e-8, "max_iter": 1000}, NUMBERS),
    ("linear_model", "Ridge", {}, NUMBERS),
    ("linear_model", "Lasso", {"tol": 1e-9}, NUMBERS),
    ("linear_model", "ElasticNet", {"alpha": 0.1, "tol": 1e-9}, NUMBERS),
    ("linear_model", "Lasso", {"tol": 1e-9, "positive": True}, NUMBERS),
    ("linear_model", "QuantileRegressor", {"solver": "highs", "quantile": 0.8, "alpha": 1e-3}, NUMBERS),
    ("svm", "LinearSVC", {"C": 0.1, "dual": False, "tol": 1e-8}, CANCER),
    ("svm", "SVC", {"tol": 1e-5}, CANCER),
    ("svm", "NuSVC", {"nu": 0.1, "tol": 1e-5}, CANCER),
    ("svm", "SVR", {"tol": 1e-5}, NUMBERS),
    ("neighbors", "KNeighborsClassifier", {"n_neighbors": 7}, CANCER),
    ("neighbors", "KNeighborsRegressor", {}, NUMBERS),
]
MODULES = {"linear_model": linear_model, "neighbors": neighbors, "svm": svm}


def is_there(name, module="linear_model", kind="LogisticRegression"):
    """Whether this release of scikit-learn has a parameter."""
    return name in inspect.signature(getattr(MODULES[module], kind)).parameters


PAIRS = [pair for pair in PAIRS if all(is_there(name, *pair[:2]) for name in pair[2])]


@pytest.mark.parametrize("module, name, params, data", PAIRS, ids=lambda value: value if isinstance(value, str) else "")
def test_predictions_are_scikit_learns(module, name, params, data):
    original = getattr(MODULES[module], name)
    with sheaf.sklearn.patched():
        kind = getattr(MODULES[module], name)
        model = clone(kind(**params)).fit(*data)
        assert issubclass(kind, original) and isinstance(model, original)
        assert "_sheaf" in vars(model)
        again = pickle.loads(pickle.dumps(model))
    theirs = original(**params).fit(*data)
    method = "decision_function" if hasattr(theirs, "decision_function") else "predict"
    mine, other = getattr(model, method)(data[0]), getattr(theirs, method)(data[0])
    np.testing.assert_allclose(mine, other, atol=2e-3 * np.abs(other).max())
    np.testing.assert_array_equal(getattr(again, method)(data[0]), mine)
    assert model.score(*data) == pytest.approx(theirs.score(*data), abs=1e-3)
    assert getattr(MODULES[module], name) is original


def test_what_sheaf_lacks_is_left_to_scikit_learn(patched):
    with pytest.warns(UserWarning, match="leaves LogisticRegression to scikit-learn: penalty"):
        model = linear_model.LogisticRegression(penalty="l1", solver="liblinear").fit(*CANCER)
    assert "_sheaf" not in vars(model) and model.score(*CANCER) > 0.9
    with pytest.warns(UserWarning, match="NuSVC to scikit-learn: it has no class_weight"):
        svm.NuSVC(nu=0.1, class_weight="balanced").fit(*CANCER)
    if is_there("multi_class"):
        with pytest.warns(UserWarning, match="to scikit-learn: multi_class='multinomial' is for three"):
            linear_model.LogisticRegression(multi_class="multinomial").fit(*CANCER)
    with pytest.warns(UserWarning, match="TweedieRegressor to scikit-learn: power must be"):
        linear_model.TweedieRegressor(power=3).fit(*NUMBERS)
    with pytest.warns(UserWarning, match="QuantileRegressor to scikit-learn: alpha is 0"):
        linear_model.QuantileRegressor(alpha=0, solver="highs").fit(*NUMBERS)
    with pytest.warns(UserWarning, match="kernel must be a name"):
        svm.SVC(kernel=lambda a, b: a @ b.T).fit(*CANCER)


def test_inside_scikit_learn(patched):
    assert cross_val_score(svm.SVC(), *CANCER).mean() > 0.95


def test_classes_can_be_derived_from(patched):
    class Mine(svm.SVC):
        pass

    model = Mine().fit(*CANCER)
    assert "_sheaf" in vars(model) and model.score(*CANCER) > 0.95
    assert not hasattr(Mine(probability=False), "predict_proba")
    assert svm.SVC(probability=True).fit(*CANCER).predict_proba(CANCER[0]).shape == (569, 2)
