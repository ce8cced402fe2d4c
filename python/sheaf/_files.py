"""Datasets from files, as NumPy and SciPy hold them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from . import _core

# docs/formats.md, "The layout of .sheaf files": the first bytes, and where the number of bytes of a value stands.
_MAGIC = b"\x89SHEAF\r\n"
_ELEMENT_BYTES = slice(88, 92)


@dataclass(frozen=True)
class Dataset:
    """A dataset as estimators take it; arrays of a .sheaf file view the file and can not be written to."""

    X: Any
    """An array, or a sparse matrix of compressed rows. NaN is a missing value."""
    y: NDArray[Any] | None
    """Names of classes, or numbers; None: the file has no label."""
    feature_names: list[str]
    """Empty: features are named by position."""
    row_names: list[str]
    target_name: str
    groups: NDArray[Any] | None
    sample_weight: NDArray[Any] | None


def _is_single(path: str) -> bool:
    with open(path, "rb") as file:
        header = file.read(128)
    return header.startswith(_MAGIC) and int.from_bytes(header[_ELEMENT_BYTES], "little") == 4


def _matrix(found: dict[str, Any]) -> Any:
    if "offsets" not in found:
        return found["values"]
    matrix = sparse.csr_matrix(found["shape"], dtype=found["values"].dtype)
    offsets = found["offsets"]
    small = offsets[-1] <= np.iinfo(np.int32).max  # SciPy wants indices and offsets of one type
    matrix.data = found["values"]
    matrix.indices = found["indices"] if small else found["indices"].astype(np.int64)
    matrix.indptr = offsets.astype(np.int32) if small else offsets
    return matrix


def _labels(found: dict[str, Any]) -> NDArray[Any] | None:
    if found["is_classification"]:
        names: NDArray[Any] = np.asarray(found["class_names"])[found["classes"]]
        return names
    numbers: NDArray[Any] = found["numbers"]
    return numbers if len(numbers) else None


def load(path: str | os.PathLike[str], *, precision: str | None = None, **options: str) -> Dataset:
    """Reads a dataset in any format that Sheaf reads. A .sheaf file is mapped: its values are not copied, and it may be
    larger than the memory.

    precision: "float32" or "float64"; None: that of a .sheaf file, else float64.
    options: those of reading, by their names on the command line with _ for -: label="outcome", verify="none".
    """
    path = os.fspath(path)
    single = _is_single(path) if precision is None else np.dtype(precision) == np.float32
    found = _core.read_file(path, single, {name.replace("_", "-"): str(value) for name, value in options.items()})
    groups, weights = found["groups"], found["row_weights"]
    return Dataset(
        _matrix(found),
        _labels(found),
        found["feature_names"],
        found["row_names"],
        found["target_name"],
        groups if len(groups) else None,
        weights if len(weights) else None,
    )
