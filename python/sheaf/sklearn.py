"""Sheaf behind scikit-learn's own names, for scripts that cannot be changed.

>>> import sheaf.sklearn
>>> from sklearn import svm
>>> with sheaf.sklearn.patched():
...     model = svm.SVC().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
>>> type(model).__module__, model.predict([[2.5]])
('sheaf.sklearn', array([1]))
"""

from __future__ import annotations

import contextlib
import importlib
import inspect
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from . import glm, linear_model, neighbors, svm
from ._base import SheafEstimator

__all__ = ["patch", "patched", "unpatch"]

#: The modules of scikit-learn, and which estimators are replaced in them.
_PLACES: dict[str, dict[str, type[SheafEstimator]]] = {
    "sklearn.linear_model": {
        "ElasticNet": linear_model.ElasticNet,
        "GammaRegressor": glm.GammaRegressor,
        "Lasso": linear_model.Lasso,
        "LogisticRegression": linear_model.LogisticRegression,
        "PoissonRegressor": glm.PoissonRegressor,
        "QuantileRegressor": linear_model.QuantileRegressor,
        "Ridge": linear_model.Ridge,
        "TweedieRegressor": glm.TweedieRegressor,
    },
    "sklearn.neighbors": {
        "KNeighborsClassifier": neighbors.KNeighborsClassifier,
        "KNeighborsRegressor": neighbors.KNeighborsRegressor,
    },
    "sklearn.svm": {
        "LinearSVC": svm.LinearSVC,
        "LinearSVR": svm.LinearSVR,
        "NuSVC": svm.NuSVC,
        "NuSVR": svm.NuSVR,
        "OneClassSVM": svm.OneClassSVM,
        "SVC": svm.SVC,
        "SVR": svm.SVR,
    },
}
_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "kneighbors")
_originals: dict[tuple[str, str], Any] = {}
_said: set[str] = set()


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        warnings.warn(text, UserWarning, stacklevel=4)


def _why_not(estimator: Any, ours: Any, y: Any) -> str:
    """Why scikit-learn has to do it; empty: it has not."""
    known = inspect.signature(type(ours).__init__).parameters
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        if name != "self" and name not in known and getattr(estimator, name) != parameter.default:
            return f"it has no {name}"
    if np.ndim(y) > 1 and np.shape(y)[1] > 1:
        return "several targets"
    if isinstance(ours, linear_model.QuantileRegressor) and ours.alpha == 0:
        return "alpha is 0"  # without a penalty training ends before the linear program's solution
    try:
        if isinstance(ours, linear_model.LogisticRegression):
            ours.classes_ = np.unique(y)  # which decide what is trained
        list(ours._settings())
    except (TypeError, ValueError) as wrong:
        return str(wrong)
    return ""


def _ours(estimator: Any, kind: type[SheafEstimator]) -> SheafEstimator:
    known = inspect.signature(kind.__init__).parameters
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name in known}
    if issubclass(kind, linear_model.Ridge):
        params["tol"] = kind().tol  # scikit-learn's is for solvers that stop early
    return kind(**params)


def _delegate(name: str, made: list[Any]) -> Any:
    """A method of sheaf's estimator where one was trained, else of scikit-learn's class; `made` holds the new class."""

    def whose(self: Any) -> Any:
        inner = self.__dict__.get("_sheaf")
        return super(made[0], self) if inner is None else inner

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(whose(self), name)(*args, **kwargs)

    method.__name__ = name
    return available_if(lambda self: hasattr(whose(self), name))(method)


def _make(original: Any, kind: type[SheafEstimator]) -> Any:
    """scikit-learn's class, trained by sheaf where that can do what the parameters ask for."""

    def fit(self: Any, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        self.__dict__.pop("_sheaf", None)
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        ours = _ours(self, kind)
        reason = _why_not(self, ours, y)
        if reason:
            _say_once(f"sheaf leaves {original.__name__} to scikit-learn: {reason}")
            return original.fit(self, X, y, **more) if y is not None else original.fit(self, X, **more)
        ours.fit(X, y, **more)
        self._sheaf = ours
        for name, value in vars(ours).items():
            if name.endswith("_") and not name.startswith("_"):
                with contextlib.suppress(AttributeError):  # a property of scikit-learn's class
                    setattr(self, name, value)
        return self

    text = f"scikit-learn's {original.__name__}, trained by sheaf where that can do what is asked for."
    members: dict[str, Any] = {"fit": fit, "__module__": __name__, "__doc__": text}
    made: list[Any] = []
    scored = ("score",) if hasattr(kind, "_score_predictions") else ()  # by scikit-learn from what it keeps of a fit
    for name in (*_METHODS, *scored):
        if any(name in vars(base) for base in original.__mro__):
            members[name] = _delegate(name, made)
    made.append(type(original.__name__, (original,), members))
    return made[0]


def patch() -> None:
    """Put sheaf's estimators in the place of scikit-learn's, in the modules of scikit-learn.

    Names that were imported before keep what they were. Parameters that sheaf lacks are left to scikit-learn, and a
    warning says so once.
    """
    for place, names in _PLACES.items():
        module = importlib.import_module(place)
        for name, kind in names.items():
            if (place, name) in _originals:
                continue
            original = getattr(module, name)
            made = _make(original, kind)
            _originals[place, name] = original
            setattr(module, name, made)
            setattr(sys.modules[__name__], name, made)  # where pickle looks for it


def unpatch() -> None:
    """Put scikit-learn's estimators back."""
    for (place, name), original in _originals.items():
        setattr(importlib.import_module(place), name, original)
    _originals.clear()


@contextlib.contextmanager
def patched() -> Iterator[None]:
    """A context in which scikit-learn's names are sheaf's."""
    patch()
    try:
        yield
    finally:
        unpatch()
