"""Batches of the expected variance reduction, in numpy from the definitions: writes suggest.json.

    python crates/udeed/tests/oracle/suggest.py
"""

import json
from pathlib import Path

import numpy as np

NOISE = 0.3


def standardised(rows):
    deviation = rows.std(axis=0)
    return np.clip((rows - rows.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), -6, 6)


def squared_distances(a, b):
    return ((a[:, None, :] - b[None, :, :]) ** 2).sum(axis=2)


def batch(rows, labeled, undecided, count, weights, costs):
    """Picks one by one; every covariance is computed anew from all labels, those of the batch included."""
    z = standardised(rows)
    candidates = np.setdiff1d(np.arange(len(rows)), labeled)
    distances = squared_distances(z[candidates], z[candidates])[np.triu_indices(len(candidates), 1)]
    # The middle one of the positive distances, of two the later.
    distances = np.sort(distances[distances > 0])
    width = distances[int(np.floor(0.5 * (len(distances) - 1) + 0.5))]
    kernel = np.exp(-squared_distances(z, z) / width)
    a = len(labeled) / (len(labeled) + 20) if undecided is not None else 0.0
    u = np.ones(len(rows)) if undecided is None else undecided
    w = (1 - a + a * u[candidates]) * weights[candidates] / weights[candidates].max()
    known, picked = list(labeled), []
    for _ in range(count):
        inner = np.linalg.inv(kernel[np.ix_(known, known)] + NOISE * np.eye(len(known)))
        c = kernel - kernel[:, known] @ inner @ kernel[known, :]
        among = c[np.ix_(candidates, candidates)]
        reduction = (w * among**2).sum(axis=1) / (np.diag(among) + NOISE)
        score = u[candidates] ** a * reduction / costs[candidates]
        score[np.isin(candidates, known)] = -1
        best = int(score.argmax())
        total = (w * np.diag(among)).sum()
        picked.append([int(candidates[best]), score[best], among[best, best], reduction[best] / total])
        known.append(int(candidates[best]))
    return picked


def problem(seed, n, columns, n_labeled, cold, even=True):
    draw = np.random.default_rng(seed)
    rows = draw.normal(size=(n, columns)) * draw.uniform(0.1, 10, size=columns) + draw.integers(3, size=(n, 1))
    rows[0, 0] = 1e4  # an outlier, which is cut
    labeled = draw.choice(n, n_labeled, replace=False)
    undecided = None if cold else draw.uniform(size=n)
    weights = np.ones(n) if even else draw.uniform(0.5, 2, size=n)
    costs = np.ones(n) if even else draw.uniform(0.5, 2, size=n)
    return {
        "rows": rows.tolist(),
        "labeled": sorted(labeled.tolist()),
        "undecided": None if cold else undecided.tolist(),
        "weights": weights.tolist(),
        "costs": costs.tolist(),
        "picked": batch(rows, labeled, undecided, 6, weights, costs),
    }


PROBLEMS = [
    problem(0, 60, 3, 0, cold=True),
    problem(1, 50, 2, 8, cold=True),
    problem(2, 70, 4, 12, cold=False),
    problem(3, 60, 2, 30, cold=False, even=False),
]
text = json.dumps(PROBLEMS, separators=(",", ":"))
Path(__file__).with_name("suggest.json").write_text(text + "\n")
