"""UDEED with its settings chosen by cross-validation."""

from __future__ import annotations

import json
import warnings
from numbers import Integral
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import column_or_1d

from udeed import _core
from udeed._ensemble import Training
from udeed._estimators import UDEEDClassifier, UDEEDClassifierSearch
from udeed._labels import UdeedWarning
from udeed._shared import RENAMED
from udeed._split import SemiSupervisedKFold

Self = TypeVar("Self", bound="UDEEDClassifierCV")

# What the parameters that are chosen are called in the library.
_LIBRARY = {parameter: name for name, parameter in RENAMED.items()}
_NAMES = {parameter: _LIBRARY.get(parameter, parameter) for parameter in UDEEDClassifierSearch._chosen}


class UDEEDClassifierCV(UDEEDClassifierSearch):
    """UDEED with gamma, C, scaling and size chosen by cross-validation on the labeled rows.

    Unlabeled rows are in every training fold and in no test fold. Candidates of a fold with the same scaling and C share
    the scaled rows and the initial members. The most accurate candidate is refitted to all rows. Where no gamma is better
    than plain bagging, the model is plain bagging, with a warning.

    Parameters
    ----------
    members : sequence of int, default=(20,)
        Candidate numbers of members.
    gammas : sequence of float, default=(0.5, 1.0, 2.0, 4.0)
        Candidate weights of diversity; no diversity at all is always tried.
    Cs : sequence of float, default=(0.1, 1.0, 10.0)
        Candidate inverse regularisation strengths.
    scalings : sequence of {"minmax", "standard", "none"}, default=("minmax", "standard")
        Candidate scalings.
    cv : int, splitter or None, default=5
        Number of folds, at most the number of labeled rows of the smallest class; or a splitter, which is given ``y``
        with its unlabeled rows. It must train on all labeled rows that it does not test on. None means 5.
    fourier, variant, loss, hidden, initial, rate, scale_rate, steps, vote, precision, device
        As in :class:`udeed.UDEEDClassifier`.
    {running}

    Attributes
    ----------
    best_params_ : dict
        Parameters of the best candidate; ``gamma`` is None for bagging.
    best_score_ : float
        Cross-validated accuracy of the best candidate.
    cv_results_ : dict of arrays
        All candidates: ``param_gamma``, ``param_C``, ``param_scaling``, ``param_members``, ``mean_test_score``,
        ``log_loss``, and ``split0_test_score`` and so on.
    diversity_pays_ : bool
        Whether the best candidate has diversity; False where none was tried.
    {attributes}

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import UDEEDClassifierCV, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = UDEEDClassifierCV(random_state=0).fit(X, few)
    >>> sorted(model.best_params_)
    ['C', 'gamma', 'members', 'scaling']
    >>> model.score(X, y) > 0.85
    True
    """

    __module__ = "udeed"

    best_params_: dict[str, Any]
    best_score_: float
    cv_results_: dict[str, NDArray[Any]]
    diversity_pays_: bool

    def fit(
        self: Self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, unlabeled_X: Any = None
    ) -> Self:
        """Choose the settings, then learn from all rows.

        Parameters
        ----------
        X, y, sample_weight, unlabeled_X
            As in :meth:`udeed.UDEEDClassifier.fit`. Every fold learns from the rows of ``unlabeled_X``, and weights count in
            all fits.

        Returns
        -------
        self
        """
        own, training = self._read(X, y, sample_weight, unlabeled_X)
        grid, folds = json.dumps(self._grid()), self._folds(X, y, training)
        with self._listener(only="candidates") as listener:
            chosen = _core.choose(own, grid, training, folds, self._n_jobs(), listener, self._device())
        settings, best, candidates = chosen
        is_bagging = json.loads(settings)["method"] != self._method
        if is_bagging and self._device() != "cpu":
            text = f"bagging was chosen, which has no descent: it is fitted by the processor, not on {self._device()}"
            warnings.warn(text, UdeedWarning, stacklevel=2)
        self._learn(training, settings, "cpu" if is_bagging else self._device())
        self._tell(json.loads(candidates), best)
        return self

    def _settings(self) -> dict[str, Any]:
        fixed = self.get_params(deep=False).keys() & UDEEDClassifier._parameter_constraints.keys() - _NAMES.keys()
        plain = UDEEDClassifier(**{name: getattr(self, name) for name in fixed})
        return plain._settings()

    def _grid(self) -> dict[str, list[Any]]:
        """The values to try; the rules for them are the estimator's without the search."""
        plain: dict[str, list[Any]] = {}
        for name, candidates in self._chosen.items():
            tried = [value.item() if isinstance(value, np.generic) else value for value in getattr(self, candidates)]
            for value in tried:
                UDEEDClassifier(**{name: value})._validate_params()
            if not tried:
                raise ValueError(f"there is no `{name}` to try, expected at least one value of each parameter")
            plain[_NAMES[name]] = tried
        return plain

    def _folds(self, X: Any, y: ArrayLike, training: Training) -> list[list[int]]:
        """The labeled rows that are left out in turn."""
        codes, weights = training.labels.codes, training.weights
        if weights is not None:
            # Rows without weight are not there.
            codes = np.where(weights > 0.0, codes, -1)
        cv: Any = 5 if self.cv is None else self.cv
        if isinstance(cv, Integral):
            fewest = int(np.bincount(codes[codes >= 0], minlength=training.labels.classes.size).min())
            if fewest < 2:
                raise ValueError(f"a class has {fewest} labeled rows, expected at least 2 of each class to choose by")
            own = SemiSupervisedKFold(min(int(cv), fewest), shuffle=True, random_state=self._fold_seed())
            return [test.tolist() for _, test in own.split(X, codes)]
        splits = list(cv.split(X, column_or_1d(y)) if hasattr(cv, "split") else cv)
        if len(splits) < 2:
            raise ValueError(f"`cv` gives {len(splits)} splits, expected at least 2")
        return [_left_out(number, split, codes) for number, split in enumerate(splits)]

    def _fold_seed(self) -> int:
        # numpy's seeds are shorter than the library's.
        return int(self.random_state) % 2**32 if isinstance(self.random_state, Integral) else 0

    def _tell(self, candidates: list[dict[str, Any]], best: int) -> None:
        chosen = candidates[best]
        self.best_params_ = {name: chosen[key] for name, key in _NAMES.items()}
        self.best_score_ = chosen["accuracy"]
        self.diversity_pays_ = self._is_diverse(chosen)
        results = {
            f"param_{name}": np.array([candidate[key] for candidate in candidates], dtype=object)
            for name, key in _NAMES.items()
        }
        results["mean_test_score"] = np.array([candidate["accuracy"] for candidate in candidates])
        results["log_loss"] = np.array([candidate["log_loss"] for candidate in candidates])
        for split in range(len(chosen["accuracies"])):
            scores = [candidate["accuracies"][split] for candidate in candidates]
            results[f"split{split}_test_score"] = np.array(scores)
        self.cv_results_ = results
        rivals = [candidate["accuracy"] for candidate in candidates if self._is_diverse(candidate)]
        if rivals and not self.diversity_pays_:
            model = "bagging" if chosen["gamma"] is None else "a descent without diversity"
            text = (
                f"diversity does not pay on the labeled rows: the model is {model} "
                f"({self.best_score_:.3f} of the rows left out are right, at best {max(rivals):.3f} with diversity)"
            )
            warnings.warn(text, UdeedWarning, stacklevel=3)

    def _is_diverse(self, candidate: dict[str, Any]) -> bool:
        """Whether diversity counts in a candidate: not in bagging, with gamma 0, or in the variant of the labels alone."""
        return bool(self.variant != "lc" and candidate["gamma"])


