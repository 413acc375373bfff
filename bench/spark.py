"""udeed.spark on a Spark of two executors: whether its models are those of local fits, and what a step takes beside the local fit,
Spark's own logistic regression and a job that does nothing.

    make spark-times                       # all parts, some twenty minutes
    make spark-times SPARK_TIMES="equal"   # some: equal, overhead, steps, large

What was measured is kept in target/bench/spark.json, from which `--docs` makes the tables and the picture of docs/scale.md.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import udeed
from pyspark.ml.classification import LogisticRegression
from pyspark.ml.functions import array_to_vector
from pyspark.ml.linalg import Vectors, VectorUDT
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from udeed.spark import UDEEDClassifier, _fit

ROOT = Path(__file__).resolve().parents[1]
MASTER = "local-cluster[2,1,1024]"
# Number of columns, and of rows for each labeled one.
WIDTH, OF_LABELED = 50, 1000
PARTITIONS = (2, 8, 40)
FITTED = {"members": 20, "seed": 0, "gamma": 1.0}
TOLERANCE = 1e-9


def numbers(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """A row of numbers between 0 and 1 for each id, the same whoever makes them; and which of them sparse rows store, a tenth."""
    z = ids.astype(np.uint64)[:, np.newaxis] * np.uint64(WIDTH) + np.arange(WIDTH, dtype=np.uint64)
    z *= np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return (z >> np.uint64(11)) * 2.0**-53, (z & np.uint64(255)) < 26


def labels(ids: np.ndarray, values: np.ndarray, every: int = OF_LABELED) -> np.ndarray:
    """The side of a plane that a row is on, for labeled rows; NaN for the others."""
    plane = np.where(np.arange(WIDTH) % 2 == 0, 1.0, -1.0)
    return np.where(ids % every == 0, (values @ plane > 0.0).astype(float), np.nan)


def generated(spark: SparkSession, n_rows: int, partitions: int, is_sparse: bool = False, every: int = OF_LABELED) -> Any:
    """A frame of random rows, which executors make."""

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ids = batch.column(0).to_numpy()
            values, stored = numbers(ids)
            label = pa.array(labels(ids, np.where(stored, values, 0.0) if is_sparse else values, every))
            if is_sparse:
                offsets = pa.array(np.concatenate([[0], np.cumsum(stored.sum(axis=1))]).astype(np.int32))
                places = pa.array(np.nonzero(stored)[1].astype(np.int32))
                lists = [pa.ListArray.from_arrays(offsets, places), pa.ListArray.from_arrays(offsets, pa.array(values[stored]))]
                n = len(ids)
                parts = [pa.array(np.zeros(n, dtype=np.int8)), pa.array(np.full(n, WIDTH, dtype=np.int32)), *lists]
                features: Any = pa.StructArray.from_arrays(parts, names=["type", "size", "indices", "values"])
            else:
                offsets = pa.array(np.arange(len(ids) + 1, dtype=np.int32) * WIDTH)
                features = pa.ListArray.from_arrays(offsets, pa.array(values.ravel()))
            yield pa.RecordBatch.from_arrays([features, label], ["features", "label"])

    kind = VectorUDT() if is_sparse else T.ArrayType(T.DoubleType())
    schema = T.StructType([T.StructField("features", kind), T.StructField("label", T.DoubleType())])
    return spark.range(0, n_rows, 1, partitions).mapInArrow(rows, schema)


def here(n_rows: int, is_sparse: bool = False) -> tuple[Any, np.ndarray]:
    """The same rows in memory."""
    parts, found = [], []
    for start in range(0, n_rows, 100_000):
        ids = np.arange(start, min(start + 100_000, n_rows))
        values, stored = numbers(ids)
        own = np.where(stored, values, 0.0) if is_sparse else values
        found.append(labels(ids, own))
        parts.append(sparse.csr_array(own) if is_sparse else own)
    return sparse.vstack(parts, format="csr") if is_sparse else np.concatenate(parts), np.concatenate(found)


def local_fit(X: Any, y: np.ndarray, **others: Any) -> udeed.UDEEDClassifier:
    """The fit of this machine: labeled rows, and the others beside them."""
    parameters = {"random_state" if name == "seed" else name: value for name, value in FITTED.items()}
    there = ~np.isnan(y)
    return udeed.UDEEDClassifier(**parameters, n_jobs=-1, **others).fit(X[there], y[there], unlabeled_X=X[~there])


def difference(model: Any, expected: udeed.UDEEDClassifier, X: Any) -> float:
    """How far weights, relative to the largest, and probabilities are apart at most."""
    found, weights = model.toLocal(), expected.member_coef_
    apart = np.abs(found.member_coef_ - weights).max() / np.abs(weights).max()
    return float(max(apart, np.abs(found.predict_proba(X) - expected.predict_proba(X)).max()))


def equal(spark: SparkSession, data: Path) -> dict[str, Any]:
    """Whether the model is that of the local fit."""
    found = {}
    path = data / "adult.libsvm.gz"
    if path.exists():
        X, y = load_svmlight_file(str(path))
        X = sparse.csr_array(X)
        label = np.where(np.random.default_rng(0).permutation(len(y)) < 1000, (y > 0).astype(float), np.nan)
        for name, rows in {"adult, sparse": X, "adult, dense": X.toarray()}.items():
            if sparse.issparse(rows):
                vectors = [Vectors.sparse(X.shape[1], X[[i]].indices.tolist(), X[[i]].data.tolist()) for i in range(X.shape[0])]
            else:
                vectors = [Vectors.dense(row) for row in rows]
            table = [(i, vector, float(own)) for i, (vector, own) in enumerate(zip(vectors, label, strict=True))]
            frame = spark.createDataFrame(table, ["id", "features", "label"])
            frame = frame.repartitionByRange(8, "id").sortWithinPartitions("id").drop("id").cache()
            model = UDEEDClassifier(**FITTED).fit(frame)
            found[f"{name}, {X.shape[0]} x {X.shape[1]}"] = difference(model, local_fit(rows, label), rows[:1000])
            frame.unpersist()
            print(found, flush=True)
    else:
        print(f"skipped adult: {path} is not there")
    for is_sparse in (False, True):
        frame = generated(spark, 1_000_000, 8, is_sparse)
        X, y = here(1_000_000, is_sparse)
        name = f"generated, {'sparse' if is_sparse else 'dense'}, 1000000 x {WIDTH}"
        found[name] = difference(UDEEDClassifier(**FITTED).fit(frame), local_fit(X, y), X[:1000])
        print(found, flush=True)
        del X
    if apart := {name: value for name, value in found.items() if not value <= TOLERANCE}:
        raise SystemExit(f"models differ by more than {TOLERANCE}: {apart}")
    return found


def median_of(work: Callable[[], Any], repeats: int) -> float:
    """The median time of some work, after one run that is not counted."""
    taken = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        work()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken[1:])


def seconds_of_steps(frame: Any, **others: Any) -> list[float]:
    """How long each question to the executors takes. The first, which writes the files, is left out."""
    taken: list[float] = []
    ask = _fit.Spilled.__call__

    def timed(self: Any, question: Any) -> Any:
        began = time.perf_counter()
        try:
            return ask(self, question)
        finally:
            taken.append(time.perf_counter() - began)

    _fit.Spilled.__call__ = timed
    try:
        UDEEDClassifier(**FITTED, **others).fit(frame)
    finally:
        _fit.Spilled.__call__ = ask
    return taken[1:]


def empty_job(spark: SparkSession, partitions: int) -> Callable[[], Any]:
    """A job of as many tasks that hands rows to Python and gets none back."""

    def nothing(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        yield from ()

    # Planned anew each time, as a step is.
    return lambda: spark.range(0, partitions, 1, partitions).mapInArrow(nothing, "id long").collect()


def overhead(spark: SparkSession) -> list[dict[str, float]]:
    """What a step takes where there are next to no rows, beside an empty job."""
    found = []
    for partitions in PARTITIONS:
        ours = statistics.median(seconds_of_steps(generated(spark, 20 * partitions, partitions, every=5)))
        found.append({"partitions": partitions, "ours": ours, "empty": median_of(empty_job(spark, partitions), 15)})
        print(found[-1], flush=True)
    return found


def spark_step(frame: Any) -> float:
    """Seconds of an iteration of Spark's logistic regression."""
    taken = {}
    for most in (5, 25):
        began = time.perf_counter()
        model = LogisticRegression(maxIter=most, tol=0.0, regParam=0.01).fit(frame)
        taken[model.summary.totalIterations] = time.perf_counter() - began
    (few, short), (many, long) = taken.items()
    return (long - short) / (many - few)


