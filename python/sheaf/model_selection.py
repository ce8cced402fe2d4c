"""Searches over the parameters of an estimator, the whole grid on all folds at a time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, ParameterGrid, ParameterSampler, check_cv
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from . import _core
from ._base import Array, Axis, SheafEstimator
from ._compat import search_weighs_scores, validate
from ._data import class_names, dtype_of, make_dataset
from ._pipelines import Steps, read_steps
from ._scoring import HeldOutClassifier, HeldOutRegressor, own_score, read_scoring, takes_weights

__all__ = ["SheafSearchCV"]

_WASTE = 1.5  # a search over a product of values may hold this many times the points that are wanted

#: The number of selected features, which the C++ pipeline varies.
_COUNT = Axis("features", whole=True)

Values = tuple[Any, ...]


@dataclass(frozen=True)
class _Family:
    """Models that one C++ search can train: all they have in common."""

    kind: str
    settings: tuple[tuple[str, str], ...]
    axes: tuple[Axis, ...]
    fixed: Values  #: what axes take from the rows of a split: splits with the same are one search; None: nothing
    pipeline: tuple[tuple[str, str], ...]
    criterion: str


@dataclass
class _Candidate:
    """One point of the grid."""

    steps: Steps
    values: Values  #: of the axes


class _Data:
    """What is searched over, as the C++ library and as scikit-learn see it."""

    def __init__(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        self.X, self.y = X, y
        steps = read_steps(estimator)
        model = clone(steps.estimator)
        self.checked, checked_y = validate(model, X, y, missing=steps.takes_missing, y_numeric=not is_classifier(model))
        self.classes: Array | None = None
        self.labels: Array = np.asarray(checked_y)
        if is_classifier(model):
            self.labels = model._take_classes(checked_y)
            self.classes = model.classes_
        self.weights = _read_weights(estimator, fit_params, self.checked)
        self.missing = steps.takes_missing

    def make_dataset(self, context: _core.Context, model: SheafEstimator) -> _core.Dataset:
        dataset = make_dataset(
            context, self.checked, precision=model.precision, missing=self.missing, device=str(model.device)
        )
        if self.classes is not None:
            dataset.set_classes(self.labels, class_names(self.classes))
        else:
            dataset.set_numbers(np.ascontiguousarray(self.labels, dtype=np.float64))
        return dataset


def _read_weights(estimator: Any, fit_params: dict[str, Any], X: Any) -> Array | None:
    last = estimator.steps[-1][0] + "__" if hasattr(estimator, "steps") else ""
    for name in fit_params:
        if name != f"{last}sample_weight":
            raise ValueError(f"SheafSearchCV.fit takes {last}sample_weight beside X, y and groups, not {name!r}")
    weights = fit_params.get(f"{last}sample_weight")
    if weights is None:
        return None
    checked: Array = _check_sample_weight(weights, X, dtype=np.float64)
    return checked


class SheafSearchCV(GridSearchCV):  # type: ignore[misc]
    """Search over parameters by cross-validation, the whole grid on all folds as one piece of work.

    Takes the place of scikit-learn's ``GridSearchCV`` and, with `n_iter`, of ``RandomizedSearchCV``: the same results
    for the estimators of this package, in a fraction of the time. The data are held once, folds are weights of rows,
    and models share what they compute.

    A ``Pipeline`` of StandardScaler, MinMaxScaler, MaxAbsScaler, SimpleImputer and InformationSelector before the
    estimator is learnt inside the folds; any other step is refused.

    Parameters
    ----------
    estimator : estimator object
        A classifier or regressor of sheaf, or a pipeline that ends in one.
    param_grid : dict or list of dicts
        Values to try, by the names of parameters. With `n_iter`, distributions of SciPy too.
    scoring : str, callable, list, tuple or dict, default=None
        The score, or several. scikit-learn's names are computed by the library where it has them. A callable is called
        as ``scoring(model, X_test, y_test)`` with a model that has the predictions, decision values and probabilities
        of those rows.
    n_jobs : int, default=None
        Taken for scikit-learn's signature; see `n_threads` of the estimator.
    refit : bool, str or callable, default=True
        Train the best on all rows; of several scores, the name of the one to choose by, or a callable.
    cv : int, cross-validation generator or an iterable, default=None
        The folds; None: 5, stratified for classes. Training and test rows of a split may not overlap.
    verbose : int, default=0
        Above 0: show how far the search is.
    pre_dispatch : int or str, default='2*n_jobs'
        Taken for scikit-learn's signature.
    error_score : 'raise' or numeric, default=np.nan
        The score of models that cannot be trained.
    return_train_score : bool, default=False
        Must be False; GridSearchCV has train scores.
    n_iter : int, default=None
        Try so many points drawn at random; None: all.
    random_state : int, RandomState instance or None, default=None
        Draws those points.

    Attributes
    ----------
    cv_results_ : dict of ndarrays
        As in GridSearchCV. Times are the search's, in equal parts.
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
        if self.return_train_score:
            raise ValueError("return_train_score must be False; sklearn.model_selection.GridSearchCV has train scores")
        estimator = self.estimator
        read_steps(estimator)  # refuses what it does not know before it looks at the data
        if y is None:
            raise ValueError("SheafSearchCV requires y to be passed, but the target y is None")
        X, y, groups = indexable(X, y, groups)
        data = _Data(estimator, X, y, fit_params)
        folds = check_cv(self.cv, y, classifier=is_classifier(estimator))
        splits = [_row_numbers(split, len(data.labels)) for split in folds.split(X, y, groups)]
        scores, several = read_scoring(self.scoring, read_steps(estimator).estimator)
        chosen_by = self._check_refit(scores, several)
        params = list(self._candidates())
        begin = time.perf_counter()
        weighed = self._weighs_scores and fit_params.get("sample_weight") is not None
        table = _Search(self, data, splits, params, scores, weighed).run()
        seconds = time.perf_counter() - begin
        self.cv_results_ = _results(params, table, seconds)
        self.multimetric_ = several or set(table) != {"score"}
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


