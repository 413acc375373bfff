"""The rows that both sides see."""

import argparse
import functools
from pathlib import Path

import numpy as np
from scipy import sparse
from sklearn.datasets import load_svmlight_file
from sklearn.model_selection import train_test_split

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"
# Sparser than this our reader keeps rows sparse, see `Layout::Auto`.
SPARSE_BELOW = 1 / 6


class Absent(Exception):
    """A set that is not there: its rows of the table are skipped."""


class Split:
    """A set, min-max scaled as a whole, dealt as in the paper: half for testing, a quarter of the rest labeled."""

    def __init__(self, X, y):
        train, test = train_test_split(np.arange(len(y)), test_size=0.5, stratify=y, random_state=0)
        labeled, unlabeled = train_test_split(train, train_size=0.25, stratify=y[train], random_state=0)
        self.labeled, self.y = X[labeled], y[labeled]
        self.unlabeled = X[unlabeled]
        self.test, self.y_test = X[test], y[test]

    def train(self):
        """All dense training rows and their labels, NaN for those that are unlabeled."""
        labels = np.concatenate([self.y, np.full(self.unlabeled.shape[0], np.nan)])
        return np.vstack([self.labeled, self.unlabeled]), labels


def script_options(about: str | None) -> argparse.ArgumentParser:
    """The options that every script has which reads sets."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--data", type=Path, default=DATA, help="folder with the sets (../shared/data)")
    return parser


def find(folder: Path, name: str) -> Path:
    path = folder / f"{name}.libsvm.gz"
    if not path.exists():
        raise Absent(f"{path} is not there")
    return path


@functools.cache
def load(folder: Path, name: str, most_rows: int | None = None) -> Split:
    X, y = load_svmlight_file(str(find(folder, name)))
    y = np.where(y > 0, 1.0, -1.0)
    if most_rows and len(y) > most_rows:
        # The files are in the order of their source, often class by class.
        some = np.random.default_rng(0).permutation(len(y))[:most_rows]
        X, y = X[some], y[some]
    high = X.max(axis=0).toarray().ravel()
    low = X.min(axis=0).toarray().ravel()
    width = np.where(high > low, high - low, np.inf)
    if X.nnz < SPARSE_BELOW * np.prod(X.shape) and not low.any():
        scaled = (X @ sparse.diags(1 / width)).tocsr()
        # Ours wants the columns of a row in order; products of scipy leave them in any.
        scaled.sort_indices()
        return Split(scaled, y)
    return Split((X.toarray() - low) / width, y)


def random_rows(n, d, seed=0):
    """Rows like scaled ones: between 0 and 1."""
    return np.random.default_rng(seed).random((n, d))


def random_members(d, m, seed=1):
    """Weights, that of the constant feature last, whose scores are of order one."""
    return np.random.default_rng(seed).normal(size=(d + 1, m)) * 2 / np.sqrt(d + 1)


def random_sparse_rows(n, d, stored, seed=0):
    """CSR rows with about `stored` values each; a column that is drawn twice is stored once."""
    random = np.random.default_rng(seed)
    columns = random.integers(0, d, size=(n, stored), dtype=np.int64)
    rows = np.repeat(np.arange(n), stored)
    X = sparse.csr_matrix((random.random(n * stored), (rows, columns.ravel())), shape=(n, d))
    X.sum_duplicates()
    return X


def random_sparse_train(n, d, stored):
    """CSR rows with labels by a random plane, NaN on three quarters of them."""
    X = random_sparse_rows(n, d, stored)
    labels = np.where(X @ np.random.default_rng(2).normal(size=d) > 0, 1.0, -1.0)
    labels[n // 4 :] = np.nan
    return X, labels
