"""Which microbes go with a tumour? Selection and model inside the folds, and how optimistic it is to select before them.

    python3 examples/python/microbes.py [FOLDER OF DATASETS]
"""

import lzma
import sys
from pathlib import Path

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sheaf import InformationSelector, LogisticRegression, SheafSearchCV


def read(name):
    here = Path(__file__).resolve().parents[3] / "shared/data"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else here
    with lzma.open(folder / name / "train.libsvm.xz") as file:
        X, y = load_svmlight_file(file)
    return np.log1p(X.toarray()), y


def auc(X, y, model, grid):
    cv = StratifiedKFold(5, shuffle=True, random_state=0)
    return SheafSearchCV(model, grid, scoring="roc_auc", cv=cv).fit(X, y)


def main():
    X, y = read("mb_kostic_crc")
    print(f"{X.shape[0]} samples, {X.shape[1]} microbes, {np.mean(y == y.max()):.0%} of tumours")
    grid = {"logisticregression__C": [0.001, 0.01, 0.1, 1]}
    selector = InformationSelector("mrmr", 30)
    inside = make_pipeline(StandardScaler(), selector, LogisticRegression())
    search = auc(X, y, inside, grid)
    print(f"selected inside the folds: AUC {search.best_score_:.3f}  {search.best_params_}")
    before, within = [], []
    for seed in range(4):
        shuffled = np.random.default_rng(seed).permutation(y)
        taken = selector.fit_transform(X, shuffled)
        before.append(auc(taken, shuffled, make_pipeline(StandardScaler(), LogisticRegression()), grid).best_score_)
        within.append(auc(X, shuffled, inside, grid).best_score_)
    print(f"shuffled labels, where nothing is to be found: AUC {np.mean(before):.3f} selected before the folds, "
          f"{np.mean(within):.3f} inside them")
    chosen = search.best_estimator_.named_steps["informationselector"].ranking_
    print(f"the first microbes, of all samples: {chosen[:10].tolist()}")


if __name__ == "__main__":
    main()
