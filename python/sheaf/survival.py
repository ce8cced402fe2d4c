"""Survival: Cox's proportional hazards."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d

from . import _core
from ._base import Array, Setting, SheafEstimator, choice, linear_values, number
from ._compat import check_weights, validate
from ._data import back, to_numpy

__all__ = ["CoxRegression"]


_SHAPES = (
    "y must be a structured array of events and times, or have two columns, the time and the event (1 or 0), or three, "
    "the start, the time and the event"
)


class _Survival(NamedTuple):
    """Rows as the C++ library takes them; empty: no row enters late, or all are one stratum."""

    times: Array
    events: Array
    entries: Array
    strata: Array


def _columns(y: Any) -> tuple[Array, Array, Array]:
    """Times, events and entries of a structured array, a data frame or an array of columns."""
    names = getattr(getattr(y, "dtype", None), "names", None)
    if names is not None:
        flags = [name for name in names if y.dtype[name].kind == "b"]
        numbers = [name for name in names if y.dtype[name].kind in "fiu"]
        if len(names) not in (2, 3) or len(flags) != 1 or len(numbers) != len(names) - 1:
            raise ValueError(
                "y must have a field of bool, the event, and one of numbers, the time, or two, the start and the time"
            )
        columns = [np.asarray(y[name], dtype=np.float64) for name in (*numbers, *flags)]
    else:
        table = np.asarray(to_numpy(y), dtype=np.float64)
        if table.ndim != 2 or table.shape[1] not in (2, 3):
            raise ValueError(f"{_SHAPES}; its shape is {table.shape}")
        columns = list(table.T)
    return columns[-2], columns[-1], columns[0] if len(columns) == 3 else np.empty(0)


def _read_survival(y: Any, strata: Any = None) -> _Survival:
    time, event, entry = _columns(y)
    late = len(entry) > 0
    if not np.all(np.isfinite(time)) or (not late and np.any(time < 0)):
        raise ValueError("times must be finite numbers of 0 or more")
    if not np.all((event == 0) | (event == 1)):
        raise ValueError("events must be 1, where the event came, or 0, where it did not")
    if late and not np.all(np.isfinite(entry)):
        raise ValueError("starts must be finite numbers")
    if late and np.any(entry >= time):
        row = int(np.flatnonzero(entry >= time)[0])
        raise ValueError(f"row {row} of y starts at {entry[row]:g}, which must be before its time, {time[row]:g}")
    numbers = np.empty(0, dtype=np.int32) if strata is None else _numbered(strata, "strata", len(time))
    return _Survival(np.ascontiguousarray(time), event.astype(np.uint8), np.ascontiguousarray(entry), numbers)


def _numbered(groups: Any, parameter: str, rows: int) -> Array:
    """The number of each row's group, from 0."""
    labels = column_or_1d(to_numpy(groups))
    if len(labels) != rows:
        raise ValueError(f"{parameter} has {len(labels)} entries for {rows} rows")
    if any(label is None or label != label for label in labels.tolist()):
        raise ValueError(f"{parameter} has missing values")
    numbers: Array = np.unique(labels, return_inverse=True)[1].astype(np.int32)
    return numbers


_ERRORS = {"auto": "auto", "observed": "observed", "HC0": "hc0", "HC1": "hc1", "cluster": "cluster"}


