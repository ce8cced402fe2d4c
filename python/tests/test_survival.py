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
        (np.ones((7, 2)), "inconsistent numbers of samples"),
        (np.zeros(120, dtype=[("a", bool), ("b", bool)]), "a field of bool, the event, and one of numbers"),
    ],
)
def test_wrong_targets_are_answered_in_words(y, words):
    with pytest.raises(ValueError, match=words):
        sheaf.CoxRegression().fit(make_rows()[0], y)
