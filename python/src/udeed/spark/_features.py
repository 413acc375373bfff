"""Features and labels: which columns of a frame they are, and their batches as what the local estimators take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import functions as F
from pyspark.sql import types as T
from scipy import sparse

# Beside the features in the frames that executors read.
LABEL, WEIGHT, IS_LABELED = "__udeed_label", "__udeed_weight", "__udeed_is_labeled"
_WORDS = (T.StringType, T.VarcharType, T.CharType)


def column(name: str) -> Any:
    """A column by its name, whatever that holds."""
    return F.col("`" + name.replace("`", "``") + "`")


def check_there(names: list[str], schema: Any) -> None:
    """Refuses a frame without some columns."""
    there = set(schema.fieldNames())
    if missing := [name for name in names if name not in there]:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise ValueError(f"the frame has no column {', '.join(map(repr, missing[:5]))}{more}")


@dataclass(frozen=True)
class Features:
    """The columns that are the features: one of vectors, one of arrays, or some of numbers or words."""

    kind: str
    names: list[str]

    @staticmethod
    def of(schema: Any, of_vectors: str, of_values: list[str] | None) -> Features:
        """Those of a frame.

        Raises
        ------
        ValueError
            If a column is not there, or holds something else.
        """
        names = [of_vectors] if of_values is None else list(of_values)
        if not names:
            raise ValueError("`featuresCols` is empty, expected one column at least")
        check_there(names, schema)
        if of_values is not None:
            # Spark looks for a field among all.
            kinds = {field.name: field.dataType for field in schema.fields}
            for name in names:
                if not isinstance(kind := kinds[name], (T.NumericType, T.BooleanType, *_WORDS)):
                    found = f"column {name!r} of `featuresCols` holds {kind.simpleString()}"
                    raise ValueError(f"{found}, expected numbers, truth values or words")
            return Features("columns", names)
        kind = schema[of_vectors].dataType
        if isinstance(kind, VectorUDT):
            return Features("vectors", names)
        if isinstance(kind, T.ArrayType) and isinstance(kind.elementType, T.NumericType):
            return Features("arrays", names)
        found = f"column {of_vectors!r} holds {kind.simpleString()}"
        raise ValueError(f"{found}, expected vectors or arrays of numbers; name columns of numbers and words by `featuresCols`")

    def read(self, batch: pa.RecordBatch, dense: bool = False) -> Any:
        """The features of a batch: an array, sparse rows, or a batch of columns. ``dense`` if sparse ones are not wanted."""
        if self.kind == "columns":
            return batch.select(self.names)
        own = batch.column(self.names[0])
        if own.null_count:
            raise ValueError(f"column {self.names[0]!r} has {own.null_count} rows without features")
        return _of_vectors(own, dense) if self.kind == "vectors" else _of_arrays(own)

    def joined(self, parts: list[Any]) -> Any:
        """Some batches as one."""
        if self.kind == "columns":
            return pa.Table.from_batches(parts)
        if all(sparse.issparse(part) for part in parts):
            return sparse.vstack(parts, format="csr")
        return np.concatenate(parts)


def _lengths(lists: Any) -> NDArray[np.int64]:
    found = np.diff(lists.offsets.to_numpy().astype(np.int64))
    # A list that is not there may have a length nevertheless.
    return np.where(lists.is_valid().to_numpy(zero_copy_only=False), found, 0)


def _one_size(sizes: NDArray[np.int64]) -> int:
    found = np.unique(sizes)
    if len(found) > 1:
        raise ValueError(f"rows of {found[0]} and of {found[-1]} features, expected as many in each")
    return int(found[0]) if len(found) else 0


def _of_arrays(lists: Any) -> NDArray[np.float64]:
    size = _one_size(_lengths(lists))
    values = lists.flatten().cast(pa.float64(), safe=False)
    return np.asarray(values.to_numpy(zero_copy_only=False)).reshape(len(lists), size)


def _of_vectors(vectors: Any, dense: bool) -> Any:
    """Vectors as rows of an array; as sparse rows where all of them are, and need not be dense."""
    kinds, sizes, indices, values = vectors.flatten()
    is_sparse = kinds.to_numpy(zero_copy_only=False) == 0
    lengths = _lengths(values)
    size = _one_size(np.where(is_sparse, sizes.fill_null(0).to_numpy(zero_copy_only=False), lengths))
    numbers = values.flatten().to_numpy(zero_copy_only=False)
    if not is_sparse.any():
        return numbers.reshape(len(vectors), size)
    places = indices.flatten().to_numpy(zero_copy_only=False)
    if is_sparse.all():
        rows = sparse.csr_array((numbers, places, np.concatenate([[0], np.cumsum(lengths)])), shape=(len(vectors), size))
        return rows.toarray() if dense else rows
    columns = np.empty(len(numbers), dtype=np.int64)
    of_sparse = np.repeat(is_sparse, lengths)
    columns[of_sparse], columns[~of_sparse] = places, np.tile(np.arange(size), int((~is_sparse).sum()))
    rows = np.zeros((len(vectors), size))
    rows[np.repeat(np.arange(len(vectors)), lengths), columns] = numbers
    return rows


def kinds_of_vectors(batch: pa.RecordBatch, features: Features) -> tuple[bool, bool]:
    """Whether some rows are dense, and whether some are sparse."""
    if features.kind != "vectors":
        return True, False
    kinds = batch.column(features.names[0]).flatten()[0].to_numpy(zero_copy_only=False)
    return bool((kinds == 1).any()), bool((kinds == 0).any())


def is_labeled(schema: Any, label: str, marker: Any) -> Any:
    """Which rows have a label: those of nulls, NaN and the marker have none.

    Raises
    ------
    ValueError
        If the column holds no labels, or never the marker.
    """
    check_there([label], schema)
    kind, own = schema[label].dataType, column(label)
    there = own.isNotNull()
    if isinstance(kind, (T.FloatType, T.DoubleType)):
        there &= ~F.isnan(own)
    elif not isinstance(kind, (T.IntegralType, T.BooleanType, *_WORDS)):
        raise ValueError(f"column {label!r} holds {kind.simpleString()}, expected numbers, truth values or words as labels")
    if marker is None or (isinstance(marker, float) and np.isnan(marker)):
        return there
    holds = str if isinstance(kind, _WORDS) else bool if isinstance(kind, T.BooleanType) else (int, float)
    if isinstance(marker, holds) and isinstance(marker, bool) == (holds is bool):
        return there & (own != F.lit(marker))
    if marker != -1:
        raise ValueError(f"`unlabeled` is {marker!r}, which column {label!r} of {kind.simpleString()} never holds")
    return there


def labels_of(values: pa.ChunkedArray) -> NDArray[Any]:
    """Labels as the local estimators take them."""
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return np.array(values.to_pylist())
    return np.asarray(values.to_numpy())


def vectors_of(values: NDArray[np.float64]) -> pa.StructArray:
    """Rows of an array as dense vectors."""
    n_rows, size = values.shape
    offsets = pa.array(np.arange(n_rows + 1, dtype=np.int32) * size, pa.int32())
    lists = pa.ListArray.from_arrays(offsets, pa.array(np.ascontiguousarray(values).ravel()))
    kinds, none = pa.array(np.ones(n_rows, dtype=np.int8)), pa.nulls(n_rows, pa.int32())
    parts = [kinds, none, pa.nulls(n_rows, pa.list_(pa.int32())), lists]
    return pa.StructArray.from_arrays(parts, names=["type", "size", "indices", "values"])
