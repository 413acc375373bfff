"""Trees, nearest neighbours and naive Bayes of scikit-learn, to compare ours with.

    python learners.py        writes learners.json next to this file

Made with Python 3.11, numpy 2.4.6 and scikit-learn 1.9.1; needs nothing else.

Values of features are whole numbers in units of 2^-20, exact in the single precision of
scikit-learn's trees, and weights are in units of 1/8. No two values of a feature are the same.
scikit-learn draws which of several best splits it takes, so only trees are kept in which no other
split comes near to one that was taken. Nodes are in depth-first order, as ours.
"""

import json
from pathlib import Path

import numpy as np
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

HERE = Path(__file__).resolve().parent
ROWS, QUERIES, FEATURES = 90, 12, 4


def impurity(y, weights, criterion):
    counts = np.bincount(y, weights)
    shares = counts[counts > 0] / counts.sum()
    return counts.sum() * (1 - (shares**2).sum() if criterion == "gini" else -(shares * np.log(shares)).sum())


def is_unique(x, y, weights, criterion, leaf):
    """Whether one split of these rows is better than all others."""
    found = []
    for column in x.T:
        order = np.argsort(column)
        for n_left in range(leaf, len(y) - leaf + 1):
            sides = order[:n_left], order[n_left:]
            found.append(sum(impurity(y[side], weights[side], criterion) for side in sides))
    best, second = sorted(found)[:2]
    return second - best > 1e-6


def tree(x, y, weights, criterion, depth, leaf, split):
    model = DecisionTreeClassifier(
        criterion=criterion, max_depth=depth, min_samples_leaf=leaf, min_samples_split=split, random_state=0
    )
    grown = model.fit(x, y, sample_weight=weights).tree_
    inner = grown.feature >= 0
    members = model.decision_path(x).toarray().astype(bool)
    for node in np.flatnonzero(inner):
        inside = members[:, node]
        if not is_unique(x[inside], y[inside], weights[inside], criterion, leaf):
            return None
    return {
        "features": [int(f) if split else 2**32 - 1 for f, split in zip(grown.feature, inner)],
        "thresholds": [float(t) if split else 0.0 for t, split in zip(grown.threshold, inner)],
        "distributions": [round(float(p), 15) for p in grown.value.ravel()],
    }


def problem(seed, n_classes):
    random = np.random.default_rng(seed)
    units = np.stack([random.permutation(2**20)[: ROWS + QUERIES] for _ in range(FEATURES)], axis=1)
    x = units / 2**20
    score = x[:ROWS] @ [1.0, -0.7, 0.4, 0.0] + 0.25 * random.normal(size=ROWS)
    y = np.searchsorted(np.quantile(score, np.arange(1, n_classes) / n_classes), score)
    eighths = random.integers(1, 24, size=ROWS)
    rows, queries = x[:ROWS], x[ROWS:]
    trees = []
    for weighted in [False, True]:
        weights = eighths / 8 if weighted else np.ones(ROWS)
        for criterion in ["gini", "entropy"]:
            for depth, leaf, split in [(None, 6, 2), (3, 1, 2), (2, 3, 2), (None, 1, 40)]:
                settings = {"criterion": criterion, "depth": depth, "leaf": leaf, "split": split}
                found = tree(rows, y, weights, **settings)
                if found:
                    trees.append({"weighted": weighted, "settings": settings, **found})
    bayes = [
        GaussianNB().fit(rows, y, sample_weight=weights).predict_proba(queries).ravel().tolist()
        for weights in [None, eighths / 8]
    ]
    neighbors = [
        {"k": k, "probabilities": KNeighborsClassifier(k).fit(rows, y).predict_proba(queries).ravel().tolist()}
        for k in [1, 3, 10]
    ]
    return {
        "n_classes": n_classes,
        "rows": units[:ROWS].tolist(),
        "queries": units[ROWS:].tolist(),
        "classes": y.tolist(),
        "eighths": eighths.tolist(),
        "trees": trees,
        "bayes": bayes,
        "neighbors": neighbors,
    }


def main():
    problems = [problem(seed, n_classes) for seed, n_classes in [(1, 2), (2, 2), (3, 3), (4, 5)]]
    for made in problems:
        print(made["n_classes"], "classes,", len(made["trees"]), "trees of", [len(t["features"]) for t in made["trees"]])
    text = ",\n".join(json.dumps(made, separators=(",", ":")) for made in problems)
    (HERE / "learners.json").write_text(f"[{text}]\n")


main()
