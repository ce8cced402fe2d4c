"""The best of several kinds of models: compared on the same folds, chosen and trained in one search."""

from __future__ import annotations

import math
import numbers
import sys
import warnings
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import _safe_indexing, column_or_1d
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import _ovr_decision_function
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from . import _core
from ._base import (
    Array,
    DecisionMixin,
    ProbabilityMixin,
    SheafClassifier,
    SheafEstimator,
    SheafRegressor,
    check_squares,
)
from ._compat import check_weights, validate
from ._data import number_text
from ._scoring import library_score
from .model_selection import row_numbers

__all__ = ["AutoClassifier", "AutoRegressor"]

#: Columns of the leaderboard by the names that the C++ library has for them.
_COLUMNS = {
    "model": "model",
    "mean": "mean_score",
    "sd": "std_score",
    "difference": "difference",
    "low": "difference_low",
    "high": "difference_high",
    "points": "n_points",
    "dropped": "dropped",
    "steps": "steps",
}


class _Automatic(SheafEstimator):
    """Compares kinds of models and is the best of them.

    Parameters
    ----------
    model : str or list of str
        'auto': the kinds that suit the data; else the name of a kind, or several, in a list or with commas between
        ('linear,svm,knn'), as `--model` of the command-line program has them.
    cv : int, cross-validation generator or an iterable
        The number of folds, which keep classes even and `groups` together; or splits, by a splitter of scikit-learn or
        as an iterable of training and test rows. None: as the library chooses. If a class has fewer rows than folds,
        there are fewer folds, with a warning.
    scoring : str
        The score to choose by: a name of the library's ('auc', 'balanced-accuracy') or of scikit-learn's ('roc_auc',
        'neg_mean_squared_error'). None: as the library chooses, see `scoring_`.
    outer : int
        Outer folds of nested validation: the whole choice is repeated without each of them and scored on it, for an
        estimate that is not too good. 0: none.
    stack : int
        The final model is a stack of so many of the best kinds: the mean of their probabilities or predictions, with
        weights that are learnt on predictions for held-out rows. 0: it is the best one alone.
    time_budget : float
        Seconds after which no more points are begun; None: no limit. With a limit, results depend on the machine.
    random_state : int, RandomState instance or None
        Deals the rows to the folds; None: as 0 does.

    Attributes
    ----------
    best_model_ : str
        The kind of model that was chosen; 'stack' of a stack.
    best_params_ : dict
        Its parameters, by the names of the command-line program with `_` for `-`.
    best_score_ : float
        Its mean score over the folds. The best of many is too good: see `nested_score_`.
    nested_score_ : float or None
        The mean score on the outer folds; None without `outer`.
    scoring_ : str
        The library's name of the score.
    steps_ : str
        The steps before the model, in words; they are part of it.
    leaderboard_ : dict of ndarrays
        A row for each kind of model, best first: `model`, `mean_score` and `std_score` of its best point, `difference`
        to the score of the chosen one with the corrected 95 % interval from `difference_low` to `difference_high`
        (NaN for the chosen one), `n_points` that were tried, whether it was `dropped` as worse after some of the folds,
        and `steps` before it. ``pandas.DataFrame(leaderboard_)`` is a table.
    stack_weights_ : dict of str to float or None
        The weight of each member by its name in `leaderboard_`; None without `stack`.
    notes_ : list of str
        What the search found worth saying. Warnings are given as such.
    """

    def __init__(
        self,
        model: Any = "auto",
        *,
        cv: Any = 5,
        scoring: str | None = None,
        outer: int = 0,
        stack: int = 0,
        time_budget: float | None = None,
        random_state: Any = None,
        verbose: int = 0,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.model = model
        self.cv = cv
        self.scoring = scoring
        self.outer = outer
        self.stack = stack
        self.time_budget = time_budget
        self.random_state = random_state
        self.verbose = verbose
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    model: Any
    cv: Any
    scoring: str | None
    outer: int
    stack: int
    time_budget: float | None
    random_state: Any
    verbose: int
    best_model_: str
    best_params_: dict[str, Any]
    best_score_: float
    nested_score_: float | None
    scoring_: str
    steps_: str
    leaderboard_: dict[str, Array]
    stack_weights_: dict[str, float] | None
    notes_: list[str]

    def _names(self) -> str:
        """The models as the C++ library reads them."""
        names = [self.model] if isinstance(self.model, str) else self.model
        if not isinstance(names, Iterable):
            raise ValueError(f"model must be a name, or a list of names, not {self.model!r}")
        names = list(names)
        if not names or not all(isinstance(name, str) for name in names):
            raise ValueError(f"model must be a name, or a list of names, not {self.model!r}")
        return ",".join(name.strip() for text in names for name in text.split(","))

    def _most_folds(self, labels: Any, groups: Any) -> int:
        """As many as the smallest class has rows for, 2 at least; a warning if that is fewer than `cv`."""
        if not is_classifier(self) or not isinstance(self.cv, numbers.Integral) or self.outer or groups is not None:
            return sys.maxsize
        smallest = int(np.bincount(labels)[np.unique(labels)].min())
        if 2 <= smallest < int(self.cv):
            warnings.warn(
                f"the smallest class has {smallest} rows, fewer than cv={self.cv}; there are {smallest} folds",
                UserWarning,
                stacklevel=4,
            )
        return max(2, smallest)

    def _search_settings(self, score: str | None, most_folds: int) -> Iterable[tuple[str, str]]:
        for parameter, option in (("outer", "outer"), ("stack", "stack"), ("time_budget", "time")):
            value = getattr(self, parameter)
            if value is None:
                continue
            if isinstance(value, bool) or not isinstance(value, numbers.Real):
                raise ValueError(f"{parameter} must be a number, not {value!r}")
            yield option, number_text(value)
        if isinstance(self.cv, numbers.Integral):
            yield "folds", number_text(min(int(self.cv), most_folds))
        if score is not None:
            yield "score", score

    def _splits(self, X: Any, y: Any, groups: Any) -> list[tuple[Array, Array]] | None:
        """Those that are given as such; None: folds are the library's."""
        if self.cv is None or isinstance(self.cv, numbers.Integral):
            return None
        folds = check_cv(self.cv, y, classifier=is_classifier(self))
        return [row_numbers(split, X.shape[0]) for split in folds.split(X, y, groups)]

    def _compare(self, X: Any, y: Any, labels: Any, sample_weight: Any, groups: Any) -> None:
        """Searches on data that have been validated. `labels`: y as the dataset takes it."""
        names = self._names()
        splits = self._splits(X, y, groups)
        score, sign = library_score(self.scoring, getattr(self, "classes_", None))
        if groups is not None:
            check_consistent_length(X, groups)
        if sample_weight is not None and not sample_weight.all():
            kept = np.flatnonzero(sample_weight)
            splits = None if splits is None else _among(kept, splits)
            X, labels, sample_weight = _safe_indexing(X, kept), labels[kept], sample_weight[kept]
            groups = None if groups is None else _safe_indexing(groups, kept)
        settings = dict(self._search_settings(score, self._most_folds(labels, groups)))
        check_squares(X)
        context = self._context()
        dataset = self._dataset(context, X, named=True, missing=True)
        self._set_target(dataset, labels)
        if groups is not None and splits is None:
            dataset.set_groups(np.unique(groups, return_inverse=True)[1].astype(np.int32))
        try:
            result = _core.search_models(context, dataset, names, settings, splits, sample_weight)
        except ValueError as wrong:
            raise ValueError(self._in_own_words(str(wrong).removeprefix("memory: "), ())) from None
        self._keep_result(result, names, sign)

    def _keep_result(self, result: _core.SearchResult, names: str, sign: float) -> None:
        point = dict(result.points()[result.chosen])
        self.best_model_ = str(point.pop("model", names))
        self.best_params_ = {name.replace("-", "_"): value for name, value in point.items()}
        self.scoring_ = result.score
        scores = result.scores(result.score)[result.chosen]
        self.best_score_ = sign * float(np.nanmean(scores))
        nested = result.nested_score()
        self.nested_score_ = None if nested is None else sign * nested
        members = result.stack()
        self.stack_weights_ = None if members is None else dict(zip(members["model"], members["weight"].tolist()))
        self.steps_ = result.steps
        board = result.leaderboard()
        if not board["model"]:
            deviation = float(np.nanstd(scores, ddof=1)) if len(scores) > 1 else 0.0
            alone = (names, sign * self.best_score_, deviation, 0.0, math.nan, math.nan, len(result.points()), False)
            board = {name: [value] for name, value in zip(_COLUMNS, (*alone, result.steps))}
        self.leaderboard_ = _signed({_COLUMNS[name]: np.asarray(values) for name, values in board.items()}, sign)
        self.notes_ = [self._in_own_words(note, ()) for note in result.notes]
        self._model = result.take_model()
        for kind, texts in ((UserWarning, result.warnings), (ConvergenceWarning, self._model.warnings)):
            for text in texts:
                warnings.warn(self._in_own_words(text, ()), kind, stacklevel=4)

    def _predict(self, X: Any, probabilities: bool = False) -> tuple[Array, Any, Any]:
        check_is_fitted(self)
        X = validate(self, X, reset=False, missing=True)
        context = self._context()
        dataset = self._dataset(context, X, missing=True)
        found = self._model.predict(context, dataset, probabilities)
        return found["decisions"], found["classes"], found.get("probabilities")

    def _more_tags(self) -> dict[str, Any]:
        return {**super()._more_tags(), "allow_nan": True}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags


def _among(kept: Array, splits: list[tuple[Array, Array]]) -> list[tuple[Array, Array]]:
    """Splits of the rows that are kept."""
    found = []
    for train, test in splits:
        parts = [part[np.isin(part, kept)] for part in (train, test)]
        found.append((np.searchsorted(kept, parts[0]), np.searchsorted(kept, parts[1])))
    return found


def _signed(board: dict[str, Array], sign: float) -> dict[str, Array]:
    """Errors are counted below 0, as scikit-learn's scores are."""
    if sign > 0:
        return board
    turned = {"mean_score": "mean_score", "difference": "difference", "difference_low": "difference_high"}
    turned["difference_high"] = "difference_low"
    return {**board, **{name: 0.0 - board[other] for name, other in turned.items()}}


def _has_probabilities(estimator: Any) -> bool:
    """Known after training alone."""
    if "_model" not in vars(estimator):
        raise AttributeError("predict_proba is there after fit, if the chosen model has probabilities")
    if not estimator._model.has_probabilities:
        raise AttributeError(f"the chosen model, {estimator.best_model_}, has no probabilities")
    return True


class AutoClassifier(DecisionMixin, _Automatic, SheafClassifier):
    """The best classifier for the data: kinds of models compared on the same folds, the best trained on all rows.

    Linear models, elastic nets, SVMs and nearest neighbours with their parameters are points of one search; kinds that
    are clearly worse are dropped early. Missing values (NaN) are filled in, and features of dense data are scaled for
    models that need it: both are learnt on the training rows of each fold and are part of the model.

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from sheaf import AutoClassifier
    >>> X, y = make_circles(200, noise=0.1, factor=0.4, random_state=0)
    >>> model = AutoClassifier(random_state=0).fit(X, y)
    >>> model.best_model_ != 'linear'
    True
    >>> model.best_score_ > 0.95
    True
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Compare models, and train the best on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; NaN stands for a missing value.
        y : array-like of shape (n_samples,)
            The class of each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in training, not in scores; None: 1. Rows of weight 0 are left out.
        groups : array-like of shape (n_samples,), default=None
            The group of each row: rows of one group are never on both sides of a split.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate(self, X, y, missing=True)
        sample_weight = check_weights(sample_weight, X)
        labels = self._take_classes(y, sample_weight)
        self._compare(X, y, labels, sample_weight, groups)
        return self

    def _by_class(self, decisions: Array) -> Array:
        values: Array
        if len(self.classes_) == 2:
            values = decisions[:, 1] - decisions[:, 0] if decisions.shape[1] == 2 else -decisions[:, 0]
        elif self._model.family == "svm":  # of pairs
            values = _ovr_decision_function(decisions < 0, -decisions, len(self.classes_))
        else:
            values = decisions
        return values

    predict_proba = available_if(_has_probabilities)(ProbabilityMixin.predict_proba)
    predict_log_proba = available_if(_has_probabilities)(ProbabilityMixin.predict_log_proba)


class AutoRegressor(_Automatic, SheafRegressor):
    """The best regression for the data: kinds of models compared on the same folds, the best trained on all rows.

    Linear models, elastic nets, SVMs and nearest neighbours with their parameters are points of one search; kinds that
    are clearly worse are dropped early. Missing values (NaN) are filled in, and features of dense data are scaled for
    models that need it: both are learnt on the training rows of each fold and are part of the model.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sheaf import AutoRegressor
    >>> X, y = load_diabetes(return_X_y=True)
    >>> model = AutoRegressor(['elastic-net', 'knn'], random_state=0).fit(X, y)
    >>> model.best_model_
    'elastic-net'
    >>> model.leaderboard_['model'].tolist()
    ['elastic-net', 'knn']
    """

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Any:
        """Compare models, and train the best on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows; NaN stands for a missing value.
        y : array-like of shape (n_samples,)
            The number to predict for each row.
        sample_weight : array-like of shape (n_samples,), default=None
            How much each row counts in training, not in scores; None: 1. Rows of weight 0 are left out.
        groups : array-like of shape (n_samples,), default=None
            The group of each row: rows of one group are never on both sides of a split.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        X, y = validate(self, X, y, missing=True, y_numeric=True, multi_output=True, ensure_min_samples=2)
        y = column_or_1d(y, warn=True)
        self._compare(X, y, y, check_weights(sample_weight, X), groups)
        return self
