"""Stacking."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from udeed._base import BASES, Base, Neighbors, Tree
from udeed._ensemble import Ensemble
from udeed._rules import at_least


class StackingClassifier(Ensemble):
    """Stacking: logistic regression learns what to make of what different base learners say.

    The base learners are fitted to the labeled rows; the last one learns from the probabilities that they give rows on which
    they were not fitted. Unlabeled rows only help to scale the features.

    Parameters
    ----------
    bases : sequence of base learners, default=("logistic", "tree", "neighbors", "bayes")
        The base learners, one member each: words, :class:`udeed.Tree` or :class:`udeed.Neighbors`.
    {learning}
    folds : int, default=5
        Into how many parts the labeled rows are dealt; each is told by learners that were fitted to the others.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    D. Wolpert, "Stacked generalization", Neural Networks 5, 1992.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import StackingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = StackingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "stacking"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "bases": ["array-like"],
        "folds": at_least(2),
    }

    def __init__(
        self,
        bases: Sequence[Base] = BASES,
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        folds: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.bases = bases
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.folds = folds
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _validate_params(self) -> None:
        super()._validate_params()
        if len(self.bases) == 0:
            raise ValueError("`bases` is empty, expected at least one base learner")
        for base in self.bases:
            if isinstance(base, (Tree, Neighbors)):
                base._validate_params()
            elif not isinstance(base, str) or base not in BASES:
                raise ValueError(f"`bases` holds {base!r}, expected one of {list(BASES)}, a Tree or a Neighbors")
