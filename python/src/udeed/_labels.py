"""Labels: labeled rows, classes, and their names in a model file."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from udeed import _core

# More are not classes any more, but values.
MOST_CLASSES = 255


class UdeedWarning(UserWarning):
    """Warning about a fit or a prediction."""

    __module__ = "udeed"


@dataclass(frozen=True)
class Labels:
    """The labels of some rows: an index into the classes for each, -1 where it has none."""

    classes: NDArray[Any]
    codes: NDArray[np.int64]

    @property
    def names(self) -> list[str]:
        """The classes as a model file holds them."""
        return [class_name(value) for value in self.classes]

    def of_weight(self, weights: NDArray[np.float64] | None, fewest: int) -> tuple[Labels, NDArray[np.bool_]]:
        """These labels without classes of which no row has a weight, as nothing is learned of them; and which are left.

        Raises
        ------
        ValueError
            If fewer than ``fewest`` are left.
        """
        labeled = self.codes >= 0
        left = np.ones(self.classes.size, dtype=bool)
        if weights is not None:
            counts = np.bincount(self.codes[labeled], weights[labeled] != 0.0, minlength=left.size)
            left = counts > 0
        if left.all():
            return self, left
        lost = ", ".join(repr(value) for value in self.classes[~left].tolist())
        found = f"no labeled row of class {lost} has a weight"
        if left.sum() < fewest:
            raise ValueError(f"{found}, expected rows of at least two classes that have one")
        warnings.warn(f"{found}: it is not learned, and never predicted", UdeedWarning, stacklevel=5)
        codes = np.full(self.codes.size, -1, dtype=np.int64)
        places = np.where(left, np.cumsum(left) - 1, -1)
        codes[labeled] = places[self.codes[labeled]]
        return Labels(self.classes[left], codes), left


def read_labels(y: ArrayLike, unlabeled: object, fewest: int = 2) -> Labels:
    """Takes the labels of training rows apart, which have to be of at least ``fewest`` classes.

    Raises
    ------
    ValueError
        If no row has a label, or there is one class only, or too many; or if a label is that of unlabeled rows as text.
    """
    given, without = _taken_apart(y, unlabeled, warn=True)
    labeled = plain(given[~without])
    if labeled.size == 0 and fewest > 0:
        raise ValueError(f"y has no labeled row, expected rows of at least two classes{_hint(unlabeled, without)}")
    if labeled.dtype.kind == "f":
        assert_all_finite(labeled, input_name="y")
    # Whole numbers and words are classes, whatever they are, and looking closer takes longer than many a fit.
    if labeled.dtype.kind not in "iubU":
        check_classification_targets(labeled)
    classes, inverse = np.unique(labeled, return_inverse=True)
    if classes.size == 1 and fewest > 1:
        raise ValueError(_one_class(classes[0]) + _hint(unlabeled, without))
    if classes.size > MOST_CLASSES:
        raise ValueError(f"y has labels of {classes.size} classes, expected at most {MOST_CLASSES}")
    doubt_classes(classes, unlabeled, stacklevel=5)
    if not (unlabeled is None or _is_same(unlabeled, -1) or without.any()):
        text = f"y has no label {unlabeled!r}, which is that of unlabeled rows by `unlabeled`"
        warnings.warn(text, UdeedWarning, stacklevel=4)
    codes = np.full(given.size, -1, dtype=np.int64)
    codes[~without] = inverse.ravel()
    return Labels(classes, codes)


def _taken_apart(y: ArrayLike, unlabeled: object, *, warn: bool = False) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """Labels as an array, and which of them mean none; what may mean none as well is refused."""
    given: NDArray[Any] = column_or_1d(_with_nulls(y), warn=warn)
    without = is_unlabeled(given, unlabeled)
    _refuse_missing(given, without)
    # Numbers are no text, whatever means none.
    if unlabeled is not None and (given.dtype.kind in "UO" or isinstance(unlabeled, str)):
        _refuse_text_of(unlabeled, given[~without])
    return given, without


def _with_nulls(y: Any) -> Any:
    """Whole numbers and truth values among nulls as objects: numpy would make floats of them."""
    if getattr(y, "ndim", 1) == 2 and hasattr(y, "iloc") and y.shape[1] == 1:
        # A frame of one column, which is warned of as such.
        return np.asarray(_with_nulls(y.iloc[:, 0]))[:, np.newaxis]
    kind = "" if isinstance(y, np.ndarray) else str(getattr(y, "dtype", getattr(y, "type", ""))).lower()
    if not kind.startswith(("int", "uint", "bool")) and kind != "category":
        return y
    if kind == "category" and hasattr(y, "isna"):
        words = getattr(y, "cat", y)
        return np.array([*words.categories, None], dtype=object)[words.codes]
    # Of pandas: series, indices and their arrays.
    if hasattr(y, "isna"):
        return np.asarray(y, dtype=object) if y.isna().any() else y
    # Of polars or pyarrow.
    listed = y.to_list() if hasattr(y, "to_list") else y.to_pylist()
    return np.array(listed, dtype=object) if None in listed else y


def doubt_classes(classes: NDArray[Any], unlabeled: object, *, stacklevel: int) -> None:
    """Warns of classes that look like missing labels."""
    if unlabeled is None or classes.dtype.kind not in "UO":
        return
    doubtful = _core.doubtful_classes([str(value) for value in classes])
    if not doubtful:
        return
    what = "the class" if len(doubtful) == 1 else "the classes"
    listed = ", ".join(repr(name) for name in doubtful)
    text = (
        f"y has {what} {listed}: if such rows have no label, say `unlabeled={doubtful[0]!r}`; if every row has one, "
        "`unlabeled=None`"
    )
    warnings.warn(text, UdeedWarning, stacklevel=stacklevel)


def is_unlabeled(y: NDArray[Any], unlabeled: object) -> NDArray[np.bool_]:
    """Which rows have no label: those whose label is the given one.

    A label that is not a number stands for every missing value: ``nan``, ``None``, ``pandas.NA``.
    """
    if unlabeled is None:
        return np.zeros(y.shape, dtype=bool)
    if is_missing(unlabeled):
        if y.dtype.kind == "f":
            return np.asarray(np.isnan(y), dtype=bool)
        if y.dtype.kind != "O":
            return np.zeros(y.shape, dtype=bool)
        return np.fromiter((is_missing(value) for value in y), dtype=bool, count=y.size)
    if y.dtype.kind == "O":
        return np.fromiter((_is_same(value, unlabeled) for value in y), dtype=bool, count=y.size)
    # An array of numbers holds no text, nor the other way round: numpy would compare their forms.
    if (y.dtype.kind in "US") != isinstance(unlabeled, str):
        return np.zeros(y.shape, dtype=bool)
    return np.asarray(y == unlabeled, dtype=bool)


def holds_unlabeled(classes: NDArray[Any], unlabeled: object) -> bool:
    """Whether a class is the label of unlabeled rows, in whatever form."""
    names = (value for value in classes.tolist() if isinstance(value, (str, Real)))
    return bool(is_unlabeled(classes, unlabeled).any()) or any(_is_form_of(name, unlabeled) for name in names)


def labeled_rows(
    y: ArrayLike, unlabeled: object, classes: ArrayLike | None = None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """The labels as an array, and the places of those that are labels.

    Rows of one class are enough where ``classes`` are known and the label that means none is not one of them.

    Raises
    ------
    ValueError
        If there is none, or if a class may have been taken for unlabeled rows.
    """
    given, without = _taken_apart(y, unlabeled)
    labeled = np.flatnonzero(~without)
    if labeled.size == 0:
        found = f"y has no labeled row among {given.size}, expected some"
        raise ValueError(found + _hint(unlabeled, without))
    first = given[labeled[0]]
    is_doubtful = classes is None or bool(is_unlabeled(np.asarray(classes), unlabeled).any())
    if is_doubtful and without.any() and bool(np.all(given[labeled] == first)):
        raise ValueError(_one_class(first) + _hint(unlabeled, without))
    return given, labeled


def class_name(value: object) -> str:
    """The name of a class in a model file: whole numbers without a point, as the command reads them."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, Integral):
        return str(int(value))
    if isinstance(value, Real):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)


