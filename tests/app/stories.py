"""What people do with `sheaf app` in Chromium beside the tour of in_browser.py: the five minutes of docs/tour.md by clicking alone, two
browsers at once, through a proxy with a path, after everything was killed, and with a hundred thousand points.

    stories.py PROGRAM [NAME ...]      all, or those whose names hold one of the words

Exit code 77: there is no Chromium, which is a failure if CI is set.
"""
import csv
import http.client
import http.server
import json
import math
import os
import random
import re
import signal
import subprocess
import sys
import threading

from page import WAIT, App, Page, find_browser, write_trial
from served import encoded, hashes, job_process, program, run_tests, write_numbers, write_points

STATE = "document.querySelector('main .state')?.textContent"


def study_in(place):
    """The folder that is served; files that are dropped lie beside it."""
    folder = place / "study"
    folder.mkdir()
    return folder


def visit(address, *options):
    page = Page(find_browser(), *options)
    page.start(address)
    return page


def without_complaints(page):
    page.note_events()
    assert not page.complaints, "the browser complains: " + "\n".join(page.complaints)


def test_tour(place):
    """docs/tour.md by clicks alone: nothing is typed, and no file is dropped."""
    folder = study_in(place)
    app = App(program, str(folder))
    page = visit(app.address)
    try:
        page.press("button", "Try the demonstration")
        page.until("document.querySelector('h1')?.textContent === 'microbes.arff.gz'")
        page.see("20,000")
        page.see("Features that go with the label")
        page.until("named('canvas', 'sick 200')")
        # Search: a linear model on five folds.
        page.press("a", "Design a search")
        page.press("label.choice", "linear")
        page.until("named('pre', 'Command line')?.textContent.includes('--model linear')")
        page.see("time, roughly")
        page.start_design()
        assert page.ended(4 * WAIT) == "done"
        page.see("In short")
        page.tab("Settings tried")
        page.until("document.querySelectorAll('.picture canvas').length >= 1")
        page.tab("Features")
        page.until("document.querySelector('.picture canvas')")
        page.tab("Files and report")
        page.see("report.html")
        page.press("a", "Predict new rows")
        page.press("button", "Predict this row")
        page.until("['sick', 'healthy'].includes(document.querySelector('.answer')?.textContent)")
        page.see("What decides it")
        # Select: features by joint mutual information.
        begin_task(page, "Select features by information")
        page.start_design()
        assert page.ended() == "done"
        page.see("Otu")
        # Study: which features elastic nets choose again and again.
        begin_task(page, "Select features by models")
        page.press("label.choice", "elastic-net-logistic")
        page.until("named('pre', 'Command line')?.textContent.includes('elastic-net-logistic')")
        page.start_design()
        page.until("document.querySelector('.live-tiles, .tile')?.innerText", 4 * WAIT)
        assert page.ended(8 * WAIT) == "done"
        page.tab("Features chosen")
        page.see("How often each feature was chosen")
        page.see("Weights along the path of resample 1")
        # Home has it all.
        page.press("nav a", "Home")
        page.until("document.querySelectorAll('.state.done').length === 3")
        without_complaints(page)
    finally:
        page.close()
        app.close()


def begin_task(page, title):
    page.press("nav a", "Design")
    page.until("document.querySelector('h1')?.textContent === 'Design'")
    page.press("button.task", title)
    page.until(f"document.querySelector('button.task[aria-pressed=true]')?.textContent.startsWith({json.dumps(title)})")


def long_search(page, path):
    """Drops a file and starts a search that takes a while."""
    page.drop("document.querySelector('.drop')", path)
    page.press("a", "Design a search")
    page.press("label.choice", "svm")
    page.until("named('pre', 'Command line')?.textContent.includes('--model svm')")
    page.start_design()


def test_two_browsers(place):
    """What one does the other sees, live; each can use it all."""
    folder = study_in(place)
    write_trial(place / "long.csv", 5000, 3)
    app = App(program, str(folder))
    first, second = visit(app.address), visit(app.address)
    try:
        long_search(first, place / "long.csv")
        second.until("document.querySelector('main .state.running')")
        second.press("main a.row-name", "long-search")
        for page in (first, second):
            page.until("document.querySelector('.live-tiles')?.innerText.includes('so far')")
            page.see("cores busy")
        second.press("main button", "Stop")
        for page in (first, second):
            page.until(f"{STATE} === 'stopped'")
        first.press("main button", "Resume")
        for page in (first, second):
            page.until(f"{STATE} === 'running'")
        first.press("main button", "Stop")
        second.until(f"{STATE} === 'stopped'")
        for page in (first, second):
            without_complaints(page)
    finally:
        first.close()
        second.close()
        app.close()


