"""All estimators, small enough to be fitted often."""

from __future__ import annotations

from typing import Any

import udeed
from udeed._files import ESTIMATORS

METHODS = list(ESTIMATORS.values())
ALL = [*METHODS, udeed.UDEEDClassifierCV]


def small(kind: type, **parameters: Any) -> Any:
    """An estimator with few members and a fixed seed."""
    members: Any = (4,) if kind is udeed.UDEEDClassifierCV else 4
    few = {"gammas": (1.0,), "Cs": (1.0,), "cv": 2} if kind is udeed.UDEEDClassifierCV else {}
    return kind(**{"members": members, "random_state": 0, **few, **parameters})
