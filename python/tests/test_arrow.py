"""Rows by Arrow's stream: of any library, without pandas."""

from __future__ import annotations

import datetime
import decimal
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import udeed
from estimators import METHODS, small
from udeed._rows import read_rows

random = np.random.RandomState(0)
SIZE = random.rand(60)
COLOURS = ["red", "blue", None] * 10 + ["green", "blue", "red"] * 10
WEIGHT = [None if place % 7 == 0 else float(weight) for place, weight in enumerate(random.rand(60))]
PLAIN = {"size": SIZE.tolist(), "colour": COLOURS, "weight": WEIGHT}
Y = np.where(np.arange(60) % 4 == 0, (SIZE > 0.5).astype(int), -1)


def reader(table: pa.Table, rows: int) -> pa.RecordBatchReader:
    """A stream that can be read once, in batches of some rows."""
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=rows))


class Stream:
    """No more than the protocol."""

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self.table.__arrow_c_stream__(requested_schema)


def duckdb_relation(table: pa.Table) -> Any:
    return pytest.importorskip("duckdb").from_arrow(table)


def duckdb_enum(table: pa.Table) -> Any:
    duckdb = pytest.importorskip("duckdb")
    columns = [f'"{name}"' for name in table.column_names]
    if "colour" in table.column_names:
        columns[table.column_names.index("colour")] += "::ENUM('yellow', 'red', 'green', 'blue') AS colour"
    return duckdb.from_arrow(table).project(", ".join(columns))


def ibis_table(table: pa.Table) -> Any:
    return pytest.importorskip("ibis").memtable(table)


def arro3(name: str) -> Callable[[pa.Table], Any]:
    def make(table: pa.Table) -> Any:
        core = pytest.importorskip("arro3.core")
        return getattr(core, name).from_arrow(table.combine_chunks().to_batches()[0] if name == "RecordBatch" else table)

    return make


def polars(table: pa.Table) -> Any:
    return pytest.importorskip("polars").from_arrow(table)


SOURCES: dict[str, Callable[[pa.Table], Any]] = {
    "pyarrow Table": lambda table: table,
    "pyarrow RecordBatch": lambda table: table.combine_chunks().to_batches()[0],
    "pyarrow RecordBatchReader": lambda table: reader(table, 7),
    "any stream": Stream,
    "polars DataFrame": polars,
    "polars LazyFrame": lambda table: polars(table).lazy(),
    "duckdb relation": duckdb_relation,
    "duckdb enum": duckdb_enum,
    "ibis table": ibis_table,
    "arro3 Table": arro3("Table"),
    "arro3 RecordBatch": arro3("RecordBatch"),
    "arro3 RecordBatchReader": arro3("RecordBatchReader"),
}


@pytest.fixture(scope="module")
def expected() -> tuple[np.ndarray, np.ndarray]:
    """Decisions after a fit to a data frame of pandas, and those of words alone that were never seen."""
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(PLAIN)
    model = small(udeed.UDEEDClassifier).fit(frame, Y)
    later = pandas.DataFrame({"size": [0.5, 0.5], "colour": ["yellow", None], "weight": [None, 1.0]})
    return model.decision_function(frame), model.decision_function(later)


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize("source", SOURCES)
def test_every_stream_has_the_same_rows(source: str, expected: tuple[np.ndarray, np.ndarray]) -> None:
    make, table = SOURCES[source], pa.table(PLAIN)
    model = small(udeed.UDEEDClassifier).fit(make(table), Y)
    assert model.feature_names_in_.tolist() == ["size", "colour", "weight"]
    assert model._model.columns == [("size", None), ("colour", ["blue", "green", "red"]), ("weight", None)]
    np.testing.assert_array_equal(model.decision_function(make(table)), expected[0])
    later = pa.table(
        {"size": [0.5, 0.5], "colour": pa.array(["yellow", None], pa.string()), "weight": pa.array([None, 1.0])}
    )
    np.testing.assert_array_equal(model.decision_function(make(later)), expected[1])
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(make(pa.table({"size": SIZE, "hue": COLOURS, "weight": WEIGHT})))
    with pytest.raises(ValueError, match="2 features, but|feature names should match"):
        model.predict(make(table.drop_columns(["size"])))


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize("kind", METHODS)
def test_every_estimator_takes_them(kind: type) -> None:
    pandas = pytest.importorskip("pandas")
    table, frame = pa.table(PLAIN), pandas.DataFrame(PLAIN)
    model, other = small(kind).fit(reader(table, 11), Y), small(kind).fit(frame, Y)
    assert model._model.columns == other._model.columns
    for what in ("predict", "predict_proba", "decision_function", "member_predictions"):
        np.testing.assert_array_equal(getattr(model, what)(reader(table, 9)), getattr(other, what)(frame))
    labels = (SIZE > 0.5).astype(int)
    assert model.score(reader(table, 60), labels) == other.score(frame, labels)


def test_many_batches_make_one_array_in_c_order() -> None:
    X = random.rand(30_001, 5)
    words = np.array(["w%d" % n for n in range(2500)])[random.randint(2500, size=len(X))]
    table = pa.table({**{f"c{place}": column for place, column in enumerate(X.T)}, "word": words})
    for rows in (977, 4096, 9000, 30_001):
        for source in (reader(table, rows), Stream(pa.Table.from_batches(reader(table, rows)))):
            found = read_rows(udeed.BaggingClassifier(), source, reset=True)
            assert found.values.flags.c_contiguous and found.values.flags.owndata
            np.testing.assert_array_equal(found.values[:, :5], X)
            levels = dict(found.columns)["word"]
            assert levels == sorted(set(words))
            np.testing.assert_array_equal(np.array(levels)[found.values[:, 5].astype(int)], words)


