"""Comparisons of any classifiers."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import udeed
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.semi_supervised import SelfTrainingClassifier

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


class Recorder(LogisticRegression):
    """Keeps the labels it is fitted to."""

    seen: list[np.ndarray] = []

    def fit(self, X: np.ndarray, y: np.ndarray) -> Recorder:
        Recorder.seen.append(y)
        return super().fit(X, y)


@pytest.fixture(scope="module")
def result() -> udeed.Comparison:
    from sklearn.datasets import load_breast_cancer

    X, y = load_breast_cancer(return_X_y=True)
    words = np.where(y == 1, "benign", "malignant")
    rivals = {
        "udeed": udeed.UDEEDClassifier(4, random_state=0),
        "in a pipeline": make_pipeline(MinMaxScaler(), udeed.UDEEDClassifier(4, scaling="none", random_state=0)),
        "labels alone": make_pipeline(MinMaxScaler(), Recorder()),
        "self-training": make_pipeline(MinMaxScaler(), SelfTrainingClassifier(LogisticRegression())),
    }
    return udeed.compare(rivals, X, words, splits=6, labeled=20, title="<cancer>")


def test_everyone_meets_on_the_same_splits(result: udeed.Comparison) -> None:
    assert result.dealt == (20, 264, 285)
    assert all(values.shape == (6,) and (values > 0.65).all() for values in result.scores.values())
    # To scale in the pipeline on all training rows is to scale in the estimator.
    np.testing.assert_array_equal(result.scores["udeed"], result.scores["in a pipeline"])
    # Who knows nothing of unlabeled rows is fitted to the others.
    assert all(set(labels) == {0, 1} and labels.size == 20 for labels in Recorder.seen)


def test_the_tests_are_scipys(result: udeed.Comparison) -> None:
    from scipy import stats

    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame) and frame.index.tolist() == list(result.scores)
    own, theirs = result.scores["labels alone"], result.scores["udeed"]
    assert frame.loc["labels alone", "p_paired_t"] == pytest.approx(stats.ttest_rel(own, theirs).pvalue)
    assert frame.loc["labels alone", "difference"] == pytest.approx((own - theirs).mean())
    # Nadeau and Bengio: the variance is that of the paired test times (1 / splits + test / training rows) * splits.
    t = stats.ttest_rel(own, theirs).statistic / np.sqrt(1 + 6 * 285 / 284)
    assert frame.loc["labels alone", "p_corrected_t"] == pytest.approx(2 * stats.t.sf(abs(t), 5))
    assert np.isnan(frame.loc["udeed", "difference"])


def test_the_corrected_test_decides_unless_told_otherwise() -> None:
    scores = {"a": np.array([0.80, 0.78, 0.81, 0.79, 0.80]), "b": np.array([0.77, 0.77, 0.79, 0.77, 0.79])}
    corrected = udeed.Comparison(scores, (5, 5, 10), "accuracy", "b", "rows")
    paired = udeed.Comparison(scores, (5, 5, 10), "accuracy", "b", "rows", "paired")
    assert [c.standings[0]["against"]["verdict"] for c in (corrected, paired)] == ["tie", "win"]
    assert "p = 0.0086, corrected 0.1210: tie)" in repr(corrected)
    with pytest.raises(ValueError, match="'t', expected 'corrected' or 'paired'"):
        udeed.compare([udeed.BaggingClassifier(2)], [[0.0], [1.0]], [0, 1], verdicts="t")


def test_the_report_is_the_laboratorys(result: udeed.Comparison, tmp_path: object) -> None:
    page = result.to_html()
    assert page.startswith("<!DOCTYPE html>") and "<svg" in page and "self-training" in page
    assert "&lt;cancer&gt;" in page and "<cancer>" not in page
    result.save(f"{tmp_path}/report.html")
    shown = result._repr_html_()
    assert shown.startswith("<iframe srcdoc=") and "<cancer>" not in shown
    assert "labels alone" in repr(result) and "20 labeled, 264 unlabeled, 285 test rows" in repr(result)


def test_the_plot_is_drawn(result: udeed.Comparison) -> None:
    import matplotlib

    matplotlib.use("Agg")
    axes = result.plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == list(result.scores)
    assert result.plot(axes) is axes


def test_splits_follow_the_seed(cancer: Data) -> None:
    X, y, _ = cancer
    rivals = [udeed.BaggingClassifier(2, random_state=0), udeed.BaggingClassifier(2, random_state=0)]
    first, again, other = (udeed.compare(rivals, X, y, splits=2, random_state=seed) for seed in (1, 1, 2))
    assert list(first.scores) == ["BaggingClassifier", "BaggingClassifier 2"]
    np.testing.assert_array_equal(first.scores["BaggingClassifier"], first.scores["BaggingClassifier 2"])
    np.testing.assert_array_equal(first.scores["BaggingClassifier"], again.scores["BaggingClassifier"])
    assert not np.array_equal(first.scores["BaggingClassifier"], other.scores["BaggingClassifier"])


def test_what_cannot_be_compared_is_refused(cancer: Data) -> None:
    X, y, _ = cancer
    with pytest.raises(ValueError, match="no estimators"):
        udeed.compare([], X, y)
    with pytest.raises(ValueError, match="holds 'forest', expected classifiers"):
        udeed.compare(["forest"], X, y)
    with pytest.raises(ValueError, match="`reference` is 'x', expected one of"):
        udeed.compare([udeed.BaggingClassifier()], X, y, reference="x")
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        udeed.compare([udeed.BaggingClassifier()], X[:5], y)


def test_ranks_over_data_sets_are_scipys() -> None:
    from xml.etree import ElementTree

    from scipy import stats

    table = np.random.default_rng(0).integers(60, 99, (5, 9)) / 100
    scores = {f"<{name}>": row for name, row in zip("abcde", table, strict=True)}
    found = udeed.AverageRanks(scores, title="few & many")
    assert list(found.ranks) == list(scores)
    np.testing.assert_allclose(list(found.ranks.values()), stats.rankdata(-table, axis=0).mean(axis=1))
    range_ = stats.studentized_range.ppf(0.95, 5, np.inf) / np.sqrt(2)
    assert found.critical_difference == pytest.approx(range_ * np.sqrt(5 * 6 / (6 * 9)), abs=1e-6)
    assert 0 < found.p_value < 1 and repr(found).count("\n") == 4
    words = "".join(ElementTree.fromstring(found.to_svg()).itertext())
    assert "few & many: average ranks over 9 sets" in words and all(name in words for name in scores)


def test_ranks_need_two_of_each() -> None:
    with pytest.raises(ValueError, match="1 data set to rank, expected at least two"):
        udeed.AverageRanks({"a": [0.1], "b": [0.2]})
    with pytest.raises(ValueError, match="`b` has 1 scores"):
        udeed.AverageRanks({"a": [0.1, 0.2], "b": [0.2]})
    with pytest.raises(ValueError, match="`scores` of 'a' are .*nan.*, expected a finite number"):
        udeed.AverageRanks({"a": [0.1, float("nan")], "b": [0.2, 0.3]})


def test_a_search_gets_the_unlabeled_rows_of_what_it_searches(cancer: Data) -> None:
    X, y, _ = cancer
    model = udeed.UDEEDClassifier(4, scaling="none", random_state=0, unlabeled="?")
    folds = {"cv": udeed.SemiSupervisedKFold(2), "scoring": udeed.labeled_scorer()}
    piped = make_pipeline(MinMaxScaler(), model)
    rivals = {
        "alone": piped,
        "searched": GridSearchCV(piped, {"udeedclassifier__gamma": [1.0]}, **folds),
        "halved": make_pipeline(MinMaxScaler(), GridSearchCV(model, {"gamma": [1.0]}, **folds)),
        "labels alone": make_pipeline(MinMaxScaler(), GridSearchCV(Recorder(), {"C": [1.0]}, cv=2)),
    }
    Recorder.seen.clear()
    result = udeed.compare(rivals, X, y, splits=2, labeled=20)
    # With one candidate a search is what it searches, if both are given the same rows.
    for name in ("searched", "halved"):
        np.testing.assert_array_equal(result.scores[name], result.scores["alone"])
    assert all(set(labels) == {0, 1} for labels in Recorder.seen)
    assert model.unlabeled == "?"


def test_scores_that_are_no_numbers_and_other_nonsense_are_refused(cancer: Data) -> None:
    X, y, _ = cancer
    model = udeed.BaggingClassifier(2, random_state=0)
    with pytest.raises(ValueError, match="`scoring` gives nan for 'BaggingClassifier' on split 0"):
        udeed.compare([model], X, y, scoring=lambda *_: float("nan"))
    with pytest.raises(ValueError, match="say `\\[classifier\\]` for one alone"):
        udeed.compare(model, X, y)
    with pytest.raises(ValueError, match="`splits` is True, expected a whole number of at least 1"):
        udeed.compare([model], X, y, splits=True)


def test_a_scorer_sees_the_classes_as_numbers(cancer: Data) -> None:
    X, y, _ = cancer
    seen: list[set[int]] = []

    def score(model: udeed.BaggingClassifier, rows: np.ndarray, labels: np.ndarray) -> float:
        seen.append(set(labels.tolist()) | set(model.classes_.tolist()))
        return model.score(rows, labels)

    udeed.compare([udeed.BaggingClassifier(2, random_state=0)], X, np.where(y == 1, "b", "a"), splits=2, scoring=score)
    assert seen == [{0, 1}] * 2


def test_splits_are_told_as_they_are_done(capsys: pytest.CaptureFixture[str]) -> None:
    X = np.random.RandomState(0).rand(60, 2)
    y = (X[:, 0] > 0.5).astype(int)
    udeed.compare({"logistic": LogisticRegression()}, X, y, labeled=10, splits=2, verbose=True)
    assert "splits" in capsys.readouterr().err
