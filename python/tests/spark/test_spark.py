"""udeed.spark on a real Spark."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import udeed
from pyspark.ml import Pipeline, PipelineModel
from pyspark.ml.evaluation import MulticlassClassificationEvaluator
from pyspark.ml.feature import VectorAssembler
from pyspark.ml.linalg import Vectors
from pyspark.ml.tuning import ParamGridBuilder
from pyspark.sql import functions as F
from scipy import sparse
from udeed import distributed
from udeed import spark as of_spark
from udeed._kinds import CARDS
from udeed.spark import _features, _files, _fit, _params, _work

from conftest import CONNECT

NAMES = [name for name in of_spark.__all__ if name.endswith("Classifier")]
random = np.random.RandomState(0)
N = 600
X = np.round(random.randn(N, 6) * (random.rand(N, 6) < 0.6), 6)
Y = np.where(np.arange(N) % 12 == 0, (X[:, 0] + X[:, 1] > 0).astype(float), np.nan)
# Like the rows of adult: words, whole numbers, and values that are missing.
ADULT = pd.DataFrame(
    {
        "age": np.round(random.rand(N) * 60 + 17).astype(np.int32),
        "work.class": random.choice(["private", "state", "self"], N),
        "gain": np.where(random.rand(N) < 0.2, np.nan, random.rand(N) * 1e4),
        "married": random.rand(N) < 0.5,
        "income": np.where(np.arange(N) % 12 == 0, np.where(random.rand(N) < 0.5, ">50K", "<=50K"), "?"),
    }
)
ADULT.loc[random.rand(N) < 0.1, "work.class"] = None


def vectors(spark: Any, X: Any = X, Y: Any = Y, partitions: int = 4) -> Any:
    """A frame of vectors, sparse where the rows are, in the order of the rows."""
    if sparse.issparse(X):
        rows = [Vectors.sparse(X.shape[1], X[[i]].indices.tolist(), X[[i]].data.tolist()) for i in range(X.shape[0])]
    else:
        rows = [Vectors.dense(row) for row in X]
    table = [(i, row, float(label)) for i, (row, label) in enumerate(zip(rows, Y, strict=True))]
    # The same rows in the same partitions, in the same order, whoever makes them.
    return (
        spark.createDataFrame(table, ["id", "features", "label"]).repartitionByRange(partitions, "id").sortWithinPartitions("id")
    )


def small(**others: Any) -> dict[str, Any]:
    # So that the descent takes its steps.
    return {"members": 5, "steps": 6, "gamma": 3.0, "seed": 1, **others}


def local_of(parameters: dict[str, Any], name: str = "UDEEDClassifier", **others: Any) -> Any:
    given = {"random_state" if key == "seed" else key: value for key, value in parameters.items()}
    return getattr(udeed, name)(**given, **others)


def probabilities(model: Any, frame: Any) -> np.ndarray:
    found = model.transform(frame).select("id", "probability").collect()
    return np.array([row[1].toArray() for row in sorted(found, key=lambda row: row[0])])


def bits(model: Any) -> list[float]:
    return model.toLocal().member_coef_.ravel().tolist()


@pytest.mark.parametrize("scaling", ["minmax", "standard"])
@pytest.mark.parametrize("kind", ["vectors", "arrays", "sparse"])
def test_it_is_the_local_fit(spark: Any, kind: str, scaling: str) -> None:
    rows: Any = sparse.csr_array(np.abs(X)) if kind == "sparse" else X
    frame = vectors(spark, rows)
    if kind == "arrays":
        table = [(i, row.tolist(), float(label)) for i, (row, label) in enumerate(zip(X, Y, strict=True))]
        frame = spark.createDataFrame(table, ["id", "features", "label"]).repartitionByRange(3, "id").sortWithinPartitions("id")
    model = of_spark.UDEEDClassifier(**small(scaling=scaling)).fit(frame)
    expected = local_of(small(scaling=scaling), unlabeled=np.nan).fit(rows, Y)
    np.testing.assert_allclose(model.toLocal().predict_proba(rows), expected.predict_proba(rows), rtol=0.0, atol=1e-9)
    np.testing.assert_allclose(probabilities(model, frame), expected.predict_proba(rows), rtol=0.0, atol=1e-9)
    assert [step["stage"] for step in model.history] == [step["stage"] for step in expected.history_]
    assert expected.n_iter_ == 12


def adult(spark: Any) -> Any:
    # By JSON, which has nulls and no NaN.
    rows = [(i, *(None if pd.isna(value) else value for value in row)) for i, row in enumerate(ADULT.itertuples(index=False))]
    kinds = "id long, age int, `work.class` string, gain double, married boolean, income string"
    return spark.createDataFrame(rows, kinds).repartitionByRange(3, "id").sortWithinPartitions("id")


def test_columns_of_words(spark: Any) -> None:
    frame, features = adult(spark), list(ADULT.columns[:4])
    estimator = of_spark.UDEEDClassifier(
        **small(unlabeled="?"), labelCol="income", featuresCols=features, predictionLabelCol="found"
    )
    model = estimator.fit(frame)
    expected = local_of(small(unlabeled="?")).fit(ADULT[features], ADULT["income"])
    np.testing.assert_allclose(probabilities(model, frame), expected.predict_proba(ADULT[features]), rtol=0.0, atol=1e-9)
    found = model.transform(frame).orderBy("id").select("found", "prediction", "`work.class`").collect()
    classes = expected.predict(ADULT[features])
    assert [row[0] for row in found] == classes.tolist()
    assert [row[1] for row in found] == np.searchsorted(expected.classes_, classes).tolist()
    assert [row[2] is None for row in found] == ADULT["work.class"].isna().tolist()
    assert model.classes.tolist() == ["<=50K", ">50K"] and (model.numClasses, model.numFeatures) == (2, 4)


@pytest.mark.parametrize("name", NAMES)
def test_every_estimator(spark: Any, name: str, tmp_path: Path) -> None:
    frame = vectors(spark)
    estimator = (
        getattr(of_spark, name)(members=5, seed=1) if name != "StackingClassifier" else of_spark.StackingClassifier(seed=1)
    )
    model = estimator.fit(frame)
    given = {"random_state": 1} if name == "StackingClassifier" else {"members": 5, "random_state": 1}
    expected = getattr(udeed, name)(**given, unlabeled=np.nan).fit(X, Y)
    np.testing.assert_allclose(probabilities(model, frame), expected.predict_proba(X), rtol=0.0, atol=1e-9)
    found = model.transform(frame).orderBy("id").select("prediction", "rawPrediction").collect()
    assert [row[0] for row in found] == expected.predict(X).tolist()
    np.testing.assert_allclose([row[1][1] for row in found], expected.decision_function(X), rtol=0.0, atol=1e-9)
    model.write().save(str(tmp_path / "model"))
    with pytest.raises(Exception, match="(?i)exists"):
        model.write().save(str(tmp_path / "model"))
    model.write().overwrite().save(str(tmp_path / "model"))
    again = type(model).load(str(tmp_path / "model"))
    assert again.uid == model.uid and again.classes.dtype == model.classes.dtype
    np.testing.assert_array_equal(probabilities(again, frame), probabilities(model, frame))
    ordinary = udeed.load(tmp_path / "model" / "model.safetensors")
    np.testing.assert_array_equal(ordinary.predict_proba(X), model.toLocal().predict_proba(X))
    estimator.write().overwrite().save(str(tmp_path / "estimator"))
    assert type(estimator).load(str(tmp_path / "estimator")).getOrDefault("seed") == 1
    with pytest.raises(ValueError, match="holds a "):
        of_spark.UDEEDClassifier.load(str(tmp_path / "model"))


def test_the_command_reads_the_model(spark: Any, tmp_path: Path) -> None:
    if "UDEED_COMMAND" not in os.environ:
        pytest.skip("UDEED_COMMAND names no command")
    of_spark.UDEEDClassifier(**small()).fit(vectors(spark)).save(str(tmp_path / "model"))
    text = subprocess.run(
        [os.environ["UDEED_COMMAND"], "inspect", tmp_path / "model" / "model.safetensors"], capture_output=True, text=True
    )
    assert text.returncode == 0 and "550 unlabeled" in text.stdout, text


def test_the_classes_are_those_of_methods_that_stream() -> None:
    assert {card["python"] for card in CARDS.values() if card["streams"]} == set(NAMES)
    for name in NAMES:
        own, model = getattr(of_spark, name), getattr(of_spark, f"{name}Model")
        expected = set(_params.settings_of(getattr(udeed, name))) | {"seed", "featuresCol", "labelCol", "weightCol"}
        assert expected <= {param.name for param in own().params} and own.model_class is model
        assert all(param.doc for param in own().params)
        assert name in own.__doc__ and own.__module__ == "udeed.spark"
    for card in CARDS.values():
        if not card["streams"]:
            with pytest.raises(ImportError, match=f"{card['python']} needs all rows in memory at once"):
                getattr(of_spark, card["python"])
    with pytest.raises(AttributeError):
        of_spark.nothing  # noqa: B018


def processes_below(parent: int) -> dict[int, str]:
    """Commands of the processes that some process has started, and that these have."""
    found: dict[int, tuple[int, str]] = {}
    for path in Path("/proc").glob("[0-9]*"):
        try:
            stat, command = (path / "stat").read_text(), (path / "cmdline").read_text()
        except OSError:
            continue
        found[int(path.name)] = int(stat.rpartition(")")[2].split()[1]), command

    def is_below(number: int) -> bool:
        return number in found and (found[number][0] == parent or is_below(found[number][0]))

    return {number: command for number, (_, command) in found.items() if is_below(number)}


def executors() -> list[int]:
    return sorted(number for number, command in processes_below(os.getpid()).items() if "CoarseGrainedExecutorBackend" in command)


def spilled() -> list[Path]:
    """The files of the fit that runs, on all executors."""
    return [path for path in Path(tempfile.gettempdir()).glob("spark-*/**/udeed-*.rows")]


def at_step(number: int, act: Callable[[], None]) -> Callable[[Any], None]:
    """A callback that does something once, after some step over unlabeled rows."""
    steps: list[Any] = []

    def callback(event: Any) -> None:
        if event.step is not None and event.step["stage"].endswith("unlabeled"):
            steps.append(event.step)
            if len(steps) == number:
                act()

    return callback


def test_a_killed_executor_and_lost_files_change_no_bit(spark: Any) -> None:
    frame = vectors(spark)
    before = of_spark.UDEEDClassifier(**small(steps=10)).fit(frame)
    assert not spilled()
    seen: list[Any] = []

    def kill_and_delete() -> None:
        homes = {path.parent for path in spilled()}
        seen.extend([executors(), homes])
        os.kill(executors()[0], signal.SIGKILL)
        for path in spilled():
            path.unlink()

    after = of_spark.UDEEDClassifier(**small(steps=10), callback=at_step(3, kill_and_delete)).fit(frame)
    assert len(seen[0]) == 2 and len(seen[1]) == 2, "both executors had files"
    assert bits(after) == bits(before) and after.history == before.history
    assert not spilled()


@pytest.mark.parametrize("how", ["deleted", "truncated"])
def test_lost_files_change_no_bit(spark: Any, how: str) -> None:
    frame = vectors(spark)
    before = of_spark.UDEEDClassifier(**small()).fit(frame)
    touched: list[Path] = []
    there: list[set[Path]] = []

    def lose() -> None:
        there.append(set(spilled()))
        for path in spilled()[:1]:
            touched.append(path)
            if how == "deleted":
                path.unlink()
            else:
                os.truncate(path, path.stat().st_size - 1)

    def callback(event: Any, first: Any = at_step(2, lose), then: Any = at_step(4, lambda: there.append(set(spilled())))) -> None:
        first(event)
        then(event)

    after = of_spark.UDEEDClassifier(**small(), callback=callback).fit(frame)
    assert touched and bits(after) == bits(before)
    assert len(there[1] - there[0]) == 1, "the file of one partition was written again, and no other"
    assert not spilled()


def test_a_killed_executor_alone_changes_no_bit(spark: Any) -> None:
    frame = vectors(spark)
    before = of_spark.UDEEDClassifier(**small()).fit(frame)
    killed: list[int] = []

    def kill() -> None:
        killed.append(executors()[-1])
        os.kill(killed[0], signal.SIGKILL)

    after = of_spark.UDEEDClassifier(**small(), callback=at_step(2, kill)).fit(frame)
    assert killed and bits(after) == bits(before)


def test_a_task_in_another_place_is_asked_again_before_anything_is_written() -> None:
    """A busy cluster may run a task where its file is not."""
    handles = {part: _work.Handle(distributed.Spill(f"/none/{part}.rows", 1, 0), 7, "host") for part in range(3)}
    here = {part: _work.Answer(handle, bytes([part])) for part, handle in handles.items()}
    elsewhere = {part: _work.Answer(handle, None, "no such file", True) for part, handle in handles.items()}
    gone = {part: _work.Answer(handle, None, "no such file") for part, handle in handles.items()}

    class Asked(_fit.Spilled):
        def __init__(self, *answers: dict[int, Any]) -> None:
            self._frames, self._places, self._first = [None], dict.fromkeys(handles, 0), handles
            self.answers, self.log = list(answers), []

        def _ask(self, question: Any, parts: Any) -> dict[int, Any]:
            self.log.append(sorted(parts))
            return self.answers.pop(0)

        def _spill(self, only: Any = None) -> None:
            self.log.append(f"write {sorted(only)}")

    question: Any = None
    asked = Asked({**here, 1: elsewhere[1]}, {1: here[1]})
    assert asked(question) == [b"\0", b"\1", b"\2"] and asked.log == [[0, 1, 2], [1]]
    asked = Asked({**here, 1: elsewhere[1]}, {1: elsewhere[1]}, {1: here[1]})
    assert asked(question) == [b"\0", b"\1", b"\2"] and asked.log == [[0, 1, 2], [1], "write [1]", [1]]
    asked = Asked({0: gone[0], 1: elsewhere[1], 2: here[2]}, {0: here[0], 1: here[1]})
    assert asked(question) == [b"\0", b"\1", b"\2"] and asked.log == [[0, 1, 2], "write [0]", [0, 1]]
    with pytest.raises(RuntimeError, match="gone as soon as they are written: no such file"):
        Asked(*[gone] * 6)(question)


def test_uneven_partitions(spark: Any) -> None:
    expected = local_of(small(), unlabeled=np.nan).fit(X, Y).predict_proba(X)
    first = [i for i in range(N) if Y[i] == 1.0]

    def deal(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from pyspark import TaskContext

        part = TaskContext.get().partitionId()
        for _ in batches:
            pass
        # All of a class in the first partition, none in the second.
        places = {0: range(0, 300), 1: range(0), 2: range(300, 301), 3: range(301, N)}[part]
        yield pa.RecordBatch.from_pydict(
            {
                "id": pa.array(list(places), pa.int64()),
                "features": pa.array([X[i].tolist() for i in places], pa.list_(pa.float64())),
                "label": pa.array([float(Y[i]) for i in places], pa.float64()),
            }
        )

    frame = spark.range(0, 4, 1, 4).mapInArrow(deal, "id long, features array<double>, label double")
    model = of_spark.UDEEDClassifier(**small()).fit(frame)
    np.testing.assert_allclose(probabilities(model, frame), expected, rtol=0.0, atol=1e-9)
    # Labels of a class in one partition only.
    order = np.array(first + [i for i in range(N) if Y[i] != 1.0])
    frame = vectors(spark, X[order], Y[order], 5)
    model = of_spark.UDEEDClassifier(**small()).fit(frame)
    expected = local_of(small(), unlabeled=np.nan).fit(X[order], Y[order]).predict_proba(X[order])
    np.testing.assert_allclose(probabilities(model, frame), expected, rtol=0.0, atol=1e-9)


def test_a_row_in_each_partition(spark: Any) -> None:
    frame = vectors(spark, X[:40], np.where(np.arange(40) < 20, np.arange(40) % 2, np.nan), 40)
    model = of_spark.UDEEDClassifier(**small()).fit(frame)
    expected = local_of(small(), unlabeled=np.nan).fit(X[:40], np.where(np.arange(40) < 20, np.arange(40) % 2, np.nan))
    np.testing.assert_allclose(probabilities(model, frame), expected.predict_proba(X[:40]), rtol=0.0, atol=1e-9)


def test_a_thousand_partitions(spark: Any) -> None:
    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            ids = batch.column(0).to_numpy()
            values = np.sin(ids[:, np.newaxis] * np.arange(1, 4))
            label = np.where(ids % 100 == 0, (values[:, 0] > 0).astype(float), np.nan)
            yield pa.RecordBatch.from_pydict({"id": batch.column(0), "features": pa.array(values.tolist()), "label": label})

    frame = spark.range(0, 5000, 1, 1000).mapInArrow(rows, "id long, features array<double>, label double")
    model = of_spark.UDEEDClassifier(members=3, steps=1, seed=1).fit(frame)
    ids = np.arange(5000)
    values = np.sin(ids[:, np.newaxis] * np.arange(1, 4))
    label = np.where(ids % 100 == 0, (values[:, 0] > 0).astype(float), np.nan)
    expected = udeed.UDEEDClassifier(members=3, steps=1, random_state=1, unlabeled=np.nan).fit(values, label)
    np.testing.assert_allclose(model.toLocal().predict_proba(values), expected.predict_proba(values), rtol=0.0, atol=1e-9)


def test_five_thousand_columns_and_a_missing_one(spark: Any) -> None:
    wide = np.random.RandomState(3).randn(40, 5000)
    label = np.where(np.arange(40) < 20, (wide[:, 0] > 0).astype(float), np.nan)
    frame = pd.DataFrame(wide, columns=[f"c{i}" for i in range(5000)]).assign(label=label, id=range(40))
    path = Path(tempfile.mkdtemp()) / "wide.parquet"
    frame.to_parquet(path)
    read = spark.read.parquet(str(path))
    features = list(frame.columns[:5000])
    parameters = {"members": 3, "steps": 2, "seed": 1}
    model = of_spark.UDEEDClassifier(**parameters, featuresCols=features).fit(read)
    expected = local_of(parameters, unlabeled=np.nan).fit(frame[features], label)
    np.testing.assert_allclose(
        model.toLocal().predict_proba(frame[features]), expected.predict_proba(frame[features]), rtol=0.0, atol=1e-9
    )
    with pytest.raises(ValueError, match="the frame has no column 'c7'"):
        model.transform(read.drop("c7"))
    with pytest.raises(ValueError, match="the frame has no column 'c7'"):
        of_spark.UDEEDClassifier(featuresCols=features).fit(read.drop("c7"))


def test_hashed_words_have_a_quarter_of_a_million_columns(spark: Any) -> None:
    random = np.random.RandomState(4)
    places = [np.sort(random.choice(1 << 18, 5, replace=False)) for _ in range(60)]
    rows = sparse.csr_array((np.ones(300), np.concatenate(places), np.arange(61) * 5), shape=(60, 1 << 18))
    label = np.where(np.arange(60) < 20, np.arange(60) % 2, np.nan)
    model = of_spark.UDEEDClassifier(members=2, steps=1, seed=1).fit(vectors(spark, rows, label, 3))
    expected = local_of({"members": 2, "steps": 1, "seed": 1}, unlabeled=np.nan).fit(rows, label)
    np.testing.assert_allclose(model.toLocal().predict_proba(rows), expected.predict_proba(rows), rtol=0.0, atol=1e-9)


def test_a_column_that_changes_its_type_between_files_is_told(spark: Any, tmp_path: Path) -> None:
    frame = ADULT.drop(columns="work.class")
    frame.to_parquet(tmp_path / "a.parquet")
    frame.assign(gain="much").to_parquet(tmp_path / "b.parquet")
    estimator = of_spark.UDEEDClassifier(**small(unlabeled="?"), labelCol="income", featuresCols=["age", "gain"])
    with pytest.raises(Exception, match=r"\[gain\]"):
        estimator.fit(spark.read.parquet(str(tmp_path / "a.parquet"), str(tmp_path / "b.parquet")))


def unsteady(spark: Any, folder: Path) -> Any:
    """A frame whose rows follow from what a file says when they are read."""

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        shift = float((folder / "shift").read_text())
        # Counts walks over the first partition: statistics, labels, files.
        for batch in batches:
            places = batch.column(0).to_pylist()
            if 0 in places and (folder / "walks").exists():
                walks = int((folder / "walks").read_text()) + 1
                (folder / "walks").write_text(str(walks))
                shift += walks
            yield pa.RecordBatch.from_pydict(
                {
                    "id": batch.column(0),
                    "features": pa.array([(X[i] + shift).tolist() for i in places]),
                    "label": pa.array([float(Y[i]) for i in places]),
                }
            )

    (folder / "shift").write_text("0")
    return spark.range(0, N, 1, 3).mapInArrow(rows, "id long, features array<double>, label double")


def test_a_source_with_other_rows_each_time_is_refused(spark: Any, tmp_path: Path) -> None:
    frame = unsteady(spark, tmp_path)
    (tmp_path / "walks").write_text("0")
    with (
        pytest.warns(udeed.UdeedWarning, match="the fit begins anew"),
        pytest.raises(ValueError, match="in 3 fits; expected the same rows each time"),
    ):
        of_spark.UDEEDClassifier(**small()).fit(frame)


def test_a_source_with_other_rows_after_a_loss_is_begun_anew(spark: Any, tmp_path: Path) -> None:
    frame = unsteady(spark, tmp_path)

    def change() -> None:
        (tmp_path / "shift").write_text("1")
        for path in spilled():
            path.unlink()

    with pytest.warns(
        udeed.UdeedWarning, match="partition 0 of the frame has given other rows when it was read again: the fit begins"
    ):
        model = of_spark.UDEEDClassifier(**small(), callback=at_step(2, change)).fit(frame)
    expected = of_spark.UDEEDClassifier(**small()).fit(frame)
    assert bits(model) == bits(expected)


def by_walk(spark: Any, folder: Path, rows_of: Callable[[int], Any]) -> Any:
    """A frame of one partition whose rows, features and labels, follow from how often it was read before."""

    def rows(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for _ in batches:
            pass
        walks = int((folder / "walks").read_text())
        (folder / "walks").write_text(str(walks + 1))
        values, label = rows_of(walks)
        columns = {"features": pa.array(values.tolist(), pa.list_(pa.float64())), "label": pa.array(label, pa.float64())}
        yield pa.RecordBatch.from_pydict(columns)

    (folder / "walks").write_text("0")
    return spark.range(0, 1, 1, 1).mapInArrow(rows, "features array<double>, label double")


@pytest.mark.parametrize(
    ("name", "what", "then"),
    [
        ("UDEEDClassifier", "no labels", 1),
        ("UDEEDClassifier", "no unlabeled rows", 2),
        ("UDEEDAutoClassifier", "no unlabeled rows", 2),
        ("UDEEDAutoClassifier", "other unlabeled rows", 2),
    ],
)
def test_rows_that_are_gone_or_others_in_a_later_walk(spark: Any, tmp_path: Path, name: str, what: str, then: int) -> None:
    def rows_of(walks: int) -> Any:
        is_labeled = ~np.isnan(Y)
        if walks % (then + 1) != then:
            return X, Y
        if what == "no labels":
            return X, np.where(is_labeled, np.nan, Y)
        if what == "no unlabeled rows":
            return X[is_labeled], Y[is_labeled]
        return np.where(is_labeled[:, np.newaxis], X, X + 1.0), Y

    frame = by_walk(spark, tmp_path, rows_of)
    with (
        pytest.warns(udeed.UdeedWarning, match="the fit begins anew"),
        pytest.raises(ValueError, match="the frame has given .*labeled rows, and then .*, and so in 3 fits"),
    ):
        getattr(of_spark, name)(members=3, seed=1).fit(frame)


def test_rows_in_another_order_are_the_same_rows(spark: Any, tmp_path: Path) -> None:
    frame = by_walk(spark, tmp_path, lambda walks: (X, Y) if walks < 3 else (X[::-1], Y[::-1]))
    lose = at_step(2, lambda: [path.unlink() for path in spilled()] and None)
    with warnings.catch_warnings():
        warnings.simplefilter("error", udeed.UdeedWarning)
        model = of_spark.UDEEDClassifier(**small(), callback=lose).fit(frame)
    assert (tmp_path / "walks").read_text() == "4"
    expected = local_of(small(), unlabeled=np.nan).fit(X, Y)
    np.testing.assert_allclose(model.toLocal().predict_proba(X), expected.predict_proba(X), rtol=0.0, atol=1e-9)


def test_what_cannot_be_written_is_removed_and_not_written_again(spark: Any, tmp_path: Path) -> None:
    def rows_of(walks: int) -> Any:
        if walks > 1:
            raise OSError("no such disk")
        return X, Y

    frame = by_walk(spark, tmp_path, rows_of)
    with pytest.raises(Exception, match="no such disk"):
        of_spark.UDEEDClassifier(**small()).fit(frame)
    # A task is tried four times, in one process once.
    assert int((tmp_path / "walks").read_text()) - 2 in (1, 4)
    assert not spilled()


FULL_DISK = """
import os, sys
import numpy as np, pyarrow as pa
from pathlib import Path
from pyspark.sql import SparkSession
from udeed.spark import UDEEDClassifier

session = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
session = session.config("spark.task.maxFailures", "1").getOrCreate()


def frame(n):
    def rows(batches):
        for batch in batches:
            ids = batch.column(0).to_numpy()
            values = np.sin(ids[:, np.newaxis] * np.arange(1, 8))
            label = np.where(ids % 100 == 0, (values[:, 0] > 0).astype(float), np.nan)
            yield pa.RecordBatch.from_pydict({"features": pa.array(list(values)), "label": label})

    return session.range(0, n, 1, 4).mapInArrow(rows, "features array<double>, label double")


def left():
    return [str(path) for path in Path(os.environ["SPARK_LOCAL_DIRS"]).rglob("udeed-*")]


estimator = UDEEDClassifier(members=3, steps=2, seed=1)
try:
    estimator.fit(frame(200_000))
except Exception as error:
    assert "No space left on device" in str(error), error
else:
    raise AssertionError("the disk is not full")
assert not left(), left()
assert estimator.fit(frame(4_000)).history
assert not left(), left()
"""


@pytest.mark.skipif(CONNECT, reason="it has a Spark of its own")
def test_an_executor_without_disk_space_is_told_and_left_clean(tmp_path: Path) -> None:
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", tmp_path], capture_output=True).returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        found = subprocess.run(
            [sys.executable, "-c", FULL_DISK],
            env={**os.environ, "SPARK_LOCAL_DIRS": str(tmp_path)},
            capture_output=True,
            text=True,
        )
    finally:
        subprocess.run(["umount", "--lazy", tmp_path], check=True)
    assert found.returncode == 0, found.stderr[-4000:]


def test_labels_and_weights(spark: Any) -> None:
    y = np.where(np.isnan(Y), 0, np.where(Y > 0, 1, -1)).astype(int)
    weights = np.random.RandomState(5).rand(N)
    table = [
        (i, Vectors.dense(row), int(label), float(own)) for i, (row, label, own) in enumerate(zip(X, y, weights, strict=True))
    ]
    frame = spark.createDataFrame(table, ["id", "x", "y", "w"]).repartitionByRange(3, "id").sortWithinPartitions("id")
    model = of_spark.UDEEDClassifier(**small(unlabeled=0), featuresCol="x", labelCol="y").setWeightCol("w").fit(frame)
    expected = local_of(small(unlabeled=0)).fit(X, y, weights)
    np.testing.assert_allclose(probabilities(model, frame), expected.predict_proba(X), rtol=0.0, atol=1e-9)
    assert {row[0] for row in model.transform(frame).select("prediction").distinct().collect()} == {-1.0, 1.0}
    assert model.toLocal().unlabeled == 0
    nulls = frame.withColumn("w", F.when(F.col("id") == 0, None).otherwise(F.col("w")))
    with pytest.raises(ValueError, match="1 labeled rows have no weight"):
        of_spark.UDEEDClassifier(unlabeled=0, featuresCol="x", labelCol="y", weightCol="w").fit(nulls)
    # Null has no label, whatever `unlabeled` is.
    nulls = frame.withColumn("y", F.when(F.col("y") != 0, F.col("y")))
    again = of_spark.UDEEDClassifier(**small(unlabeled=None), featuresCol="x", labelCol="y", weightCol="w").fit(nulls)
    assert bits(again) == bits(model)


def test_vectors_of_both_kinds_are_dense_rows(spark: Any) -> None:
    rows = [
        (i, Vectors.dense(row) if i % 3 else Vectors.sparse(6, {int(k): float(row[k]) for k in np.flatnonzero(row)}), float(Y[i]))
        for i, row in enumerate(X)
    ]
    frame = spark.createDataFrame(rows, ["id", "features", "label"]).repartitionByRange(3, "id").sortWithinPartitions("id")
    model = of_spark.UDEEDClassifier(**small()).fit(frame)
    expected = local_of(small(), unlabeled=np.nan).fit(X, Y)
    np.testing.assert_allclose(probabilities(model, frame), expected.predict_proba(X), rtol=0.0, atol=1e-9)


def test_auto_draws_some_rows(spark: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_fit, "_DRAWN", 100)
    frame = vectors(spark)
    with pytest.warns(udeed.UdeedWarning, match="learns from 100 of 550 unlabeled rows, drawn by the seed"):
        model = of_spark.UDEEDAutoClassifier(members=5, seed=1).fit(frame)
    others = X[np.isnan(Y)]
    drawn = others[np.sort(np.random.default_rng(1).choice(550, 100, replace=False))]
    there = ~np.isnan(Y)
    expected = udeed.UDEEDAutoClassifier(members=5, random_state=1).fit(X[there], Y[there], unlabeled_X=drawn)
    np.testing.assert_allclose(probabilities(model, frame), expected.predict_proba(X), rtol=0.0, atol=1e-9)


def test_auto_takes_no_more_rows_than_memory_holds(spark: Any) -> None:
    there = ~np.isnan(Y)
    # Labeled rows, and 100 of the others, of 48 bytes each.
    parameters = {"members": 5, "seed": 1, "memory": 150 * 48}
    with pytest.warns(udeed.UdeedWarning, match="learns from 100 of 550 unlabeled rows, drawn by the seed"):
        model = of_spark.UDEEDAutoClassifier(**parameters).fit(vectors(spark))
    drawn = X[~there][np.sort(np.random.default_rng(1).choice(550, 100, replace=False))]
    expected = local_of(parameters, "UDEEDAutoClassifier").fit(X[there], Y[there], unlabeled_X=drawn)
    np.testing.assert_allclose(model.toLocal().predict_proba(X), expected.predict_proba(X), rtol=0.0, atol=1e-9)


def test_a_batch_is_predicted_once_for_all_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    for y in (Y, np.where(np.isnan(Y), np.nan, np.arange(N) // 12 % 3)):
        model = local_of(small(), unlabeled=np.nan).fit(X, y)
        looks: list[int] = []
        rows = type(model)._rows
        monkeypatch.setattr(type(model), "_rows", lambda self, X, rows=rows, looks=looks: looks.append(1) or rows(self, X))
        names = {"rawPrediction": "r", "probability": "p", "prediction": "c", "predictionLabel": "l"}
        batch = pa.RecordBatch.from_pydict({"features": pa.array(X.tolist())})
        (found,) = _work.predict(model, _features.Features("arrays", ["features"]), names)(iter([batch]))
        assert len(looks) == 1
        monkeypatch.undo()
        for name, expected in {"p": model.predict_proba(X), "r": model.decision_function(X)}.items():
            values = np.array(found.column(name).field("values").to_pylist())
            np.testing.assert_array_equal(values if expected.ndim == 2 else values[:, 1], expected)
            assert expected.ndim == 2 or (values[:, 0] == -values[:, 1]).all()
        assert found.column("l").to_pylist() == model.predict(X).tolist() == found.column("c").to_pylist()


def test_every_labeled_row_is_in_a_fold_whatever_its_hash(spark: Any) -> None:
    # The hash of this label is 2^31 - 22: with the number of a row it is none of 32 bits.
    table = [(i, 40206335 if i % 2 else 3, float(i)) for i in range(80)]
    frame = spark.createDataFrame(table, "id long, label long, x double")
    search = of_spark.SemiSupervisedCrossValidator(numFolds=3, seed=1)
    tested = [sorted(row[0] for row in test.select("id").collect()) for _, test in search._kFold(frame)]
    assert sorted(sum(tested, [])) == list(range(80)) and {len(own) for own in tested} <= {26, 27, 28}


def test_folds_are_kept_no_longer_than_a_search(spark: Any) -> None:
    search = of_spark.SemiSupervisedCrossValidator(
        estimator=of_spark.BaggingClassifier(members=3, seed=1),
        estimatorParamMaps=ParamGridBuilder().build(),
        evaluator=MulticlassClassificationEvaluator(),
        numFolds=2,
        seed=1,
    )
    kept: list[Any] = []
    own = search._kFold
    search._kFold = lambda frame: (folds := own(frame), kept.extend(search._dealt))[0]
    search.fit(vectors(spark))
    assert len(kept) == 1 and not search._dealt
    assert not (kept[0].storageLevel.useMemory or kept[0].storageLevel.useDisk)


def test_an_interrupted_save_is_told(spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    models = [of_spark.BaggingClassifier(members=3, seed=seed).fit(vectors(spark)) for seed in range(2)]
    path = str(tmp_path / "model")
    models[0].save(path)

    def interrupt(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as context, pytest.raises(KeyboardInterrupt):
        context.setattr(_files, "_put", interrupt)
        models[1].write().overwrite().save(path)
    with pytest.raises(ValueError, match=r"model.safetensors is not the model that was saved last, expected its file"):
        of_spark.BaggingClassifierModel.load(path)
    models[1].write().overwrite().save(path)
    assert bits(of_spark.BaggingClassifierModel.load(path)) == bits(models[1])


@pytest.mark.skipif(not CONNECT, reason="a driver has the files of its Spark")
def test_a_folder_that_the_server_does_not_share_is_refused(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = of_spark.BaggingClassifier(members=3, seed=1).fit(vectors(spark))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match="not-shared is one folder here, and another one or none where Spark runs"):
        model.write().overwrite().save("not-shared")
    assert not list(tmp_path.iterdir())
    with pytest.raises(ValueError, match="cannot be written to by Spark Connect"):
        model.save("hdfs://none/model")


def test_pipeline_grid_and_folds(spark: Any, tmp_path: Path) -> None:
    table = [
        (i, *map(float, row), None if np.isnan(label) else float(label)) for i, (row, label) in enumerate(zip(X, Y, strict=True))
    ]
    names = [f"c{i}" for i in range(6)]
    kinds = ", ".join(["id long", *(f"{name} double" for name in names), "label double"])
    frame = spark.createDataFrame(table, kinds).repartitionByRange(3, "id").sortWithinPartitions("id")
    estimator = of_spark.UDEEDClassifier(**small())
    pipeline = Pipeline(stages=[VectorAssembler(inputCols=names, outputCol="features"), estimator])
    fitted = pipeline.fit(frame)
    expected = local_of(small(), unlabeled=np.nan).fit(X, Y)
    np.testing.assert_allclose(probabilities(fitted, frame), expected.predict_proba(X), rtol=0.0, atol=1e-9)
    if not CONNECT:
        fitted.write().overwrite().save(str(tmp_path / "pipeline"))
        again = PipelineModel.load(str(tmp_path / "pipeline"))
        np.testing.assert_array_equal(probabilities(again, frame), probabilities(fitted, frame))
    estimator.setParams(steps=1)
    grid = ParamGridBuilder().addGrid(estimator.gamma, [0.0, 1.0]).build()
    search = of_spark.SemiSupervisedCrossValidator(
        estimator=pipeline, estimatorParamMaps=grid, evaluator=MulticlassClassificationEvaluator(), numFolds=2, seed=1
    )
    folds = search._kFold(frame)
    tested = [sorted(row[0] for row in test.select("id").collect()) for _, test in folds]
    assert sorted(sum(tested, [])) == np.flatnonzero(~np.isnan(Y)).tolist(), "each labeled row is tested on once"
    for (train, _), own in zip(folds, tested, strict=True):
        assert sorted(row[0] for row in train.select("id").collect()) == sorted(set(range(N)) - set(own))
        assert 22 <= len(own) <= 28
    found = search.fit(frame)
    assert len(found.avgMetrics) == 2 and min(found.avgMetrics) > 0.6
    with pytest.raises(ValueError, match=r"class 1.0 has 1 labeled rows, expected 2 at least"):
        search._kFold(frame.where((F.col("label") != 1.0) | (F.col("id") == int(np.flatnonzero(Y == 1.0)[0]))))


def test_what_is_refused(spark: Any) -> None:
    frame = vectors(spark)

    def fit(of: Any = frame, **parameters: Any) -> Any:
        return of_spark.UDEEDClassifier(**parameters).fit(of)

    for parameters, error, said in (
        ({"hidden": 3}, ValueError, "hidden"),
        ({"fourier": 9}, ValueError, "`fourier` is 9"),
        ({"members": 1}, ValueError, "members"),
        (
            {"memory": 1000},
            ValueError,
            r"50 labeled rows take 0.00 MiB, expected at most 0.00 MiB, as `memory` says of the driver",
        ),
        ({"unlabeled": "?"}, ValueError, "`unlabeled` is '\\?', which column 'label' of double never holds"),
        ({"labelCol": "none"}, ValueError, "no column 'none'"),
        ({"labelCol": "features"}, ValueError, "expected numbers, truth values or words as labels"),
        ({"featuresCol": "label"}, ValueError, "column 'label' holds double, expected vectors or arrays"),
        ({"featuresCols": ["features"]}, ValueError, "column 'features' of `featuresCols` holds vector"),
        ({"featuresCols": []}, ValueError, "`featuresCols` is empty"),
    ):
        with pytest.raises(error, match=said):
            fit(**parameters)
    with pytest.raises(TypeError, match="no parameter 'n_jobs', expected some of C, "):
        of_spark.UDEEDClassifier(n_jobs=2)
    with pytest.raises(ValueError, match="the frame has no labeled row"):
        fit(frame.withColumn("label", F.lit(None).cast("double")))
    with pytest.raises(ValueError, match="column 'prediction' already"):
        fit(frame, **small()).transform(frame.withColumn("prediction", F.lit(1.0)))
    with pytest.raises(TypeError, match="`callback` is <function"):
        of_spark.UDEEDClassifier(callback=lambda _: None).save("/tmp/never")
    words = spark.range(0, 3000, 1, 2).select(
        F.col("id").cast("string").alias("word"), F.when(F.col("id") < 10, F.col("id") % 2).alias("label")
    )
    with pytest.raises(ValueError, match="3000 different values in column `word`, expected at most 1000"):
        fit(words, featuresCols=["word"])
    # Long before all of them are on the driver, and in the same words.
    words = spark.range(0, 60_000, 1, 2).select(
        F.col("id").cast("string").alias("word"), F.when(F.col("id") < 10, F.col("id") % 2).alias("label")
    )
    with pytest.raises(ValueError, match="different values in column `word`, expected at most 1000"):
        fit(words, featuresCols=["word"])
    sizes = spark.createDataFrame([([1.0], 0.0), ([1.0, 2.0], 1.0)], ["features", "label"]).coalesce(1)
    with pytest.raises(Exception, match="rows of 1 and of 2 features"):
        fit(sizes)


def test_parameters_in_files(spark: Any, tmp_path: Path) -> None:
    weights = {0: 1.0, 1: 2.5}
    estimator = of_spark.BaggingClassifier(class_weight=weights, base=udeed.Tree(depth=3), unlabeled=float("nan"))
    estimator.save(str(tmp_path / "it"))
    again = of_spark.BaggingClassifier.load(str(tmp_path / "it"))
    assert again.getOrDefault("class_weight") == weights and again.getOrDefault("base").depth == 3
    assert np.isnan(again.getOrDefault("unlabeled")) and not again.isSet("seed")
    text = next((tmp_path / "it" / "metadata").glob("part-*")).read_text()
    assert json.loads(text)["class"] == "udeed.spark.BaggingClassifier"
    copied = again.copy({again.members: 7})
    assert copied.getOrDefault("members") == 7 and again.getOrDefault("members") == 20


def test_all_rows_labeled(spark: Any) -> None:
    label = (X[:60, 0] > 0).astype(float)
    frame = vectors(spark, X[:60], label, 2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", udeed.UdeedWarning)
        model = of_spark.UDEEDClassifier(**small()).fit(frame)
        expected = local_of(small()).fit(X[:60], label)
    np.testing.assert_array_equal(model.toLocal().predict_proba(X), expected.predict_proba(X))


@pytest.mark.parametrize("kind", ["dense", "sparse", "words"])
def test_checksums_add_up_and_tell_rows_apart(kind: str) -> None:
    rows: Any = {"dense": X, "sparse": sparse.csr_array(X), "words": ADULT.drop(columns="income")}[kind]
    take = rows.iloc.__getitem__ if kind == "words" else rows.__getitem__

    def of(places: Any) -> int:
        part = take(places)
        return _work.checksum(_work.rows_of(pa.Table.from_pandas(part, preserve_index=False) if kind == "words" else part))

    order = np.random.RandomState(1).permutation(N)
    assert sum(of(order[start : start + 70]) for start in range(0, N, 70)) % 2**64 == of(np.arange(N))
    twice = np.arange(N)
    twice[1] = 0
    assert of(twice) != of(np.arange(N)) != of(np.arange(N - 1))
