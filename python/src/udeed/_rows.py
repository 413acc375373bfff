"""Rows: whatever scikit-learn takes for X, as the arrays that the core reads."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from udeed._labels import is_missing

Columns: TypeAlias = list[tuple[str, list[str] | None]]
SparseRows: TypeAlias = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class Rows:
    """Values, and the columns where they have names: with the levels of those that hold words."""

    values: NDArray[np.float64] | SparseRows
    columns: Columns | None
    n_rows: int


def read_rows(estimator: Any, X: Any, *, reset: bool, words: Sequence[str] = ()) -> Rows:
    """Checks rows as scikit-learn does, and makes no copy of a C-ordered array of doubles.

    ``reset`` is true in ``fit``: the number and names of the columns are then learned, else compared. ``words`` are the
    columns of words that a model knows.
    """
    if is_frame(X):
        _check_frame(X)
    if words or has_words(X):
        validate_data(estimator, X, reset=reset, skip_check_array=True)
        return _encoded(X, None if reset else words)
    X = validate_data(
        estimator,
        X,
        reset=reset,
        accept_sparse="csr",
        dtype=np.float64,
        order="C",
        ensure_all_finite="allow-nan",
    )
    # Without names the rows have the columns of the model, in its order.
    names = getattr(estimator, "feature_names_in_", None) if reset else None
    columns: Columns | None = None if names is None else [(str(name), None) for name in names]
    if sparse.issparse(X):
        return Rows(_parts(X), columns, X.shape[0])
    return Rows(np.require(X, dtype=np.float64, requirements=["C", "A"]), columns, X.shape[0])


def _parts(X: Any) -> SparseRows:
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return (
        int(X.shape[1]),
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int64),
        np.ascontiguousarray(X.data, dtype=np.float64),
    )


def has_words(X: Any) -> bool:
    """Whether X is a data frame with a column of words, which scikit-learn alone would refuse."""
    return is_frame(X) and any(_is_words(column) for column in _columns(X))


def is_frame(X: Any) -> bool:
    """Whether X is a pandas or polars frame. Neither is imported to find out."""
    frames = ((sys.modules.get(name), "DataFrame") for name in ("pandas", "polars"))
    return any(module is not None and isinstance(X, getattr(module, kind)) for module, kind in frames)


def _check_frame(X: Any) -> None:
    """Refuses what scikit-learn would refuse of an array, and columns that are neither numbers nor words."""
    for count, what in zip(X.shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            raise ValueError(f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required.")
    for name, kind in zip(X.columns, X.dtypes, strict=True):
        # To pandas words are objects, which may also be numbers.
        fits = kind.kind in "biufO" if hasattr(X, "iloc") else kind.is_numeric() or str(kind).startswith(_OTHER_KINDS)
        if not fits:
            raise ValueError(f"X has values of type {kind} in column {str(name)!r}, {_EXPECTED}")


# What polars calls truth values, words, and columns without any value.
_OTHER_KINDS = ("Boolean", "String", "Categorical", "Enum", "Null")
_EXPECTED = "expected numbers, truth values or words"


def _columns(X: Any) -> list[Any]:
    # By place: two columns may have the same name.
    return [X.iloc[:, place] if hasattr(X, "iloc") else X.to_series(place) for place in range(len(X.columns))]


def _is_words(column: Any) -> bool:
    kind = str(column.dtype).lower()
    # "struct" is none of them.
    if kind == "str" or kind.startswith(("string", "large_string", "cat", "enum")):
        return True
    return kind == "object" and any(isinstance(value, str) for value in column)


def _encoded(X: Any, known: Sequence[str] | None) -> Rows:
    """A frame with columns of words: these as numbers, with the words they stand for.

    A column without any value is what the model knows it as; in ``fit`` none is known.
    """
    values = np.empty((len(X), len(X.columns)))
    columns: Columns = []
    for place, (name, column) in enumerate(zip(X.columns, _columns(X), strict=True)):
        is_empty = known is not None and all(is_missing(value) for value in column)
        if str(name) in (known or ()) if is_empty else _is_words(column):
            words = [None if is_missing(value) else str(value) for value in column]
            levels = sorted({word for word in words if word is not None})
            number = {word: float(level) for level, word in enumerate(levels)}
            values[:, place] = [np.nan if word is None else number[word] for word in words]
            columns.append((str(name), levels))
        else:
            values[:, place] = np.nan if is_empty else _numbers(str(name), column)
            columns.append((str(name), None))
    if np.isinf(values).any():
        raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
    return Rows(values, columns, len(X))


def _numbers(name: str, column: Any) -> NDArray[np.float64]:
    if not hasattr(column, "iloc"):
        return np.asarray(column.cast(float).to_numpy(), dtype=np.float64)
    try:
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    except (TypeError, ValueError) as error:
        raise ValueError(f"X has values that are no numbers in column {name!r}, {_EXPECTED}: {error}") from error
