"""Types questions into the search of a finished site, in Chromium, and looks at where the first result leads.

    docs/site/search.py FOLDER

Every heading of the page of questions must be found by its own words, and by the words of its subject: one search, one click. Exit code 77:
there is no Chromium.
"""

import re
import sys
from pathlib import Path
from urllib.parse import quote

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/report"))
from browser import Browser, find_browser  # noqa: E402

# What a stranger types, and the page that one of the first three results must be.
SUBJECTS = {
    "how do I select features inside cross-validation": "questions",
    "feature selection cross-validation": "pipeline|feature-selection|questions|search",
    "nested validation": "search|questions",
    "taxonomy": "formats|questions",
    "h5ad": "formats|questions|commands",
    "install R package": "install|r",
}
RESULTS = """(async () => {
  for (let k = 0; k < 100; ++k) {
    const summary = document.querySelector(".search-summary");
    if (summary && summary.textContent.trim() && !/Searching/.test(document.title + document.querySelector("#search-results h2")?.textContent)) break;
    await new Promise(done => setTimeout(done, 50));
  }
  return [...document.querySelectorAll("#search-results li a")].slice(0, 3).map(a => a.getAttribute("href"));
})()"""


def questions():
    return re.findall(r"^## (.*)$", (ROOT / "docs/questions.md").read_text(), re.MULTILINE)


def anchor(question):
    return re.sub(r"[^a-z0-9 -]", "", question.lower()).strip().replace(" ", "-")


def results(browser, root, text):
    browser.open_url((root / "search.html").resolve().as_uri() + "?q=" + quote(text))
    return browser.run(RESULTS)


def main():
    root = Path(sys.argv[1]).resolve()
    program = find_browser()
    if program is None:
        print("search: there is no Chromium")
        sys.exit(77)
    browser = Browser(program)
    wrong = []
    try:
        for question in questions():
            found = results(browser, root, question)
            if not found or not found[0].endswith(f"docs/questions.html#{anchor(question)}"):
                wrong.append(f"'{question}' finds {found}")
        for text, pages in SUBJECTS.items():
            found = results(browser, root, text)
            if not any(re.search(rf"/({pages})\.html", "/" + link) for link in found):
                wrong.append(f"'{text}' finds {found}")
    finally:
        browser.close()
    print("\n".join(wrong) if wrong else f"search: {len(questions()) + len(SUBJECTS)} questions are answered by the first results")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
