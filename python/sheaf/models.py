"""Models from files: those of the command-line program, of R and of `save_model`, LIBLINEAR's and LIBSVM's; and ONNX."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils import check_array
from sklearn.utils.validation import check_is_fitted

from . import _core
from ._base import Array, LinearMixin
from ._compat import finite_setting, read_frame
from ._data import make_context, make_dataset

__all__ = ["SavedModel", "load_model", "save_onnx"]


def save_onnx(model: Any, path: Any) -> None:
    """Write a linear model as ONNX, for programs that predict without this package.

    The input `X` has the type of ``coef_``; `predictions` is what ``predict`` returns and, of models that have them,
    `probabilities` what ``predict_proba`` returns. Only nodes of the standard operators (version 13) are used.

    Parameters
    ----------
    model : estimator
        A fitted linear classifier or regressor of this package. Steps of a pipeline before it are not part of the file.
    path : str or path
        The file to write.

    Examples
    --------
    >>> import tempfile
    >>> from sheaf import Ridge, save_onnx
    >>> with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
    ...     save_onnx(Ridge().fit([[0.0], [1.0]], [0.0, 1.0]), file.name)
    """
    check_is_fitted(model)
    plain = model._as_plain() if hasattr(model, "_as_plain") else model
    if not (isinstance(plain, LinearMixin) and (is_classifier(plain) or is_regressor(plain))):
        raise ValueError(f"save_onnx writes linear classifiers and regressors of sheaf, not {type(model).__name__}")
    with open(path, "wb") as file:
        file.write(_onnx_bytes(plain, _core.__version__))


def load_model(path: Any, *, device: str = "auto", n_threads: int | None = None) -> SavedModel:
    """Read a model that ``sheaf fit``, ``sheaf search``, R or `save_model` wrote, or LIBLINEAR or LIBSVM.

    Parameters
    ----------
    path : str or path
        The file.
    device : str, default='auto'
        Where it predicts: 'cpu', 'cuda', 'cuda:N' or 'auto'.
    n_threads : int, default=None
        CPU threads; None: all.

    Returns
    -------
    model : SavedModel
        The model with its pipeline: it predicts from features as they were before its first step.

    Examples
    --------
    >>> import tempfile
    >>> from sheaf import LogisticRegression, load_model
    >>> X = [[0.0], [1.0], [2.0], [3.0]]
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     LogisticRegression().fit(X, ['no', 'no', 'yes', 'yes']).save_model(file.name)
    ...     model = load_model(file.name)
    >>> model.predict([[2.5]])
    array(['yes'], dtype='<U3')
    """
    path = os.fspath(path)
    with open(path, encoding="utf-8") as file:
        return SavedModel(_core.Model.parse(file.read(), path), device=device, n_threads=n_threads)


class SavedModel:
    """A model from a file. `load_model` makes it.

    Attributes
    ----------
    family : str
        'linear', 'elastic-net', 'glm', 'svm', 'neighbors' or 'stack'.
    classes_ : ndarray of shape (n_classes,)
        The classes, ascending: numbers if all are; only of models of classes.
    coef_ : ndarray of shape (n_features, n_values)
        Weights, a column for each decision value; only of models that have them.
    intercept_ : ndarray of shape (n_values,)
        Likewise.
    feature_names_in_ : list of str
        Names of the features that weights belong to; empty: they have none.
    """

    def __init__(self, model: _core.Model, *, device: str = "auto", n_threads: int | None = None) -> None:
        self._model, self.device, self.n_threads = model, device, n_threads
        self.family = model.family
        self.feature_names_in_: list[str] = []
        if model.class_names:
            self._labels = _labels_of(model.class_names)
            self._order = np.argsort(self._labels)
            self.classes_ = self._labels[self._order]
        found = model.coefficients()
        if found is not None:
            self.coef_, self.intercept_ = found

    def __repr__(self) -> str:
        return f"SavedModel(family={self.family!r})"

    def _predictions(self, X: Any, probabilities: bool = False) -> dict[str, Any]:
        X = read_frame(X)
        names = [str(name) for name in getattr(X, "columns", ())]
        X = check_array(X, accept_sparse=["csr", "csc"], dtype=[np.float64, np.float32], **finite_setting("allow-nan"))
        context = make_context(self)
        dataset = make_dataset(context, X, names=names, missing=True, device=self.device)
        return self._model.predict(context, dataset, probabilities)

    def predict(self, X: Any) -> Array:
        """Predict the class, or the number, of each row.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows, as they were before the model's first step. Features of a data frame are found by their names.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_targets)
            The predictions.
        """
        found = self._predictions(X)
        if hasattr(self, "classes_"):
            labels: Array = self._labels[found["classes"]]
            return labels
        numbers: Array = found["decisions"]
        return numbers[:, 0] if numbers.shape[1] == 1 else numbers

    def decision_function(self, X: Any) -> Array:
        """Decision values of rows.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        values : ndarray of shape (n_samples,) or (n_samples, n_values)
            For two classes above 0 where the second of ``classes_`` is more likely; else a column for each decision value.
        """
        values: Array = self._predictions(X)["decisions"]
        if not hasattr(self, "classes_") or values.shape[1] > len(self.classes_):
            return values
        if len(self.classes_) > 2:
            return values[:, self._order]
        first = values[:, 0] - values[:, 1] if values.shape[1] == 2 else values[:, 0]
        decisions: Array = -first if self._order[0] == 0 else first
        return decisions

    def predict_proba(self, X: Any) -> Array:
        """Probabilities of classes.

        Parameters
        ----------
        X : {array-like, sparse matrix, data frame} of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            One column for each of ``classes_``.
        """
        shares: Array = self._predictions(X, probabilities=True)["probabilities"][:, self._order]
        return shares

    def save_model(self, path: str) -> None:
        """Writes the model to a file.

        Parameters
        ----------
        path : str
            The file to write.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._model.text())


