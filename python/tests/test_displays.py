"""Pictures of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import udeed
from estimators import small
from scipy import sparse
from sklearn.metrics import cohen_kappa_score
from udeed._displays import _plane
from udeed._rows import Rows

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.fixture(autouse=True)
def closed() -> Any:
    """No figure stays open."""
    yield
    from matplotlib import pyplot

    pyplot.close("all")


def test_the_descent_is_the_history(cancer: Data) -> None:
    X, _, few = cancer
    model = small(udeed.UDEEDClassifier).fit(X, few)
    display = udeed.DescentDisplay.from_estimator(model)
    accepted = [step["total"] for step in model.history_ if step["accepted"]]
    drawn = display.ax_.lines[0].get_ydata()
    # Stages are apart.
    assert np.isnan(drawn).sum() == 2
    np.testing.assert_array_equal(drawn[~np.isnan(drawn)], accepted)
    assert display.figure_ is display.ax_.figure
    with pytest.raises(ValueError, match="no descent"):
        udeed.DescentDisplay.from_estimator(small(udeed.BaggingClassifier).fit(X, few))


def test_pairs_have_their_kappa_and_error(iris: Data) -> None:
    X, y, few = iris
    model = small(udeed.BaggingClassifier, unlabeled="?").fit(X, few)
    display = udeed.DiversityDisplay.from_estimator(model, X, y)
    said = model.member_predictions(X)
    assert display.kappa.size == 6
    assert display.kappa[0] == pytest.approx(cohen_kappa_score(said[:, 0], said[:, 1]))
    assert display.error[0] == pytest.approx(np.mean([(said[:, k] != y).mean() for k in (0, 1)]))
    again = display.plot(ax=display.ax_)
    assert again.ax_ is display.ax_
    with pytest.raises(ValueError, match="one member"):
        udeed.DiversityDisplay.from_estimator(small(udeed.SelfTrainingClassifier, unlabeled="?").fit(X, few), X, y)


def test_confidences_are_of_labeled_and_unlabeled_rows(iris: Data) -> None:
    X, _, few = iris
    model = small(udeed.BaggingClassifier, unlabeled="?").fit(X, few)
    display = udeed.ConfidenceDisplay.from_estimator(model, X, few)
    sure = model.predict_proba(X).max(axis=1)
    np.testing.assert_array_equal(display.labeled, sure[few != "?"])
    np.testing.assert_array_equal(display.unlabeled, sure[few == "?"])
    assert display.ax_.get_xlim() == pytest.approx((1.0 / 3.0, 1.0))
    with pytest.raises(ValueError, match="y has 30 labels"):
        udeed.ConfidenceDisplay.from_estimator(model, X, few[few != "?"])


def test_label_curves_have_a_score_for_each_fit(cancer: Data) -> None:
    X, y, few = cancer
    for labels in (y, np.where(np.arange(len(y)) % 3 == 0, -1, y)):
        curve = udeed.LabelCurveDisplay.from_estimator(
            small(udeed.SelfTrainingClassifier), X, labels, repetitions=2, random_state=0
        )
        assert curve.labels[0] == 6 and curve.scores.shape == curve.alone.shape == (5, 2)
        assert not np.array_equal(curve.scores, curve.alone)
        for scores in (curve.scores, curve.alone):
            assert ((scores >= 0.0) & (scores <= 1.0)).all() and (scores[-1] > 0.9).all()
    for wrong, message in (
        ({"labels": [1]}, "`labeled` keeps 1"),
        ({"test_size": 0.0}, "`test_size` is 0.0"),
        ({"repetitions": 0}, "`repetitions` is 0, expected a whole number of at least 1"),
    ):
        with pytest.raises(ValueError, match=message):
            udeed.LabelCurveDisplay.from_estimator(small(udeed.BaggingClassifier), X, few, **wrong)
    with pytest.raises(ValueError, match="`unlabeled` of the estimator is None"):
        udeed.LabelCurveDisplay.from_estimator(small(udeed.BaggingClassifier, unlabeled=None), X, y)


def test_suggestions_are_those_of_the_function(cancer: Data) -> None:
    X, _, few = cancer
    model = small(udeed.BaggingClassifier).fit(X, few)
    display = udeed.SuggestionDisplay.from_estimator(model, X, few, n=4, random_state=0)
    np.testing.assert_array_equal(display.suggested, udeed.suggest(X, few, n=4, model=model, random_state=0))
    assert [text.get_text() for text in display.ax_.texts] == ["1", "2", "3", "4"]
    assert display.points.shape == (len(X), 2)
    rows = sparse.csr_array(np.where(X > np.median(X, axis=0), X, 0.0))
    model = small(udeed.BaggingClassifier).fit(rows, few)
    assert udeed.SuggestionDisplay.from_estimator(model, rows, few, n=2).points.shape == (len(X), 2)


def test_every_row_has_a_place() -> None:
    for values in (np.ones((5, 3)), np.array([[1.0], [np.nan]]), np.full((4, 2), np.nan)):
        places = _plane(Rows(values, None, len(values)))
        assert places.shape == (len(values), 2) and np.isfinite(places).all()


def test_others_are_refused(cancer: Data) -> None:
    X, y, _ = cancer
    for display in (udeed.DiversityDisplay, udeed.ConfidenceDisplay, udeed.LabelCurveDisplay, udeed.SuggestionDisplay):
        with pytest.raises(TypeError, match="expected an estimator of udeed"):
            display.from_estimator(object(), X, y)
