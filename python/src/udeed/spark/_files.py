"""Estimators and models in folders: Spark's metadata, and of a model an ordinary ``model.safetensors``."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import Any, TypeVar
from urllib.parse import unquote, urlparse

import numpy as np
import pyspark
from pyspark.ml.util import MLReadable, MLReader, MLWritable, MLWriter
from pyspark.sql import SparkSession

from udeed._files import load
from udeed.spark._params import from_json, to_json

_FILE = "model.safetensors"
Own = TypeVar("Own")


class _Writer(MLWriter):
    def __init__(self, instance: Any) -> None:
        super().__init__()
        self.instance = instance

    def save(self, path: str) -> None:
        """Writes into a folder, which must not be there unless it may be overwritten."""
        spark, local = _session(), getattr(self.instance, "_local", None)
        metadata = json.dumps(_metadata(self.instance, local))
        mode = "overwrite" if self.shouldOverwrite else "errorifexists"
        spark.createDataFrame([(metadata,)], "value string").coalesce(1).write.mode(mode).text(f"{path}/metadata")
        if local is not None:
            with tempfile.TemporaryDirectory() as folder:
                local.save(os.path.join(folder, _FILE))
                _put(spark, os.path.join(folder, _FILE), f"{path}/{_FILE}")

    # Spark's own way needs its context.
    saveImpl = save


class _Reader(MLReader):
    def __init__(self, own: Any) -> None:
        super().__init__()
        self.own = own

    def load(self, path: str) -> Any:
        """Reads from a folder."""
        spark = _session()
        metadata = json.loads(spark.read.text(f"{path}/metadata").first()[0])
        name = metadata["class"].rpartition(".")[2]
        if name != self.own.__name__:
            raise ValueError(f"{path} holds a {name}, expected a {self.own.__name__}")
        instance = self.own(_model(spark, path, metadata["classes"])) if "classes" in metadata else self.own()
        instance._resetUid(metadata["uid"])
        instance._setDefault(**{key: from_json(value) for key, value in metadata["defaultParamMap"].items()})
        return instance.setParams(**{key: from_json(value) for key, value in metadata["paramMap"].items()})


class Writable(MLWritable):
    """What can be saved."""

    def write(self) -> MLWriter:
        """A writer of this instance."""
        return _Writer(self)


class Readable(MLReadable):
    """What can be loaded."""

    @classmethod
    def read(cls) -> MLReader:
        """A reader of instances of this class."""
        return _Reader(cls)


def _session() -> Any:
    session = SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
    return session


def _metadata(instance: Any, local: Any) -> dict[str, Any]:
    given = {param.name: to_json(param.name, value) for param, value in instance._paramMap.items()}
    defaults = {param.name: to_json(param.name, value) for param, value in instance._defaultParamMap.items()}
    found = {
        "class": f"udeed.spark.{type(instance).__name__}",
        "timestamp": round(time.time() * 1000),
        "sparkVersion": pyspark.__version__,
        "uid": instance.uid,
        "paramMap": given,
        "defaultParamMap": defaults,
    }
    # The file names classes as text.
    return found if local is None else found | {"classes": [local.classes_.dtype.str, local.classes_.tolist()]}


def _model(spark: Any, path: str, classes: list[Any]) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, _FILE)
        Path(to).write_bytes(bytes(spark.read.format("binaryFile").load(f"{path}/{_FILE}").select("content").first()[0]))
        return load(to, classes=np.array(classes[1], dtype=np.dtype(classes[0])))


def _put(spark: Any, source: str, path: str) -> None:
    """Copies a file of the driver to where Spark keeps files."""
    jvm = getattr(spark, "_jvm", None) if not _is_connect(spark) else None
    if jvm is not None:
        to = jvm.org.apache.hadoop.fs.Path(path)
        system = to.getFileSystem(spark._jsc.hadoopConfiguration())
        system.copyFromLocalFile(False, True, jvm.org.apache.hadoop.fs.Path(Path(source).as_uri()), to)
        return
    parsed = urlparse(path)
    if parsed.scheme not in ("", "file"):
        expected = "a folder of this machine, or `toLocal().save` and a copy"
        raise ValueError(
            f"{path} cannot be written to by Spark Connect, which has no way to put a file there; expected {expected}"
        )
    to_local = unquote(parsed.path) if parsed.scheme else path
    os.makedirs(os.path.dirname(to_local), exist_ok=True)
    shutil.copyfile(source, to_local)


def _is_connect(spark: Any) -> bool:
    return ".connect." in type(spark).__module__
