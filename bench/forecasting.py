"""Forecasts of what further labels bring, beside what came of them."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import udeed
from few_labels import build_of
from finished import finished, print_of
from joblib import Parallel, delayed
from suggesting import Halves, Pool, learner

# Labels to forecast from, and further ones.
AT_HAND = (30, 60, 100)
MORE = (10, 50, 100)


@dataclass(frozen=True)
class Outlook:
    """Whose accuracy is forecast, and where."""

    # The halves of a set by its name and the repetition.
    rows: Callable[[str, int], Halves]
    sets: tuple[str, ...]
    learner: str


def trial(outlook: Outlook, name: str, repetition: int) -> list[dict[str, Any]]:
    """What was forecast from labels drawn at random, and what came."""
    warnings.simplefilter("ignore")
    pool = Pool(outlook.rows(name, repetition), repetition, "accuracy")
    drawn = np.random.default_rng(repetition).permutation(len(pool.y))

    def came(labels: int) -> float:
        return pool.score(pool.fitted(outlook.learner, drawn[:labels]), drawn[:labels])

    found = []
    for labels in AT_HAND:
        # Rows run out, or a class is too rare among the labels to forecast from.
        if min(np.bincount(pool.y[drawn[:labels]], minlength=2)) < 3 or labels >= len(drawn):
            continue
        said = udeed.forecast(pool.X, pool.known(drawn[:labels]), MORE, learner(outlook.learner, repetition), repetition)
        for step, more in enumerate(said.more):
            if labels + more > len(drawn):
                continue
            row = {"set": name, "repetition": repetition, "labels": labels, "more": int(more), "came": came(labels + more)}
            row |= {"said": said.accuracy[step], "low": said.low[step], "high": said.high[step]}
            found.append({**row, "as now": said.curve[-1, 1], "before": came(labels)})
    return found


def kept_trial(outlook: Outlook, name: str, repetition: int, cache: Path) -> list[dict[str, Any]]:
    """A trial, from the cache where it is there."""
    build, X = build_of(udeed.BaggingClassifier()), outlook.rows(name, repetition)[0]
    said = ["forecast", outlook.learner, name, repetition, AT_HAND, MORE, build, print_of(X)]
    return finished(cache, said, lambda: trial(outlook, name, repetition))


def trials(outlook: Outlook, repetitions: int, jobs: int, cache: Path) -> list[dict[str, Any]]:
    pairs = [(name, repetition) for name in outlook.sets for repetition in range(repetitions)]
    return [row for some in Parallel(jobs)(delayed(kept_trial)(outlook, *pair, cache) for pair in pairs) for row in some]


def table(found: list[dict[str, Any]]) -> str:
    """Mean absolute errors in points, and how often what came lay in the interval."""
    lines = [
        '| labels | further | forecasts | gain that came | error | error of "as now" | in the interval | its width |',
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
