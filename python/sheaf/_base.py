"""What all estimators share: parameters become options of the C++ library, data become datasets, models predict."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._compat import check_weights, validate
from ._data import back, class_names, dtype_of, is_on_gpu, make_context, make_dataset, number_text, to_numpy
from ._docs import Documented

Array = np.ndarray[Any, Any]
_FEW_ROWS, _FEW_VALUES = 200, 20000
_NAMES_OF_COMMANDS = {
    "sheaf search": "SheafSearchCV",
    "sheaf select": "InformationSelector",
    " (--ignore)": "",
    "say --missing-codes with that value, and fill in: --impute median": "make it NaN, and fill in (SimpleImputer)",
    "say --missing-codes if": "make it NaN if",
}


def is_small(estimator: Any, X: Any) -> bool:
    """Whether values are so few, and of double precision, that training more closely than `tol` asks costs nothing."""
    single = estimator.precision == "float32" or (estimator.precision == "auto" and str(X.dtype).endswith("float32"))
    return X.shape[0] <= _FEW_ROWS and X.shape[0] * X.shape[1] <= _FEW_VALUES and not single


@dataclass(frozen=True)
class Setting:
    """An option of the C++ library as an estimator's parameters give it."""

    name: str  #: in the parameter table
    text: Any  #: or numbers, one for each row or feature
    parameter: str  #: of the estimator, for messages


@dataclass(frozen=True)
class Axis:
    """A parameter that one C++ search varies."""

    option: str  #: its name among the options of a model
    value: Callable[[Any], float | str] = float  #: the value that a parameter of the estimator stands for
    whole: bool = False  #: whether it is a whole number
    per_weight: bool = False  #: whether the option is the value divided by the weight of all training rows

    def text(self, value: float | str) -> str:
        if isinstance(value, str):
            return value
        return number_text(int(value) if self.whole else value)


def number(name: str, value: Any, parameter: str) -> Setting:
    """The setting of a number; anything else is a ValueError that names the parameter."""
    try:
        return Setting(name, number_text(value), parameter)
    except (TypeError, ValueError):
        raise ValueError(f"{parameter} must be a number, not {value!r}") from None


def close_tolerance(estimator: Any, X: Any) -> Setting:
    """Few rows are trained so closely that weights and repeated rows give the same model."""
    tolerance = number("tolerance", estimator.tol, "tol")
    if not is_small(estimator, X):
        return tolerance
    return Setting("tolerance", number_text(min(estimator.tol, max(1e-3 * estimator.tol, 1e-10))), "tol")


def choice(parameter: str, value: Any, known: Mapping[Any, str]) -> str:
    """The name that the C++ library has for a value of a parameter."""
    if value not in known:
        raise ValueError(f"{parameter} must be one of {', '.join(map(repr, known))}, not {value!r}")
    return known[value]


def check_squares(X: Any) -> None:
    """Values whose squares are infinite are a ValueError."""
    values = X.data if hasattr(X, "indptr") else X
    if is_on_gpu(X) or values.size == 0:
        return
    largest = max(float(values.max()), -float(values.min()))
    if largest > np.sqrt(np.finfo(dtype_of(X)).max):
        raise ValueError(f"X has values that are too large, up to {largest:.3g} in size: scale the features")


def in_own_words(text: str, names: Mapping[str, str] = MappingProxyType({})) -> str:
    """A message of the library with the names that users of this package know: those of flags, or of `names`."""
    text = text.removeprefix("memory: ")  # in place of a file's name
    for program, name in _NAMES_OF_COMMANDS.items():
        text = text.replace(program, name)
    text = re.sub(r"(?<!-)-[a-z] \d+, ", "", text)  # LIBSVM's spelling of the same

    def spell(flag: re.Match[str]) -> str:
        name = names.get(flag[1], flag[1].replace("-", "_"))
        return f"{name}={flag[2]}" if flag[2] else name

    return re.sub(r"--([a-z][a-z0-9-]*)(?: (\d[\d.e+-]*\d|\d))?", spell, text)


