"""Rules for the values of parameters."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Protocol

import numpy as np
from sklearn import base
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions


class Number(Interval):  # type: ignore[misc, unused-ignore]
    """The rule for a number, which True and False are not."""

    def is_satisfied_by(self, val: object) -> bool:
        """Whether a value satisfies the rule."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


class Goal(StrOptions):  # type: ignore[misc, unused-ignore]
    """The rule for what a threshold is chosen by: a word, or ``"rate="`` and a share of the rows."""

    def __init__(self) -> None:
        super().__init__({"balanced", "f1"})

    def is_satisfied_by(self, val: object) -> bool:
        """Whether a value satisfies the rule."""
        if not isinstance(val, str) or not val.startswith("rate="):
            return bool(super().is_satisfied_by(val))
        try:
            return 0.0 < float(val.removeprefix("rate=")) < 1.0
        except ValueError:
            return False

    def __str__(self) -> str:
        return f"{super().__str__()} or such as 'rate=0.05', with a share of the rows between 0 and 1"


class Classifier(Protocol):
    """A classifier of scikit-learn, or one that behaves like it."""

    def fit(self, X: Any, y: Any) -> Any:
        """Learn from rows and their classes."""

    def predict(self, X: Any) -> Any:
        """The class of each row."""


def is_classifier(value: Any) -> bool:
    """Whether a value is a classifier of scikit-learn, or an object of another kind with ``fit`` and ``predict``."""
    if isinstance(value, type) or not (hasattr(value, "fit") and hasattr(value, "predict")):
        return False
    return bool(base.is_classifier(value)) if isinstance(value, base.BaseEstimator) else True


class IsClassifier(HasMethods):  # type: ignore[misc, unused-ignore]
    """The rule for a classifier."""

    def __init__(self) -> None:
        super().__init__(["fit", "predict"])

    def is_satisfied_by(self, val: object) -> bool:
        """Whether a value satisfies the rule."""
        return is_classifier(val)

    def __str__(self) -> str:
        return "a classifier with the methods 'fit' and 'predict'"


def at_least(least: int) -> list[Any]:
    """The rule for a whole number."""
    return [Number(Integral, least, 2**32 - 1, closed="both")]


def count_or_share() -> list[Any]:
    """The rule for a whole number, or a share of all."""
    return [*at_least(1), Number(RealNotInt, 0.0, 1.0, closed="right")]


def one_of(*words: str) -> list[Any]:
    """The rule for a word."""
    return [StrOptions(set(words))]


def is_whole(value: object) -> bool:
    """Whether a value is a whole number, which True and False are not."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def count_of(name: str, value: Any, most: int | None = None) -> int:
    """The whole number of at least 1 that an argument is; any other value is refused."""
    if not is_whole(value) or int(value) < 1 or (most is not None and int(value) > most):
        limit = "" if most is None else f" and at most {most}"
        raise ValueError(f"`{name}` is {value!r}, expected a whole number of at least 1{limit}")
    return int(value)


def seed_of(state: int | np.random.RandomState | None) -> int:
    """The random seed for a ``random_state``. An int is the seed itself: the command then draws the same."""
    if isinstance(state, Integral):
        if not 0 <= int(state) < 2**64:
            raise ValueError(f"`random_state` is {state}, expected a seed from 0 to 2**64 - 1")
        return int(state)
    return int(check_random_state(state).randint(2**31 - 1))
