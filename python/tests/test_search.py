"""SheafSearchCV against GridSearchCV over the same estimator: the same scores, the same choice."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from conftest import read_data, read_dense
from scipy import stats
from sklearn.base import is_classifier
from sklearn.compose import ColumnTransformer
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.decomposition import PCA
from sklearn.exceptions import ConvergenceWarning
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression as OtherLogisticRegression
from sklearn.metrics import fbeta_score, make_scorer
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    KFold,
    LeaveOneOut,
    RandomizedSearchCV,
    RepeatedStratifiedKFold,
    ShuffleSplit,
)
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    StandardScaler,
    scale,
)

import sheaf

CANCER = load_breast_cancer(return_X_y=True)
SCALED = scale(CANCER[0]), CANCER[1]
IRIS = load_iris(return_X_y=True)
NUMBERS = load_diabetes(return_X_y=True)
COSTS = [0.01, 0.1, 1, 10]


def assert_same(ours, theirs, atol=1e-8):
    """The same table of results and the same choice."""
    for name, column in theirs.cv_results_.items():
        if "time" in name:
            assert name in ours.cv_results_
        elif "test" in name and not name.startswith("rank"):
            np.testing.assert_allclose(ours.cv_results_[name], column, atol=atol, err_msg=name)
        elif name == "params":
            assert ours.cv_results_[name] == column
    assert ours.n_splits_ == theirs.n_splits_
    assert ours.multimetric_ == theirs.multimetric_
    if hasattr(theirs, "best_index_"):
        assert ours.best_params_ == theirs.best_params_
        assert ours.best_index_ == theirs.best_index_
    if hasattr(theirs, "best_score_"):
        assert ours.best_score_ == pytest.approx(theirs.best_score_, abs=atol, nan_ok=True)


def compare(estimator, grid, data, *, fit=None, atol=1e-8, **how):
    fit = fit or {}
    ours = sheaf.SheafSearchCV(estimator, grid, **how).fit(*data, **fit)
    theirs = GridSearchCV(estimator, grid, **how).fit(*data, **fit)
    assert_same(ours, theirs, atol)
    return ours, theirs


@pytest.mark.parametrize(
    "estimator, grid, data",
    [
        (sheaf.LogisticRegression(), {"C": COSTS}, SCALED),
        (sheaf.LogisticRegression(), {"C": COSTS, "class_weight": [None, "balanced", {0: 1, 1: 5}]}, SCALED),
        (sheaf.LogisticRegression(), {"C": COSTS, "fit_intercept": [True, False]}, IRIS),
        (sheaf.LinearSVC(), {"C": COSTS}, SCALED),
        (sheaf.SVC(), {"C": COSTS}, SCALED),
        (sheaf.SVC(), {"C": COSTS, "gamma": [0.001, 0.01, 0.1]}, IRIS),
        (sheaf.SVC(), {"C": COSTS, "gamma": ["scale", "auto", 0.1]}, IRIS),
        (
            sheaf.SVC(),
            [{"C": [1, 10], "gamma": [0.1]}, {"kernel": ["linear"], "C": COSTS}, {"kernel": ["poly"], "degree": [2, 3]}],
            IRIS,
        ),
        (sheaf.NuSVC(), {"nu": [0.1, 0.3], "gamma": [0.1, 1]}, IRIS),
        (sheaf.KNeighborsClassifier(), {"n_neighbors": [1, 3, 5, 9], "weights": ["uniform", "distance"]}, SCALED),
        (sheaf.KNeighborsClassifier(), {"n_neighbors": [1, 5], "p": [1, 1.5, 2]}, IRIS),
        (sheaf.LocalHyperplane(), {"n_neighbors": [3, 5], "reg_lambda": [0.1, 1]}, IRIS),
        (sheaf.LocalSVM(), {"n_neighbors": [10, 30], "C": [0.1, 1]}, IRIS),
        (sheaf.LocalSVM(rule="falk_svm", kernel="rbf"), {"C": [0.1, 1], "gamma": ["auto", 1.0]}, IRIS),
        (sheaf.ElasticNetLogistic(tol=1e-9), {"alpha": [0.1, 0.01], "l1_ratio": [0.2, 0.9]}, IRIS),
        (sheaf.Ridge(), {"alpha": COSTS}, NUMBERS),
        (sheaf.Lasso(tol=1e-9), {"alpha": COSTS}, NUMBERS),
        (sheaf.ElasticNet(tol=1e-9), {"alpha": COSTS, "l1_ratio": [0.2, 0.5, 1.0]}, NUMBERS),
        (sheaf.ElasticNetHuber(tol=1e-9), {"alpha": COSTS, "l1_ratio": [0.2, 1.0], "threshold": [None, 20]}, NUMBERS),
        (sheaf.QuantileRegressor(tol=1e-8), {"alpha": [0.001, 0.01], "quantile": [0.3, 0.5]}, NUMBERS),
        (sheaf.LinearSVR(), {"C": COSTS, "epsilon": [0, 10]}, NUMBERS),
        (sheaf.SVR(tol=1e-5), {"C": [1, 100], "epsilon": [0.1, 1]}, NUMBERS),
        (sheaf.NuSVR(tol=1e-5), {"C": [1, 100], "nu": [0.3, 0.6]}, NUMBERS),
        (sheaf.KNeighborsRegressor(), {"n_neighbors": [1, 5, 20]}, NUMBERS),
    ],
    ids=lambda value: type(value).__name__ if hasattr(value, "fit") else "",
)
def test_every_estimator(estimator, grid, data):
    compare(estimator, grid, data, atol=1e-6)


@pytest.mark.parametrize(
    "cv",
    [
        3,
        KFold(4, shuffle=True, random_state=1),
        ShuffleSplit(4, random_state=2),
        RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=3),
        [(np.arange(0, 400), np.arange(400, 569)), (np.arange(100, 569), np.arange(0, 50))],
        [(np.arange(569) % 2 == 0, np.arange(569) % 2 == 1)],
    ],
    ids=["number", "kfold", "shuffle", "repeated", "lists", "masks"],
)
def test_any_folds(cv):
    cv = [(np.flatnonzero(a), np.flatnonzero(b)) for a, b in cv] if isinstance(cv, list) and len(cv) == 1 else cv
    compare(sheaf.LogisticRegression(), {"C": COSTS}, SCALED, cv=cv)


def test_leave_one_out():
    compare(sheaf.KNeighborsClassifier(), {"n_neighbors": [1, 5]}, IRIS, cv=LeaveOneOut())


def test_groups():
    groups = np.arange(len(SCALED[1])) % 7
    compare(sheaf.LinearSVC(), {"C": COSTS}, SCALED, cv=GroupKFold(4), fit={"groups": groups})


@pytest.mark.parametrize("kind", ["LogisticRegression", "SVC", "LinearSVC"])
def test_sample_weights(kind):
    weights = np.random.RandomState(0).rand(len(SCALED[1]))
    compare(getattr(sheaf, kind)(), {"C": [0.1, 1]}, SCALED, fit={"sample_weight": weights})


CLASS_SCORES = [
    "accuracy",
    "balanced_accuracy",
    "f1_macro",
    "f1_micro",
    "f1_weighted",
    "matthews_corrcoef",
    "precision_macro",
    "precision_weighted",
    "recall_macro",
    "recall_weighted",
    "neg_log_loss",
]


def test_scores_of_two_classes():
    scores = [*CLASS_SCORES, "f1", "precision", "recall", "roc_auc", "average_precision", "neg_brier_score", "jaccard"]
    compare(sheaf.LogisticRegression(), {"C": COSTS}, SCALED, scoring=scores, refit="roc_auc", atol=1e-7)


def test_scores_of_three_classes():
    scores = [*CLASS_SCORES, "roc_auc_ovr", "roc_auc_ovo_weighted", "top_k_accuracy"]
    compare(sheaf.LogisticRegression(), {"C": COSTS}, IRIS, scoring=scores, refit="accuracy", atol=1e-7)
    compare(sheaf.KNeighborsClassifier(), {"n_neighbors": [3, 9]}, IRIS, scoring=scores, refit="accuracy", atol=1e-7)


def test_scores_of_numbers():
    scores = [
        "r2",
        "neg_mean_absolute_error",
        "neg_mean_squared_error",
        "neg_root_mean_squared_error",
        "neg_median_absolute_error",
        "explained_variance",
    ]
    compare(sheaf.Ridge(), {"alpha": COSTS}, NUMBERS, scoring=scores, refit="r2", atol=1e-5)


def test_scores_of_ones_own():
    scores = {"own": make_scorer(fbeta_score, beta=2), "auc": "roc_auc"}
    compare(sheaf.SVC(gamma=0.01), {"C": COSTS}, SCALED, scoring=scores, refit="own")
    compare(sheaf.LinearSVC(), {"C": COSTS}, SCALED, scoring=lambda model, X, y: float((model.predict(X) == y).mean()))

    def several(model, X, y):
        decisions = model.decision_function(X)
        assert len(decisions) == len(X) == len(y)
        return {"mean": float(decisions.mean()), "positive": float((decisions > 0).mean())}

    compare(sheaf.LinearSVC(tol=1e-8), {"C": COSTS}, SCALED, scoring=several, refit="mean", atol=1e-5)


def test_labels_that_are_words():
    y = np.where(CANCER[1], "yes", "no")
    compare(sheaf.LogisticRegression(), {"C": COSTS}, (SCALED[0], y), scoring=["accuracy", "roc_auc"], refit="roc_auc")


def test_refit_chooses():
    def cheapest(results):
        return int(np.argmin(results["param_C"].astype(float)))

    ours, _ = compare(sheaf.LogisticRegression(), {"C": COSTS}, SCALED, refit=cheapest)
    assert ours.best_params_ == {"C": 0.01}
    none = sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": COSTS}, refit=False).fit(*SCALED)
    assert not hasattr(none, "best_estimator_") and none.best_score_ > 0.9
    with pytest.raises(ValueError, match="refit"):
        sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": COSTS}, scoring=["accuracy", "f1"]).fit(*SCALED)


def test_points_at_random():
    space = {"C": stats.loguniform(1e-3, 1e3), "gamma": stats.loguniform(1e-4, 1)}
    ours = sheaf.SheafSearchCV(sheaf.SVC(), space, n_iter=8, random_state=5).fit(*IRIS)
    theirs = RandomizedSearchCV(sheaf.SVC(), space, n_iter=8, random_state=5).fit(*IRIS)
    assert_same(ours, theirs)


PIPELINES = [
    (make_pipeline(StandardScaler(), sheaf.LogisticRegression()), {"logisticregression__C": COSTS}),
    (make_pipeline(MinMaxScaler(), sheaf.LinearSVC()), {"linearsvc__C": COSTS}),
    (make_pipeline(MinMaxScaler((-1, 1)), sheaf.LinearSVC()), {"linearsvc__C": COSTS}),
    (make_pipeline(MaxAbsScaler(), sheaf.KNeighborsClassifier()), {"kneighborsclassifier__n_neighbors": [1, 5]}),
    (make_pipeline(StandardScaler(), sheaf.SVC()), {"svc__C": COSTS}),
    (make_pipeline(StandardScaler(), sheaf.SVC()), {"svc__C": COSTS, "svc__gamma": [0.01, 0.1]}),
    (
        Pipeline([("scale", StandardScaler()), ("select", sheaf.InformationSelector()), ("clf", sheaf.SVC())]),
        {"select__n_features_to_select": [3, 8], "clf__C": [1, 10], "clf__gamma": [0.01, 0.1]},
    ),
    (
        Pipeline([("select", sheaf.InformationSelector()), ("scale", StandardScaler()), ("clf", sheaf.SVC())]),
        {"select__criterion": ["jmi", "mim"], "select__n_features_to_select": [5], "clf__C": [1, 10]},
    ),
    (
        make_pipeline(sheaf.InformationSelector(bins=6, binning="equal-frequency"), sheaf.LogisticRegression()),
        {"informationselector__n_features_to_select": [3, 5], "logisticregression__C": [1, 10]},
    ),
    (
        make_pipeline(sheaf.InformationSelector(n_features_to_select=4), sheaf.LogisticRegression()),
        {"informationselector__bins": [None, 64], "logisticregression__C": [1, 10]},
    ),
]


@pytest.mark.parametrize("pipeline, grid", PIPELINES)
def test_pipelines(pipeline, grid):
    compare(pipeline, grid, CANCER)


def test_a_pipeline_with_weights():
    weights = np.random.RandomState(0).rand(len(CANCER[1]))
    pipeline = make_pipeline(StandardScaler(), sheaf.SVC())
    compare(pipeline, {"svc__C": [1, 10], "svc__gamma": [0.01, 0.1]}, CANCER, fit={"svc__sample_weight": weights})


@pytest.mark.parametrize("strategy", ["mean", "median", "most_frequent", "constant"])
def test_missing_values_are_filled_in_inside_the_folds(strategy):
    X = SCALED[0].round(1)
    X[np.random.RandomState(0).rand(*X.shape) < 0.1] = np.nan
    pipeline = make_pipeline(SimpleImputer(strategy=strategy), StandardScaler(), sheaf.LogisticRegression())
    compare(pipeline, {"logisticregression__C": [0.1, 1]}, (X, CANCER[1]))


def _text_and_numbers():
    """Half of iris' columns as words and half as numbers with holes, in a data frame."""
    frame = pd.DataFrame(IRIS[0], columns=["a", "b", "c", "d"])
    frame["a"] = np.where(frame["a"] > 6, "long", np.where(frame["a"] > 5, "middle", "short"))
    frame.loc[::7, "b"] = np.nan
    return frame, np.array(["x", "y", "z"])[IRIS[1]]


