"""How much too good is an AUC if features were selected on all samples? The microbes of run.sh, with pandas and scikit-learn."""

import subprocess

import pandas
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline

from sheaf import InformationSelector, LogisticRegression

subprocess.run(["sheaf", "convert", "microbes.biom", "microbes.csv", "--quiet"], check=True)
table = pandas.read_csv("microbes.csv")
X, y = table.drop(columns="label").to_numpy(float), table["label"] == "sick"

selector = InformationSelector(n_features_to_select=30, bins=5)
model = LogisticRegression(C=0.01)
seen = cross_val_score(model, selector.fit(X, y).transform(X), y, cv=5, scoring="roc_auc").mean()
honest = cross_val_score(make_pipeline(selector, model), X, y, cv=5, scoring="roc_auc").mean()
print(f"AUC with features selected on all samples: {seen:.3f}")
print(f"AUC with features selected inside the folds: {honest:.3f}")
