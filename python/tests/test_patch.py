"""Sheaf behind scikit-learn's names."""

from __future__ import annotations

import inspect
import pickle
import subprocess
import sys

import numpy as np
import pytest
from scipy import sparse
from sklearn import linear_model, neighbors, svm
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine
from sklearn.ensemble import BaggingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
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
        assert model._by_sheaf
        again = pickle.loads(pickle.dumps(model))
    theirs = original(**params).fit(*data)
    method = "decision_function" if hasattr(theirs, "decision_function") else "predict"
    mine, other = getattr(model, method)(data[0]), getattr(theirs, method)(data[0])
    np.testing.assert_allclose(mine, other, atol=2e-3 * np.abs(other).max())
    np.testing.assert_array_equal(getattr(again, method)(data[0]), mine)
    assert model.score(*data) == pytest.approx(theirs.score(*data), abs=1e-3)
    assert getattr(MODULES[module], name) is original


def test_what_sheaf_lacks_is_left_to_scikit_learn(patched):
    with pytest.warns(UserWarning, match="leaves LogisticRegression to scikit-learn: dual"):
        model = linear_model.LogisticRegression(penalty="l2", dual=True, solver="liblinear").fit(*CANCER)
    assert not model._by_sheaf and model.score(*CANCER) > 0.9
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
    assert model._by_sheaf and model.score(*CANCER) > 0.95
    assert not hasattr(Mine(probability=False), "predict_proba")
    assert svm.SVC(probability=True).fit(*CANCER).predict_proba(CANCER[0]).shape == (569, 2)


def test_in_other_processes(patched):
    search = GridSearchCV(svm.SVC(), {"C": [1, 10]}, cv=3, n_jobs=2).fit(*CANCER)
    assert search.best_score_ > 0.95


def test_pickles_are_read_by_a_new_process(patched, tmp_path):
    model = svm.SVC(kernel="linear").fit(*CANCER)
    (tmp_path / "model").write_bytes(pickle.dumps(model))
    np.save(tmp_path / "rows.npy", CANCER[0])
    program = (
        "import pickle, numpy\n"
        "model = pickle.load(open('model', 'rb'))\n"
        "numpy.save('values.npy', model.decision_function(numpy.load('rows.npy')))"
    )
    subprocess.run([sys.executable, "-c", program], check=True, cwd=tmp_path)
    np.testing.assert_array_equal(np.load(tmp_path / "values.npy"), model.decision_function(CANCER[0]))


@pytest.mark.parametrize("data", [CANCER, WINE], ids=["two", "three"])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_linear_kernels_have_weights(data, container):
    X, y = container(data[0]), data[1]
    theirs = svm.SVC(kernel="linear", tol=1e-8).fit(X, y)
    with sheaf.sklearn.patched():
        ours = svm.SVC(kernel="linear", tol=1e-8).fit(X, y)
    assert ours._by_sheaf and sparse.issparse(ours.coef_) == sparse.issparse(theirs.coef_)
    for name in ("coef_", "dual_coef_", "support_vectors_"):
        mine, other = getattr(ours, name), getattr(theirs, name)
        assert mine.shape == other.shape and sparse.issparse(mine) == sparse.issparse(other)
    np.testing.assert_allclose(sparse.csr_matrix(ours.coef_).toarray(), sparse.csr_matrix(theirs.coef_).toarray(), atol=1e-5)
    np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)


def _with_negative_weights(kind):
    weights = np.ones(len(CANCER[1]))
    weights[:3] = -1
    return kind().fit(*CANCER, sample_weight=weights)


SCRIPTS = {
    "more weights than rows": lambda: linear_model.LogisticRegression(penalty=None).fit(CANCER[0][15:35], CANCER[1][15:35]),
    "a class of weight 0": lambda: linear_model.LogisticRegression(class_weight={0: 0, 1: 1}).fit(*CANCER),
    "tol=0": lambda: linear_model.LogisticRegression(tol=0).fit(*CANCER),
    "negative weights": lambda: _with_negative_weights(svm.SVC),
    "one class": lambda: neighbors.KNeighborsClassifier().fit(CANCER[0], np.zeros(len(CANCER[1]))),
    "check_input": lambda: linear_model.Lasso(tol=1e-9).fit(np.asfortranarray(NUMBERS[0]), NUMBERS[1], check_input=False),
    "bags": lambda: BaggingClassifier(neighbors.KNeighborsClassifier(), n_estimators=3, random_state=0).fit(*CANCER),
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
@pytest.mark.filterwarnings("ignore")
def test_scripts_that_work_without_sheaf_work_with_it(script):
    theirs = script()
    with sheaf.sklearn.patched():
        ours = script()
    X = NUMBERS[0] if ours.n_features_in_ == 10 else CANCER[0]
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-6)


def test_mistakes_are_said_as_scikit_learn_says_them(patched):
    with pytest.raises(ValueError, match="The 'C' parameter of SVC must be"):
        svm.SVC(C=-1).fit(*CANCER)
    with pytest.raises(ValueError, match="at least 2 classes"):
        linear_model.LogisticRegression().fit(CANCER[0], np.zeros(len(CANCER[1])))


def test_what_is_changed_after_fit_counts(patched):
    model = linear_model.Ridge().fit(*NUMBERS)
    model.coef_ = np.zeros(10)
    model.intercept_ = 3.0
    np.testing.assert_array_equal(model.predict(NUMBERS[0]), np.full(len(NUMBERS[1]), 3.0))
    near = neighbors.KNeighborsClassifier(n_neighbors=9).fit(*CANCER)
    near.set_params(n_neighbors=1)
    np.testing.assert_array_equal(near.predict(CANCER[0]), CANCER[1])
    assert near.kneighbors(CANCER[0], return_distance=False).shape == (569, 1)
