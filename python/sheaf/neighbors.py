"""Nearest neighbours, and local hyperplanes through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import (
    Array,
    Axis,
    DecisionMixin,
    ProbabilityMixin,
    Setting,
    SheafClassifier,
    SheafRegressor,
    choice,
    number,
)
from ._compat import validate
from ._data import make_context, make_dataset, number_text
from ._docs import Documented

__all__ = ["KNeighborsClassifier", "KNeighborsRegressor", "KNeighborsTransformer", "LocalHyperplane"]

_VOTES = {"uniform": "uniform", "distance": "inverse-distance", "gaussian": "gaussian"}
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


def _distance(metric: Any, p: float) -> dict[str, str]:
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


class _NeighborsMixin:
    """Finds the nearest training rows.

    Parameters
    ----------
    algorithm : str
        Taken for scikit-learn's signature; all distances are computed.
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

    n_neighbors: int
    metric: Any
    p: float
    metric_params: Any

    def _check_count(self, rows: int) -> None:
        if self.n_neighbors > rows:
            raise ValueError(
                f"Expected n_neighbors <= n_samples, but n_samples = {rows}, n_neighbors = {self.n_neighbors}"
            )

    def _keep_fitted(self, X: Any) -> None:
        self._fit_X = X
        self.n_samples_fit_ = X.shape[0]
        self.effective_metric_ = _distance(self.metric, self.p)["metric"]

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
        estimator: Any = self
        check_is_fitted(self)
        count = self.n_neighbors if n_neighbors is None else n_neighbors
        context = make_context(self)
        kind = str(self._fit_X.dtype) if estimator.precision == "auto" else estimator.precision
        precision = "float32" if kind.endswith("float32") else "float64"
        device = str(estimator.device)
        rows = make_dataset(context, self._fit_X, precision=precision, device=device)
        queries = None
        if X is not None:
            queries = make_dataset(context, validate(self, X, reset=False), precision=precision, device=device)
        if count > self.n_samples_fit_ - (X is None):
            raise ValueError(
                f"Expected n_neighbors <= n_samples, but n_samples = {self.n_samples_fit_}, n_neighbors = {count}"
            )
        distances, indices = _core.neighbors(
            context, rows, {"k": number_text(count)}, _distance(self.metric, self.p), queries
        )
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


