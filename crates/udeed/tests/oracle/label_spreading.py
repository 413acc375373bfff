"""What scikit-learn's LabelSpreading finds on our neighbour graph: writes label_spreading.json.

    python crates/udeed/tests/oracle/label_spreading.py
"""

import json
from pathlib import Path

import numpy as np
from sklearn.semi_supervised import LabelSpreading


def graph(rows, neighbors, width):
    """Gaussian similarities of pairs of which one row is among the nearest of the other."""
    squared = ((rows[:, None, :] - rows[None, :, :]) ** 2).sum(axis=2)
    np.fill_diagonal(squared, np.inf)
    near = np.zeros(squared.shape, dtype=bool)
    nearest = np.argsort(squared, axis=1, kind="stable")[:, :neighbors]
    near[np.arange(len(rows))[:, None], nearest] = True
    return np.where(near | near.T, np.exp(-squared / width**2), 0.0)


def problem(seed, n, classes, neighbors, alpha, width):
    """Clusters that touch, one labeled row in six."""
    draw = np.random.default_rng(seed)
    truth = draw.integers(classes, size=n)
    rows = draw.normal(size=(n, 3)) + 2.5 * np.eye(max(classes, 3))[truth, :3]
    labels = np.where(np.arange(n) % 6 == 0, truth, -1)
    labels[:classes] = truth[:classes] = np.arange(classes)
    similar = graph(rows, neighbors, width)
    model = LabelSpreading(kernel=lambda a, b: similar, alpha=alpha, max_iter=1_000_000, tol=1e-15)
    model.fit(rows, labels)
    return {
        "rows": rows.tolist(),
        "labels": labels.tolist(),
        "neighbors": neighbors,
        "alpha": alpha,
        "width": width,
        "distributions": model.label_distributions_.tolist(),
    }


PROBLEMS = [problem(0, 40, 2, 5, 0.2, 1.5), problem(1, 60, 3, 8, 0.8, 1.0), problem(2, 50, 2, 6, 0.99, 3.0)]
path = Path(__file__).with_name("label_spreading.json")
path.write_text(json.dumps(PROBLEMS, indent=None, separators=(",", ":")) + "\n")
