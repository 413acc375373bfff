"""Co-forest."""

from __future__ import annotations

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar

import numpy as np

from udeed._base import Tree
from udeed._ensemble import Ensemble
from udeed._rules import Number, at_least


class CoForestClassifier(Ensemble):
    """Co-forest: a random forest whose trees teach each other.

    Each tree is grown again and again, with the unlabeled rows that all the other trees together are sure of, as long as
    these are likely to lower its error.

    Parameters
    ----------
    members : int, default=20
        How many trees there are. The paper has 6.
    {learning}
    tree : Tree or None, default=None
        How the trees are grown; None is ``Tree(features="log2-plus-one")``.
    confidence : float, default=0.75
        A row is taught where the other trees give its class a larger share of their voices than this.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    M. Li and Z.-H. Zhou, "Improve computer-aided diagnosis with machine learning techniques using undiagnosed samples",
    IEEE Transactions on Systems, Man, and Cybernetics A 37, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import CoForestClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = CoForestClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "co-forest"
    # `threshold` is where the decision parts two classes, in every estimator.
    _renamed: ClassVar[Mapping[str, str]] = {**Ensemble._renamed, "threshold": "confidence"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(2),
        "tree": [Tree, None],
        "confidence": [Number(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        members: int = 20,
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        tree: Tree | None = None,
        confidence: float = 0.75,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        verbose: int | bool = False,
    ) -> None:
        self.members = members
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.tree = tree
        self.confidence = confidence
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        if self.tree is not None:
            # There is no other base learner to name.
            settings["tree"] = settings["tree"]["tree"]
        return settings
