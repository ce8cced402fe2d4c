"""Which genes tell tumours from normal tissue, and how sure is that? Stability selection on 62 samples of 2,000 genes.

    python3 examples/python/genes.py [FOLDER OF DATASETS]
"""

import sys
from pathlib import Path

from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sheaf import LogisticRegression, StabilitySelector


def read(name):
    import lzma

    here = Path(__file__).resolve().parents[3] / "shared/data"
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else here
    with lzma.open(folder / name / "train.libsvm.xz") as file:
        X, y = load_svmlight_file(file)
    return X.toarray(), y


def main():
    X, y = read("colon-cancer")
    selector = StabilitySelector(n_resamples=10, n_alphas=20, threshold=0.8).fit(X, y)
    low, high = selector.stability_interval_
    print(f"{len(selector.ranking_)} genes are chosen by 80 % of the resamples: {selector.ranking_.tolist()}")
    print(f"stability {selector.stability_:.2f} (95 %: {low:.2f} to {high:.2f})")
    # Selected inside the folds, or the accuracy would be too good to be true.
    model = make_pipeline(StabilitySelector(n_resamples=4, n_alphas=10, threshold=0.8), LogisticRegression())
    print(f"accuracy with genes selected inside the folds: {cross_val_score(model, X, y, cv=5).mean():.2f}")


if __name__ == "__main__":
    main()
