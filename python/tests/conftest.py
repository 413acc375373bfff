"""What the tests share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris

import udeed


@pytest.fixture(scope="session")
def cancer() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, their labels, and the same labels with only 40 left."""
    X, y = load_breast_cancer(return_X_y=True)
    return X, y, udeed.mask_labels(y, 40, random_state=0)


@pytest.fixture(scope="session")
def iris() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows of three classes that have names, and the same labels with only 30 left, the others ``"?"``."""
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    return X, names, udeed.mask_labels(names, 30, random_state=2, unlabeled="?")
