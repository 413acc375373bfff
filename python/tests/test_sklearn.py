"""scikit-learn's own checks, on every estimator as it is by default."""

from __future__ import annotations

from typing import Any

import pytest
import udeed
from estimators import ALL
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.utils import estimator_checks, get_tags

# Weights are relative: their sum does not weaken the regularisation, as more rows would. And bagging, co-forest and the like may
# draw a row that is there twice more often, where scikit-learn excepts its own bagging.
RELATIVE = {
    "check_sample_weight_equivalence_on_dense_data": "a weight of 2 is not the same row twice",
    "check_sample_weight_equivalence_on_sparse_data": "a weight of 2 is not the same row twice",
}
# The check stops scikit-learn's own trees early, by a parameter that ours do not have.
GROWN = {"check_class_weight_classifiers": "a leaf of one class is that of it, whatever its rows count"}
# The check fits the classes -1 and 1, and -1 means unlabeled by default. It spares scikit-learn's own self-training, and with
# that ours, which has the same name.
SENTINEL = {"check_classifiers_classes": "-1 is a class there, and means unlabeled here"}


# Members that are classifiers of scikit-learn; one of them takes no sparse rows.
FOREIGN = [
    udeed.BaggingClassifier(3, base=LogisticRegression(), unlabeled=None),
    udeed.TriTrainingClassifier(base=GaussianNB(), unlabeled=None),
]


def expected_failures(estimator: Any) -> dict[str, str]:
    # Extra trees draw no rows and have no regularisation.
    relative = {} if isinstance(estimator, udeed.ExtraTreesClassifier) else dict(RELATIVE)
    if isinstance(estimator, udeed.AdaBoostClassifier):
        # Its first member makes no error on these rows, whatever the regularisation, and decides alone.
        del relative["check_sample_weight_equivalence_on_dense_data"]
    if not get_tags(estimator).input_tags.sparse:
        # Refusing sparse rows passes the check, where it is made at all.
        relative.pop("check_sample_weight_equivalence_on_sparse_data", None)
    grown = GROWN if isinstance(estimator, udeed.CoForestClassifier | udeed.ExtraTreesClassifier) else {}
    spared = estimator.unlabeled is None or isinstance(estimator, udeed.SelfTrainingClassifier)
    sentinel = {} if spared else SENTINEL
    return {**relative, **grown, **sentinel}


@estimator_checks.parametrize_with_checks(
    [kind(unlabeled=None) for kind in ALL] + [kind() for kind in ALL] + FOREIGN,
    expected_failed_checks=expected_failures,
)
@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)
