#!/usr/bin/env python3
"""Runs whole workflows with scikit-learn pipelines (Debian: python3-sklearn, python3-pandas) and writes workflows.json: for each the
fold of each row, the scores on each fold, and the decision values of the rows that each fold holds out.

    python3 make.py

Everything before the model is learnt on the training rows of each fold alone. Models are fitted to a tolerance far below what the test
compares to. A constant feature of 1 that is penalised stands for the bias, unless the workflow says otherwise.
"""
import json
import os
import warnings

import numpy as np
import pandas as pd
import sklearn.exceptions
from scipy.io import arff
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_svmlight_file
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import (accuracy_score, average_precision_score, balanced_accuracy_score, brier_score_loss, f1_score, log_loss,
                             matthews_corrcoef, mean_absolute_error, mean_squared_error, precision_score, r2_score, recall_score,
                             roc_auc_score)
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (FunctionTransformer, MaxAbsScaler, MinMaxScaler, Normalizer, OneHotEncoder, RobustScaler,
                                   StandardScaler)
from sklearn.svm import SVC, SVR, LinearSVC

warnings.simplefilter("error", sklearn.exceptions.ConvergenceWarning)
here = os.path.dirname(os.path.abspath(__file__))


def svmlight(name):
    x, y = load_svmlight_file(f"{here}/../data/{name}.libsvm")
    return x, y


def with_constant():
    return FunctionTransformer(lambda x: np.hstack([x.toarray() if hasattr(x, "toarray") else x, np.ones((x.shape[0], 1))]))


def logistic(cost, **options):
    return LogisticRegression(C=cost, solver="newton-cholesky", tol=1e-9, max_iter=100000, fit_intercept=False, **options)


def scores_of(y, positive, predicted, decisions, probabilities):
    classes = sorted(set(y))
    scores = {"accuracy": accuracy_score(y, predicted), "balanced-accuracy": balanced_accuracy_score(y, predicted),
              "matthews-corrcoef": matthews_corrcoef(y, predicted), "f1-macro": f1_score(y, predicted, average="macro")}
    if len(classes) == 2:
        truth = np.asarray(y) == positive
        scores |= {"precision": precision_score(y, predicted, pos_label=positive, zero_division=0),
                   "recall": recall_score(y, predicted, pos_label=positive),
                   "f1": f1_score(y, predicted, pos_label=positive)}
        if decisions is not None:
            scores |= {"auc": roc_auc_score(truth, decisions), "average-precision": average_precision_score(truth, decisions)}
        if probabilities is not None:
            scores |= {"log-loss": log_loss(truth, probabilities), "brier-score": brier_score_loss(truth, probabilities)}
    return scores


def regression_scores(y, predicted):
    return {"r2": r2_score(y, predicted), "rmse": mean_squared_error(y, predicted, squared=False),
            "mean-absolute-error": mean_absolute_error(y, predicted)}


def run(name, x, y, folds, make, positive=None, regression=False, ranked=True, probable=False):
    rows = (lambda m: x[m]) if not isinstance(x, pd.DataFrame) else (lambda m: x[m])
    y = np.asarray(y)
    by_fold, decisions = [], [None] * len(y)
    for fold in range(max(folds) + 1):
        test = np.asarray(folds) == fold
        model = make().fit(rows(~test), y[~test])
        predicted = model.predict(rows(test))
        if regression:
            by_fold.append(regression_scores(y[test], predicted))
            values = predicted
        else:
            values = model.decision_function(rows(test)) if ranked else None
            sign = 1
            if positive is not None and ranked and model.classes_[1] != positive:
                sign = -1
            if ranked and values.ndim == 1:
                values = sign * values
            chance = model.predict_proba(rows(test))[:, list(model.classes_).index(positive)] if probable else None
            by_fold.append(scores_of(y[test], positive, predicted, values if ranked and values.ndim == 1 else None, chance))
        if regression or (ranked and values.ndim == 1):
            for i, value in zip(np.flatnonzero(test), values):
                decisions[i] = float(value)
    case = {"name": name, "folds": [int(f) for f in folds], "scores": by_fold}
    if decisions[0] is not None:
        case["decisions"] = decisions
    return case


def every(rows, folds):
    return [i % folds for i in range(rows)]


cases = []

# 1. A clinical table with categories, missing values and clinics that stay together.
clinical = pd.read_csv(f"{here}/clinical.csv")
words = ["sex", "pain", "exercise_angina", "thal"]
numbers = ["age", "pressure", "cholesterol", "sugar", "ecg", "rate", "oldpeak", "slope", "vessels"]
clinics = [sorted(set(clinical["clinic"])).index(c) % 6 for c in clinical["clinic"]]