def local_step(n_rows: int) -> float:
    """Seconds of a step of the local fit."""
    times: list[float] = []

    def callback(event: Any) -> None:
        if event.step is not None and event.step["stage"].endswith("unlabeled"):
            times.append(time.perf_counter())

    local_fit(*here(n_rows), callback=callback)
    return statistics.median(np.diff(times))


def steps(spark: SparkSession) -> list[dict[str, Any]]:
    """Seconds of a step by rows and partitions."""
    found: list[dict[str, Any]] = []
    for n_rows in (10_000, 100_000, 1_000_000):
        own: dict[str, Any] = {"rows": n_rows, "local": local_step(n_rows)}
        for partitions in PARTITIONS:
            own[str(partitions)] = statistics.median(seconds_of_steps(generated(spark, n_rows, partitions)))
        # Spark's needs labels, of all rows, in vectors.
        labeled = generated(spark, n_rows, 8, every=1).select(array_to_vector("features").alias("features"), "label").cache()
        labeled.count()
        own["spark.ml"] = spark_step(labeled)
        labeled.unpersist()
        print(own, flush=True)
        found.append(own)
    return found


def processes_below(parent: int) -> dict[int, tuple[str, int]]:
    """Of each process that some process has started: whose it is, and its greatest memory so far in bytes."""
    found: dict[int, tuple[int, str, int]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            stat, command = (path / "stat").read_text(), (path / "cmdline").read_text()
            most = [line for line in (path / "status").read_text().splitlines() if line.startswith("VmHWM")]
        except OSError:
            continue
        found[int(path.name)] = int(stat.rpartition(")")[2].split()[1]), command, 1024 * int(most[0].split()[1]) if most else 0

    def owner(number: int) -> str | None:
        if number == parent:
            return "driver"
        if number not in found:
            return None
        above = owner(found[number][0])
        is_executor = above is not None and "CoarseGrainedExecutorBackend" in found[number][1]
        return f"executor {number}" if is_executor else above

    return {number: (whose, most) for number, (_, _, most) in found.items() if (whose := owner(number)) is not None}


class Memory:
    """Looks at the memory of the driver and its executors, Java and Python together, as long as it is entered."""

    def __init__(self) -> None:
        self._most: dict[int, tuple[str, int]] = {}
        self._is_over = threading.Event()

    def __enter__(self) -> Memory:
        self._thread = threading.Thread(target=self._look)
        self._thread.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._is_over.set()
        self._thread.join()

    def _look(self) -> None:
        while not self._is_over.wait(0.5):
            self._most |= processes_below(os.getpid())

    def most(self) -> dict[str, int]:
        """The sum of the greatest memory of each process: no less than what was taken at a time."""
        total: dict[str, int] = {}
        for whose, most in self._most.values():
            total[whose] = total.get(whose, 0) + most
        return total


def large(spark: SparkSession) -> dict[str, Any]:
    """Ten million rows, once."""
    n_rows, partitions, taken = 10_000_000, 40, {}
    began = time.perf_counter()
    with Memory() as memory:
        taken["steps"] = statistics.median(seconds_of_steps(generated(spark, n_rows, partitions)))
    taken["fit"] = time.perf_counter() - began
    most = memory.most()
    executors = [value for whose, value in most.items() if whose != "driver"]
    found = {"rows": n_rows, "partitions": partitions, **taken, "driver": most["driver"], "executor": max(executors)}
    print(found, flush=True)
    return found


def table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def tables(found: dict[str, Any]) -> str:
    """What was measured, as the page has it."""
    parts = []
    if "equal" in found:
        parts.append(table(["rows", "difference"], [[name, f"{value:.0e}"] for name, value in found["equal"].items()]))
    if "overhead" in found:
        rows = [
            [str(own["partitions"]), f"{own['ours']:.3f} s", f"{own['empty']:.3f} s", f"{own['ours'] / own['empty']:.2f}"]
            for own in found["overhead"]
        ]
        parts.append(table(["partitions", "a step without rows", "an empty job", "ratio"], rows))
    if "steps" in found:
        head = ["rows", *(f"{partitions} partitions" for partitions in PARTITIONS), "the local fit", "spark.ml"]
        names = [*map(str, PARTITIONS), "local", "spark.ml"]
        rows = [[f"{own['rows']:,}".replace(",", " "), *(f"{own[name]:.3f} s" for name in names)] for own in found["steps"]]
        parts.append(table(head, rows))
    if "large" in found:
        own = found["large"]
        gigabytes = {name: f"{own[name] / 2**30:.1f} GiB" for name in ("driver", "executor")}
        parts.append(
            f"10 000 000 x {WIDTH}: {own['fit']:.0f} s, {own['steps']:.2f} s a step; driver {gigabytes['driver']}, executors "
            f"{gigabytes['executor']} each"
        )
    return "\n\n".join(parts)


COLOURS = {"local": "#1f5fa8", "8": "#b5651d", "40": "#8a4b9c", "spark.ml": "#4a8a3c"}
NAMES = {"local": "one machine", "8": "udeed.spark, 8 partitions", "40": "40 partitions", "spark.ml": "spark.ml, 8 partitions"}
STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#333}.small{font-size:11px;fill:#555}.grid{stroke:#ddd}"
    "polyline{fill:none;stroke-width:2}@media(prefers-color-scheme:dark){text{fill:#ddd}.small{fill:#aaa}.grid{stroke:#444}}"
)


