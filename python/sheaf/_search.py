"""Trains and scores all points of a search on all splits, in as few searches of the C++ library as can be.

What the library cannot do inside a search (a transformer that it does not know, a point that it refuses, a split whose
training rows lack a class) is done split by split: transformers are learnt once for all points that share them, and
what is left is trained and scored as scikit-learn does it, one model at a time.
"""

from __future__ import annotations

import copy
import functools
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.exceptions import ConvergenceWarning, FitFailedWarning
from sklearn.metrics import get_scorer
from sklearn.pipeline import Pipeline
from sklearn.utils import column_or_1d
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from . import _core
from ._base import Array, Axis, SheafEstimator
from ._compat import validate
from ._data import class_names, dtype_of, is_on_gpu, make_dataset
from ._pipelines import Steps, last_step, read_steps
from ._reading import warn_of
from ._scoring import HeldOut, own_score, takes_weights

_MOST_TARGETS = 32  # splits whose training labels are kept
_WASTE = 1.5  # a search over a product of values may hold this many times the points that are wanted

#: Settings of which a search tries several values, unless one is given.
_LISTS = {"alpha", "l1-ratio", "relax"}
#: The number of selected features, which the C++ pipeline varies.
_COUNT = Axis("features", whole=True)

Values = tuple[Any, ...]
Split = tuple[Array, Array]
#: A candidate on a split, and its values of a family's axes.
Cell = tuple[int, int, Values]


@dataclass(frozen=True)
class _Family:
    """Models that one C++ search can train: all they have in common."""

    kind: str
    settings: tuple[tuple[str, Any], ...]
    axes: tuple[Axis, ...]
    fixed: Values  #: what axes take from the rows of a split: splits with the same are one search; None: nothing
    pipeline: tuple[tuple[str, str], ...]
    criterion: str


@dataclass
class Candidate:
    """One point of the grid."""

    point: dict[str, Any]
    estimator: Any  #: with the point's parameters, not fitted
    steps: Steps | None = None  #: None: the library cannot do this point inside a search
    values: Values = ()  #: of the axes
    front: Any = None  #: the same for candidates whose steps before the model are the same; None: no such steps


def read_candidate(estimator: Any, point: dict[str, Any], classes: Array | None) -> Candidate:
    """The estimator with a point's parameters. A parameter that it does not have is a ValueError."""
    estimator = clone(estimator).set_params(**{name: clone(value, safe=False) for name, value in point.items()})
    steps = read_steps(estimator)
    if steps is None:
        model = estimator.steps[-1][0]
        front = [(name, id(value)) for name, value in point.items() if name.split("__")[0] != model]
        return Candidate(point, estimator, front=tuple(sorted(front)))
    try:
        return Candidate(point, estimator, steps, _axis_values(steps, classes))
    except (TypeError, ValueError):  # which training says again
        return Candidate(point, estimator)


def _axis_values(steps: Steps, classes: Array | None) -> Values:
    """None stands for a value that follows from the training rows."""
    model = steps.estimator
    if classes is not None:
        model.classes_ = classes
    values = [
        None if isinstance(getattr(model, name), str) and axis.value is float else axis.value(getattr(model, name))
        for name, axis in model._active_axes().items()
    ]
    return (*values, float(steps.count)) if steps.criterion else tuple(values)


