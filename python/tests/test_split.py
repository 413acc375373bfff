"""Splits, masks and scorers that know of unlabeled rows."""

from __future__ import annotations

import csv
import pickle
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import udeed
from command import needs_command, run
from sklearn.dummy import DummyClassifier
from sklearn.naive_bayes import GaussianNB
from udeed import _core

Y = np.array([0] * 12 + [1] * 6 + [-1] * 20)


@pytest.mark.parametrize(
    "splitter",
    [
        udeed.SemiSupervisedKFold(3),
        udeed.SemiSupervisedKFold(3, shuffle=True, random_state=1),
        udeed.SemiSupervisedSplit(4, test_size=1 / 3, random_state=1),
        udeed.SemiSupervisedSplit(4, test_size=6, random_state=1),
    ],
)
def test_unlabeled_rows_are_always_trained_on_and_never_tested(splitter: Any) -> None:
    splits = list(splitter.split(np.zeros((38, 1)), Y))
    assert len(splits) == splitter.get_n_splits()
    for train, test in splits:
        assert set(train) | set(test) == set(range(38)) and not set(train) & set(test)
        assert np.bincount(Y[test]).tolist() == [4, 2]
        assert set(np.flatnonzero(Y == -1)) <= set(train)


def test_groups_are_kept_together_or_refused() -> None:
    X = np.zeros((38, 1))
    # Six groups of labeled rows, of which each has unlabeled ones, too; the last group has no others.
    groups = np.array([f"patient {row % 6}" for row in range(32)] + ["nobody"] * 6)
    splitter = udeed.SemiSupervisedGroupKFold(3, shuffle=True, random_state=0)
    assert "shuffle=True" in repr(splitter)
    splits = list(splitter.split(X, Y, groups))
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(18))
    for train, test in splits:
        assert not set(groups[train]) & set(groups[test]) and (Y[test] >= 0).all()
        # What is in neither part are the unlabeled rows of the groups under test.
        rest = np.setdiff1d(np.arange(38), np.concatenate([train, test]))
        assert set(rest) == set(np.flatnonzero((Y == -1) & np.isin(groups, groups[test])))
    for other in (udeed.SemiSupervisedKFold(3), udeed.SemiSupervisedSplit(3)):
        with pytest.raises(ValueError, match=f"`groups` is given, which {type(other).__name__} .*GroupKFold"):
            next(other.split(X, Y, groups))
    for bad, message in ((None, "`groups` is None"), (groups[:5], "inconsistent"), ([np.nan] * 38, "missing values")):
        with pytest.raises(ValueError, match=message):
            next(splitter.split(X, Y, bad))


def test_every_labeled_row_is_in_one_fold() -> None:
    tested = np.concatenate([test for _, test in udeed.SemiSupervisedKFold(3).split(Y, Y)])
    assert sorted(tested) == list(range(18))


def test_splits_follow_the_seed_and_the_marker() -> None:
    words = np.where(Y == -1, "?", np.where(Y == 0, "no", "yes"))
    numbers = list(udeed.SemiSupervisedSplit(2, random_state=3).split(Y, Y))
    named = list(udeed.SemiSupervisedSplit(2, random_state=3, unlabeled="?").split(words, words))
    for (train, test), (other_train, other_test) in zip(numbers, named, strict=True):
        assert train.tolist() == other_train.tolist() and test.tolist() == other_test.tolist()
    assert "random_state=3" in repr(udeed.SemiSupervisedSplit(2, random_state=3))
    with pytest.raises(ValueError, match="no labeled row among 3"):
        next(udeed.SemiSupervisedKFold().split(np.zeros(3), [-1, -1, -1]))


@pytest.mark.parametrize(("labeled", "kept"), [(0.5, [6, 3]), (9, [6, 3]), (2, [1, 1]), (1.0, [12, 6]), (18, [12, 6])])
def test_masks_keep_each_class_in_proportion(labeled: float | int, kept: list[int]) -> None:
    few = udeed.mask_labels(Y, labeled, random_state=0)
    assert [(few == 0).sum(), (few == 1).sum()] == kept
    assert ((few == Y) | (few == -1)).all()
    np.testing.assert_array_equal(few, udeed.mask_labels(Y, labeled, random_state=0))


