"""The nearest training rows, and those within a radius."""

from __future__ import annotations

import numbers
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import Array, choice
from ._compat import validate
from ._data import make_context, make_dataset, number_text

_METRICS = {
    "euclidean": "euclidean",
    "l2": "euclidean",
    "sqeuclidean": "sqeuclidean",
    "manhattan": "manhattan",
    "cityblock": "manhattan",
    "l1": "manhattan",
    "cosine": "cosine",
    "correlation": "correlation",
    "chebyshev": "chebyshev",
    "hamming": "hamming",
    "jaccard": "jaccard",
    "minkowski": "minkowski",
}


def distance_settings(metric: Any, p: float) -> dict[str, str]:
    """The distance's settings; Minkowski's has powers with names of their own."""
    named = {1: "manhattan", 2: "euclidean", float("inf"): "chebyshev"}
    if callable(metric):
        raise ValueError(f"metric must be one of {', '.join(map(repr, _METRICS))}, not a callable")
    name = choice("metric", metric, _METRICS)
    if name != "minkowski":
        return {"metric": name}
    if not float(p) >= 1:
        raise ValueError(f"p must be 1 or more, not {p!r}")
    return {"metric": named[p]} if p in named else {"metric": name, "power": number_text(float(p))}


class KeepsRows:
    """Keeps training rows, without copying them, and measures distances to them.

    Parameters
    ----------
    algorithm : str
        Taken for scikit-learn's signature; the numbers of rows and features decide.
    leaf_size : int
        Taken for scikit-learn's signature.
    metric : str
        'minkowski', 'euclidean', 'sqeuclidean', 'manhattan', 'cosine', 'correlation', 'chebyshev', 'hamming' or
        'jaccard'.
    metric_params : dict
        Taken for scikit-learn's signature; must be None.
    p : float
        The power of Minkowski's distance.
    precision : {'auto', 'float32', 'float64'}
        Of the data; distances are exact in either.

    Attributes
    ----------
    effective_metric_ : str
        The distance.
    n_samples_fit_ : int
        Training rows.
    """

    metric: Any
    p: float
    metric_params: Any

    def _check_distance(self) -> None:
        if self.metric_params:
            raise ValueError("metric_params must be None")
        distance_settings(self.metric, self.p)

    def _keep_fitted(self, X: Any) -> None:
        self._fit_X = X
        self.n_samples_fit_ = X.shape[0]
        self.effective_metric_ = distance_settings(self.metric, self.p)["metric"]

    def _find(self, find: Any, settings: dict[str, str], X: Any) -> Any:
        """What `find` of the library finds for queries; None: for the training rows, without themselves."""
        estimator: Any = self
        context = make_context(self)
        kind = str(self._fit_X.dtype) if estimator.precision == "auto" else estimator.precision
        precision = "float32" if kind.endswith("float32") else "float64"
        device = str(estimator.device)
        rows = make_dataset(context, self._fit_X, precision=precision, device=device)
        queries = None
        if X is not None:
            queries = make_dataset(context, validate(self, X, reset=False), precision=precision, device=device)
        return find(context, rows, settings, distance_settings(self.metric, self.p), queries)


