#!/usr/bin/env python3
"""Runs `sheaf app` as people use it, over its interface alone.

    tests/app/server.py build/sheaf [NAME ...]     all tests, or those whose names hold one of the words
"""

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

from served import Server, encoded, hashes, job_process, make_classes, make_runs, memory_of, program, run, run_tests, serving, until, write_numbers

# The whole way.


def test_whole_way(folder):
    data = make_classes(folder)
    table = data.decode().splitlines()
    (folder / "classes.csv").unlink()
    with serving(folder) as server:
        status = server.get("/status")
        assert status["folder"] == str(folder.resolve()) and not status["read_only"]
        assert any(device["device"] == "cpu" for device in server.get("/devices")["devices"])
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


def test_use_of_the_machine(folder):
    """Of a job, and of a search that the command line runs in the folder."""
    data = make_classes(folder, rows=800)
    with serving(folder) as server:
        job = server.post("/jobs", slow_design(server.upload("slow.csv", data)))
        words = server.post("/design", {**slow_design(server.get("/datasets")["datasets"][0]), "name": "elsewhere"})["arguments"]
        other = subprocess.Popen([program, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until(lambda: journal_lines(folder / "elsewhere") > 3, "batches")
            for run_id in (job["run"], encoded("elsewhere")):
                seen = server.events(f"/runs/{run_id}/events", stop=lambda event: event[0] == "use")
                use = seen[-1][2]
                assert seen[-1][0] == "use" and 0 < use["cores"] < 2 * os.cpu_count(), use
                assert 2**20 < use["memory_bytes"] < 2**33 and isinstance(use["gpus"], list), use
            # How far it is and how long it still takes, though no job of this server.
            progress = server.events(f"/runs/{encoded('elsewhere')}/events",
                                     stop=lambda event: event[0] == "progress" and event[2]["seconds_left"])[-1][2]
            assert progress["stage"] == "searching" and 0 < progress["done"] < progress["total"], progress
            assert server.get(f"/runs/{encoded('elsewhere')}")["progress"]["total"] == progress["total"]
            other.send_signal(signal.SIGINT)
            other.wait()
            assert not (folder / "elsewhere/.progress.json").exists(), "an ended search is no longer on its way"
            # What was done before takes no time when the search goes on: it says nothing about the rest.
            other = subprocess.Popen([program, *words, "--resume"], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            until(lambda: server.get(f"/runs/{encoded('elsewhere')}")["progress"], "its progress")
            again = server.events(f"/runs/{encoded('elsewhere')}/events",
                                  stop=lambda event: event[0] == "progress" and event[2]["seconds_left"])[-1][2]
            # Trained anew, an eighth would be done by the first event; on busy cores some batches are still being read by then.
            assert again["done"] > progress["done"] / 2, (progress, again)
            assert again["seconds_left"] >= again["seconds"] / again["done"] * (again["total"] - again["done"]), again
        finally:
            other.kill()
            other.wait()


def test_paths_in_one_batch(folder):
    """A lasso whose alphas are left open: its size is foreseen, and its whole path is one batch, in which time is left all the same."""
    run("generate", "regression", folder / "wide.csv", "--rows", 400, "--features", 3000, "--seed", 3)
    with serving(folder) as server:
        design = {"task": "search", "datasets": [encoded("wide.csv")], "settings": {"model": "lasso", "alpha-count": 40, "folds": 50, "threads": 1}, "name": "path"}
        plan = server.ready("POST", "/design/estimate", design)["estimate"]
        assert plan["points"] == 40 and plan["models"] == 40 * 50 + 1, plan
        words = server.post("/design", design)["arguments"]
        other = subprocess.Popen([program, *words], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            until(lambda: (folder / "path/.progress.json").exists(), "its progress")
            seen = server.events(f"/runs/{encoded('path')}/events", stop=lambda event: event[0] == "progress" and event[2]["seconds_left"])
            assert 0 < seen[-1][2]["done"] < seen[-1][2]["total"], seen[-1]
        finally:
            other.kill()
            other.wait()


def test_survives_the_server(folder):
    data = make_classes(folder, rows=800)
    server = Server(folder)
    job = server.post("/jobs", slow_design(server.upload("slow.csv", data)))
    second = server.post("/jobs", slow_design(server.get("/datasets")["datasets"][0]))
    assert second["state"] == "queued" and second["position"] == 0
    results = folder / job["name"]
    until(lambda: journal_lines(results) > 3, "the first batches")
    pid = job_process(folder)
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
        until(lambda: journal_lines(folder / "interrupted") > 3, "batches")
        server.post(f"/jobs/{job['id']}/stop")
        assert server.wait_for_job(job, "stopped", "failed", "done")["state"] == "stopped"
        server.post(f"/jobs/{job['id']}/resume")
        until(lambda: journal_lines(folder / "interrupted") > 12, "batches")
        server.end(signal.SIGKILL)
        os.kill(job_process(folder), signal.SIGKILL)
    with serving(folder) as server:
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


def test_failures_name_fields(folder):
    """People see fields, not flags; the log has what the command said."""
    (folder / "gaps.csv").write_text("a,b,label\n1,2,x\n,3,y\n4,5,x\n6,7,y\n")
    with serving(folder) as server:
        dataset = server.get("/datasets")["datasets"][0]
        job = server.post("/jobs", {"task": "neighbors", "datasets": [dataset["id"]], "settings": {"k": 1}})
        failed = server.wait_for_job(job, "failed", "done", "stopped")
        log = server.get(f"/runs/{job['run']}/log").decode()
        assert "--missing median" in log and "--impute" in log, log
        for message in (failed["message"], server.get(f"/runs/{job['run']}")["message"]):
            assert "--" not in message and "'what to put for missing values' median" in message, message
            assert "'fill in missing values' median" in message and "gaps.csv:3" in message, message


def test_fields_have_titles(folder):
    """Names for people: no flags, no two fields of a form alike, and none for an option that is gone."""
    with serving(folder) as server:
        tasks = server.get("/parameters")["tasks"]
    forms = {task["name"]: [one for section in task["sections"] for one in section["parameters"]] for task in tasks}
    for task, fields in forms.items():
        titles = [one["title"] for one in fields]
        assert len(set(titles)) == len(titles), (task, sorted(title for title in titles if titles.count(title) > 1))
        for one in fields:
            shown = [one["title"], one["help"], one["default_text"], *([one["list"]["help"]] if one["list"] else [])]
            flags = [flag for text in shown for flag in re.findall(r"--[a-z][a-z0-9-]*", text)]
            assert not [flag for flag in flags if flag[2:] in {other["name"] for other in fields}], (task, one)
    file = pathlib.Path(__file__).resolve().parents[2] / "src/app/forms/titles.cpp"
    for key in re.findall(r'^ +{"([a-z0-9/-]+)", "', file.read_text(), re.MULTILINE):
        task, _, option = key.rpartition("/")
        assert any(one["name"] == option for one in (forms[task] if task else sum(forms.values(), []))), f"{key}: no form has it"


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
    write_numbers(folder / "large.csv", rows)
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


def test_ten_thousand_runs(folder):
    make_runs(folder, 10_000)
    with serving(folder) as server:
        found = server.get("/runs?sort=-value&from=9990&count=100")
        assert found["total"] == 10_001 and len(found["runs"]) == 11
        assert server.get("/runs?query=00042")["total"] == 1
        used = memory_of(server)
        assert used < 50 * 2**20, used


# Proxies and places.


def test_prefix(folder):
    with serving(folder, "--prefix", "/user/anna/sheaf/", "--allow-host", "hub.example", prefix="/user/anna/sheaf") as server:
        assert server.get("/status")["version"]
        token = {"Authorization": f"Bearer {server.token}"}
        answer, body = server.raw("GET", "/user/anna/sheaf/", headers={**token, "Host": "hub.example", "Accept": "text/html"})
        assert answer.status == 200 and b'<base href="/user/anna/sheaf/">' in body
        assert server.raw("GET", "/api/v1/status", headers=token)[0].status == 200  # the proxy took the prefix off
        assert server.raw("GET", "/user/anna/sheafs/api/v1/status", headers=token)[0].status == 404
        answer, _ = server.raw("GET", f"/user/anna/sheaf/?token={server.token}")
        assert answer.getheader("Location") == "/user/anna/sheaf/" and "Path=/user/anna/sheaf/" in answer.getheader("Set-Cookie")


def make_certificate(folder, name):
    """That of this machine by itself, and its key."""
    chain, key = folder / f"{name}.pem", folder / f"{name}.key"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-keyout", key, "-out", chain,
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"], check=True, capture_output=True)
    return chain, key


def test_certificate(folder):
    """With it the whole interface is encrypted: requests, uploads in parts, events, and refusals of what is too long."""
    chain, key = make_certificate(folder, "own")
    other, _ = make_certificate(folder, "other")
    both = folder / "both.pem"
    both.write_bytes(chain.read_bytes() + key.read_bytes())
    study = folder / "study"
    study.mkdir()
    with serving(study, "--certificate", both, "--host", "0.0.0.0", "--allow-host", "localhost") as server:
        assert server.encrypted and server.host == "localhost", "the address has the name of the certificate"
        server.trusted = chain
        content = b"a,label\n" + b"1,x\n2,y\n" * 100_000
        assert server.call("PUT", "/uploads/a.csv", content)[0] == 201
        assert server.call("GET", f"/datasets/{encoded('uploads/a.csv')}/file") == (200, content)
        assert (study / "uploads/a.csv").read_bytes() == content
        assert server.call("POST", "/design", b"x" * (8 << 20))[0] == 413
        assert server.events("/events", stop=lambda event: event[0] == "jobs")
        answer, _ = server.raw("GET", f"/?token={server.token}")
        assert answer.getheader("Set-Cookie").endswith("; Secure")
        server.trusted = other
        try:
            server.get("/status")
            raise AssertionError("the certificate of another was shown")
        except ssl.SSLCertVerificationError:
            pass
        server.trusted = chain
        # Neither plain HTTP nor an old version of TLS is answered.
        with socket.create_connection((server.host, server.port), timeout=30) as plain:
            plain.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
            assert not plain.recv(4096).startswith(b"HTTP")
        old = subprocess.run(["openssl", "s_client", "-tls1_1", "-cipher", "DEFAULT:@SECLEVEL=0", "-connect", f"127.0.0.1:{server.port}"],
                             stdin=subprocess.DEVNULL, capture_output=True)
        assert old.returncode != 0
        assert server.get("/status")["version"]
    secret = folder / "secret.key"
    subprocess.run(["openssl", "ec", "-in", key, "-aes128", "-passout", "pass:secret", "-out", secret], check=True, capture_output=True)
    for words, expected in (
        (["--certificate", "/no/such/file"], "--certificate /no/such/file"),
        (["--certificate", key], "certificates (PEM)"),
        (["--certificate", chain], "private key"),
        (["--certificate", other, "--key", key], "private key"),
        (["--certificate", chain, "--key", secret], "without a password"),
        (["--key", key], "--certificate"),
        (["--certificate", both, "--unencrypted"], "give one"),
    ):
        failed = subprocess.run([program, "app", study, "--no-open", *words], capture_output=True, text=True, stdin=subprocess.DEVNULL)
        assert failed.returncode in (1, 2) and expected in failed.stderr and failed.stderr.count("\n") == 1, failed.stderr


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

if __name__ == "__main__":
    sys.exit(run_tests(globals()))