@pytest.mark.parametrize("labeled", [0, 0.0, 1.5, -1, 19, True, "half", float("nan")])
def test_masks_that_make_no_sense_are_refused(labeled: Any) -> None:
    with pytest.raises(ValueError, match=r"`labeled` is .*, expected a share above 0 and at most 1"):
        udeed.mask_labels(Y, labeled)


def test_masks_of_other_labels() -> None:
    assert udeed.mask_labels(["a", "bb"] * 3, 2, random_state=0, unlabeled="unknown").tolist().count("unknown") == 4
    mixed = udeed.mask_labels(["a", "b"] * 3, 2, random_state=0)
    assert mixed.dtype == object and mixed.tolist().count(-1) == 4
    assert np.isnan(udeed.mask_labels([0, 1] * 3, 2, random_state=0, unlabeled=np.nan)).sum() == 4
    with pytest.raises(ValueError, match="at least 2, one of each class"):
        udeed.mask_labels([0, 1, 0], 1)
    with pytest.raises(ValueError, match="`unlabeled` is None"):
        udeed.mask_labels([0, 1], unlabeled=None)


def test_scorers_leave_unlabeled_rows_out() -> None:
    X = np.zeros((38, 1))
    model = DummyClassifier(strategy="most_frequent").fit(X[:18], Y[:18])
    scorer = pickle.loads(pickle.dumps(udeed.labeled_scorer()))
    assert scorer(model, X, Y) == pytest.approx(2 / 3)
    assert udeed.labeled_scorer("balanced_accuracy")(model, X, Y) == pytest.approx(0.5)
    assert "accuracy" in repr(scorer)
    with pytest.raises(ValueError, match="no labeled row"):
        scorer(model, X[:2], [-1, -1])


def test_masks_of_many_rows_are_quick_and_exact() -> None:
    y = np.repeat([0, 1, 2, 3], [1_200_000, 799_990, 7, 3])
    begin = time.process_time()
    few = udeed.mask_labels(y, 1_500_000, random_state=0)
    assert time.process_time() - begin < 3.0
    assert np.bincount(few + 1).tolist() == [500_000, 900_000, 599_993, 5, 2]
    # A class that is too small for a row in proportion keeps one.
    assert np.bincount(udeed.mask_labels(y, 1000, random_state=0) + 1)[1:].tolist() == [599, 399, 1, 1]


@pytest.mark.parametrize("count", range(3, 24))
def test_masks_of_every_size_keep_what_is_asked_for(count: int) -> None:
    sizes = np.array([15, 7, 1])
    few = udeed.mask_labels(np.repeat([0, 1, 2], sizes), count, random_state=1)
    kept = np.bincount(few[few >= 0], minlength=3)
    assert kept.sum() == count and (kept >= 1).all() and (kept <= sizes).all()
    # No class is off its share by a row, unless it is too small for one.
    assert (np.abs(kept - count * sizes / 23)[:2] < 1.0 + (count < 23)).all()


def dealt(y: np.ndarray, test: float | int, labeled: float | int, seed: int) -> list[list[int]]:
    """The rows that keep their labels, those without, and those to test on."""
    names, codes = np.unique(y, return_inverse=True)
    parts = _core.stratified_split([str(name) for name in names], codes, test, labeled, seed, 0)
    return [part.tolist() for part in parts]


