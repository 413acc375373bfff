"""Base learners of the members of an ensemble."""

from __future__ import annotations

from typing import Any, ClassVar, TypeAlias

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import RealNotInt

from udeed._rules import Number, at_least, one_of


class Tree(BaseEstimator):
    """A decision tree as base learner: CART, with scikit-learn's rules.

    Parameters
    ----------
    criterion : {"gini", "entropy"}, default="gini"
        Impurity of a node.
    depth : int or None, default=None
        Largest depth; None for no limit.
    leaf : int, default=1
        Smallest number of rows of a leaf.
    split : int, default=2
        Smallest number of rows of a node that is split.
    features : {"all", "root", "log2", "log2-plus-one"}, int or float, default="all"
        Number of features drawn at each node to look for a split: all, the square root of their number, its binary
        logarithm, one more than that, a number, or a share of them.
    thresholds : {"best", "random"}, default="best"
        Thresholds of the features drawn at a node: the best of each, or one at random.

    Examples
    --------
    >>> from udeed import AdaBoostClassifier, Tree
    >>> stumps = AdaBoostClassifier(base=Tree(depth=1), random_state=0)
    >>> stumps.fit([[0.0], [1.0], [2.0], [3.0]], ["no", "no", "yes", "yes"]).predict([[0.5], [2.5]])
    array(['no', 'yes'], dtype='<U3')
    """

    __module__ = "udeed"
    _name: ClassVar[str] = "tree"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "criterion": one_of("gini", "entropy"),
        "depth": [*at_least(1), None],
        "leaf": at_least(1),
        "split": at_least(2),
        "features": [
            *one_of("all", "root", "log2", "log2-plus-one"),
            *at_least(1),
            Number(RealNotInt, 0.0, 1.0, closed="right"),
        ],
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

    def _setting(self) -> dict[str, Any]:
        setting = {name: native(value) for name, value in self.get_params(deep=False).items()}
        features = setting["features"]
        if not isinstance(features, str):
            setting["features"] = {"share" if isinstance(features, float) else "count": features}
        return setting

    @classmethod
    def _of(cls, setting: dict[str, Any]) -> Tree:
        features = setting["features"]
        if isinstance(features, dict):
            (features,) = features.values()
        return cls(**{**setting, "features": features})


class Neighbors(BaseEstimator):
    """Nearest neighbours as base learner.

    Parameters
    ----------
    k : int, default=5
        Number of neighbours that vote; all rows, if there are fewer.

    Examples
    --------
    >>> from udeed import BaggingClassifier, Neighbors
    >>> model = BaggingClassifier(base=Neighbors(k=1), random_state=0)
    >>> model.fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]).predict([[0.1], [2.9]])
    array([0, 1])
    """

    __module__ = "udeed"
    _name: ClassVar[str] = "neighbors"
    _parameter_constraints: ClassVar[dict[str, Any]] = {"k": at_least(1)}

    def __init__(self, k: int = 5) -> None:
        self.k = k

    def _setting(self) -> dict[str, Any]:
        return {"k": native(self.k)}


Base: TypeAlias = str | Tree | Neighbors

BASES = ("logistic", "tree", "neighbors", "bayes")


def base_learner() -> list[Any]:
    """The rule for a base learner."""
    return [*one_of(*BASES), Tree, Neighbors]


def native(value: Any) -> Any:
    """A number of Python for one of numpy."""
    return value.item() if isinstance(value, np.generic) else value


def as_setting(value: Any) -> Any:
    """The value of a parameter as the library has it."""
    if isinstance(value, (Tree, Neighbors)):
        return {value._name: value._setting()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [as_setting(item) for item in value]
    return native(value)


def as_parameter(value: Any) -> Any:
    """The library's setting as the value of a parameter."""
    if isinstance(value, list):
        return tuple(as_parameter(item) for item in value)
    if not isinstance(value, dict):
        return value
    if "neighbors" in value:
        return Neighbors(**value["neighbors"])
    return Tree._of(value.get("tree", value))
