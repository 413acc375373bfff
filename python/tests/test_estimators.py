"""What every estimator promises."""

from __future__ import annotations

import inspect
import io
import sys
import json
import pickle
import re
import warnings
from contextlib import redirect_stderr
from typing import Any

import joblib
import numpy as np
import pytest
import udeed
from estimators import ALL, LINEAR, METHODS, small
from sklearn.base import clone
from udeed import _core
from udeed._estimators import ESTIMATORS
from udeed._kinds import CARDS
from udeed._shared import RENAMED

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def test_every_method_has_an_estimator() -> None:
    assert {name: kind.__name__ for name, kind in ESTIMATORS.items()} == {
        card["name"]: card["python"] for card in json.loads(_core.cards())["methods"]
    }
    for kind in ALL:
        # Pickles name the package, whatever file the class is in.
        assert kind.__name__ in udeed.__all__ and getattr(udeed, kind.__name__) is kind and kind.__module__ == "udeed"


@pytest.mark.parametrize("kind", METHODS)
def test_parameters_are_the_librarys_settings_with_its_defaults(kind: type, cancer: Data) -> None:
    X, _, few = cancer
    defaults = json.loads(_core.defaults(kind._method))
    assert json.loads(kind(random_state=0).fit(X, few)._model.settings) == defaults
    own = inspect.signature(kind).parameters
    shared = {"class_weight", "threshold", "random_state", "unlabeled", "n_jobs", "memory", "verbose", "callback"}
    if CARDS[kind._method]["on_device"]:
        shared.add("device")
    assert set(own) == {RENAMED.get(name, name) for name in defaults.keys() - {"method"}} | shared
    assert set(own) == set(kind._parameter_constraints)
    for name in own:
        assert f"\n{name} : " in kind.__doc__, f"{name} is not documented"


def test_the_search_has_the_rules_and_defaults_of_the_estimator() -> None:
    searched, plain = (inspect.signature(kind).parameters for kind in (udeed.UDEEDClassifierCV, udeed.UDEEDClassifier))
    for name in searched.keys() & plain.keys() - {"members"}:
        assert searched[name] == plain[name]
    assert plain.keys() - searched.keys() == {"C", "gamma", "scaling"}
    assert set(searched) == set(udeed.UDEEDClassifierCV._parameter_constraints)


@pytest.mark.parametrize("kind", ALL)
def test_documentation_is_complete(kind: type) -> None:
    for part in ("Parameters", "Attributes", "Examples", "coef_", "history_", "diversity_"):
        assert part in kind.__doc__
    assert "{" not in kind.__doc__.replace('{"', "")


@pytest.mark.parametrize("kind", ALL)
def test_a_seed_fixes_everything_at_any_number_of_threads(kind: type, cancer: Data) -> None:
    X, _, few = cancer
    one = small(kind, n_jobs=1).fit(X, few)
    for n_jobs in (2, 3, -1):
        other = small(kind, n_jobs=n_jobs).fit(X, few)
        assert other._model.to_bytes() == one._model.to_bytes()
        np.testing.assert_array_equal(other.decision_function(X), one.decision_function(X))


def test_other_seeds_give_other_members(cancer: Data) -> None:
    X, _, few = cancer
    first, second = (small(udeed.UDEEDClassifier, random_state=seed).fit(X, few) for seed in (0, 1))
    assert not np.array_equal(first.coef_, second.coef_)
    state = np.random.RandomState(5)
    third, fourth = (small(udeed.UDEEDClassifier, random_state=state).fit(X, few) for _ in range(2))
    assert not np.array_equal(third.coef_, fourth.coef_)
    again = small(udeed.UDEEDClassifier, random_state=np.random.RandomState(5)).fit(X, few)
    np.testing.assert_array_equal(again.coef_, third.coef_)


