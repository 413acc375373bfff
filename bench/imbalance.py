"""`auto` beside scikit-learn's random forest where one row in twenty is of the second class.

Makes the table of rare classes in docs/when-it-helps.md. `make imbalance` runs it; it takes ten minutes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import udeed
from sets import Absent, find, script_options
from sklearn.datasets import load_svmlight_file, make_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score, roc_auc_score

RATE = 0.05
N_TRAIN, N_TEST = 600, 2000
SETS = ["web", "ijcnn1", "adult", "cod-rna", "forest", "kr_vs_kp"]
Rows = tuple[np.ndarray, np.ndarray]


def overlapping(random: np.random.RandomState) -> Rows:
    """Two normal distributions, of which one has few rows."""
    X = random.normal(size=(20_000, 10))
    y = (random.uniform(size=len(X)) < 0.3).astype(int)
    X[y == 1, :4] += 0.9
    return X, y


def clusters(random: np.random.RandomState) -> Rows:
    """Two clusters of each class, and columns that say nothing."""
    return make_classification(20_000, 20, n_informative=6, class_sep=0.9, random_state=random)


def rings(random: np.random.RandomState) -> Rows:
    """A class around the other."""
    X = random.normal(size=(20_000, 6))
    radius = np.linalg.norm(X[:, :3], axis=1) + random.normal(scale=0.3, size=len(X))
    return X, (radius > 2.0).astype(int)


GENERATED: dict[str, Callable[[np.random.RandomState], Rows]] = {f.__name__: f for f in (overlapping, clusters, rings)}


def read(folder: Path, name: str) -> Rows:
    if name in GENERATED:
        return GENERATED[name](np.random.RandomState(0))
    X, y = load_svmlight_file(str(find(folder, name)))
    rare = int(y.mean() < np.unique(y).mean())
    return X, (np.unique(y, return_inverse=True)[1] == rare).astype(int)


def deal(X: np.ndarray, y: np.ndarray, n_labels: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training rows, the labeled ones first, their labels, test rows and their classes: one in twenty is rare everywhere."""
    random = np.random.RandomState(seed)
    parts: list[list[int]] = [[], [], []]
    for of_class, share in ((0, 1.0 - RATE), (1, RATE)):
        rows = list(random.permutation(np.flatnonzero(y == of_class)))
        for part, size in zip(parts, (n_labels, N_TRAIN - n_labels, N_TEST), strict=True):
            count = round(share * size)
            part += [rows.pop() for _ in range(min(count, len(rows)))]
    labeled, unlabeled, test = (np.array(part, dtype=int) for part in parts)

    def dense(rows: np.ndarray) -> np.ndarray:
        return np.asarray(X[rows].todense()) if hasattr(X, "todense") else X[rows]

    few = np.concatenate([y[labeled], np.full(len(unlabeled), -1)])
    return np.concatenate([dense(labeled), dense(unlabeled)]), few, dense(test), y[test]


def best_threshold(p: np.ndarray, y: np.ndarray) -> float:
    """The threshold of highest balanced accuracy, half way between two probabilities; of several the one nearest to 1/2."""
    values = np.unique(np.concatenate([[0.0], p, [1.0]]))
    cuts = np.append(0.5 * (values[1:] + values[:-1]), 0.5)
    scores = np.array([balanced_accuracy_score(y, p > cut) for cut in cuts])
    best = cuts[scores >= scores.max() - 1e-12]
    return float(best[np.argmin(np.abs(best - 0.5))])


Scores = dict[str, tuple[float, float]]


def ours(X: np.ndarray, few: np.ndarray, test: np.ndarray, y: np.ndarray, seed: int) -> Scores:
    """Balanced accuracy and AUC with each option."""
    found = {}
    for option, parameters in (("threshold", {"threshold": "balanced"}), ("class weights", {"class_weight": "balanced"})):
        model = udeed.UDEEDAutoClassifier(random_state=seed, **parameters).fit(X, few)
        p = model.predict_proba(test)[:, 1]
        found[option] = (balanced_accuracy_score(y, model.predict(test)), roc_auc_score(y, p))
        if option == "threshold":
            found["none"] = (balanced_accuracy_score(y, p > 0.5), roc_auc_score(y, p))
    return found


def theirs(X: np.ndarray, few: np.ndarray, test: np.ndarray, y: np.ndarray, seed: int) -> Scores:
    rows, labels = X[few >= 0], few[few >= 0]
    found = {}
    for option, weight in (("threshold", None), ("class weights", "balanced")):
        forest = RandomForestClassifier(200, oob_score=True, class_weight=weight, random_state=seed).fit(rows, labels)
        p = forest.predict_proba(test)[:, 1]
        auc = roc_auc_score(y, p)
        if option == "threshold":
            found["none"] = (balanced_accuracy_score(y, p > 0.5), auc)
            cut = best_threshold(forest.oob_decision_function_[:, 1], labels)
            found[option] = (balanced_accuracy_score(y, p > cut), auc)
        else:
            found[option] = (balanced_accuracy_score(y, p > 0.5), auc)
    return found


OPTIONS = ("none", "threshold", "class weights")


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--splits", type=int, default=3)
    arguments = parser.parse_args()
    warnings.filterwarnings("ignore", category=udeed.UdeedWarning)
    # Of forests whose weights put rare rows into every bag: those of the threshold have none.
    warnings.filterwarnings("ignore", message="Some inputs do not have OOB scores")
    print("| labels | option | balanced accuracy | forest | difference ± error | AUC | forest | difference ± error |")
    print("| ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for n_labels in (80, 200):
        found = []
        for name in (*GENERATED, *SETS):
            try:
                X, y = read(arguments.data, name)
            except Absent as absent:
                print(absent)
                continue
            dealt = [deal(X, y, n_labels, seed) for seed in range(arguments.splits)]
            each = [[side(*part, seed) for side in (ours, theirs)] for seed, part in enumerate(dealt)]
            scores = np.array([[[side[option] for option in OPTIONS] for side in split] for split in each])
            found.append(scores)
            mean = scores.mean(axis=0)
            print(f"<!-- {name}, {n_labels} labels: " + "; ".join(
                f"{option} {mean[0, k, 0]:.3f} {mean[1, k, 0]:.3f} AUC {mean[0, k, 1]:.3f} {mean[1, k, 1]:.3f}"
                for k, option in enumerate(OPTIONS)) + " -->", flush=True)
        of_sets = np.array([scores.mean(axis=0) for scores in found])
        for k, option in enumerate(OPTIONS):
            cells = []
            for measure in range(2):
                a, b = of_sets[:, 0, k, measure], of_sets[:, 1, k, measure]
                error = (a - b).std(ddof=1) / np.sqrt(len(a))
                cells.append(f"{a.mean():.3f} | {b.mean():.3f} | {np.mean(a - b):+.3f} ± {error:.3f}")
            print(f"| {n_labels} | {option} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
