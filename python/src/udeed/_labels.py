"""Labels: which rows have one, which classes there are, and what they are called in a model file."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets, type_of_target


@dataclass(frozen=True)
class Labels:
    """The labels of some rows: an index into the classes for each, -1 where it has none."""

    classes: NDArray[Any]
    codes: NDArray[np.int64]

    @property
    def names(self) -> list[str]:
        """The classes as a model file holds them."""
        return [class_name(value) for value in self.classes]


def read_labels(y: ArrayLike, unlabeled: object) -> Labels:
    """Takes the labels of training rows apart.

    Raises
    ------
    ValueError
        If no row has a label, or there are not two classes.
    """
    given: NDArray[Any] = column_or_1d(y, warn=True)
    without = is_unlabeled(given, unlabeled)
    labeled = _plain(given[~without])
    if labeled.size == 0:
        raise ValueError(f"y has no labeled row, expected rows of two classes{_hint(unlabeled, without)}")
    if labeled.dtype.kind == "f":
        assert_all_finite(labeled, input_name="y")
    check_classification_targets(labeled)
    classes, inverse = np.unique(labeled, return_inverse=True)
    if classes.size == 1:
        found = f"y has labels of one class only, {classes[0]!r}, expected two classes"
        raise ValueError(found + _hint(unlabeled, without))
    kind = type_of_target(labeled, input_name="y", raise_unknown=True)
    if kind != "binary":
        raise ValueError(f"Only binary classification is supported. The type of the target is {kind}.")
    codes = np.full(given.size, -1, dtype=np.int64)
    codes[~without] = inverse.ravel()
    return Labels(classes, codes)


def is_unlabeled(y: NDArray[Any], unlabeled: object) -> NDArray[np.bool_]:
    """Which rows have no label: those whose label is the given one.

    A label that is not a number stands for every missing value: ``nan``, ``None``, ``pandas.NA``.
    """
    if unlabeled is None:
        return np.zeros(y.shape, dtype=bool)
    if _is_missing(unlabeled):
        if y.dtype.kind == "f":
            return np.asarray(np.isnan(y), dtype=bool)
        if y.dtype.kind != "O":
            return np.zeros(y.shape, dtype=bool)
        return np.fromiter((_is_missing(value) for value in y), dtype=bool, count=y.size)
    if y.dtype.kind == "O":
        return np.fromiter((_is_same(value, unlabeled) for value in y), dtype=bool, count=y.size)
    # An array of numbers holds no text, nor the other way round: numpy would compare their forms.
    if (y.dtype.kind in "US") != isinstance(unlabeled, str):
        return np.zeros(y.shape, dtype=bool)
    return np.asarray(y == unlabeled, dtype=bool)


def labeled_rows(y: ArrayLike, unlabeled: object) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The labels as an array, and the places of those that are labels.

    Raises
    ------
    ValueError
        If there is none.
    """
    given: NDArray[Any] = column_or_1d(y)
    labeled = np.flatnonzero(~is_unlabeled(given, unlabeled))
    if labeled.size == 0:
        raise ValueError(f"y has no labeled row among {given.size}, expected some")
    return given, labeled


def class_name(value: object) -> str:
    """What a class is called in a model file: whole numbers without a point, as the command reads them."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def named_classes(names: list[str]) -> NDArray[Any]:
    """The classes that names in a model file stand for: numbers where all are and they ascend, else text."""
    if names == ["False", "True"]:
        return np.array([False, True])
    kinds: tuple[type[int] | type[float], ...] = (int, float)
    for kind in kinds:
        try:
            values = np.array([kind(name) for name in names])
        except (ValueError, OverflowError):
            continue
        if values.dtype.kind in "if" and np.all(np.isfinite(values)) and np.all(np.diff(values) > 0):
            return values
    return np.array(names, dtype=object)


def _plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all numbers as an array of numbers."""
    if labels.dtype.kind != "O" or any(isinstance(value, str) for value in labels):
        return labels
    return np.asarray(labels.tolist()) if labels.size else labels


def _is_missing(value: object) -> bool:
    """Whether a value stands for none: not even equal to itself, or one of the objects that say so."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and bool(value != value)


def _is_same(value: object, unlabeled: object) -> bool:
    if isinstance(value, str) != isinstance(unlabeled, str) or _is_missing(value):
        return False
    return bool(value == unlabeled)


def _hint(unlabeled: object, without: NDArray[np.bool_]) -> str:
    count = int(without.sum())
    if count == 0:
        return ""
    rows = "1 row has" if count == 1 else f"{count} rows have"
    return f": {rows} the label {unlabeled!r}, which means unlabeled; if it is a class, say `unlabeled=None`"
