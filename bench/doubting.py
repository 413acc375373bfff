"""Doubting labels: how well wrong labels are ranked, beside cleanlab and cross-validated logistic regression."""

from __future__ import annotations

import importlib.util
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import udeed
from few_labels import build_of
from finished import finished, print_of
from joblib import Parallel, delayed
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import cross_val_predict, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from suggesting import MOST
from when_it_helps import rows

# Shares of wrong labels.
WRONG = (0.05, 0.1, 0.2)


def ranks(X: np.ndarray, few: np.ndarray, labeled: np.ndarray, seed: int) -> tuple[dict[str, np.ndarray], Any]:
    """How suspicious each labeled row is, by each method; and how many labels ours says are wrong."""
    positions, reasons = udeed.doubt(X, few, seed, return_scores=True)
    suspicion = np.empty(len(few))
    suspicion[positions] = 1 - reasons["probability"]
    given = few[labeled]
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    p = cross_val_predict(logistic, X[labeled], given, cv=5, method="predict_proba")
    tree = udeed.Tree(features="root")
    forest = udeed.BaggingClassifier(members=100, base=tree, random_state=seed, unlabeled=-1).fit(X, few)
    found = {
        "doubt": suspicion[labeled],
        "cross-validated logistic regression": 1 - p[np.arange(len(given)), given],
        "random forest, out of bag": 1 - forest.oob_decision_function_[labeled, given],
    }
    try:
        from cleanlab.rank import get_label_quality_scores
    except ImportError:
        print("cleanlab is not installed: it is left out")
    else:
        for method in ("self_confidence", "normalized_margin"):
            quality = get_label_quality_scores(given, p, method=method, adjust_pred_probs=True)
            found[f"cleanlab on logistic regression, {method.replace('_', ' ')}"] = -quality
    return found, reasons["n_wrong"]


def trial(data: Path, name: str, repetition: int) -> list[dict[str, Any]]:
    """Of every share of wrong labels the precision of each method, and how many labels ours says are wrong."""
    warnings.simplefilter("ignore")
    X, y = rows(data, name)
    keep = min(MOST, len(y) - 2)
    labeled, _ = train_test_split(np.arange(len(y)), train_size=keep, stratify=y, random_state=repetition)
    given = np.full(len(y), -1)
    given[labeled] = y[labeled]
    _, reasons = udeed.doubt(X, given, repetition, return_scores=True)
    found = [{"share": 0.0, "method": "doubt", **said(reasons["n_wrong"], 0, keep)}]
    for share in WRONG:
        wrong = np.random.default_rng(repetition).choice(labeled, round(share * keep), replace=False)
        few = given.copy()
        few[wrong] = 1 - few[wrong]
        by_method, n_wrong = ranks(X, few, labeled, repetition)
        for method, rank in by_method.items():
            precision = average_precision_score(np.isin(labeled, wrong), rank)
            number = said(n_wrong, len(wrong), keep) if method == "doubt" else {}
            found.append({"share": share, "method": method, "precision": precision, **number})
    return found


def said(n_wrong: tuple[int, int], wrong: int, labels: int) -> dict[str, Any]:
    """How many labels of a hundred are said to be wrong, and whether that holds."""
    return {"said": [n * MOST / labels for n in n_wrong], "holds": n_wrong[0] <= wrong <= n_wrong[1]}


def kept_trial(data: Path, name: str, repetition: int, cache: Path) -> list[dict[str, Any]]:
    """A trial, from the cache where it is there."""
    has_cleanlab = importlib.util.find_spec("cleanlab") is not None
    build, X = build_of(udeed.BaggingClassifier()), rows(data, name)[0]
    said = ["doubt", name, repetition, WRONG, MOST, has_cleanlab, build, print_of(X)]
    return finished(cache, said, lambda: trial(data, name, repetition))


def trials(data: Path, sets: tuple[str, ...], repetitions: int, jobs: int, cache: Path) -> list[dict[str, Any]]:
    pairs = [(name, repetition) for name in sets for repetition in range(repetitions)]
    return [row for some in Parallel(jobs)(delayed(kept_trial)(data, *pair, cache) for pair in pairs) for row in some]


def table(found: list[dict[str, Any]]) -> str:
    shares = (0.0, *WRONG)
    methods = list(dict.fromkeys(row["method"] for row in found))
    lines = ["| average precision | none wrong | " + " | ".join(f"{100 * share:.0f} % wrong" for share in WRONG) + " |"]
    lines.append("| --- |" + " ---: |" * len(shares))
    for method in methods:
        means = [np.mean([r["precision"] for r in found if r["method"] == method and r["share"] == s]) for s in WRONG]
        lines.append(f"| {method} | | " + " | ".join(f"{mean:.3f}" for mean in means) + " |")
    ours = [[row for row in found if row["method"] == "doubt" and row["share"] == share] for share in shares]
    ranges = [np.mean([row["said"] for row in own], axis=0) for own in ours]
    lines.append("| wrong labels said, of 100 | " + " | ".join(f"{low:.0f} to {high:.0f}" for low, high in ranges) + " |")
    holds = [100 * np.mean([row["holds"] for row in own]) for own in ours]
    lines.append("| how often that holds | " + " | ".join(f"{share:.0f} %" for share in holds) + " |")
    return "\n".join(lines)
