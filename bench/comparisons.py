"""Ours against theirs, one function a comparison. Each checks that the results agree before it believes a time."""

import functools
import gzip
import itertools
import statistics
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet
from sklearn.datasets import load_svmlight_file
from threadpoolctl import threadpool_limits

import peers
import sets
from memory import peak_of
from results import Results
from worker import Worker

MEGABYTE = 1e6
# How far a gradient may be from the peer's, as a share of its largest number.
GRADIENT = {"double": 1e-9, "single": 1e-4}
WEIGHTS = 1e-5
ACCURACY = 0.005
# The threads of OpenBLAS wait busily for more work before they sleep: ours must not run beside them.
PAUSE = 0.5
REGULAR_SETS = (
    "diabetes heart wdbc austra house vote vehicle hepatitis labor ionosphere kr_vs_kp isolet sonar colic credit_g BCI "
    "Digit1 COIL2 g241n"
).split()
LARGE_SETS = "adult web ijcnn1 cod-rna forest".split()


@dataclass
class Bench:
    """What every comparison is given."""

    worker: Worker
    results: Results
    data: Path
    command: Path
    quick: bool
    repeats: int
    threads: int
    reproduce: list[str]

    def __post_init__(self):
        # scikit-learn's ensembles by the name of their set, and how long their fits took.
        self.ensembles = {}
        self.bagging_seconds = {}

    def size(self, full, quick):
        return quick if self.quick else full

    def alternate(self, ours, theirs, slow=False):
        """Runs both in turn and returns the seconds of each. Slow work is repeated less often."""
        repeats = min(self.repeats, 3) if slow else self.repeats
        seconds = ([], [])
        for _ in range(repeats):
            time.sleep(PAUSE)
            seconds[0].append(ours())
            seconds[1].append(seconds_of(theirs))
        return seconds

    def split(self, name):
        return sets.load(self.data, name, 8000 if self.quick else None)


def seconds_of(work) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


class Step:
    """One step on given rows by both sides. Two rows are labeled, so that nearly all of the work is the tile's."""

    def __init__(self, bench: Bench, X, m: int, precision="double"):
        self.bench, self.m, self.precision = bench, m, precision
        self.W = sets.random_members(X.shape[1], m)
        self.X = X
        self.labeled, self.y = X[:2], np.array([-1.0, 1.0])
        self.give(bench.worker)

    @functools.cached_property
    def theirs_on(self) -> list[np.ndarray]:
        kind = np.float32 if self.precision == "single" else np.float64
        parts = (peers.with_constant(self.labeled), self.y, peers.with_constant(self.X), self.W)
        return [part.astype(kind) for part in parts]

    def give(self, worker: Worker):
        """Hands a worker what it needs for the step."""
        self.worker = worker
        worker.put("rows", self.X)
        worker.put("labeled", self.labeled)
        self.targets = worker.write("targets", self.y)
        self.weights = worker.write("weights", self.W)

    def ask(self, threads=None) -> dict:
        return self.worker.ask(
            "step", threads, rows="rows", labeled="labeled", targets=self.targets, members=self.m, gamma=1.0,
            precision=self.precision, weights=self.weights, to=self.worker.folder / "gradient",
        )  # fmt: skip

    def ours(self, threads=None) -> float:
        return self.ask(threads)["seconds"]

    def theirs(self):
        return peers.plain_step(*self.theirs_on)

    def theirs_in_place(self):
        return peers.step(*self.theirs_on)

    def check(self, name: str):
        """Whether our gradient and losses are theirs."""
        answer = self.ask()
        losses, gradient = self.theirs()
        tolerance = GRADIENT[self.precision]
        self.bench.results.check(f"{name}: gradient", self.worker.read("gradient", self.W.shape), gradient, tolerance)
        for loss, value in losses.items():
            self.bench.results.check(f"{name}: {loss} loss", answer["losses"][loss], value, tolerance)

    def compare_memory(self, at_most=None):
        """By how much either process grows in a step: ours in a process of its own."""
        with self.bench.worker.fresh() as worker:
            self.give(worker)
            ours = self.ask()["peak"]
        self.give(self.bench.worker)
        theirs = peak_of(self.theirs)
        add_memory(self.bench, "  extra memory", ours, at_most)
        add_memory(self.bench, "  extra memory of the peer", theirs)


