"""Unlabeled rows beside those of X."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
import udeed
from estimators import ALL, METHODS, small
from pyarrow import parquet
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from test_arrow import reader
from udeed._kinds import CARDS

random = np.random.RandomState(0)
ROWS = np.where(random.rand(90, 5) < 0.3, 0.0, random.rand(90, 5))
NAMES = [f"c{place}" for place in range(5)]
X, MORE = ROWS[:30], ROWS[30:]
Y = np.where(np.arange(30) % 5 == 4, -1, (X[:, 0] > X[:, 1]).astype(int))
ALL_Y = np.concatenate([Y, np.full(60, -1)])
STREAMING = [kind for kind in ALL if CARDS[kind._method]["streams"]]


def told(model: Any, rows: Any = ROWS) -> np.ndarray:
    """What a model says of rows."""
    return np.column_stack([model.decision_function(rows), model.predict_proba(rows)])


@pytest.mark.parametrize("kind", ALL)
def test_they_are_rows_of_one_array(kind: type) -> None:
    expected = small(kind).fit(ROWS, ALL_Y)
    model = small(kind).fit(X, Y, unlabeled_X=MORE)
    np.testing.assert_array_equal(told(model), told(expected))
    np.testing.assert_array_equal(model.transduction_, expected.transduction_)
    np.testing.assert_array_equal(model.label_distributions_, expected.label_distributions_)
    if CARDS[kind._method]["labels_rows"]:
        np.testing.assert_array_equal(model.labeled_iter_, expected.labeled_iter_)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(told(again), told(model))
    np.testing.assert_array_equal(again.transduction_, model.transduction_)
    assert told(clone(model).fit(X, Y)).shape == told(model).shape


@pytest.mark.parametrize("kind", STREAMING)
def test_more_than_memory_holds_are_streamed(kind: type) -> None:
    expected = small(kind).fit(ROWS, ALL_Y)
    model = small(kind, memory=1000).fit(X, Y, unlabeled_X=MORE)
    np.testing.assert_array_equal(told(model), told(expected))
    with pytest.raises(AttributeError, match="is not kept"):
        model.transduction_  # noqa: B018


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind not in STREAMING])
def test_methods_that_need_all_in_memory_say_so(kind: type) -> None:
    for more in (MORE, iter([MORE])):
        with pytest.raises(ValueError, match=f"`unlabeled_X`, which {kind.__name__} needs in memory as a whole") as raised:
            small(kind, memory=1000).fit(X, Y, unlabeled_X=more)
        assert "at most 1000 bytes\nhint: allow more `memory`, or fit" in str(raised.value)
        assert "UDEEDClassifier" in str(raised.value)


# Labeled rows lack some of the words, and a number.
WORDS = pd.DataFrame(
    {
        "size": ROWS[:, 0],
        "colour": ["red", "green", None] * 10 + ["azure", "red", "yellow"] * 20,
        "weight": [None] * 30 + ROWS[30:, 1].tolist(),
    }
).astype({"weight": float})


def with_index(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.set_index(np.arange(len(frame)) * 7)


def written(how: str) -> Callable[[pd.DataFrame, Path], Any]:
    def write(frame: pd.DataFrame, folder: Path) -> Any:
        # Files may have other columns beside.
        frame = frame.assign(other="x")
        path = folder / f"more.{how}"
        if how == "parquet":
            parquet.write_table(pa.Table.from_pandas(frame), path, row_group_size=13)
            return str(path)
        frame.to_csv(path, index=False)
        return path

    return write


FRAMES: dict[str, Callable[[pd.DataFrame, Path], Any]] = {
    "pandas": lambda frame, _: with_index(frame),
    "pandas in another order": lambda frame, _: frame[frame.columns[::-1]],
    "polars": lambda frame, _: pl.from_pandas(frame),
    "pyarrow": lambda frame, _: pa.Table.from_pandas(frame, preserve_index=False),
    "reader": lambda frame, _: reader(pa.Table.from_pandas(frame[frame.columns[::-1]], preserve_index=False), 11),
    "iterator": lambda frame, _: (frame[start : start + 9] for start in range(0, len(frame), 9)),
    "iterator of lazy frames": lambda frame, _: iter([pl.from_pandas(frame[:20]).lazy(), frame[20:20], frame[20:]]),
    "Parquet": written("parquet"),
    "CSV": written("csv"),
    "zipped CSV": written("csv.gz"),
}


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize("memory", [0, 2000])
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_and_files_have_the_same_rows(kind: str, memory: int, tmp_path: Path) -> None:
    for words in (["colour"], []):
        rows = WORDS if words else WORDS[["size", "weight"]]
        expected = small(udeed.UDEEDClassifier).fit(rows, ALL_Y)
        more = FRAMES[kind](rows[30:], tmp_path)
        model = small(udeed.UDEEDClassifier, memory=memory).fit(rows[:30], Y, unlabeled_X=more)
        assert model._model.columns == expected._model.columns
        np.testing.assert_array_equal(told(model, rows), told(expected, rows))


def test_a_batch_without_a_word_is_no_column_of_numbers() -> None:
    rows = WORDS.assign(colour=WORDS["colour"].where(np.arange(90) < 70))
    batches = [rows[30:70], rows[70:].astype({"colour": float})]
    expected = small(udeed.UDEEDClassifier).fit(rows, ALL_Y)
    model = small(udeed.UDEEDClassifier).fit(rows[:30], Y, unlabeled_X=iter(batches))
    np.testing.assert_array_equal(told(model, rows), told(expected, rows))


def test_arrays_and_files_without_names(tmp_path: Path) -> None:
    expected = told(small(udeed.UDEEDClassifier).fit(ROWS, ALL_Y))
    path = tmp_path / "rows.csv"
    pd.DataFrame(MORE).to_csv(path, header=False, index=False)
    parts = np.array_split(np.asfortranarray(MORE), 7)
    for more in (np.asfortranarray(MORE), MORE.tolist(), path, iter(parts), (part for part in parts)):
        np.testing.assert_array_equal(told(small(udeed.UDEEDClassifier).fit(X, Y, unlabeled_X=more)), expected)


@pytest.mark.parametrize("memory", [0, 1000])
def test_sparse_rows(memory: int) -> None:
    rows = sparse.csr_array(ROWS)
    expected = told(small(udeed.UDEEDClassifier).fit(rows, ALL_Y), rows)
    more = rows[30:]
    for part in (more, more.tocsc(), iter([more[:7], more[7:]])):
        model = small(udeed.UDEEDClassifier, memory=memory).fit(rows[:30], Y, unlabeled_X=part)
        np.testing.assert_array_equal(told(model, rows), expected)
    # Dense ones among them make all dense, as in memory.
    mixed = small(udeed.UDEEDClassifier, memory=memory).fit(X, Y, unlabeled_X=iter([more[:7], MORE[7:], more[7:7]]))
    np.testing.assert_array_equal(told(mixed), told(small(udeed.UDEEDClassifier).fit(ROWS, ALL_Y)))


def test_names_are_matched() -> None:
    frame = pd.DataFrame(ROWS, columns=NAMES)
    model = udeed.UDEEDClassifier(members=4, random_state=0)
    for more, said in (
        (frame.rename(columns={"c1": "x", "c2": "y"}), "comes without 'c1', 'c2', with 'x', 'y', expected just the columns"),
        (frame.assign(z=1.0), "comes with 'z', expected"),
        (frame[["c0", "c1", "c2", "c3"]], "comes without 'c4', expected"),
        (pd.DataFrame(ROWS, columns=[*NAMES[:-1], "c0"]), "without 'c4', with two 'c0'"),
        (frame.assign(c3="words"), "has words in column 'c3', expected numbers, as in X"),
        (frame.assign(c3=pd.Timestamp("2020")), "column 'c3', expected numbers, truth values or words"),
        (frame.assign(c3=np.inf), "infinity"),
        (ROWS[:, :4], "`unlabeled_X` has 4 columns, expected 5"),
    ):
        with warnings.catch_warnings(), pytest.raises(ValueError, match=said):
            warnings.simplefilter("ignore")
            model.fit(frame[:30], Y, unlabeled_X=more)
    with pytest.raises(ValueError, match="numbers in column 'colour', expected words, as in X"):
        model.fit(WORDS[:30], Y, unlabeled_X=WORDS[30:].assign(colour=1.0))
    with pytest.raises(ValueError, match="no words in column 'colour', expected a data frame like X"):
        model.fit(WORDS[:30], Y, unlabeled_X=ROWS[:, :3])
    with pytest.raises(ValueError, match="`unlabeled_X` has 4 columns, expected 5, as in X"):
        model.fit(X, Y, unlabeled_X=frame[NAMES[:4]])


def test_names_on_one_side_are_told() -> None:
    frame, expected = pd.DataFrame(ROWS, columns=NAMES), told(small(udeed.UDEEDClassifier).fit(ROWS, ALL_Y))
    for rows, more, said in (
        (X, frame[30:], "`unlabeled_X` has column names and X has none"),
        (frame[:30], MORE, "X has column names and `unlabeled_X` has none"),
    ):
        with pytest.warns(udeed.UdeedWarning, match=f"{said}: the columns are taken in their order"):
            model = small(udeed.UDEEDClassifier).fit(rows, Y, unlabeled_X=more)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            np.testing.assert_array_equal(told(model), expected)


def test_a_file_without_some_columns_is_refused(tmp_path: Path) -> None:
    frame = pd.DataFrame(ROWS, columns=NAMES)
    for name in ("few.csv", "few.parquet"):
        few, path = frame[["c0", "c2"]], tmp_path / name
        few.to_csv(path, index=False) if name.endswith("csv") else few.to_parquet(path)
        with pytest.raises(ValueError, match="c1"):
            small(udeed.UDEEDClassifier).fit(frame[:30], Y, unlabeled_X=path)
    with pytest.raises(FileNotFoundError):
        small(udeed.UDEEDClassifier).fit(frame[:30], Y, unlabeled_X=tmp_path / "none.csv")
    path = tmp_path / "rows.what"
    frame.to_csv(path, index=False)
    with pytest.raises(ValueError, match=r"a name that tells no format.*\nhint: a name that ends in"):
        small(udeed.UDEEDClassifier).fit(frame[:30], Y, unlabeled_X=path)
    path = tmp_path / "rows.csv"
    path.write_text("a,b,c,d,e\n" + "1,2,3,4,5\n" * 3)
    with pytest.raises(ValueError, match="hint: files have a header if X has column names"):
        small(udeed.UDEEDClassifier).fit(X, Y, unlabeled_X=path)


def test_no_rows_are_no_rows(tmp_path: Path) -> None:
    frame, path = pd.DataFrame(ROWS, columns=NAMES), tmp_path / "rows.csv"
    frame[:0].to_csv(path, index=False)
    for more in (frame[:0], iter([]), iter([MORE[:0], MORE[:0]]), pa.Table.from_pandas(frame[:0]), MORE[:0]):
        with pytest.raises(ValueError, match="`unlabeled_X` has no rows|0 sample"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            small(udeed.UDEEDClassifier).fit(frame[:30], Y, unlabeled_X=more)
    with pytest.raises(ValueError, match="no rows|expected at least one row|rows.csv"):
        small(udeed.UDEEDClassifier).fit(frame[:30], Y, unlabeled_X=path)


@pytest.mark.parametrize("more", [lambda: iter([MORE]), lambda: reader(pa.table(dict(zip(NAMES, MORE.T))), 11)])
def test_iterators_are_refused_where_every_fold_would_read_them(more: Callable[[], Any]) -> None:
    labeled = np.flatnonzero(Y >= 0)
    search = GridSearchCV(small(udeed.UDEEDClassifier), {"gamma": [0.0, 1.0]}, cv=2, error_score="raise")
    named = pd.DataFrame(X[labeled], columns=NAMES)
    with pytest.raises(ValueError, match="`unlabeled_X` is a .*, which the fit of the first fold reads to its end; expected"):
        search.fit(named, Y[labeled], unlabeled_X=more())
    # One fit alone may read it.
    small(udeed.UDEEDClassifier).fit(named, Y[labeled], unlabeled_X=pa.table(dict(zip(NAMES, MORE.T))))


def test_the_rows_of_x_are_not_taken_twice() -> None:
    with pytest.raises(ValueError, match="`unlabeled_X` is X, whose unlabeled rows are learned from as they are"):
        udeed.BaggingClassifier().fit(X, Y, unlabeled_X=X)


def test_what_batches_raise_is_raised() -> None:
    def batches() -> Iterator[np.ndarray]:
        yield MORE
        raise LookupError("the connection is gone")

    with pytest.raises(LookupError, match="the connection is gone"):
        small(udeed.UDEEDClassifier).fit(X, Y, unlabeled_X=batches())


def test_a_folder_that_cannot_be_written_to_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "none"))
    with pytest.raises(OSError, match="cannot keep rows in a temporary file there"):
        small(udeed.UDEEDClassifier, memory=1000).fit(X, Y, unlabeled_X=MORE)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    small(udeed.UDEEDClassifier, memory=1000).fit(X, Y, unlabeled_X=MORE)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("weight", [{"class_weight": "balanced"}, {"class_weight": {0: 1.0, 1: 3.0}}, {}])
def test_weights_are_those_of_the_labels(weight: dict[str, Any]) -> None:
    weights = np.where(np.arange(30) % 3 == 0, 2.0, 0.5)
    weights[[2, 4, 6]] = 0.0
    for kind in (udeed.UDEEDClassifier, udeed.SelfTrainingClassifier):
        expected = small(kind, **weight).fit(ROWS, ALL_Y, np.concatenate([weights, np.ones(60)]))
        model = small(kind, **weight).fit(X, Y, weights, unlabeled_X=MORE)
        np.testing.assert_array_equal(told(model), told(expected))
        np.testing.assert_array_equal(model.transduction_, expected.transduction_)
        np.testing.assert_array_equal(model.label_distributions_, expected.label_distributions_)


def test_the_array_may_be_written_to_afterwards() -> None:
    more = MORE.copy()
    model = small(udeed.UDEEDClassifier).fit(X, Y, unlabeled_X=more)
    more[:] = 0.0
    np.testing.assert_array_equal(model.transduction_, small(udeed.UDEEDClassifier).fit(ROWS, ALL_Y).transduction_)


def test_searches_and_pipelines_hand_them_on() -> None:
    own = small(udeed.UDEEDClassifier).fit(X, Y, unlabeled_X=MORE)
    assert (told(own) != told(small(udeed.UDEEDClassifier).fit(X, Y))).any()
    folds = udeed.SemiSupervisedKFold(2)
    search = GridSearchCV(small(udeed.UDEEDClassifier), {"gamma": [1.0]}, cv=folds).fit(X, Y, unlabeled_X=MORE)
    np.testing.assert_array_equal(told(search.best_estimator_), told(own))
    with sklearn.config_context(enable_metadata_routing=True):
        estimator = small(udeed.UDEEDClassifier).set_fit_request(unlabeled_X=True)
        search = GridSearchCV(estimator, {"gamma": [1.0]}, cv=folds).fit(X, Y, unlabeled_X=MORE)
        np.testing.assert_array_equal(told(search.best_estimator_), told(own))
        steps = make_pipeline(StandardScaler(), estimator, transform_input=["unlabeled_X"])
        steps.fit(X, Y, unlabeled_X=MORE)
    scaled = StandardScaler().fit(X)
    expected = small(udeed.UDEEDClassifier).fit(scaled.transform(X), Y, unlabeled_X=scaled.transform(MORE))
    np.testing.assert_array_equal(told(steps), told(expected, scaled.transform(ROWS)))
