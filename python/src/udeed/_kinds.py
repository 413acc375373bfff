"""Parameters that look different in the library: their checks and conversions, by the kind of setting on the card."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils import get_tags

from udeed import _core
from udeed._bases import BASES, LEARNERS
from udeed._rules import is_classifier
from udeed._shared import RENAMED

_CARDS = json.loads(_core.cards())
# The cards of all methods: their settings with kind, range and default.
CARDS: dict[str, dict[str, Any]] = {card["name"]: card for card in _CARDS["methods"]}
# The settings of each base learner.
_SETTINGS: dict[str, list[dict[str, Any]]] = {card["name"]: card["settings"] for card in _CARDS["bases"]}
_LEARNERS = tuple(LEARNERS.values())


def check(setting: Mapping[str, Any], name: str, value: Any) -> None:
    """Checks what the rules of scikit-learn cannot say.

    Raises
    ------
    ValueError
        If the parameter cannot have that value.
    """
    if isinstance(value, _LEARNERS):
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
    convert: Callable[..., Any] = _TO_LIBRARY.get(setting["kind"], _native)
    return convert(value, setting["name"], estimator)


def from_library(setting: Mapping[str, Any], value: Any) -> Any:
    """The library's value as that of a parameter."""
    convert = _FROM_LIBRARY.get(setting["kind"])
    if convert is not None:
        return convert(value)
    return tuple(value) if isinstance(value, list) else value


def _check_words(setting: Mapping[str, Any], name: str, value: Sequence[object]) -> None:
    known = [word for word, _ in setting["words"]]
    for word in value:
        if not isinstance(word, str) or word not in known:
            raise ValueError(f"`{name}` holds {word!r}, expected some of {known}")


def _check_bases(_: Mapping[str, Any], name: str, value: Sequence[object]) -> None:
    if len(value) == 0:
        raise ValueError(f"`{name}` is empty, expected at least one base learner")
    for base in value:
        if isinstance(base, _LEARNERS):
            base._validate_params()
        elif base not in BASES if isinstance(base, str) else not is_classifier(base):
            others = ", ".join(f"a {learner.__name__}" for learner in _LEARNERS)
            raise ValueError(f"`{name}` holds {base!r}, expected one of {list(BASES)}, {others} or a classifier")


def _check_prior(_: Mapping[str, Any], name: str, value: object) -> None:
    if isinstance(value, str):
        return
    shares = np.asarray(value)
    if shares.ndim != 1 or shares.dtype.kind not in "fiu":
        raise ValueError(f"`{name}` is {value!r}, expected the share of each class, or 'labeled'")
    if not np.all(np.isfinite(shares)):
        raise ValueError(f"`{name}` is {value!r}, expected shares of the classes, each above 0, together 1")


def _native(value: Any, *_: Any) -> Any:
    """Numbers of Python for those of numpy."""
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_native(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _prior(value: Any, *_: Any) -> Any:
    return value if isinstance(value, str) else {"shares": [float(share) for share in value]}


def _prior_from(value: Any) -> Any:
    if isinstance(value, dict):
        return tuple(value["shares"])
    return None if value == "unknown" else value


def _features(value: Any, *_: Any) -> Any:
    number = _native(value)
    return number if isinstance(number, str) else {"share" if isinstance(number, float) else "count": number}


def _features_from(value: Any) -> Any:
    return next(iter(value.values())) if isinstance(value, dict) else value


def _settings(learner: Any, *_: Any) -> dict[str, Any]:
    """The settings of a base learner."""
    given = learner.get_params(deep=False)
    own = _SETTINGS[learner._name]
    return {setting["name"]: to_library(setting, given[_parameter(setting["name"])], None) for setting in own}


def _learner(name: str, values: Mapping[str, Any]) -> Any:
    """The base learner of some settings, the other way round."""
    known = {setting["name"]: setting for setting in _SETTINGS[name]}
    return LEARNERS[name](**{_parameter(own): from_library(known[own], value) for own, value in values.items()})


def _parameter(setting: str) -> str:
    """The name of a setting in Python."""
    return RENAMED.get(setting, setting)


def _base(value: Any, *_: Any) -> Any:
    if isinstance(value, _LEARNERS):
        return {value._name: _settings(value)}
    return value if isinstance(value, str) else {"foreign": type(value).__name__}


def foreign_in(value: Any) -> list[Any]:
    """The classifiers from elsewhere in a parameter that is a base learner, or a sequence of them."""
    own = value if isinstance(value, (list, tuple, np.ndarray)) else [value]
    return [base for base in own if not isinstance(base, (str, *_LEARNERS)) and is_classifier(base)]


def takes_sparse(learner: Any) -> bool:
    """Whether a classifier says that it takes sparse rows."""
    try:
        return bool(get_tags(learner).input_tags.sparse)
    except (AttributeError, TypeError, ValueError):
        return False


def _base_from(value: Any) -> Any:
    return _learner(*next(iter(value.items()))) if isinstance(value, dict) else value


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
_TO_LIBRARY: dict[str, Callable[..., Any]] = {
    "base": _base,
    "bases": lambda value, *_: [_base(item) for item in value],
    "columns": _columns,
    "features": _features,
    "prior": _prior,
    "tree": _settings,
}
_FROM_LIBRARY: dict[str, Callable[[Any], Any]] = {
    "base": _base_from,
    "bases": lambda value: tuple(_base_from(item) for item in value),
    "features": _features_from,
    "prior": _prior_from,
    "tree": lambda value: _learner("tree", value),
}
