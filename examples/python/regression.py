"""Numbers: the course of diabetes from ten measurements, by a lasso path and by support-vector regression.

    python3 examples/python/regression.py
"""

import numpy as np
from sklearn.datasets import load_diabetes
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sheaf import SVR, LassoCV, SheafSearchCV


def main():
    data = load_diabetes(as_frame=True, scaled=False)
    X, y = data.data, data.target
    standard = (X - X.mean()) / X.std(ddof=0)
    lasso = LassoCV(cv=10).fit(standard, y)
    print(f"lasso: alpha {lasso.alpha_:.3g}")
    for k in np.argsort(-np.abs(lasso.coef_)):
        print(f"  {X.columns[k]:>4} {lasso.coef_[k]:7.2f}")
    grid = {"svr__C": [1, 10, 100, 1000], "svr__gamma": [0.001, 0.01, 0.1], "svr__epsilon": [1, 10]}
    scores = {"r2": "r2", "absolute error": "neg_mean_absolute_error"}
    search = SheafSearchCV(make_pipeline(StandardScaler(), SVR()), grid, scoring=scores, refit="r2", cv=10).fit(X, y)
    error = -search.cv_results_["mean_test_absolute error"][search.best_index_]
    print(f"SVR: R2 {search.best_score_:.3f}, absolute error {error:.1f} with {search.best_params_}")


if __name__ == "__main__":
    main()
