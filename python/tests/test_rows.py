"""Rows of any kind."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
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
    # The core holds the array itself while it works, and lets it go.
    assert min(during) > before and sys.getrefcount(X) == before


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
    assert model.coef_.shape == (4, 3)
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
