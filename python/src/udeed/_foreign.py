"""Classifiers of scikit-learn, and what behaves like one, as base learners: what the core says to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn import get_config
from sklearn.base import clone
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import has_fit_parameter

from udeed._rows import SparseRows


@dataclass(frozen=True)
class Member:
    """A fitted classifier, and the numbers of the classes in the order of its columns; None where there is one class."""

    estimator: Any
    classes: NDArray[np.int64]


def takes_weights(learner: Any) -> bool:
    """Whether the fit of a classifier takes weights; else rows are repeated, or drawn by their weights."""
    return _weights_name(learner) is not None


def _weights_name(learner: Any) -> str | None:
    """The argument of ``fit`` for weights."""
    if isinstance(learner, Pipeline):
        # The last step has them, by its name, unless metadata is routed as the steps ask for.
        name, last = learner.steps[-1]
        inner = None if get_config().get("enable_metadata_routing") else _weights_name(last)
        return None if inner is None else f"{name}__{inner}"
    return "sample_weight" if has_fit_parameter(learner, "sample_weight") else None


def fit(
    learner: Any,
    rows: NDArray[np.float64] | SparseRows,
    codes: NDArray[np.int64],
    weights: NDArray[np.float64] | None,
    seed: int,
) -> Member:
    """A clone of a classifier, fitted to rows of numbered classes."""
    classes = np.unique(codes)
    if classes.size == 1:
        # Many refuse one class, of which there is nothing to learn.
        return Member(None, classes)
    estimator = clone(learner, safe=False)
    _set_seed(estimator, seed)
    _by_class(estimator)
    name = _weights_name(learner)
    estimator.fit(_matrix(rows), codes, **({} if weights is None or name is None else {name: weights}))
    return Member(estimator, np.asarray(getattr(estimator, "classes_", classes), dtype=np.int64))


def _set_seed(estimator: Any, seed: int) -> None:
    """Sets every ``random_state``, as scikit-learn's ensembles do: members are to differ, and to be the same again."""
    given = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    names = [name for name in given if name == "random_state" or name.endswith("__random_state")]
    if names:
        # numpy's seeds are shorter than the library's.
        estimator.set_params(**dict.fromkeys(names, seed % 2**32))


def _by_class(estimator: Any) -> None:
    """Requests one-vs-rest decisions: with three classes, those of one-vs-one have the same width."""
    given = estimator.get_params(deep=True) if hasattr(estimator, "get_params") else {}
    names = [name for name in given if name.rpartition("__")[2] == "decision_function_shape"]
    if names:
        estimator.set_params(**dict.fromkeys(names, "ovr"))


def probabilities(member: Member, rows: NDArray[np.float64] | SparseRows, n_classes: int) -> NDArray[np.float64]:
    """Class probabilities of rows by a member, with a column for every class of the training rows."""
    X = _matrix(rows)
    table = np.zeros((X.shape[0], n_classes))
    if member.estimator is None:
        table[:, member.classes] = 1.0
        return table
    given = _given(member, X)
    expected = (X.shape[0], member.classes.size)
    if given.shape != expected:
        name = type(member.estimator).__name__
        raise ValueError(f"{name} gave probabilities of shape {given.shape}, expected {expected}")
    table[:, member.classes] = given
    return table


def _given(member: Member, X: Any) -> NDArray[np.float64]:
    """Class probabilities; by ``decision_function`` where there are none, or 1 for the predicted class."""
    estimator = member.estimator
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X), dtype=np.float64)
    if hasattr(estimator, "decision_function"):
        decisions = np.asarray(estimator.decision_function(X), dtype=np.float64)
        if decisions.ndim == 1:
            decisions = np.column_stack([np.zeros_like(decisions), decisions])
        shares = np.exp(decisions - decisions.max(axis=1, keepdims=True))
        return np.asarray(shares / shares.sum(axis=1, keepdims=True))
    return np.asarray(np.asarray(estimator.predict(X))[:, None] == member.classes, dtype=np.float64)


def _matrix(rows: NDArray[np.float64] | SparseRows) -> Any:
    if isinstance(rows, np.ndarray):
        return rows
    width, starts, columns, values = rows
    return sparse.csr_matrix((values, columns, starts), shape=(starts.size - 1, width))
