"""Base learners with settings of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import udeed
from estimators import BASED, small
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def test_a_grid_search_reaches_the_settings(iris: Data) -> None:
    X, y, few = iris
    pipeline = make_pipeline(StandardScaler(), small(udeed.BaggingClassifier, base=udeed.Tree(), unlabeled="?"))
    grid = {"baggingclassifier__base__depth": [1, None], "baggingclassifier__base__features": ["all", 2, 0.5]}
    search = GridSearchCV(pipeline, grid, cv=udeed.SemiSupervisedKFold(2, unlabeled="?")).fit(X, few)
    assert search.best_score_ > 0.7 and search.best_estimator_.score(X, y) > 0.8
    scores = search.cv_results_["mean_test_score"]
    # Stumps tell two classes apart, not three.
    assert scores[:3].max() < scores[3:].max()


def test_a_name_is_the_learner_with_its_defaults(cancer: Data) -> None:
    X, _, few = cancer
    for name, learner in (("tree", udeed.Tree()), ("neighbors", udeed.Neighbors())):
        named, given = (small(udeed.BaggingClassifier, base=base).fit(X, few) for base in (name, learner))
        np.testing.assert_array_equal(named.predict_proba(X), given.predict_proba(X))
    other = small(udeed.BaggingClassifier, base=udeed.Tree(depth=1)).fit(X, few)
    assert not np.array_equal(other.predict_proba(X), named.predict_proba(X))


def test_copies_are_independent(cancer: Data) -> None:
    X, _, few = cancer
    model = small(udeed.CoForestClassifier, tree=udeed.Tree(depth=2)).fit(X, few)
    copy = clone(model)
    assert copy.tree is not model.tree and copy.tree.get_params() == model.tree.get_params()
    assert copy.fit(X, few)._model == model._model
    assert copy.set_params(tree__depth=1).fit(X, few)._model != model._model
    assert model.tree.depth == 2


@pytest.mark.parametrize("features", ["all", "root", "log2", "log2-plus-one", 3, 0.25, np.int64(2)])
def test_trees_come_back_from_files(features: Any, cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    tree = udeed.Tree("entropy", depth=3, leaf=2, split=4, features=features)
    for model in (
        small(udeed.AdaBoostClassifier, base=tree),
        small(udeed.CoForestClassifier, tree=tree),
        small(udeed.StackingClassifier, bases=("bayes", tree, udeed.Neighbors(k=3))),
    ):
        model.fit(X, few).save(tmp_path / "model")
        other = udeed.load(tmp_path / "model")
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        clone(other).fit(X, few).save(tmp_path / "again")
        assert (tmp_path / "again").read_bytes() == (tmp_path / "model").read_bytes()


@pytest.mark.parametrize("kind", BASED)
def test_an_unknown_base_learner_names_the_parameter_and_the_choices(kind: type) -> None:
    for base in ("forest", None, 3, udeed.Tree):
        with pytest.raises(ValueError, match=f"The 'base' parameter of {kind.__name__} must be") as refused:
            small(kind, base=base).fit([[0.0, 1.0], [1.0, 2.0]], [0, 1])
        for word in ("'logistic'", "'tree'", "'neighbors'", "'bayes'", "Tree", "Neighbors"):
            assert word in str(refused.value)


@pytest.mark.parametrize(
    ("base", "parameter"),
    [
        (udeed.Tree("purity"), "criterion"),
        (udeed.Tree(depth=0), "depth"),
        (udeed.Tree(leaf=0), "leaf"),
        (udeed.Tree(split=1), "split"),
        (udeed.Tree(features=0), "features"),
        (udeed.Tree(features=1.5), "features"),
        (udeed.Tree(features="some"), "features"),
        (udeed.Neighbors(k=0), "k"),
        (udeed.Neighbors(k=True), "k"),
    ],
)
def test_wrong_settings_of_a_base_learner_are_refused(base: Any, parameter: str) -> None:
    message = f"The '{parameter}' parameter of {type(base).__name__} must be"
    for model in (udeed.BaggingClassifier(base=base), udeed.StackingClassifier([base])):
        with pytest.raises(ValueError, match=message):
            model.fit([[0.0], [1.0]], [0, 1])


def test_wrong_stacks_are_refused() -> None:
    rows, labels = [[0.0], [1.0]] * 5, [0, 1] * 5
    with pytest.raises(ValueError, match="`bases` is empty, expected at least one"):
        udeed.StackingClassifier([]).fit(rows, labels)
    with pytest.raises(ValueError, match="`bases` holds 'forest', expected one of .*'logistic'"):
        udeed.StackingClassifier(["forest"]).fit(rows, labels)
    with pytest.raises(ValueError, match="The 'bases' parameter of StackingClassifier must be"):
        udeed.StackingClassifier("tree").fit(rows, labels)


def test_views_are_given_by_name_or_number(cancer: Data) -> None:
    import pandas as pd

    X, y, few = cancer
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(30)])
    numbers = list(range(10))
    by_number = udeed.CoTrainingClassifier(view=numbers, random_state=0).fit(X, few)
    by_name = udeed.CoTrainingClassifier(view=[f"column {i}" for i in numbers], random_state=0).fit(frame, few)
    mixed = udeed.CoTrainingClassifier(view=np.arange(10), random_state=0).fit(frame, few)
    np.testing.assert_array_equal(by_number.predict_proba(X), by_name.predict_proba(frame))
    assert mixed._model == by_name._model and by_number.score(X, y) > 0.85
    # Each sees its own columns only.
    assert (by_number.member_coef_[0, 10:] == 0.0).all() and (by_number.member_coef_[1, :10] == 0.0).all()
    for view in ([30], [-1], [0.5], [True]):
        with pytest.raises(ValueError, match=r"`view` holds .*, expected names of columns, or numbers from 0 to 29"):
            udeed.CoTrainingClassifier(view=view).fit(X, few)
    with pytest.raises(ValueError, match="the setting `view`: found .*nothing"):
        udeed.CoTrainingClassifier(view=["nothing"]).fit(frame, few)
    with pytest.raises(ValueError, match="`view` is .*, expected columns that leave some"):
        udeed.CoTrainingClassifier(view=range(30)).fit(X, few)
    with pytest.raises(ValueError, match=r"1 feature\(s\)"):
        udeed.CoTrainingClassifier().fit(X[:, :1], few)
