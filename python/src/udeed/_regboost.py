"""RegBoost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import at_least, bytes_of_memory, not_negative, one_of, percent


class RegBoostClassifier(Ensemble):
    """RegBoost: ASSEMBLE whose weights also count how much the labels of near rows contradict each other.

    A row weighs the more, the more of its near neighbours have another label than it has now, and a member that agrees with
    such labels gets a smaller weight. Of more than two classes each is told from the rest.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has at most; boosting may end earlier.
    {base}
    {learning}
    emphasis : {"weighting", "resampling"}, default="weighting"
        Whether all rows are weighted, or as many as are labeled are drawn by their weights.
    smoothness : float, default=0.5
        How much contradicting neighbours count against the margin.
    neighbors : int, default=10
        How many neighbours of a row count as near.
    percentile : float, default=10.0
        The width of the similarity: the distance below which so many percent of the pairs of rows lie.
    memory : int, default=0
        How many bytes the similarities may take; 0 for half of the memory of the machine.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    K. Chen and S. Wang, "Regularized boost for semi-supervised learning", NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import RegBoostClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = RegBoostClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "regboost"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": base_learner(),
        "emphasis": one_of("weighting", "resampling"),
        "smoothness": not_negative(),
        "neighbors": at_least(1),
        "percentile": percent(),
        "memory": bytes_of_memory(),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        emphasis: str = "weighting",
        smoothness: float = 0.5,
        neighbors: int = 10,
        percentile: float = 10.0,
        memory: int = 0,
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
        self.smoothness = smoothness
        self.neighbors = neighbors
        self.percentile = percentile
        self.memory = memory
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
