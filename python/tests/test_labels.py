"""Labels of any type, and any label for none."""

from __future__ import annotations

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import udeed
from estimators import ALL, SUPERVISED, small
from sklearn.exceptions import DataConversionWarning
from sklearn.utils.multiclass import check_classification_targets

X = np.linspace(0.0, 1.0, 24).reshape(12, 2)
CODES = np.array([0, 0, 0, 0, 1, 1, 1, 1, -1, -1, -1, -1])


def labels(first: Any, second: Any, none: Any, kind: Any = object) -> np.ndarray:
    return np.array([{0: first, 1: second, -1: none}[code] for code in CODES], dtype=kind)


@pytest.mark.parametrize(
    ("y", "unlabeled", "classes"),
    [
        (labels(0, 1, -1, int), -1, [0, 1]),
        (labels(1.0, 3.0, -1.0, float), -1, [1.0, 3.0]),
        (labels(-1, 1, 0, int), 0, [-1, 1]),
        (labels(0.0, 1.0, np.nan, float), np.nan, [0.0, 1.0]),
        (labels("ham", "spam", "?", str), "?", ["ham", "spam"]),
        (labels("ham", "spam", "", str), "", ["ham", "spam"]),
        (labels("10", "9", None), np.nan, ["10", "9"]),
        (labels("a", "b", -1), -1, ["a", "b"]),
        (labels("a", "b", np.nan), np.nan, ["a", "b"]),
        (labels(False, True, None), float("nan"), [False, True]),
        (pd.Series(labels("a", "b", None)), np.nan, ["a", "b"]),
        (pd.Series(labels("a", "b", None), dtype="string"), pd.NA, ["a", "b"]),
        (pd.Series(labels("a", "b", None), dtype="category"), np.nan, ["a", "b"]),
        (pd.Series(labels(3, 4, None), dtype="Int64"), np.nan, [3, 4]),
        (pl.Series(labels("a", "b", None).tolist()), np.nan, ["a", "b"]),
        (pl.Series(labels(3, 4, -1).tolist()), -1, [3, 4]),
    ],
)
def test_any_label_means_none(y: Any, unlabeled: object, classes: list[Any]) -> None:
    plain = small(udeed.UDEEDClassifier).fit(X, CODES)
    model = small(udeed.UDEEDClassifier, unlabeled=unlabeled).fit(X, y)
    assert model.classes_.tolist() == classes
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert model.predict(X).tolist() == model.classes_[plain.predict(X)].tolist()
    assert model.score(X, y) == plain.score(X, CODES)


@pytest.mark.parametrize("kind", ALL)
def test_minus_one_is_never_swallowed_in_silence(kind: type) -> None:
    y = np.where(CODES == 0, -1, 1)
    with pytest.raises(ValueError, match="one class only, .*1.*4 rows have the label -1.*`unlabeled=None`"):
        small(kind).fit(X, y)
    model = small(kind, unlabeled=None)
    quiet = kind in (*SUPERVISED, udeed.UDEEDClassifierCV)
    with _nothing() if quiet else pytest.warns(udeed.UdeedWarning):
        assert model.fit(X, y).classes_.tolist() == [-1, 1]


class _nothing:
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


@pytest.mark.parametrize("kind", ALL)
def test_a_label_that_is_the_marker_as_text_is_refused(kind: type) -> None:
    # What numpy makes of ["mal", -1, "ben"].
    y = np.array([["mal", "ben", -1][code] for code in CODES])
    assert y.dtype.kind == "U"
    with pytest.raises(ValueError, match="y has the label '-1' in 4 rows, where `unlabeled` is -1: .*`unlabeled='-1'`"):
        small(kind).fit(X, y)
    assert small(kind, unlabeled="-1").fit(X, y).classes_.tolist() == ["ben", "mal"]


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize(
    ("none", "unlabeled"),
    [
        ("-1", -1),
        (" -1 ", -1),
        ("-1.0", -1),
        ("-1", -1.0),
        ("", -1),
        (" ", "?"),
        ("nan", np.nan),
        ("None", float("nan")),
        ("<NA>", pd.NA),
        ("False", False),
        (-1, "-1"),
    ],
)
def test_labels_that_must_mean_none(none: Any, unlabeled: Any) -> None:
    y = labels("mal", "ben", none) if isinstance(none, str) else labels(0, 1, none)
    words = f"y has the label {none!r} in 4 rows, where `unlabeled` is "
    model = small(udeed.BaggingClassifier, unlabeled=unlabeled)
    for attempt in (
        lambda: model.fit(X, y),
        lambda: next(udeed.SemiSupervisedKFold(2, unlabeled=unlabeled).split(X, y)),
        lambda: udeed.mask_labels(y, unlabeled=unlabeled),
    ):
        with pytest.raises(ValueError, match=words):
            attempt()
    # As one says which it is, it is that.
    assert small(udeed.BaggingClassifier, unlabeled=none).fit(X, y).classes_.size == 2
    model = small(udeed.BaggingClassifier, unlabeled=None).fit(X, y)
    assert model.classes_.size == 3 and model.score(X, y) > 0.6


