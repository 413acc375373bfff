"""Minima that scipy's L-BFGS-B finds, to compare ours with.

    python lbfgs.py        writes lbfgs.json next to this file

Made with Python 3.11, numpy 2.4.6 and scipy 1.17.1; needs nothing else.

scipy is started again where it ends before its gradient is below the tolerance of the problem: the points that are
written are right to about 1e-9.
"""

import json
from pathlib import Path

import numpy as np
from scipy.optimize import minimize, rosen, rosen_der

HERE = Path(__file__).resolve().parent


def minimum(value, gradient, start, tolerance):
    """The point and the value that L-BFGS-B ends at."""
    at = np.array(start, dtype=float)
    options = {"maxiter": 100_000, "maxfun": 1_000_000, "maxcor": 20, "ftol": 0.0, "gtol": tolerance}
    for _ in range(50):
        at = minimize(value, at, jac=gradient, method="L-BFGS-B", options=options).x
        if np.abs(gradient(at)).max() <= tolerance:
            break
    steepest = float(np.abs(gradient(at)).max())
    assert steepest <= tolerance, f"the gradient is still {steepest}"
    return {"start": list(start), "minimum": at.tolist(), "value": float(value(at))}


def rosenbrock(n):
    return minimum(rosen, rosen_der, [-1.2, 1.0] * (n // 2), 1e-11)


def quadratic(n, condition, seed):
    """`1/2 (x - c)' A (x - c)`, `A` turned, its eigenvalues from 1 to the condition."""
    random = np.random.default_rng(seed)
    turn, _ = np.linalg.qr(random.normal(size=(n, n)))
    matrix = turn @ np.diag(np.geomspace(1.0, condition, n)) @ turn.T
    matrix = 0.5 * (matrix + matrix.T)
    centre = random.normal(size=n)
    found = minimum(
        lambda x: 0.5 * (x - centre) @ matrix @ (x - centre),
        lambda x: matrix @ (x - centre),
        [0.0] * n,
        1e-9,
    )
    return {"matrix": matrix.ravel().tolist(), "centre": centre.tolist(), **found}


def logistic(n, d, strength, seed):
    """`1/2 |w|^2 + strength sum_i ln(1 + e^(-y_i w.x_i))`, the features of different scales."""
    random = np.random.default_rng(seed)
    rows = random.normal(size=(n, d)) * np.geomspace(0.1, 10.0, d)
    targets = np.where(rows @ random.normal(size=d) + random.normal(size=n) > 0.0, 1.0, -1.0)

    def value(w):
        return 0.5 * w @ w + strength * np.logaddexp(0.0, -targets * (rows @ w)).sum()

    def gradient(w):
        return w - strength * rows.T @ (targets / (1.0 + np.exp(targets * (rows @ w))))

    found = minimum(value, gradient, [0.0] * d, 1e-8)
    return {"rows": rows.ravel().tolist(), "targets": targets.tolist(), "strength": strength, **found}


def main():
    problems = {
        "rosenbrock": [rosenbrock(2), rosenbrock(10)],
        "quadratic": [quadratic(8, 1e2, 1), quadratic(8, 1e6, 2)],
        "logistic": [logistic(40, 5, 1.0, 3), logistic(60, 4, 10.0, 4)],
    }
    (HERE / "lbfgs.json").write_text(json.dumps(problems) + "\n")


if __name__ == "__main__":
    main()
