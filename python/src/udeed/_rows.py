"""Rows: whatever scikit-learn takes for X, as the arrays that the core reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from udeed._frames import Frames, collected, frames_of, sorted_levels

Columns: TypeAlias = list[tuple[str, list[str] | None]]
SparseRows: TypeAlias = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class Rows:
    """Values, and the columns where they have names: with the levels of those that hold words."""

    values: NDArray[np.float64] | SparseRows
    columns: Columns | None
    n_rows: int

    def checksum(self) -> list[int]:
        """A number for each array that holds them, which is another once a value was written to."""
        arrays = [self.values] if isinstance(self.values, np.ndarray) else self.values[1:]
        return [_checksum(array) for array in arrays]


def _checksum(array: NDArray[Any]) -> int:
    """The bits of all values, each times a factor of its place, modulo 2^64.

    Odd factors miss no value that alone has changed.
    """
    bits = (array if array.ndim == 2 else array[:, np.newaxis]).view(np.uint64)
    draw = np.random.default_rng(0)
    of_rows, of_columns = (draw.integers(2**63, size=n, dtype=np.uint64) * 2 + 1 for n in bits.shape)
    return int((bits @ of_columns) @ of_rows)


def read_rows(estimator: Any, X: Any, *, reset: bool, words: Sequence[str] = ()) -> Rows:
    """Checks rows as scikit-learn does, and makes no copy of a C-ordered array of doubles.

    ``reset`` is true in ``fit``: the number and names of the columns are then learned, else compared. ``words`` are the
    columns of words that a model knows.
    """
    if not reset and not words and _is_ready(estimator, X):
        return Rows(X, None, X.shape[0])
    X = collected(X)
    frames = frames_of(X)
    if frames is not None:
        _check_frame(X, frames)
        if words or not frames.is_known or has_words(X):
            validate_data(estimator, X, reset=reset, skip_check_array=True)
            return _encoded(X, frames, None if reset else words)
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


def _is_ready(estimator: Any, X: Any) -> bool:
    """Whether an array is what scikit-learn's checks would make of it: they take longer than many a model on a row."""
    if type(X) is not np.ndarray or X.dtype != np.float64 or X.ndim != 2:
        return False
    if not (X.flags.c_contiguous and X.flags.aligned):
        return False
    if not len(X) or X.shape[1] != estimator.n_features_in_ or hasattr(estimator, "feature_names_in_"):
        return False
    with np.errstate(over="ignore", invalid="ignore"):
        # Missing and infinite values are for scikit-learn to tell apart.
        return bool(np.isfinite(np.sum(X)))


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
    frames = frames_of(X)
    return frames is not None and any(frames.kind(column) == "words" for column in frames.columns(X))


def _check_frame(X: Any, frames: Frames) -> None:
    """Refuses what scikit-learn would refuse of an array, and columns that are neither numbers nor words."""
    for count, what in zip(X.shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            raise ValueError(f"Found array with 0 {what} (shape={X.shape}) while a minimum of 1 is required.")
    for name, column in zip(frames.names(X), frames.columns(X), strict=True):
        kind = frames.kind(column)
        if kind not in ("numbers", "words"):
            raise ValueError(f"X has values of type {kind} in column {name!r}, {_EXPECTED}")


_EXPECTED = "expected numbers, truth values or words"


def _encoded(X: Any, frames: Frames, known: Sequence[str] | None) -> Rows:
    """A frame as numbers, with the words that those of columns of words stand for.

    A column without any value is what the model knows it as; in ``fit`` none is known.
    """
    values = np.empty(X.shape)
    columns: Columns = []
    for place, (name, column) in enumerate(zip(frames.names(X), frames.columns(X), strict=True)):
        levels: list[str] | None = None
        if known is not None and frames.is_empty(column):
            values[:, place] = np.nan
            levels = [] if name in known else None
        elif frames.kind(column) == "words":
            values[:, place], levels = sorted_levels(frames.codes(column))
            _check_text(name, levels)
        else:
            values[:, place] = _numbers(name, column, frames)
        columns.append((name, levels))
    if np.isinf(values).any():
        raise ValueError("Input X contains infinity or a value too large for dtype('float64').")
    return Rows(values, columns, X.shape[0])


def _check_text(name: str, words: list[str]) -> None:
    """Refuses words with halves of characters, which no file can hold."""
    for word in (name, *words):
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ValueError(f"X has {word!r} in column {name!r}, which is no valid text") from None


def _numbers(name: str, column: Any, frames: Frames) -> NDArray[np.float64]:
    try:
        return frames.numbers(column)
    except (TypeError, ValueError) as error:
        raise ValueError(f"X has values that are no numbers in column {name!r}, {_EXPECTED}: {error}") from error
