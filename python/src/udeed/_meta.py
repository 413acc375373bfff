"""Callers of a fit, such as scikit-learn's meta-estimators, that take the label of unlabeled rows for a class."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from types import FrameType
from typing import Any

import numpy as np

from udeed._labels import UdeedWarning, is_unlabeled

# The modules of meta-estimators that count classes by themselves.
_COUNTING = (
    "sklearn.calibration",
    "sklearn.ensemble._bagging",
    "sklearn.ensemble._stacking",
    "sklearn.ensemble._voting",
    "sklearn.ensemble._weight_boosting",
    "sklearn.multiclass",
)
# The functions that fit to some rows and test on others.
_TESTING = (
    ("sklearn.feature_selection._rfe", "_rfe_single_fit"),
    ("sklearn.model_selection._validation", "_fit_and_score"),
    ("sklearn.model_selection._validation", "_permutation_test_score"),
)
# Those that fit to the rows of a fold, and then to those of the next.
_FOLDING = (
    *_TESTING,
    ("sklearn.calibration", "_fit_classifier_calibrator_pair"),
    ("sklearn.model_selection._validation", "_fit_and_predict"),
)
_PAGE = "see docs/python/meta-estimators.md"


def warn_of_callers(unlabeled: object) -> None:
    """Warns where a caller of a fit has rows without labels, and will take these for a class of their own.

    Nothing else can tell: what reaches the fit are labels that were numbered anew, or no word of the test rows.
    Callers in other processes are not seen.
    """
    if unlabeled is None:
        return
    for module, function, frame in _callers():
        text = _mistake(module, function, frame, unlabeled)
        if text is not None:
            warnings.warn(text, UdeedWarning, stacklevel=4)
            return


def is_of_folds() -> bool:
    """Whether a caller fits to the rows of several folds."""
    return any((module, function) in _FOLDING for module, function, _ in _callers())


def _callers() -> Iterator[tuple[str, str, FrameType]]:
    """The functions of scikit-learn that have called, the nearest first."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if module.startswith("sklearn."):
            yield module, frame.f_code.co_name, frame
        frame = frame.f_back


def _mistake(module: str, function: str, frame: FrameType, unlabeled: object) -> str | None:
    if module in _COUNTING and function == "fit" and _has(frame.f_locals.get("y"), unlabeled):
        name = type(frame.f_locals.get("self")).__name__
        return f"{name} takes the label {unlabeled!r} of unlabeled rows for a class: {_PAGE}"
    if (module, function) == ("sklearn.model_selection._validation", "cross_val_predict"):
        # Labels are numbered anew for all methods but `predict`.
        encoder = frame.f_locals.get("le")
        if encoder is not None and _has(encoder.classes_, unlabeled):
            name = f"cross_val_predict(method={frame.f_locals.get('method')!r})"
            return f"{name} takes the label {unlabeled!r} of unlabeled rows for a class: {_PAGE}"
    if (module, function) in _TESTING:
        scorer, y, test = (frame.f_locals.get(name) for name in ("scorer", "y", "test"))
        if _is_plain(scorer) and y is not None and test is not None and _has(np.asarray(y)[test], unlabeled):
            return (
                f"the test rows of a split have the label {unlabeled!r} of unlabeled rows, which is never predicted: "
                f"use `cv=SemiSupervisedKFold()`, or `scoring=labeled_scorer()`; {_PAGE}"
            )
    return None


def _is_plain(scorer: Any) -> bool:
    """Whether a scorer counts unlabeled rows, as scikit-learn's measures do and the estimator's ``score`` does not."""
    scorers = scorer.values() if isinstance(scorer, dict) else getattr(scorer, "_scorers", {"": scorer}).values()
    return any(hasattr(one, "_score_func") for one in scorers)


def _has(y: Any, unlabeled: object) -> bool:
    given = np.asarray(y)
    return given.ndim == 1 and bool(is_unlabeled(given, unlabeled).any())
