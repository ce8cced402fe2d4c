"""`sheaf app` as people use it, in Chromium: from dropping a raw file to predictions for new rows by clicking and typing alone.

    in_browser.py PROGRAM [--pictures FOLDER]

With --pictures it keeps a picture of each page, light and dark. Exit code 77: there is no Chromium, which is a failure if CI is set.
If web/node_modules has axe-core, each page is also examined with it.
"""
import csv
import json
import os
import sys
import tempfile
import time
import xml.etree.ElementTree

from page import HERE, SCRIPT, WAIT, App, Page, find_browser, write_trial

ROOT = os.path.dirname(os.path.dirname(HERE))
AXE = os.path.join(ROOT, "web", "node_modules", "axe-core", "axe.min.js")


class Tour:
    def __init__(self, page, folder, pictures):
        self.page, self.folder, self.pictures = page, folder, pictures
        self.axe = open(AXE, encoding="utf-8").read() if os.path.exists(AXE) else None
        self.faults = []

    def examine(self, name):
        """Nothing overflows, light or dark, wide or narrow, and axe has no findings."""
        page = self.page
        for width in (1280, 420):
            for scheme in ("light", "dark"):
                page.look(width, scheme)
                page.until(f"document.documentElement.dataset.theme === '{scheme}'")
                time.sleep(0.3)  # charts are drawn again in the next frame
                wide = page.ask("document.documentElement.scrollWidth - innerWidth")
                if wide > 0:
                    self.faults.append(f"{name}: at {width} pixels the page is {wide} pixels too wide")
                if self.axe:
                    self.faults += [f"{name}, {width}, {scheme}: {what}" for what in self.axe_findings()]
                if self.pictures and width == 1280:
                    with open(os.path.join(self.pictures, f"{name}-{scheme}.png"), "wb") as file:
                        file.write(page.picture())
        page.look(1280, "light")

    def axe_findings(self):
        self.page.run(f"{self.axe}\n;0")
        found = self.page.run("axe.run(document, {resultTypes: ['violations']}).then(r => r.violations.map(v => "
                              "`${v.id}: ${v.help}: ${v.nodes.slice(0, 3).map(n => n.target.join(' ')).join(' | ')}`))")
        return found

    def run(self):
        self.first_visit()
        self.data()
        self.design()
        self.live()
        self.results()
        self.predict()
        self.compare()
        self.stop_and_resume()
        self.security()

    def first_visit(self):
        self.page.see("Your own data")
        self.page.see("Try the demonstration")
        self.examine("welcome")

    def data(self):
        page = self.page
        page.drop("document.querySelector('.drop')", os.path.join(self.folder, "..", "trial.csv"))
        page.until("document.querySelector('h1')?.textContent === 'trial.csv'")
        page.until("named('canvas', 'healthy 127')")
        page.see("Features that go with the label")
        self.examine("data")
        page.tab("Rows and columns")
        page.see("outcome")
        assert page.until("document.querySelector('.grid')?.innerText.includes('north')")
        # The name of a column is text, whatever it says.
        page.see(SCRIPT)
        assert page.ask("window.hacked === undefined"), "a script in the name of a column was run"
        page.press(".column-button", "age")
        page.see("Role of age")
        page.press("label", "Ignore")
        page.until("named('.role', 'ignore')")
        self.examine("rows")
        page.press("button", "undo: age is a feature again")
        page.until("!named('.role', 'ignore')")

    def design(self):
        page = self.page
        page.press("a", "Design a search")
        page.until("document.querySelector('h1')?.textContent === 'Design'")
        page.until("named('pre', 'Command line')?.textContent.includes('sheaf search')")
        page.see("models that suit the data")
        # A rule that is too long for a closed select stands below it.
        page.until("field('score').selectedOptions[0].textContent === 'automatic' && field('score').closest('.field').innerText.includes('automatic: accuracy')")
        more = "[...document.querySelectorAll('details.more > summary')].filter(e => e.checkVisibility())"
        for summary in range(page.ask(more + ".length")):
            page.click(f"{more}[{summary}]")
        page.type("field('number of folds')", "x")
        page.until("[...document.querySelectorAll('.field .error')].some(e => e.textContent.includes('folds'))")
        page.type("field('number of folds')", "4")
        page.until("!document.querySelector('.field .error')")
        page.press("label.choice", "linear")
        page.press("label.choice", "svm")
        page.until("['--folds 4', 'linear,svm'].every(t => named('pre', 'Command line')?.textContent.includes(t))")
        page.until("document.querySelector('.kinds')?.innerText.includes('support vector machine with a kernel')")
        page.press("[role=tab]", "Python")
        page.until("document.querySelector('.copy pre')?.textContent.includes('import')")
        page.press("[role=tab]", "R")
        page.until("document.querySelector('.copy pre')?.textContent.includes('sheaf')")
        page.press("[role=tab]", "Command line")
        page.click("field('predictions')")
        page.until("named('pre', 'Command line')?.textContent.includes('--predictions')")
        self.examine("design")
        page.start_design()

    def live(self):
        page = self.page
        page.until("document.querySelector('.state.running, .state.done, .state.queued')")
        page.until("document.querySelector('main .state')?.textContent === 'done'")
        page.see("In short")

    def results(self):
        page = self.page
        page.see("sick")
        self.examine("results")
        page.tab("Settings tried")
        page.see("All scores")
        page.until("document.querySelectorAll('.picture canvas').length >= 1")
        self.pictures_are_saved()
        self.examine("points")
        page.tab("Classes and threshold")
        page.see("Confusion matrix at this threshold")
        before = page.ask("[...document.querySelectorAll('.tile')].map(e => e.textContent).join()")
        page.ask("document.querySelector('#threshold').focus()")
        for _ in range(15):
            self.key("ArrowRight")
        page.until(f"[...document.querySelectorAll('.tile')].map(e => e.textContent).join() !== {json.dumps(before)}")
        self.examine("classes")
        page.tab("Held-out rows")
        page.until("document.querySelector('.grid-row')")
        page.click("document.querySelector('.grid-row .link')")
        page.see("what decides it")
        self.examine("held-out")
        page.tab("Files and report")
        page.see("results.json")
        self.examine("files")

    def pictures_are_saved(self):
        """A chart as SVG with its title, as PNG, and its data as CSV."""
        page = self.page
        with tempfile.TemporaryDirectory() as folder:
            page.call("Page.setDownloadBehavior", behavior="allow", downloadPath=folder)
            title = page.ask("document.querySelector('.picture h2').textContent")
            for kind in ("SVG", "PNG", "CSV"):
                page.click(f"[...document.querySelectorAll('.picture .save button')].find(b => b.textContent === '{kind}')")
                content = self.downloaded(folder, "." + kind.lower())
                if kind == "SVG":
                    assert title in "".join(xml.etree.ElementTree.fromstring(content).itertext()), "an SVG has no title"
                elif kind == "PNG":
                    assert content.startswith(b"\x89PNG"), "a PNG is none"
                else:
                    rows = list(csv.reader(content.decode().splitlines()))
                    assert len(rows) > 5 and len({len(row) for row in rows}) == 1, rows[:3]

    def downloaded(self, folder, ending):
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            for name in os.listdir(folder):
                if name.endswith(ending):
                    with open(os.path.join(folder, name), "rb") as file:
                        return file.read()
            time.sleep(0.05)
        raise AssertionError(f"no {ending} was saved")

    def key(self, name):
        for kind in ("keyDown", "keyUp"):
            self.page.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=39)

    def predict(self):
        page = self.page
        page.press("a", "Predict new rows")
        page.until("document.querySelector('h1')?.textContent === 'Predict'")
        page.until("field('marker')")
        page.type("field('marker')", "3")
        page.choose("field('site')", "north")
        page.press("button", "Predict this row")
        page.until("document.querySelector('.answer')?.textContent === 'sick'")
        page.see("What decides it")
        page.type("field('marker')", "-3")
        page.press("button", "Predict this row")
        page.until("document.querySelector('.answer')?.textContent === 'healthy'")
        self.examine("predict")
        page.drop("document.querySelector('.drop')", os.path.join(self.folder, "..", "new.csv"))
        page.see("25 rows")
        page.until("document.querySelectorAll('.outcome .grid-row').length > 5")
        assert page.ask("window.hacked === undefined"), "a script in the name of a column was run"
        shown = page.ask("[...document.querySelectorAll('.outcome .grid-row')].slice(0, 5).map(r => r.children[1].textContent)")
        assert set(shown) <= {"sick", "healthy"}, shown

    def compare(self):
        page = self.page
        page.press("nav a", "Home")
        page.see("Runs")
        self.examine("home")
        for name in ("Jobs", "Rescoring", "Neighbours", "Compare", "Data"):
            page.press("nav a", name)
            page.until("document.querySelector('h1')")
            self.examine(name.lower())

    def stop_and_resume(self):
        """Scores appear while a search runs; it is stopped, and goes on to its end."""
        page = self.page
        page.drop("document.querySelector('.drop')", os.path.join(self.folder, "..", "long.csv"))
        page.until("document.querySelector('h1')?.textContent === 'long.csv'")
        page.press("a", "Design a search")
        page.press("label.choice", "svm")
        page.until("named('pre', 'Command line')?.textContent.includes('--model svm')")
        page.start_design()
        page.until("document.querySelector('.live-tiles')?.innerText.includes('so far')")
        page.until("document.querySelector('.picture canvas')")
        page.press("main button", "Stop")
        page.until("document.querySelector('main .state')?.textContent === 'stopped'")
        self.examine("run")
        page.press("main button", "Resume")
        page.until("document.querySelector('main .state')?.textContent === 'done'", 4 * WAIT)
        page.see("In short")

    def security(self):
        page = self.page
        page.note_events()
        host = page.ask("location.origin")
        elsewhere = [url for url in page.requests if not url.startswith((host, "data:", "blob:", "about:"))]
        assert not elsewhere, f"requests left the machine: {elsewhere}"
        assert not page.complaints, "the browser complains: " + "\n".join(page.complaints)


def main():
    program = os.path.abspath(sys.argv[1])
    pictures = sys.argv[sys.argv.index("--pictures") + 1] if "--pictures" in sys.argv else None
    path = find_browser()
    if path is None:
        print("sheaf app in a browser: Skipped\nchromium is not installed")
        return 1 if os.environ.get("CI") else 77
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        folder = os.path.join(place, "study")
        os.mkdir(folder)
        write_trial(os.path.join(place, "trial.csv"), 240, 1)
        write_trial(os.path.join(place, "new.csv"), 25, 2, label=False)
        write_trial(os.path.join(place, "long.csv"), 5000, 3)
        app = App(program, folder)
        page = Page(path)
        tour = Tour(page, folder, pictures)
        try:
            page.start(app.address)
            tour.run()
        finally:
            page.close()
            app.close()
        print("\n".join(tour.faults) if tour.faults else "the tour through sheaf app went well")
        if tour.axe is None:
            print("axe-core is not installed (npm ci in web/): accessibility was not examined")
        return 1 if tour.faults else 0


if __name__ == "__main__":
    sys.exit(main())
