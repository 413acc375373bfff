"""The estimators inside scikit-learn's own tools."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
import udeed
from estimators import ALL, small
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.mark.parametrize("kind", ALL)
def test_pipeline_and_cross_validation(kind: type, cancer: Data) -> None:
    X, _, few = cancer
    scores = cross_val_score(make_pipeline(StandardScaler(), small(kind)), X, few, cv=udeed.SemiSupervisedKFold(4))
    assert scores.shape == (4,) and scores.mean() > 0.8


def test_grid_search_with_unlabeled_rows(cancer: Data) -> None:
    X, y, few = cancer
    search = GridSearchCV(
        small(udeed.UDEEDClassifier),
        {"gamma": [0.5, 2.0], "scaling": ["minmax", "standard"]},
        cv=udeed.SemiSupervisedSplit(3, random_state=0),
        scoring=udeed.labeled_scorer("balanced_accuracy"),
        n_jobs=2,
    ).fit(X, few)
    assert set(search.best_params_) == {"gamma", "scaling"}
    assert search.best_estimator_.score(X, y) > 0.8


def test_calibration(cancer: Data) -> None:
    X, y, _ = cancer
    calibrated = CalibratedClassifierCV(small(udeed.UDEEDClassifier), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    predicted = cross_val_predict(small(udeed.BaggingClassifier), X, y, cv=3, method="predict_proba")
    assert predicted.shape == (len(X), 2)


def test_metadata_routing(cancer: Data) -> None:
    X, _, few = cancer
    weights = np.where(few == 1, 5.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = small(udeed.UDEEDClassifier).set_fit_request(sample_weight=True)
        pipeline = make_pipeline(MinMaxScaler(), model).fit(X, few, sample_weight=weights)
        plain = make_pipeline(MinMaxScaler(), small(udeed.UDEEDClassifier)).fit(X, few)
        assert not np.array_equal(pipeline[-1].coef_, plain[-1].coef_)
        model.set_score_request(sample_weight=True)
        search = GridSearchCV(model, {"gamma": [1.0]}, cv=udeed.SemiSupervisedKFold(2))
        assert search.fit(X, few, sample_weight=weights).best_score_ > 0.5
