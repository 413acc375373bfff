"""SemiBoost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import at_least, bytes_of_memory, one_of, percent, share


class SemiBoostClassifier(Ensemble):
    """SemiBoost: members fitted to labels that similar rows suggest.

    In each round the similarity to labeled rows, and to unlabeled ones as the ensemble sees them now, suggests a label for
    every unlabeled row; the next member is fitted to the labeled rows and some of the surest suggestions.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has at most; boosting may end earlier.
    {base}
    {learning}
    percentile : float, default=1.0
        The width of the similarity: the distance below which so many percent of the pairs of rows lie.
    pick : {"draw", "top"}, default="draw"
        Whether unlabeled rows are drawn by how sure their suggested label is, or the surest are taken.
    pick_share : float, default=0.1
        What share of the unlabeled rows a member is fitted to.
    neighbors : int, default=20
        Only so many nearest neighbours of each row count as similar; 0 for all rows, as in its paper, which takes memory
        with the square of their number.
    memory : int, default=0
        How many bytes the similarities may take; 0 for half of the memory of the machine.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    P. Mallapragada, R. Jin, A. Jain and Y. Liu, "SemiBoost: boosting for semi-supervised learning", PAMI 31, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import SemiBoostClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = SemiBoostClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "semiboost"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": base_learner(),
        "percentile": percent(),
        "pick": one_of("draw", "top"),
        "pick_share": share(),
        "neighbors": at_least(0),
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
        percentile: float = 1.0,
        pick: str = "draw",
        pick_share: float = 0.1,
        neighbors: int = 20,
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
        self.percentile = percentile
        self.pick = pick
        self.pick_share = pick_share
        self.neighbors = neighbors
        self.memory = memory
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
