"""Writes scores.json: small predictions and scikit-learn's scores of them. See README.md."""
import json

import numpy as np
import sklearn
from sklearn import metrics as sk
from sklearn.preprocessing import label_binarize

POINTS = 101
random = np.random.default_rng(12)


def sigmoid(z):
    return np.where(z >= 0, 1 / (1 + np.exp(-np.abs(z))), np.exp(-np.abs(z)) / (1 + np.exp(-np.abs(z))))


def curves(is_positive, values):
    """Both curves at POINTS equal steps; whole numbers of rows are compared, so that no rounding decides."""
    positives, others = int(is_positive.sum()), int((~is_positive).sum())
    false_share, true_share, _ = sk.roc_curve(is_positive, values, drop_intermediate=False)
    false_rows = np.rint(false_share * others).astype(int)
    roc = []
    for k in range(POINTS):
        here = false_rows * (POINTS - 1) == k * others
        roc.append(float(true_share[here].max() if here.any() else np.interp(k / (POINTS - 1), false_share, true_share)))
    precision, recall, _ = sk.precision_recall_curve(is_positive, values)
    found = np.rint(recall[:-1] * positives).astype(int)  # the last point is no threshold
    steps = []
    for k in range(POINTS):
        enough = (found * (POINTS - 1) >= k * positives) & (found > 0)
        steps.append(float(precision[np.flatnonzero(enough)[-1]]))
    return {"roc": roc, "precision_recall": steps}


def averages(truth, predicted):
    result = {}
    for name, score in (("precision", sk.precision_score), ("recall", sk.recall_score), ("f1", sk.f1_score)):
        for average in ("macro", "weighted"):
            result[f"{name}_{average}"] = score(truth, predicted, average=average, zero_division=0)
    return result


def of_classes(truth, predicted, classes):
    return {
        "accuracy": sk.accuracy_score(truth, predicted),
        "balanced_accuracy": sk.balanced_accuracy_score(truth, predicted),
        "matthews_corrcoef": sk.matthews_corrcoef(truth, predicted),
        **averages(truth, predicted),
    }, {
        "confusion": sk.confusion_matrix(truth, predicted, labels=range(classes)).ravel().tolist(),
        "recall": [
            float(sk.recall_score(truth == c, predicted == c)) if (truth == c).any() else None for c in range(classes)
        ],
    }


def two_classes(name, truth, z, positive):
    predicted = np.where(z > 0, 0, 1)
    scores, tables = of_classes(truth, predicted, 2)
    mine = truth == positive
    values = z if positive == 0 else -z
    for metric, score in (("precision", sk.precision_score), ("recall", sk.recall_score), ("f1", sk.f1_score)):
        scores[metric] = score(truth, predicted, pos_label=positive, zero_division=0)
    scores["auc"] = sk.roc_auc_score(mine, values)
    scores["average_precision"] = sk.average_precision_score(mine, values)
    scores["log_loss"] = sk.log_loss(truth, np.column_stack([sigmoid(z), sigmoid(-z)]), labels=[0, 1])
    scores["brier_score"] = sk.brier_score_loss(mine, sigmoid(values))
    return {"name": name, "classes": 2, "positive": positive, "truth": truth.tolist(), "decisions": z.tolist(),
            "scores": scores, **tables, **curves(mine, values)}


def many_classes(name, truth, z, tied=False):
    classes = z.shape[1]
    predicted = z.argmax(axis=1)
    scores, tables = of_classes(truth, predicted, classes)
    for metric in ("precision", "recall", "f1"):
        scores[metric] = scores[f"{metric}_macro"]
    probabilities = sigmoid(z) / sigmoid(z).sum(axis=1, keepdims=True)
    scores["log_loss"] = sk.log_loss(truth, probabilities, labels=range(classes))
    scores["brier_score"] = sum(sk.brier_score_loss(truth == c, probabilities[:, c], pos_label=True)
                                for c in range(classes))
    for k in (2, 3, 5):
        if k < classes and not tied:
            scores[f"top_{k}_accuracy"] = sk.top_k_accuracy_score(truth, z, k=k, labels=range(classes))
    if len(np.unique(truth)) == classes:
        each = label_binarize(truth, classes=range(classes))
        scores["auc"] = sk.roc_auc_score(each, z, average="macro")
        scores["roc_auc_ovr_weighted"] = sk.roc_auc_score(each, z, average="weighted")
        scores["average_precision"] = sk.average_precision_score(each, z, average="macro")
    return {"name": name, "classes": classes, "positive": -1, "truth": truth.tolist(),
            "decisions": z.ravel().tolist(), "scores": scores, **tables}