class SheafEstimator(Documented, BaseEstimator):  # type: ignore[misc]
    """A model of the C++ library. Subclasses say its kind, its settings and what a search can vary."""

    _kind: ClassVar[str]
    _squares_values: ClassVar[bool] = True  #: whether training computes products of features
    _axes: ClassVar[Mapping[str, Axis]] = {}

    device: str
    precision: str
    n_threads: int | None

    def _settings(self) -> Iterable[Setting]:
        """The settings that parameters say by themselves."""
        raise NotImplementedError

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        """Those that depend on the rows that are trained on."""
        return ()

    def _target_settings(self, y: Any, sample_weight: Any) -> Iterable[Setting]:
        """Those that depend on the targets of the rows that are trained on."""
        return ()

    def _label_settings(self) -> Iterable[Setting]:
        """Those that depend on the classes."""
        return ()

    def _active_axes(self) -> Mapping[str, Axis]:
        """What a search can vary at the other parameters' values."""
        return self._axes

    def _total_weight(self, y: Any, sample_weight: Any) -> float:
        """The weight of all training rows."""
        return float(len(y) if sample_weight is None else np.sum(sample_weight))

    def _weighted_settings(self, y: Any, sample_weight: Any) -> Iterable[Setting]:
        """Those that depend on the weight of the rows that are trained on."""
        for name, axis in self._active_axes().items():
            if axis.per_weight:
                value = float(axis.value(getattr(self, name))) / self._total_weight(y, sample_weight)
                yield Setting(axis.option, number_text(value), name)

    def _reads_rows(self) -> bool:
        """Whether settings follow from the values of the training rows, and not from their number alone."""
        return False

    def _model_kind(self) -> str:
        return self._kind

    def _make_options(self, settings: Iterable[Setting]) -> _core.Options:
        options = _core.Options(self._model_kind())
        for setting in settings:
            try:
                options.set(setting.name, setting.text)
            except ValueError as wrong:
                text = str(wrong).replace(setting.name, setting.parameter)
                raise ValueError(f"{type(self).__name__}: parameter {setting.parameter}: {text}") from None
        return options

    def _in_own_words(self, text: str, settings: Iterable[Setting]) -> str:
        """A message of the library with the names that users of this package know."""
        return in_own_words(
            text, {setting.name: setting.parameter for setting in settings if setting.parameter in self._axes}
        )

    def _context(self) -> _core.Context:
        return self._context_for(getattr(self, "verbose", 0))

    def _context_for(self, verbose: int) -> _core.Context:
        seed = getattr(self, "random_state", None)
        if seed is not None and not isinstance(seed, (int, np.integer)):
            seed = seed.randint(2**31 - 1)
        return make_context(self, seed=int(seed or 0), verbose=verbose)

    def _dataset(self, context: _core.Context, X: Any, *, named: bool = False, missing: bool = False) -> _core.Dataset:
        names = getattr(self, "feature_names_in_", ()) if named else ()
        names = [str(name) for name in names]
        if len(set(names)) < len(names):
            names = []
        return make_dataset(
            context, X, precision=self.precision, names=names, missing=missing, device=str(self.device)
        )

    def _set_target(self, dataset: _core.Dataset, y: Any) -> None:
        raise NotImplementedError

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Trains on data that have been validated."""
        if self._squares_values:
            check_squares(X)
        context = self._context()
        self._train_on(context, self._dataset(context, X, named=True), X, y, sample_weight)

    def _train_on(self, context: _core.Context, dataset: _core.Dataset, X: Any, y: Any, sample_weight: Any) -> None:
        settings = (
            *self._settings(),
            *self._settings_for(X, sample_weight),
            *self._target_settings(y, sample_weight),
            *self._label_settings(),
            *self._weighted_settings(y, sample_weight),
        )
        options = self._make_options(settings)
        self._set_target(dataset, y)
        try:
            self._model = _core.fit(context, dataset, options, sample_weight)
        except ValueError as wrong:
            raise ValueError(self._in_own_words(str(wrong), settings)) from None
        for warning in self._model.warnings:
            warnings.warn(self._in_own_words(warning, settings), ConvergenceWarning, stacklevel=3)
        self._keep_fitted(X)
        self._check_finite()

    def _check_finite(self) -> None:
        for name in ("coef_", "intercept_", "dual_coef_"):
            values = vars(self).get(name, 0.0)
            if not np.isfinite(values.data if hasattr(values, "indptr") else values).all():
                raise ValueError(f"{name} is not finite: X may have values that are too large; scale the features")

    def _keep_fitted(self, X: Any) -> None:
        """Sets the attributes that users read, from the model."""

    def _predict(self, X: Any, probabilities: bool = False) -> tuple[Array, Any, Any]:
        check_is_fitted(self)
        X = validate(self, X, reset=False)
        context = self._context()
        found = self._model.predict(context, self._dataset(context, X), probabilities)
        return found["decisions"], found["classes"], found.get("probabilities")

    def _class_numbers(self, X: Any) -> Array:
        """The place in ``classes_`` of each row's class."""
        numbers: Array = self._predict(X)[1]
        return numbers

    def _class_shares(self, X: Any) -> Array:
        """Probabilities, rows x classes."""
        shares: Array = self._predict(X, probabilities=True)[2]
        return shares

    def _class_values(self, X: Any) -> Array:
        """Decision values in scikit-learn's shape."""
        values: Array = self._by_class(self._predict(X)[0])
        return values

    def _numbers(self, X: Any) -> Array:
        """Predictions of a numeric target."""
        return self._predict(X)[0][:, 0]

    def save_model(self, path: str) -> None:
        """Writes the fitted model as a file that the command-line program reads.

        Parameters
        ----------
        path : str
            The file to write.
        """
        check_is_fitted(self)
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._model.text())

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": []}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class PredictsClasses:
    """Predicts classes, of which there are those of the training rows.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending.
    """

    _least_classes: ClassVar[int] = 2
    classes_: Array

    def _take_classes(self, y: Any, sample_weight: Any = None) -> Array:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        present = len(self.classes_) if sample_weight is None else len(np.unique(codes[sample_weight > 0]))
        if present < self._least_classes:
            where = "" if sample_weight is None else " among the rows whose sample_weight is above 0"
            raise ValueError(f"{type(self).__name__} needs rows of at least 2 classes, got 1 class{where}")
        numbers: Array = codes.astype(np.int32)
        return numbers

    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            One of ``classes_`` for each row.
        """
        labels: Array = back(self._class_labels(X), X)
        return labels

    def _class_labels(self, X: Any) -> Array:
        """The class of each row."""
        numbers = self._class_numbers(X)  # type: ignore[attr-defined]
        labels: Array = self.classes_[numbers]
        return labels


class SheafClassifier(PredictsClasses, ClassifierMixin, SheafEstimator):  # type: ignore[misc]
    """A model of classes."""

    class_weight: Any = None

    def _set_target(self, dataset: _core.Dataset, y: Any) -> None:
        dataset.set_classes(y, class_names(self.classes_))

    def _label_settings(self) -> Iterable[Setting]:
        if self.class_weight is None:
            return
        if isinstance(self.class_weight, str):
            yield Setting("class-weight", self.class_weight, "class_weight")
            return
        names = dict(zip(self.classes_.tolist(), class_names(self.classes_)))
        for label, weight in dict(self.class_weight).items():
            if label in names:
                yield Setting("class-weight", f"{names[label]}={number_text(weight)}", "class_weight")

    def _total_weight(self, y: Any, sample_weight: Any) -> float:
        count = len(self.classes_)
        totals = np.bincount(y, sample_weight, minlength=count)
        if isinstance(self.class_weight, str):  # 'balanced'
            rows = np.bincount(y, minlength=count)
            return float(np.sum(totals * len(y) / (count * np.maximum(rows, 1))))
        factors = dict(self.class_weight or {})
        return float(sum(total * factors.get(label, 1) for total, label in zip(totals, self.classes_.tolist())))


class WeightedClassifier(SheafClassifier):
    """One whose rows may have weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. C-ordered arrays of float32 or float64 and CSR matrices are used without a copy.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; None: 1. A row of weight 2 is two rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate(self, X, y)
        sample_weight = check_weights(sample_weight, X)
        codes = self._take_classes(y, sample_weight)
        self._train(X, codes, sample_weight)
        return self


