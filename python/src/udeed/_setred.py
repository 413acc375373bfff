"""SETRED."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble
from udeed._rules import Number, at_least, share


class SetredClassifier(Ensemble):
    """SETRED: self-training that drops guesses which their neighbours contradict.

    A learner labels the rows that it is surest of. A guess is kept if fewer of its neighbours, in the relative neighbourhood
    graph, have another label than chance would have it. One member.

    Parameters
    ----------
    {base}
    {learning}
    rounds : int, default=40
        The most rounds.
    pool : int, default=75
        From how many unlabeled rows, drawn at random, the surest are chosen in a round; 0 for all.
    pick_share : float, default=0.2
        What share of these is labeled in a round, each class in proportion.
    significance : float, default=0.1
        How unlikely so few contradicting neighbours must be by chance for a guess to be kept.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    M. Li and Z.-H. Zhou, "SETRED: self-training with editing", PAKDD 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import SetredClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = SetredClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "setred"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "base": base_learner(),
        "rounds": at_least(0),
        "pool": at_least(0),
        "pick_share": share(),
        "significance": [Number(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        base: Base = "logistic",
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        rounds: int = 40,
        pool: int = 75,
        pick_share: float = 0.2,
        significance: float = 0.1,
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
        self.rounds = rounds
        self.pool = pool
        self.pick_share = pick_share
        self.significance = significance
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
