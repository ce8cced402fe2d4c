"""Data in any shape, without copies where the layout allows."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.io
from scipy import sparse

import sheaf
from sheaf import _core
from sheaf._data import make_dataset


def test_columns_about_rows_are_read_with_the_rows(tmp_path):
    (tmp_path / "counts.csv").write_text("id,a,b\ns1,1,0\ns2,0,2\ns3,4,\n")
    (tmp_path / "samples.csv").write_text("sample,diet,mouse,mass\ns3,high,m2,21\ns1,low,m1,20\ns2,high,m1,25\n")
    found = sheaf.read_data(
        tmp_path / "counts.csv", metadata=tmp_path / "samples.csv", label="diet", group="mouse", weight_column="mass", id="sample"
    )
    assert found.target.tolist() == ["low", "high", "high"] and found.groups.tolist() == ["m1", "m1", "m2"]
    assert found.row_names == ["s1", "s2", "s3"] and found.feature_names == ["a", "b"]
    np.testing.assert_array_equal(found.sample_weight, [20, 25, 21])
    np.testing.assert_array_equal(found.data, [[1, 0], [0, 2], [4, np.nan]])
    (tmp_path / "trial.csv").write_text("x,arm,days,died\n1,old,12,1\n2,new,30,0\n3,old,7,1\n")
    trial = sheaf.read_data(tmp_path / "trial.csv", label="days", event="died")
    np.testing.assert_array_equal(trial.target, [[12, 1], [30, 0], [7, 1]])
    assert trial.levels[1] == ["new", "old"] and trial.data[:, 1].tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="unknown parameter 'labels'; known are format"):
        sheaf.read_data(tmp_path / "trial.csv", labels="days")


@pytest.mark.parametrize("matrix", [np.eye(3), sparse.csr_matrix(np.eye(3))], ids=["dense", "sparse"])
def test_files_of_matrices_are_read(tmp_path, matrix):
    name = tmp_path / ("x.mtx" if sparse.issparse(matrix) else "x.npy")
    scipy.io.mmwrite(name, matrix) if sparse.issparse(matrix) else np.save(name, matrix)
    found = sheaf.read_data(name, label="none")
    assert sparse.issparse(found.data) == sparse.issparse(matrix) and found.target is None
    np.testing.assert_array_equal(found.data.toarray() if sparse.issparse(found.data) else found.data, np.eye(3))


def _decisions(X, y, at):
    return sheaf.LogisticRegression().fit(X, y).decision_function(at)


def test_layouts_give_the_same_model(two_classes):
    X, y = two_classes
    expected = _decisions(X, y, X)
    wide = np.zeros((len(X), 20))
    wide[:, 3:11] = X
    read_only = X.copy()
    read_only.setflags(write=False)
    for same in (
        np.asfortranarray(X),
        wide[:, 3:11],
        X[::-1][::-1],
        read_only,
        X.tolist(),
        pd.DataFrame(X),
        X.astype(">f8"),
    ):
        np.testing.assert_allclose(_decisions(same, y, X), expected, rtol=1e-12)
    np.testing.assert_allclose(_decisions(X.astype(np.float32), y, X), expected, atol=1e-3)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil"])
@pytest.mark.parametrize("flavour", ["matrix", "array"])
@pytest.mark.parametrize("index", [np.int32, np.int64])
def test_sparse_data(two_classes, kind, flavour, index):
    X, y = two_classes
    X = np.where(np.abs(X) > 0.7, X, 0)
    given = getattr(sparse, f"{kind}_{flavour}")(X)
    if kind in ("csr", "csc"):
        given.indices, given.indptr = given.indices.astype(index), given.indptr.astype(index)
    np.testing.assert_allclose(_decisions(given, y, given), _decisions(X, y, X), rtol=1e-9)


def test_unsorted_and_repeated_entries(two_classes):
    X, y = two_classes
    given = sparse.csr_matrix(X)
    for row in range(X.shape[0]):
        part = slice(given.indptr[row], given.indptr[row + 1])
        given.indices[part] = given.indices[part][::-1]
        given.data[part] = given.data[part][::-1]
    given.has_sorted_indices = False
    np.testing.assert_allclose(_decisions(given, y, X), _decisions(X, y, X), rtol=1e-9)
    halves = sparse.coo_matrix(
        (np.tile(X.ravel() / 2, 2), (np.tile(np.repeat(np.arange(120), 8), 2), np.tile(np.arange(8), 240)))
    )
    np.testing.assert_allclose(_decisions(halves, y, X), _decisions(X, y, X), rtol=1e-9)


def test_what_is_borrowed():
    context = _core.Context()
    X = np.ones((50, 7))
    assert make_dataset(context, X).is_borrowed
    assert make_dataset(context, X.astype(np.float32)).is_borrowed
    assert not make_dataset(context, np.asfortranarray(X)).is_borrowed
    assert not make_dataset(context, X, precision="float32").is_borrowed
    for index in (np.int32, np.int64):
        table = sparse.csr_matrix(X)
        table.indices, table.indptr = table.indices.astype(index), table.indptr.astype(index)
        assert make_dataset(context, table).is_borrowed


MEASURE = """
import resource, sys
import numpy as np
import sheaf
rows, columns = 200_000, 100
X = np.empty((rows, columns), dtype=np.{dtype})
rng = np.random.default_rng(0)
for begin in range(0, rows, 1000):
    X[begin:begin + 1000] = rng.standard_normal((1000, columns))
