"""How long `auto` takes to fit: beside scikit-learn's forests on the same labels, and on rows that are many in some way.

Both tables have the ratio of `auto` on labeled and unlabeled rows to a random forest and extra trees, 200 of each, on the
labeled rows, with the same number of threads. `make fit-time` runs it; it takes ten minutes.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import udeed
from methods import split
from sets import Absent, script_options
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier
from when_it_helps import DEVELOPMENT, rows

# The bar: the largest multiple of the forests' time, and the number of sets that must reach it.
MOST, ON = 2.0, 15


def seconds(fit: Callable[[], Any], runs: int) -> float:
    """The least of some runs: what else the machine does only adds."""
    best = np.inf
    for _ in range(runs):
        began = time.perf_counter()
        fit()
        best = min(best, time.perf_counter() - began)
    return best


def of_forests(X: np.ndarray, y: np.ndarray, threads: int, runs: int) -> float:
    """Seconds of both forests on labeled rows."""
    forests = [kind(200, random_state=0, n_jobs=threads) for kind in (RandomForestClassifier, ExtraTreesClassifier)]
    return seconds(lambda: [forest.fit(X, y) for forest in forests], runs)


def beside_forests(folder: Path, names: list[str], threads: int, runs: int) -> None:
    print("| set | labels | auto, s | forests, s | ratio |\n| --- | ---: | ---: | ---: | ---: |")
    ratios = []
    for name in names:
        try:
            part = split(*rows(folder, name), 0)
        except Absent as absent:
            print(f"| {name} | {absent} |")
            continue
        auto = udeed.UDEEDAutoClassifier(unlabeled=-1, random_state=0, n_jobs=threads)
        ours = seconds(lambda: auto.fit(part.train, part.labels), runs)
        theirs = of_forests(part.train[: part.n_labeled], part.y[: part.n_labeled], threads, runs)
        ratios.append(ours / theirs)
        print(f"| {name} | {part.n_labeled} | {ours:.2f} | {theirs:.2f} | {ratios[-1]:.2f} |", flush=True)
    within = sum(ratio <= MOST for ratio in ratios)
    verdict = "" if within >= ON else f" MISSED: {ON} wanted"
    print(f"\nat most {MOST:g} times as long on {within} of {len(ratios)} sets{verdict}\n")


def drawn(n: int, d: int, classes: int, labeled: int) -> tuple[np.ndarray, np.ndarray]:
    """Two clusters a class; the first rows are labeled, the classes in turn."""
    random = np.random.default_rng(0)
    y = np.arange(n) % classes
    X = random.normal(size=(classes, 2, d))[y, random.integers(0, 2, n)]
    for some in np.array_split(X, 100):
        some += random.normal(size=some.shape)
    return X, np.where(np.arange(n) < labeled, y, -1)


@dataclass
class Many:
    """Rows that are many in some way, and what `auto` may take for them at the most."""

    n: int
    d: int
    classes: int
    labeled: int
    cpu: float = np.inf
    seconds: float = np.inf
    megabytes: float = np.inf


MANY = {
    "100 classes": Many(3000, 20, 100, 1000, cpu=10.0),
    "255 classes": Many(3000, 20, 255, 1000, cpu=60.0),
    "500 000 unlabeled rows": Many(500_200, 20, 2, 200, seconds=3.0, megabytes=300.0),
    "100 000 labels": Many(110_000, 50, 2, 100_000, cpu=1200.0),
}


def cell(found: float, digits: int, most: float) -> str:
    return f"{found:.{digits}f}" + ("" if found <= most else f" MISSED: {most:g} wanted")


def fitted(name: str, threads: int) -> str:
    """A row of the table. In a process of its own, as the peak of its memory never falls."""
    of = MANY[name]
    X, y = drawn(of.n, of.d, of.classes, of.labeled)
    auto = udeed.UDEEDAutoClassifier(unlabeled=-1, random_state=0, n_jobs=threads)
    before = resource.getrusage(resource.RUSAGE_SELF)
    took = seconds(lambda: auto.fit(X, y), 1)
    after = resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    more = (after.ru_maxrss - before.ru_maxrss) / 1024
    forests = of_forests(X[: of.labeled], y[: of.labeled], threads, 1)
    ours = f"{cell(cpu, 1, of.cpu)} | {cell(took, 1, of.seconds)} | {forests:.1f} | {took / forests:.2f}"
    return f"| {name} | {ours} | {cell(more, 0, of.megabytes)} | {auto.findings_['accuracy']:.3f} |"


def many(names: list[str], threads: int) -> None:
    print("| rows | CPU s | s | forests, s | ratio | peak, MB more | out-of-bag accuracy |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name in names:
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
            print(process.submit(fitted, name, threads).result(), flush=True)


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--sets", nargs="*", default=DEVELOPMENT)
    parser.add_argument("--many", nargs="*", default=list(MANY), choices=MANY)
    arguments = parser.parse_args()
    if arguments.sets:
        beside_forests(arguments.data, arguments.sets, arguments.threads, arguments.runs)
    if arguments.many:
        many(arguments.many, arguments.threads)


if __name__ == "__main__":
    main()
