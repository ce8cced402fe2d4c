"""Runs the code blocks of a page, one after the other in one process, as a reader would.

    run_blocks.py LANGUAGE PAGE -- COMMAND...      the command reads the code from a file that is its last argument

Blocks are those that open with ```LANGUAGE. They run in an empty folder.
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def main():
    language, page, _, *command = sys.argv[1:]
    found = blocks(Path(page).read_text(), language)
    if not found:
        sys.exit(f"{page}: no block of {language}")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"blocks.{language}"
        file.write_text("\n".join(found))
        ended = subprocess.run([*command, str(file)], cwd=folder, capture_output=True, text=True)
    print(ended.stdout)
    if ended.returncode != 0:
        sys.exit(f"{page}: its blocks ended with {ended.returncode}\n{ended.stderr}")


if __name__ == "__main__":
    main()
