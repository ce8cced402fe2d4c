"""Tables of Arrow's PyCapsule interface (pyarrow, polars, DuckDB ...) as arrays, without any of these programs.

https://arrow.apache.org/docs/format/CDataInterface/PyCapsuleInterface.html; the structs are those of the C data and C stream interfaces.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
_TYPES = {"c": "i1", "C": "u1", "s": "i2", "S": "u2", "i": "i4", "I": "u4", "l": "i8", "L": "u8", "e": "f2", "f": "f4", "g": "f8"}


class _Schema(ctypes.Structure):
    pass


class _Array(ctypes.Structure):
    pass


class _Stream(ctypes.Structure):
    pass


_Schema._fields_ = [
    ("format", ctypes.c_char_p),
    ("name", ctypes.c_char_p),
    ("metadata", ctypes.c_void_p),
    ("flags", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("children", ctypes.POINTER(ctypes.POINTER(_Schema))),
    ("dictionary", ctypes.POINTER(_Schema)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Schema))),
    ("private_data", ctypes.c_void_p),
]
_Array._fields_ = [
    ("length", ctypes.c_int64),
    ("null_count", ctypes.c_int64),
    ("offset", ctypes.c_int64),
    ("n_buffers", ctypes.c_int64),
    ("n_children", ctypes.c_int64),
    ("buffers", ctypes.POINTER(ctypes.c_void_p)),
    ("children", ctypes.POINTER(ctypes.POINTER(_Array))),
    ("dictionary", ctypes.POINTER(_Array)),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Array))),
    ("private_data", ctypes.c_void_p),
]
_Stream._fields_ = [
    ("get_schema", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Schema))),
    ("get_next", ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(_Stream), ctypes.POINTER(_Array))),
    ("get_last_error", ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(_Stream))),
    ("release", ctypes.CFUNCTYPE(None, ctypes.POINTER(_Stream))),
    ("private_data", ctypes.c_void_p),
]


class _Owned:
    """A struct that is released when nobody uses it any more."""

    def __init__(self, kind: Any) -> None:
        self.it = kind()

    def __del__(self) -> None:
        if self.it.release:
            self.it.release(ctypes.byref(self.it))


class _Memory:
    """A buffer of Arrow as NumPy sees memory of others; keeps its table alive."""

    def __init__(self, address: int, shape: tuple[int, ...], kind: str, owner: Any, strides: tuple[int, ...] | None = None) -> None:
        self.owner = owner
        self.__array_interface__ = {"data": (address, True), "shape": shape, "typestr": "<" + kind, "version": 3, "strides": strides}


def is_arrow(X: Any) -> bool:
    """Whether X is a table of Arrow that scikit-learn does not know: pandas' tables are its own."""
    return hasattr(X, "__arrow_c_stream__") and not hasattr(X, "iloc")


def from_arrow(X: Any) -> tuple[Array, list[str]]:
    """The columns of a table as a read-only array, and their names.

    Columns of one type without missing values that stand side by side in memory, in one piece, are used where they are. Others are copied, each value
    once; a missing value is NaN.
    """
    schema, batches = _batches(X)
    fields = [schema.it.children[j].contents for j in range(schema.it.n_children)]
    names = [field.name.decode() for field in fields]
    for name, field in zip(names, fields):
        if field.dictionary or field.format.decode() not in (*_TYPES, "b"):
            raise TypeError(f"column {name!r} of the table has the Arrow type {field.format.decode()!r}; numbers are expected: encode or drop it")
    kinds = [field.format.decode() for field in fields]
    if len(batches) == 1:
        shared = _shared(batches[0], kinds)
        if shared is not None:
            return shared, names
    rows = sum(batch.it.length for batch in batches)
    single = all(kind == "f" for kind in kinds)
    table = np.empty((rows, len(names)), dtype=np.float32 if single else np.float64, order="F")
    at = 0
    for batch in batches:
        for j, kind in enumerate(kinds):
            _copy(batch, j, kind, table[at : at + batch.it.length, j])
        at += batch.it.length
    return table, names


def named_columns(X: Any) -> Any:
    """A table as scikit-learn reads it: a DataFrame over the array if pandas is there, which keeps the names, else the array."""
    values, names = from_arrow(X)
    try:
        import pandas
    except ImportError:
        return values
    return pandas.DataFrame(values, columns=names, copy=False)


def _batches(X: Any) -> tuple[_Owned, list[_Owned]]:
    capsule = X.__arrow_c_stream__()
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    stream = _Stream.from_address(pointer(capsule, b"arrow_array_stream"))

    def check(code: int) -> None:
        if code != 0:
            said = stream.get_last_error(ctypes.byref(stream))
            raise ValueError(f"the table cannot be read: {said.decode() if said else code}")

    schema = _Owned(_Schema)
    check(stream.get_schema(ctypes.byref(stream), ctypes.byref(schema.it)))
    if schema.it.format != b"+s":
        raise TypeError("the table of Arrow has no columns; a table or a record batch is expected")
    batches: list[_Owned] = []
    while True:
        batch = _Owned(_Array)
        check(stream.get_next(ctypes.byref(stream), ctypes.byref(batch.it)))
        if not batch.it.release:
            return schema, batches
        batches.append(batch)


def _column(batch: _Owned, j: int) -> tuple[Any, int, int]:
    """The array of a column, and where its rows begin and how many there are."""
    array = batch.it.children[j].contents
    return array, array.offset + batch.it.offset, batch.it.length


def _has_missing(batch: _Owned, j: int) -> bool:
    array, _, _ = _column(batch, j)
    return bool(array.null_count != 0 and array.n_buffers > 0 and array.buffers[0])


def _shared(batch: _Owned, kinds: list[str]) -> Array | None:
    """The columns as one array over their own memory; None if they are not side by side."""
    if not kinds or kinds[0] not in ("f", "g") or len(set(kinds)) > 1 or any(_has_missing(batch, j) for j in range(len(kinds))):
        return None
    size = np.dtype(_TYPES[kinds[0]]).itemsize
    places = []
    for j in range(len(kinds)):
        array, offset, _ = _column(batch, j)
        places.append((array.buffers[1] or 0) + offset * size)
    rows = batch.it.length
    step = places[1] - places[0] if len(places) > 1 else rows * size
    if rows == 0 or step < rows * size or any(b - a != step for a, b in zip(places, places[1:])):
        return None
    return np.asarray(_Memory(places[0], (rows, len(kinds)), _TYPES[kinds[0]], batch, (size, step)))


def _bits(address: int, offset: int, count: int, owner: Any) -> Array:
    packed = np.asarray(_Memory(address, ((offset + count + 7) // 8,), "u1", owner))
    return np.unpackbits(packed, bitorder="little")[offset : offset + count].astype(bool)


def _copy(batch: _Owned, j: int, kind: str, to: Array) -> None:
    array, offset, rows = _column(batch, j)
    if rows == 0:
        return
    if kind == "b":
        to[:] = _bits(array.buffers[1], offset, rows, batch)
    else:
        size = np.dtype(_TYPES[kind]).itemsize
        to[:] = np.asarray(_Memory(array.buffers[1] + offset * size, (rows,), _TYPES[kind], batch))
    if _has_missing(batch, j):
        to[~_bits(array.buffers[0], offset, rows, batch)] = np.nan
