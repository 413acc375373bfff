"""Tri-training."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble


class TriTrainingClassifier(Ensemble):
    """Tri-training: three members, of which two teach the third what they agree on.

    They begin on bootstraps of the labeled rows. Where two agree on an unlabeled row, they label it for the third, as long as
    that is likely to lower its error. Prediction is by majority.

    Parameters
    ----------
    {base}
    {learning}
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Z.-H. Zhou and M. Li, "Tri-training: exploiting unlabeled data using three classifiers", TKDE 17, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import TriTrainingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = TriTrainingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "tri-training"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "base": base_learner(),
    }

    def __init__(
        self,
        base: Base = "logistic",
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
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
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