def named_classes(names: list[str]) -> NDArray[Any]:
    """The classes that names in a model file stand for: numbers where all are written as such and ascend, else text."""
    if names == ["False", "True"]:
        return np.array([False, True])
    kinds: tuple[type[int] | type[float], ...] = (int, float)
    for kind in kinds:
        try:
            values = np.array([kind(name) for name in names])
        except (ValueError, OverflowError):
            continue
        # Other texts that Python reads as numbers, such as "1_1" or "01", were text.
        is_written_so = values.dtype.kind in "if" and [class_name(value) for value in values] == names
        if is_written_so and np.all(np.isfinite(values)) and np.all(np.diff(values) > 0):
            return values
    return np.array(names, dtype=object)


def plain(labels: NDArray[Any]) -> NDArray[Any]:
    """Objects that are all numbers as an array of numbers."""
    if labels.dtype.kind != "O" or any(isinstance(value, str) for value in labels):
        return labels
    return np.asarray(labels.tolist()) if labels.size else labels


def is_missing(value: object) -> bool:
    """Whether a value stands for none: not even equal to itself, or one of the objects that say so."""
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return True
    return isinstance(value, Real) and bool(value != value)


def _is_same(value: object, unlabeled: object) -> bool:
    if isinstance(value, str) != isinstance(unlabeled, str) or is_missing(value):
        return False
    return bool(value == unlabeled)


