"""Rules for the values of parameters."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any

from sklearn.utils._param_validation import Interval, StrOptions


class Number(Interval):  # type: ignore[misc, unused-ignore]
    """The rule for a number, which True and False are not."""

    def is_satisfied_by(self, val: object) -> bool:
        """Whether a value keeps the rule."""
        return not isinstance(val, bool) and bool(super().is_satisfied_by(val))


def positive() -> list[Any]:
    """The rule for a number above 0."""
    return [Number(Real, 0, None, closed="neither")]


def not_negative() -> list[Any]:
    """The rule for a number that is 0 or above."""
    return [Number(Real, 0, None, closed="left")]


def share() -> list[Any]:
    """The rule for a number above 0 and at most 1."""
    return [Number(Real, 0, 1, closed="right")]


def percent() -> list[Any]:
    """The rule for a number from 0 to 100."""
    return [Number(Real, 0, 100, closed="both")]


def at_least(least: int) -> list[Any]:
    """The rule for a whole number."""
    return [Number(Integral, least, 2**32 - 1, closed="both")]


def bytes_of_memory() -> list[Any]:
    """The rule for a number of bytes."""
    return [Number(Integral, 0, 2**63, closed="both")]


def one_of(*words: str) -> list[Any]:
    """The rule for a word."""
    return [StrOptions(set(words))]