def _row_numbers(split: tuple[Any, Any], rows: int) -> tuple[Array, Array]:
    """Training and test rows as numbers; test rows ascend."""
    train, test = (np.arange(rows)[np.asarray(part)] for part in split)
    return train, np.sort(test)


class _Search:
    """Trains and scores every candidate on every split, in as few C++ searches as can be."""

    def __init__(
        self,
        search: SheafSearchCV,
        data: _Data,
        splits: Sequence[tuple[Array, Array]],
        params: Sequence[dict[str, Any]],
        scores: dict[str, Any],
        weighed: bool,
    ) -> None:
        self.search, self.data, self.splits, self.scores, self.weighed = search, data, splits, scores, weighed
        self.model = read_steps(search.estimator).estimator
        self.candidates = [self._read_candidate(point) for point in params]
        self.own = {
            name: own_score(score, data.classes) if isinstance(score, str) and not weighed else None
            for name, score in scores.items()
        }
        self.found = np.full((len(params), len(splits)), None, dtype=object)
        self._learnt: dict[Any, Any] = {}
        self._test_data: dict[int, tuple[Any, Any]] = {}
        self.errors: list[ValueError] = []

    def _read_candidate(self, point: dict[str, Any]) -> _Candidate:
        estimator = clone(self.search.estimator).set_params(
            **{name: clone(value, safe=False) for name, value in point.items()}
        )
        steps = read_steps(estimator)
        model = steps.estimator
        if self.data.classes is not None:
            model.classes_ = self.data.classes
        axes = model._active_axes()
        values = [
            None if isinstance(getattr(model, name), str) and axis.value is float else axis.value(getattr(model, name))
            for name, axis in axes.items()
        ]
        if steps.criterion:
            values.append(float(steps.count))
        return _Candidate(steps, tuple(values))

    def run(self) -> dict[str, Array]:
        """Scores by name, candidates x splits."""
        for family, cells in self._families().items():
            for values, members in _as_products(family, cells):
                self._run_product(family, values, members)
        if self.errors and all(cell is None for cell in self.found.flat):
            raise self.errors[0]
        names = {name for cell in self.found.flat if cell is not None for name in cell} or set(self.scores)
        table = {}
        for name in sorted(names, key=lambda one: list(self.scores).index(one) if one in self.scores else -1):
            values = [
                self.search.error_score if cell is None else cell.get(name, np.nan) for cell in self.found.flat
            ]
            table[name] = np.array(values, dtype=np.float64).reshape(self.found.shape)
        return table

    def _families(self) -> dict[_Family, list[tuple[int, int, Values]]]:
        """The cells (candidate, split and values of the axes) of each family of models."""
        families: dict[_Family, list[tuple[int, int, Values]]] = {}
        for c, candidate in enumerate(self.candidates):
            for s in range(len(self.splits)):
                family, values = self._family_of(candidate, s)
                families.setdefault(family, []).append((c, s, values))
        return families

    def _family_of(self, candidate: _Candidate, split: int) -> tuple[_Family, Values]:
        model = candidate.steps.estimator
        axes = tuple(model._active_axes().values())
        learnt = self._settings_of_split(candidate.steps, split)
        learnt.update({one.name: one.text for one in model._target_settings(*self._target_of_split(split))})
        options = {axis.option for axis in axes}
        settings = [
            (setting.name, setting.text)
            for setting in (*model._settings(), *model._label_settings())
            if setting.name not in options
        ]
        settings += [(name, text) for name, text in learnt.items() if name not in options]
        values = list(candidate.values)
        fixed: list[Any] = [None] * len(values)
        for k, axis in enumerate(axes):
            if values[k] is None:
                values[k] = fixed[k] = float(learnt[axis.option])
            elif axis.per_weight:
                fixed[k] = float(model._total_weight(*self._target_of_split(split)))
                values[k] /= fixed[k]
        if candidate.steps.criterion:
            axes = (*axes, _COUNT)
        pipeline = tuple(sorted(candidate.steps.settings.items()))
        family = _Family(
            model._model_kind(), tuple(settings), axes, tuple(fixed), pipeline, candidate.steps.criterion
        )
        return family, tuple(values)

    def _target_of_split(self, split: int) -> tuple[Array, Array | None]:
        """The labels, and the weights, of the rows that a split trains on."""
        train = self.splits[split][0]
        return self.data.labels[train], None if self.data.weights is None else self.data.weights[train]

    def _settings_of_split(self, steps: Steps, split: int) -> dict[str, str]:
        """Settings that follow from the rows that a split trains on."""
        model = steps.estimator
        train = self.splits[split][0]
        weights = self._target_of_split(split)[1]
        checked = self.data.checked
        if not model._reads_rows():
            shape = (len(train), len(train) if getattr(model, "kernel", "") == "precomputed" else checked.shape[1])
            key: Any = (type(model).__name__, shape, str(model.get_params()))
            if key not in self._learnt:
                rows = np.broadcast_to(np.zeros(1, dtype=dtype_of(checked)), shape)
                self._learnt[key] = {one.name: one.text for one in model._settings_for(rows, weights)}
            return dict(self._learnt[key])
        transformers = steps.transformers
        key = (str(transformers.get_params()) if transformers is not None else "", split)
        if key not in self._learnt:
            rows = checked[train]
            if transformers is not None:
                rows = clone(transformers).fit_transform(rows, self.data.labels[train])
            self._learnt[key] = rows
        return {one.name: one.text for one in model._settings_for(self._learnt[key], weights)}

    def _run_product(
        self, family: _Family, values: Sequence[Sequence[Any]], members: list[tuple[int, int, Values]]
    ) -> None:
        """One C++ search over all combinations of the values, on the splits of the members."""
        splits = sorted({s for _, s, _ in members})
        try:
            result = self._call(family, values, splits)
        except ValueError as wrong:
            if self.search.error_score == "raise":
                raise
            self.errors.append(wrong)
            warnings.warn(f"{len(members)} models could not be trained: {wrong}", FitFailedWarning, stacklevel=4)
            return
        points = {}
        for p, point in enumerate(result.points()):
            points[tuple(point.get(axis.option, given[0]) for axis, given in zip(family.axes, values))] = p
        places = {split: k for k, split in enumerate(splits)}
        own = {name: sign * result.scores(metric) for name, (metric, sign) in _given(self.own)}
        for c, s, wanted in members:
            p = points[wanted]
            cell = {name: table[p, places[s]] for name, table in own.items()}
            for name, found in self.own.items():
                if found is None:
                    cell.update(self._score(name, c, s, *result.held_out(p, places[s])))
            self.found[c, s] = cell

    def _call(self, family: _Family, values: Sequence[Sequence[Any]], splits: Sequence[int]) -> _core.SearchResult:
        model = self.model
        options = _core.Options(family.kind)
        for name, text in family.settings:
            options.set(name, text)
        space = {
            axis.space or axis.option: ",".join(axis.text(value) for value in given)
            for axis, given in zip(family.axes, values)
            if axis is not _COUNT
        }
        pipeline = dict(family.pipeline)
        if family.criterion:
            pipeline["select"] = f"{family.criterion}:{','.join(_COUNT.text(count) for count in values[-1])}"
        context = model._context_for(self.search.verbose)
        dataset = self.data.make_dataset(context, model)
        return _core.search_grid(
            context,
            dataset,
            options,
            space,
            pipeline,
            [self.splits[s] for s in splits],
            self.data.weights,
            "mean-squared-error" if self.data.classes is None else "accuracy",
            any(found is None for found in self.own.values()),
        )

    def _score(self, name: str, candidate: int, split: int, decisions: Array, predicted: Array) -> dict[str, float]:
        """By a callable, or a score that only scikit-learn has."""
        model: Any
        estimator = self.candidates[candidate].steps.estimator
        if self.data.classes is None:
            model = HeldOutRegressor(estimator, decisions)
        else:
            model = HeldOutClassifier(estimator, self.data.classes, decisions, predicted)
        if split not in self._test_data:
            test = self.splits[split][1]
            self._test_data[split] = _safe_indexing(self.data.X, test), _safe_indexing(self.data.y, test)
        X, y = self._test_data[split]
        score = self.scores[name]
        scorer: Callable[..., Any] = get_scorer(score) if isinstance(score, str) else score
        weights = {}
        if self.weighed and takes_weights(scorer):
            weights["sample_weight"] = np.asarray(self.data.weights)[self.splits[split][1]]
        try:
            value = scorer(model, X, y, **weights)
        except Exception as wrong:
            if self.search.error_score == "raise":
                raise
            warnings.warn(f"Scoring failed: {wrong}", UserWarning, stacklevel=5)
            return {name: float(self.search.error_score)}
        return {key: float(one) for key, one in value.items()} if isinstance(value, dict) else {name: float(value)}


