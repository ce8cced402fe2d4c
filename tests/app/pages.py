"""Every view of the page of `sheaf app`: what it shows is what the files of the run hold, and every control does what it says.

    pages.py PROGRAM [NAME ...]      all, or those whose names hold one of the words

Exit code 77: there is no Chromium, which is a failure if CI is set.
"""
import csv
import json
import os
import sys
import time

from page import App, Page, find_browser, write_trial
from served import encoded, hashes, make_classes, program, run, run_tests, until

CLOSE = 1e-5  # numbers have six digits


def study_in(place):
    folder = place / "study"
    folder.mkdir()
    return folder


class Visit:
    """A server, a browser and, at the end, no complaint of either."""

    def __init__(self, folder, *options):
        self.folder, self.options = folder, options

    def __enter__(self):
        self.app = App(program, str(self.folder), *self.options)
        self.page = Page(find_browser())
        self.page.start(self.app.address)
        return self.page

    def __exit__(self, error, *_):
        try:
            self.page.note_events()
            assert error or not self.page.complaints, "the browser complains: " + "\n".join(self.page.complaints)
        finally:
            self.page.close()
            self.app.close()


def show(page, where):
    page.goto(page.ask("location.origin + location.pathname") + "#/" + where)


def show_run(page, name, tab):
    show(page, f"runs/{encoded(name)}?tab={tab}")


def picture(title):
    return f"[...document.querySelectorAll('.picture')].find(e => e.querySelector('h2').textContent === {json.dumps(title)})"


def drawn(page, title):
    """The picture as it is on the screen."""
    page.until(f"{picture(title)}?.querySelector('canvas')?.width > 100")
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
    return page.ask(f"{picture(title)}.querySelector('canvas').toDataURL()")


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return text


def table_of(page, title):
    """What the button Table of a picture shows: names of columns, rows."""
    drawn(page, title)
    button = f"[...{picture(title)}.querySelectorAll('.save button')].find(b => b.textContent === 'Table')"
    page.click(button)
    rows = page.until(f"(() => {{ const rows = [...{picture(title)}.querySelectorAll('.data-table tr')]; "
                      "return rows.length > 1 && rows.map(r => [...r.children].map(c => c.textContent)); })()")
    page.click(button)
    return rows[0], [[number(cell) for cell in row] for row in rows[1:]]


def is_close(a, b):
    return abs(a - b) <= CLOSE * max(1, abs(a), abs(b))


def all_close(a, b):
    return len(a) == len(b) and all(is_close(x, y) for x, y in zip(a, b))


def results_of(folder, name):
    return json.loads((folder / name / "results.json").read_text())


def rows_of(path, delimiter=","):
    with open(path, newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def cells(page, label):
    """A table with this name, its head left out."""
    region = f"document.querySelector('[role=region][aria-label={json.dumps(label)}]')"
    return page.until(f"(() => {{ const rows = [...({region}?.querySelectorAll('tbody tr') ?? [])]; return rows.length > 0 && rows.map(r => [...r.children].map(c => c.innerText.trim())); }})()")


def press_key(page, key, code=None, text=None):
    for kind in ("keyDown", "keyUp"):
        more = {"text": text} if text and kind == "keyDown" else {}
        page.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code or 0, **more)


RIGHT, TAB, ENTER = ("ArrowRight", 39), ("Tab", 9), ("Enter", 13, "\r")


