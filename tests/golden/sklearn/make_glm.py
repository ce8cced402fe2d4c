#!/usr/bin/env python3
"""Fits penalised generalised linear models with scikit-learn (Debian: python3-sklearn) and writes glm.json.

    python3 make_glm.py

The objective is Sheaf's: the mean loss, weighted, without terms that do not depend on the weights, and alpha / 2 |w|^2. Weights are
feature-major with the intercept last; the columns of several classes stand in the order of their first rows.
"""
import json
import os
import warnings

import numpy as np
import sklearn
from scipy.special import logsumexp
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import GammaRegressor, LogisticRegression, PoissonRegressor, TweedieRegressor

warnings.simplefilter("error")  # a model that did not converge
here = os.path.dirname(os.path.abspath(__file__))


def load(name):
    x, y = load_svmlight_file(f"{here}/../data/{name}.libsvm")
    return x.toarray(), y


def row_weights(weighted, rows):
    return 1.0 + np.arange(1, rows + 1) % 3 if weighted else np.ones(rows)


def case(data, family, alpha, weighted, objective, weights, power=1.5):
    return {"data": data, "family": family, "alpha": alpha, "power": power, "weighted": weighted, "objective": objective,
            "weights": weights.ravel().tolist()}


def multinomial(data, alpha, weighted=False):
    x, y = load(data)
    s = row_weights(weighted, len(y))
    model = LogisticRegression(C=1 / (alpha * s.sum()), multi_class="multinomial", solver="newton-cg", tol=1e-6,
                               max_iter=10**5).fit(x, y, s)
    order = [list(model.classes_).index(label) for label in dict.fromkeys(y.tolist())]
    w, b = model.coef_[order], model.intercept_[order]
    b = b - b.mean()
    z = x @ w.T + b
    column = [list(dict.fromkeys(y.tolist())).index(label) for label in y.tolist()]
    loss = logsumexp(z, axis=1) - z[np.arange(len(y)), column]
    return case(data, "multinomial", alpha, weighted, (s @ loss) / s.sum() + alpha / 2 * (w**2).sum(), np.vstack([w.T, b]))


def regression(data, family, alpha, weighted=False, power=1.5):
    x, y = load(data)
    s = row_weights(weighted, len(y))
    options = {"alpha": alpha, "tol": 1e-8, "max_iter": 10**6}
    model = {"poisson": PoissonRegressor(**options), "gamma": GammaRegressor(**options),
             "tweedie": TweedieRegressor(power=power, link="log", **options)}[family].fit(x, y, s)
    z = x @ model.coef_ + model.intercept_
    loss = {"poisson": np.exp(z) - y * z, "gamma": z + y * np.exp(-z),
            "tweedie": y * np.exp((1 - power) * z) / (power - 1) + np.exp((2 - power) * z) / (2 - power)}[family]
    return case(data, family, alpha, weighted, (s @ loss) / s.sum() + alpha / 2 * (model.coef_**2).sum(),
                np.append(model.coef_, model.intercept_), power)


cases = [
    multinomial("iris", 0.01),
    multinomial("wine", 0.1),
    multinomial("glass", 0.001, weighted=True),
    multinomial("vowel", 0.001),
    multinomial("digits8x8", 0.01),
    regression("diabetes_reg_scale", "poisson", 1.0),
    regression("diabetes_reg_scale", "poisson", 0.01, weighted=True),
    regression("diabetes_reg_scale", "gamma", 0.1),
    regression("diabetes_reg_scale", "gamma", 0.001, weighted=True),
    regression("diabetes_reg_scale", "tweedie", 0.1),
    regression("diabetes_reg_scale", "tweedie", 0.01, weighted=True, power=1.2),
]
with open(f"{here}/glm.json", "w") as file:
    lines = ",\n".join("  " + json.dumps(one) for one in cases)
    file.write(f'{{"program": "scikit-learn {sklearn.__version__}", "cases": [\n{lines}]}}\n')
