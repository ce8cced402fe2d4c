"""Docstrings of estimators: a class describes what is its own, and the rest is filled in.

What a class leaves out of its parameters is taken from its base classes, from the model that it searches over or from
the table below, in the order of its signature; attributes that its base classes describe follow its own.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

#: Types and descriptions of parameters; defaults are those of the signature.
_PARAMETERS = """alpha : float
        How much the penalty weighs.
    class_weight : dict or 'balanced'
        Factors of C for the rows of classes; 'balanced': n_samples / (n_classes * rows of the class).
    copy_X : bool
        Taken for scikit-learn's signature; X is never changed.
    device : str
        'cpu', 'cuda', 'cuda:N', or 'auto': a GPU where the work is large enough for one.
    fit_intercept : bool
        Whether there is an intercept.
    l1_ratio : float
        The L1 penalty's share, 0 to 1.
    n_jobs : int
        CPU threads if `n_threads` is None; -1: all cores.
    n_threads : int
        CPU threads; None: `n_jobs` if the estimator has it, else OMP_NUM_THREADS, else all cores. Results do not depend
        on it.
    net_options : dict
        Further options of elastic nets by their names in ``sheaf fit --help`` with `_` for `-`: `relax` (0: the weights
        of a model without a penalty of the same features), `penalty_factors` (one number for each feature), `limits`
        (a lower and an upper limit for each feature), `lower_limit`, `upper_limit`, `standardise`, `unpenalised` ...
    precision : {'auto', 'float32', 'float64'}
        Of the computation; 'auto': that of the data.
    random_state : int, RandomState instance or None
        Taken for scikit-learn's signature; nothing is random.
    selection : str
        Taken for scikit-learn's signature; features in work are visited in turn.
    verbose : int
        Above 0: show how far long work is.
    warm_start : bool
        Taken for scikit-learn's signature; must be False."""
_ATTRIBUTES = """n_features_in_ : int
        Features of the training rows.
    feature_names_in_ : ndarray of shape (`n_features_in_`,)
        Their names, where all are texts."""


def _entries(section: str) -> dict[str, str]:
    """What a section says of each name."""
    return {entry.split(" : ")[0].strip(): entry.strip() for entry in re.split(r"\n(?=    \S)", section) if entry}


def _sections(kind: type) -> dict[str, str]:
    """The parts of a docstring by their headings; what stands before the first has none."""
    summary, *rest = re.split(r"\n\n    (\w+)\n    -+\n", (vars(kind).get("__doc__") or "").rstrip())
    return {"": summary, **dict(zip(rest[::2], rest[1::2]))}


def _lent(kinds: list[type], heading: str) -> dict[str, str]:
    """What classes say, later ones in the place of earlier ones."""
    found: dict[str, str] = {}
    for kind in kinds:
        found.update(_entries(_sections(kind).get(heading, "")))
    return found


def _with_default(entry: str, default: Any) -> str:
    head, *description = entry.split("\n")
    return "\n".join([f"{head.split(', default=')[0]}, default={default!r}", *description])


def _complete(kind: type, parameters: list[inspect.Parameter]) -> None:
    sections = _sections(kind)
    bases = [base for base in reversed(kind.__mro__) if base.__module__.startswith("sheaf.") and base is not kind]
    searched = [vars(kind)["_plain"]] if "_plain" in vars(kind) else []
    own = _entries(sections.pop("Parameters", ""))
    lent = {**_entries(_PARAMETERS), **_lent([*searched, *bases], "Parameters")}
    attributes = {**_lent([*bases, kind], "Attributes"), **_entries(_ATTRIBUTES)}
    sections.pop("Attributes", None)
    summary = sections.pop("")
    filled = {
        "Parameters": [own.get(one.name) or _with_default(lent[one.name], one.default) for one in parameters],
        "Attributes": list(attributes.values()),
        **{heading: [section.strip()] for heading, section in sections.items()},
    }
    parts = ["\n    ".join([heading, "-" * len(heading), *entries]) for heading, entries in filled.items()]
    kind.__doc__ = "\n\n    ".join([summary, *parts]) + "\n    "


class Documented:
    """Completes the docstrings of the estimators that are derived from it."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        parameters = list(inspect.signature(cls.__init__).parameters.values())[1:]
        is_estimator = all(one.kind is not one.VAR_POSITIONAL for one in parameters)
        if is_estimator and vars(cls).get("__doc__") and not cls.__name__.startswith("_"):
            _complete(cls, parameters)
