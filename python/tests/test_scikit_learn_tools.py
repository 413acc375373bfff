"""The estimators inside scikit-learn's own tools."""

from __future__ import annotations

import numpy as np
import pytest
import sklearn
import udeed
from estimators import ALL, small
from sklearn.calibration import CalibratedClassifierCV
from sklearn.feature_selection import RFE, SelectFromModel
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
        assert search.fit(X, few, sample_weight=weights).best_score_ > 0.9
        groups = np.arange(len(X)) % 10
        scores = {}
        for asks in (True, False):
            scorer = udeed.labeled_scorer("accuracy").set_score_request(sample_weight=asks)
            cv = udeed.SemiSupervisedGroupKFold(4)
            params = {"sample_weight": weights, "groups": groups}
            scores[asks] = cross_val_score(model, X, few, scoring=scorer, cv=cv, params=params)
        assert not np.array_equal(scores[True], scores[False])


def test_a_labeled_scorer_weighs_the_rows(cancer: Data) -> None:
    X, _, few = cancer
    model = small(udeed.UDEEDClassifier).fit(X, few)
    weights = np.where(few == 1, 5.0, 1.0)
    scorer = udeed.labeled_scorer("accuracy")
    assert scorer(model, X, few, sample_weight=weights) == model.score(X, few, sample_weight=weights)
    assert scorer(model, X, few, sample_weight=None) == scorer(model, X, few)
    with pytest.raises(ValueError, match="inconsistent"):
        scorer(model, X, few, sample_weight=weights[:5])


def test_features_are_selected_by_the_direction_of_the_ensemble(cancer: Data, iris: Data) -> None:
    for (X, _, few), unlabeled in ((cancer, -1), (iris, "?")):
        model = small(udeed.UDEEDClassifier, unlabeled=unlabeled)
        half = X.shape[1] // 2
        chosen = SelectFromModel(model, max_features=half, threshold=-np.inf).fit(X, few)
        assert chosen.get_support().sum() == half
        sizes = np.abs(chosen.estimator_.coef_).sum(axis=0)
        assert sizes[chosen.get_support()].min() >= sizes[~chosen.get_support()].max()
        assert RFE(model, n_features_to_select=1).fit(X, few).support_.sum() == 1