@pytest.mark.parametrize("scaling", ["minmax", "standard", "none"])
@pytest.mark.parametrize("kind", [udeed.UDEEDClassifier, udeed.BaggingClassifier])
def test_coefficients_are_those_of_the_rows_as_they_are(kind: type, scaling: str, cancer: Data) -> None:
    X, _, few = cancer
    X = X / X.max(axis=0)
    model = small(kind, scaling=scaling).fit(X, few)
    scores = X @ model.member_coef_.T + model.member_intercept_
    assert scores.shape == (len(X), 4)
    np.testing.assert_allclose(np.tanh(scores / 2).mean(axis=1), model.decision_function(X), atol=1e-10)
    np.testing.assert_array_equal(model.member_predictions(X), (scores > 0).astype(int))
    assert model.member_weights_.tolist() == [1.0] * 4


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("kind", LINEAR)
def test_the_direction_of_the_ensemble_is_the_mean_of_its_members(
    kind: type, classes: int, cancer: Data, iris: Data
) -> None:
    X, _, few = cancer if classes == 2 else iris
    model = small(kind, unlabeled=-1 if classes == 2 else "?").fit(X, few)
    shape = (1,) if classes == 2 else (3,)
    assert model.coef_.shape == (*shape, X.shape[1]) and model.intercept_.shape == shape
    weights = np.broadcast_to(model.member_weights_, model.member_intercept_.shape)
    for values, mean in ((model.member_coef_, model.coef_), (model.member_intercept_, model.intercept_)):
        if classes == 2:
            values, weighed, mean = values[np.newaxis], weights[np.newaxis], mean.reshape(1, *values.shape[1:])
        else:
            weighed = weights
        for own, count, expected in zip(values, weighed, mean, strict=True):
            np.testing.assert_allclose(np.average(own, axis=0, weights=count), expected)
    scores = X @ model.coef_.T + model.intercept_
    predicted = (scores[:, 0] > 0).astype(int) if classes == 2 else scores.argmax(axis=1)
    # Where members vote for one of many classes, AdaBoost's large ones outweigh the many in the mean.
    if (kind, classes) != (udeed.AdaBoostClassifier, 3):
        assert np.mean(model.classes_[predicted] == model.predict(X)) > 0.9


def test_a_tie_is_the_first_class() -> None:
    # Two rows and their mirror image: the vote on the row between them is even.
    X, y = np.array([[-1.0], [1.0]]), np.array(["a", "b"])
    model = udeed.LabelSpreadingClassifier(unlabeled=None).fit(X, y)
    middle = model.predict([[0.0]])
    assert model.decision_function([[0.0]]) == 0.0 and middle.tolist() == ["a"]
    # Trees of one row each: of an even number, half may be for either class.
    forest = udeed.CoForestClassifier(random_state=0).fit([[0.0], [1.0], [2.0], [3.0]], [0, 1, 0, 1])
    rows = np.linspace(-1.0, 4.0, 51).reshape(-1, 1)
    np.testing.assert_array_equal(forest.predict(rows), (forest.decision_function(rows) > 0.0).astype(int))


@pytest.mark.parametrize("kind", ALL)
def test_logarithms_of_probabilities(kind: type, cancer: Data) -> None:
    X, _, few = cancer
    model = small(kind).fit(X, few)
    with np.errstate(divide="ignore"):
        np.testing.assert_array_equal(model.predict_log_proba(X), np.log(model.predict_proba(X)))


@pytest.mark.parametrize("kind", [kind for kind in ALL if "fourier" in kind().get_params()])
def test_fourier_features(kind: type, cancer: Data) -> None:
    X, y, few = cancer
    X = X[:, :2]
    model = small(kind, fourier=30).fit(X, few)
    if kind in LINEAR:
        assert model.member_coef_.shape == (len(model.member_weights_), 30) and not hasattr(model, "coef_")
    assert model._model.features[:2] == ["fourier 1", "fourier 2"]
    assert model.n_features_in_ == 2 and model.score(X, y) > 0.7
    assert pickle.loads(pickle.dumps(model))._model == model._model


def test_fourier_features_that_memory_cannot_hold_are_refused() -> None:
    model = udeed.BaggingClassifier(fourier=2**32 - 1)
    with pytest.raises(ValueError, match="Fourier features of 41 inputs take .*\n.*use fewer with `fourier`"):
        model.fit(np.eye(40), np.arange(40) % 2)


