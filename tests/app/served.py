"""`sheaf app` as a process, for tests that use its interface: the program is the first word of the command."""

import base64
import contextlib
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

program = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else None
PATIENCE = int(os.environ.get("SHEAF_TEST_PATIENCE", 120))  # seconds, after which something hangs


def until(condition, what):
    """Waits for what must come sooner or later."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        found = condition()
        if found:
            return found
        time.sleep(0.05)
    raise AssertionError(f"waited in vain for {what}")


class Server:
    def __init__(self, folder, *options, prefix=""):
        self.folder = folder
        self.prefix = prefix
        self.process = subprocess.Popen(
            [program, "app", str(folder), "--no-open", *options], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        )
        line = self.process.stderr.readline()
        found = re.search(r"(https?)://([\w.:\[\]]+):(\d+)(\S*)/\?token=([0-9a-f]{48})", line)
        if not found:
            raise AssertionError(line + self.process.stderr.read())
        self.host, self.port, self.token = found[2], int(found[3]), found[5]
        self.encrypted = found[1] == "https"
        self.trusted = None  # certificates

    def connect(self, timeout=PATIENCE):
        if not self.encrypted:
            return http.client.HTTPConnection(self.host, self.port, timeout=timeout)
        return http.client.HTTPSConnection(self.host, self.port, timeout=timeout, context=ssl.create_default_context(cafile=self.trusted))

    def raw(self, method, path, body=None, headers=None, timeout=PATIENCE):
        """A request as it is given; the answer with its body."""
        connection = self.connect(timeout)
        try:
            connection.request(method, path, body, headers or {})
            answer = connection.getresponse()
            return answer, answer.read()
        finally:
            connection.close()

    def call(self, method, path, body=None, headers=None):
        """Of the interface, with the token: status and JSON (or bytes)."""
        sent = {"Authorization": f"Bearer {self.token}", **(headers or {})}
        if isinstance(body, (dict, list)):
            body = json.dumps(body)
        answer, text = self.raw(method, f"{self.prefix}/api/v1{path}", body, sent)
        kind = answer.getheader("Content-Type") or ""
        return answer.status, json.loads(text) if kind.startswith("application/json") else text

    def get(self, path):
        status, answer = self.call("GET", path)
        assert status == 200, (path, status, answer)
        return answer

    def post(self, path, body=None, expected=(200, 201)):
        status, answer = self.call("POST", path, body if body is not None else {})
        assert status in expected, (path, status, answer)
        return answer

    def upload(self, name, data):
        status, answer = self.call("PUT", "/uploads/" + urllib.parse.quote(name, safe=""), data)
        assert status == 201, (status, answer)
        return answer

    def wait_for_job(self, job, *states):
        def look():
            found = self.get("/jobs/" + job["id"])
            return found if found["state"] in states else None

        return until(look, f"job {job['id']} to be {states}")

    def ready(self, method, path, body=None):
        def look():
            status, answer = self.call(method, path, body)
            assert status in (200, 201), (path, status, answer)
            return answer if answer["state"] != "running" else None

        return until(look, path)

    def events(self, path, last=None, stop=None):
        """Events (name, id, data) until the stream ends or stop(event) is true."""
        connection = self.connect()
        headers = {"Authorization": f"Bearer {self.token}"}
        if last is not None:
            headers["Last-Event-ID"] = str(last)
        connection.request("GET", f"{self.prefix}/api/v1{path}", headers=headers)
        answer = connection.getresponse()
        assert answer.status == 200 and answer.getheader("Content-Type") == "text/event-stream"
        found, current = [], {}
        for line in answer:
            line = line.decode().rstrip("\n")
            if line.startswith(":"):
                continue
            if line:
                name, _, value = line.partition(": ")
                current[name] = value
                continue
            if "event" in current:
                found.append((current["event"], int(current.get("id", 0)), json.loads(current["data"])))
                if stop and stop(found[-1]):
                    break
            current = {}
        connection.close()
        return found

    def end(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
            self.process.wait(PATIENCE)
        self.process.stderr.close()


@contextlib.contextmanager
def serving(folder, *options, prefix=""):
    server = Server(folder, *options, prefix=prefix)
    try:
        yield server
    finally:
        try:
            jobs = server.get("/jobs")["jobs"] if server.process.poll() is None else []
            for job in sorted(jobs, key=lambda one: one["state"] != "queued"):  # none takes the place of another
                if job["state"] in ("running", "queued"):
                    server.post(f"/jobs/{job['id']}/stop", expected=(200, 409))
        finally:
            server.end()


def run(*words, cwd=None):
    subprocess.run([program, *map(str, words)], check=True, cwd=cwd, capture_output=True)


def make_classes(folder, name="classes.csv", rows=300):
    run("generate", "classification", folder / name, "--rows", rows, "--features", 6, "--classes", 2, "--seed", 3)
    return (folder / name).read_bytes()


def hashes(folder):
    """Of all results; what says when and by which command is left out."""
    skipped = ("settings.json", "journal.txt")  # the command, and the memory that was free
    return {
        path.name: hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.iterdir())
        if path.name not in skipped
    }


def encoded(path):
    """The id of a dataset or a run."""
    return base64.urlsafe_b64encode(path.encode()).decode().rstrip("=")


def make_runs(folder, count):
    """So many folders of results, and the one that they are copies of."""
    make_classes(folder)
    run("search", "classes.csv", "--model", "linear", "--cost", "0.1,1", "--output", "one", cwd=folder)
    for k in range(count):
        copy = folder / f"runs/{k // 100:02}/{k:05}"
        copy.mkdir(parents=True)
        for name in ("settings.json", "journal.txt", "results.json"):
            os.link(folder / "one" / name, copy / name)


def write_numbers(path, rows):
    with open(path, "w") as file:
        file.write("number,square,label\n")
        file.writelines(f"{k},{k * k},{'ab'[k % 2]}\n" for k in range(rows))


def job_process(folder):
    """The number of the process of the first job."""
    return json.loads((folder / ".sheaf-app/jobs.json").read_text())["jobs"][0]["pid"]


def write_points(folder):
    """Results of a search over 100,000 points: 400 costs and 250 gammas."""
    run("generate", "classification", folder / "classes.csv", "--rows", 200, "--features", 4, "--classes", 2, "--seed", 3)
    run("search", "classes.csv", "--model", "svm", "--cost", "1,2", "--gamma", "1", "--output", "many", cwd=folder)
    path = folder / "many" / "results.json"
    results = json.loads(path.read_text())
    summary = results["points"][0]["accuracy"]
    results["points"] = [{"cost": 2 ** (c / 40 - 5), "gamma": 2 ** (g / 25 - 5),
                          "accuracy": {**summary, "mean": 1 - ((c - 200) / 400) ** 2 - ((g - 125) / 250) ** 2}}
                         for c in range(400) for g in range(250)]
    path.write_text(json.dumps(results))


def memory_of(server):
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", text)[1]) * 1024


def run_tests(names):
    """All functions test_... among the names, or those that hold one of the words of the command; the exit code."""
    wanted = sys.argv[2:]
    tests = [(name[5:], test) for name, test in names.items() if name.startswith("test_")]
    failed = []
    for name, test in tests:
        if wanted and not any(word in name for word in wanted):
            continue
        folder = pathlib.Path(tempfile.mkdtemp(prefix="sheaf-app-test-")).resolve()
        begin = time.monotonic()
        try:
            test(folder)
            print(f"ok    {name}  {time.monotonic() - begin:.1f} s", flush=True)
        except Exception as error:  # the others are still worth running
            failed.append(name)
            print(f"FAIL  {name}: {type(error).__name__}: {error}", flush=True)
            if os.environ.get("SHEAF_TEST_TRACE"):
                import traceback

                traceback.print_exc()
        finally:
            shutil.rmtree(folder, ignore_errors=True)
    return 1 if failed else 0
