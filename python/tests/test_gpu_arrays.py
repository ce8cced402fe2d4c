"""Arrays that are on a GPU: results are those of the same arrays in memory, and come back where the arrays are."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import DEVICES
from sklearn.datasets import make_classification, make_regression

import sheaf

LIBRARIES = ("cupy", "torch")
CLASSIFIERS = [
    sheaf.LogisticRegression(),
    sheaf.LinearSVC(),
    sheaf.ElasticNetLogistic(alpha=0.05),
    sheaf.SVC(),
    sheaf.KNeighborsClassifier(),
]
REGRESSORS = [
    sheaf.Ridge(),
    sheaf.ElasticNet(alpha=0.1),
    sheaf.LinearSVR(),
    sheaf.SVR(),
    sheaf.KNeighborsRegressor(),
]


def _name(value):
    return type(value).__name__ if not isinstance(value, str) else value


def _to_gpu(library, array):
    module = pytest.importorskip(library)
    if "cuda" not in DEVICES:
        pytest.skip("no GPU is to be tested")
    return module.asarray(array) if library == "cupy" else module.as_tensor(array, device="cuda")


def _to_memory(array):
    return array.cpu().numpy() if hasattr(array, "cpu") else array.get()


def _check(library, estimator, X, y, names):
    on_gpu = _to_gpu(library, X)
    model = type(estimator)(**{**estimator.get_params(), "device": "cuda"})
    beside = type(estimator)(**{**estimator.get_params(), "device": "cuda"}).fit(X, y)
    model.fit(on_gpu, y)
    for name in names:
        if not hasattr(beside, name):
            continue
        found = getattr(model, name)(on_gpu)
        assert type(found).__module__.split(".")[0] == library, name
        np.testing.assert_allclose(_to_memory(found), getattr(beside, name)(X), rtol=1e-6, atol=1e-8, err_msg=name)


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "float"])
@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
@pytest.mark.parametrize("library", LIBRARIES)
def test_classifiers(library, estimator, dtype):
    X, y = make_classification(200, 12, n_informative=6, n_classes=3, random_state=1)
    _check(library, estimator, X.astype(dtype), y, ("predict", "decision_function", "predict_proba"))


@pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=["double", "float"])
@pytest.mark.parametrize("estimator", REGRESSORS, ids=_name)
@pytest.mark.parametrize("library", LIBRARIES)
def test_regressors(library, estimator, dtype):
    X, y = make_regression(200, 12, noise=5, random_state=1)
    _check(library, estimator, X.astype(dtype), y / 50, ("predict",))


@pytest.mark.parametrize("library", LIBRARIES)
def test_searches(library):
    X, y = make_classification(200, 12, n_informative=6, random_state=2)
    on_gpu = _to_gpu(library, X)
    make = lambda: sheaf.SheafSearchCV(sheaf.LogisticRegression(device="cuda"), {"C": [0.01, 0.1, 1, 10]})  # noqa: E731
    found, beside = make().fit(on_gpu, y), make().fit(X, y)
    assert found.best_params_ == beside.best_params_
    np.testing.assert_allclose(found.cv_results_["mean_test_score"], beside.cv_results_["mean_test_score"], rtol=1e-9)
    assert type(found.decision_function(on_gpu)).__module__.split(".")[0] == library
