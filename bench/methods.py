"""Every method beside the nearest of scikit-learn and sslearn, on the same splits: accuracy, and time on kr_vs_kp.

Makes the tables of docs/methods.md. `make methods` runs it; it takes some minutes.
"""

from __future__ import annotations

import inspect
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import udeed
from sets import Absent, find, script_options
from sklearn.base import BaseEstimator
from sklearn.datasets import load_digits, load_iris, load_svmlight_file, load_wine
from sklearn.ensemble import AdaBoostClassifier, BaggingClassifier, RandomForestClassifier, StackingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier
from sslearn.wrapper import CoForest, CoTraining, Setred, TriTraining
from udeed._estimators import ESTIMATORS

SETS = ["ionosphere", "diabetes", "wdbc", "vote", "vehicle", "sonar", "credit_g", "kr_vs_kp"]
MEMBERS = 20
TIMED = "kr_vs_kp"
# Threads of ours: one, as the peers have, or all there are.
JOBS: list[int | None] = [None, -1]


@dataclass
class Split:
    """Training rows, the labeled first, and test rows."""

    train: np.ndarray
    y: np.ndarray
    n_labeled: int
    test: np.ndarray
    y_test: np.ndarray

    @property
    def labels(self) -> np.ndarray:
        """As scikit-learn and sslearn take them: -1 for none."""
        return np.where(np.arange(len(self.y)) < self.n_labeled, self.y, -1)


def split(X: np.ndarray, y: np.ndarray, seed: int) -> Split:
    """Half for testing, a quarter of the rest labeled, each class in proportion."""
    train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=seed)
    labeled, unlabeled = train_test_split(train, train_size=0.25, stratify=y[train], random_state=seed)
    rows = np.concatenate([labeled, unlabeled])
    return Split(X[rows], y[rows], len(labeled), X[test], y[test])


def logistic() -> LogisticRegression:
    """Penalises the bias, as ours does."""
    return LogisticRegression(solver="liblinear")


def stacked() -> StackingClassifier:
    bases = [logistic(), DecisionTreeClassifier(random_state=0), KNeighborsClassifier(), GaussianNB()]
    return StackingClassifier([(type(base).__name__, base) for base in bases], logistic(), cv=5)


def views(split: Split, seed: int) -> list[list[int]]:
    """Two halves of the columns."""
    columns = np.random.default_rng(seed).permutation(split.train.shape[1])
    half = len(columns) // 2
    return [sorted(columns[:half].tolist()), sorted(columns[half:].tolist())]


def co_training(split: Split, rows: np.ndarray, seed: int) -> Any:
    model = CoTraining(logistic(), random_state=seed)
    return model.fit(rows, split.labels, features=views(split, seed))


def adaboost(split: Split, rows: np.ndarray, seed: int) -> Any:
    # Its weights sum to 1, ours to the number of labels: so the labels count as much against the penalty.
    base = LogisticRegression(solver="liblinear", C=split.n_labeled)
    model = AdaBoostClassifier(base, n_estimators=MEMBERS, random_state=seed)
    return model.fit(rows[: split.n_labeled], split.y[: split.n_labeled])


Fit = Callable[[Split, np.ndarray, int], Any]
Make = Callable[[int], BaseEstimator]


@dataclass
class Entry:
    """A method of ours, and its peer."""

    name: str
    # Number of threads of a fit.
    ours: Callable[[int | None], Fit]
    peer: str = ""
    theirs: Fit | None = None


def supervised(make: Make) -> Fit:
    return lambda split, rows, seed: make(seed).fit(rows[: split.n_labeled], split.y[: split.n_labeled])


def semi_supervised(make: Make) -> Fit:
    return lambda split, rows, seed: make(seed).fit(rows, split.labels)


def own(kind: type, **settings: Any) -> Callable[[int | None], Fit]:
    return lambda jobs: semi_supervised(lambda seed: kind(random_state=seed, n_jobs=jobs, **settings))


def own_co_training(jobs: int | None) -> Fit:
    def fit(split: Split, rows: np.ndarray, seed: int) -> Any:
        view = [str(column + 1) for column in views(split, seed)[0]]
        return udeed.CoTrainingClassifier(view=view, random_state=seed, n_jobs=jobs).fit(rows, split.labels)

    return fit


# The methods that have a peer.
PEERED = [
    Entry(
        "bagging",
        own(udeed.BaggingClassifier, members=MEMBERS),
        "BaggingClassifier(LogisticRegression)",
        supervised(lambda seed: BaggingClassifier(logistic(), MEMBERS, random_state=seed)),
    ),
    Entry(
        "random forest",
        own(udeed.BaggingClassifier, members=MEMBERS, base=udeed.Tree(features="root")),
        "RandomForestClassifier",
        supervised(lambda seed: RandomForestClassifier(MEMBERS, random_state=seed)),
    ),
    Entry(
        "adaboost", own(udeed.AdaBoostClassifier, members=MEMBERS), "AdaBoostClassifier(LogisticRegression)", adaboost
    ),
    Entry("stacking", own(udeed.StackingClassifier), "StackingClassifier", supervised(lambda seed: stacked())),
    Entry(
        "self-training",
        own(udeed.SelfTrainingClassifier),
        "SelfTrainingClassifier",
        semi_supervised(lambda seed: SelfTrainingClassifier(logistic())),
    ),
    Entry(
        "tri-training",
        own(udeed.TriTrainingClassifier),
        "sslearn TriTraining",
        semi_supervised(lambda seed: TriTraining(logistic(), random_state=seed)),
    ),
    Entry(
        "co-forest",
        own(udeed.CoForestClassifier, members=MEMBERS),
        "sslearn CoForest",
        semi_supervised(lambda seed: CoForest(n_estimators=MEMBERS, random_state=seed)),
    ),
    Entry("co-training", own_co_training, "sslearn CoTraining", co_training),
    Entry(
        "setred",
        own(udeed.SetredClassifier, base=udeed.Neighbors(k=3)),
        "sslearn Setred",
        semi_supervised(lambda seed: Setred(KNeighborsClassifier(3), random_state=seed)),
    ),
]