def _given(own: dict[str, tuple[str, float] | None]) -> list[tuple[str, tuple[str, float]]]:
    return [(name, found) for name, found in own.items() if found is not None]


def _as_products(
    family: _Family, cells: list[tuple[int, int, Values]], axis: int | None = None
) -> Iterable[tuple[list[list[Any]], list[tuple[int, int, Values]]]]:
    """Divides cells into parts that are about all combinations of some values: by the values of the last axes first."""
    values = [sorted({point[k] for _, _, point in cells}) for k in range(len(family.axes))]
    axis = len(values) - 1 if axis is None else axis
    points = len({point for _, _, point in cells})
    if axis < 0 or np.prod([len(given) for given in values]) <= _WASTE * points:
        yield values, cells
        return
    for value in values[axis]:
        yield from _as_products(family, [cell for cell in cells if cell[2][axis] == value], axis - 1)


def _results(params: Sequence[dict[str, Any]], table: dict[str, Array], seconds: float) -> dict[str, Any]:
    """GridSearchCV's cv_results_. The models were trained together: each has an equal part of the time."""
    masked: Any = np.ma  # which has no types
    count = len(params)
    splits = next(iter(table.values())).shape[1]
    each = seconds / (count * splits)
    results: dict[str, Any] = {
        "mean_fit_time": np.full(count, each),
        "std_fit_time": np.zeros(count),
        "mean_score_time": np.zeros(count),
        "std_score_time": np.zeros(count),
    }
    for c, point in enumerate(params):
        for name, value in point.items():
            column = f"param_{name}"
            if column not in results:
                results[column] = masked.masked_all(count, dtype=object)
            results[column][c] = value
    results["params"] = list(params)
    for name, scores in table.items():
        for s in range(splits):
            results[f"split{s}_test_{name}"] = scores[:, s]
        means = scores.mean(axis=1)
        results[f"mean_test_{name}"] = means
        results[f"std_test_{name}"] = scores.std(axis=1)
        worst = np.nanmin(means) - 1 if not np.isnan(means).all() else 0.0
        ranks = rankdata(-np.nan_to_num(means, nan=worst), method="min")
        results[f"rank_test_{name}"] = ranks.astype(np.int32)
    return results
