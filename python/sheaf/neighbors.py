"""Nearest neighbours: votes, numbers and graphs of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ._base import (
    Array,
    Axis,
    PredictsClasses,
    PredictsNumbers,
    ProbabilityMixin,
    Setting,
    SheafClassifier,
    SheafRegressor,
    choice,
    number,
)
from ._compat import validate
from ._docs import Documented
from ._finding import FindsNeighbors, FindsWithin, KeepsRows, distance_settings

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor", "KNeighborsTransformer", "NearestNeighbors"]

VOTES = {None: "uniform", "uniform": "uniform", "distance": "inverse-distance", "gaussian": "gaussian"}


class Finder(Documented, KeepsRows, BaseEstimator):  # type: ignore[misc]
    """Trains by keeping rows, without copying them."""

    def fit(self, X: Any, y: Any = None) -> Any:
        """Keep the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : None
            Not used.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._check()
        self._keep_fitted(validate(self, X))
        return self

    def _check(self) -> None:
        """Checks the parameters."""
        self._check_distance()

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": []}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class NearestNeighbors(FindsNeighbors, FindsWithin, Finder):
    """The nearest training rows, or those within a radius.

    Neighbours are exact, whatever the precision of the data; of equally near rows the first comes first.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many.
    radius : float, default=1.0
        How far they may be, for `radius_neighbors`.

    Examples
    --------
    >>> from sheaf import NearestNeighbors
    >>> model = NearestNeighbors(n_neighbors=2, radius=1.2).fit([[0.0], [1.0], [3.0]])
    >>> model.kneighbors([[1.1]])[1]
    array([[1, 0]])
    >>> [near.tolist() for near in model.radius_neighbors([[1.1], [9.0]], return_distance=False)]
    [[1, 0], []]
    """

    def __init__(
        self,
        *,
        n_neighbors: int = 5,
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
        self.n_neighbors = n_neighbors
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


class _KeepsTarget:
    """Trains by keeping rows and what each of them has."""

    def _read_target(self, X: Any, y: Any) -> tuple[Any, Any]:
        """Both, validated; classes as their numbers."""
        raise NotImplementedError

    def fit(self, X: Any, y: Any) -> Any:
        """Keep the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row or, of a regressor, its number.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._train(*self._read_target(X, y), None)  # type: ignore[attr-defined]
        return self


class KeepsClasses(_KeepsTarget, PredictsClasses):
    """Keeps rows and their classes."""

    def _read_target(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = validate(self, X, y)
        return X, self._take_classes(y)


class KeepsNumbers(_KeepsTarget, PredictsNumbers):
    """Keeps rows and their numbers."""

    def _read_target(self, X: Any, y: Any) -> tuple[Any, Any]:
        return self._validated(X, y)


class _VotingMixin(FindsNeighbors):
    """Predicts by the votes of the nearest rows.

    Parameters
    ----------
    weights : {'uniform', 'distance', 'gaussian'} or None
        How much each row counts: the same (None too), 1 / distance, or exp(-(d / d_k)^2 / 2).
    """

    _kind = "knn"
    _squares_values = False
    _axes: ClassVar[Mapping[str, Axis]] = {
        "n_neighbors": Axis("k", whole=True),
        "weights": Axis("vote", lambda weights: choice("weights", weights, VOTES)),
    }
    _labels: str

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        weights: str = "uniform",
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
        self.n_neighbors = n_neighbors
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

    def _settings(self) -> Iterable[Setting]:
        self._check_distance()
        if callable(self.weights):
            raise ValueError(f"weights must be one of {', '.join(map(repr, VOTES))}, not a callable")
        yield number("k", self.n_neighbors, "n_neighbors")
        yield Setting("vote", choice("weights", self.weights, VOTES), "weights")
        yield Setting("labels", self._labels, "y")
        for name, text in distance_settings(self.metric, self.p).items():
            yield Setting(name, text, "metric")

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        self._keep_fitted(X)
        self._fit_y = y
        self._fit_settings: tuple[Setting, ...] = ()
        settings = tuple(self._settings())
        if self.n_neighbors > X.shape[0]:  # said by predictions: users may change it until then
            return
        super()._train(X, y, sample_weight)  # type: ignore[misc]
        self._fit_settings = settings

    def _predict(self, X: Any, probabilities: bool = False) -> tuple[Array, Any, Any]:
        """By the parameters as they stand: users may change them after `fit`."""
        check_is_fitted(self)
        if tuple(self._settings()) != self._fit_settings:
            self._check_count(self.n_samples_fit_)
            self._train(self._fit_X, self._fit_y, None)
        found: tuple[Array, Any, Any] = super()._predict(X, probabilities)  # type: ignore[misc]
        return found


class KNeighborsClassifier(ProbabilityMixin, KeepsClasses, _VotingMixin, SheafClassifier):
    """The class that most of the nearest rows have.

    Neighbours are exact, whatever the precision of the data; of equally near rows the first counts, of classes with
    equal votes the first.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows vote.

    Examples
    --------
    >>> from sheaf import KNeighborsClassifier
    >>> model = KNeighborsClassifier(n_neighbors=3).fit([[0], [1], [2], [3]], [0, 0, 1, 1])
    >>> model.predict([[1.1]])
    array([0])
    >>> model.predict_proba([[0.9]]).round(2)
    array([[0.67, 0.33]])
    """

    _labels = "classes"


class KNeighborsRegressor(KeepsNumbers, _VotingMixin, SheafRegressor):
    """The mean number of the nearest rows.

    Neighbours are exact, whatever the precision of the data; of equally near rows the first counts.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many rows count.

    Examples
    --------
    >>> from sheaf import KNeighborsRegressor
    >>> KNeighborsRegressor(n_neighbors=2).fit([[0], [1], [2], [3]], [0, 0, 1, 1]).predict([[1.5]])
    array([0.5])
    """

    _labels = "numbers"


class GraphTransformer(
    Finder,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
):
    """Rows as their near training rows: a sparse matrix, for estimators that take distances or graphs."""

    mode: str
    n_samples_fit_: int

    def _check(self) -> None:
        choice("mode", self.mode, {"distance": "", "connectivity": ""})
        super()._check()

    @property
    def _n_features_out(self) -> int:
        return self.n_samples_fit_

    def transform(self, X: Any) -> Any:
        """The near training rows of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features)
            The rows.

        Returns
        -------
        graph : sparse matrix of shape (n_queries, n_samples_fit)
            Compressed rows; the neighbours of each ascend by distance.
        """
        check_is_fitted(self)
        return self._graph(X)

    def _graph(self, X: Any) -> Any:
        raise NotImplementedError

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Keep the training rows, and find those near each.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : None
            Not used.

        Returns
        -------
        graph : sparse matrix of shape (n_samples, n_samples)
            Compressed rows; the neighbours of each ascend by distance.
        """
        return self.fit(X).transform(X)


class KNeighborsTransformer(FindsNeighbors, GraphTransformer):
    """Rows as their nearest training rows: a sparse matrix, for estimators that take distances or graphs.

    Neighbours are exact, whatever the precision of the data; of equally near rows the first is taken. A training row is
    its own nearest.

    Parameters
    ----------
    mode : {'distance', 'connectivity'}, default='distance'
        What stands for a neighbour: its distance, or 1.
    n_neighbors : int, default=5
        How many; with 'distance' one more, so that training rows have so many others.

    Examples
    --------
    >>> from sheaf import KNeighborsTransformer
    >>> graph = KNeighborsTransformer(n_neighbors=1).fit_transform([[0.0], [1.0], [3.0]])
    >>> graph.toarray()
    array([[0., 1., 0.],
           [1., 0., 0.],
           [0., 2., 0.]])
    """

    def __init__(
        self,
        *,
        mode: str = "distance",
        n_neighbors: int = 5,
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
        self.n_neighbors = n_neighbors
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
        return self.kneighbors_graph(X, self.n_neighbors + (self.mode == "distance"), self.mode)
