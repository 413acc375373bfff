"""Rows to label next, labels to doubt, and what further ones would bring."""

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
import udeed
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB

X, y = load_breast_cancer(return_X_y=True)
FEW = udeed.mask_labels(y, 20, random_state=0)
STRATEGIES = ["default", "variance-reduction", "margin", "vote-entropy", "committee", "random"]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_suggestions_are_unlabeled_rows(strategy):
    found, reasons = udeed.suggest(X, FEW, 7, strategy=strategy, random_state=0, return_scores=True)
    assert len(set(found)) == 7 and (FEW[found] == -1).all()
    assert {len(values) for values in reasons.values()} == {7}
    assert ((reasons["unlike"] >= 0) & (reasons["unlike"] <= 1)).all()
    if strategy != "random":
        assert set(reasons["predicted"]) <= {0, 1}
    assert (found == udeed.suggest(X, FEW, 7, strategy=strategy, random_state=0, n_jobs=2)).all()


def test_the_default_is_its_own_name():
    both = [udeed.suggest(X, FEW, 5, strategy=name, random_state=1) for name in ("default", "variance-reduction")]
    assert (both[0] == both[1]).all()


def test_no_label_is_needed():
    found = udeed.suggest(X, n=5, random_state=0)
    assert (found == udeed.suggest(X, np.full(len(y), -1), 5, random_state=0)).all()
    with pytest.warns(udeed.UdeedWarning, match="too few for a model"):
        other = udeed.suggest(X, n=5, strategy="margin", random_state=0)
    assert (found == other).all()
    one_class = np.where(np.arange(len(y)) < 3, "yes", "")
    assert len(udeed.suggest(X, one_class, 5, unlabeled="")) == 5


def test_a_model_is_asked_or_fitted():
    model = udeed.BaggingClassifier(random_state=0)
    fitted = udeed.BaggingClassifier(random_state=0).fit(X, FEW)
    # All unlabeled rows are candidates, so it is the same model.
    assert (udeed.suggest(X, FEW, 5, model, random_state=0) == udeed.suggest(X, FEW, 5, fitted, random_state=0)).all()
    assert not hasattr(model, "classes_")
    with pytest.raises(TypeError, match="LogisticRegression"):
        udeed.suggest(X, FEW, model=LogisticRegression())


def test_weights_of_classes_reach_a_model_that_is_fitted():
    for weight in ({0: 1.0, 1: 50.0}, {0: 50.0, 1: 1.0}, "balanced"):
        model = udeed.BaggingClassifier(random_state=0, class_weight=weight)
        fitted = udeed.BaggingClassifier(random_state=0, class_weight=weight).fit(X, FEW)
        found, reasons = udeed.suggest(X, FEW, 5, model, "margin", 0, return_scores=True)
        expected, same = udeed.suggest(X, FEW, 5, fitted, "margin", 0, return_scores=True)
        assert (found == expected).all() and (reasons["predicted"] == same["predicted"]).all()
    few = udeed.mask_labels(y, 60, random_state=0)
    plain, one_sided = (
        udeed.forecast(X, few, [10], udeed.BaggingClassifier(members=5, random_state=0, class_weight=weight), 0)
        for weight in (None, {0: 1.0, 1: 1e6})
    )
    assert plain.accuracy[0] > one_sided.accuracy[0] + 0.1


def test_what_a_model_to_be_fitted_has_besides_is_told():
    few = udeed.mask_labels(y, 40, random_state=0)
    model = udeed.BaggingClassifier(members=3, random_state=0, threshold=0.9)
    with pytest.warns(udeed.UdeedWarning, match=r"`threshold=0.9` of the model is not used"):
        udeed.suggest(X, few, 2, model, random_state=0)
    with pytest.warns(udeed.UdeedWarning, match="`threshold='f1'` of the model is not used"):
        udeed.forecast(X, few, [10], model.set_params(threshold="f1"), 0, repetitions=1)
    searched = udeed.UDEEDClassifierCV(members=(3,), gammas=(1.0,), Cs=(1.0,), cv=2, random_state=0)
    for ask in (lambda: udeed.suggest(X, few, 2, searched), lambda: udeed.forecast(X, few, [10], searched)):
        with pytest.raises(TypeError, match="UDEEDClassifierCV, whose parameters are still to be searched for"):
            ask()
    assert len(udeed.suggest(X, few, 2, searched.fit(X, few), random_state=0)) == 2
    with pytest.raises(ValueError, match="members"):
        udeed.suggest(X, few, 2, udeed.BaggingClassifier(members=-1))


