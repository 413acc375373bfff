"""Settings chosen by cross-validation."""

from __future__ import annotations

import sys

import numpy as np
import pytest
import udeed
from sklearn.model_selection import cross_val_score

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_what_is_chosen_is_the_best_and_what_it_says(cancer: Data) -> None:
    X, y, few = cancer
    folds = udeed.SemiSupervisedKFold(4)
    grid = {"members": (4, 7), "gammas": (0.5, 3.0), "Cs": (0.3, 3.0), "scalings": ("minmax", "none")}
    X = X / X.max(axis=0)
    model = udeed.UDEEDClassifierCV(**grid, cv=folds, random_state=0).fit(X, few)
    results = model.cv_results_
    assert len(results["mean_test_score"]) == 2 * 3 * 2 * 2
    assert model.best_score_ == results["mean_test_score"].max()
    # Each candidate is what the estimator alone would be.
    for place in (1, 5, 20):
        gamma, C = results["param_gamma"][place], results["param_C"][place]
        same = {"members": results["param_members"][place], "scaling": results["param_scaling"][place]}
        if gamma is None:
            alone = udeed.BaggingClassifier(C=C, **same, random_state=0)
        else:
            alone = udeed.UDEEDClassifier(gamma=gamma, C=C, **same, random_state=0)
        expected = cross_val_score(alone, X, few, cv=folds)
        found = [results[f"split{fold}_test_score"][place] for fold in range(4)]
        np.testing.assert_allclose(found, expected)
    best = {name: value for name, value in model.best_params_.items() if value is not None}
    kind = udeed.UDEEDClassifier if model.diversity_pays_ else udeed.BaggingClassifier
    refitted = kind(**best, random_state=0).fit(X, few)
    np.testing.assert_array_equal(refitted.coef_, model.coef_)


def test_where_diversity_does_not_pay_it_is_bagging_and_says_so(cancer: Data) -> None:
    X, _, few = cancer
    search = udeed.UDEEDClassifierCV((4,), gammas=(1e6,), Cs=(1.0,), scalings=("standard",), rate=10.0, random_state=0)
    with pytest.warns(udeed.UdeedWarning, match="diversity does not pay on the labeled rows: the model is bagging"):
        search.fit(X, few)
    assert not search.diversity_pays_ and search.best_params_["gamma"] is None and search.history_ == []
    alone = udeed.BaggingClassifier(4, scaling="standard", random_state=0).fit(X, few)
    np.testing.assert_array_equal(search.coef_, alone.coef_)


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_the_scale_of_weights_changes_nothing(cancer: Data) -> None:
    X, _, few = cancer
    weights = np.array([1.0, 3.0, 0.5])[np.arange(len(few)) % 3]
    grid = {"members": (4,), "gammas": (0.5, 3.0), "Cs": (0.3, 3.0), "scalings": ("standard",), "cv": 3, "random_state": 0}

    def fitted(weights: np.ndarray | None) -> udeed.UDEEDClassifierCV:
        return udeed.UDEEDClassifierCV(**grid).fit(X, few, sample_weight=weights)

    plain, one = fitted(None), fitted(weights)
    assert not np.array_equal(plain.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"])
    assert not np.array_equal(plain.coef_, one.coef_)
    # A power of two rounds nothing; of others the last digits may be others.
    for scale, tolerance in ((1.0 / 1024.0, 0.0), (1.0 / 60.0, 1e-7), (1e6, 1e-7)):
        other = fitted(scale * weights)
        assert other.best_params_ == one.best_params_
        np.testing.assert_allclose(other.cv_results_["mean_test_score"], one.cv_results_["mean_test_score"], rtol=tolerance)
        np.testing.assert_allclose(other.predict_proba(X), one.predict_proba(X), rtol=0.0, atol=tolerance)
    np.testing.assert_array_equal(fitted(np.full(len(few), 1.0 / 60.0)).coef_, plain.coef_)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gammas": (-1.0,)}, "The 'gamma' parameter of UDEEDClassifier must be"),
        ({"members": (20, 1)}, "The 'members' parameter of UDEEDClassifier must be"),
        ({"scalings": ("max",)}, "The 'scaling' parameter of UDEEDClassifier must be"),
        ({"Cs": ()}, "no `C` to try"),
        ({"cv": 1}, "The 'cv' parameter of UDEEDClassifierCV must be an int in the range"),
        ({"cv": [([0], [10**6])] * 2}, "out of bounds"),
        ({"cv": [([0], [-1])] * 2}, "gives row -1 in split 0, out of bounds"),
        ({"cv": [([], [])] * 2}, "no labeled row to test on in split 0"),
        ({"cv": [([0.5], [1.5])] * 2}, "array of float64 of 1 dimensions in split 0, expected row numbers"),
        ({"cv": [([[0]], [[1]])] * 2}, "of 2 dimensions in split 0, expected row numbers"),
        ({"cv": [([0], [1])]}, "`cv` gives 1 splits, expected at least 2"),
        ({"random_state": 2**64}, "The 'random_state' parameter of UDEEDClassifierCV must be"),
    ],
)
def test_grids_that_make_no_sense_are_refused(parameters: dict[str, object], message: str, cancer: Data) -> None:
    X, _, few = cancer
    with pytest.raises((ValueError, IndexError), match=message):
        udeed.UDEEDClassifierCV(**parameters).fit(X, few)


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_three_classes_are_chosen_by(iris: Data) -> None:
    X, y, few = iris
    search = udeed.UDEEDClassifierCV((4,), cv=3, unlabeled="?", random_state=0).fit(X, few)
    assert search.best_score_ == search.cv_results_["mean_test_score"].max() > 0.8 and search.score(X, y) > 0.8
    best = {name: value for name, value in search.best_params_.items() if value is not None}
    kind = udeed.BaggingClassifier if search.best_params_["gamma"] is None else udeed.UDEEDClassifier
    np.testing.assert_array_equal(kind(**best, unlabeled="?", random_state=0).fit(X, few).coef_, search.coef_)


