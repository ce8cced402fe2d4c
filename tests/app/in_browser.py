"""`sheaf app` as people use it, in Chromium: from dropping a raw file to predictions for new rows by clicking and typing alone.

    in_browser.py PROGRAM [--pictures FOLDER]

With --pictures it keeps a picture of each page, light and dark. Exit code 77: there is no Chromium, which is a failure if CI is set.
If web/node_modules has axe-core, each page is also examined with it.
"""
import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "report"))
from browser import Browser, find_browser  # noqa: E402

AXE = os.path.join(ROOT, "web", "node_modules", "axe-core", "axe.min.js")
SCRIPT = "<script>window.hacked=1</script>"
WAIT = int(os.environ.get("SHEAF_WAIT", "120"))  # seconds for what a slow machine takes; waits end as soon as what they wait for is there

# Visible elements of a kind by what people read on them.
FIND = r"""
const named = (selector, text) => {
  const words = e => (e.getAttribute("aria-label") || e.textContent).trim();
  const list = [...document.querySelectorAll(selector)].filter(e => e.getClientRects().length > 0 && !e.disabled);
  return list.find(e => words(e) === text) || list.find(e => words(e).includes(text));
};
const field = text => {
  const label = [...document.querySelectorAll("label")].find(l => l.textContent.trim().startsWith(text));
  return label && (label.control || label.querySelector("input, select"));
};
"""


class Page(Browser):
    def start(self, address, width=1280, scheme="light"):
        self.call("Network.enable")
        self.call("Log.enable")
        self.look(width, scheme)
        self.requests, self.complaints = set(), []
        self.goto(address)

    def look(self, width, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", media="screen", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def goto(self, address):
        self.call("Page.navigate", url=address)
        self.until("document.readyState === 'complete' && document.querySelector('main')")

    def note_events(self):
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Network.requestWillBeSent":
                self.requests.add(params["request"]["url"])
            if method == "Runtime.exceptionThrown":
                self.complaints.append(params["exceptionDetails"].get("exception", {}).get("description", "an exception"))
            if method == "Log.entryAdded" and params["entry"]["level"] == "error":
                self.complaints.append(params["entry"]["text"] + " " + params["entry"].get("url", ""))
        self.events.clear()

    def ask(self, expression):
        value = self.run("(() => {" + FIND + "const value = " + expression + "; return value instanceof Node ? true : value; })()")
        self.note_events()
        return value

    def until(self, expression, seconds=WAIT):
        """Waits until the expression is true and returns its value."""
        end = time.monotonic() + seconds
        while True:
            try:
                value = self.ask(expression)
            except RuntimeError as error:  # the page is being replaced
                value = None
                if "context" not in str(error) and "navigat" not in str(error):
                    raise
            if value:
                return value
            if time.monotonic() > end:
                raise AssertionError(f"not within {seconds} s: {expression}\nThe page says:\n{self.text()[:3000]}")
            time.sleep(0.05)

    def text(self):
        return self.ask("document.body.innerText")

    def see(self, words, seconds=WAIT):
        self.until(f"document.body.innerText.includes({json.dumps(words)})", seconds)

    def place(self, element):
        """The middle of an element, once it has come to rest there."""
        where = (f"(() => {{ const e = {element}; if (!e) return null; e.scrollIntoView({{block: 'center', inline: 'center'}}); "
                 "const b = e.getBoundingClientRect(); return {x: b.x + b.width / 2, y: b.y + b.height / 2}; })()")
        box, before = self.until(where), None
        while box != before:
            self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
            before, box = box, self.until(where)
        return box["x"], box["y"]

    def click(self, element):
        x, y = self.place(element)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def press(self, selector, text):
        """Clicks on what has this text."""
        self.click(f"named({json.dumps(selector)}, {json.dumps(text)})")

    def tab(self, text):
        self.press("[role=tab]", text)
        self.until(f"named('[role=tab][aria-selected=true]', {json.dumps(text)})")

    def type(self, element, text):
        self.click(element)
        self.ask(f"({element}).select && ({element}).select()")
        self.call("Input.insertText", text=text)

    def choose(self, element, text):
        """An option of a select, as the keyboard would."""
        found = self.until(f"(() => {{ const e = {element}; const o = e && [...e.options].find(o => o.textContent.includes({json.dumps(text)}));"
                           "if (!o) return false; e.focus(); e.value = o.value; e.dispatchEvent(new Event('change', {bubbles: true})); return true; })()")
        assert found

    def drop(self, element, path):
        """A file from the desktop."""
        x, y = self.place(element)
        data = {"items": [], "files": [os.path.abspath(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)


class App:
    """The server, for a folder of its own."""

    def __init__(self, program, folder):
        self.process = subprocess.Popen([program, "app", folder, "--no-open"], stderr=subprocess.PIPE, text=True)
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if found := re.search(r"open (http://\S+)", line):
                self.address = found[1]
                return
        raise AssertionError("the server did not start: " + "".join(lines))

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=30)
        self.process.stderr.close()


def write_trial(path, rows, seed, label=True):
    """A raw table as people have it: text, missing values, a script as the name of a column."""
    draw = random.Random(seed)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["age", "site", "marker", SCRIPT] + (["outcome"] if label else []))
        for _ in range(rows):
            age, site, marker, noise = draw.gauss(60, 10), draw.choice(["north", "south"]), draw.gauss(0, 1), draw.gauss(0, 1)
            sick = marker + (0.8 if site == "north" else -0.8) + draw.gauss(0, 0.5) > 0
            row = [f"{age:.1f}", site, "" if draw.random() < 0.05 else f"{marker:.3f}", f"{noise:.3f}"]
            writer.writerow(row + (["sick" if sick else "healthy"] if label else []))


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
        for summary in range(page.ask("document.querySelectorAll('details.more').length")):
            page.click(f"document.querySelectorAll('details.more > summary')[{summary}]")
        page.type("field('folds')", "x")
        page.until("[...document.querySelectorAll('.field .error')].some(e => e.textContent.includes('folds'))")
        page.type("field('folds')", "4")
        page.until("!document.querySelector('.field .error')")
        page.press("label.choice", "linear")
        page.press("label.choice", "svm")
        page.until("['--folds 4', 'linear,svm'].every(t => named('pre', 'Command line')?.textContent.includes(t))")
        page.press("[role=tab]", "Python")
        page.until("document.querySelector('.copy pre')?.textContent.includes('import')")
        page.press("[role=tab]", "R")
        page.until("document.querySelector('.copy pre')?.textContent.includes('sheaf')")
        page.press("[role=tab]", "Command line")
        page.click("field('predictions')")
        page.until("named('pre', 'Command line')?.textContent.includes('--predictions')")
        self.examine("design")
        page.until("named('button', 'Start') && [...document.querySelectorAll('button')].find(b => b.textContent === 'Start')")
        page.click("[...document.querySelectorAll('button')].find(b => b.textContent === 'Start')")

    def live(self):
        page = self.page
        page.until("location.hash.startsWith('#/runs/')")
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
        page.click("[...document.querySelectorAll('button')].find(b => b.textContent === 'Start')")
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
        write_trial(os.path.join(place, "long.csv"), 12000, 3)
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