MIXED = ColumnTransformer(
    [("words", OneHotEncoder(), ["a"]), ("numbers", make_pipeline(SimpleImputer(), StandardScaler()), ["b", "c", "d"])]
)
FRONTS = [
    (Pipeline([("reduce", PCA(2)), ("clf", sheaf.SVC())]), {"reduce__n_components": [2, 5], "clf__C": [1, 10]}, SCALED),
    (make_pipeline(StandardScaler(with_mean=False), sheaf.LogisticRegression()), {"logisticregression__C": COSTS}, CANCER),
    (make_pipeline(StandardScaler(), StandardScaler(), sheaf.LinearSVC()), {"linearsvc__C": COSTS}, CANCER),
    (make_pipeline(PolynomialFeatures(2), StandardScaler(), sheaf.Ridge()), {"ridge__alpha": COSTS}, NUMBERS),
    (make_pipeline(MIXED, sheaf.LogisticRegression()), {"logisticregression__C": COSTS}, _text_and_numbers()),
    (make_pipeline(MIXED, sheaf.SVC()), {"svc": [sheaf.SVC(), sheaf.KNeighborsClassifier(3)]}, _text_and_numbers()),
]


@pytest.mark.parametrize("pipeline, grid, data", FRONTS)
def test_any_transformer_before_the_model(pipeline, grid, data):
    compare(pipeline, grid, data)