def _labels_of(names: list[str]) -> Array:
    try:
        numbers = np.array([float(name) for name in names])
    except ValueError:
        return np.array(names)
    whole = numbers.astype(np.int64)
    return whole if np.array_equal(whole, numbers) else numbers


# A model in ONNX is a few nodes of the standard operators, written as protocol buffers.
_FLOAT, _INT64, _STRING, _DOUBLE = 1, 7, 8, 11  # of TensorProto.DataType
_IR_VERSION, _OPERATORS = 8, 13


def _varint(value: int) -> bytes:
    out = bytearray()
    value &= (1 << 64) - 1
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _field(place: int, value: Any) -> bytes:
    """A field of a message: a whole number, or bytes, a text or another message."""
    if isinstance(value, (int, np.integer)):
        return _varint(place << 3) + _varint(int(value))
    content: bytes = value.encode() if isinstance(value, str) else value
    return _varint(place << 3 | 2) + _varint(len(content)) + content


def _tensor(name: str, values: Array) -> bytes:
    kinds = {"float32": _FLOAT, "float64": _DOUBLE, "int64": _INT64}
    dims = b"".join(_field(1, size) for size in values.shape)
    if values.dtype.kind in "OUS":
        texts = b"".join(_field(6, str(value)) for value in values)
        return dims + _field(2, _STRING) + texts + _field(8, name)
    kind = kinds[values.dtype.name]
    little = values.astype(values.dtype.newbyteorder("<"))
    return dims + _field(2, kind) + _field(8, name) + _field(9, little.tobytes())


def _value_info(name: str, kind: int, columns: int | None) -> bytes:
    dims = [_field(1, _field(2, "rows"))] + ([] if columns is None else [_field(1, _field(1, columns))])
    tensor = _field(1, kind) + _field(2, b"".join(dims))
    return _field(1, name) + _field(2, _field(1, tensor))


class _Graph:
    """Nodes are appended; each names its result."""

    def __init__(self) -> None:
        self.nodes: list[bytes] = []
        self.constants: list[bytes] = []

    def constant(self, name: str, values: Array) -> str:
        self.constants.append(_field(5, _tensor(name, values)))
        return name

    def add(self, operator: str, inputs: Iterable[str], output: str, **whole_numbers: int) -> str:
        node = b"".join(_field(1, name) for name in inputs) + _field(2, output) + _field(3, output) + _field(4, operator)
        for name, value in whole_numbers.items():
            node += _field(5, _field(1, name) + _field(3, value) + _field(20, 2))  # 2: a whole number
        self.nodes.append(_field(1, node))
        return output


