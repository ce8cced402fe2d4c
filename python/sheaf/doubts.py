"""What may mislead in a dataset, before anything is trained on it."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import type_of_target

from . import _core
from ._base import Array, in_own_words
from ._compat import check_matrix, read_frame
from ._data import class_names, is_on_gpu, listener, make_dataset

__all__ = ["data_findings"]


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
