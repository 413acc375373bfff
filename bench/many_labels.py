"""What `auto` gains by more labels, and what it costs, around the number from which landmarks stand for labeled rows.

Means of some draws of training rows, of which the first keep their labels, and of test rows. Makes a table of
docs/performance.md. `make many-labels` runs it; it takes half an hour.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np
import udeed
from few_labels import LEAST
from sets import Absent, find, script_options
from sklearn.datasets import load_svmlight_file

SETS = ["cod-rna", "adult", "forest"]
LABELS = [400, 500, 600, 900, 1000, 1100, 2000]


def read(folder: Path, name: str) -> tuple[Any, np.ndarray]:
    X, y = load_svmlight_file(str(find(folder, name)))
    return X.toarray(), (y > 0).astype(int)


def deal(X: np.ndarray, y: np.ndarray, train: int, test: int, seed: int) -> tuple[np.ndarray, ...]:
    order = np.random.default_rng(seed).permutation(len(y))
    first, last = order[:train], order[train : train + test]
    return X[first], y[first], X[last], y[last]


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--labels", type=int, nargs="*", default=LABELS)
    parser.add_argument("--draws", type=int, default=3)
    parser.add_argument("--train", type=int, default=5000)
    parser.add_argument("--test", type=int, default=10_000)
    parser.add_argument("--views", nargs="*", help="these views alone")
    arguments = parser.parse_args()
    parameters = {"views": arguments.views} if arguments.views else {}
    print("| set | labels | accuracy | log loss | fit, CPU s |\n| --- | ---: | ---: | ---: | ---: |")
    for name in arguments.sets:
        try:
            X, y = read(arguments.data, name)
        except Absent as absent:
            print(absent)
            continue
        parts = [deal(X, y, arguments.train, arguments.test, seed) for seed in range(arguments.draws)]
        for labels in arguments.labels:
            found = []
            for seed, (train, of_train, test, of_test) in enumerate(parts):
                few = np.where(np.arange(len(train)) < labels, of_train, -1)
                began = time.process_time()
                model = udeed.UDEEDAutoClassifier(random_state=seed, n_jobs=1, **parameters).fit(train, few)
                took = time.process_time() - began
                p = model.predict_proba(test)
                own = np.clip(p[np.arange(len(test)), of_test], LEAST, 1.0)
                found.append((100.0 * np.mean(p.argmax(axis=1) == of_test), -np.mean(np.log(own)), took))
            accuracy, loss, took = np.mean(found, axis=0)
            print(f"| {name} | {labels} | {accuracy:.2f} | {loss:.4f} | {took:.1f} |", flush=True)


if __name__ == "__main__":
    main()