def bounds(bench: Bench) -> dict:
    """What the machine can do at best: the best seen in this run."""
    seen = bench.worker.ask("bounds", seconds=bench.size(1.0, 0.2))
    for name, value in seen.items():
        bench.results.machine[name] = max(value, bench.results.machine.get(name, 0))
    return bench.results.machine


def compare_steps(bench: Bench, precision: str, at_least: float | None, share_at_least: float):
    n, d, m = bench.size(200_000, 20_000), 54, 100
    step = Step(bench, sets.random_rows(n, d), m, precision)
    name = f"step, {n} x {d}, m {m}, {'f64' if precision == 'double' else 'f32'}"
    bounds(bench)
    step.check(name)
    ours, theirs = bench.alternate(step.ours, step.theirs)
    bench.results.add(name, ours=ours, theirs=theirs, at_least=at_least)
    again, in_place = bench.alternate(step.ours, step.theirs_in_place)
    bench.results.add("  numpy in place", ours=again, theirs=in_place)
    ours += again
    best = bounds(bench)
    bound = 4.0 * n * d * m / best[f"fma_{precision}"] + n * m / best[f"tanh_{precision}"]
    share = 100 * bound / statistics.median(ours)
    bench.results.add("  of the bound: FMA, then tanh", value=share, unit="%", theirs=[bound], at_least=share_at_least)
    step.compare_memory(at_most=16)


def add_memory(bench: Bench, name: str, peak: int | None, at_most=None):
    if peak is None:
        bench.results.skipped.append(f"{name.strip()}: the system does not tell")
    else:
        bench.results.add(name, value=peak / MEGABYTE, unit="MB", at_most=at_most)


def step(bench: Bench):
    """One step of the descent, in double precision."""
    compare_steps(bench, "double", at_least=4, share_at_least=80)


def single(bench: Bench):
    """The same in single precision."""
    compare_steps(bench, "single", at_least=None, share_at_least=70)


def compare_bagging(bench: Bench, name: str, rivals, at_least: float):
    split, m = bench.split(name), bench.size(100, 20)
    bench.worker.put_train(name, split.labeled, split.y)

    def ours():
        return bench.worker.bagging(name, m)["seconds"]

    def fit(solver, X):
        bench.ensembles[name] = peers.bagging(X, split.y, m, solver, bench.threads)

    # The workers of joblib take a second to start: not a part of the work.
    peers.bagging(split.labeled[:200], split.y[:200], bench.threads, "liblinear", bench.threads)
    # Where there are several rivals, each runs once and the fastest goes on.
    solver, X = fastest(rivals(split.labeled), fit)
    seconds = bench.alternate(ours, lambda: fit(solver, X), slow=True)
    bench.results.add(f"bag {name}, m {m}, {solver}", ours=seconds[0], theirs=seconds[1], at_least=at_least)
    bench.bagging_seconds[name] = seconds[1]
    check_members(bench, name, split, bench.worker.read("members", (-1, m)))


def fastest(rivals: list[tuple], fit) -> tuple:
    return min(rivals, key=lambda rival: seconds_of(lambda: fit(*rival))) if len(rivals) > 1 else rivals[0]


