#!/usr/bin/env python3
"""Random small datasets and settings through every family, compared with independent programs and with Sheaf itself.

    PYTHONPATH=build/python differential.py [--cases N] [--seed N] [--minutes M] [--device NAME ...] [--only NAME ...]

Each case draws a table (tall, wide, tiny, sparse, correlated, badly scaled, with constant and equal columns), a target, row
weights and the settings of one estimator, and checks, within the tolerance stated beside each check:
  - the objective of the model is at most scikit-learn's (both solve the same convex problem), or predictions agree;
  - one thread and several give the same bytes; float64 on every named device the same predictions;
  - a search over a grid gives the scores of single fits on the same folds.
A case is fully determined by its seed and number, which a failure prints.
"""

import argparse
import sys
import time
import warnings

import numpy as np
import scipy.sparse
import sheaf
import sklearn.linear_model
import sklearn.neighbors
import sklearn.svm
from sklearn.model_selection import KFold, StratifiedKFold

THREADS = 3


class Table:
    """One random table with targets of every type."""

    def __init__(self, random):
        shape = random.choice(["tall", "wide", "tiny", "square"])
        rows, columns = {"tall": (200, 5), "wide": (30, 80), "tiny": (12, 3), "square": (60, 40)}[shape]
        self.rows = int(rows * random.uniform(0.7, 1.3))
        self.columns = max(1, int(columns * random.uniform(0.5, 1.5)))
        x = random.normal(size=(self.rows, self.columns))
        if random.random() < 0.3:
            x = x @ random.normal(size=(self.columns, self.columns)) / np.sqrt(self.columns)
        self.scaled = random.random() < 0.2
        if self.scaled:
            x = x * 10.0 ** random.uniform(-2, 2, size=self.columns)
        if random.random() < 0.2:
            x = x + random.normal(size=self.columns) * 3
        if random.random() < 0.2 and self.columns > 2:
            x[:, 0] = 1.5
            x[:, 1] = x[:, 2]
        self.sparse = random.random() < 0.3
        if self.sparse:
            x[random.random(size=x.shape) < 0.8] = 0
        deviation = x.std(axis=0)
        weights = random.normal(size=self.columns) * (random.random(size=self.columns) < 0.4) / np.where(deviation > 0, deviation, 1)
        signal = x @ weights
        signal = signal / (signal.std() or 1) + random.normal(size=self.rows) * 0.7
        self.dense = np.ascontiguousarray(x)
        self.x = scipy.sparse.csr_matrix(x) if self.sparse else self.dense
        self.number = signal
        order = np.argsort(np.argsort(signal, kind="stable"), kind="stable")  # ranks: every class has a third, or half, of the rows
        self.two = np.array(["no", "yes"])[(order >= self.rows // 2).astype(int)]
        self.three = np.array(["a", "b", "c"])[order * 3 // self.rows]
        self.count = random.poisson(np.exp(np.clip(0.7 * signal, -3, 3))).astype(float)
        self.count[0] = max(self.count[0], 1)
        self.weight = random.choice([0.5, 1.0, 2.0, 3.0], size=self.rows) if random.random() < 0.3 else None


class Mismatch(Exception):
    pass


def expect(condition, what):
    if not condition:
        raise Mismatch(what)


def expect_close(ours, theirs, tolerance, what):
    """Within a share of the range of the expected values."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    expect(ours.shape == theirs.shape, f"{what}: shapes {ours.shape} and {theirs.shape}")
    scale = max(np.ptp(theirs), np.abs(theirs).max() * 1e-3, 1e-6) if theirs.size else 1
    worst = float(np.abs(ours - theirs).max() / scale) if theirs.size else 0
    expect(np.isfinite(ours).all() and worst <= tolerance, f"{what}: {worst:.3g} of the range apart, {tolerance:g} allowed")


def linear_values(model, table):
    z = table.x @ np.atleast_2d(model.coef_).T + np.atleast_1d(model.intercept_)
    return np.asarray(z)


def weights_of(table):
    return np.ones(table.rows) if table.weight is None else table.weight


# Objectives as scikit-learn documents them; the intercept is not penalised.
def net_objective(model, table, y, alpha, ratio):
    s = weights_of(table)
    error = y - linear_values(model, table)[:, 0]
    w = np.ravel(model.coef_)
    return (s * error**2).sum() / (2 * s.sum()) + alpha * ratio * np.abs(w).sum() + alpha * (1 - ratio) / 2 * (w**2).sum()


def logistic_objective(model, table, y, cost):
    s = weights_of(table)
    z = linear_values(model, table)
    w = np.ravel(model.coef_)
    if z.shape[1] == 1:
        sign = np.where(y == model.classes_[1], 1, -1)
        loss = np.logaddexp(0, -sign * z[:, 0])
    else:
        loss = np.logaddexp.reduce(z, axis=1) - z[np.arange(table.rows), np.searchsorted(model.classes_, y)]
    return cost * (s * loss).sum() + (w**2).sum() / 2


def expect_no_higher(ours, theirs, tolerance, what):
    expect(np.isfinite(ours) and ours <= theirs + tolerance * max(abs(theirs), 1e-12), f"{what}: objective {ours:.12g}, scikit-learn's {theirs:.12g}")


class Case:
    """Sheaf's estimator, scikit-learn's, the target, and how the two are compared."""

    def __init__(self, ours, theirs, target, compare, weighted=True):
        self.ours, self.theirs, self.target, self.compare, self.weighted = ours, theirs, target, compare, weighted


def draw_net(random, table, device):
    y = table.number
    s = weights_of(table)
    centred = table.dense - np.average(table.dense, axis=0, weights=s)
    ratio = float(random.choice([0.1, 0.5, 0.9, 1.0]))
    largest = np.abs(centred.T @ (s * (y - np.average(y, weights=s)))).max() / s.sum() / ratio
    alpha = float(largest * 10 ** random.uniform(-2.5, -0.1)) or 1.0
    return Case(sheaf.ElasticNet(alpha=alpha, l1_ratio=ratio, tol=1e-10, max_iter=100000, device=device),
                sklearn.linear_model.ElasticNet(alpha=alpha, l1_ratio=ratio, tol=1e-10, max_iter=200000), y,
                lambda a, b: expect_no_higher(net_objective(a, table, y, alpha, ratio), net_objective(b, table, y, alpha, ratio), 1e-7, "net"))


def draw_ridge(random, table, device):
    alpha = float(10 ** random.uniform(-2, 3))
    return Case(sheaf.Ridge(alpha=alpha, tol=1e-10, device=device), sklearn.linear_model.Ridge(alpha=alpha, tol=1e-12), table.number,
                lambda a, b: expect_close(linear_values(a, table), linear_values(b, table), 1e-5, "ridge"))


def draw_logistic(random, table, device):
    y = table.two if random.random() < 0.6 else table.three
    cost = float(10 ** random.uniform(-2, 2))
    return Case(sheaf.LogisticRegression(C=cost, tol=1e-10, max_iter=10000, device=device),
                sklearn.linear_model.LogisticRegression(C=cost, tol=1e-10, max_iter=100000, solver="lbfgs"), y,
                lambda a, b: expect_no_higher(logistic_objective(a, table, y, cost), logistic_objective(b, table, y, cost), 1e-6, "logistic"))


def draw_poisson(random, table, device):
    alpha = float(10 ** random.uniform(-3, 0))
    return Case(sheaf.PoissonRegressor(alpha=alpha, tol=1e-9, max_iter=10000, device=device),
                sklearn.linear_model.PoissonRegressor(alpha=alpha, tol=1e-10, max_iter=100000), table.count,
                lambda a, b: expect_close(linear_values(a, table), linear_values(b, table), 1e-3, "poisson"))


def gamma_of(table):
    """The number that 'scale' stands for without row weights; with them Sheaf weighs the variance and scikit-learn does not."""
    return float(1 / (table.columns * (table.dense.var() or 1)))


def kernel_of(random, table, kernels):
    """Kernel values are single numbers: of features on very different scales only those of distances keep their digits."""
    return "rbf" if table.scaled else str(random.choice(kernels))


def draw_svc(random, table, device):
    y = table.two if random.random() < 0.5 else table.three
    settings = {"C": float(10 ** random.uniform(-1, 2)), "kernel": kernel_of(random, table, ["linear", "rbf", "poly"]), "gamma": gamma_of(table), "tol": 1e-6}
    return Case(sheaf.SVC(**settings, decision_function_shape="ovo", device=device), sklearn.svm.SVC(**settings, decision_function_shape="ovo"), y,
                lambda a, b: expect_close(a.decision_function(table.x), b.decision_function(table.x), 2e-3, f"svc {settings['kernel']}"))


def draw_svr(random, table, device):
    settings = {"C": float(10 ** random.uniform(-1, 1.5)), "kernel": kernel_of(random, table, ["linear", "rbf"]), "gamma": gamma_of(table), "epsilon": 0.1, "tol": 1e-6}
    return Case(sheaf.SVR(**settings, device=device), sklearn.svm.SVR(**settings), table.number,
                lambda a, b: expect_close(a.predict(table.x), b.predict(table.x), 2e-3, f"svr {settings['kernel']}"))


def draw_neighbors(random, table, device):
    k = int(random.integers(1, min(8, table.rows)))
    metric = str(random.choice(["euclidean", "manhattan", "cosine"]))
    if metric == "cosine" and not np.abs(table.dense).sum(axis=1).all():
        metric = "euclidean"
    return Case(sheaf.KNeighborsRegressor(n_neighbors=k, weights="distance", metric=metric, device=device),
                sklearn.neighbors.KNeighborsRegressor(n_neighbors=k, weights="distance", metric=metric, algorithm="brute"), table.number,
                lambda a, b: expect_close(a.predict(table.x), b.predict(table.x), 1e-6, f"neighbors {metric}"), weighted=False)


DRAWS = {"net": draw_net, "ridge": draw_ridge, "logistic": draw_logistic, "poisson": draw_poisson, "svc": draw_svc, "svr": draw_svr,
         "neighbors": draw_neighbors}


def fitted(estimator, table, case):
    weight = {"sample_weight": table.weight} if case.weighted and table.weight is not None else {}
    return estimator.fit(table.x, case.target, **weight)


def predictions(model, table):
    return model.decision_function(table.x) if hasattr(model, "decision_function") else model.predict(table.x)


def compare_search(case, table):
    """Scores of a grid beside those of single fits."""
    name = {"ElasticNet": "alpha", "Ridge": "alpha", "PoissonRegressor": "alpha", "KNeighborsRegressor": "n_neighbors"}.get(type(case.ours).__name__, "C")
    value = case.ours.get_params()[name]
    grid = [1, 2, 3] if name == "n_neighbors" else [value, 3 * value]
    classes = case.target.dtype.kind == "U"
    folds = list((StratifiedKFold(3) if classes else KFold(3)).split(table.dense, case.target))
    if min(len(train) for train, _ in folds) <= max(grid if name == "n_neighbors" else [0]):
        return
    search = sheaf.SheafSearchCV(case.ours, {name: grid}, cv=folds, scoring="accuracy" if classes else "neg_mean_squared_error", refit=False).fit(table.x, case.target)
    for place, point in enumerate(search.cv_results_["params"]):
        for number, (train, test) in enumerate(folds):
            single = sheaf_clone(case.ours, **point).fit(table.x[train], case.target[train])
            predicted = single.predict(table.x[test])
            score = np.mean(predicted == case.target[test]) if classes else -np.mean((predicted - case.target[test]) ** 2)
            found = search.cv_results_[f"split{number}_test_score"][place]
            slack = 1.01 / len(test) if classes else 1e-3 * max(abs(score), np.var(case.target) * 1e-2)
            expect(abs(found - score) <= slack, f"search {point}, fold {number}: {found:.9g}, a single fit has {score:.9g}")


def sheaf_clone(estimator, **settings):
    from sklearn.base import clone

    return clone(estimator).set_params(**settings)


def check(name, seed, number, devices):
    random = np.random.default_rng([seed, number, sum(name.encode())])
    table = Table(random)
    case = DRAWS[name](random, table, "cpu")
    one = fitted(case.ours.set_params(n_threads=1), table, case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        case.compare(one, fitted(case.theirs, table, case))
    many = fitted(sheaf_clone(case.ours, n_threads=THREADS), table, case)
    expect(np.array_equal(predictions(one, table), predictions(many, table)), f"{THREADS} threads give other numbers than one")
    for device in devices:
        other = fitted(sheaf_clone(case.ours, device=device), table, case)
        expect_close(predictions(other, table), predictions(one, table), 1e-4, device)
    if number % 4 == 0:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compare_search(case, table)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=20, help="of each estimator")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=0, help="go on for so long, whatever the number of cases")
    parser.add_argument("--device", nargs="*", default=[], help="compared with the CPU")
    parser.add_argument("--only", nargs="*", default=sorted(DRAWS))
    arguments = parser.parse_args()
    end = time.monotonic() + 60 * arguments.minutes
    passed, failures, number = 0, [], arguments.first
    while number < arguments.first + arguments.cases or time.monotonic() < end:
        for name in arguments.only:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    check(name, arguments.seed, number, arguments.device)
                passed += 1
            except Exception as error:  # noqa: BLE001: every way to fail is a finding
                failures.append(f"{name}, --seed {arguments.seed} --first {number}: {type(error).__name__}: {error}")
                print(failures[-1], flush=True)
        number += 1
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
