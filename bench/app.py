"""Figures of `sheaf app`: how soon it is there, how soon a score is seen, what the server takes, how fast it draws.

    python3 bench/app.py build/sheaf [start | pixel | memory | overhead | frames ...]

Chromium draws without a GPU here. Nothing is compared with a peer: the goals are those of docs/benchmarks.md.
"""
import fcntl
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tests" / "app"))
from page import Page, find_browser, write_trial  # noqa: E402
from served import Server, encoded, make_runs, memory_of, run, write_numbers, write_points  # noqa: E402

program = os.path.abspath(sys.argv[1])

PAINTED = """(() => { const paint = performance.getEntriesByName('first-contentful-paint')[0];
  return paint ? performance.timeOrigin + paint.startTime : 0; })()"""

# Calls act(frame) before each frame for some seconds; the times between frames, sorted.
FRAMES = """(seconds => new Promise(done => {
  const act = %s, times = [], begin = performance.now();
  let last = begin;
  const frame = now => {
    if (now > last) times.push(now - last);
    last = now;
    act(times.length);
    now - begin < 1000 * seconds ? requestAnimationFrame(frame) : done(times.slice(5).sort((a, b) => a - b));
  };
  requestAnimationFrame(frame);
}))(%d)"""

SCROLL = """(() => { const grid = document.querySelector('.grid');
  return k => { grid.scrollTop = (k * 347) % (grid.scrollHeight - grid.clientHeight); }; })()"""

POINT = """(() => { const canvas = document.querySelector('.picture canvas'), box = canvas.getBoundingClientRect();
  return k => canvas.dispatchEvent(new PointerEvent('pointermove', {bubbles: true,
    clientX: box.left + 70 + (k * 7) % (box.width - 100), clientY: box.top + 40 + (k * 3) % (box.height - 130)})); })()"""

BOTH = f"(() => {{ const scroll = {SCROLL}, point = {POINT}; return k => {{ scroll(k); point(k); }}; }})()"


def address_of(server):
    return f"http://{server.host}:{server.port}/?token={server.token}"


def entered(browser, server, page):
    browser.start(address_of(server))
    browser.goto(f"http://{server.host}:{server.port}/{page}")


def start(folder, browser):
    write_trial(folder / "trial.csv", 240, 1)
    painted, printed = [], []
    for _ in range(7):
        begin = time.time()
        server = Server(folder)
        printed.append(time.time() - begin)
        browser.start(address_of(server))
        painted.append(browser.until(PAINTED) / 1000 - begin)
        server.end()
    print(f"start to the address: median {statistics.median(printed):.3f} s; to the first paint: median {statistics.median(painted):.3f} s, "
          f"worst {max(painted):.3f} s of {len(painted)} (0.5 wanted)")