def test_a_transformer_is_fitted_once_a_fold():
    fits = []

    class Counting(StandardScaler):
        def fit(self, X, y=None, sample_weight=None):
            fits.append(len(X))
            return super().fit(X, y)

    pipeline = Pipeline([("scale", Counting()), ("clf", sheaf.LogisticRegression())])
    weights = np.random.RandomState(0).rand(len(CANCER[1]))
    search = sheaf.SheafSearchCV(pipeline, {"clf__C": COSTS}, cv=3).fit(*CANCER, clf__sample_weight=weights)
    assert len(fits) == 3 + 1  # and once with all rows
    theirs = GridSearchCV(pipeline, {"clf__C": COSTS}, cv=3).fit(*CANCER, clf__sample_weight=weights)
    assert_same(search, theirs)


def test_other_estimators_are_refused():
    with pytest.raises(ValueError, match="not over LogisticRegression.*GridSearchCV"):
        sheaf.SheafSearchCV(OtherLogisticRegression(), {"C": [1]}).fit(*CANCER)
    with pytest.raises(ValueError, match="not over OneClassSVM"):
        sheaf.SheafSearchCV(sheaf.OneClassSVM(), {"nu": [0.1]}).fit(*CANCER)


@pytest.mark.parametrize("data", [SCALED, IRIS, NUMBERS], ids=["two", "three", "numbers"])
def test_scores_of_training_rows(data):
    model = sheaf.Ridge() if data is NUMBERS else sheaf.LogisticRegression()
    grid = {"alpha" if data is NUMBERS else "C": COSTS}
    ours, theirs = compare(model, grid, data, return_train_score=True, cv=3)
    for name in ("mean_train_score", "std_train_score", "split0_train_score", "split2_train_score"):
        np.testing.assert_allclose(ours.cv_results_[name], theirs.cv_results_[name], atol=1e-12)


