"""Probabilities and sets that can be trusted: calibration, and coverage by class."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import udeed
from estimators import METHODS, small
from sklearn.metrics import log_loss, roc_auc_score

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]
CALIBRATED = [kind for kind in METHODS if "calibrated" in kind().get_params()]
WITH_BOOTSTRAPS: list[Any] = [
    udeed.UDEEDAutoClassifier(members=10, random_state=0),
    udeed.BaggingClassifier(random_state=0),
    udeed.BaggingClassifier(50, base=udeed.Tree(features="root"), random_state=0),
    udeed.ExtraTreesClassifier(50, bootstrap=True, random_state=0),
    udeed.UDEEDClassifier(random_state=0),
]


def overlapping(n: int, seed: int, shares: tuple[float, ...] = (0.7, 0.3)) -> tuple[np.ndarray, np.ndarray]:
    """Normal distributions that overlap."""
    random = np.random.RandomState(seed)
    y = random.choice(len(shares), n, p=shares)
    return random.normal(size=(n, 4)) + 1.2 * np.eye(len(shares), 4)[y] * np.sqrt(2.0), y


@pytest.fixture(scope="module")
def data() -> Data:
    X, y = overlapping(500, 0)
    few = y.copy()
    few[120:] = -1
    return X, y, few


def test_every_method_but_auto_can_be_calibrated() -> None:
    assert set(METHODS) - set(CALIBRATED) == {udeed.UDEEDAutoClassifier}


@pytest.mark.parametrize("kind", CALIBRATED)
def test_calibration_keeps_the_ranking(kind: type, data: Data, tmp_path: Path) -> None:
    X, y, few = data
    plain, model = (small(kind, calibrated=calibrated).fit(X, few) for calibrated in (False, True))
    assert model._model.is_calibrated and not plain._model.is_calibrated
    before, after = (each.predict_proba(X)[:, 1] for each in (plain, model))
    order = np.argsort(before, kind="stable")
    assert np.all(np.diff(after[order]) >= -1e-12)
    # The AUC is the same but for pairs of rows that the members are so sure of that rounding makes their votes one: co-training
    # has votes that differ from 1 by less than 1e-14. Each such pair is worth half of one in all pairs.
    ones, others = (after[y == class_][:, None] for class_ in (1, 0))
    apart = (before[y == 1][:, None] != before[y == 0]) & (np.abs(ones - others.T) < 1e-15)
    change = abs(roc_auc_score(y, after) - roc_auc_score(y, before)) * apart.size
    assert change <= apart.sum() + 1e-6 and (kind is udeed.CoTrainingClassifier or not apart.any())
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    model.save(tmp_path / "model")
    for other in (udeed.load(tmp_path / "model"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    again = small(kind, calibrated=True, n_jobs=2).fit(X, few)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))


def test_calibration_mends_the_log_loss_of_udeed() -> None:
    found = []
    for seed in range(5):
        X, y = overlapping(1500, seed)
        few = y.copy()
        few[100:] = -1
        models = [udeed.UDEEDClassifier(calibrated=on, random_state=seed).fit(X, few) for on in (False, True)]
        found.append([log_loss(y[100:], model.predict_proba(X[100:])) for model in models])
    plain, mended = np.mean(found, axis=0)
    assert mended < plain - 0.03


def test_weights_reach_the_calibration(data: Data) -> None:
    X, _, few = data
    weights = np.where(few == 1, 4.0, 1.0)
    shares = []
    for weight in (None, weights, 3.0 * weights):
        model = udeed.AdaBoostClassifier(calibrated=True, random_state=0).fit(X, few, sample_weight=weight)
        shares.append(model.predict_proba(X)[:, 1].mean())
    assert shares[1] > shares[0] + 0.05 and shares[2] == pytest.approx(shares[1], abs=1e-9)


def test_more_than_two_classes() -> None:
    X, y = overlapping(900, 3, (0.5, 0.3, 0.2))
    few = y.copy()
    few[200:] = -1
    losses = []
    for calibrated in (False, True):
        model = udeed.UDEEDClassifier(calibrated=calibrated, random_state=0).fit(X, few)
        p = model.predict_proba(X[200:])
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        losses.append(log_loss(y[200:], p))
    assert losses[1] < losses[0] - 0.05
    sets = model.predict_set(X[200:], coverage=0.8)
    assert sets.shape == (700, 3) and sets.dtype == bool
    for class_ in range(3):
        own = y[200:] == class_
        assert sets[own, class_].mean() > 0.8 - 3.0 * np.sqrt(0.16 / own.sum() + 0.16 / (few == class_).sum())


def test_few_labels_cannot_be_calibrated() -> None:
    for kind in (udeed.AdaBoostClassifier, udeed.BaggingClassifier):
        with pytest.warns(udeed.UdeedWarning, match="no labeled row of class `0` was held out"):
            kind(calibrated=True, random_state=0).fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.parametrize("model", WITH_BOOTSTRAPS, ids=lambda model: f"{type(model).__name__}{model.get_params().get('base')}")
@pytest.mark.parametrize("coverage", [0.8, 0.9])
def test_sets_cover_every_class(model: Any, coverage: float) -> None:
    """Over several draws each class is covered as often as was asked for, within binomial error."""
    covered, draws = np.zeros(2), 12
    for seed in range(draws):
        X, y = overlapping(1500, seed)
        few = y.copy()
        few[100:] = -1
        sets = model.fit(X, few).predict_set(X[100:], coverage)
        covered += [sets[y[100:] == class_, class_].mean() / draws for class_ in (0, 1)]
    # What each draw covers varies with its labels: 30 of the rare class.
    error = np.sqrt(coverage * (1.0 - coverage) / np.array([70.0, 30.0]) / draws)
    assert np.all(covered > coverage - 3.0 * error), covered
    assert np.all(covered < coverage + 0.1), covered


def test_sets_grow_with_coverage_and_few_labels_are_told(data: Data, tmp_path: Path) -> None:
    X, _, few = data
    model = udeed.BaggingClassifier(random_state=0).fit(X, few)
    sizes = [model.predict_set(X, coverage).sum() for coverage in (0.5, 0.8, 0.95)]
    assert sizes[0] < sizes[1] < sizes[2]
    np.testing.assert_array_equal(model.predict_set(X), model.predict_set(X, coverage=0.9))
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(udeed.load(tmp_path / "model").predict_set(X), model.predict_set(X))
    with pytest.warns(udeed.UdeedWarning, match="too few labeled rows of '1'"):
        assert model.predict_set(X, 0.99)[:, 1].all()
    for coverage in (0.0, 1.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="coverage"):
            model.predict_set(X, coverage)
    with pytest.raises(ValueError, match="without held-out votes"):
        udeed.AdaBoostClassifier().fit(X, few).predict_set(X)
    assert udeed.AdaBoostClassifier(calibrated=True, random_state=0).fit(X, few).predict_set(X).any()
