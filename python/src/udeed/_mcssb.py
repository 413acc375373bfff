"""MCSSB."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import at_least, bytes_of_memory, positive, share


class MCSSBClassifier(Ensemble):
    """MCSSB: boosting of several classes at once by the similarity of rows.

    In each round every unlabeled row is given the class that brings it nearest to what similar rows are taken for; the next
    member is fitted to the labeled rows and to some of these, drawn by how much they gain.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has at most; boosting may end earlier.
    {base}
    {learning}
    width : float, default=0.15
        The width of the similarity, as a share of the largest distance.
    labeled_weight : float, default=10000.0
        How much the similarity to labeled rows counts against that between unlabeled ones.
    pick_share : float, default=0.2
        What share of all rows is drawn in a round, but at least 20.
    neighbors : int, default=20
        Only so many nearest neighbours of each row count as similar; 0 for all rows, which takes memory with the square of
        their number.
    memory : int, default=0
        How many bytes the similarities may take; 0 for half of the memory of the machine.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    H. Valizadegan, R. Jin and A. Jain, "Semi-supervised boosting for multi-class classification", ECML 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import MCSSBClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = MCSSBClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "mcssb"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": base_learner(),
        "width": positive(),
        "labeled_weight": positive(),
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
        width: float = 0.15,
        labeled_weight: float = 10000.0,
        pick_share: float = 0.2,
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
        self.width = width
        self.labeled_weight = labeled_weight
        self.pick_share = pick_share
        self.neighbors = neighbors
        self.memory = memory
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