def test_times_are_each_candidates_own():
    """Points of two distances are two searches, each with its own time."""
    grid = [{"n_neighbors": [1]}, {"n_neighbors": [1], "p": [1.5]}]
    X = np.random.RandomState(0).rand(1000, 30)
    search = sheaf.SheafSearchCV(sheaf.KNeighborsClassifier(), grid, cv=3).fit(X, X[:, 0] > 0.5)
    fit = search.cv_results_["mean_fit_time"]
    assert 0 < fit.min() < fit.max()


def _predicts_other_rows(model, X, y):
    return float((model.predict(X + 5) == y).mean())


def _reads_weights(model, X, y):
    return float(np.abs(model.coef_).sum())


def _reads_parameters(model, X, y):
    assert isinstance(model, (sheaf.SVC, sheaf.LogisticRegression)) and is_classifier(model)
    return model.get_params()["C"] + model.C


def _reads_log_probabilities(model, X, y):
    return float(model.predict_log_proba(X)[:, 0].mean())


def _decides_about_all(model, X, y):
    return float(np.abs(model.decision_function(X)).mean())


@pytest.mark.parametrize(
    "scorer",
    [_predicts_other_rows, _reads_weights, _reads_parameters, _reads_log_probabilities, _decides_about_all],
    ids=lambda scorer: scorer.__name__,
)
@pytest.mark.parametrize("data", [SCALED, IRIS], ids=["two", "three"])
def test_scorers_get_what_they_ask_for(scorer, data):
    linear = sheaf.LogisticRegression(tol=1e-9)
    compare(linear, {"C": COSTS}, data, scoring=scorer, cv=3, atol=1e-4)
    kernel = sheaf.SVC(kernel="linear", probability=True, tol=1e-6, random_state=0)
    compare(kernel, {"C": [0.1, 1]}, data, scoring=scorer, cv=3, atol=1e-4)


