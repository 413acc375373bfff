"""Estimators and models in folders: Spark's metadata, and of a model an ordinary ``model.safetensors``."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
import time
import uuid
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
        mode = "overwrite" if self.shouldOverwrite else "errorifexists"
        with tempfile.TemporaryDirectory() as folder:
            model = None if local is None else os.path.join(folder, _FILE)
            if local is not None:
                local.save(model)
                if _is_connect(spark):
                    # Before anything that is there is overwritten.
                    _check_shared(spark, path)
            metadata = json.dumps(_metadata(self.instance, local, model))
            # First, as it refuses a folder that is there.
            spark.createDataFrame([(metadata,)], "value string").coalesce(1).write.mode(mode).text(f"{path}/metadata")
            if model is not None:
                _put(spark, model, f"{path}/{_FILE}")

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
        instance = self.own(_model(spark, path, metadata)) if "classes" in metadata else self.own()
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


def _metadata(instance: Any, local: Any, model: str | None) -> dict[str, Any]:
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
    if local is None or model is None:
        return found
    # The file names classes as text. Who interrupts an overwriting save may leave the file of another model.
    return found | {"classes": [local.classes_.dtype.str, local.classes_.tolist()], "sha256": _digest(Path(model).read_bytes())}


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _model(spark: Any, path: str, metadata: dict[str, Any]) -> Any:
    content = _read(spark, f"{path}/{_FILE}")
    # Those of earlier versions have none.
    if _digest(content) != metadata.get("sha256", _digest(content)):
        raise ValueError(f"{path}/{_FILE} is not the model that was saved last, expected its file: a save was interrupted")
    with tempfile.TemporaryDirectory() as folder:
        to = os.path.join(folder, _FILE)
        Path(to).write_bytes(content)
        values, kind = metadata["classes"][1], np.dtype(metadata["classes"][0])
        return load(to, classes=np.array(values, dtype=kind))


def _read(spark: Any, path: str) -> bytes:
    """The bytes of a file, as Spark sees it."""
    return bytes(spark.read.format("binaryFile").load(path).select("content").first()[0])


def _put(spark: Any, source: str, path: str) -> None:
    """Copies a file of the driver to where Spark keeps files."""
    if not _is_connect(spark):
        hadoop = spark._jvm.org.apache.hadoop.fs
        to = hadoop.Path(path)
        to.getFileSystem(spark._jsc.hadoopConfiguration()).copyFromLocalFile(
            False, True, hadoop.Path(Path(source).as_uri()), to
        )
        return
    to_local = _local(path)
    os.makedirs(os.path.dirname(to_local), exist_ok=True)
    shutil.copyfile(source, to_local)


def _check_shared(spark: Any, path: str) -> None:
    """Refuses a folder that the server of Spark Connect does not share with this machine, as only files of here can be written."""
    expected = "a folder that this machine and Spark both see, or `toLocal().save` and a copy"
    if urlparse(path).scheme not in ("", "file"):
        found = f"{path} cannot be written to by Spark Connect, which has no way to put a file there"
        raise ValueError(f"{found}; expected {expected}")
    # Beside the folder, which may have to be absent.
    name = f"{path.rstrip('/')}-{uuid.uuid4().hex}"
    probe = Path(_local(name))
    probe.parent.mkdir(parents=True, exist_ok=True)
    probe.write_bytes(name.encode())
    try:
        is_seen = _read(spark, name) == name.encode()
    except Exception:
        is_seen = False
    finally:
        probe.unlink()
    if not is_seen:
        raise ValueError(f"{path} is one folder here, and another one or none where Spark runs; expected {expected}")


def _local(path: str) -> str:
    parsed = urlparse(path)
    return unquote(parsed.path) if parsed.scheme else path


def _is_connect(spark: Any) -> bool:
    return ".connect." in type(spark).__module__
