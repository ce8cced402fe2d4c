"""Makes the site in BUILD/site/html from the pages of the repository, and checks its links.

    docs/site/make.py BUILD
"""

import importlib.util
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import stories

ROOT = Path(__file__).resolve().parents[2]
SITE = ROOT / "docs/site"
LEFT_OUT = ("README.md", "docs/site/", ".github/")


def tracked(*patterns):
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.split()
    return [path for path in listed if not path.startswith(LEFT_OUT) and (ROOT / path).exists()]


def linked_files(text):
    return re.findall(r"\]\(([^)#:\s]+)", text)


def collect(source):
    """Pages at the places that they have in the repository, with every file that they link to."""
    pages = tracked("*.md")
    for page in pages:
        text = (ROOT / page).read_text()
        copy = source / page
        copy.parent.mkdir(parents=True, exist_ok=True)
        copy.write_text(text)
        for link in linked_files(text):
            target = (ROOT / page).parent / link
            if target.is_file() and target.suffix != ".md":
                to = source / target.resolve().relative_to(ROOT)
                to.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(target, to)
    shutil.copytree(ROOT / "docs/images", source / "docs/images", dirs_exist_ok=True)
    return pages


def toctree(entries):
    return "\n\n```{toctree}\n:hidden:\n\n" + "\n".join(entries) + "\n```\n"


def write_contents(source, pages):
    """The landing page, and tables of contents for pages that no other one lists."""
    index = (SITE / "index.in").read_text()
    listed = set(re.findall(r"^(docs/[a-z-]+)$", index, re.MULTILINE))
    guides = [page[:-3] for page in pages if re.fullmatch(r"docs/[a-z-]+\.md", page)]
    more = [page for page in guides if page not in listed and page != "docs/app"]
    index = index.replace("@browser@", "docs/app" if "docs/app" in guides else "").replace("@more@", "\n".join(more))
    (source / "index.md").write_text(index)
    for folder in ("docs/algorithms", "docs/decisions"):
        names = [Path(page).stem for page in pages if Path(page).parent == Path(folder) and Path(page).name != "README.md"]
        with open(source / folder / "README.md", "a") as file:
            file.write(toctree(names))
    others = [page[:-3] for page in pages if "/" in page and not page.startswith("docs/")]
    lines = "".join(f"- [{Path(page).parent}]({page}.md)\n" for page in others)
    (source / "folders.md").write_text("# Folders\n\nThe README of each folder: what lives there, who may call it, how to add to it.\n\n" +
                                       lines + toctree(others))


def missing(source, name, title, how):
    (source / "api" / name).write_text(f"# {title}\n\nThis site was made without it: {how}\n")


def python_reference(source, build):
    if not list((build / "python/sheaf").glob("_core*.so")):
        (source / "api/python.rst").write_text("Python\n======\n\nThis site was made without the Python package (``make python``).\n")
        return
    text = (ROOT / "python/docs/index.rst").read_text()
    (source / "api/python.rst").write_text(re.sub(r"\ASheaf for Python\n=+", "Python\n======", text))


def r_reference(source, build):
    if shutil.which("Rscript") is None:
        return missing(source, "r.md", "R", "R is not installed.")
    subprocess.run(["Rscript", "--vanilla", SITE / "r_pages.R", ROOT / "r/man", source / "api"], check=True)


def cpp_reference(source, site, version):
    if shutil.which("doxygen") is None:
        return missing(source, "cpp.md", "C++", "Doxygen is not installed.")
    out = site / "extra/cpp"
    out.mkdir(parents=True)
    settings = f"""
PROJECT_NAME = Sheaf
PROJECT_NUMBER = {version}
INPUT = {ROOT}/include/sheaf
STRIP_FROM_PATH = {ROOT}/include
RECURSIVE = YES
EXTRACT_ALL = YES
HTML_OUTPUT = {out}
GENERATE_LATEX = NO
QUIET = YES
WARNINGS = NO
DISABLE_INDEX = NO
HAVE_DOT = NO
GENERATE_TREEVIEW = YES
SORT_MEMBER_DOCS = NO
HTML_COLORSTYLE_SAT = 40
MACRO_EXPANSION = YES
"""
    subprocess.run(["doxygen", "-"], input=settings, text=True, check=True)
    headers = sorted(path.relative_to(ROOT / "include") for path in (ROOT / "include").rglob("*.hpp"))
    rows = "".join(f"| `{header}` | {about(ROOT / 'include' / header)} |\n" for header in headers)
    (source / "api/cpp.md").write_text(
        "# C++\n\nThe [guide](../docs/cpp.md) starts with programs. "
        '<a class="reference" href="../cpp/annotated.html">Classes</a>, '
        '<a class="reference" href="../cpp/namespacesheaf.html">functions</a> and '
        '<a class="reference" href="../cpp/files.html">headers</a> have pages of their own, with a search.\n\n'
        "| header | content |\n|---|---|\n" + rows)


def about(header):
    """The first sentence of the comment at the top of a header."""
    lines = []
    for line in header.read_text().splitlines():
        if not line.startswith("//"):
            break
        lines.append(line.lstrip("/ "))
    return re.split(r"(?<=[.:]) ", " ".join(lines))[0].rstrip(":").replace("|", "\\|")


def check_programs():
    """Exit code 77, as tests are skipped, if a program or package that makes the site is missing."""
    missing = [name for name in ("sphinx", "myst_parser", "sphinx_copybutton", "furo", "numpydoc") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"The site is not made: {', '.join(missing)} missing (scripts/setup.sh site)")
        sys.exit(77)


def main():
    check_programs()
    build = Path(sys.argv[1]).resolve()
    site = build / "site"
    source = site / "source"
    shutil.rmtree(site, ignore_errors=True)
    (source / "api").mkdir(parents=True)
    header = (ROOT / "include/sheaf/version.hpp").read_text()
    version = re.search(r'SHEAF_VERSION "(.*)"', header).group(1)
    write_contents(source, collect(source))
    stories.write(ROOT, source, build)
    python_reference(source, build)
    r_reference(source, build)
    cpp_reference(source, site, version)
    environment = dict(os.environ, SHEAF_VERSION=version, SHEAF_SITE_EXTRA=str(site / "extra"), PYTHONPATH=str(build / "python"), PYTHONDONTWRITEBYTECODE="1")
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-j", "auto", "-c", SITE, "-d", site / "trees",
               "-b", "html", source, site / "html"]
    subprocess.run(command, check=True, env=environment)
    subprocess.run([sys.executable, SITE / "links.py", site / "html"], check=True)
    searched = subprocess.run([sys.executable, SITE / "search.py", site / "html"])
    if searched.returncode not in (0, 77):  # 77: there is no Chromium
        sys.exit(1)
    print(f"The site is in {os.path.relpath(site / 'html/index.html')}")


if __name__ == "__main__":
    main()