def _left_out(number: int, split: tuple[ArrayLike, ArrayLike], codes: NDArray[np.int64]) -> list[int]:
    """The labeled rows to test on in a split of ``cv``. The search learns from all others, so the split must, too."""
    train, test = (_labeled(number, rows, codes) for rows in split)
    if test.size == 0:
        raise ValueError(f"`cv` has no labeled row to test on in split {number}, expected at least 1")
    others = np.setdiff1d(np.flatnonzero(codes >= 0), test)
    if not np.array_equal(np.unique(train), others):
        found = f"`cv` trains on {np.unique(train).size} labeled rows in split {number}"
        raise ValueError(f"{found}, expected just the {others.size} labeled rows that it does not test on")
    return [int(row) for row in test]


def _labeled(number: int, rows: ArrayLike, codes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those of some rows of a split that have a label."""
    found = np.asarray(rows)
    if found.ndim != 1 or (found.dtype.kind not in "iu" and found.size > 0):
        kind = f"an array of {found.dtype} of {found.ndim} dimensions"
        raise ValueError(f"`cv` gives {kind} in split {number}, expected row numbers")
    found = found.astype(np.int64)
    outside = found[(found < 0) | (found >= codes.size)]
    if outside.size > 0:
        raise ValueError(f"`cv` gives row {outside[0]} in split {number}, out of bounds: expected 0 to {codes.size - 1}")
    labeled: np.ndarray[Any, np.dtype[np.int64]] = found[codes[found] >= 0]
    return labeled
