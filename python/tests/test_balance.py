"""Classes of unequal size: their weights, and where the decision parts two of them."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import command
import numpy as np
import pandas as pd
import pytest
import udeed
from estimators import ALL, METHODS, small
from sklearn.metrics import balanced_accuracy_score

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")


@pytest.fixture(scope="module")
def rare() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of which one in ten is of a class that overlaps the other."""
    random = np.random.RandomState(0)
    X = np.concatenate([random.normal(0.0, 1.0, (360, 3)), random.normal(1.2, 1.0, (40, 3))])
    y = np.repeat(["common", "rare"], [360, 40])
    return X, y, udeed.mask_labels(y, 100, random_state=1, unlabeled="?")


Data = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.mark.parametrize("kind", [kind for kind in ALL if kind is not udeed.UDEEDAutoClassifier])
def test_class_weights_are_sample_weights(kind: type, rare: Data) -> None:
    X, _, few = rare
    weights = np.where(few == "rare", 5.0, np.where(few == "common", 0.5, 1.0))
    plain = small(kind, unlabeled="?").fit(X, few, sample_weight=weights)
    weighted = small(kind, unlabeled="?", class_weight={"rare": 5.0, "common": 0.5}).fit(X, few)
    # Held-out rows do not count by the weights of their classes: the models differ in these.
    np.testing.assert_array_equal(weighted.predict_proba(X), plain.predict_proba(X))
    # Both count.
    both = small(kind, unlabeled="?", class_weight={"rare": 5.0, "common": 1.0})
    both.fit(X, few, sample_weight=np.where(few == "common", 0.5, 1.0))
    np.testing.assert_array_equal(both.predict_proba(X), plain.predict_proba(X))


def test_class_weights_shift_the_odds_of_auto(rare: Data) -> None:
    X, y, few = rare
    plain, weighted, balanced = (
        small(udeed.UDEEDAutoClassifier, unlabeled="?", class_weight=weight).fit(X, few)
        for weight in (None, {"rare": 5.0, "common": 0.5}, "balanced")
    )
    odds = [model.predict_proba(X)[:, 1] / model.predict_proba(X)[:, 0] for model in (plain, weighted)]
    np.testing.assert_allclose(odds[1], 10.0 * odds[0], rtol=1e-9)
    scores = [balanced_accuracy_score(y, model.predict(X)) for model in (plain, balanced)]
    assert scores[1] > scores[0] + 0.02


@pytest.mark.parametrize("kind", ALL)
def test_balanced_classes_count_alike(kind: type, rare: Data) -> None:
    X, y, few = rare
    plain, balanced = (small(kind, unlabeled="?", class_weight=weight).fit(X, few) for weight in (None, "balanced"))
    share = {name: 100 / 2 / (few == name).sum() for name in ("common", "rare")}
    given = small(kind, unlabeled="?", class_weight=share).fit(X, few)
    np.testing.assert_allclose(given.predict_proba(X), balanced.predict_proba(X), atol=1e-6)
    if kind is not udeed.CoForestClassifier:  # a leaf of one class is that of it, whatever its rows count
        assert (balanced.predict(X) == "rare").sum() >= (plain.predict(X) == "rare").sum()
    if kind in (udeed.UDEEDClassifier, udeed.BaggingClassifier):
        scores = [balanced_accuracy_score(y, model.predict(X)) for model in (plain, balanced)]
        assert scores[1] > scores[0] + 0.05


@pytest.mark.parametrize("weight", ["even", {"rare": 2.0, "none": 3.0}, {"rare": -1.0}, 3.0])
def test_class_weights_that_make_no_sense_are_refused(weight: Any, rare: Data) -> None:
    X, _, few = rare
    with pytest.raises(ValueError, match="class_weight|weight"):
        small(udeed.BaggingClassifier, unlabeled="?", class_weight=weight).fit(X, few)