class Data:
    """What is searched over, as the C++ library and as scikit-learn see it."""

    def __init__(self, estimator: Any, X: Any, y: Any, fit_params: dict[str, Any]) -> None:
        self.X, self.y = X, y
        self.model = last_step(estimator)
        steps = read_steps(estimator)
        self.missing = steps is not None and steps.takes_missing
        if steps is None:
            y = column_or_1d(y, warn=True)
        else:
            self.checked, y = self._validated()
        self.classes: Array | None = None
        self.labels: Array = np.asarray(y)
        if is_classifier(self.model):
            check_classification_targets(y)
            self.classes, codes = np.unique(y, return_inverse=True)
            self.labels = codes.astype(np.int32)
        self.weights_name, self.weights = _read_weights(estimator, fit_params, X)

    def _validated(self) -> tuple[Any, Any]:
        how = {"missing": self.missing, "y_numeric": not is_classifier(self.model)}
        found: tuple[Any, Any] = validate(clone(self.model), self.X, self.y, **how)
        return found

    @functools.cached_property
    def checked(self) -> Any:
        """The rows as the C++ library reads them."""
        return self._validated()[0]

    def of_front(self, model: SheafEstimator, X: Any, rows: Array) -> Data:
        """The same rows as steps in front of the model leave them; `rows` are those that X has, in its order."""
        other = object.__new__(Data)
        other.X, other.y, other.model, other.missing = X, None, model, False
        other.checked = validate(clone(model), X)
        other.classes, other.labels = self.classes, self.labels[rows]
        other.weights_name, other.weights = "sample_weight", None if self.weights is None else self.weights[rows]
        return other

    @functools.cached_property
    def doubled(self) -> Data:
        """The same rows twice: the second ones are only tested, so that a split scores its training rows too."""
        other = copy.copy(self)
        other.checked = _stack([self.checked, self.checked])
        other.labels = np.tile(self.labels, 2)
        other.weights = None if self.weights is None else np.tile(self.weights, 2)
        return other

    def make_dataset(self, context: _core.Context, model: SheafEstimator) -> _core.Dataset:
        dataset = make_dataset(
            context, self.checked, precision=model.precision, missing=self.missing, device=str(model.device)
        )
        if self.classes is not None:
            dataset.set_classes(self.labels, class_names(self.classes))
        else:
            dataset.set_numbers(np.ascontiguousarray(self.labels, dtype=np.float64))
        return dataset

    def warn_of_doubts(self) -> list[str]:
        """Warns of what may mislead in the rows that the library reads, and returns notes on them."""
        if "checked" not in vars(self):  # steps in front of the model take other rows
            return []
        context = self.model._context_for(0)
        return warn_of(context, self.make_dataset(context, self.model), self.checked)

    def target_of(self, rows: Array) -> tuple[Array, Array | None]:
        """Labels and weights of some rows."""
        return self.labels[rows], None if self.weights is None else self.weights[rows]

    def has_all_classes(self, rows: Array) -> bool:
        """Whether there are rows of every class among these."""
        if self.classes is None:
            return True
        labels, weights = self.target_of(rows)
        return len(np.unique(labels if weights is None else labels[weights > 0])) == len(self.classes)

    def fit_params_of(self, rows: Array) -> dict[str, Any]:
        return {} if self.weights is None else {self.weights_name: self.weights[rows]}


def _stack(parts: list[Any]) -> Any:
    return sparse.vstack(parts, format="csr") if any(map(sparse.issparse, parts)) else np.vstack(parts)


def _read_weights(estimator: Any, fit_params: dict[str, Any], X: Any) -> tuple[str, Array | None]:
    last = estimator.steps[-1][0] + "__" if isinstance(estimator, Pipeline) else ""
    name = f"{last}sample_weight"
    for other in fit_params:
        if other != name:
            raise ValueError(f"SheafSearchCV.fit takes {name} beside X, y and groups, not {other!r}")
    weights = fit_params.get(name)
    return name, None if weights is None else _check_sample_weight(weights, X, dtype=np.float64)