def picture(found: dict[str, Any]) -> str:
    """Time of a step against rows, both logarithmic."""
    points = {name: [(own["rows"], own[name]) for own in found["steps"]] for name in COLOURS}
    if "large" in found:
        points[str(found["large"]["partitions"])].append((found["large"]["rows"], found["large"]["steps"]))
    values = [value for own in points.values() for _, value in own]
    low, high = np.floor(np.log10(min(values))), np.ceil(np.log10(max(values)))
    left, top, wide, tall = 70.0, 24.0, 420.0, 220.0
    first, last = 4.0, max(np.log10(n_rows) for own in points.values() for n_rows, _ in own)

    def x(n_rows: float) -> float:
        return left + wide * (np.log10(n_rows) - first) / (last - first)

    def y(seconds: float) -> float:
        return top + tall * (high - np.log10(seconds)) / (high - low)

    parts = []
    for decade in np.arange(low, high + 1):
        at = y(10.0**decade)
        parts.append(f'<line class="grid" x1="{left}" x2="{left + wide}" y1="{at:.1f}" y2="{at:.1f}"/>')
        parts.append(f'<text class="small" x="{left - 8}" y="{at + 4:.1f}" text-anchor="end">{10.0**decade:g} s</text>')
    for decade in np.arange(first, last + 0.01):
        at, name = x(10.0**decade), f"{10 ** int(decade):,}".replace(",", " ")
        parts.append(f'<text class="small" x="{at:.1f}" y="{top + tall + 18}" text-anchor="middle">{name}</text>')
    parts.append(f'<text x="{left + wide / 2}" y="{top + tall + 38}" text-anchor="middle">rows</text>')
    for place, (name, own) in enumerate(points.items()):
        colour, at = COLOURS[name], top + 20 + 22 * place
        path = " ".join(f"{x(n_rows):.1f},{y(seconds):.1f}" for n_rows, seconds in own)
        parts.append(f'<polyline points="{path}" stroke="{colour}"/>')
        parts += [f'<circle cx="{x(n_rows):.1f}" cy="{y(seconds):.1f}" r="3" fill="{colour}"/>' for n_rows, seconds in own]
        parts.append(f'<circle cx="{left + wide + 24}" cy="{at - 4}" r="4" fill="{colour}"/>')
        parts.append(f'<text x="{left + wide + 36}" y="{at}">{NAMES[name]}</text>')
    title = "Time of a step by rows"
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 700 {top + tall + 50:.0f}" role="img" aria-label="{title}">\n'
        f"<title>{title}</title>\n<style>{STYLE}</style>\n{body}\n</svg>\n"
    )


