"""Random forests and extra trees beside scikit-learn's: the same splits, a quarter of the training rows labeled.

Makes the tables of forests in docs/methods.md. `make forests` runs it; it takes ten minutes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import udeed
from methods import split
from sets import Absent, find, script_options
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

SETS = ["diabetes", "heart_raw13", "wdbc", "austra", "vehicle", "ionosphere", "kr_vs_kp", "sonar", "credit_g", "colic"]
TREES = 101


# What makes ours and theirs of a seed.
Pair = Callable[[int], tuple[Any, Any]]
KINDS: dict[str, Pair] = {
    "random forests": lambda seed: (
        udeed.BaggingClassifier(TREES, base=udeed.Tree(features="root"), scaling="none", random_state=seed),
        RandomForestClassifier(TREES, random_state=seed),
    ),
    "extra trees": lambda seed: (
        udeed.ExtraTreesClassifier(TREES, scaling="none", random_state=seed),
        ExtraTreesClassifier(TREES, random_state=seed),
    ),
}


def accuracies(X: np.ndarray, y: np.ndarray, pair: Pair, seed: int, n_forests: int) -> tuple[float, float]:
    """Of ours and theirs on one split, the mean of some forests. Each has a seed of its own: with one for all splits, the
    same columns would be drawn at the roots everywhere, and that chance would look like a difference."""
    part = split(X, y, seed)
    rows, labels = part.train[: part.n_labeled], part.y[: part.n_labeled]
    seeds = np.random.RandomState(seed).randint(0, 2**31 - 1, n_forests)
    scores = [[forest.fit(rows, labels).score(part.test, part.y_test) for forest in pair(int(own))] for own in seeds]
    ours, theirs = np.mean(scores, axis=0)
    return float(ours), float(theirs)


def standard_error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--splits", type=int, default=40)
    parser.add_argument("--forests", type=int, default=5)
    arguments = parser.parse_args()
    for kind, pair in KINDS.items():
        print(f"\n{kind}\n\n| | ours ± standard error | scikit-learn | difference ± standard error |\n| --- | --- | --- | --- |")
        for name in SETS:
            try:
                X, y = load_svmlight_file(str(find(arguments.data, name)))
            except Absent as absent:
                print(absent)
                continue
            X, y = X.toarray(), np.unique(y, return_inverse=True)[1]
            found = [accuracies(X, y, pair, seed, arguments.forests) for seed in range(arguments.splits)]
            ours, theirs = np.transpose(found)
            difference = f"{np.mean(ours - theirs):+.4f} ± {standard_error(ours - theirs):.4f}"
            own = f"{ours.mean():.4f} ± {standard_error(ours):.4f}"
            print(f"| {name} | {own} | {theirs.mean():.4f} | {difference} |", flush=True)


if __name__ == "__main__":
    main()
