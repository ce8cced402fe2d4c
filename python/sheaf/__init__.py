"""Sheaf for Python: whole searches at a time, behind scikit-learn's interface."""

from ._core import __version__, devices
from ._files import load
from ._reading import read_data
from .auto import AutoClassifier, AutoRegressor
from .feature_selection import InformationSelector, StabilitySelector
from .glm import GammaRegressor, PoissonRegressor, TweedieRegressor
from .linear_model import (
    ElasticNet,
    ElasticNetHuber,
    ElasticNetLogistic,
    Lasso,
    LogisticRegression,
    MultiTaskElasticNet,
    MultiTaskLasso,
    QuantileRegressor,
    Ridge,
)
from .linear_model_cv import ElasticNetCV, ElasticNetLogisticCV, LassoCV, LogisticRegressionCV, RidgeCV
from .model_selection import SheafSearchCV
from .neighbors import KNeighborsClassifier, KNeighborsRegressor, KNeighborsTransformer, LocalHyperplane, LocalSVM
from .rescoring import Percolator
from .survival import CoxRegression
from .svm import SVC, SVR, LinearSVC, LinearSVR, NuSVC, NuSVR, OneClassSVM

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "CoxRegression",
    "ElasticNet",
    "ElasticNetCV",
    "ElasticNetHuber",
    "ElasticNetLogistic",
    "ElasticNetLogisticCV",
    "GammaRegressor",
    "InformationSelector",
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "KNeighborsTransformer",
    "Lasso",
    "LassoCV",
    "LinearSVC",
    "LinearSVR",
    "LocalHyperplane",
    "LocalSVM",
    "LogisticRegression",
    "LogisticRegressionCV",
    "MultiTaskElasticNet",
    "MultiTaskLasso",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Percolator",
    "PoissonRegressor",
    "QuantileRegressor",
    "Ridge",
    "RidgeCV",
    "SVC",
    "SVR",
    "SheafSearchCV",
    "StabilitySelector",
    "TweedieRegressor",
    "__version__",
    "devices",
    "load",
    "read_data",
]
