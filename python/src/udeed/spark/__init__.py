"""The estimators on Apache Spark, as those of ``pyspark.ml``: ``pip install udeed[spark]``.

Unlabeled rows stay on the executors; labeled rows and the fit itself are on the driver. Everything goes by the interface of data
frames, so that Spark Connect works.
"""

from typing import Any

from udeed._kinds import CARDS
from udeed.spark._estimators import (
    AdaBoostClassifier,
    AdaBoostClassifierModel,
    BaggingClassifier,
    BaggingClassifierModel,
    ExtraTreesClassifier,
    ExtraTreesClassifierModel,
    StackingClassifier,
    StackingClassifierModel,
    UDEEDAutoClassifier,
    UDEEDAutoClassifierModel,
    UDEEDClassifier,
    UDEEDClassifierModel,
)
from udeed.spark._folds import SemiSupervisedCrossValidator

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostClassifierModel",
    "BaggingClassifier",
    "BaggingClassifierModel",
    "ExtraTreesClassifier",
    "ExtraTreesClassifierModel",
    "SemiSupervisedCrossValidator",
    "StackingClassifier",
    "StackingClassifierModel",
    "UDEEDAutoClassifier",
    "UDEEDAutoClassifierModel",
    "UDEEDClassifier",
    "UDEEDClassifierModel",
]


def __getattr__(name: str) -> Any:
    for card in CARDS.values():
        if card["python"] == name:
            what = f"{name} needs all rows in memory at once, and is not in udeed.spark"
            raise ImportError(f"{what}: fit udeed.{name} to some of the rows, such as `frame.sample(0.01).toPandas()`")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
