"""A score of one's own: the cost of a screening test, where a missed case is ten times as bad as a false alarm.

    python3 examples/python/own_score.py
"""

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sheaf import SVC, SheafSearchCV


def screening_cost(model, X, y):
    """The lowest mean cost over all thresholds, below 0 so that more is better."""
    malignant = y == 0
    order = np.argsort(model.decision_function(X))  # low values speak for class 0
    missed = malignant.sum() - np.concatenate([[0], np.cumsum(malignant[order])])
    alarms = np.concatenate([[0], np.cumsum(~malignant[order])])
    return -float((10 * missed + alarms).min()) / len(y)


def main():
    X, y = load_breast_cancer(return_X_y=True)
    model = make_pipeline(StandardScaler(), SVC())
    grid = {"svc__C": [0.1, 1, 10, 100], "svc__gamma": [0.001, 0.01, 0.1]}
    for name, scoring in (("accuracy", "accuracy"), ("screening cost", screening_cost)):
        search = SheafSearchCV(model, grid, scoring=scoring).fit(X, y)
        print(f"{name}: {search.best_score_:.4f} with {search.best_params_}")


if __name__ == "__main__":
    main()
