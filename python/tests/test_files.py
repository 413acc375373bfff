"""Model files: the command's and the package's are the same."""

from __future__ import annotations

import inspect
import json
from pathlib import Path
from typing import Any

import command
import numpy as np
import pandas as pd
import pytest
import udeed
from estimators import BASED, METHODS, small
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import roc_auc_score

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


@pytest.mark.parametrize("kind", METHODS)
def test_a_saved_model_is_the_same_when_loaded(kind: type, cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    own = {"C": 2.0} if "C" in inspect.signature(kind).parameters else {}
    model = small(kind, **own).fit(X, few)
    path = tmp_path / "model.safetensors"
    model.save(path)
    other = udeed.load(path)
    assert type(other) is kind and other.random_state == 0
    assert {name: getattr(other, name) for name in own} == own
    np.testing.assert_array_equal(other.predict_proba(X), model.predict_proba(X))
    assert other._model == model._model
    assert other.classes_.tolist() == [0, 1] and other.n_features_in_ == 30 and other.n_iter_ == model.n_iter_
    assert [step["total"] for step in other.history_[-1:]] == [step["total"] for step in model.history_[-1:]]
    other.save(tmp_path / "again.safetensors")
    assert (tmp_path / "again.safetensors").read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("classes", "loaded"),
    [
        ([0, 1], [0, 1]),
        ([-1.0, 2.0], [-1, 2]),
        (["no", "yes"], ["no", "yes"]),
        (["10", "9"], ["10", "9"]),
        (["1_1", "2_2"], ["1_1", "2_2"]),
        (["01", "2"], ["01", "2"]),
        ([" 1", "2"], [" 1", "2"]),
        (["inf", "nan"], ["inf", "nan"]),
        ([False, True], [False, True]),
    ],
)
def test_classes_come_back(classes: list[Any], loaded: list[Any], tmp_path: Path) -> None:
    X, y = np.repeat([[0.0], [1.0]], 3, axis=0), np.repeat(classes, 3)
    model = small(udeed.BaggingClassifier, unlabeled=None, C=100.0).fit(X, y)
    model.save(tmp_path / "model")
    assert udeed.load(tmp_path / "model").predict(X).tolist() == np.repeat(loaded, 3).tolist()
    given = udeed.load(tmp_path / "model", classes=["first", "second"])
    assert given.predict(X).tolist() == ["first"] * 3 + ["second"] * 3
    with pytest.raises(ValueError, match="`classes` has 3 values, expected 2"):
        udeed.load(tmp_path / "model", classes=[1, 2, 3])


def test_a_class_minus_one_is_still_a_class_when_loaded(tmp_path: Path) -> None:
    X, y = np.arange(8.0).reshape(8, 1), np.repeat([-1, 1], 4)
    model = small(udeed.BaggingClassifier, unlabeled=None, C=100.0).fit(X, y)
    model.save(tmp_path / "model")
    other = udeed.load(tmp_path / "model")
    assert other.classes_.tolist() == [-1, 1] and other.unlabeled is None
    # A quarter of the rows is wrong; were -1 unlabeled, it would be half of those of the class 1.
    wrong = np.where(np.arange(8) >= 6, -1, y)
    assert other.score(X, wrong) == model.score(X, wrong) == 0.75
    assert udeed.diversity(other, X, y) == udeed.diversity(model, X, y)
    np.testing.assert_array_equal(other.fit(X, y).coef_, model.coef_)
    # Where -1 is no class it means none, as by default.
    small(udeed.BaggingClassifier).fit(X, y + 1).save(tmp_path / "other")
    assert udeed.load(tmp_path / "other").unlabeled == -1


def test_files_that_are_no_models_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        udeed.load(tmp_path / "missing")
    (tmp_path / "text").write_text("not a model")
    with pytest.raises(ValueError, match="text: found .*, expected a model written by udeed"):
        udeed.load(tmp_path / "text")
    model = small(udeed.BaggingClassifier).fit([[0.0], [1.0]], [0, 1])
    with pytest.raises(OSError, match="cannot"):
        model.save(tmp_path / "no" / "folder")
    with pytest.raises(NotFittedError):
        udeed.BaggingClassifier().save(tmp_path / "model")


