"""Scores of a search: computed by the C++ library where it has them, else by scikit-learn from held-out decisions."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import is_classifier
from sklearn.metrics import get_scorer

from . import _core
from ._base import Array
from .linear_model import ElasticNetLogistic, LogisticRegression
from .neighbors import KNeighborsClassifier

#: scikit-learn's scores that the C++ library has: of any classes ...
_BY_CLASS = frozenset(
    "accuracy balanced_accuracy f1_macro f1_micro f1_weighted matthews_corrcoef precision_macro precision_micro "
    "precision_weighted recall_macro recall_micro recall_weighted".split()
)
#: ... of two classes, the second of which is labelled 1 ...
_OF_TWO = frozenset("average_precision f1 precision recall roc_auc".split())
#: ... and of numbers; errors are counted below 0.
_OF_NUMBERS = frozenset(
    "r2 max_error neg_max_error neg_mean_absolute_error neg_mean_squared_error neg_root_mean_squared_error".split()
)


def own_score(name: str, classes: Array | None) -> tuple[str, float] | None:
    """The C++ library's name of one of scikit-learn's scores, and its sign; None: it has not that one."""
    if classes is None:
        known = name in _OF_NUMBERS
    else:
        known = name in _BY_CLASS or (name in _OF_TWO and len(classes) == 2 and classes[1] == 1)
    if not known:
        return None
    plain, larger_is_better = _core.metric(name.removeprefix("neg_"))
    return plain, 1.0 if larger_is_better else -1.0


def library_score(name: str | None, classes: Array | None) -> tuple[str | None, float]:
    """The C++ library's name of a score by any of its names, and its sign; None: the library chooses.

    Of two classes the positive one, for scores that have one, is that of the library.
    """
    if name is None:
        return None, 1.0
    if not isinstance(name, str):
        raise ValueError(f"scoring must be the name of a score, not {name!r}")
    found = own_score(name, classes)
    if found is not None:
        return found
    negative = name.startswith(("neg_", "neg-"))
    try:
        plain, larger_is_better = _core.metric(name[4:] if negative else name)
    except ValueError as wrong:
        raise ValueError(f"scoring: {wrong}") from None
    if negative and larger_is_better:
        raise ValueError(f"scoring: {plain} is no error: larger is better, and there is no {name!r}")
    return plain, -1.0 if negative else 1.0


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


class HeldOut:
    """Stands in for a model that was trained on one split: it has the predictions of that split's test rows.

    Anything else that is asked of it (predictions of other rows, weights, probabilities that were not kept) is answered
    by the model itself, which `train` makes when it is needed for the first time.
    """

    def __init__(
        self, estimator: Any, model: Any, X: Any, classes: Array | None, decisions: Array, predicted: Array, train: Any
    ) -> None:
        self._estimator, self._model, self._X, self._classes = estimator, model, X, classes
        self._decisions, self._predicted, self._train = decisions, predicted, train
        self._trained: Any = None

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self._estimator)

    def __sklearn_is_fitted__(self) -> bool:
        return True

    def fit(self, *args: Any, **kwargs: Any) -> Any:
        return self._real().fit(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__sklearn_tags__":
            raise AttributeError(name)
        if name == "classes_" and self._classes is not None:
            return self._classes
        if name == "score" or name in _KEPT and self._keeps(name) and hasattr(self._estimator, name):
            return functools.partial(self._answer, name)
        if name in _KEPT and not hasattr(self._estimator, name):
            raise AttributeError(f"{type(self._estimator).__name__} has no {name}")
        if name in _UNTRAINED or name in self._estimator.get_params(deep=False):
            return getattr(self._estimator, name)
        return getattr(self._real(), name)

    def _keeps(self, name: str) -> bool:
        if self._classes is None:
            return name == "predict"
        if name == "predict_proba":
            return isinstance(self._model, _HAVE_SHARES)
        several = len(self._classes) > 2 and hasattr(self._model, "decision_function_shape")  # of pairs, and votes
        return name == "predict" or not several

    def _real(self) -> Any:
        if self._trained is None:
            self._trained = self._train()
        return self._trained

    def _answer(self, name: str, X: Any, *args: Any, **kwargs: Any) -> Any:
        if X is not self._X:
            return getattr(self._real(), name)(X, *args, **kwargs)
        if name == "score":
            return type(self._model).score(self, X, *args, **kwargs)
        return getattr(self, _KEPT[name])()

    def _score_predictions(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(self._model._score_predictions(y, predicted, sample_weight))

    def _labels(self) -> Array:
        return self._decisions[:, 0] if self._classes is None else self._classes[self._predicted]

    def _decide(self) -> Array:
        if len(self.classes_) == 2:
            return -self._decisions[:, 0]
        if isinstance(self._model, LogisticRegression):  # of all others they are by class already
            return self._model._by_class(self._decisions)
        return self._decisions

    def _share(self) -> Array:
        if isinstance(self._model, KNeighborsClassifier):
            if len(self.classes_) > 2:
                return self._decisions
            first = (1 + self._decisions[:, 0]) / 2
            return np.column_stack([first, 1 - first])
        shares = expit(self._decisions)
        if len(self.classes_) == 2:
            return np.column_stack([shares[:, 0], expit(-self._decisions[:, 0])])
        normalised: Array = shares / shares.sum(axis=1, keepdims=True)
        return normalised


_HAVE_SHARES = (LogisticRegression, ElasticNetLogistic, KNeighborsClassifier)
#: What is kept of the test rows.
_KEPT = {"predict": "_labels", "decision_function": "_decide", "predict_proba": "_share"}
#: What an estimator has without training.
_UNTRAINED = ("get_params", "_estimator_type", "_get_tags", "_more_tags", "__sklearn_tags__", "steps", "named_steps")
