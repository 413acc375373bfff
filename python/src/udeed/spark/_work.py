"""What executors do: each function makes one for ``mapInArrow``, which gets the batches of a partition.

All of them read their batches to the end: Spark would kill the process otherwise.
"""

from __future__ import annotations

import contextlib
import glob
import itertools
import os
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray
from pyspark import TaskContext
from sklearn.base import BaseEstimator

from udeed import _core, distributed
from udeed._core import Preparation, Statistics
from udeed._ensemble import Ensemble
from udeed._frames import frame_of
from udeed._rows import Rows, of_frame, read_rows
from udeed._unlabeled import batches
from udeed.spark._features import IS_LABELED, Features, kinds_of_vectors, vectors_of

Batches = Iterator[pa.RecordBatch]
Work = Callable[[Batches], Batches]
# What goes from executors to the driver: something of a part, as bytes.
OF_PART = "part long, place long, data binary"


@dataclass
class Walked:
    """What a walk over a partition finds."""

    n_unlabeled: int = 0
    n_labeled: int = 0
    # Sums of numbers that rows have, whatever their order.
    checksum: int = 0
    labeled_checksum: int = 0
    labeled_bytes: int = 0
    unlabeled_bytes: int = 0
    statistics: Statistics | None = None
    has_dense: bool = False
    has_sparse: bool = False
    # Why the rows are no good. An error of the task would be tried again, and told among the lines of Spark's own.
    refused: str = ""


@dataclass(frozen=True)
class Handle:
    """The unlabeled rows of a partition, in a file of the executor."""

    spill: distributed.Spill
    # That of the rows as they came.
    checksum: int
    host: str


@dataclass(frozen=True)
class Answer:
    """The sums over the rows of a partition, or why there are none."""

    handle: Handle
    sums: bytes | None
    missing: str = ""
    # Whether the task has run where the file never was.
    is_elsewhere: bool = False


@dataclass(frozen=True)
class Drawn:
    """Some unlabeled rows of a partition, in batches as bytes, and what all of them are."""

    batches: list[bytes]
    n_rows: int
    checksum: int


def in_arrow(frame: Any, work: Work, schema: Any) -> Any:
    """The frame that executors make of a frame. Spark cannot hand over columns whose names have points."""
    names = frame.columns

    def renamed(batches: Batches) -> Batches:
        return work(batch.rename_columns(names) for batch in batches)

    return frame.toDF(*(f"c{place}" for place in range(len(names)))).mapInArrow(renamed, schema)


def _task() -> int:
    context = TaskContext.get()
    return 0 if context is None else int(context.partitionId())


def _answers(values: Iterator[Any]) -> Batches:
    """One row for each, with the number of the partition."""
    for place, value in enumerate(values):
        data = value if isinstance(value, bytes) else pickle.dumps(value)
        part = pa.array([_task()], pa.int64()), pa.array([place], pa.int64()), pa.array([data], pa.binary())
        yield pa.RecordBatch.from_arrays(list(part), ["part", "place", "data"])


def read(data: bytes) -> Any:
    """What an executor of ours has sent."""
    return pickle.loads(data)


def rows_of(X: Any) -> Rows:
    """The rows of a batch as the core reads them."""
    frame = frame_of(X)
    return read_rows(BaseEstimator(), X, reset=True) if frame is None else of_frame(frame, None)


