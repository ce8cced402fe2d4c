"""The page of `sheaf app` in Chromium, used by clicking and typing."""
import csv
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "report"))
from browser import Browser, find_browser  # noqa: E402, F401

WAIT = int(os.environ.get("SHEAF_WAIT", "120"))  # seconds for what a slow machine takes; waits end as soon as what they wait for is there
SCRIPT = "<script>window.hacked=1</script>"

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
        where = (f"(() => {{ const e = {element}; if (!e?.checkVisibility()) return null; e.scrollIntoView({{block: 'center', inline: 'center'}}); "
                 "const b = e.getBoundingClientRect(); return {x: b.x + b.width / 2, y: b.y + b.height / 2}; })()")
        box, before = self.until(where), None
        while box != before:
            self.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(1))))")
            before, box = box, self.until(where)
        return box["x"], box["y"]

    def click(self, element):
        """As people do: whoever sees that it moved away below the pointer tries again."""
        mouse = {"button": "left", "clickCount": 1}
        end = time.monotonic() + WAIT
        while time.monotonic() < end:
            x, y = self.place(element)
            self.ask(f"(() => {{ window.hits = []; for (const kind of ['mousedown', 'click']) ({element})?.addEventListener(kind, () => hits.push(kind), {{once: true}}); }})()")
            self.call("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, **mouse)
            if not self.until("[window.hits]")[0]:
                x = y = 0  # the button is let go where there is nothing
            self.call("Input.dispatchMouseEvent", type="mouseReleased", x=x, y=y, **mouse)
            hits = self.until("[window.hits]")[0]
            if hits is None or "click" in hits:  # None: the click has led to another document
                return
        raise AssertionError(f"{element} cannot be clicked on within {WAIT} s")

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

    def start_design(self):
        """Clicks on Start once the design is valid; waits for the page of the run."""
        button = "[...document.querySelectorAll('.beside button')].find(b => b.textContent === 'Start' && !b.disabled)"
        self.click(button)
        self.until("location.hash.startsWith('#/runs/')")

    def ended(self, patience=WAIT):
        """Waits for the end of the run in view, whatever it is; its state."""
        state = "document.querySelector('main .state')?.textContent"
        self.until(f"['done', 'failed', 'stopped'].includes({state})", patience)
        return self.ask(state)

    def drop(self, element, path):
        """A file from the desktop."""
        x, y = self.place(element)
        data = {"items": [], "files": [os.path.abspath(path)], "dragOperationsMask": 1}
        for kind in ("dragEnter", "dragOver", "drop"):
            self.call("Input.dispatchDragEvent", type=kind, x=x, y=y, data=data)


class App:
    """The server, for a folder of its own."""

    def __init__(self, program, folder, *options):
        self.folder = folder
        self.process = subprocess.Popen([program, "app", folder, "--no-open", *options], stderr=subprocess.PIPE, text=True)
        lines = []
        for line in self.process.stderr:
            lines.append(line)
            if found := re.search(r"open (http://\S+)", line):
                self.address = found[1]
                return
        raise AssertionError("the server did not start: " + "".join(lines))

    def kill(self):
        self.process.kill()
        self.process.wait(timeout=30)
        self.process.stderr.close()

    def close(self):
        self.process.send_signal(signal.SIGINT)
        self.process.wait(timeout=WAIT)
        self.process.stderr.close()
        self.end_jobs()

    def end_jobs(self):
        """Those that a test left: they would outlive it."""
        path = os.path.join(self.folder, ".sheaf-app", "jobs.json")
        if not os.path.exists(path):
            return
        with open(path, encoding="utf-8") as file:
            for job in json.load(file)["jobs"]:
                if job["state"] not in ("running", "stopping"):
                    continue
                try:
                    with open(f"/proc/{job['pid']}/environ", "rb") as environment:
                        if os.path.join(self.folder, ".sheaf-app").encode() in environment.read():
                            os.kill(job["pid"], signal.SIGKILL)
                except (FileNotFoundError, ProcessLookupError):  # it has ended
                    pass


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
