"""The base learners that have settings. Generated from their cards by ``make generate``: do not edit."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

from sklearn.base import BaseEstimator

from udeed._rules import Classifier, at_least, count_or_share, one_of


class Tree(BaseEstimator):
    """Decision tree: CART, with scikit-learn's rules.

    A ``base`` of estimators, where ``"tree"`` is the one with default parameters.

    Parameters
    ----------
    criterion : {"gini", "entropy"}, default="gini"
        Impurity of a node.
    depth : int or None, default=None
        Maximum number of splits between the root and a leaf; none for no limit.
    leaf : int, default=1
        Minimum number of rows in a leaf, whatever their weights.
    split : int, default=2
        Minimum number of rows in a node that is split.
    features : {"all", "root", "log2", "log2-plus-one"}, int or float, default="all"
        Number of features drawn at each node to look for a split. The words stand for all, the square root of their
        number, its binary logarithm, and one more than that; an int is a number, a float a share of them.
    thresholds : {"best", "random"}, default="best"
        Thresholds of the features drawn at a node: the best of each, or one at random.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import BaggingClassifier, Tree, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BaggingClassifier(base=Tree(), random_state=0).fit(X, mask_labels(y, 40, random_state=0))
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _name: ClassVar[str] = "tree"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": one_of("gini", "entropy"),
        "depth": [*at_least(1), None],
        "leaf": at_least(1),
        "split": at_least(2),
        "features": [*one_of("all", "root", "log2", "log2-plus-one"), *count_or_share()],
        "thresholds": one_of("best", "random"),
    }

    def __init__(
        self,
        criterion: str = "gini",
        *,
        depth: int | None = None,
        leaf: int = 1,
        split: int = 2,
        features: str | int | float = "all",
        thresholds: str = "best",
    ) -> None:
        self.criterion = criterion
        self.depth = depth
        self.leaf = leaf
        self.split = split
        self.features = features
        self.thresholds = thresholds


class Neighbors(BaseEstimator):
    """k-nearest neighbours: the class shares of the training rows nearest to a row.

    A ``base`` of estimators, where ``"neighbors"`` is the one with default parameters.

    Parameters
    ----------
    k : int, default=5
        Number of neighbours that vote; all rows, if there are fewer.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import BaggingClassifier, Neighbors, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BaggingClassifier(base=Neighbors(), random_state=0).fit(X, mask_labels(y, 40, random_state=0))
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _name: ClassVar[str] = "neighbors"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "k": at_least(1),
    }

    def __init__(
        self,
        k: int = 5,
    ) -> None:
        self.k = k


# All base learners by name, and the classes of those that have settings.
BASES = ("logistic", "tree", "neighbors", "bayes")
LEARNERS: dict[str, type[BaseEstimator]] = {
    "tree": Tree,
    "neighbors": Neighbors,
}
Base: TypeAlias = str | Tree | Neighbors | Classifier
