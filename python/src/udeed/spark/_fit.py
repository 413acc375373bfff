"""A fit of which the driver asks executors for sums over the unlabeled rows that they hold."""

from __future__ import annotations

import contextlib
import os
import time
import uuid
import warnings
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from udeed import _core, distributed
from udeed._core import Statistics
from udeed._ensemble import Ensemble
from udeed._estimators import UDEEDAutoClassifier
from udeed._labels import UdeedWarning, is_unlabeled
from udeed.spark import _work
from udeed.spark._features import IS_LABELED, LABEL, WEIGHT, Features, check_there, column, is_labeled, labels_of
from udeed.spark._work import Answer, Handle, Walked

# How often a fit begins before it is given up.
_TRIES = 3
# How often a step is asked for again where files are missing.
_AGAIN = 5
# Seconds in which Spark ends tasks of a job that has failed: until then they write.
_ENDING = 3.0
# Rows that `auto` looks at, at most. It makes nodes of 5 000 of them, and ranks of 10 000.
_DRAWN = 100_000
# Rows that come in one piece through the memory of the driver's Java, which is small.
_AT_ONCE = 256 << 20


class OtherRows(Exception):
    """The frame has given other rows than before."""


@dataclass(frozen=True)
class Source:
    """A frame to learn from: the features of its rows, and which of them have a label."""

    frame: Any
    features: Features
    weighted: bool

    @staticmethod
    def of(dataset: Any, features: Features, label: str, weight: str | None, marker: Any) -> Source:
        schema = dataset.schema
        labeled = is_labeled(schema, label, marker)
        columns = [column(name) for name in features.names]
        columns += [column(label).alias(LABEL), labeled.alias(IS_LABELED)]
        if weight is not None:
            check_there([weight], schema)
            columns.append(column(weight).cast("double").alias(WEIGHT))
        return Source(dataset.select(*columns), features, weight is not None)

    def walked(self) -> Any:
        """Features, and whether there is a label: executors leave rows out, as Spark would deal others to the partitions."""
        return self.frame.select(*map(column, self.features.names), column(IS_LABELED))

    def labeled(self) -> Any:
        """The rows with labels."""
        return self.frame.where(column(IS_LABELED)).drop(IS_LABELED)


@dataclass(frozen=True)
class Labeled:
    """The labeled rows, which are here."""

    X: Any
    y: NDArray[Any]
    weights: NDArray[np.float64] | None


def fit(local: Ensemble, dataset: Any, features: Features, label: str, weight: str | None) -> Ensemble:
    """Fits a local estimator to the rows of a frame."""
    local._validate_params()
    source = Source.of(dataset, features, label, weight, local.unlabeled)
    marker = local.unlabeled
    for _ in range(_TRIES):
        try:
            _fit_once(local, source)
            local.unlabeled = marker
            return local
        except OtherRows as error:
            found = str(error)
            warnings.warn(f"{found}: the fit begins anew", UdeedWarning, stacklevel=4)
    expected = "the same rows each time: keep them by `frame.cache()`, or in a file"
    raise ValueError(f"{found}, and so in {_TRIES} fits; expected {expected}")


def _fit_once(local: Ensemble, source: Source) -> None:
    exact = getattr(local, "precision", None) == "exact"
    parts, dense = _walk(source, exact)
    walked = _total(parts)
    rows = _collect(source, walked, dense, local.memory)
    local.unlabeled = None if is_unlabeled(rows.y, -1).any() else -1
    if walked.statistics is None:
        local.fit(rows.X, rows.y, rows.weights)
    elif isinstance(local, UDEEDAutoClassifier):
        most = _most(local.memory) - walked.labeled_bytes
        local.fit(rows.X, rows.y, rows.weights, unlabeled_X=_draw(local, source, parts, dense, most))
    else:
        _descend(local, source, rows, (walked, walked.statistics), dense)


def _answers(frame: Any, work: Any, *, at_once: bool = True) -> Iterator[tuple[int, bytes]]:
    """What executors answer, in the order of the partitions."""
    found = _work.in_arrow(frame, work, _work.OF_PART)
    answers = found.collect() if at_once else found.toLocalIterator()
    for part, _, data in sorted(map(tuple, answers)):
        yield part, bytes(data)


def _walk(source: Source, exact: bool) -> tuple[dict[int, Walked], bool]:
    """What is in each partition; and whether sparse vectors are taken as dense ones, as some rows are dense."""
    for dense in (False, True):
        parts = {part: _work.read(data) for part, data in _answers(source.walked(), _work.walk(source.features, dense, exact))}
        if refused := [part.refused for part in parts.values() if part.refused]:
            raise ValueError(refused[0])
        kinds = any(part.has_dense for part in parts.values()), any(part.has_sparse for part in parts.values())
        if not all(kinds):
            return parts, False
    return parts, True


