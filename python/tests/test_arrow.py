"""Tables of Arrow's PyCapsule interface. Debian has no pyarrow: the tables here are made of the interface's own structs."""

import ctypes
import gc

import numpy as np
import pytest

from sheaf import LogisticRegression
from sheaf import _arrow as arrow

FORMATS = {np.dtype(kind): letter for letter, kind in arrow._TYPES.items()}


class Table:
    """Columns by name, in batches; each column an array, or an array and a mask of the values that are there."""

    released = 0
    kept = []  # for all tables, since an array of a table may be released after the table itself is gone

    def __init__(self, *batches, error=None):
        self.batches, self.error = batches, error

    def keep(self, thing):
        self.kept.append(thing)
        return thing

    def release_of(self, kind):
        @ctypes.CFUNCTYPE(None, ctypes.POINTER(kind))
        def release(it):
            Table.released += 1
            it.contents.release = type(it.contents.release)()

        return self.keep(release)

    def fill_schema(self, schema, fields):
        schema.format, schema.n_children, schema.release = b"+s", len(fields), self.release_of(arrow._Schema)
        children = self.keep((ctypes.POINTER(arrow._Schema) * len(fields))())
        for j, (name, letter) in enumerate(fields):
            child = self.keep(arrow._Schema(format=letter.encode(), name=name.encode()))
            children[j] = ctypes.pointer(child)
        schema.children = ctypes.cast(children, ctypes.POINTER(ctypes.POINTER(arrow._Schema)))

    def fill_array(self, array, columns, offset):
        rows = len(next(iter(columns.values()))[0]) - offset
        array.length, array.offset, array.n_children, array.release = rows, offset, len(columns), self.release_of(arrow._Array)
        children = self.keep((ctypes.POINTER(arrow._Array) * len(columns))())
        for j, (values, mask) in enumerate(columns.values()):
            data = self.keep(np.packbits(values, bitorder="little") if values.dtype == bool else values)
            valid = self.keep(None if mask is None else np.packbits(mask, bitorder="little"))
            buffers = self.keep((ctypes.c_void_p * 2)(None if valid is None else valid.ctypes.data, data.ctypes.data))
            child = self.keep(arrow._Array(length=len(values), null_count=0 if mask is None else -1, n_buffers=2))
            child.buffers = ctypes.cast(buffers, ctypes.POINTER(ctypes.c_void_p))
            children[j] = ctypes.pointer(child)
        array.children = ctypes.cast(children, ctypes.POINTER(ctypes.POINTER(arrow._Array)))

    def __arrow_c_stream__(self, requested_schema=None):
        batches = [{name: one if isinstance(one, tuple) else (one, None) for name, one in batch.items()} for batch in self.batches]
        letters = [(name, "b" if values.dtype == bool else FORMATS.get(values.dtype, "u")) for name, (values, _) in batches[0].items()]
        waiting = list(batches)

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(arrow._Stream), ctypes.POINTER(arrow._Schema))
        def get_schema(_, schema):
            self.fill_schema(schema.contents, letters)
            return 5 if self.error else 0

        @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(arrow._Stream), ctypes.POINTER(arrow._Array))
        def get_next(_, array):
            if waiting:
                self.fill_array(array.contents, waiting.pop(0), getattr(self, "offset", 0))
            else:
                array.contents.release = type(array.contents.release)()
            return 0

        @ctypes.CFUNCTYPE(ctypes.c_char_p, ctypes.POINTER(arrow._Stream))
        def get_last_error(_):
            return self.error

        stream = self.keep(arrow._Stream())
        stream.get_schema, stream.get_next, stream.get_last_error = map(self.keep, (get_schema, get_next, get_last_error))
        stream.release = self.release_of(arrow._Stream)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(stream), self.keep(b"arrow_array_stream"), None)


def test_columns_of_any_type_and_missing_values():
    columns = {name: np.array([1, 2, 3, 0, 5], dtype=kind) for name, kind in (("a", "i1"), ("b", "u8"), ("c", "f2"), ("d", "f8"))}
    columns["e"] = np.array([True, False, True, True, False])
    columns["f"] = (np.array([1.0, 2, 3, 4, 5]), np.array([True, True, False, True, False]))
    values, names = arrow.from_arrow(Table(columns))
    assert names == list("abcdef")
    for j in range(4):
        assert values[:, j].tolist() == [1, 2, 3, 0, 5]
    assert values[:, 4].tolist() == [1, 0, 1, 1, 0]
    np.testing.assert_array_equal(values[:, 5], [1, 2, np.nan, 4, np.nan])


def test_batches_and_offsets():
    first, second = {"x": np.arange(4.0), "y": np.arange(4, dtype="i4")}, {"x": np.arange(10.0, 13), "y": np.array([7, 8, 9], dtype="i4")}
    values, _ = arrow.from_arrow(Table(first, second))
    assert values.tolist() == [[0, 0], [1, 1], [2, 2], [3, 3], [10, 7], [11, 8], [12, 9]]
    table = Table({"x": np.arange(6.0), "m": (np.arange(6.0), np.array([1, 1, 1, 0, 1, 1], dtype=bool))})
    table.offset = 2  # of a slice
    values, _ = arrow.from_arrow(table)
    np.testing.assert_array_equal(values, [[2, 2], [3, np.nan], [4, 4], [5, 5]])


@pytest.mark.parametrize("kind", ["f4", "f8"])
def test_columns_side_by_side_are_not_copied(kind):
    whole = np.asfortranarray(np.arange(12, dtype=kind).reshape(4, 3))
    values, _ = arrow.from_arrow(Table({name: whole[:, j] for j, name in enumerate("abc")}))
    assert np.shares_memory(values, whole) and not values.flags.writeable
    np.testing.assert_array_equal(values, whole)
    apart, _ = arrow.from_arrow(Table({"a": whole[:, 0], "b": whole[:, 2], "c": whole[:, 1]}))
    assert not np.shares_memory(apart, whole)
    np.testing.assert_array_equal(apart, whole[:, [0, 2, 1]])


def test_memory_lives_as_long_as_the_array_and_no_longer():
    before = Table.released
    table = Table({"a": np.arange(5.0)})
    values, _ = arrow.from_arrow(table)
    gc.collect()
    assert Table.released == before + 1  # the schema
    assert values.sum() == 10
    del values
    gc.collect()
    assert Table.released == before + 2


def test_errors():
    with pytest.raises(TypeError, match="'words'.*Arrow type 'u'"):
        arrow.from_arrow(Table({"words": np.array(["a"], dtype=object)}))
    with pytest.raises(ValueError, match="cannot be read: no file"):
        arrow.from_arrow(Table({"x": np.arange(2.0)}, error=b"no file"))


def test_estimators_take_tables_with_their_names():
    generator = np.random.default_rng(0)
    X = generator.normal(size=(60, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    table = Table({name: X[:, j].copy() for j, name in enumerate(("age", "weight", "height"))})
    model = LogisticRegression().fit(table, y)
    pandas = pytest.importorskip("pandas")
    assert list(model.feature_names_in_) == ["age", "weight", "height"]
    frame = pandas.DataFrame(X, columns=["age", "weight", "height"])
    np.testing.assert_array_equal(model.predict(table), LogisticRegression().fit(frame, y).predict(frame))
    other = Table({name: X[:, j].copy() for j, name in enumerate(("weight", "age", "height"))})
    with pytest.raises(ValueError, match="feature names"):
        model.predict(other)