def test_a_single_labeled_row_of_a_class_is_not_enough() -> None:
    with pytest.raises(ValueError, match="a class has 1 labeled rows, expected at least 2 of each class"):
        udeed.UDEEDClassifierCV().fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_a_splitter_is_given_the_labels_as_they_are(cancer: Data) -> None:
    X, _, few = cancer
    search = udeed.UDEEDClassifierCV((4,), unlabeled=0, cv=udeed.SemiSupervisedKFold(4, unlabeled=0), random_state=0)
    plain = udeed.UDEEDClassifierCV((4,), cv=udeed.SemiSupervisedKFold(4), random_state=0)
    assert search.fit(X, few + 1).best_score_ == plain.fit(X, few).best_score_


@pytest.mark.parametrize("fault", ["too few", "test rows", "all rows"])
def test_a_split_must_train_on_just_the_labeled_rows_it_does_not_test_on(fault: str, cancer: Data) -> None:
    X, _, few = cancer
    splits = list(udeed.SemiSupervisedKFold(2).split(X, few))
    labeled = np.flatnonzero(few >= 0)
    train, test = splits[1]
    kept = np.intersect1d(train, labeled)
    wrong = {"too few": kept[3:], "test rows": np.append(train, test[:3]), "all rows": np.arange(len(X))}[fault]
    count = {"too few": 17, "test rows": 23, "all rows": 40}[fault]
    message = f"`cv` trains on {count} labeled rows in split 1, expected just the 20 labeled rows that it does not test on"
    with pytest.raises(ValueError, match=message):
        udeed.UDEEDClassifierCV((4,), cv=[splits[0], (wrong, test)]).fit(X, few)


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_unlabeled_rows_are_learned_from_whatever_a_split_says_of_them(cancer: Data) -> None:
    X, _, few = cancer
    labeled = np.flatnonzero(few >= 0)
    splits = list(udeed.SemiSupervisedKFold(2).split(X, few))
    without = [(np.intersect1d(train, labeled), test) for train, test in splits]
    tested = [(train, np.append(test, np.flatnonzero(few < 0)[:9])) for train, test in splits]
    scores = [udeed.UDEEDClassifierCV((4,), cv=cv, random_state=0).fit(X, few) for cv in (splits, without, tested)]
    for other in scores[1:]:
        np.testing.assert_array_equal(other.cv_results_["log_loss"], scores[0].cv_results_["log_loss"])


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_the_progress_of_a_choice_has_a_total(
    cancer: Data, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    X, _, few = cancer
    search = udeed.UDEEDClassifierCV((4,), gammas=(1.0, 2.0), Cs=(1.0,), cv=2, random_state=0, verbose=True)
    search.fit(X, few)
    lines = capsys.readouterr().err.split("\n")
    # Three candidates with each of two scalings, on two folds; then the fit to all rows.
    shown = [part.strip() for part in lines[0].split("\r") if part.strip()]
    assert all(part.startswith("candidates ") and "/12 [" in part for part in shown), shown
    assert shown[-1] == "candidates 12/12 [" + "#" * 30 + "]"
    assert "members 4/4" in lines[1]


def test_the_search_is_calibrated_whatever_is_chosen() -> None:
    random = np.random.RandomState(0)
    X = np.concatenate([random.normal(0.0, 1.0, (40, 2)), random.normal(3.0, 1.0, (40, 2))])
    y = np.repeat([0, 1], 40)
    few = np.where(np.arange(80) % 2 == 0, y, -1)
    # Bagging is chosen where diversity counts for everything.
    model = udeed.UDEEDClassifierCV(calibrated=True, members=(5,), gammas=(1e6,), random_state=0).fit(X, few)
    assert model.best_params_["gamma"] is None and model._model.is_calibrated
    # Members that begin at random leave no rows to calibrate a candidate by; folds calibrate what is chosen.
    model = udeed.UDEEDClassifierCV(calibrated=True, initial="random", members=(5,), random_state=0).fit(X, few)
    assert model._model.is_calibrated
