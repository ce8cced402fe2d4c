"""Linear models that choose their penalty by cross-validation: one search over all values and folds."""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import get_scorer
from sklearn.utils import _safe_indexing, check_scalar, indexable
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import (
    Array,
    DecisionMixin,
    ProbabilityMixin,
    SheafClassifier,
    SheafEstimator,
    WeightedClassifier,
    WeightedRegressor,
)
from ._compat import check_weights, validate
from ._data import to_numpy
from .linear_model import ElasticNet, ElasticNetLogistic, LogisticRegression, Ridge
from .model_selection import SheafSearchCV

__all__ = ["ElasticNetCV", "ElasticNetLogisticCV", "LassoCV", "LogisticRegressionCV", "RidgeCV"]

Grid = dict[str, Sequence[Any]]


class _CrossValidated(SheafEstimator):
    """Searches for the best parameters of a plain model, and then is that model.

    Parameters
    ----------
    cv : int, cross-validation generator or an iterable
        The folds; None: 5, stratified where there are classes.

    Attributes
    ----------
    coef_ : ndarray of shape (n_features,)
        Weights of features, trained on all rows.
    intercept_ : float
        The intercept.
    """

    _plain: ClassVar[type[SheafEstimator]]

    cv: Any
    coef_: Array
    intercept_: Any

    def _plain_model(self) -> Any:
        """With the parameters that both have."""
        known = set(self._plain._get_param_names()) - {"precompute"}
        return self._plain(**{name: value for name, value in self.get_params(deep=False).items() if name in known})

    def _grids(self, X: Any, y: Any, sample_weight: Any) -> list[Grid]:
        """The values to try; each grid has as many points as the others."""
        raise NotImplementedError

    def _scoring(self) -> Any:
        return getattr(self, "scoring", None)

    def _keep_results(self, grids: list[Grid], scores: Array) -> None:
        """Sets the attributes that tell of the search. Scores are grids x points x folds."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Search for the best parameters, and train with them on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows. C-ordered arrays of float32 or float64 and CSR matrices are used without a copy.
        y : array-like of shape (n_samples,)
            What to predict for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in training and in scores; None: 1. Rows of weight 0 are left out before folds
            are made.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = indexable(X, y)
        cv = self.cv
        if sample_weight is not None:
            sample_weight = check_weights(sample_weight, X)
            kept = np.flatnonzero(sample_weight)
            cv = _among(kept, len(sample_weight), cv)
            X, y, sample_weight = _safe_indexing(X, kept), _safe_indexing(y, kept), sample_weight[kept]
        self._choose(X, y, sample_weight, cv)
        return self

    def _choose(self, X: Any, y: Any, sample_weight: Any, cv: Any) -> None:
        """Searches over the folds, and becomes the best model."""
        grids = self._grids(X, y, sample_weight)
        search = SheafSearchCV(
            self._plain_model(),
            grids,
            cv=cv,
            scoring=self._scoring(),
            verbose=getattr(self, "verbose", 0),
            error_score="raise",
        )
        search._weighs_scores = True
        search.fit(X, y, **({} if sample_weight is None else {"sample_weight": sample_weight}))
        self._become(search.best_estimator_)
        self.best_params_, self.best_score_ = search.best_params_, search.best_score_
        folds = [search.cv_results_[f"split{s}_test_score"] for s in range(search.n_splits_)]
        self._keep_results(grids, np.stack(folds, axis=-1).reshape(len(grids), -1, len(folds)))

    def _become(self, chosen: Any) -> None:
        """Takes over what a fitted plain model has."""
        self._chosen = chosen
        self._model = chosen._model
        for name, value in vars(chosen).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)

    def _as_plain(self) -> Any:
        """The model that was chosen, with the weights as they stand."""
        check_is_fitted(self)
        self._chosen.coef_, self._chosen.intercept_ = self.coef_, self.intercept_
        return self._chosen

    def _numbers(self, X: Any) -> Array:
        numbers: Array = self._as_plain()._numbers(X)
        return numbers


def _among(kept: Array, rows: int, cv: Any) -> Any:
    """Splits that are given as rows, of those that are kept; anything else as it is."""
    if cv is None or isinstance(cv, numbers.Integral) or hasattr(cv, "split"):
        return cv
    places = np.full(rows, -1)
    places[kept] = np.arange(len(kept))
    parts = [[places[np.asarray(part)] for part in split] for split in cv]
    return [tuple(part[part >= 0] for part in split) for split in parts]


class _CrossValidatedClassifier(DecisionMixin, ProbabilityMixin, _CrossValidated, WeightedClassifier):
    """The same of classes.

    Attributes
    ----------
    coef_ : ndarray of shape (1, n_features) or (n_classes, n_features)
        Weights of features, trained on all rows.
    intercept_ : ndarray of shape (1,) or (n_classes,)
        The intercepts.
    """

    scoring: Any

    def _class_numbers(self, X: Any) -> Array:
        numbers: Array = self._as_plain()._class_numbers(X)
        return numbers

    def _class_shares(self, X: Any) -> Array:
        shares: Array = self._as_plain()._class_shares(X)
        return shares

    def _class_values(self, X: Any) -> Array:
        values: Array = self._as_plain()._class_values(X)
        return values

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The score that parameters were chosen by.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Their true classes.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts; None: 1.

        Returns
        -------
        score : float
            The accuracy, where `scoring` is None.
        """
        weights = {} if sample_weight is None else {"sample_weight": sample_weight}
        return float(get_scorer(self.scoring or "accuracy")(self, X, y, **weights))


