"""Estimators of sheaf beside scikit-learn's own of the same name: one fit or prediction each, defaults of both.

Processor seconds, their ratio (above 1: sheaf takes less), and how far apart the results are.

    PYTHONPATH=build/python python3 bench/python_fits.py [CASE ...]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn import linear_model, neighbors

import sheaf


def table(rows, columns, classes=False, targets=1):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((rows, columns))
    y = X @ rng.standard_normal((columns, targets)) + rng.standard_normal((rows, targets))
    y = y[:, 0] if targets == 1 else y
    return X, y > 0 if classes else y


def fit(name, rows, columns, where=linear_model, **how):
    def run():
        X, y = table(rows, columns, classes="Logistic" in name or "Classifier" in name, targets=how.pop("targets", 1))
        models = [getattr(module, name)(**how) for module in (sheaf, where)]
        return [lambda model=model: model.fit(X, y).predict(X[:1000]) for model in models]

    return run


def nearest(rows, columns, k):
    def run():
        X = np.random.default_rng(0).random((rows, columns))
        models = [module.NearestNeighbors(n_neighbors=k) for module in (sheaf, neighbors)]
        return [lambda model=model: model.fit(X).kneighbors(X)[0] for model in models]

    return run


def one_row(name):
    def run():
        X, y = table(500, 30, classes="Logistic" in name)
        models = [getattr(module, name)().fit(X, y) for module in (sheaf, linear_model)]
        return [lambda model=model: [model.predict(X[:1]) for _ in range(1000)][-1] for model in models]

    return run


CASES = {
    "ridge": ("Ridge, 1,000,000 x 20", fit("Ridge", 1_000_000, 20)),
    "ridge_small": ("Ridge, 569 x 30", fit("Ridge", 569, 30)),
    "ridge_targets": ("Ridge, 20,000 x 100, 10 targets", fit("Ridge", 20_000, 100, targets=10)),
    "ridge_cv": ("RidgeCV, 200,000 x 20", fit("RidgeCV", 200_000, 20)),
    "lasso": ("Lasso, 1,000,000 x 20", fit("Lasso", 1_000_000, 20)),
    "lasso_cv": ("LassoCV, 200,000 x 20", fit("LassoCV", 200_000, 20)),
    "net_cv": ("ElasticNetCV, 20,000 x 100", fit("ElasticNetCV", 20_000, 100)),
    "multi_task": ("MultiTaskLasso, 20,000 x 50, 5 targets", fit("MultiTaskLasso", 20_000, 50, targets=5)),
    "logistic": ("LogisticRegression, 1,000,000 x 20", fit("LogisticRegression", 1_000_000, 20)),
    "logistic_cv": ("LogisticRegressionCV, 100,000 x 20", fit("LogisticRegressionCV", 100_000, 20)),
    "near_2": ("NearestNeighbors, 300,000 x 2, k = 5", nearest(300_000, 2, 5)),
    "near_3": ("NearestNeighbors, 200,000 x 3, k = 5", nearest(200_000, 3, 5)),
    "row_ridge": ("predict of one row, Ridge, 1,000 times", one_row("Ridge")),
    "row_logistic": ("predict of one row, LogisticRegression, 1,000 times", one_row("LogisticRegression")),
}


def processor_seconds(work):
    begin = time.process_time()
    result = work()
    return time.process_time() - begin, np.asarray(result, dtype=float)


def main():
    parser = argparse.ArgumentParser(description="sheaf's estimators beside scikit-learn's")
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (default: all)")
    warnings.simplefilter("ignore")
    sheaf.Ridge().fit(*table(10, 2))
    print(f"{'':52} {'sheaf':>8} {'sklearn':>8} {'ratio':>6}  largest difference")
    for name in parser.parse_args().cases or CASES:
        title, make = CASES[name]
        (ours, mine), (theirs, other) = (processor_seconds(work) for work in make())
        print(f"{title:52} {ours:8.3f} {theirs:8.3f} {theirs / ours:6.2f}  {np.abs(mine - other).max():.1e}", flush=True)


if __name__ == "__main__":
    main()