def test_killed(place):
    """kill -9 of server and job, a new server, Resume: the same bytes as a search that nothing happened to."""
    folder = study_in(place)
    write_trial(place / "long.csv", 3000, 3)
    app = App(program, str(folder))
    page = visit(app.address)
    try:
        long_search(page, place / "long.csv")
        command = page.until("document.querySelector('.copy pre')?.textContent.replace(/^\\$ /, '')")
        page.until("document.querySelector('.live-tiles')?.innerText.includes('so far')")
        process = job_process(folder)
        app.kill()
        os.kill(process, signal.SIGKILL)
        page.see("The connection to Sheaf is interrupted")
        app = App(program, str(folder))
        page.goto(app.address)
        page.press("main a.row-name", "long-search")
        page.until(f"{STATE} === 'stopped'")
        page.press("main button", "Resume")
        page.until(f"{STATE} === 'running'")
        assert page.ended(4 * WAIT) == "done"
        page.see("In short")
        words = command.split()
        assert words[:2] == ["sheaf", "search"], command
        words[words.index("--output") + 1] = "whole"
        subprocess.run([program, *words[1:]], cwd=folder, check=True, capture_output=True)
        assert hashes(folder / "long-search") == hashes(folder / "whole")
    finally:
        page.close()
        app.close()


def test_welcome(place):
    """An empty folder offers a file and the demonstration, whole in any window; both are left once there is something."""
    folder = study_in(place)
    write_trial(place / "trial.csv", 60, 1)
    app = App(program, str(folder))
    page = visit(app.address)
    cards = "[...document.querySelectorAll('.welcome > .card')]"
    try:
        page.see("Drop a file here")
        for width, columns in ((1280, 2), (700, 1), (380, 1)):
            page.look(width, "light")
            page.until(f"new Set({cards}.map(e => e.getBoundingClientRect().x)).size === {columns}")
            boxes = page.ask(f"{cards}.map(e => e.getBoundingClientRect()).map(b => [b.left, b.top, b.right, b.bottom])")
            (left, top, right, bottom), (next_left, next_top, next_right, _) = boxes
            assert next_left >= right if columns == 2 else next_top >= bottom, boxes
            assert top == next_top or columns == 1, boxes
            assert left >= 0 and next_right <= width and page.ask("document.documentElement.scrollWidth <= innerWidth"), boxes
            cut = page.ask(f"{cards}.flatMap(card => [...card.querySelectorAll('h2, h3, p, li, button')]).filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)")
            assert not cut, cut
        page.look(1280, "light")
        assert page.ask("[...document.querySelectorAll('.welcome li')].length") == 4
        page.drop("document.querySelector('.welcome .drop')", place / "trial.csv")
        page.until("document.querySelector('h1')?.textContent === 'trial.csv'")
        page.press("nav a", "Home")
        page.press("main a.row-name", "uploads/trial.csv")
        page.see("Features that go with the label")
        page.press("nav a", "Home")
        page.press("button", "Try the demonstration")
        page.until("document.querySelector('h1')?.textContent === 'microbes.arff.gz'")
        page.press("nav a", "Home")
        page.until("document.querySelectorAll('[aria-label=Datasets] tbody tr').length === 2")
        assert page.ask("document.querySelector('.welcome')") is None
        without_complaints(page)
    finally:
        page.close()
        app.close()


def write_samples(path):
    """As a laboratory keeps them: ids and dates first, what is to be predicted in the middle, comments at the end."""
    draw = random.Random(4)
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["Sample ID", "Date", "Status", "Batch", "Age", "CRP mg/L", "Gene A", "Gene B", "Comment"])
        for k in range(180):
            age, gene = draw.gauss(55, 12), draw.gauss(0, 1)
            sick = gene + 0.05 * (age - 55) + draw.gauss(0, 0.7) > 0
            writer.writerow([f"S{k + 1:03}", f"2023-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}", "Case" if sick else "Control", draw.choice("ABC"),
                             f"{age:.0f}", "NA" if draw.random() < 0.06 else f"{draw.lognormvariate(1, 0.8):.1f}", f"{gene:.3f}",
                             f"{draw.gauss(0, 1):.3f}", "" if draw.random() < 0.8 else "hemolysed"])


def fits(page, table):
    element = f"document.querySelector('[role=region][aria-label={table}]')"
    assert page.until(f"{element}?.querySelector('td')") and page.ask(f"{element}.scrollWidth <= {element}.clientWidth"), f"the table {table} is cut off"


def headings_fit(page, label):
    """The names of the columns of a long table are read to their ends."""
    heads = f"[...document.querySelectorAll('.grid[aria-label={json.dumps(label)}] .grid-head > span')]"
    page.until(f"{heads}.length > 1")
    cut = page.ask(f"{heads}.filter(e => e.scrollWidth > e.clientWidth).map(e => e.textContent)")
    assert not cut, f"{label}: {cut} are cut off"


