"""The pages of the package are made without a warning, and speak of every estimator."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
from conftest import REPOSITORY

import sheaf


def test_pages_are_made_without_warnings(tmp_path):
    for needed in ("sphinx", "numpydoc"):
        if importlib.util.find_spec(needed) is None:
            pytest.skip(f"{needed} is not there")
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-d", str(tmp_path / "trees"),
               str(REPOSITORY / "python/docs"), str(tmp_path / "pages")]
    made = subprocess.run(command, capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    page = (tmp_path / "pages/index.html").read_text()
    for name in sheaf.__all__:
        if isinstance(getattr(sheaf, name), type):
            assert f'id="sheaf.{name}"' in page, name
