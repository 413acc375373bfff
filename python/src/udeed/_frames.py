"""Frames of pandas, polars and pyarrow: columns of numbers and of words. None of them is imported to find out."""

from __future__ import annotations

import sys
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# A number for each row, -1 where nothing is, and what the numbers stand for.
Codes = tuple[NDArray[np.int64], list[Any]]


class Frames(Protocol):
    """What is asked of the frames of a library."""

    # Whether scikit-learn reads frames of numbers by itself.
    is_known: bool

    def names(self, X: Any) -> list[str]:
        """Names of the columns."""

    def columns(self, X: Any) -> list[Any]:
        """The columns, by place: two may have the same name."""

    def kind(self, column: Any) -> str:
        """What a column holds: "numbers", "words", or the name of another type."""

    def is_empty(self, column: Any) -> bool:
        """Whether every value is missing."""

    def numbers(self, column: Any) -> NDArray[np.float64]:
        """The numbers of a column, NaN where they are missing."""

    def codes(self, column: Any) -> Codes:
        """The words of a column as numbers."""


class _Pandas:
    is_known = True

    def names(self, X: Any) -> list[str]:
        return [str(name) for name in X.columns]

    def columns(self, X: Any) -> list[Any]:
        return [X.iloc[:, place] for place in range(X.shape[1])]

    def kind(self, column: Any) -> str:
        name = str(column.dtype)
        if name == "str" or name.lower().startswith(("string", "large_string", "category", "dictionary")):
            return "words"
        if name == "object":
            # To pandas words are objects, which may also be numbers.
            return "words" if any(isinstance(value, str) for value in column) else "numbers"
        return "numbers" if column.dtype.kind in "biuf" or name.startswith(("decimal", "null")) else name

    def is_empty(self, column: Any) -> bool:
        return bool(column.isna().all())

    def numbers(self, column: Any) -> NDArray[np.float64]:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))

    def codes(self, column: Any) -> Codes:
        if str(column.dtype) == "category":
            return column.cat.codes.to_numpy(dtype=np.int64), list(column.cat.categories)
        if str(column.dtype) == "object" and not self._is_text(column):
            # Equal numbers of different types are different words.
            column = column.map(str, na_action="ignore")
        codes, words = column.factorize()
        return np.asarray(codes, dtype=np.int64), list(words)

    def _is_text(self, column: Any) -> bool:
        """Whether all objects are text."""
        return bool(sys.modules["pandas"].api.types.infer_dtype(column, skipna=True) == "string")


class _Polars:
    is_known = True
    # What polars calls truth values, columns without any value, and words.
    _NUMBERS = ("Boolean", "Null")
    _WORDS = ("String", "Categorical", "Enum")

    def names(self, X: Any) -> list[str]:
        return list(X.columns)

    def columns(self, X: Any) -> list[Any]:
        return list(X.get_columns())

    def kind(self, column: Any) -> str:
        name = str(column.dtype)
        if name.startswith(self._WORDS):
            return "words"
        return "numbers" if column.dtype.is_numeric() or name.startswith(self._NUMBERS) else name

    def is_empty(self, column: Any) -> bool:
        return bool(np.isnan(self.numbers(column)).all()) if self.kind(column) == "numbers" else not column.count()

    def numbers(self, column: Any) -> NDArray[np.float64]:
        return np.asarray(column.cast(float).to_numpy(), dtype=np.float64)

    def codes(self, column: Any) -> Codes:
        polars = sys.modules["polars"]
        words = column.cast(polars.String)
        found = words.drop_nulls().unique()
        codes = words.cast(polars.Enum(found)).to_physical().cast(polars.Int64).fill_null(-1)
        return codes.to_numpy(), found.to_list()


class _Arrow:
    is_known = False

    def names(self, X: Any) -> list[str]:
        return list(X.column_names)

    def columns(self, X: Any) -> list[Any]:
        return [X.column(place) for place in range(X.num_columns)]

    def kind(self, column: Any) -> str:
        types = sys.modules["pyarrow"].types
        for is_one in ("is_string", "is_large_string", "is_string_view", "is_dictionary"):
            if getattr(types, is_one, lambda _: False)(column.type):
                return "words"
        numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
        return "numbers" if any(is_one(column.type) for is_one in numbers) else str(column.type)

    def is_empty(self, column: Any) -> bool:
        return bool(np.isnan(self.numbers(column)).all()) if self.kind(column) == "numbers" else not column.drop_null()

    def numbers(self, column: Any) -> NDArray[np.float64]:
        return np.asarray(column.cast(sys.modules["pyarrow"].float64()).to_numpy(), dtype=np.float64)

    def codes(self, column: Any) -> Codes:
        pyarrow = sys.modules["pyarrow"]
        encoded = column if pyarrow.types.is_dictionary(column.type) else column.dictionary_encode()
        encoded = encoded.unify_dictionaries()
        codes = [chunk.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy() for chunk in encoded.chunks]
        words = encoded.chunk(0).dictionary.to_pylist() if encoded.num_chunks else []
        return np.concatenate([np.empty(0, dtype=np.int64), *codes]), words


# The classes of frames by their libraries.
_KINDS: list[tuple[str, tuple[str, ...], Frames]] = [
    ("pandas", ("DataFrame",), _Pandas()),
    ("polars", ("DataFrame", "LazyFrame"), _Polars()),
    ("pyarrow", ("Table", "RecordBatch"), _Arrow()),
]


def frames_of(X: Any) -> Frames | None:
    """How frames like X are read; None where X is none."""
    for library, names, frames in _KINDS:
        module = sys.modules.get(library)
        if module is not None and isinstance(X, tuple(getattr(module, name) for name in names)):
            return frames
    return None


def collected(X: Any) -> Any:
    """A lazy frame as one that is read, a batch as a table; all others as they are."""
    if frames_of(X) is None:
        return X
    kind = type(X).__name__
    return X.collect() if kind == "LazyFrame" else sys.modules["pyarrow"].table(X) if kind == "RecordBatch" else X


def sorted_levels(codes: Codes) -> tuple[NDArray[np.float64], list[str]]:
    """Words as numbers into the sorted list of those that occur, NaN where they are missing."""
    numbers, words = codes
    occurs = np.unique(numbers[numbers >= 0])
    names = {int(code): str(words[code]) for code in occurs if words[code] is not None}
    levels = sorted(set(names.values()))
    place = {name: float(level) for level, name in enumerate(levels)}
    # The last one is that of -1.
    table = np.full(len(words) + 1, np.nan)
    for code, name in names.items():
        table[code] = place[name]
    return table[numbers], levels
