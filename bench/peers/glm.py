"""Penalised generalised linear models by scikit-learn: LogisticRegression (L-BFGS), PoissonRegressor, GammaRegressor.

Arguments: table (LIBSVM format, may be compressed by xz), family, alpha (of the mean loss), divisor of all values, dense or sparse.
Prints for several tolerances: tolerance, seconds, iterations, objective (the mean loss, without terms that do not depend on the weights,
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
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor

warnings.simplefilter("ignore")
table, family, alpha, divisor, storage = sys.argv[1:6]
alpha = float(alpha)
source = io.BytesIO(lzma.open(table).read()) if table.endswith(".xz") else table
x, y = load_svmlight_file(source, dtype=np.float32)
x = x / np.float32(divisor)
if storage == "dense":
    x = np.ascontiguousarray(x.toarray())

for tolerance in (1e-2, 1e-3, 1e-4, 1e-5):
    rows = len(y)
    if family in ("multinomial", "binomial"):
        # Version 1.2 compares the gradient of the sum with tol, newer ones that of the mean.
        scale = rows if tuple(map(int, __import__("sklearn").__version__.split(".")[:2])) < (1, 3) else 1
        model = LogisticRegression(C=1 / (alpha * rows), solver="lbfgs", tol=tolerance * scale, max_iter=10000)
    else:
        kind = {"poisson": PoissonRegressor, "gamma": GammaRegressor}[family]
        model = kind(alpha=alpha, tol=tolerance, max_iter=10000)
    begin = time.perf_counter()
    model.fit(x, y)
    seconds = time.perf_counter() - begin
    z = x @ model.coef_.T.astype(np.float64) + model.intercept_
    if family == "multinomial":
        loss = logsumexp(z, axis=1) - z[np.arange(rows), np.searchsorted(model.classes_, y)]
    elif family == "binomial":
        loss = np.logaddexp(0, -np.where(y == model.classes_[1], 1, -1) * z.ravel())
    else:
        loss = np.exp(z) - y * z if family == "poisson" else z + y * np.exp(-z)
    objective = loss.mean() + alpha / 2 * (model.coef_.astype(np.float64) ** 2).sum()
    print(tolerance, seconds, int(np.max(model.n_iter_)), repr(float(objective)), flush=True)