class CoxRegression(SheafEstimator):
    """Cox's regression of survival times: the logarithm of the hazard is linear in the features.

    Minimises minus the logarithm of the partial likelihood, divided by the rows, plus
    ``alpha * (l1_ratio * |w| + (1 - l1_ratio) / 2 * w'w)``. There is no intercept. Rows may enter late, and strata have
    a baseline hazard of their own.

    Parameters
    ----------
    alpha : float, default=0.0
        How much the penalty weighs; 0: none, which needs more rows than features.
    l1_ratio : float, default=0.0
        The share of the lasso's penalty; 0: ridge.
    ties : {'efron', 'breslow'}, default='efron'
        What becomes of events at the same time.
    std_errors : {'auto', 'observed', 'HC0', 'HC1', 'cluster'}, default='auto'
        What the standard errors of a model without a penalty come from: the observed information; the sandwich
        estimator, which holds where the model is wrong ('HC1': for few rows); or the same of groups of rows, given to
        `fit`. 'auto': 'cluster' where there are groups, else 'observed'.
    max_iter : int, default=1000
        Most steps, or passes over the features.
    tol : float, default=1e-9
        How closely it is trained: the share of the first gradient that is left, or of the objective that may be missing.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of features: logarithms of hazard ratios.
    std_errors_ : ndarray of shape (n_features,) or None
        Standard errors of the weights, NaN where the rows do not determine one; None with a penalty, which biases
        weights on purpose, and of more than 1,500 features.
    covariance_ : ndarray of shape (n_features, n_features) or None
        The covariance of the weights, likewise.
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
        std_errors: str = "auto",
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
        self.std_errors = std_errors
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

    def _target_settings(self, y: Any, sample_weight: Any) -> Iterable[Setting]:
        errors = choice("std_errors", self.std_errors, _ERRORS)
        if not self._is_net():
            yield Setting("standard-errors", "cluster" if y[1] is not None else errors, "std_errors")

    def _set_target(self, dataset: _core.Dataset, y: Any) -> None:
        dataset.set_survival(*y[0])
        if y[1] is not None:
            dataset.set_groups(y[1])

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, strata: Any = None, cluster: Any = None) -> Any:
        """Train on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. C-ordered arrays of float32 or float64 and CSR matrices are used without a copy.
        y : structured array of shape (n_samples,), or array-like of shape (n_samples, 2) or (n_samples, 3)
            A field of bool, whether the event came, and one of times; or the time and the event (1 or 0) of each row.
            Rows that enter late have the start before the time: they are at risk after it, and up to the time.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; None: 1.
        strata : array-like of shape (n_samples,), default=None
            Groups of rows with a baseline hazard of their own: only rows of one stratum are compared.
        cluster : array-like of shape (n_samples,), default=None
            Groups of rows that are not independent, as those of one patient: standard errors allow for it.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate(self, X)
        target = _read_survival(y, strata)
        check_consistent_length(X, target.times)
        groups = None if cluster is None else _numbered(cluster, "cluster", len(target.times))
        if groups is not None and (self.alpha != 0 or self.std_errors not in ("auto", "cluster")):
            raise ValueError("cluster is for standard errors, of models with alpha=0 and std_errors='auto' or 'cluster'")
        if groups is None and self.std_errors == "cluster":
            raise ValueError("std_errors='cluster' needs cluster, the group of each row")
        self._train(X, (target, groups), check_weights(sample_weight, X))
        return self

    def _keep_fitted(self, X: Any) -> None:
        self.coef_ = self._model.coefficients()[0][:, 0].copy()
        self.n_iter_ = int(np.maximum(self._model.iterations(), 1)[0])
        found = self._model.statistics() or {}
        errors, covariance = found.get("errors"), found.get("covariance")
        self.std_errors_ = self.covariance_ = None
        if errors is None or covariance is None:
            return
        unknown = errors[:, 0] == 0
        self.std_errors_ = np.where(unknown, np.nan, errors[:, 0])
        self.covariance_ = np.where(unknown | unknown[:, None], np.nan, covariance)

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

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, strata: Any = None) -> float:
        """The concordance (Harrell's C).

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : structured array of shape (n_samples,), or array-like of shape (n_samples, 2) or (n_samples, 3)
            As in :meth:`fit`.
        sample_weight : array-like of shape (n_samples,), default=None
            Pairs count by the products of their rows' weights; None: 1.
        strata : array-like of shape (n_samples,), default=None
            Rows of one group alone are compared.

        Returns
        -------
        score : float
            Of pairs of rows of which one had its event first while the other was at risk, the share in which it has the
            larger hazard.
        """
        risk = np.ascontiguousarray(to_numpy(self.predict(X)), dtype=np.float64)
        weights = check_weights(sample_weight, X)
        return _core.concordance(risk, *_read_survival(y, strata), np.empty(0) if weights is None else weights)
