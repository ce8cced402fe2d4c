"""Support vector machines: linear ones, and those with a kernel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import OutlierMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function

from . import _core
from ._base import (
    Array,
    Axis,
    DecisionMixin,
    LinearMixin,
    ProbabilityMixin,
    Setting,
    SheafEstimator,
    WeightedClassifier,
    WeightedRegressor,
    choice,
    close_tolerance,
    is_small,
    number,
)
from ._compat import check_weights, validate
from ._data import back, number_text, to_numpy

__all__ = ["LinearSVC", "LinearSVR", "NuSVC", "NuSVR", "OneClassSVM", "SVC", "SVR"]

_KERNELS = {
    "linear": "linear",
    "poly": "polynomial",
    "rbf": "rbf",
    "sigmoid": "sigmoid",
    "precomputed": "precomputed",
}
_HAVE_GAMMA = ("poly", "rbf", "sigmoid")
_CLOSER, _CLOSEST = 1e-7, 1e-10


class LinearSVC(DecisionMixin, LinearMixin, WeightedClassifier):
    """Linear support vector machine.

    Minimises ``w'w / 2 + C * sum of max(0, 1 - y z)^2`` by Newton's method, or ``w'w / 2 + C * sum of max(0, 1 - y z)``
    by coordinate descent of the dual; the intercept's weight is part of w. Three classes or more are one model each
    against the rest, all of them trained together, or one model of all.

    Parameters
    ----------
    penalty : {'l1', 'l2'}, default='l2'
        The penalty; 'l1': the sum of ``|w|``, with the squared loss, by coordinate descent as elastic nets are trained.
    loss : {'squared_hinge', 'hinge'}, default='squared_hinge'
        The loss.
    dual : bool, default=True
        Taken for scikit-learn's signature; the primal and the dual problem have the same solution.
    tol : float, default=1e-5
        Training stops where the gradient has become this small a share of the one at the start, times the share of the
        rarer class. A tenth of scikit-learn's, so that models of weighted and of repeated rows agree to seven digits.
        With the hinge loss, 'crammer_singer' or the penalty 'l1', where so small a share of what training gains may
        be left.
    C : float, default=1.0
        How much errors weigh against the size of the weights.
    multi_class : {'ovr', 'crammer_singer'}, default='ovr'
        One class against the rest, or one model of all classes, in which `loss` has no meaning.
    intercept_scaling : float, default=1
        The value of the constant feature that the intercept is the weight of; larger ones are penalised less.
    max_iter : int, default=1000
        Most Newton steps.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Newton steps taken.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sheaf import LinearSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(LinearSVC().fit(X, y).score(X, y), 2)
    0.97
    """

    _kind = "linear"
    _axes = {"C": Axis("cost")}

    def __init__(
        self,
        penalty: str = "l2",
        loss: str = "squared_hinge",
        *,
        dual: Any = True,
        tol: float = 1e-5,
        C: float = 1.0,
        multi_class: str = "ovr",
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.loss = loss
        self.dual = dual
        self.tol = tol
        self.C = C
        self.multi_class = multi_class
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        penalty = choice("penalty", self.penalty, {"l1": "l1", "l2": "l2"})
        loss = choice("loss", self.loss, {"squared_hinge": "svm", "hinge": "hinge"})
        crammer_singer = choice("multi_class", self.multi_class, {"ovr": "", "crammer_singer": "crammer-singer"})
        loss = crammer_singer or loss
        if penalty == "l1" and loss != "svm":
            raise ValueError("penalty='l1' takes loss='squared_hinge' and multi_class='ovr'")
        yield Setting("loss", loss, "loss")
        if penalty == "l1":
            yield Setting("penalty", "l1", "penalty")
        yield from _linear_settings(self, by_gradient=loss == "svm" and penalty == "l2")

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        yield close_tolerance(self, X)

    def _keep_fitted(self, X: Any) -> None:
        super()._keep_fitted(X)
        if len(self.classes_) == 2 and len(self.coef_) == 2:  # one model of both
            self.coef_ = self.coef_[1:] - self.coef_[:1]
            self.intercept_ = self.intercept_[1:] - self.intercept_[:1]


def _linear_settings(estimator: Any, by_gradient: bool) -> Iterable[Setting]:
    """Those of LIBLINEAR's solvers, whose intercept is penalised; losses with corners have no gradient."""
    yield number("cost", estimator.C, "C")
    yield Setting("stop", "gradient" if by_gradient else "suboptimality", "tol")
    yield number("max-iterations", estimator.max_iter, "max_iter")
    if not estimator.fit_intercept:
        yield Setting("bias", "0", "fit_intercept")
        return
    if not float(estimator.intercept_scaling) > 0:
        raise ValueError(f"intercept_scaling must be above 0, not {estimator.intercept_scaling!r}")
    yield number("bias", estimator.intercept_scaling, "intercept_scaling")
    yield Setting("penalise-bias", "yes", "intercept_scaling")