def test_columns_that_are_numbers() -> None:
    large = 2**60 + 1
    table = pa.table(
        {
            "large": pa.array([large, None], pa.int64()),
            "unsigned": pa.array([2**64 - 1, 0], pa.uint64()),
            "truth": [True, None],
            "half": pa.array([0.5, None], pa.float16()),
            "price": pa.array([decimal.Decimal("1.25"), None], pa.decimal128(5, 2)),
            "nothing": pa.nulls(2),
        }
    )
    found = read_rows(udeed.BaggingClassifier(), table, reset=True)
    nan = np.nan
    expected = [[float(large), float(2**64 - 1), 1.0, 0.5, 1.25, nan], [nan, 0.0, nan, nan, nan, nan]]
    np.testing.assert_array_equal(found.values, expected)
    assert found.columns == [(name, None) for name in table.column_names]


def test_levels_are_the_words_that_occur() -> None:
    # Each batch has a dictionary of its own, with nothing as a word and words that do not occur.
    batches = [
        pa.record_batch({"word": pa.DictionaryArray.from_arrays(pa.array(codes), pa.array(words))})
        for codes, words in (([1, None, 2], ["z", "b", None]), ([0, 1, 0], ["a", "b", "y"][:2] + ["y"]))
    ]
    found = read_rows(udeed.BaggingClassifier(), pa.Table.from_batches(batches), reset=True)
    assert found.columns == [("word", ["a", "b"])]
    np.testing.assert_array_equal(found.values[:, 0], [1, np.nan, np.nan, 0, 1, 0])
    # A dictionary for many more rows.
    many = pa.array([f"w{n}" for n in range(1000)])
    for codes in ([5, 900, None, 5], [5, 900, 5]):
        table = pa.table({"word": pa.DictionaryArray.from_arrays(pa.array(codes), many)})
        found = read_rows(udeed.BaggingClassifier(), table, reset=True)
        assert found.columns == [("word", ["w5", "w900"])]
        np.testing.assert_array_equal(found.values[:, 0], [{5: 0, 900: 1, None: np.nan}[code] for code in codes])
    numbers = pa.table({"code": pa.array([30, 4, None, 30]).dictionary_encode()})
    assert read_rows(udeed.BaggingClassifier(), numbers, reset=True).columns == [("code", ["30", "4"])]


UNFIT = {
    "date32[day]": pa.array([datetime.date(2020, 1, 1)] * 60),
    "timestamp[us, tz=UTC]": pa.array([datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)] * 60),
    "time64[us]": pa.array([datetime.time(1)] * 60),
    "duration[us]": pa.array([datetime.timedelta(1)] * 60),
    "list<item: double>": pa.array([[1.0]] * 60, pa.list_(pa.field("item", pa.float64()))),
    "struct<x: int64>": pa.array([{"x": 1}] * 60),
    "binary": pa.array([b"x"] * 60),
    "dictionary<values=binary": pa.array([b"x"] * 60).dictionary_encode(),
}


@pytest.mark.parametrize("kind", UNFIT)
def test_other_columns_are_refused_by_name(kind: str) -> None:
    table = pa.table({"size": SIZE, "other": UNFIT[kind]})
    with pytest.raises(ValueError) as raised:
        small(udeed.UDEEDClassifier).fit(Stream(table), Y)
    found = f"X has values of type {kind}"
    assert found in str(raised.value) and "in column 'other', expected numbers, truth values or words" in str(raised.value)


def test_what_is_no_table_is_refused() -> None:
    for X in (pa.chunked_array([SIZE]), pa.array(SIZE)):
        with pytest.raises(ValueError, match="expected columns of numbers, truth values or words|Expected 2D"):
            small(udeed.UDEEDClassifier).fit(X, Y)
    for empty in (pa.table({"size": pa.array([], pa.float64())}), reader(pa.table({"size": SIZE[:0]}), 5)):
        with pytest.raises(ValueError, match=r"Found array with 0 sample\(s\)"):
            small(udeed.UDEEDClassifier).fit(empty, Y)
    with pytest.raises(ValueError, match="Input X contains infinity"):
        small(udeed.UDEEDClassifier).fit(pa.table({"size": [np.inf] * 60, "colour": COLOURS}), Y)
    once = reader(pa.table(PLAIN), 10)
    model = small(udeed.UDEEDClassifier).fit(once, Y)
    with pytest.raises(ValueError, match="sample|closed|released|consumed"):
        model.predict(once)


WITHOUT = """
import sys

class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "{missing}":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Blocked())
import numpy as np, udeed, {library}
rows = {{"size": [0.1, 0.9, 0.2, 0.8], "colour": ["red", "blue", "red", None]}}
X = {library}.{kind}(rows)
try:
    model = udeed.UDEEDClassifier(random_state=0).fit(X, [0, 1, 0, 1])
    print(model.feature_names_in_.tolist(), model.predict(X).tolist()[:3])
except ImportError as error:
    print(error)
"""


@pytest.mark.parametrize(
    ("missing", "table", "said"),
    [
        ("pandas", "pyarrow.table", "['size', 'colour'] [0, 1, 0]"),
        ("pandas", "polars.DataFrame", "['size', 'colour'] [0, 1, 0]"),
        ("pyarrow", "polars.DataFrame", "a polars DataFrame is read by pyarrow, which is not installed: "),
        ("pyarrow", "pandas.DataFrame", "['size', 'colour'] [0, 1, 0]"),
    ],
)
def test_what_is_not_installed(missing: str, table: str, said: str) -> None:
    library, kind = table.split(".")
    for name in (missing, library):
        pytest.importorskip(name)
    program = WITHOUT.format(missing=missing, library=library, kind=kind)
    assert subprocess.check_output([sys.executable, "-c", program], text=True).startswith(said)
