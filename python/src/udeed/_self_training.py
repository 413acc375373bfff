"""Self-training."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import Number, at_least


class SelfTrainingClassifier(Ensemble):
    """Self-training: a learner labels the rows that it is sure of, and is fitted again.

    The plain baseline of its kind: one member.

    Parameters
    ----------
    {base}
    {learning}
    confidence : float, default=0.75
        A label is given to rows whose class is more probable than this.
    rounds : int, default=10
        The most rounds.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    D. Yarowsky, "Unsupervised word sense disambiguation rivaling supervised methods", ACL 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import SelfTrainingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = SelfTrainingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "self-training"
    # `threshold` is where the decision parts two classes, in every estimator.
    _renamed: ClassVar[Mapping[str, str]] = {**Ensemble._renamed, "threshold": "confidence"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "base": base_learner(),
        "confidence": [Number(Real, 0, 1, closed="left")],
        "rounds": at_least(0),
    }

    def __init__(
        self,
        base: Base = "logistic",
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        confidence: float = 0.75,
        rounds: int = 10,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.confidence = confidence
        self.rounds = rounds
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
