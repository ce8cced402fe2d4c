"""Reports as a browser shows them: nothing overflows, every text can be read, every map has a legend, plots can be saved,
and pages look as the pictures of tests/report/pictures do, which a person has looked at.

    check.py PROGRAM [--pictures FOLDER | --renew]

makes a report of every kind with the program and looks at each in Chromium, light and dark, wide and narrow, and as it is
printed. With --pictures it keeps what it saw; with --renew small pictures of it are what pages are compared with from now
on (look at them at full size before). Exit code 77: there is no Chromium.
"""
import csv
import io
import os
import subprocess
import sys
import tempfile

import pixels
from browser import Browser, find_browser

REFERENCES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "pictures")
REFERENCE_WIDTH = 48  # too small for letters, whose shapes are the machine's own

COMMANDS = {
    "search": "generate classification a.csv --rows 300 --seed 1 && search a.csv --output search --cost 0.01,1 --outer 2 "
              "--calibrate platt --threshold youden --learning-curve --permutation-importance 2 --scale standard",
    "surface": "generate classification a.csv --rows 120 --classes 3 --seed 1 && search a.csv --output surface --model svm "
               "--cost 0.1,1,10 --gamma 0.01,0.1,1",
    "regression": "generate regression a.csv --rows 150 --seed 2 && search a.csv --output regression --learning-curve",
    "classes": "generate classification a.csv --rows 1500 --classes 105 --informative 10 --features 12 --noise 0 --seed 3 "
               "&& search a.csv --output classes --cost 1 --folds 3",
    "study": "generate genes a.csv --rows 60 --features 200 --seed 4 && select a.csv --model elastic-net-logistic "
             "--splits 4 --output study",
    "selection": "generate microbes a.csv --rows 100 --features 300 --seed 5 && select a.csv --count 12 --report "
                 "selection/report.html",
    "profile": "generate microbes a.csv --rows 100 --features 2000 --seed 6 && info a.csv --report profile/report.html",
    "rescoring": "generate psms a.pin --spectra 1500 --seed 7 && rescore a.pin --output rescoring",
}

# Each fact is a script that returns what is wrong, as a list of sentences.
LIBRARY = r"""
const parse = text => { const n = text.match(/[\d.]+/g).map(Number); return { r: n[0], g: n[1], b: n[2], a: n.length > 3 ? n[3] : 1 }; };
const over = (top, below, opacity) => { const a = top.a * opacity; const mix = k => top[k] * a + below[k] * (1 - a);
  return { r: mix("r"), g: mix("g"), b: mix("b"), a: 1 }; };
const channel = v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; };
const light = c => 0.2126 * channel(c.r) + 0.7152 * channel(c.g) + 0.0722 * channel(c.b);
const contrast = (a, b) => { const [x, y] = [light(a), light(b)].sort((p, q) => q - p); return (x + 0.05) / (y + 0.05); };
const backdrop = element => { const list = [];
  for (let e = element; e; e = e.parentElement) list.unshift(parse(getComputedStyle(e).backgroundColor));
  return list.reduce((below, top) => over(top, below, 1), { r: 255, g: 255, b: 255, a: 1 }); };
const cardOf = e => (e.closest(".card")?.querySelector("h2")?.textContent ?? "page");
const visible = e => e.getClientRects().length > 0;
"""

NOTHING_OVERFLOWS = r"""(() => { const wrong = [];
const root = document.documentElement;
if (root.scrollWidth > innerWidth) wrong.push(`the page is ${root.scrollWidth} pixels wide`);
for (const e of document.querySelectorAll(".tile, .card, h1, h2, .findings li"))
  if (e.scrollWidth > e.clientWidth + 1) wrong.push(`'${e.textContent.slice(0, 30)}' overflows its box`);
for (const e of document.querySelectorAll(".tile b")) if (e.scrollWidth > e.clientWidth + 1) wrong.push(`the tile '${e.textContent}' overflows`);
return wrong; })()"""

TEXTS_ARE_READ = r"""(() => { const wrong = [];
for (const svg of document.querySelectorAll(".card svg")) {
  const texts = [...svg.querySelectorAll("text")], scale = svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  const boxes = texts.map(t => t.getBBox()), view = svg.viewBox.baseVal;
  const shapes = [...svg.querySelectorAll("rect")].map(r => [r, r.getBBox()]);
  const paper = backdrop(svg);
  texts.forEach((text, k) => {
    const b = boxes[k];
    if (b.x < -2 || b.y < -2 || b.x + b.width > view.width + 2 || b.y + b.height > view.height + 2)
      wrong.push(`${cardOf(svg)}: '${text.textContent}' leaves its plot`);
    if (parseFloat(getComputedStyle(text).fontSize) * scale < 7.5) wrong.push(`${cardOf(svg)}: '${text.textContent}' is too small`);
    let below = paper;
    const x = b.x + b.width / 2, y = b.y + b.height / 2;
    for (const [shape, s] of shapes)
      if (x >= s.x && x <= s.x + s.width && y >= s.y && y <= s.y + s.height &&
          shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING) {
        const style = getComputedStyle(shape);
        below = over(parse(style.fill), below, parseFloat(style.opacity));
      }
    const found = contrast(parse(getComputedStyle(text).fill), below);
    if (found < 4.5) wrong.push(`${cardOf(svg)}: the contrast of '${text.textContent}' is ${found.toFixed(2)}`);
    for (let l = 0; l < k; ++l) {
      const o = boxes[l], w = Math.min(b.x + b.width, o.x + o.width) - Math.max(b.x, o.x), h = Math.min(b.y + b.height, o.y + o.height) - Math.max(b.y, o.y);
      if (w > 2 && h > 4) wrong.push(`${cardOf(svg)}: '${text.textContent}' covers '${texts[l].textContent}'`);
    }
  });
}
for (const e of document.querySelectorAll("h1, h2, header p, .card > p, td, th, .legend span, .tile b, .tile span, .findings li, footer, .save button")) {
  if (!visible(e) || e.textContent.trim() === "") continue;
  const found = contrast(parse(getComputedStyle(e).color), backdrop(e));
  if (found < 4.5) wrong.push(`${cardOf(e)}: the contrast of '${e.textContent.slice(0, 30)}' is ${found.toFixed(2)}`);
}
return [...new Set(wrong)].slice(0, 20); })()"""

