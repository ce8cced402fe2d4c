#!/usr/bin/env python3
"""The same dataset and settings through the command line, Python and R give the same model file, to the last byte.

    front_ends.py PROGRAM PYTHON_PACKAGE [R_LIBRARY]

Both bindings are asked below their estimators, whose signatures have the defaults of scikit-learn and of R's peers: by the kind of
model and the settings that were given, so that whatever else decides is the library. A file names its label and says which of two
classes is positive; arrays do not: these two lines (and the checksum over them) are left out of the comparison, and classes are given in the file's order.
"""

import json
import math
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

KINDS = {
    "linear": ["class", "two", "number"],
    "svm": ["class", "two", "number"],
    "elastic-net": ["class", "two", "number"],
    "lasso": ["number"],
    "ridge": ["number"],
    "elastic-net-logistic": ["class", "two"],
    "elastic-net-multinomial": ["class"],
    "elastic-net-poisson": ["count"],
    "elastic-net-huber": ["number"],
    "elastic-net-quantile": ["number"],
    "glm": ["class", "two", "number"],
    "multinomial": ["class"],
    "knn": ["class", "number"],
    "cknn": ["class"],
    "hknn": ["class"],
    "alh": ["class"],
    "local-svm": ["class"],
    "falk-svm": ["class"],
}
SETTINGS = {kind: {"alpha": "0.05"} for kind in KINDS if kind.startswith("elastic-net") or kind in ("lasso", "ridge")}


def draw(label):
    generator = random.Random(5)
    rows, labels = [], []
    for _ in range(60):
        row = [round(generator.gauss(0, 1), 3) for _ in range(4)]
        signal = row[0] - row[1] + 0.3 * generator.gauss(0, 1)
        rows.append(row)
        labels.append({
            "class": "low" if signal < -0.7 else "middle" if signal < 0.7 else "top",
            "two": "case" if signal > 0 else "control",
            "number": round(3 * signal + 1.25, 4),
            "count": int(math.exp(0.5 * signal + 1)),
        }[label])
    return rows, labels


def comparable(text):
    return [line for line in text.splitlines() if not line.startswith(("label ", "positive ", "checksum "))]


def from_command_line(program, folder, kind, rows, labels):
    text = "a,b,c,d,y\n" + "".join(",".join(map(str, [*row, label])) + "\n" for row, label in zip(rows, labels))
    (folder / "d.csv").write_text(text)
    flags = [part for name, value in SETTINGS.get(kind, {}).items() for part in (f"--{name}", value)]
    subprocess.run([program, "fit", "d.csv", "--model", kind, *flags, "--scale", "none", "--output", "m.txt", "--quiet"], cwd=folder, check=True)
    return (folder / "m.txt").read_text()


def from_python(kind, rows, labels, classes):
    import numpy as np
    from sheaf import _core
    from sheaf._data import make_dataset

    context = _core.Context({}, None)
    x = np.array(rows)
    dataset = make_dataset(context, x, precision="float64", names=["a", "b", "c", "d"], missing=False, device="cpu")
    if classes:
        dataset.set_classes(np.array([classes.index(label) for label in labels], dtype=np.int32), classes)
    else:
        dataset.set_numbers(np.array(labels, dtype=float))
    options = _core.Options(kind)
    for name, value in SETTINGS.get(kind, {}).items():
        options.set(name, value)
    return _core.fit(context, dataset, options, None).text()


R_SCRIPT = r"""
arguments <- commandArgs(TRUE)
library(sheaf, lib.loc = arguments[1])
cases <- jsonlite::fromJSON(arguments[2], simplifyVector = FALSE)
for (case in cases) {
  x <- do.call(rbind, lapply(case$rows, unlist))
  colnames(x) <- c("a", "b", "c", "d")
  classes <- unlist(case$classes)
  y <- if (length(classes) > 0) factor(unlist(case$labels), levels = classes) else as.double(unlist(case$labels))
  target <- sheaf:::about_features(x, sheaf:::core_target(y, second_first = FALSE), NULL)
  fit <- sheaf:::core_fit(sheaf:::as_control(sheaf_control(), 0), x, target, case$kind, sheaf:::settings_of(case$settings, "settings"),
                          sheaf:::settings_of(list(), "prepare"), NULL, list(), TRUE)
  writeLines(fit$text, case$output, sep = "")
}
"""


def from_r(library, folder, cases):
    """Model texts of all cases, by one R process."""
    for number, case in enumerate(cases):
        case["output"] = str(folder / f"r{number}.txt")
    (folder / "cases.json").write_text(json.dumps(cases))
    (folder / "fit.R").write_text(R_SCRIPT)
    subprocess.run(["Rscript", folder / "fit.R", library, folder / "cases.json"], check=True, stdout=subprocess.DEVNULL)
    return [Path(case["output"]).read_text() for case in cases]


def main():
    program, package = sys.argv[1:3]
    library = sys.argv[3] if len(sys.argv) > 3 else None
    sys.path.insert(0, package)
    failures, passed, cases, expected = [], 0, [], []

    def compare(front_end, kind, label, found, wanted):
        nonlocal passed
        if comparable(found) == comparable(wanted):
            passed += 1
            return
        different = [f"{a!r} for {b!r}" for a, b in zip(comparable(found), comparable(wanted)) if a != b]
        failures.append(f"{kind}, {label}, {front_end}: {'; '.join(different[:3]) or 'another number of lines'}")
        print(failures[-1])

    with tempfile.TemporaryDirectory(prefix="sheaf-parity-") as scratch:
        folder = Path(scratch)
        for kind, targets in KINDS.items():
            for label in targets:
                rows, labels = draw(label)
                wanted = from_command_line(program, folder, kind, rows, labels)
                classes = [line.removeprefix("class ") for line in wanted.splitlines() if line.startswith("class ")]
                compare("Python", kind, label, from_python(kind, rows, labels, classes), wanted)
                cases.append({"kind": kind, "label": label, "rows": rows, "labels": labels, "classes": classes, "settings": SETTINGS.get(kind, {})})
                expected.append(wanted)
        if library and os.path.isdir(library):
            for case, text, wanted in zip(cases, from_r(library, folder, cases), expected):
                compare("R", case["kind"], case["label"], text, wanted)
        else:
            print("R is left out: its package is not built")
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
