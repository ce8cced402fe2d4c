"""Datasets and contexts of the C++ library from what Python callers hold, without copies where the layout allows."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse

from . import _core

#: Precisions by the names that estimators take, and the C++ library's.
PRECISIONS = {"float32": "float", "float64": "double"}
_LISTEN_AFTER = 1.0  # seconds; shorter work shows nothing


def number_text(value: Any) -> str:
    """A number as the C++ library reads it back, to the last bit."""
    if isinstance(value, (bool, np.bool_)):
        return "yes" if value else "no"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    return repr(float(value))


def option_text(value: Any) -> Any:
    """The value of an option as the C++ library reads it; one number for each row or feature as they are."""
    if isinstance(value, (bool, np.bool_, int, float, np.number)):
        return number_text(value)
    if isinstance(value, str):
        return value
    items = list(value)
    if items and all(isinstance(item, str) for item in items):
        return ",".join(items)
    return tuple(float(item) for item in items)


def is_on_gpu(X: Any) -> bool:
    """Whether the array lies in the memory of an NVIDIA GPU."""
    return not isinstance(X, np.ndarray) and hasattr(X, "__cuda_array_interface__")


def dtype_of(X: Any) -> Any:
    """NumPy's name for the type of an array's values."""
    return np.dtype(str(X.dtype).replace("torch.", ""))


def to_numpy(values: Any) -> Any:
    """The values in CPU memory, where they are an array on a GPU; anything else as it is."""
    if not is_on_gpu(values):
        return values
    return values.get() if hasattr(values, "get") else values.detach().cpu().numpy()


def back(result: Any, X: Any) -> Any:
    """A result where the input was: an array of the same kind on the same GPU, if X is one."""
    if not is_on_gpu(X) or result.dtype.kind not in "fiub":
        return result
    module = type(X).__module__.split(".")[0]
    if module == "torch":
        import torch

        return torch.as_tensor(result, device=X.device)
    if module == "cupy":
        import cupy

        with X.device:
            return cupy.asarray(result)
    return result


def make_context(estimator: Any, *, seed: int = 0, verbose: int = 0) -> _core.Context:
    """The surroundings that an estimator's parameters ask for."""
    settings = {"device": str(estimator.device), "seed": str(seed)}
    threads = _threads_of(estimator)
    if threads:
        settings["threads"] = str(threads)
    return _core.Context(settings, listener(verbose))


class _Bar:
    """How far long work is, on a terminal or in a notebook: a bar of tqdm where that is installed, else a line that is written over."""

    def __init__(self) -> None:
        self._begin = time.monotonic()
        self._stage = ""
        self._bar: Any = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if not stage or total <= 0 or time.monotonic() - self._begin < _LISTEN_AFTER:
            return
        share = min(1.0, done / total)
        try:
            from tqdm.auto import tqdm
        except ImportError:
            print(f"\r{stage}: {100 * share:3.0f} %", end="", file=sys.stderr, flush=True)
            return
        if stage != self._stage:
            self.close()
            self._bar = tqdm(desc=stage, total=100, leave=False, unit="%")
            self._stage = stage
        self._bar.n = round(100 * share)
        self._bar.refresh()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()

    def __del__(self) -> None:
        self.close()


def listener(verbose: int) -> Callable[[str, int, int], None] | None:
    """The function that is called ten times a second while the library works; None where nobody sees it, as in a pipe."""
    seen = sys.stderr.isatty() or "ipykernel" in sys.modules
    return _Bar() if verbose and seen else None


def _threads_of(estimator: Any) -> Any:
    """`n_threads`, else `n_jobs`, else what OMP_NUM_THREADS says; None: all."""
    if estimator.n_threads is not None:
        return estimator.n_threads or "0"
    jobs = getattr(estimator, "n_jobs", None)
    if jobs is not None:
        return effective_n_jobs(jobs)
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(int(first), effective_n_jobs(-1)) if first.isdigit() and int(first) > 0 else None


