"""Parameters that look different in the library: their checks and conversions, by the kind of setting on the card."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np

from udeed import _core
from udeed._base import BASES, Neighbors, Tree, as_parameter, as_setting

# The cards of all methods: their settings with kind, range and default.
CARDS: dict[str, dict[str, Any]] = {card["name"]: card for card in json.loads(_core.cards())}


def check(setting: Mapping[str, Any], name: str, value: Any) -> None:
    """Checks what the rules of scikit-learn cannot say.

    Raises
    ------
    ValueError
        If the parameter cannot have that value.
    """
    if isinstance(value, (Tree, Neighbors)):
        value._validate_params()
    if value is not None and setting["kind"] in _CHECKS:
        _CHECKS[setting["kind"]](setting, name, value)


def check_rows(setting: Mapping[str, Any], estimator: Any, n_features: int) -> None:
    """Refuses rows that a setting makes no sense for.

    Raises
    ------
    ValueError
        If there is one feature where each member sees some.
    """
    if setting["kind"] == "columns" and n_features == 1 and getattr(estimator, "fourier", 0) == 0:
        raise ValueError("Found array with 1 feature(s) while a minimum of 2 is required: each member sees some.")


def to_library(setting: Mapping[str, Any], value: Any, estimator: Any) -> Any:
    """The value of a parameter as the library has it; None is the library's default."""
    if value is None:
        return setting["default"]
    convert = _TO_LIBRARY.get(setting["kind"])
    return as_setting(value) if convert is None else convert(value, setting["name"], estimator)


def from_library(setting: Mapping[str, Any], value: Any) -> Any:
    """The library's value as that of a parameter."""
    if setting["kind"] != "prior":
        return as_parameter(value)
    if isinstance(value, dict):
        return tuple(value["shares"])
    return None if value == setting["default"] else value


def _check_words(setting: Mapping[str, Any], name: str, value: Sequence[object]) -> None:
    known = [word for word, _ in setting["words"]]
    for word in value:
        if not isinstance(word, str) or word not in known:
            raise ValueError(f"`{name}` holds {word!r}, expected some of {known}")


def _check_bases(_: Mapping[str, Any], name: str, value: Sequence[object]) -> None:
    if len(value) == 0:
        raise ValueError(f"`{name}` is empty, expected at least one base learner")
    for base in value:
        if isinstance(base, (Tree, Neighbors)):
            base._validate_params()
        elif not isinstance(base, str) or base not in BASES:
            raise ValueError(f"`{name}` holds {base!r}, expected one of {list(BASES)}, a Tree or a Neighbors")


def _check_prior(_: Mapping[str, Any], name: str, value: object) -> None:
    if isinstance(value, str):
        return
    shares = np.asarray(value)
    if shares.ndim != 1 or shares.dtype.kind not in "fiu":
        raise ValueError(f"`{name}` is {value!r}, expected the share of each class, or 'labeled'")


def _prior(value: Any, *_: Any) -> Any:
    return value if isinstance(value, str) else {"shares": [float(share) for share in value]}


def _tree(value: Tree, *_: Any) -> dict[str, Any]:
    return value._setting()


def _columns(value: Sequence[object], name: str, estimator: Any) -> list[str]:
    """Names of columns that are given by name or number; unnamed columns are numbered from 1 in the library."""
    names = getattr(estimator, "feature_names_in_", None)
    n_columns = estimator.n_features_in_
    found = []
    for column in value:
        if isinstance(column, str):
            found.append(column)
        elif isinstance(column, Integral) and not isinstance(column, bool) and 0 <= int(column) < n_columns:
            found.append(str(int(column) + 1) if names is None else str(names[int(column)]))
        else:
            expected = f"names of columns, or numbers from 0 to {n_columns - 1}"
            raise ValueError(f"`{name}` holds {column!r}, expected {expected}")
    return found


_CHECKS: dict[str, Callable[[Mapping[str, Any], str, Any], None]] = {
    "some-words": _check_words,
    "bases": _check_bases,
    "prior": _check_prior,
}
_TO_LIBRARY: dict[str, Callable[..., Any]] = {"columns": _columns, "prior": _prior, "tree": _tree}