class _VotingMixin(_NeighborsMixin):
    """Predicts by the votes of the nearest rows.

    Parameters
    ----------
    weights : {'uniform', 'distance', 'gaussian'}
        How much each row counts: the same, 1 / distance, or exp(-(d / d_k)^2 / 2).
    """

    _kind = "knn"
    _squares_values = False
    _axes: ClassVar[Mapping[str, Axis]] = {
        "n_neighbors": Axis("k", whole=True),
        "weights": Axis("vote", lambda weights: choice("weights", weights, _VOTES)),
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
        if self.metric_params:
            raise ValueError("metric_params must be None")
        if callable(self.weights):
            raise ValueError(f"weights must be one of {', '.join(map(repr, _VOTES))}, not a callable")
        yield number("k", self.n_neighbors, "n_neighbors")
        yield Setting("vote", choice("weights", self.weights, _VOTES), "weights")
        yield Setting("labels", self._labels, "y")
        for name, text in _distance(self.metric, self.p).items():
            yield Setting(name, text, "metric")

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        super()._train(X, y, sample_weight)  # type: ignore[misc]
        self._fit_y = y
        self._fit_settings = tuple(self._settings())

    def _predict(self, X: Any, probabilities: bool = False) -> tuple[Array, Any, Any]:
        """By the parameters as they stand: users may change them after `fit`."""
        check_is_fitted(self)
        if tuple(self._settings()) != self._fit_settings:
            self._check_count(self.n_samples_fit_)
            self._train(self._fit_X, self._fit_y, None)
        found: tuple[Array, Any, Any] = super()._predict(X, probabilities)  # type: ignore[misc]
        return found


class KNeighborsClassifier(ProbabilityMixin, _VotingMixin, SheafClassifier):
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

    def fit(self, X: Any, y: Any) -> Any:
        """Keep the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate(self, X, y)
        codes = self._take_classes(y)
        self._check_count(X.shape[0])
        self._train(X, codes, None)
        return self


class KNeighborsRegressor(_VotingMixin, SheafRegressor):
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

    def fit(self, X: Any, y: Any) -> Any:
        """Keep the training rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The number of each row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = self._validated(X, y)
        self._check_count(X.shape[0])
        self._train(X, y, None)
        return self


class KNeighborsTransformer(
    Documented,
    _NeighborsMixin,
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
):
    """Rows as their nearest training rows: a sparse matrix, for estimators that take distances or graphs.

    Neighbours are exact, whatever the precision of the data; of equally near rows the first counts. A training row is
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
            The fitted transformer.
        """
        if self.metric_params:
            raise ValueError("metric_params must be None")
        choice("mode", self.mode, {"distance": "", "connectivity": ""})
        X = validate(self, X)
        self._keep_fitted(X)
        self._n_features_out = self.n_samples_fit_
        return self

    def transform(self, X: Any) -> Any:
        """The nearest training rows of rows.

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
        return self.kneighbors_graph(X, self.n_neighbors + (self.mode == "distance"), self.mode)

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """Keep the training rows, and find the nearest ones of each.

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

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": []}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class _LocalClassifier(DecisionMixin, SheafClassifier):
    """What local models of classes share.

    Parameters
    ----------
    precision : {'auto', 'float32', 'float64'}
        Of the data.
    temperature : float
        Of 'class_ratio': weights are exp(temperature * ratio).
    """

    _kind = "knn"

    n_neighbors: int
    feature_weighting: str
    temperature: float

    def _distance_settings(self) -> Iterable[Setting]:
        known = {name: name.replace("_", "-") for name in ("none", "class_ratio", "mutual_information", "relief")}
        yield Setting("labels", "classes", "y")
        yield Setting("weighting", choice("feature_weighting", self.feature_weighting, known), "feature_weighting")
        yield number("k", self.n_neighbors, "n_neighbors")
        yield number("temperature", self.temperature, "temperature")

    def fit(self, X: Any, y: Any) -> Any:
        """Keep the training rows, and learn the weights of features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate(self, X, y)
        self._train(X, self._take_classes(y), None)
        return self

    def _by_class(self, decisions: Array) -> Array:
        values: Array = decisions[:, 1] - decisions[:, 0] if len(self.classes_) == 2 else decisions
        return values


class LocalHyperplane(_LocalClassifier):
    """The class whose nearest rows span the nearest hyperplane, or convex hull.

    Local hyperplanes (HKNN) and hulls (CKNN) of Vincent and Bengio, adaptive ones (ALH) of Yang and Kecman where
    features have weights.

    Parameters
    ----------
    n_neighbors : int, default=5
        Rows of each class that span its hyperplane; fewer where a class has fewer.
    rule : {'hyperplane', 'convex_hull'}, default='hyperplane'
        What they span.
    feature_weighting : {'none', 'class_ratio', 'mutual_information', 'relief'}, default='none'
        Weights of features, learnt on the training rows.
    reg_lambda : float, default=1.0
        The penalty of the coefficients.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.model_selection import cross_val_score
    >>> from sheaf import LocalHyperplane
    >>> X, y = load_iris(return_X_y=True)
    >>> round(float(cross_val_score(LocalHyperplane(), X, y).mean()), 2)
    0.96
    """

    _axes = {
        "n_neighbors": Axis("k", whole=True),
        "reg_lambda": Axis("lambda"),
        "temperature": Axis("temperature"),
    }

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        rule: str = "hyperplane",
        feature_weighting: str = "none",
        temperature: float = 1.0,
        reg_lambda: float = 1.0,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.rule = rule
        self.feature_weighting = feature_weighting
        self.temperature = temperature
        self.reg_lambda = reg_lambda
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _model_kind(self) -> str:
        return choice("rule", self.rule, {"hyperplane": "hknn", "convex_hull": "cknn"})

    def _settings(self) -> Iterable[Setting]:
        yield from self._distance_settings()
        yield number("lambda", self.reg_lambda, "reg_lambda")


class LocalSVM(_LocalClassifier):
    """SVMs trained on the nearest rows alone.

    One for each row that is decided about, on its nearest training rows (SVM-KNN of Zhang, Berg, Maire and Malik), or
    some around training rows that cover all others, a row being decided by that of its nearest training row (FaLK-SVM
    of Segata and Blanzieri).

    Parameters
    ----------
    n_neighbors : int, default=40
        Rows that each SVM is trained on; fewer where there are fewer.
    rule : {'local_svm', 'falk_svm'}, default='local_svm'
        An SVM for each row that is decided about, or some around training rows.
    kernel : {'linear', 'rbf'}, default='linear'
        Of the SVMs.
    C : float, default=1.0
        The cost of margin violations.
    gamma : {'auto'} or float, default='auto'
        Of the RBF kernel ``exp(-gamma |x - y|^2)``; 'auto': 1 / n_features.
    tol : float, default=1e-3
        Stop when no pair of rows violates the optimality conditions by more.
    feature_weighting : {'none', 'class_ratio', 'mutual_information', 'relief'}, default='none'
        Weights of features in distances, learnt on the training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sheaf import LocalSVM
    >>> X, y = load_iris(return_X_y=True)
    >>> LocalSVM(n_neighbors=20).fit(X[::2], y[::2]).score(X[1::2], y[1::2]) > 0.9
    True
    """

    _axes = {
        "n_neighbors": Axis("k", whole=True),
        "C": Axis("cost"),
        "gamma": Axis("gamma"),
        "temperature": Axis("temperature"),
    }

    def __init__(
        self,
        n_neighbors: int = 40,
        *,
        rule: str = "local_svm",
        kernel: str = "linear",
        C: float = 1.0,
        gamma: Any = "auto",
        tol: float = 1e-3,
        feature_weighting: str = "none",
        temperature: float = 1.0,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.n_neighbors = n_neighbors
        self.rule = rule
        self.kernel = kernel
        self.C = C
        self.gamma = gamma
        self.tol = tol
        self.feature_weighting = feature_weighting
        self.temperature = temperature
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _active_axes(self) -> Mapping[str, Axis]:
        applies = {"gamma": self.kernel == "rbf", "temperature": self.feature_weighting == "class_ratio"}
        return {name: axis for name, axis in self._axes.items() if applies.get(name, True)}

    def _model_kind(self) -> str:
        return choice("rule", self.rule, {"local_svm": "local-svm", "falk_svm": "falk-svm"})

    def _settings(self) -> Iterable[Setting]:
        yield Setting("kernel", choice("kernel", self.kernel, {"linear": "linear", "rbf": "rbf"}), "kernel")
        yield from self._distance_settings()
        yield number("cost", self.C, "C")
        yield number("tolerance", self.tol, "tol")

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        if self.kernel == "rbf":
            if isinstance(self.gamma, str) and self.gamma != "auto":
                raise ValueError(f"gamma must be 'auto' or a number, not {self.gamma!r}")
            yield number("gamma", 1 / X.shape[1] if self.gamma == "auto" else self.gamma, "gamma")
