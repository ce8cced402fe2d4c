"""Scores of a search: computed by the C++ library where it has them, else by scikit-learn from held-out decisions."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_classifier
from sklearn.metrics import get_scorer

from ._base import Array
from .linear_model import ElasticNetLogistic, LogisticRegression
from .neighbors import KNeighborsClassifier

#: Scores of any classes, by scikit-learn's names, and the C++ library's names of them.
_BY_CLASS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced-accuracy",
    "f1_macro": "f1-macro",
    "f1_micro": "accuracy",
    "f1_weighted": "f1-weighted",
    "matthews_corrcoef": "matthews-corrcoef",
    "precision_macro": "precision-macro",
    "precision_micro": "accuracy",
    "precision_weighted": "precision-weighted",
    "recall_macro": "recall-macro",
    "recall_micro": "accuracy",
    "recall_weighted": "accuracy",
}
#: Of two classes, the second of which is labelled 1.
_OF_TWO = {
    "average_precision": "average-precision",
    "f1": "f1",
    "precision": "precision",
    "recall": "recall",
    "roc_auc": "auc",
}
#: Of a numeric target; errors are counted below 0.
_OF_NUMBERS = {
    "r2": ("r2", 1.0),
    "neg_mean_absolute_error": ("mean-absolute-error", -1.0),
    "neg_mean_squared_error": ("mean-squared-error", -1.0),
    "neg_root_mean_squared_error": ("rmse", -1.0),
    "max_error": ("max-error", -1.0),
    "neg_max_error": ("max-error", -1.0),
}


def own_score(name: str, classes: Array | None) -> tuple[str, float] | None:
    """The C++ library's name of one of scikit-learn's scores, and its sign; None: it has not that one."""
    if classes is None:
        return _OF_NUMBERS.get(name)
    if name in _BY_CLASS:
        return _BY_CLASS[name], 1.0
    if name in _OF_TWO and len(classes) == 2 and classes[1] == 1:
        return _OF_TWO[name], 1.0
    return None


def read_scoring(scoring: Any, estimator: Any) -> tuple[dict[str, Any], bool]:
    """The scores by name, each as scikit-learn's name of it or as a callable; and whether there are several."""
    if scoring is None and hasattr(estimator, "_score_predictions"):
        return {"score": _score_of_estimator}, False
    if scoring is None:
        return {"score": "accuracy" if is_classifier(estimator) else "r2"}, False
    if isinstance(scoring, str):
        get_scorer(scoring)
        return {"score": scoring}, False
    if callable(scoring):
        return {"score": scoring}, False
    if isinstance(scoring, Mapping):
        wanted = dict(scoring)
    elif isinstance(scoring, (list, tuple, set)):
        wanted = {name: name for name in scoring}
        if len(wanted) != len(scoring) or not all(isinstance(name, str) for name in wanted):
            raise ValueError(f"scoring must hold different names of scores, not {scoring!r}")
    else:
        raise ValueError(f"scoring must be a name, a callable, a list of names or a dict, not {scoring!r}")
    if not wanted:
        raise ValueError("scoring is empty")
    for score in wanted.values():
        if not callable(score):
            get_scorer(score)
    return wanted, True


def _score_of_estimator(model: Any, X: Any, y: Any, sample_weight: Any = None) -> float:
    return float(model.score(X, y, sample_weight))


def takes_weights(scorer: Callable[..., Any]) -> bool:
    """Whether a scorer can be called with weights of rows."""
    taken = inspect.signature(scorer).parameters
    return "sample_weight" in taken or any(one.kind is inspect.Parameter.VAR_KEYWORD for one in taken.values())


class HeldOutRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Stands in for a model that was trained on one split: it has the predictions of that split's test rows."""

    def __init__(self, estimator: Any, decisions: Array) -> None:
        self.estimator = estimator
        self.decisions = decisions

    def fit(self, X: Any, y: Any) -> Any:
        """It is fitted already."""
        return self

    def predict(self, X: Any) -> Array:
        return self.decisions[:, 0]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        if hasattr(self.estimator, "_score_predictions"):
            return float(self.estimator._score_predictions(y, self.predict(X), sample_weight))
        return float(super().score(X, y, sample_weight))

    def __sklearn_is_fitted__(self) -> bool:
        return True


class HeldOutClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """The same of classes."""

    def __init__(self, estimator: Any, classes: Array, decisions: Array, predicted: Array) -> None:
        self.estimator = estimator
        self.classes = classes
        self.decisions = decisions
        self.predicted = predicted
        self.classes_ = classes

    def fit(self, X: Any, y: Any) -> Any:
        """It is fitted already."""
        return self

    def predict(self, X: Any) -> Array:
        return self.classes[self.predicted]

    def __getattr__(self, name: str) -> Any:
        known = {"decision_function": self._decide, "predict_proba": self._share}
        if name in known and hasattr(self.estimator, name):
            if name == "decision_function" or isinstance(self.estimator, _HAVE_SHARES):
                return known[name]
        raise AttributeError(f"a model inside SheafSearchCV has no {name}")

    def _decide(self, X: Any) -> Array:
        if len(self.classes) == 2:
            return -self.decisions[:, 0]
        if isinstance(self.estimator, LogisticRegression):  # of all others they are by class already
            return self.estimator._by_class(self.decisions)
        return self.decisions

    def _share(self, X: Any) -> Array:
        if isinstance(self.estimator, KNeighborsClassifier):
            if len(self.classes) > 2:
                return self.decisions
            first = (1 + self.decisions[:, 0]) / 2
            return np.column_stack([first, 1 - first])
        shares = expit(self.decisions)
        if len(self.classes) == 2:
            return np.column_stack([shares[:, 0], expit(-self.decisions[:, 0])])
        normalised: Array = shares / shares.sum(axis=1, keepdims=True)
        return normalised

    def __sklearn_is_fitted__(self) -> bool:
        return True


_HAVE_SHARES = (LogisticRegression, ElasticNetLogistic, KNeighborsClassifier)