class LinearSVR(LinearMixin, WeightedRegressor):
    """Linear support vector regression.

    Minimises ``w'w / 2 + C * sum of max(0, |y - z| - epsilon)^2`` by Newton's method, or the same without the square by
    coordinate descent of the dual; the intercept's weight is part of w.

    Parameters
    ----------
    epsilon : float, default=0.0
        Errors up to it cost nothing.
    tol : float, default=1e-4
        Training stops where the gradient has become this small a share of the one at the start.
    C : float, default=1.0
        How much errors weigh against the size of the weights.
    loss : {'squared_epsilon_insensitive', 'epsilon_insensitive'}, default='squared_epsilon_insensitive'
        The loss; scikit-learn's default is the other one.
    intercept_scaling : float, default=1.0
        The value of the constant feature that the intercept is the weight of; larger ones are penalised less.
    dual : bool, default=True
        Taken for scikit-learn's signature; the primal and the dual problem have the same solution.
    max_iter : int, default=1000
        Most Newton steps, or passes over the rows.

    Attributes
    ----------
    n_iter_ : int
        Newton steps taken, or passes over the rows.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sheaf import LinearSVR
    >>> X, y = make_regression(n_features=4, random_state=0)
    >>> round(LinearSVR().fit(X, y).score(X, y), 3)
    1.0
    """

    _kind = "linear"
    _axes = {"C": Axis("cost")}

    def __init__(
        self,
        *,
        epsilon: float = 0.0,
        tol: float = 1e-4,
        C: float = 1.0,
        loss: str = "squared_epsilon_insensitive",
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        dual: Any = True,
        verbose: int = 0,
        random_state: Any = None,
        max_iter: int = 1000,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.epsilon = epsilon
        self.tol = tol
        self.C = C
        self.loss = loss
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.dual = dual
        self.verbose = verbose
        self.random_state = random_state
        self.max_iter = max_iter
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        known = {"squared_epsilon_insensitive": "svr", "epsilon_insensitive": "epsilon-insensitive"}
        loss = choice("loss", self.loss, known)
        yield Setting("loss", loss, "loss")
        yield number("epsilon", self.epsilon, "epsilon")
        yield from _linear_settings(self, by_gradient=loss == "svr")

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        yield close_tolerance(self, X)


def scale_gamma(X: Any, sample_weight: Any = None) -> float:
    """``1 / (n_features * variance of all values of X)``, rows counting as much as they weigh."""
    X = to_numpy(X)
    columns = X.shape[1]
    if sample_weight is None and not sparse.issparse(X):
        variance = float(X.var())
    else:
        weights = np.ones(X.shape[0]) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        share = weights / (weights.sum() * columns)
        squares = X.multiply(X) if sparse.issparse(X) else np.square(X, dtype=np.float64)
        mean = float(share @ np.asarray(X.sum(axis=1)).ravel())
        variance = float(share @ np.asarray(squares.sum(axis=1)).ravel()) - mean**2
    return float(1.0 / (columns * variance)) if variance > 0 else 1.0


class KernelMixin:
    """What SVMs with a kernel share.

    Parameters
    ----------
    C : float
        How much errors weigh against smoothness.
    kernel : {'linear', 'poly', 'rbf', 'sigmoid', 'precomputed'}
        The kernel. 'precomputed': X holds kernel values, in `fit` those of the training rows with each other.
    degree : int
        Of the polynomial kernel.
    gamma : {'scale', 'auto'} or float
        Of the kernel; 'scale': 1 / (n_features * variance of X), 'auto': 1 / n_features.
    coef0 : float
        Of the polynomial and sigmoid kernels.
    nu : float
        Upper bound of the share of rows with errors, lower bound of that of support vectors.
    shrinking : bool
        Taken for scikit-learn's signature; working sets stand in for it.
    tol : float
        Training stops where the optimality conditions are violated by less. Up to 200 rows with the kernel 'rbf' it
        goes on to 1e-7 of that (times C), which costs little: the result does not depend on the order of rows.
    cache_size : float
        Taken for scikit-learn's signature; the library takes what memory is free.
    max_iter : int
        Most steps of one SVM; -1: the larger one of 10,000,000 and 100 a row.

    Attributes
    ----------
    support_ : ndarray of shape (n_SV,)
        The training rows that are support vectors, by class.
    support_vectors_ : ndarray or sparse matrix of shape (n_SV, n_features)
        The support vectors.
    n_support_ : ndarray
        How many there are, of classes how many of each.
    dual_coef_ : ndarray
        Their coefficients, laid out as in scikit-learn.
    intercept_ : ndarray
        One number for each SVM.
    coef_ : ndarray
        Weights of features; linear kernels only.
    n_iter_ : ndarray
        Iterations of each SVM.
    """

    _kind = "svm"
    _svm_type: str
    _model: _core.Model
    kernel: Any
    gamma: Any
    classes_: Array
    n_features_in_: int

    def _svm_settings(self) -> Iterable[Setting]:
        estimator: Any = self
        if callable(self.kernel):
            raise ValueError("kernel must be a name; compute a callable's values and use kernel='precomputed'")
        yield Setting("type", self._svm_type, "type")
        yield Setting("kernel", choice("kernel", self.kernel, _KERNELS), "kernel")
        yield number("degree", estimator.degree, "degree")
        yield number("coef0", estimator.coef0, "coef0")
        if estimator.max_iter != -1:
            yield number("max-iterations", estimator.max_iter, "max_iter")

    def _active_axes(self) -> Mapping[str, Axis]:
        estimator: Any = self
        applies = {"gamma": self.kernel in _HAVE_GAMMA, "degree": self.kernel == "poly"}
        return {name: axis for name, axis in estimator._axes.items() if applies.get(name, True)}

    def _reads_rows(self) -> bool:
        return self.kernel in _HAVE_GAMMA and isinstance(self.gamma, str)

    def _tolerance_for(self, X: Any) -> float:
        """Few rows are trained so closely that the result does not depend on their order.

        Only where rounding is sure to be less than that: of kernel values up to 1, and in units of C.
        """
        estimator: Any = self
        if self.kernel != "rbf" or not is_small(estimator, X):
            return float(estimator.tol)
        unit = max(1.0, float(getattr(self, "C", 1.0)))
        return min(float(estimator.tol), max(_CLOSER * float(estimator.tol), _CLOSEST) * unit)

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        if self.kernel == "precomputed" and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"Precomputed matrix must be a square matrix. Input is a {X.shape[0]}x{X.shape[1]} matrix."
            )
        yield Setting("tolerance", number_text(self._tolerance_for(X)), "tol")
        if self.kernel not in _HAVE_GAMMA:
            return
        yield Setting("gamma", number_text(self._gamma_for(X, sample_weight)), "gamma")

    def _gamma_for(self, X: Any, sample_weight: Any) -> float:
        if isinstance(self.gamma, str):
            if self.gamma not in ("scale", "auto"):
                raise ValueError(f"gamma must be 'scale', 'auto' or a number above 0, not {self.gamma!r}")
            return scale_gamma(X, sample_weight) if self.gamma == "scale" else 1.0 / int(X.shape[1])
        if not float(self.gamma) > 0:
            raise ValueError(f"gamma must be 'scale', 'auto' or a number above 0, not {self.gamma!r}")
        return float(self.gamma)

    def _keep_fitted(self, X: Any) -> None:
        found = self._model.support()
        self.support_ = found["rows"].astype(np.int32)
        vectors = found["vectors"]
        if isinstance(vectors, dict):
            parts = vectors["values"], vectors["indices"], vectors["offsets"]
            vectors = sparse.csr_matrix(parts, shape=(len(self.support_), self.n_features_in_))
            vectors = vectors if sparse.issparse(X) else vectors.toarray()
        elif sparse.issparse(X) and vectors is not None:
            vectors = sparse.csr_matrix(vectors)
        self.support_vectors_ = np.empty((0, 0)) if vectors is None else vectors
        iterations = np.maximum(self._model.iterations(), 1).astype(np.int32)
        self.n_iter_ = iterations if hasattr(self, "classes_") else int(iterations[0])
        self.shape_fit_ = X.shape
        self.fit_status_ = 1 if self._model.warnings else 0
        self._keep_coefficients(found)

    def _keep_coefficients(self, found: dict[str, Any]) -> None:
        """As LIBSVM and scikit-learn lay them out: of the SVM of classes i < j, those of class i in row j - 1."""
        count = len(self.support_)
        classes = found["classes"]
        number_of_classes = len(self.classes_) if hasattr(self, "classes_") else 0
        self.dual_coef_ = np.zeros((max(number_of_classes - 1, 1), count))
        self.n_support_ = np.bincount(classes, minlength=number_of_classes).astype(np.int32)
        if number_of_classes == 0:
            self.n_support_ = np.array([count], dtype=np.int32)
        pairs = [(i, j) for i in range(number_of_classes) for j in range(i + 1, number_of_classes)]
        ends = np.searchsorted(found["svm"], np.arange(1, len(found["rho"])))
        rows_of_svms, values_of_svms = np.split(found["vector"], ends), np.split(found["value"], ends)
        for k, (rows, values) in enumerate(zip(rows_of_svms, values_of_svms)):
            if number_of_classes <= 2:
                self.dual_coef_[0, rows] = values
                continue
            first, second = pairs[k]
            self.dual_coef_[np.where(classes[rows] == first, second - 1, first), rows] = values
        self.intercept_ = -found["rho"]
        self._gamma_used = found["gamma"]
        self._probA, self._probB = found["sigmoid_a"], found["sigmoid_b"]
        if number_of_classes == 2:
            self.dual_coef_, self.intercept_ = -self.dual_coef_, -self.intercept_
        if sparse.issparse(self.support_vectors_):
            self.dual_coef_ = sparse.csr_matrix(self.dual_coef_)

    def _libsvm_attributes(self) -> dict[str, Any]:
        """What scikit-learn's classes keep beside the attributes that users read, with LIBSVM's signs."""
        sign = -1 if len(getattr(self, "classes_", ())) == 2 else 1
        return {
            "_dual_coef_": sign * self.dual_coef_,
            "_gamma": self._gamma_used,
            "_intercept_": sign * self.intercept_,
            "_n_support": self.n_support_,
            "_num_iter": np.array(self.n_iter_, ndmin=1),
            "_probA": self._probA,
            "_probB": self._probB,
            "_sparse": sparse.issparse(self.support_vectors_),
        }

    @property
    def coef_(self) -> Any:
        """Weights of features; linear kernels only."""
        if self.kernel != "linear":
            raise AttributeError("coef_ is only available when using a linear kernel")
        if self.dual_coef_.shape[0] == 1:
            return self.dual_coef_ @ self.support_vectors_
        ends = np.concatenate([[0], np.cumsum(self.n_support_)])
        rows = []
        for i in range(len(self.n_support_)):
            for j in range(i + 1, len(self.n_support_)):
                mine, other = slice(ends[i], ends[i + 1]), slice(ends[j], ends[j + 1])
                rows.append(
                    self.dual_coef_[j - 1, mine] @ self.support_vectors_[mine]
                    + self.dual_coef_[i, other] @ self.support_vectors_[other]
                )
        return sparse.vstack(rows).tocsr() if sparse.issparse(self.dual_coef_) else np.vstack(rows)

    def _more_tags(self) -> dict[str, Any]:
        return {"preserves_dtype": [], "pairwise": self.kernel == "precomputed"}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags


