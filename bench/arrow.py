"""How long a table of Arrow takes to become rows in C order, beside other ways of doing so.

    pip install ./python pyarrow pandas
    python bench/arrow.py

The ways run in turn, on one thread; the figures are the best of each, as what disturbs only adds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import numpy as np
import pyarrow as pa
import udeed
from udeed._rows import read_rows


def column_by_column(table: pa.Table) -> np.ndarray:
    """Every column as a whole into its place."""
    rows = np.empty((table.num_rows, table.num_columns))
    for place, column in enumerate(table.columns):
        rows[:, place] = column.to_numpy()
    return rows


def by_pandas(table: pa.Table) -> np.ndarray:
    """What `to_pandas` and `to_numpy` make of it."""
    return np.ascontiguousarray(table.to_pandas().to_numpy())


def ours(table: pa.Table) -> np.ndarray:
    """What estimators do with it: batch by batch, in blocks of rows."""
    return read_rows(udeed.BaggingClassifier(), table, reset=True).values


WAYS: dict[str, Callable[[pa.Table], np.ndarray]] = {
    "udeed": ours,
    "column by column": column_by_column,
    "pandas": by_pandas,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=125_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--batch", type=int, default=0, help="rows of a batch (all)")
    parser.add_argument("--repeats", type=int, default=9)
    options = parser.parse_args()

    X = np.random.RandomState(0).rand(options.rows, options.columns)
    table = pa.table({f"c{place}": np.ascontiguousarray(column) for place, column in enumerate(X.T)})
    if options.batch:
        table = pa.Table.from_batches(table.to_batches(max_chunksize=options.batch))
    seconds: dict[str, list[float]] = {name: [] for name in WAYS}
    for _ in range(options.repeats):
        for name, way in WAYS.items():
            begin = time.perf_counter()
            rows = way(table)
            seconds[name].append(time.perf_counter() - begin)
            assert rows.flags.c_contiguous and np.array_equal(rows, X), f"{name} made other rows"
    print(f"{options.rows} x {options.columns} doubles, best of {options.repeats}")
    for name, taken in seconds.items():
        print(f"{name:<18}{1000 * min(taken):7.1f} ms")


if __name__ == "__main__":
    main()
