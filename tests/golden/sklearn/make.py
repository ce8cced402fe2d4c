#!/usr/bin/env python3
"""Fits models with scikit-learn (Debian: python3-sklearn) and writes nets.json, linear.json and kernel.json.

    python3 make.py                     all of them
    python3 make.py ../grouped_nets.txt ../data grouped_nets.json    several targets
    python3 make.py ../limits_nets.txt ../data limits_nets.json      no weight below 0
    python3 make.py LIST DATA OUTPUT    elastic nets of a list such as ../nets.txt alone; DATA is a folder of NAME.libsvm

Every model is fitted to a tolerance far below what the tests compare to. Classes are +1 for the larger label and -1 for the
smaller one, as scikit-learn counts them.
"""
import json
import os
import sys
import warnings

import numpy as np
import sklearn
from sklearn.datasets import load_svmlight_file
from sklearn.linear_model import ElasticNet, Lasso, LogisticRegression, MultiTaskElasticNet, Ridge
from sklearn.svm import NuSVC, OneClassSVM, SVC, SVR, LinearSVC, LinearSVR

warnings.simplefilter("error")  # a model that did not converge
here = os.path.dirname(os.path.abspath(__file__))
nets_only = len(sys.argv) > 1
net_list, folder, nets_output = sys.argv[1:] if nets_only else (f"{here}/../nets.txt", f"{here}/../data", f"{here}/nets.json")


def load(name):
    x, y = load_svmlight_file(f"{folder}/{name}.libsvm")
    return x.toarray(), y


def row_weights(weighted, rows):
    return 1.0 + np.arange(1, rows + 1) % 3 if weighted else np.ones(rows)


def write(name, cases):
    with open(name, "w") as file:
        lines = ",\n".join("  " + json.dumps(case) for case in cases)
        file.write(f'{{"program": "scikit-learn {sklearn.__version__}", "cases": [\n{lines}]}}\n')


# Elastic nets, in the form of ../glmnet/results.json.
def net(data, logistic, l1_ratio, weighted, intercept, positive):
    x, y = load(data)
    s = row_weights(weighted, len(y))
    if logistic:
        y = np.where(y == y.max(), 1.0, -1.0)
    centred = y - (s @ y) / s.sum() if intercept else y
    largest = np.abs(x.T @ (s * centred)).max() / s.sum() / l1_ratio / (2 if logistic else 1)
    path = []
    for share in (0.5, 0.2, 0.1, 0.05):
        alpha = float(f"{largest * share:.4g}")
        if not logistic:
            kind = Lasso if l1_ratio == 1 else ElasticNet
            more = {"positive": positive} if l1_ratio == 1 else {"l1_ratio": l1_ratio, "positive": positive}
            model = kind(alpha=alpha, tol=1e-14, max_iter=10**7, fit_intercept=intercept, **more).fit(x, y, s)
            b, w = model.intercept_ if intercept else 0.0, model.coef_
        elif l1_ratio == 1 and not intercept:
            model = LogisticRegression(penalty="l1", solver="liblinear", C=1 / (alpha * s.sum()), tol=1e-10,
                                       max_iter=10**6, fit_intercept=False).fit(x, y, s)
            b, w = 0.0, model.coef_[0]
        else:
            model = LogisticRegression(penalty="elasticnet", solver="saga", l1_ratio=l1_ratio, C=1 / (alpha * s.sum()),
                                       tol=1e-10, max_iter=10**6, fit_intercept=intercept, random_state=1).fit(x, y, s)
            b, w = (model.intercept_[0] if intercept else 0.0), model.coef_[0]
        path.append({"alpha": alpha, "intercept": float(b), "weights": [float(v) if v else 0 for v in w]})
    limits = {"limits": [0, None]} if positive else {}
    return {"data": data, "loss": "logistic" if logistic else "squared", "l1_ratio": l1_ratio, "standardise": False, **limits,
            "intercept": intercept, "row_weights": list(s) if weighted else [], "penalty_factors": [], "path": path}


# Several targets in one model, the penalty that of the lengths of features' weights; the targets of ../grouped_nets.txt.
def targets_net(data, l1_ratio, intercept):
    x, y = load(data)
    targets = np.column_stack([y, np.sqrt(np.abs(y)), np.arange(1, len(y) + 1) % 3])
    centred = targets - targets.mean(axis=0) if intercept else targets
    largest = np.linalg.norm(x.T @ centred, axis=1).max() / len(y) / l1_ratio
    path = []
    for share in (0.5, 0.2, 0.1, 0.05):
        alpha = float(f"{largest * share:.4g}")
        model = MultiTaskElasticNet(alpha=alpha, l1_ratio=l1_ratio, tol=1e-14, max_iter=10**7, fit_intercept=intercept).fit(x, targets)
        intercepts = model.intercept_ if intercept else np.zeros(3)
        path.append({"alpha": alpha, "intercept": [float(b) for b in intercepts],
                     "weights": [[float(v) if v else 0 for v in w] for w in model.coef_]})
    return {"data": data, "loss": "targets", "l1_ratio": l1_ratio, "standardise": False, "intercept": intercept, "row_weights": [],
            "penalty_factors": [], "path": path}


