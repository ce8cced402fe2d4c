"""Penalised generalised linear models by scikit-learn: LogisticRegression (L-BFGS), PoissonRegressor, GammaRegressor and TweedieRegressor
(their default L-BFGS, and newton-cholesky).

Arguments: table (LIBSVM format, may be compressed by xz), family, alpha (of the mean loss), divisor of all values, dense or sparse.
Prints for several tolerances: solver, tolerance, seconds, iterations, objective (the mean loss, without terms that do not depend on the weights,
and alpha / 2 |w|^2).
"""
import io
import lzma
import sys
import time
import warnings

import numpy as np
from scipy.special import logsumexp
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor

warnings.simplefilter("ignore")
table, family, alpha, divisor, storage = sys.argv[1:6]
alpha = float(alpha)
source = io.BytesIO(lzma.open(table).read()) if table.endswith(".xz") else table
x, y = load_svmlight_file(source, dtype=np.float32)
x = x / np.float32(divisor)
if storage == "dense":
    x = np.ascontiguousarray(x.toarray())

rows = len(y)


def model_of(solver, tolerance):
    """As scikit-learn's users make it."""
    if family in ("multinomial", "binomial"):
        # Version 1.2 compares the gradient of the sum with tol, newer ones that of the mean.
        scale = rows if tuple(map(int, __import__("sklearn").__version__.split(".")[:2])) < (1, 3) else 1
        return LogisticRegression(C=1 / (alpha * rows), solver=solver, tol=tolerance * scale, max_iter=10000)
    kinds = {"poisson": PoissonRegressor, "gamma": GammaRegressor}
    more = {} if family in kinds else {"power": power, "link": "log"}
    return kinds.get(family, TweedieRegressor)(alpha=alpha, tol=tolerance, max_iter=10000, solver=solver, **more)


def losses(z, classes):
    """Of each row, without what does not depend on z."""
    if family == "multinomial":
        return logsumexp(z, axis=1) - z[np.arange(rows), np.searchsorted(classes, y)]
    if family == "binomial":
        return np.logaddexp(0, -np.where(y == classes[1], 1, -1) * z.ravel())
    if family == "poisson":
        return np.exp(z) - y * z
    if family == "gamma":
        return z + y * np.exp(-z)
    return np.exp((2 - power) * z) / (2 - power) - y * np.exp((1 - power) * z) / (1 - power)


power = 1.5
for solver in ("lbfgs",) if family in ("multinomial", "binomial") else ("lbfgs", "newton-cholesky"):
    for tolerance in (1e-2, 1e-3, 1e-4, 1e-5):
        model = model_of(solver, tolerance)
        begin = time.perf_counter()
        model.fit(x, y)
        seconds = time.perf_counter() - begin
        z = x @ model.coef_.T.astype(np.float64) + model.intercept_
        objective = losses(z, getattr(model, "classes_", None)).mean() + alpha / 2 * (model.coef_.astype(np.float64) ** 2).sum()
        print(solver, tolerance, seconds, int(np.max(model.n_iter_)), repr(float(objective)), flush=True)
