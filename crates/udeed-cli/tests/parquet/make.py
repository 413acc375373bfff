"""Writes the files of this folder: the same rows by pyarrow, polars, pandas, duckdb and Spark, and as CSV. Run by hand, where all
five are installed; the tests read what is committed.
"""

import datetime
import decimal
import pathlib
import tempfile

import duckdb
import pandas
import polars
import pyarrow as pa
from pyarrow import parquet
from pyspark.sql import SparkSession

HERE = pathlib.Path(__file__).parent
N = 40


def with_nulls(values, every):
    return [None if i % every == every - 1 else value for i, value in enumerate(values)]


COLUMNS = {
    "flag": (pa.bool_(), with_nulls([i % 3 == 0 for i in range(N)], 7)),
    "tiny": (pa.int8(), with_nulls([(i * 37) % 256 - 128 for i in range(N)], 5)),
    "short": (pa.int16(), [(i * 3701) % 65536 - 32768 for i in range(N)]),
    "whole": (pa.int32(), with_nulls([i * 100_000_007 % 2**32 - 2**31 for i in range(N)], 11)),
    "long": (pa.int64(), with_nulls([(i - 20) * 2**57 + i for i in range(N)], 13)),
    "byte": (pa.uint8(), [255 - i for i in range(N)]),
    "word": (pa.uint16(), with_nulls([65535 - i for i in range(N)], 9)),
    "count": (pa.uint32(), [2**32 - 1 - i for i in range(N)]),
    "huge": (pa.uint64(), with_nulls([2**64 - 1 - i * 2**40 for i in range(N)], 6)),
    "half": (pa.float32(), with_nulls([(i - 20) / 8 for i in range(N)], 8)),
    "single": (pa.float32(), with_nulls([(i - 3) * 1.5 for i in range(N)], 4)),
    "double": (pa.float64(), with_nulls([(i - 11) / 3 for i in range(N)], 10)),
    "price": (pa.decimal128(9, 3), with_nulls([decimal.Decimal(i * 7919 - 99999).scaleb(-3) for i in range(N)], 6)),
    "amount": (pa.decimal128(18, 5), [decimal.Decimal(i * 10**15 - 7).scaleb(-5) for i in range(N)]),
    "sum": (pa.decimal128(38, 10), with_nulls([decimal.Decimal(i * 10**33 + i).scaleb(-10) for i in range(N)], 12)),
    "colour": (pa.string(), with_nulls([["red", "blue", "green", "dark blue"][i * i % 4] for i in range(N)], 7)),
    "town": (pa.string(), [f"Städtchen {i % 17}" for i in range(N)]),
    "nothing": (pa.float64(), [None] * N),
    "kind": (pa.string(), with_nulls([["apple", "pear"][i % 2] for i in range(N)], 3)),
    "day": (pa.date32(), [datetime.date(2020, 1, 1 + i % 28) for i in range(N)]),
    "list": (pa.list_(pa.int64()), [[i, i + 1] for i in range(N)]),
    "struct": (pa.struct([("a", pa.int64())]), [{"a": i} for i in range(N)]),
}
table = pa.table({name: pa.array(values, kind) for name, (kind, values) in COLUMNS.items()})


def cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(int(value))
    return str(value)


flat = table.drop_columns(["day", "list", "struct"])
rows = [",".join(flat.column_names)]
rows += [",".join(cell(row[name]) for name in flat.column_names) for row in flat.to_pylist()]
(HERE / "rows.csv").write_text("\n".join(rows) + "\n")

half = table.set_column(table.column_names.index("half"), "half", table["half"].cast(pa.float16()))
colours = table["colour"].dictionary_encode()
half = half.set_column(table.column_names.index("colour"), "colour", colours)
parquet.write_table(half, HERE / "pyarrow-snappy.parquet", row_group_size=16)
plain = dict(use_dictionary=False, row_group_size=25)
parquet.write_table(half, HERE / "pyarrow-gzip.parquet", compression="gzip", data_page_version="2.0", **plain)
parquet.write_table(table, HERE / "pyarrow-lz4.parquet", compression="lz4", write_page_checksum=True, **plain)
flat_types = {"whole": "DELTA_BINARY_PACKED", "long": "DELTA_BINARY_PACKED", "double": "BYTE_STREAM_SPLIT"}
flat_types |= {"single": "BYTE_STREAM_SPLIT", "colour": "DELTA_LENGTH_BYTE_ARRAY", "town": "DELTA_BYTE_ARRAY"}
parquet.write_table(
    table, HERE / "pyarrow-zstd.parquet", compression="zstd", column_encoding=flat_types, store_decimal_as_integer=True, **plain
)
flat_too = table.drop_columns(["struct"])
polars.from_arrow(flat_too).write_parquet(HERE / "polars.parquet", row_group_size=30)
flat_too.to_pandas(types_mapper=pandas.ArrowDtype).to_parquet(HERE / "pandas.parquet")
duckdb.from_arrow(table).write_parquet(str(HERE / "duckdb.parquet"))

# Spark has no unsigned numbers, and writes folders of files.
SIGNED = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20, 0)}
signed = table.cast(pa.schema([(field.name, SIGNED.get(field.type, field.type)) for field in table.schema]))
session = SparkSession.builder.master("local[1]").getOrCreate()
with tempfile.TemporaryDirectory() as written:
    session.createDataFrame(signed).coalesce(1).write.mode("overwrite").parquet(written)
    (part,) = pathlib.Path(written).glob("part-*.parquet")
    (HERE / "spark.parquet").write_bytes(part.read_bytes())

# Files that are unpacked to much: texts that begin alike, texts of a page each, and the lengths of empty texts.
folder = HERE / "unpacked"
folder.mkdir(exist_ok=True)
small = dict(compression="zstd", use_dictionary=False, write_statistics=False)
alike = pa.table({"x": range(16000), "text": ["a" * 200_000] * 16000})
parquet.write_table(alike, folder / "alike.parquet", column_encoding={"text": "DELTA_BYTE_ARRAY"}, **small)
paged = pa.table({"x": range(300), "text": ["b" * 4_000_000] * 300})
parquet.write_table(paged, folder / "paged.parquet", data_page_size=1, write_batch_size=1, **small)
empty = pa.table({f"x{j}": [""] * 2**21 for j in range(60)})
lengths = dict.fromkeys(empty.column_names, "DELTA_LENGTH_BYTE_ARRAY")
whole = dict(data_page_size=2**30, max_rows_per_page=2**30, row_group_size=2**24, write_batch_size=2**24)
parquet.write_table(empty, folder / "lengths.parquet", column_encoding=lengths, **whole, **small)
