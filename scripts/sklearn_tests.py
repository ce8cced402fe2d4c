"""Runs scikit-learn's own tests, as they are installed, against sheaf's estimators behind scikit-learn's names.

    PYTHONPATH=build/python python3 scripts/sklearn_tests.py [--only NAME] [--failures FILE]

First without sheaf, so that tests which fail anyway do not count, then with it. Prints how many pass of each subject, and writes
what the others say to FILE.
"""

import argparse
import importlib
import os
import subprocess
import sys
from pathlib import Path

SUBJECTS = {
    "LogisticRegression": "linear_model/tests/test_logistic.py",
    "ElasticNet, Lasso": "linear_model/tests/test_coordinate_descent.py",
    "Ridge": "linear_model/tests/test_ridge.py",
    "QuantileRegressor": "linear_model/tests/test_quantile.py",
    "SVC, SVR, LinearSVC, OneClassSVM": "svm/tests/test_svm.py",
    "SVMs on sparse data": "svm/tests/test_sparse.py",
    "KNeighbors": "neighbors/tests/test_neighbors.py",
    "GridSearchCV over them": "model_selection/tests/test_search.py",
}


class Outcomes:
    """Collects what each test did."""

    def __init__(self):
        self.lines = []

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            reason = ""
            if report.outcome == "failed":
                reason = str(getattr(getattr(report.longrepr, "reprcrash", None), "message", report.longrepr))
            self.lines.append((report.outcome, report.nodeid.split("::", 1)[-1], reason.split("\n")[0][:200]))


def replace():
    """Behind the private names too: the tests import those."""
    import sheaf.sklearn

    sheaf.sklearn.patch()
    for (place, name), original in sheaf.sklearn._originals.items():
        setattr(importlib.import_module(original.__module__), name, getattr(importlib.import_module(place), name))


def run_here(path, with_sheaf):
    import pytest

    if with_sheaf:
        replace()
    outcomes = Outcomes()
    pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "-W", "ignore", path], plugins=[outcomes])
    for line in outcomes.lines:
        print("OUTCOME", *line, sep="\t")


def outcomes_of(path, with_sheaf):
    command = [sys.executable, __file__, "--run", path] + (["--with-sheaf"] if with_sheaf else [])
    text = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"}).stdout
    rows = [line.split("\t") for line in text.splitlines() if line.startswith("OUTCOME\t")]
    return {row[2]: (row[1], row[3]) for row in rows}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="")
    parser.add_argument("--failures", default="")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--with-sheaf", action="store_true", help=argparse.SUPPRESS)
    asked = parser.parse_args()
    if asked.run:
        return run_here(asked.run, asked.with_sheaf)
    import sklearn

    folder = Path(sklearn.__file__).parent
    said = []
    for name, path in SUBJECTS.items():
        if asked.only not in name:
            continue
        before = outcomes_of(str(folder / path), False)
        after = outcomes_of(str(folder / path), True)
        counted = [test for test, (outcome, _) in before.items() if outcome == "passed"]
        wrong = [test for test in counted if after.get(test, ("failed", ""))[0] == "failed"]
        share = 1 - len(wrong) / max(len(counted), 1)
        print(f"{name}: {len(counted) - len(wrong)} of {len(counted)} pass ({share:.1%})", flush=True)
        said += [f"{name}\t{test}\t{after.get(test, ('', 'was not run'))[1]}" for test in wrong]
    if asked.failures:
        Path(asked.failures).write_text("".join(f"{line}\n" for line in said))
    return 0


if __name__ == "__main__":
    sys.exit(main())