def check_members(bench: Bench, name: str, split, W):
    """Some of our members against scikit-learn's on the same draws, and all of them by their accuracy."""
    X = peers.with_constant(split.labeled)
    for k in (0, W.shape[1] // 2, W.shape[1] - 1):
        to = bench.worker.folder / "counts"
        bench.worker.ask("bootstrap", train=name, seed=0, member=k, to=to)
        theirs = peers.member(X, split.y, bench.worker.read("counts"))
        bench.results.check(f"bagging {name}: member {k}", W[:, k], theirs, WEIGHTS)
    right = (peers.probability(peers.with_constant(split.test), W) >= 0.5) == (split.y_test > 0)
    theirs = bench.ensembles[name].score(split.test, split.y_test)
    # Accuracies are compared as they are, not as shares of theirs.
    bench.results.check(f"bagging {name}: accuracy", right.mean() - theirs + 1, 1, bench.size(ACCURACY, 10 * ACCURACY))


def bagging_forest(bench: Bench):
    """Bagging on forest."""
    compare_bagging(bench, "forest", lambda X: [("liblinear", X)], at_least=40)


def bagging_adult(bench: Bench):
    """Bagging on adult against the fastest that scikit-learn has: two solvers, dense and sparse rows."""

    def rivals(X):
        return [(solver, rows) for solver in ("lbfgs", "liblinear") for rows in (X, X.toarray())]

    compare_bagging(bench, "adult", rivals, at_least=10)


def fit(bench: Bench):
    """The whole of LcUd: initial members and descent. Theirs is scikit-learn's bagging and numpy's descent."""
    split, m = bench.split("forest"), bench.size(100, 20)
    bench.worker.put_train("all", *split.train())
    answer, theirs = {}, {}

    def ours():
        answer.update(bench.worker.udeed("all", m))
        return answer["seconds"]

    labeled, unlabeled = peers.with_constant(split.labeled), peers.with_constant(split.unlabeled)

    def descend(step=peers.plain_step):
        initial = bench.worker.read("initial", (-1, m))
        theirs["W"], theirs["stages"] = peers.descend(labeled, split.y, unlabeled, initial, step=step)

    seconds, descents = bench.alternate(ours, descend, slow=True)
    bags = bench.bagging_seconds.get("forest") or [
        seconds_of(lambda: peers.bagging(split.labeled, split.y, m, "liblinear", bench.threads))
    ]
    whole = [statistics.median(bags) + descent for descent in descents]
    bench.results.add(f"LcUd fit forest, m {m}", ours=seconds, theirs=whole, at_least=20)
    in_place = statistics.median(bags) + seconds_of(lambda: descend(peers.step))
    bench.results.add("  numpy in place", ours=seconds, theirs=[in_place])
    # The descent moves weights little: what is compared is by how much.
    initial, ours_W = (bench.worker.read(name, (-1, m)) for name in ("initial", "members"))
    bench.results.check("LcUd forest: moves", ours_W - initial, theirs["W"] - initial, GRADIENT["double"])
    for ours_of, theirs_of in zip(answer["stages"], theirs["stages"], strict=True):
        stage = ours_of["stage"]
        bench.results.check(f"LcUd forest: steps of {stage}", ours_of["steps"], theirs_of["steps"], 0)
        last = theirs_of["last"]["total"]
        bench.results.check(f"LcUd forest: loss after {stage}", ours_of["last"]["total"], last, GRADIENT["double"])


def predict(bench: Bench):
    """The classes of the test rows of forest."""
    split, m = bench.split("forest"), bench.size(100, 20)
    some = slice(0, 5000)
    rows = split.test
    bench.worker.put("test", rows)
    bench.worker.put_train("some", split.labeled[some], split.y[some])
    bench.worker.bagging("some", m)
    # How long a prediction takes does not depend on what was learned.
    rival = bench.ensembles.get("forest")
    rival = rival or peers.bagging(split.labeled[some], split.y[some], m, "lbfgs", bench.threads)

    def ours():
        return bench.worker.predict("some", "test")["seconds"]

    rival.predict(rows[:100])
    seconds = bench.alternate(ours, lambda: rival.predict(rows), slow=True)
    bench.results.add(f"predict {len(rows)} rows, m {m}", ours=seconds[0], theirs=seconds[1], at_least=40)
    expected = peers.probability(peers.with_constant(rows), bench.worker.read("members", (-1, m)))
    bench.results.check("predict: probabilities", bench.worker.read("probabilities"), expected, GRADIENT["double"])
    # A tie may fall to either side by the last bit.
    clear = np.abs(expected - 0.5) > GRADIENT["double"]
    classes = np.where(expected >= 0.5, 1.0, -1.0)
    bench.results.check("predict: classes", bench.worker.read("classes")[clear], classes[clear], 0)


def sparse(bench: Bench):
    """One step on sparse rows."""
    n, d, m = bench.size((100_000, 100_000, 100), (5_000, 5_000, 20))
    step = Step(bench, sets.random_sparse_rows(n, d, 56), m)
    name = f"CSR {n} x {d}, m {m}"
    step.check(name)
    ours, theirs = bench.alternate(step.ours, step.theirs)
    bench.results.add(name, ours=ours, theirs=theirs, at_least=2)
    step.compare_memory()


def sparse_fit(bench: Bench):
    """A whole fit on sparse rows with few steps: its time, and its memory by that of the rows and the members."""
    n, d, m = bench.size((100_000, 100_000, 100), (5_000, 5_000, 20))
    X, labels = sets.random_sparse_train(n, d, 56)
    with bench.worker.fresh() as worker:
        worker.put_train("rows", X, labels)
        fit = worker.udeed("rows", m, steps=3)
    bench.results.add(f"LcUd fit CSR {n} x {d}, m {m}", value=fit["seconds"], unit="s")
    if fit["peak"] is None:
        bench.results.skipped.append("memory of a fit: the system does not tell")
    else:
        size = 12 * X.nnz + 8 * (n + d * m)
        bench.results.add("  memory, by rows and members", value=fit["peak"] / size, at_most=6)


def reading(bench: Bench):
    """Reading a gzipped LIBSVM file, against decompression alone and against scikit-learn."""
    file = sets.find(bench.data, bench.size("forest", "adult"))
    to, loaded = bench.worker.folder / "read", {}

    def ours(to=None):
        return bench.worker.load(file, to=to)["seconds"]

    def decompress():
        gzip.decompress(file.read_bytes())

    def load():
        loaded["rows"] = load_svmlight_file(str(file))[0]

    first, plain = bench.alternate(ours, decompress, slow=True)
    again, loads = bench.alternate(lambda: ours(to), load, slow=True)
    bench.results.add(f"read {file.name}, gzip", ours=first, theirs=plain, at_least=1)
    bench.results.add("  scikit-learn", ours=again, theirs=loads)
    compare_reading_memory(bench, file)
    rows = loaded["rows"]
    bench.results.check("reading: values", bench.worker.read("read", rows.shape), rows.toarray(), 0)


def csv(bench: Bench):
    """Reading a CSV file of a gigabyte, against reading its bytes alone."""
    file, read = bench.worker.folder / "rows.csv", {}
    total = write_csv(file, bench.size(1_000_000_000, 20_000_000))

    def ours():
        read.update(bench.worker.load(file, "y"))
        return read["seconds"]

    seconds, bytes_alone = bench.alternate(ours, file.read_bytes, slow=True)
    size = file.stat().st_size / MEGABYTE
    bench.results.add(f"read {size:.0f} MB CSV, bytes alone", ours=seconds, theirs=bytes_alone)
    bench.results.add("  megabytes a second", value=size / statistics.median(seconds), unit="MB/s")
    compare_reading_memory(bench, file, "y")
    bench.results.check("CSV: sum of the values", read["sum"], total, 1e-9)
    file.unlink()


def write_csv(file: Path, size: int) -> float:
    """Writes about `size` bytes of rows, the same ten thousand over and over, and returns the sum of their values."""
    values = np.round(sets.random_rows(10_000, 54), 6)
    block = "".join(",".join(map(str, row)) + f",{'yes' if row[0] > 0.5 else 'no'}\n" for row in values.tolist())
    blocks = size // len(block)
    with file.open("w") as out:
        out.write(",".join(f"x{j}" for j in range(54)) + ",y\n")
        for _ in range(blocks):
            out.write(block)
    return blocks * float(values.sum())


def compare_reading_memory(bench: Bench, file: Path, label: str | None = None):
    """By how much the process grows while it reads, against the rows as they are in memory in the end."""
    with bench.worker.fresh() as worker:
        read = worker.load(file, label)
    if read["peak"] is None:
        bench.results.skipped.append("memory of a reader: the system does not tell")
    else:
        bench.results.add("  memory, by that of the rows", value=read["peak"] / read["bytes"], at_most=2)


def parquet(bench: Bench):
    """Reading a Parquet file, against pyarrow with as many threads, which leaves its columns apart."""
    file, read = bench.worker.folder / "rows.parquet", {}
    n, d = bench.size((1_000_000, 50), (20_000, 50))
    values = sets.random_rows(n, d)
    pa.set_cpu_count(bench.threads)
    table = pa.table({f"x{j}": values[:, j] for j in range(d)})
    pyarrow.parquet.write_table(table, file)

    def ours():
        read.update(bench.worker.load(file))
        return read["seconds"]

    seconds, theirs = bench.alternate(ours, lambda: pyarrow.parquet.read_table(file), slow=True)
    bench.results.add(f"read {n} x {d} Parquet", ours=seconds, theirs=theirs, at_least=0.5)
    compare_reading_memory(bench, file)
    bench.results.check("Parquet: sum of the values", read["sum"], float(values.sum()), 1e-9)
    file.unlink()


def growth(bench: Bench):
    """A step as rows, features, members and threads grow."""
    axes = growth_axes(bench.size(50_000, 5_000), bench.threads)
    measured = {axis: [] for axis in axes}
    for place, (axis, points) in enumerate(axes.items()):
        for sizes in points:
            measured[axis].append({"at": sizes[place], **measure_step(bench, *sizes)})
    bench.results.growth = measured
    for small, large in itertools.pairwise(measured["n"]):
        name = f"time of {large['at']} / {small['at']} rows"
        bench.results.add(name, value=large["ours"] / small["ours"], at_least=3.6, at_most=4.4)


def growth_axes(n: int, threads: int) -> dict[str, list[tuple]]:
    """Rows, features, members and threads of each step, by what grows."""
    d, m = 54, 100
    return {
        "n": [(size, d, m, threads) for size in (n // 4, n, 4 * n)],
        "d": [(n, size, m, threads) for size in (6, 13, 27, 54, 108, 216)],
        "m": [(n, d, size, threads) for size in (12, 25, 50, 100, 200, 400)],
        "threads": [(n, d, m, size) for size in range(1, threads + 1)],
    }


def measure_step(bench: Bench, n, d, m, threads) -> dict:
    """Milliseconds of a step by either side."""
    step = Step(bench, sets.random_rows(n, d), m)
    with threadpool_limits(threads):
        ours, theirs = bench.alternate(lambda: step.ours(threads), step.theirs)
    return {"ours": 1e3 * statistics.median(ours), "theirs": 1e3 * statistics.median(theirs)}


def reproduce(bench: Bench):
    """The tables of the paper by the command itself."""
    names = bench.reproduce
    bars = {tuple(sorted(REGULAR_SETS)): 6, tuple(sorted(REGULAR_SETS + LARGE_SETS)): 60}
    command = [bench.command, "reproduce", "--data", bench.data, "--sets", ",".join(names)]
    to = bench.worker.folder / "tables.txt"

    def run():
        with to.open("w") as out:
            subprocess.run(list(map(str, command)), stdout=out, check=True)

    minutes = seconds_of(run) / 60
    bar = bars.get(tuple(sorted(names)))
    bench.results.add(f"udeed reproduce, {len(names)} sets", value=minutes, unit="min", at_most=bar)


# In the order in which they run. `reproduce` takes minutes and runs only when it is asked for.
COMPARISONS = {
    "step": step,
    "single": single,
    "bagging-forest": bagging_forest,
    "bagging-adult": bagging_adult,
    "fit": fit,
    "predict": predict,
    "sparse": sparse,
    "sparse-fit": sparse_fit,
    "reading": reading,
    "csv": csv,
    "parquet": parquet,
    "growth": growth,
    "reproduce": reproduce,
}