def _refuse_missing(given: NDArray[Any], without: NDArray[np.bool_]) -> None:
    count = int((is_unlabeled(given, np.nan) & ~without).sum())
    if count > 0:
        rows = "1 row" if count == 1 else f"{count} rows"
        found = f"Input y contains NaN or another missing value in {rows}, expected a label"
        raise ValueError(f'{found}: if they mean unlabeled, say `unlabeled=float("nan")`')


def _refuse_text_of(unlabeled: object, labels: NDArray[Any]) -> None:
    """Refuses labels that are the label of unlabeled rows in another form: beside text, numpy makes "-1" of -1."""
    for value in {value for value in labels.tolist() if isinstance(value, (str, Real))}:
        if _is_form_of(value, unlabeled):
            count = int((labels == value).sum())
            rows = "1 row" if count == 1 else f"{count} rows"
            found = f"y has the label {value!r} in {rows}, where `unlabeled` is {unlabeled!r}"
            say = f"say `unlabeled={value!r}`; if every row has one, `unlabeled=None`"
            raise ValueError(f"{found}: if such rows have no label, {say}")


def _is_form_of(value: str | Real, unlabeled: object) -> bool:
    """Whether a label is empty, or the one of unlabeled rows as text, or as a number where that is text."""
    if isinstance(value, str) and not value.strip():
        return True
    if isinstance(value, str) == isinstance(unlabeled, str):
        return False
    text, other = (value, unlabeled) if isinstance(value, str) else (str(unlabeled), value)
    if is_missing(other):
        return text.strip().lower() in ("nan", "none", "<na>", "nat")
    try:
        return bool(float(text) == other)
    except ValueError:
        return text.strip() == str(other)


def _one_class(found: object) -> str:
    shown = found.item() if isinstance(found, np.generic) else found
    return f"y has labels of one class only, {shown!r}, expected at least two classes"


def _hint(unlabeled: object, without: NDArray[np.bool_]) -> str:
    count = int(without.sum())
    if count == 0:
        return ""
    rows = "1 row has" if count == 1 else f"{count} rows have"
    return f": {rows} the label {unlabeled!r}, which means unlabeled; if it is a class, say `unlabeled=None`"
