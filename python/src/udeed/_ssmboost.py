"""SSMBoost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import at_least, not_negative, one_of


class SSMBoostClassifier(Ensemble):
    """SSMBoost: boosting of the margin, which for an unlabeled row is that of the class it is taken for.

    The ensemble is a mean of its members, and each further one lowers the mean of ``exp(-margin)`` as much as it can. What the
    ensemble is unsure of counts, towards the class it leans to. Of more than two classes each is told from the rest.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has at most; boosting may end earlier.
    {base}
    {learning}
    margin : {"square", "absolute"}, default="square"
        The margin of an unlabeled row: the square of the vote, or its size.
    unlabeled_weight : float, default=1.0
        How much all unlabeled rows together count against all labeled ones.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    F. d'Alche-Buc, Y. Grandvalet and C. Ambroise, "Semi-supervised MarginBoost", NIPS 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import SSMBoostClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = SSMBoostClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "ssmboost"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": base_learner(),
        "margin": one_of("square", "absolute"),
        "unlabeled_weight": not_negative(),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        margin: str = "square",
        unlabeled_weight: float = 1.0,
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
        self.margin = margin
        self.unlabeled_weight = unlabeled_weight
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