@pytest.mark.parametrize("none", ["null", "None", "N/A", "nan", "unknown", "?", "-1"])
def test_classes_that_look_like_missing_labels_are_warned_of(none: str) -> None:
    y = labels("mal", "ben", none)
    words = f"y has the class {re.escape(repr(none))}: .*`unlabeled={re.escape(repr(none))}`; .*`unlabeled=None`"
    with pytest.warns(udeed.UdeedWarning, match=words) as told:
        small(udeed.BaggingClassifier, unlabeled="").fit(X, y)
    assert told[0].filename == __file__
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        small(udeed.BaggingClassifier, unlabeled=none).fit(X, y)
        small(udeed.BaggingClassifier, unlabeled=None).fit(X, y)
        # Numbers are what they are: -1 is a class where another label means none.
        y = np.where(CODES == -1, 2, np.where(CODES == 0, -1, 1))
        y[0] = 0
        small(udeed.BaggingClassifier, unlabeled=0).fit(X, y)


def test_a_file_with_the_class_minus_one_among_text(tmp_path: Path) -> None:
    y = labels("mal", "ben", "-1")
    model = small(udeed.BaggingClassifier, unlabeled=None).fit(X, y)
    model.save(tmp_path / "model")
    again = udeed.load(tmp_path / "model")
    assert again.unlabeled is None and again.score(X, y) == model.score(X, y)


@pytest.mark.parametrize(
    "y",
    [
        pd.Series(labels(3, 4, None), dtype="Int64"),
        pd.Series(labels(3, 4, None), dtype="category"),
        pd.array(labels(3, 4, None), dtype="Int64"),
        pd.Categorical(labels(3, 4, None)),
        pd.Index(labels(3, 4, None), dtype="Int64"),
        pd.Series(labels(3, 4, None).tolist(), dtype="int8[pyarrow]"),
        pl.Series(labels(3, 4, None).tolist(), dtype=pl.UInt8),
        pa.array(labels(3, 4, None).tolist()),
        pa.chunked_array([labels(3, 4, None).tolist()]),
    ],
    ids=lambda y: f"{type(y).__module__} {getattr(y, 'dtype', '')}",
)
def test_whole_numbers_among_nulls_stay_whole(y: Any) -> None:
    model = small(udeed.BaggingClassifier, unlabeled=np.nan).fit(X, y)
    assert model.classes_.dtype.kind == "i" and model.predict(X).dtype.kind == "i"
    assert model.score(X, y) == 1.0


def test_labels_in_a_frame_of_one_column_stay_whole() -> None:
    frame = pd.DataFrame({"kind": pd.array(labels(3, 4, None), dtype="Int64")})
    with pytest.warns(DataConversionWarning, match="column-vector"):
        model = small(udeed.BaggingClassifier, unlabeled=np.nan).fit(X, frame)
    assert model.classes_.tolist() == [3, 4] and model.classes_.dtype.kind == "i"


