"""Datasets from files: arrays over the mapping of a .sheaf file."""

import pathlib

import numpy as np
import pytest
import sheaf
from scipy import sparse

GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "formats"


def test_a_sheaf_file_is_viewed_and_not_copied():
    data = sheaf.read_data(GOLDEN / "table.sheaf")
    assert data.data.shape == (6, 4)
    assert data.data[4, 3] == 12345.678
    assert not data.data.flags.owndata and not data.data.flags.writeable
    assert list(data.target) == ["sick", "healthy"] * 3
    assert list(data.groups) == ["p1", "p1", "p2", "p2", "p3", "p3"]
    assert data.row_names[5] == "s6"
    X = data.data
    del data
    assert X.sum() == pytest.approx(np.memmap(GOLDEN / "table.sheaf", "<f8", "r", offset=4096, shape=(6, 4)).sum())


def test_sparse_rows_keep_their_precision():
    data = sheaf.read_data(GOLDEN / "counts.sheaf")
    assert sparse.issparse(data.data) and data.data.dtype == np.float32
    assert not data.data.data.flags.owndata
    assert data.data[0, 3] == 250 and data.data.nnz == 12
    assert list(data.target) == [30.5, 41, 22, 57, 63, 35]
    assert sheaf.read_data(GOLDEN / "counts.sheaf", precision="float64").data.dtype == np.float64


def test_other_formats_and_options():
    data = sheaf.read_data(GOLDEN / "expected.csv", label="age", ignore="id,subject,disease")
    assert list(data.target) == [30.5, 41, 22, 57, 63, 35]
    np.testing.assert_array_equal(data.data, sheaf.read_data(GOLDEN / "table.sheaf").data)
    with pytest.raises(ValueError, match="did you mean"):
        sheaf.read_data(GOLDEN / "table.sheaf", label="geneB")


def test_damage_is_an_error():
    with pytest.raises(ValueError, match="is damaged"):
        sheaf.read_data(GOLDEN.parents[1] / "invalid" / "truncated.sheaf")