@pytest.mark.parametrize("kind", ALL)
def test_a_threshold_moves_the_boundary_and_nothing_else(kind: type, rare: Data, tmp_path: Path) -> None:
    X, _, few = rare
    plain = small(kind, unlabeled="?").fit(X, few)
    moved = small(kind, unlabeled="?", threshold=-0.5).fit(X, few)
    assert plain.threshold_ == 0.0 and moved.threshold_ == -0.5
    np.testing.assert_array_equal(moved.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(moved.predict(X) == "rare", plain.decision_function(X) > -0.5)
    moved.save(tmp_path / "model")
    other = udeed.load(tmp_path / "model")
    assert other.threshold == other.threshold_ == -0.5
    np.testing.assert_array_equal(other.predict(X), moved.predict(X))


@pytest.mark.parametrize("kind", ALL)
def test_the_labeled_rows_choose_a_threshold(kind: type, rare: Data) -> None:
    X, y, few = rare
    plain = small(kind, unlabeled="?").fit(X, few)
    model = small(kind, unlabeled="?", threshold="balanced").fit(X, few)
    assert -1.0 <= model.threshold_ <= 1.0 and model.history_ == plain.history_
    np.testing.assert_array_equal(model.predict_proba(X), plain.predict_proba(X))
    np.testing.assert_array_equal(model.predict(X) == "rare", plain.decision_function(X) > model.threshold_)
    if kind in (udeed.UDEEDClassifier, udeed.BaggingClassifier, udeed.SelfTrainingClassifier):
        # Members with one voice each have few decisions to choose between.
        scores = [balanced_accuracy_score(y, each.predict(X)) for each in (plain, model)]
        assert model.threshold_ < 0.0 and scores[1] > scores[0] + 0.05
    again = small(kind, unlabeled="?", threshold="balanced", n_jobs=2).fit(X, few)
    assert again.threshold_ == model.threshold_


@pytest.mark.parametrize("kind", [udeed.UDEEDAutoClassifier, udeed.BaggingClassifier])
def test_goals_of_a_threshold(kind: type, rare: Data) -> None:
    X, y, few = rare
    share = {}
    for goal in ("balanced", "f1", "rate=0.05", "rate=0.4"):
        model = small(kind, unlabeled="?", threshold=goal).fit(X, few)
        share[goal] = float((model.predict(X) == "rare").mean())
        assert model.get_params()["threshold"] == goal
    assert abs(share["rate=0.05"] - 0.05) < 0.06 and abs(share["rate=0.4"] - 0.4) < 0.15, share
    assert share["f1"] <= share["balanced"] + 0.02, share


def test_a_rate_that_votes_are_too_coarse_for_is_told(rare: Data) -> None:
    X, _, few = rare
    with pytest.warns(udeed.UdeedWarning, match="the rate of 0.4 is not met: 0.200 of the training rows are predicted as `rare`"):
        model = small(udeed.AdaBoostClassifier, unlabeled="?", threshold="rate=0.4").fit(X, few)
    assert (model.predict(X) == "rare").mean() == 0.2
    with warnings.catch_warnings():
        warnings.simplefilter("error", udeed.UdeedWarning)
        udeed.BaggingClassifier(unlabeled="?", threshold="rate=0.4", random_state=0).fit(X, few)


@pytest.mark.parametrize("threshold", [1.5, -2, "even", None, float("nan"), True, "rate=0", "rate=1.2", "rate=x", "rate="])
def test_thresholds_that_make_no_sense_are_refused(threshold: Any, rare: Data) -> None:
    X, _, few = rare
    with pytest.raises(ValueError, match="The 'threshold' parameter of UDEEDClassifier must be"):
        small(udeed.UDEEDClassifier, unlabeled="?", threshold=threshold).fit(X, few)


def test_a_threshold_parts_two_classes_only(iris: Data) -> None:
    X, _, few = iris
    for threshold in (0.1, "balanced"):
        with pytest.raises(ValueError, match="3 classes.*two, between which a threshold decides"):
            small(udeed.BaggingClassifier, unlabeled="?", threshold=threshold).fit(X, few)
    with pytest.raises(ValueError, match="1 distinct labeled row of one class|at least 2"):
        small(udeed.BaggingClassifier, threshold="balanced").fit([[0.0], [1.0], [2.0]], [0, 1, 1])


def test_weights_of_classes_leave_rates_and_calibration_as_they_are(rare: Data) -> None:
    X, y, few = rare
    for class_weight in ("balanced", {"rare": 5.0}):
        model = udeed.BaggingClassifier(unlabeled="?", class_weight=class_weight, threshold="rate=0.2", random_state=0).fit(X, few)
        assert (model.predict(X) == "rare").mean() == pytest.approx(0.2, abs=0.06)
        calibrated = udeed.BaggingClassifier(unlabeled="?", class_weight=class_weight, calibrated=True, random_state=0).fit(X, few)
        share = (few[few != "?"] == "rare").mean()
        assert calibrated.predict_proba(X)[:, list(calibrated.classes_).index("rare")].mean() == pytest.approx(share, abs=0.06)


@command.needs_command
@pytest.mark.parametrize("kind", METHODS)
def test_the_command_balances_and_chooses_alike(kind: type, rare: Data, tmp_path: Path) -> None:
    X, _, few = rare
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    frame.assign(label=np.where(few == "?", "", few)).to_csv(tmp_path / "rows.csv", index=False)
    fit = ("fit", tmp_path / "rows.csv", "--label", "label", "--out", tmp_path / "model", "--method", kind._method)
    members = ("--members", 4) if "members" in kind().get_params() else ()
    command.run(*fit, *members, "--seed", 0, "--balanced", "--threshold", "balanced")
    theirs = udeed.load(tmp_path / "model")
    ours = small(kind, unlabeled="?", class_weight="balanced", threshold="balanced").fit(frame, few)
    assert theirs.threshold_ == ours.threshold_
    np.testing.assert_array_equal(theirs.predict_proba(frame), ours.predict_proba(frame))
    np.testing.assert_array_equal(theirs.predict(frame), ours.predict(frame))


@pytest.mark.parametrize("kind", ALL)
def test_a_class_without_weight_is_not_learned_and_the_others_keep_their_names(kind: type) -> None:
    X = np.random.RandomState(0).normal(size=(90, 2)) + 6.0 * np.repeat([0, 1, 2], 30)[:, np.newaxis]
    y = np.repeat([7, 8, 9], 30)
    few = np.where(np.arange(90) % 3 == 0, -1, y)
    there = y != 7
    expected = small(kind).fit(X[there], few[there])
    for how, parameters, weights in (("rows", {}, there.astype(float)), ("class", {"class_weight": {7: 0.0}}, None)):
        with pytest.warns(udeed.UdeedWarning, match="no labeled row of class 7 has a weight: it is not learned"):
            model = small(kind, **parameters).fit(X, few, sample_weight=weights)
        np.testing.assert_array_equal(model.classes_, [8, 9], how)
        assert model.score(X[there], y[there]) > 0.9
        assert set(model.transduction_) <= {8, 9} and model.predict_proba(X).shape == (90, 2)
        if how == "rows":
            np.testing.assert_array_equal(model.predict_proba(X), expected.predict_proba(X))
    with pytest.raises(ValueError, match="no labeled row of class 7, 8 has a weight, expected rows of at least two classes"):
        small(kind).fit(X, few, sample_weight=(y == 9).astype(float))
