"""Which rows to label, which labels to doubt, what further ones bring: ours beside scikit-activeml's and cleanlab's.

Makes the tables of docs/labeling.md; `make labels` runs it. Half of a set is tested on, the other half is the pool. From four
labels, two of each class, every strategy buys labels in batches up to a hundred; what it bought, a learner is fitted to. The
area under the learning curve is the mean accuracy over the labels bought, in points.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import udeed
from joblib import Parallel, delayed
from scipy.stats import wilcoxon
from sets import Absent
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from when_it_helps import DEVELOPMENT, DOCS, fill, rows

PAGE = DOCS / "labeling.md"
OURS = ("random", "variance-reduction", "margin", "vote-entropy", "committee")
PEERS = ("margin", "committee", "max herding", "typiclust", "core set")
MOST = 100
# Shares of wrong labels.
WRONG = (0.05, 0.1, 0.2)
# Labels to forecast from, and further ones.
AT_HAND = (30, 60)
MORE = (10, 50, 100)


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

    def __init__(self, folder: Path, name: str, repetition: int):
        X, y = rows(folder, name)
        # One class against the rest, where there are more.
        y = (y == np.bincount(y).argmax()).astype(int) if len(np.unique(y)) > 2 else y
        pool, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=repetition)
        self.X, self.y, self.X_test, self.y_test = X[pool], y[pool], X[test], y[test]
        self.seed = repetition

    def first(self) -> np.ndarray:
        """Two rows of each class."""
        draw = np.random.default_rng(self.seed)
        return np.concatenate([draw.choice(np.flatnonzero(self.y == k), 2, replace=False) for k in (0, 1)])

    def known(self, bought: np.ndarray) -> np.ndarray:
        few = np.full(len(self.y), -1)
        few[bought] = self.y[bought]
        return few

    def fitted(self, name: str, bought: np.ndarray) -> Any:
        model = learner(name, self.seed)
        if name == "logistic":
            return model.fit(self.X[bought], self.y[bought])
        return model.fit(self.X, self.known(bought))

    def accuracy(self, model: Any) -> float:
        return float((model.predict(self.X_test) == self.y_test).mean())


Ask = Callable[[Pool, np.ndarray, Any, int], np.ndarray]


def ours(strategy: str) -> Ask:
    def ask(pool: Pool, bought: np.ndarray, model: Any, count: int) -> np.ndarray:
        model = model if isinstance(model, udeed.BaggingClassifier | udeed.UDEEDAutoClassifier) else None
        return udeed.suggest(pool.X, pool.known(bought), count, model, strategy, pool.seed + len(bought))

    return ask


def ours_cold(pool: Pool, bought: np.ndarray, model: Any, count: int) -> np.ndarray:
    """The default without a model until there are ten labels."""
    return ours("variance-reduction")(pool, bought, model if len(bought) >= 10 else None, count)


def peers(strategy: str) -> Ask:
    """A strategy of scikit-activeml: standardised rows, and logistic regression or ten bootstraps of it."""

    def ask(pool: Pool, bought: np.ndarray, model: Any, count: int) -> np.ndarray:
        from skactiveml.classifier import SklearnClassifier
        from skactiveml.pool import CoreSet, MaxHerding, QueryByCommittee, TypiClust, UncertaintySampling
        from sklearn.ensemble import BaggingClassifier

        X = StandardScaler().fit_transform(pool.X)
        few = pool.known(bought).astype(float)
        few[few < 0] = np.nan
        seed = pool.seed + len(bought)
        logistic = LogisticRegression(max_iter=1000)
        committee = SklearnClassifier(BaggingClassifier(logistic, 10, random_state=seed), classes=[0, 1], random_state=seed)
        queries = {
            "margin": lambda: UncertaintySampling(method="margin_sampling", random_state=seed).query(
                X, few, SklearnClassifier(logistic, classes=[0, 1], random_state=seed), batch_size=count
            ),
            "committee": lambda: QueryByCommittee(random_state=seed).query(X, few, committee, batch_size=count),
            "max herding": lambda: MaxHerding(random_state=seed).query(X, few, batch_size=count),
            "typiclust": lambda: TypiClust(random_state=seed).query(X, few, batch_size=count),
            "core set": lambda: CoreSet(random_state=seed).query(X, few, batch_size=count),
        }
        return np.asarray(queries[strategy]())

    return ask


def asks(with_peers: bool) -> dict[str, Ask]:
    all_of: dict[str, Ask] = {name: ours(name) for name in OURS}
    all_of["variance-reduction, no model below ten"] = ours_cold
    if with_peers:
        all_of.update({f"scikit-activeml, {name}": peers(name) for name in PEERS})
    return all_of


def curve(pool: Pool, ask: Ask, name: str, batch: int) -> Iterator[tuple[int, float]]:
    """Numbers of labels, and the accuracy with them."""
    bought = pool.first()
    while True:
        model = pool.fitted(name, bought)
        yield len(bought), pool.accuracy(model)
        count = min(batch, MOST - len(bought), len(pool.y) - len(bought))
        if count <= 0:
            return
        bought = np.concatenate([bought, ask(pool, bought, model, count)])


def area(points: list[tuple[int, float]]) -> float:
    labels, accuracies = np.array(points).T
    return 100.0 * float(np.trapezoid(accuracies, labels) / (labels[-1] - labels[0]))


def reached(points: list[tuple[int, float]], goal: float) -> int:
    """The number of labels from which on the goal is reached; twice the last if never."""
    return next((n for n, accuracy in points if accuracy >= goal), 2 * points[-1][0])


def trial(options: argparse.Namespace, name: str, repetition: int) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore")
    pool = Pool(options.data, name, repetition)
    found = []
    for learned in options.learners:
        goal = 0.95 * pool.accuracy(pool.fitted(learned, np.arange(len(pool.y))))
        for strategy, ask in asks(options.peers).items():
            began = time.monotonic()
            points = list(curve(pool, ask, learned, options.batch))
            row = {"set": name, "repetition": repetition, "learner": learned, "strategy": strategy, "area": area(points)}
            found.append({**row, "labels": reached(points, goal), "seconds": time.monotonic() - began})
    return found


def areas_table(found: list[dict[str, Any]], learned: str) -> str:
    """For each strategy its gain over random rows: mean, sets up, sets significantly up and down, labels needed."""
    own = [row for row in found if row["learner"] == learned]
    strategies = list(dict.fromkeys(row["strategy"] for row in own))
    sets = list(dict.fromkeys(row["set"] for row in own))

    def values(strategy: str, name: str, what: str) -> np.ndarray:
        of = [row for row in own if row["strategy"] == strategy and row["set"] == name]
        return np.array([row[what] for row in sorted(of, key=lambda row: row["repetition"])])

    lines = [
        f"| {learned} | area | over random | sets up | significantly up, down | labels for 95 % |",
        "| --- | ---: | ---: | ---: | ---: | ---: |",
    ]
    for strategy in strategies:
        gains = [values(strategy, name, "area") - values("random", name, "area") for name in sets]
        means = np.array([gain.mean() for gain in gains])
        tests = [wilcoxon(gain).pvalue if np.any(gain) and len(gain) > 5 else 1.0 for gain in gains]
        marks = [sum(p < 0.05 and sign * mean > 0 for p, mean in zip(tests, means, strict=True)) for sign in (1, -1)]
        mean = np.mean([values(strategy, name, "area").mean() for name in sets])
        needed = np.mean([(values(strategy, name, "labels") / values("random", name, "labels")).mean() for name in sets])
        cells = [f"{mean:.2f}", f"{means.mean():+.2f}", f"{(means > 0).sum()} of {len(sets)}"]
        cells += [f"{marks[0]}, {marks[1]}" if len(gains[0]) > 5 else "-", f"{needed:.2f}"]
        lines.append(f"| {strategy} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def sets_table(found: list[dict[str, Any]]) -> str:
    """The gain of the default over random rows on every set."""
    sets = list(dict.fromkeys(row["set"] for row in found))
    learners = list(dict.fromkeys(row["learner"] for row in found))
    lines = ["| | " + " | ".join(learners) + " |", "| --- |" + " ---: |" * len(learners)]
    for name in sets:
        cells = []
        for learned in learners:
            own = [row for row in found if row["set"] == name and row["learner"] == learned]
            mean = {s: np.mean([row["area"] for row in own if row["strategy"] == s]) for s in ("variance-reduction", "random")}
            cells.append(f"{mean['variance-reduction'] - mean['random']:+.1f}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def doubts(options: argparse.Namespace, name: str, repetition: int) -> list[dict[str, Any]]:
    warnings.simplefilter("ignore")
    X, y = rows(options.data, name)
    y = (y == np.bincount(y).argmax()).astype(int) if len(np.unique(y)) > 2 else y
    keep = min(MOST, len(y) - 2)
    labeled, _ = train_test_split(np.arange(len(y)), train_size=keep, stratify=y, random_state=repetition)
    found = []
    for share in WRONG:
        draw = np.random.default_rng(repetition)
        wrong = draw.choice(labeled, round(share * keep), replace=False)
        few = np.full(len(y), -1)
        few[labeled] = y[labeled]
        few[wrong] = 1 - few[wrong]
        is_wrong = np.isin(labeled, wrong)
        positions, reasons = udeed.doubt(X, few, repetition, return_scores=True)
        order = np.argsort(positions)
        suspicion = np.empty(keep)
        suspicion[np.argsort(labeled)] = 1 - reasons["probability"][order]
        logistic = learner("logistic", repetition)
        p = cross_val_predict(logistic, X[labeled], few[labeled], cv=5, method="predict_proba")
        forest = udeed.BaggingClassifier(
            members=100, base=udeed.Tree(features="root"), random_state=repetition, unlabeled=-1
        ).fit(X, few)
        ranks = {
            "doubt": suspicion,
            "cross-validated logistic regression": 1 - p[np.arange(keep), few[labeled]],
            "random forest, out of bag": 1 - forest.oob_decision_function_[labeled, few[labeled]],
        }
        try:
            from cleanlab.rank import get_label_quality_scores

            ranks["cleanlab on logistic regression"] = -get_label_quality_scores(
                few[labeled], p, method="normalized_margin", adjust_pred_probs=True
            )
        except ImportError:
            pass
        for method, rank in ranks.items():
            row = {"set": name, "share": share, "method": method, "precision": average_precision_score(is_wrong, rank)}
            said = [s * 100 / keep for s in reasons["n_wrong"]] if method == "doubt" else None
            found.append({**row, "said": said})
    return found


def doubts_table(found: list[dict[str, Any]]) -> str:
    methods = list(dict.fromkeys(row["method"] for row in found))
    lines = ["| average precision | " + " | ".join(f"{100 * share:.0f} % wrong" for share in WRONG) + " |"]
    lines.append("| --- |" + " ---: |" * len(WRONG))
    for method in methods:
        means = [np.mean([r["precision"] for r in found if r["method"] == method and r["share"] == s]) for s in WRONG]
        lines.append(f"| {method} | " + " | ".join(f"{mean:.2f}" for mean in means) + " |")
    said = [np.mean([r["said"] for r in found if r["said"] and r["share"] == share], axis=0) for share in WRONG]
    lines.append("| wrong labels said, of 100 | " + " | ".join(f"{low:.0f} to {high:.0f}" for low, high in said) + " |")
    return "\n".join(lines)


def forecasts(options: argparse.Namespace, name: str, repetition: int) -> list[dict[str, Any]]:
    """What was forecast from labels drawn at random, and what came."""
    warnings.simplefilter("ignore")
    pool = Pool(options.data, name, repetition)
    drawn = np.random.default_rng(repetition).permutation(len(pool.y))
    found = []
    for labels in AT_HAND:
        # Rows run out, or a class is too rare among the labels to forecast from.
        if min(np.bincount(pool.y[drawn[:labels]], minlength=2)) < 3 or labels >= len(drawn):
            continue
        said = udeed.forecast(pool.X, pool.known(drawn[:labels]), MORE, learner("auto", repetition), repetition)
        for step, more in enumerate(said.more):
            if labels + more > len(drawn):
                continue
            came = pool.accuracy(pool.fitted("auto", drawn[: labels + more]))
            row = {"set": name, "repetition": repetition, "labels": labels, "more": int(more), "came": came}
            row |= {"said": said.accuracy[step], "low": said.low[step], "high": said.high[step]}
            found.append({**row, "as now": said.curve[-1, 1], "before": pool.accuracy(pool.fitted("auto", drawn[:labels]))})
    return found


def forecasts_table(found: list[dict[str, Any]]) -> str:
    """Mean absolute errors in points, and how often what came lay in the interval."""
    lines = [
        "| labels | further | forecasts | gain that came | error | error of \"as now\" | in the interval | its width |",
        "| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for labels in AT_HAND:
        for more in (0, *MORE):
            own = [row for row in found if row["labels"] == labels and row["more"] == more]
            if not own:
                continue
            of = {what: np.array([row[what] for row in own]) for what in ("came", "said", "low", "high", "as now", "before")}
            inside = (of["low"] <= of["came"]) & (of["came"] <= of["high"])
            cells = [str(len(own)), f"{100 * (of['came'] - of['before']).mean():+.1f}"]
            cells += [f"{100 * abs(of[what] - of['came']).mean():.1f}" for what in ("said", "as now")]
            cells += [f"{100 * inside.mean():.0f} %", f"{100 * (of['high'] - of['low']).mean():.0f}"]
            lines.append(f"| {labels} | {more} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with the sets")
    parser.add_argument("--sets", nargs="*", default=DEVELOPMENT)
    parser.add_argument("--learners", nargs="*", default=["bagging", "auto", "logistic"])
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--batch", type=int, default=5)
    parser.add_argument("--jobs", type=int, default=-1)
    parser.add_argument("--no-peers", dest="peers", action="store_false", help="leave scikit-activeml out")
    parser.add_argument("--only", choices=["suggest", "doubt", "forecast"])
    parser.add_argument("--out", type=Path, help="JSON file for every trial")
    parser.add_argument("--write", action="store_true", help="put the tables into docs/")
    options = parser.parse_args()
    pairs = [(name, repetition) for name in options.sets for repetition in range(options.repetitions)]
    run = Parallel(n_jobs=options.jobs)
    texts, trials = {}, []
    try:
        if options.only in (None, "suggest"):
            trials = [row for some in run(delayed(trial)(options, *pair) for pair in pairs) for row in some]
            texts = {f"areas, {learned}": areas_table(trials, learned) for learned in options.learners}
            texts["sets"] = sets_table(trials)
        if options.only in (None, "doubt"):
            found = [row for some in run(delayed(doubts)(options, *pair) for pair in pairs) for row in some]
            texts["doubt"] = doubts_table(found)
            trials += found
        if options.only in (None, "forecast"):
            found = [row for some in run(delayed(forecasts)(options, *pair) for pair in pairs) for row in some]
            texts["forecast"] = forecasts_table(found)
            trials += found
    except Absent as absent:
        print(absent)
        return
    if options.out:
        options.out.write_text(json.dumps(trials))
    page = PAGE.read_text(encoding="utf-8") if options.write else ""
    for mark, text in texts.items():
        print(f"\n{mark}\n{text}")
        page = fill(page, mark, text) if options.write else page
    if options.write:
        PAGE.write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
