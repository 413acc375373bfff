"""All estimators, small enough to be fitted often."""

from __future__ import annotations

import inspect
from types import SimpleNamespace
from typing import Any

import numpy as np
import udeed
from udeed._estimators import ESTIMATORS

METHODS = list(ESTIMATORS.values())
ALL = [*METHODS, udeed.UDEEDClassifierCV]
# Those whose members are linear by default: all but trees, what stacks them, and what looks through maps.
LINEAR = [kind for kind in METHODS if "C" in kind().get_params() and kind is not udeed.StackingClassifier]
# Those with a base learner to choose.
BASED = [kind for kind in METHODS if "base" in inspect.signature(kind).parameters]
# Those that learn nothing from unlabeled rows, which no card says.
SUPERVISED = (udeed.BaggingClassifier, udeed.AdaBoostClassifier, udeed.StackingClassifier, udeed.ExtraTreesClassifier)


def small(kind: type, **parameters: Any) -> Any:
    """An estimator with few members and a fixed seed."""
    if kind is udeed.UDEEDClassifierCV:
        few: dict[str, Any] = {"members": (4,), "gammas": (1.0,), "Cs": (1.0,), "cv": 2}
    else:
        few = {"members": 4} if "members" in inspect.signature(kind).parameters else {}
    return kind(**{"random_state": 0, **few, **parameters})


def training(
    values: Any, codes: np.ndarray, *, columns: Any = None, classes: Any = ("a", "b"), weights: np.ndarray | None = None
) -> Any:
    """Rows to learn from as the core takes them, unchecked."""
    rows = SimpleNamespace(values=values, columns=columns)
    labels = {"classes": list(classes), "codes": codes, "weights": weights}
    return SimpleNamespace(rows=rows, **labels, balanced=False, class_weights=None, unlabeled=None, elsewhere=None)
