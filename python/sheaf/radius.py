"""Predictions by all training rows within a radius."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from ._base import Array, ProbabilityMixin, choice
from ._finding import FindsWithin
from .neighbors import Finder, GraphTransformer, KeepsClasses, KeepsNumbers

__all__ = ["RadiusNeighborsClassifier", "RadiusNeighborsRegressor", "RadiusNeighborsTransformer"]


class _Votes(FindsWithin, Finder):
    """Predicts by the rows within a radius.

    Parameters
    ----------
    radius : float
        How far rows that count may be.
    weights : {'uniform', 'distance'} or None
        How much each row counts: the same (None too), or 1 / distance.
    """

    weights: str

    def _check(self) -> None:
        super()._check()
        if callable(self.weights):
            raise ValueError("weights must be 'uniform' or 'distance', not a callable")
        choice("weights", self.weights, {None: "", "uniform": "", "distance": ""})

    def _votes(self, X: Any) -> Any:
        """How much each training row counts for each query: a sparse matrix."""
        self._check()  # users may change parameters after `fit`
        offsets, indices, distances = self._within(X)
        votes = np.ones(len(indices))
        if self.weights == "distance":
            query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            equal = distances == 0  # which decide alone
            decided = np.bincount(query, equal, minlength=len(offsets) - 1) > 0
            with np.errstate(divide="ignore"):
                votes = np.where(decided[query], equal, 1 / distances)
        return sparse.csr_matrix((votes, indices, offsets), shape=(len(offsets) - 1, self.n_samples_fit_))


class RadiusNeighborsClassifier(ProbabilityMixin, KeepsClasses, ClassifierMixin, _Votes):  # type: ignore[misc]
    """The class that most of the rows within a radius have.

    Parameters
    ----------
    radius : float, default=1.0
        How far rows that vote may be.
    outlier_label : label or 'most_frequent', default=None
        The class of rows without neighbours; None: such rows are an error.

    Attributes
    ----------
    outlier_label_ : label
        The class of rows without neighbours.

    Examples
    --------
    >>> from sheaf import RadiusNeighborsClassifier
    >>> model = RadiusNeighborsClassifier(radius=1.5).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[2.1]]), model.predict_proba([[1.0]]).round(2)
    (array([1]), array([[0.67, 0.33]]))
    """

    _least_classes = 1

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        outlier_label: Any = None,
        metric_params: Any = None,
        n_jobs: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.outlier_label = outlier_label
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _train(self, X: Any, codes: Array, sample_weight: None) -> None:
        self._check()
        self._is_of = np.eye(len(self.classes_))[codes]
        self.outlier_label_ = self._read_outlier_label(codes)
        self._keep_fitted(X)

    def _read_outlier_label(self, codes: Array) -> Any:
        if isinstance(self.outlier_label, str) and self.outlier_label == "most_frequent":
            return self.classes_[np.bincount(codes).argmax()]
        if self.outlier_label is None:
            return None
        if np.ndim(self.outlier_label) > 0 or np.asarray(self.outlier_label).dtype.kind not in _KINDS[self.classes_.dtype.kind]:
            raise TypeError(f"outlier_label must be a label of the type of those of y, not {self.outlier_label!r}")
        return self.outlier_label

    def _class_labels(self, X: Any) -> Array:
        shares, outliers = self._shares_and_outliers(X)
        labels: Array = self.classes_[shares.argmax(axis=1)]
        if outliers.any():
            labels = labels.astype(np.result_type(labels, np.asarray(self.outlier_label_)))
            labels[outliers] = self.outlier_label_
        return labels

    def _class_shares(self, X: Any) -> Array:
        shares, outliers = self._shares_and_outliers(X)
        if outliers.any():
            place = np.flatnonzero(self.classes_ == self.outlier_label_)
            if len(place) == 0:
                warnings.warn(
                    f"Outlier label {self.outlier_label_} is not in training classes. All class probabilities of "
                    "outliers will be assigned with 0.",
                    stacklevel=3,
                )
            shares[np.ix_(outliers, place)] = 1
        return shares

    def _shares_and_outliers(self, X: Any) -> tuple[Array, Array]:
        check_is_fitted(self)
        votes = self._votes(X) @ self._is_of
        sums = votes.sum(axis=1)
        outliers = np.flatnonzero(sums == 0)
        if len(outliers) and self.outlier_label_ is None:
            raise ValueError(
                f"No neighbors found for test samples {outliers}, you can try using larger radius, giving a label for "
                "outliers, or considering removing them from your dataset."
            )
        return votes / np.where(sums == 0, 1, sums)[:, None], sums == 0


#: Types of labels that stand beside each other.
_KINDS = {kind: group for group in ("biuf", "US", "O") for kind in group}
_KINDS["O"] = "OUS"


class RadiusNeighborsRegressor(KeepsNumbers, RegressorMixin, _Votes):  # type: ignore[misc]
    """The mean number of the rows within a radius.

    Parameters
    ----------
    radius : float, default=1.0
        How far rows that count may be.

    Examples
    --------
    >>> from sheaf import RadiusNeighborsRegressor
    >>> RadiusNeighborsRegressor(radius=1.0).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]])
    array([0.5])
    """

    def __init__(
        self,
        radius: float = 1.0,
        *,
        weights: Any = "uniform",
        algorithm: str = "auto",
        leaf_size: int = 30,
        p: float = 2,
        metric: Any = "minkowski",
        metric_params: Any = None,
        n_jobs: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.radius = radius
        self.weights = weights
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.p = p
        self.metric = metric
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _train(self, X: Any, y: Array, sample_weight: None) -> None:
        self._check()
        self._y = y.astype(np.float64)
        self._keep_fitted(X)

    def _numbers(self, X: Any) -> Array:
        """The means; NaN for rows without neighbours."""
        check_is_fitted(self)
        votes = self._votes(X)
        sums = np.asarray(votes.sum(axis=1)).ravel()
        if np.any(sums == 0):
            warnings.warn(
                "One or more samples have no neighbors within specified radius; predicting NaN.", stacklevel=3
            )
        with np.errstate(invalid="ignore"):
            means: Array = votes @ self._y / sums
        return means


class RadiusNeighborsTransformer(FindsWithin, GraphTransformer):
    """Rows as the training rows within a radius: a sparse matrix, for estimators that take distances or graphs.

    Parameters
    ----------
    mode : {'distance', 'connectivity'}, default='distance'
        What stands for a neighbour: its distance, or 1.
    radius : float, default=1.0
        How far they may be.

    Examples
    --------
    >>> from sheaf import RadiusNeighborsTransformer
    >>> RadiusNeighborsTransformer(radius=2.0).fit_transform([[0.0], [1.0], [3.0]]).toarray()
    array([[0., 1., 0.],
           [1., 0., 2.],
           [0., 2., 0.]])
    """

    def __init__(
        self,
        *,
        mode: str = "distance",
        radius: float = 1.0,
        algorithm: str = "auto",
        leaf_size: int = 30,
        metric: Any = "minkowski",
        p: float = 2,
        metric_params: Any = None,
        n_jobs: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.mode = mode
        self.radius = radius
        self.algorithm = algorithm
        self.leaf_size = leaf_size
        self.metric = metric
        self.p = p
        self.metric_params = metric_params
        self.n_jobs = n_jobs
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _graph(self, X: Any) -> Any:
        return self.radius_neighbors_graph(X, mode=self.mode)
