#!/usr/bin/env python3
"""Lets one call of the operating system fail in each run of the program, and looks at what is left.

    faults.py PROGRAM INJECT.so [--runs N] [--seed N] [--scenario NAME ...] [--kind NAME ...]

Every scenario is a command. It runs once undisturbed, which counts the calls of each kind; then again and again with one of
them failing: all of them, or N drawn at random. A run whose reads and writes are cut in two or interrupted by signals must
give the files of the undisturbed run. A run that a fault disturbed must
  - succeed with the same files as the undisturbed run, or end with an exit code above 0 and one error message;
  - never end by a signal, hang, or leave a temporary file or a half-written result behind;
  - leave results of an earlier run alone until its own are complete;
  - be followed by a run (for searches with --resume) that gives the files of the undisturbed run.
"""

import argparse
import os
import random
import shutil
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

FAILURES = ["memory", "open", "read", "write", "sync", "rename", "folder", "lock", "link", "thread"]
KINDS = [*FAILURES, "short", "interrupt"]  # the last two must change nothing
SECONDS = 60


class Scenario:
    """A command, the files it makes and, if it can be continued after a failure, what is there then.

    `describes`: the files name the machine, which is unknown if /proc can't be read.
    """

    def __init__(self, name, command, made, state=(), describes=False):
        self.name, self.command, self.made, self.state, self.describes = name, command, made, state, describes

    def keeps(self, name):
        """Whether a file is kept to continue: it, or the folder it lies in, is in `state`."""
        return any(name == kept or name.startswith(kept + "/") for kept in self.state)


SCENARIOS = [
    Scenario("fit", "fit d.csv --model elastic-net-logistic --alpha 0.1 --output m.txt", ["m.txt"]),
    Scenario("fit-svm", "fit d.csv --model svm --probability yes --output m.txt", ["m.txt"]),
    Scenario("predict", "predict d.csv --model-file ready.txt --output p.csv", ["p.csv"]),
    Scenario("convert", "convert d.csv c.arff.gz", ["c.arff.gz"]),
    Scenario("scale", "scale n.csv s.csv --save s.txt", ["s.csv", "s.txt"]),
    Scenario("select", "select d.csv --count 3 --csv list.csv --apply s.csv", ["list.csv", "s.csv", "s.csv.made.json"]),
    Scenario("info", "info d.csv --memory 1G --report r.html", ["r.html"], describes=True),
    Scenario("convert-sheaf", "convert d.csv c.sheaf", ["c.sheaf"]),
    Scenario("bin", "bin n.csv b.csv --save cuts.txt", ["b.csv", "cuts.txt"]),
    Scenario("neighbors", "neighbors n.csv --k 3 --output near.csv", ["near.csv"]),
    Scenario("percolator", "percolator d.pin -m m.tsv -w w.txt", ["m.tsv", "w.txt"]),
    Scenario("distances", "distances n.csv d.npy", ["d.npy"], ["d.npy.partial", "d.npy.settings"]),
    Scenario("search", "search d.csv --model linear --cost 0.1,1 --folds 3 --output found --predictions", ["found"],
             ["found/settings.json", "found/journal.txt", "found/lock"]),
    Scenario("search-knn", "search d.csv --model knn --k 1,3 --folds 3 --output found", ["found"],
             ["found/settings.json", "found/journal.txt", "found/lock"]),
    Scenario("study", "search d.csv --model elastic-net-logistic --alpha 0.1,0.01 --folds 3 --outer 3 --output found", ["found"],
             ["found/settings.json", "found/journal.txt", "found/lock"]),
    Scenario("search-join", "search d.csv --model linear --cost 0.1,1 --folds 3 --join found --lease 0.5", ["found"],
             ["found/settings.json", "found/journal.txt", "found/units"]),
    Scenario("rescore", "rescore d.pin --output found", ["found"],
             ["found/journal.txt"]),
]


