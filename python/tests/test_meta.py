"""Meta-estimators of scikit-learn that take the label of unlabeled rows for a class."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
import udeed
from estimators import small
from sklearn import ensemble
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import RFECV
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import (
    GridSearchCV,
    cross_val_predict,
    cross_val_score,
    cross_validate,
    permutation_test_score,
)
from sklearn.multiclass import OneVsOneClassifier, OneVsRestClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

Data = tuple[np.ndarray, np.ndarray, np.ndarray]
BAGGING = small(udeed.BaggingClassifier)
COUNTING = [
    ensemble.VotingClassifier([("one", BAGGING)]),
    ensemble.VotingClassifier([("one", make_pipeline(StandardScaler(), BAGGING))], voting="soft"),
    ensemble.StackingClassifier([("one", BAGGING)]),
    ensemble.BaggingClassifier(BAGGING, n_estimators=1),
    CalibratedClassifierCV(BAGGING),
    OneVsRestClassifier(BAGGING),
    OneVsOneClassifier(BAGGING),
]


@pytest.mark.parametrize("meta", COUNTING, ids=lambda meta: type(meta).__name__)
def test_a_class_of_unlabeled_rows_is_warned_of(meta: Any, cancer: Data) -> None:
    X, y, few = cancer
    with pytest.warns(udeed.UdeedWarning, match=f"{type(meta).__name__} takes the label -1 .*meta-estimators.md"):
        meta.fit(X, few)
    with warnings.catch_warnings():
        warnings.simplefilter("error", udeed.UdeedWarning)
        meta.fit(X, y)


def test_unlabeled_rows_in_a_test_are_warned_of(cancer: Data) -> None:
    X, _, few = cancer
    words = "the test rows of a split have the label -1 .*SemiSupervisedKFold"
    for model in (BAGGING, make_pipeline(StandardScaler(), BAGGING)):
        with pytest.warns(udeed.UdeedWarning, match=words):
            assert cross_val_score(model, X, few, scoring="accuracy").mean() < 0.2
        with pytest.warns(udeed.UdeedWarning, match=words):
            cross_validate(model, X, few, scoring=("accuracy", "balanced_accuracy"), cv=2)
        with warnings.catch_warnings():
            warnings.simplefilter("error", udeed.UdeedWarning)
            assert cross_val_score(model, X, few).mean() > 0.8
            assert cross_val_score(model, X, few, scoring=udeed.labeled_scorer("accuracy")).mean() > 0.8
            assert cross_val_score(model, X, few, scoring="accuracy", cv=udeed.SemiSupervisedKFold(3)).mean() > 0.8
    with pytest.warns(udeed.UdeedWarning, match=words):
        GridSearchCV(BAGGING, {"members": [2, 3]}, scoring="accuracy", cv=2).fit(X, few)
    with pytest.warns(udeed.UdeedWarning, match=words):
        permutation_test_score(BAGGING, X, few, scoring="accuracy", cv=2, n_permutations=1)


def test_unlabeled_rows_in_a_test_of_features_are_warned_of(cancer: Data) -> None:
    X, _, few = cancer
    words = "the test rows of a split have the label -1 .*SemiSupervisedKFold"
    # Unless told otherwise it measures accuracy, not what the estimator's `score` does.
    for parameters in ({}, {"scoring": "accuracy"}):
        with pytest.warns(udeed.UdeedWarning, match=words):
            RFECV(BAGGING, step=10, cv=2, **parameters).fit(X, few)
    with warnings.catch_warnings():
        warnings.simplefilter("error", udeed.UdeedWarning)
        RFECV(BAGGING, step=10, cv=2, scoring=udeed.labeled_scorer()).fit(X, few)
        RFECV(BAGGING, step=10, cv=udeed.SemiSupervisedKFold(2), scoring="accuracy").fit(X, few)


def test_predictions_of_folds_with_a_class_of_unlabeled_rows_are_warned_of(cancer: Data) -> None:
    X, y, few = cancer
    for method in ("predict_proba", "predict_log_proba", "decision_function"):
        words = rf"cross_val_predict\(method='{method}'\) takes the label -1 .* for a class: .*meta-estimators.md"
        with pytest.warns(udeed.UdeedWarning, match=words):
            assert cross_val_predict(BAGGING, X, few, cv=2, method=method).shape[1] == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error", udeed.UdeedWarning)
        assert set(cross_val_predict(BAGGING, X, few, cv=2)) == {0, 1}
        cross_val_predict(BAGGING, X, y, cv=2, method="predict_proba")


@pytest.mark.filterwarnings("error::udeed.UdeedWarning")
def test_frozen_models_keep_their_unlabeled_rows(cancer: Data) -> None:
    X, y, few = cancer
    labeled = few != -1
    frozen = FrozenEstimator(small(udeed.UDEEDClassifier).fit(X, few))
    for meta in (
        CalibratedClassifierCV(frozen),
        ensemble.VotingClassifier([("one", frozen)], voting="soft"),
        ensemble.StackingClassifier([("one", frozen)], cv="prefit"),
    ):
        meta.fit(X[labeled], few[labeled])
        assert meta.classes_.tolist() == [0, 1] and meta.score(X, y) > 0.75
