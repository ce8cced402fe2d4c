"""Local models of classes: hyperplanes, hulls and SVMs of the nearest rows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ._base import Array, Axis, DecisionMixin, Setting, SheafClassifier, choice, number
from .neighbors import KeepsClasses

__all__ = ["LocalHyperplane", "LocalSVM"]


class _LocalClassifier(DecisionMixin, KeepsClasses, SheafClassifier):
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
