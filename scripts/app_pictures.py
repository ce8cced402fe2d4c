#!/usr/bin/env python3
"""Makes the pictures of docs/app.md again: runs `sheaf app` on a small study, and takes each page in Chromium, light and dark.

    scripts/app_pictures.py build/sheaf [NAME ...]     all into docs/images/app, or those whose names hold one of the words
"""
import base64
import contextlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "app"))
from page import App, Page, find_browser  # noqa: E402
from served import encoded  # noqa: E402

OUTPUT = ROOT / "docs" / "images" / "app"
DRAWN = "document.querySelector('.picture canvas')"


def write_patients(path, rows, seed):
    draw = random.Random(seed)
    with open(path, "w") as file:
        file.write("age,sex,smoker,bmi,crp,glucose,albumin,creatinine,outcome\n")
        for _ in range(rows):
            age, bmi, albumin = draw.gauss(58, 12), draw.gauss(26, 4), draw.gauss(41, 4)
            sex, smoker = draw.choice(["f", "m"]), draw.choice(["no", "no", "yes"])
            crp, glucose, creatinine = draw.lognormvariate(1.2, 0.9), draw.gauss(5.6, 1.1), draw.gauss(80, 18)
            risk = 0.05 * (age - 58) + 0.12 * crp - 0.16 * (albumin - 41) + 0.5 * (glucose - 5.6) + (0.8 if smoker == "yes" else 0)
            sick = risk + draw.gauss(0, 1) > 0.8
            crp_text = "" if draw.random() < 0.04 else f"{crp:.1f}"
            file.write(f"{age:.0f},{sex},{smoker},{bmi:.1f},{crp_text},{glucose:.1f},{albumin:.1f},{creatinine:.0f},{'sick' if sick else 'healthy'}\n")


class Study:
    """A folder with datasets and runs, as the command line leaves them."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.run("generate", "microbes", "microbes.arff.gz", "--seed", 7)
        self.run("generate", "psms", "run.pin.gz", "--spectra", 5000)
        write_patients(folder / "patients.csv", 600, 1)
        write_patients(folder / "cohort.csv", 1500, 2)
        same = ("--seed", 5)
        self.run("search", "patients.csv", "--outer", 5, "--predictions", "--calibrate", "platt", "--learning-curve", "--permutation-importance", 3,
                 *same, "--output", "patients-search")
        self.run("search", "patients.csv", "--model", "svm", "--impute", "median", "--scale", "standard", "--cost", "0.01:1000:11", "--gamma",
                 "0.0001:10:11", "--strategy", "grid", *same, "--output", "patients-svm")
        self.run("search", "patients.csv", "--model", "knn", "--impute", "median", "--scale", "standard", *same, "--output", "patients-knn")
        self.run("select", "microbes.arff.gz", "--model", "elastic-net-logistic", "--splits", 20, "--path-split", 1, "--output", "microbes-study")
        self.run("rescore", "run.pin.gz", "--output", "run-rescored")

    def run(self, *words):
        done = subprocess.run(["sheaf", *map(str, words)], executable=self.program, cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"sheaf {' '.join(map(str, words))}\n{done.stderr}")

    @contextlib.contextmanager
    def running(self, *words):
        """A search that goes on meanwhile."""
        process = subprocess.Popen(["sheaf", "search", *map(str, words)], executable=self.program, cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            yield
        finally:
            process.kill()
            process.wait()


class Album:
    def __init__(self, page, address, wanted):
        self.page, self.address, self.wanted = page, address.split("?")[0], wanted

    def take(self, name, place, ready, act=lambda page: None, height=900):
        """The page at an address, once what it shows is there and `act` was done."""
        if self.wanted and not any(word in name for word in self.wanted):
            return
        page = self.page
        page.call("Page.navigate", url="about:blank")  # so that nothing of the page before is taken for this one
        page.goto(self.address + place)
        page.until(ready)
        act(page)
        for scheme in ("light", "dark"):
            page.look(1280, scheme)
            page.call("Emulation.setDeviceMetricsOverride", width=1280, height=height, deviceScaleFactor=1, mobile=False)
            page.until(f"document.documentElement.dataset.theme === '{scheme}'")
            page.run("document.activeElement.blur(), scrollTo(0, 0)")
            page.run("new Promise(done => setTimeout(() => requestAnimationFrame(() => requestAnimationFrame(() => done(1))), 400))")  # charts are drawn again
            picture = base64.b64decode(page.call("Page.captureScreenshot", captureBeyondViewport=False)["data"])
            small = subprocess.run(["pngquant", "--strip", "--nofs", "256", "-"], input=picture, capture_output=True, check=True).stdout
            (OUTPUT / f"{name}-{scheme}.png").write_bytes(small)
        page.look(1280, "light")
        print(name, flush=True)


def predict_a_row(page):
    page.until("field('crp')")
    page.type("field('crp')", "24")
    page.press("button", "Predict this row")
    page.see("What decides it")
    page.until(DRAWN)


def pick_a_row(page):
    page.click("document.querySelectorAll('.grid-row .link')[1]")
    page.see("what decides it")
    page.until(DRAWN)


def take_all(album, study):
    def run(name, tab=""):
        return f"#/runs/{encoded(name)}" + (f"?tab={tab}" if tab else "")

    album.take("home", "", "document.querySelectorAll('.state.done').length === 5")
    album.take("data", "#/data/" + encoded("microbes.arff.gz"), DRAWN)
    album.take("rows", "#/data/" + encoded("patients.csv") + "?tab=rows", "document.querySelector('.grid-row')")
    album.take("design", "#/design?dataset=" + encoded("patients.csv"), "document.body.innerText.includes('time, roughly')")
    album.take("results", run("patients-search"), "document.body.innerText.includes('In short')")
    album.take("points", run("patients-svm", "points"), DRAWN)
    album.take("classes", run("patients-search", "classes"), DRAWN)
    album.take("features", run("microbes-study", "features"), DRAWN)
    album.take("how-sure", run("patients-search", "validation"), DRAWN)
    album.take("held-out", run("patients-search", "predictions"), "document.querySelector('.grid-row .link')", pick_a_row, height=1250)
    album.take("compare", f"#/compare?runs={encoded('patients-svm')},{encoded('patients-knn')}", DRAWN)
    album.take("predict", "#/predict?run=" + encoded("patients-search"), "field('crp')", predict_a_row, height=1250)
    album.take("rescoring", run("run-rescored"), DRAWN)
    with study.running("cohort.csv", "--model", "svm", "--strategy", "grid", "--cost", "0.01:1000:11", "--gamma", "0.0001:10:11", "--threads", 1, "--batch", 11,
                       "--output", "cohort-search"):
        album.take("run", run("cohort-search"), "document.body.innerText.includes('left, about') && document.body.innerText.includes('cores busy')", height=1250)


def main():
    program = os.path.abspath(sys.argv[1])
    browser = find_browser()
    if browser is None or not shutil.which("pngquant"):
        sys.exit("chromium and pngquant are needed")
    OUTPUT.mkdir(parents=True, exist_ok=True)
    folder = pathlib.Path(tempfile.gettempdir()) / "study"  # it is seen in the pictures
    folder.mkdir()
    try:
        study = Study(program, folder)
        app = App(program, str(folder))
        page = Page(browser)
        try:
            page.start(app.address)
            take_all(Album(page, app.address, sys.argv[2:]), study)
        finally:
            page.close()
            app.close()
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