def test_raw_samples(place):
    """Whoever has never seen a command line says what to predict, and reads neither flags nor inner files."""
    folder = study_in(place)
    write_samples(place / "my samples (final).csv")
    app = App(program, str(folder))
    page = visit(app.address)
    notes = "[...document.querySelectorAll('.findings li')].map(e => e.innerText)"
    try:
        page.drop("document.querySelector('.drop')", place / "my samples (final).csv")
        page.see("The label: Comment")
        page.choose("field('column to predict')", "Status")
        page.see("The label: Status")
        page.until("named('canvas', 'Control')")
        assert not [note for note in page.ask(notes) if "(--" in note or "uploads/" in note], page.ask(notes)
        page.press("a", "Design a search")
        page.until("named('pre', 'Command line')?.textContent.includes('--label Status')")
        assert page.ask("[...document.querySelectorAll('.copy .flag')].length >= 2 && [...document.querySelectorAll('.copy .flag')].every(e => e.getClientRects().length === 1)")
        page.start_design()
        assert page.ended() == "done"
        page.see("points tried")
        tried = page.ask("[...document.querySelectorAll('.tile')].find(e => e.innerText.includes('points tried')).querySelector('dd').innerText")
        assert f"the best of {tried} points" in page.text()
        assert not [note for note in page.ask(notes) if "(--" in note or "uploads/" in note], page.ask(notes)
        fits(page, "Models")
        page.tab("Settings tried")
        page.until("[...document.querySelectorAll('.grid-head > span')].slice(0, 3).map(e => e.innerText).join().startsWith('row,model,accuracy')")
        page.press("a", "Predict new rows")
        page.until("field('Age')")
        fields = page.ask("[...document.querySelectorAll('.typed label')].map(e => e.textContent)")
        assert fields == ["Batch", "Age", "CRP mg/L", "Gene A", "Gene B", "Comment"], fields
        assert page.ask("[...field('Batch').options].map(e => e.value)") == ["", "A", "B", "C"]
        page.press("button", "Predict this row")
        page.until("['Case', 'Control'].includes(document.querySelector('.answer')?.textContent)")
        assert "does not know" not in page.text()
        assert ".sheaf-app" not in page.text()
        page.choose("field('or a file of the folder')", "my_samples")
        page.see("The file has the truth too")
        headings_fit(page, "Predictions")
        page.press("nav a", "Home")
        fits(page, "Runs")
        without_complaints(page)
    finally:
        page.close()
        app.close()


def test_models_that_were_dropped(place):
    """Scored on few splits, they have no spread; the settings of the best one are read without scrolling."""
    folder = study_in(place)
    write_trial(folder / "trial.csv", 200, 1)
    subprocess.run([program, "search", "trial.csv", "--model", "linear,knn", "--output", "raced"], cwd=folder, check=True, capture_output=True)
    results = json.loads((folder / "raced/results.json").read_text())
    dropped = next(model for model in results["models"] if model["difference"] != 0)
    dropped.update(dropped_after_splits=2, interval=None, score={"mean": 0.5125, "standard_deviation": 0, "standard_error": 0, "splits": 5})
    (folder / "raced/results.json").write_text(json.dumps(results))
    app = App(program, str(folder))
    page = visit(app.address)
    try:
        page.goto(f"{app.address.split('?')[0]}#/runs/{encoded('raced')}")
        page.see("dropped after 2 splits")
        cells = page.ask("[...document.querySelectorAll('tr')].find(row => row.innerText.includes('dropped')).innerText.split('\t').map(t => t.trim())")
        assert "0.5125" in cells, cells
        fits(page, "Models")
        without_complaints(page)
    finally:
        page.close()
        app.close()


def test_large(place):
    """A map of 100,000 points tells each of them, and 1,000,000 rows scroll to the last."""
    folder = study_in(place)
    write_points(folder)
    write_numbers(folder / "rows.csv", 1_000_000)
    app = App(program, str(folder))
    page = visit(app.address)
    origin = app.address.split("?")[0]
    try:
        page.goto(f"{origin}#/runs/{encoded('many')}?tab=points")
        page.see("100,000 points")
        x, y = page.place("document.querySelector('.picture canvas')")
        for dx, dy in ((0, 0), (-40, 30), (60, -20)):
            page.call("Input.dispatchMouseEvent", type="mouseMoved", x=x + dx, y=y + dy)
            tip = page.until("document.querySelector('.tip')?.innerText")
            cost, gamma = (float(re.search(name + r" = ([\d.e+-]+)", tip)[1]) for name in ("C", "gamma"))
            accuracy = 1 - (math.log2(cost) / 10 - 0) ** 2 - (math.log2(gamma) / 10) ** 2
            assert abs(float(re.search(r"accuracy ([\d.]+)", tip)[1]) - accuracy) < 0.001, tip
        last_row(page, "100000")
        page.goto(f"{origin}#/data/{encoded('rows.csv')}?tab=rows")
        page.until("document.querySelector('.grid')?.getAttribute('aria-rowcount') === '1000001'")
        for move in (0, 1, 3, 12, -7, 400_000, 15, -200_000, 2):
            rows_stay_right(page, move)
        last_row(page, "1000000")
        page.until("[...document.querySelectorAll('.grid-row')].at(-1).innerText.includes('999998000001')")  # 999,999 squared
        without_complaints(page)
    finally:
        page.close()
        app.close()


