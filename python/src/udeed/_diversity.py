"""Measures of diversity of the members of an ensemble."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_consistent_length, column_or_1d

from udeed import _core
from udeed._ensemble import Ensemble, measures
from udeed._labels import labeled_rows


def diversity(
    members: Ensemble | Sequence[Any] | ArrayLike, X: Any = None, y: ArrayLike | None = None
) -> dict[str, float | None]:
    """The ten measures of diversity of Kuncheva and Whitaker.

    Parameters
    ----------
    members : list of fitted classifiers, one of this package's ensembles, or oracle matrix
        Without ``X``, an array of shape (n_samples, n_members) that says which member is right on which row.
    X : array of shape (n_samples, n_features), optional
        The rows to measure on.
    y : array of shape (n_samples,), optional
        Their labels. Rows that are unlabeled to one of this package's ensembles are left out; others know of none.

    Returns
    -------
    dict
        ``q``, ``rho``, ``df``, ``kappa``, ``theta``, where lower is more diverse, and ``dis``, ``ent``, ``kw``, ``gd``,
        ``cfd``, where higher is. None where a measure is not defined.

    References
    ----------
    L. Kuncheva and C. Whitaker, "Measures of diversity in classifier ensembles and their relationship with the ensemble
    accuracy", Machine Learning 51, 2003.

    Examples
    --------
    >>> from udeed import diversity
    >>> measures = diversity([[True, False], [False, True], [True, True]])
    >>> round(measures["dis"], 3)
    0.667
    """
    if X is None and y is None:
        return measures(_core.diversity(_oracle_matrix(members)))
    if X is None or y is None:
        raise ValueError("`diversity` has only one of X and y, expected both, or an oracle matrix alone")
    labels: NDArray[Any] = column_or_1d(y)
    labeled: Any = slice(None)
    if isinstance(members, Ensemble):
        said = members.member_predictions(X)
        labels, labeled = labeled_rows(y, members.unlabeled, members.classes_)
    else:
        classifiers = list(members)  # type: ignore[arg-type]
        if not classifiers:
            raise ValueError("there are no members, expected at least 2")
        said = np.column_stack([np.asarray(member.predict(X)) for member in classifiers])
    check_consistent_length(said, labels)
    right = np.asarray(said == labels[:, np.newaxis], dtype=bool)
    return measures(_core.diversity(np.ascontiguousarray(right[labeled])))


def _oracle_matrix(members: Any) -> NDArray[np.bool_]:
    oracle = np.asarray(members)
    if oracle.ndim != 2 or not np.isin(oracle, (0, 1)).all():
        found = f"an array of shape {oracle.shape} and type {oracle.dtype}"
        raise ValueError(f"the oracle matrix is {found}, expected true and false for each row and member")
    return oracle.astype(bool)
