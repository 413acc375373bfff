"""The process that times ours: requests out, answers back, numbers through files."""

import json
import os
import subprocess
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import sparse


# Lets the allocator of glibc give back at once what is freed, so that none of it hides what is allocated later.
FRUGAL = {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "0"}


class Worker:
    """`udeed-bench`, kept running so that rows are loaded once."""

    def __init__(self, binary: Path, folder: Path, threads: int, environment: dict | None = None):
        self.binary = binary
        self.folder = folder
        self.threads = threads
        pipe, environment = subprocess.PIPE, {**os.environ, **(environment or {})}
        self.process = subprocess.Popen([binary], stdin=pipe, stdout=pipe, text=True, env=environment)

    @contextmanager
    def fresh(self):
        """Another process like this one, with nothing on its shelf: for measuring memory."""
        worker = Worker(self.binary, self.folder, self.threads, FRUGAL)
        try:
            yield worker
        finally:
            worker.close()

    def ask(self, work: str, threads: int | None = None, **details) -> dict:
        details = {name: str(value) if isinstance(value, Path) else value for name, value in details.items()}
        request = {"work": work, "threads": threads or self.threads, **details}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"udeed-bench ended during `{work}` with status {self.process.wait()}")
        answer = json.loads(line)
        if "error" in answer:
            raise RuntimeError(f"udeed-bench, `{work}`: {answer['error']}")
        return answer

    def write(self, name: str, values) -> Path:
        """Numbers for the worker: doubles, or integers where they are indices."""
        path = self.folder / name
        values = np.asarray(values)
        values.astype("<i8" if values.dtype.kind == "i" else "<f8", copy=False).tofile(path)
        return path

    def read(self, name: str, shape=-1) -> np.ndarray:
        """Numbers that the worker wrote."""
        return np.fromfile(self.folder / name, "<f8").reshape(shape)

    def put(self, name: str, matrix) -> None:
        """Puts rows, dense or CSR, on the worker's shelf."""
        if sparse.issparse(matrix):
            parts = {"starts": matrix.indptr, "indices": matrix.indices, "values": matrix.data}
            files = {part: self.write(part, values) for part, values in parts.items()}
            self.ask("sparse", name=name, columns=matrix.shape[1], **files)
        else:
            files = {"values": self.write("values", np.ascontiguousarray(matrix))}
            self.ask("dense", name=name, rows=matrix.shape[0], columns=matrix.shape[1], **files)
        for file in files.values():
            file.unlink()

    def put_train(self, name: str, matrix, labels) -> None:
        """Puts rows with labels on the shelf; NaN is no label."""
        self.put(name, matrix)
        self.ask("train", name=name, rows=name, labels=self.write("labels", labels))

    def bagging(self, train: str, members: int) -> dict:
        """Fits logistic regressions on bootstraps to rows of the shelf: a model of the same name."""
        return self.ask("bagging", train=train, members=members, seed=0, model=train, to=self.folder / "members")

    def udeed(self, train: str, members: int, steps: int | None = None) -> dict:
        """Fits the whole of UDEED to rows of the shelf: a model of the same name."""
        files = {"initial": self.folder / "initial", "to": self.folder / "members"}
        return self.ask("udeed", train=train, members=members, steps=steps, seed=0, model=train, **files)

    def predict(self, model: str, rows: str) -> dict:
        """Predicts classes and probabilities of rows of the shelf."""
        files = {name: self.folder / name for name in ("probabilities", "classes")}
        return self.ask("predict", model=model, rows=rows, **files)

    def load(self, file: Path, label: str | None = None, to: Path | None = None) -> dict:
        """Reads a file of rows."""
        return self.ask("read", file=file, label=label, to=to)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