def test_settings_that_were_tried(place):
    folder = study_in(place)
    write_trial(folder / "trial.csv", 200, 1)
    run("search", "trial.csv", "--model", "svm", "--strategy", "grid", "--cost", "0.1,1,10", "--gamma", "0.01,0.1,1,10", "--folds", 4, "--output", "grid", cwd=folder)
    run("search", "trial.csv", "--model", "knn", "--k", "1,3,5,9", "--folds", 4, "--output", "near", cwd=folder)
    points = {(point["cost"], point["gamma"]): point["accuracy"] for point in results_of(folder, "grid")["points"]}
    with Visit(folder) as page:
        show_run(page, "grid", "points")
        columns, rows = table_of(page, "Accuracy of each point")
        at = [columns.index(name) for name in ("cost", "gamma", "accuracy", "standard error")]
        assert len(rows) == 12
        for row in rows:
            cost, gamma, mean, error = (row[k] for k in at)
            assert all_close([mean, error], [points[cost, gamma]["mean"], points[cost, gamma]["standard_error"]]), row
        # On request a surface, which the arrow keys turn.
        flat = drawn(page, "Accuracy of each point")
        page.click("field('as a surface')")
        page.see("Drag it, or press the arrow keys")
        surface = drawn(page, "Accuracy of each point")
        page.ask(f"{picture('Accuracy of each point')}.querySelector('canvas').focus()")
        press_key(page, *RIGHT)
        assert len({flat, surface, drawn(page, "Accuracy of each point")}) == 3
        # All settings at once: a range of C that is dragged along its axis leaves the points in it.
        everything = drawn(page, "All settings at once")
        x, y = page.place(f"{picture('All settings at once')}.querySelector('canvas')")
        box = page.ask(f"(() => {{ const b = {picture('All settings at once')}.querySelector('canvas').getBoundingClientRect(); return [b.left, b.top, b.width, b.height]; }})()")
        for left in range(20, int(box[2]), 12):  # wherever the first axis is
            page.call("Input.dispatchMouseEvent", type="mousePressed", button="left", buttons=1, clickCount=1, x=box[0] + left, y=box[1] + 0.15 * box[3])
            page.call("Input.dispatchMouseEvent", type="mouseMoved", button="left", buttons=1, x=box[0] + left, y=box[1] + 0.5 * box[3])
            page.call("Input.dispatchMouseEvent", type="mouseReleased", button="left", clickCount=1, x=box[0] + left, y=box[1] + 0.5 * box[3])
            page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
            if page.ask("!!named('button', 'Show all')"):
                break
        assert " of 12 points" in page.text() and drawn(page, "All settings at once") != everything
        page.press("button", "Show all")
        page.until("!named('button', 'Show all')")
        # One axis alone is a curve: accuracy over k.
        show_run(page, "near", "points")
        columns, rows = table_of(page, "Accuracy over k")
        means = {point["k"]: point["accuracy"]["mean"] for point in results_of(folder, "near")["points"]}
        assert {row[0] for row in rows} == set(means) and all_close([row[1] for row in rows], [means[row[0]] for row in rows])