@pytest.mark.parametrize("kind", ALL)
def test_predictions_agree_with_each_other(kind: type, cancer: Data) -> None:
    X, y, few = cancer
    model = small(kind).fit(X, few)
    decision, probability = model.decision_function(X), model.predict_proba(X)
    assert decision.shape == (len(X),) and (np.abs(decision) <= 1.0).all()
    np.testing.assert_array_equal(probability[:, 1], 0.5 * (1.0 + decision))
    np.testing.assert_allclose(probability.sum(axis=1), 1.0, atol=1e-15)
    np.testing.assert_array_equal(model.predict(X), (decision > 0.0).astype(int))
    assert model.score(X, y) == np.mean(model.predict(X) == y) > 0.8
    assert model.score(X, few) == np.mean(model.predict(X)[few >= 0] == y[few >= 0])
    assert model.n_features_in_ == 30 and not hasattr(model, "feature_names_in_")


def test_hidden_units_draw_what_no_line_can() -> None:
    random = np.random.RandomState(0)
    X = random.uniform(-1.0, 1.0, (200, 2))
    y = (X[:, 0] * X[:, 1] > 0.0).astype(int)
    few = udeed.mask_labels(y, 100, random_state=0)
    plain, hidden = (udeed.UDEEDClassifier(hidden=units, C=100.0, random_state=0).fit(X, few) for units in (0, 8))
    assert hidden.score(X, y) > plain.score(X, y) + 0.2
    assert not hasattr(hidden, "coef_") and plain.member_coef_.shape == (20, 2)
    assert pickle.loads(pickle.dumps(hidden))._model == hidden._model


def test_history_is_the_descent(cancer: Data) -> None:
    X, _, few = cancer
    model = small(udeed.UDEEDClassifier, steps=7).fit(X, few)
    kept = [step for step in model.history_ if step["accepted"] and step["step"] > 0]
    assert len(kept) == model.n_iter_ > 0
    assert {step["stage"] for step in model.history_} == {"labeled", "unlabeled"}
    for stage in ("labeled", "unlabeled"):
        totals = [step["total"] for step in model.history_ if step["stage"] == stage and step["accepted"]]
        assert totals == sorted(totals, reverse=True)
    for step in model.history_:
        assert step["total"] == pytest.approx(step["empirical"] + step["diversity"])
    assert small(udeed.BaggingClassifier).fit(X, few).history_ == []


@pytest.mark.parametrize("settings", [{"rate": 1.7e308}, {"rate": 1e45, "precision": "single"}])
@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_history_holds_numbers(cancer: Data, settings: dict[str, Any]) -> None:
    X, _, few = cancer
    model = udeed.UDEEDClassifier(random_state=0, **settings).fit(X, few)
    assert model.n_iter_ == 0 and len(model.history_) > 0
    assert all(np.isfinite(step["total"]) and np.isfinite(step["diversity"]) for step in model.history_)
    assert np.isfinite(model.predict_proba(X)).all()


@pytest.mark.parametrize("kind", ALL)
def test_diversity_is_that_of_the_labeled_rows(kind: type, cancer: Data) -> None:
    X, _, few = cancer
    model = small(kind).fit(X, few)
    labeled = few >= 0
    assert model.diversity_ == udeed.diversity(model, X[labeled], few[labeled])
    assert list(model.diversity_) == ["q", "rho", "dis", "df", "ent", "kw", "kappa", "theta", "gd", "cfd"]


@pytest.mark.parametrize("kind", ALL)
def test_copies_are_the_same(kind: type, cancer: Data, tmp_path: Any) -> None:
    X, _, few = cancer
    model = small(kind).fit(X, few)
    joblib.dump(model, tmp_path / "model.joblib")
    for other in (pickle.loads(pickle.dumps(model)), joblib.load(tmp_path / "model.joblib")):
        np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
        assert other.history_ == model.history_ and other.diversity_ == model.diversity_
        assert other._model == model._model
    fresh = clone(model)
    assert fresh.get_params() == model.get_params() and not hasattr(fresh, "classes_")
    # What is pickled holds what became of the rows, which a fit alone does not ask.
    assert pickle.loads(pickle.dumps(fresh.fit(X, few)))._model == model._model


