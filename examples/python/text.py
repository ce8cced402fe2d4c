"""Is a news story about money markets? Logistic regression on 8,315 words, ten strengths of the penalty.

    python3 examples/python/text.py [FOLDER OF DATASETS]
"""

import lzma
import sys
from pathlib import Path

from sklearn.datasets import load_svmlight_file

from sheaf import LogisticRegression, SheafSearchCV


def read(part, features=None):
    here = Path(__file__).resolve().parents[3] / "shared/data"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else here
    with lzma.open(folder / "reuters_moneyfx" / f"{part}.libsvm.xz") as file:
        return load_svmlight_file(file, n_features=features)


def main():
    X, y = read("train")
    grid = {"C": [0.01, 0.1, 1, 10, 100]}
    search = SheafSearchCV(LogisticRegression(), grid, scoring=["roc_auc", "f1"], refit="f1").fit(X, y)
    for C, auc, f1 in zip(grid["C"], search.cv_results_["mean_test_roc_auc"], search.cv_results_["mean_test_f1"]):
        print(f"C = {C:6g}   AUC {auc:.4f}   F1 {f1:.4f}")
    X_test, y_test = read("test", X.shape[1])
    print(f"C = {search.best_params_['C']:g} is right about {search.best_estimator_.score(X_test, y_test):.2%} of new stories")


if __name__ == "__main__":
    main()
