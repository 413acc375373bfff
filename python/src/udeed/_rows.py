"""Rows: whatever scikit-learn takes for X, as the arrays that the core reads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import validate_data

from udeed._frames import Frame, check_kinds, frame_of, whole

Columns: TypeAlias = list[tuple[str, list[str] | None]]
SparseRows: TypeAlias = tuple[int, NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]


@dataclass(frozen=True)
class Rows:
    """Values, and the columns where they have names: with the levels of those that hold words."""

    values: NDArray[np.float64] | SparseRows
    columns: Columns | None
    n_rows: int

    @property
    def n_columns(self) -> int:
        """How many columns there are."""
        return self.values.shape[1] if isinstance(self.values, np.ndarray) else self.values[0]

    @property
    def words(self) -> list[str]:
        """The names of the columns of words."""
        return [name for name, levels in self.columns or () if levels is not None]

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
    frame = frame_of(X)
    if frame is None and words:
        raise ValueError(f"X has no words in column {words[0]!r}, expected a data frame like that of the fit")
    if frame is not None:
        _check_shape((frame.n_rows, len(frame.names)))
        check_kinds(frame)
        if words or not frame.is_known or "words" in frame.kinds:
            validate_data(estimator, frame.header, reset=reset, skip_check_array=True)
            return of_frame(frame, None if reset else words)
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
        return Rows(parts(X), columns, X.shape[0])
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


def parts(X: Any) -> SparseRows:
    """The parts of sparse rows, in order and each value once."""
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return (
        int(X.shape[1]),
        np.ascontiguousarray(X.indptr, dtype=np.int64),
        np.ascontiguousarray(X.indices, dtype=np.int64),
        np.ascontiguousarray(X.data, dtype=np.float64),
    )


def _check_shape(shape: tuple[int | None, int]) -> None:
    """Refuses what scikit-learn would refuse of an array; None is as many rows as come."""
    for count, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if count == 0:
            raise ValueError(f"Found array with 0 {what} (shape={shape}) while a minimum of 1 is required.")


def of_frame(frame: Frame, known: Sequence[str] | None) -> Rows:
    """A frame as numbers, with the words that those of columns of words stand for.

    A column without any value is what the model knows it as; in ``fit`` none is known.
    """
    values, levels = whole(frame)
    _check_shape((len(values), len(frame.names)))
    columns: Columns = list(zip(frame.names, levels, strict=True))
    if known is not None:
        for place in other_kinds(columns, known):
            if np.isnan(values[:, place]).all():
                name, own = columns[place]
                columns[place] = name, [] if own is None else None
    return Rows(values, columns, len(values))


def other_kinds(columns: Columns, known: Sequence[str]) -> list[int]:
    """The columns that hold words where none are known, or numbers where words are."""
    return [place for place, (name, levels) in enumerate(columns) if (levels is not None) != (name in known)]
