"""Classifiers with few labels on the same splits: accuracy, log loss and calibration.

Half of the rows of a set are for testing, the others for training, and of these few keep their labels. Everyone sees the same
rows: those who learn from unlabeled rows get all training rows, the others the labeled ones. Features of deviation 1 are
standardised by all training rows for either.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import time
import warnings
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import udeed
from finished import finished, print_of
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

# Number of bins of equal width of the expected calibration error.
BINS = 10
# Least probability that counts in a log loss: one sure error would be infinite.
LEAST = 1e-3
# Accuracy and calibration error in percent.
MEASURES = ("accuracy", "log loss", "calibration error")


@dataclass(frozen=True)
class Entrant:
    """A classifier that takes part."""

    classifier: Any
    # Whether it also sees the unlabeled rows.
    semi: bool = False
    # Whether it sees features of deviation 1.
    scaled: bool = False


@dataclass(frozen=True)
class Regime:
    """Which training rows keep their labels: a share or a number of them, each class in proportion or drawn at random."""

    labeled: float
    random: bool = False

    def keep(self, y: np.ndarray, seed: int) -> np.ndarray:
        """The labels of training rows, -1 where they are hidden. At random: drawn again until there are two classes."""
        if not self.random:
            return np.asarray(udeed.mask_labels(y, self.labeled, random_state=seed))
        draw = np.random.default_rng(seed)
        while True:
            kept = draw.choice(len(y), int(self.labeled), replace=False)
            if len(np.unique(y[kept])) > 1:
                few = np.full(len(y), -1)
                few[kept] = y[kept]
                return few


def predict(entrant: Entrant, X: np.ndarray, few: np.ndarray, tested: np.ndarray, n_classes: int) -> tuple[np.ndarray, Any]:
    """The classes of test rows, and their probabilities where the classifier has any."""
    if entrant.scaled:
        scaler = StandardScaler().fit(X)
        X, tested = scaler.transform(X), scaler.transform(tested)
    rows = slice(None) if entrant.semi else few != -1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = clone(entrant.classifier).fit(X[rows], few[rows])
        classes = np.asarray(fitted.predict(tested)).ravel()
        if not hasattr(fitted, "predict_proba"):
            return classes, None
        # A class without a label has no column of its own.
        probabilities = np.zeros((len(tested), n_classes))
        probabilities[:, fitted.classes_.astype(int)] = fitted.predict_proba(tested)
    return classes, probabilities


def log_loss(probabilities: np.ndarray, y: np.ndarray) -> float:
    return float(-np.log(np.clip(probabilities[np.arange(len(y)), y], LEAST, 1.0)).mean())


def calibration_error(confidence: np.ndarray, right: np.ndarray) -> float:
    """The expected calibration error: how far confidence and accuracy lie apart, in the mean over bins of equal width."""
    place = np.minimum((confidence * BINS).astype(int), BINS - 1)
    apart = [abs(float((confidence - right)[place == own].sum())) for own in range(BINS)]
    return sum(apart) / len(right)


def score(entrant: Entrant, X: np.ndarray, y: np.ndarray, regime: Regime, splits: int, seed: int) -> dict[str, float]:
    """The measures of an entrant in the mean over the splits; calibration over the test rows of all of them."""
    n_classes = int(y.max()) + 1
    found: list[tuple[float, float]] = []
    confidence, hits = [], []
    parts = udeed.SemiSupervisedSplit(splits, test_size=0.5, random_state=seed).split(X, y)
    for number, (train, test) in enumerate(parts):
        few = regime.keep(y[train], seed * splits + number)
        classes, probabilities = predict(entrant, X[train], few, X[test], n_classes)
        right = classes == y[test]
        known = probabilities is not None
        found.append((float(right.mean()), log_loss(probabilities, y[test]) if known else np.nan))
        confidence.append(probabilities.max(axis=1) if known else np.full(len(test), np.nan))
        hits.append(right)
    accuracy, loss = np.mean(found, axis=0)
    known = not np.isnan(loss)
    error = calibration_error(np.concatenate(confidence), np.concatenate(hits)) if known else np.nan
    return dict(zip(MEASURES, (100.0 * float(accuracy), float(loss), 100.0 * error), strict=True))


def build_of(classifier: Any) -> str:
    """What distinguishes one build of a classifier from another: ours by its code, others by the version of the package."""
    package = type(classifier).__module__.split(".")[0]
    if package == "udeed":
        return hashlib.sha256(Path(udeed._core.__file__).read_bytes()).hexdigest()
    return importlib.metadata.version({"sklearn": "scikit-learn"}.get(package, package))


# A regime, a set and an entrant.
Job = tuple[str, str, str]


def scored(cache: Path, job: Job, entrant: Entrant, *arguments: Any) -> tuple[Job, dict[str, float], float]:
    """The scores of an entrant, from the cache if they are there."""
    classifier, seconds = entrant.classifier, 0.0

    def make() -> dict[str, float]:
        nonlocal seconds
        began = time.monotonic()
        found = score(entrant, *arguments)
        seconds = time.monotonic() - began
        return found

    settings = sorted((name, repr(value)) for name, value in classifier.get_params().items())
    # What was scored is in the name of the file: another build or other rows are another file.
    said = [job[1:], build_of(classifier), settings, entrant.semi, entrant.scaled, repr(arguments[2:])]
    found = finished(cache, [*said, print_of(arguments[0])], make)
    return job, found, seconds


# Of each regime, measure and entrant the scores on each set.
Tables = dict[str, dict[str, dict[str, list[float]]]]


def tables(
    rows: dict[str, tuple[np.ndarray, np.ndarray]],
    regimes: dict[str, Regime],
    entrants: dict[str, Entrant],
    cache: Path,
    splits: int = 10,
    seed: int = 0,
    jobs: int = 2,
) -> Tables:
    """The scores of all entrants on all sets under all regimes."""
    found: dict[Job, dict[str, float]] = {}
    with ProcessPoolExecutor(jobs) as pool:
        begun = [
            pool.submit(scored, cache, (title, name, who), entrant, X, y, regime, splits, seed)
            for title, regime in regimes.items()
            for name, (X, y) in rows.items()
            for who, entrant in entrants.items()
        ]
        for number, future in enumerate(as_completed(begun), 1):
            job, scores, seconds = future.result()
            found[job] = scores
            if seconds > 0.0:
                print(f"{number} of {len(begun)}: {', '.join(job)}, {seconds:.0f} s", flush=True)
    return {
        title: {
            measure: {who: [found[title, name, who][measure] for name in rows] for who in entrants} for measure in MEASURES
        }
        for title in regimes
    }


def means_table(found: Tables, measure: str = "accuracy") -> str:
    """The mean of a measure over the sets, and the mean rank, of each entrant under each regime."""
    lines = ["| | " + " | ".join(f"{title} | rank" for title in found) + " |", "| --- |" + " ---: | ---: |" * len(found)]
    digits, sign = (3, -1.0) if measure == "log loss" else (2, -1.0 if measure == "calibration error" else 1.0)
    columns = {title: measured[measure] for title, measured in found.items()}
    known = [who for who, values in next(iter(columns.values())).items() if not np.isnan(values).any()]
    ranked = {
        title: udeed.AverageRanks({who: [sign * v for v in values[who]] for who in known}).ranks
        for title, values in columns.items()
    }
    for who in known:
        cells = [f"{np.mean(values[who]):.{digits}f} | {ranked[title][who]:.1f}" for title, values in columns.items()]
        lines.append(f"| {who} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def wilcoxon_table(found: Tables, ours: Iterable[str], theirs: Iterable[str]) -> str:
    """Mean difference of accuracy, on how many sets it is above 0, and the p-value of Wilcoxon's signed-rank test over sets."""
    from scipy.stats import wilcoxon

    lines = ["| | " + " | ".join(f"{title} | sets | p" for title in found) + " |", "| --- |" + " ---: |" * 3 * len(found)]
    for own in ours:
        for other in theirs:
            cells = []
            for measured in found.values():
                apart = np.subtract(measured["accuracy"][own], measured["accuracy"][other])
                p = wilcoxon(apart).pvalue if np.any(apart) else 1.0
                cells.append(f"{apart.mean():+.2f} | {int((apart > 0).sum())} of {len(apart)} | {p:.3f}")
            lines.append(f"| {own} - {other} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def sets_table(found: dict[str, list[float]], sets: Iterable[str]) -> str:
    lines = ["| | " + " | ".join(found) + " |", "| --- |" + " ---: |" * len(found)]
    for place, name in enumerate(sets):
        best = max(values[place] for values in found.values())
        cells = [f"**{v[place]:.1f}**" if v[place] > best - 0.05 else f"{v[place]:.1f}" for v in found.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)