def test_how_good_it_is(place):
    """The nested estimate first; thresholds, costs, calibration, learning curve and importance against the files."""
    folder = study_in(place)
    write_trial(folder / "trial.csv", 240, 1)
    run("search", "trial.csv", "--model", "linear", "--loss", "logistic", "--outer", 3, "--folds", 3, "--predictions", "--calibrate", "platt", "--learning-curve",
        "--permutation-importance", 2, "--output", "good", cwd=folder)
    results = results_of(folder, "good")
    with Visit(folder) as page:
        show_run(page, "good", "overview")
        outer = results["outer"][results["score"]]
        first = page.until("document.querySelector('.tile')?.innerText")
        assert "nested estimate" in first and f"{outer['mean']:.4f} ± {outer['standard_deviation']:.4f}" in first, first
        page.tab("Classes and threshold")
        truths, side = results["classes"], results["positive_class"]
        assert set(truths) == {"sick", "healthy"} and side in truths
        scored = [(float(row[f"probability of {side}"]), row["truth"]) for row in rows_of(folder / "good/predictions.csv")]
        levels = sorted({score for score, _ in scored})
        page.until("document.querySelector('#threshold')")
        page.ask("document.querySelector('#threshold').focus()")
        for _ in range(9):
            press_key(page, *RIGHT)
        threshold = levels[int(page.ask("document.querySelector('#threshold').value"))]
        _, rows = table_of(page, "Confusion matrix at this threshold")
        shown = {(truth, said): count for truth, said, count in rows}
        by_hand = {(truth, said): sum(t == truth and (score >= threshold) == (said == side) for score, t in scored) for truth in truths for said in truths}
        assert shown == by_hand, (shown, by_hand)
        other = next(name for name in truths if name != side)
        page.type(f"field('{side} taken for {other}')", "5")
        total = by_hand[other, side] + 5 * by_hand[side, other]
        page.until(f"document.body.innerText.replace(/\\s+/g, ' ').includes('total cost {total} ')")
        cost_of = lambda level: sum((t == other) for score, t in scored if score >= level) + 5 * sum((t == side) for score, t in scored if score < level)
        cheapest = min(cost_of(level) for level in [*levels, levels[-1] + 1])
        page.press("button", f"Cheapest: {cheapest}")
        page.until(f"document.body.innerText.replace(/\\s+/g, ' ').includes('total cost {cheapest} ')")
        drawn(page, "ROC curve")
        drawn(page, "Precision and recall")
        page.tab("How sure")
        _, bins = table_of(page, "Are the probabilities right?")
        inside = [[(score, truth) for score, truth in scored if low <= score < high or (high == 1 and score == 1)] for low, high, *_ in bins]
        assert sum(row[2] for row in bins) == len(scored)
        for (_, _, count, mean, share), own in zip(bins, inside):
            assert count == len(own) and is_close(share, sum(truth == side for _, truth in own) / count), (count, share)
            assert abs(mean - sum(score for score, _ in own) / count) < 1e-4
        _, steps = table_of(page, "Learning curve")
        assert all(all_close(row, [step["rows"], step["training"]["mean"], step["training"]["standard_deviation"], step["held_out"]["mean"], step["held_out"]["standard_deviation"]])
                   for row, step in zip(steps, results["learning_curve"])) and len(steps) == len(results["learning_curve"])
        page.tab("Features")
        _, importance = table_of(page, "Permutation importance")
        assert [row[0] for row in importance] == [one["name"] for one in results["importance"]]
        assert all_close([row[1] for row in importance], [one["mean"] for one in results["importance"]])
        page.tab("Held-out rows")
        page.until("document.querySelectorAll('.grid-row').length > 5")
        counted = "Number(document.querySelector('.grid').getAttribute('aria-rowcount')) - 1"
        page.until(f"{counted} === {len(scored)}")
        page.click("field('only wrong ones')")
        page.until(f"{counted} === {sum(row['prediction'] != row['truth'] for row in rows_of(folder / 'good/predictions.csv'))}")
        page.click("field('only wrong ones')")
        page.click("document.querySelector('.grid-row .link')")
        title = page.until("[...document.querySelectorAll('.picture h2')].map(e => e.textContent).find(t => t.endsWith('what decides it'))")
        _, rows = table_of(page, title)
        assert len(rows) >= 4
        page.tab("Files and report")
        for path in sorted((folder / "good").iterdir()):
            page.see(path.name)


def test_features_that_are_chosen(place):
    folder = study_in(place)
    write_trial(folder / "trial.csv", 200, 1)
    run("select", "trial.csv", "--model", "elastic-net-logistic", "--splits", 20, "--path-split", 1, "--output", "study", cwd=folder)
    results = results_of(folder, "study")
    with Visit(folder) as page:
        show_run(page, "study", "features")
        _, rows = table_of(page, "How often each feature was chosen")
        features = results["stability"]["features"]
        assert [row[0] for row in rows] == [one["name"] for one in features] and all_close([row[1] for row in rows], [one["frequency"] for one in features])
        assert "95 % intervals" in page.ask(f"{picture('How often each feature was chosen')}.innerText")
        columns, rows = table_of(page, "Weights along the path of resample 1")
        path = results["path"]
        assert len(columns) == 1 + len(path["alphas"]) and all_close(rows[0][1:], path["columns"][0]["features"][0]["effects"])
        page.tab("How sure")
        assert len(cells(page, "Outer folds")) == 20