def test_probabilities_of_svms():
    model = sheaf.SVC(probability=True, random_state=0)
    ours, _ = compare(model, {"C": [0.1, 1, 10]}, SCALED, scoring="neg_log_loss", cv=3, atol=1e-6)
    assert np.isfinite(ours.cv_results_["mean_test_score"]).all()


@pytest.mark.parametrize(
    "model",
    [
        sheaf.LogisticRegression(tol=1e-9),
        sheaf.LogisticRegression(tol=1e-9, multi_class="ovr"),
        sheaf.ElasticNetLogistic(tol=1e-9),
        sheaf.LinearSVC(tol=1e-9),
        sheaf.SVC(tol=1e-6),
        sheaf.SVC(tol=1e-6, decision_function_shape="ovo"),
        sheaf.NuSVC(nu=0.1, tol=1e-6),
        sheaf.LocalHyperplane(),
        sheaf.LocalSVM(),
    ],
    ids=lambda model: type(model).__name__,
)
@pytest.mark.parametrize("data", [SCALED, IRIS], ids=["two", "three"])
def test_decision_values_are_the_models(model, data):
    compare(model, {"device": ["cpu"]}, data, scoring=_decides_about_all, cv=3, atol=1e-4)


@pytest.mark.filterwarnings("ignore")
def test_one_bad_point_spoils_no_other():
    grid = {"C": [-1.0, 0.1, 1], "gamma": [0.01, 0.1]}
    ours, _ = compare(sheaf.SVC(), grid, SCALED, cv=3)
    assert np.isnan(ours.cv_results_["mean_test_score"]).tolist() == [True] * 2 + [False] * 4
    ours, _ = compare(sheaf.Ridge(), {"alpha": [-1.0, 1.0]}, NUMBERS, cv=3, error_score=-7.0)
    assert ours.cv_results_["mean_test_score"][0] == -7
    ours, _ = compare(sheaf.LogisticRegression(), {"C": [1.0], "penalty": ["l2", "l7"]}, SCALED, cv=3)
    assert np.isnan(ours.cv_results_["mean_test_score"]).tolist() == [False, True]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("kind", ["LogisticRegression", "LinearSVC", "SVC", "KNeighborsClassifier", "ElasticNetLogistic"])
