"""Co-training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from udeed._base import Base, base_learner
from udeed._ensemble import Ensemble, Training
from udeed._rules import at_least


class CoTrainingClassifier(Ensemble):
    """Co-training: two members with different views of the rows, which teach each other.

    Each sees some of the columns. In every round each labels the rows that it is surest of, for both. Their probabilities
    are multiplied.

    Parameters
    ----------
    {base}
    {learning}
    view : sequence of str or int, default=()
        The columns that the first member sees, by name or by number from 0; the second sees the others. Where none are
        given, each sees half of them, drawn at random.
    pool : int, default=75
        From how many unlabeled rows, drawn at random, the surest are chosen in a round.
    rounds : int, default=30
        The most rounds.
    {running}

    Attributes
    ----------
    {attributes}

    References
    ----------
    A. Blum and T. Mitchell, "Combining labeled and unlabeled data with co-training", COLT 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import CoTrainingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = CoTrainingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    _method: ClassVar[str] = "co-training"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "base": base_learner(),
        "view": ["array-like"],
        "pool": at_least(1),
        "rounds": at_least(0),
    }

    def __init__(
        self,
        base: Base = "logistic",
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        view: Sequence[str | int] = (),
        pool: int = 75,
        rounds: int = 30,
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
        self.view = view
        self.pool = pool
        self.rounds = rounds
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _read(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Training:
        training = super()._read(X, y, sample_weight)
        has_words = any(levels is not None for _, levels in training.rows.columns or ())
        if self.n_features_in_ == 1 and not has_words and self.fourier == 0:
            raise ValueError("Found array with 1 feature(s) while a minimum of 2 is required: each member sees some.")
        return training

    def _settings(self) -> dict[str, Any]:
        settings = super()._settings()
        settings["view"] = [self._column(column) for column in self.view]
        return settings

    def _column(self, column: object) -> str:
        """The name of a column that is given by name or number; where columns have no names, the library counts from 1."""
        if isinstance(column, str):
            return column
        if not isinstance(column, Integral) or isinstance(column, bool) or not 0 <= int(column) < self.n_features_in_:
            expected = f"names of columns, or numbers from 0 to {self.n_features_in_ - 1}"
            raise ValueError(f"`view` holds {column!r}, expected {expected}")
        names = getattr(self, "feature_names_in_", None)
        return str(int(column) + 1) if names is None else str(names[int(column)])
