"""Checks the recipes of conda, Docker and Apptainer without their programs: syntax, files that they name, versions.

    packaging/lint.py

shellcheck and yamllint look at shell and YAML inside them, if they are installed.
"""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTRUCTIONS = {"ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "LABEL", "RUN", "USER", "VOLUME", "WORKDIR"}
SECTIONS = {"files", "post", "runscript", "test", "labels", "help", "environment"}
defects = []


def complain(where, what):
    defects.append(f"{where}: {what}")


def must_exist(where, name):
    if not list(ROOT.glob(name)):
        complain(where, f"{name} does not exist")


def check_shell(where, text):
    checked = subprocess.run(["bash", "-n"], input=text, text=True, capture_output=True)
    if checked.returncode != 0:
        return complain(where, checked.stderr.strip())
    run_linter(where, text, "shellcheck", "--shell=bash", "--severity=warning", "--format=gcc", "-")


def run_linter(where, text, program, *options):
    if shutil.which(program) is None:
        return
    checked = subprocess.run([program, *options], input=text, text=True, capture_output=True)
    for line in checked.stdout.splitlines():
        complain(where, line)


def check_yaml(where, text):
    rules = "{extends: relaxed, rules: {line-length: {max: 200}, comments: disable}}"
    run_linter(where, text, "yamllint", "--strict", "--format=parsable", "-d", rules, "-")


def docker():
    where = "packaging/Dockerfile"
    text = re.sub(r"\\\n", " ", (ROOT / where).read_text())
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    if not lines[0].startswith("FROM "):
        complain(where, "the first instruction must be FROM")
    stages = {line.split()[-1] for line in lines if re.match(r"FROM .* AS ", line)}
    for line in lines:
        word, rest = line.split(maxsplit=1)
        if word not in INSTRUCTIONS:
            complain(where, f"unknown instruction {word}")
        if word == "RUN":
            check_shell(where, rest)
        if word == "COPY" and rest.startswith("--from="):
            if rest.split()[0].removeprefix("--from=") not in stages:
                complain(where, f"no stage for {line}")
        elif word == "COPY":
            for name in rest.split()[:-1]:
                must_exist(where, name)


def apptainer():
    where = "packaging/sheaf.def"
    head, *sections = re.split(r"^%", (ROOT / where).read_text(), flags=re.MULTILINE)
    for key in ("Bootstrap:", "From:"):
        if key not in head:
            complain(where, f"{key} is missing")
    for section in sections:
        name, _, body = section.partition("\n")
        if name.strip() not in SECTIONS:
            complain(where, f"unknown section %{name}")
        if name in ("post", "runscript", "test"):
            check_shell(where, body)
        if name == "files":
            for line in filter(None, map(str.strip, body.splitlines())):
                must_exist(where, shlex.split(line)[0])


def conda():
    where = "packaging/conda/meta.yaml"
    text = (ROOT / where).read_text()
    check_shell("packaging/conda/build.sh", (ROOT / "packaging/conda/build.sh").read_text())
    try:
        import yaml
    except ImportError:
        return
    plain = re.sub(r"\{%.*?%\}", "", text)
    plain = re.sub(r"\{\{ *(.*?) *\}\}", lambda found: re.sub(r"[^a-z]", "_", found.group(1)), plain)
    check_yaml(where, plain)
    try:
        recipe = yaml.safe_load(plain)
    except yaml.YAMLError as error:
        return complain(where, str(error))
    for part in ("package", "source", "requirements", "test", "about"):
        if part not in recipe:
            complain(where, f"{part} is missing")
    if not (ROOT / where).parent.joinpath(recipe["source"]["path"], "CMakeLists.txt").exists():
        complain(where, "source is not the repository")
    must_exist(where, recipe["about"]["license_file"])


def descriptions():
    for where in ("CITATION.cff", *(str(path.relative_to(ROOT)) for path in ROOT.glob(".github/**/*.yml"))):
        check_yaml(where, (ROOT / where).read_text())


def scripts():
    for path in sorted(ROOT.glob("packaging/*.sh")) + [ROOT / "r/configure", ROOT / "r/cleanup"]:
        check_shell(str(path.relative_to(ROOT)), path.read_text())


def versions():
    version = re.search(r'SHEAF_VERSION "(.*)"', (ROOT / "include/sheaf/version.hpp").read_text()).group(1)
    places = {"r/DESCRIPTION": r"^Version: (.*)$", "CITATION.cff": r"^version: (.*)$", "packaging/conda/meta.yaml": r'version = "(.*)"',
              "packaging/sheaf.def": r"^ +Version (.*)$", "CHANGELOG.md": r"^## ([0-9.]+)"}
    for place, pattern in places.items():
        found = re.search(pattern, (ROOT / place).read_text(), re.MULTILINE)
        if found is None or found.group(1) != version:
            complain(place, f"version {version} expected, found {found and found.group(1)}")


def main():
    for check in (docker, apptainer, conda, descriptions, scripts, versions):
        check()
    print("\n".join(defects) if defects else "packaging: all recipes are sound")
    sys.exit(1 if defects else 0)


if __name__ == "__main__":
    main()
