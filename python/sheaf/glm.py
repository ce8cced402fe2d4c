"""Generalised linear models: counts, positive numbers, and numbers of 0 or more."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from sklearn.metrics import d2_tweedie_score

from ._base import Array, Axis, LinearMixin, Setting, WeightedRegressor, choice, number
from ._data import to_numpy

__all__ = ["GammaRegressor", "PoissonRegressor", "TweedieRegressor"]


class _GlmRegressor(LinearMixin, WeightedRegressor):
    """What the regressors of all families share.

    Parameters
    ----------
    alpha : float
        How much the penalty weighs against the mean loss; 0: none, which needs more rows than weights.
    max_iter : int
        Most steps.
    solver : str
        Taken for scikit-learn's signature; the number of features decides.
    tol : float
        Training stops where the gradient has become this small a share of the one at the start.

    Attributes
    ----------
    n_iter_ : int
        Steps taken.
    """

    _kind = "glm"
    _axes = {"alpha": Axis("alpha")}

    def __init__(
        self,
        *,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _power(self) -> float:
        """The variance is the mean to this power."""
        raise NotImplementedError

    def _family(self) -> Iterable[Setting]:
        named = {0.0: "gaussian", 1.0: "poisson", 2.0: "gamma"}
        power = self._power()
        yield Setting("family", named.get(power, "tweedie"), "power")
        if power not in named:
            yield number("power", power, "power")

    def _settings(self) -> Iterable[Setting]:
        if self.warm_start:
            raise ValueError("warm_start must be False")
        yield from self._family()
        yield number("alpha", self.alpha, "alpha")
        yield number("tolerance", self.tol, "tol")
        yield number("max-iterations", self.max_iter, "max_iter")
        yield Setting("intercept", "yes" if self.fit_intercept else "no", "fit_intercept")

    def _numbers(self, X: Any) -> Array:
        values = self._linear_values(X)
        means: Array = values if self._power() == 0 else np.exp(values)
        return means

    def _active_axes(self) -> Mapping[str, Axis]:
        return self._axes if self.alpha != 0 else {}

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of the deviance that is explained, D^2; R^2 is that of the squared error.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The true numbers.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; None: 1.

        Returns
        -------
        score : float
            1 for a model that is always right, 0 for one that predicts the mean of y.
        """
        return self._score_predictions(y, to_numpy(self.predict(X)), sample_weight)

    def _score_predictions(self, y: Any, predicted: Any, sample_weight: Any) -> float:
        return float(d2_tweedie_score(to_numpy(y), predicted, sample_weight=sample_weight, power=self._power()))

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "requires_positive_y": self._power() > 0}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self._power() > 0
        return tags


class PoissonRegressor(_GlmRegressor):
    """Regression of counts: the logarithm of the mean is linear in the features.

    Minimises ``1 / n * sum of (exp(z) - y z) + alpha / 2 * w'w``, as scikit-learn does; the intercept is not penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import PoissonRegressor
    >>> X = np.array([[1, 2], [2, 3], [3, 4], [4, 3]])
    >>> model = PoissonRegressor(tol=1e-8).fit(X, [12, 17, 22, 21])
    >>> model.coef_.round(3)
    array([0.121, 0.158])
    >>> model.predict([[1, 1], [3, 4]]).round(3)
    array([10.676, 21.875])
    """

    def _power(self) -> float:
        return 1.0


class GammaRegressor(_GlmRegressor):
    """Regression of numbers above 0 whose deviation grows as their mean: the logarithm of the mean is linear.

    Minimises ``1 / n * sum of (y exp(-z) + z) + alpha / 2 * w'w``, as scikit-learn does; the intercept is not
    penalised.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import GammaRegressor
    >>> X = np.array([[1, 2], [2, 3], [3, 4], [4, 3]])
    >>> model = GammaRegressor(tol=1e-8).fit(X, [19, 26, 33, 30])
    >>> model.coef_.round(3)
    array([0.073, 0.067])
    """

    def _power(self) -> float:
        return 2.0


class TweedieRegressor(_GlmRegressor):
    """Regression of numbers whose variance is a power of their mean.

    Minimises ``1 / (2 n) * sum of deviances + alpha / 2 * w'w``, as scikit-learn does; the intercept is not penalised.

    Parameters
    ----------
    power : float, default=0
        0: the squared error; 1: :class:`PoissonRegressor`; 2: :class:`GammaRegressor`; between 1 and 2: numbers of 0 or
        more, many of which may be 0. Others are refused.
    link : {'auto', 'identity', 'log'}, default='auto'
        What is linear in the features: with power 0 the mean ('identity'), else its logarithm ('log'); 'auto' is that.

    Examples
    --------
    >>> import numpy as np
    >>> from sheaf import TweedieRegressor
    >>> X = np.array([[1, 2], [2, 3], [3, 4], [4, 3]])
    >>> TweedieRegressor(tol=1e-8).fit(X, [2, 3.5, 5, 5.5]).coef_.round(3)
    array([0.6, 0.3])
    """

    def __init__(
        self,
        *,
        power: float = 0.0,
        alpha: float = 1.0,
        fit_intercept: bool = True,
        link: str = "auto",
        solver: str = "lbfgs",
        max_iter: int = 100,
        tol: float = 1e-4,
        warm_start: bool = False,
        verbose: int = 0,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        super().__init__(
            alpha=alpha,
            fit_intercept=fit_intercept,
            solver=solver,
            max_iter=max_iter,
            tol=tol,
            warm_start=warm_start,
            verbose=verbose,
            device=device,
            precision=precision,
            n_threads=n_threads,
        )
        self.power = power
        self.link = link

    def _power(self) -> float:
        return float(self.power)

    def _family(self) -> Iterable[Setting]:
        power = self._power()
        if power != 0 and not 1 <= power <= 2:
            raise ValueError(f"power must be 0 or from 1 to 2, not {self.power!r}; scikit-learn has others")
        choice("link", self.link, {"auto": "", "log" if power else "identity": ""})
        yield from super()._family()