def test_a_class_of_one_row(kind):
    X, y = np.vstack([IRIS[0][:100], IRIS[0][149:]]), np.append(IRIS[1][:100], 2)
    compare(getattr(sheaf, kind)(), {"device": ["cpu"]}, (X, y), cv=3)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("error_score", [np.nan, -1.0])
def test_folds_of_sorted_labels(error_score):
    two = IRIS[0][:100], IRIS[1][:100]
    cv = [*KFold(2).split(two[0]), *KFold(3, shuffle=True, random_state=0).split(two[0])]
    ours, _ = compare(sheaf.LogisticRegression(), {"C": COSTS}, two, cv=cv, error_score=error_score)
    np.testing.assert_array_equal(ours.cv_results_["split0_test_score"], np.full(4, error_score))
    compare(sheaf.LogisticRegression(), {"C": COSTS}, IRIS, cv=KFold(3), error_score=error_score)
    with pytest.raises(ValueError, match="class"):
        sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": COSTS}, cv=cv, error_score="raise").fit(*two)


def test_models_that_did_not_converge_are_said():
    search = sheaf.SheafSearchCV(sheaf.LogisticRegression(max_iter=11), {"C": [1e-4, 1e6]}, cv=3)
    with pytest.warns(ConvergenceWarning, match=r"3 of 3 models with {'C': 1000000.0} did not converge") as said:
        search.fit(*SCALED)
    assert not any("0.0001" in str(one.message) for one in said)


def test_what_cannot_be_trained():
    skewed = IRIS[0][:110], IRIS[1][:110]
    grid = {"nu": [0.1, 0.9]}
    with pytest.warns(Warning, match="nu"):
        search = sheaf.SheafSearchCV(sheaf.NuSVC(), grid).fit(*skewed)
    assert np.isfinite(search.cv_results_["mean_test_score"][0]) and np.isnan(search.cv_results_["mean_test_score"][1])
    assert search.best_params_ == {"nu": 0.1}
    with pytest.raises(ValueError, match="nu"):
        sheaf.SheafSearchCV(sheaf.NuSVC(), grid, error_score="raise").fit(*skewed)
    with pytest.raises(ValueError, match="C: .*expected"):
        sheaf.SheafSearchCV(sheaf.SVC(), {"C": [-1.0]}).fit(*IRIS)
    with pytest.raises(ValueError, match="nonsense"):
        sheaf.SheafSearchCV(sheaf.SVC(), {"nonsense": [1]}).fit(*IRIS)