def test_truth_values_among_nulls_stay_truth_values() -> None:
    truth = labels(False, True, None)
    for y in (pd.Series(truth, dtype="boolean"), pd.array(truth, dtype="boolean"), pl.Series(truth.tolist())):
        assert small(udeed.BaggingClassifier, unlabeled=np.nan).fit(X, y).classes_.dtype == bool


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(12, -1), "no labeled row.*12 rows have the label -1"),
        (np.linspace(0.0, 1.0, 12), "Unknown label type: continuous"),
        (np.where(CODES == 0, np.nan, 1.0), "Input y contains NaN"),
        (np.where(CODES == 0, np.inf, 1.0), "Input y contains infinity"),
        (CODES[:5], "inconsistent numbers of samples"),
        (CODES.reshape(6, 2), "should be a 1d array"),
        (None, "requires y to be passed"),
    ],
)
def test_labels_that_make_no_sense(y: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        small(udeed.UDEEDClassifier).fit(X, y)


def test_two_classes_with_the_same_name_are_refused() -> None:
    class Same:
        def __init__(self, rank: int) -> None:
            self.rank = rank

        def __str__(self) -> str:
            return "same"

        def __lt__(self, other: Same) -> bool:
            return self.rank < other.rank

        def __eq__(self, other: object) -> bool:
            return isinstance(other, Same) and self.rank == other.rank

        def __hash__(self) -> int:
            return self.rank

    y = np.array([Same(0), Same(1)] * 6, dtype=object)
    with pytest.raises(ValueError, match="same|Unknown label type"):
        small(udeed.BaggingClassifier).fit(X, y)


def test_bytes_are_refused_where_scikit_learn_refuses_them() -> None:
    y = np.array([b"a", b"b"] * 6)
    try:
        check_classification_targets(y)
    except TypeError:
        with pytest.raises(TypeError, match="bytes"):
            small(udeed.BaggingClassifier).fit(X, y)
    else:
        pytest.skip("this scikit-learn takes bytes for labels")


def test_a_class_for_nearly_every_row_is_warned_of_once() -> None:
    rows, y = np.arange(60.0).reshape(30, 2), np.arange(30) % 25
    for labels_of in (y, y.astype(str)):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            udeed.BaggingClassifier(2, unlabeled=None).fit(rows, labels_of)
        assert [str(one.message)[:31] for one in told] == ["25 classes in 30 labeled rows: "]


@pytest.mark.parametrize("unlabeled", ["?", 7, float("nan")])
def test_a_label_of_unlabeled_rows_that_no_row_has_is_warned_of(unlabeled: Any) -> None:
    y: Any = np.array(["a", "b"] * 6) if isinstance(unlabeled, str) else np.array([0.0, 1.0] * 6)
    with pytest.warns(udeed.UdeedWarning, match=f"y has no label {unlabeled!r}, which".replace("?", r"\?")):
        small(udeed.BaggingClassifier, unlabeled=unlabeled).fit(X, y)
    y[0] = unlabeled
    with warnings.catch_warnings():
        warnings.simplefilter("error", udeed.UdeedWarning)
        small(udeed.BaggingClassifier, unlabeled=unlabeled).fit(X, y)
        small(udeed.BaggingClassifier).fit(X, [0, 1] * 6)


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize("missing", [None, np.nan, float("nan"), pd.NA, pd.NaT])
@pytest.mark.parametrize("unlabeled", [-1, "?", None])
def test_missing_values_among_text_are_refused_with_a_hint(missing: Any, unlabeled: Any) -> None:
    y = labels("a", "b", missing)
    words = r'Input y contains NaN or another missing value in 4 rows, .*`unlabeled=float\("nan"\)`'
    model = small(udeed.UDEEDClassifier, unlabeled=unlabeled)
    with pytest.raises(ValueError, match=words):
        model.fit(X, y)
    model.fit(X, labels("a", "b", "a" if unlabeled is None else unlabeled))
    with pytest.raises(ValueError, match=words):
        model.score(X, y)
    with pytest.raises(ValueError, match=words):
        next(udeed.SemiSupervisedKFold(2, unlabeled=unlabeled).split(X, y))


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize(("classes", "others"), [((0, 1), ("0", "1")), (("a", "b"), (0, 1)), ((0, 1), (0.5, 1.5))])
def test_scores_with_labels_of_another_type_are_refused(classes: Any, others: Any) -> None:
    model = small(udeed.UDEEDClassifier).fit(X, labels(*classes, -1))
    for kind in (object, type(others[0])):
        none = -1 if isinstance(others[0], (int, float)) or kind is object else "-1"
        with pytest.raises(ValueError, match="Mix |y has the label '-1'"):
            model.score(X, labels(*others, none, kind))
    # Numbers that are objects are numbers.
    if classes == (0, 1):
        assert model.score(X, labels(0, 1, -1)) == model.score(X, CODES) == model.score(X, labels(0.0, 1.0, -1.0, float))
