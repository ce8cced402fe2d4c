"""Arrays that are on a GPU already stay there: a search over a CuPy array, with predictions that are CuPy arrays.

    python3 examples/python/gpu_arrays.py

Without a GPU or CuPy the same search runs over NumPy arrays.
"""

import numpy as np
from sklearn.datasets import load_breast_cancer

import sheaf


def array_module():
    if any(row["usable"] and row["device"] != "cpu" for row in sheaf.devices()):
        try:
            import cupy

            return cupy
        except ImportError:
            print("CuPy is not there")
    return np


def main():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    arrays = array_module()
    X = arrays.asarray(X)
    print(f"arrays of {arrays.__name__}")
    model = sheaf.LogisticRegression(device="cpu" if arrays is np else "cuda")
    search = sheaf.SheafSearchCV(model, {"C": np.logspace(-3, 2, 6)}, scoring="roc_auc").fit(X, y)
    print(f"AUC {search.best_score_:.4f} with C = {search.best_params_['C']:g}")
    found = search.best_estimator_.decision_function(X)
    print(f"decision values are a {type(found).__module__.split('.')[0]} array of {found.shape[0]} values")


if __name__ == "__main__":
    main()
