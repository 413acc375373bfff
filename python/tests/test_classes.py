"""More than two classes, up to 255."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import udeed
from estimators import ALL, BASED, LINEAR, METHODS, SUPERVISED, small

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]
NAMES = ["setosa", "versicolor", "virginica"]
# Each class has members of its own, which tell it from the rest; the others tell all classes apart at once. No card says which.
AGAINST_REST = (
    udeed.UDEEDClassifier,
    udeed.UDEEDClassifierCV,
    udeed.BaggingClassifier,
    udeed.SemiBoostClassifier,
    udeed.SSMBoostClassifier,
    udeed.RegBoostClassifier,
)


@pytest.mark.parametrize("kind", ALL)
def test_three_classes_with_names(kind: type, iris: Data) -> None:
    X, y, few = iris
    model = small(kind, unlabeled="?").fit(X, few)
    decision, probability = model.decision_function(X), model.predict_proba(X)
    assert model.classes_.tolist() == NAMES
    assert decision.shape == probability.shape == (150, 3) and (np.abs(decision) <= 1.0).all()
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), model.classes_[decision.argmax(axis=1)])
    np.testing.assert_array_equal(decision.argmax(axis=1), probability.argmax(axis=1))
    assert model.score(X, y) == np.mean(model.predict(X) == y) > 0.6
    assert model.score(X, few) == np.mean((model.predict(X) == y)[few != "?"])
    said = model.member_predictions(X)
    assert said.shape[0] == 150 and set(np.unique(said)) <= set(NAMES)
    n_members = said.shape[1]
    assert model.member_weights_.shape == ((3, n_members) if kind in AGAINST_REST else (n_members,))
    labeled = few != "?"
    assert model.diversity_ == udeed.diversity(model, X[labeled], few[labeled])


@pytest.mark.parametrize("kind", ALL)
def test_three_classes_are_the_same_bits_at_any_number_of_threads(kind: type, iris: Data) -> None:
    X, _, few = iris
    one, two = (small(kind, unlabeled="?", n_jobs=n_jobs).fit(X, few) for n_jobs in (1, 2))
    assert one._model.to_bytes() == two._model.to_bytes()
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))
    again = pickle.loads(pickle.dumps(one))
    assert again._model == one._model and again.classes_.tolist() == NAMES


@pytest.mark.parametrize("kind", LINEAR)
def test_linear_members_have_a_table_of_weights_for_each_class(kind: type, iris: Data) -> None:
    X, _, few = iris
    model = small(kind, unlabeled="?").fit(X, few)
    said = model.member_predictions(X)
    assert model.member_coef_.shape == (3, said.shape[1], 4)
    assert model.member_intercept_.shape == (3, said.shape[1])
    scores = np.einsum("nf,cmf->nmc", X, model.member_coef_) + model.member_intercept_.T
    if kind in AGAINST_REST:
        # A class whose boosting ended early has no voice any more.
        assert (model.member_coef_[model.member_weights_ == 0.0] == 0.0).all()
        scores[:, model.member_weights_.T == 0.0] = -np.inf
    # The most probable class of a member is that of its largest score.
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=2)], said)


def test_members_that_are_not_linear_have_no_weights(iris: Data) -> None:
    X, _, few = iris
    model = small(udeed.CoForestClassifier, unlabeled="?").fit(X, few)
    for name in ("coef_", "intercept_", "member_coef_", "member_intercept_"):
        assert not hasattr(model, name)
    with pytest.raises(AttributeError, match="the members of this CoForestClassifier are not linear"):
        model.coef_  # noqa: B018


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", METHODS)
def test_a_class_with_a_single_labeled_row_is_learned(kind: type, classes: int) -> None:
    X = np.concatenate([np.random.RandomState(0).normal(4.0 * center, 1.0, (20, 2)) for center in range(classes)])
    y = np.repeat(np.arange(classes), 20)
    few = udeed.mask_labels(y, 5 * classes, random_state=0)
    few[(y == 1) & (few == 1) & (np.cumsum(few == 1) > 1)] = -1
    assert (few == 1).sum() == 1
    model = small(kind).fit(X, few)
    assert model.classes_.tolist() == list(range(classes)) and np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("kind", METHODS)
def test_rows_of_one_class_are_refused(kind: type) -> None:
    with pytest.raises(ValueError, match="y has labels of one class only, .*a.*, expected at least two classes"):
        small(kind, unlabeled="?").fit([[0.0], [1.0], [2.0]], ["a", "a", "?"])


def test_there_are_at_most_255_classes() -> None:
    X = np.repeat(np.arange(256.0), 2).reshape(-1, 1)
    y = np.repeat(np.arange(256), 2)
    model = small(udeed.BaggingClassifier, base=udeed.Neighbors(k=1), members=40).fit(X[:-2], y[:-2])
    assert model.predict_proba(X).shape == (512, 255) and model.score(X[:-2], y[:-2]) > 0.9
    for kind in ALL:
        with pytest.raises(ValueError, match="y has labels of 256 classes, expected at most 255"):
            small(kind).fit(X, y)


@pytest.mark.filterwarnings("error::udeed.UdeedWarning")
@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind not in SUPERVISED])
def test_no_unlabeled_rows_are_warned_of(kind: type, iris: Data) -> None:
    X, y, _ = iris
    for rows in (slice(None), slice(0, 100)):
        with pytest.warns(udeed.UdeedWarning, match="no unlabeled rows"):
            model = small(kind).fit(X[rows], y[rows])
        assert model.score(X[rows], y[rows]) > 0.6


@pytest.mark.parametrize("base", ["tree", "neighbors", "bayes"])
@pytest.mark.parametrize("kind", BASED)
def test_every_base_learner_in_every_method(kind: type, base: str, iris: Data, cancer: Data) -> None:
    X, y, few = iris
    assert small(kind, base=base, unlabeled="?").fit(X, few).score(X, y) > 0.7
    X, y, few = cancer
    assert small(kind, base=base).fit(X, few).score(X, y) > 0.75


@pytest.mark.parametrize("kind", METHODS)
def test_members_of_two_classes_are_one_score_each(kind: type, cancer: Data) -> None:
    X, _, few = cancer
    model = small(kind).fit(X, few)
    if kind in LINEAR:
        assert model.member_coef_.shape == (len(model.member_weights_), 30)
    else:
        assert not hasattr(model, "coef_")


def test_splits_masks_and_comparisons_of_three_classes(iris: Data) -> None:
    X, y, few = iris
    for train, test in udeed.SemiSupervisedKFold(3, unlabeled="?").split(X, few):
        assert np.unique(few[test]).tolist() == NAMES and len(train) + len(test) == 150
    rivals = [small(udeed.UDEEDClassifier), small(udeed.CoForestClassifier)]
    result = udeed.compare(rivals, X, y, splits=2, labeled=30)
    assert all((scores > 0.6).all() for scores in result.scores.values())