def rows_stay_right(page, move):
    """After a scroll by so many rows those in the document follow one another, each with its own number and square."""
    page.ask(f"(document.querySelector('.grid').scrollTop += 12 * {move})")  # a scroll bar of 12 million pixels
    page.run("new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1)))))")
    page.until("!document.querySelector('.grid-row .unknown')")
    rows = page.ask("[...document.querySelectorAll('.grid-row')].map(row => [...row.children].map(e => Number(e.textContent)))")
    first = rows[0][0]
    assert len(rows) > 15 and [row[:3] for row in rows] == [[n, n - 1, (n - 1) ** 2] for n in range(first, first + len(rows))], (move, rows)


def last_row(page, number):
    page.ask("(document.querySelector('.grid').scrollTop = 1e9)")
    page.until(f"[...document.querySelectorAll('.grid-row .grid-number')].some(e => e.textContent === '{number}')")


class Proxy(http.server.ThreadingHTTPServer):
    """Passes on what lies behind a path, as JupyterHub and Open OnDemand do; keeps the path or takes it off."""

    daemon_threads = True

    def __init__(self, port, prefix, keeps):
        super().__init__(("127.0.0.1", 0), Passing)
        self.upstream, self.prefix, self.keeps = port, prefix, keeps
        threading.Thread(target=self.serve_forever, daemon=True).start()


class Passing(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def pass_on(self):
        proxy = self.server
        if not self.path.startswith(proxy.prefix + "/"):
            return self.send_error(404)
        path = self.path if proxy.keeps else self.path[len(proxy.prefix):]
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        upstream = http.client.HTTPConnection("127.0.0.1", proxy.upstream, timeout=WAIT)
        headers = {name: value for name, value in self.headers.items() if name.lower() != "connection"}
        upstream.request(self.command, path, body, headers)
        answer = upstream.getresponse()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in ("connection", "transfer-encoding"):
                self.send_header(name, value)
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        try:
            while part := answer.read1(65536):
                self.wfile.write(part)
                self.wfile.flush()
        except OSError:  # the page has gone
            pass
        finally:
            upstream.close()

    do_GET = do_PUT = do_POST = do_DELETE = do_HEAD = pass_on


def test_proxies(place):
    """The page behind a path and under another name: it drops a file, searches, follows and predicts."""
    folder = study_in(place)
    write_trial(place / "trial.csv", 240, 1)
    prefix = "/user/anna/sheaf"
    app = App(program, str(folder), "--prefix", prefix, "--allow-host", "hub.example")
    port, token = re.search(r":(\d+)/user/anna/sheaf/\?token=(\w+)", app.address).groups()
    try:
        for keeps in (True, False):
            proxy = Proxy(int(port), prefix, keeps)
            origin = f"http://hub.example:{proxy.server_port}"  # as if it had TLS, which a real one has
            page = visit(f"{origin}{prefix}/?token={token}", "--host-resolver-rules='MAP hub.example 127.0.0.1'", f"--unsafely-treat-insecure-origin-as-secure={origin}")
            try:
                assert page.ask("location.pathname") == prefix + "/" and "token" not in page.ask("location.href")
                if keeps:
                    page.drop("document.querySelector('.drop')", place / "trial.csv")
                else:
                    page.press("main a.row-name", "uploads/trial.csv")
                page.see("Features that go with the label")
                page.press("a", "Design a search")
                page.press("label.choice", "linear")
                page.until("named('pre', 'Command line')?.textContent.includes('--model linear')")
                page.start_design()
                assert page.ended() == "done"
                page.press("a", "Predict new rows")
                page.press("button", "Predict this row")
                page.until("document.querySelector('.answer')?.textContent")
                page.note_events()
                assert all(url.startswith((f"{origin}{prefix}/", "data:", "blob:", "about:")) for url in page.requests), page.requests
                without_complaints(page)
            finally:
                page.close()
                proxy.shutdown()
    finally:
        app.close()


def main():
    if find_browser() is None:
        print("sheaf app in a browser: Skipped\nchromium is not installed")
        return 1 if os.environ.get("CI") else 77
    return run_tests(globals())


if __name__ == "__main__":
    sys.exit(main())