def _total(parts: dict[int, Walked]) -> Walked:
    total = Walked()
    for part in parts.values():
        for name in ("n_unlabeled", "n_labeled", "checksum", "labeled_checksum", "labeled_bytes", "unlabeled_bytes"):
            setattr(total, name, getattr(total, name) + getattr(part, name))
    found = [part.statistics for part in parts.values() if part.statistics is not None]
    total.statistics = reduce(add, found) if found else None
    return total


def _collect(source: Source, walked: Walked, dense: bool, memory: int) -> Labeled:
    """The labeled rows."""
    most = _most(memory)
    if walked.labeled_bytes > most:
        found = f"{walked.n_labeled} labeled rows take {_size(walked.labeled_bytes)}"
        expected = f"at most {_size(most)}, {'as `memory` says' if memory else 'half of the memory'} of the driver"
        raise ValueError(f"{found}, expected {expected}, which holds all of them: take a sample, or a larger driver")
    if walked.n_labeled == 0:
        raise ValueError("the frame has no labeled row, expected rows of at least two classes")
    work = _work.labeled(source.features)
    answers = _answers(source.labeled(), work, at_once=walked.labeled_bytes <= _AT_ONCE)
    batches = [batch for _, data in answers for batch in pa.ipc.open_stream(data)]
    own = sum(_work.checksum(_work.rows_of(source.features.read(batch, dense))) for batch in batches)
    _compare("labeled", walked.n_labeled, walked.labeled_checksum, sum(batch.num_rows for batch in batches), own)
    table = pa.Table.from_batches(batches)
    weights = None
    if source.weighted:
        if nulls := table.column(WEIGHT).null_count:
            raise ValueError(f"{nulls} labeled rows have no weight in the column `weightCol`, expected a number for each")
        weights = table.column(WEIGHT).to_numpy()
    X = source.features.joined([source.features.read(batch, dense) for batch in batches])
    return Labeled(X, labels_of(table.column(LABEL)), weights)


def _most(memory: int) -> int:
    """Bytes of rows on the driver, at most."""
    return memory or _core.half_of_memory()


def _compare(what: str, n_rows: int, checksum: int, n_found: int, found: int) -> None:
    if n_rows != n_found:
        raise OtherRows(f"the frame has given {n_rows} {what} rows, and then {n_found}")
    if checksum % 2**64 != found % 2**64:
        raise OtherRows(f"the frame has given {n_rows} {what} rows, and then others")


def _size(n_bytes: int) -> str:
    return f"{n_bytes / 2**30:.2f} GiB" if n_bytes >= 2**27 else f"{n_bytes / 2**20:.2f} MiB"


def _draw(local: Ensemble, source: Source, parts: dict[int, Walked], dense: bool, most: int) -> Any:
    """Some of the unlabeled rows, drawn by the seed: no more bytes of them than given."""
    walked = _total(parts)
    total, of_row = walked.n_unlabeled, walked.unlabeled_bytes / walked.n_unlabeled
    n_drawn = min(total, _DRAWN, max(1, int(most / of_row)))
    if n_drawn < total:
        text = f"{type(local).__name__} learns from {n_drawn} of {total} unlabeled rows, drawn by the seed"
        warnings.warn(text, UdeedWarning, stacklevel=6)
    seed = local.random_state if isinstance(local.random_state, int) else None
    wanted = np.sort(np.random.default_rng(seed).choice(total, n_drawn, replace=False)).astype(np.int64)
    starts, start = {}, 0
    for part in sorted(parts):
        starts[part], start = start, start + parts[part].n_unlabeled
    work = _work.drawn(source.features, dense, starts, wanted)
    answers = _answers(source.walked(), work, at_once=n_drawn * of_row <= _AT_ONCE)
    found = [_work.read(data) for _, data in answers]
    _compare("unlabeled", total, walked.checksum, sum(own.n_rows for own in found), sum(own.checksum for own in found))
    batches = [batch for own in found for data in own.batches for batch in pa.ipc.open_stream(data)]
    return source.features.joined([source.features.read(batch, dense) for batch in batches])


def _descend(local: Ensemble, source: Source, rows: Labeled, of_others: tuple[Walked, Statistics], dense: bool) -> None:
    walked, others = of_others
    exact = getattr(local, "precision", None) == "exact"
    statistics = distributed.statistics(rows.X, exact=exact) + others
    preparation = distributed.prepare(local, statistics)
    spilled = Spilled(source, walked, dense, preparation)
    try:
        distributed.fit(local, rows.X, rows.y, statistics, spilled, rows.weights)
    finally:
        spilled.remove()


