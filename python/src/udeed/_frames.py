"""Data frames as batches of columns: those of pandas as they are, all others by Arrow's stream of record batches.

None of the libraries is imported to find out what a frame is; pyarrow is, once there is a frame to read by it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

# A number for each row, -1 where nothing is, and what the numbers stand for.
Codes = tuple[NDArray[np.int64], Sequence[Any]]

# Rows of which columns are written side by side: as many as stay in the cache of a processor.
_BLOCK = 4096
# Rows that are converted at a time, at most.
_PIECE = 16 * _BLOCK


class Column(Protocol):
    """A column of some rows."""

    def numbers(self) -> NDArray[np.float64]:
        """The numbers, NaN where they are missing."""

    def codes(self) -> Codes:
        """The words as numbers."""


class Frame(Protocol):
    """Columns with names. It may be read once only."""

    # Whether scikit-learn reads frames of numbers by itself.
    is_known: bool
    names: list[str]
    # What each column holds: "numbers", "words", or the name of another type.
    kinds: list[str]
    # None where reading tells.
    n_rows: int | None
    # What scikit-learn finds the names in.
    header: Any

    def select(self, places: Sequence[int]) -> Frame:
        """The columns at some places alone, in this order."""

    def batches(self) -> Iterator[list[Column]]:
        """All columns of some rows, then of the next."""

    def parts(self) -> Iterator[Frame]:
        """The frame in parts of not too many rows, where it comes in such."""


class _PandasColumn:
    def __init__(self, column: Any) -> None:
        self.column = column

    def kind(self) -> str:
        name = str(self.column.dtype)
        if name == "str" or name.lower().startswith(("string", "large_string", "category", "dictionary")):
            return "words"
        if name == "object":
            # To pandas words are objects, which may also be numbers.
            return "words" if any(isinstance(value, str) for value in self.column) else "numbers"
        return "numbers" if self.column.dtype.kind in "biuf" or name.startswith(("decimal", "null")) else name

    def numbers(self) -> NDArray[np.float64]:
        return np.asarray(self.column.to_numpy(dtype=np.float64, na_value=np.nan))

    def codes(self) -> Codes:
        column = self.column
        if str(column.dtype) == "category":
            return column.cat.codes.to_numpy(dtype=np.int64), column.cat.categories
        if str(column.dtype) == "object" and not self._is_text():
            # Equal numbers of different types are different words.
            column = column.map(str, na_action="ignore")
        codes, words = column.factorize()
        return np.asarray(codes, dtype=np.int64), words

    def _is_text(self) -> bool:
        """Whether all objects are text."""
        return bool(sys.modules["pandas"].api.types.infer_dtype(self.column, skipna=True) == "string")


class _PandasFrame:
    is_known = True

    def __init__(self, X: Any) -> None:
        self.header = X
        self.names = [str(name) for name in X.columns]
        # By place: two may have the same name.
        self._columns = [_PandasColumn(X.iloc[:, place]) for place in range(X.shape[1])]
        self.kinds = [column.kind() for column in self._columns]
        self.n_rows: int | None = len(X)

    def select(self, places: Sequence[int]) -> Frame:
        return _PandasFrame(self.header.iloc[:, list(places)])

    def batches(self) -> Iterator[list[Column]]:
        yield list(self._columns)

    def parts(self) -> Iterator[Frame]:
        yield self


class _ArrowColumn:
    def __init__(self, column: Any) -> None:
        self.column = column

    def numbers(self) -> NDArray[np.float64]:
        # As in numpy large whole numbers are rounded.
        numbers = self.column.cast(sys.modules["pyarrow"].float64(), safe=False)
        return np.asarray(numbers.to_numpy(zero_copy_only=False))

    def codes(self) -> Codes:
        pyarrow, column = sys.modules["pyarrow"], self.column
        if not pyarrow.types.is_dictionary(column.type):
            column = column.dictionary_encode()
        codes = column.indices.cast(pyarrow.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
        dictionary = column.dictionary
        if len(dictionary) <= 2 * len(codes):
            return codes, dictionary.to_pylist()
        # A dictionary for many more rows: only its words that occur are looked at.
        occurs, codes = np.unique(codes, return_inverse=True)
        missing = int(occurs[:1].sum() < 0)
        return codes.ravel() - missing, [dictionary[place].as_py() for place in occurs[missing:].tolist()]


class _ArrowFrame:
    is_known = False

    def __init__(self, schema: Any, batches: Iterable[Any], n_rows: int | None) -> None:
        self._schema, self._batches = schema, batches
        self.n_rows = n_rows
        self.names = [str(name) for name in schema.names]
        self.kinds = [_arrow_kind(field.type) for field in schema]
        self.header = schema.empty_table()

    def select(self, places: Sequence[int]) -> Frame:
        schema = sys.modules["pyarrow"].schema([self._schema.field(place) for place in places])
        return _ArrowFrame(schema, (batch.select(list(places)) for batch in self._batches), self.n_rows)

    def batches(self) -> Iterator[list[Column]]:
        for piece in self._pieces():
            yield [_ArrowColumn(column) for column in piece.columns]

    def parts(self) -> Iterator[Frame]:
        for piece in self._pieces():
            yield _ArrowFrame(self._schema, [piece], piece.num_rows)

    def _pieces(self) -> Iterator[Any]:
        for batch in self._batches:
            for start in range(0, batch.num_rows, _PIECE):
                yield batch.slice(start, _PIECE)


def _arrow_kind(kind: Any) -> str:
    """What a column of a type of Arrow holds."""
    types = sys.modules["pyarrow"].types
    if types.is_dictionary(kind):
        return "words" if _arrow_kind(kind.value_type) in ("words", "numbers") else str(kind)
    for is_one in ("is_string", "is_large_string", "is_string_view"):
        if getattr(types, is_one, lambda _: False)(kind):
            return "words"
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal, types.is_null)
    return "numbers" if any(is_one(kind) for is_one in numbers) else str(kind)


def frame_of(X: Any) -> Frame | None:
    """A data frame; None where X is none.

    Raises
    ------
    ImportError
        If a frame is to be read by pyarrow, which is not installed.
    """
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if pandas is not None and isinstance(X, pandas.DataFrame):
        return _PandasFrame(X)
    if polars is not None and isinstance(X, polars.LazyFrame):
        X = X.collect()
    # Of some libraries an object has every attribute that is asked for.
    streams, is_batch = (hasattr(type(X), f"__arrow_c_{what}__") for what in ("stream", "array"))
    if not (streams or is_batch) or getattr(X, "ndim", 2) == 1:
        return None
    pyarrow = _import_pyarrow(f"a {type(X).__module__.split('.')[0]} {type(X).__name__}")
    try:
        reader = pyarrow.RecordBatchReader.from_stream(X) if streams else pyarrow.table(pyarrow.record_batch(X)).to_reader()
    except Exception as error:
        if not _is_of_arrow(error):
            raise
        raise ValueError(f"X is a {type(X).__name__}, expected columns of numbers, truth values or words: {error}") from error
    return _ArrowFrame(reader.schema, reader, _length(X))


def read_parquet(path: str, names: Sequence[str] | None) -> Frame:
    """Those of some columns that a file has; all of them where there are no names."""
    pyarrow = _import_pyarrow(f"{path}, a Parquet file,")
    from pyarrow import parquet

    file = parquet.ParquetFile(path)
    fields = [field for field in file.schema_arrow if names is None or field.name in names]
    batches = file.iter_batches(batch_size=_PIECE, columns=[field.name for field in fields])
    return _ArrowFrame(pyarrow.schema(fields), batches, file.metadata.num_rows)


def _import_pyarrow(what: str) -> Any:
    """The module pyarrow, by which something is read."""
    try:
        import pyarrow
    except ImportError:
        text = f"{what} is read by pyarrow, which is not installed: `pip install pyarrow`, or pass a numpy array"
        raise ImportError(text) from None
    if not hasattr(pyarrow.RecordBatchReader, "from_stream"):
        raise ImportError(f"{what} is read by pyarrow 15 or newer, found {pyarrow.__version__}")
    return pyarrow


def _is_of_arrow(error: Exception) -> bool:
    """Whether a library has refused to hand out its columns: each has errors of its own for it."""
    return isinstance(error, (TypeError, ValueError, NotImplementedError)) or type(error).__module__.startswith("polars")


def _length(X: Any) -> int | None:
    """The number of rows where it is known before they are read."""
    for name in ("num_rows", "height"):
        found = getattr(X, name, None)
        if isinstance(found, int):
            return found
    return None


def whole(frame: Frame) -> tuple[NDArray[np.float64], list[list[str] | None]]:
    """All rows in one array in C order, and the levels of the columns of words, sorted: those that occur.

    Raises
    ------
    ValueError
        If a column holds infinity, words that no file can hold, or objects that are no numbers.
    """
    values = _Values(len(frame.names), frame.n_rows)
    words = [_Words() if kind == "words" else None for kind in frame.kinds]
    for batch in frame.batches():
        columns = zip(frame.names, batch, words, strict=True)
        values.add([_numbers(name, column) if own is None else own.codes(column) for name, column, own in columns])
    rows = values.finish()
    levels = [None if own is None else own.sort(rows[:, place]) for place, own in enumerate(words)]
    for name, own_levels in zip(frame.names, levels, strict=True):
        _check_text(name, own_levels or [])
    return rows, levels


class _Values:
    """Rows in C order, which grow."""

    def __init__(self, n_columns: int, n_rows: int | None) -> None:
        self._rows = np.empty((n_rows or 0, n_columns))
        self._end = 0

    def add(self, columns: list[NDArray[np.float64]]) -> None:
        n_rows = len(columns[0]) if columns else 0
        if self._end + n_rows > len(self._rows):
            more = max(self._end + n_rows, len(self._rows) * 3 // 2)
            # Nobody else has the array yet.
            self._rows.resize((more, self._rows.shape[1]), refcheck=False)
        for start in range(0, n_rows, _BLOCK):
            block = self._rows[self._end : self._end + min(_BLOCK, n_rows - start)]
            for place, column in enumerate(columns):
                block[:, place] = column[start : start + _BLOCK]
            self._end += len(block)
            if np.isinf(block).any():
                raise ValueError("Input X contains infinity or a value too large for dtype('float64').")

    def finish(self) -> NDArray[np.float64]:
        if self._end < len(self._rows):
            self._rows.resize((self._end, self._rows.shape[1]), refcheck=False)
        return self._rows


class _Words:
    """The words of a column, numbered in the order in which they come."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def codes(self, column: Column) -> NDArray[np.float64]:
        """The words of further rows as numbers, NaN where they are missing."""
        codes, words = column.codes()
        # The last one is that of -1.
        table = np.full(len(words) + 1, np.nan)
        for code in np.flatnonzero(np.bincount(codes + 1, minlength=len(table))[1:]).tolist():
            if words[code] is not None:
                table[code] = self._known.setdefault(str(words[code]), len(self._known))
        return table[codes]

    def sort(self, column: NDArray[np.float64]) -> list[str]:
        """Numbers all words anew, in their order; returns them."""
        levels = sorted(self._known)
        if levels != list(self._known):
            table = np.empty(len(levels))
            table[[self._known[word] for word in levels]] = np.arange(len(levels))
            there = ~np.isnan(column)
            column[there] = table[column[there].astype(np.int64)]
        return levels


def _check_text(name: str, words: list[str]) -> None:
    """Refuses words with halves of characters, which no file can hold."""
    for word in (name, *words):
        try:
            word.encode()
        except UnicodeEncodeError:
            raise ValueError(f"X has {word!r} in column {name!r}, which is no valid text") from None


EXPECTED = "expected numbers, truth values or words"


def _numbers(name: str, column: Column) -> NDArray[np.float64]:
    try:
        return column.numbers()
    except (TypeError, ValueError) as error:
        raise ValueError(f"X has values that are no numbers in column {name!r}, {EXPECTED}: {error}") from error


def check_kinds(frame: Frame) -> None:
    """Refuses columns that are neither numbers nor words.

    Raises
    ------
    ValueError
        If there is one.
    """
    for name, kind in zip(frame.names, frame.kinds, strict=True):
        if kind not in ("numbers", "words"):
            raise ValueError(f"X has values of type {kind} in column {name!r}, {EXPECTED}")
