"""A real Spark: a driver and two workers, each a process of its own."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest

CONNECT = os.environ.get("UDEED_SPARK") == "connect"
# Another for a quick look, such as local[2]; lost executors need processes of their own.
MASTER = os.environ.get("UDEED_SPARK_MASTER", "local-cluster[2,1,1024]")


@pytest.fixture(scope="session")
def spark() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    builder = SparkSession.builder
    if CONNECT:
        session = builder.remote(MASTER).getOrCreate()
    else:
        for name, value in {"ui.enabled": "false", "ui.showConsoleProgress": "false", "log.level": "ERROR"}.items():
            builder = builder.config(f"spark.{name}", value)
        session = builder.master(MASTER).getOrCreate()
    session.conf.set("spark.sql.shuffle.partitions", "4")
    yield session
    session.stop()
