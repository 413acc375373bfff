"""Our lines of `make bench` by two builds of `udeed-bench`, in turn: whether a change made anything slower."""

import math
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

sys.dont_write_bytecode = True
import sets  # noqa: E402
from comparisons import Step, growth_axes, write_csv  # noqa: E402
from worker import Worker  # noqa: E402


def options():
    parser = sets.script_options(__doc__)
    parser.add_argument("before", type=Path, help="a `udeed-bench`")
    parser.add_argument("after", type=Path, help="another, run in turn with the first")
    parser.add_argument("--only", metavar="NAME,...", default=",".join(LINES), help=f"some of {', '.join(LINES)}")
    parser.add_argument("--threads", type=int, default=2, help="threads of both (2)")
    parser.add_argument("--repeats", type=int, default=15, help="runs of each, of which the fastest counts (15)")
    parser.add_argument("--at-most", type=float, default=1.03, help="the ratio above which a line has failed (1.03)")
    return parser.parse_args()


def step(at, worker, n=200_000, d=54, m=100, threads=None, precision="double"):
    asked = Step(SimpleNamespace(worker=worker), sets.random_rows(n, d), m, precision)
    return lambda: asked.ours(threads)


def sparse_step(at, worker):
    return Step(SimpleNamespace(worker=worker), sets.random_sparse_rows(100_000, 100_000, 56), 100).ours


def bagging(at, worker, rows):
    split = sets.load(at.data, rows)
    worker.put_train(rows, split.labeled, split.y)
    return lambda: worker.bagging(rows, 100)["seconds"]


def fit(at, worker):
    worker.put_train("all", *sets.load(at.data, "forest").train())
    return lambda: worker.udeed("all", 100)["seconds"]


def sparse_fit(at, worker):
    worker.put_train("rows", *sets.random_sparse_train(100_000, 100_000, 56))
    return lambda: worker.udeed("rows", 100, steps=3)["seconds"]


def predict(at, worker):
    split = sets.load(at.data, "forest")
    worker.put("test", split.test)
    worker.put_train("some", split.labeled[:5000], split.y[:5000])
    worker.bagging("some", 100)
    return lambda: worker.predict("some", "test")["seconds"]


def read_libsvm(at, worker):
    return lambda: worker.load(sets.find(at.data, "forest"))["seconds"]


def read_csv(at, worker):
    file = worker.folder / "rows.csv"
    write_csv(file, 200_000_000)
    return lambda: worker.load(file, "y")["seconds"]


def growth(axis):
    def lines(at):
        for n, d, m, threads in growth_axes(50_000, at.threads)[axis]:
            yield f"n {n}, d {d}, m {m}, threads {threads}", dict(n=n, d=d, m=m, threads=threads), step

    return lines


def one(name, prepare, **details):
    return lambda at: [(name, details, prepare)]


# Each gives lines: a name, what its work is given, and a function that readies a worker and returns how to time it.
LINES = {
    "step": one("step, double", step),
    "single": one("step, single", step, precision="single"),
    "bagging-forest": one("bagging, forest", bagging, rows="forest"),
    "bagging-adult": one("bagging, adult (sparse)", bagging, rows="adult"),
    "fit": one("LcUd fit, forest", fit),
    "predict": one("predict, forest", predict),
    "sparse": one("step, sparse", sparse_step),
    "sparse-fit": one("LcUd fit, sparse", sparse_fit),
    "reading": one("read gzipped LIBSVM", read_libsvm),
    "csv": one("read CSV", read_csv),
    "growth-n": growth("n"),
    "growth-d": growth("d"),
    "growth-m": growth("m"),
    "growth-threads": growth("threads"),
}


def main() -> int:
    at = options()
    slower = 0
    print(f"{'line':<40} {'before':>10} {'after':>10} {'ratio':>6}")
    with tempfile.TemporaryDirectory() as folder:
        for name in at.only.split(","):
            for line, details, prepare in LINES[name](at):
                before, after = measure(at, Path(folder), prepare, details)
                ratio = after / before
                slower += ratio > at.at_most
                print(f"{line:<40} {1e3 * before:7.1f} ms {1e3 * after:7.1f} ms {ratio:6.3f}", flush=True)
    return 1 if slower else 0


def measure(at, folder: Path, prepare, details) -> list[float]:
    """The fastest run of each build, in seconds. Which of them goes first changes every time."""
    workers = []
    for side, binary in (("before", at.before), ("after", at.after)):
        (folder / side).mkdir(exist_ok=True)
        workers.append(Worker(binary.resolve(), folder / side, at.threads))
    best = [math.inf, math.inf]
    try:
        run = [prepare(at, worker, **details) for worker in workers]
        for turn in range(at.repeats):
            for side in (0, 1) if turn % 2 else (1, 0):
                best[side] = min(best[side], run[side]())
    finally:
        for worker in workers:
            worker.close()
    return best


if __name__ == "__main__":
    sys.exit(main())
