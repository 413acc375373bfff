"""The peers, written as someone who knows numpy, scipy and scikit-learn well would write them.

Rows `X` carry the constant feature 1 as their last column; weights `W` are features x members, as ours.
"""

import warnings

import numpy as np
from scipy import sparse
from sklearn.ensemble import BaggingClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

RATE, STEPS = 0.25, 25


def with_constant(X):
    ones = np.ones((X.shape[0], 1), dtype=X.dtype)
    return sparse.hstack([X, ones], format="csr") if sparse.issparse(X) else np.hstack([X, ones])


def diversity(X, W, gamma):
    """V_div and gamma times its gradient."""
    m = W.shape[1]
    share = 1.0 / (m * (m - 1) * X.shape[0])
    F = X @ (0.5 * W)
    np.tanh(F, out=F)
    S = F.sum(axis=1, keepdims=True)
    R = F * F
    value = share * (float(np.square(S).sum()) - float(R.sum()))
    np.subtract(1, R, out=R)
    np.subtract(S, F, out=F)
    R *= F
    return value, (gamma * share) * (X.T @ R)


def empirical(X, y, W):
    """V_emp with the logistic loss, and its gradient."""
    share = 1.0 / (W.shape[1] * X.shape[0])
    y = y[:, None]
    Z = X @ W
    loss = np.log1p(np.exp(-np.abs(Z)))
    loss += np.maximum(-y * Z, 0)
    Z *= 0.5
    np.tanh(Z, out=Z)
    Z -= y
    return share * float(loss.sum()), (0.5 * share) * (X.T @ Z)


def step(labeled, y, D, W, gamma=1.0):
    """One step of UDEED: the losses and the gradient of their sum."""
    V_emp, gradient = empirical(labeled, y, W)
    V_div, further = diversity(D, W, gamma)
    gradient += further
    return {"empirical": V_emp, "diversity": V_div, "total": V_emp + gamma * V_div}, gradient


def plain_step(labeled, y, D, W, gamma=1.0):
    """The same as the formulas say it, without a thought about memory."""
    m, y = W.shape[1], y[:, None]
    Z = labeled @ W
    share = 1.0 / (m * labeled.shape[0])
    V_emp = share * np.logaddexp(0, -y * Z).sum()
    gradient = labeled.T @ (share * (np.tanh(Z / 2) - y) / 2)
    F = np.tanh(D @ W / 2)
    S = F.sum(axis=1, keepdims=True)
    share = 1.0 / (m * (m - 1) * D.shape[0])
    V_div = share * ((S**2).sum() - (F**2).sum())
    gradient += D.T @ (gamma * share * (S - F) * (1 - F**2))
    return {"empirical": V_emp, "diversity": V_div, "total": V_emp + gamma * V_div}, gradient


def descend(labeled, y, unlabeled, W, gamma=1.0, step=step):
    """LcUd from the members W, made diverse first on the labeled rows, then on the unlabeled ones. Returns the
    weights, and for each stage how many steps were kept and the losses after them."""
    stages = []
    for D in (labeled, unlabeled):
        last, gradient = step(labeled, y, D, W, gamma)
        kept = 0
        while kept < STEPS:
            moved = W - RATE * gradient
            losses, gradient = step(labeled, y, D, moved, gamma)
            if losses["total"] >= last["total"] or losses["diversity"] >= last["diversity"]:
                break
            W, last, kept = moved, losses, kept + 1
        stages.append({"steps": kept, "last": last})
    return W, stages


def bagging(X, y, members, solver, threads):
    """scikit-learn's bagged logistic regressions. `liblinear` penalises the bias, as ours."""
    ensemble = BaggingClassifier(
        LogisticRegression(C=1.0, solver=solver), n_estimators=members, n_jobs=threads, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return ensemble.fit(X, y)


def member(X, y, counts):
    """One logistic regression to convergence, on rows that count so often."""
    X = X.toarray() if sparse.issparse(X) else X
    logistic = LogisticRegression(C=1.0, fit_intercept=False, solver="newton-cholesky", tol=1e-12, max_iter=200)
    with warnings.catch_warnings():
        # Beyond the last bits its line search finds nothing better and says so.
        warnings.simplefilter("ignore")
        return logistic.fit(X, y, sample_weight=counts).coef_[0]


def probability(X, W):
    """P(+1) of each row by the mean output of the members, in blocks that fit a cache."""
    blocks = np.array_split(np.arange(X.shape[0]), max(1, X.shape[0] // 4096))
    mean = [np.tanh(X[block[0] : block[-1] + 1] @ (0.5 * W)).mean(axis=1) for block in blocks]
    return 0.5 * (1.0 + np.concatenate(mean))
