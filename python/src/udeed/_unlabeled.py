"""Unlabeled rows beside those of a fit: whatever holds them, read batch by batch."""

from __future__ import annotations

import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from udeed import _core
from udeed._frames import Frame, check_kinds, frame_of, read_parquet, whole
from udeed._labels import UdeedWarning
from udeed._rows import Columns, Rows, other_kinds, parts

# Names in a message, at most.
_NAMED = 5


def hold(settings: str, unlabeled_X: Any, rows: Rows, memory: int, n_jobs: int) -> _core.Held:
    """Holds unlabeled rows with the columns of others, for the method of some settings: in memory, or in a temporary file.

    Raises
    ------
    ValueError
        If they are no rows with these columns, or take too much memory for the method.
    """
    place = memory, tempfile.gettempdir()
    if isinstance(unlabeled_X, (str, os.PathLike)) and not _is_parquet(unlabeled_X):
        numbered: Columns = [(str(place), None) for place in range(1, rows.n_columns + 1)]
        columns, is_named = (numbered, False) if rows.columns is None else (rows.columns, True)
        held = _core.hold_file(settings, os.fsdecode(unlabeled_X), columns, is_named, place, n_jobs)
    else:
        held = _core.hold(settings, batches(unlabeled_X, rows), rows.n_columns, place)
    if held.n_rows == 0:
        raise ValueError("`unlabeled_X` has no rows, expected one at least")
    return held


def batches(unlabeled_X: Any, like: Rows) -> Iterator[Rows]:
    """Rows of an array, a frame, an iterator of these, or a Parquet file, with the columns of others.

    Raises
    ------
    ValueError
        If they have other columns.
    """
    if isinstance(unlabeled_X, (str, os.PathLike)):
        names = None if like.columns is None else [name for name, _ in like.columns]
        return _batches([read_parquet(os.fsdecode(unlabeled_X), names)], like)
    if hasattr(unlabeled_X, "__next__") and not hasattr(type(unlabeled_X), "__arrow_c_stream__"):
        return _batches(map(_frame_or_rows, unlabeled_X), like)
    return _batches([_frame_or_rows(unlabeled_X)], like)


def _is_parquet(path: str | os.PathLike[str]) -> bool:
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


def _frame_or_rows(batch: Any) -> Any:
    frame = frame_of(batch)
    return batch if frame is None else frame


def _batches(batches: Iterable[Any], like: Rows) -> Iterator[Rows]:
    """Rows with the columns of others."""
    is_told = False
    for batch in batches:
        names = getattr(batch, "names", None)
        if (names is None) != (like.columns is None) and not is_told:
            named, other = ("X", "`unlabeled_X`") if names is None else ("`unlabeled_X`", "X")
            text = f"{named} has column names and {other} has none: the columns are taken in their order"
            warnings.warn(text, UdeedWarning, stacklevel=2)
            is_told = True
        if names is None:
            yield _of_array(batch, like)
        else:
            yield from _of_frame(batch, like)


def _of_array(batch: Any, like: Rows) -> Rows:
    X = check_array(
        batch,
        accept_sparse="csr",
        dtype=np.float64,
        order="C",
        ensure_all_finite="allow-nan",
        ensure_min_samples=0,
        input_name="unlabeled_X",
    )
    if X.shape[1] != like.n_columns:
        raise ValueError(f"`unlabeled_X` has {X.shape[1]} columns, expected {like.n_columns}, as in X")
    if like.words:
        raise ValueError(f"`unlabeled_X` has no words in column {like.words[0]!r}, expected a data frame like X")
    if sparse.issparse(X):
        return Rows(parts(X), like.columns, X.shape[0])
    return Rows(np.require(X, dtype=np.float64, requirements=["C", "A"]), like.columns, X.shape[0])


def _of_frame(frame: Frame, like: Rows) -> Iterator[Rows]:
    wanted = frame.names if like.columns is None else [name for name, _ in like.columns]
    if like.columns is None and len(wanted) != like.n_columns:
        raise ValueError(f"`unlabeled_X` has {len(wanted)} columns, expected {like.n_columns}, as in X")
    frame = frame.select(_places(frame.names, wanted))
    check_kinds(frame)
    for part in frame.parts():
        values, levels = whole(part)
        columns: Columns = list(zip(wanted, levels, strict=True))
        for place in other_kinds(columns, like.words):
            name, own = columns[place]
            if not np.isnan(values[:, place]).all():
                found, expected = ("numbers", "words") if own is None else ("words", "numbers")
                raise ValueError(f"`unlabeled_X` has {found} in column {name!r}, expected {expected}, as in X")
            columns[place] = name, [] if own is None else None
        yield Rows(values, None if like.columns is None else columns, len(values))


def _places(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    """Where the wanted columns stand among some."""
    missing, others = ([name for name in one if name not in two] for one, two in ((wanted, names), (names, wanted)))
    twice = [name for place, name in enumerate(names) if name in names[:place]]
    found = zip(("without", "with", "with two"), (missing, others, twice), strict=True)
    told = [f"{how} {_listed(which)}" for how, which in found if which]
    if told:
        raise ValueError(f"`unlabeled_X` comes {', '.join(told)}, expected just the columns of X, in any order")
    return [names.index(name) for name in wanted]


def _listed(names: Sequence[str]) -> str:
    more = [f"{len(names) - _NAMED} more"] if len(names) > _NAMED else []
    return ", ".join([*map(repr, names[:_NAMED]), *more])
