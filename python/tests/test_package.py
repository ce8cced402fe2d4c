"""The package as a whole: doctests, types, the program, threads, processes and Ctrl-C."""

from __future__ import annotations

import doctest
import importlib
import importlib.util
import pkgutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import StackingClassifier
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.preprocessing import scale

import sheaf

PACKAGE = Path(sheaf.__file__).parent
MODULES = [f"sheaf.{module.name}" for module in pkgutil.iter_modules([str(PACKAGE)]) if module.name != "__main__"]


@pytest.mark.parametrize("name", [name for name in MODULES if name != "sheaf._core"])
def test_examples_in_the_documentation(name):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0


def test_every_parameter_is_documented():
    for name in sheaf.__all__:
        kind = getattr(sheaf, name)
        if not isinstance(kind, type):
            continue
        documented = [line.split(" : ")[0].strip() for line in kind.__doc__.splitlines() if " : " in line]
        for parameter in kind._get_param_names():
            assert parameter in documented, f"{name}.{parameter}"


def test_types():
    if importlib.util.find_spec("mypy") is None:
        pytest.skip("mypy is not there")
    sources = Path(__file__).resolve().parents[1]
    command = [sys.executable, "-m", "mypy", "--no-incremental", "--cache-dir=/dev/null", "sheaf"]
    found = subprocess.run(command, cwd=sources, capture_output=True, text=True)
    assert found.returncode == 0, found.stdout


def test_the_program():
    program = [sys.executable, "-m", "sheaf"]
    version = subprocess.run([*program, "--version"], capture_output=True, text=True, check=True).stdout
    assert sheaf.__version__ in version
    assert subprocess.run([*program, "nonsense"], capture_output=True).returncode == 2


def test_devices():
    first = sheaf.devices()[0]
    assert first["device"] == "cpu" and first["usable"]


LONG_WORK = """
import sys, numpy as np, sheaf
rng = np.random.RandomState(0)
X, y = rng.normal(size=(6000, 200)), rng.randint(0, 2, 6000)
print("begin", flush=True)
try:
    {work}
except KeyboardInterrupt:
    print("interrupted", flush=True)
    X, y = X[:100], y[:100]
    print(sheaf.LogisticRegression().fit(X, y).score(X, y) > 0, flush=True)
"""


@pytest.mark.parametrize(
    "work",
    [
        "sheaf.SVC(C=1e4, gamma=0.001, tol=1e-9).fit(X, y)",
        "sheaf.SheafSearchCV(sheaf.SVC(), {'C': [1, 1e3, 1e4], 'gamma': [0.1, 0.01, 0.001]}).fit(X, y)",
        "sheaf.StabilitySelector(200, n_alphas=100).fit(X, y)",
    ],
    ids=["fit", "search", "study"],
)
def test_ctrl_c_ends_the_work(work):
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", LONG_WORK.format(work=work)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "begin\n"
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert out == "interrupted\nTrue\n"


def test_other_threads_go_on_meanwhile():
    X, y = np.random.RandomState(0).normal(size=(3000, 100)), np.arange(3000) % 2
    counted, done = [], threading.Event()

    def count():
        while not done.is_set():
            counted.append(time.monotonic())
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    sheaf.SVC(C=100).fit(X, y)
    done.set()
    thread.join()
    assert len(counted) > 10, "the interpreter was held"


def test_several_threads_at_once():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    expected = sheaf.SVC().fit(X, y).decision_function(X)
    found = joblib.Parallel(4, backend="threading")(
        joblib.delayed(lambda: sheaf.SVC().fit(X, y).decision_function(X))() for _ in range(8)
    )
    for one in found:
        np.testing.assert_array_equal(one, expected)


@pytest.mark.parametrize("backend", ["loky", "multiprocessing", "threading"])
def test_inside_scikit_learn(backend):
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    sheaf.LogisticRegression().fit(X, y)  # threads of the library exist before a fork
    with joblib.parallel_backend(backend, n_jobs=2):
        scores = cross_val_score(sheaf.SVC(), X, y, cv=3, n_jobs=2)
        search = GridSearchCV(sheaf.LogisticRegression(), {"C": [0.1, 1]}, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(scores, cross_val_score(sheaf.SVC(), X, y, cv=3))
    assert search.best_score_ > 0.97


def test_as_a_part_of_ensembles():
    X, y = load_breast_cancer(return_X_y=True)
    X = scale(X)
    stack = StackingClassifier([("a", sheaf.LinearSVC()), ("b", sheaf.KNeighborsClassifier())], sheaf.LogisticRegression())
    assert stack.fit(X, y).score(X, y) > 0.95
    assert CalibratedClassifierCV(sheaf.LinearSVC(), cv=3).fit(X, y).predict_proba(X).shape == (len(y), 2)


def test_progress_is_reported():
    from sheaf import _core
    from sheaf._data import make_dataset

    heard = []
    X, y = np.random.RandomState(0).normal(size=(6000, 100)), np.arange(6000, dtype=np.int32) % 2
    context = _core.Context({}, lambda stage, done, total: heard.append((stage, done, total)))
    dataset = make_dataset(context, X)
    dataset.set_classes(y, ["0", "1"])
    options = _core.Options("svm")
    options.set("cost", "1000")
    _core.fit(context, dataset, options, None)
    assert all(0 <= done <= max(total, done) for _, done, total in heard)

    class Trouble(Exception):
        pass

    def fail(stage, done, total):
        raise Trouble

    with pytest.raises(Trouble):
        _core.fit(_core.Context({}, fail), dataset, options, None)
