"""Linear models: logistic regression, ridge regression and, from their own file, elastic nets."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from scipy.sparse import issparse
from scipy.special import log_expit, softmax
from sklearn.utils import _safe_indexing

from . import _core
from ._base import (
    Array,
    Axis,
    DecisionMixin,
    LinearMixin,
    ProbabilityMixin,
    Setting,
    WeightedClassifier,
    WeightedRegressor,
    check_squares,
    choice,
    close_tolerance,
    is_small,
    number,
)
from ._compat import check_weights, validate
from ._data import number_text, target_names
from .elastic_net import (
    ElasticNet,
    ElasticNetHuber,
    ElasticNetLogistic,
    Lasso,
    MultiTaskElasticNet,
    MultiTaskLasso,
    QuantileRegressor,
)

__all__ = [
    "ElasticNet",
    "ElasticNetHuber",
    "ElasticNetLogistic",
    "Lasso",
    "LogisticRegression",
    "MultiTaskElasticNet",
    "MultiTaskLasso",
    "QuantileRegressor",
    "Ridge",
]


_FEW_FEATURES = 256


def _is_narrow(X: Any) -> bool:
    """Whether a product of all features with all features costs less than steps over the rows."""
    return not issparse(X) and X.shape[1] <= _FEW_FEATURES


def _inverse_of_cost(C: Any) -> float:
    number("cost", C, "C")
    if not float(C) > 0:
        raise ValueError(f"C must be above 0, not {C!r}")
    return 1 / float(C)


class LogisticRegression(DecisionMixin, ProbabilityMixin, LinearMixin, WeightedClassifier):
    """Logistic regression with an L2 penalty, by Newton's method.

    Minimises ``w'w / 2 + C * sum of log(1 + exp(-y z))`` or, of three classes or more, ``w'w / 2 - C * sum of log
    probabilities`` of the rows' classes by the softmax of a decision value for each; the intercept is not penalised.

    Parameters
    ----------
    penalty : {'l2', 'l1', 'elasticnet', None}, default='l2'
        The penalty. With 'l1' and 'elasticnet', three classes or more are each against the rest (`multi_class='ovr'` or
        `solver='liblinear'`). None needs more rows than weights of a decision value.
    dual : bool, default=False
        Taken for scikit-learn's signature; must be False.
    tol : float, default=1e-4
        Training stops where the gradient has become this small a share of the one at the start (of two classes, times
        the share of the rarer class) and at most this share of the objective is left, by a bound.
    C : float, default=1.0
        How much errors weigh against the size of the weights; infinity is ``penalty=None``.
    intercept_scaling : float, default=1
        Taken for scikit-learn's signature; the intercept is not penalised.
    solver : str, default='lbfgs'
        Taken for scikit-learn's signature; the number of weights decides. 'liblinear': one class against the rest.
    max_iter : int, default=100
        Most steps.
    multi_class : {'auto', 'multinomial', 'ovr'}, default='auto'
        Three classes or more: one model of all ('auto', 'multinomial'), or each against the rest ('ovr').
    l1_ratio : float, default=None
        The L1 penalty's share with 'elasticnet', 0 to 1.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Steps taken; one number for a model of all classes.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sheaf import LogisticRegression
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = LogisticRegression().fit(scale(X), y)
    >>> round(model.score(scale(X), y), 2)
    0.99
    """

    _kind = "linear"
    _axes = {"C": Axis("cost")}
    #: Generalised linear models penalise the mean loss: alpha = 1 / (C * weight of all rows).
    _glm_axes = {"C": Axis("alpha", _inverse_of_cost, per_weight=True)}
    _net_axes = {**_glm_axes, "l1_ratio": Axis("l1-ratio")}
    _lasso_axes = {**_glm_axes, "penalty": Axis("l1-ratio", lambda penalty: 1.0)}

    def __init__(
        self,
        penalty: Any = "l2",
        *,
        dual: bool = False,
        tol: float = 1e-4,
        C: float = 1.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1,
        class_weight: Any = None,
        random_state: Any = None,
        solver: str = "lbfgs",
        max_iter: int = 100,
        multi_class: str = "auto",
        verbose: int = 0,
        warm_start: bool = False,
        n_jobs: Any = None,
        l1_ratio: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.penalty = penalty
        self.dual = dual
        self.tol = tol
        self.C = C
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.class_weight = class_weight
        self.random_state = random_state
        self.solver = solver
        self.max_iter = max_iter
        self.multi_class = multi_class
        self.verbose = verbose
        self.warm_start = warm_start
        self.n_jobs = n_jobs
        self.l1_ratio = l1_ratio
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        if self.penalty not in ("l2", "l1", "elasticnet", "deprecated", None, "none"):
            raise ValueError(f"penalty must be 'l2', 'l1', 'elasticnet' or None, not {self.penalty!r}")
        choice("multi_class", self.multi_class, {"auto": "", "multinomial": "", "ovr": "", "deprecated": ""})
        if self.dual or self.warm_start:
            raise ValueError("dual and warm_start must be False")
        if self.multi_class == "multinomial" and self._class_count() == 2:
            raise ValueError("multi_class='multinomial' is for three classes or more, and there are 2")
        if self._is_unpenalised() and self._class_count() > 2 and not self._is_multinomial():
            raise ValueError("without a penalty, three classes or more must be one model, not each against the rest")
        if self._l1_share() > 0:
            if self._is_multinomial():
                raise ValueError("three classes or more must be each against the rest (multi_class='ovr') with an L1 penalty")
            yield Setting("labels", "classes", "y")
            yield number("l1-ratio", self._l1_share(), "l1_ratio")
            yield number("max-epochs", self.max_iter, "max_iter")
            yield Setting("intercept", "yes" if self.fit_intercept else "no", "fit_intercept")
            return
        if self._model_kind() == "multinomial":
            if self._is_unpenalised():
                yield Setting("alpha", "0", "penalty")
            yield number("tolerance", self.tol, "tol")
            yield number("max-iterations", self.max_iter, "max_iter")
            yield Setting("intercept", "yes" if self.fit_intercept else "no", "fit_intercept")
            return
        yield Setting("loss", "logistic", "loss")
        yield number("cost", self.C, "C")
        yield Setting("stop", "objective", "tol")
        yield number("tolerance", self.tol, "tol")
        yield number("max-iterations", self.max_iter, "max_iter")
        yield Setting("bias", "1" if self.fit_intercept else "0", "fit_intercept")
        yield Setting("penalise-bias", "no", "fit_intercept")

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        if self._l1_share() > 0:
            yield close_tolerance(self, X)

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        """Parameters that are not used are warned of in scikit-learn's words."""
        if self.penalty in ("l1", "l2", None, "none") and self.l1_ratio not in (None, 0):
            warnings.warn(
                f"l1_ratio parameter is only used when penalty is 'elasticnet'. Got (penalty={self.penalty})", stacklevel=3
            )
        if self.penalty in (None, "none") and self.C != 1:
            warnings.warn("Setting penalty=None will ignore the C and l1_ratio parameters", stacklevel=3)
        super()._train(X, y, sample_weight)

    def _class_count(self) -> int:
        return len(getattr(self, "classes_", ()))

    def _is_multinomial(self) -> bool:
        against_rest = self.multi_class == "ovr" or (self.solver == "liblinear" and self.multi_class != "multinomial")
        return self._class_count() > 2 and not against_rest

    def _is_unpenalised(self) -> bool:
        return self.penalty in (None, "none") or self.C == np.inf

    def _l1_share(self) -> float:
        """Of the penalty; 0: there is no L1 penalty."""
        if self.C == np.inf:
            return 0.0
        if self.penalty == "l1":
            return 1.0
        if self.penalty == "elasticnet" and self.l1_ratio is None:
            raise ValueError("l1_ratio must be given with penalty='elasticnet'")
        return float(self.l1_ratio or 0) if self.penalty in ("elasticnet", "deprecated") else 0.0

    def _model_kind(self) -> str:
        if self._l1_share() > 0:
            return "elastic-net-logistic"
        return "multinomial" if self._is_multinomial() or self._is_unpenalised() else self._kind

    def _active_axes(self) -> Mapping[str, Axis]:
        if self._is_unpenalised():
            return {}
        if self._l1_share() > 0:
            return self._lasso_axes if self.penalty == "l1" else self._net_axes
        return self._glm_axes if self._is_multinomial() else self._axes

    def _by_class(self, decisions: Array) -> Array:
        if not self._is_multinomial():
            return super()._by_class(decisions)
        logarithms = log_expit(decisions)  # of probabilities: decisions are log odds
        values: Array = logarithms - logarithms.mean(axis=1, keepdims=True)
        return values

    def _class_shares(self, X: Any) -> Array:
        if not self._is_multinomial():
            return super()._class_shares(X)
        shares: Array = softmax(self._linear_values(X), axis=1)
        return shares

    def _keep_fitted(self, X: Any) -> None:
        super()._keep_fitted(X)
        if self._is_multinomial():  # which the same number for all classes does not change
            self.coef_ -= self.coef_.mean(axis=0)
            self.intercept_ -= self.intercept_.mean()


