"""Sheaf for Python: whole searches at a time, behind scikit-learn's interface."""

from ._core import __version__, devices
from .linear_model import ElasticNet, ElasticNetLogistic, Lasso, LogisticRegression, Ridge

__all__ = [
    "ElasticNet",
    "ElasticNetLogistic",
    "Lasso",
    "LogisticRegression",
    "Ridge",
    "__version__",
    "devices",
]
