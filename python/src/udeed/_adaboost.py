"""AdaBoost."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import at_least, one_of


class AdaBoostClassifier(Ensemble):
    """AdaBoost: each member is fitted to what the ones before it got wrong.

    Unlabeled rows only help to scale the features.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has at most; boosting may end earlier.
    {base}
    {learning}
    emphasis : {"weighting", "resampling"}, default="weighting"
        Whether a member is told which rows matter by their weights, or by rows drawn by their weights.
    zero_error : {"keep", "discard"}, default="keep"
        What becomes of a member that makes no weighted error; either way it is the last.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and an application to boosting",
    EuroCOLT 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import AdaBoostClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = AdaBoostClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "adaboost"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": base_learner(),
        "emphasis": one_of("weighting", "resampling"),
        "zero_error": one_of("keep", "discard"),
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
        zero_error: str = "keep",
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
        self.zero_error = zero_error
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