def pixel(folder, browser):
    """A journal that grows by a line at a time, as that of a search which another program runs."""
    results = folder / "found"
    results.mkdir()
    (results / "settings.json").write_text(json.dumps({"journal": 1, "full": True, "model": {"family": "svm"}, "data": {"path": "d.csv"}}))
    server = Server(folder)
    delays = []
    with open(results / "journal.txt", "w") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        entered(browser, server, "#/runs/" + encoded("found"))
        browser.until("document.querySelector('main .state')?.textContent === 'running'")
        for k in range(41):
            place = {"level": 0, "split": 0, "point": {"cost": 2.0**(k % 7), "gamma": 2.0**-(k // 7)}}
            journal.write("0" * 16 + " " + json.dumps({"batch": k, "models": [{"scores": [0.5 + k / 100] * 10, "place": place}]}) + "\n")
            journal.flush()
            written = time.time()
            shown = browser.run("""new Promise(done => { const look = () => {
              const tile = [...document.querySelectorAll('.tile')].find(e => e.textContent.includes('models scored'));
              if (!tile?.textContent.endsWith('scored%d')) return requestAnimationFrame(look);
              requestAnimationFrame(() => setTimeout(() => done(performance.timeOrigin + performance.now())));
            }; look(); })""" % (k + 1))
            delays.append(shown / 1000 - written)
            time.sleep(0.05 + 0.013 * (k % 8))
    server.end()
    delays = sorted(delays[1:])  # the first draws the whole page
    print(f"journal line to pixel: median {statistics.median(delays):.3f} s, worst {delays[-1]:.3f} s of {len(delays)} (0.3 wanted)")


def memory(folder, _):
    make_runs(folder, 10_000)
    server = Server(folder)
    begin = time.time()
    assert server.get("/runs?sort=-value&count=100")["total"] == 10_001
    first = time.time() - begin
    begin = time.time()
    server.get("/runs?sort=-value&count=100")
    print(f"10,000 runs: at most {memory_of(server) / 2**20:.1f} MiB (50 MB wanted); first list {first:.2f} s, then {time.time() - begin:.3f} s")
    server.end()


def seconds_of(process):
    """Of a process and of all processes that it has waited for."""
    _, _, used = os.wait4(process.pid, 0)
    return used.ru_utime + used.ru_stime


def server_and_children(server):
    """Processor seconds of a server's own threads, and of the processes that it started and that have ended."""
    place = pathlib.Path(f"/proc/{server.process.pid}")
    own = sum(int((thread / "schedstat").read_text().split()[0]) for thread in (place / "task").iterdir()) / 1e9
    fields = (place / "stat").read_text().rsplit(")", 1)[1].split()
    return own, (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")


def overhead(folder, browser):
    """The same search by the command line and in the app, from the click that starts it until the page says that it is done. The server has
    been started before, as for any number of searches, and its page follows the search."""
    run("generate", "classification", folder / "classes.csv", "--rows", 5000, "--features", 20, "--classes", 2, "--seed", 3)
    settings = {"model": "svm", "cost": "0.1:100:7", "gamma": "0.001:1:7", "strategy": "grid", "threads": 1}
    words = [word for name, value in settings.items() for word in (f"--{name}", str(value))]
    server = Server(folder)
    entered(browser, server, "#/queue")
    browser.until("document.querySelector('main h1')")
    rounds = []
    for k in range(3):
        begin = time.time()
        line = seconds_of(subprocess.Popen([program, "search", "classes.csv", *words, "--output", f"line{k}"], cwd=folder,
                                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
        line_clock = time.time() - begin
        own, children = server_and_children(server)
        begin = time.time()
        job = server.post("/jobs", {"task": "search", "datasets": [encoded("classes.csv")], "settings": settings, "name": f"app{k}"})
        browser.goto(f"http://{server.host}:{server.port}/#/runs/" + job["run"])
        browser.until("document.querySelector('main .state')?.textContent === 'done'", 600)  # as people wait; asks the server nothing
        clock = time.time() - begin
        rounds.append([line, line_clock, *(after - before for after, before in zip(server_and_children(server), (own, children))), clock])
    server.end()
    for line, line_clock, own, job, clock in rounds:
        print(f"command line {line:.2f} s of the processor, {line_clock:.2f} s by the clock; in the app {job:.2f} s and {own:.2f} s of the server, {clock:.2f} s by the clock")
    line, line_clock, own, job, clock = (statistics.median(column) for column in zip(*rounds))
    print(f"a search in the app: {100 * own / line:+.2f} % by the server, {100 * (job / line - 1):+.2f} % by the job's process, {100 * (clock / line_clock - 1):+.2f} % of the clock "
          f"(1 % wanted); the command line varied by {100 * (max(r[0] for r in rounds) / min(r[0] for r in rounds) - 1):.1f} %")


def processor_seconds(root):
    """Of a process and all that descend from it."""
    parents, seconds = {}, {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        parents[int(folder.name)] = int(fields[1])
        seconds[int(folder.name)] = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def descends(process):
        while process not in (0, root):
            process = parents.get(process, 0)
        return process == root

    return sum(value for process, value in seconds.items() if descends(process))


def draw(browser, what, act, seconds=5):
    """Frames a second by the clock, and what a frame takes of the processor, which hardly depends on other work of the machine."""
    def page_thread():
        return {one["name"]: one["value"] for one in browser.call("Performance.getMetrics")["metrics"]}["TaskDuration"]

    browser.call("Performance.enable", timeDomain="threadTicks")
    page, whole = page_thread(), processor_seconds(browser.process.pid)
    times = browser.run(FRAMES % (act, seconds))
    page, whole = 1000 * (page_thread() - page) / len(times), 1000 * (processor_seconds(browser.process.pid) - whole) / len(times)
    browser.call("Performance.disable")
    print(f"{what}: {1000 / statistics.mean(times):.1f} frames a second, 95 % within {times[int(0.95 * len(times))]:.1f} ms; "
          f"processor a frame {page:.1f} ms for the page's thread, {whole:.1f} ms for all of Chromium (16.7 ms is one core at 60 frames a second)")


def frames(folder, browser):
    write_points(folder)
    write_numbers(folder / "rows.csv", 1_000_000)
    server = Server(folder)
    server.ready("GET", f"/datasets/{encoded('rows.csv')}/rows?from=999990&count=5")
    entered(browser, server, f"#/runs/{encoded('many')}?tab=points")
    browser.until("document.querySelectorAll('.picture canvas').length > 0 && document.querySelector('.grid')")
    draw(browser, "no work", "() => {}")
    draw(browser, "pointer over a map of 100,000 points", POINT)
    draw(browser, "the same while its 100,000 rows scroll", BOTH)
    browser.goto(f"http://{server.host}:{server.port}/#/data/{encoded('rows.csv')}?tab=rows")
    browser.until("document.querySelector('.grid-row')")
    draw(browser, "1,000,000 rows scroll", SCROLL)
    server.end()


def main():
    wanted = sys.argv[2:] or ["start", "pixel", "memory", "overhead", "frames"]
    for name in wanted:
        with tempfile.TemporaryDirectory() as place:
            browser = None if name == "memory" else Page(find_browser())
            try:
                globals()[name](pathlib.Path(place), browser)
            finally:
                if browser:
                    browser.close()


if __name__ == "__main__":
    main()