@needs_command
@pytest.mark.parametrize(("labels", "labeled"), [("abbc", 0.25), ("abbb", 8), ("zy", 0.1)])
@pytest.mark.parametrize("seed", [0, 7])
def test_rows_are_dealt_as_the_command_does(labels: str, labeled: float | int, seed: int, tmp_path: Path) -> None:
    y = np.array(list(labels * 15))
    lines = ["row,class", *(f"{row},{label}" for row, label in enumerate(y))]
    (tmp_path / "rows.csv").write_text("\n".join(lines) + "\n")
    files = [tmp_path / "train.csv", tmp_path / "test.csv"]
    run("data", "split", tmp_path / "rows.csv", *files, "--label", "class", "--labeled", labeled, "--seed", seed)
    train, test = (list(csv.DictReader(file.open())) for file in files)
    of_command = [
        [int(row["row"]) for row in train if row["class"] == str(y[int(row["row"])])],
        [int(row["row"]) for row in train if row["class"] != str(y[int(row["row"])])],
        [int(row["row"]) for row in test],
    ]
    assert dealt(y, 0.5, labeled, seed) == of_command
    (_, tested), *_ = udeed.SemiSupervisedSplit(2, test_size=0.5, random_state=seed).split(y, y)
    assert tested.tolist() == of_command[2]


def test_masks_deal_as_the_splits_do() -> None:
    names, codes = np.unique(Y[:18], return_inverse=True)
    kept, hidden, _ = _core.stratified_split([str(name) for name in names], codes, None, 9, 3, 0)
    few = udeed.mask_labels(Y[:18], 9, random_state=3)
    assert np.flatnonzero(few >= 0).tolist() == kept.tolist() and np.flatnonzero(few < 0).tolist() == hidden.tolist()


@pytest.mark.parametrize("test_size", [0.0, 1.0, 1, 17, True, "half"])
def test_test_sizes_that_make_no_sense_are_refused(test_size: Any) -> None:
    with pytest.raises(ValueError, match="`test_size` is .*, expected a share above 0 and below 1"):
        next(udeed.SemiSupervisedSplit(test_size=test_size).split(Y, Y))


def test_the_rows_of_a_seed_stay_what_they_are() -> None:
    y = np.array(list("aabbb" * 6))
    labeled, _, test = dealt(y, 0.5, 0.25, 7)
    assert labeled == [3, 10, 16, 23] and test == [2, 4, 5, 6, 7, 9, 11, 12, 13, 18, 21, 25, 26, 27, 29]
    few = udeed.mask_labels(y, 5, random_state=7, unlabeled="?")
    assert np.flatnonzero(few != "?").tolist() == [2, 4, 13, 21, 26]
    splits = udeed.SemiSupervisedSplit(2, test_size=0.2, random_state=7).split(y, y)
    assert [test.tolist() for _, test in splits] == [[2, 4, 13, 18, 21, 26], [10, 12, 13, 16, 18, 23]]


@pytest.mark.parametrize("none", ["None", "null", "N/A"])
def test_labels_that_look_like_missing_ones_are_warned_of(none: str) -> None:
    X, y = np.arange(60.0)[:, np.newaxis], np.array(["mal", "ben", none] * 20)
    attempts = [
        lambda unlabeled: udeed.mask_labels(y, 12, unlabeled=unlabeled),
        lambda unlabeled: udeed.bootstraps(y, unlabeled=unlabeled),
        lambda unlabeled: list(udeed.SemiSupervisedKFold(2, unlabeled=unlabeled).split(X, y)),
        lambda unlabeled: list(udeed.SemiSupervisedSplit(2, unlabeled=unlabeled).split(X, y)),
        lambda unlabeled: list(udeed.SemiSupervisedGroupKFold(2, unlabeled=unlabeled).split(X, y, np.arange(60) % 7)),
        lambda unlabeled: udeed.compare([GaussianNB()], X, y, splits=2, labeled=12, unlabeled=unlabeled),
    ]
    for attempt in attempts:
        with pytest.warns(udeed.UdeedWarning, match=f"y has the class '{none}': ") as told:
            attempt("?")
        assert [Path(one.filename).name for one in told] == ["test_split.py"]
        with warnings.catch_warnings():
            warnings.simplefilter("error", udeed.UdeedWarning)
            attempt(none)