def alone(entries: list[Entry]) -> Iterator[Entry]:
    """All other methods."""
    names = [entry.name for entry in entries]
    for name, kind in ESTIMATORS.items():
        if name not in names:
            has_size = "members" in inspect.signature(kind).parameters
            yield Entry(name, own(kind, **({"members": MEMBERS} if has_size else {})))


ENTRIES = [*PEERED, *alone(PEERED)]


def fit(fit: Fit, split: Split, seed: int, times: int = 1) -> tuple[float, float]:
    """The accuracy on the test rows, and the seconds of the fit, the fastest of some. All see rows between 0 and 1."""
    scaler = MinMaxScaler().fit(split.train)
    rows, test = np.ascontiguousarray(scaler.transform(split.train)), scaler.transform(split.test)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        seconds = np.inf
        for _ in range(times):
            begun = time.perf_counter()
            model = fit(split, rows, seed)
            seconds = min(seconds, time.perf_counter() - begun)
        return float(np.mean(model.predict(test) == split.y_test)), seconds


Figures = tuple[str, str, list[float], list[float], list[float]]


def compare(folder: Path, n_splits: int) -> Iterator[Figures]:
    """For each set and method the accuracies, and the median seconds of ours, with one thread and with all, and theirs."""
    for name in SETS:
        try:
            X, y = load_svmlight_file(str(find(folder, name)))
        except Absent as absent:
            print(absent)
            continue
        X, y = X.toarray(), np.unique(y, return_inverse=True)[1]
        found: dict[str, list[list[float]]] = {entry.name: [[], [], [], [], []] for entry in ENTRIES}
        for seed in range(n_splits):
            part = split(X, y, seed)
            # Threads of whoever came before may not have come to rest at the first fit.
            times = 3 if name == TIMED else 1
            for entry in ENTRIES:
                accuracies, peers, *seconds = found[entry.name]
                for jobs, to in zip(JOBS, seconds, strict=False):
                    accuracy, time_taken = fit(entry.ours(jobs), part, seed, times)
                    to.append(time_taken)
                accuracies.append(accuracy)
                if entry.theirs is not None:
                    accuracy, time_taken = fit(entry.theirs, part, seed, times)
                    peers.append(accuracy)
                    seconds[-1].append(time_taken)
        for entry_name, (accuracies, peers, *seconds) in found.items():
            yield name, entry_name, accuracies, peers, [float(np.median(times)) for times in seconds if times]


def several_classes(n_splits: int) -> None:
    """UDEED with Fourier features beside a support vector machine on the same labels."""
    print("\n| set | classes | UDEED | UDEED, Fourier features | SVC |\n| --- | --- | --- | --- | --- |")
    for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        data = load()
        plain, mapped, machine = [], [], []
        for seed in range(n_splits):
            part = split(data.data, data.target, seed)
            for to, settings in ((plain, {}), (mapped, {"fourier": 500, "scaling": "standard", "C": 100.0})):
                model = udeed.UDEEDClassifier(random_state=seed, **settings).fit(part.train, part.labels)
                to.append(float(model.score(part.test, part.y_test)))
            scaler = StandardScaler().fit(part.train)
            svc = SVC().fit(scaler.transform(part.train[: part.n_labeled]), part.y[: part.n_labeled])
            machine.append(float(svc.score(scaler.transform(part.test), part.y_test)))
        figures = " | ".join(f"{mean(list_):.3f}" for list_ in (plain, mapped, machine))
        print(f"| {name} | {len(data.target_names)} | {figures} |", flush=True)


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    missed = []
    rows: dict[str, dict[str, tuple[float, float | None]]] = {}
    speed = {}
    for name, method, own_accuracies, peers, seconds in compare(arguments.data, arguments.splits):
        accuracy, peer = mean(own_accuracies), mean(peers) if peers else None
        rows.setdefault(method, {})[name] = (accuracy, peer)
        if peer is not None and accuracy < peer - 0.01:
            differences = np.subtract(own_accuracies, peers)
            error = differences.std(ddof=1) / np.sqrt(len(differences))
            missed.append(f"{method} on {name}: {accuracy:.3f}, the peer {peer:.3f}, standard error {error:.3f}")
        if name == TIMED and peer is not None:
            speed[method] = seconds
    names = [name for name in SETS if any(name in found for found in rows.values())]
    print("| | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
    for entry in ENTRIES:
        cells = [rows[entry.name][name] for name in names]
        print(f"| {entry.name} | " + " | ".join(f"{accuracy:.3f}" for accuracy, _ in cells) + " |")
        if entry.peer:
            print(f"| *{entry.peer}* | " + " | ".join(f"*{peer:.3f}*" for _, peer in cells) + " |")
    print(f"\n| {TIMED} | ours, one thread | all threads | theirs | |\n| --- | --- | --- | --- | --- |")
    for method, (one, all_, theirs) in speed.items():
        ratios = f"{theirs / one:.1f} x, {theirs / all_:.1f} x"
        print(f"| {method} | {1000 * one:.1f} ms | {1000 * all_:.1f} ms | {1000 * theirs:.0f} ms | {ratios} |")
    several_classes(arguments.splits)
    print("\nmore than 0.01 below the peer:", *(missed or ["nowhere"]), sep="\n")


if __name__ == "__main__":
    main()
