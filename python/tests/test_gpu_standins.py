"""Arrays of CuPy and PyTorch as far as no GPU is needed: stand-ins whose memory is NumPy's."""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest
from conftest import DEVICES

import sheaf
from sheaf import _data

KINDS = ("cupy", "torch")


class Place:
    """A GPU as both libraries name it."""

    def __init__(self, number):
        self.id = self.index = number

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None


class OnGpu:
    """What the package uses of arrays on a GPU."""

    def __init__(self, values, number=0):
        self.values = np.asarray(values)
        self.device = Place(number)

    shape = property(lambda self: self.values.shape)
    __len__ = lambda self: len(self.values)  # noqa: E731

    @property
    def __cuda_array_interface__(self):
        found = dict(self.values.__array_interface__)
        return {key: found[key] for key in ("shape", "typestr", "data", "strides", "version")}

    def __matmul__(self, other):
        return type(self)(self.values @ other.values)


class CupyArray(OnGpu):
    dtype = property(lambda self: self.values.dtype)

    def get(self):
        return self.values


class TorchTensor(OnGpu):
    dtype = property(lambda self: f"torch.{self.values.dtype}")

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.values


CupyArray.__module__, TorchTensor.__module__ = "cupy._core.core", "torch"


@pytest.fixture(params=KINDS)
def on_gpu(request, monkeypatch):
    """Makes an array of one of the libraries, which waits for its GPU as often as `waits` says."""
    waits = []
    module = types.ModuleType(request.param)
    if request.param == "cupy":
        kind = CupyArray
        module.asarray = CupyArray
        module.cuda = types.SimpleNamespace(runtime=types.SimpleNamespace(deviceSynchronize=lambda: waits.append(0)))
    else:
        kind = TorchTensor
        module.as_tensor = lambda values, device: TorchTensor(values, device.index)
        module.cuda = types.SimpleNamespace(synchronize=lambda device: waits.append(device.index))
    monkeypatch.setitem(sys.modules, request.param, module)
    kind.waits = waits
    return kind


def test_predictions_of_linear_models_come_back_to_the_gpu_of_the_rows(on_gpu, two_classes):
    X, y = two_classes
    model = sheaf.LogisticRegression().fit(X, y)
    for name in ("decision_function", "predict", "predict_proba"):
        found = getattr(model, name)(on_gpu(X))
        assert type(found) is on_gpu
        np.testing.assert_allclose(found.values, getattr(model, name)(X), rtol=1e-12)
    regression = sheaf.Ridge().fit(X, X[:, 0])
    np.testing.assert_allclose(regression.predict(on_gpu(X)).values, regression.predict(X), rtol=1e-12)
    words = sheaf.LogisticRegression().fit(X, np.where(y == 1, "yes", "no"))
    assert isinstance(words.predict(on_gpu(X)), np.ndarray)  # texts are not for GPUs


def test_targets_and_weights_may_be_on_the_gpu(on_gpu):
    rng = np.random.RandomState(0)
    X, time = rng.normal(size=(60, 2)), rng.exponential(size=60)
    y = np.column_stack([time, rng.rand(60) < 0.7]).astype(float)
    model = sheaf.CoxRegression().fit(X, y)
    on = sheaf.CoxRegression().fit(X, on_gpu(y), on_gpu(np.ones(60)))
    np.testing.assert_array_equal(on.coef_, model.coef_)
    assert model.score(on_gpu(X), on_gpu(y)) == model.score(X, y)


def test_wrong_arrays_are_answered_in_words(on_gpu, two_classes):
    X, y = two_classes
    model = sheaf.Ridge().fit(X, y)
    for wrong, words in (
        (X[0], "Expected 2D array, got 1D array"),
        (X.astype(np.int64), "must be of type float32 or float64, not"),
        (X[:, :3], "X has 3 features, but Ridge is expecting 8"),
    ):
        with pytest.raises(ValueError, match=words):
            model.predict(on_gpu(wrong))
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        sheaf.LogisticRegression().fit(on_gpu(X), y[:-1])
    half = on_gpu(X.astype(np.float16))
    with pytest.raises(ValueError, match="float32 or float64"):
        _data.make_dataset(sheaf._core.Context({}), half, precision="float64")


@pytest.mark.skipif("cuda" in DEVICES, reason="there is a GPU")
def test_without_a_gpu_training_says_so(on_gpu, two_classes):
    X, y = two_classes
    with pytest.raises(Exception, match="(?i)(gpu|cuda)"):
        sheaf.LogisticRegression().fit(on_gpu(X), y)
    assert on_gpu.waits == [0]  # what writes the array may not have been done


def test_the_gpu_of_an_array_is_where_it_lies(on_gpu):
    array = on_gpu(np.eye(2), 3)
    assert _data._gpu_of(array, "auto") == "cuda:3"
    assert _data._gpu_of(array, "cuda:1") == "cuda:1"
    array.device = None
    assert _data._gpu_of(array, "auto") == "cuda:0"


class Bars(list):
    """In the place of tqdm."""

    def __call__(self, desc, total, leave, unit):
        bar = types.SimpleNamespace(desc=desc, total=total, n=0, closed=False, refresh=lambda: None)
        bar.close = lambda: setattr(bar, "closed", True)
        self.append(bar)
        return bar


def test_long_work_shows_a_bar_for_each_stage(monkeypatch):
    bars = Bars()
    monkeypatch.setitem(sys.modules, "tqdm.auto", types.SimpleNamespace(tqdm=bars))
    monkeypatch.setattr(_data, "_LISTEN_AFTER", 0.0)
    shown = _data._Bar()
    for stage, done in (("", 0), ("training", 1), ("training", 2), ("scoring", 8)):
        shown(stage, done, 4)
    assert [(bar.desc, bar.n, bar.total, bar.closed) for bar in bars] == [("training", 50, 100, True), ("scoring", 100, 100, False)]
    shown.close()
    assert bars[1].closed


def test_without_tqdm_a_line_is_written_over(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(_data, "_LISTEN_AFTER", 0.0)
    shown = _data._Bar()
    shown("training", 1, 4)
    shown("training", 0, 0)  # not known how much there is
    assert capsys.readouterr().err == "\rtraining:  25 %"
    monkeypatch.setattr(_data, "_LISTEN_AFTER", 60.0)
    shown("training", 2, 4)
    assert capsys.readouterr().err == ""


def test_bars_are_for_those_who_see_them(monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert _data.listener(1) is not None and _data.listener(0) is None
    monkeypatch.setattr(sys.stderr, "isatty", lambda: False, raising=False)
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)
    assert _data.listener(1) is None
