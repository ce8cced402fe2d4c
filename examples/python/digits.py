"""Handwritten digits: softmax regression, an SVM with a kernel and neighbours, each searched as a whole.

    python3 examples/python/digits.py
"""

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from sheaf import SVC, KNeighborsClassifier, LogisticRegression, SheafSearchCV

SEARCHES = {
    "softmax regression": (LogisticRegression(max_iter=1000), {"logisticregression__C": [0.01, 0.1, 1, 10]}),
    "SVM": (SVC(), {"svc__C": [1, 10, 100], "svc__gamma": [0.01, 0.03, 0.1]}),
    "neighbours": (
        KNeighborsClassifier(),
        {"kneighborsclassifier__n_neighbors": [1, 3, 5, 7, 9], "kneighborsclassifier__weights": ["uniform", "distance"]},
    ),
}


def main():
    X, y = load_digits(return_X_y=True)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.3, random_state=0, stratify=y)
    for name, (model, grid) in SEARCHES.items():
        search = SheafSearchCV(make_pipeline(MaxAbsScaler(), model), grid, cv=5).fit(X_train, y_train)
        wrong = int((search.predict(X_test) != y_test).sum())
        best = ", ".join(f"{key.split('__')[1]} = {value}" for key, value in search.best_params_.items())
        print(f"{name}: {search.best_score_:.3f} in the folds with {best}; {wrong} of {len(y_test)} test digits wrong")


if __name__ == "__main__":
    main()
