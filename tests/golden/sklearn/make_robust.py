"""Objectives of Huber and quantile regression with an L1 and an L2 penalty, by scikit-learn and SciPy (Debian: python3-sklearn); writes
robust.json.

    python3 make_robust.py

With r = y - x'w - b the objective is  sum s loss(r) / sum s + alpha l1 |w|_1 + alpha (1 - l1) / 2 |w|^2.
quantile q: loss q r where r > 0, (q - 1) r elsewhere; QuantileRegressor, which solves the linear program (l1 = 1) by HiGHS.
huber t: loss r^2 / 2 up to |r| = t and t |r| - t^2 / 2 beyond; SciPy's L-BFGS-B over the positive and negative parts of w.
Row i has weight 1 + i mod 3 (i from 1) where `weighted`; the first row has its target times ten, so that there is an outlier.
"""
import json
import os

import numpy as np
import scipy
import sklearn
from scipy.optimize import minimize
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import QuantileRegressor

here = os.path.dirname(os.path.abspath(__file__))


def table(name):
    x, y = load_svmlight_file(f"{here}/../data/{name}.libsvm")
    y[0] *= 10
    return x.toarray(), y


def quantile_objective(x, y, s, quantile, alpha):
    model = QuantileRegressor(quantile=quantile, alpha=alpha, solver="highs").fit(x, y, sample_weight=s)
    r = y - model.predict(x)
    return np.average(np.where(r > 0, quantile * r, (quantile - 1) * r), weights=s) + alpha * np.abs(model.coef_).sum()


def huber_objective(x, y, s, threshold, alpha, l1):
    features = x.shape[1]

    def value_and_slope(v):
        w = v[1 : features + 1] - v[features + 1 :]
        r = y - x @ w - v[0]
        inside = np.abs(r) <= threshold
        loss = np.where(inside, r * r / 2, threshold * np.abs(r) - threshold * threshold / 2)
        slope = -np.clip(r, -threshold, threshold) * s / s.sum()
        by_w = x.T @ slope + alpha * (1 - l1) * w
        value = np.average(loss, weights=s) + alpha * l1 * v[1:].sum() + alpha * (1 - l1) / 2 * w @ w
        return value, np.concatenate([[slope.sum()], by_w + alpha * l1, -by_w + alpha * l1])

    start = np.concatenate([[np.median(y)], np.zeros(2 * features)])
    bounds = [(None, None)] + [(0, None)] * (2 * features)
    options = {"maxiter": 100000, "maxfun": 1000000, "ftol": 1e-16, "gtol": 1e-11, "maxcor": 50}
    for _ in range(3):  # again from where it ended, for the last digits
        found = minimize(value_and_slope, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        start = found.x
    return found.fun


cases = []
for name, loss, parameter, l1_ratio, alphas, weighted in [
    ("diabetes_reg_scale", "quantile", 0.5, 1.0, [0.03, 0.005], False),
    ("diabetes_reg_scale", "quantile", 0.9, 1.0, [0.03, 0.005], True),
    ("diabetes_reg_scale", "huber", 20.0, 1.0, [1, 0.1], False),
    ("diabetes_reg_scale", "huber", 60.0, 0.3, [3, 0.3], True),
    ("wide", "quantile", 0.3, 1.0, [0.2, 0.1, 0.05], False),
    ("wide", "huber", 0.5, 0.8, [0.1, 0.05], False),
]:
    x, y = table(name)
    s = 1.0 + np.arange(1, len(y) + 1) % 3 if weighted else np.ones(len(y))
    for alpha in alphas:
        objective = (
            quantile_objective(x, y, s, parameter, alpha)
            if loss == "quantile"
            else huber_objective(x, y, s, parameter, alpha, l1_ratio)
        )
        cases.append({"data": name, "loss": loss, "parameter": parameter, "l1_ratio": l1_ratio, "alpha": alpha, "weighted": weighted,
                      "objective": objective})
with open(f"{here}/robust.json", "w") as file:
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    file.write(f'{{"program": "scikit-learn {sklearn.__version__}, SciPy {scipy.__version__}", "cases": [\n{lines}]}}\n')