class DecisionMixin:
    """Decision values, for models of classes that have them."""

    classes_: Array

    def _by_class(self, decisions: Array) -> Array:
        """Decision values in scikit-learn's shape: of two classes one value, which speaks for the second."""
        return -decisions[:, 0] if len(self.classes_) == 2 else decisions

    def decision_function(self, X: Any) -> Array:
        """Decision values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes above 0 where the second is predicted; else one value for each class.
        """
        values: Array = back(self._class_values(X), X)  # type: ignore[attr-defined]
        return values


class ProbabilityMixin:
    """Probabilities of classes, for models that have them."""

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``; rows add up to 1.
        """
        shares: Array = back(self._class_shares(X), X)  # type: ignore[attr-defined]
        return shares

    def predict_log_proba(self, X: Any) -> Array:
        """Logarithms of the probabilities of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``.
        """
        return np.log(self.predict_proba(X))


class PredictsNumbers:
    """Predicts a number for each row."""

    def _validated(self, X: Any, y: Any) -> tuple[Any, Any]:
        X, y = validate(self, X, y, y_numeric=True, multi_output=True)
        return X, column_or_1d(y, warn=True)

    def predict(self, X: Any) -> Array:
        """Predict the number of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            The predictions.
        """
        values: Array = back(self._numbers(X), X)  # type: ignore[attr-defined]
        return values


class SheafRegressor(PredictsNumbers, RegressorMixin, SheafEstimator):  # type: ignore[misc]
    """A model of a numeric target."""

    def _set_target(self, dataset: _core.Dataset, y: Any) -> None:
        dataset.set_numbers(np.ascontiguousarray(y, dtype=np.float64))


class WeightedRegressor(SheafRegressor):
    """One whose rows may have weights."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. C-ordered arrays of float32 or float64 and CSR matrices are used without a copy.
        y : array-like of shape (n_samples,)
            The number to predict for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; None: 1. A row of weight 2 is two rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = self._validated(X, y)
        self._train(X, y, check_weights(sample_weight, X))
        return self


