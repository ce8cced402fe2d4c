#!/usr/bin/env python3
"""Covariances of weights by statsmodels (Debian: python3-statsmodels), to results.json.

    python3 make.py [DATA OUTPUT]      (../data results.json; DATA is a folder of NAME.libsvm)

`observed`: standard errors of GLM by the observed information, features in their order, then the intercept. `classes`: MNLogit
with nonrobust and HC0 covariances; its target is as many classes as there are limits and one more, the reference the last
one in the order of first rows; standard errors are of each feature in turn, the other classes side by side, then the intercepts,
and `covariance`, of some, is the HC0 matrix in that order, row by row.
"""
import json
import sys

import numpy as np
import statsmodels
import statsmodels.api as sm

data, output = sys.argv[1:] or ["../data", "results.json"]
links = sm.families.links
families = {
    "binomial": sm.families.Binomial(),
    "binomial probit": sm.families.Binomial(links.probit()),
    "binomial cloglog": sm.families.Binomial(links.cloglog()),
    "gaussian": sm.families.Gaussian(),
    "poisson": sm.families.Poisson(),
    "gamma": sm.families.Gamma(links.log()),
}


def read_libsvm(name):
    rows, targets = [], []
    for line in open(f"{data}/{name}.libsvm"):
        words = line.split()
        targets.append(float(words[0]))
        rows.append({int(k): float(v) for k, v in (word.split(":") for word in words[1:])})
    x = np.zeros((len(rows), max(max(row) for row in rows) + 1))
    for i, row in enumerate(rows):
        x[i, [j - 1 for j in row]] = list(row.values())
    x[:, -1] = 1
    return x, np.array(targets)


def one_value(name, family):
    x, y = read_libsvm(name)
    if family.startswith("binomial"):
        y = (y == (1 if y[0] == -1 else y[0])).astype(float)
    model = sm.GLM(y, x, families[family])
    fit = model.fit(tol=1e-14, maxiter=200)
    information = -model.hessian(fit.params, scale=1, observed=True)
    errors = np.sqrt(fit.scale * np.diag(np.linalg.inv(information)))
    return {"data": name, "family": family, "weights": fit.params.tolist(), "observed": errors.tolist()}


def several(name, limits, matrix=False):
    x, y = read_libsvm(name)
    classes = np.searchsorted(limits, y, side="right")
    order = list(dict.fromkeys(classes.tolist()))
    code = {c: k for k, c in enumerate([order[-1]] + order[:-1])}
    model = sm.MNLogit([code[c] for c in classes], x)
    start = model.fit(method="newton", tol=1e-10, maxiter=100, disp=False).params
    result = {"data": name, "limits": limits, "weights": start.ravel().tolist()}
    weights, others = start.shape
    places = [k * weights + j for j in range(weights) for k in range(others)]  # statsmodels: class after class
    for kind in ["nonrobust", "HC0"]:
        fit = model.fit(start_params=start.ravel("F"), method="newton", maxiter=100, tol=1e-10, disp=False, cov_type=kind)
        covariance = np.asarray(fit.cov_params())[np.ix_(places, places)]
        result[kind] = np.sqrt(np.diag(covariance)).tolist()
        if kind == "HC0" and matrix:
            result["covariance"] = covariance.ravel().tolist()
    return result


target = "diabetes_reg_scale"
cases = [one_value("heart_scale", family) for family in ["binomial", "binomial probit", "binomial cloglog"]]
cases += [one_value(target, family) for family in ["gaussian", "poisson", "gamma"]]
classes = [several(target, [95, 175], matrix=True), several(target, [80, 120, 160, 220])]
lines = [",\n".join("  " + json.dumps(one) for one in part) for part in (cases, classes)]
with open(output, "w") as file:
    file.write(f'{{"version": "{statsmodels.__version__}", "cases": [\n{lines[0]}], "classes": [\n{lines[1]}]}}\n')