def regression(name, truth, predicted):
    scores = {
        "r2": sk.r2_score(truth, predicted),
        "rmse": sk.mean_squared_error(truth, predicted, squared=False),
        "mean_squared_error": sk.mean_squared_error(truth, predicted),
        "mean_absolute_error": sk.mean_absolute_error(truth, predicted),
        "mean_pinball_loss": sk.mean_pinball_loss(truth, predicted),
        "max_error": sk.max_error(truth, predicted),
    }
    if truth.min() > 0 and predicted.min() > 0:
        scores["mean-poisson-deviance"] = sk.mean_poisson_deviance(truth, predicted)
        scores["mean-gamma-deviance"] = sk.mean_gamma_deviance(truth, predicted)
        scores["mean-tweedie-deviance"] = sk.mean_tweedie_deviance(truth, predicted, power=1.5)
    return {"name": name, "classes": 0, "positive": -1, "truth": truth.tolist(), "decisions": predicted.tolist(),
            "scores": scores}


def labels(rows, classes, shares=None):
    return random.choice(classes, rows, p=shares)


def leaning(truth, classes, scale=1.0):
    """Values that often speak for the true class."""
    return np.round(scale * (random.normal(size=(len(truth), classes)) + 1.2 * np.eye(classes)[truth] - 0.6), 4)


def cases():
    truth = labels(45, 2)
    sign = np.where(truth == 0, 0.7, -0.7)
    z = np.round(random.normal(size=45) + sign, 4)
    yield two_classes("two classes, the first positive", truth, z, 0)
    yield two_classes("two classes, the second positive", truth, z, 1)
    rare = labels(60, 2, [0.85, 0.15])
    yield two_classes("a rare class, many ties", rare, np.round(random.normal(size=60) - rare) / 2, 1)
    yield two_classes("all rows predicted as one class", truth, np.abs(z) + 0.25, 1)
    yield two_classes("all values the same", truth, np.zeros(45), 0)
    yield two_classes("large values", truth, np.round(10 * z, 3), 1)
    truth = labels(70, 3)
    yield many_classes("three classes", truth, leaning(truth, 3))
    truth = labels(80, 3, [0.7, 0.2, 0.1])
    yield many_classes("three classes, many ties", truth, np.round(leaning(truth, 3)), tied=True)
    truth = labels(120, 8)
    yield many_classes("eight classes", truth, leaning(truth, 8, 2.5))
    truth = labels(50, 3)
    yield many_classes("a fourth class that no row has", truth, leaning(truth, 4))
    truth = labels(50, 5)
    yield many_classes("a class that is never predicted", truth, leaning(truth, 5) - [0, 0, 9, 0, 0])
    target = np.round(10 * random.normal(size=55) + 3, 3)
    yield regression("regression", target, np.round(target + 4 * random.normal(size=55), 3))
    yield regression("worse than the mean", target, np.round(-target, 3))
    target = np.round(np.exp(random.normal(size=55)), 3) + 0.01
    yield regression("targets above 0", target, np.round(target * np.exp(0.5 * random.normal(size=55)), 3) + 0.01)


with open("scores.json", "w", encoding="utf-8") as out:
    rows = [json.dumps(case) for case in cases()]
    out.write('{"scikit-learn": "%s", "cases": [\n%s\n]}\n' % (sklearn.__version__, ",\n".join(rows)))
