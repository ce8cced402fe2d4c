"""Datasets from files: arrays over the mapping of a .sheaf file."""

import pathlib

import numpy as np
import pytest
import sheaf
from scipy import sparse

GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "formats"


def test_a_sheaf_file_is_viewed_and_not_copied():
    data = sheaf.load(GOLDEN / "table.sheaf")
    assert data.X.shape == (6, 4)
    assert data.X[4, 3] == 12345.678
    assert not data.X.flags.owndata and not data.X.flags.writeable
    assert list(data.y) == ["sick", "healthy"] * 3
    assert list(data.groups) == [0, 0, 1, 1, 2, 2]
    assert data.row_names[5] == "s6"
    X = data.X
    del data
    assert X.sum() == pytest.approx(np.memmap(GOLDEN / "table.sheaf", "<f8", "r", offset=4096, shape=(6, 4)).sum())


def test_sparse_rows_keep_their_precision():
    data = sheaf.load(GOLDEN / "counts.sheaf")
    assert sparse.issparse(data.X) and data.X.dtype == np.float32
    assert not data.X.data.flags.owndata
    assert data.X[0, 3] == 250 and data.X.nnz == 12
    assert list(data.y) == [30.5, 41, 22, 57, 63, 35]
    assert sheaf.load(GOLDEN / "counts.sheaf", precision="float64").X.dtype == np.float64


def test_other_formats_and_options():
    data = sheaf.load(GOLDEN / "expected.csv", label="age", ignore="id,subject,disease")
    assert list(data.y) == [30.5, 41, 22, 57, 63, 35]
    np.testing.assert_array_equal(data.X, sheaf.load(GOLDEN / "table.sheaf").X)
    with pytest.raises(ValueError, match="did you mean"):
        sheaf.load(GOLDEN / "table.sheaf", label="geneB")


def test_damage_is_an_error():
    with pytest.raises(ValueError, match="is damaged"):
        sheaf.load(GOLDEN.parents[1] / "invalid" / "truncated.sheaf")
