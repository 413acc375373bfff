"""ASSEMBLE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import at_least, one_of, share


class AssembleClassifier(Ensemble):
    """ASSEMBLE: boosting that labels the unlabeled rows by its own vote.

    Unlabeled rows begin with the label of their nearest labeled neighbour, then take the one that the ensemble votes for;
    each member is fitted to rows that are drawn, or weighted, by how unsure the vote is.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has at most; boosting may end earlier.
    {base}
    {learning}
    emphasis : {"resampling", "weighting"}, default="resampling"
        Whether as many rows as are labeled are drawn by their weights, or all are weighted.
    labeled_share : float, default=0.9
        What share of the first weights the labeled rows get.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    K. Bennett, A. Demiriz and R. Maclin, "Exploiting unlabeled data in ensemble methods", KDD 2002.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import AssembleClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = AssembleClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "assemble"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": base_learner(),
        "emphasis": one_of("weighting", "resampling"),
        "labeled_share": share(),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        emphasis: str = "resampling",
        labeled_share: float = 0.9,
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
        self.emphasis = emphasis
        self.labeled_share = labeled_share
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
