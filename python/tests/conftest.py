"""Datasets of the tests."""

from __future__ import annotations

import functools
import lzma
import os
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_svmlight_file

REPOSITORY = Path(__file__).resolve().parents[2]
DEVICES = os.environ.get("SHEAF_TEST_DEVICES", "cpu").split(",")
DATA = Path(os.environ.get("SHEAF_DATA", REPOSITORY.parent / "shared/data"))


@functools.lru_cache(maxsize=None)
def read_data(name: str, part: str = "train"):
    """A dataset that lies beside the checkout; the test is skipped where it does not."""
    path = DATA / name / f"{part}.libsvm.xz"
    if not path.exists():
        pytest.skip(f"{path} is not there")
    with lzma.open(path) as file:
        return load_svmlight_file(file)


def read_dense(name: str, rows: int | None = None):
    X, y = read_data(name)
    return X[:rows].toarray(), y[:rows]


@pytest.fixture
def two_classes():
    """Rows of two classes that overlap."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(120, 8))
    y = (X[:, 0] + X[:, 1] + 0.5 * rng.normal(size=120) > 0).astype(int)
    return X, y
