"""scikit-learn's ElasticNet over a grid of alpha x l1-ratio x fold, two jobs at a time.

Arguments: table (LIBSVM format), folds (one number a row), alphas, l1-ratios (comma-separated), jobs, tolerance.
Prints the seconds of the fits, then one line a fit: fold, l1-ratio, alpha, objective, nonzeros, converged.
"""
import sys
import time
import warnings

import numpy as np
import scipy.sparse as sp
from joblib import Parallel, delayed
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import ElasticNet

table, folds, alphas, ratios, jobs, tolerance = sys.argv[1:7]
x, y = load_svmlight_file(table)
fold = np.loadtxt(folds, dtype=int)


def fit(f, ratio, alpha):
    train = fold != f
    model = ElasticNet(alpha=alpha, l1_ratio=ratio, tol=float(tolerance))
    part = sp.csc_matrix(x[train])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(part, y[train])
    w = model.coef_
    residual = y[train] - part @ w - model.intercept_
    objective = (
        residual @ residual / (2 * train.sum())
        + alpha * ratio * np.abs(w).sum()
        + alpha * (1 - ratio) / 2 * (w @ w)
    )
    return f, ratio, alpha, objective, int((w != 0).sum()), int(not caught)


grid = [
    (f, float(r), float(a))
    for f in sorted(set(fold))
    for r in ratios.split(",")
    for a in alphas.split(",")
]
start = time.perf_counter()
done = Parallel(n_jobs=int(jobs))(delayed(fit)(*g) for g in grid)
print(time.perf_counter() - start)
for line in done:
    print(*line)