@command.needs_command
@pytest.mark.parametrize("kind", METHODS)
def test_the_command_predicts_what_the_package_predicts(kind: type, cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(30)])
    model = small(kind, unlabeled="?").fit(frame, np.where(few == -1, "?", np.where(few == 1, "good", "bad")))
    model.save(tmp_path / "model")
    frame.to_csv(tmp_path / "rows.csv", index=False)
    classes, probabilities = command.predictions(tmp_path / "model", tmp_path / "rows.csv")
    assert classes == model.predict(frame).tolist()
    np.testing.assert_array_equal(probabilities, model.predict_proba(frame))


@command.needs_command
@pytest.mark.parametrize("kind", METHODS)
def test_a_seed_means_the_same_to_the_command(kind: type, cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(30)])
    labels = np.where(few == -1, "", few.astype(str))
    frame.assign(label=labels).to_csv(tmp_path / "rows.csv", index=False)
    fit = ("fit", tmp_path / "rows.csv", "--label", "label", "--folds", 0, "--out", tmp_path / "model")
    members = ("--members", 4) if "members" in kind().get_params() else ()
    command.run(*fit, "--method", kind._method, *members, "--seed", 7)
    theirs = udeed.load(tmp_path / "model")
    ours = small(kind, random_state=7).fit(frame, few)
    assert type(theirs) is kind and theirs.classes_.tolist() == [0, 1]
    assert theirs.feature_names_in_.tolist() == frame.columns.tolist()
    np.testing.assert_array_equal(theirs.predict_proba(frame), ours.predict_proba(frame))


@command.needs_command
@pytest.mark.parametrize("base", ["logistic", "tree"])
@pytest.mark.parametrize("kind", METHODS)
def test_three_classes_go_either_way(kind: type, base: str, iris: Data, tmp_path: Path) -> None:
    X, _, few = iris
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    frame.assign(label=np.where(few == "?", "", few)).to_csv(tmp_path / "rows.csv", index=False)
    own, given = ({"base": base}, ("--base", base)) if kind in BASED else ({}, ())
    ours = small(kind, unlabeled="?", **own).fit(frame, few)
    ours.save(tmp_path / "ours")
    members = ("--members", 4) if "members" in kind().get_params() else ()
    fit = ("fit", tmp_path / "rows.csv", "--label", "label", "--folds", 0, "--out", tmp_path / "theirs")
    command.run(*fit, "--method", kind._method, *members, *given)
    theirs = udeed.load(tmp_path / "theirs")
    assert type(theirs) is kind and theirs.classes_.tolist() == ["setosa", "versicolor", "virginica"]
    for name, model in (("ours", ours), ("theirs", theirs)):
        classes, probabilities = command.predictions(tmp_path / name, tmp_path / "rows.csv")
        assert classes == model.predict(frame).tolist()
        np.testing.assert_array_equal(probabilities, model.predict_proba(frame))
    np.testing.assert_array_equal(theirs.predict_proba(frame), ours.predict_proba(frame))


@command.needs_command
def test_columns_of_words_go_either_way(tmp_path: Path) -> None:
    text = "mass,colour,kind\n150,red,apple\n162,green,apple\n171,,apple\n120,orange,orange\n,orange,orange\n140,red,\n"
    (tmp_path / "fruit.csv").write_text(text)
    frame = pd.read_csv(tmp_path / "fruit.csv")
    rows = frame[["mass", "colour"]]
    command.run("fit", tmp_path / "fruit.csv", "--label", "kind", "--folds", 0, "--out", tmp_path / "theirs")
    model = udeed.load(tmp_path / "theirs")
    classes, probabilities = command.predictions(tmp_path / "theirs", tmp_path / "fruit.csv")
    assert model.predict(rows).tolist() == classes
    np.testing.assert_array_equal(model.predict_proba(rows), probabilities)
    ours = udeed.UDEEDClassifier(random_state=0, unlabeled=np.nan).fit(rows, frame["kind"])
    ours.save(tmp_path / "ours")
    classes, probabilities = command.predictions(tmp_path / "ours", tmp_path / "fruit.csv")
    assert ours.predict(rows).tolist() == classes
    np.testing.assert_array_equal(ours.predict_proba(rows), probabilities)