def test_the_unit_of_weights_and_costs_is_nothing():
    weights = np.random.RandomState(0).choice([1.0, 3.0, 0.5], len(y))
    model = udeed.BaggingClassifier(members=5, random_state=0)
    expected = udeed.suggest(X, FEW, 5, model, random_state=0, sample_weight=weights, cost=weights)
    for scale in (1.0 / 60.0, 1e-290, 1e290):
        scaled = {"sample_weight": scale * weights, "cost": scale * weights}
        assert (udeed.suggest(X, FEW, 5, model, random_state=0, **scaled) == expected).all()


def test_rows_may_be_sparse_or_frames_with_words_and_more_classes():
    rows, classes = load_iris(return_X_y=True)
    few = udeed.mask_labels(classes, 15, random_state=0)
    found, reasons = udeed.suggest(rows, few, 6, random_state=0, return_scores=True)
    assert set(reasons["predicted"]) <= {0, 1, 2} and (few[found] == -1).all()
    assert len(udeed.suggest(sparse.csr_array(rows), few, 6, random_state=0)) == 6
    frame = pd.DataFrame(rows, columns=list("abcd")).assign(word=np.where(rows[:, 0] > 5.5, "long", "short"))
    frame.iloc[::7, 1] = np.nan
    model = udeed.UDEEDClassifier(random_state=0).fit(frame, few)
    for given in (None, model):
        assert len(udeed.suggest(frame, few, 6, given, random_state=0)) == 6
    named = udeed.UDEEDClassifier(random_state=0).fit(pd.DataFrame(rows, columns=list("abcd")), few)
    assert len(udeed.suggest(pd.DataFrame(rows, columns=list("abcd")), few, 6, named, random_state=0)) == 6


def test_costs_weights_and_classes():
    free = udeed.suggest(X, FEW, 8, random_state=0)
    cost = np.ones(len(y))
    cost[free] = 1e6
    assert not set(free) & set(udeed.suggest(X, FEW, 8, cost=cost, random_state=0))
    weight = np.ones(len(y))
    weight[free] = 0.0
    assert not set(free) & set(udeed.suggest(X, FEW, 8, sample_weight=weight, random_state=0))
    # Costs stay beside their rows where some are left out.
    left = udeed.suggest(X, FEW, 8, sample_weight=weight, cost=cost, random_state=0)
    assert (left == udeed.suggest(X, FEW, 8, sample_weight=weight, random_state=0)).all()
    _, reasons = udeed.suggest(X, FEW, 8, per_class=3, random_state=0, return_scores=True)
    assert max(np.unique(reasons["predicted"].astype(int), return_counts=True)[1]) <= 3


def test_strategies_that_cannot_go_by_weights_or_members_say_so(recwarn):
    weight = np.linspace(1, 2, len(y))
    udeed.suggest(X, FEW, 5, sample_weight=weight, random_state=0)
    udeed.suggest(X, FEW, 5, sample_weight=np.where(FEW == -1, 1.0, weight), strategy="margin", random_state=0)
    assert not [str(told.message) for told in recwarn if "does not weigh" in str(told.message)]
    with pytest.warns(udeed.UdeedWarning, match="strategy `margin` does not weigh rows"):
        udeed.suggest(X, FEW, 5, sample_weight=weight, strategy="margin", random_state=0)
    for strategy in ("committee", "vote-entropy"):
        with pytest.raises(ValueError, match=f"`strategy` is `{strategy}` and the model has 1 member"):
            udeed.suggest(X, FEW, 5, udeed.BaggingClassifier(members=1), strategy, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"n": 0}, "`n` is 0"),
        ({"n": True}, "`n` is True"),
        ({"strategy": "median"}, "`strategy` is 'median'"),
        ({"cost": [1.0]}, "`cost` has the shape"),
        ({"cost": np.where(np.arange(len(y)) == 7, 0.0, 1.0)}, r"`cost\[7\]` is 0.0, expected positive numbers"),
        ({"per_class": 0}, "`per_class` is 0"),
        ({"per_class": 1.5}, "`per_class` is 1.5"),
        ({"per_class": True}, "`per_class` is True"),
        ({"per_class": -3}, "`per_class` is -3"),
        ({"per_class": "x"}, "`per_class` is 'x'"),
    ],
)
def test_bad_arguments_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        udeed.suggest(X, FEW, **arguments)


