"""Survival: Cox's proportional hazards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from . import _core
from ._base import Array, Setting, SheafEstimator, choice, linear_values, number
from ._compat import check_weights, validate
from ._data import back, to_numpy

__all__ = ["CoxRegression"]


def _read_survival(y: Any) -> tuple[Array, Array]:
    """Times and events of a structured array, a data frame or an array of two columns."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        flags = [name for name in names if y.dtype[name].kind == "b"]
        numbers = [name for name in names if y.dtype[name].kind in "fiu"]
        if len(names) != 2 or len(flags) != 1 or len(numbers) != 1:
            raise ValueError("y must have a field of bool, the event, and one of numbers, the time")
        time, event = np.asarray(y[numbers[0]], dtype=np.float64), np.asarray(y[flags[0]], dtype=np.float64)
    else:
        table = np.asarray(to_numpy(y), dtype=np.float64)
        if table.ndim != 2 or table.shape[1] != 2:
            raise ValueError(
                "y must be a structured array of events and times, or have two columns, the time and the event (1 or "
                f"0); its shape is {table.shape}"
            )
        time, event = table[:, 0], table[:, 1]
    if not np.all(np.isfinite(time)) or np.any(time < 0):
        raise ValueError("times must be finite numbers of 0 or more")
    if not np.all((event == 0) | (event == 1)):
        raise ValueError("events must be 1, where the event came, or 0, where it did not")
    return np.ascontiguousarray(time), np.ascontiguousarray(event, dtype=np.uint8)


class CoxRegression(SheafEstimator):
    """Cox's regression of survival times: the logarithm of the hazard is linear in the features.

    Minimises minus the logarithm of the partial likelihood, divided by the rows, plus
    ``alpha * (l1_ratio * |w| + (1 - l1_ratio) / 2 * w'w)``. There is no intercept.

    Parameters
    ----------
    alpha : float, default=0.0
        How much the penalty weighs; 0: none, which needs more rows than features.
    l1_ratio : float, default=0.0
        The share of the lasso's penalty; 0: ridge.
    ties : {'efron', 'breslow'}, default='efron'
        What becomes of events at the same time.
    max_iter : int, default=1000
        Most steps, or passes over the features.
    tol : float, default=1e-9
        How closely it is trained: the share of the first gradient that is left, or of the objective that may be missing.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of features: logarithms of hazard ratios.
    n_iter_ : int
        Steps taken.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import CoxRegression
    >>> X = np.array([[0.0], [1.0], [0.0], [1.0], [1.0], [0.0]])
    >>> y = np.array([[5, 1], [2, 1], [4, 0], [3, 1], [6, 0], [7, 1]])
    >>> model = CoxRegression().fit(X, y)
    >>> model.coef_.round(2)
    array([1.07])
    >>> round(model.score(X, y), 2)
    0.73
    """

    def __init__(
        self,
        alpha: float = 0.0,
        *,
        l1_ratio: float = 0.0,
        ties: str = "efron",
        max_iter: int = 1000,
        tol: float = 1e-9,
        verbose: int = 0,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.ties = ties
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _is_net(self) -> bool:
        return self.alpha != 0 and self.l1_ratio != 0

    def _model_kind(self) -> str:
        return "elastic-net-cox" if self._is_net() else "glm"

    def _settings(self) -> Iterable[Setting]:
        if self._is_net():
            yield number("l1-ratio", self.l1_ratio, "l1_ratio")
        else:
            yield Setting("family", "cox", "family")
        yield number("alpha", self.alpha, "alpha")
        yield Setting("ties", choice("ties", self.ties, {"efron": "efron", "breslow": "breslow"}), "ties")
        yield number("tolerance", self.tol, "tol")
        yield number("max-epochs" if self._is_net() else "max-iterations", self.max_iter, "max_iter")

    def _set_target(self, dataset: _core.Dataset, y: Any) -> None:
        dataset.set_survival(*y)

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. C-ordered arrays of float32 or float64 and CSR matrices are used without a copy.
        y : structured array of shape (n_samples,), or array-like of shape (n_samples, 2)
            A field of bool, whether the event came, and one of times; or the time and the event (1 or 0) of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; None: 1.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate(self, X)
        target = _read_survival(y)
        check_consistent_length(X, target[0])
        self._train(X, target, check_weights(sample_weight, X))
        return self

    def _keep_fitted(self, X: Any) -> None:
        self.coef_ = self._model.coefficients()[0][:, 0].copy()
        self.n_iter_ = int(np.maximum(self._model.iterations(), 1)[0])

    def predict(self, X: Any) -> Array:
        """Predict the logarithm of each row's hazard, relative to a row of zeros.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        risk : ndarray of shape (n_samples,)
            The larger, the sooner the event is expected.
        """
        values: Array = back(linear_values(self, X), X)
        return values

    def score(self, X: Any, y: Any) -> float:
        """The concordance (Harrell's C).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : structured array of shape (n_samples,), or array-like of shape (n_samples, 2)
            As in :meth:`fit`.

        Returns
        -------
        score : float
            Of pairs of rows of which one had its event first, the share in which it has the larger hazard.
        """
        risk = np.ascontiguousarray(to_numpy(self.predict(X)), dtype=np.float64)
        return _core.concordance(risk, *_read_survival(y))
