"""How long `auto` predicts: many rows, with and without its spectral views, and one row, beside scikit-learn's forests.

CPU seconds of one thread, the least of some runs. The forests are a random forest and extra trees, 200 of each, on the same
labels. `make predict-time` runs it; it takes two minutes.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import udeed
from fit_time import drawn
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

VIEWS = ["linear", "relevance", "laplace", "narrow", "spectral", "trees"]
# The bars: CPU seconds without and with the spectral views, and milliseconds of one row.
WITHOUT, WITH, ONE_ROW = 1.5, 5.0, 0.3


def cpu_seconds(predict: Callable[[], Any], runs: int, times: int = 1) -> float:
    """The least of some runs, of `times` predictions each: what else the machine does only adds."""
    best = np.inf
    for _ in range(runs):
        began = time.process_time()
        for _ in range(times):
            predict()
        best = min(best, (time.process_time() - began) / times)
    return best


def verdict(found: float, most: float | None) -> str:
    return "" if most is None or found <= most else f" MISSED: {most:g} wanted"


def compare(labels: int, n: int, d: int, runs: int, alone: bool) -> None:
    X, y = drawn(10_000 + n, d, 2, labels)
    train, test, one = X[:10_000], X[10_000:], X[10_000:10_001]
    some, of_some = train[:labels], y[:labels]

    def auto(views: list[str]) -> Any:
        return udeed.UDEEDAutoClassifier(views=views, unlabeled=-1, random_state=0, n_jobs=1).fit(train, y[:10_000])

    def forests() -> Callable[[np.ndarray], list[np.ndarray]]:
        kinds = [kind(200, random_state=0, n_jobs=1) for kind in (RandomForestClassifier, ExtraTreesClassifier)]
        fitted = [kind.fit(some, of_some) for kind in kinds]
        return lambda rows: [kind.predict_proba(rows) for kind in fitted]

    without = [view for view in VIEWS if view != "spectral"]
    rows: list[tuple[str, Callable[[np.ndarray], Any], float | None, float | None]] = [
        ("scikit-learn's two forests", forests(), None, None),
        ("`auto` without `spectral`", auto(without).predict_proba, WITHOUT, ONE_ROW),
        ("`auto`", auto(VIEWS).predict_proba, WITH, ONE_ROW),
    ]
    if alone:
        rows += [(f"`{view}` alone", auto([view]).predict_proba, None, None) for view in VIEWS]
    print(f"{labels} labels, {n} x {d} rows\n\n| | CPU s | ratio | one row, ms |\n| --- | ---: | ---: | ---: |")
    theirs = None
    for name, predict, most, most_of_one in rows:
        many = cpu_seconds(lambda: predict(test), runs)
        single = 1e3 * cpu_seconds(lambda: predict(one), runs, times=50)
        theirs = theirs or many
        cells = f"{many:.2f}{verdict(many, most)} | {many / theirs:.2f} | {single:.2f}{verdict(single, most_of_one)}"
        print(f"| {name} | {cells} |", flush=True)
    print()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--columns", type=int, default=50)
    parser.add_argument("--labels", type=int, nargs="*", default=[100, 1000])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--alone", action="store_true", help="each view alone, too")
    arguments = parser.parse_args()
    for labels in arguments.labels:
        compare(labels, arguments.rows, arguments.columns, arguments.runs, arguments.alone)


if __name__ == "__main__":
    main()
