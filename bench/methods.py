"""Every method beside the nearest of scikit-learn and sslearn, on the same splits: accuracy, and time on kr_vs_kp.

Makes the tables of docs/methods.md. `make methods` runs it; it takes some minutes.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
from sets import Absent, find
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

SETS = ["ionosphere", "diabetes", "wdbc", "vote", "vehicle", "sonar", "credit_g", "kr_vs_kp"]
MEMBERS = 20
TIMED = "kr_vs_kp"


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


def own_view(split: Split, seed: int) -> str:
    """The same, as the command takes it: what the first member sees."""
    return "view=[" + ",".join(f'"x{column}"' for column in views(split, seed)[0]) + "]"


def co_training(split: Split, rows: np.ndarray, seed: int) -> Any:
    model = CoTraining(logistic(), random_state=seed)
    return model.fit(rows, split.labels, features=views(split, seed))


def adaboost(split: Split, rows: np.ndarray, seed: int) -> Any:
    # Its weights sum to 1, ours to the number of labels: so the labels count as much against the penalty.
    base = LogisticRegression(solver="liblinear", C=split.n_labeled)
    model = AdaBoostClassifier(base, n_estimators=MEMBERS, random_state=seed)
    return model.fit(rows[: split.n_labeled], split.y[: split.n_labeled])


@dataclass
class Entry:
    """A method of ours as the command takes it, and its peer."""

    name: str
    options: str
    peer: str = ""
    # Fits the peer: to labeled rows, or to all with -1 for no label.
    fit: Callable[[Split, np.ndarray, int], Any] | None = None


def supervised(make: Callable[[int], BaseEstimator]) -> Callable[[Split, np.ndarray, int], Any]:
    return lambda split, rows, seed: make(seed).fit(rows[: split.n_labeled], split.y[: split.n_labeled])


def semi_supervised(make: Callable[[int], BaseEstimator]) -> Callable[[Split, np.ndarray, int], Any]:
    return lambda split, rows, seed: make(seed).fit(rows, split.labels)


ENTRIES = [
    Entry(
        "bagging",
        "--method bagging",
        "BaggingClassifier(LogisticRegression)",
        supervised(lambda seed: BaggingClassifier(logistic(), MEMBERS, random_state=seed)),
    ),
    Entry(
        "random forest",
        "--method bagging --base tree --set base.features=root",
        "RandomForestClassifier",
        supervised(lambda seed: RandomForestClassifier(MEMBERS, random_state=seed)),
    ),
    Entry("adaboost", "--method adaboost", "AdaBoostClassifier(LogisticRegression)", adaboost),
    Entry("stacking", "--method stacking", "StackingClassifier", supervised(lambda seed: stacked())),
    Entry(
        "self-training",
        "--method self-training",
        "SelfTrainingClassifier",
        semi_supervised(lambda seed: SelfTrainingClassifier(logistic())),
    ),
    Entry(
        "tri-training",
        "--method tri-training",
        "sslearn TriTraining",
        semi_supervised(lambda seed: TriTraining(logistic(), random_state=seed)),
    ),
    Entry(
        "co-forest",
        "--method co-forest",
        "sslearn CoForest",
        semi_supervised(lambda seed: CoForest(n_estimators=MEMBERS, random_state=seed)),
    ),
    Entry("co-training", "--method co-training", "sslearn CoTraining", co_training),
    Entry(
        "setred",
        "--method setred --base neighbors --set base.k=3",
        "sslearn Setred",
        semi_supervised(lambda seed: Setred(KNeighborsClassifier(3), random_state=seed)),
    ),
    Entry("udeed", "--method udeed"),
    Entry("assemble", "--method assemble"),
    Entry("semiboost", "--method semiboost"),
    Entry("ssmboost", "--method ssmboost"),
    Entry("regboost", "--method regboost"),
    Entry("mcssb", "--method mcssb"),
]


class Ours:
    """The command, on files of a split."""

    def __init__(self, command: Path, folder: Path) -> None:
        self.command, self.folder = command, folder

    def write(self, split: Split) -> None:
        head = ",".join([f"x{j}" for j in range(split.train.shape[1])] + ["y"])
        labels = [f"c{label}" if label >= 0 else "" for label in split.labels]
        tests = [f"c{label}" for label in split.y_test]
        for name, rows, ys in (("train.csv", split.train, labels), ("test.csv", split.test, tests)):
            lines = [",".join(map(repr, row)) + "," + label for row, label in zip(rows.tolist(), ys, strict=True)]
            (self.folder / name).write_text("\n".join([head, *lines, ""]))

    def run(self, *words: str) -> str:
        found = subprocess.run([self.command, *words], check=True, capture_output=True, text=True, cwd=self.folder)
        return found.stdout

    def fit(self, options: str, seed: int) -> tuple[float, float]:
        """The accuracy on the test rows, and the seconds of the whole command: reading and writing files, too."""
        begun = time.perf_counter()
        words = f"fit train.csv --label y --folds 0 --members {MEMBERS} --seed {seed} --out model -q {options}"
        self.run(*words.split())
        seconds = time.perf_counter() - begun
        return json.loads(self.run("evaluate", "model", "test.csv", "--json"))["accuracy"], seconds


def fit_peer(entry: Entry, split: Split, seed: int) -> tuple[float, float]:
    assert entry.fit is not None
    scaler = MinMaxScaler().fit(split.train)
    rows, test = scaler.transform(split.train), scaler.transform(split.test)
    begun = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = entry.fit(split, rows, seed)
        seconds = time.perf_counter() - begun
        return float(np.mean(model.predict(test) == split.y_test)), seconds


def compare(ours: Ours, folder: Path, n_splits: int) -> Iterator[tuple[str, str, list[float], list[float], float, float]]:
    """For each set and method the accuracies, and the median seconds of both."""
    for name in SETS:
        try:
            X, y = load_svmlight_file(str(find(folder, name)))
        except Absent as absent:
            print(absent)
            continue
        X, y = X.toarray(), np.unique(y, return_inverse=True)[1]
        found: dict[str, list[list[float]]] = {entry.name: [[], [], [], []] for entry in ENTRIES}
        for seed in range(n_splits):
            part = split(X, y, seed)
            ours.write(part)
            for entry in ENTRIES:
                lists = found[entry.name]
                for to, figure in zip(lists[:2], ours.fit(entry.options, seed), strict=True):
                    to.append(figure)
                if entry.fit is not None:
                    for to, figure in zip(lists[2:], fit_peer(entry, part, seed), strict=True):
                        to.append(figure)
        for entry_name, (own, own_seconds, peers, peer_seconds) in found.items():
            median = [float(np.median(seconds)) if seconds else float("nan") for seconds in (own_seconds, peer_seconds)]
            yield name, entry_name, own, peers, *median


def several_classes(ours: Ours, n_splits: int) -> None:
    """UDEED with Fourier features beside a support vector machine on the same labels."""
    print("\n| set | classes | UDEED | UDEED, Fourier features | SVC |\n| --- | --- | --- | --- | --- |")
    for name, load in (("iris", load_iris), ("wine", load_wine), ("digits", load_digits)):
        data = load()
        plain, mapped, machine = [], [], []
        for seed in range(n_splits):
            part = split(data.data, data.target, seed)
            ours.write(part)
            plain.append(ours.fit("", seed)[0])
            mapped.append(ours.fit("--fourier 500 --scaling standard --lambda 100", seed)[0])
            scaler = StandardScaler().fit(part.train)
            svc = SVC().fit(scaler.transform(part.train[: part.n_labeled]), part.y[: part.n_labeled])
            machine.append(float(svc.score(scaler.transform(part.test), part.y_test)))
        figures = " | ".join(f"{mean(list_):.3f}" for list_ in (plain, mapped, machine))
        print(f"| {name} | {len(data.target_names)} | {figures} |", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--command", type=Path, default=Path("target/release/udeed"))
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--splits", type=int, default=10)
    arguments = parser.parse_args()
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(arguments.command.resolve(), Path(folder))
        rows: dict[str, dict[str, tuple[float, float | None]]] = {}
        speed = {}
        for name, method, own, peers, own_seconds, peer_seconds in compare(ours, arguments.data, arguments.splits):
            peer = mean(peers) if peers else None
            rows.setdefault(method, {})[name] = (mean(own), peer)
            if peer is not None and mean(own) < peer - 0.01:
                missed.append(f"{method} on {name}: {mean(own):.3f}, the peer {peer:.3f}")
            if name == TIMED and peer is not None:
                speed[method] = (own_seconds, peer_seconds)
        names = [name for name in SETS if any(name in found for found in rows.values())]
        print("| | " + " | ".join(names) + " |\n| --- |" + " --- |" * len(names))
        for entry in ENTRIES:
            cells = [rows[entry.name][name] for name in names]
            print(f"| {entry.name} | " + " | ".join(f"{own:.3f}" for own, _ in cells) + " |")
            if entry.peer:
                print(f"| *{entry.peer}* | " + " | ".join(f"*{peer:.3f}*" for _, peer in cells) + " |")
        print(f"\n| {TIMED} | ours | theirs | |\n| --- | --- | --- | --- |")
        for method, (own, theirs) in speed.items():
            print(f"| {method} | {1000 * own:.0f} ms | {1000 * theirs:.0f} ms | {theirs / own:.1f} x |")
        several_classes(ours, arguments.splits)
    print("\nmore than 0.01 below the peer:", *(missed or ["nowhere"]), sep="\n")


if __name__ == "__main__":
    main()