def test_a_damaged_pickle_is_refused(cancer: Data) -> None:
    X, _, few = cancer
    whole = small(udeed.BaggingClassifier).fit(X, few)._model.to_bytes()
    for bytes_ in (b"", b"nonsense", whole[:-3], whole[:100] + b"!" + whole[101:]):
        with pytest.raises(ValueError, match="the model in memory: found"):
            _core.Model.from_bytes(bytes_)


@pytest.mark.parametrize("kind", METHODS)
def test_weights_count(kind: type, cancer: Data) -> None:
    X, _, few = cancer
    ones = np.ones(len(X))
    plain = small(kind).fit(X, few)
    np.testing.assert_array_equal(small(kind).fit(X, few, sample_weight=ones).predict_proba(X), plain.predict_proba(X))
    heavy = small(kind).fit(X, few, sample_weight=np.where(few == 1, 5.0, 1.0))
    assert not np.array_equal(heavy.predict_proba(X), plain.predict_proba(X))
    if kind in (udeed.UDEEDClassifier, udeed.BaggingClassifier):
        assert (heavy.predict(X) == 1).mean() > (plain.predict(X) == 1).mean()
    for bad in (-ones, ones * np.nan, ones[:3], "heavy"):
        with pytest.raises((ValueError, TypeError), match="sample_weight|weight|could not convert"):
            small(kind).fit(X, few, sample_weight=bad)


