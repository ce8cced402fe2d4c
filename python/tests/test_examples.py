"""The examples run."""

from __future__ import annotations

import subprocess
import sys

import pytest
from conftest import DATA, REPOSITORY

EXAMPLES = sorted((REPOSITORY / "examples/python").glob("*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_runs(path):
    if "FOLDER OF DATASETS" in path.read_text() and not DATA.exists():
        pytest.skip(f"{DATA} is not there")
    found = subprocess.run([sys.executable, str(path), str(DATA)], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    assert found.stdout