def checksum(rows: Rows) -> int:
    """A number of some rows, whatever their order: numbers of parts add up, modulo 2^64."""
    if isinstance(rows.values, tuple):
        n_columns, ends, places, values = rows.values
        sums = np.zeros(len(values) + 1, dtype=np.uint64)
        np.cumsum(values.view(np.uint64) * _factors(n_columns)[places], out=sums[1:])
        own = sums[ends[1:]] - sums[ends[:-1]]
    else:
        values = rows.values
        for place, (_, levels) in enumerate(rows.columns or ()):
            if levels:
                values = values.copy() if values is rows.values else values
                known = np.array([float(zlib.crc32(word.encode())) for word in levels])
                there = ~np.isnan(values[:, place])
                values[there, place] = known[values[there, place].astype(np.int64)]
        # What is missing is missing, whatever its bits.
        missing = np.isnan(values)
        values = np.where(missing, np.nan, values) if missing.any() else np.ascontiguousarray(values)
        own = values.view(np.uint64) @ _factors(values.shape[1])
    # Sums of rows are no sum of columns: what is in a row belongs together.
    own = (own ^ (own >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
    own = (own ^ (own >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    return int(np.sum(own ^ (own >> np.uint64(32)), dtype=np.uint64))


@lru_cache(maxsize=2)
def _factors(n: int) -> NDArray[np.uint64]:
    return np.random.default_rng(0).integers(2**63, size=n, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def n_bytes(rows: Rows) -> int:
    """The memory that rows take."""
    parts = rows.values if isinstance(rows.values, tuple) else (0, rows.values)
    return sum(part.nbytes for part in parts[1:])


def _apart(batch: pa.RecordBatch) -> tuple[pa.RecordBatch, pa.RecordBatch]:
    """The labeled rows of a batch, and the others."""
    there = batch.column(batch.schema.get_field_index(IS_LABELED))
    return batch.filter(there), batch.filter(pa.compute.invert(there))


def walk(features: Features, dense: bool, exact: bool) -> Work:
    """Counts and statistics of a partition."""

    def of_partition(batches: Batches) -> Batches:
        found = Walked()
        for batch in batches:
            if batch.num_rows and not found.refused:
                try:
                    add(found, batch)
                except ValueError as error:
                    found = Walked(refused=str(error))
        yield from _answers(iter([found]))

    def add(found: Walked, batch: pa.RecordBatch) -> None:
        has_dense, has_sparse = kinds_of_vectors(batch, features)
        found.has_dense, found.has_sparse = found.has_dense or has_dense, found.has_sparse or has_sparse
        labeled, others = _apart(batch)
        if labeled.num_rows:
            rows = rows_of(features.read(labeled, dense))
            found.n_labeled += rows.n_rows
            found.labeled_checksum += checksum(rows)
            found.labeled_bytes += n_bytes(rows)
        if others.num_rows and (dense or not (found.has_dense and found.has_sparse)):
            rows = rows_of(features.read(others, dense))
            found.n_unlabeled += rows.n_rows
            found.checksum += checksum(rows)
            found.unlabeled_bytes += n_bytes(rows)
            more = Statistics.of(rows, exact)
            found.statistics = more if found.statistics is None else found.statistics + more

    return of_partition


def labeled(features: Features) -> Work:
    """The labeled rows of a partition, as they are."""

    def of_partition(batches: Batches) -> Batches:
        yield from _answers(_to_bytes(batch) for batch in batches if batch.num_rows)

    return of_partition


def _to_bytes(batch: pa.RecordBatch) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return bytes(sink.getvalue().to_pybytes())


def drawn(features: Features, dense: bool, starts: dict[int, int], wanted: NDArray[np.int64]) -> Work:
    """The unlabeled rows of some places among all, where those of each partition start at a known one."""

    def of_partition(batches: Batches) -> Batches:
        start = place = starts.get(_task(), 0)
        taken, own = [], 0
        for whole in batches:
            batch = _apart(whole)[1]
            low, high = np.searchsorted(wanted, [place, place + batch.num_rows])
            if low < high:
                taken.append(_to_bytes(batch.take(pa.array(wanted[low:high] - place))))
            if batch.num_rows:
                own += checksum(rows_of(features.read(batch, dense)))
            place += batch.num_rows
        yield from _answers(iter([Drawn(taken, place - start, own % 2**64)]))

    return of_partition


def folder() -> str:
    """Where an executor may keep files: Spark removes them with the application, where it says where."""
    given = os.environ.get("SPARK_LOCAL_DIRS") or os.environ.get("LOCAL_DIRS") or tempfile.gettempdir()
    return given.split(",")[0]


def spill(fit: str, features: Features, dense: bool, preparation: Preparation, only: frozenset[int] | None = None) -> Work:
    """Keeps the unlabeled rows of a partition in a file; those of an empty one in none, and of others than ``only``."""
    like = Rows(np.empty((0, preparation.n_columns)), preparation.columns, 0)

    def of_partition(batches: Batches) -> Batches:
        others = (_apart(batch)[1] for batch in batches if only is None or _task() in only)
        parts = (features.read(batch, dense) for batch in others if batch.num_rows)
        first = next(parts, None)
        yield from _answers(iter([]) if first is None else iter([_spilled(itertools.chain([first], parts))]))

    def _spilled(parts: Iterator[Any]) -> Handle:
        sums: list[int] = []

        def summed() -> Iterator[Rows]:
            for rows in batches(parts, like):
                sums.append(checksum(rows))
                yield rows

        context = TaskContext.get()
        attempt = 0 if context is None else context.taskAttemptId()
        path = os.path.join(folder(), f"{fit}-{_task()}-{attempt}.rows")
        n_rows, own = _core.spill(path, preparation, summed())
        return Handle(distributed.Spill(path, n_rows, own), sum(sums) % 2**64, os.uname().nodename)

    return of_partition


def ask(question: distributed.Question) -> Work:
    """The sums over the rows of the files."""

    def of_partition(batches: Batches) -> Batches:
        for batch in batches:
            for part, data in zip(batch.column(0).to_pylist(), batch.column(2).to_pylist(), strict=True):
                answer = pa.array([part], pa.int64()), pa.array([0], pa.int64()), pa.array([pickle.dumps(_sums(read(data)))])
                yield pa.RecordBatch.from_arrays(list(answer), ["part", "place", "data"])

    def _sums(handle: Handle) -> Answer:
        try:
            return Answer(handle, distributed.partial(handle.spill, question))
        except (OSError, ValueError) as error:
            # No error of the task, which Spark would try again where the file is as missing.
            is_here = handle.host == os.uname().nodename and os.path.isdir(os.path.dirname(handle.spill.path))
            return Answer(handle, None, str(error), not is_here)

    return of_partition


def remove(fit: str, homes: list[str]) -> Work:
    """Removes the files of a fit on the machine of a task: where it keeps files itself, and from these folders."""

    def of_partition(batches: Batches) -> Batches:
        for _ in batches:
            pass
        for home in {folder(), *homes}:
            for path in glob.glob(os.path.join(glob.escape(home), f"{fit}-*")):
                with contextlib.suppress(OSError):
                    os.unlink(path)
        yield from _answers(iter([]))

    return of_partition


def predict(model: Ensemble, features: Features, names: dict[str, str]) -> Work:
    """The rows with further columns: those of the given names."""

    def of_partition(batches: Batches) -> Batches:
        for batch in batches:
            columns = list(batch.columns) + _predicted(batch)
            yield pa.RecordBatch.from_arrays(columns, [*batch.schema.names, *names.values()])

    def _predicted(batch: pa.RecordBatch) -> list[Any]:
        n_classes = len(model.classes_)
        decisions = probabilities = np.empty((0, n_classes))
        codes = np.empty(0, dtype=np.int64)
        if batch.num_rows:
            # Once for all columns.
            decisions, probabilities, codes = model._model.told(model._rows(features.read(batch)), model._n_jobs())
        classes = model.classes_[codes]
        columns = {
            "rawPrediction": lambda: vectors_of(np.hstack([-decisions, decisions]) if decisions.shape[1] == 1 else decisions),
            "probability": lambda: vectors_of(probabilities),
            "prediction": lambda: pa.array(indices(model, classes), pa.float64()),
            "predictionLabel": lambda: pa.array(classes.tolist(), _type_of_labels(model)),
        }
        return [columns[what]() for what in names]

    return of_partition


def indices(model: Ensemble, classes: NDArray[Any]) -> NDArray[np.float64]:
    """Predicted classes as numbers: themselves where they are numbers, else their places among the classes."""
    if model.classes_.dtype.kind in "iufb":
        return classes.astype(np.float64)
    return np.searchsorted(model.classes_.astype(str), classes.astype(str)).astype(np.float64)


def _type_of_labels(model: Ensemble) -> Any:
    return {"i": pa.int64(), "u": pa.int64(), "f": pa.float64(), "b": pa.bool_()}.get(model.classes_.dtype.kind, pa.string())
