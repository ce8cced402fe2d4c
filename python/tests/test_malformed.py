"""Bad input: scikit-learn's exceptions, with the library's words."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning, NotFittedError

import sheaf
from sheaf import _core


@pytest.mark.parametrize(
    "estimator, words",
    [
        (sheaf.LogisticRegression(C=-1), "LogisticRegression: parameter C: .*0 or more expected"),
        (sheaf.LogisticRegression(C="much"), "C must be a number, not 'much'"),
        (sheaf.LogisticRegression(tol=0), "parameter tol: tol must be more than 0"),
        (sheaf.LogisticRegression(max_iter=0), "parameter max_iter"),
        (sheaf.LogisticRegression(penalty="l7"), "penalty must be 'l2', 'l1', 'elasticnet' or None, not 'l7'"),
        (sheaf.LogisticRegression(penalty="elasticnet"), "l1_ratio must be given"),
        (sheaf.LogisticRegression(multi_class="pairs"), "multi_class must be one of"),
        (sheaf.LogisticRegression(multi_class="multinomial"), "for three classes or more, and there are 2"),
        (sheaf.LogisticRegression(device="tpu"), "tpu"),
        (sheaf.LogisticRegression(n_threads=0), "threads"),
        (sheaf.LogisticRegression(class_weight="even"), "class_weight.*balanced"),
        (sheaf.LinearSVC(loss="corner"), "loss must be one of 'squared_hinge', 'hinge', not 'corner'"),
        (sheaf.SVC(kernel="cubic"), "kernel must be one of"),
        (sheaf.SVC(kernel=lambda a, b: 0), "kernel must be a name"),
        (sheaf.SVC(gamma=0), "gamma must be 'scale', 'auto' or a number above 0"),
        (sheaf.SVC(gamma="wide"), "gamma must be"),
        (sheaf.NuSVC(nu=2), "parameter nu"),
        (sheaf.ElasticNetLogistic(l1_ratio=1.5), "parameter l1_ratio: .*0 to 1 expected"),
        (sheaf.ElasticNetHuber(threshold=0), "ElasticNetHuber: parameter threshold: .*more than 0"),
        (sheaf.ElasticNetHuber("wide"), "threshold must be a number, not 'wide'"),
        (sheaf.QuantileRegressor(quantile=1), "a quantile is above 0 and below 1"),
        (sheaf.QuantileRegressor(quantile="half"), "quantile must be a number, not 'half'"),
        (sheaf.MultiTaskElasticNet(), "y has one number for each row; MultiTaskElasticNet takes columns of targets"),
        (sheaf.KNeighborsClassifier(metric="haversine"), "metric must be one of"),
        (sheaf.KNeighborsClassifier(weights="none"), "weights must be one of"),
        (sheaf.LocalHyperplane(rule="ball"), "rule must be one of"),
        (sheaf.LocalSVM(kernel="poly"), "kernel must be one of"),
        (sheaf.LocalSVM(kernel="rbf", gamma="scale"), "gamma must be 'auto' or a number"),
        (sheaf.InformationSelector("best"), "best.*jmi"),
        (sheaf.InformationSelector(bins=1), "bins"),
    ],
)
def test_parameters(two_classes, estimator, words):
    with pytest.raises(ValueError, match=words):
        estimator.fit(*two_classes)


def test_more_neighbours_than_rows(two_classes):
    model = sheaf.KNeighborsClassifier(n_neighbors=500).fit(*two_classes)
    with pytest.raises(ValueError, match="n_neighbors <= n_samples"):
        model.predict(two_classes[0])
    assert model.set_params(n_neighbors=1).score(*two_classes) == 1


@pytest.mark.parametrize(
    "C, words", [(0, "C must be above 0, not 0"), (-1.0, "C must be above 0, not -1.0"), ("much", "C must be a number")]
)
def test_costs_of_three_classes(C, words):
    X, y = np.random.RandomState(0).normal(size=(30, 2)), np.arange(30) % 3
    with pytest.raises(ValueError, match=words):
        sheaf.LogisticRegression(C=C).fit(X, y)
    with pytest.raises(ValueError, match=words):
        sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": [C]}).fit(X, y)


def test_shapes_and_values(two_classes):
    X, y = two_classes
    model = sheaf.LogisticRegression()
    with pytest.raises(NotFittedError):
        model.predict(X)
    for bad in (np.nan, np.inf):
        broken = X.copy()
        broken[3, 4] = bad
        with pytest.raises(ValueError, match="NaN|infinity"):
            model.fit(broken, y)
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        model.fit(X, y[:-1])
    with pytest.raises(ValueError, match="1 class"):
        model.fit(X, np.zeros(len(y)))
    with pytest.raises(ValueError, match="8 features"):
        model.fit(X, y).predict(X[:, :5])
    with pytest.raises(ValueError, match="Negative"):
        model.fit(X, y, sample_weight=-np.ones(len(y)))
    with pytest.raises(ValueError, match="non-zero"):
        model.fit(X, y, sample_weight=np.zeros(len(y)))
    with pytest.raises(ValueError, match="square"):
        sheaf.SVC(kernel="precomputed").fit(X, y)


def test_damaged_sparse_matrices(two_classes):
    X, y = two_classes
    table = sparse.csr_matrix(X)
    context = _core.Context()

    def make(offsets=table.indptr, indices=table.indices, values=table.data):
        return _core.Dataset.from_sparse(context, True, 120, 8, offsets, indices, values, "double", [], False)

    make()
    wrong = table.indices.copy()
    wrong[17] = 40
    with pytest.raises(ValueError, match="argument 'indices': entry 17 is 40, but the matrix has 8 columns"):
        make(indices=wrong)
    with pytest.raises(ValueError, match="argument 'offsets'"):
        make(offsets=table.indptr[:-1])
    with pytest.raises(ValueError, match="int32 or int64"):
        make(indices=table.indices.astype(np.uint8))


def test_damaged_models():
    with pytest.raises(ValueError, match="this is no model"):
        _core.Model.parse("nonsense", "model.txt")
    with pytest.raises(ValueError, match="unknown parameter 'speed'"):
        _core.Options("linear").set("speed", "1")
    with pytest.raises(ValueError, match="forest"):
        _core.Options("forest")


def test_what_did_not_converge_is_said(two_classes):
    X, y = two_classes
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        sheaf.LogisticRegression(C=1e6, tol=1e-12, max_iter=1).fit(X, y)
    with pytest.warns(ConvergenceWarning, match="did not converge"):
        sheaf.SVC(max_iter=2).fit(X, y)


def test_a_gpu_that_is_not_there(two_classes):
    if any(row["device"].startswith("cuda") and row["usable"] for row in sheaf.devices()):
        pytest.skip("there is a GPU")
    with pytest.raises(ValueError, match="cuda"):
        sheaf.LogisticRegression(device="cuda").fit(*two_classes)


def test_messages_name_parameters_and_not_flags():
    X, y = np.random.RandomState(0).normal(size=(10, 20)), np.arange(10) % 2
    with pytest.raises(ValueError, match="or let SheafSearchCV find it") as said:
        sheaf.LogisticRegression(penalty=None).fit(X, y)
    assert "--" not in str(said.value)
    with pytest.raises(ValueError, match="class_weight must be more than 0"):
        sheaf.LogisticRegression(class_weight={0: 0, 1: 1}).fit(X, y)


def test_values_too_large(two_classes):
    X, y = two_classes
    with pytest.raises(ValueError, match="not finite|too large"):
        sheaf.Ridge().fit(1e200 * X, y)
