"""Elastic nets: the lasso, robust regression, quantiles, several targets and classes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from . import _core
from ._base import (
    Array,
    Axis,
    DecisionMixin,
    LinearMixin,
    ProbabilityMixin,
    Setting,
    SheafRegressor,
    WeightedClassifier,
    WeightedRegressor,
    close_tolerance,
    number,
)
from ._compat import validate
from ._data import back, option_text, target_names

__all__ = [
    "ElasticNet",
    "ElasticNetHuber",
    "ElasticNetLogistic",
    "Lasso",
    "MultiTaskElasticNet",
    "MultiTaskLasso",
    "QuantileRegressor",
]

#: Options that parameters with other names stand for.
_OWN = ("labels", "max_epochs", "tolerance", "intercept", "relative_l2", "huber_threshold")
_NET_AXES = {"alpha": Axis("alpha"), "l1_ratio": Axis("l1-ratio")}


def _net_settings(estimator: Any) -> Iterable[Setting]:
    """Those of all elastic nets but the tolerance."""
    yield number("alpha", estimator.alpha, "alpha")
    yield number("l1-ratio", estimator.l1_ratio, "l1_ratio")
    yield number("max-epochs", estimator.max_iter, "max_iter")
    yield Setting("intercept", "yes" if estimator.fit_intercept else "no", "fit_intercept")
    yield Setting("relative-l2", "no", "alpha")  # scikit-learn's objective
    own = {axis.option for axis in _NET_AXES.values()} | set(estimator.get_params())
    for name, value in (estimator.net_options or {}).items():
        if name in own or name in _OWN:
            raise ValueError(f"net_options has {name!r}, which is a parameter of {type(estimator).__name__}")
        yield Setting(name.replace("_", "-"), option_text(value), f"net_options[{name!r}]")


class _NetRegressor(LinearMixin, WeightedRegressor):
    """Elastic nets of a numeric target.

    Parameters
    ----------
    max_iter : int
        Most passes over the features.
    tol : float
        Training stops where the duality gap has become this small a share of the deviance without features.

    Attributes
    ----------
    sparse_coef_ : sparse matrix of shape (1, n_features)
        ``coef_`` as a sparse matrix.
    n_iter_ : int
        Passes over the features.
    dual_gap_ : float
        How far the objective may be above the least one, at most.
    """

    _axes = _NET_AXES

    def _settings(self) -> Iterable[Setting]:
        yield Setting("labels", "numbers", "y")
        yield from _net_settings(self)

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        yield close_tolerance(self, X)

    def _keep_fitted(self, X: Any) -> None:
        super()._keep_fitted(X)
        self.dual_gap_ = float(self._model.gaps()[0])

    @property
    def sparse_coef_(self) -> Any:
        from scipy import sparse

        return sparse.csr_matrix(self.coef_)


class ElasticNet(_NetRegressor):
    """Linear regression with an L1 and an L2 penalty.

    Minimises ``1 / (2 n) * sum of (y - z)^2 + alpha * l1_ratio * |w| + alpha * (1 - l1_ratio) / 2 * w'w``, as
    scikit-learn does; the intercept is not penalised.

    Parameters
    ----------
    precompute : bool, default=False
        Taken for scikit-learn's signature; must be False.
    tol : float, default=1e-4
        Training stops where the duality gap has become this small a share of the variance of y.
    positive : bool, default=False
        Whether weights are kept at 0 or above.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sheaf import ElasticNet
    >>> X, y = make_regression(n_features=2, random_state=0)
    >>> ElasticNet(tol=1e-10).fit(X, y).coef_.round(3)
    array([18.838, 64.56 ])
    """

    _kind = "elastic-net"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        precompute: bool = False,
        max_iter: int = 1000,
        copy_X: bool = True,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.copy_X = copy_X
        self.tol = tol
        self.warm_start = warm_start
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.net_options = net_options
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        if self.precompute is not False or self.warm_start:
            raise ValueError("precompute and warm_start must be False")
        yield from super()._settings()
        if self.positive:
            yield Setting("lower-limit", "0", "positive")


class Lasso(ElasticNet):
    """Linear regression with an L1 penalty: :class:`ElasticNet` with ``l1_ratio=1``.

    Examples
    --------
    >>> from sheaf import Lasso
    >>> Lasso(alpha=0.1).fit([[0, 0], [1, 1], [2, 2]], [0, 1, 2]).predict([[1, 1]]).round(3)
    array([1.])
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        precompute: bool = False,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        super().__init__(
            alpha,
            l1_ratio=1.0,
            fit_intercept=fit_intercept,
            precompute=precompute,
            max_iter=max_iter,
            copy_X=copy_X,
            tol=tol,
            warm_start=warm_start,
            positive=positive,
            random_state=random_state,
            selection=selection,
            net_options=net_options,
            device=device,
            precision=precision,
            n_threads=n_threads,
        )


