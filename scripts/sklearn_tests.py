"""Runs scikit-learn's own tests, as they are installed, against sheaf's estimators behind scikit-learn's names.

    PYTHONPATH=build/python python3 scripts/sklearn_tests.py [--how patched own] [--only WORD] [--page FILE] [--jobs N]

First without sheaf, so that tests which fail anyway do not count, then with it: `patched` by sheaf.sklearn.patch(), whose classes
are scikit-learn's and trained by sheaf, `own` with sheaf's classes themselves in the place of scikit-learn's. Prints how many pass of
each subject, and the failures by their reasons (scripts/sklearn_reasons.txt). --page writes every failure with its reason as Markdown.
Exits with 1 if a failure has no reason. Works with scikit-learn 1.2 to 1.9 and needs no network.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import inspect
import os
import re
import signal
import subprocess
import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

SUBJECTS = {
    "svm": "svm/tests",
    "linear_model": "linear_model/tests",
    "glm": "linear_model/_glm/tests",
    "neighbors": "neighbors/tests",
    "model_selection": "model_selection/tests",
}
HOWS = ("patched", "own")
REASONS = Path(__file__).with_name("sklearn_reasons.txt")
LONGEST_TEST = 120  # seconds of the processor, so that a busy machine fails no test; ten times that by the clock


class Outcomes:
    """Collects what each test did, and ends tests that take too long."""

    def __init__(self):
        self.lines = []

    def pytest_runtest_setup(self, item):
        signal.signal(signal.SIGALRM, _end_test)
        signal.signal(signal.SIGPROF, _end_test)
        signal.alarm(10 * LONGEST_TEST)
        signal.setitimer(signal.ITIMER_PROF, LONGEST_TEST)

    def pytest_runtest_teardown(self, item):
        signal.alarm(0)
        signal.setitimer(signal.ITIMER_PROF, 0)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or (report.when == "setup" and report.outcome != "passed"):
            reason = ""
            if report.outcome == "failed":
                reason = str(getattr(getattr(report.longrepr, "reprcrash", None), "message", report.longrepr))
                reason = " ".join(reason.split())[:400]
            self.lines.append((report.outcome, report.nodeid.split("::", 1)[-1].replace("\t", " "), reason))


def _end_test(*_):
    raise TimeoutError(f"took more than {LONGEST_TEST} seconds")


def put_in_place(how):
    """Behind the private names too: the tests import those."""
    import sheaf
    import sheaf.sklearn

    if how == "patched":
        sheaf.sklearn.patch()
        for (place, name), original in sheaf.sklearn._originals.items():
            setattr(importlib.import_module(original.__module__), name, getattr(importlib.import_module(place), name))
        return
    for place in ("sklearn.linear_model", "sklearn.neighbors", "sklearn.svm"):
        module = importlib.import_module(place)
        for name in sheaf.__all__:
            original = getattr(module, name, None)
            if inspect.isclass(original):
                for where in (module, importlib.import_module(original.__module__)):
                    setattr(where, name, getattr(sheaf, name))


def run_here(path, how):
    import pytest

    with contextlib.suppress(ImportError):
        import matplotlib

        matplotlib.use("agg")
    if how:
        put_in_place(how)
    outcomes = Outcomes()
    pytest.main(["-q", "-p", "no:cacheprovider", "--no-header", "-W", "ignore", path], plugins=[outcomes])
    for line in outcomes.lines:
        print("OUTCOME", *line, sep="\t")


def outcomes_of(path, how):
    """Outcome and message of each test of a file."""
    command = [sys.executable, __file__, "--run", str(path), "--with-sheaf", how]
    surroundings = {**os.environ, "OMP_NUM_THREADS": "1", "SKLEARN_SKIP_NETWORK_TESTS": "1"}
    text = subprocess.run(command, capture_output=True, text=True, env=surroundings).stdout
    rows = [line.split("\t") for line in text.splitlines() if line.startswith("OUTCOME\t")]
    return {row[2]: (row[1], row[3]) for row in rows}


def compare(path, hows):
    """Tests that pass without sheaf, and for each way the messages of those that fail with it."""
    counted = [test for test, (outcome, _) in outcomes_of(path, "").items() if outcome == "passed"]
    failures = {}
    for how in hows if counted else ():
        after = outcomes_of(path, how)
        lost = ("failed", "was not run: collecting the tests failed")
        failures[how] = {test: after.get(test, lost)[1] for test in counted if after.get(test, lost)[0] == "failed"}
    return counted, failures


def read_reasons():
    """[(how, pattern of FILE::TEST: MESSAGE, reason)]; the first that fits is taken."""
    rows = []
    for line in REASONS.read_text().splitlines():
        if line and not line.startswith("#"):
            how, pattern, reason = (part.strip() for part in line.split("\t"))
            rows.append((how, re.compile(pattern), reason))
    return rows


def reason_of(text, how, reasons):
    return next((reason for where, pattern, reason in reasons if where in (how, "both") and pattern.search(text)), "")


def files_of(folder, only):
    import sklearn

    found = sorted((Path(sklearn.__file__).parent / folder).glob("test_*.py"))
    return [path for path in found if only in f"{folder}/{path.name}"]


def write_page(page, how, totals, failures):
    import sklearn

    lines = [f"### {'Behind patch()' if how == 'patched' else 'Classes of sheaf'}, scikit-learn {sklearn.__version__}", ""]
    lines += ["| tests of | pass |", "|---|---|"]
    lines += [f"| `{name}` | {passed} of {count} |" for name, (passed, count) in totals.items()]
    by_reason = Counter(reason for _, _, reason in failures)
    for reason, count in by_reason.most_common():
        lines += ["", f"{reason or 'No reason'} ({count}):", ""]
        lines += [f"- `{test}`" for test, _, why in failures if why == reason]
    with open(page, "a") as file:
        file.write("\n".join(lines) + "\n\n")


def arguments():
    parser = argparse.ArgumentParser(description="scikit-learn's tests against sheaf's estimators")
    parser.add_argument("--how", nargs="+", default=HOWS, choices=HOWS, help="one way or both (default)")
    parser.add_argument("--only", default="", help="files whose path has this in it: svm, test_ridge ...")
    parser.add_argument("--page", help="append the failures and their reasons to this file")
    parser.add_argument("--jobs", type=int, default=1, help="files at a time")
    parser.add_argument("--run", help=argparse.SUPPRESS)
    parser.add_argument("--with-sheaf", default="", help=argparse.SUPPRESS)
    return parser.parse_args()


def print_failures(how, totals, failures):
    for name, (passed, count) in totals.items():
        print(f"{how}: {name}: {passed} of {count} pass ({passed / count:.1%})")
    for reason, number in Counter(reason for *_, reason in failures).most_common():
        print(f"{number:5} {reason or 'NO REASON'}")
    for test, message, reason in failures:
        if not reason:
            print(f"{test}\t{message}", flush=True)


def main():
    given = arguments()
    if given.run:
        return run_here(given.run, given.with_sheaf)
    reasons = read_reasons()
    totals = {how: {} for how in given.how}
    failures = {how: [] for how in given.how}
    for name, folder in SUBJECTS.items():
        paths = files_of(folder, given.only)
        with ThreadPoolExecutor(given.jobs) as pool:
            results = list(pool.map(lambda path: compare(path, given.how), paths))
        count = sum(len(counted) for counted, _ in results)
        for how in given.how if count else ():
            for path, (_, lost) in zip(paths, results):
                for test, message in lost.get(how, {}).items():
                    text = f"{path.name}::{test}"
                    failures[how].append((text, message, reason_of(f"{text}: {message}", how, reasons)))
            lost = sum(len(found.get(how, {})) for _, found in results)
            totals[how][name] = (count - lost, count)
    for how in given.how:
        print_failures(how, totals[how], failures[how])
        if given.page:
            write_page(given.page, how, totals[how], failures[how])
    return int(any(not reason for found in failures.values() for *_, reason in found))


if __name__ == "__main__":
    sys.exit(main())
