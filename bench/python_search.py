"""SheafSearchCV against GridSearchCV over scikit-learn's own estimators.

Seconds by the clock and of the processors (which count where other work shares the cores), and their ratios.

    PYTHONPATH=build/python python3 bench/python_search.py [--device cuda] [--jobs 2] [--full] [CASE ...]

Data lie beside the checkout (../shared/data, or SHEAF_DATA). Each search is run once; a small one before warms up.
"""

from __future__ import annotations

import argparse
import lzma
import os
import resource
import time
import warnings
from pathlib import Path

import numpy as np
from joblib.externals.loky import get_reusable_executor
from sklearn import feature_selection, linear_model, neighbors, pipeline, preprocessing, svm
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import GridSearchCV, ParameterGrid

import sheaf

DATA = Path(os.environ.get("SHEAF_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
COSTS = np.logspace(-3, 3, 10).tolist()


def read(name: str, rows: int | None = None):
    with lzma.open(DATA / name / "train.libsvm.xz") as file:
        X, y = load_svmlight_file(file)
    if rows is not None and rows < X.shape[0]:
        chosen = np.random.RandomState(0).permutation(X.shape[0])[:rows]
        X, y = X[chosen], y[chosen]
    return X, y


def text(full):
    X, y = read("reuters_moneyfx")
    grid = {"C": COSTS}
    ours = sheaf.LogisticRegression()
    return X, y, ours, grid, linear_model.LogisticRegression(max_iter=1000), grid


def letter(full):
    X, y = read("letter.scale", None if full else 5000)
    grid = {"C": [0.1, 1, 10, 100, 1000], "gamma": [0.01, 0.1, 0.5, 1, 5]}
    return X.toarray(), y, sheaf.SVC(), grid, svm.SVC(), grid


def genes(full):
    X, y = read("riboflavin")
    X = preprocessing.scale(X.toarray())
    grid = {"alpha": np.logspace(-2, 0, 30).tolist(), "l1_ratio": [0.2, 0.5, 0.9]}
    return X, y, sheaf.ElasticNet(), grid, linear_model.ElasticNet(), grid


def digits(full):
    X, y = read("mnist", None if full else 10000)
    grid = {"n_neighbors": list(range(1, 31))}
    return X.toarray() / 255, y, sheaf.KNeighborsClassifier(), grid, neighbors.KNeighborsClassifier(), grid


def steps(full):
    X, y = read("colon-cancer")
    grid = {"select__n_features_to_select": [10, 50, 200], "classify__C": COSTS}
    ours = [("scale", preprocessing.StandardScaler()), ("select", sheaf.InformationSelector("mim"))]
    theirs = [("scale", preprocessing.StandardScaler()), ("select", feature_selection.SelectKBest(_information))]
    return (
        X.toarray(),
        y,
        pipeline.Pipeline([*ours, ("classify", sheaf.LogisticRegression())]),
        grid,
        pipeline.Pipeline([*theirs, ("classify", linear_model.LogisticRegression(max_iter=1000))]),
        {"select__k": grid["select__n_features_to_select"], "classify__C": COSTS},
    )


def _information(X, y):
    return feature_selection.mutual_info_classif(X, y, random_state=0)


CASES = {
    "text": ("logistic regression, 10 C x 5 folds, sparse text", text),
    "letter": ("SVC, 5 C x 5 gamma x 5 folds, letter", letter),
    "genes": ("elastic net, 30 alphas x 3 ratios x 5 folds, genes", genes),
    "digits": ("neighbours, 30 k x 5 folds, MNIST", digits),
    "steps": ("scale + select + classify, 3 x 10 x 5 folds, genes", steps),
}


def processor_seconds() -> float:
    """Of this process and of its children, which have to have ended."""
    parts = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(part.ru_utime + part.ru_stime for part in parts)


def seconds(search, X, y) -> tuple[float, float]:
    begin, used = time.perf_counter(), processor_seconds()
    search.fit(X, y)
    clock = time.perf_counter() - begin
    get_reusable_executor().shutdown(wait=True)
    return clock, processor_seconds() - used


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="SheafSearchCV against GridSearchCV")
    parser.add_argument("--device", default="auto", help="of Sheaf's estimators")
    parser.add_argument("--jobs", type=int, default=2, help="processes of GridSearchCV")
    parser.add_argument("--full", action="store_true", help="all rows of letter and MNIST (else 5,000 and 10,000)")
    parser.add_argument(
        "--points", type=int, help="of the grid that scikit-learn trains; its time is reckoned from them for all"
    )
    parser.add_argument("cases", nargs="*", metavar="CASE", help=f"of {', '.join(CASES)} (default: all)")
    return parser.parse_args()


def main() -> None:
    given = arguments()
    warnings.simplefilter("ignore")
    os.environ["PYTHONWARNINGS"] = "ignore"
    sheaf.LogisticRegression(device=given.device).fit(np.eye(4), [0, 1, 0, 1])
    heading = f"{'clock':>9} {'sklearn':>9} {'ratio':>6} {'processors':>10} {'sklearn':>9} {'ratio':>6}"
    print(f"{'case':52} {'rows x features':>16} {heading}  best scores of common points")
    for name in given.cases or CASES:
        title, make = CASES[name]
        X, y, ours, our_grid, theirs, their_grid = make(given.full)
        ours.set_params(**{p: given.device for p in ours.get_params() if p == "device" or p.endswith("__device")})
        fast = sheaf.SheafSearchCV(ours, our_grid)
        points = list(ParameterGrid(their_grid))
        places = np.linspace(0, len(points) - 1, min(given.points or len(points), len(points))).astype(int)
        some = [points[k] for k in places]
        slow = GridSearchCV(
            theirs, [{name: [value] for name, value in point.items()} for point in some], n_jobs=given.jobs
        )
        ours_taken = seconds(fast, X, y)
        theirs_taken = [taken * len(points) / len(some) for taken in seconds(slow, X, y)]
        times = " ".join(f"{a:9.2f} {b:9.2f} {b / a:6.1f}" for a, b in zip(ours_taken, theirs_taken))
        common = fast.cv_results_["mean_test_score"][places].max()  # both grids are in the same order
        scores = f"{common:.4f} {slow.best_score_:.4f}"
        print(f"{title:52} {f'{X.shape[0]} x {X.shape[1]}':>16} {times}  {scores}", flush=True)
    overhead()


def overhead() -> None:
    """What Python adds to one small fit."""
    X, y = np.random.RandomState(0).normal(size=(20, 3)), np.arange(20) % 2
    model = sheaf.LogisticRegression(n_threads=1)
    times = []
    for _ in range(50):
        begin = time.perf_counter()
        model.fit(X, y)
        times.append(time.perf_counter() - begin)
    print(f"a fit of 20 rows and 3 features takes {1000 * float(np.median(times)):.2f} ms, all of it being overhead")


if __name__ == "__main__":
    main()