class ElasticNetHuber(_NetRegressor):
    """Linear regression that outliers change little, with an L1 and an L2 penalty.

    Minimises ``1 / n * sum of h(y - z) + alpha * l1_ratio * |w| + alpha * (1 - l1_ratio) / 2 * w'w`` with Huber's loss
    ``h(r) = r^2 / 2`` up to the threshold of ``|r|`` and ``threshold * |r| - threshold^2 / 2`` beyond; the intercept is
    not penalised. With a large threshold it is :class:`ElasticNet`. The threshold is in units of y: unlike scikit-learn's
    ``HuberRegressor``, no scale is estimated with the weights.

    Parameters
    ----------
    threshold : float, default=None
        Errors up to it count by their squares, larger ones by their size; None: a tenth of the interquartile range of
        y, rows counting by their weights.
    standardise : bool, default=False
        Penalise each weight as if its feature had standard deviation 1.

    Attributes
    ----------
    threshold_ : float
        The threshold that was used.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import ElasticNetHuber
    >>> X = np.arange(10.0)[:, None]
    >>> y = 2 * X[:, 0] + np.where(X[:, 0] == 4, 100, 0)
    >>> ElasticNetHuber(threshold=1, alpha=0.001).fit(X, y).coef_.round(1)
    array([2.])
    """

    _kind = "elastic-net-huber"

    def __init__(
        self,
        threshold: float | None = None,
        *,
        alpha: float = 0.01,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        standardise: bool = False,
        max_iter: int = 10000,
        tol: float = 1e-4,
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.threshold = threshold
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.standardise = standardise
        self.max_iter = max_iter
        self.tol = tol
        self.net_options = net_options
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        yield from super()._settings()
        yield Setting("standardise", "yes" if self.standardise else "no", "standardise")

    def _target_settings(self, y: Array, sample_weight: Any) -> Iterable[Setting]:
        threshold = self.threshold
        if threshold is None:
            try:
                threshold = _core.huber_threshold(y, sample_weight)
            except ValueError:
                raise ValueError(
                    f"half of the targets are the same number (n_samples = {len(y)}), so that they have no scale for threshold; "
                    "it must be given"
                ) from None
        yield number("huber-threshold", threshold, "threshold")

    def _train(self, X: Any, y: Any, sample_weight: Any) -> None:
        (setting,) = self._target_settings(y, sample_weight)
        super()._train(X, y, sample_weight)
        self.threshold_ = float(setting.text)


class QuantileRegressor(_NetRegressor):
    """Linear regression of a quantile, with an L1 penalty or with an L1 and an L2 penalty.

    Minimises ``1 / n * sum of c(y - z) + alpha * l1_ratio * |w| + alpha * (1 - l1_ratio) / 2 * w'w`` with the pinball
    loss ``c(r) = quantile * r`` where ``r > 0`` and ``(quantile - 1) * r`` elsewhere, as scikit-learn does at
    ``l1_ratio=1``; the intercept is not penalised. The corner of the loss is rounded, within `tol`.

    Parameters
    ----------
    quantile : float, default=0.5
        The share of targets below the predictions, above 0 and below 1; 0.5: the median.
    solver : str, default='highs'
        Taken for scikit-learn's signature; there is one solver.
    solver_options : dict, default=None
        Taken for scikit-learn's signature; see `max_iter` and `tol`.
    tol : float, default=1e-6
        The objective is at most this share of twice the mean loss without features above the least one. Without a
        penalty (``alpha=0``) less than 1e-4 may not be reached.
    precision : {'auto', 'float32', 'float64'}, default='float64'
        Of features, weights and predictions. Training itself is in double precision.

    Attributes
    ----------
    dual_gap_ : float
        How far the objective may be above the least one, at most, but for the rounded corner: that costs no more than
        `tol` times the mean loss without features.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import QuantileRegressor
    >>> rng = np.random.RandomState(0)
    >>> X, noise = rng.normal(size=(500, 1)), rng.normal(size=500)
    >>> model = QuantileRegressor(quantile=0.9, alpha=0.001).fit(X, X[:, 0] + noise)
    >>> float(np.mean(X[:, 0] + noise < model.predict(X)))
    0.9
    """

    _kind = "elastic-net-quantile"

    def __init__(
        self,
        *,
        quantile: float = 0.5,
        alpha: float = 1.0,
        l1_ratio: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "highs",
        solver_options: Any = None,
        max_iter: int = 10000,
        tol: float = 1e-6,
        net_options: Any = None,
        device: str = "auto",
        precision: str = "float64",
        n_threads: int | None = None,
    ) -> None:
        self.quantile = quantile
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.solver_options = solver_options
        self.max_iter = max_iter
        self.tol = tol
        self.net_options = net_options
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        yield from super()._settings()
        yield number("quantile", self.quantile, "quantile")

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        yield number("tolerance", self.tol, "tol")  # narrower corners than that cost many passes


class MultiTaskElasticNet(LinearMixin, SheafRegressor):
    """Linear regression of several targets, with one L1 and L2 penalty for a feature's weights in all of them.

    Minimises ``1 / (2 n) * sum of (y - z)^2 + alpha * l1_ratio * sum of |w_j| + alpha * (1 - l1_ratio) / 2 * sum of
    |w_j|^2`` with ``|w_j|`` the length of the weights of feature j for all targets, as scikit-learn does; intercepts are
    not penalised.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether there are intercepts.
    max_iter : int, default=1000
        Most passes over the features.
    tol : float, default=1e-4
        Training stops where the duality gap has become this small a share of the variances of all targets together.

    Attributes
    ----------
    coef_ : ndarray of shape (n_targets, n_features)
        Weights of features; a feature has some for all targets or for none.
    sparse_coef_ : sparse matrix of shape (n_targets, n_features)
        ``coef_`` as a sparse matrix.
    intercept_ : ndarray of shape (n_targets,)
        The intercepts.
    n_iter_ : int
        Passes over the features.
    dual_gap_ : float
        How far the objective may be above the least one, at most.

    Examples
    --------
    >>> from sklearn.datasets import make_regression
    >>> from sheaf import MultiTaskElasticNet
    >>> X, y = make_regression(n_features=4, n_informative=2, n_targets=2, random_state=0)
    >>> model = MultiTaskElasticNet(alpha=5, l1_ratio=1).fit(X, y)
    >>> (model.coef_ != 0).tolist()
    [[True, True, False, False], [True, True, False, False]]
    """

    _kind = "elastic-net"
    coef_: Array
    intercept_: Array

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.copy_X = copy_X
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.random_state = random_state
        self.selection = selection
        self.net_options = net_options
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        if self.warm_start:
            raise ValueError("warm_start must be False")
        yield from _net_settings(self)

    def fit(self, X: Any, y: Any) -> Any:
        """Train on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. C-ordered arrays of float32 or float64 and CSR matrices are used without a copy.
        y : array-like of shape (n_samples, n_targets)
            The numbers to predict for each row.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        names = target_names(y)
        X, y = validate(self, X, y, y_numeric=True, multi_output=True)
        if y.ndim == 1:
            raise ValueError(
                f"y has one number for each row; {type(self).__name__} takes columns of targets, use ElasticNet"
            )
        self._target_names = names or [f"y{k + 1}" for k in range(y.shape[1])]
        self._train(X, y, None)
        return self

    def _settings_for(self, X: Any, sample_weight: Any) -> Iterable[Setting]:
        yield close_tolerance(self, X)

    def _set_target(self, dataset: _core.Dataset, y: Any) -> None:
        dataset.set_targets(np.ascontiguousarray(y, dtype=np.float64), self._target_names)

    def _keep_fitted(self, X: Any) -> None:
        weights, self.intercept_ = self._model.coefficients()
        self.coef_ = np.ascontiguousarray(weights.T)
        self.n_iter_ = max(self._model.iterations()[0], 1)
        self.dual_gap_ = float(self._model.gaps()[0])

    def predict(self, X: Any) -> Array:
        """Predict the numbers of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples, n_targets)
            The predictions.
        """
        values: Array = back(self._linear_values(X), X)
        return values

    @property
    def sparse_coef_(self) -> Any:
        from scipy import sparse

        return sparse.csr_matrix(self.coef_)

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "multioutput_only": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.single_output = False
        tags.target_tags.multi_output = True
        return tags


class MultiTaskLasso(MultiTaskElasticNet):
    """:class:`MultiTaskElasticNet` with ``l1_ratio=1``.

    Examples
    --------
    >>> from sheaf import MultiTaskLasso
    >>> model = MultiTaskLasso(alpha=0.1).fit([[0, 1], [1, 0], [2, 2]], [[0, 0], [1, 1], [2, 3]])
    >>> model.predict([[1, 1]]).shape
    (1, 2)
    """

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        fit_intercept: bool = True,
        copy_X: bool = True,
        max_iter: int = 1000,
        tol: float = 1e-4,
        warm_start: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        super().__init__(
            alpha,
            l1_ratio=1.0,
            fit_intercept=fit_intercept,
            copy_X=copy_X,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            random_state=random_state,
            selection=selection,
            net_options=net_options,
            device=device,
            precision=precision,
            n_threads=n_threads,
        )


class ElasticNetLogistic(DecisionMixin, ProbabilityMixin, LinearMixin, WeightedClassifier):
    """Logistic regression with an L1 and an L2 penalty.

    Minimises ``1 / n * sum of log(1 + exp(-y z)) + alpha * l1_ratio * |w| + alpha * (1 - l1_ratio) / 2 * w'w``; the
    intercept is not penalised. Three classes or more are one model each against the rest. scikit-learn's
    ``LogisticRegression(penalty='elasticnet', C=C)`` is the same at ``alpha = 1 / (C n)``.

    Parameters
    ----------
    standardise : bool, default=False
        Penalise each weight as if its feature had standard deviation 1.
    class_weight : dict or 'balanced', default=None
        Factors of the rows of classes; 'balanced': n_samples / (n_classes * rows of the class).
    max_iter : int, default=10000
        Most passes over the features.
    tol : float, default=1e-4
        Training stops where the duality gap has become this small a share of the deviance without features.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of features.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        Intercepts.
    n_iter_ : ndarray of shape (1,) or (n_classes,)
        Passes over the features.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sheaf import ElasticNetLogistic
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ElasticNetLogistic(alpha=0.1, l1_ratio=0.9).fit(scale(X), y)
    >>> int(np.count_nonzero(model.coef_))
    5
    """

    _kind = "elastic-net-logistic"
    _axes = _NET_AXES

    def __init__(
        self,
        alpha: float = 0.01,
        *,
        l1_ratio: float = 0.5,
        fit_intercept: bool = True,
        standardise: bool = False,
        class_weight: Any = None,
        max_iter: int = 10000,
        tol: float = 1e-4,
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.fit_intercept = fit_intercept
        self.standardise = standardise
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.net_options = net_options
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> Iterable[Setting]:
        yield Setting("labels", "classes", "y")
        yield from _net_settings(self)
        yield number("tolerance", self.tol, "tol")
        yield Setting("standardise", "yes" if self.standardise else "no", "standardise")
