"""Datasets from files of all formats, as NumPy and SciPy hold them, and what may mislead in data."""

from __future__ import annotations

import os
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import Bunch, column_or_1d
from sklearn.utils.multiclass import type_of_target

from . import _core
from ._base import Array, in_own_words
from ._compat import check_matrix, read_frame
from ._data import class_names, is_on_gpu, listener, make_dataset

# docs/formats.md, "The layout of .sheaf files": the first bytes, and where the number of bytes of a value stands.
_MAGIC = b"\x89SHEAF\r\n"
_ELEMENT_BYTES = slice(88, 92)


def read_data(path: Any, *, precision: str | None = None, n_threads: int | None = None, **options: Any) -> Bunch:
    """Read a dataset: .sheaf, LIBSVM, CSV, ARFF, Matrix Market, NumPy, BIOM, AnnData, 10x, Excel, compressed or not.

    Rows are samples, whatever the file's own order. Values are not copied, and can't be written to; a .sheaf file is
    mapped, and may be larger than the memory.

    Parameters
    ----------
    path : str or path
        The file.
    precision : {'float32', 'float64'}, default=None
        Of the values; None: that of a .sheaf file, else 'float64'.
    n_threads : int, default=None
        CPU threads; None: all.
    **options : str, int, bool or list of str
        Options of reading by the names of the command-line program, with `_` for `-`: `label` is the column to predict
        ('none': there is none), `metadata` a table with more columns of the rows, joined by their ids (`id`),
        `annotations` a table of texts about the features, `event`, `entry` and `strata` columns of survival, `group`,
        `order`, `weight_column` and `split_column` are columns about the rows, `layer` and `sheet` parts of the file.
        Missing values are NaN, unless `missing` says otherwise.

    Returns
    -------
    data : Bunch
        `data` (an array, or a CSR matrix of a sparse file), `target` (labels, numbers, a column for each of several
        targets, or times and events with, before them, the starts of rows that enter late) or None, `target_name`,
        `feature_names`, `row_names`, `notes` on what reading decided, `levels` of nominal features, whose values are
        places in their lists; and what the file says of rows: `groups`, `sample_weight`, `order`, `folds`, and of
        survival `strata`; `annotations`: columns of text about the features (taxonomy, gene symbol); None: nothing.

    Examples
    --------
    >>> import tempfile
    >>> from sheaf import read_data
    >>> with tempfile.NamedTemporaryFile("w", suffix=".csv") as file:
    ...     _ = file.write("petal,sepal,kind\\n1.4,5.1,setosa\\n4.7,7,versicolor\\n1.3,4.9,setosa\\n")
    ...     file.flush()
    ...     flowers = read_data(file.name, label="kind")
    >>> flowers.data.shape, flowers.target.tolist(), flowers.feature_names
    ((3, 2), ['setosa', 'versicolor', 'setosa'], ['petal', 'sepal'])
    """
    settings = {name.replace("_", "-"): _text_of(value) for name, value in options.items() if value is not None}
    surroundings = {} if n_threads is None else {"threads": str(n_threads)}
    path = os.fspath(path)
    single = _is_single(path) if precision is None else np.dtype(precision) == np.float32
    found = _core.read(_core.Context(surroundings, listener(0)), path, single, settings)
    return Bunch(
        data=_matrix_of(found),
        target=_target_of(found),
        target_name=found.get("label"),
        feature_names=found["names"] or None,
        row_names=found.get("row_names"),
        levels=found.get("nominal"),
        groups=_named(found, "groups", "group_names"),
        sample_weight=found.get("weights"),
        order=found.get("order"),
        folds=found.get("folds"),
        strata=found.get("strata"),
        annotations=found.get("annotations"),
        notes=found["notes"],
    )


