#!/usr/bin/env python3
"""Runs `sheaf app` as people and attackers use it, over its interface alone.

    tests/app/server.py build/sheaf [NAME ...]     all tests, or those whose names hold one of the words
"""

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
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

program = os.path.abspath(sys.argv[1])
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
        found = re.search(r"http://([\w.:\[\]]+):(\d+)(\S*)/\?token=([0-9a-f]{48})", line)
        if not found:
            raise AssertionError(line + self.process.stderr.read())
        self.host, self.port, self.token = found[1], int(found[2]), found[4]

    def raw(self, method, path, body=None, headers=None, timeout=PATIENCE):
        """A request as it is given; the answer with its body."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=timeout)
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
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
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


# The whole way.


def test_whole_way(folder):
    data = make_classes(folder)
    table = data.decode().splitlines()
    (folder / "classes.csv").unlink()
    with serving(folder) as server:
        status = server.get("/status")
        assert status["folder"] == str(folder.resolve()) and not status["read_only"]
        assert any(device["device"] == "cpu" for device in status["devices"])
        assert server.get("/datasets")["datasets"] == []

        dataset = server.upload("trial one.csv", data)
        assert dataset["path"] == "uploads/trial_one.csv" and dataset["bytes"] == len(data)
        assert (folder / "uploads/trial_one.csv").read_bytes() == data
        assert server.upload("trial one.csv", data)["path"] == "uploads/trial_one-2.csv"
        assert [one["path"] for one in server.get("/datasets")["datasets"]] == [
            "uploads/trial_one-2.csv",
            "uploads/trial_one.csv",
        ]

        at = "/datasets/" + dataset["id"]
        profile = server.ready("GET", at + "/profile")
        printed = subprocess.run(
            [program, "info", "uploads/trial_one.csv", "--json"], cwd=folder, capture_output=True, check=True
        )
        assert profile["state"] == "ready", profile
        profile, printed = profile["profile"], json.loads(printed.stdout)
        assert profile.pop("memory") and printed.pop("memory")  # what is free changes
        assert profile == printed
        assert server.get(at)["rows"] == 300
        page = server.ready("GET", at + "/rows?from=298&count=10&first_column=1&columns=2")
        assert page["total_rows"] == 300 and page["total_columns"] == len(table[0].split(","))
        assert page["rows"] == [line.split(",")[1:3] for line in table[299:301]]
        assert [column["name"] for column in page["columns"]] == table[0].split(",")[1:3]

        parameters = server.get("/parameters")
        search = next(task for task in parameters["tasks"] if task["name"] == "search")
        names = {one["name"]: one for section in search["sections"] for one in section["parameters"]}
        assert names["folds"]["type"] == "whole_number" and names["gamma"]["list"]["numbers"]
        assert "output" not in names and "resume" not in names
        assert {"linear", "svm", "knn"} <= {kind["name"] for kind in parameters["kinds"]}

        design = {
            "task": "search",
            "datasets": [dataset["id"]],
            "settings": {"model": "svm", "cost": [1, 10], "gamma": "0.1,1", "folds": 4, "predictions": True},
        }
        said = server.post("/design", design)
        assert said["valid"] and said["name"] == "trial_one-search"
        assert said["command"].startswith("sheaf search uploads/trial_one.csv ")
        needed = server.ready("POST", "/design/estimate", design)["estimate"]
        assert (needed["points"], needed["splits"], needed["models"]) == (4, 4, 17), needed
        wrong = {**design, "settings": {"folds": "many", "cost": "x", "model": "svm", "output": "/tmp/x"}}
        fields = {error["field"] for error in server.post("/design", wrong)["errors"]}
        assert fields == {"folds", "cost", "output"}
        status, refused = server.call("POST", "/jobs", wrong)
        assert status == 400 and refused["error"]["field"] in fields

        job = server.post("/jobs", design)
        done = server.wait_for_job(job, "done", "failed", "stopped")
        assert done["state"] == "done" and done["exit_code"] == 0, done
        events = server.events(f"/runs/{job['run']}/events")
        assert events[-1][0] == "state" and events[-1][2] == {"state": "done"}
        models = [model for name, _, data in events if name == "scores" for model in data["models"]]
        cells = {(model["point"]["cost"], model["point"]["gamma"], model["split"]) for model in models}
        assert cells == {(c, g, s) for c in (1, 10) for g in (0.1, 1) for s in range(4)}
        results = server.get(f"/runs/{job['run']}/results")
        for model in models:
            point = next(p for p in results["points"] if (p["cost"], p["gamma"]) == (model["point"]["cost"], model["point"]["gamma"]))
            assert point["accuracy"]["by_split"][model["split"]] == model["scores"]["accuracy"]

        runs = server.get("/runs")
        assert runs["total"] == 1 and runs["runs"][0]["id"] == job["run"]
        entry = runs["runs"][0]
        assert entry["state"] == "done" and entry["value"] == results["chosen"][results["score"]]["mean"]
        assert entry["dataset"] == dataset["id"] and entry["job"] == job["id"]
        detail = server.get("/runs/" + job["run"])
        assert {"scores.csv", "predictions.csv", "report.html"} <= {file["name"] for file in detail["files"]}
        held_out = server.get(f"/runs/{job['run']}/tables/predictions.csv?from=5&count=2")
        assert held_out["total_rows"] == 300 and len(held_out["rows"]) == 2
        report = server.get(f"/runs/{job['run']}/report")
        assert report == (folder / "trial_one-search/report.html").read_bytes()

        inputs = server.get(f"/runs/{job['run']}/inputs")
        assert [column["name"] for column in inputs["columns"]] == table[0].split(",")[:-1]
        ask = {"run": job["run"], "columns": [c["name"] for c in inputs["columns"]], "rows": inputs["rows"][:2]}
        typed = server.post("/predict", ask)
        typed = server.ready("GET", "/predictions/" + typed["id"])
        assert typed["state"] == "ready" and len(typed["rows"]) == 2, typed
        assert all("contribution" in one for row in typed["explanations"] for one in row)
        whole = server.post("/predict", {"run": job["run"], "dataset": dataset["id"], "explain": False})
        whole = server.ready("GET", f"/predictions/{whole['id']}?from=298")
        assert whole["total_rows"] == 300 and len(whole["rows"]) == 2
        assert whole["scores"]["rows"] == 300
        assert len(server.get(f"/predictions/{whole['id']}/file").splitlines()) == 301


def test_every_task(folder):
    make_classes(folder)
    run("generate", "psms", folder / "run.pin", "--spectra", 2000, "--seed", 7)
    with serving(folder, "--jobs", "2") as server:
        ids = {one["path"]: one["id"] for one in server.get("/datasets")["datasets"]}
        jobs = []
        for task, dataset, settings in (
            ("study", "classes.csv", {"model": "elastic-net", "splits": 5}),
            ("select", "classes.csv", {"count": 3}),
            ("neighbors", "classes.csv", {"k": 3}),
            ("rescore", "run.pin", {}),
        ):
            jobs.append(server.post("/jobs", {"task": task, "datasets": [ids[dataset]], "settings": settings}))
        for job in jobs:
            done = server.wait_for_job(job, "done", "failed", "stopped")
            assert done["state"] == "done", done
        kinds = {run["kind"]: run for run in server.get("/runs")["runs"]}
        assert set(kinds) == {"study", "select", "neighbors", "rescore"}, kinds
        assert all(run["state"] == "done" for run in kinds.values()), kinds
        assert len(server.get(f"/runs/{kinds['select']['id']}/results")["selected"]) == 3
        near = server.get(f"/runs/{kinds['neighbors']['id']}/tables/neighbors.csv?count=1")
        assert near["total_rows"] == 900
        assert server.get(f"/runs/{kinds['rescore']['id']}/results")["psms"]["accepted"] == kinds["rescore"]["value"]


def test_runs_of_the_command_line(folder):
    make_classes(folder)
    for seed in (1, 2):
        run("search", "classes.csv", "--model", "linear", "--cost", "0.1,1", "--seed", 5, "--folds", 3 + seed % 2,
            "--output", f"found/run{seed}", cwd=folder)
    run("search", "classes.csv", "--model", "knn", "--k", "3", "--folds", 4, "--seed", 5, "--output", "found/near", cwd=folder)
    run("search", "classes.csv", "--model", "linear", "--cost", "1", "--folds", 4, "--seed", 5, "--output", "found/line", cwd=folder)
    (folder / "found/stopped").mkdir()
    shutil.copy(folder / "found/run1/settings.json", folder / "found/stopped")
    shutil.copy(folder / "found/run1/journal.txt", folder / "found/stopped")
    with serving(folder, "--read-only") as server:
        runs = {run["path"]: run for run in server.get("/runs?sort=name")["runs"]}
        assert list(runs) == ["found/line", "found/near", "found/run1", "found/run2", "found/stopped"]
        assert runs["found/run1"]["state"] == "done" and runs["found/stopped"]["state"] == "stopped"
        assert [run["path"] for run in server.get("/runs?query=RUN1")["runs"]] == ["found/run1"]
        assert server.get("/runs?state=stopped")["total"] == 1
        best = server.get("/runs?sort=-value&count=4")["runs"]
        assert [run["value"] for run in best] == sorted((run["value"] for run in best), reverse=True)
        answer = server.post("/compare", {"runs": [runs["found/near"]["id"], runs["found/line"]["id"]]})
        assert abs(answer["comparison"]["mean_first"] - runs["found/near"]["value"]) < 1e-12
        assert "model/family" in {one["setting"] for one in answer["differences"]}
        status, refused = server.call("POST", "/compare", {"runs": [runs["found/run1"]["id"], runs["found/run2"]["id"]]})
        assert status == 400 and "splits" in refused["error"]["message"]
        # Nothing is changed by a server that only reads.
        for method, path in (("POST", "/jobs"), ("PUT", "/uploads/x.csv"), ("POST", "/demonstration")):
            status, refused = server.call(method, path, "{}")
            assert (status, refused["error"]["code"]) == (403, "read_only"), (path, status)
        assert not (folder / ".sheaf-app").exists()


def slow_design(dataset):
    """A search that takes a while: its journal has a line for each of a hundred folds."""
    return {
        "task": "search",
        "datasets": [dataset["id"]],
        "settings": {"model": "svm", "cost": "0.1:10:4", "gamma": "0.0001:10:60", "folds": 100, "batch": 4, "threads": 1,
                     "strategy": "grid"},
    }


def journal_lines(folder):
    path = folder / "journal.txt"
    return path.read_bytes().count(b"\n") if path.exists() else 0


def test_survives_the_server(folder):
    data = make_classes(folder, rows=800)
    server = Server(folder)
    job = server.post("/jobs", slow_design(server.upload("slow.csv", data)))
    second = server.post("/jobs", slow_design(server.get("/datasets")["datasets"][0]))
    assert second["state"] == "queued" and second["position"] == 0
    results = folder / job["name"]
    until(lambda: journal_lines(results) > 3, "the first batches")
    pid = json.loads((folder / ".sheaf-app/jobs.json").read_text())["jobs"][0]["pid"]
    server.end(signal.SIGKILL)
    before = journal_lines(results)
    until(lambda: journal_lines(results) > before + 2, "batches after the end of the server")
    with serving(folder) as server:
        found = {one["id"]: one for one in server.get("/jobs")["jobs"]}
        assert found[job["id"]]["state"] == "running" and found[second["id"]]["state"] == "queued"
        assert found[job["id"]]["progress"]["total"] > 0
        assert server.get("/runs/" + job["run"])["state"] == "running"
        # Events go on behind the last one that was seen.
        seen = server.events(f"/runs/{job['run']}/events", stop=lambda event: event[1] >= 4)
        more = server.events(f"/runs/{job['run']}/events", last=4, stop=lambda event: event[1] > 0)
        assert [event[1] for event in seen if event[1]] == [1, 2, 3, 4] and more[-1][1] == 5
        os.kill(pid, signal.SIGKILL)
        killed = server.wait_for_job(job, "stopped", "failed", "done")
        assert killed["state"] == "stopped", killed
        server.wait_for_job(second, "running")
        server.post(f"/jobs/{second['id']}/stop")
        assert server.wait_for_job(second, "stopped", "failed", "done")["state"] == "stopped"
        assert server.get("/runs/" + second["run"])["state"] == "stopped"


def test_resumes_to_the_same_bytes(folder):
    data = make_classes(folder, rows=800)
    with serving(folder) as server:
        dataset = server.upload("slow.csv", data)
        design = slow_design(dataset)
        design["settings"].update({"gamma": "0.0001:10:20", "folds": 40})
        job = server.post("/jobs", {**design, "name": "interrupted"})
        for lines in (3, 12):
            until(lambda: journal_lines(folder / "interrupted") > lines, "batches")
            server.post(f"/jobs/{job['id']}/stop")
            assert server.wait_for_job(job, "stopped", "failed", "done")["state"] == "stopped"
            server.post(f"/jobs/{job['id']}/resume")
        assert server.wait_for_job(job, "done", "failed", "stopped")["state"] == "done"
        words = server.post("/design", {**design, "name": "whole"})["arguments"]
        run(*words, cwd=folder)
        assert hashes(folder / "interrupted") == hashes(folder / "whole")


def test_queue(folder):
    data = make_classes(folder, rows=800)
    with serving(folder) as server:
        dataset = server.upload("slow.csv", data)
        jobs = [server.post("/jobs", slow_design(dataset)) for _ in range(4)]
        assert len({job["name"] for job in jobs}) == 4
        server.post(f"/jobs/{jobs[3]['id']}/order", {"position": 0})
        listed = [job["id"] for job in server.get("/jobs")["jobs"]]
        assert listed == [jobs[k]["id"] for k in (0, 3, 1, 2)]
        assert server.call("POST", f"/jobs/{jobs[0]['id']}/order", {"position": 0})[0] == 409
        assert server.call("DELETE", f"/jobs/{jobs[0]['id']}")[0] == 409
        assert server.call("DELETE", f"/jobs/{jobs[2]['id']}")[0] == 204
        assert server.call("GET", f"/jobs/{jobs[2]['id']}")[0] == 404
        seen = server.events("/events", stop=lambda event: event[0] == "jobs")
        assert len(seen[-1][2]["jobs"]) == 3
        server.post(f"/jobs/{jobs[1]['id']}/stop")
        server.post(f"/jobs/{jobs[0]['id']}/stop")
        server.wait_for_job(jobs[3], "running")


def test_failures_are_said(folder):
    (folder / "broken.csv").write_text("a,b\n1,x\n2,five\n3,x\n4,y\n1,2,3\n")
    with serving(folder) as server:
        dataset = server.get("/datasets")["datasets"][0]
        profile = server.ready("GET", f"/datasets/{dataset['id']}/profile")
        assert profile["state"] == "failed" and "broken.csv:6" in profile["message"], profile
        job = server.post("/jobs", {"task": "search", "datasets": [dataset["id"]], "settings": {}})
        failed = server.wait_for_job(job, "failed", "done", "stopped")
        assert failed["state"] == "failed" and "broken.csv:6" in failed["message"], failed
        assert b"broken.csv:6" in server.get(f"/runs/{job['run']}/log")


def test_remedies_are_settings(folder):
    lines = ["small,large,label"] + [f"{k % 7},{k * 1000},{'xy'[k * k % 3 > 0]}" for k in range(60)] + [",5,x"]
    (folder / "gaps.csv").write_text("\n".join(lines) + "\n")
    with serving(folder) as server:
        dataset = server.get("/datasets")["datasets"][0]
        profile = server.ready("GET", f"/datasets/{dataset['id']}/profile")["profile"]
        remedies = {one["code"]: one["remedy"] for one in profile["findings"] if one["remedy"]}
        assert {"missing-values", "unscaled"} <= set(remedies), profile["findings"]
        for remedy in remedies.values():
            said = server.post("/design", {"task": "search", "datasets": [dataset["id"]], "settings": remedy["settings"]})
            assert said["valid"], said
        reading = {"label": "label", "ignore": "large"}
        status, kept = server.call("PUT", f"/datasets/{dataset['id']}/reading", reading)
        assert status == 200 and kept["reading"] == reading
        assert server.ready("GET", f"/datasets/{dataset['id']}/profile")["profile"]["features"] == 1
        status, refused = server.call("PUT", f"/datasets/{dataset['id']}/reading", {"folds": 5})
        assert status == 400 and refused["error"]["field"] == "folds"


def test_large_table(folder):
    rows = 1_000_000
    with open(folder / "large.csv", "w") as file:
        file.write("number,square,label\n")
        file.writelines(f"{k},{k * k},{'ab'[k % 2]}\n" for k in range(rows))
    with serving(folder) as server:
        dataset = server.get("/datasets")["datasets"][0]
        at = f"/datasets/{dataset['id']}/rows"
        for first in (999_990, 0, 500_000):
            page = server.ready("GET", f"{at}?from={first}&count=5")
            assert page["total_rows"] == rows
            assert page["rows"] == [[str(k), str(k * k), "ab"[k % 2]] for k in range(first, first + 5)]
        answer, body = server.raw(
            "GET", f"/api/v1/datasets/{dataset['id']}/file",
            headers={"Authorization": f"Bearer {server.token}", "Range": "bytes=7-12"},
        )
        assert answer.status == 206 and body == b"square"
        assert memory_of(server) < 60 * 2**20, memory_of(server)


def memory_of(server):
    text = pathlib.Path(f"/proc/{server.process.pid}/status").read_text()
    return int(re.search(r"VmHWM:\s+(\d+) kB", text)[1]) * 1024


def test_ten_thousand_runs(folder):
    make_classes(folder)
    run("search", "classes.csv", "--model", "linear", "--cost", "0.1,1", "--output", "one", cwd=folder)
    for k in range(10_000):
        copy = folder / f"runs/{k // 100:02}/{k:05}"
        copy.mkdir(parents=True)
        for name in ("settings.json", "journal.txt", "results.json"):
            os.link(folder / "one" / name, copy / name)
    with serving(folder) as server:
        found = server.get("/runs?sort=-value&from=9990&count=100")
        assert found["total"] == 10_001 and len(found["runs"]) == 11
        assert server.get("/runs?query=00042")["total"] == 1
        used = memory_of(server)
        assert used < 50 * 2**20, used


# Attacks.


def test_other_sites_are_refused(folder):
    make_classes(folder)
    with serving(folder) as server:
        own = f"127.0.0.1:{server.port}"
        token = {"Authorization": f"Bearer {server.token}"}
        # DNS rebinding: the name of another site that leads here.
        for host in ("evil.example", f"evil.example:{server.port}", f"127.0.0.1.evil.example:{server.port}"):
            answer, body = server.raw("GET", "/api/v1/status", headers={**token, "Host": host})
            assert answer.status == 403 and b"token" not in body, host
            assert server.raw("GET", f"/?token={server.token}", headers={"Host": host})[0].status == 403
        answer, _ = server.raw("GET", f"/?token={server.token}")
        assert answer.status == 303 and answer.getheader("Location") == "/"
        cookie = answer.getheader("Set-Cookie")
        assert "HttpOnly" in cookie and "SameSite=Strict" in cookie and "Path=/" in cookie
        cookie = {"Cookie": cookie.split(";")[0]}
        assert server.raw("GET", "/api/v1/status", headers=cookie)[0].status == 200
        # Cross-site requests, with the cookie as an old browser would send it.
        for headers in (
            {},
            {"Origin": "http://evil.example"},
            {"Origin": "null"},
            {"Origin": f"http://localhost:{server.port}"},
            {"Origin": "http://127.0.0.1:1"},
            {"Origin": f"http://{own}", "Sec-Fetch-Site": "cross-site"},
        ):
            for method, path in (("POST", "/api/v1/demonstration"), ("PUT", "/api/v1/uploads/x.csv")):
                assert server.raw(method, path, b"{}", {**cookie, **headers})[0].status == 403, (path, headers)
        assert server.raw("GET", "/api/v1/status", headers={**cookie, "Sec-Fetch-Site": "same-site"})[0].status == 403
        assert not (folder / "uploads").exists() and not (folder / "demonstration").exists()
        assert server.raw("POST", "/api/v1/demonstration", b"{}", {**cookie, "Origin": f"http://{own}"})[0].status == 201
        preflight, _ = server.raw("OPTIONS", "/api/v1/status", headers={**token, "Origin": "http://evil.example"})
        assert preflight.status == 403
        for answer in (preflight, server.raw("GET", "/api/v1/status", headers=token)[0]):
            assert not [name for name, _ in answer.getheaders() if name.lower().startswith("access-control")]


def test_token_is_wanted(folder):
    make_classes(folder)
    with serving(folder) as server:
        for path in ("/api/v1/status", "/api/v1/datasets", "/api/v1/openapi.json", "/", "/index.html", "/assets/x.js"):
            for headers in (
                {},
                {"Authorization": "Bearer " + "0" * 48},
                {"Authorization": f"Bearer {server.token[:-1]}"},
                {"Cookie": f"sheaf={server.token}"},
            ):
                answer, body = server.raw("GET", path, headers=headers)
                assert answer.status in (401, 429), (path, headers, answer.status)
                assert str(folder).encode() not in body
        assert server.raw("GET", "/?token=wrong")[0].status in (401, 429)
        assert server.get("/status")["version"]


def test_headers_protect_the_page(folder):
    with serving(folder) as server:
        token = {"Authorization": f"Bearer {server.token}"}
        answer, body = server.raw("GET", "/", headers={**token, "Accept": "text/html"})
        assert answer.status == 200 and b'<base href="/">' in body
        policy = answer.getheader("Content-Security-Policy")
        assert "default-src 'none'" in policy and "frame-ancestors 'none'" in policy and "unsafe" not in policy
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert server.raw("GET", "/runs/anything", headers={**token, "Accept": "text/html"})[1] == body
        assert server.raw("GET", "/nothing.js", headers={**token, "Accept": "*/*"})[0].status == 404


def test_paths_stay_inside(folder):
    inside = folder / "served"
    inside.mkdir()
    make_classes(folder, "secret.csv")
    (inside / ".secret.csv").write_text("a,b\n1,2\n")
    os.symlink(folder / "secret.csv", inside / "link.csv")
    os.symlink(folder, inside / "up")
    make_classes(inside)
    run("search", "classes.csv", "--model", "linear", "--cost", "1", "--output", "found", cwd=inside)
    os.symlink(folder / "secret.csv", inside / "found/linked.csv")
    encoded = lambda path: __import__("base64").urlsafe_b64encode(path.encode()).decode().rstrip("=")
    with serving(inside) as server:
        assert [one["path"] for one in server.get("/datasets")["datasets"]] == ["classes.csv"]
        for path in ("../secret.csv", "link.csv", "up/secret.csv", ".secret.csv", "/etc/passwd", ".sheaf-app/jobs.json",
                     "found/../../secret.csv", "./classes.csv", "classes.csv/"):
            for of in ("", "/file", "/rows", "/profile"):
                assert server.call("GET", f"/datasets/{encoded(path)}{of}")[0] == 404, path
            assert server.call("GET", f"/runs/{encoded(path)}/results")[0] == 404, path
            status, _ = server.call("POST", "/predict", {"model": path, "columns": ["a"], "rows": [["1"]]})
            assert status == 404, path
        run_at = f"/runs/{encoded('found')}/files/"
        assert server.call("GET", run_at + "model.txt")[0] == 200
        for name in ("linked.csv", "..%2F..%2Fsecret.csv", "%2e%2e%2fsecret.csv", "%2e%2e", "..", ".", "%00", "a%0ab",
                     "..%5csecret.csv", "%252e%252e%252fsecret.csv", "/etc/passwd", "%2Fetc%2Fpasswd"):
            assert server.call("GET", run_at + name)[0] in (400, 404), name
            assert server.call("GET", f"/runs/{encoded('found')}/tables/{name}")[0] in (400, 404), name
        for path in ("/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/assets/../../secret.csv", "//etc/passwd"):
            answer, body = server.raw("GET", path, headers={"Authorization": f"Bearer {server.token}"})
            assert answer.status in (400, 404) or b"root:" not in body, path
        for name in ("../../evil.csv", "..%2fevil.csv", "/tmp/evil.csv", ".hidden.csv"):
            data = server.upload(name, b"a,b\n1,2\n")
            assert re.fullmatch(r"uploads/\w+(-\d)?\.csv", data["path"]), data
        assert server.call("PUT", "/uploads/evil.sh", b"#!/bin/sh\n")[0] == 400
        assert not (folder / "evil.csv").exists() and not (inside / ".hidden.csv").exists()
        dataset = server.get("/datasets")["datasets"][0]
        for name in ("../out", "/tmp/out", "a/../../out", ".hidden", "up/out", "uploads/../../x"):
            design = {"task": "search", "datasets": [dataset["id"]], "settings": {}, "name": name}
            assert server.call("POST", "/jobs", design)[0] in (400, 404), name
        for settings in ({"metadata": "../secret.csv"}, {"metadata": "link.csv"}, {"row-weights": "/etc/passwd"}):
            design = {"task": "search", "datasets": [dataset["id"]], "settings": settings}
            answer = server.post("/design", design)
            assert not answer["valid"], settings
        # A link in the place of the folder of uploads leads nowhere.
        shutil.rmtree(inside / "uploads")
        os.symlink(folder, inside / "uploads")
        assert server.call("PUT", "/uploads/x.csv", b"a,b\n1,2\n")[0] in (404, 500, 507)
        assert not (folder / "x.csv").exists()


def test_names_are_never_code(folder):
    bad = "<script>alert(1)</script>"
    name = f'"{bad}"'
    lines = [f"{name},b,label"] + [f"{k},{k * 7 % 5},{'xy'[k % 2]}" for k in range(60)]
    (folder / "names.csv").write_text("\n".join(lines) + "\n")
    (folder / "$(touch evil).csv").write_text("\n".join(lines) + "\n")
    with serving(folder) as server:
        ids = {one["path"]: one["id"] for one in server.get("/datasets")["datasets"]}
        answer, body = server.raw("GET", f"/api/v1/datasets/{ids['names.csv']}/rows",
                                  headers={"Authorization": f"Bearer {server.token}"})
        assert answer.getheader("Content-Type") == "application/json"
        assert answer.getheader("X-Content-Type-Options") == "nosniff"
        assert json.loads(body)["columns"][0]["name"] == bad
        settings = {"model": "linear", "cost": 1, "label": "label"}
        job = server.post("/jobs", {"task": "search", "datasets": [ids["$(touch evil).csv"]], "settings": settings})
        done = server.wait_for_job(job, "done", "failed", "stopped")
        assert done["state"] == "done", done
        assert not (folder / "evil").exists()
        answer, report = server.raw("GET", f"/api/v1/runs/{job['run']}/report",
                                    headers={"Authorization": f"Bearer {server.token}"})
        assert bad.encode() not in report
        policy = answer.getheader("Content-Security-Policy")
        assert policy.startswith("sandbox") and "allow-same-origin" not in policy and "default-src 'none'" in policy
        for wrong in ({"label": "--output=/tmp/x"}, {"model": "$(touch evil)"}):
            answer = server.post("/design", {"task": "search", "datasets": [ids["names.csv"]], "settings": wrong})
            assert "--output" not in answer["arguments"][: answer["arguments"].index("--output")]
        assert not (folder / "evil").exists()


def test_large_bodies_are_refused(folder):
    with serving(folder) as server:
        token = {"Authorization": f"Bearer {server.token}"}
        answer, body = server.raw("POST", "/api/v1/design", headers={**token, "Content-Length": str(10 * 2**30)})
        assert answer.status == 413, answer.status
        answer, _ = server.raw("PUT", "/api/v1/uploads/x.csv", headers={**token, "Content-Length": str(2**60)})
        assert answer.status in (413, 507)
        assert server.raw("GET", "/api/v1/status", headers={**token, "X": "y" * 100_000})[0].status == 431
        # Chunks without an end to a route that takes little.
        with socket.create_connection((server.host, server.port), timeout=PATIENCE) as connection:
            head = f"POST /api/v1/design HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\nTransfer-Encoding: chunked\r\n\r\n"
            connection.sendall(head.encode())
            sent = 0
            with contextlib.suppress(OSError):
                while sent < 64 * 2**20:
                    connection.sendall(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
                    sent += 0x10000
            assert sent < 64 * 2**20
        deep = server.call("POST", "/design", b"[" * 100_000)
        assert deep[0] == 400
        assert server.get("/status")["version"]
        assert not list(folder.glob("uploads/*"))


def test_interrupted_uploads_leave_nothing(folder):
    with serving(folder) as server:
        with socket.create_connection((server.host, server.port), timeout=PATIENCE) as connection:
            head = f"PUT /api/v1/uploads/x.csv HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\nContent-Length: 1000000\r\n\r\n"
            connection.sendall(head.encode() + b"a,b\n" * 1000)
            until(lambda: list((folder / "uploads").glob("*")), "the upload to begin")
        until(lambda: not list((folder / "uploads").glob("*")), "the rest of the upload to be removed")


def test_idle_and_slow_clients(folder):
    with serving(folder) as server:
        idle = []
        with contextlib.ExitStack() as stack:
            for _ in range(600):
                with contextlib.suppress(OSError):
                    idle.append(stack.enter_context(socket.create_connection((server.host, server.port), timeout=5)))
            assert server.get("/status")["version"]  # others are still served
            # One that sends its header a letter at a time is closed.
            slow = stack.enter_context(socket.create_connection((server.host, server.port), timeout=PATIENCE))
            slow.sendall(b"GET /api")
            assert slow.recv(1) == b""
        assert server.get("/status")["version"]


def test_rubbish_is_answered(folder):
    with serving(folder) as server:
        for bytes_ in (b"\x00\x01\x02\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/1.1\r\n\r\n", b"GET /%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                       b"GET http://evil.example/ HTTP/1.1\r\nHost: localhost\r\n\r\n", b"BREW / HTTP/1.1\r\nHost: localhost\r\n\r\n",
                       b"POST /api/v1/design HTTP/1.1\r\nHost: localhost\r\nContent-Length: x\r\n\r\n",
                       b"POST /api/v1/design HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n"):
            with socket.create_connection((server.host, server.port), timeout=PATIENCE) as connection:
                connection.sendall(bytes_)
                connection.shutdown(socket.SHUT_WR)
                answer = connection.makefile("rb").readline()
                assert answer == b"" or re.match(rb"HTTP/1.1 4\d\d ", answer), (bytes_, answer)
        for path in ("/datasets/x/rows?from=-1", "/runs?sort=nonsense", "/runs?count=0", "/runs?count=1e9"):
            assert server.call("GET", path)[0] in (400, 404), path
        for body in ("", "null", "[]", "{", '{"task": 5}', '{"task": "search"}', '{"task": "search", "datasets": [1]}',
                     '{"task": "nothing", "datasets": ["YQ"]}'):
            for path in ("/design", "/jobs", "/predict", "/compare"):
                assert server.call("POST", path, body)[0] in (400, 404), (path, body)
        assert server.call("DELETE", "/status")[0] == 405
        assert server.call("GET", "/nothing")[0] == 404


# Proxies and places.


def test_prefix(folder):
    with serving(folder, "--prefix", "/user/anna/sheaf/", "--allow-host", "hub.example", prefix="/user/anna/sheaf") as server:
        assert server.get("/status")["version"]
        token = {"Authorization": f"Bearer {server.token}"}
        answer, body = server.raw("GET", "/user/anna/sheaf/", headers={**token, "Host": "hub.example", "Accept": "text/html"})
        assert answer.status == 200 and b'<base href="/user/anna/sheaf/">' in body
        assert server.raw("GET", "/api/v1/status", headers=token)[0].status == 404
        assert server.raw("GET", "/user/anna/sheafs/api/v1/status", headers=token)[0].status == 404
        answer, _ = server.raw("GET", f"/user/anna/sheaf/?token={server.token}")
        assert answer.getheader("Location") == "/user/anna/sheaf/" and "Path=/user/anna/sheaf/" in answer.getheader("Set-Cookie")


def test_one_server_a_folder(folder):
    with serving(folder):
        second = subprocess.run([program, "app", str(folder), "--no-open"], capture_output=True, text=True)
        assert second.returncode == 1 and "another sheaf app serves this folder" in second.stderr
        with serving(folder, "--read-only") as reader:
            assert reader.get("/status")["read_only"]
    for words, expected in (
        (["/no/such/folder"], "cannot be opened"),
        ([str(folder), "--host", "0.0.0.0"], "--unencrypted"),
        ([str(folder), "--host", "nonsense", "--unencrypted"], "no address"),
        ([str(folder), "--prefix", "../x"], "is no path"),
        ([str(folder), "--port", "70000"], "out of range"),
    ):
        failed = subprocess.run([program, "app", *words, "--no-open"], capture_output=True, text=True)
        assert failed.returncode in (1, 2) and expected in failed.stderr, failed.stderr
        assert failed.stderr.count("\n") == 1


def main():
    wanted = sys.argv[2:]
    tests = [(name[5:], test) for name, test in globals().items() if name.startswith("test_")]
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


sys.exit(main())