def test_comparison(place):
    """Two to ten runs on the same splits, chosen on the home page."""
    folder = study_in(place)
    write_trial(folder / "trial.csv", 200, 1)
    same = ["--folds", 5, "--seed", 3]
    for k, words in enumerate([["linear", "--cost", "0.01,1"], ["svm", "--cost", "0.1,1", "--gamma", "0.1"], ["knn", "--k", "5"]] + [["linear", "--cost", str(2.0**c)] for c in range(7)]):
        run("search", "trial.csv", "--model", *words, *same, "--output", f"run{k}", cwd=folder)
    chosen = {f"run{k}": results_of(folder, f"run{k}")["chosen"]["accuracy"]["mean"] for k in range(10)}
    with Visit(folder) as page:
        page.until("document.querySelectorAll('[aria-label=Runs] tbody tr').length === 10")
        for k in range(3):
            page.click(f"document.querySelector('[aria-label=\"Compare run{k}\"]')")
        page.press("a", "Compare 3")
        page.see("Settings that differ")
        lines = cells(page, "Comparison")
        assert {line[0]: line[1] for line in lines} == {name: f"{chosen[name]:.4f}" for name in ("run0", "run1", "run2")}
        assert all(" to " in line[2] for line in lines), "each mean has an interval"
        assert sum(" to " in line[4] for line in lines) == 2, "and so has each difference"
        assert any("family" in line[0] for line in cells(page, "Settings that differ"))
        assert not any("folds" in line[0] for line in cells(page, "Settings that differ")), "they are the same"
        _, roc = table_of(page, "ROC curves")
        assert {row[0] for row in roc} == {"run0", "run1", "run2"}
        _, splits = table_of(page, "Split by split")
        assert len(splits) == 5
        for k in range(3, 10):
            page.choose("document.querySelector('[aria-label=\"Add a run\"]')", f"run{k} ")
            page.until(f"document.querySelectorAll('[aria-label=\"Comparison\"] tbody tr').length === {k + 1}")
        assert page.ask("document.querySelector('[aria-label=\"Add a run\"]')") is None, "ten are compared"
        lines = cells(page, "Comparison")
        assert {line[0]: line[1] for line in lines} == {name: f"{mean:.4f}" for name, mean in chosen.items()}
        _, curves = table_of(page, "Scores with intervals")
        assert len(curves) == 10
        page.press("button", "Leave out run9")
        page.until("document.querySelectorAll('[aria-label=\"Comparison\"] tbody tr').length === 9")


def test_rescoring(place):
    """From the file to q-value curves; no estimate is missed where there is none."""
    folder = study_in(place)
    run("generate", "psms", place / "run.pin", "--spectra", 1500, "--seed", 2)
    with Visit(folder) as page:
        page.press("nav a", "Rescoring")
        page.drop("document.querySelector('.drop')", place / "run.pin")
        page.until("named('pre', 'Command line')?.textContent.includes('sheaf rescore')")
        assert not page.ask("[...document.querySelectorAll('.beside .warning')].map(e => e.textContent)")
        page.start_design()
        assert page.ended() == "done"
        page.see("PSMs accepted")
        _, rows = table_of(page, "Accepted targets over the q-value")
        found = next(folder.glob("*/psms.tsv"))
        qs = [float(row["q-value"]) for row in rows_of(found, "\t")]
        assert len(rows) > 20 and [row[1] for row in rows] == [sum(q <= row[0] * (1 + 1e-9) for q in qs) for row in rows]
        drawn(page, "Do error probabilities agree with q-values?")
        drawn(page, "Weights of the features")
        page.tab("PSMs")
        page.until("document.querySelectorAll('.grid-row').length > 5")


def test_neighbours(place):
    folder = study_in(place)
    make_classes(folder, "flowers.csv", 60)
    with Visit(folder) as page:
        page.press("nav a", "Neighbours")
        page.press("label.choice", "flowers.csv")
        page.until("named('pre', 'Command line')?.textContent.includes('sheaf neighbors')")
        assert not page.ask("[...document.querySelectorAll('.beside .warning')].map(e => e.textContent)")
        page.start_design()
        assert page.ended() == "done"
        page.until("document.querySelectorAll('.grid-row').length > 5")


def waiting(folder):
    return [job["folder"] for job in json.loads((folder / ".sheaf-app/jobs.json").read_text())["jobs"] if job["state"] == "queued"]


