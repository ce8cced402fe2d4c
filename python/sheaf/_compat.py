"""What differs between the releases of scikit-learn that the package works with, 1.2 to 1.9."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import validation

_FLOATS = [np.float64, np.float32]


def validate(estimator: Any, X: Any, y: Any = "no_validation", **how: Any) -> Any:
    """X, or X and y, as the estimator reads them; n_features_in_ and feature_names_in_ are set or compared."""
    how.setdefault("accept_sparse", ["csr", "csc"])
    how.setdefault("dtype", _FLOATS)
    if how.pop("missing", False):
        finite: Any = "allow-nan"
        how["ensure_all_finite" if _names_all_finite() else "force_all_finite"] = finite
    if hasattr(validation, "validate_data"):
        return validation.validate_data(estimator, X, y, **how)
    return estimator._validate_data(X, y, **how)


def _names_all_finite() -> bool:
    import inspect

    return "ensure_all_finite" in inspect.signature(validation.check_array).parameters


def check_weights(sample_weight: Any, X: Any) -> Any:
    """Sample weights as an array of numbers of 0 or more; None stays None."""
    if sample_weight is None:
        return None
    weights = validation._check_sample_weight(sample_weight, X, dtype=np.float64)
    if np.any(weights < 0):
        raise ValueError("Negative values in data passed to `sample_weight`")
    if not np.any(weights > 0):
        raise ValueError("all sample weights are 0, which leaves no row to train on")
    return weights
