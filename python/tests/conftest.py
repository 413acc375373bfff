"""What the tests share."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

import udeed


@pytest.fixture(scope="session")
def cancer() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows, their labels, and the same labels with only 40 left."""
    X, y = load_breast_cancer(return_X_y=True)
    return X, y, udeed.mask_labels(y, 40, random_state=0)
