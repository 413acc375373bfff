"""Finished parts of long benchmarks: kept on disk, so that a run goes on where another was ended."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any


def finished(folder: Path, said: list[Any], make: Callable[[], Any]) -> Any:
    """What was made of what is said, from the folder where it is there. What is said, the build included, names the file."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{hashlib.sha256(json.dumps(said).encode()).hexdigest()[:16]}.json"
    if not path.exists():
        # Whole or not at all: it may be ended at any moment, and another process may make the same.
        part = path.with_suffix(f".{os.getpid()}")
        part.write_text(json.dumps(make()))
        part.replace(path)
    return json.loads(path.read_text())


def print_of(rows: Any) -> str:
    """What distinguishes rows from others."""
    return hashlib.sha256(rows.tobytes()).hexdigest()