_KERNEL_AXES = {
    "gamma": Axis("gamma"),
    "degree": Axis("degree", whole=True),
}


class _KernelClassifier(DecisionMixin, ProbabilityMixin, KernelMixin, WeightedClassifier):
    """SVC and NuSVC: one SVM for each pair of classes.

    Parameters
    ----------
    probability : bool
        Train for probabilities too, by five folds within the training rows (Platt).
    decision_function_shape : {'ovr', 'ovo'}
        Of three classes or more: a decision value for each class, or for each pair.
    break_ties : bool
        Predict by the decision values of classes where votes are equal.
    random_state : int, RandomState instance or None
        Deals the rows to the folds of `probability`.
    """

    probability: bool
    break_ties: bool
    decision_function_shape: str

    def _settings(self) -> Iterable[Setting]:
        choice("decision_function_shape", self.decision_function_shape, {"ovr": "", "ovo": ""})
        if self.break_ties and self.decision_function_shape == "ovo":
            raise ValueError("break_ties must be False when decision_function_shape is 'ovo'")
        yield from self._svm_settings()
        yield Setting("probability", "yes" if self.probability else "no", "probability")

    def _by_class(self, decisions: Array) -> Array:
        if len(self.classes_) == 2:
            return -decisions[:, 0]
        if self.decision_function_shape == "ovo":
            return decisions
        values: Array = _ovr_decision_function(decisions < 0, -decisions, len(self.classes_))
        return values

    def predict(self, X: Any) -> Array:
        """Predict the class of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; for kernel='precomputed' their kernel values with the training rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            One of ``classes_`` for each row.
        """
        decisions, classes, _ = self._predict(X)
        if self.break_ties and len(self.classes_) > 2:
            classes = self._by_class(decisions).argmax(axis=1)
        labels: Array = back(self.classes_[classes], X)
        return labels

    def _has_probabilities(self) -> bool:
        if not self.probability:
            raise AttributeError("predict_proba is not available when probability=False")
        return True

    def _class_shares(self, X: Any) -> Array:
        if hasattr(self, "_probA") and len(self._probA) == 0:
            raise NotFittedError("predict_proba is not available when fitted with probability=False")
        return super()._class_shares(X)

    predict_proba = available_if(_has_probabilities)(ProbabilityMixin.predict_proba)
    predict_log_proba = available_if(_has_probabilities)(ProbabilityMixin.predict_log_proba)


