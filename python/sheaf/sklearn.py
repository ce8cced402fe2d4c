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
import functools
import importlib
import inspect
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from . import glm, linear_model, neighbors, svm
from ._base import LinearMixin, SheafEstimator

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
#: What sheaf's model does even where scikit-learn's class could do it from the attributes of a fit.
_METHODS = ("predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "kneighbors")
_originals: dict[tuple[str, str], Any] = {}
_made: dict[str, Any] = {}
_said: set[str] = set()


def _say_once(text: str) -> None:
    if text not in _said:
        _said.add(text)
        warnings.warn(text, UserWarning, stacklevel=4)


def _check_parameters(estimator: Any, ours: Any, y: Any) -> None:
    """A ValueError says why scikit-learn has to do it."""
    known = inspect.signature(type(ours).__init__).parameters
    for name, parameter in inspect.signature(type(estimator).__init__).parameters.items():
        if name != "self" and name not in known and getattr(estimator, name) != parameter.default:
            raise ValueError(f"it has no {name}")
    if np.ndim(y) > 1 and np.shape(y)[1] > 1 and not isinstance(ours, linear_model.Ridge):
        raise ValueError("several targets")
    if isinstance(ours, linear_model.LogisticRegression) and ours.solver == "liblinear" and ours.fit_intercept and not ours.dual:
        raise ValueError("solver='liblinear' penalises the intercept")
    if isinstance(ours, linear_model.QuantileRegressor) and ours.alpha == 0:
        raise ValueError("alpha is 0")  # without a penalty training ends before the linear program's solution


def _ours(estimator: Any, kind: type[SheafEstimator]) -> SheafEstimator:
    known = inspect.signature(kind.__init__).parameters
    params = {name: value for name, value in estimator.get_params(deep=False).items() if name in known}
    if issubclass(kind, linear_model.Ridge):
        params["tol"] = kind().tol  # scikit-learn's is for solvers that stop early
    return kind(**params)


def _train(estimator: Any, kind: type[SheafEstimator], X: Any, y: Any = None, sample_weight: Any = None) -> Any:
    """Sheaf's estimator with the parameters of scikit-learn's, trained. What it cannot do is a ValueError."""
    ours: Any = _ours(estimator, kind)
    _check_parameters(estimator, ours, y)
    weights = {} if sample_weight is None else {"sample_weight": sample_weight}
    return ours.fit(X, y, **weights)


def _keep(estimator: Any, ours: Any) -> None:
    """Gives scikit-learn's estimator the attributes that its own `fit` would have set."""
    for name, value in vars(ours).items():
        if name.endswith("_") and not name.startswith("_"):
            with contextlib.suppress(AttributeError):  # a property of scikit-learn's class
                setattr(estimator, name, value)
    if isinstance(ours, glm._GlmRegressor):
        estimator._base_loss = estimator._get_loss()
    if isinstance(ours, svm.KernelMixin):
        vars(estimator).update(ours._libsvm_attributes())
    estimator._by_sheaf = True
    if not isinstance(ours, LinearMixin):  # whose weights say all
        estimator._sheaf = ours


def _delegate(name: str, made: list[Any]) -> Any:
    """A method of sheaf's estimator where one was trained, else of scikit-learn's class; `made` holds the new class."""

    def whose(self: Any) -> Any:
        inner = self.__dict__.get("_sheaf")
        if inner is None:
            return super(made[0], self)
        known = inner.get_params(deep=False)
        inner.set_params(**{name: value for name, value in self.get_params(deep=False).items() if name in known})
        return inner

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(whose(self), name)(*args, **kwargs)

    method.__name__ = name
    return available_if(lambda self: hasattr(whose(self), name))(method)


def _make(original: Any, kind: type[SheafEstimator]) -> Any:
    """scikit-learn's class, trained by sheaf where that can do what is asked for."""
    signature = inspect.signature(original.fit)

    @functools.wraps(original.fit)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = signature.bind(self, *args, **kwargs)
        self._by_sheaf = False
        self.__dict__.pop("_sheaf", None)
        self._validate_params()
        taken = {name: given.arguments[name] for name in ("X", "y", "sample_weight") if name in given.arguments}
        try:
            ours = _train(self, kind, **taken)
        except (TypeError, ValueError) as wrong:
            original.fit(*given.args, **given.kwargs)  # or says better what is wrong
            _say_once(f"sheaf leaves {original.__name__} to scikit-learn: {wrong}")
            return self
        _keep(self, ours)
        return self

    text = f"scikit-learn's {original.__name__}, trained by sheaf where that can do what is asked for."
    members: dict[str, Any] = {"fit": fit, "__module__": __name__, "__doc__": text}
    made: list[Any] = []
    for name in () if issubclass(kind, LinearMixin) else _METHODS:
        if any(name in vars(base) for base in original.__mro__):
            members[name] = _delegate(name, made)
    made.append(type(original.__name__, (original,), members))
    return made[0]


def __getattr__(name: str) -> Any:
    """The classes, by scikit-learn's names: pickles find them here, in processes without a patch too."""
    for place, names in _PLACES.items():
        if name in names:
            if name not in _made:
                _made[name] = _make(getattr(importlib.import_module(place), name), names[name])
            return _made[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def patch() -> None:
    """Put sheaf's estimators in the place of scikit-learn's, in the modules of scikit-learn.

    Names that were imported before keep what they were. Parameters that sheaf lacks are left to scikit-learn, and a
    warning says so once.
    """
    for place, names in _PLACES.items():
        module = importlib.import_module(place)
        for name in names:
            if (place, name) not in _originals:
                made = __getattr__(name)
                _originals[place, name] = getattr(module, name)
                setattr(module, name, made)


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
