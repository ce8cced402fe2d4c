"""Cox regression: against its definition, against results of R's survival, and what is refused."""

from __future__ import annotations

import csv
import json
import pickle

import numpy as np
import pytest
from conftest import DEVICES, REPOSITORY
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, KFold

import sheaf

GOLDEN = REPOSITORY / "tests/golden/survival"


def make_rows(rows=120, features=4, seed=0):
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(rows, features))
    times = rng.exponential(np.exp(-X[:, 0] + 0.5 * X[:, 1]))
    ends = rng.exponential(2.0, size=rows)
    return X, np.column_stack([np.minimum(times, ends), times <= ends])


def slopes(X, y, w, weights):
    """Of minus the logarithm of Breslow's partial likelihood, by its definition."""
    hazard = weights * np.exp(X @ w)
    total = np.zeros(X.shape[1])
    for i in np.flatnonzero(y[:, 1]):
        risk = y[:, 0] >= y[i, 0]
        total += weights[i] * (hazard[risk] @ X[risk] / hazard[risk].sum() - X[i])
    return total


@pytest.mark.parametrize("data", ["lung", "veteran", "ovarian", "colon"])
def test_weights_are_those_of_coxph(data):
    with open(GOLDEN / f"{data}.csv", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    table = np.array(rows, dtype=float)
    known = json.loads((GOLDEN / "results.json").read_text())["models"]
    found = 0
    for model in known:
        if model["data"] != data or model["weighted"] or model["shifted"]:
            continue
        fitted = sheaf.CoxRegression(ties=model["ties"]).fit(table[:, :-2], table[:, -2:])
        np.testing.assert_allclose(fitted.coef_, model["weights"], rtol=1e-6)
        found += 1
    assert found > 0 and names[-2:] == ["time", "event"]


def read_table(data):
    with open(GOLDEN / f"{data}.csv", encoding="utf-8") as file:
        names, *rows = csv.reader(file)
    return dict(zip(names, np.array(rows, dtype=float).T))


GROUPED = json.loads((GOLDEN / "strata.json").read_text())["models"]


@pytest.mark.parametrize("known", GROUPED, ids=lambda one: "-".join(filter(None, (one["data"], one["ties"], one["strata"], one["cluster"]))))
def test_strata_late_entries_and_clusters_are_those_of_coxph(known):
    table = read_table(known["data"])
    X = np.column_stack([table[name] for name in known["features"]])
    y = np.column_stack([table[name] for name in (["start"] if known["late"] else []) + ["time", "event"]])
    weights = 1 + np.arange(1, len(X) + 1) % 3.0 if known["weighted"] else None
    strata = table.get(known["strata"])
    fitted = sheaf.CoxRegression(ties=known["ties"], tol=1e-12).fit(X, y, weights, strata=strata, cluster=table.get(known["cluster"]))
    np.testing.assert_allclose(fitted.coef_, known["weights"], rtol=1e-6)
    np.testing.assert_allclose(fitted.std_errors_, known["errors"], rtol=1e-6)
    np.testing.assert_allclose(np.sqrt(np.diag(fitted.covariance_)), known["errors"], rtol=1e-6)
    assert fitted.score(X, y, weights, strata=strata) == pytest.approx(known["concordance"], abs=1e-6)
    robust = sheaf.CoxRegression(ties=known["ties"], tol=1e-12, std_errors="HC0").fit(X, y, weights, strata=strata)
    np.testing.assert_allclose(robust.std_errors_, known["robust"], rtol=1e-6)


def test_structured_arrays_have_starts_and_strata_have_names():
    table = read_table("heart")
    X = np.column_stack([table[name] for name in ("age", "year", "transplant")])
    y = np.column_stack([table[name] for name in ("start", "time", "event")])
    kinds = [("died", bool), ("start", float), ("stop", float)]
    records = np.array(list(zip(y[:, 2] == 1, y[:, 0], y[:, 1])), dtype=kinds)
    names = np.where(table["surgery"] == 1, "yes", "no")
    model = sheaf.CoxRegression().fit(X, y, strata=table["surgery"])
    np.testing.assert_array_equal(model.coef_, sheaf.CoxRegression().fit(X, records, strata=names).coef_)
    assert model.score(X, y, strata=table["surgery"]) == model.score(X, records, strata=names)


def test_files_of_late_entries_are_read_as_fit_takes_them():
    table = read_table("heart")
    roles = {"label": "time", "event": "event", "entry": "start", "strata": "surgery", "group": "id"}
    found = sheaf.read_data(GOLDEN / "heart.csv", **roles)
    assert found.feature_names == ["age", "year", "transplant"]
    np.testing.assert_array_equal(found.target, np.column_stack([table[name] for name in ("start", "time", "event")]))
    model = sheaf.CoxRegression(tol=1e-12).fit(found.data, found.target, strata=found.strata, cluster=found.groups)
    X = np.column_stack([table[name] for name in found.feature_names])
    same = sheaf.CoxRegression(tol=1e-12).fit(X, found.target, strata=table["surgery"], cluster=table["id"])
    np.testing.assert_allclose(model.std_errors_, same.std_errors_, rtol=1e-12)


@pytest.mark.parametrize("alpha, l1_ratio", [(0.1, 0.0), (0.05, 0.7)])
def test_strata_add_up_in_penalised_models(alpha, l1_ratio):
    X, y = make_rows()
    half = np.arange(len(X)) % 2
    model = sheaf.CoxRegression(alpha, l1_ratio=l1_ratio, ties="breslow", tol=1e-11).fit(X, y, strata=half)
    w = model.coef_
    assert model.std_errors_ is None and model.covariance_ is None
    ones = np.ones(len(X))
    rest = sum(slopes(X[half == k], y[half == k], w, ones[half == k]) for k in (0, 1)) / len(X) + alpha * (1 - l1_ratio) * w
    np.testing.assert_allclose(rest[w != 0], -alpha * l1_ratio * np.sign(w[w != 0]), atol=1e-5)
    assert np.all(np.abs(rest[w == 0]) <= alpha * l1_ratio + 1e-5)


def test_features_that_the_rows_do_not_determine_have_no_error():
    X, y = make_rows()
    model = sheaf.CoxRegression().fit(np.hstack([X, X[:, :1]]), y)
    assert np.isnan(model.std_errors_).sum() == 1
    assert np.isfinite(model.std_errors_[1:4]).all()


@pytest.mark.parametrize(
    "how, given, words",
    [
        ({}, {"strata": np.zeros(119)}, "strata has 119 entries for 120 rows"),
        ({}, {"cluster": [None] * 120}, "cluster has missing values"),
        ({"alpha": 0.1}, {"cluster": np.arange(120)}, "cluster is for standard errors"),
        ({"std_errors": "observed"}, {"cluster": np.arange(120)}, "cluster is for standard errors"),
        ({"std_errors": "cluster"}, {}, "needs cluster"),
        ({}, {"cluster": np.zeros(120)}, "two groups of rows or more"),
        ({"std_errors": "HC9"}, {}, "std_errors must be one of"),
    ],
)
def test_wrong_groups_are_answered_in_words(how, given, words):
    with pytest.raises(ValueError, match=words):
        sheaf.CoxRegression(**how).fit(*make_rows(), **given)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("alpha, l1_ratio", [(0.0, 0.0), (0.1, 0.0), (0.05, 1.0), (0.05, 0.5)])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_models_are_optimal(device, alpha, l1_ratio, weighted):
    X, y = make_rows()
    weights = np.random.RandomState(1).randint(0, 3, len(X)).astype(float) if weighted else np.ones(len(X))
    model = sheaf.CoxRegression(alpha, l1_ratio=l1_ratio, ties="breslow", tol=1e-11, device=device)
    w = model.fit(X, y, weights if weighted else None).coef_
    rest = slopes(X, y, w, weights) / weights.sum() + alpha * (1 - l1_ratio) * w
    tight = alpha * l1_ratio
    np.testing.assert_allclose(rest[w != 0], -tight * np.sign(w[w != 0]), atol=1e-5)
    assert np.all(np.abs(rest[w == 0]) <= tight + 1e-5)


@pytest.mark.parametrize("ties", ["efron", "breslow"])
def test_data_in_any_form_give_the_same(ties):
    X, y = make_rows()
    y[:, 0] = np.ceil(4 * y[:, 0])  # events at the same time
    pairs = np.array([(bool(event), time) for time, event in y], dtype=[("event", bool), ("time", float)])
    model = sheaf.CoxRegression(ties=ties).fit(X, y)
    for other in (
        sheaf.CoxRegression(ties=ties).fit(X, pairs),
        sheaf.CoxRegression(ties=ties).fit(sparse.csr_matrix(X), y),
        clone(model).fit(X[::-1], y[::-1]),
    ):
        np.testing.assert_allclose(other.coef_, model.coef_, rtol=1e-6)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    np.testing.assert_allclose(model.predict(X), X @ model.coef_, atol=1e-9)
    assert model.score(X, y) == model.score(X, pairs) > 0.6


def test_scores_are_shares_of_pairs():
    X, y = make_rows(40)
    model = sheaf.CoxRegression().fit(X, y)
    risk, right, pairs = model.predict(X), 0, 0
    for i in np.flatnonzero(y[:, 1]):
        later = y[:, 0] > y[i, 0]
        right += np.sum(risk[later] < risk[i])
        pairs += np.sum(later)
    assert model.score(X, y) == pytest.approx(right / pairs, abs=1e-12)


def test_inside_scikit_learn():
    X, y = make_rows()
    search = GridSearchCV(sheaf.CoxRegression(l1_ratio=1.0), {"alpha": [0.01, 0.1, 1.0]}, cv=KFold(4)).fit(X, y)
    assert search.best_score_ > 0.6


@pytest.mark.parametrize(
    "y, words",
    [
        (np.ones(120), "two columns"),
        (np.column_stack([np.full(120, -1.0), np.ones(120)]), "times must be finite numbers of 0 or more"),
        (np.column_stack([np.ones(120), np.full(120, 2.0)]), "events must be 1"),
        (np.column_stack([np.ones(120), np.zeros(120)]), "event"),
        (np.column_stack([np.full(120, 2.0), np.ones(120), np.ones(120)]), "row 0 of y starts at 2, which must be before its time, 1"),
        (np.column_stack([np.full(120, np.nan), np.ones(120), np.ones(120)]), "starts must be finite"),
        (np.ones((120, 4)), "or three, the start, the time and the event; its shape is"),
        (np.ones((7, 2)), "inconsistent numbers of samples"),
        (np.zeros(120, dtype=[("a", bool), ("b", bool)]), "a field of bool, the event, and one of numbers"),
    ],
)
def test_wrong_targets_are_answered_in_words(y, words):
    with pytest.raises(ValueError, match=words):
        sheaf.CoxRegression().fit(make_rows()[0], y)