def test_progress_is_shown_on_standard_error(cancer: Data, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    X, _, few = cancer
    quiet, loud = io.StringIO(), io.StringIO()
    with redirect_stderr(quiet):
        small(udeed.UDEEDClassifier).fit(X, few)
    with redirect_stderr(loud):
        small(udeed.UDEEDClassifier, verbose=True).fit(X, few)
    assert quiet.getvalue() == ""
    assert "members 4/4 [####" in loud.getvalue() and "diversity on unlabeled rows 25/25" in loud.getvalue()


def test_what_is_worth_knowing_is_warned_of() -> None:
    X, y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    with pytest.warns(udeed.UdeedWarning, match="there are no unlabeled rows: variant `lcud` becomes `lcd`"):
        udeed.UDEEDClassifier(random_state=0).fit(X, y)


@pytest.mark.parametrize(
    ("parameter", "value", "rule"),
    [
        ("members", 1, r"int in the range \[2, 4294967295\]"),
        ("members", 2.5, "int"),
        ("members", "many", "int"),
        ("gamma", -0.1, r"float in the range \[0.0, inf\)"),
        ("gamma", float("nan"), r"float in the range \[0.0, inf\)"),
        ("gamma", None, "float"),
        ("C", 0.0, r"float in the range \(0.0, inf\)"),
        ("C", float("inf"), r"float in the range \(0.0, inf\)"),
        ("scaling", "max", r"str among \{.*'minmax'.*\}"),
        ("fourier", -1, r"int in the range \[0, 4294967295\]"),
        ("variant", "LcUd", r"str among \{.*'lcud'.*\}"),
        ("loss", None, "str among"),
        ("hidden", 1001, r"int in the range \[0, 1000\]"),
        ("class_weight", "even", r"dict.*str among \{'balanced'\}"),
        ("initial", 0, "str among"),
        ("rate", -1, r"float in the range \(0.0, inf\)"),
        ("scale_rate", "yes", "bool"),
        ("steps", -1, r"int in the range \[0, 4294967295\]"),
        ("vote", "loud", "str among"),
        ("random_state", -1, "int in the range"),
        ("random_state", "seed", "int in the range"),
        ("n_jobs", 1.5, "int|None"),
        ("verbose", "yes", "int in the range"),
    ],
)
def test_wrong_values_name_the_parameter_the_rule_and_the_value(parameter: str, value: Any, rule: str) -> None:
    model = udeed.UDEEDClassifier(**{parameter: value})
    found = f"The '{parameter}' parameter of UDEEDClassifier must be .*{rule}.* Got .*{value}.* instead"
    with pytest.raises(ValueError, match=found):
        model.fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize(
    ("kind", "parameter", "value"),
    [
        (udeed.BaggingClassifier, "vote", 1),
        (udeed.AdaBoostClassifier, "emphasis", "none"),
        (udeed.AdaBoostClassifier, "zero_error", None),
        (udeed.AssembleClassifier, "labeled_share", 0.0),
        (udeed.SemiBoostClassifier, "percentile", 101),
        (udeed.SemiBoostClassifier, "pick_share", 1.1),
        (udeed.SemiBoostClassifier, "neighbors", -1),
        (udeed.SemiBoostClassifier, "memory", -1),
        (udeed.SelfTrainingClassifier, "confidence", 1.0),
        (udeed.SelfTrainingClassifier, "rounds", -1),
        (udeed.CoForestClassifier, "members", 1),
        (udeed.CoForestClassifier, "tree", "deep"),
        (udeed.CoForestClassifier, "confidence", -0.1),
        (udeed.CoTrainingClassifier, "view", "column"),
        (udeed.CoTrainingClassifier, "pool", 0),
        (udeed.SetredClassifier, "pick_share", 0.0),
        (udeed.SetredClassifier, "significance", 1.0),
        (udeed.SSMBoostClassifier, "margin", "wide"),
        (udeed.SSMBoostClassifier, "unlabeled_weight", -1.0),
        (udeed.RegBoostClassifier, "smoothness", -1.0),
        (udeed.RegBoostClassifier, "neighbors", 0),
        (udeed.RegBoostClassifier, "percentile", 101),
        (udeed.MCSSBClassifier, "width", 0.0),
        (udeed.MCSSBClassifier, "labeled_weight", 0.0),
        (udeed.StackingClassifier, "folds", 1),
        (udeed.UDEEDClassifierCV, "gammas", 1.0),
        (udeed.UDEEDClassifierCV, "cv", "five"),
    ],
)
def test_wrong_values_of_the_other_methods(kind: type, parameter: str, value: Any) -> None:
    with pytest.raises(ValueError, match=f"The '{parameter}' parameter of {kind.__name__} must be"):
        small(kind, **{parameter: value}).fit([[0.0], [1.0]] * 4, [0, 1] * 4)


def test_no_jobs_at_all_are_refused() -> None:
    with pytest.raises(ValueError, match="n_jobs == 0"):
        udeed.UDEEDClassifier(n_jobs=0).fit([[0.0], [1.0]], [0, 1])


def test_numbers_of_numpy_are_numbers() -> None:
    model = udeed.UDEEDClassifier(
        members=np.int64(3), gamma=np.float32(0.5), C=np.float64(2), scale_rate=np.bool_(True), random_state=np.int32(1)
    )
    assert model.fit([[0.0], [1.0], [2.0]], [0, 1, -1]).member_coef_.shape == (3, 1)


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (udeed.BaggingClassifier(base="tree", C=3.0), "`C` does not change the ensemble: only logistic regression"),
        (udeed.AdaBoostClassifier(base=udeed.Tree(depth=1), C=3.0), "`C` does not change the ensemble"),
        (udeed.UDEEDClassifier(variant="lc", gamma=2.0), "`gamma` does not change the ensemble: the variant `lc`"),
        (udeed.UDEEDClassifier(steps=0, rate=0.5), "`rate` does not change the ensemble: there is no descent"),
    ],
)
def test_a_parameter_without_effect_is_named(model: Any, words: str) -> None:
    X, y = np.arange(16.0).reshape(8, 2), [0, 1, 0, 1, 1, 0, -1, -1]
    with pytest.warns(udeed.UdeedWarning, match=re.escape(words)):
        model.fit(X, y)
    # A default is not known from a value that was given.
    defaults = {name: type(model)().get_params()[name] for name in ("C", "gamma", "rate", "features") if hasattr(model, name)}
    with warnings.catch_warnings():
        warnings.filterwarnings("error", message=".*does not change the ensemble")
        model.set_params(**defaults).fit(X, y)