PARTS = ("equal", "overhead", "steps", "large")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"some of {', '.join(PARTS)} (all)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="folder with adult.libsvm.gz")
    parser.add_argument("--out", type=Path, default=ROOT / "target" / "bench" / "spark.json", help="where figures are kept")
    parser.add_argument("--docs", action="store_true", help="measure nothing: print the tables, and draw docs/scale.svg")
    options = parser.parse_args()
    if others := set(options.parts) - set(PARTS):
        parser.error(f"found {', '.join(sorted(others))}, expected some of {', '.join(PARTS)}")
    found = json.loads(options.out.read_text()) if options.out.exists() else {}
    if not options.docs:
        warnings.simplefilter("ignore")
        session = SparkSession.builder.master(MASTER).config("spark.ui.enabled", "false").config("spark.log.level", "ERROR")
        spark = session.config("spark.ui.showConsoleProgress", "false").getOrCreate()
        work = {"equal": lambda: equal(spark, options.data), "overhead": lambda: overhead(spark)}
        work |= {"steps": lambda: steps(spark), "large": lambda: large(spark)}
        for part in options.parts or PARTS:
            found[part] = work[part]()
            options.out.parent.mkdir(parents=True, exist_ok=True)
            options.out.write_text(json.dumps(found, indent=1))
        spark.stop()
    print(tables(found))
    if options.docs:
        (ROOT / "docs" / "scale.svg").write_text(picture(found), encoding="utf-8")


if __name__ == "__main__":
    main()
