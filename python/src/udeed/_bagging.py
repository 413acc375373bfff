"""Bagging."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import at_least, one_of, positive


class BaggingClassifier(Ensemble):
    """Bagging: members on labeled rows drawn with replacement.

    Unlabeled rows only help to scale the features. With logistic regressions this is where UDEED begins, with trees that
    look at some features only it is a random forest.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has.
    {base}
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
        "C": [*positive(), *one_of("auto")],
        "members": at_least(1),
        "base": base_learner(),
        "vote": one_of("weighted", "unweighted"),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float | str = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        vote: str = "weighted",
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.members = members
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.vote = vote
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