def _text_of(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ",".join(map(str, value)) if isinstance(value, (list, tuple)) else str(value)


def _is_single(path: str) -> bool:
    """Whether it is a .sheaf file of float32. What is wrong with a file, the library says."""
    try:
        with open(path, "rb") as file:
            header = file.read(128)
    except OSError:
        return False
    return header.startswith(_MAGIC) and int.from_bytes(header[_ELEMENT_BYTES], "little") == 4


def _matrix_of(found: dict[str, Any]) -> Any:
    if "offsets" not in found:
        return found["values"]
    matrix = sparse.csr_matrix((found["rows"], found["columns"]), dtype=found["values"].dtype)
    offsets = found["offsets"]
    small = offsets[-1] <= np.iinfo(np.int32).max  # SciPy wants indices and offsets of one type
    matrix.data = found["values"]
    matrix.indices = found["indices"] if small else found["indices"].astype(np.int64)
    matrix.indptr = offsets.astype(np.int32) if small else offsets
    return matrix


def _named(found: dict[str, Any], places: str, names: str) -> Any:
    return np.array(found[names])[found[places]] if places in found else None


def _target_of(found: dict[str, Any]) -> Any:
    if "events" in found:
        late = [found["entries"]] if "entries" in found else []
        return np.column_stack([*late, found["numbers"], found["events"]])
    if "further" in found:
        return np.column_stack([found["numbers"], *found["further"].values()])
    return found["numbers"] if "numbers" in found else _named(found, "classes", "levels")


def data_findings(X: Any, y: Any = None, *, n_threads: int | None = None) -> list[dict[str, str]]:
    """Find what may mislead in a dataset, as the command-line program does before it trains.

    A column that alone determines the label, codes for missing values, dates as numbers, names that differ in letter
    case only, features that never change, rare classes. `SheafSearchCV`, `AutoClassifier` and `AutoRegressor` look by
    themselves.

    Parameters
    ----------
    X : {array-like, sparse matrix} of shape (n_samples, n_features)
        The rows; NaN is a missing value.
    y : array-like of shape (n_samples,), default=None
        The classes, or the numbers.
    n_threads : int, default=None
        CPU threads; None: all.

    Returns
    -------
    findings : list of dict
        `level` ('warning' or 'note'), `code`, which stays the same between releases, and `message`.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import data_findings
    >>> y = np.arange(20) % 2
    >>> X = np.column_stack([np.sin(np.arange(20.0)), np.ones(20)])
    >>> [(one["level"], one["code"]) for one in data_findings(X, y)]
    [('note', 'constant-features')]
    """
    X = read_frame(X)
    names = [str(name) for name in getattr(X, "columns", ())]
    X = check_matrix(X)
    context = _core.Context({} if n_threads is None else {"threads": str(n_threads)}, listener(0))
    dataset = make_dataset(context, X, names=names if len(set(names)) == len(names) else (), missing=True)
    if y is not None:
        y = column_or_1d(y, warn=True)
        if len(y) != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} rows, and y has {len(y)}")
        if type_of_target(y) == "continuous":
            dataset.set_numbers(np.ascontiguousarray(y, dtype=np.float64))
        else:
            classes, codes = np.unique(y, return_inverse=True)
            dataset.set_classes(codes.astype(np.int32), class_names(classes))
    return findings_of(context, dataset)


def findings_of(context: _core.Context, dataset: _core.Dataset) -> list[dict[str, str]]:
    """In the words of this package."""
    return [{**one, "message": in_own_words(one["message"])} for one in _core.findings(context, dataset)]


def warn_of(context: _core.Context, dataset: _core.Dataset, X: Array) -> list[str]:
    """Warns of what may mislead in the rows X, and returns the notes. Rows on a GPU stay there, and are not looked at."""
    notes = []
    for one in [] if is_on_gpu(X) else findings_of(context, dataset):
        if one["level"] == "warning":
            warnings.warn(one["message"], UserWarning, stacklevel=4)
        else:
            notes.append(one["message"])
    return notes