class Spilled:
    """The unlabeled rows in files of the executors, and who asks for the sums over them."""

    def __init__(self, source: Source, walked: Walked, dense: bool, preparation: _core.Preparation) -> None:
        self._fit = f"udeed-{uuid.uuid4().hex}"
        self._rows, self._walked = source.walked(), walked
        self._how = source.features, dense, preparation
        # Frames of handles, which Spark keeps where the files are: each of the partitions that were written again, the first of
        # all. Of a partition the last counts.
        self._frames: list[Any] = []
        # For each partition the place of its frame.
        self._places: dict[int, int] = {}
        self._first: dict[int, Handle] = {}
        self._is_writing = False
        # Where files may be, also those that nobody names any more.
        self._homes: set[str] = set()

    def _spill(self, only: frozenset[int] | None = None) -> None:
        """Writes the files of all partitions, or of some; later ones must hold what the first held."""
        work = _work.spill(self._fit, *self._how, only)
        self._is_writing = True
        self._frames.append(_work.in_arrow(self._rows, work, _work.OF_PART).persist())
        found = {part: _work.read(data) for part, _, data in map(tuple, self._frames[-1].collect())}
        self._is_writing = False
        self._homes |= {os.path.dirname(own.spill.path) for own in found.values()}
        if only is None:
            n_rows, checksum = sum(own.spill.n_rows for own in found.values()), sum(own.checksum for own in found.values())
            _compare("unlabeled", self._walked.n_unlabeled, self._walked.checksum, n_rows, checksum)
            self._first = found
        for part in found if only is None else only:
            self._check(part, found.get(part))
            self._places[part] = len(self._frames) - 1

    def __call__(self, question: distributed.Question) -> list[bytes]:
        if not self._frames:
            self._spill()
        found = self._ask(question, self._places.keys())
        for attempt in range(_AGAIN):
            missing = {part: own for part, own in found.items() if own.sums is None}
            if not missing:
                break
            # A busy cluster runs a task where its file is not, and may not do so the next time. What is gone is written again, and
            # so is in the end what is never asked for in the right place.
            gone = frozenset(part for part, own in missing.items() if attempt > 0 or not own.is_elsewhere)
            if gone:
                self._spill(gone)
            found |= self._ask(question, missing.keys())
        return self._sums(found)

    def _ask(self, question: distributed.Question, parts: Collection[int]) -> dict[int, Answer]:
        """What executors say of these partitions, where they have their files."""
        frames = []
        for place, frame in enumerate(self._frames):
            own = [part for part in parts if self._places[part] == place]
            # The usual case: partitions that have rows by now, and had none, are among the answers.
            whole = len(self._frames) == 1 and len(own) == len(self._places)
            if own:
                frames.append(frame if whole else frame.where(column("part").isin(own)))
        asked = reduce(lambda one, other: one.union(other), frames)
        found = {part: _work.read(data) for part, data in _answers(asked, _work.ask(question))}
        self._homes |= {os.path.dirname(answer.handle.spill.path) for answer in found.values()}
        return found

    def _sums(self, found: dict[int, Answer]) -> list[bytes]:
        """The sums in the order of the partitions, if they are over the rows of the first step."""
        for part in sorted(found.keys() | self._first.keys()):
            self._check(part, found[part].handle if part in found else None)
        sums = [own.sums for _, own in sorted(found.items()) if own.sums is not None]
        if len(sums) < len(found):
            why = next(own.missing for own in found.values() if own.sums is None)
            raise RuntimeError(f"files of unlabeled rows are gone as soon as they are written: {why}")
        return sums

    def _check(self, part: int, own: Handle | None) -> None:
        """Refuses other rows than the first time. Their order may be another, where a shuffle deals them."""
        first = self._first.get(part)
        if own is None or first is None or (own.spill.n_rows, own.checksum) != (first.spill.n_rows, first.checksum):
            raise OtherRows(f"partition {part} of the frame has given other rows when it was read again")

    def remove(self) -> None:
        """Removes the files, as far as they are there: nothing of it hides why a fit has failed."""
        if not self._frames:
            return
        # Not over the frames: one whose files could not be written would be written again. As many tasks as there were, or as run
        # at a time, reach every executor.
        n_parts = len(self._places)
        if self._is_writing:
            time.sleep(_ENDING)
        with contextlib.suppress(Exception):
            session = self._rows.sparkSession
            tasks = session.range(0, n_parts, 1, n_parts) if n_parts else session.range(10_000)
            _work.in_arrow(tasks, _work.remove(self._fit, sorted(self._homes)), _work.OF_PART).collect()
        for frame in self._frames:
            with contextlib.suppress(Exception):
                frame.unpersist()
