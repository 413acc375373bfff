"""Suggestions as a query strategy of scikit-activeml, which must be installed: ``from udeed.activeml import SuggestSampling``."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from skactiveml.base import SingleAnnotatorPoolQueryStrategy
from skactiveml.utils import MISSING_LABEL, is_labeled

from udeed._ensemble import Ensemble
from udeed._labeling import suggest


class SuggestSampling(SingleAnnotatorPoolQueryStrategy):  # type: ignore[misc, unused-ignore]
    """:func:`udeed.suggest` as a pool-based query strategy of scikit-activeml.

    Parameters
    ----------
    strategy : str, default="default"
        Query strategy, as of :func:`udeed.suggest`.
    model : estimator of this package or None, default=None
        A fitted one is asked as it is, another one is fitted. Default: ``UDEEDAutoClassifier``.
    missing_label : scalar, str, np.nan or None, default=np.nan
        Label of rows that have none.
    random_state : int, RandomState or None, default=None
        Random seed.
    """

    def __init__(
        self,
        strategy: str = "default",
        model: Ensemble | None = None,
        missing_label: Any = MISSING_LABEL,
        random_state: int | np.random.RandomState | None = None,
    ):
        super().__init__(missing_label=missing_label, random_state=random_state)
        self.strategy = strategy
        self.model = model

    def query(
        self,
        X: Any,
        y: Any,
        candidates: ArrayLike | None = None,
        batch_size: int = 1,
        return_utilities: bool = False,
    ) -> NDArray[np.int64] | tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Choose rows to label.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows, labeled and unlabeled.
        y : array of shape (n_samples,)
            Their labels, ``missing_label`` for none.
        candidates : None, array of int or array of shape (n_candidates, n_features), default=None
            Rows to choose from: all unlabeled ones, positions in X, or other rows.
        batch_size : int, default=1
            Number of rows to choose.
        return_utilities : bool, default=False
            Whether to return the utilities, too.

        Returns
        -------
        query_indices : array of shape (batch_size,)
            Positions in X, or in ``candidates`` if these are rows.
        utilities : array of shape (batch_size, n_samples) or (batch_size, n_candidates)
            Before each choice the scores of the rows that were chosen then or later; -inf for candidates that never were,
            NaN for all other rows.
        """
        X, y, candidates, batch_size, return_utilities = self._validate_data(
            X, y, candidates, batch_size, return_utilities, reset=True
        )
        outside, mapping = self._transform_candidates(candidates, X, y)
        labeled = is_labeled(y, missing_label=self.missing_label_)
        if mapping is None:
            rows, first = np.concatenate([X[labeled], outside]), int(labeled.sum())
            labels = np.concatenate([y[labeled], np.full(len(outside), self.missing_label_, dtype=y.dtype)])
            choosable, size = np.arange(first, len(rows)), len(outside)
        else:
            rows, first, labels, choosable, size = X, 0, y, mapping, len(X)
        # Labeled rows and those to choose from: no others are seen.
        known = is_labeled(labels, missing_label=self.missing_label_)
        seen = np.flatnonzero(known | np.isin(np.arange(len(rows)), choosable))
        codes = np.full(len(seen), -1)
        codes[known[seen]] = np.unique(labels[known], return_inverse=True)[1]
        seed = int(self.random_state_.randint(2**31 - 1))
        found, reasons = suggest(
            rows[seen], codes, batch_size, self.model, self.strategy, seed, return_scores=True
        )
        chosen = seen[found] - first
        utilities = np.full((batch_size, size), np.nan)
        utilities[:, choosable - first] = -np.inf
        for step, row in enumerate(chosen):
            utilities[: step + 1, row] = reasons["score"][step]
            utilities[step + 1 :, row] = np.nan
        return (chosen, utilities) if return_utilities else chosen