def nets():
    with open(net_list) as file:
        lines = file.read().splitlines()
    for line in lines:
        data, loss, l1_ratio, *more = line.split()
        if data == "#" or loss not in ("squared", "logistic", "targets") or {"standardise", "factors", "exposed", "boxed"} & set(more):
            continue
        if "positive" in more and loss != "squared":
            continue
        if loss == "targets":
            if "weighted" not in more:
                yield targets_net(data, float(l1_ratio), "no_intercept" not in more)
            continue
        yield net(data, loss == "logistic", float(l1_ratio), "weighted" in more, "no_intercept" not in more, "positive" in more)


write(nets_output, nets())
if nets_only:
    sys.exit()


# Linear models with an L2 penalty: w'w / 2 + C * sum s * loss, the intercept penalised (as one more feature of value 1) or not.
def linear(data, loss, cost, model, penalise_intercept, weighted=False, epsilon=0.0):
    x, y = load(data)
    s = row_weights(weighted, len(y))
    if loss in ("logistic", "squared_hinge"):
        y = np.where(y == y.max(), 1.0, -1.0)
    model.fit(x, y, s)
    return {"data": data, "loss": loss, "cost": cost, "epsilon": epsilon, "penalise_intercept": penalise_intercept,
            "row_weights": list(s) if weighted else [], "intercept": float(np.ravel(model.intercept_)[0]),
            "weights": [float(v) for v in np.ravel(model.coef_)]}


def logistic(cost, solver):
    return LogisticRegression(C=cost, solver=solver, tol=1e-12 if solver == "liblinear" else 1e-10, max_iter=10**6)


write(f"{here}/linear.json", [
    linear("heart_scale", "logistic", 1, logistic(1, "liblinear"), True),
    linear("heart_scale", "logistic", 0.25, logistic(0.25, "newton-cholesky"), False, weighted=True),
    linear("sonar_scale", "logistic", 2, logistic(2, "newton-cholesky"), False),
    linear("ionosphere", "logistic", 0.5, logistic(0.5, "liblinear"), True, weighted=True),
    linear("wide_classes", "logistic", 1, logistic(1, "newton-cholesky"), False),
    linear("sparse_classes", "logistic", 4, logistic(4, "newton-cholesky"), False),
    linear("heart_scale", "squared_hinge", 0.5, LinearSVC(C=0.5, dual=False, tol=1e-12, max_iter=10**6), True),
    linear("sonar_scale", "squared_hinge", 0.1, LinearSVC(C=0.1, dual=False, tol=1e-12, max_iter=10**6), True, weighted=True),
    # Ridge: sum s (y - z)^2 + alpha w'w, so that C of (y - z)^2 / 2 is 1 / alpha.
    linear("diabetes_reg_scale", "squared", 0.5, Ridge(alpha=2, solver="cholesky"), False),
    linear("diabetes_reg_scale", "squared", 4, Ridge(alpha=0.25, solver="cholesky"), False, weighted=True),
    linear("wide", "squared", 0.125, Ridge(alpha=8, solver="cholesky"), False),
    linear("diabetes_reg_scale", "squared_tube", 0.5,
           LinearSVR(C=0.5, epsilon=4, loss="squared_epsilon_insensitive", dual=False, tol=1e-12, max_iter=10**6), True,
           epsilon=4),
])


# Kernel SVMs. Decision values of every pair of classes, positive for the smaller label. (scikit-learn turns the sign where there
# are two classes.)
def kernel(data, kind, model):
    x, y = load(data)
    if kind == "one_class":
        model.fit(x)
    else:
        model.fit(x, y)
    values = model.predict(x) if kind.endswith("svr") else model.decision_function(x)
    labels = sorted(set(y.tolist())) if kind in ("c_svc", "nu_svc") else []
    values = np.reshape(-values if len(labels) == 2 else values, (len(y), -1))
    return {"data": data, "kind": kind, "kernel": model.kernel, "degree": model.degree, "coef0": model.coef0,
            **{key: model.get_params()[key] for key in ("gamma", "C", "nu", "epsilon") if key in model.get_params()},
            "tolerance": model.tol, "labels": labels, "support_vectors": int(sum(model.n_support_)),
            "decisions": [[float(f"{v:.9g}") for v in row] for row in values]}


ovo = {"decision_function_shape": "ovo", "tol": 1e-6}
write(f"{here}/kernel.json", [
    kernel("heart_scale", "c_svc", SVC(C=2, gamma=0.125, **ovo)),
    kernel("heart_scale", "c_svc", SVC(C=1, kernel="linear", gamma=1, **ovo)),
    kernel("heart_scale", "c_svc", SVC(C=1, kernel="poly", degree=2, gamma=0.125, coef0=1, **ovo)),
    kernel("heart_scale", "nu_svc", NuSVC(nu=0.25, gamma=0.125, **ovo)),
    kernel("heart_scale", "one_class", OneClassSVM(nu=0.25, gamma=0.0625, tol=1e-6)),
    kernel("iris", "c_svc", SVC(C=1, gamma=0.5, **ovo)),
    kernel("iris", "nu_svc", NuSVC(nu=0.25, gamma=0.5, **ovo)),
    kernel("glass", "c_svc", SVC(C=32, gamma=0.5, **ovo)),
    kernel("sonar_scale", "c_svc", SVC(C=16, gamma=0.125, **ovo)),
    kernel("wide_classes", "c_svc", SVC(C=1, gamma=0.0078125, **ovo)),
    kernel("diabetes_reg_scale", "epsilon_svr", SVR(C=64, epsilon=16, gamma=0.125, tol=1e-6)),
])
