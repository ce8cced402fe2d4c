"""Searches over the parameters of an estimator, the whole grid on all folds at a time."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler, check_cv
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from ._base import Array, in_own_words
from ._compat import read_frame, search_weighs_scores
from ._pipelines import last_step
from ._scoring import read_scoring
from ._search import Data, Search, read_candidate

__all__ = ["SheafSearchCV"]

class SheafSearchCV(GridSearchCV):  # type: ignore[misc]
    """Search over parameters by cross-validation, the whole grid on all folds as one piece of work.

    Takes the place of scikit-learn's ``GridSearchCV`` and, with `n_iter`, of ``RandomizedSearchCV``: the same results
    for the estimators of this package, in a fraction of the time. The data are held once, folds are weights of rows,
    and models share what they compute.

    A ``Pipeline`` of StandardScaler, MinMaxScaler, MaxAbsScaler, SimpleImputer and InformationSelector before the
    estimator is learnt inside the folds. Any other transformer is fitted once for each fold and each of its own
    parameters, and models behind it are searched over fold by fold.

    Parameters
    ----------
    estimator : estimator object
        A classifier or regressor of sheaf, or a pipeline that ends in one.
    param_grid : dict or list of dicts
        Values to try, by the names of parameters. With `n_iter`, distributions of SciPy too.
    scoring : str, callable, list, tuple or dict, default=None
        The score, or several. scikit-learn's names are computed by the library where it has them. A callable is called
        as ``scoring(model, X_test, y_test)`` with a model that has the predictions of those rows; if it asks for more
        (weights, other rows), the model is trained for it.
    n_jobs : int, default=None
        Taken for scikit-learn's signature; see `n_threads` of the estimator.
    refit : bool, str or callable, default=True
        Train the best on all rows; of several scores, the name of the one to choose by, or a callable.
    cv : int, cross-validation generator or an iterable, default=None
        The folds; None: 5, stratified for classes. Rows that follow each other in time are split by scikit-learn's
        ``TimeSeriesSplit``.
    verbose : int, default=0
        Above 0: show how far the search is.
    pre_dispatch : int or str, default='2*n_jobs'
        Taken for scikit-learn's signature.
    error_score : 'raise' or numeric, default=np.nan
        The score of models that cannot be trained.
    return_train_score : bool, default=False
        Whether training rows are scored too, in the same search, which then holds the rows twice.
    n_iter : int, default=None
        Try so many points drawn at random; None: all.
    random_state : int, RandomState instance or None, default=None
        Draws those points.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        As in GridSearchCV. Models that are trained together have equal parts of the time.
    best_estimator_ : estimator
        The best, trained on all rows.
    best_score_ : float
        Its mean score.
    best_params_ : dict
        Its parameters.
    best_index_ : int
        Its place in ``cv_results_``.
    scorer_ : callable or dict
        The score, or the scores by name.
    n_splits_ : int
        Folds.
    refit_time_ : float
        Seconds that the last training took.
    multimetric_ : bool
        Whether there are several scores.
    notes_ : list of str
        What is to be known of the data and the search: features that never change, rows that have the same features
        and lie in training and test rows of a split. Doubts about the data (see :func:`data_findings`) are warnings.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from sheaf import LogisticRegression, SheafSearchCV
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = make_pipeline(StandardScaler(), LogisticRegression())
    >>> search = SheafSearchCV(model, {'logisticregression__C': [0.01, 0.1, 1, 10]}).fit(X, y)
    >>> search.best_params_
    {'logisticregression__C': 1}
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        scoring: Any = None,
        n_jobs: Any = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        n_iter: int | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator,
            param_grid,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.n_iter = n_iter
        self.random_state = random_state

    #: Whether weights of rows count in scores too, as they do in later releases of scikit-learn.
    _weighs_scores = search_weighs_scores()

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **fit_params: Any) -> Any:
        """Search, and train the best on all rows.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The classes, or the numbers.
        groups : array-like of shape (n_samples,), default=None
            Groups of rows, for splitters that keep them together.
        **fit_params : dict
            ``sample_weight`` or, of a pipeline, that of its last step: how much each row counts in training. In
            scores rows count alike unless scikit-learn's own search weighs them (from release 1.7 on).

        Returns
        -------
        self : object
            The fitted search.
        """
        estimator = self.estimator
        model = last_step(estimator)  # refuses what is not of this package before it looks at the data
        if y is None:
            raise ValueError("SheafSearchCV requires y to be passed, but the target y is None")
        X, y, groups = indexable(read_frame(X), y, groups)
        data = Data(estimator, X, y, fit_params)
        folds = check_cv(self.cv, y, classifier=is_classifier(estimator))
        splits = [row_numbers(split, len(data.labels)) for split in folds.split(X, y, groups)]
        scores, several = read_scoring(self.scoring, model)
        chosen_by = self._check_refit(scores, several)
        params = list(self._candidates())
        weighed = self._weighs_scores and fit_params.get("sample_weight") is not None
        candidates = [read_candidate(estimator, point, data.classes) for point in params]
        work = Search(self, data, splits, candidates, scores, weighed)
        work.run()
        work.warn()
        self.cv_results_ = _results(params, work)
        doubts = data.warn_of_doubts()
        own = [in_own_words(note) for note in work.notes or []]
        self.notes_ = [*doubts, *(note for note in own if note not in doubts)]
        self.multimetric_ = several or "mean_test_score" not in self.cv_results_
        self.n_splits_ = len(splits)
        scorers = {name: get_scorer(score) if isinstance(score, str) else score for name, score in scores.items()}
        self.scorer_ = scorers if several else scorers["score"]
        if self.refit or not self.multimetric_:
            self._choose(chosen_by)
        if self.refit:
            self._train_best(X, y, fit_params)
        return self

    def plot(self, score: str | None = None, ax: Any = None) -> Any:
        """Draw mean scores over one parameter that varies, or over two.

        Parameters
        ----------
        score : str, default=None
            The name of the score; None: the one that was chosen by, else the first.
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.

        Returns
        -------
        ax : matplotlib Axes
            The picture.
        """
        from ._plotting import plot_search

        check_is_fitted(self, "cv_results_")
        names = [name[len("mean_test_") :] for name in self.cv_results_ if name.startswith("mean_test_")]
        chosen = self.refit if self.refit in names else names[0]
        return plot_search(self.cv_results_, chosen if score is None else score, ax)

    def _candidates(self) -> Iterable[dict[str, Any]]:
        if self.n_iter is None:
            yield from ParameterGrid(self.param_grid)
        else:
            yield from ParameterSampler(self.param_grid, self.n_iter, random_state=self.random_state)

    def _check_refit(self, scores: dict[str, Any], several: bool) -> Any:
        """The name of the score to choose by, or the callable that chooses."""
        if callable(self.refit):
            return self.refit
        if not several:
            return self.refit if isinstance(self.refit, str) and callable(self.scoring) else "score"
        if self.refit is not False and self.refit not in scores:
            raise ValueError(
                f"For multi-metric scoring, the parameter refit must be set to a scorer key or a callable to refit an "
                f"estimator with the best parameter setting on the whole data. {self.refit!r} was passed."
            )
        return self.refit

    def _choose(self, chosen_by: Any) -> None:
        results = self.cv_results_
        if callable(chosen_by):
            index = chosen_by(results)
            if not isinstance(index, (int, np.integer)):
                raise TypeError("best_index_ returned is not an integer")
            if not 0 <= index < len(results["params"]):
                raise IndexError("best_index_ index out of range")
            self.best_index_ = int(index)
        else:
            if f"rank_test_{chosen_by}" not in results:
                raise ValueError(f"refit must name one of the scores that scoring returns, not {chosen_by!r}")
            self.best_index_ = int(results[f"rank_test_{chosen_by}"].argmin())
            self.best_score_ = results[f"mean_test_{chosen_by}"][self.best_index_]
        self.best_params_ = results["params"][self.best_index_]

    def _train_best(self, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        begin = time.perf_counter()
        best = {name: clone(value, safe=False) for name, value in self.best_params_.items()}
        self.best_estimator_ = clone(self.estimator).set_params(**best).fit(X, y, **fit_params)
        self.refit_time_ = time.perf_counter() - begin
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_


def row_numbers(split: tuple[Any, Any], rows: int) -> tuple[Array, Array]:
    """Training and test rows as numbers; test rows ascend."""
    train, test = (np.arange(rows)[np.asarray(part)] for part in split)
    return train, np.sort(test)


def _results(params: Sequence[dict[str, Any]], work: Search) -> dict[str, Any]:
    """GridSearchCV's cv_results_."""
    masked: Any = np.ma  # which has no types
    count = len(params)
    results: dict[str, Any] = {}
    for name, seconds in (("fit", work.fit_seconds), ("score", work.score_seconds)):
        results[f"mean_{name}_time"] = seconds.mean(axis=1)
        results[f"std_{name}_time"] = seconds.std(axis=1)
    for c, point in enumerate(params):
        for name, value in point.items():
            column = f"param_{name}"
            if column not in results:
                results[column] = masked.masked_all(count, dtype=object)
            results[column][c] = value
    results["params"] = list(params)
    for name, scores in work.table(work.found).items():
        _add_scores(results, f"test_{name}", scores)
        means = results[f"mean_test_{name}"]
        worst = np.nanmin(means) - 1 if not np.isnan(means).all() else 0.0
        ranks = rankdata(-np.nan_to_num(means, nan=worst), method="min")
        results[f"rank_test_{name}"] = ranks.astype(np.int32)
    if work.search.return_train_score:
        for name, scores in work.table(work.found_in_training).items():
            _add_scores(results, f"train_{name}", scores)
    return results


def _add_scores(results: dict[str, Any], name: str, scores: Array) -> None:
    """Of candidates x splits."""
    for s in range(scores.shape[1]):
        results[f"split{s}_{name}"] = scores[:, s]
    results[f"mean_{name}"] = scores.mean(axis=1)
    results[f"std_{name}"] = scores.std(axis=1)
