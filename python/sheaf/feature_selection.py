"""Selection of features: by a criterion, or by how often elastic nets choose them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import Array, choice
from ._compat import validate
from ._data import class_names, make_context, make_dataset, number_text
from ._docs import Documented

__all__ = ["InformationSelector", "StabilitySelector"]


def set_classes(estimator: Any, dataset: _core.Dataset, y: Any) -> Array:
    """Gives the dataset the classes of `y`; returns their numbers."""
    check_classification_targets(y)
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        raise ValueError(f"{type(estimator).__name__} needs rows of at least 2 classes, got 1 class")
    numbers: Array = codes.astype(np.int32)
    dataset.set_classes(numbers, class_names(classes))
    return numbers


class _Selector(Documented, SelectorMixin, BaseEstimator):  # type: ignore[misc]
    """A selector that a target teaches."""

    device: str
    precision: str
    n_threads: int | None
    _selected: Array

    def _get_support_mask(self) -> Array:
        check_is_fitted(self)
        mask = np.zeros(self.n_features_in_, dtype=bool)
        mask[self._selected] = True
        return mask

    def _dataset(self, context: _core.Context, X: Any) -> _core.Dataset:
        return make_dataset(context, X, precision=self.precision, device=str(self.device))

    def _more_tags(self) -> dict[str, Any]:
        return {"requires_y": True, "preserves_dtype": [np.float64, np.float32]}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.sparse = True
        return tags


class InformationSelector(_Selector):
    """Select features one after another by what they say about the class, and about each other.

    The criteria are those of FEAST (Brown and others 2012), picks and scores too if `bins` is given, and relief and
    ReliefF. Without `bins`, features of the same score are ordered by how well their values separate the classes.

    Parameters
    ----------
    criterion : str, default='jmi'
        'jmi', 'mrmr', 'cmim', 'disr', 'jmim', 'icap', 'mim', 'mifs', 'cife', 'condred', 'betagamma', 'cmi', 'fcbf',
        'relief' or 'relieff'.
    n_features_to_select : int, default=10
        How many; all where there are fewer.
    bins : int, default=None
        States that the values of a feature are divided into; None: 1 + log4(rows / classes), rounded down, at least 3.
        'relieff' takes the numbers themselves.
    binning : {'automatic', 'equal-width', 'equal-frequency', 'mdlp', 'as-given'}, default=None
        How: bins of equal width, of equally many rows, cuts that separate the classes, or whole numbers as they are.
        'automatic': equal width, for skewed features equally many rows. None: 'automatic', with `bins` 'equal-width'.
    beta : float, default=1.0
        'mifs' and 'betagamma': the weight of redundancy.
    gamma : float, default=1.0
        'betagamma': the weight of redundancy within the classes.
    threshold : float, default=0.0
        'fcbf': only features whose symmetrical uncertainty is above it.
    n_neighbors : int, default=10
        'relieff': neighbours of each class.
    min_gain : float, default=None
        Stop before a feature that gains less; None: never.
    target_bins : int, default=None
        Divide a numeric target into so many classes; None: the target has classes.
    precision : {'auto', 'float32', 'float64'}, default='auto'
        Of the data.

    Attributes
    ----------
    ranking_ : ndarray of shape (n_selected,)
        The selected features, the best first.
    scores_ : ndarray of shape (n_selected,)
        The criterion of each at the time of its pick, in that order.
    relevance_ : ndarray of shape (n_selected,)
        Its mutual information with the class, in bits.
    redundancy_ : ndarray of shape (n_selected,)
        Its mean mutual information with those before it.
    bins_ : int or None
        The number of bins that was used; None where the binning finds its own.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sheaf import InformationSelector
    >>> X, y = load_iris(return_X_y=True)
    >>> selector = InformationSelector('jmi', n_features_to_select=2, bins=8).fit(X, y)
    >>> selector.ranking_
    array([3, 2])
    >>> selector.transform(X).shape
    (150, 2)
    """

    def __init__(
        self,
        criterion: str = "jmi",
        n_features_to_select: int = 10,
        *,
        bins: int | None = None,
        binning: str | None = None,
        beta: float = 1.0,
        gamma: float = 1.0,
        threshold: float = 0.0,
        n_neighbors: int = 10,
        min_gain: float | None = None,
        target_bins: int | None = None,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
    ) -> None:
        self.criterion = criterion
        self.n_features_to_select = n_features_to_select
        self.bins = bins
        self.binning = binning
        self.beta = beta
        self.gamma = gamma
        self.threshold = threshold
        self.n_neighbors = n_neighbors
        self.min_gain = min_gain
        self.target_bins = target_bins
        self.device = device
        self.precision = precision
        self.n_threads = n_threads

    def _settings(self) -> dict[str, str]:
        settings = {
            "criterion": str(self.criterion),
            "count": number_text(self.n_features_to_select),
            "beta": number_text(self.beta),
            "gamma": number_text(self.gamma),
            "threshold": number_text(self.threshold),
            "neighbours": number_text(self.n_neighbors),
        }
        if self.min_gain is not None:
            settings["min-gain"] = number_text(self.min_gain)
        return settings

    def _binning(self) -> dict[str, str]:
        if self.binning == "as-given":
            settings = {"bins": "as-given"}
        else:
            settings = {} if self.binning is None else {"binning": str(self.binning)}
            if self.bins is not None:
                settings["bins"] = number_text(self.bins)
        if self.target_bins is not None:
            settings["target-bins"] = number_text(self.target_bins)
        return settings

    def fit(self, X: Any, y: Any) -> Any:
        """Select features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row, or its number with `target_bins`.

        Returns
        -------
        self : object
            The fitted selector.
        """
        X, y = validate(self, X, y)
        context = make_context(self)
        dataset = self._dataset(context, X)
        if self.target_bins is None:
            set_classes(self, dataset, y)
        else:
            dataset.set_numbers(np.asarray(y, dtype=np.float64))
        found = _core.select(context, dataset, self._settings(), self._binning())
        self.ranking_ = self._selected = found["selected"]
        self.scores_ = found["scores"]
        self.relevance_ = found["relevance"]
        self.redundancy_ = found["redundancy"]
        self.bins_ = found["bins"]
        return self


class StabilitySelector(_Selector):
    """Select the features that elastic nets choose again and again.

    Rows are divided anew for every resample; on the training rows of each, an elastic net is chosen by
    cross-validation over a path of alphas and several L1 ratios. A feature is selected if a large enough share of the
    chosen models has a weight for it. Classes are learnt by logistic regression, numbers by least squares. All models
    of all resamples are trained together.

    Parameters
    ----------
    n_resamples : int, default=20
        How often rows are divided.
    test_fraction : float, default=0.2
        The share of the rows that each resample holds out.
    n_folds : int, default=5
        Folds of the cross-validation within a resample; fewer where a class has too few rows for them.
    l1_ratios : sequence of float, default=(0.2, 0.5, 0.9)
        The L1 penalty's shares to try.
    n_alphas : int, default=30
        Alphas to try for each, from the smallest that leaves no feature downwards.
    threshold : float, default=0.5
        The least share of resamples that must choose a feature.
    choice : {'best', 'one-standard-error'}, default='best'
        The best mean score, or the simplest model within one standard error of it.
    scoring : str, default=None
        The score to choose by; None: 'auc' for classes, 'r2' for numbers.
    task : {'auto', 'classification', 'regression'}, default='auto'
        What y holds; 'auto': numbers where some are no whole numbers, else classes.
    standardise : bool, default=True
        Penalise features as if their standard deviation was 1.
    n_permutations : int, default=0
        How often to repeat everything with permuted labels, for the stability that chance gives; each takes as long as
        the whole.
    random_state : int, default=0
        Divides the rows; the same number divides them alike.
    verbose : int, default=0
        Above 0: show how far the work is.

    Attributes
    ----------
    frequencies_ : ndarray of shape (n_features,)
        The share of resamples that chose each feature.
    ranking_ : ndarray of shape (n_selected,)
        The selected features, the most frequent first.
    stability_ : float
        How much the resamples agree (Nogueira, Sechidis and Brown 2018): 1 wholly, 0 as if each drew as many features
        at random. Resamples share rows, so that labels without any relation to the features may give more than 0.
    stability_interval_ : tuple of float
        Its 95 % interval.
    stability_by_chance_ : ndarray of shape (n_permutations,)
        The stability with permuted labels.
    notes_ : list of str
        What is to be known of the resamples, such as equal rows that are kept together.

    Examples
    --------
    >>> from sklearn.datasets import make_classification
    >>> from sheaf import StabilitySelector
    >>> X, y = make_classification(
    ...     200, 30, n_informative=3, n_redundant=0, n_clusters_per_class=1, shuffle=False, random_state=0
    ... )
    >>> int(StabilitySelector(n_resamples=5, threshold=1.0).fit(X, y).ranking_[0])
    0
    """

    def __init__(
        self,
        n_resamples: int = 20,
        *,
        test_fraction: float = 0.2,
        n_folds: int = 5,
        l1_ratios: Any = (0.2, 0.5, 0.9),
        n_alphas: int = 30,
        threshold: float = 0.5,
        choice: str = "best",
        scoring: str | None = None,
        task: str = "auto",
        standardise: bool = True,
        n_permutations: int = 0,
        random_state: int = 0,
        device: str = "auto",
        precision: str = "auto",
        n_threads: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_resamples = n_resamples
        self.test_fraction = test_fraction
        self.n_folds = n_folds
        self.l1_ratios = l1_ratios
        self.n_alphas = n_alphas
        self.threshold = threshold
        self.choice = choice
        self.scoring = scoring
        self.task = task
        self.standardise = standardise
        self.n_permutations = n_permutations
        self.random_state = random_state
        self.device = device
        self.precision = precision
        self.n_threads = n_threads
        self.verbose = verbose

    def _study_settings(self, n_folds: int) -> Iterable[tuple[str, str]]:
        known = {"best": "best", "one-standard-error": "one-standard-error"}
        yield "outer", number_text(self.n_resamples)
        yield "outer-fraction", number_text(float(self.test_fraction))
        yield "folds", number_text(n_folds)
        yield "min-frequency", number_text(float(self.threshold))
        yield "stability-permutations", number_text(self.n_permutations)
        yield "choose", choice("choice", self.choice, known)
        if self.scoring is not None:
            yield "score", str(self.scoring)

    def _folds_for(self, codes: Array) -> int:
        """As many as the smallest class has training rows for, 2 at least."""
        smallest = int(np.bincount(codes).min())
        return max(2, min(int(self.n_folds), smallest - 1, int(smallest * (1 - float(self.test_fraction)))))

    def fit(self, X: Any, y: Any) -> Any:
        """Select features.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The class of each row, or its number.

        Returns
        -------
        self : object
            The fitted selector.
        """
        X, y = validate(self, X, y)
        choice("task", self.task, {"auto": "", "classification": "", "regression": ""})
        numbers = type_of_target(y) == "continuous" if self.task == "auto" else self.task == "regression"
        context = make_context(self, seed=int(self.random_state), verbose=self.verbose)
        dataset = self._dataset(context, X)
        options = _core.Options("elastic-net" if numbers else "elastic-net-logistic")
        options.set("labels", "numbers" if numbers else "classes")
        options.set("standardise", "yes" if self.standardise else "no")
        n_folds = int(self.n_folds)
        if numbers:
            dataset.set_numbers(np.asarray(y, dtype=np.float64))
        else:
            codes = set_classes(self, dataset, y)
            n_folds = self._folds_for(codes)
        space = {
            "l1-ratio": ",".join(number_text(float(ratio)) for ratio in self.l1_ratios),
            "alpha-count": number_text(self.n_alphas),
        }
        result = _core.study(context, dataset, options, space, dict(self._study_settings(n_folds)), None)
        self.frequencies_ = np.zeros(X.shape[1])
        found = result.stability()
        self.frequencies_[found["index"]] = found["frequency"]
        self.ranking_ = self._selected = found["index"][found["frequency"] >= self.threshold].astype(np.intp)
        self.stability_, *interval = found["overall"].tolist()
        self.stability_interval_ = tuple(interval)
        self.stability_by_chance_ = found["chance"]
        self.notes_ = list(result.notes)
        return self

    def plot(self, ax: Any = None, most: int = 30) -> Any:
        """Draw how often the most frequent features were chosen.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Where to draw; None: a new figure.
        most : int, default=30
            Most features to show.

        Returns
        -------
        ax : matplotlib Axes
            The picture.
        """
        from ._plotting import plot_stability

        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", np.arange(self.n_features_in_))
        return plot_stability(self.frequencies_, float(self.threshold), names, ax, most)