def _cost_of_ridge(alpha: Any) -> float:
    if not float(alpha) > 0:
        raise ValueError(f"alpha must be above 0, not {alpha!r}")
    return 0.5 / float(alpha)


class Ridge(LinearMixin, WeightedRegressor):
    """Linear regression with an L2 penalty.

    Minimises ``sum of (y - z)^2 + alpha * w'w``, for each target by itself; the intercept is not penalised. Without a
    penalty (``alpha=0``), of all weights that fit best the shortest.

    Parameters
    ----------
    alpha : float, default=1.0
        How much the penalty weighs, 0 or more; the same for all targets.
    max_iter : int, default=None
        Most Newton steps; None: 1000. With `positive` passes over the features.
    tol : float, default=1e-10
        Training stops where the gradient has become this small a share of the one at the start. Smaller than
        scikit-learn's, which solves the equations directly. With `positive` the duality gap as a share of the variance
        of y. Dense X of up to 256 features, few rows, an alpha of 0 and several targets are solved directly.
    solver : str, default='auto'
        Taken for scikit-learn's signature; the data decide.
    positive : bool, default=False
        Whether weights are kept at 0 or above; for one target.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,) or (n_targets, n_features)
        Weights of features.
    intercept_ : float or ndarray of shape (n_targets,)
        The intercept.
    n_iter_ : int
        Newton steps taken, or passes over the features; 1: solved directly.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import Ridge
    >>> X = np.array([[0.0], [1.0], [2.0]])
    >>> model = Ridge(alpha=2.0).fit(X, [1.0, 3.0, 5.0])
    >>> model.coef_.round(6)
    array([1.])
    >>> Ridge(alpha=0).fit(X, [[1.0, 0.0], [3.0, 0.0], [5.0, 3.0]]).coef_.round(6)
    array([[2. ],
           [1.5]])
    """

    _kind = "linear"
    _axes = {"alpha": Axis("cost", _cost_of_ridge)}
    #: Nets penalise the mean of the squares.
    _net_axes = {"alpha": Axis("alpha", per_weight=True)}

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: Any = None,
        tol: float = 1e-10,
        solver: str = "auto",
        positive: bool = False,
        random_state: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.solver = solver
        self.positive = positive
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _model_kind(self) -> str:
        return "elastic-net" if self.positive else self._kind

    def _active_axes(self) -> Mapping[str, Axis]:
        return self._net_axes if self.positive else self._axes

    def _settings(self) -> Iterable[Setting]:
        intercept = "yes" if self.fit_intercept else "no"
        if self.positive:
            yield Setting("labels", "numbers", "y")
            yield Setting("l1-ratio", "0", "alpha")
            yield Setting("relative-l2", "no", "alpha")
            yield Setting("lower-limit", "0", "positive")
            yield Setting("intercept", intercept, "fit_intercept")
        else:
            # The squared tube without a width is the squared loss.
            yield Setting("loss", "svr", "loss")
            yield Setting("epsilon", "0", "epsilon")
            yield Setting("cost", number_text(_cost_of_ridge(self.alpha)), "alpha")
            yield Setting("stop", "gradient", "tol")
            yield Setting("bias", "1" if self.fit_intercept else "0", "fit_intercept")
            yield Setting("penalise-bias", "no", "fit_intercept")
        yield number("tolerance", self.tol, "tol")
        if self.max_iter is not None:
            yield number("max-epochs" if self.positive else "max-iterations", self.max_iter, "max_iter")

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Train on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. C-ordered arrays of float32 or float64 and CSR matrices are used without a copy.
        y : array-like of shape (n_samples,) or (n_samples, n_targets)
            The number, or numbers, to predict for each row.
        sample_weight : float or array-like of shape (n_samples,), default=None
            How much each row counts; None: 1. A row of weight 2 is two rows.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        names = target_names(y)
        X, y = validate(self, X, y, y_numeric=True, multi_output=True)
        weights = check_weights(sample_weight, X)
        number("alpha", self.alpha, "alpha")
        if self.positive and y.ndim == 2:
            raise ValueError("positive is for one target")
        directly = y.ndim == 2 or self.alpha == 0 or is_small(self, X) or _is_narrow(X)
        if self.positive or not directly:
            self._train(X, y, weights)
        else:
            self._solve(X, y, weights, names)
        return self

    def _solve(self, X: Any, y: Array, weights: Array | None, names: list[str]) -> None:
        """Directly, for each column of y."""
        check_squares(X)
        if weights is not None:
            kept = np.flatnonzero(weights)
            X, y, weights = _safe_indexing(X, kept), y[kept], weights[kept]
        context = self._context()
        dataset = self._dataset(context, X, named=True)
        if y.ndim == 1:
            self._set_target(dataset, y)
        else:
            names = names or [f"y{k + 1}" for k in range(y.shape[1])]
            dataset.set_targets(np.ascontiguousarray(y, dtype=np.float64), names)
        rows = [] if weights is None else weights.tolist()
        self._model = _core.ridge(context, dataset, float(self.alpha), rows, bool(self.fit_intercept))
        self._keep_fitted(X)
        self._check_finite()
        if y.ndim == 2:
            weights, intercepts = self._model.coefficients()
            self.coef_ = np.ascontiguousarray(weights.T.astype(self.coef_.dtype))
            self.intercept_ = intercepts.astype(self.coef_.dtype)

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "multioutput": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
