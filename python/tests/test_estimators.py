"""What scikit-learn asks of estimators."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import DEVICES
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.utils.estimator_checks import parametrize_with_checks

import sheaf

CLASSIFIERS = [
    sheaf.LogisticRegression(),
    sheaf.ElasticNetLogistic(),
    sheaf.LinearSVC(),
    sheaf.SVC(),
    sheaf.NuSVC(),
    sheaf.KNeighborsClassifier(),
    sheaf.LocalHyperplane(),
    sheaf.LocalSVM(),
    sheaf.LocalSVM(rule="falk_svm", kernel="rbf"),
]
REGRESSORS = [
    sheaf.Ridge(),
    sheaf.Lasso(),
    sheaf.ElasticNet(),
    sheaf.ElasticNetHuber(),
    sheaf.QuantileRegressor(alpha=0.01),
    sheaf.LinearSVR(),
    sheaf.SVR(),
    sheaf.NuSVR(),
    sheaf.KNeighborsRegressor(),
    sheaf.PoissonRegressor(),
    sheaf.GammaRegressor(),
    sheaf.TweedieRegressor(power=1.5),
]
SEVERAL_TARGETS = [sheaf.MultiTaskElasticNet(), sheaf.MultiTaskLasso()]
OTHERS = [
    sheaf.OneClassSVM(),
    sheaf.InformationSelector(),
    sheaf.StabilitySelector(n_resamples=2),
    sheaf.KNeighborsTransformer(),
]
CROSS_VALIDATED = [
    sheaf.RidgeCV(),
    sheaf.LassoCV(n_alphas=5),
    sheaf.ElasticNetCV(n_alphas=5),
    sheaf.LogisticRegressionCV(Cs=3),
    sheaf.ElasticNetLogisticCV(n_alphas=5),
]
SEARCHES = [
    sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": [0.1, 1]}),
    sheaf.SheafSearchCV(sheaf.Ridge(), {"alpha": [0.1, 1]}),
    sheaf.SheafSearchCV(sheaf.TweedieRegressor(), {"alpha": [0.1, 1]}),
]


def _on(device, estimator):
    """The estimator on another device; it is the default that is asked for where the device is the CPU."""
    if device == "cpu":
        return estimator
    name = "estimator__device" if isinstance(estimator, sheaf.SheafSearchCV) else "device"
    return clone(estimator).set_params(**{name: device})


@parametrize_with_checks(
    [
        _on(device, estimator)
        for device in DEVICES
        for estimator in CLASSIFIERS + REGRESSORS + SEVERAL_TARGETS + OTHERS + CROSS_VALIDATED + SEARCHES
    ]
)
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def _name(estimator):
    return type(estimator).__name__


def _data(estimator):
    if is_classifier(estimator) or not hasattr(estimator, "predict") or isinstance(estimator, sheaf.OneClassSVM):
        return make_classification(90, 6, n_informative=4, n_redundant=0, n_classes=3, random_state=3)
    if isinstance(estimator, sheaf.MultiTaskElasticNet):
        return make_regression(90, 6, n_targets=3, noise=5, random_state=3)
    X, y = make_regression(90, 6, noise=5, random_state=3)
    return X, np.exp(y / 100) if hasattr(estimator, "_score_predictions") else y


def _outputs(estimator, X):
    names = ("predict", "decision_function", "predict_proba", "transform")
    if isinstance(estimator, sheaf.OneClassSVM):  # whose support vectors lie on the border
        names = ("decision_function",)
    found = [getattr(estimator, name)(X) for name in names if hasattr(estimator, name)]
    return [values.toarray() if sparse.issparse(values) else np.asarray(values) for values in found]


@pytest.mark.parametrize(
    "estimator", CLASSIFIERS + REGRESSORS + SEVERAL_TARGETS + OTHERS + CROSS_VALIDATED, ids=_name
)
def test_copies_predict_the_same_to_the_last_bit(estimator):
    X, y = _data(estimator)
    fitted = clone(estimator).fit(X, y)
    for other in (pickle.loads(pickle.dumps(fitted)), copy.deepcopy(fitted)):
        for mine, theirs in zip(_outputs(fitted, X), _outputs(other, X)):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize(
    "estimator",
    [
        sheaf.LogisticRegression(tol=1e-10, max_iter=1000),
        sheaf.LogisticRegression(tol=1e-10, multi_class="ovr"),
        sheaf.ElasticNetLogistic(tol=1e-12),
        sheaf.LinearSVC(tol=1e-10),
        sheaf.SVC(tol=1e-5),
        sheaf.NuSVC(nu=0.2, tol=1e-5),
        sheaf.Ridge(),
        sheaf.Lasso(tol=1e-12),
        sheaf.ElasticNet(tol=1e-12),
        sheaf.ElasticNetHuber(tol=1e-12),
        sheaf.QuantileRegressor(alpha=0.1, tol=1e-8),
        sheaf.LinearSVR(tol=1e-10),
        sheaf.SVR(C=10, tol=1e-5),
        sheaf.NuSVR(C=10, tol=1e-5),
        sheaf.OneClassSVM(tol=1e-5),
        sheaf.PoissonRegressor(tol=1e-10),
        sheaf.GammaRegressor(tol=1e-10),
        sheaf.TweedieRegressor(power=1.5, tol=1e-10),
    ],
    ids=_name,
)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_a_row_of_weight_n_is_n_rows(estimator, container):
    X, y = _data(estimator)
    times = np.random.RandomState(1).randint(0, 4, len(y))
    weighted = clone(estimator).fit(container(X), y, sample_weight=times)
    repeated = clone(estimator).fit(container(X.repeat(times, axis=0)), y.repeat(times))
    for mine, theirs in zip(_outputs(weighted, X), _outputs(repeated, X)):
        np.testing.assert_allclose(mine, theirs, rtol=1e-4, atol=1e-4 * np.abs(theirs).max())


@pytest.mark.parametrize("estimator", CLASSIFIERS, ids=_name)
def test_labels_of_any_kind(estimator):
    X, y = _data(estimator)
    plain = clone(estimator).fit(X, y).predict(X)
    for labels in (np.array(["a", "b=1", "c d"]), np.array([-3, 7, 10]), np.array([-1.0, 1.0, 2.0])):
        fitted = clone(estimator).fit(X, labels[y])
        np.testing.assert_array_equal(fitted.classes_, labels)
        np.testing.assert_array_equal(fitted.predict(X), labels[plain])


def test_models_are_files_of_the_program(tmp_path, two_classes):
    X, y = two_classes
    model = sheaf.LogisticRegression().fit(X, np.where(y, "yes", "no"))
    model.save_model(tmp_path / "model.txt")
    text = (tmp_path / "model.txt").read_text()
    assert text.startswith("sheaf-") and "yes" in text


@pytest.mark.parametrize("estimator", SEVERAL_TARGETS, ids=_name)
def test_models_of_several_targets_are_files_too(estimator, tmp_path):
    X, y = _data(estimator)
    model = clone(estimator).fit(X, pd.DataFrame(y, columns=["a", "b c", "d"]))
    model.save_model(tmp_path / "model.txt")
    text = (tmp_path / "model.txt").read_text()
    assert "targets 3\ntarget a\ntarget b c\ntarget d\n" in text
    again = sheaf._core.Model.parse(text, "model.txt")
    weights, intercepts = again.coefficients()
    np.testing.assert_array_equal(weights.T, model.coef_)
    np.testing.assert_array_equal(intercepts, model.intercept_)
    plain = clone(estimator).fit(X, y)
    np.testing.assert_array_equal(plain.predict(X), model.predict(X))
    plain.save_model(tmp_path / "plain.txt")
    assert "target y1\ntarget y2\ntarget y3\n" in (tmp_path / "plain.txt").read_text()
