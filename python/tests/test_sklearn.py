"""scikit-learn's own checks, on every estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import udeed
from estimators import ALL, small
from sklearn.utils.estimator_checks import _enforce_estimator_tags_y, parametrize_with_checks

# A row that counts twice is not a row that may be drawn twice: so scikit-learn says of its own bagging.
DRAWS = (udeed.UDEEDClassifier, udeed.UDEEDClassifierCV, udeed.BaggingClassifier, udeed.AssembleClassifier)
DRAWN = {
    "check_sample_weight_equivalence_on_dense_data": "rows are drawn at random",
    "check_sample_weight_equivalence_on_sparse_data": "rows are drawn at random",
}
# The check fits the classes -1 and 1, and -1 means unlabeled by default.
SENTINEL = {"check_classifiers_classes": "-1 is a class there, and means unlabeled here"}




def relabels() -> bool:
    """Whether scikit-learn's checks make other labels for binary classifiers when rows are shuffled, as 1.6 does."""
    forward = _enforce_estimator_tags_y(small(udeed.BaggingClassifier), np.array([0, 1, 2]))
    backward = _enforce_estimator_tags_y(small(udeed.BaggingClassifier), np.array([2, 1, 0]))[::-1]
    return not np.array_equal(forward, backward)


def expected_failures(estimator: Any) -> dict[str, str]:
    drawn = DRAWN if isinstance(estimator, DRAWS) else {}
    if relabels():
        drawn = dict.fromkeys(DRAWN, "the check compares fits to different labels")
    return drawn if estimator.unlabeled is None else {**drawn, **SENTINEL}


@parametrize_with_checks(
    [small(kind, unlabeled=None) for kind in ALL] + [small(kind) for kind in ALL],
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