def checked_alphas(alphas: Any, boundaries: str = "left") -> list[float]:
    """Penalties that a user has given, numbers of 0 or more (`boundaries` "neither": above 0)."""
    several = alphas if np.ndim(alphas) > 0 else [alphas]
    for place, alpha in enumerate(several):
        check_scalar(alpha, f"alphas[{place}]", numbers.Real, min_val=0.0, include_boundaries=boundaries)
    return [float(alpha) for alpha in several]


class _NetMixin:
    """Grids of alphas from the data, and shares of the L1 penalty.

    Parameters
    ----------
    alphas : array-like or int
        The alphas to try, or how many; None: from the smallest that leaves no feature in the model down to `eps` of it.
    eps : float
        The smallest alpha as a share of the largest, where they are not given.
    l1_ratio : float or list of float
        The L1 penalty's share, 0 to 1, or several to try.
    n_alphas : int
        How many, where they are not given.

    Attributes
    ----------
    alpha_ : float
        The penalty that was chosen.
    l1_ratio_ : float
        The share of the L1 penalty that was chosen.
    alphas_ : ndarray of shape (n_alphas,) or (n_l1_ratio, n_alphas)
        The penalties that were tried, descending.
    """

    eps: float
    n_alphas: int
    alphas: Any
    l1_ratio: Any
    fit_intercept: bool
    alpha_: float
    l1_ratio_: float
    alphas_: Array
    best_params_: dict[str, Any]

    def _ratios(self) -> list[float]:
        return [float(ratio) for ratio in np.atleast_1d(self.l1_ratio)]

    def _grids(self, X: Any, y: Any, sample_weight: Any) -> list[Grid]:
        if self.alphas is not None and np.ndim(self.alphas) == 1:
            alphas = sorted(checked_alphas(self.alphas), reverse=True)
            return [{"l1_ratio": [ratio], "alpha": alphas} for ratio in self._ratios()]
        if min(self._ratios()) <= 0:
            raise ValueError("alphas must be given where l1_ratio is 0: no alpha is so large that it leaves no feature")
        largest = self._largest_alpha(X, y, sample_weight)
        least = float(np.finfo(float).resolution)
        count = self.n_alphas if self.alphas is None else int(self.alphas)
        if largest <= least:  # the target is constant
            return [{"l1_ratio": [ratio], "alpha": [least] * count} for ratio in self._ratios()]
        return [
            {"l1_ratio": [ratio], "alpha": np.geomspace(largest / ratio, largest / ratio * self.eps, count).tolist()}
            for ratio in self._ratios()
        ]

    def _largest_alpha(self, X: Any, y: Any, sample_weight: Any) -> float:
        """The smallest alpha at which the lasso, of weights of either sign, has no feature."""
        estimator: Any = self
        plain = estimator._plain_model().set_params(l1_ratio=1.0)
        if hasattr(plain, "positive"):
            plain.set_params(positive=False)
        X, y = validate(plain, X, y, y_numeric=not isinstance(self, SheafClassifier))
        if isinstance(self, SheafClassifier):
            y = plain._take_classes(y, sample_weight)
        context = plain._context()
        dataset = plain._dataset(context, X)
        plain._set_target(dataset, y)
        options = plain._make_options((*plain._settings(), *plain._label_settings()))
        return _core.largest_alpha(context, dataset, options, sample_weight)

    def _keep_choice(self, grids: list[Grid]) -> None:
        """As scikit-learn has them: alphas of each share of L1, or of all where there is one or they were given."""
        self.alpha_ = self.best_params_["alpha"]
        self.l1_ratio_ = self.best_params_["l1_ratio"]
        alphas = np.array([grid["alpha"] for grid in grids])
        given = self.alphas is not None and np.ndim(self.alphas) == 1
        self.alphas_ = alphas[0] if given or len(grids) == 1 else alphas