def test_all_labels_leave_nothing_to_suggest():
    with pytest.raises(ValueError, match="no unlabeled row"):
        udeed.suggest(X, y)
    with pytest.warns(udeed.UdeedWarning, match="5 rows to suggest"):
        assert len(udeed.suggest(X[:25], np.where(np.arange(25) < 20, y[:25], -1), 9)) == 5


def test_wrong_labels_are_doubted():
    few = udeed.mask_labels(y, 100, random_state=0).astype(object)
    labeled = np.flatnonzero(few != -1)
    wrong = labeled[::10]
    few[wrong] = 1 - few[wrong]
    names = np.where(few == -1, "", np.where(few == 1, "benign", "malignant"))
    found, reasons = udeed.doubt(X, names, random_state=0, unlabeled="", return_scores=True)
    assert set(found) == set(labeled)
    # Of ten labels at random, one would be wrong.
    assert len(set(found[:10]) & set(wrong)) >= 6
    assert (np.diff(reasons["probability"]) >= 0).all()
    assert reasons["suggested"][0] != names[found[0]]
    low, high = reasons["n_wrong"]
    assert low <= 10 <= high
    assert reasons["n_unjudged"] == 0
    assert (found == udeed.doubt(X, names, random_state=0, unlabeled="", n_jobs=2)).all()


def test_labels_without_a_judge_are_counted():
    few = np.where(np.arange(len(y)) < 40, y, -1)
    few[40] = 7
    positions, reasons = udeed.doubt(X, few, random_state=0, return_scores=True)
    assert reasons["n_unjudged"] == 1
    assert positions[0] == 40


BOOTSTRAPPED = [
    udeed.BaggingClassifier(random_state=0),
    udeed.BaggingClassifier(base=udeed.Tree(features="root"), random_state=0),
    udeed.UDEEDClassifier(random_state=0),
    udeed.CoForestClassifier(random_state=0),
    udeed.UDEEDAutoClassifier(random_state=0),
]


@pytest.mark.parametrize("model", BOOTSTRAPPED, ids=repr)
def test_out_of_bag_estimates_are_of_labeled_rows(model):
    few = udeed.mask_labels(y, 60, random_state=0)
    estimates = model.fit(X, few).oob_decision_function_
    labeled = few != -1
    assert estimates.shape == (len(y), 2)
    assert np.isnan(estimates[~labeled]).all()
    np.testing.assert_allclose(estimates[labeled].sum(axis=1), 1.0)
    assert (estimates[labeled].argmax(axis=1) == few[labeled]).mean() > 0.8
    # They are no better than they can be: a wrong label is not learned by heart.
    few[np.flatnonzero(labeled)[0]] = 1 - few[labeled][0]
    wrong = model.fit(X, few).oob_decision_function_[np.flatnonzero(labeled)[0]]
    assert wrong[few[labeled][0]] < 0.5
    assert hasattr(pickle.loads(pickle.dumps(model)), "oob_decision_function_")


def test_out_of_bag_estimates_of_more_classes_and_weights():
    rows, classes = load_iris(return_X_y=True)
    weights = np.ones(150)
    weights[:5] = 0.0
    model = udeed.BaggingClassifier(random_state=0).fit(rows, classes, sample_weight=weights)
    assert np.isnan(model.oob_decision_function_[:5]).all()
    assert (model.oob_decision_function_[5:].argmax(axis=1) == classes[5:]).mean() > 0.75


def test_out_of_bag_estimates_are_what_cleanlab_takes():
    """`find_label_issues(labels, pred_probs)`: classes counted from 0, and a probability of each for every row."""
    names = np.where(y == 1, "benign", "malignant").astype(object)
    names[udeed.mask_labels(y, 60, random_state=0) == -1] = ""
    weights = np.ones(len(y))
    weights[np.flatnonzero(names != "")[0]] = 0.0
    model = udeed.BaggingClassifier(random_state=0, unlabeled="").fit(X, names, sample_weight=weights)
    estimates = model.oob_decision_function_
    known = np.isfinite(estimates).all(axis=1)
    assert known.sum() == 59 and np.isnan(estimates[~known]).all()
    labels, pred_probs = np.searchsorted(model.classes_, names[known].astype(str)), estimates[known]
    assert pred_probs.shape == (59, 2) and set(labels) == {0, 1}
    np.testing.assert_allclose(pred_probs.sum(axis=1), 1.0)
    assert (pred_probs.argmax(axis=1) == labels).mean() > 0.8


