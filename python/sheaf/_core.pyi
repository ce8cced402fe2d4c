from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]

__version__: str

class Context:
    def __init__(
        self, settings: Mapping[str, str] = ..., progress: Callable[[str, int, int], None] | None = None
    ) -> None: ...

class Dataset:
    @staticmethod
    def from_pointer(
        context: Context,
        pointer: int,
        single: bool,
        shape: Sequence[int],
        strides: Sequence[int],
        device: str,
        precision: str,
        names: Sequence[str],
        missing: bool,
        memory: object,
    ) -> Dataset: ...
    @staticmethod
    def from_sparse(
        context: Context,
        by_rows: bool,
        rows: int,
        columns: int,
        offsets: Array,
        indices: Array,
        values: Array,
        precision: str,
        names: Sequence[str],
        missing: bool,
    ) -> Dataset: ...
    def set_classes(self, classes: Array, names: Sequence[str]) -> None: ...
    def set_numbers(self, numbers: Array) -> None: ...
    @property
    def rows(self) -> int: ...
    @property
    def features(self) -> int: ...
    @property
    def is_borrowed(self) -> bool: ...

class Options:
    def __init__(self, kind: str) -> None: ...
    def set(self, name: str, text: str) -> None: ...
    def rows(self) -> list[dict[str, Any]]: ...

class Model:
    @staticmethod
    def parse(text: str, name: str) -> Model: ...
    def text(self) -> str: ...
    def peer_text(self) -> str | None: ...
    @property
    def family(self) -> str: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def class_names(self) -> list[str]: ...
    def predict(
        self, context: Context, dataset: Dataset, probabilities: bool
    ) -> tuple[Array, Array | None, Array | None, list[str]]: ...
    def coefficients(self) -> tuple[Array, Array]: ...
    def iterations(self) -> list[int]: ...
    def gaps(self) -> list[float]: ...
    def support(self) -> dict[str, Any]: ...

class SearchResult:
    def points(self) -> list[dict[str, Any]]: ...
    def scores(self, metric: str) -> Array: ...
    def held_out(self, point: int, split: int) -> tuple[Array, Array]: ...
    def stability(self) -> list[dict[str, Any]]: ...
    def overall_stability(self) -> tuple[float, float, float]: ...
    def html(self) -> str: ...
    warnings: list[str]
    notes: list[str]

def devices() -> list[dict[str, Any]]: ...
def fit(context: Context, dataset: Dataset, options: Options, weights: Array | None) -> Model: ...
def search_grid(
    context: Context,
    dataset: Dataset,
    options: Options,
    space: Mapping[str, str],
    pipeline: Mapping[str, str],
    splits: Sequence[tuple[Array, Array]],
    weights: Array | None,
    score: str,
    keep_decisions: bool,
) -> SearchResult: ...
def study(
    context: Context,
    dataset: Dataset,
    options: Options,
    space: Mapping[str, str],
    settings: Mapping[str, str],
    weights: Array | None,
) -> SearchResult: ...
def metrics() -> dict[str, dict[str, Any]]: ...
def select(
    context: Context, dataset: Dataset, settings: Mapping[str, str], binning: Mapping[str, str]
) -> dict[str, Any]: ...
def criteria() -> dict[str, str]: ...
def neighbors(
    context: Context,
    dataset: Dataset,
    settings: Mapping[str, str],
    distance: Mapping[str, str],
    queries: Dataset | None,
) -> tuple[Array, Array]: ...
def rescore(
    context: Context,
    files: Sequence[str],
    settings: Mapping[str, str],
    as_percolator: bool,
    single: bool,
    weights: Sequence[float] | None,
) -> dict[str, Any]: ...
def save_weights(
    feature_names: Sequence[str], normalised: Sequence[Sequence[float]], raw: Sequence[Sequence[float]], path: str
) -> None: ...