class _NetRegressorCV(_NetMixin, _CrossValidated, WeightedRegressor):
    """Elastic nets of numbers.

    Parameters
    ----------
    precompute : bool or 'auto'
        Taken for scikit-learn's signature; nothing is computed before.

    Attributes
    ----------
    mse_path_ : ndarray of shape (n_alphas, n_folds) or (n_l1_ratio, n_alphas, n_folds)
        Mean squared errors of the folds' test rows.
    """

    mse_path_: Array

    def _scoring(self) -> Any:
        return "neg_mean_squared_error"

    def _keep_results(self, grids: list[Grid], scores: Array) -> None:
        self._keep_choice(grids)
        self.mse_path_ = -scores[0] if len(grids) == 1 else -scores


class _Identity(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Predicts what it is given."""

    def predict(self, predictions: Array) -> Array:
        return predictions


class RidgeCV(_CrossValidated, WeightedRegressor):
    """:class:`Ridge` with the best of some penalties.

    Parameters
    ----------
    alphas : array-like of shape (n_alphas,), default=(0.1, 1.0, 10.0)
        The penalties to try, above 0.
    scoring : str or callable, default=None
        The score to choose by; None: R^2, without folds the negative mean squared error.
    cv : int, cross-validation generator or an iterable, default=None
        The folds; None: each row is left out in turn, in closed form, which costs about as much as one model.
    tol : float, default=1e-10
        Of :class:`Ridge`.

    Attributes
    ----------
    alpha_ : float
        The penalty that was chosen.
    best_score_ : float
        Its mean score; without folds that of all predictions for rows that were left out.
    n_iter_ : int
        Newton steps taken.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sheaf import RidgeCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> RidgeCV(alphas=[0.001, 0.01, 0.1, 1]).fit(X, y).alpha_
    0.01
    """

    _plain = Ridge

    def __init__(
        self,
        alphas: Any = (0.1, 1.0, 10.0),
        *,
        fit_intercept: bool = True,
        scoring: Any = None,
        cv: Any = None,
        tol: float = 1e-10,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.scoring = scoring
        self.cv = cv
        self.tol = tol
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _grids(self, X: Any, y: Any, sample_weight: Any) -> list[Grid]:
        return [{"alpha": checked_alphas(self.alphas, "neither")}]

    def _keep_results(self, grids: list[Grid], scores: Array) -> None:
        self.alpha_ = self.best_params_["alpha"]

    def _choose(self, X: Any, y: Any, sample_weight: Any, cv: Any) -> None:
        if cv is not None:
            return super()._choose(X, y, sample_weight, cv)
        plain = self._plain_model()
        rows, target = plain._validated(X, y)
        if rows.shape[0] < 2:
            raise ValueError(f"n_samples={rows.shape[0]}: leaving out each row needs 2 rows or more")
        scores = self._leave_one_out_scores(plain, rows, target, sample_weight)
        best = int(np.argmax(scores))
        self.alpha_ = self._grids(X, y, sample_weight)[0]["alpha"][best]
        self.best_params_, self.best_score_ = {"alpha": self.alpha_}, float(scores[best])
        self._become(plain.set_params(alpha=self.alpha_).fit(X, y, sample_weight))

    def _leave_one_out_scores(self, plain: Any, X: Any, y: Any, weights: Array | None) -> Array:
        alphas = self._grids(X, y, weights)[0]["alpha"]
        context = plain._context()
        dataset = plain._dataset(context, X)
        plain._set_target(dataset, y)
        predictions = _core.ridge_leave_one_out(
            context, dataset, alphas, [] if weights is None else np.asarray(weights, dtype=float).tolist(), self.fit_intercept
        )
        target = np.asarray(to_numpy(y), dtype=float).ravel()
        if self.scoring is None:
            return np.array([-np.average((row - target) ** 2, weights=weights) for row in predictions])
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        return np.array([scorer(_Identity(), row, target) for row in predictions])


class ElasticNetCV(_NetRegressorCV):
    """:class:`ElasticNet` with the best penalty, and share of the L1 penalty, by the mean squared error.

    Parameters
    ----------
    cv : int, cross-validation generator or an iterable, default=None
        The folds; None: 5.

    Attributes
    ----------
    n_iter_ : int
        Passes over the features.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sheaf import ElasticNetCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = ElasticNetCV(l1_ratio=[0.5, 0.9, 1]).fit(X, y)
    >>> model.l1_ratio_, round(model.alpha_, 4)
    (1.0, 0.0038)
    """

    _plain = ElasticNet

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        n_alphas: int = 100,
        alphas: Any = None,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        cv: Any = None,
        copy_X: bool = True,
        verbose: int = 0,
        n_jobs: Any = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.n_alphas = n_alphas
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.cv = cv
        self.copy_X = copy_X
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.net_options = net_options
        self.device = device
        self.precision = precision
        self.n_threads = n_threads


class LassoCV(_NetRegressorCV):
    """:class:`Lasso` with the best penalty by the mean squared error.

    Parameters
    ----------
    cv : int, cross-validation generator or an iterable, default=None
        The folds; None: 5.

    Attributes
    ----------
    mse_path_ : ndarray of shape (n_alphas, n_folds)
        Mean squared errors of the folds' test rows.
    alphas_ : ndarray of shape (n_alphas,)
        The penalties that were tried, descending.
    n_iter_ : int
        Passes over the features.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sheaf import LassoCV
    >>> X, y = load_diabetes(return_X_y=True)
    >>> round(LassoCV().fit(X, y).alpha_, 4)
    0.0038
    """

    _plain = ElasticNet
    l1_ratio = 1.0

    def __init__(
        self,
        *,
        eps: float = 1e-3,
        n_alphas: int = 100,
        alphas: Any = None,
        fit_intercept: bool = True,
        precompute: Any = "auto",
        max_iter: int = 1000,
        tol: float = 1e-4,
        copy_X: bool = True,
        cv: Any = None,
        verbose: int = 0,
        n_jobs: Any = None,
        positive: bool = False,
        random_state: Any = None,
        selection: str = "cyclic",
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.eps = eps
        self.n_alphas = n_alphas
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.precompute = precompute
        self.max_iter = max_iter
        self.tol = tol
        self.copy_X = copy_X
        self.cv = cv
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.positive = positive
        self.random_state = random_state
        self.selection = selection
        self.net_options = net_options
        self.device = device
        self.precision = precision
        self.n_threads = n_threads


class LogisticRegressionCV(_CrossValidatedClassifier):
    """:class:`LogisticRegression` with the best C.

    One C is chosen for all classes. Coefficients of the folds are not kept.

    Parameters
    ----------
    Cs : int or array-like, default=10
        The values of C to try; a number: so many from 1e-4 to 1e4, in equal steps of the logarithm.
    cv : int, cross-validation generator or an iterable, default=None
        The folds; None: 5, stratified.
    penalty : {'l2'}, default='l2'
        The penalty. :class:`ElasticNetLogisticCV` has the others.
    scoring : str or callable, default=None
        The score to choose by; None: the accuracy.
    solver : str, default='lbfgs'
        Of :class:`LogisticRegression`.
    tol : float, default=1e-4
        Of :class:`LogisticRegression`.
    refit : bool, default=True
        Taken for scikit-learn's signature; must be True.

    Attributes
    ----------
    C_ : ndarray of shape (1,) or (n_classes,)
        The C that was chosen, once for each decision value.
    Cs_ : ndarray of shape (n_cs,)
        Those that were tried.
    scores_ : dict
        Scores of the folds (n_folds, n_cs), by class: the second one, or all of three or more, which have the same.
    n_iter_ : ndarray
        Steps taken.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sheaf import LogisticRegressionCV
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegressionCV(Cs=[0.01, 0.1, 1]).fit(X, y)
    >>> model.C_
    array([1., 1., 1.])
    """

    _plain = LogisticRegression

    def __init__(
        self,
        *,
        Cs: Any = 10,
        fit_intercept: bool = True,
        cv: Any = None,
        dual: bool = False,
        penalty: Any = "l2",
        scoring: Any = None,
        solver: str = "lbfgs",
        tol: float = 1e-4,
        max_iter: int = 100,
        class_weight: Any = None,
        n_jobs: Any = None,
        verbose: int = 0,
        refit: bool = True,
        intercept_scaling: float = 1.0,
        multi_class: str = "auto",
        random_state: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.Cs = Cs
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.dual = dual
        self.penalty = penalty
        self.scoring = scoring
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.class_weight = class_weight
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.refit = refit
        self.intercept_scaling = intercept_scaling
        self.multi_class = multi_class
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _grids(self, X: Any, y: Any, sample_weight: Any) -> list[Grid]:
        if not self.refit:
            raise ValueError("refit must be True")
        costs = np.logspace(-4, 4, self.Cs) if np.ndim(self.Cs) == 0 else np.asarray(self.Cs, dtype=np.float64)
        return [{"C": costs.tolist()}]

    def _keep_results(self, grids: list[Grid], scores: Array) -> None:
        self.Cs_ = np.array(grids[0]["C"])
        labels = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        self.C_ = np.full(len(labels), self.best_params_["C"])
        self.scores_ = {label: scores[0].T for label in labels}


class ElasticNetLogisticCV(_NetMixin, _CrossValidatedClassifier):
    """:class:`ElasticNetLogistic` with the best penalty, and share of the L1 penalty.

    Parameters
    ----------
    cv : int, cross-validation generator or an iterable, default=None
        The folds; None: 5, stratified.
    scoring : str or callable, default=None
        The score to choose by; None: the accuracy. Of equal ones the largest alpha is chosen.

    Attributes
    ----------
    scores_ : ndarray of shape (n_alphas, n_folds) or (n_l1_ratio, n_alphas, n_folds)
        Scores of the folds.
    n_iter_ : ndarray
        Passes over the features.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.preprocessing import scale
    >>> from sheaf import ElasticNetLogisticCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ElasticNetLogisticCV(n_alphas=20, scoring='roc_auc').fit(scale(X), y)
    >>> round(model.score(scale(X), y), 2)
    1.0
    """

    _plain = ElasticNetLogistic

    def __init__(
        self,
        *,
        l1_ratio: Any = 0.5,
        eps: float = 1e-3,
        n_alphas: int = 100,
        alphas: Any = None,
        fit_intercept: bool = True,
        cv: Any = None,
        scoring: Any = None,
        class_weight: Any = None,
        max_iter: int = 10000,
        tol: float = 1e-4,
        verbose: int = 0,
        net_options: Any = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.l1_ratio = l1_ratio
        self.eps = eps
        self.n_alphas = n_alphas
        self.alphas = alphas
        self.fit_intercept = fit_intercept
        self.cv = cv
        self.scoring = scoring
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.net_options = net_options
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _keep_results(self, grids: list[Grid], scores: Array) -> None:
        self._keep_choice(grids)
        self.scores_ = scores[0] if len(grids) == 1 else scores
