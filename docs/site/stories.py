"""Pages of worked examples: the comments of examples/stories/NAME/run.sh as text, its commands as code, with what they print; notebooks likewise."""

import itertools
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

MARK = "== block "
MOST_LINES = 40


def paragraphs(script):
    """(text, code) of each part of a script between empty lines; the first is the title with an introduction."""
    parts = []
    for part in script.split("\n\n"):
        lines = part.splitlines()
        text = [line[2:] for line in lines if line.startswith("#") and not line.startswith("#!")]
        code = [line for line in lines if not line.startswith("#") and not re.match(r"set -|cd \"\$\(dirname", line)]
        parts.append(("\n".join(text), "\n".join(code)))
    return parts


def cells(notebook):
    """(text, code) of a notebook: each piece of code with the text before it."""
    parts, text = [], ""
    for cell in json.loads(notebook)["cells"]:
        source = "".join(cell["source"])
        if cell["cell_type"] == "code":
            parts.append((text, source))
            text = ""
        else:
            text = f"{text}\n\n{source}".strip()
    return [*parts, (text, "")] if text else parts


def outputs(program, name, command, script, environment):
    """What each part of a script prints, in a folder that `sheaf example` has written; nothing if the example cannot run here."""
    environment = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}", PYTHONDONTWRITEBYTECODE="1", **environment)
    with tempfile.TemporaryDirectory() as scratch:
        subprocess.run([program, "example", name, "--quiet"], cwd=scratch, check=True, env=environment)
        ended = subprocess.run([*command, script], cwd=Path(scratch) / name, capture_output=True, text=True, errors="replace", env=environment)
    return ended.stdout.split(MARK + "\n")[1:] if ended.returncode == 0 else []


def shortened(text):
    lines = text.rstrip().splitlines()
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "..."])


def page(parts, language, printed):
    pieces = []
    for (text, code), output in itertools.zip_longest(parts, printed, fillvalue=""):
        pieces.append(text)
        if code:
            pieces.append(f"```{language}\n{code}\n```")
        if output.strip():
            pieces.append(f"```text\n{shortened(output)}\n```")
    return "\n\n".join(pieces) + "\n"


def script_page(program, name, script, environment):
    parts = paragraphs(script)
    commands = "set -euo pipefail\n" + "".join(f"echo '{MARK}'\n{code}\n" for _, code in parts)
    printed = outputs(program, name, ["bash", "-c"], commands, environment) if program.exists() else []
    title, _, text = parts[0][0].partition("\n")
    parts[0] = (f"# {title}\n\n{text.strip()}", "")
    return page(parts, "bash", printed)


def notebook_page(program, name, notebook, python, environment):
    parts = cells(notebook)
    commands = "".join(f"print('{MARK}', flush=True)\n{code}\n" for _, code in parts)
    return page(parts, "python", outputs(program, name, [python, "-c"], commands, environment) if program.exists() else [])


def write(root, source, build):
    """Writes docs/examples/NAME.md, and NAME-notebook.md if it has a notebook, and points docs/examples.md there."""
    program = build / "sheaf"
    environment = {"PYTHONPATH": str(build / "python"), "R_LIBS": str(build / "r/library"), "PKG_CONFIG_PATH": str(build / "r/prefix/lib/pkgconfig")}
    listed = source / "docs/examples.md"
    text = listed.read_text()
    names = re.findall(r"\(\.\./examples/stories/([a-z-]+)/run\.sh\)", text)
    pages = []
    (source / "docs/examples").mkdir()

    def write_page(name, file, made, others):
        links = ", ".join(f"[{other.name}]({file.parent.name}-{other.name})" for other in others)
        (source / f"docs/examples/{name}.md").write_text(f"{made}\nThe files: {links}. `sheaf example {file.parent.name}` writes them with the data.\n")
        pages.append(f"examples/{name}")
        return text.replace(f"(../examples/stories/{file.parent.name}/{file.name})", f"(examples/{name}.md)")

    for name in names:
        folder = root / "examples/stories" / name
        files = sorted(folder.glob("run.*"))
        for file in files:
            shutil.copy(file, source / f"docs/examples/{name}-{file.name}")
        text = write_page(name, folder / "run.sh", script_page(program, name, (folder / "run.sh").read_text(), environment), files)
        notebook = folder / "run.ipynb"
        if notebook.exists():
            text = write_page(f"{name}-notebook", notebook, notebook_page(program, name, notebook.read_text(), sys.executable, environment), files)
    listed.write_text(text + "\n```{toctree}\n:hidden:\n\n" + "\n".join(pages) + "\n```\n")
