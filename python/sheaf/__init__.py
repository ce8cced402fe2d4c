"""Sheaf for Python: whole searches at a time, behind scikit-learn's interface."""

from ._core import __version__, devices
from ._reading import data_findings, read_data
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
from .local import LocalHyperplane, LocalSVM
from .model_selection import SheafSearchCV
from .models import load_model, save_onnx
from .neighbors import KNeighborsClassifier, KNeighborsRegressor, KNeighborsTransformer, NearestNeighbors
from .radius import RadiusNeighborsClassifier, RadiusNeighborsRegressor, RadiusNeighborsTransformer
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
    "NearestNeighbors",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Percolator",
    "PoissonRegressor",
    "QuantileRegressor",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
    "RadiusNeighborsTransformer",
    "Ridge",
    "RidgeCV",
    "SVC",
    "SVR",
    "SheafSearchCV",
    "StabilitySelector",
    "TweedieRegressor",
    "__version__",
    "data_findings",
    "devices",
    "load_model",
    "read_data",
    "save_onnx",
]
