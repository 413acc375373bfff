"""What a fit or a prediction says of its rows."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import udeed
from estimators import small

X = np.array([[float(i), 3.0, float(i % 3)] for i in range(12)])
Y = np.array([0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1])


def test_constant_columns_are_named() -> None:
    with pytest.warns(udeed.UdeedWarning, match="column `2` has the same value in all rows"):
        small(udeed.BaggingClassifier).fit(X, Y)
    frame = pd.DataFrame({"size": X[:, 0], "word": ["same"] * 12, "flat": 1.0})
    with pytest.warns(udeed.UdeedWarning, match="columns `word`, `flat` have the same value"):
        small(udeed.BaggingClassifier).fit(frame, Y)


def test_a_threshold_that_leaves_one_class_is_told() -> None:
    with pytest.warns(udeed.UdeedWarning, match="with a threshold of 1.000 every training row is predicted as `0`"):
        small(udeed.BaggingClassifier, threshold=1.0).fit(X[:, ::2], Y)


def test_words_that_no_training_row_has_are_named() -> None:
    frame = pd.DataFrame({"size": X[:, 0], "colour": ["red", "blue"] * 6})
    model = small(udeed.BaggingClassifier).fit(frame, Y)
    new = frame.assign(colour=["red", "green", None] * 4)
    words = "column `colour`: values in 4 rows occur in no training row, such as `green`: they count as none"
    for predict in (model.predict, model.predict_proba, model.decision_function, model.member_predictions):
        with pytest.warns(udeed.UdeedWarning, match=words) as told:
            predict(new)
        assert [one.filename for one in told] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.predict(frame)


def test_coefficients_belong_to_named_features() -> None:
    frame = pd.DataFrame({"colour": ["red", "blue", "red", "green"] * 3, "size": X[:, 0]})
    model = small(udeed.BaggingClassifier).fit(frame, Y)
    assert model.features_ == ["colour=blue", "colour=green", "colour=red", "size"]
    assert model.coef_.shape == (1, 4)
    indicators = np.column_stack([frame["colour"] == word for word in ("blue", "green", "red")] + [frame["size"]])
    mean_log_odds = indicators.astype(float) @ model.coef_.T + model.intercept_
    assert ((mean_log_odds[:, 0] > 0) == (model.predict(frame) == 1)).mean() > 0.8
    assert small(udeed.BaggingClassifier).fit(X[:, ::2], Y).features_ == ["1", "2"]
