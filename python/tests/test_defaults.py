"""Defaults in signatures are scikit-learn's if it has the estimator, else those of the parameter table."""

from __future__ import annotations

import inspect
import re

import pytest
from sklearn import linear_model, neighbors, svm

import sheaf
from sheaf import _core

ESTIMATORS = [cls for cls in vars(sheaf).values() if inspect.isclass(cls) and hasattr(cls, "_kind")]
#: Defaults that are neither, and why.
STATED = {
    ("ElasticNetHuber", "alpha"): "the table has none: it must be given there",
    ("ElasticNetLogistic", "alpha"): "the table has none",
    ("LinearSVC", "tol"): "a tenth of scikit-learn's, so that models of weighted and of repeated rows agree to seven digits",
    ("LocalSVM", "n_neighbors"): "the table's 'k' has another default for local SVMs, which its help states: 40",
    ("QuantileRegressor", "l1_ratio"): "scikit-learn's penalty is the lasso's",
    ("QuantileRegressor", "max_iter"): "passes, not pivots of a linear program",
    ("Ridge", "tol"): "scikit-learn's default solver is exact",
}


def peer_of(cls):
    return next((vars(module)[cls.__name__] for module in (linear_model, svm, neighbors) if cls.__name__ in module.__all__), None)


def defaults_of(cls):
    return {name: one.default for name, one in inspect.signature(cls).parameters.items()}


def first_number(text):
    found = re.match(r"-?[0-9.]+(e-?[0-9]+)?$", text)
    return float(found.group()) if found else None


@pytest.mark.parametrize("cls", ESTIMATORS, ids=lambda cls: cls.__name__)
def test_defaults_are_those_of_the_peer_or_of_the_table(cls):
    own, peer = defaults_of(cls), peer_of(cls)
    of_peer = {} if peer is None else defaults_of(peer)
    table = {row["name"]: row["default"] for row in _core.Options(cls()._model_kind()).rows()}
    options = {setting.parameter: setting for setting in cls()._settings()}
    compared = 0
    for name, default in own.items():
        if isinstance(default, bool) or not isinstance(default, (int, float)) or (cls.__name__, name) in STATED:
            continue
        if name in of_peer:
            wanted = of_peer[name]
        else:
            wanted = first_number(table[options[name].name]) if name in options else None
        if isinstance(wanted, (int, float)):
            compared += 1
            assert default == wanted, f"{name} is {default} for {wanted}"
    assert compared or not any(isinstance(one, (int, float)) and not isinstance(one, bool) for one in own.values())


def test_searches_leave_defaults_to_the_library():
    assert (
        sheaf.AutoClassifier().fit([[0.0], [1.0]] * 10, [0, 1] * 10).leaderboard_["model"].tolist()
        == _core.search_models(*two_classes(), "auto", {}, None, None).leaderboard()["model"]
    )


def two_classes():
    import numpy as np

    from sheaf._data import make_dataset

    context = _core.Context({"seed": "0"}, None)
    x = np.array([[0.0], [1.0]] * 10)
    dataset = make_dataset(context, x, precision="float64", names=[], missing=False, device="cpu")
    dataset.set_classes(np.array([0, 1] * 10, dtype=np.int32), ["0", "1"])
    return context, dataset
