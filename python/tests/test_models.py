"""Model files read back, ONNX, and data frames of other libraries."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.preprocessing import scale

import sheaf

CANCER = scale(load_breast_cancer().data), load_breast_cancer().target
IRIS = load_iris(return_X_y=True)
COUNTS = IRIS[0][:, :3], np.round(IRIS[0][:, 3] * 10)


@pytest.mark.parametrize("labels", [["no", "yes"], [3, 1], [1.0, -2.0]], ids=str)
@pytest.mark.parametrize("kind", [sheaf.LogisticRegression, sheaf.SVC, sheaf.KNeighborsClassifier, sheaf.LinearSVC])
def test_models_of_two_classes_are_read_back(tmp_path, kind, labels):
    y = np.array(labels)[CANCER[1]]
    model = kind().fit(CANCER[0], y)
    model.save_model(tmp_path / "model")
    again = sheaf.load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.classes_, model.classes_)
    np.testing.assert_array_equal(again.predict(CANCER[0]), model.predict(CANCER[0]))
    if hasattr(model, "decision_function"):
        np.testing.assert_allclose(again.decision_function(CANCER[0]), model.decision_function(CANCER[0]), atol=1e-6)
    if hasattr(model, "predict_proba"):
        np.testing.assert_allclose(again.predict_proba(CANCER[0]), model.predict_proba(CANCER[0]), atol=1e-6)


@pytest.mark.parametrize("model", [sheaf.LinearSVC(), sheaf.ElasticNetLogistic()], ids=lambda one: type(one).__name__)
def test_models_of_three_classes_are_read_back(tmp_path, model):
    y = np.array(["c", "a", "b"])[IRIS[1]]
    model.fit(IRIS[0], y).save_model(tmp_path / "model")
    again = sheaf.load_model(tmp_path / "model")
    np.testing.assert_array_equal(again.predict(IRIS[0]), model.predict(IRIS[0]))
    np.testing.assert_allclose(again.decision_function(IRIS[0]), model.decision_function(IRIS[0]), atol=1e-6)


def test_models_of_the_program_with_their_steps(tmp_path):
    frame = pd.DataFrame(IRIS[0], columns=["a", "b", "c", "d"]).assign(kind=np.array(["x", "y", "z"])[IRIS[1]])
    frame.to_csv(tmp_path / "iris.csv", index=False)
    run = [sys.executable, "-m", "sheaf"]
    fit = ["fit", "iris.csv", "--label", "kind", "--model", "svm", "--scale", "standard", "--output", "model"]
    subprocess.run([*run, *fit], check=True, cwd=tmp_path, capture_output=True)
    predict = ["predict", "iris.csv", "--model-file", "model", "--output", "out.csv"]
    subprocess.run([*run, *predict], check=True, cwd=tmp_path, capture_output=True)
    told = (tmp_path / "out.csv").read_text().split()
    told = [line.split(",")[0] for line in told][-len(frame) :]
    model = sheaf.load_model(tmp_path / "model")
    assert model.family == "svm" and repr(model) == "SavedModel(family='svm')"
    assert model.predict(frame[["d", "c", "b", "a"]]).tolist() == told  # features are found by their names
    assert np.mean(model.predict(IRIS[0]) == frame["kind"]) > 0.95


def test_a_file_that_is_no_model(tmp_path):
    (tmp_path / "model").write_text("nothing\n")
    with pytest.raises(ValueError, match="model"):
        sheaf.load_model(tmp_path / "model")


ONNX = [
    (sheaf.LogisticRegression(), CANCER),
    (sheaf.LogisticRegression(), (IRIS[0], np.array(["c", "a", "b"])[IRIS[1]])),
    (sheaf.LogisticRegression(multi_class="ovr"), IRIS),
    (sheaf.LinearSVC(), (CANCER[0].astype(np.float32), CANCER[1] == 1)),
    (sheaf.ElasticNetLogisticCV(n_alphas=5), CANCER),
    (sheaf.Ridge(), COUNTS),
    (sheaf.MultiTaskLasso(0.1), (IRIS[0], IRIS[0][:, :2] * 2)),
    (sheaf.PoissonRegressor(), COUNTS),
    (sheaf.TweedieRegressor(power=0), COUNTS),
]
_NODES = {
    "MatMul": lambda a, b: a @ b,
    "Add": lambda a, b: a + b,
    "Sub": lambda a, b: a - b,
    "Div": lambda a, b: a / b,
    "Exp": np.exp,
    "Identity": lambda a: a,
    "Squeeze": lambda a, axes: np.squeeze(a, tuple(axes)),
    "Greater": lambda a, b: a > b,
    "Cast": lambda a, to: a.astype(np.int64),
    "ArgMax": lambda a, axis, keepdims: a.argmax(axis),
    "Gather": lambda a, places, axis: np.take(a, places, axis),
    "Sigmoid": lambda a: 1 / (1 + np.exp(-a)),
    "Softmax": lambda a, axis: np.exp(a) / np.exp(a).sum(axis, keepdims=True),
    "Concat": lambda *parts, axis: np.concatenate(parts, axis),
    "ReduceSum": lambda a, axes, keepdims: a.sum(tuple(axes), keepdims=True),
}


@pytest.mark.parametrize("model, data", ONNX, ids=lambda one: type(one).__name__ if hasattr(one, "fit") else "")
def test_onnx(tmp_path, model, data):
    """The file is read and checked by onnx; its nodes are computed as their specification says."""
    onnx = pytest.importorskip("onnx")
    from onnx import numpy_helper

    X, y = data
    sheaf.save_onnx(model.fit(X, y), tmp_path / "model.onnx")
    read = onnx.load(str(tmp_path / "model.onnx"))
    onnx.checker.check_model(read, full_check=True)
    values = {one.name: numpy_helper.to_array(one) for one in read.graph.initializer}
    values["X"] = X.astype(model.coef_.dtype)
    for node in read.graph.node:
        how = {one.name: onnx.helper.get_attribute_value(one) for one in node.attribute}
        values[node.output[0]] = _NODES[node.op_type](*(values[name] for name in node.input), **how)
    outputs = {one.name: one.type.tensor_type.elem_type for one in read.graph.output}
    found = values["predictions"]
    expected = model.predict(X)
    if found.dtype.kind == "f":
        np.testing.assert_allclose(found, expected, rtol=1e-6)
    else:
        assert [str(one.decode() if isinstance(one, bytes) else one) for one in found] == [
            str(int(one) if expected.dtype.kind in "bi" else one) for one in expected
        ]
    if hasattr(model, "predict_proba"):
        assert set(outputs) == {"predictions", "probabilities"}
        np.testing.assert_allclose(values["probabilities"], model.predict_proba(X), atol=1e-6)


def test_onnx_is_for_linear_models(tmp_path):
    with pytest.raises(ValueError, match="linear classifiers and regressors of sheaf, not SVC"):
        sheaf.save_onnx(sheaf.SVC().fit(*IRIS), tmp_path / "model.onnx")


class Frame:
    """A data frame of another library: it has the interchange protocol and nothing else."""

    def __init__(self, frame):
        self._frame = frame

    def __dataframe__(self, *args, **kwargs):
        return self._frame.__dataframe__(*args, **kwargs)


def test_data_frames_of_other_libraries():
    frame = pd.DataFrame(CANCER[0], columns=[f"gene{j}" for j in range(30)])
    plain = sheaf.LogisticRegression().fit(frame, CANCER[1])
    other = sheaf.LogisticRegression().fit(Frame(frame), CANCER[1])
    np.testing.assert_array_equal(other.coef_, plain.coef_)
    assert other.feature_names_in_.tolist() == list(frame.columns)
    np.testing.assert_array_equal(other.predict(Frame(frame)), plain.predict(frame))
    search = sheaf.SheafSearchCV(sheaf.LogisticRegression(), {"C": [0.1, 1]}).fit(Frame(frame), CANCER[1])
    assert search.best_score_ > 0.95
