"""Several kinds of models compared: what is chosen, its scores, and the same as the command line finds."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.optimize import minimize
from sklearn.datasets import load_diabetes, load_iris, make_circles
from sklearn.exceptions import NotFittedError
from sklearn.metrics import accuracy_score, log_loss, roc_auc_score
from sklearn.model_selection import GroupKFold, KFold, StratifiedKFold, cross_val_score
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import sheaf


def _ring(rows=160, seed=0):
    """A class around the other, with features on different scales."""
    X, y = make_circles(rows, noise=0.12, factor=0.4, random_state=seed)
    return X * [1, 100], y


def _command_line(tmp_path, X, y, *flags):
    """results.json of `sheaf search`."""
    table = pd.DataFrame(X, columns=[f"f{k}" for k in range(X.shape[1])]).assign(label=y)
    table.to_csv(tmp_path / "table.csv", index=False)
    command = [sys.executable, "-m", "sheaf", "search", "table.csv", "--output", "found", "--quiet", *flags]
    subprocess.run(command, cwd=tmp_path, check=True)
    return json.loads((tmp_path / "found/results.json").read_text())


def _check_same(model, expected):
    board = model.leaderboard_
    assert board["model"].tolist() == [row["model"] for row in expected["models"]]
    np.testing.assert_allclose(board["mean_score"], [row["score"]["mean"] for row in expected["models"]], rtol=1e-12)
    np.testing.assert_allclose(board["difference"], [row["difference"] for row in expected["models"]], atol=1e-12)
    for low, high, row in zip(board["difference_low"], board["difference_high"], expected["models"]):
        np.testing.assert_allclose([low, high], row["interval"] or [np.nan, np.nan], atol=1e-12)
    assert board["n_points"].tolist() == [row["points"] for row in expected["models"]]
    chosen = expected["chosen"]
    assert model.best_model_ == chosen["model"]
    assert model.best_params_ == {name: chosen[name] for name in model.best_params_}
    np.testing.assert_allclose(model.best_score_, chosen[model.scoring_]["mean"], rtol=1e-12)


def test_a_stack_is_the_mean_of_its_members(tmp_path):
    X, y = _ring()
    model = sheaf.AutoClassifier("knn,svm", stack=2, outer=3, random_state=3).fit(X, y)
    assert model.best_model_ == "stack" and model.best_params_ == {}
    assert model.stack_weights_ is not None and sum(model.stack_weights_.values()) == pytest.approx(1)
    flags = ["--model", "knn,svm", "--stack", "2", "--folds", "5", "--seed", "3", "--outer", "3"]
    expected = _command_line(tmp_path, X, y, *flags)
    _check_same(model, expected)
    weights = {member["model"]: member["weight"] for member in expected["stack"]["members"]}
    assert weights == pytest.approx(model.stack_weights_, rel=1e-9)
    assert model.nested_score_ == pytest.approx(expected["outer"]["accuracy"]["mean"], rel=1e-12)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(model.predict(X), model.classes_[shares.argmax(axis=1)])
    logarithms = np.log(np.maximum(shares, 1e-15))
    np.testing.assert_allclose(model.decision_function(X), logarithms[:, 1] - logarithms[:, 0], rtol=1e-6, atol=1e-12)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict_proba(X), shares)
    assert sheaf.AutoClassifier("knn,svm", random_state=3).fit(X, y).stack_weights_ is None
    with pytest.raises(ValueError, match="several models"):
        sheaf.AutoClassifier("linear", stack=2).fit(X, y)


def test_weights_of_a_stack_are_the_optimum_of_scipy(tmp_path):
    """On the held-out predictions that the command line writes, of classes and of numbers."""
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], y[:150]
    for labels, names in ((np.where(y > np.median(y), "high", "low"), "linear,knn,svm"), (y, "ridge,knn,svm")):
        found = _command_line(tmp_path, X, labels, "--model", names, "--stack", "3", "--folds", "4", "--force")
        table = pd.read_csv(tmp_path / "found/stack.csv")
        members = [member["model"] for member in found["stack"]["members"]]
        weights = np.array([member["weight"] for member in found["stack"]["members"]])
        if found["classes"]:
            columns = [[f"{name}: probability of {label}" for name in members] for label in table["truth"]]
            values = np.array([table.loc[row, names].to_numpy(dtype=float) for row, names in enumerate(columns)])

            def loss(w, values=values):
                return -np.log(np.maximum(values, 1e-15) @ w).mean()

        else:
            values, truth = table[[f"{name}: prediction" for name in members]].to_numpy(), table["truth"].to_numpy()

            def loss(w, values=values, truth=truth):
                return ((values @ w - truth) ** 2).mean() / truth.var()

        whole = {"type": "eq", "fun": lambda w: w.sum() - 1}
        starts = np.random.default_rng(0).dirichlet(np.ones(len(members)), 5)
        best = min(
            minimize(loss, start, bounds=[(0, 1)] * len(members), constraints=whole, options={"ftol": 1e-14}).fun
            for start in starts
        )
        assert loss(weights) == pytest.approx(best, abs=1e-8)


def test_a_ring_is_not_linear():
    X, y = _ring()
    model = sheaf.AutoClassifier(random_state=1).fit(X, y)
    assert model.best_model_ in ("svm", "knn")
    new, labels = _ring(seed=1)
    assert model.score(new, labels) > 0.95
    assert accuracy_score(labels, model.predict(new)) == model.score(new, labels)
    board = model.leaderboard_
    assert {"linear", "svm", "knn"} <= set(board["model"])
    kept = board["mean_score"][~board["dropped"]]
    assert board["model"][0] == model.best_model_ and kept[0] == pytest.approx(model.best_score_)
    assert (np.diff(kept) <= 0).all()
    np.testing.assert_allclose(board["difference"], board["mean_score"] - model.best_score_, atol=1e-12)
    assert np.isnan(board["difference_low"][0]) and len(pd.DataFrame(board)) == len(board["model"])
    assert "scaled" in model.steps_ and model.nested_score_ is None


def test_the_command_line_finds_the_same_classes(tmp_path):
    X, y = _ring()
    X[3, 0] = X[8, 1] = np.nan
    expected = _command_line(tmp_path, X, y, "--folds", "5", "--seed", "3", "--outer", "3")
    model = sheaf.AutoClassifier(random_state=3, outer=3).fit(X, y)
    _check_same(model, expected)
    np.testing.assert_allclose(model.nested_score_, expected["outer"][model.scoring_]["mean"], rtol=1e-12)


def test_the_command_line_finds_the_same_numbers(tmp_path):
    X, y = load_diabetes(return_X_y=True)
    X, y = X[:150], y[:150]
    flags = ("--folds", "4", "--seed", "2", "--model", "elastic-net,svm,knn", "--score", "mean-absolute-error")
    expected = _command_line(tmp_path, X, y, *flags)
    model = sheaf.AutoRegressor("elastic-net,svm,knn", cv=4, random_state=2, scoring="mean-absolute-error").fit(X, y)
    _check_same(model, expected)
    negative = sheaf.AutoRegressor(["elastic-net", "svm", "knn"], cv=4, random_state=2)
    negative.set_params(scoring="neg_mean_absolute_error").fit(X, y)
    assert negative.best_score_ == -model.best_score_ < 0
    np.testing.assert_array_equal(negative.leaderboard_["mean_score"], -model.leaderboard_["mean_score"])
    for name, other in (("difference", "difference"), ("difference_low", "difference_high")):
        np.testing.assert_array_equal(negative.leaderboard_[name], -model.leaderboard_[other])


def test_an_honest_estimate_of_a_choice_that_finds_nothing():
    rng = np.random.RandomState(0)
    X, y = rng.normal(size=(80, 40)), np.arange(80) % 2
    model = sheaf.AutoClassifier(["linear", "knn"], outer=5, cv=3).fit(X, y)
    assert model.nested_score_ < model.best_score_
    assert abs(model.nested_score_ - 0.5) < 0.2


def test_splits_are_those_of_a_splitter():
    X, y = load_iris(return_X_y=True)
    splitter = StratifiedKFold(4, shuffle=True, random_state=1)
    by_splitter = sheaf.AutoClassifier("linear,svm", cv=splitter).fit(X, y)
    by_rows = sheaf.AutoClassifier("linear,svm", cv=splitter.split(X, y)).fit(X, y)
    assert by_splitter.best_params_ == by_rows.best_params_ and by_splitter.best_score_ == by_rows.best_score_
    assert by_rows.leaderboard_["mean_score"].tolist() == by_splitter.leaderboard_["mean_score"].tolist()


@pytest.mark.parametrize("scoring", ["r2", "neg_mean_squared_error"])
def test_scores_on_given_splits_are_those_of_scikit_learn(scoring):
    X, y = load_diabetes(return_X_y=True)
    splits = list(KFold(4, shuffle=True, random_state=1).split(X, y))
    model = sheaf.AutoRegressor("knn", cv=splits, scoring=scoring).fit(X, y)
    assert model.best_params_["metric"] == "euclidean" and model.best_params_["vote"] == "uniform"
    peer = make_pipeline(StandardScaler(), KNeighborsRegressor(int(model.best_params_["k"])))
    scores = cross_val_score(peer, X, y, cv=splits, scoring=scoring)
    assert model.best_score_ == pytest.approx(scores.mean(), rel=1e-9)
    assert model.leaderboard_["std_score"][0] == pytest.approx(scores.std(ddof=1), rel=1e-9)
    np.testing.assert_allclose(model.predict(X), peer.fit(X, y).predict(X), rtol=1e-9)


def test_groups_stay_together():
    rng = np.random.RandomState(3)
    centres = rng.normal(size=(20, 5))
    groups = np.repeat(np.arange(20), 6)
    X, y = centres[groups] + 0.01 * rng.normal(size=(120, 5)), rng.permutation(np.arange(20) % 2)[groups]
    apart = sheaf.AutoClassifier("knn", random_state=0).fit(X, y)
    together = sheaf.AutoClassifier("knn", random_state=0).fit(X, y, groups=[f"patient {g}" for g in groups])
    by_splitter = sheaf.AutoClassifier("knn", cv=GroupKFold(5)).fit(X, y, groups=groups)
    assert apart.best_score_ > 0.95  # a row's neighbours are of its own group
    assert together.best_score_ < 0.8 and by_splitter.best_score_ < 0.8
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        together.fit(X, y, groups=groups[1:])


def test_weights_of_rows():
    X, y = _ring()
    weights = np.random.RandomState(0).randint(0, 3, len(y))
    splits = [(np.arange(len(y))[k::2], np.arange(len(y))[1 - k :: 2]) for k in range(2)]
    weighted = sheaf.AutoClassifier("svm,knn", cv=splits).fit(X, y, sample_weight=weights)
    kept = weights > 0
    places = np.cumsum(kept) - 1
    fewer = [tuple(places[part[kept[part]]] for part in split) for split in splits]
    alone = sheaf.AutoClassifier("svm,knn", cv=fewer).fit(X[kept], y[kept], sample_weight=weights[kept])
    assert weighted.leaderboard_["mean_score"].tolist() == alone.leaderboard_["mean_score"].tolist()
    np.testing.assert_array_equal(weighted.decision_function(X), alone.decision_function(X))
    plain = sheaf.AutoRegressor("elastic-net").fit(X[:, :1], X[:, 1])
    twice = sheaf.AutoRegressor("elastic-net").fit(X[:, :1], X[:, 1], sample_weight=np.full(len(y), 2.0))
    assert twice.best_score_ == pytest.approx(plain.best_score_, abs=1e-3)
    with pytest.raises(ValueError, match="Negative"):
        plain.fit(X[:, :1], X[:, 1], sample_weight=-weights)


def test_missing_values_are_filled():
    X, y = load_iris(return_X_y=True)
    holes = X.copy()
    holes[np.random.RandomState(0).uniform(size=X.shape) < 0.1] = np.nan
    model = sheaf.AutoClassifier("linear,svm", random_state=0).fit(holes, y)
    assert "median" in model.steps_
    filled = np.where(np.isnan(holes), np.nanmedian(holes, axis=0), holes)
    np.testing.assert_array_equal(model.predict(holes), model.predict(filled))
    assert model.score(holes, y) > 0.85
    with pytest.raises(ValueError, match="infinity"):
        model.fit(np.where(np.isnan(holes), np.inf, holes), y)


def test_probabilities_if_the_model_has_them():
    X, y = load_iris(return_X_y=True)
    model = sheaf.AutoClassifier("linear", scoring="neg_log_loss")
    assert not hasattr(model, "predict_proba")
    with pytest.raises(NotFittedError):
        model.predict(X)
    model.fit(X, y)
    shares = model.predict_proba(X)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), model.predict(X))
    assert model.scoring_ == "log-loss" and -1 < model.best_score_ < 0
    assert log_loss(y, shares) < 1
    svm = sheaf.AutoClassifier("svm").fit(X, y)
    assert not hasattr(svm, "predict_proba")
    with pytest.raises(AttributeError, match="svm"):
        svm.predict_proba(X)
    assert svm.decision_function(X).shape == (150, 3)
    np.testing.assert_array_equal(svm.decision_function(X).argmax(axis=1), svm.predict(X))


@pytest.mark.parametrize("kind", ["linear", "svm", "knn", "elastic-net-logistic"])
def test_decision_values_of_two_classes_speak_for_the_second(kind):
    X, y = load_iris(return_X_y=True)
    X, y = X[50:], np.where(y[50:] == 1, "plain", "other")  # whose order is not that of the rows
    model = sheaf.AutoClassifier(kind, scoring="roc_auc").fit(X, y)
    values = model.decision_function(X)
    assert values.shape == (100,)
    np.testing.assert_array_equal(model.classes_[(values > 0).astype(int)][values != 0], model.predict(X)[values != 0])
    assert roc_auc_score(y == "plain", values) > 0.9 and model.scoring_ == "auc"


def test_a_pickled_model_predicts_the_same():
    X, y = _ring()
    model = sheaf.AutoClassifier(random_state=1).fit(X, y)
    other = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(other.decision_function(X), model.decision_function(X))
    assert other.best_params_ == model.best_params_ and other.notes_ == model.notes_


def test_sparse_rows_and_names_of_columns(tmp_path):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = sheaf.AutoClassifier("linear").fit(frame, y)
    np.testing.assert_array_equal(model.feature_names_in_, ["a", "b", "c", "d"])
    rows = sheaf.AutoClassifier("linear").fit(sparse.csr_matrix(X), y)
    assert rows.best_score_ == pytest.approx(model.best_score_, abs=1e-12)
    model.save_model(tmp_path / "model.txt")
    frame.assign(y=y).to_csv(tmp_path / "iris.csv", index=False)
    command = [sys.executable, "-m", "sheaf", "predict", "iris.csv", "--model-file", "model.txt", "--output", "out.csv"]
    subprocess.run(command, cwd=tmp_path, check=True, capture_output=True)
    assert pd.read_csv(tmp_path / "out.csv")["prediction"].tolist() == model.predict(frame).tolist()
    with pytest.raises(ValueError, match="could not convert|invalid"):
        model.fit(frame.assign(d="text"), y)


def test_the_number_of_threads_does_not_matter():
    X, y = _ring()
    one, two = (sheaf.AutoClassifier(n_threads=n, random_state=4).fit(X, y) for n in (1, 2))
    assert one.best_params_ == two.best_params_
    np.testing.assert_array_equal(one.decision_function(X), two.decision_function(X))


def test_warnings_and_notes():
    X, y = _ring()
    with pytest.warns(UserWarning, match="alone"):  # a copy of the label among the features
        sheaf.AutoClassifier("linear").fit(np.column_stack([X, y]), y)
    nearly = y.copy()
    nearly[0] = y[y != y[0]][0]
    with pytest.warns(UserWarning, match="nearly determines"):
        sheaf.AutoClassifier("linear").fit(np.column_stack([X, nearly]), y)
    zeros = np.random.default_rng(3).random((len(y), 4)) < 0.6  # which have no scale to make equal
    with pytest.warns(UserWarning, match="standard deviations differ"):
        sheaf.AutoClassifier("knn").fit(np.where(zeros, 0, np.arange(1, len(y) + 1)[:, None] * [1, 1, 1000, 1e5]), y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = sheaf.AutoClassifier("linear").fit(np.column_stack([X, np.ones(len(y))]), y)
    assert any("never changes" in note for note in model.notes_)
    few = np.unique(np.r_[np.flatnonzero(y == 0)[:20], np.flatnonzero(y == 1)[:3]])
    with pytest.warns(UserWarning, match="smallest class has 3 rows"):
        sheaf.AutoClassifier("linear").fit(X[few], y[few])


@pytest.mark.parametrize(
    "parameters, text",
    [
        ({"model": "tree"}, "tree"),
        ({"model": []}, "model must be"),
        ({"model": 3}, "model must be"),
        ({"model": "svm,svm"}, "twice"),
        ({"scoring": "beauty"}, "beauty"),
        ({"scoring": accuracy_score}, "scoring must be"),
        ({"scoring": "r2"}, "r2"),
        ({"outer": "many"}, "outer must be"),
        ({"outer": 3, "cv": StratifiedKFold(3)}, "nested validation"),
        ({"time_budget": -1}, "time"),
        ({"cv": 1}, "fold"),
    ],
)
def test_wrong_parameters_are_refused(parameters, text):
    X, y = _ring(60)
    with pytest.raises(ValueError, match=text):
        sheaf.AutoClassifier(**parameters).fit(X, y)


def test_a_time_budget_ends_the_search():
    X, y = load_diabetes(return_X_y=True)
    model = sheaf.AutoRegressor(time_budget=1e-6).fit(X, y)
    assert any("time" in note for note in model.notes_)
    assert np.isfinite(model.predict(X)).all()
