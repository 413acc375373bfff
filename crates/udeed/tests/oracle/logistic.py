"""Reference solutions of L2-regularised logistic regression, made with scikit-learn.

    python logistic.py        reads ../../data/*.csv.gz, writes logistic.json next to this file

Made with Python 3.11, numpy 2.4.6 and scikit-learn 1.9.1; needs nothing else.

Each case minimises over w

    1/2 ||w||^2 + lambda * sum_i s_i ln(1 + exp(-y_i w.x_i))

where x is a row of the data set (all rows are used) after scaling, with a constant 1 appended as
its last feature, so that the bias is regularised like any other weight; y is +1 for the class
whose name sorts last and -1 for the other; and the row weights, a stand-in for bootstrap counts,
are s_i = (7 i + 3) mod 4 for i = 0, 1, 2, ... (zeros included).

Scaling, over the whole set before the 1 is appended, a constant column becoming 0:
"minmax" = (x - min) / (max - min), "standard" = (x - mean) / (population standard deviation),
"none" = x as it is.

This is LogisticRegression(C=lambda, fit_intercept=False) with sample_weight = s. Its solution is
polished with Newton steps whose gradient is summed in extended precision, and must agree with the
polished one to 1e-5 in every coefficient. The polished coefficients are stored, the bias last.
"""

import csv
import gzip
import json
from pathlib import Path

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression

HERE = Path(__file__).resolve().parent
CASES = [
    ("ionosphere", "minmax", 1.0),
    ("ionosphere", "minmax", 100.0),
    ("diabetes", "none", 1.0),
    ("diabetes", "standard", 1.0),
    ("sonar", "minmax", 10.0),
    ("wdbc", "none", 1.0),
    ("vote", "minmax", 0.01),
    ("labor", "minmax", 1.0),
]


def load(name):
    with gzip.open(HERE / f"../../data/{name}.csv.gz", "rt", newline="") as file:
        rows = list(csv.reader(file))[1:]
    x = np.array([[float(value) for value in row[:-1]] for row in rows])
    labels = [row[-1] for row in rows]
    assert len(set(labels)) == 2
    return x, np.where(np.array(labels) == max(labels), 1.0, -1.0)


def scale(x, scaling):
    if scaling == "none":
        return x
    low, high = x.min(axis=0), x.max(axis=0)
    shift, width = (low, high - low) if scaling == "minmax" else (x.mean(axis=0), x.std(axis=0))
    constant = low == high
    return np.where(constant, 0.0, (x - shift) / np.where(constant, 1.0, width))


def objective(w, x, y, s, lam):
    return w @ w / 2 + lam * (s * np.logaddexp(0, -y * (x @ w))).sum()


def gradient(w, x, y, s, lam):
    return w - lam * x.T @ (s * y / (1 + np.exp(y * (x @ w))))


def polish(w, x, y, s, lam, steps=10):
    """Newton steps: the sums in extended precision, the linear solve in double precision."""
    w, x, y, s, lam = (np.asarray(value, dtype=np.longdouble) for value in (w, x, y, s, lam))
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(x @ w)))
        hessian = np.eye(len(w)) + lam * (x.T * (s * p * (1 - p))) @ x
        scaler = 1 / np.sqrt(np.diag(hessian))
        g = gradient(w, x, y, s, lam)
        scaled = (hessian * scaler[:, None] * scaler).astype(float)
        step = scaler * np.linalg.solve(scaled, (scaler * g).astype(float))
        w = w - step
    return w, np.abs(step).max(), np.abs(g).max(), objective(w, x, y, s, lam)


def solve(name, scaling, lam):
    x, y = load(name)
    x = np.hstack([scale(x, scaling), np.ones((len(x), 1))])
    s = (7.0 * np.arange(len(x)) + 3) % 4
    model = LogisticRegression(
        C=lam, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=10_000
    )
    fitted = model.fit(x, y, sample_weight=s).coef_[0]
    w, last_step, last_gradient, value = polish(fitted, x, y, s, lam)
    difference = float(np.abs(fitted - w).max())
    print(
        f"{name:10} {scaling:8} lambda {lam:<6g} rows {x.shape[0]} weights {x.shape[1]}"
        f"  |sklearn - polished| {difference:.1e}  last step {last_step:.1e}"
        f"  gradient {last_gradient:.1e}  objective {float(value)!r}"
    )
    assert difference < 1e-5 and last_step < 1e-13 and last_gradient < 1e-10
    return {
        "dataset": name,
        "scaling": scaling,
        "lambda": lam,
        "objective": float(value),
        "coefficients": [float(c) for c in w],
    }


if __name__ == "__main__":
    cases = [solve(*case) for case in CASES]
    lines = ",\n".join("    " + json.dumps(case) for case in cases)
    (HERE / "logistic.json").write_text(
        f'{{\n  "scikit_learn": "{sklearn.__version__}",\n  "cases": [\n{lines}\n  ]\n}}\n'
    )