def test_queue(place):
    """Jobs that wait change places, are removed, and start in their order."""
    folder = study_in(place)
    write_trial(folder / "long.csv", 4000, 3)
    with Visit(folder) as page:
        for name in ("first", "second", "third", "fourth"):
            show(page, f"design?dataset={encoded('long.csv')}")
            if name == "first":
                page.press("label.choice", "svm")
            page.type("document.querySelector('#design-name')", name)
            page.until(f"named('pre', 'Command line')?.textContent.includes('--model svm') && named('pre', 'Command line').textContent.includes('--output {name}')")
            page.start_design()
        assert waiting(folder) == ["second", "third", "fourth"]
        page.press("nav a", "Jobs")
        page.press("button", "fourth earlier")
        until(lambda: waiting(folder) == ["second", "fourth", "third"], "another order")
        page.press("button", "second later")
        until(lambda: waiting(folder) == ["fourth", "second", "third"], "another order")
        page.until("[...document.querySelectorAll('[aria-label=Waiting] .row-name')].map(e => e.textContent).join() === 'fourth,second,third'")
        page.click("[...document.querySelectorAll('[aria-label=Waiting] tr')].find(r => r.innerText.includes('third')).querySelector('button:last-child')")
        until(lambda: waiting(folder) == ["fourth", "second"], "one less")
        page.click("[...document.querySelectorAll('[aria-label=Running] button')].find(b => b.textContent === 'Stop')")
        page.until("document.querySelector('[aria-label=Running]')?.innerText.includes('fourth')")
        assert waiting(folder) == ["second"]


def test_read_only(place):
    """Shows everything, offers nothing that would change something, and writes nothing."""
    folder = study_in(place)
    write_trial(folder / "trial.csv", 120, 1)
    run("search", "trial.csv", "--model", "linear", "--predictions", "--output", "found", cwd=folder)
    before = hashes(folder / "found"), sorted(os.listdir(folder))
    with Visit(folder, "--read-only") as page:
        page.see("read only")
        page.until("document.querySelectorAll('[aria-label=Runs] tbody tr').length === 1")
        assert not page.ask("['New search', 'Try the demonstration'].filter(t => named('a, button', t))")
        show(page, f"data/{encoded('trial.csv')}")
        page.see("Features that go with the label")
        page.tab("Rows and columns")
        page.until("document.querySelectorAll('.grid-row').length > 5")
        assert page.ask("document.querySelector('.column-button')") is None
        show(page, f"design?dataset={encoded('trial.csv')}")
        page.until("named('pre', 'Command line')?.textContent.includes('sheaf search')")
        assert page.ask("[...document.querySelectorAll('.beside button')].find(b => b.textContent === 'Start').disabled")
        show_run(page, "found", "points")
        page.until("document.querySelector('.picture canvas')")
        show(page, f"predict?run={encoded('found')}")
        page.press("button", "Predict this row")
        page.until("['sick', 'healthy'].includes(document.querySelector('.answer')?.textContent)")
    assert (hashes(folder / "found"), sorted(os.listdir(folder))) == before


def test_roles(place):
    """Every role of a column is set by clicks, and is in the command."""
    folder = study_in(place)
    with open(folder / "visits.csv", "w") as file:
        file.write("patient,day,weight,code,note,age,outcome\n")
        file.writelines(f"p{k % 25},{k},{1 + k % 3},{k % 4},x{k % 2},{30 + k % 40},{'ab'[(k * 7 % 40) // 20]}\n" for k in range(200))
    roles = {"patient": ("Group", "--group patient"), "weight": ("Weight", "--weight-column weight"), "code": ("Nominal", "--nominal code"), "note": ("Ignore", "--ignore note"),
             "day": ("Time", "--order day"), "outcome": ("Label", "--label outcome")}
    with Visit(folder) as page:
        show(page, f"data/{encoded('visits.csv')}?tab=rows")
        for column, (role, _) in roles.items():
            page.click(f"[...document.querySelectorAll('.column-button')].find(b => b.title.startsWith({json.dumps(column + ':')}))")
            page.see(f"Role of {column}")
            page.press("dialog label", role)
            page.until(f"document.querySelector('dialog') === null && named('button', 'undo: {column} is a feature again')")
        page.press("a", "Design a search")
        command = "named('pre', 'Command line')?.textContent"
        page.until(" && ".join(f"{command}.includes({json.dumps(words)})" for _, words in roles.values() if "order" not in words))
        assert "--order day" in page.ask(command)


