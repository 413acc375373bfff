"""Buying labels: learning curves of our strategies and of scikit-activeml's.

Half of a set is tested on, the other half is the pool. Every strategy buys the labels of rows of the pool in batches up to a
hundred; to what it bought, a learner is fitted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import udeed
from few_labels import build_of
from finished import finished, print_of
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

DEFAULT = "variance-reduction"
OURS = ("random", DEFAULT, "margin", "vote-entropy", "committee")
# Its TypiClust is left out: version 1.0.1 fails on pools as small as that of `labor`.
PEERS = tuple(f"scikit-activeml, {name}" for name in ("margin", "committee", "max herding", "core set"))
# The strategy of scikit-activeml that buys best.
BEST_PEER = "scikit-activeml, max herding"
MOST = 100
Points = list[tuple[int, float]]
# Rows and classes of the pool, and of the test rows.
Halves = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def halves(X: np.ndarray, y: np.ndarray, repetition: int) -> Halves:
    """A pool and test rows of the same size."""
    pool, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=repetition)
    return X[pool], y[pool], X[test], y[test]


def learner(name: str, seed: int) -> Any:
    match name:
        case "bagging":
            return udeed.BaggingClassifier(scaling="standard", random_state=seed)
        case "auto":
            return udeed.UDEEDAutoClassifier(random_state=seed)
        case _:
            return make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))


class Pool:
    """Rows to buy labels of, and rows to test on."""

    def __init__(self, rows: Halves, seed: int, measure: str):
        self.X, self.y, self.X_test, self.y_test = rows
        self.seed, self.measure = seed, measure
        self.n_classes = int(self.y.max()) + 1

    def first(self, each: int) -> np.ndarray:
        """Some rows of each class."""
        draw = np.random.default_rng(self.seed)
        found = [draw.choice(np.flatnonzero(self.y == k), each, replace=False) for k in range(self.n_classes)]
        return np.concatenate(found)

    def known(self, bought: np.ndarray) -> np.ndarray:
        few = np.full(len(self.y), -1)
        few[bought] = self.y[bought]
        return few

    def fitted(self, name: str, bought: np.ndarray) -> Any:
        """A model of the labels; none while they are of one class."""
        if len(np.unique(self.y[bought])) < 2:
            return None
        model = learner(name, self.seed)
        if name == "logistic":
            return model.fit(self.X[bought], self.y[bought])
        return model.fit(self.X, self.known(bought))

    def score(self, model: Any, bought: np.ndarray) -> float:
        """Without a model, the one class that is known is predicted."""
        if self.measure == "AUC":
            return 0.5 if model is None else float(roc_auc_score(self.y_test, model.predict_proba(self.X_test)[:, 1]))
        predicted = self.y[bought][0] if model is None else model.predict(self.X_test)
        return float((predicted == self.y_test).mean())


Ask = Callable[[Pool, np.ndarray, Any, int], np.ndarray]


def ours(strategy: str) -> Ask:
    """The model that is measured is asked, or bagging where that is none of ours; none below ten labels, as the default has it."""

    def ask(pool: Pool, bought: np.ndarray, model: Any, count: int) -> np.ndarray:
        is_ours = isinstance(model, udeed.BaggingClassifier | udeed.UDEEDAutoClassifier)
        asked = model if is_ours else learner("bagging", pool.seed)
        if strategy == DEFAULT and len(bought) < 10:
            asked = None
        return np.asarray(udeed.suggest(pool.X, pool.known(bought), count, asked, strategy, pool.seed + len(bought)))

    return ask


def peers(strategy: str) -> Ask:
    """A strategy of scikit-activeml: standardised rows, and logistic regression or ten bootstraps of it."""

    def ask(pool: Pool, bought: np.ndarray, model: Any, count: int) -> np.ndarray:
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import CoreSet, MaxHerding, QueryByCommittee, UncertaintySampling
        from sklearn.ensemble import BaggingClassifier

        X = StandardScaler().fit_transform(pool.X)
        few = pool.known(bought).astype(float)
        few[few < 0] = np.nan
        seed = pool.seed + len(bought)
        classes = list(range(pool.n_classes))
        logistic = LogisticRegression(max_iter=1000)
        committee = SklearnClassifier(BaggingClassifier(logistic, 10, random_state=seed), classes=classes, random_state=seed)
        queries = {
            "margin": lambda: UncertaintySampling(method="margin_sampling", random_state=seed).query(
                X, few, SklearnClassifier(logistic, classes=classes, random_state=seed), batch_size=count
            ),
            "committee": lambda: QueryByCommittee(random_state=seed).query(X, few, committee, batch_size=count),
            "max herding": lambda: MaxHerding(random_state=seed).query(X, few, batch_size=count),
            "core set": lambda: CoreSet(random_state=seed).query(X, few, batch_size=count),
        }
        return np.asarray(queries[strategy.removeprefix("scikit-activeml, ")]())

    return ask


def curve(pool: Pool, ask: Ask, name: str, first: int, batch: int) -> Iterator[tuple[int, float]]:
    """Numbers of labels, and the score with them."""
    bought = pool.first(first)
    model = None
    while True:
        if len(bought):
            model = pool.fitted(name, bought)
            yield len(bought), pool.score(model, bought)
        count = min(batch, MOST - len(bought), len(pool.y) - len(bought))
        if count <= 0:
            return
        bought = np.concatenate([bought, ask(pool, bought, model, count)]).astype(int)


def area(points: Points) -> float:
    """The area under a learning curve: the mean score over the labels bought, in points."""
    labels, scores = np.array(points).T
    return 100.0 * float(np.trapezoid(scores, labels) / (labels[-1] - labels[0]))


def reached(points: Points, goal: float) -> int:
    """The number of labels from which on the goal is reached; twice the last if never."""
    return next((n for n, score in points if score >= goal), 2 * points[-1][0])


@dataclass(frozen=True)
class Contest:
    """Who buys what, and how."""

    # The halves of a set by its name and the repetition.
    rows: Callable[[str, int], Halves]
    sets: tuple[str, ...]
    learner: str
    strategies: tuple[str, ...]
    batch: int = 5
    # Number of rows of each class that are labeled at the beginning.
    first: int = 2
    measure: str = "accuracy"


def trial(contest: Contest, name: str, repetition: int, cache: Path) -> list[dict[str, Any]]:
    """The curves of all strategies, from the cache where they are there."""
    warnings.simplefilter("ignore")
    pool = Pool(contest.rows(name, repetition), repetition, contest.measure)
    build = build_of(learner("bagging", 0))

    def cached(what: str, make: Callable[[], Any]) -> Any:
        rows = print_of(pool.X)
        said = [name, repetition, contest.learner, what, contest.batch, contest.first, contest.measure, build, rows]
        return finished(cache, said, make)

    everything = np.arange(len(pool.y))
    goal = cached("goal", lambda: 0.95 * pool.score(pool.fitted(contest.learner, everything), everything))
    found = []
    for strategy in contest.strategies:
        ask = (peers if strategy in PEERS else ours)(strategy)

        def bought(ask: Ask = ask) -> Points:
            return list(curve(pool, ask, contest.learner, contest.first, contest.batch))

        points = cached(strategy, bought)
        row = {"set": name, "repetition": repetition, "strategy": strategy, "points": points}
        found.append({**row, "area": area(points), "labels": reached(points, goal)})
    return found


def trials(contest: Contest, repetitions: int, jobs: int, cache: Path) -> list[dict[str, Any]]:
    with ProcessPoolExecutor(jobs) as pool:
        pairs = [(name, repetition) for name in contest.sets for repetition in range(repetitions)]
        begun = {pool.submit(trial, contest, *pair, cache): pair for pair in pairs}
        for number, future in enumerate(as_completed(begun), 1):
            name, repetition = begun[future]
            future.result()
            print(f"{contest.learner}, batches of {contest.batch}: {number} of {len(begun)}, {name} {repetition}", flush=True)
    by_pair = {pair: future.result() for future, pair in begun.items()}
    return [row for pair in pairs for row in by_pair[pair]]