def test_training_rows_that_are_tested():
    overlapping = [(np.arange(120), np.arange(50, 150))]
    compare(sheaf.KNeighborsClassifier(), {"n_neighbors": [1, 5]}, IRIS, cv=overlapping)


@pytest.mark.parametrize("name", ["heart_scale", "sonar_scale", "vehicle", "splice"])
def test_real_data(name):
    X, y = read_dense(name)
    data = scale(X), y
    compare(sheaf.LogisticRegression(tol=1e-8), {"C": COSTS}, data)
    compare(sheaf.SVC(tol=1e-6), {"C": [1, 10], "gamma": [0.01, 0.1]}, data)


def test_sparse_text():
    X, y = read_data("reuters_moneyfx")
    compare(sheaf.LogisticRegression(), {"C": [0.1, 1]}, (X[:2000], y[:2000]), cv=3, scoring="roc_auc")


def test_it_predicts_with_the_best():
    search = sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": COSTS}).fit(*SCALED)
    best = sheaf.LogisticRegression(**search.best_params_).fit(*SCALED)
    np.testing.assert_array_equal(search.predict_proba(SCALED[0]), best.predict_proba(SCALED[0]))
    assert search.score(*SCALED) == best.score(*SCALED)
    assert search.classes_.tolist() == [0, 1] and search.n_features_in_ == 30


def test_equal_rows_on_both_sides_of_given_splits_are_noted():
    rng = np.random.default_rng(3)
    X = np.repeat(rng.normal(size=(60, 5)), 2, axis=0)
    y = np.repeat(rng.integers(2, size=60), 2)
    order = rng.permutation(120)
    search = sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": [0.1, 1]}, cv=KFold(4)).fit(X[order], y[order])
    assert any("120 of 120 rows have the same features as another row" in note for note in search.notes_)
    together = sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": [0.1, 1]}, cv=KFold(4)).fit(X, y)
    assert not any("same features" in note for note in together.notes_)


def _doubtful():
    """The label among the features, a code for missing values, and a feature that never changes."""
    X, y = IRIS
    gaps = np.r_[np.full(30, -999.0), X[30:, 0]]
    return np.column_stack([X, y, gaps, np.ones(len(y))]), y


def test_doubts_about_the_data():
    X, y = _doubtful()
    found = {one["code"]: one for one in sheaf.data_findings(pd.DataFrame(X).rename(columns=lambda k: f"x{k}"), y)}
    assert {code: one["level"] for code, one in found.items()} == {
        "leak": "warning",
        "missing-codes": "warning",
        "constant-features": "note",
    }
    assert "x4" in found["leak"]["message"] and "x5 (-999)" in found["missing-codes"]["message"]
    assert not any("--" in one["message"] or "ignore" in one["message"] for one in found.values())
    assert sheaf.data_findings(*NUMBERS) == []
    assert [one["code"] for one in sheaf.data_findings(X[:, 5:], np.linspace(0, 1, 150))] == list(found)[1:]
    with pytest.raises(ValueError, match="150 rows, and y has 3"):
        sheaf.data_findings(X, y[:3])


def test_searches_warn_of_doubts_about_the_data():
    X, y = _doubtful()
    with pytest.warns(UserWarning) as said:
        search = sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": [0.1, 1]}).fit(X, y)
    assert sum("alone determines" in str(one.message) for one in said) == 1
    assert any("never changes" in note for note in search.notes_)


@pytest.mark.parametrize(
    "estimator, grid",
    [
        (sheaf.Ridge(), {"alpha": [1e-3, 1]}),
        (sheaf.KNeighborsRegressor(), {"n_neighbors": [1, 5]}),
        (sheaf.SVR(), {"C": [0.1, 1]}),
    ],
)
def test_a_fold_of_equal_targets(estimator, grid):
    rng = np.random.RandomState(0)
    data = rng.normal(size=(60, 3)), np.r_[np.zeros(20), rng.normal(size=40)]
    compare(estimator, grid, data, cv=KFold(3))
