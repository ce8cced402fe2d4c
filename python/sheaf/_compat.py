"""What differs between the releases of scikit-learn that the package works with, 1.2 to 1.9."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_array, check_consistent_length, validation

from ._arrow import is_arrow, named_columns
from ._data import is_on_gpu, to_numpy

_FLOATS = [np.float64, np.float32]
_FEW_VALUES = 4096


def validate(estimator: Any, X: Any, y: Any = "no_validation", **how: Any) -> Any:
    """X, or X and y, as the estimator reads them; n_features_in_ and feature_names_in_ are set or compared."""
    X = read_frame(X)
    if is_on_gpu(X):
        return _validate_on_gpu(estimator, X, y, how.get("reset", True))
    if not how.get("reset", True) and _is_plain(estimator, X):
        return X
    how.setdefault("accept_sparse", ["csr", "csc"])
    how.setdefault("dtype", _FLOATS)
    if how.pop("missing", False):
        how.update(finite_setting("allow-nan"))
    if hasattr(validation, "validate_data"):
        return validation.validate_data(estimator, X, y, **how)
    return estimator._validate_data(X, y, **how)


def _is_plain(estimator: Any, X: Any) -> bool:
    """Whether a few rows need no more than a look at their values: scikit-learn's checks take longer than predictions."""
    return (
        type(X) is np.ndarray
        and X.dtype in _FLOATS
        and X.ndim == 2
        and 0 < X.size <= _FEW_VALUES
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


def check_matrix(X: Any) -> Any:
    """The rows of data that no estimator has seen; NaN stands for a missing value."""
    if is_on_gpu(X):
        return X
    return check_array(X, accept_sparse=["csr", "csc"], dtype=_FLOATS, **finite_setting("allow-nan"))


def search_weighs_scores() -> bool:
    """Whether GridSearchCV hands sample_weight to scorers."""
    return hasattr(BaseSearchCV, "_check_scorers_accept_sample_weight")


def _validate_on_gpu(estimator: Any, X: Any, y: Any, reset: bool) -> Any:
    """What scikit-learn would ask of X, but for its values, which the library looks at."""
    if len(X.shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(X.shape)}D array instead")
    if not str(X.dtype).endswith(("float32", "float64")):
        raise ValueError(f"arrays on a GPU must be of type float32 or float64, not {X.dtype}")
    features = int(X.shape[1])
    if reset:
        estimator.n_features_in_ = features
    elif features != estimator.n_features_in_:
        raise ValueError(
            f"X has {features} features, but {type(estimator).__name__} is expecting "
            f"{estimator.n_features_in_} features as input"
        )
    if isinstance(y, str):
        return X
    labels = check_array(to_numpy(y), ensure_2d=False, dtype=None)
    check_consistent_length(np.empty(X.shape[0]), labels)
    return X, labels


def finite_setting(value: Any) -> dict[str, Any]:
    """What check_array calls its parameter about missing and infinite values."""
    new = "ensure_all_finite" in inspect.signature(validation.check_array).parameters
    return {"ensure_all_finite" if new else "force_all_finite": value}


def read_frame(X: Any) -> Any:
    """A data frame of any library (Polars, PyArrow ...) as one of pandas; anything else as it is."""
    if is_arrow(X):
        return named_columns(X)
    if not hasattr(X, "__dataframe__") or hasattr(X, "iloc"):
        return X
    from pandas.api.interchange import from_dataframe

    return from_dataframe(X)


def check_weights(sample_weight: Any, X: Any) -> Any:
    """Sample weights as an array of numbers of 0 or more; None stays None."""
    if sample_weight is None:
        return None
    rows = np.empty(X.shape[0]) if is_on_gpu(X) else X
    weights = validation._check_sample_weight(to_numpy(sample_weight), rows, dtype=np.float64)
    if np.any(weights < 0):
        raise ValueError("Negative values in data passed to `sample_weight`")
    if not np.any(weights > 0):
        raise ValueError("Sample weights must contain at least one non-zero number")
    return weights