class SVC(_KernelClassifier):
    """Support vector machine with a kernel, for classes.

    Three classes or more are one SVM for each pair, all of them trained together over one set of kernel values.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sheaf import SVC
    >>> X, y = load_iris(return_X_y=True)
    >>> model = SVC(C=10).fit(X, y)
    >>> round(model.score(X, y), 2)
    0.99
    """

    _svm_type = "c-svc"
    _axes = {"C": Axis("cost"), **_KERNEL_AXES}

    def __init__(
        self,
        *,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        class_weight: Any = None,
        verbose: int = 0,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.class_weight = class_weight
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        yield from super()._settings()
        yield number("cost", self.C, "C")


class NuSVC(_KernelClassifier):
    """Support vector machine with a kernel, for classes, whose errors are limited by a share.

    It has no class weights, which would be ignored, as scikit-learn's are.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sheaf import NuSVC
    >>> X, y = load_iris(return_X_y=True)
    >>> round(NuSVC(nu=0.1).fit(X, y).score(X, y), 2)
    0.99
    """

    _svm_type = "nu-svc"
    _axes = _KERNEL_AXES

    def __init__(
        self,
        *,
        nu: float = 0.5,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        probability: bool = False,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: int = 0,
        max_iter: int = -1,
        decision_function_shape: str = "ovr",
        break_ties: bool = False,
        random_state: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.nu = nu
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.probability = probability
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.decision_function_shape = decision_function_shape
        self.break_ties = break_ties
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        yield from super()._settings()
        yield number("nu", self.nu, "nu")


class SVR(KernelMixin, WeightedRegressor):
    """Support vector regression with a kernel.

    Parameters
    ----------
    epsilon : float, default=0.1
        Errors up to it cost nothing.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import SVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> round(SVR(C=10).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])), 2)
    0.99
    """

    _svm_type = "epsilon-svr"
    _axes = {"C": Axis("cost"), **_KERNEL_AXES}

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        C: float = 1.0,
        epsilon: float = 0.1,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: int = 0,
        max_iter: int = -1,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.C = C
        self.epsilon = epsilon
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        yield from self._svm_settings()
        yield number("cost", self.C, "C")
        yield number("epsilon", self.epsilon, "epsilon")


class NuSVR(KernelMixin, WeightedRegressor):
    """Support vector regression with a kernel, whose errors are limited by a share.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import NuSVR
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> round(NuSVR(C=10).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])), 2)
    1.0
    """

    _svm_type = "nu-svr"
    _axes = {"C": Axis("cost"), **_KERNEL_AXES}

    def __init__(
        self,
        *,
        nu: float = 0.5,
        C: float = 1.0,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        shrinking: bool = True,
        tol: float = 1e-3,
        cache_size: float = 200,
        verbose: int = 0,
        max_iter: int = -1,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.nu = nu
        self.C = C
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.shrinking = shrinking
        self.tol = tol
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        yield from self._svm_settings()
        yield number("cost", self.C, "C")
        yield number("nu", self.nu, "nu")


class OneClassSVM(OutlierMixin, KernelMixin, SheafEstimator):  # type: ignore[misc]
    """Support vector machine of a single class, which finds rows unlike those it was trained on.

    Parameters
    ----------
    nu : float, default=0.5
        Upper bound of the share of training rows outside, lower bound of that of support vectors.

    Attributes
    ----------
    offset_ : float
        ``decision_function`` is ``score_samples`` less this.

    Examples
    --------
    >>> from sheaf import OneClassSVM
    >>> X = [[0], [0.44], [0.45], [0.46], [1]]
    >>> OneClassSVM(gamma='auto').fit(X).predict(X)
    array([-1,  1,  1,  1, -1])
    """

    _svm_type = "one-class"

    def __init__(
        self,
        *,
        kernel: Any = "rbf",
        degree: int = 3,
        gamma: Any = "scale",
        coef0: float = 0.0,
        tol: float = 1e-3,
        nu: float = 0.5,
        shrinking: bool = True,
        cache_size: float = 200,
        verbose: int = 0,
        max_iter: int = -1,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.tol = tol
        self.nu = nu
        self.shrinking = shrinking
        self.cache_size = cache_size
        self.verbose = verbose
        self.max_iter = max_iter
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        yield from self._svm_settings()
        yield number("nu", self.nu, "nu")

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Train on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : Ignored
            Not used.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; None: 1. A row of weight 2 is two rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X = validate(self, X)
        closeness = self._tolerance_for(X)
        self._boundary = 10 * closeness if closeness < self.tol else 0.0
        self._train(X, None, check_weights(sample_weight, X))
        return self

    def _set_target(self, dataset: _core.Dataset, y: Any) -> None:
        """There is none."""

    def _distances(self, X: Any) -> Array:
        """Decision values; those that training leaves open between just below and just above 0 are 0."""
        values: Array = np.array(self._predict(X)[0][:, 0])
        values[np.abs(values) <= self._boundary] = 0
        return values

    def _keep_fitted(self, X: Any) -> None:
        super()._keep_fitted(X)
        self.offset_ = float(-self.intercept_[0])

    def decision_function(self, X: Any) -> Array:
        """How far within the learnt region rows are.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            Below 0 outside.
        """
        values: Array = back(self._distances(X), X)
        return values

    def score_samples(self, X: Any) -> Array:
        """Decision values without the offset.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples,)
            ``decision_function`` plus ``offset_``.
        """
        return self.decision_function(X) + self.offset_

    def predict(self, X: Any) -> Array:
        """Whether rows are like those of the training.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            1 within, -1 outside.
        """
        labels: Array = back(np.where(self._distances(X) >= 0, 1, -1), X)
        return labels
