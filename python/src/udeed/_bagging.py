"""Bagging."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from udeed._ensemble import Ensemble, one_of


class BaggingClassifier(Ensemble):
    """Bagging: logistic regressions on labeled rows drawn with replacement.

    Unlabeled rows only help to scale the features. This is also where UDEED begins.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has.
    {learning}
    vote : {"weighted", "unweighted"}, default="weighted"
        Whether members vote with their confidence, or with one voice each.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    L. Breiman, "Bagging predictors", Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import BaggingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = BaggingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "bagging"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "vote": one_of("weighted", "unweighted"),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        vote: str = "weighted",
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.members = members
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.vote = vote
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
