"""A fit whose unlabeled rows lie elsewhere."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import reduce
from itertools import repeat
from operator import add
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import udeed
from scipy import sparse
from udeed import distributed

random = np.random.RandomState(0)
N = 200
FRAME = pd.DataFrame(
    {
        "size": random.rand(N),
        "colour": random.choice(["red", "green", "blue"], N),
        "weight": np.where(random.rand(N) < 0.2, np.nan, 1e3 + random.rand(N)),
    }
)
Y = np.where(np.arange(N) % 10 == 0, (FRAME["size"] > 0.5).astype(int), -1)
LABELED = np.flatnonzero(Y >= 0)
OTHERS = np.flatnonzero(Y < 0)


def divided(rows: Any, parts: int) -> tuple[Any, list[Any]]:
    """The labeled rows, and parts of the others."""
    take = rows.iloc.__getitem__ if hasattr(rows, "iloc") else rows.__getitem__
    return take(LABELED), [take(part) for part in np.array_split(OTHERS, parts)]


def prepared(model: Any, rows: Any, parts: list[Any], folder: Path) -> tuple[Any, list[Any]]:
    """Statistics of all rows, and files of the parts."""
    statistics = reduce(add, map(distributed.statistics, [rows, *parts]))
    preparation = pickle.loads(pickle.dumps(distributed.prepare(model, statistics)))
    spills = [distributed.spill(folder / f"{n}.rows", part, preparation) for n, part in enumerate(parts)]
    for spill in spills:
        spill.verify()
    return pickle.loads(pickle.dumps(statistics)), spills


@pytest.mark.parametrize("kind", ["frame", "array", "sparse"])
@pytest.mark.parametrize("scaling", ["minmax", "standard"])
def test_it_is_the_fit_of_all_rows(kind: str, scaling: str, tmp_path: Path) -> None:
    rows: Any = FRAME if kind == "frame" else FRAME[["size", "weight"]].fillna(0.0).to_numpy()
    rows = sparse.csr_array(rows) if kind == "sparse" else rows
    own, parts = divided(rows, 3)
    model = udeed.UDEEDClassifier(members=5, scaling=scaling, random_state=1)
    statistics, spills = prepared(model, own, parts, tmp_path)
    assert statistics.n_rows == N and [spill.n_rows for spill in spills] == [len(part) for part in np.array_split(OTHERS, 3)]

    def ask(question: distributed.Question) -> Iterator[bytes]:
        return (distributed.partial(spill, pickle.loads(pickle.dumps(question))) for spill in spills)

    found = distributed.fit(model, own, Y[LABELED], statistics, ask)
    assert found is model
    expected = udeed.UDEEDClassifier(members=5, scaling=scaling, random_state=1).fit(own, Y[LABELED], unlabeled_X=iter(parts))
    assert [step["stage"] for step in model.history_] == [step["stage"] for step in expected.history_]
    decisions = model.decision_function(rows)
    np.testing.assert_allclose(decisions, expected.decision_function(rows), rtol=0.0, atol=1e-9)
    again = distributed.fit(udeed.UDEEDClassifier(members=5, scaling=scaling, random_state=1), own, Y[LABELED], statistics, ask)
    np.testing.assert_array_equal(again.decision_function(rows), decisions)
    kept = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(kept.decision_function(rows), decisions)
    with pytest.raises(AttributeError, match="is not kept"):
        model.transduction_  # noqa: B018


@pytest.mark.parametrize("kind", ["frame", "array", "sparse"])
@pytest.mark.parametrize("scaling", ["minmax", "standard"])
def test_exact_sums_give_the_same_bits_for_any_parts_in_any_order(kind: str, scaling: str, tmp_path: Path) -> None:
    rows: Any = FRAME if kind == "frame" else FRAME[["size", "weight"]].fillna(0.0).to_numpy()
    rows = sparse.csr_array(rows) if kind == "sparse" else rows
    take = rows.iloc.__getitem__ if kind == "frame" else rows.__getitem__

    def model() -> udeed.UDEEDClassifier:
        return udeed.UDEEDClassifier(members=5, scaling=scaling, precision="exact", random_state=1)

    shuffled = np.random.RandomState(3).permutation(N)
    expected = model().fit(take(shuffled), Y[shuffled]).decision_function(rows)
    for parts in (1, 2, 5):
        order = np.random.RandomState(parts)
        mine, others = order.permutation(LABELED), np.array_split(order.permutation(OTHERS), parts)
        own, divided = take(mine), [take(part) for part in others]
        found = [distributed.statistics(part, exact=True) for part in [*divided, own]]
        statistics = reduce(add, found)
        preparation = distributed.prepare(model(), statistics)
        spills = [distributed.spill(tmp_path / f"{n}.rows", part, preparation) for n, part in enumerate(divided)]

        def ask(question: distributed.Question, spills: Any = spills, order: Any = order) -> list[bytes]:
            return [distributed.partial(spills[place], question) for place in order.permutation(len(spills))]

        fitted = distributed.fit(model(), own, Y[mine], statistics, ask)
        np.testing.assert_array_equal(fitted.decision_function(rows), expected)
    rounded = reduce(add, map(distributed.statistics, [own, *divided]))
    with pytest.raises(ValueError, match="rounded sums"):
        distributed.fit(model(), own, Y[mine], rounded, lambda _: [])


@pytest.mark.parametrize("name", ["BaggingClassifier", "AdaBoostClassifier", "ExtraTreesClassifier", "StackingClassifier"])
def test_of_labeled_rows_alone_nobody_is_asked(name: str) -> None:
    own, parts = divided(FRAME, 3)
    statistics = reduce(add, map(distributed.statistics, [own, *parts]))
    model = distributed.fit(getattr(udeed, name)(random_state=1), own, Y[LABELED], statistics, lambda _: pytest.fail("asked"))
    expected = getattr(udeed, name)(random_state=1).fit(own, Y[LABELED], unlabeled_X=iter(parts))
    model = pickle.loads(pickle.dumps(model))
    np.testing.assert_allclose(model.predict_proba(FRAME), expected.predict_proba(FRAME), rtol=0.0, atol=1e-9)


def test_parquet_files_are_read_by_processes(tmp_path: Path) -> None:
    own, parts = divided(FRAME, 4)
    paths = [tmp_path / f"{n}.parquet" for n in range(4)]
    for part, path in zip(parts, paths, strict=True):
        part.assign(other="x").to_parquet(path, index=False)
    model, names = udeed.UDEEDClassifier(members=5, random_state=1), list(FRAME.columns)
    with ProcessPoolExecutor(2) as pool:
        found = pool.map(distributed.statistics, paths, repeat(names))
        statistics = reduce(add, found, distributed.statistics(own))
        preparation = distributed.prepare(model, statistics)
        spills = list(pool.map(distributed.spill, [f"{path}.rows" for path in paths], paths, repeat(preparation)))
        distributed.fit(
            model, own, Y[LABELED], statistics, lambda question: pool.map(distributed.partial, spills, repeat(question))
        )
    expected = udeed.UDEEDClassifier(members=5, random_state=1).fit(own, Y[LABELED], unlabeled_X=iter(parts))
    found = model.decision_function(FRAME)
    np.testing.assert_allclose(found, expected.decision_function(FRAME), rtol=0.0, atol=1e-9)
    with pytest.raises(ValueError, match="comes without 'none'"):
        distributed.statistics(paths[0], ["size", "none"])


def test_what_goes_wrong_elsewhere_is_told(tmp_path: Path) -> None:
    own, parts = divided(FRAME, 2)
    model = udeed.UDEEDClassifier(members=5, random_state=1)
    statistics, spills = prepared(model, own, parts, tmp_path)

    def fit(ask: Any) -> None:
        distributed.fit(model, own, Y[LABELED], statistics, ask)

    def lost(question: distributed.Question) -> list[bytes]:
        raise LookupError("the other machine is gone")

    for ask, error, said in (
        (lost, LookupError, "the other machine is gone"),
        (lambda _: [b"x"], ValueError, "the partial sums: found bytes that are none"),
        (lambda _: [], ValueError, "no sums over the rows elsewhere"),
        (lambda question: [distributed.partial(spills[0], question)], ValueError, "sums over 90 rows .*, expected 180 rows"),
    ):
        with pytest.raises(error, match=said):
            fit(ask)
    other = distributed.Spill(spills[0].path, 90, spills[1].checksum)
    with pytest.raises(ValueError, match="found other rows, expected those that were kept there"):
        fit(lambda question: [distributed.partial(other, question)])
    data = bytearray(Path(spills[0].path).read_bytes())
    data[0] ^= 1
    Path(spills[0].path).write_bytes(data)
    with pytest.raises(ValueError, match="rows that are not those that were written"):
        spills[0].verify()
    # Its footer is whole, and the rows were in order when they were asked before.
    os.utime(spills[0].path, (0, 0))
    with pytest.raises(ValueError, match="rows that are not those that were written"):
        fit(lambda question: [distributed.partial(spills[0], question)])
    Path(spills[0].path).write_bytes(data[:-1])
    with pytest.raises(ValueError, match="no whole one"):
        fit(lambda question: [distributed.partial(spills[0], question)])
    Path(spills[0].path).unlink()
    with pytest.raises(FileNotFoundError):
        fit(lambda question: [distributed.partial(spills[0], question)])


def test_what_does_not_fit_is_refused(tmp_path: Path) -> None:
    own, parts = divided(FRAME, 2)
    model = udeed.UDEEDClassifier(random_state=1)
    statistics, _ = prepared(model, own, parts, tmp_path)
    for other in (udeed.UDEEDAutoClassifier(), udeed.SemiBoostClassifier(), udeed.UDEEDClassifierCV(), object()):
        with pytest.raises(TypeError, match="needs the rows themselves, expected one of UDEEDClassifier, "):
            distributed.prepare(other, statistics)
    with pytest.raises(ValueError, match="`statistics` are of 20 rows, X has 20: expected those of all rows"):
        distributed.fit(model, own, Y[LABELED], distributed.statistics(own), lambda _: [])
    with pytest.raises(ValueError, match="unlabeled rows here beside those elsewhere"):
        distributed.fit(model, FRAME[:40], Y[:40], statistics, lambda _: [])
    with pytest.raises(ValueError, match="`fourier` is 9, expected 0"):
        distributed.fit(udeed.UDEEDClassifier(fourier=9), own, Y[LABELED], statistics, lambda _: [])
    with pytest.raises(ValueError, match="column `colour`"):
        _ = statistics + distributed.statistics(FRAME[["size", "weight"]].assign(hue="x"))
    with pytest.raises(ValueError, match="without 'colour', with 'hue'"):
        distributed.spill(tmp_path / "x", FRAME.rename(columns={"colour": "hue"}), distributed.prepare(model, statistics))
    assert not (tmp_path / "x").exists()
