"""The command `udeed`, for tests that the two sides agree."""

from __future__ import annotations

import csv
import io
import os
import subprocess

import pytest

COMMAND = os.environ.get("UDEED_COMMAND")
needs_command = pytest.mark.skipif(COMMAND is None, reason="UDEED_COMMAND names no binary")


def run(*arguments: object) -> str:
    """What the command writes to standard output."""
    line = [str(COMMAND), *map(str, arguments)]
    return subprocess.run(line, check=True, capture_output=True, text=True).stdout


def predictions(model: object, rows: object) -> tuple[list[str], list[list[float]]]:
    """The classes and probabilities that the command gives rows."""
    table = list(csv.reader(io.StringIO(run("predict", model, rows, "--proba"))))[1:]
    return [row[0] for row in table], [[float(cell) for cell in row[1:]] for row in table]
