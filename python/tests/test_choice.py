"""Settings chosen by cross-validation."""

from __future__ import annotations

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


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"gammas": (-1.0,)}, "The 'gamma' parameter of UDEEDClassifier must be"),
        ({"members": (20, 1)}, "The 'members' parameter of UDEEDClassifier must be"),
        ({"scalings": ("max",)}, "The 'scaling' parameter of UDEEDClassifier must be"),
        ({"Cs": ()}, "no `C` to try"),
        ({"cv": 1}, "The 'cv' parameter of UDEEDClassifierCV must be an int in the range"),
        ({"cv": [([0], [10**6])] * 2}, "out of bounds"),
    ],
)
def test_grids_that_make_no_sense_are_refused(parameters: dict[str, object], message: str, cancer: Data) -> None:
    X, _, few = cancer
    with pytest.raises((ValueError, IndexError), match=message):
        udeed.UDEEDClassifierCV(**parameters).fit(X, few)


def test_a_single_labeled_row_of_a_class_is_not_enough() -> None:
    with pytest.raises(ValueError, match="a class has 1 labeled rows, expected at least 2 of each class"):
        udeed.UDEEDClassifierCV().fit([[0.0], [1.0], [2.0]], [0, 1, 1])


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_a_splitter_is_given_the_labels_as_they_are(cancer: Data) -> None:
    X, _, few = cancer
    search = udeed.UDEEDClassifierCV((4,), unlabeled=0, cv=udeed.SemiSupervisedKFold(4, unlabeled=0), random_state=0)
    plain = udeed.UDEEDClassifierCV((4,), cv=udeed.SemiSupervisedKFold(4), random_state=0)
    assert search.fit(X, few + 1).best_score_ == plain.fit(X, few).best_score_
