"""The ten measures, of anything."""

from __future__ import annotations

import re

import numpy as np
import pytest
import udeed
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier
from udeed import _core

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def test_measures_by_their_definitions() -> None:
    oracle = np.random.RandomState(0).rand(200, 3) < 0.7
    found = udeed.diversity(oracle)
    right = oracle.sum(axis=1)
    pairs = [(0, 1), (0, 2), (1, 2)]
    assert found["dis"] == pytest.approx(np.mean([(oracle[:, i] != oracle[:, j]).mean() for i, j in pairs]))
    assert found["df"] == pytest.approx(np.mean([(~oracle[:, i] & ~oracle[:, j]).mean() for i, j in pairs]))
    assert found["kw"] == pytest.approx((right * (3 - right)).mean() / 9)
    assert found["ent"] == pytest.approx(np.minimum(right, 3 - right).mean())
    assert found["rho"] == pytest.approx(np.mean([np.corrcoef(oracle[:, i], oracle[:, j])[0, 1] for i, j in pairs]))


def test_the_documentation_names_every_measure_with_its_direction() -> None:
    described = str(udeed.diversity.__doc__).partition("Returns\n")[2].partition("References\n")[0]
    lower, higher = (re.findall(r"``(\w+)``", text) for text in described.split("where lower is more diverse"))
    table = _core.measures()
    assert lower == [name for name, _, is_higher in table if not is_higher]
    assert higher == [name for name, _, is_higher in table if is_higher]
    assert list(udeed.diversity([[True, False], [False, True]])) == [name for name, _, _ in table]


def test_any_fitted_classifiers(cancer: Data) -> None:
    X, y, _ = cancer
    members = [GaussianNB(), DecisionTreeClassifier(max_depth=2, random_state=0), LogisticRegression(max_iter=5000)]
    for member in members:
        member.fit(X[::2], y[::2])
    oracle = np.column_stack([member.predict(X) == y for member in members])
    assert udeed.diversity(members, X, y) == udeed.diversity(oracle)


@pytest.mark.parametrize("oracle", [[1.0, 0.0], [[0.5, 1.0]], "oracle", [[[True]]]])
def test_what_is_no_oracle_matrix_is_refused(oracle: object) -> None:
    with pytest.raises(ValueError, match="the oracle matrix is an array of shape"):
        udeed.diversity(oracle)


def test_half_of_the_arguments_are_refused(cancer: Data) -> None:
    X, y, _ = cancer
    with pytest.raises(ValueError, match="only one of X and y"):
        udeed.diversity([GaussianNB().fit(X, y)], X)
    with pytest.raises(ValueError, match="no members"):
        udeed.diversity([], X, y)
    assert set(udeed.diversity(np.ones((5, 1), dtype=bool)).values()) == {None}


def test_unlabeled_rows_are_left_out_of_an_ensembles_diversity(cancer: Data) -> None:
    X, _, few = cancer
    for unlabeled, y in ((-1, few), ("?", np.where(few == -1, "?", few.astype(str)))):
        model = udeed.BaggingClassifier(5, random_state=0, unlabeled=unlabeled).fit(X, y)
        assert udeed.diversity(model, X, y) == model.diversity_
        oracle = (model.member_predictions(X) == y[:, np.newaxis])[few >= 0]
        assert udeed.diversity(model, X, y) == udeed.diversity(oracle)
        with pytest.raises(ValueError, match="no labeled row among"):
            udeed.diversity(model, X[few < 0], y[few < 0])