def linear_values(estimator: Any, X: Any) -> Array:
    """``X w + b``: one number for each row or, of several rows of ``coef_``, a column for each."""
    if "coef_" not in vars(estimator):
        check_is_fitted(estimator)
    X = validate(estimator, X, reset=False)
    if is_on_gpu(X):
        products = to_numpy(X @ back(estimator.coef_.T.astype(dtype_of(X)), X))
    else:
        products = safe_sparse_dot(X, estimator.coef_.T, dense_output=True)
    values: Array = products + getattr(estimator, "intercept_", 0.0)
    return values


class LinearMixin:
    """Weights and intercepts of linear models, which predict by them as they stand: users may change them.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of features.
    intercept_ : float
        The intercept.
    """

    coef_: Array
    intercept_: Any
    n_iter_: Any
    _model: _core.Model

    def _keep_fitted(self, X: Any) -> None:
        estimator: Any = self
        kind = np.float32 if dtype_of(X) == np.float32 and estimator.precision != "float64" else np.float64
        weights, intercepts = (values.astype(kind) for values in self._model.coefficients())
        iterations = np.maximum(self._model.iterations(), 1)
        if isinstance(self, RegressorMixin):
            self.coef_, self.intercept_ = weights[:, 0].copy(), intercepts[0]
            self.n_iter_ = int(iterations[0])
            return
        sign = kind(-1 if weights.shape[1] == 1 else 1)
        self.coef_ = np.ascontiguousarray(sign * weights.T)
        self.intercept_ = sign * intercepts
        self.n_iter_ = iterations.astype(np.int32)

    def _linear_values(self, X: Any) -> Array:
        return linear_values(self, X)

    def _class_values(self, X: Any) -> Array:
        values = self._linear_values(X)
        return values[:, 0] if values.shape[1] == 1 else values

    def _class_numbers(self, X: Any) -> Array:
        values = self._class_values(X)
        numbers: Array = (values > 0).astype(np.intp) if values.ndim == 1 else values.argmax(axis=1)
        return numbers

    def _class_shares(self, X: Any) -> Array:
        """Of one class against the rest: shares of the rows' probabilities."""
        values = self._linear_values(X)
        if values.shape[1] == 1:
            return np.hstack([expit(-values), expit(values)])
        shares = expit(values)
        normalised: Array = shares / shares.sum(axis=1, keepdims=True)
        return normalised

    def _numbers(self, X: Any) -> Array:
        return self._linear_values(X)
