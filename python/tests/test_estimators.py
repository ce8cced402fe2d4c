"""What scikit-learn asks of estimators."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pandas as pd
import pytest
from conftest import DEVICES
from scipy import sparse
from sklearn import base, linear_model, svm
from sklearn.base import clone, is_classifier
from sklearn.datasets import make_classification, make_regression
from sklearn.exceptions import DataConversionWarning
from sklearn.utils import validation
from sklearn.utils.estimator_checks import parametrize_with_checks

import sheaf

CLASSIFIERS = [
    sheaf.LogisticRegression(),
    sheaf.ElasticNetLogistic(),
    sheaf.LinearSVC(),
    sheaf.SVC(),
    sheaf.NuSVC(nu=0.3),  # 0.5 is infeasible for the rows of check_sample_weight_equivalence of scikit-learn 1.6 and later
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
AUTOMATIC = [sheaf.AutoClassifier(), sheaf.AutoRegressor(["elastic-net", "knn"])]
OTHERS = [
    sheaf.OneClassSVM(),
    sheaf.InformationSelector(),
    sheaf.StabilitySelector(n_resamples=2),
    sheaf.KNeighborsTransformer(),
    sheaf.NearestNeighbors(),
    sheaf.RadiusNeighborsTransformer(radius=3),
]
RADIUS = [sheaf.RadiusNeighborsClassifier(), sheaf.RadiusNeighborsRegressor()]
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
        for estimator in CLASSIFIERS + REGRESSORS + RADIUS + SEVERAL_TARGETS + OTHERS + CROSS_VALIDATED + SEARCHES + AUTOMATIC
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
    "estimator", CLASSIFIERS + REGRESSORS + RADIUS + SEVERAL_TARGETS + OTHERS + CROSS_VALIDATED + AUTOMATIC, ids=_name
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


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("estimator", [sheaf.NuSVC(nu=0.3), sheaf.SVC()], ids=_name)
def test_weights_as_later_releases_check_them(estimator, container):
    """check_sample_weight_equivalence of scikit-learn 1.6 and later: weights of 0 and more, rows in another order."""
    rng = np.random.RandomState(42)
    X, y, weights = rng.rand(15, 30), rng.randint(0, 3, size=15), rng.randint(0, 5, size=15)
    repeated = clone(estimator).fit(container(X.repeat(weights, axis=0)), y.repeat(weights))
    order = np.random.RandomState(0).permutation(15)
    weighted = clone(estimator).fit(container(X[order]), y[order], sample_weight=weights[order])
    for mine, theirs in zip(_outputs(weighted, container(X)), _outputs(repeated, container(X))):
        np.testing.assert_allclose(mine, theirs, rtol=1e-7, atol=1e-9)
    with pytest.raises(ValueError, match="nu can be 0.46"):
        sheaf.NuSVC(nu=0.5).fit(X, y, sample_weight=weights)


LINEAR = [
    sheaf.LogisticRegression(),
    sheaf.LogisticRegressionCV(Cs=2),
    sheaf.ElasticNetLogistic(),
    sheaf.LinearSVC(),
    sheaf.Ridge(),
    sheaf.RidgeCV(),
    sheaf.Lasso(),
    sheaf.LinearSVR(),
    sheaf.PoissonRegressor(),
    sheaf.TweedieRegressor(),
    sheaf.MultiTaskLasso(),
]


@pytest.mark.parametrize("estimator", LINEAR, ids=_name)
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_weights_that_users_change_count(estimator, container):
    X, y = _data(estimator)
    model = clone(estimator).fit(X, y)
    model.coef_ = np.ones_like(model.coef_)
    model.intercept_ = np.zeros_like(model.intercept_) + 0.5
    values = X.sum(axis=1) + 0.5
    if is_classifier(model):
        np.testing.assert_allclose(model.decision_function(container(X)), np.column_stack([values] * 3))
        np.testing.assert_array_equal(model.predict(container(X)), np.zeros(len(X)))
    elif isinstance(model, sheaf.PoissonRegressor):
        np.testing.assert_allclose(model.predict(container(X)), np.exp(values))
    else:
        columns = [values] * 3 if isinstance(model, sheaf.MultiTaskElasticNet) else [values]
        np.testing.assert_allclose(model.predict(container(X)), np.squeeze(np.column_stack(columns)))


def test_a_row_on_the_border_is_of_the_first_class():
    X, y = np.array([[-1.0], [1.0]]), np.array([0, 1])
    for name in ("LogisticRegression", "LinearSVC", "SVC", "NuSVC"):
        how = {"kernel": "linear"} if name in ("SVC", "NuSVC") else {}
        ours = getattr(sheaf, name)(**how).fit(X, y)
        theirs = getattr(linear_model if name == "LogisticRegression" else svm, name)(**how).fit(X, y)
        np.testing.assert_allclose(ours.decision_function([[0.0]]), [0.0], atol=1e-15)
        ours.intercept_ = theirs.intercept_ = np.zeros(1)
        assert ours.predict([[0.0]]) == theirs.predict([[0.0]]), name


@pytest.mark.parametrize("estimator", [sheaf.KNeighborsClassifier(9), sheaf.KNeighborsRegressor(9)], ids=_name)
def test_the_number_of_neighbours_may_change_after_fit(estimator):
    X, y = _data(estimator)
    model = clone(estimator).fit(X, y)
    model.n_neighbors = 1
    np.testing.assert_array_equal(model.predict(X), y)
    other = clone(estimator).set_params(n_neighbors=4, weights="distance").fit(X, y)
    model.set_params(n_neighbors=4, weights="distance")
    np.testing.assert_array_equal(model.predict(X + 0.1), other.predict(X + 0.1))


@pytest.mark.parametrize(
    "estimator", [one for one in CLASSIFIERS + REGRESSORS + RADIUS if not isinstance(one, sheaf.Ridge)], ids=_name
)
def test_targets_in_a_column(estimator):
    X, y = _data(estimator)
    plain = clone(estimator).fit(X, y)
    with pytest.warns(DataConversionWarning, match="column-vector"):
        column = clone(estimator).fit(X, y[:, None])
    np.testing.assert_array_equal(column.predict(X), plain.predict(X))


def test_a_closeness_that_svms_cannot_reach_ends(two_classes):
    theirs = svm.SVC(C=10, tol=1e-10).fit(*two_classes)
    ours = sheaf.SVC(C=10, tol=1e-10).fit(*two_classes)
    np.testing.assert_allclose(
        ours.decision_function(two_classes[0]), theirs.decision_function(two_classes[0]), atol=1e-4
    )


def test_one_row_is_predicted_without_long_checks_and_copies(two_classes, monkeypatch):
    """It takes microseconds: scikit-learn's checks and datasets of the library take longer."""
    X, y = two_classes
    model = sheaf.LogisticRegression().fit(X, y)
    expected = linear_model.LogisticRegression(tol=1e-8).fit(X, y).predict(X)

    def refuse(*args, **kwargs):
        raise AssertionError("called for a prediction of one row")

    for place, name in ((base, "check_array"), (validation, "check_array"), (sheaf._base, "make_dataset")):
        monkeypatch.setattr(place, name, refuse, raising=False)
    np.testing.assert_array_equal([model.predict(row[None, :])[0] for row in X], expected)
    with pytest.raises(AssertionError, match="called"):
        model.predict(X[:1].tolist())