class FindsNeighbors(KeepsRows):
    """Finds the nearest training rows."""

    n_neighbors: int

    def _check_count(self, rows: int) -> None:
        if self.n_neighbors > rows:
            raise ValueError(
                f"Expected n_neighbors <= n_samples, but n_samples = {rows}, n_neighbors = {self.n_neighbors}"
            )

    def kneighbors(self, X: Any = None, n_neighbors: int | None = None, return_distance: bool = True) -> Any:
        """The nearest training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            The queries; None: the training rows, which are no neighbours of themselves.
        n_neighbors : int, default=None
            How many; None: as many as the estimator has.
        return_distance : bool, default=True
            Whether distances are returned.

        Returns
        -------
        distances : ndarray of shape (n_queries, n_neighbors)
            Ascending; only with `return_distance`.
        indices : ndarray of shape (n_queries, n_neighbors)
            The training rows; of equally near ones the first.
        """
        check_is_fitted(self)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        if not isinstance(count, numbers.Integral):
            raise TypeError(f"n_neighbors does not take {type(count)} value, enter integer value")
        if count <= 0:
            raise ValueError(f"Expected n_neighbors > 0. Got {count}")
        if count > self.n_samples_fit_ - (X is None):
            raise ValueError(
                f"Expected n_neighbors <= n_samples, but n_samples = {self.n_samples_fit_}, n_neighbors = {count}"
            )
        distances, indices = self._find(_core.neighbors, {"k": number_text(count)}, X)
        indices = indices.astype(np.intp)
        return (distances, indices) if return_distance else indices

    def kneighbors_graph(self, X: Any = None, n_neighbors: int | None = None, mode: str = "connectivity") -> Any:
        """The nearest training rows as a sparse matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            The queries; None: the training rows, which are no neighbours of themselves.
        n_neighbors : int, default=None
            How many; None: as many as the estimator has.
        mode : {'connectivity', 'distance'}, default='connectivity'
            What stands for a neighbour: 1, or its distance.

        Returns
        -------
        graph : sparse matrix of shape (n_queries, n_samples_fit)
            Compressed rows.
        """
        choice("mode", mode, {"connectivity": "", "distance": ""})
        distances, indices = self.kneighbors(X, n_neighbors)
        values = distances.ravel() if mode == "distance" else np.ones(distances.size)
        begins = np.arange(0, indices.size + 1, indices.shape[1])
        return sparse.csr_matrix((values, indices.ravel(), begins), shape=(len(distances), self.n_samples_fit_))


class FindsWithin(KeepsRows):
    """Finds the training rows within a radius.

    Parameters
    ----------
    radius : float
        How far neighbours may be.
    """

    radius: float

    def radius_neighbors(
        self, X: Any = None, radius: float | None = None, return_distance: bool = True, sort_results: bool = False
    ) -> Any:
        """The training rows within a radius.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            The queries; None: the training rows, which are no neighbours of themselves.
        radius : float, default=None
            How far they may be; None: as far as the estimator says.
        return_distance : bool, default=True
            Whether distances are returned.
        sort_results : bool, default=False
            Taken for scikit-learn's signature; the nearest always comes first.

        Returns
        -------
        distances : ndarray of shape (n_queries,) of arrays
            Ascending; only with `return_distance`.
        indices : ndarray of shape (n_queries,) of arrays
            The training rows; of equally near ones the first.
        """
        if sort_results and not return_distance:
            raise ValueError("return_distance must be True if sort_results is True.")
        offsets, indices, distances = self._within(X, radius)
        lists = [_divided(values, offsets) for values in (distances, indices)]
        return tuple(lists) if return_distance else lists[1]

    def radius_neighbors_graph(
        self, X: Any = None, radius: float | None = None, mode: str = "connectivity", sort_results: bool = False
    ) -> Any:
        """The training rows within a radius as a sparse matrix.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_queries, n_features), default=None
            The queries; None: the training rows, which are no neighbours of themselves.
        radius : float, default=None
            How far they may be; None: as far as the estimator says.
        mode : {'connectivity', 'distance'}, default='connectivity'
            What stands for a neighbour: 1, or its distance.
        sort_results : bool, default=False
            Taken for scikit-learn's signature; the nearest always comes first.

        Returns
        -------
        graph : sparse matrix of shape (n_queries, n_samples_fit)
            Compressed rows.
        """
        choice("mode", mode, {"connectivity": "", "distance": ""})
        offsets, indices, distances = self._within(X, radius)
        values = distances if mode == "distance" else np.ones(len(indices))
        return sparse.csr_matrix((values, indices, offsets), shape=(len(offsets) - 1, self.n_samples_fit_))

    def _within(self, X: Any, radius: float | None = None) -> tuple[Array, Array, Array]:
        """Where the neighbours of each query begin, which they are, and how far."""
        check_is_fitted(self)
        most = self.radius if radius is None else radius
        found = self._find(_core.neighbors_within, {"radius": number_text(float(most))}, X)
        return found["offsets"].astype(np.intp), found["indices"].astype(np.intp), found["distances"]


def _divided(values: Array, offsets: Array) -> Array:
    """An array of each query's own."""
    result = np.empty(len(offsets) - 1, dtype=object)
    for query, (begin, end) in enumerate(zip(offsets[:-1], offsets[1:])):
        result[query] = values[begin:end]
    return result
