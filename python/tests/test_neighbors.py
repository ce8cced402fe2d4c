"""Neighbours beside scikit-learn's: nearest ones, those within a radius, and what predicts by them."""

from __future__ import annotations

import subprocess
import sys
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn import datasets, neighbors
from sklearn.preprocessing import scale

import sheaf

X, Y = scale(datasets.load_wine().data), datasets.load_wine().target
ROWS, QUERIES, CLASSES = X[:130], X[130:], Y[:130]


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine"])
def test_nearest_neighbours(metric, container):
    how = {"n_neighbors": 4, "radius": 0.3 if metric == "cosine" else 4.0, "metric": metric}
    ours = sheaf.NearestNeighbors(**how).fit(container(ROWS))
    theirs = neighbors.NearestNeighbors(**how, algorithm="brute").fit(ROWS)
    for mine, other in ((None, None), (container(QUERIES), QUERIES)):
        for a, b in zip(ours.kneighbors(mine), theirs.kneighbors(other)):
            np.testing.assert_allclose(a, b, atol=1e-7)
        distances, indices = ours.radius_neighbors(mine)
        other_distances, other_indices = theirs.radius_neighbors(other, sort_results=True)
        for row in range(len(distances)):
            np.testing.assert_allclose(distances[row], other_distances[row], atol=1e-7)
            assert set(indices[row]) == set(other_indices[row])
        for mode in ("connectivity", "distance"):
            graph, other_graph = ours.radius_neighbors_graph(mine, mode=mode), theirs.radius_neighbors_graph(other, mode=mode)
            np.testing.assert_allclose(graph.toarray(), other_graph.toarray(), atol=1e-7)
    nearest = ours.radius_neighbors(container(QUERIES), radius=0.0, return_distance=False)
    assert all(len(found) == 0 for found in nearest) and nearest.dtype == object


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_votes_within_a_radius(weights):
    for radius in (3.0, 6.0):
        how = {"radius": radius, "weights": weights}
        ours = sheaf.RadiusNeighborsClassifier(**how, outlier_label="most_frequent").fit(ROWS, CLASSES)
        theirs = neighbors.RadiusNeighborsClassifier(**how, outlier_label="most_frequent").fit(ROWS, CLASSES)
        assert ours.outlier_label_ == theirs.outlier_label_[0]
        for rows in (QUERIES, ROWS):  # training rows are at distance 0 of themselves
            np.testing.assert_allclose(ours.predict_proba(rows), theirs.predict_proba(rows), atol=1e-12)
            np.testing.assert_array_equal(ours.predict(rows), theirs.predict(rows))
        targets = ROWS[:, 0] * 3 + CLASSES
        ours, theirs = (
            kind(**how).fit(ROWS, targets) for kind in (sheaf.RadiusNeighborsRegressor, neighbors.RadiusNeighborsRegressor)
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_allclose(ours.predict(QUERIES), theirs.predict(QUERIES), atol=1e-12)


def test_rows_without_neighbours():
    far = np.full((1, ROWS.shape[1]), 100.0)
    with pytest.raises(ValueError, match=r"No neighbors found for test samples \[0\]"):
        sheaf.RadiusNeighborsClassifier().fit(ROWS, CLASSES).predict(far)
    labelled = sheaf.RadiusNeighborsClassifier(outlier_label=-7).fit(ROWS, CLASSES)
    assert labelled.predict(np.vstack([far, ROWS[:1]])).tolist() == [-7, CLASSES[0]]
    with pytest.warns(UserWarning, match="Outlier label -7 is not in training classes"):
        assert labelled.predict_proba(far).tolist() == [[0, 0]]
    with pytest.raises(TypeError, match="outlier_label"):
        sheaf.RadiusNeighborsClassifier(outlier_label="none").fit(ROWS, CLASSES)
    with pytest.warns(UserWarning, match="no neighbors within"):
        assert np.isnan(sheaf.RadiusNeighborsRegressor().fit(ROWS, CLASSES).predict(far)).all()


@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_graphs_of_a_radius(mode):
    ours = sheaf.RadiusNeighborsTransformer(mode=mode, radius=3).fit(ROWS)
    theirs = neighbors.RadiusNeighborsTransformer(mode=mode, radius=3).fit(ROWS)
    for rows in (ROWS, QUERIES):
        np.testing.assert_allclose(ours.transform(rows).toarray(), theirs.transform(rows).toarray(), atol=1e-7)
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_what_scikit_learn_takes_and_this_does_not():
    for how in ({"metric": lambda a, b: 0.0}, {"metric_params": {"w": [1]}}):
        with pytest.raises(ValueError, match="metric"):
            sheaf.NearestNeighbors(**how).fit(ROWS)
    with pytest.raises(ValueError, match="weights"):
        sheaf.RadiusNeighborsRegressor(weights=lambda distances: distances).fit(ROWS, CLASSES)


def test_trees_find_the_same(rows=3000):
    table = np.random.RandomState(0).rand(rows, 3)
    ours = sheaf.NearestNeighbors(n_neighbors=7, radius=0.1).fit(table)
    theirs = neighbors.NearestNeighbors(n_neighbors=7, radius=0.1, algorithm="kd_tree").fit(table)
    np.testing.assert_allclose(ours.kneighbors()[0], theirs.kneighbors()[0], atol=1e-12)
    ours_within, theirs_within = (one.radius_neighbors_graph(table[:200]) for one in (ours, theirs))
    assert (ours_within != theirs_within).nnz == 0


MEASURE = """
import resource
import numpy as np
import sheaf
rows = np.random.default_rng(0).standard_normal((100_000, 100))
targets = rows[:, 0]
sheaf.KNeighborsRegressor(n_threads=1).fit(rows[:1000], targets[:1000]).predict(rows[:100])
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
sheaf.KNeighborsRegressor(n_threads=1).fit(rows, targets).predict(rows[:100])
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024 / rows.nbytes)
"""


def test_neighbours_make_no_copy_of_the_rows():
    command = [sys.executable, "-W", "ignore", "-c", MEASURE]
    share = float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    assert share < 0.6, "training and prediction allocated this share of the memory of X"
