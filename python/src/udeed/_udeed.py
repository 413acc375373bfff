"""UDEED."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Integral
from typing import Any, ClassVar

import numpy as np

from udeed._ensemble import Ensemble
from udeed._rules import Number, at_least, not_negative, one_of, positive


class UDEEDClassifier(Ensemble):
    """UDEED: members that are accurate on labeled rows and differ on unlabeled ones.

    Logistic regressions begin as bagging on the labeled rows and are then moved, by gradient descent on one loss, to stay
    accurate where labels are known and to disagree where none are.

    Parameters
    ----------
    members : int, default=20
        How many members the ensemble has.
    gamma : float, default=1.0
        How much diversity counts against accuracy.
    {learning}
    variant : {"lcud", "lcd", "lc"}, default="lcud"
        Where the members are made to differ: on the unlabeled rows, on the labeled rows, or nowhere.
    loss : {"logistic", "squared", "hinge"}, default="logistic"
        How the fit to the labels is measured in the descent.
    hidden : int, default=0
        How many hidden units each member has, at most 1000; 0 for linear members. Rows that no line tells apart need some.
    initial : {"bootstrap", "random"}, default="bootstrap"
        Where the members come from before the descent.
    rate : float, default=0.25
        The length of a step, as a multiple of the gradient.
    scale_rate : bool, default=False
        Whether the rate is multiplied by members / 20. The gradient of a member shrinks with their number; this gives
        large ensembles the effect that 20 members have.
    steps : int, default=25
        The most steps in a stage.
    vote : {"weighted", "unweighted"}, default="weighted"
        Whether members vote with their confidence, or with one voice each.
    precision : {"double", "single"}, default="double"
        In which numbers the descent reckons: of 64 bits, or of 32, which takes half of the time.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou, "Exploiting Unlabeled Data to Enhance Ensemble Diversity", ICDM 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import UDEEDClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 20, random_state=0)
    >>> model = UDEEDClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.85
    True
    """

    _method: ClassVar[str] = "udeed"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "C": [*positive(), *one_of("auto")],
        "members": at_least(2),
        "gamma": not_negative(),
        "variant": one_of("lcud", "lcd", "lc"),
        "loss": one_of("logistic", "squared", "hinge"),
        "hidden": [Number(Integral, 0, 1000, closed="both")],
        "initial": one_of("bootstrap", "random"),
        "rate": positive(),
        "scale_rate": ["boolean"],
        "steps": at_least(0),
        "vote": one_of("weighted", "unweighted"),
        "precision": one_of("double", "single"),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        gamma: float = 1.0,
        C: float | str = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        variant: str = "lcud",
        loss: str = "logistic",
        hidden: int = 0,
        initial: str = "bootstrap",
        rate: float = 0.25,
        scale_rate: bool = False,
        steps: int = 25,
        vote: str = "weighted",
        precision: str = "double",
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.members = members
        self.gamma = gamma
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.variant = variant
        self.loss = loss
        self.hidden = hidden
        self.initial = initial
        self.rate = rate
        self.scale_rate = scale_rate
        self.steps = steps
        self.vote = vote
        self.precision = precision
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose
