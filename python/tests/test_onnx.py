"""ONNX graphs say what the models say."""

from __future__ import annotations

import subprocess
import sys
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
SETS = Path(__file__).parents[2] / "crates" / "udeed" / "data"
# Prints the MiB that a graph takes beyond its rows, and how far rows are apart that are the same.
PEAK = """
import pathlib, sys
import numpy as np, onnxruntime

path = pathlib.Path(sys.argv[1])
options = onnxruntime.SessionOptions()
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(path, options)
rows = np.load(path.with_suffix(".npy"))
# Not the peak of `getrusage`, which begins with that of the process before.
peak = lambda: int(pathlib.Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]) / 1024
session.run(["probabilities"], {"X": rows[:569]})
before = peak()
(found,) = session.run(["probabilities"], {"X": rows})
print(peak() - before, np.abs(found.reshape(18, 569, -1) - found[:569]).max())
"""


def run(graph: bytes, rows: dict[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    options = onnxruntime.SessionOptions()
    # More threads than a small graph needs only wait for each other.
    options.intra_op_num_threads = 1
    label, probabilities = onnxruntime.InferenceSession(graph, options).run(["label", "probabilities"], rows)
    return label, probabilities


def agree(model: Any, X: Any, rows: dict[str, np.ndarray]) -> None:
    """What the graph says is what the model says: of many rows, of one, and of none."""
    graph = udeed.to_onnx(model)
    label, probabilities = run(graph, rows)
    expected = model.predict_proba(X)
    assert probabilities.dtype == np.float32
    np.testing.assert_allclose(probabilities, expected, atol=1e-5)
    # Where two classes are as likely but for rounding, either is right.
    first, second = np.sort(expected, axis=1)[:, ::-1][:, :2].T
    clear = first - second > 1e-5
    np.testing.assert_array_equal(label[clear], model.predict(X)[clear])
    _, alone = run(graph, {name: values[:1] for name, values in rows.items()})
    np.testing.assert_allclose(alone, probabilities[:1], atol=1e-6)
    label, nothing = run(graph, {name: values[:0] for name, values in rows.items()})
    assert label.shape == (0,)
    assert nothing.shape == (0, expected.shape[1])


def check(model: Any, X: np.ndarray) -> None:
    """The same of rows of numbers."""
    agree(model, X, {"X": X})


def built_in(name: str) -> tuple[np.ndarray, np.ndarray]:
    """The rows of a set that comes with the library, and a third of its labels."""
    frame = pd.read_csv(SETS / f"{name}.csv.gz")
    y = frame.iloc[:, -1].to_numpy(object)
    return frame.iloc[:, :-1].to_numpy(np.float32), udeed.mask_labels(y, len(y) // 3, random_state=0, unlabeled="?")


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


@pytest.mark.parametrize("kind", [udeed.UDEEDClassifier, udeed.BaggingClassifier, udeed.AdaBoostClassifier])
def test_calibrated_probabilities(kind: type, cancer: Data, iris: Data) -> None:
    for (X, _, few), unlabeled in ((cancer, -1), (iris, "?")):
        model = small(kind, calibrated=True, unlabeled=unlabeled).fit(X.astype(np.float32), few)
        assert model._model.is_calibrated
        check(model, X.astype(np.float32))


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
def test_every_base_learner(kind: type, base: str, cancer: Data, iris: Data) -> None:
    X, _, few = cancer
    X = X.astype(np.float32)
    X[::7, 3] = np.nan
    check(small(kind, base=base).fit(X, few), X)
    X, _, few = iris
    X = X.astype(np.float32)
    check(small(kind, base=base, unlabeled="?").fit(X, few), X)


@pytest.mark.parametrize("kind", [udeed.CoForestClassifier, udeed.ExtraTreesClassifier, udeed.StackingClassifier])
def test_forests_and_stacks(kind: type, cancer: Data, iris: Data) -> None:
    X, _, few = cancer
    X = X.astype(np.float32)
    check(small(kind).fit(X, few), X)
    X, _, few = iris
    X = X.astype(np.float32)
    check(small(kind, unlabeled="?").fit(X, few), X)


def test_hidden_units(cancer: Data, iris: Data) -> None:
    X, _, few = cancer
    X = X.astype(np.float32)
    check(small(udeed.UDEEDClassifier, hidden=3).fit(X, few), X)
    X, _, few = iris
    X = X.astype(np.float32)
    check(small(udeed.UDEEDClassifier, hidden=3, unlabeled="?").fit(X, few), X)


@pytest.mark.parametrize("views", [["linear"], ["relevance"], ["laplace"], ["narrow"], ["spectral"], ["trees"], None])
@pytest.mark.parametrize("prior", [None, "labeled"])
def test_every_view(views: list[str] | None, prior: str | None, cancer: Data, iris: Data) -> None:
    own = {} if views is None else {"views": views}
    X, _, few = cancer
    X = X.astype(np.float32)
    X[::7, 3] = np.nan
    check(small(udeed.UDEEDAutoClassifier, prior=prior, **own).fit(X, few), X)
    # Rows that nobody has seen, some far from all others.
    model = small(udeed.UDEEDAutoClassifier, prior=prior, **own).fit(X[::2], few[::2])
    check(model, X[1::2] * np.geomspace(0.5, 100.0, len(X[1::2]), dtype=np.float32)[:, None])
    X, _, few = iris
    X = X.astype(np.float32)
    check(small(udeed.UDEEDAutoClassifier, prior=prior, unlabeled="?", **own).fit(X, few), X)


@pytest.mark.parametrize("views", [["linear"], ["relevance", "laplace"], ["narrow", "trees"], None])
def test_views_of_many_classes(views: list[str] | None) -> None:
    random = np.random.default_rng(0)
    y = np.arange(480) % 12
    X = (2.0 * random.normal(size=(12, 6))[y] + random.normal(size=(480, 6))).astype(np.float32)
    own = {} if views is None else {"views": views}
    check(small(udeed.UDEEDAutoClassifier, **own).fit(X, np.where(np.arange(480) < 120, y, -1)), X)


def test_weights_and_thresholds_of_auto_are_kept(cancer: Data, iris: Data) -> None:
    X, _, few = cancer
    X = X.astype(np.float32)
    weighed = small(udeed.UDEEDAutoClassifier, class_weight={0: 5.0, 1: 1.0}).fit(X, few)
    check(weighed, X)
    assert (weighed.predict(X) != small(udeed.UDEEDAutoClassifier).fit(X, few).predict(X)).any()
    model = small(udeed.UDEEDAutoClassifier, threshold=0.9).fit(X, few)
    check(model, X)
    assert (model.predict(X) != (model.decision_function(X) >= 0.0)).any()
    X, _, few = iris
    check(small(udeed.UDEEDAutoClassifier, class_weight="balanced", unlabeled="?").fit(X, few), X.astype(np.float32))


@pytest.mark.parametrize("name", ["diabetes", "house", "ionosphere", "labor", "sonar", "vote", "wdbc"])
@pytest.mark.parametrize(
    ("kind", "parameters"),
    [
        (udeed.UDEEDAutoClassifier, {}),
        (udeed.ExtraTreesClassifier, {}),
        (udeed.BaggingClassifier, {"base": "neighbors"}),
        (udeed.AdaBoostClassifier, {"base": "tree"}),
        (udeed.TriTrainingClassifier, {"base": "bayes"}),
        (udeed.StackingClassifier, {}),
    ],
)
def test_sets_that_come_with_the_library(kind: type, parameters: dict[str, Any], name: str) -> None:
    X, few = built_in(name)
    check(small(kind, unlabeled="?", **parameters).fit(X, few), X)


def test_points_that_are_equally_near() -> None:
    """Corners of a cube, many of them several times: which are nearest is a matter of their order."""
    random = np.random.RandomState(0)
    X = random.randint(0, 3, (400, 6)).astype(np.float32)
    y = (X.sum(axis=1) + random.randint(0, 2, 400) > 6).astype(int)
    few = udeed.mask_labels(y, 100, random_state=0)
    new = random.randint(0, 5, (200, 6)).astype(np.float32) / 2
    check(small(udeed.UDEEDAutoClassifier, views=["spectral"]).fit(X, few), new)
    check(small(udeed.BaggingClassifier, base="neighbors").fit(X, few), new)


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not tell the peak")
def test_memory_does_not_grow_with_the_rows(cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    model = small(udeed.UDEEDAutoClassifier).fit(X, few)
    many = np.tile(X.astype(np.float32), (18, 1))
    udeed.to_onnx(model, tmp_path / "model.onnx")
    np.save(tmp_path / "model.npy", many)
    line = [sys.executable, "-c", PEAK, tmp_path / "model.onnx"]
    peak, apart = map(float, subprocess.run(line, capture_output=True, check=True, text=True).stdout.split())
    # All differences of rows and labeled rows at once would be 10 242 x 40 x 30 numbers: 94 MiB.
    assert peak < 60.0
    assert apart < 1e-6


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


@pytest.mark.parametrize("kind", [udeed.UDEEDClassifier, udeed.ExtraTreesClassifier, udeed.UDEEDAutoClassifier])
def test_columns_of_words_have_inputs_of_their_own(kind: type) -> None:
    random = np.random.RandomState(0)
    frame = pd.DataFrame(
        {
            "size": np.append(random.normal(size=38).astype(np.float32), [np.nan, 9.0]),
            "colour": [*random.choice(["red", "blue", "black"], 39), None],
            "ok": random.randint(0, 2, 40),
        }
    )
    y = (frame["size"].fillna(0.0) + (frame["colour"] == "red") > 0.5).astype(int).to_numpy()
    model = small(kind).fit(frame, np.where(np.arange(40) % 3 == 0, -1, y))
    new = pd.DataFrame({"size": [4.0, np.nan, 9.0], "colour": ["green", "blue", None], "ok": [1, 0, 1]})
    for some in (frame, new):
        rows = {name: some[[name]].to_numpy(np.float32) for name in ("size", "ok")}
        rows["colour"] = some[["colour"]].fillna("").to_numpy(object)
        agree(model, some, rows)


@pytest.mark.parametrize(
    ("kind", "parameters"),
    [(udeed.UDEEDClassifier, {}), (udeed.UDEEDAutoClassifier, {}), (udeed.BaggingClassifier, {"base": "neighbors"})],
)
def test_sparse_models_take_dense_rows(kind: type, parameters: dict[str, Any], cancer: Data) -> None:
    from scipy import sparse

    X, _, few = cancer
    X = np.where(X > np.median(X, axis=0), X, 0.0).astype(np.float32)
    check(small(kind, **parameters).fit(sparse.csr_matrix(X), few), X)


@command.needs_command
def test_the_command_writes_the_same_graph(cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    model = small(udeed.UDEEDClassifier).fit(X, few)
    model.save(tmp_path / "model")
    command.run("export", tmp_path / "model", "--onnx", tmp_path / "theirs.onnx")
    graph = udeed.to_onnx(model, tmp_path / "ours.onnx")
    assert (tmp_path / "theirs.onnx").read_bytes() == (tmp_path / "ours.onnx").read_bytes() == graph


def test_what_has_no_graph_is_refused() -> None:
    with pytest.raises(TypeError, match="`estimator` is a LogisticRegression, expected an estimator of udeed"):
        udeed.to_onnx(LogisticRegression())
