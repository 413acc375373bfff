"""What `UDEEDClassifier.fit` costs over the same fit in Rust, for a C-ordered array of doubles.

    pip install ./python
    cargo build --release --package udeed --example timed_fit
    python bench/python_overhead.py target/release/examples/timed_fit

Both run in turn, on the same rows and with the same number of threads; the figures are the best of each, as what
disturbs only adds.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np
import udeed


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("rust", type=Path, help="the example `timed_fit`, built for release")
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--columns", type=int, default=54)
    parser.add_argument("--members", type=int, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()

    random = np.random.RandomState(0)
    X = random.rand(options.rows, options.columns)
    scores = X @ random.randn(options.columns) + 0.5 * random.randn(options.rows)
    y = np.where(random.rand(options.rows) < 0.25, (scores > np.median(scores)).astype(int), -1)

    model = udeed.UDEEDClassifier(options.members, random_state=0, n_jobs=options.threads)
    rust, python = [], []
    with tempfile.TemporaryDirectory() as folder:
        rows, labels = Path(folder, "rows"), Path(folder, "labels")
        X.tofile(rows)
        y.astype(np.uint8).tofile(labels)
        shape = map(str, (options.columns, options.members, options.threads))
        command = [str(part) for part in (options.rust, rows, labels, *shape)]
        for _ in range(options.repeats):
            seconds, weights = map(float, subprocess.check_output(command, text=True).split())
            rust.append(seconds)
            begin = time.perf_counter()
            model.fit(X, y)
            python.append(time.perf_counter() - begin)
    scaled = model.member_coef_ * (X.max(axis=0) - X.min(axis=0))
    constants = model.member_intercept_ + model.member_coef_ @ X.min(axis=0)
    assert np.isclose(scaled.sum() + constants.sum(), weights), "the two did not learn the same"

    ours, theirs = min(python), min(rust)
    print(f"{options.rows} x {options.columns} rows, {options.members} members, {options.threads} threads")
    print(f"Rust {theirs:.3f} s, Python {ours:.3f} s: {100 * (ours / theirs - 1):+.1f} %")


if __name__ == "__main__":
    main()