y = (X[:, 0] > 0).astype(np.int32)
sheaf.LogisticRegression(max_iter=2).fit(X[:1000], y[:1000])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sheaf.LogisticRegression(max_iter=2).fit(X, y)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / X.nbytes)
"""


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_fit_makes_no_copy_of_the_data(dtype):
    command = [sys.executable, "-W", "ignore", "-c", MEASURE.format(dtype=dtype)]
    share = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert share < 0.5, "the fit allocated this share of the memory of X"


def test_names_of_pandas(two_classes):
    X, y = two_classes
    frame = pd.DataFrame(X, columns=[f"gene{j}" for j in range(8)])
    model = sheaf.LogisticRegression().fit(frame, y)
    assert model.feature_names_in_.tolist() == list(frame.columns)
    assert "gene7" in model._model.text()
    with pytest.raises(ValueError, match="feature names"):
        model.predict(frame[frame.columns[::-1]])
    selector = sheaf.InformationSelector(n_features_to_select=2).fit(frame, y)
    assert set(selector.get_feature_names_out()) <= set(frame.columns)


def test_precision(two_classes):
    X, y = two_classes
    double = sheaf.LogisticRegression(tol=1e-6).fit(X, y).coef_
    single = sheaf.LogisticRegression(tol=1e-6, precision="float32").fit(X, y).coef_
    assert 0 < np.abs(double - single).max() < 1e-3
    with pytest.raises(ValueError, match="precision must be"):
        sheaf.LogisticRegression(precision="half").fit(X, y)


def test_threads_change_nothing(two_classes):
    X, y = two_classes
    for kind in ("LogisticRegression", "SVC", "ElasticNetLogistic"):
        one, two = (getattr(sheaf, kind)(n_threads=n).fit(X, y).decision_function(X) for n in (1, 2))
        np.testing.assert_array_equal(one, two)


def test_sparse_matrices_of_the_caller_stay_as_they_are():
    parts = np.ones(6), np.array([2, 0, 1, 2, 1, 1]), np.array([0, 2, 3, 6])
    X = sparse.csr_matrix(parts, shape=(3, 3))
    whole = X.toarray()
    ours = sheaf.Ridge().fit(X, [1.0, 2.0, 4.0])
    assert X.nnz == 6 and X.indices.tolist() == [2, 0, 1, 2, 1, 1]
    np.testing.assert_allclose(ours.coef_, sheaf.Ridge().fit(whole, [1.0, 2.0, 4.0]).coef_)


def test_threads_follow_the_surroundings(monkeypatch):
    from sheaf._data import _threads_of

    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    assert _threads_of(sheaf.Ridge()) == 1
    assert _threads_of(sheaf.Ridge(n_threads=3)) == 3
    assert _threads_of(sheaf.KNeighborsClassifier(n_jobs=2)) == 2
    monkeypatch.delenv("OMP_NUM_THREADS")
    assert _threads_of(sheaf.Ridge()) is None


def test_no_bar_in_a_pipe():
    program = (
        "import sheaf, numpy\n"
        "X = numpy.random.RandomState(0).rand(3000, 60)\n"
        "sheaf._data._LISTEN_AFTER = 0\n"
        "sheaf.SVC(verbose=1, C=1e4, gamma=1).fit(X, X[:, 0] + 0.5 * X[:, 1] > 0.75)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "" and done.stderr == ""