def clinical_steps(scaler):
    columns = ColumnTransformer(
        [("numbers", SimpleImputer(strategy="median"), numbers),
         ("words", make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore", sparse_output=False)), words)])
    return [columns, scaler]


cases.append(run("clinical", clinical, clinical["disease"], clinics,
                 lambda: make_pipeline(*clinical_steps(StandardScaler()), with_constant(), logistic(0.5)), "sick", probable=True))
cases.append(run("clinical-robust", clinical, clinical["disease"], clinics,
                 lambda: make_pipeline(*clinical_steps(RobustScaler()), SVC(C=2, kernel="rbf", gamma=0.05, tol=1e-10)), "sick"))

# 2. Counts of microbes, subjects together, missing counts; centred log-ratios.
microbes = pd.read_csv(f"{here}/microbes.csv")
taxa = [c for c in microbes if c.startswith("taxon")]
subjects = [int(s.removeprefix("subject")) % 5 for s in microbes["subject"]]


def clr(x):
    logs = np.log1p(x)
    return logs - logs.mean(axis=1, keepdims=True)


cases.append(run("microbes", microbes[taxa], microbes["tissue"], subjects,
                 lambda: make_pipeline(SimpleImputer(strategy="mean"), FunctionTransformer(clr), StandardScaler(), with_constant(),
                                       logistic(0.01)), "tumour", probable=True))

# 3. Gene expression in ARFF, an SVM and its neighbours.
genes = pd.DataFrame(arff.loadarff(f"{here}/genes.arff")[0])
label = genes.columns[-1]
diagnosis = genes[label].str.decode("utf-8")
genes = genes.drop(columns=label).to_numpy()
cases.append(run("genes", genes, diagnosis, every(len(genes), 4),
                 lambda: make_pipeline(StandardScaler(), SVC(C=1, kernel="linear", tol=1e-10)), sorted(set(diagnosis))[-1]))
cases.append(run("genes-neighbours", genes, diagnosis, every(len(genes), 4),
                 lambda: make_pipeline(MinMaxScaler(), KNeighborsClassifier(n_neighbors=5)), sorted(set(diagnosis))[-1], ranked=False))

# 4. Documents: sparse rows of length 1.
x, y = svmlight("sparse_classes")
cases.append(run("text", x, y, every(len(y), 5),
                 lambda: make_pipeline(Normalizer(), with_constant(),
                                       LinearSVC(C=4, dual=False, tol=1e-12, fit_intercept=False, max_iter=100000)), 1))

# 5. A regression: ridge with a free intercept, and an SVM.
x, y = svmlight("diabetes_reg_scale")
x = x.toarray()
cases.append(run("regression", x, y, every(len(y), 5), lambda: make_pipeline(StandardScaler(), Ridge(alpha=1 / (2 * 0.05))), regression=True))
cases.append(run("regression-svm", x, y, every(len(y), 5),
                 lambda: make_pipeline(StandardScaler(), SVR(C=50, gamma=0.05, epsilon=5, tol=1e-10)), regression=True))

# 6. Three classes of very different size, weighted.
x, y = svmlight("wine")
x = x.toarray()
keep = [i for i in range(len(y)) if y[i] != 3 or i % 4 == 0]
cases.append(run("three-classes", x[keep], y[keep].astype(int), every(len(keep), 4),
                 lambda: make_pipeline(MinMaxScaler((-1, 1)),
                                       LogisticRegression(C=1, solver="liblinear", tol=1e-12, max_iter=100000, multi_class="ovr",
                                                          class_weight="balanced"))))
cases[-1]["rows"] = keep

# 7. Many more features than rows, labels that were shuffled: nothing to find.
x, y = svmlight("wide_classes")
x = x.toarray()
shuffled = np.random.RandomState(3).permutation(y)
cases.append(run("shuffled", x, shuffled, every(len(y), 5),
                 lambda: make_pipeline(VarianceThreshold(0.5), StandardScaler(), with_constant(), logistic(1)), 1, probable=True))
cases[-1]["labels"] = [int(v) for v in shuffled]

# 8. A LIBSVM file, scaled by its largest magnitudes.
x, y = svmlight("ionosphere")
cases.append(run("libsvm-file", x, y, every(len(y), 5), lambda: make_pipeline(MaxAbsScaler(), with_constant(), logistic(10)), 1, probable=True))

with open(f"{here}/workflows.json", "w") as file:
    lines = ",\n".join("  " + json.dumps(case) for case in cases)
    file.write(f'{{"program": "scikit-learn {sklearn.__version__}", "cases": [\n{lines}]}}\n')
