#!/usr/bin/env python3
"""Attacks `sheaf app` as other sites, other programs and other users of the machine would.

    tests/app/attacks.py build/sheaf [NAME ...]     all tests, or those whose names hold one of the words
"""

import contextlib
import json
import os
import re
import resource
import shutil
import socket
import sys
import time

from served import PATIENCE, encoded, make_classes, memory_of, run, run_tests, serving, until

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


def descriptors_of(server):
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def test_ten_thousand_idle_connections(folder):
    """From several addresses of this machine; most are closed again, and others are still served."""
    count = 10_000
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    if hard != resource.RLIM_INFINITY and hard < count + 100:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, count + 100))
    else:
        resource.setrlimit(resource.RLIMIT_NOFILE, (count + 100, hard))
    with serving(folder) as server, contextlib.ExitStack() as stack:
        stream = stack.enter_context(socket.create_connection((server.host, server.port), timeout=PATIENCE))
        stream.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {server.token}\r\n\r\n".encode())
        assert b" 200 " in stream.recv(4096)
        for k in range(count):
            source = (f"127.0.{k // 2000 + 1}.{k % 2000 // 100 + 1}", 0)
            stack.enter_context(socket.create_connection((server.host, server.port), timeout=PATIENCE, source_address=source))
            if k % 1000 == 0:
                assert server.get("/status")["version"]
        until(lambda: descriptors_of(server) < 300, "connections to be closed")
        assert server.get("/status")["version"]
        assert memory_of(server) < 60 * 2**20, memory_of(server)
        stream.settimeout(0.01)
        with contextlib.suppress(TimeoutError):
            while stream.recv(65536):  # what waits there; an end would be an empty one
                pass
            raise AssertionError("a client that is served was closed")


def closes(connection):
    """Whether the server ends a connection, however long that takes."""
    connection.settimeout(PATIENCE)
    with contextlib.suppress(ConnectionError):
        while connection.recv(65536):
            pass
    return True


def test_slow_clients(folder):
    """A header, a body in memory, a body to a file and an answer that take forever."""
    make_classes(folder)
    with open(folder / "large.csv", "w") as file:
        file.write("a,b\n" + "1,2\n" * 5_000_000)
    with serving(folder) as server, contextlib.ExitStack() as stack:
        head = f"Host: localhost\r\nAuthorization: Bearer {server.token}\r\n"
        body = head + "Content-Length: 1000000\r\n\r\n"

        def begin(text):
            connection = stack.enter_context(socket.create_connection((server.host, server.port), timeout=PATIENCE))
            connection.sendall(text.encode())
            return connection

        before = descriptors_of(server)
        large = encoded("large.csv")
        slow = [begin("GET /api"), begin("POST /api/v1/design HTTP/1.1\r\n" + body), begin("PUT /api/v1/uploads/x.csv HTTP/1.1\r\n" + body)]
        deaf = begin(f"GET /api/v1/datasets/{large}/file HTTP/1.1\r\n{head}\r\n")
        until(lambda: descriptors_of(server) >= before + 6, "four connections and two files")
        assert server.get("/status")["version"]
        end = time.monotonic() + PATIENCE
        trickled = slow[:2]
        while trickled and time.monotonic() < end:  # a byte a second does not keep them open
            for connection in list(trickled):
                try:
                    connection.sendall(b" ")
                except OSError:
                    trickled.remove(connection)
            time.sleep(1)
        assert not trickled, "a byte a second keeps a request open"
        assert all(closes(connection) for connection in slow)
        until(lambda: descriptors_of(server) <= before, "the answer that nobody reads to be given up")
        received = 0
        with contextlib.suppress(OSError):
            while part := deaf.recv(1 << 20):
                received += len(part)
        assert received < (folder / "large.csv").stat().st_size
        assert not list(folder.glob("uploads/*")), "the rest of an upload stays"
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

if __name__ == "__main__":
    sys.exit(run_tests(globals()))
