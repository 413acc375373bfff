"""Rows of any kind."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import udeed
from estimators import ALL, METHODS, small
from scipy import sparse
from sklearn.utils.validation import _get_feature_names
from udeed._progress import Progress
from udeed._rows import read_rows

random = np.random.RandomState(0)
DENSE = np.where(random.rand(60, 5) < 0.5, 0.0, random.rand(60, 5))
Y = np.where(np.arange(60) % 4 == 0, (DENSE[:, 0] > DENSE[:, 1]).astype(int), -1)
NAMES = [f"c{i}" for i in range(5)]


def decisions(kind: type, X: Any) -> np.ndarray:
    return small(kind).fit(X, Y).decision_function(X)


@pytest.mark.parametrize("kind", ALL)
def test_layouts_and_types_agree(kind: type) -> None:
    expected = decisions(kind, DENSE)
    for X in (
        np.asfortranarray(DENSE),
        np.repeat(DENSE, 2, axis=1)[:, ::2],
        DENSE[::-1][::-1],
        DENSE.tolist(),
        DENSE.astype(">f8"),
        pd.DataFrame(DENSE, columns=NAMES),
        pl.DataFrame(DENSE, schema=NAMES),
    ):
        np.testing.assert_array_equal(decisions(kind, X), expected)
    single = DENSE.astype(np.float32)
    np.testing.assert_array_equal(decisions(kind, single), decisions(kind, single.astype(float)))


def test_arrays_that_need_no_checks_are_told_from_those_that_do() -> None:
    model = udeed.BaggingClassifier(members=3, random_state=0).fit(DENSE, Y)
    ready = read_rows(model, DENSE, reset=False)
    assert ready.values is DENSE and ready.n_rows == 60
    for X, problem in (
        (DENSE[:, :4], "4 features"),
        (DENSE[0], "Reshape your data"),
        (DENSE[:0], "0 sample"),
        (np.where(DENSE > 0.9, np.inf, DENSE), "infinity"),
        (np.where(DENSE > 0.9, -np.inf, DENSE), "infinity"),
        (DENSE.astype(complex), "Complex data"),
    ):
        with pytest.raises(ValueError, match=problem):
            model.predict(X)
    # Missing values, the wrong order, and sums beyond all numbers are no problem.
    for X in (np.where(DENSE > 0.9, np.nan, DENSE), np.asfortranarray(DENSE)):
        assert model.predict_proba(X).shape == (60, 2)
    assert read_rows(model, np.full_like(DENSE, 1e307), reset=False).n_rows == 60
    named = udeed.BaggingClassifier(members=3, random_state=0).fit(pd.DataFrame(DENSE, columns=NAMES), Y)
    with pytest.warns(UserWarning, match="valid feature names"):
        named.predict(DENSE)


def test_one_row_is_one_of_many() -> None:
    """A few rows are predicted on the thread of Python, many beside it."""
    for kind in (udeed.UDEEDAutoClassifier, udeed.BaggingClassifier, udeed.StackingClassifier):
        model = small(kind).fit(DENSE, Y)
        many = model.predict_proba(DENSE)
        for n_jobs in (1, 2):
            few = model.set_params(n_jobs=n_jobs).predict_proba(DENSE[:3])
            np.testing.assert_array_equal(few, many[:3])


# Of sparse rows the automatic ensemble has one view only.
@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind is not udeed.UDEEDAutoClassifier])
def test_sparse_rows_are_what_dense_ones_are(kind: type) -> None:
    # Zeros stay zeros: a column whose least value is zero is scaled the same.
    expected = decisions(kind, DENSE)
    for index in (np.int32, np.int64):
        for make in (sparse.csr_matrix, sparse.csc_matrix, sparse.csr_array, sparse.csc_array, sparse.coo_array):
            X = make(DENSE)
            for part in ("indices", "indptr"):
                if hasattr(X, part):
                    setattr(X, part, getattr(X, part).astype(index))
            np.testing.assert_allclose(decisions(kind, X), expected, atol=1e-6)


def test_sparse_rows_out_of_order_are_put_in_order_and_left_alone() -> None:
    X = sparse.csr_matrix((np.array([1.0, 2.0, 3.0, 1.0]), np.array([1, 0, 0, 0]), np.array([0, 2, 4])), shape=(2, 2))
    model = small(udeed.BaggingClassifier).fit(X, [0, 1])
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(X.toarray()), atol=1e-12)
    assert X.indices.tolist() == [1, 0, 0, 0]


def test_negative_sparse_rows_say_what_to_do() -> None:
    words = r'no negative values for `minmax`\nhint: pass `X.toarray\(\)`, or set `scaling="standard"`'
    with pytest.raises(ValueError, match=words):
        small(udeed.UDEEDClassifier).fit(sparse.csr_matrix(-DENSE), Y)
    small(udeed.UDEEDClassifier, scaling="standard").fit(sparse.csr_matrix(-DENSE), Y)


def test_no_copy_is_made_of_c_ordered_doubles(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.ascontiguousarray(DENSE)
    X.flags.writeable = False
    model = small(udeed.UDEEDClassifier, verbose=True)
    assert np.shares_memory(read_rows(model, X, reset=True).values, X)
    before, during = sys.getrefcount(X), []
    monkeypatch.setattr(Progress, "__call__", lambda *_: during.append(sys.getrefcount(X)))
    model.fit(X, Y)
    assert min(during) > before
    # The core holds the array itself while it works; the estimator does until it is asked what became of the rows.
    assert model.transduction_.shape == (len(X),) and sys.getrefcount(X) == before


def test_missing_numbers_become_the_mean() -> None:
    X = DENSE.copy()
    X[3, 2] = np.nan
    model = small(udeed.UDEEDClassifier).fit(X, Y)
    filled = X.copy()
    filled[3, 2] = np.nanmean(X[:, 2])
    np.testing.assert_allclose(model.decision_function(X), model.decision_function(filled), atol=1e-12)


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_of_words_are_taken_from_frames(library: Any) -> None:
    colours = ["red", "blue", None, "red"] * 15
    frame = library.DataFrame({"size": DENSE[:, 0].tolist(), "colour": colours})
    y = np.where(np.arange(60) % 3 == 0, -1, [colour == "red" for colour in colours])
    model = small(udeed.UDEEDClassifier).fit(frame, y)
    # scikit-learn 1.6 does not find the names in a frame of the newest polars.
    if _get_feature_names(frame) is not None:
        assert model.feature_names_in_.tolist() == ["size", "colour"]
    assert [name for name, _ in model._model.columns] == ["size", "colour"]
    assert model.member_coef_.shape == (4, 3) and model.coef_.shape == (1, 3)
    unseen = library.DataFrame({"size": [0.5, 0.5, 0.5], "colour": ["blue", "green", None]})
    blue, green, missing = model.decision_function(unseen)
    red = model.decision_function(library.DataFrame({"size": [0.5], "colour": ["red"]}))[0]
    assert red == missing and blue < green < red
    with pytest.raises(ValueError, match="no words in column 'colour'"):
        model.predict(np.zeros((2, 2)))
    other = {"colour": "shade"}
    with pytest.raises(ValueError, match="feature names should match|column `colour` is missing"):
        model.predict(unseen.rename(columns=other) if library is pd else unseen.rename(other))


@pytest.mark.parametrize("library", [pd, pl])
def test_numbers_beside_words_are_numbers(library: Any) -> None:
    frame = library.DataFrame(
        {
            "word": ["a", "b"] * 10,
            "whole": [1, None] * 10,
            "truth": [True, False, None, True] * 5,
            "single": np.arange(20, dtype=np.float32),
        }
    )
    if library is pd:
        frame = frame.astype({"whole": "Int64", "truth": "boolean", "word": "category"})
    rows = read_rows(udeed.UDEEDClassifier(), frame, reset=True)
    assert rows.columns == [("word", ["a", "b"]), ("whole", None), ("truth", None), ("single", None)]
    expected = [[0, 1, 1, 0], [1, np.nan, 0, 1], [0, 1, np.nan, 2]]
    np.testing.assert_array_equal(rows.values[:3], expected)


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize("words", [True, False])
def test_a_column_without_any_value(library: Any, words: bool) -> None:
    """It says nothing: what is learned and predicted is what it is without the column."""
    size = DENSE[:, 0].tolist()
    columns = {"size": size, "nothing": [None] * 60, **({"colour": ["red", "blue"] * 30} if words else {})}
    frame = library.DataFrame(columns)
    if library is pd:
        frame = frame.astype({"nothing": "string"})
    else:
        frame = frame.with_columns(pl.col("nothing").cast(pl.String))
    without = frame.drop(columns="nothing") if library is pd else frame.drop("nothing")
    # Two members that see different columns need two.
    one_column = () if words else (udeed.CoTrainingClassifier,)
    for kind in (kind for kind in METHODS if kind not in one_column):
        model = small(kind).fit(frame, Y)
        np.testing.assert_allclose(model.decision_function(frame), decisions(kind, without), atol=1e-9)
        # What comes later in the column was never seen.
        filled = {**columns, "nothing": ["new", None, "old"] * 20}
        np.testing.assert_allclose(
            model.decision_function(library.DataFrame(filled)), model.decision_function(frame), atol=1e-9
        )


@pytest.mark.parametrize("library", [pd, pl])
def test_words_may_all_be_missing_when_predicting(library: Any) -> None:
    frame = library.DataFrame({"size": DENSE[:, 0].tolist(), "colour": ["red", "blue", "red"] * 20})
    model = small(udeed.UDEEDClassifier).fit(frame, Y)
    nothing = library.DataFrame({"size": [0.5, 0.1], "colour": [None, None]})
    # The most frequent word stands for what is missing.
    red = library.DataFrame({"size": [0.5, 0.1], "colour": ["red", "red"]})
    np.testing.assert_array_equal(model.decision_function(nothing), model.decision_function(red))


def words(colours: list[str | None]) -> dict[str, Any]:
    """A frame with words of every kind of frame."""
    size = DENSE[: len(colours), 0].tolist()
    plain = {"size": size, "colour": colours}
    frame, table = pd.DataFrame(plain), pa.table(plain)
    dictionary = pa.dictionary(pa.int8(), pa.string())
    half = len(colours) // 2
    return {
        "pandas": frame,
        "pandas object": frame.astype({"colour": object}),
        "pandas string": frame.astype({"colour": "string"}),
        "pandas category": frame.astype({"colour": "category"}),
        "pandas Arrow": frame.convert_dtypes(dtype_backend="pyarrow"),
        "pandas large Arrow": frame.astype({"colour": pd.ArrowDtype(pa.large_string())}),
        "pandas Arrow dictionary": frame.astype({"colour": pd.ArrowDtype(dictionary)}),
        "polars": pl.DataFrame(plain),
        "polars categorical": pl.DataFrame(plain).cast({"colour": pl.Categorical}),
        "polars enum": pl.DataFrame(plain).cast({"colour": pl.Enum(["unused", "red", "green", "blue", "yellow"])}),
        "polars lazy": pl.LazyFrame(plain),
        "pyarrow": table,
        "pyarrow batch": pa.RecordBatch.from_pydict(plain),
        "pyarrow dictionary": table.set_column(1, "colour", table["colour"].cast(dictionary)),
        # Each of the chunks has words of its own.
        "pyarrow chunks": pa.concat_tables(
            [part.set_column(1, "colour", part["colour"].cast(dictionary)) for part in (table[:half], table[half:])]
        ),
    }


@pytest.mark.parametrize("kind", words(["red"]))
def test_words_are_the_same_in_frames_of_every_kind(kind: str) -> None:
    colours: list[str | None] = ["red", "blue", None] * 10 + ["green", "blue", "red"] * 10
    expected = small(udeed.UDEEDClassifier).fit(words(colours)["pandas"], Y)
    frame = words(colours)[kind]
    model = small(udeed.UDEEDClassifier).fit(frame, Y)
    assert model._model.columns == [("size", None), ("colour", ["blue", "green", "red"])]
    np.testing.assert_array_equal(model.decision_function(frame), expected.decision_function(words(colours)["pandas"]))
    # Later rows may have some of the words only, others, or none.
    for later in (["green", "red"], ["yellow", "blue"], [None, None]):
        given, plain = words(later), words(later)["pandas"]
        np.testing.assert_array_equal(model.decision_function(given[kind]), expected.decision_function(plain))
    with pytest.raises(ValueError, match="no words in column 'colour'"):
        model.predict(DENSE[:, :2])


def test_words_that_are_written_alike_are_one() -> None:
    mixed = pd.DataFrame({"word": pd.Series([1, "1", True, 1.0, None, "a"] * 10, dtype=object)})
    rows = read_rows(udeed.BaggingClassifier(), mixed, reset=True)
    assert rows.columns == [("word", ["1", "1.0", "True", "a"])]
    np.testing.assert_array_equal(rows.values[:6, 0], [0, 0, 2, 1, np.nan, 3])
    # Only words that occur are levels.
    some = pd.DataFrame({"word": pd.Categorical(["b", "a"] * 30, categories=["c", "b", "a"])})
    assert read_rows(udeed.BaggingClassifier(), some, reset=True).columns == [("word", ["a", "b"])]


@pytest.mark.parametrize("lazy", [False, True])
def test_frames_of_numbers_alone(lazy: bool) -> None:
    expected = decisions(udeed.UDEEDClassifier, DENSE)
    frame: Any = pl.LazyFrame(DENSE, schema=NAMES) if lazy else pa.table(dict(zip(NAMES, DENSE.T, strict=True)))
    model = small(udeed.UDEEDClassifier).fit(frame, Y)
    np.testing.assert_array_equal(model.decision_function(frame), expected)
    # scikit-learn 1.6 does not find the names in a frame of the newest polars.
    if not lazy or _get_feature_names(frame.collect()) is not None:
        assert [name for name, _ in model._model.columns] == NAMES
    holed = {"a": [1, None] * 30, "b": [True, None, False] * 20, "c": [None] * 60, "d": DENSE[:, 0]}
    rows = read_rows(udeed.UDEEDClassifier(), pl.LazyFrame(holed) if lazy else pa.table(holed), reset=True).values
    np.testing.assert_array_equal(rows[:3, :3], [[1, 1, np.nan], [np.nan, np.nan, np.nan], [1, 0, np.nan]])


COPIES = """
import tracemalloc, numpy as np, udeed
from udeed._rows import read_rows
X = np.asarray(np.ones((20_000, 50)), {how})
model = udeed.BaggingClassifier()
read_rows(model, X[:5], reset=True)
tracemalloc.start()
rows = read_rows(model, X, reset=True)
print(tracemalloc.get_traced_memory()[1] / rows.values.nbytes)
"""


@pytest.mark.parametrize("how", ["dtype=np.float32", "order='F'", "dtype=np.float32, order='F'", "dtype=int"])
def test_other_arrays_are_copied_once(how: str) -> None:
    taken = subprocess.check_output([sys.executable, "-c", COPIES.format(how=how)], text=True)
    assert 1.0 <= float(taken) < 1.3, "of the values as doubles in C order, there is more than one copy"


LISTS = pd.ArrowDtype(pa.list_(pa.float64()))
UNFIT = {
    "complex": pd.DataFrame({"word": ["a", "b"] * 30, "other": np.arange(60) + 1j}),
    "datetime": pd.DataFrame({"word": ["a", "b"] * 30, "other": pd.date_range("2020-01-01", periods=60)}),
    "zoned datetime": pd.DataFrame({"word": ["a", "b"] * 30, "other": pd.date_range("2020", periods=60, tz="UTC")}),
    "timedelta": pd.DataFrame({"word": ["a", "b"] * 30, "other": pd.to_timedelta(np.arange(60), unit="s")}),
    "period": pd.DataFrame({"word": ["a", "b"] * 30, "other": pd.period_range("2020-01", periods=60, freq="M")}),
    "lists": pd.DataFrame({"word": ["a", "b"] * 30, "other": [[1.0, 2.0]] * 60}),
    "objects": pd.DataFrame({"word": ["a", "b"] * 30, "other": [object()] * 60}),
    "complex objects": pd.DataFrame({"word": ["a", "b"] * 30, "other": np.array([1j] * 60, dtype=object)}),
    "polars datetime": pl.DataFrame({"word": ["a", "b"] * 30, "other": pd.date_range("2020", periods=60).tolist()}),
    "polars struct": pl.DataFrame({"word": ["a", "b"] * 30, "other": [{"x": 1.0}] * 60}),
    "polars list": pl.DataFrame({"word": ["a", "b"] * 30, "other": [[1.0]] * 60}),
    "Arrow date": pd.DataFrame({"word": ["a", "b"] * 30, "other": pd.array([1] * 60, "timestamp[s][pyarrow]")}),
    "Arrow list": pd.DataFrame({"word": ["a", "b"] * 30, "other": pd.array([[1.0]] * 60, LISTS)}),
    "polars object": pl.DataFrame({"word": ["a", "b"] * 30, "other": pl.Series([object()] * 60, dtype=pl.Object)}),
}


@pytest.mark.parametrize("name", UNFIT)
def test_columns_beside_words_that_are_neither_numbers_nor_words(name: str) -> None:
    frame = UNFIT[name]
    with pytest.raises(ValueError, match="X has values .* in column 'other', expected numbers, truth values or words"):
        small(udeed.UDEEDClassifier).fit(frame, Y)
    fitted = small(udeed.UDEEDClassifier).fit(type(frame)({"word": ["a", "b"] * 30, "other": list(range(60))}), Y)
    with pytest.raises(ValueError, match="in column 'other', expected numbers, truth values or words"):
        fitted.predict(frame)


@pytest.mark.parametrize("name", UNFIT)
def test_columns_alone_that_are_neither_numbers_nor_words(name: str) -> None:
    # Objects are left to scikit-learn.
    with pytest.raises((TypeError, ValueError), match="in column 'other', expected numbers|float|sequence"):
        small(udeed.UDEEDClassifier).fit(UNFIT[name][["other"]], Y)


@pytest.mark.parametrize("library", [pd, pl])
def test_frames_without_rows_or_columns_are_refused(library: Any) -> None:
    words = library.DataFrame({"size": [0.5] * 60, "colour": ["red", "blue"] * 30})
    for empty in (words[:0], library.DataFrame({"size": [], "colour": []}), library.DataFrame()):
        with pytest.raises(ValueError, match="Found array with 0 sample"):
            small(udeed.UDEEDClassifier).fit(empty, Y)
    if library is pd:
        with pytest.raises(ValueError, match=r"Found array with 0 feature\(s\) \(shape=\(60, 0\)\)"):
            small(udeed.UDEEDClassifier).fit(words[[]], Y)
    model = small(udeed.UDEEDClassifier).fit(words, Y)
    for empty in (words[:0], library.DataFrame()):
        with pytest.raises(ValueError, match="Found array with 0 sample"):
            model.predict(empty)
    with pytest.raises(ValueError, match="1 features?, but|feature names should match|column `colour` is missing"):
        model.predict(words[["size"]])
    with pytest.raises(ValueError, match="Input X contains infinity"):
        model.predict(library.DataFrame({"size": [np.inf], "colour": ["red"]}))


def test_words_that_no_file_can_hold_are_refused() -> None:
    frame = pd.DataFrame({"size": DENSE[:, 0], "colour": pd.Series(["red", "\ud800"] * 30, dtype=object)})
    with pytest.raises(ValueError, match="in column 'colour', which is no valid text"):
        small(udeed.UDEEDClassifier).fit(frame, Y)


def test_two_columns_of_one_name_are_refused() -> None:
    for frame in (pd.DataFrame(DENSE, columns=list("abcda")), pd.DataFrame([["x", "y"]] * 60, columns=["a", "a"])):
        with pytest.raises(ValueError, match="`a`|unique column names"):
            small(udeed.UDEEDClassifier).fit(frame, Y)


def test_names_are_compared() -> None:
    model = small(udeed.UDEEDClassifier).fit(pd.DataFrame(DENSE, columns=NAMES), Y)
    assert model.feature_names_in_.tolist() == NAMES
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(pd.DataFrame(DENSE, columns=NAMES[::-1]))
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        model.predict(DENSE)


MEMORY = """
import resource, numpy as np, udeed
model = udeed.BaggingClassifier(2, random_state=0).fit(np.arange(100.0).reshape(2, 50), [0, 1])
X = np.ones((400_000, 50))
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
model.{method}(X)
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / (X.nbytes / 1024))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="memory is counted in other units")
@pytest.mark.parametrize("method", ["decision_function", "predict_proba", "member_predictions"])
def test_predictions_copy_no_rows(method: str) -> None:
    taken = subprocess.check_output([sys.executable, "-c", MEMORY.format(method=method)], text=True)
    assert float(taken) < 0.5, "the rows take as much again"
