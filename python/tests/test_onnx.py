"""ONNX graphs say what the models say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import command
import numpy as np
import pandas as pd
import pytest
import udeed
from estimators import BASED, LINEAR, small
from sklearn.linear_model import LogisticRegression

onnxruntime = pytest.importorskip("onnxruntime")
pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def run(graph: bytes, rows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    options = onnxruntime.SessionOptions()
    # More threads than a small graph needs only wait for each other.
    options.intra_op_num_threads = 1
    label, probabilities = onnxruntime.InferenceSession(graph, options).run(["label", "probabilities"], rows)
    return label, probabilities


def check(model: Any, X: np.ndarray) -> None:
    """What the graph says is what the model says."""
    label, probabilities = run(udeed.to_onnx(model), {"X": X})
    assert probabilities.dtype == np.float32
    np.testing.assert_array_equal(label, model.predict(X))
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


@pytest.mark.parametrize("scaling", ["minmax", "standard", "none"])
@pytest.mark.parametrize("kind", LINEAR)
def test_every_method(kind: type, scaling: str, cancer: Data, iris: Data) -> None:
    X, _, few = cancer
    X = (X / X.max(axis=0)).astype(np.float32)
    X[::7, 3] = np.nan
    check(small(kind, scaling=scaling).fit(X, few), X)
    X, _, few = iris
    X = X.astype(np.float32)
    X[::7, 3] = np.nan
    check(small(kind, scaling=scaling, unlabeled="?").fit(X, few), X)


@pytest.mark.parametrize("kind", [udeed.UDEEDClassifier, udeed.BaggingClassifier])
def test_votes_of_one_voice_each(kind: type, cancer: Data, iris: Data) -> None:
    X, _, few = cancer
    X = X.astype(np.float32)
    check(small(kind, vote="unweighted").fit(X, few), X)
    X, _, few = iris
    X = X.astype(np.float32)
    model = small(kind, vote="unweighted", unlabeled="?").fit(X, few)
    check(model, X)
    # Far away no class may have a voice.
    far = np.random.RandomState(0).normal(0.0, 100.0, (200, 4)).astype(np.float32)
    check(model, far)


def test_stacks_of_linear_members(cancer: Data, iris: Data) -> None:
    bases = ("logistic", "logistic")
    X, _, few = cancer
    X = X.astype(np.float32)
    check(small(udeed.StackingClassifier, bases=bases).fit(X, few), X)
    X, _, few = iris
    X = X.astype(np.float32)
    check(small(udeed.StackingClassifier, bases=bases, unlabeled="?").fit(X, few), X)


def test_a_threshold_is_kept(cancer: Data) -> None:
    X, _, few = cancer
    X = X.astype(np.float32)
    model = small(udeed.UDEEDClassifier, threshold=0.4).fit(X, few)
    check(model, X)
    assert (model.predict(X) != (model.decision_function(X) >= 0.0)).any()


@pytest.mark.parametrize("kind", LINEAR)
def test_fourier_features(kind: type, cancer: Data, iris: Data) -> None:
    X, _, few = cancer
    X = X.astype(np.float32)
    X[::7, 3] = np.nan
    parameters = {"scaling": "standard", "C": 10.0, "fourier": 100}
    check(small(kind, **parameters).fit(X, few), X)
    X, _, few = iris
    X = X.astype(np.float32)
    check(small(kind, **parameters, unlabeled="?").fit(X, few), X)


@pytest.mark.parametrize("base", ["tree", "neighbors", "bayes"])
@pytest.mark.parametrize("kind", BASED)
def test_members_that_are_not_linear_are_refused(kind: type, base: str, iris: Data) -> None:
    X, _, few = iris
    model = small(kind, base=base, unlabeled="?").fit(X, few)
    with pytest.raises(ValueError, match=f"the model: found members of `{kind._method}` that are not linear scores"):
        udeed.to_onnx(model)


@pytest.mark.parametrize("kind", [udeed.CoForestClassifier, udeed.StackingClassifier, udeed.UDEEDClassifier])
def test_trees_and_hidden_units_are_refused(kind: type, cancer: Data) -> None:
    X, _, few = cancer
    model = small(kind, **({"hidden": 3} if kind is udeed.UDEEDClassifier else {})).fit(X, few)
    with pytest.raises(ValueError, match="not linear scores, expected linear members, which ONNX can express"):
        udeed.to_onnx(model)


@pytest.mark.parametrize(
    ("classes", "kind"),
    [(["ham", "späm"], object), ([-5, 10**12], np.int64), ([0.5, 1.5], object), (["10", "9"], np.int64)]
    + [(["1_1", "2_2"], object), (["01", "1"], object), ([" 1", "2"], object), (["+1", "2"], object)],
)
def test_labels_are_integers_or_text(classes: list[Any], kind: Any) -> None:
    X = np.arange(6, dtype=np.float32).reshape(6, 1)
    y = np.repeat(np.array(classes, dtype=object), 3)
    if classes == [0.5, 1.5]:
        y = y.astype(str)
    model = small(udeed.BaggingClassifier, unlabeled=None).fit(X, y)
    label, _ = run(udeed.to_onnx(model), {"X": X})
    assert label.dtype == kind
    assert [str(value) for value in label] == [str(value) for value in model.predict(X)]


def test_columns_of_words_have_inputs_of_their_own() -> None:
    frame = pd.DataFrame(
        {"size": [1.0, 2.0, 8.0, 9.0, np.nan], "colour": ["red", "blue", "red", None, "blue"], "ok": [0, 1, 1, 1, 0]}
    )
    model = small(udeed.UDEEDClassifier).fit(frame, [0, 0, 1, 1, -1])
    new = pd.DataFrame({"size": [4.0, np.nan, 9.0], "colour": ["green", "blue", None], "ok": [1, 0, 1]})
    rows = {name: new[[name]].to_numpy(np.float32) for name in ("size", "ok")}
    rows["colour"] = new[["colour"]].fillna("").to_numpy(object)
    label, probabilities = run(udeed.to_onnx(model), rows)
    np.testing.assert_array_equal(label, model.predict(new))
    np.testing.assert_allclose(probabilities, model.predict_proba(new), atol=1e-5)


def test_sparse_models_take_dense_rows(cancer: Data) -> None:
    from scipy import sparse

    X, _, few = cancer
    X = np.where(X > np.median(X, axis=0), X, 0.0).astype(np.float32)
    model = small(udeed.UDEEDClassifier).fit(sparse.csr_matrix(X), few)
    _, probabilities = run(udeed.to_onnx(model), {"X": X})
    np.testing.assert_allclose(probabilities, model.predict_proba(X), atol=1e-5)


@command.needs_command
def test_the_command_writes_the_same_graph(cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    model = small(udeed.UDEEDClassifier).fit(X, few)
    model.save(tmp_path / "model")
    command.run("export", tmp_path / "model", "--onnx", tmp_path / "theirs.onnx")
    graph = udeed.to_onnx(model, tmp_path / "ours.onnx")
    assert (tmp_path / "theirs.onnx").read_bytes() == (tmp_path / "ours.onnx").read_bytes() == graph


def test_what_has_no_graph_is_refused() -> None:
    with pytest.raises(TypeError, match="`estimator` is LogisticRegression, expected a fitted estimator of udeed"):
        udeed.to_onnx(LogisticRegression())
