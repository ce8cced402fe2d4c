"""Runs a worked example as a reader would, and asserts what its story says.

    check.py BUILD STORY
"""

import csv
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def number(pattern, text, group=1):
    found = re.search(pattern, text)
    assert found, f"no {pattern!r} in:\n{text}"
    return float(found.group(group).replace(",", ""))


def microbes(folder, out):
    seen = number(r"AUC of sick +([0-9.]+)", out)
    honest = number(r"Nested validation +AUC ([0-9.]+)", out)
    assert honest < seen, (honest, seen)
    assert number(r"planted among the first ten: (\d+)", out) >= 5


def genes(folder, out):
    nested, luck = (float(found) for found in re.findall(r"Nested validation +AUC ([0-9.]+)", out))
    chosen = number(r"AUC of tumour +([0-9.]+)", out)
    assert luck < nested < chosen, (luck, nested, chosen)
    assert abs(luck - 0.5) < 0.25, luck


def text(folder, out):
    accuracy, top = number(r"\n  accuracy +([0-9.]+)", (folder / "search.txt").read_text()), number(r"top-5 accuracy +([0-9.]+)", out)
    assert 0.5 < accuracy < top, (accuracy, top)


def spectra(folder, out):
    best = re.search(r"single feature accepts ([0-9,]+) PSMs.*models ([0-9,]+)", out)
    alone, trained = (int(found.replace(",", "")) for found in best.groups())
    assert trained > 1.2 * alone, (alone, trained)
    assert int(out.split()[-1]) > 1000


def survival(folder, out):
    assert number(r"concordance +([0-9.]+)", out) > 0.65


def neighbours(folder, out):
    train = list(csv.DictReader(open(folder / "train.csv")))
    rows = list(csv.DictReader(open(folder / "why.csv")))
    assert {row["row"] for row in rows} == {"1", "2", "3"}
    label = list(train[0])[-1]
    for row in rows:
        assert train[int(row["neighbour"]) - 1][label] == row["label"], row


def own_function(folder, out):
    assert "as the C++ library computes it: yes" in out


def digits(folder, out):
    wrong, linear = number(r"wrong \(([0-9.]+) %\)", out), number(r"linear model: ([0-9.]+) % wrong", out)
    assert wrong < linear < 20, (wrong, linear)
    assert (folder / "pictures.pdf").read_bytes().startswith(b"%PDF")


def microbes_notebook(out):
    seen, honest = number(r"selected on all samples: ([0-9.]+)", out), number(r"selected inside the folds: ([0-9.]+)", out)
    luck, none = (number(r"shuffled labels: AUC ([0-9.]+) selected on all samples, ([0-9.]+)", out, group) for group in (1, 2))
    assert honest < seen and none < luck, (honest, seen, none, luck)
    assert number(r"planted among the first ten: (\d+)", out) >= 5


def text_notebook(out):
    accuracy, top = (number(r"right topic first: ([0-9.]+), among five: ([0-9.]+)", out, group) for group in (1, 2))
    assert 0.5 < accuracy < top, (accuracy, top)


def neighbours_notebook(out):
    assert number(r"accuracy ([0-9.]+) with", out) > 0.5


def run(command, folder, environment):
    ended = subprocess.run([str(word) for word in command], cwd=folder, env=environment, capture_output=True, text=True, errors="replace")
    if ended.returncode != 0:
        sys.exit(f"{command[-1]} ended with {ended.returncode}\n{ended.stdout[-2000:]}\n{ended.stderr}")
    return ended.stdout


def refuses_a_folder_in_use(build, story, scratch, environment):
    """Somebody's work may be in it."""
    before = sorted(Path(scratch).rglob("*"))
    ended = subprocess.run([build / "sheaf", "example", story, "folder"], cwd=scratch, env=environment, capture_output=True, text=True)
    assert ended.returncode == 1 and "folder: exists" in ended.stderr, ended
    assert sorted(Path(scratch).rglob("*")) == before


def needs(path, otherwise):
    if not path.exists():
        print(otherwise)
        sys.exit(77)


def python_of(build):
    """The Python for which the package is built."""
    cache = (build / "CMakeCache.txt").read_text()
    found = re.search(r"_?Python_EXECUTABLE:\w+=(.*)", cache)
    return found.group(1) if found else "/usr/bin/python3" if Path("/usr/bin/python3").exists() else sys.executable


def main():
    build, story = Path(sys.argv[1]).resolve(), sys.argv[2]
    environment = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1")
    with tempfile.TemporaryDirectory() as scratch:
        run([build / "sheaf", "example", story, "folder", "--quiet"], scratch, environment)
        folder = Path(scratch) / "folder"
        refuses_a_folder_in_use(build, story, scratch, environment)
        if "Rscript" in (folder / "run.sh").read_text():
            needs(build / "r/installed", "the R package is not built (make r)")
            environment["R_LIBS"] = str(build / "r/library")
        if (folder / "own.cpp").exists():
            needs(build / "r/prefix", "the library is not installed in the build folder (make r)")
            environment["PKG_CONFIG_PATH"] = str(build / "r/prefix/lib/pkgconfig")
        out = run(["bash", folder / "run.sh"], scratch, environment)
        globals()[story.replace("-", "_")](folder, out)
        if list((build / "python/sheaf").glob("_core*.so")) and (folder / "run.ipynb").exists():
            out = run([python_of(build), Path(__file__).with_name("notebook.py"), "run.ipynb"], folder, dict(environment, PYTHONPATH=str(build / "python")))
            globals()[f"{story}_notebook"](out)
        if (build / "r/installed").exists() and (folder / "run.R").exists() and "R_LIBS" not in environment:
            run(["Rscript", "--vanilla", "run.R"], folder, dict(environment, R_LIBS=str(build / "r/library")))


if __name__ == "__main__":
    main()
