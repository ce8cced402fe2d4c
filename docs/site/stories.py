"""Pages of worked examples: the comments of examples/stories/NAME/run.sh as text, its commands as code, with what they print."""

import os
import re
import shutil
import subprocess
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


def outputs(program, name, parts):
    """What each part prints, in a folder that `sheaf example` has written; nothing if the example cannot run here."""
    with tempfile.TemporaryDirectory() as scratch:
        environment = dict(os.environ, PATH=f"{program.parent}:{os.environ['PATH']}")
        subprocess.run([program, "example", name, "--quiet"], cwd=scratch, check=True, env=environment)
        script = "set -euo pipefail\n" + "".join(f"echo '{MARK}'\n{code}\n" for _, code in parts)
        ended = subprocess.run(["bash", "-c", script], cwd=Path(scratch) / name, capture_output=True, text=True, errors="replace", env=environment)
    if ended.returncode != 0:
        return [""] * len(parts)
    return ended.stdout.split(MARK + "\n")[1:]


def shortened(text):
    lines = text.rstrip().splitlines()
    return "\n".join(lines if len(lines) <= MOST_LINES else [*lines[:MOST_LINES], "..."])


def page(script, printed):
    (introduction, _), *rest = paragraphs(script)
    title, _, text = introduction.partition("\n")
    pieces = [f"# {title}", text.strip()]
    for (text, code), output in zip(rest, printed[1:]):
        pieces.append(text)
        if code:
            pieces.append(f"```bash\n{code}\n```")
        if output.strip():
            pieces.append(f"```text\n{shortened(output)}\n```")
    return "\n\n".join(pieces) + "\n"


def write(root, source, build):
    """Writes docs/examples/NAME.md and points docs/examples.md there."""
    program = build / "sheaf"
    listed = source / "docs/examples.md"
    text = listed.read_text()
    names = re.findall(r"\(\.\./examples/stories/([a-z-]+)/run\.sh\)", text)
    (source / "docs/examples").mkdir()
    for name in names:
        folder = root / "examples/stories" / name
        script = (folder / "run.sh").read_text()
        parts = paragraphs(script)
        made = page(script, outputs(program, name, parts) if program.exists() else [""] * len(parts))
        for other in sorted(folder.glob("run.*")):
            shutil.copy(other, source / f"docs/examples/{name}-{other.name}")
        links = ", ".join(f"[{other.name}]({name}-{other.name})" for other in sorted(folder.glob("run.*")))
        (source / f"docs/examples/{name}.md").write_text(f"{made}\nThe scripts: {links}. `sheaf example {name}` writes them with the data.\n")
        text = text.replace(f"(../examples/stories/{name}/run.sh)", f"(examples/{name}.md)")
    listed.write_text(text + "\n```{toctree}\n:hidden:\n\n" + "\n".join(f"examples/{name}" for name in names) + "\n```\n")
