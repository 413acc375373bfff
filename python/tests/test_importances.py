"""Importances of columns, beside those of scikit-learn."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import udeed
from estimators import small
from sklearn.ensemble import RandomForestClassifier
from sklearn.feature_selection import SelectFromModel
from sklearn.tree import DecisionTreeClassifier

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.mark.parametrize("criterion", ["gini", "entropy"])
def test_one_tree_has_those_of_scikit_learn(criterion: str) -> None:
    # Nodes so large that no two columns split them equally well: scikit-learn then takes either.
    X = np.random.RandomState(0).rand(300, 6)
    y = (X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.3 * X[:, 5] > 0.85).astype(int) + (X[:, 2] > 0.8)
    # Stacking fits each base learner to all rows.
    ours = udeed.StackingClassifier([udeed.Tree(criterion, depth=4, leaf=15)], scaling="none", random_state=0).fit(X, y)
    theirs = DecisionTreeClassifier(criterion=criterion, max_depth=4, min_samples_leaf=15, random_state=0).fit(X, y)
    np.testing.assert_allclose(ours.feature_importances_, theirs.feature_importances_, rtol=0.0, atol=1e-12)


def test_a_forest_has_those_of_scikit_learn_within_noise(cancer: Data) -> None:
    X, y, _ = cancer
    ours = udeed.BaggingClassifier(300, base=udeed.Tree(features="root"), random_state=0, unlabeled=None).fit(X, y)
    theirs = RandomForestClassifier(300, random_state=0).fit(X, y)
    other = RandomForestClassifier(300, random_state=1).fit(X, y)
    noise = np.abs(other.feature_importances_ - theirs.feature_importances_).max()
    assert np.abs(ours.feature_importances_ - theirs.feature_importances_).max() < 3.0 * noise
    assert ours.feature_importances_.sum() == pytest.approx(1.0)


def test_trees_of_all_methods_have_them(cancer: Data, iris: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    for model in (
        small(udeed.CoForestClassifier),
        small(udeed.ExtraTreesClassifier),
        small(udeed.AdaBoostClassifier, base=udeed.Tree(depth=1)),
        small(udeed.SemiBoostClassifier, base="tree"),
        small(udeed.CoTrainingClassifier, base="tree"),
    ):
        importances = model.fit(X, few).feature_importances_
        assert importances.shape == (30,) and importances.sum() == pytest.approx(1.0) and (importances >= 0.0).all()
        model.save(tmp_path / "model")
        np.testing.assert_array_equal(udeed.load(tmp_path / "model").feature_importances_, importances)
        assert SelectFromModel(model, prefit=True).transform(X).shape[1] < 30
    X, _, few = iris
    assert small(udeed.SemiBoostClassifier, base="tree", unlabeled="?").fit(X, few).feature_importances_.shape == (4,)


def test_words_count_as_their_column() -> None:
    pandas = pytest.importorskip("pandas")
    random = np.random.RandomState(0)
    words = random.choice(["red", "green", "blue"], 200)
    frame = pandas.DataFrame({"noise": random.rand(200), "color": words})
    model = small(udeed.BaggingClassifier, base="tree", unlabeled=None).fit(frame, words == "red")
    assert model.feature_importances_.shape == (2,) and model.feature_importances_[1] > 0.9


def test_members_that_are_no_trees_have_none(cancer: Data) -> None:
    X, _, few = cancer
    for model in (
        small(udeed.BaggingClassifier),
        small(udeed.UDEEDAutoClassifier),
        small(udeed.BaggingClassifier, base="tree", fourier=5),
    ):
        with pytest.raises(AttributeError, match="no trees of columns"):
            model.fit(X, few).feature_importances_  # noqa: B018
