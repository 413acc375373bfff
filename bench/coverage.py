"""How often the conformal sets of `predict_set` hold the class of test rows, class by class.

Makes a table of docs/methods.md. `make coverage` runs it; it takes some minutes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import udeed
from sets import find, script_options
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split

SETS = ["diabetes", "ionosphere", "wdbc", "vote", "credit_g", "heart", "sonar", "house"]
COVERAGES = [0.8, 0.9]
LABELED = 80
MODELS: dict[str, Callable[[int], Any]] = {
    "bagging": lambda seed: udeed.BaggingClassifier(random_state=seed),
    "random forest, 50 trees": lambda seed: udeed.BaggingClassifier(
        50, base=udeed.Tree(features="root"), random_state=seed
    ),
    "extra trees, 50, bootstraps": lambda seed: udeed.ExtraTreesClassifier(50, bootstrap=True, random_state=seed),
    "UDEED": lambda seed: udeed.UDEEDClassifier(random_state=seed),
    "auto, 10 members": lambda seed: udeed.UDEEDAutoClassifier(10, random_state=seed),
    "AdaBoost, calibrated by folds": lambda seed: udeed.AdaBoostClassifier(calibrated=True, random_state=seed),
    "self-training, calibrated by folds": lambda seed: udeed.SelfTrainingClassifier(calibrated=True, random_state=seed),
}


def covered(make: Callable[[int], Any], X: np.ndarray, y: np.ndarray, seed: int) -> np.ndarray:
    """For each coverage that is asked for, the share of test rows of each class whose set has it."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
    size = LABELED if len(train) > 2 * LABELED else 0.5
    labeled, unlabeled = train_test_split(train, train_size=size, stratify=y[train], random_state=seed)
    labels = np.concatenate([y[labeled], np.full(len(unlabeled), -1)])
    model = make(seed).fit(X[np.concatenate([labeled, unlabeled])], labels)
    sets = [model.predict_set(X[test], coverage) for coverage in COVERAGES]
    return np.array([[each[y[test] == class_, class_].mean() for class_ in (0, 1)] for each in sets])


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = {}
    for name in SETS:
        X, y = load_svmlight_file(str(find(arguments.data, name)))
        rows[name] = X.toarray(), np.unique(y, return_inverse=True)[1]
    print("| | asked for | mean | lowest | highest | below by more than 0.02 |\n| --- | --- | --- | --- | --- | --- |")
    for title, make in MODELS.items():
        shares = np.array(
            [np.mean([covered(make, *rows[name], seed) for seed in range(arguments.splits)], axis=0) for name in SETS]
        )
        for place, coverage in enumerate(COVERAGES):
            found = shares[:, place].ravel()
            short = f"{np.sum(found < coverage - 0.02)} of {found.size} classes"
            print(f"| {title} | {coverage} | {found.mean():.3f} | {found.min():.3f} | {found.max():.3f} | {short} |", flush=True)


if __name__ == "__main__":
    main()