def _precision_of(X: Any, precision: str) -> str:
    if precision == "auto":
        precision = "float32" if str(X.dtype).endswith("float32") else "float64"
    if precision not in PRECISIONS:
        raise ValueError(f"precision must be 'auto', 'float32' or 'float64', not {precision!r}")
    return PRECISIONS[precision]


def _from_gpu(
    context: _core.Context, X: Any, precision: str, names: Sequence[str], missing: bool, device: str
) -> _core.Dataset:
    interface = X.__cuda_array_interface__
    kind = interface["typestr"]
    if kind not in ("<f4", "<f8"):
        raise ValueError(f"arrays on a GPU must be of type float32 or float64, not {kind!r}")
    shape = list(interface["shape"])
    if len(shape) != 2:
        raise ValueError(f"Expected 2D array, got {len(shape)}D array instead")
    size = int(kind[2])
    strides = interface.get("strides")
    steps = [step // size for step in strides] if strides is not None else [shape[1], 1]
    pointer = int(interface["data"][0])
    with _finished(X):
        return _core.Dataset.from_pointer(
            context, pointer, size == 4, shape, steps, device, precision, list(names), missing, X
        )


@contextlib.contextmanager
def _finished(X: Any) -> Iterator[None]:
    """Waits until everything that writes the array has been done, on whichever stream it was."""
    module = type(X).__module__.split(".")[0]
    if module == "torch":
        import torch

        torch.cuda.synchronize(X.device)
    elif module == "cupy":
        import cupy

        cupy.cuda.runtime.deviceSynchronize()
    yield


def _gpu_of(X: Any, device: str) -> str:
    """The name of the GPU that holds the array."""
    if device.startswith("cuda"):
        return device
    place = getattr(X, "device", None)
    number = getattr(place, "index", None)
    if number is None:
        number = getattr(place, "id", 0)
    return f"cuda:{number or 0}"


def make_dataset(
    context: _core.Context,
    X: Any,
    *,
    precision: str = "auto",
    names: Sequence[str] = (),
    missing: bool = False,
    device: str = "auto",
) -> _core.Dataset:
    """A dataset over `X`: a NumPy array, a CSR or CSC matrix or array of SciPy, or an array on a GPU.

    `missing`: NaN stands for a missing value.
    """
    wanted = _precision_of(X, precision)
    if is_on_gpu(X):
        return _from_gpu(context, X, wanted, names, missing, _gpu_of(X, device))
    if sparse.issparse(X):
        if not X.has_canonical_format:  # the caller's matrix stays as it is
            X = X.copy()
            X.sum_duplicates()
        rows, columns = X.shape
        return _core.Dataset.from_sparse(
            context, X.format == "csr", rows, columns, X.indptr, X.indices, X.data, wanted, list(names), missing
        )
    size = X.dtype.itemsize
    if any(step < size or step % size for step in X.strides):
        X = np.ascontiguousarray(X)
    steps = [step // size for step in X.strides]
    pointer = X.__array_interface__["data"][0]
    return _core.Dataset.from_pointer(
        context, pointer, size == 4, list(X.shape), steps, "cpu", wanted, list(names), missing, X
    )


def target_names(y: Any) -> list[str]:
    """The names of a data frame's columns; none where they are not different texts."""
    names = [str(name) for name in getattr(y, "columns", ())]
    return names if len(set(names)) == len(names) else []


def class_names(classes: np.ndarray[Any, Any]) -> list[str]:
    """Names of classes in model files; numbers from 0 where two classes would be spelled alike."""
    names = [str(label) for label in classes]
    numbers = {_canonical(name) for name in names}
    return names if len(numbers) == len(names) and all(names) else [str(k) for k in range(len(names))]


def _canonical(name: str) -> str:
    try:
        return repr(float(name))
    except ValueError:
        return name
