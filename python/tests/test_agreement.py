"""The estimators against scikit-learn's own: the same objective, the same predictions."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import read_dense
from scipy import sparse
from scipy.special import logsumexp
from sklearn import datasets, linear_model, neighbors, svm
from sklearn.metrics import mean_pinball_loss
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import scale

import sheaf

TWO_CLASSES = ["heart_scale", "ionosphere", "diabetes", "sonar_scale", "breast-cancer", "german.numer", "splice"]
MORE_CLASSES = ["iris", "wine", "vehicle", "vowel", "glass"]
CANCER = scale(datasets.load_breast_cancer().data), datasets.load_breast_cancer().target
NUMBERS = ["housing_scale", "abalone", "cpusmall", "diabetes_reg"]


def _own(name):
    loaders = {
        "sklearn-breast-cancer": datasets.load_breast_cancer,
        "sklearn-wine": datasets.load_wine,
        "sklearn-digits": datasets.load_digits,
        "sklearn-diabetes": datasets.load_diabetes,
    }
    return loaders[name](return_X_y=True)


def _data(name, rows=600):
    X, y = _own(name) if name.startswith("sklearn-") else read_dense(name, rows)
    X, y = X[:rows], y[:rows]
    varying = X.std(axis=0) > 0
    return scale(X[:, varying]), y


def _log_loss_objective(model, X, y, C):
    sign = np.where(y == model.classes_[1], 1.0, -1.0)
    w = model.coef_[0]
    return w @ w / 2 + C * np.logaddexp(0, -sign * model.decision_function(X)).sum()


@pytest.mark.parametrize("name", ["sklearn-breast-cancer", *TWO_CLASSES])
@pytest.mark.parametrize("C", [0.1, 10])
def test_logistic_regression(name, C):
    X, y = _data(name)
    ours = sheaf.LogisticRegression(C=C, tol=1e-8).fit(X, y)
    theirs = linear_model.LogisticRegression(C=C, tol=1e-8, max_iter=10000).fit(X, y)
    assert _log_loss_objective(ours, X, y, C) == pytest.approx(_log_loss_objective(theirs, X, y, C), rel=1e-6)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-3)


@pytest.mark.parametrize("name", ["sklearn-digits", *MORE_CLASSES])
def test_logistic_regression_of_one_class_against_the_rest(name):
    X, y = _data(name)
    ours = sheaf.LogisticRegression(multi_class="ovr", tol=1e-8).fit(X, y)
    for k, label in enumerate(ours.classes_):
        theirs = linear_model.LogisticRegression(tol=1e-8, max_iter=10000).fit(X, y == label)
        np.testing.assert_allclose(ours.decision_function(X)[:, k], theirs.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("name", ["sklearn-breast-cancer", *TWO_CLASSES, *MORE_CLASSES])
def test_linear_svc(name):
    X, y = _data(name)
    ours = sheaf.LinearSVC(C=0.1, tol=1e-8).fit(X, y)
    theirs = svm.LinearSVC(C=0.1, tol=1e-8, dual=False, max_iter=100000).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)


@pytest.mark.parametrize("name", ["sklearn-breast-cancer", "sklearn-wine", *TWO_CLASSES, *MORE_CLASSES])
@pytest.mark.parametrize("kernel", ["rbf", "poly", "linear"])
def test_svc(name, kernel):
    X, y = _data(name, 300)
    ours = sheaf.SVC(kernel=kernel, C=2, tol=1e-5).fit(X, y)
    theirs = svm.SVC(kernel=kernel, C=2, tol=1e-5).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=2e-3)
    np.testing.assert_array_equal(ours.classes_, theirs.classes_)
    if ours.support_.shape == theirs.support_.shape and (ours.support_ == theirs.support_).all():
        np.testing.assert_array_equal(ours.n_support_, theirs.n_support_)
        np.testing.assert_allclose(np.abs(ours.dual_coef_).sum(), np.abs(theirs.dual_coef_).sum(), rtol=1e-2)
    if kernel == "linear":
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=5e-3)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-3)


@pytest.mark.parametrize("name", ["sklearn-breast-cancer", "heart_scale", "iris"])
def test_nu_svc_and_one_class(name):
    X, y = _data(name, 300)
    np.testing.assert_allclose(
        sheaf.NuSVC(nu=0.2, tol=1e-6).fit(X, y).decision_function(X),
        svm.NuSVC(nu=0.2, tol=1e-6).fit(X, y).decision_function(X),
        atol=1e-2,
    )
    ours, theirs = sheaf.OneClassSVM(tol=1e-6).fit(X), svm.OneClassSVM(tol=1e-6).fit(X)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(ours.offset_, theirs.offset_, rtol=1e-3)


def test_probabilities_of_svc_order_rows_alike():
    X, y = _data("sklearn-breast-cancer")
    ours = sheaf.SVC(probability=True, random_state=1).fit(X, y)
    theirs = svm.SVC(probability=True, random_state=1).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=0.1)
    assert not hasattr(sheaf.SVC(), "predict_proba")


def test_a_precomputed_kernel_is_the_kernel():
    X, y = _data("sklearn-wine")
    K = X @ X.T
    for kind in ("SVC", "NuSVC"):
        plain = getattr(sheaf, kind)(kernel="linear", tol=1e-6).fit(X, y)
        table = getattr(sheaf, kind)(kernel="precomputed", tol=1e-6).fit(K, y)
        np.testing.assert_allclose(table.decision_function(K), plain.decision_function(X), atol=1e-3)


@pytest.mark.parametrize("name", ["sklearn-diabetes", *NUMBERS])
def test_regressions(name):
    X, y = _data(name)
    y = scale(y)
    pairs = [
        (sheaf.Ridge(alpha=3), linear_model.Ridge(alpha=3)),
        (sheaf.Lasso(alpha=0.05, tol=1e-10), linear_model.Lasso(alpha=0.05, tol=1e-10, max_iter=100000)),
        (sheaf.ElasticNet(alpha=0.05, tol=1e-10), linear_model.ElasticNet(alpha=0.05, tol=1e-10, max_iter=100000)),
        (
            sheaf.Lasso(alpha=0.05, tol=1e-10, positive=True),
            linear_model.Lasso(alpha=0.05, tol=1e-10, positive=True, max_iter=100000),
        ),
        (
            sheaf.LinearSVR(epsilon=0.1, tol=1e-8),
            svm.LinearSVR(epsilon=0.1, tol=1e-8, loss="squared_epsilon_insensitive", dual=False, max_iter=100000),
        ),
        (sheaf.SVR(tol=1e-5), svm.SVR(tol=1e-5)),
        (sheaf.NuSVR(tol=1e-5), svm.NuSVR(tol=1e-5)),
        (sheaf.KNeighborsRegressor(7), neighbors.KNeighborsRegressor(7)),
        (sheaf.KNeighborsRegressor(weights="distance"), neighbors.KNeighborsRegressor(weights="distance")),
    ]
    for ours, theirs in pairs:
        mine, other = ours.fit(X, y).predict(X), theirs.fit(X, y).predict(X)
        # Equally near rows may be taken in another order.
        differ = np.abs(mine - other) > 2e-3
        assert differ.mean() < (0.05 if "Neighbors" in type(ours).__name__ else 1e-9), type(ours).__name__


@pytest.mark.parametrize("name", ["sklearn-digits", "heart_scale", "vowel", "splice"])
@pytest.mark.parametrize("metric", ["minkowski", "manhattan", "cosine", "chebyshev"])
def test_neighbors(name, metric):
    X, y = _data(name, 400)
    ours = sheaf.KNeighborsClassifier(4, metric=metric).fit(X, y)
    theirs = neighbors.KNeighborsClassifier(4, metric=metric, algorithm="brute").fit(X, y)
    mine, other = ours.kneighbors(X)[0], theirs.kneighbors(X)[0]
    np.testing.assert_allclose(mine, other, atol=1e-6)
    graph = ours.kneighbors_graph(X, mode="distance")
    assert graph.shape == (len(X), len(X)) and graph.nnz == 4 * len(X)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.97
    np.testing.assert_array_equal(ours.kneighbors(n_neighbors=1)[1].ravel() != np.arange(len(X)), True)


@pytest.mark.parametrize("name", ["sklearn-digits", "heart_scale", "vowel"])
@pytest.mark.parametrize("mode", ["distance", "connectivity"])
def test_graphs_of_neighbors(name, mode):
    X, _ = _data(name, 400)
    X, queries = X[:-50], X[-50:]
    ours = sheaf.KNeighborsTransformer(mode=mode, n_neighbors=4).fit(X)
    theirs = neighbors.KNeighborsTransformer(mode=mode, n_neighbors=4).fit(X)
    for rows in (X, queries):
        mine, other = ours.transform(rows), theirs.transform(rows)
        assert mine.shape == other.shape and mine.format == other.format
        np.testing.assert_array_equal(mine.indptr, other.indptr)
        np.testing.assert_allclose(mine.data, other.data, atol=1e-6)
        assert np.mean(mine.indices == other.indices) > 0.97  # equally near rows may be taken in another order
    np.testing.assert_array_equal(ours.fit_transform(X).toarray(), ours.transform(X).toarray())
    np.testing.assert_array_equal(ours.get_feature_names_out(), theirs.get_feature_names_out())


def test_graphs_of_neighbors_in_pipelines():
    X, y = _data("sklearn-wine")
    ours = make_pipeline(
        sheaf.KNeighborsTransformer(n_neighbors=30), neighbors.KNeighborsClassifier(5, metric="precomputed")
    )
    plain = neighbors.KNeighborsClassifier(5)
    np.testing.assert_array_equal(ours.fit(X, y).predict(X), plain.fit(X, y).predict(X))


def test_neighbors_by_powers():
    X, y = _data("sklearn-wine")
    for p in (1, 1.5, 2, 3, np.inf):
        ours = sheaf.KNeighborsClassifier(p=p).fit(X, y).kneighbors(X)[0]
        theirs = neighbors.KNeighborsClassifier(p=p).fit(X, y).kneighbors(X)[0]
        np.testing.assert_allclose(ours, theirs, atol=1e-9)


@pytest.mark.parametrize("name", ["sklearn-breast-cancer", "heart_scale", "german.numer"])
def test_elastic_net_logistic(name):
    X, y = _data(name)
    alpha = 0.02
    ours = sheaf.ElasticNetLogistic(alpha=alpha, l1_ratio=0.5, tol=1e-10).fit(X, y)
    theirs = linear_model.LogisticRegression(
        penalty="elasticnet", solver="saga", l1_ratio=0.5, C=1 / (alpha * len(y)), tol=1e-10, max_iter=20000
    ).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.5, 0.05])
def test_several_targets(l1_ratio, intercept):
    X, y = datasets.load_diabetes(return_X_y=True)
    targets = np.column_stack([y, np.sqrt(y), X[:, 2] * 100 + np.arange(len(y)) % 3])
    for alpha in (10, 0.5):
        how = {"alpha": alpha, "l1_ratio": l1_ratio, "fit_intercept": intercept}
        theirs = linear_model.MultiTaskElasticNet(**how, tol=1e-12, max_iter=100000).fit(100 * X, targets)
        for rows in (100 * X, sparse.csr_matrix(100 * X)):
            ours = sheaf.MultiTaskElasticNet(**how, tol=1e-12, max_iter=100000).fit(rows, targets)
            np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-5 * np.abs(theirs.coef_).max() + 1e-12)
            np.testing.assert_allclose(ours.intercept_, theirs.intercept_ + np.zeros(3), atol=1e-4)
            np.testing.assert_allclose(ours.predict(rows), theirs.predict(100 * X), rtol=1e-5, atol=1e-4)
    lasso = sheaf.MultiTaskLasso(alpha=0.5, tol=1e-10).fit(100 * X, targets)
    plain = sheaf.MultiTaskElasticNet(alpha=0.5, l1_ratio=1, tol=1e-10).fit(100 * X, targets)
    np.testing.assert_array_equal(lasso.coef_, plain.coef_)


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("quantile", [0.1, 0.5, 0.85])
def test_quantiles(quantile, intercept, container):
    X, y = _data("sklearn-diabetes")
    weights = np.random.RandomState(0).randint(0, 3, len(y))
    for alpha in (0.3, 0.03, 0.003):
        how = {"quantile": quantile, "alpha": alpha, "fit_intercept": intercept}

        def objective(model, weights):
            loss = mean_pinball_loss(y, model.predict(X), alpha=quantile, sample_weight=weights)
            return loss + alpha * np.abs(model.coef_).sum()

        for given in (None, weights):
            theirs = linear_model.QuantileRegressor(**how, solver="highs").fit(X, y, given)
            ours = sheaf.QuantileRegressor(**how).fit(container(X), y, given)
            least = objective(theirs, given)
            assert least * (1 - 1e-9) <= objective(ours, given) <= least * (1 + 2e-6)
            np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-2)  # of targets up to 346


def test_quantiles_with_both_penalties():
    X, y = _data("sklearn-diabetes")
    model = sheaf.QuantileRegressor(quantile=0.7, alpha=0.02, l1_ratio=0.3, tol=1e-8).fit(X, y)

    def objective(intercept, weights):
        loss = mean_pinball_loss(y, X @ weights + intercept, alpha=0.7)
        return loss + 0.02 * (0.3 * np.abs(weights).sum() + 0.35 * weights @ weights)

    least = objective(model.intercept_, model.coef_)
    rng = np.random.RandomState(0)
    for size in (1e-3, 1e-1, 10):  # a convex function that no step lowers is at its least value
        for step in rng.normal(size=(200, X.shape[1] + 1)) * size:
            assert objective(model.intercept_ + step[0], model.coef_ + step[1:]) >= least * (1 - 1e-8)


@pytest.mark.parametrize("standardise", [True, False])
@pytest.mark.parametrize("l1_ratio", [1.0, 0.4])
@pytest.mark.parametrize("threshold", [5.0, 60.0, None])
def test_huber_nets_are_where_the_gradient_of_their_objective_is_0(threshold, l1_ratio, standardise):
    X, y = datasets.load_diabetes(return_X_y=True)
    X = X * np.geomspace(10, 1000, X.shape[1])
    weights = np.random.RandomState(0).randint(0, 3, len(y))
    model = sheaf.ElasticNetHuber(threshold, alpha=0.5, l1_ratio=l1_ratio, standardise=standardise, tol=1e-12)
    model.fit(X, y, weights)
    left = y - model.predict(X)
    rows = y.repeat(weights)
    assert model.threshold_ == pytest.approx(threshold or np.subtract(*np.quantile(rows, [0.75, 0.25])) / 10)
    slopes = np.clip(left, -model.threshold_, model.threshold_) * weights / weights.sum()
    means = weights @ X / weights.sum()
    spreads = np.sqrt(weights @ (X - means) ** 2 / weights.sum()) if standardise else np.ones(X.shape[1])
    steepness = slopes @ X / spreads - 0.5 * (1 - l1_ratio) * model.coef_ * spreads
    used = model.coef_ != 0
    assert used.any() and slopes.sum() == pytest.approx(0, abs=1e-7)
    np.testing.assert_allclose(steepness[used], 0.5 * l1_ratio * np.sign(model.coef_[used]), atol=1e-5)
    assert np.all(np.abs(steepness[~used]) <= 0.5 * l1_ratio)


def test_huber_nets_of_wide_thresholds_are_elastic_nets():
    X, y = datasets.load_diabetes(return_X_y=True)
    huber = sheaf.ElasticNetHuber(1e4, alpha=0.1, l1_ratio=0.7, tol=1e-12).fit(X, y)
    plain = linear_model.ElasticNet(alpha=0.1, l1_ratio=0.7, tol=1e-14, max_iter=100000).fit(X, y)
    np.testing.assert_allclose(huber.coef_, plain.coef_, rtol=1e-5, atol=1e-5)


def test_no_weights_are_better_than_the_dual_gap_allows():
    X, y = datasets.load_diabetes(return_X_y=True)

    def objective(model):
        errors = y - model.predict(X)
        weights = np.abs(model.coef_)
        return np.mean(errors**2) / 2 + 0.1 * (0.7 * weights.sum() + 0.15 * (weights**2).sum())

    best = objective(linear_model.ElasticNet(alpha=0.1, l1_ratio=0.7, tol=1e-14, max_iter=100000).fit(X, y))
    for tol in (1e-1, 1e-3, 1e-6):
        model = sheaf.ElasticNet(alpha=0.1, l1_ratio=0.7, tol=tol).fit(X, y)
        assert 0 <= model.dual_gap_ <= tol * np.var(y)
        assert objective(model) - best <= model.dual_gap_ + 1e-9 * best


def test_class_weights_are_row_weights(two_classes):
    X, y = two_classes
    for kind in ("LogisticRegression", "LinearSVC", "SVC", "ElasticNetLogistic"):
        make = getattr(sheaf, kind)
        tol = {"tol": 1e-8} if kind != "SVC" else {}
        by_class = make(class_weight={0: 1, 1: 3}, **tol).fit(X, y).decision_function(X)
        by_row = make(**tol)
        if kind == "SVC":  # whose gamma follows from weighted rows
            by_row.set_params(gamma=sheaf.svm.scale_gamma(X))
        by_row = by_row.fit(X, y, sample_weight=np.where(y, 3, 1)).decision_function(X)
        np.testing.assert_allclose(by_class, by_row, atol=1e-4)
        balanced = make(class_weight="balanced", **tol).fit(X, y).decision_function(X)
        counts = np.bincount(y)
        weights = {label: len(y) / (2 * count) for label, count in enumerate(counts)}
        given = make(class_weight=weights, **tol).fit(X, y).decision_function(X)
        np.testing.assert_allclose(balanced, given, atol=1e-5)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("C", [1, 1000])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_matrix], ids=["dense", "sparse"])
def test_large_costs_are_trained_to_the_end(classes, C, container):
    """More features than rows: the least objective is a small share of that of no weights."""
    rng = np.random.RandomState(0)
    X = rng.exponential(size=(60, 2500)) * rng.exponential(size=2500) * (rng.rand(60, 2500) < 0.1)
    y = np.arange(60) % classes
    X[:, :20] += y[:, None] * rng.rand(20)

    def objective(model):
        values = model.decision_function(X)
        if classes == 2:
            values = np.column_stack([np.zeros(len(y)), values])
        losses = logsumexp(values, axis=1) - values[np.arange(len(y)), y]
        return (model.coef_**2).sum() / 2 + C * losses.sum()

    theirs = linear_model.LogisticRegression(C=C, tol=1e-10, max_iter=20000, solver="lbfgs").fit(X, y)
    ours = sheaf.LogisticRegression(C=C).fit(container(X), y)
    assert objective(ours) < 1.01 * objective(theirs)


@pytest.mark.parametrize("penalty, l1_ratio", [("l1", None), ("elasticnet", 0.3), ("elasticnet", 0.0)])
@pytest.mark.parametrize("weighted", [False, True], ids=["", "weighted"])
def test_logistic_regression_with_an_l1_penalty(penalty, l1_ratio, weighted):
    X, y = CANCER
    weights = np.random.RandomState(0).rand(len(y)) if weighted else None
    grid = {"C": [0.01, 0.1]}
    how = {"penalty": penalty, "l1_ratio": l1_ratio, "C": 0.1, "class_weight": {0: 2.0} if weighted else None}
    theirs = linear_model.LogisticRegression(solver="saga", tol=1e-8, max_iter=20000, **how).fit(X, y, weights)
    ours = sheaf.LogisticRegression(tol=1e-9, max_iter=10000, **how).fit(X, y, weights)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    search = sheaf.SheafSearchCV(sheaf.LogisticRegression(tol=1e-9, max_iter=10000, **how), grid, cv=3).fit(X, y)
    other = GridSearchCV(linear_model.LogisticRegression(solver="saga", tol=1e-6, max_iter=5000, **how), grid, cv=3)
    scores = search.cv_results_["mean_test_score"], other.fit(X, y).cv_results_["mean_test_score"]
    np.testing.assert_allclose(*scores, atol=1e-8)


@pytest.mark.parametrize(
    "how, words",
    [
        ({"penalty": "l1", "l1_ratio": 0.5}, r"only used when penalty is 'elasticnet'\. Got \(penalty=l1\)"),
        ({"l1_ratio": 0.5}, r"only used when penalty is 'elasticnet'\. Got \(penalty=l2\)"),
        ({"penalty": None, "C": 4}, "Setting penalty=None will ignore the C"),
    ],
)
def test_logistic_regression_warns_of_parameters_that_have_no_effect(how, words):
    X, y = CANCER
    used = {name: value for name, value in how.items() if name == "penalty"}
    with pytest.warns(UserWarning, match=words):
        coefs = sheaf.LogisticRegression(**how).fit(X[:, :5], y).coef_
    np.testing.assert_array_equal(coefs, sheaf.LogisticRegression(**used).fit(X[:, :5], y).coef_)


@pytest.mark.parametrize("how", [{"loss": "hinge"}, {"multi_class": "crammer_singer"}], ids=["hinge", "crammer-singer"])
def test_linear_svms_with_corners(how):
    X, y = scale(datasets.load_wine().data), datasets.load_wine().target
    theirs = svm.LinearSVC(C=0.1, tol=1e-9, max_iter=10**6, random_state=0, **how).fit(X, y)
    ours = sheaf.LinearSVC(C=0.1, tol=1e-9, max_iter=10**5, **how).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=1e-3)
    # Classes whose decision values are closer than both may be wrong are a matter of rounding.
    best = np.sort(theirs.decision_function(X), axis=1)
    clear = best[:, -1] - best[:, -2] > 2e-3
    assert clear.sum() >= len(y) - 2
    np.testing.assert_array_equal(ours.predict(X)[clear], theirs.predict(X)[clear])


def test_linear_svr_with_corners():
    X, y = datasets.load_diabetes(return_X_y=True)
    X, y = scale(X), scale(y)
    theirs = svm.LinearSVR(epsilon=0.1, C=0.5, tol=1e-9, max_iter=10**6, random_state=0).fit(X, y)
    ours = sheaf.LinearSVR(epsilon=0.1, C=0.5, tol=1e-9, max_iter=10**5, loss="epsilon_insensitive").fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-3)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=2e-3)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("name", ["sklearn-breast-cancer", "sklearn-wine"])
def test_linear_svms_with_an_l1_penalty(name, intercept):
    X, y = _data(name)
    how = {"penalty": "l1", "C": 0.05, "fit_intercept": intercept}
    theirs = svm.LinearSVC(dual=False, tol=1e-10, max_iter=10**6, random_state=0, **how).fit(X, y)
    for rows in (X, sparse.csr_matrix(X)):
        ours = sheaf.LinearSVC(tol=1e-10, max_iter=10**5, **how).fit(rows, y)
        np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(ours.decision_function(rows), theirs.decision_function(X), atol=1e-3)
    with pytest.raises(ValueError, match="penalty='l1' takes loss='squared_hinge'"):
        sheaf.LinearSVC(penalty="l1", loss="hinge").fit(X, y)


@pytest.mark.parametrize("intercept", [True, False])
def test_one_model_of_two_classes(intercept):
    X, y = datasets.make_classification(n_classes=2, random_state=0)
    how = {"multi_class": "crammer_singer", "fit_intercept": intercept}
    theirs = svm.LinearSVC(tol=1e-8, max_iter=10**6, random_state=0, **how).fit(X, y)
    ours = sheaf.LinearSVC(**how).fit(X, y)
    assert ours.coef_.shape == theirs.coef_.shape and ours.score(X, y) >= 0.9
    close = sheaf.LinearSVC(tol=1e-7, max_iter=10**5, **how).fit(X, y)
    np.testing.assert_allclose(close.decision_function(X), theirs.decision_function(X), atol=1e-2)


@pytest.mark.parametrize("C", [1, 1000])
def test_multinomial_models_of_large_C_are_trained_to_the_end(C):
    X, y = datasets.load_digits(return_X_y=True)
    X, y = X[:500], y[:500]

    def objective(model):
        return (model.coef_**2).sum() / 2 - C * model.predict_log_proba(X)[np.arange(len(y)), y].sum()

    theirs = linear_model.LogisticRegression(C=C, solver="newton-cg", tol=1e-8, max_iter=10**4).fit(X, y)
    ours = sheaf.LogisticRegression(C=C, max_iter=10**4).fit(X, y)
    assert objective(ours) < 1.005 * objective(theirs)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", ["SVC", "SVR"])
def test_svms_of_features_far_from_0(name, dtype):
    """A shift of the features changes no linear model but its intercept."""
    rng = np.random.RandomState(0)
    X = rng.normal(size=(150, 5))
    y = (X[:, 0] + 0.5 * rng.normal(size=150) > 0).astype(int)
    far = (X + 3000).astype(dtype)
    ours = getattr(sheaf, name)(kernel="linear", tol=1e-6).fit(far, y)
    near = far.astype(np.float64) - 3000
    theirs = getattr(svm, name)(kernel="linear", tol=1e-6).fit(near, y)
    decide = "decision_function" if name == "SVC" else "predict"
    found = getattr(ours, decide)(far)
    np.testing.assert_allclose(found, getattr(theirs, decide)(near), atol=1e-4)
    np.testing.assert_allclose(far.astype(np.float64) @ ours.coef_[0] + ours.intercept_, found, atol=1e-5)