class Search:
    """Trains and scores every candidate on every split."""

    def __init__(
        self,
        search: Any,
        data: Data,
        splits: Sequence[Split],
        candidates: Sequence[Candidate],
        scores: dict[str, Any],
        weighed: bool,
    ) -> None:
        self.search, self.data, self.splits, self.scores, self.weighed = search, data, splits, scores, weighed
        self.candidates = candidates
        self.scores_training = bool(search.return_train_score)
        self.own = {
            name: own_score(score, data.classes) if isinstance(score, str) and not (weighed or self.scores_training) else None
            for name, score in scores.items()
        }
        shape = len(candidates), len(splits)
        self.found = np.full(shape, None, dtype=object)
        self.found_in_training = np.full(shape, None, dtype=object)
        self.fit_seconds, self.score_seconds = np.zeros(shape), np.zeros(shape)
        self.errors: list[Exception] = []
        self.unconverged: Counter[int] = Counter()
        self.notes: list[str] | None = None  #: what every search of the library said
        self._learnt: dict[Any, Any] = {}
        self._targets: dict[int, tuple[Array, Array | None]] = {}
        self._parameters: dict[int, str] = {}  # by the identity of candidates' models
        self._test_data: dict[int, tuple[Any, Any]] = {}
        self._training_data: dict[int, tuple[Any, Any]] = {}

    def run(self) -> None:
        families: dict[_Family, list[Cell]] = {}
        fronts: dict[Any, list[tuple[int, int]]] = {}
        singles: list[tuple[int, int]] = []
        alone = self.scores_training and is_on_gpu(self.data.X)
        for c, candidate in enumerate(self.candidates):
            for s, (train, _) in enumerate(self.splits):
                if alone or not self.data.has_all_classes(train):
                    singles.append((c, s))
                elif candidate.front is not None:
                    fronts.setdefault((s, candidate.front), []).append((c, s))
                elif not self._add_to_family(families, c, s):
                    singles.append((c, s))
        for family, cells in families.items():
            self._run_cells(family, cells)
        for members in fronts.values():
            self._run_front(members)
        for c, s in singles:
            self._run_single(c, s)

    def _add_to_family(self, families: dict[_Family, list[Cell]], c: int, s: int) -> bool:
        """False: the library refuses the candidate's parameters."""
        candidate = self.candidates[c]
        if candidate.steps is None:
            return False
        if self.scores_training and getattr(candidate.steps.estimator, "kernel", "") == "precomputed":
            return False
        try:
            family, values = self._family_of(candidate.steps, candidate.values, s)
        except ValueError:
            return False
        families.setdefault(family, []).append((c, s, values))
        return True

    def table(self, found: Array) -> dict[str, Array]:
        """Scores by name, candidates x splits."""
        names = {name for cell in found.flat if cell is not None for name in cell} or set(self.scores)
        table = {}
        for name in sorted(names, key=lambda one: list(self.scores).index(one) if one in self.scores else -1):
            values = [self.search.error_score if cell is None else cell.get(name, np.nan) for cell in found.flat]
            table[name] = np.array(values, dtype=np.float64).reshape(found.shape)
        return table

    def warn(self) -> None:
        """Says what could not be trained, and what was not trained to the end."""
        models = self.found.size
        if self.errors and all(cell is None for cell in self.found.flat):
            raise self.errors[0]
        for text, count in Counter(str(wrong) for wrong in self.errors).items():
            score = self.search.error_score
            warnings.warn(
                f"{count} fits failed out of a total of {models}; their scores are {score}: {text}",
                FitFailedWarning,
                stacklevel=3,
            )
        for c, count in sorted(self.unconverged.items()):
            warnings.warn(
                f"{count} of {len(self.splits)} models with {self.candidates[c].point} did not converge; a larger "
                f"max_iter or scaled features may help",
                ConvergenceWarning,
                stacklevel=3,
            )

    def _family_of(self, steps: Steps, values: Values, split: int) -> tuple[_Family, Values]:
        model = steps.estimator
        axes = tuple(model._active_axes().values())
        target = self._target_of(split)
        learnt = self._settings_of_split(steps, split)
        learnt.update({one.name: one.text for one in model._target_settings(*target)})
        options = {axis.option for axis in axes}
        settings = [
            (setting.name, setting.text)
            for setting in (*model._settings(), *model._label_settings())
            if setting.name not in options
        ]
        settings += [(name, text) for name, text in learnt.items() if name not in options]
        given = list(values)
        fixed: list[Any] = [None] * len(given)
        for k, axis in enumerate(axes):
            if given[k] is None:
                given[k] = fixed[k] = float(learnt[axis.option])
            elif axis.per_weight:
                fixed[k] = float(model._total_weight(*target))
                given[k] /= fixed[k]
        if steps.criterion:
            axes = (*axes, _COUNT)
        pipeline = tuple(sorted(steps.settings.items()))
        family = _Family(model._model_kind(), tuple(settings), axes, tuple(fixed), pipeline, steps.criterion)
        return family, tuple(given)

    def _target_of(self, split: int) -> tuple[Array, Array | None]:
        """Labels and weights of the rows that a split trains on."""
        if split not in self._targets:
            if len(self._targets) >= _MOST_TARGETS:
                self._targets.clear()
            self._targets[split] = self.data.target_of(self.splits[split][0])
        return self._targets[split]

    def _parameters_of(self, model: SheafEstimator) -> str:
        """The parameters of a candidate's model, in one text."""
        if id(model) not in self._parameters:
            self._parameters[id(model)] = str(model.get_params())
        return self._parameters[id(model)]

    def _settings_of_split(self, steps: Steps, split: int) -> dict[str, str]:
        """Settings that follow from the rows that a split trains on."""
        model = steps.estimator
        train = self.splits[split][0]
        weights = self._target_of(split)[1]
        checked = self.data.checked
        if not model._reads_rows():
            shape = (len(train), len(train) if getattr(model, "kernel", "") == "precomputed" else checked.shape[1])
            key: Any = (type(model).__name__, shape, self._parameters_of(model))
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

    def _run_cells(self, family: _Family, cells: list[Cell]) -> None:
        for values, members in _as_products(family, cells):
            self._run_product(family, values, members)

    def _run_product(self, family: _Family, values: Sequence[Sequence[Any]], members: list[Cell]) -> None:
        """One C++ search over all combinations of the values, on the splits of the members."""
        splits = sorted({s for _, s, _ in members})
        begin = time.perf_counter()
        try:
            result = self._call(family, values, splits)
        except ValueError:
            return self._run_parts(family, members)
        seconds = (time.perf_counter() - begin) / len(members)
        points = {}
        for p, point in enumerate(result.points()):
            points[tuple(point.get(axis.option, given[0]) for axis, given in zip(family.axes, values))] = p
        places = {split: k for k, split in enumerate(splits)}
        own = {
            name: found[1] * result.scores(found[0]) for name, found in self.own.items() if found is not None
        }
        converged = result.converged().reshape(-1, len(splits))
        for c, s, wanted in members:
            p, k = points[wanted], places[s]
            cell = {name: float(table[p, k]) for name, table in own.items()}
            begin = time.perf_counter()
            for name, found in self.own.items():
                if found is None:
                    cell.update(self._score_part(False, name, c, s, result.held_out(p, k)))
            self._keep(c, s, cell, seconds, time.perf_counter() - begin, bool(converged[p, k]))
            if self.scores_training:
                self._keep_training(c, s, {name: self._score_part(True, name, c, s, result.held_out(p, k)) for name in self.own})

    def _score_part(self, training: bool, name: str, c: int, s: int, held_out: tuple[Array, Array]) -> dict[str, float]:
        """By the decisions about test rows, or about training rows, which stand behind them."""
        tests = len(self.splits[s][1])
        part = slice(tests, None) if training else slice(tests)
        decisions, predicted = held_out
        return self._score_held_out(training, name, c, s, decisions[part], predicted[part])

    def _keep_training(self, c: int, s: int, found: dict[str, dict[str, float]]) -> None:
        self.found_in_training[c, s] = {name: value for scores in found.values() for name, value in scores.items()}

    def _run_parts(self, family: _Family, members: list[Cell]) -> None:
        """What a search refuses as a whole, in halves: those that it refuses alone are trained one by one."""
        for place in (0, 1):  # by candidates, then by splits
            numbers = sorted({member[place] for member in members})
            if len(numbers) > 1:
                first = numbers[: len(numbers) // 2]
                self._run_cells(family, [member for member in members if member[place] in first])
                return self._run_cells(family, [member for member in members if member[place] not in first])
        for c, s, _ in members:
            self._run_single(c, s)

    def _call(self, family: _Family, values: Sequence[Sequence[Any]], splits: Sequence[int]) -> _core.SearchResult:
        model = self.data.model
        options = _core.Options(family.kind)
        for name, text in family.settings:
            options.set(name, text)
        space = {
            axis.option: ",".join(axis.text(value) for value in given)
            for axis, given in zip(family.axes, values)
            if axis is not _COUNT
        }
        settings = dict(family.settings)
        for name in _LISTS & settings.keys():  # what is not searched over has this only value
            space.setdefault(name, settings[name])
        pipeline = dict(family.pipeline)
        if family.criterion:
            pipeline["select"] = f"{family.criterion}:{','.join(_COUNT.text(count) for count in values[-1])}"
        context = model._context_for(self.search.verbose)
        data = self.data.doubled if self.scores_training else self.data
        dataset = data.make_dataset(context, model)
        result = _core.search_grid(
            context,
            dataset,
            options,
            space,
            pipeline,
            [self._library_split(s) for s in splits],
            data.weights,
            "mean-squared-error" if self.data.classes is None else "accuracy",
            any(found is None for found in self.own.values()),
        )
        said = [note for note in result.notes if self.notes is None or note in self.notes]
        if self.scores_training:  # every row is there twice
            said = [note for note in said if "have the same features" not in note]
        self.notes = said
        return result

    def _library_split(self, split: int) -> Split:
        train, test = self.splits[split]
        if not self.scores_training:
            return train, test
        return train, np.concatenate([test, np.sort(train) + len(self.data.labels)])

    def _keep(
        self, c: int, s: int, cell: dict[str, float], fit_seconds: float, score_seconds: float, converged: bool
    ) -> None:
        self.found[c, s] = cell
        self.fit_seconds[c, s], self.score_seconds[c, s] = fit_seconds, score_seconds
        if not converged:
            self.unconverged[c] += 1

    def _run_front(self, members: list[tuple[int, int]]) -> None:
        """Candidates that share the steps before the model, on one split: what the steps make is searched over."""
        c, s = members[0]
        train, test = np.sort(self.splits[s][0]), self.splits[s][1]
        front, X = clone(self.candidates[c].estimator[:-1]), self.data.X
        begin = time.perf_counter()
        try:
            rows, labels = _safe_split(self.candidates[c].estimator, X, self.data.y, train)
            parts = [front.fit_transform(rows, labels), front.transform(self._test_rows(s)[0])]
            model = last_step(self.candidates[c].estimator)
            data = self.data.of_front(model, _stack(parts), np.concatenate([train, test]))
        except Exception:  # which training says again
            for c, s in members:
                self._run_single(c, s)
            return
        _Behind(self, data, members, time.perf_counter() - begin).run()

    def _test_rows(self, split: int) -> tuple[Any, Any]:
        if split not in self._test_data:
            train, test = self.splits[split]
            self._test_data[split] = _safe_split(self.data.model, self.data.X, self.data.y, test, train)
        return self._test_data[split]

    def _training_rows(self, split: int) -> tuple[Any, Any]:
        if split not in self._training_data:
            rows = np.sort(self.splits[split][0])
            self._training_data[split] = _safe_split(self.data.model, self.data.X, self.data.y, rows)
        return self._training_data[split]

    def _train(self, c: int, s: int) -> Any:
        """A model as scikit-learn would train it."""
        train = self.splits[s][0]
        model = clone(self.candidates[c].estimator)
        X, y = _safe_split(model, self.data.X, self.data.y, train)
        return model.fit(X, y, **self.data.fit_params_of(train))

    def _run_single(self, c: int, s: int) -> None:
        begin = time.perf_counter()
        try:
            model = self._train(c, s)
        except Exception as wrong:
            if self.search.error_score == "raise":
                raise
            self.errors.append(wrong)
            return
        middle = time.perf_counter()
        cell: dict[str, float] = {}
        for name in self.scores:
            cell.update(self._score(name, model, s, *self._test_rows(s), self.splits[s][1]))
        self._keep(c, s, cell, middle - begin, time.perf_counter() - middle, True)
        if self.scores_training:
            rows = np.sort(self.splits[s][0])
            self._keep_training(c, s, {name: self._score(name, model, s, *self._training_rows(s), rows) for name in self.scores})

    def _score_held_out(
        self, training: bool, name: str, c: int, s: int, decisions: Array, predicted: Array
    ) -> dict[str, float]:
        """By a callable, or a score that only scikit-learn has."""
        estimator = self.candidates[c].estimator
        X, y = self._training_rows(s) if training else self._test_rows(s)
        rows = np.sort(self.splits[s][0]) if training else self.splits[s][1]
        model = last_step(estimator)
        if self.data.classes is not None:
            model.classes_ = self.data.classes
        train = functools.partial(self._train, c, s)
        held_out = HeldOut(estimator, model, X, self.data.classes, decisions, predicted, train)
        return self._score(name, held_out, s, X, y, rows)

    def _score(self, name: str, model: Any, split: int, X: Any, y: Any, rows: Array) -> dict[str, float]:
        score = self.scores[name]
        scorer: Callable[..., Any] = get_scorer(score) if isinstance(score, str) else score
        weights = {}
        if self.weighed and takes_weights(scorer):
            weights["sample_weight"] = np.asarray(self.data.weights)[rows]
        try:
            value = scorer(model, X, y, **weights)
        except Exception as wrong:
            if self.search.error_score == "raise":
                raise
            warnings.warn(f"Scoring failed: {wrong}", UserWarning, stacklevel=5)
            return {name: float(self.search.error_score)}
        return {key: float(one) for key, one in value.items()} if isinstance(value, dict) else {name: float(value)}


class _Behind(Search):
    """The search over models behind steps that were learnt on one split. Results go to the search that it is part of."""

    def __init__(self, whole: Search, data: Data, members: list[tuple[int, int]], seconds: float) -> None:
        self.whole, self.members, self.seconds = whole, members, seconds / len(members)
        models = [read_candidate(last_step(whole.candidates[c].estimator), {}, data.classes) for c, _ in members]
        train = len(whole.splits[members[0][1]][0])
        split = np.arange(train), np.arange(train, len(data.labels))
        super().__init__(whole.search, data, [split], models, whole.scores, whole.weighed)

    def _keep(
        self, c: int, s: int, cell: dict[str, float], fit_seconds: float, score_seconds: float, converged: bool
    ) -> None:
        self.whole._keep(*self.members[c], cell, self.seconds + fit_seconds, score_seconds, converged)

    def _keep_training(self, c: int, s: int, found: dict[str, dict[str, float]]) -> None:
        self.whole._keep_training(*self.members[c], found)

    def _run_single(self, c: int, s: int) -> None:
        self.whole._run_single(*self.members[c])

    def _score_held_out(
        self, training: bool, name: str, c: int, s: int, decisions: Array, predicted: Array
    ) -> dict[str, float]:
        return self.whole._score_held_out(training, name, *self.members[c], decisions, predicted)


def _as_products(
    family: _Family, cells: list[Cell], axis: int | None = None
) -> Iterator[tuple[list[list[Any]], list[Cell]]]:
    """Divides cells into parts that are about all combinations of some values: by the values of the last axes first."""
    values = [sorted({point[k] for _, _, point in cells}) for k in range(len(family.axes))]
    axis = len(values) - 1 if axis is None else axis
    points = len({point for _, _, point in cells})
    if axis < 0 or np.prod([len(given) for given in values]) <= _WASTE * points:
        yield values, cells
        return
    for value in values[axis]:
        yield from _as_products(family, [cell for cell in cells if cell[2][axis] == value], axis - 1)
