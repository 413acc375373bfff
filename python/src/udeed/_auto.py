"""The automatic ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from udeed._ensemble import Ensemble
from udeed._rules import Number, at_least, one_of

VIEWS = ("linear", "relevance", "spectral")


class UDEEDAutoClassifier(Ensemble):
    """The automatic ensemble: what to take if nothing is known.

    Its members are bagged logistic regressions on several views of the rows. The labeled rows that a bootstrap leaves out
    tell how well each view does at each strength of the penalty; a mixture is made of them, so there is nothing to tune.
    Plain logistic regressions join it where they tell more of these rows right. ``verbose`` and ``findings_`` tell what was
    chosen, and what the unlabeled rows changed.

    Parameters
    ----------
    members : int, default=20
        How many members each view has.
    views : sequence of {"linear", "relevance", "spectral"}, default=("linear", "relevance", "spectral")
        What the members look at: the features as they are; random Fourier features, others for each member, that look more
        at what has to do with the labels; and two looks at a graph of all rows, labeled and unlabeled, that are near to
        each other. Sparse rows have the linear view only.
    features : int, default=200
        How many random Fourier features each member by relevance sees.
    prior : "labeled", sequence of float or None, default=None
        What is known of the classes of the unlabeled rows: the share of each, in the order of ``classes_``, or "labeled" if
        the labeled rows were drawn at random. The members are moved until their predictions agree with it.
    gamma : float, default=0.0
        How much the diversity of the members on unlabeled rows counts in that move; below 0 it makes them agree.
    {running}

    Attributes
    ----------
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import UDEEDAutoClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = UDEEDAutoClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.85
    True
    >>> [view["view"] for view in model.findings_["views"]][:2]
    ['linear', 'relevance']
    """

    _method: ClassVar[str] = "auto"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **{
            name: rule
            for name, rule in Ensemble._parameter_constraints.items()
            if name not in ("C", "scaling", "fourier")
        },
        "members": at_least(2),
        "views": ["array-like"],
        "features": at_least(1),
        "prior": [*one_of("labeled"), "array-like", None],
        "gamma": [Number(Real, None, None, closed="neither")],
    }

    def __init__(
        self,
        members: int = 20,
        *,
        views: Sequence[str] = VIEWS,
        features: int = 200,
        prior: str | Sequence[float] | None = None,
        gamma: float = 0.0,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.members = members
        self.views = views
        self.features = features
        self.prior = prior
        self.gamma = gamma
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _validate_params(self) -> None:
        super()._validate_params()
        for view in self.views:
            if not isinstance(view, str) or view not in VIEWS:
                raise ValueError(f"`views` holds {view!r}, expected some of {list(VIEWS)}")
        if self.prior is not None and not isinstance(self.prior, str):
            shares = np.asarray(self.prior)
            if shares.ndim != 1 or shares.dtype.kind not in "fiu":
                raise ValueError(f"`prior` is {self.prior!r}, expected the share of each class, or 'labeled'")

    def _setting(self, name: str) -> Any:
        if name == "prior" and self.prior is not None and not isinstance(self.prior, str):
            return {"shares": [float(share) for share in self.prior]}
        return super()._setting(name)

    @classmethod
    def _parameters(cls, settings: dict[str, Any]) -> dict[str, Any]:
        prior = settings["prior"]
        if isinstance(prior, dict):
            prior = tuple(prior["shares"])
        own = {**settings, "prior": "unknown"}
        return {**super()._parameters(own), "prior": None if prior == "unknown" else prior}
