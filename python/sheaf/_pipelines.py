"""scikit-learn's pipelines as the steps that the C++ library learns inside the folds."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, StandardScaler

from ._base import SheafEstimator, choice
from ._data import number_text
from .feature_selection import InformationSelector

_STAGES = ("impute", "encode", "transform", "filter", "scale", "select")


@dataclass
class Steps:
    """What is done to features before the model, and the model."""

    estimator: Any
    settings: dict[str, str] = field(default_factory=dict)
    criterion: str = ""
    count: int = 0  #: features to select by the criterion
    transformers: Any = None  #: the pipeline without its last step; None: there is none
    takes_missing: bool = False  #: NaN is filled in by the first step


def last_step(estimator: Any) -> SheafEstimator:
    """The model of a pipeline, or the estimator itself; one that is not of this package is a ValueError."""
    model = estimator.steps[-1][1] if isinstance(estimator, Pipeline) else estimator
    # Models that choose their own penalty have no kind.
    if not isinstance(model, SheafEstimator) or not hasattr(model, "_kind") or not hasattr(model, "score"):
        raise ValueError(
            f"SheafSearchCV searches over the classifiers and regressors of sheaf, not over "
            f"{type(model).__name__}; sklearn.model_selection.GridSearchCV takes any"
        )
    return model


def read_steps(estimator: Any) -> Steps | None:
    """What is done before the model, as the C++ library does it; None: it does not know all of the steps."""
    steps = Steps(last_step(estimator))
    if not isinstance(estimator, Pipeline):
        return steps
    order: list[str] = []
    for _, transformer in estimator.steps[:-1]:
        if transformer is None or transformer == "passthrough":
            continue
        try:
            order.append(_read_step(transformer, steps))
        except (TypeError, ValueError):
            return None
    if len(set(order)) < len(order):
        return None
    if order:
        steps.transformers = estimator[:-1]
        others = [stage for stage in _STAGES if stage not in order]
        steps.settings["pipeline"] = ",".join([*others, *order])
        steps.takes_missing = order[0] == "impute"
    return steps


def _read_step(transformer: Any, steps: Steps) -> str:
    """Adds a step's settings; returns its stage. A step that the C++ library does not know is a ValueError."""
    if type(transformer) is StandardScaler:
        if not (transformer.with_mean and transformer.with_std):
            raise ValueError("with_mean and with_std must be True")
        steps.settings["scale"] = "standard"
        return "scale"
    if type(transformer) is MaxAbsScaler:
        steps.settings["scale"] = "maxabs"
        return "scale"
    if type(transformer) is MinMaxScaler:
        known: dict[Any, str] = {(0, 1): "01", (-1, 1): "-11"}
        if transformer.clip or tuple(transformer.feature_range) not in known:
            raise ValueError("feature_range must be (0, 1) or (-1, 1), and clip False")
        steps.settings["scale"] = known[tuple(transformer.feature_range)]
        return "scale"
    if type(transformer) is SimpleImputer:
        _read_imputer(transformer, steps)
        return "impute"
    if type(transformer) is InformationSelector:
        _read_selector(transformer, steps)
        return "select"
    raise ValueError("not one of the steps that are known here")


def _read_imputer(imputer: Any, steps: Steps) -> None:
    missing = imputer.missing_values
    if not (isinstance(missing, (float, np.floating)) and np.isnan(missing)):
        raise ValueError("missing_values must be NaN")
    names = {"mean": "mean", "median": "median", "most_frequent": "most-frequent", "constant": "constant"}
    steps.settings["impute"] = choice("strategy", imputer.strategy, names)
    if imputer.strategy == "constant":
        steps.settings["fill"] = number_text(float(imputer.fill_value or 0))
    if imputer.add_indicator:
        steps.settings["indicate-missing"] = "yes"


def _read_selector(selector: Any, steps: Steps) -> None:
    plain = InformationSelector().get_params()
    free = ("criterion", "n_features_to_select", "bins", "binning", "device", "precision", "n_threads")
    for parameter, value in selector.get_params().items():
        if parameter not in free and value != plain[parameter]:
            raise ValueError(f"{parameter} must be {plain[parameter]!r} here, not {value!r}")
    steps.criterion = str(selector.criterion)
    steps.count = int(selector.n_features_to_select)
    steps.settings.update(selector._binning())
