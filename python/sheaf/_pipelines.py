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
_KNOWN = "StandardScaler, MinMaxScaler, MaxAbsScaler, SimpleImputer and InformationSelector"
_INSTEAD = "sklearn.model_selection.GridSearchCV takes any"


@dataclass
class Steps:
    """What is done to features before the model, and the model."""

    estimator: Any
    settings: dict[str, str] = field(default_factory=dict)
    criterion: str = ""
    count: int = 0  #: features to select by the criterion
    transformers: Any = None  #: the pipeline without its last step; None: there is none
    takes_missing: bool = False  #: NaN is filled in by the first step


def read_steps(estimator: Any) -> Steps:
    """Steps that the C++ library does not know are a ValueError that names the step."""
    if not isinstance(estimator, Pipeline):
        return Steps(_checked_model(estimator))
    steps = Steps(_checked_model(estimator.steps[-1][1]))
    order: list[str] = []
    for name, transformer in estimator.steps[:-1]:
        if transformer is None or transformer == "passthrough":
            continue
        stage = _read_step(name, transformer, steps)
        if stage in order:
            raise ValueError(f"step {name!r} is a second one of the kind {stage!r}, of which there may be one; {_INSTEAD}")
        order.append(stage)
    if order:
        steps.transformers = estimator[:-1]
        others = [stage for stage in _STAGES if stage not in order]
        steps.settings["pipeline"] = ",".join([*others, *order])
        steps.takes_missing = order[0] == "impute"
    return steps


def _checked_model(estimator: Any) -> SheafEstimator:
    # Models that choose their own penalty have no kind.
    if not isinstance(estimator, SheafEstimator) or not hasattr(estimator, "_kind") or not hasattr(estimator, "score"):
        raise ValueError(
            f"SheafSearchCV searches over the classifiers and regressors of sheaf, not over "
            f"{type(estimator).__name__}; {_INSTEAD}"
        )
    return estimator


def _refuse(name: str, transformer: Any, why: str) -> ValueError:
    return ValueError(f"step {name!r} ({type(transformer).__name__}): {why}; {_INSTEAD}")


def _read_step(name: str, transformer: Any, steps: Steps) -> str:
    """Adds a step's settings; returns its stage."""
    if type(transformer) is StandardScaler:
        if not (transformer.with_mean and transformer.with_std):
            raise _refuse(name, transformer, "with_mean and with_std must be True")
        steps.settings["scale"] = "standard"
        return "scale"
    if type(transformer) is MaxAbsScaler:
        steps.settings["scale"] = "maxabs"
        return "scale"
    if type(transformer) is MinMaxScaler:
        known: dict[Any, str] = {(0, 1): "01", (-1, 1): "-11"}
        if transformer.clip or tuple(transformer.feature_range) not in known:
            raise _refuse(name, transformer, "feature_range must be (0, 1) or (-1, 1), and clip False")
        steps.settings["scale"] = known[tuple(transformer.feature_range)]
        return "scale"
    if type(transformer) is SimpleImputer:
        _read_imputer(name, transformer, steps)
        return "impute"
    if type(transformer) is InformationSelector:
        _read_selector(name, transformer, steps)
        return "select"
    raise _refuse(name, transformer, f"not one of the steps that are known here, {_KNOWN}")


def _read_imputer(name: str, imputer: Any, steps: Steps) -> None:
    missing = imputer.missing_values
    if not (isinstance(missing, (float, np.floating)) and np.isnan(missing)):
        raise _refuse(name, imputer, "missing_values must be NaN")
    names = {"mean": "mean", "median": "median", "most_frequent": "most-frequent", "constant": "constant"}
    steps.settings["impute"] = choice("strategy", imputer.strategy, names)
    if imputer.strategy == "constant":
        steps.settings["fill"] = number_text(float(imputer.fill_value or 0))
    if imputer.add_indicator:
        steps.settings["indicate-missing"] = "yes"


def _read_selector(name: str, selector: Any, steps: Steps) -> None:
    plain = InformationSelector().get_params()
    free = ("criterion", "n_features_to_select", "device", "precision", "n_threads")
    for parameter, value in selector.get_params().items():
        if parameter not in free and value != plain[parameter]:
            raise _refuse(name, selector, f"{parameter} must be {plain[parameter]!r} here, not {value!r}")
    steps.criterion = str(selector.criterion)
    steps.count = int(selector.n_features_to_select)
