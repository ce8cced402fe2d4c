"""The command-line program: ``python -m sheaf``."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def main() -> None:
    """Becomes the program that lies in the package."""
    program = Path(__file__).with_name("bin") / "sheaf"
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