@command.needs_command
@pytest.mark.parametrize("seed", [2**32, 2**64 - 1])
@pytest.mark.parametrize("kind", [udeed.UDEEDClassifier, udeed.UDEEDClassifierCV])
def test_seeds_beyond_numpys_are_those_of_the_command(kind: type, seed: int, cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    frame = pd.DataFrame(X, columns=[f"column {i}" for i in range(30)])
    frame.assign(label=np.where(few == -1, "", few.astype(str))).to_csv(tmp_path / "rows.csv", index=False)
    fit = ("fit", tmp_path / "rows.csv", "--label", "label", "--folds", 0, "--out", tmp_path / "model")
    command.run(*fit, "--members", 4, "--seed", seed)
    theirs = udeed.load(tmp_path / "model")
    assert theirs.random_state == seed
    # It can be fitted again, to the same model, and is not that of a seed cut short.
    expected = theirs.predict_proba(frame)
    np.testing.assert_array_equal(clone(theirs).fit(frame, few).predict_proba(frame), expected)
    if kind is udeed.UDEEDClassifier:
        assert not np.array_equal(small(kind, random_state=seed % 2**32).fit(frame, few).predict_proba(frame), expected)
    else:
        search = small(kind, random_state=seed, scalings=("minmax",)).fit(frame, few)
        assert search.best_score_ == small(kind, random_state=seed, scalings=("minmax",)).fit(frame, few).best_score_


@command.needs_command
@pytest.mark.parametrize("kind", [udeed.UDEEDClassifier, udeed.AdaBoostClassifier, udeed.CoForestClassifier])
def test_the_commands_auc_is_scikit_learns(kind: type, tmp_path: Path) -> None:
    random = np.random.default_rng(5)
    y = np.array(["a", "b", "c"])[random.integers(0, 3, 150)]
    frame = pd.DataFrame(random.normal(size=(150, 3)) + 0.7 * (y == "b")[:, None], columns=["x", "y", "z"])
    frame["z"] -= y == "c"
    model = small(kind).fit(frame[:60], y[:60])
    model.save(tmp_path / "model")
    frame[60:].assign(label=y[60:]).to_csv(tmp_path / "rows.csv", index=False)
    figures = json.loads(command.run("evaluate", tmp_path / "model", tmp_path / "rows.csv", "--label", "label", "--json"))
    expected = roc_auc_score(y[60:], model.predict_proba(frame[60:]), multi_class="ovr", average="macro")
    assert 0.5 < expected < 0.99
    assert figures["auc"] == pytest.approx(expected, abs=1e-12)


@command.needs_command
def test_labels_with_leading_zeros_are_text_to_both(tmp_path: Path) -> None:
    codes = ["007", "7", "08"] * 8
    frame = pd.DataFrame({"x": [0.0, 1.0, 2.0] * 8, "z": np.arange(24.0)})
    frame.assign(code=codes).to_csv(tmp_path / "rows.csv", index=False)
    fit = ("fit", tmp_path / "rows.csv", "--label", "code", "--folds", 0, "--out", tmp_path / "theirs")
    command.run(*fit, "--members", 4)
    theirs = udeed.load(tmp_path / "theirs")
    ours = small(udeed.UDEEDClassifier).fit(frame, codes)
    assert theirs.classes_.tolist() == ours.classes_.tolist() == ["007", "08", "7"]
    np.testing.assert_array_equal(theirs.predict_proba(frame), ours.predict_proba(frame))
    ours.save(tmp_path / "ours")
    figures = json.loads(command.run("evaluate", tmp_path / "ours", tmp_path / "rows.csv", "--label", "code", "--json"))
    assert figures["accuracy"] == ours.score(frame, codes)