def run(program, command, folder, environment):
    try:
        ended = subprocess.run([program, *command.split()], cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return None, b""
    return ended.returncode, ended.stderr


def results(folder, scenario):
    """Bytes of the results, by path, without what is kept to continue."""
    found = {}
    for name in scenario.made:
        path = folder / name
        files = [path] if path.is_file() else sorted(p for p in path.rglob("*") if p.is_file())
        for file in files:
            found[str(file.relative_to(folder))] = file.read_bytes()
    return {name: text for name, text in found.items() if not scenario.keeps(name)}


class Runner:
    def __init__(self, program, inject):
        self.program, self.inject = program, inject
        self.plain = {**os.environ, "SHEAF_THREADS": "2"}
        self.failures = []
        self.runs = 0

    def environment(self, kind, number, counter):
        return {**self.plain, "LD_PRELOAD": str(self.inject), "SHEAF_FAULT": f"{kind}:{number}", "SHEAF_FAULT_COUNT": str(counter)}

    def prepare(self, folder):
        generator = random.Random(7)
        rows = ["a,b,c,d,colour,y"]
        for i in range(60):
            x = [round(generator.gauss(0, 1), 3) for _ in range(4)]
            rows.append(",".join(map(str, x)) + f",{generator.choice(['red', 'green', 'blue'])},{'yes' if x[0] + x[1] > 0 else 'no'}")
        (folder / "d.csv").write_text("\n".join(rows) + "\n")
        (folder / "n.csv").write_text("\n".join(",".join(r.split(",")[:4] + r.split(",")[5:]) for r in rows) + "\n")
        pin = ["SpecId\tLabel\tScanNr\tscore\tdelta\tPeptide\tProteins"]
        for i in range(300):
            target = i % 2 == 0
            good = 2 if target and i % 4 == 0 else 0
            letters = "".join(generator.choice("ACDEFGHIKL") for _ in range(8))
            pin.append(f"s{i}\t{1 if target else -1}\t{i}\t{generator.gauss(good, 1):.4f}\t{generator.gauss(good / 2, 1):.4f}\tK.{letters}.R\tP{i % 40}")
        (folder / "d.pin").write_text("\n".join(pin) + "\n")
        code, error = run(self.program, "fit d.csv --output ready.txt", folder, self.plain)
        if code != 0:
            sys.exit(f"faults: the undisturbed fit failed: {error.decode()}")

    def check(self, scenario, runs, seed, kinds):
        with tempfile.TemporaryDirectory(prefix="sheaf-faults-") as scratch:
            base = Path(scratch) / "base"
            base.mkdir()
            self.prepare(base)
            counter = Path(scratch) / "count"
            clean = Path(scratch) / "clean"
            for kind in kinds:
                shutil.rmtree(clean, ignore_errors=True)
                shutil.copytree(base, clean)
                counter.write_bytes(bytes(8))
                code, error = run(self.program, scenario.command, clean, self.environment(kind, 0, counter))
                if code != 0:
                    sys.exit(f"faults: the undisturbed {scenario.name} failed ({code}): {error.decode()}")
                calls = struct.unpack("q", counter.read_bytes())[0]
                expected = results(clean, scenario)
                numbers = range(1, calls + 1)
                if runs and calls > runs:
                    numbers = sorted(random.Random(f"{seed} {scenario.name} {kind}").sample(numbers, runs))
                for number in numbers:
                    self.disturb(scenario, kind, number, base, Path(scratch) / "work", expected, counter)
                print(f"{scenario.name:12} {kind:8} {calls:7} calls, {len(numbers):5} made to fail", flush=True)

    def disturb(self, scenario, kind, number, base, work, expected, counter):
        shutil.rmtree(work, ignore_errors=True)
        shutil.copytree(base, work)
        before = sorted(p.name for p in work.iterdir())
        self.runs += 1
        counter.write_bytes(bytes(8))
        code, error = run(self.program, scenario.command, work, self.environment(kind, number, counter))

        def fail(what):
            self.failures.append(f"{scenario.name}, {kind} call {number}: {what}")
            print("  " + self.failures[-1], flush=True)

        if code is None:
            return fail(f"it did not end within {SECONDS} s")
        found = results(work, scenario)
        if code == 0:
            if found != expected and not (scenario.describes and kind in ("open", "read")):
                fail("exit 0, but other results: " + ", ".join(sorted(name for name in expected if found.get(name) != expected[name])))
            return None
        if kind not in FAILURES:
            return fail(f"exit {code}: {error.decode(errors='replace').strip()[-200:]}")
        if code < 0:
            return fail(f"it ended by signal {-code}: {error.decode(errors='replace').strip()[-200:]}")
        if b"error: " not in error:
            fail(f"exit {code} without an error message: {error.decode(errors='replace').strip()[-200:]}")
        if code > 2 or b"a bug in Sheaf" in error:
            fail(f"exit {code}: {error.decode(errors='replace').strip()[-200:]}")
        known = {*before, *scenario.made, *scenario.state, *expected}
        left = sorted(str(p.relative_to(work)) for p in work.rglob("*") if str(p.relative_to(work)) not in known and not scenario.keeps(str(p.relative_to(work))))
        if left:
            fail(f"left behind: {left}")
        for name, text in found.items():
            if text != expected.get(name):
                fail(f"half-written {name}")
        again = scenario.command
        if "--join" not in again and any((work / name).exists() for name in scenario.state):
            again += " --resume"
        code, error = run(self.program, again, work, self.plain)
        if code != 0:
            fail(f"the run after it failed with {code}: {error.decode(errors='replace').strip()[-200:]}")
        elif results(work, scenario) != expected:
            fail("the run after it gave other results")
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=Path)
    parser.add_argument("inject", type=Path)
    parser.add_argument("--runs", type=int, default=0, help="of each kind in each scenario; 0: every call fails once")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--scenario", nargs="*", default=[s.name for s in SCENARIOS])
    parser.add_argument("--kind", nargs="*", default=KINDS)
    arguments = parser.parse_args()
    runner = Runner(arguments.program.resolve(), arguments.inject.resolve())
    for scenario in SCENARIOS:
        if scenario.name in arguments.scenario:
            runner.check(scenario, arguments.runs, arguments.seed, arguments.kind)
    print(f"{runner.runs - len(runner.failures)} passed, {len(runner.failures)} failed")
    sys.exit(1 if runner.failures else 0)


if __name__ == "__main__":
    main()