MAPS_HAVE_LEGENDS = r"""[...document.querySelectorAll("svg.map")].filter(svg => !svg.querySelector(".scale text")).map(svg => cardOf(svg) + " has no legend")"""

PLOTS_CAN_BE_SAVED = r"""(() => { const wrong = [];
for (const svg of document.querySelectorAll(".card svg")) {
  const card = svg.closest(".card"), bar = (svg.closest(".scroll") || svg).nextElementSibling;
  const names = bar?.className === "save" ? [...bar.querySelectorAll("button")].map(b => b.textContent) : [];
  if (names[0] !== "SVG") wrong.push(`${cardOf(svg)} cannot be saved as SVG`);
  const saved = new DOMParser().parseFromString(sheafReport.picture(svg, card), "image/svg+xml");
  if (saved.querySelector("parsererror")) wrong.push(`${cardOf(svg)} is saved as broken SVG`);
  const image = saved.documentElement;
  if (!(image.getAttribute("width") > 100 && image.getAttribute("height") > 30)) wrong.push(`${cardOf(svg)} is saved without a size`);
  if (![...saved.querySelectorAll("text")].some(t => t.textContent === cardOf(svg))) wrong.push(`${cardOf(svg)} is saved without its title`);
  if (saved.querySelector("style").textContent.includes("prefers-color-scheme")) wrong.push(`${cardOf(svg)} is saved in dark colours`);
}
return wrong; })()"""

WORDS_ARE_TRUE = r"""/\bdarker\b|\blighter\b/i.test(document.body.innerText) ? ["'darker' or 'lighter' is said, which one of the colour schemes makes false"] : []"""

DATA = r"""[...document.querySelectorAll(".card svg metadata")].map(m => [cardOf(m), m.textContent])"""

PRINTED = r"""[...document.querySelectorAll(".save")].filter(visible).map(() => "buttons are printed")"""


def ask(browser, fact):
    return browser.run("(() => {" + LIBRARY + "return " + fact + "})()")


def make(program, name, folder):
    os.makedirs(os.path.join(folder, name), exist_ok=True)
    if "--output " + name in COMMANDS[name]:
        os.rmdir(os.path.join(folder, name))
    for command in COMMANDS[name].split(" && "):
        subprocess.run([program, *command.split(), "--quiet"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return os.path.join(folder, name, "report.html")


def wrong_data(browser):
    """Every plot has data, a table with as many fields in each line."""
    wrong = []
    for card, text in ask(browser, DATA):
        rows = list(csv.reader(io.StringIO(text)))
        if len(rows) < 2 or len({len(row) for row in rows}) != 1:
            wrong.append(f"{card}: its data are no table")
    return wrong


def wrong_picture(browser, name, renew):
    """What is unlike in the page and in its reference."""
    path = os.path.join(REFERENCES, name + ".png")
    seen = browser.picture(REFERENCE_WIDTH)
    if renew:
        with open(path, "wb") as file:
            file.write(seen)
    with open(path, "rb") as file:
        return pixels.differences(pixels.read_png(seen), pixels.read_png(file.read()))


def look(browser, name, page, pictures, renew):
    wrong = []
    for width in (1280, 420):
        for scheme in ("light", "dark"):
            browser.open(page, width, scheme)
            for fact in (NOTHING_OVERFLOWS, TEXTS_ARE_READ, MAPS_HAVE_LEGENDS, WORDS_ARE_TRUE):
                wrong += [f"{name}, {width} pixels, {scheme}: {what}" for what in ask(browser, fact)]
            view = f"{name}-{width}-{scheme}"
            wrong += [f"{view}: {what}" for what in wrong_picture(browser, view, renew)]
            if pictures:
                with open(os.path.join(pictures, view + ".png"), "wb") as file:
                    file.write(browser.picture())
    wrong += [f"{name}: {what}" for what in ask(browser, PLOTS_CAN_BE_SAVED) + wrong_data(browser)]
    browser.open(page, 800, "dark", "print")
    wrong += [f"{name}, printed: {what}" for what in ask(browser, PRINTED)]
    return wrong


def main():
    program = os.path.abspath(sys.argv[1])
    pictures = sys.argv[sys.argv.index("--pictures") + 1] if "--pictures" in sys.argv else None
    names = [name for name in sys.argv[2:] if name in COMMANDS] or list(COMMANDS)
    path = find_browser()
    if path is None:
        print("reports in a browser: Skipped\nchromium is not installed")
        return 77
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        browser = Browser(path)
        try:
            for name in names:
                wrong += look(browser, name, make(program, name, folder), pictures, "--renew" in sys.argv)
        finally:
            browser.close()
    print("\n".join(wrong) if wrong else f"{len(names)} reports are fine")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
