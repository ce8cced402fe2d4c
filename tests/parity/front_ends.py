#!/usr/bin/env python3
"""The same dataset and settings through the command line, Python and R give the same model file, to the last byte, for every kind of
model; a search of each kind the same scores on the same folds; and a search that names no model the same models, and a stack of
these the same predictions.

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
    "elastic-net": ["class", "two", "number", "survival"],
    "lasso": ["number", "survival"],
    "ridge": ["number", "survival"],
    "elastic-net-logistic": ["class", "two"],
    "elastic-net-multinomial": ["class"],
    "elastic-net-cox": ["survival"],
    "elastic-net-poisson": ["count"],
    "elastic-net-huber": ["number"],
    "elastic-net-quantile": ["number"],
    "glm": ["class", "two", "number", "survival"],
    "multinomial": ["class"],
    "knn": ["class", "number"],
    "cknn": ["class"],
    "hknn": ["class"],
    "alh": ["class"],
    "local-svm": ["class"],
    "falk-svm": ["class"],
}
SEED = 7
TRANSFORMS = ["log1p:a,b", "sqrt:c"]
SETTINGS = {kind: {"alpha": "0.05"} for kind in KINDS if kind.startswith("elastic-net") or kind in ("lasso", "ridge")}
#: What a kind of model also is, by its settings.
FURTHER = [
    ("linear", "two", {"loss": "logistic", "cost": "0.3"}),
    ("linear", "class", {"loss": "crammer-singer"}),
    ("linear", "number", {"loss": "svr", "epsilon": "0.2"}),
    ("svm", "two", {"type": "nu-svc", "nu": "0.3", "kernel": "polynomial"}),
    ("svm", "number", {"type": "nu-svr", "kernel": "sigmoid"}),
    ("elastic-net", "number", {"alpha": "0.05", "relax": "0.5", "l1-ratio": "0.9"}),
    ("elastic-net-multinomial", "class", {"alpha": "0.05", "grouped": "yes"}),
    ("glm", "two", {"link": "probit"}),
    ("glm", "count", {"family": "poisson"}),
    ("glm", "count", {"family": "negative-binomial", "theta": "2.5"}),
    ("glm", "survival", {"ties": "breslow", "standard-errors": "hc0"}),
    ("knn", "class", {"k": "3", "vote": "inverse-distance"}),
]


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
            "survival": (round(10 * math.exp(-signal) + 0.1 * generator.random(), 3), int(generator.random() < 0.7)),
        }[label])
    return rows, labels


def draw_ring(label):
    """Two classes of which one surrounds the other, or the radius: curved, on two scales, with values missing."""
    generator = random.Random(6)
    rows, labels = [], []
    for k in range(90):
        angle, radius = generator.uniform(0, 2 * math.pi), 1 + k % 2 + generator.gauss(0, 0.2)
        row = [round(radius * math.cos(angle), 3), round(100 * radius * math.sin(angle), 3)]
        if k % 30 == 7:
            row[k % 2] = None
        rows.append(row)
        labels.append(("inner", "outer")[k % 2] if label == "two" else round(radius, 4))
    return rows, labels


def search_by_command_line(program, folder, rows, labels):
    lines = ["a,b,y", *(",".join("" if value is None else str(value) for value in [*row, label]) for row, label in zip(rows, labels))]
    (folder / "ring.csv").write_text("\n".join(lines) + "\n")
    command = [program, "search", "ring.csv", "--folds", "4", "--seed", str(SEED), "--stack", "2", "--output", "found", "--force", "--quiet"]
    subprocess.run(command, cwd=folder, check=True)
    found = json.loads((folder / "found/results.json").read_text())
    predict = [program, "predict", "ring.csv", "--model-file", "found/model.txt", "--output", "ring.txt", "--quiet"]
    subprocess.run(predict + ([] if isinstance(labels[0], float) else ["--probabilities"]), cwd=folder, check=True)
    return {
        "models": [row["model"] for row in found["models"]],
        "means": [row["score"]["mean"] for row in found["models"]],
        "predictions": predictions_of((folder / "ring.txt").read_text(), labels),
    }


def predictions_of(text, labels):
    """Numbers, or the probabilities of the first class in the order of letters."""
    rows = [line.split(",") for line in text.replace('"', "").splitlines()]
    if isinstance(labels[0], float):
        return [float(row[-1]) for row in rows if row[-1].replace("-", "").replace(".", "").replace("e", "").isdigit()]
    column = next(k for k, name in enumerate(rows[0]) if name.endswith(min(labels)) and "probability" in name)
    return [float(row[column]) for row in rows[1:]]


def search_by_python(rows, labels):
    import warnings

    import numpy as np
    from sheaf import AutoClassifier, AutoRegressor

    warnings.simplefilter("ignore")
    kind = AutoRegressor if isinstance(labels[0], float) else AutoClassifier
    x = np.array(rows, dtype=float)
    model = kind(cv=4, random_state=SEED, stack=2).fit(x, np.array(labels))
    board = model.leaderboard_
    predictions = model.predict(x) if kind is AutoRegressor else model.predict_proba(x)[:, 0]
    return {"models": board["model"].tolist(), "means": board["mean_score"].tolist(), "predictions": predictions.tolist()}


R_SEARCH = r"""
arguments <- commandArgs(TRUE)
library(sheaf, lib.loc = arguments[1])
case <- jsonlite::fromJSON(arguments[2])
y <- if (is.character(case$labels)) factor(case$labels) else case$labels
found <- suppressWarnings(sheaf_search(case$rows, y, folds = 4, seed = case$seed, stack = 2))
predictions <- if (is.factor(y)) predict(found, case$rows, type = "prob")[, 1] else predict(found, case$rows)
writeLines(jsonlite::toJSON(list(models = found$models$model, means = found$models$mean, predictions = predictions), digits = NA), case$output)
"""


def search_by_r(library, folder, rows, labels):
    output = folder / "search.json"
    case = {"rows": rows, "labels": labels, "seed": SEED, "output": str(output)}
    (folder / "ring.json").write_text(json.dumps(case))
    (folder / "search.R").write_text(R_SEARCH)
    subprocess.run(["Rscript", folder / "search.R", library, folder / "ring.json"], check=True, stdout=subprocess.DEVNULL)
    return json.loads(output.read_text())


def same_search(found, wanted, classes):
    """The order of the classes is not the same everywhere, and SVMs of the other order differ within their tolerance."""
    return found["models"] == wanted["models"] and all(
        len(found[part]) == len(wanted[part])
        and all(math.isclose(a, b, rel_tol=relative, abs_tol=absolute) for a, b in zip(found[part], wanted[part]))
        for part, relative, absolute in (("means", 1e-12, 0), ("predictions", 1e-9, 1e-3 if classes else 0))
    )


def comparable(text):
    return [line for line in text.splitlines() if not line.startswith(("label ", "event ", "positive ", "checksum "))]


def write_table(folder, rows, labels):
    """Returns the flags that name the columns of labels."""
    survival = isinstance(labels[0], tuple)
    table = [[*row, *(label if survival else (label,))] for row, label in zip(rows, labels)]
    names = "a,b,c,d," + ("t,e" if survival else "y")
    (folder / "d.csv").write_text("\n".join([names, *(",".join(map(str, line)) for line in table)]) + "\n")
    return ["--label", "t", "--event", "e"] if survival else []


def from_command_line(program, folder, kind, rows, labels, settings, prepare=()):
    flags = write_table(folder, rows, labels)
    for name, value in settings.items():
        flags += [f"--{name}"] if value == "yes" else [f"--{name}", value]
    subprocess.run([program, "fit", "d.csv", "--model", kind, *flags, *prepare, "--scale", "none", "--output", "m.txt", "--quiet"], cwd=folder, check=True)
    return (folder / "m.txt").read_text()


def scores_from_command_line(program, folder, kind, rows, labels):
    flags = write_table(folder, rows, labels)
    command = [program, "search", "d.csv", "--model", kind, "--folds", "3", "--seed", str(SEED), "--output", "found", "--force", "--quiet"]
    subprocess.run(command + flags, cwd=folder, check=True)
    found = json.loads((folder / "found/results.json").read_text())
    return [point[found["score"]]["mean"] for point in found["points"]]


def python_dataset(context, rows, labels, classes):
    import numpy as np
    from sheaf._data import make_dataset

    x = np.array(rows)
    dataset = make_dataset(context, x, precision="float64", names=["a", "b", "c", "d"], missing=False, device="cpu")
    if classes:
        dataset.set_classes(np.array([classes.index(label) for label in labels], dtype=np.int32), classes)
    elif isinstance(labels[0], tuple):
        events = np.array([event for _, event in labels], dtype=np.uint8)
        dataset.set_survival(np.array([time for time, _ in labels]), events, np.empty(0), np.empty(0, dtype=np.int32))
    else:
        dataset.set_numbers(np.array(labels, dtype=float))
    return dataset


def from_python(kind, rows, labels, classes, settings):
    from sheaf import _core

    context = _core.Context({}, None)
    options = _core.Options(kind)
    for name, value in settings.items():
        options.set(name, value)
    return _core.fit(context, python_dataset(context, rows, labels, classes), options, None).text()


def scores_from_python(kind, rows, labels, classes):
    from sheaf import _core

    context = _core.Context({"seed": str(SEED)}, None)
    dataset = python_dataset(context, rows, labels, classes)
    found = _core.search_models(context, dataset, kind, {"folds": "3"}, None, None)
    return found.scores(found.score).mean(axis=1).tolist()


def transformed_by_python(rows, labels, classes):
    """Whether a search that transforms named columns has the scores of one whose columns are transformed before."""
    import numpy as np
    from sheaf import _core
    from sheaf._data import make_dataset

    def losses(x, pipeline):
        context = _core.Context({}, None)
        dataset = make_dataset(context, x, precision="float64", names=["a", "b", "c", "d"], missing=False, device="cpu")
        dataset.set_classes(np.array([classes.index(label) for label in labels], dtype=np.int32), classes)
        splits = [(np.arange(20, 60), np.arange(20)), (np.arange(40), np.arange(40, 60))]
        found = _core.search_grid(context, dataset, _core.Options("linear"), {"cost": "1"}, pipeline, splits, None, "log-loss", True)
        return np.asarray(found.scores("log-loss"))

    x = np.array(rows)
    before = x.copy()
    before[:, :2] = np.log1p(x[:, :2])
    before[:, 2] = np.sqrt(x[:, 2])
    return np.allclose(losses(x, {"transform": ",".join(TRANSFORMS)}), losses(before, {}), rtol=1e-9, atol=0)


R_SCRIPT = r"""
arguments <- commandArgs(TRUE)
library(sheaf, lib.loc = arguments[1])
cases <- jsonlite::fromJSON(arguments[2], simplifyVector = FALSE)
for (case in cases) {
  x <- do.call(rbind, lapply(case$rows, unlist))
  colnames(x) <- c("a", "b", "c", "d")
  classes <- unlist(case$classes)
  y <- if (length(classes) > 0) {
    factor(unlist(case$labels), levels = classes)
  } else if (is.list(case$labels[[1]])) {
    sheaf:::read_survival(do.call(rbind, lapply(case$labels, unlist)), nrow(x))
  } else {
    as.double(unlist(case$labels))
  }
  target <- sheaf:::about_features(x, sheaf:::core_target(y, second_first = FALSE), NULL)
  if (isTRUE(case$search)) {
    none <- sheaf:::no_settings()
    found <- sheaf:::core_search(sheaf:::as_control(sheaf_control(), case$seed), x, target, case$kind, none, none,
                                 sheaf:::setting("folds", 3), none, integer(), NULL, TRUE, FALSE)
    writeLines(jsonlite::toJSON(rowMeans(found$scores[[found$score]]), digits = NA), case$output)
    next
  }
  fit <- sheaf:::core_fit(sheaf:::as_control(sheaf_control(), 0), x, target, case$kind, sheaf:::settings_of(case$settings, "settings"),
                          sheaf:::settings_of(lapply(case$prepare, unlist), "prepare"), NULL, list(), TRUE)
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

    from sheaf import _core

    lacking = set(_core.kinds()) - set(KINDS)
    if lacking:
        failures.append(f"these kinds of models are not compared: {sorted(lacking)}")
        print(failures[-1])

    def compare(front_end, kind, label, found, wanted):
        nonlocal passed
        if comparable(found) == comparable(wanted):
            passed += 1
            return
        different = [f"{a!r} for {b!r}" for a, b in zip(comparable(found), comparable(wanted)) if a != b]
        failures.append(f"{kind}, {label}, {front_end}: {'; '.join(different[:3]) or 'another number of lines'}")
        print(failures[-1])

    def compare_scores(front_end, kind, found, wanted):
        nonlocal passed
        if len(found) == len(wanted) and all(math.isclose(a, b, rel_tol=1e-12, abs_tol=1e-15) for a, b in zip(found, wanted)):
            passed += 1
            return
        failures.append(f"search, {kind}, {front_end}: {found} for {wanted}")
        print(failures[-1])

    def compare_search(front_end, label, found, wanted):
        nonlocal passed
        if same_search(found, wanted, label == "two"):
            passed += 1
            return
        failures.append(f"search, {label}, {front_end}: {found} for {wanted}")
        print(failures[-1])

    with tempfile.TemporaryDirectory(prefix="sheaf-parity-") as scratch:
        folder = Path(scratch)
        plain = [(kind, label, SETTINGS.get(kind, {})) for kind, labels in KINDS.items() for label in labels]
        for kind, label, settings in [*plain, *FURTHER]:
            rows, labels = draw(label)
            wanted = from_command_line(program, folder, kind, rows, labels, settings)
            classes = [line.removeprefix("class ") for line in wanted.splitlines() if line.startswith("class ")]
            name = " ".join([label, *(f"--{option} {value}" for option, value in settings.items())])
            compare("Python", kind, name, from_python(kind, rows, labels, classes, settings), wanted)
            case = {"kind": kind, "label": name, "rows": rows, "labels": labels, "classes": classes, "settings": settings}
            cases.append(case)
            expected.append(wanted)
            if (kind, label, settings) in plain and label == KINDS[kind][-1]:
                scores = scores_from_command_line(program, folder, kind, rows, labels)
                compare_scores("Python", kind, scores_from_python(kind, rows, labels, classes), scores)
                cases.append({**case, "search": True, "seed": SEED})
                expected.append(scores)
        rows, labels = draw("class")
        rows = [[abs(value) for value in row] for row in rows]
        flags = [part for one in TRANSFORMS for part in ("--transform", one)]
        wanted = from_command_line(program, folder, "linear", rows, labels, {}, flags)
        classes = [line.removeprefix("class ") for line in wanted.splitlines() if line.startswith("class ")]
        cases.append({"kind": "linear", "label": "transforms of columns", "rows": rows, "labels": labels, "classes": classes,
                      "settings": {}, "prepare": {"transform": TRANSFORMS}})
        expected.append(wanted)
        if transformed_by_python(rows, labels, classes):
            passed += 1
        else:
            failures.append("linear, transforms of columns, Python: other scores than of columns transformed before")
            print(failures[-1])
        has_r = bool(library) and os.path.isdir(library)
        for label in ("two", "number"):
            rows, labels = draw_ring(label)
            wanted = search_by_command_line(program, folder, rows, labels)
            compare_search("Python", label, search_by_python(rows, labels), wanted)
            if has_r:
                compare_search("R", label, search_by_r(library, folder, rows, labels), wanted)
        if has_r:
            for case, text, wanted in zip(cases, from_r(library, folder, cases), expected):
                if "search" in case:
                    compare_scores("R", case["kind"], json.loads(text), wanted)
                else:
                    compare("R", case["kind"], case["label"], text, wanted)
        else:
            print("R is left out: its package is not built")
    print(f"{passed} passed, {len(failures)} failed")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