def test_without_bootstraps_there_are_no_out_of_bag_estimates():
    model = udeed.ExtraTreesClassifier(random_state=0).fit(X, FEW)
    assert not hasattr(model, "oob_decision_function_")
    model = udeed.UDEEDClassifier(random_state=0).fit(X, FEW)
    model.set_params(initial="random").fit(X, FEW)
    assert not hasattr(model, "oob_decision_function_")


def test_tri_training_has_no_out_of_bag_estimates_and_says_so():
    model = udeed.TriTrainingClassifier(random_state=0).fit(X, FEW)
    assert not hasattr(model, "oob_decision_function_")
    assert "and not of tri-training" in inspect.getdoc(type(model))


def test_a_forecast_has_intervals():
    few = udeed.mask_labels(y, 40, random_state=0)
    model = udeed.BaggingClassifier(members=5, random_state=0)
    found = udeed.forecast(X, few, [10, 100], model, random_state=0, repetitions=2)
    assert found.more.tolist() == [0, 10, 100] and found.curve.shape == (4, 2)
    assert (np.diff(found.accuracy) >= 0).all()
    assert ((found.low < found.accuracy) & (found.accuracy <= found.high)).all()
    assert (found.gain_low <= found.gain_high).all() and isinstance(found.is_open, bool)
    names = np.where(few == -1, "", np.where(few == 1, "yes", "no"))
    again = udeed.forecast(X, names, [10, 100], model, random_state=0, repetitions=2, unlabeled="", n_jobs=2)
    np.testing.assert_array_equal(again.accuracy, found.accuracy)
    np.testing.assert_array_equal(again.low, found.low)


def test_a_forecast_of_members_from_elsewhere():
    few = udeed.mask_labels(y, 40, random_state=0)
    model = udeed.BaggingClassifier(members=2, base=GaussianNB(), random_state=0)
    found = udeed.forecast(X, few, [10, 2**70], model, random_state=0, repetitions=1)
    assert found.accuracy[0] > 0.8 and not hasattr(model, "classes_")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"more": [0]}, "`more` is"),
        ({"more": []}, "`more` is"),
        ({"more": [1.5]}, "`more` is"),
        ({"repetitions": 0}, "`repetitions` is 0"),
    ],
)
def test_bad_forecasts_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        udeed.forecast(X, FEW, **arguments)
    with pytest.raises(ValueError, match="expected 10 labels"):
        udeed.forecast(X, udeed.mask_labels(y, 8, random_state=0))
    with pytest.raises(TypeError, match="LogisticRegression"):
        udeed.forecast(X, FEW, model=LogisticRegression())


def test_a_query_strategy_of_scikit_activeml():
    pytest.importorskip("skactiveml")
    from sklearn.base import clone
    from udeed.activeml import SuggestSampling

    labels = np.where(FEW == -1, np.nan, FEW)
    strategy = SuggestSampling(random_state=1)
    chosen, utilities = strategy.query(X, labels, batch_size=4, return_utilities=True)
    assert len(set(chosen)) == 4 and np.isnan(labels[chosen]).all()
    assert utilities.shape == (4, len(y)) and np.isnan(utilities[:, FEW != -1]).all()
    for step in range(4):
        assert np.nanargmax(utilities[step]) == chosen[step]
        assert np.isnan(utilities[step, chosen[:step]]).all()
    assert (chosen == clone(strategy).query(X, labels, batch_size=4)).all()
    some = np.flatnonzero(np.isnan(labels))[10:40]
    assert set(strategy.query(X, labels, candidates=some, batch_size=3)) <= set(some)
    outside = strategy.query(X, labels, candidates=X[some], batch_size=3, return_utilities=True)
    assert (outside[0] < len(some)).all() and outside[1].shape == (3, len(some))
    words = np.where(FEW == -1, "nan", np.where(FEW == 1, "yes", "no")).astype(object)
    words[FEW == -1] = None
    named = SuggestSampling(missing_label=None, random_state=1).query(X, words, batch_size=4)
    assert (named == chosen).all()
    cold = SuggestSampling(random_state=0).query(X, np.full(len(y), np.nan), batch_size=2)
    assert len(set(cold)) == 2