def _onnx_bytes(estimator: Any, version: str) -> bytes:
    """A linear estimator as ONNX: `predictions` and, of classes that have them, `probabilities` from rows `X`."""
    weights = np.atleast_2d(np.asarray(estimator.coef_))
    kind = _FLOAT if weights.dtype == np.float32 else _DOUBLE
    graph = _Graph()
    graph.constant("weights", np.ascontiguousarray(weights.T))
    graph.constant("intercepts", np.broadcast_to(np.asarray(estimator.intercept_, dtype=weights.dtype), len(weights)).copy())
    graph.add("MatMul", ["X", "weights"], "products")
    values = graph.add("Add", ["products", "intercepts"], "values")
    if hasattr(estimator, "classes_"):
        outputs = _add_classes(graph, estimator, values, weights.dtype, kind)
    else:
        outputs = [_add_numbers(graph, estimator, values, len(weights), kind)]
    body = b"".join([*graph.nodes, _field(2, type(estimator).__name__), *graph.constants])
    body += _field(11, _value_info("X", kind, weights.shape[1])) + b"".join(_field(12, output) for output in outputs)
    head = _field(1, _IR_VERSION) + _field(2, "sheaf") + _field(3, version)
    return head + _field(7, body) + _field(8, _field(1, "") + _field(2, _OPERATORS))


def _add_numbers(graph: _Graph, estimator: Any, values: str, targets: int, kind: int) -> bytes:
    """Numbers have the shape that `predict` gives them."""
    if getattr(estimator, "_power", lambda: 0)() != 0:  # a generalised linear model with the logarithm as its link
        values = graph.add("Exp", [values], "means")
    if np.ndim(estimator.coef_) == 2:
        graph.add("Identity", [values], "predictions")
        return _value_info("predictions", kind, targets)
    graph.add("Squeeze", [values, graph.constant("columns", np.array([1]))], "predictions")
    return _value_info("predictions", kind, None)


def _add_classes(graph: _Graph, estimator: Any, values: str, dtype: Any, kind: int) -> list[bytes]:
    classes = estimator.classes_
    labels = graph.constant("classes", classes.astype(np.int64) if classes.dtype.kind in "biu" else classes)
    if len(classes) == 2:
        graph.add("Greater", [values, graph.constant("zero", np.zeros(1, dtype))], "is_second")
        places = graph.add("Cast", ["is_second"], "places", to=_INT64)
        places = graph.add("Squeeze", [places, graph.constant("columns", np.array([1]))], "place")
    else:
        places = graph.add("ArgMax", [values], "place", axis=1, keepdims=0)
    graph.add("Gather", [labels, places], "predictions", axis=0)
    kinds = {"f": {4: _FLOAT, 8: _DOUBLE}.get(classes.dtype.itemsize), "O": _STRING, "U": _STRING, "S": _STRING}
    outputs = [_value_info("predictions", kinds.get(classes.dtype.kind) or _INT64, None)]
    if hasattr(estimator, "predict_proba"):
        _add_probabilities(graph, estimator, values, dtype)
        outputs.append(_value_info("probabilities", kind, len(classes)))
    return outputs


def _add_probabilities(graph: _Graph, estimator: Any, values: str, dtype: Any) -> None:
    if getattr(estimator, "_is_multinomial", lambda: False)():
        graph.add("Softmax", [values], "probabilities", axis=1)
        return
    shares = graph.add("Sigmoid", [values], "shares")
    if len(estimator.classes_) == 2:
        first = graph.add("Sub", [graph.constant("one", np.ones(1, dtype)), shares], "first")
        graph.add("Concat", [first, shares], "probabilities", axis=1)
        return
    sums = graph.add("ReduceSum", [shares, graph.constant("axes", np.array([1]))], "sums", keepdims=1)
    graph.add("Div", [shares, sums], "probabilities")