def focus(page, words, most=150):
    """Tab until what has the focus says so; it must be seen that it has it."""
    for _ in range(most):
        press_key(page, *TAB)
        found = page.ask("(e => [(e.getAttribute('aria-label') || e.labels?.[0]?.textContent || e.textContent || '').trim(), getComputedStyle(e).outlineStyle, e.matches(':focus-visible')])(document.activeElement)")
        if found[0] == words or found[0].startswith(words):
            assert found[2] and found[1] != "none", f"nobody sees that {words} has the focus"
            return
    raise AssertionError(f"Tab does not lead to {words}")


def test_keyboard(place):
    """From the dataset to a prediction without a mouse."""
    folder = study_in(place)
    write_trial(folder / "trial.csv", 120, 1)
    with Visit(folder) as page:
        page.until("named('a.row-name', 'trial.csv')")
        focus(page, "trial.csv")
        press_key(page, *ENTER)
        page.see("Features that go with the label")
        focus(page, "Design a search")
        press_key(page, *ENTER)
        page.until("named('label.choice', 'linear')")
        focus(page, "linear")
        press_key(page, " ", 32, " ")
        page.until("named('pre', 'Command line')?.textContent.includes('--model linear')")
        page.until("[...document.querySelectorAll('.beside button')].some(b => b.textContent === 'Start' && !b.disabled)")
        focus(page, "Start", 300)
        press_key(page, *ENTER)
        page.until("location.hash.startsWith('#/runs/')")
        assert page.ended() == "done"
        focus(page, "In short")
        press_key(page, *RIGHT)
        page.until("named('[role=tab][aria-selected=true]', 'Settings tried')")
        page.until("document.querySelector('.picture canvas')")
        tip = None
        for _ in range(40):  # a picture that is drawn again meanwhile has lost the focus
            focus(page, "Accuracy over C")
            press_key(page, *RIGHT)
            tip = page.ask("document.querySelector('.tip')?.innerText")
            if tip:
                break
            time.sleep(0.25)
        assert tip and "accuracy" in tip.lower()
        page.ask("document.querySelector('h1').focus()")
        focus(page, "Predict new rows")
        press_key(page, *ENTER)
        page.until("named('button', 'Predict this row')")
        focus(page, "Predict this row")
        press_key(page, *ENTER)
        page.until("['sick', 'healthy'].includes(document.querySelector('.answer')?.textContent)")


def test_rows_of_another_kind(place):
    """Levels that the model has never seen and columns in other units are warned about; the download has every row."""
    folder = study_in(place)
    write_trial(folder / "trial.csv", 200, 1)
    run("search", "trial.csv", "--model", "linear", "--output", "found", cwd=folder)
    write_trial(place / "new.csv", 40, 2, label=False)
    rows = rows_of(place / "new.csv")
    for row in rows:
        row["age"] = str(float(row["age"]) * 365)  # days
        row["site"] = "elsewhere" if row["site"] == "north" else row["site"]
    with open(place / "new.csv", "w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys())
        writer.writeheader()
        writer.writerows(rows)
    with Visit(folder) as page:
        show(page, f"predict?run={encoded('found')}")
        page.until("named('button', 'Predict this row')")
        page.drop("document.querySelector('.drop')", place / "new.csv")
        page.see("40 rows")
        notes = " ".join(page.ask("[...document.querySelectorAll('.outcome .findings li')].map(e => e.innerText)"))
        assert "elsewhere" in notes and "age" in notes, notes
        link = page.ask("named('a', 'Download as CSV').href")
        text = page.run(f"fetch({json.dumps(link)}).then(r => r.text())")
        assert len(text.strip().splitlines()) == 41 and "prediction" in text.splitlines()[0]


def main():
    if find_browser() is None:
        print("sheaf app in a browser: Skipped\nchromium is not installed")
        return 1 if os.environ.get("CI") else 77
    return run_tests(globals())


if __name__ == "__main__":
    sys.exit(main())
