"""Cross-validation of Spark for rows of which some have no label."""

from __future__ import annotations

from typing import Any

from pyspark.ml.param import Param, Params
from pyspark.ml.tuning import CrossValidator
from pyspark.sql import Window
from pyspark.sql import functions as F

from udeed.spark._features import column, is_labeled

_FOLD = "__udeed_fold"


class SemiSupervisedCrossValidator(CrossValidator):
    """``pyspark.ml.tuning.CrossValidator`` with unlabeled rows in every training part and in no test part.

    Labeled rows are dealt out at random, each class in proportion. ``labelCol`` and ``unlabeled`` say which rows have a label, as
    those of the estimators do.
    """

    labelCol = Param(Params._dummy(), "labelCol", "column of the labels")
    unlabeled = Param(Params._dummy(), "unlabeled", "label of unlabeled rows, besides null and NaN")

    def __init__(self, *, labelCol: str = "label", unlabeled: Any = -1, **given: Any) -> None:
        super().__init__(**given)
        # What is kept for the folds of a search, until it ends.
        self._dealt: list[Any] = []
        self._setDefault(labelCol="label", unlabeled=-1)
        self.set(self.getParam("labelCol"), labelCol)
        self.set(self.getParam("unlabeled"), unlabeled)

    def _fit(self, dataset: Any) -> Any:
        try:
            return super()._fit(dataset)
        finally:
            while self._dealt:
                self._dealt.pop().unpersist()

    def _kFold(self, dataset: Any) -> list[tuple[Any, Any]]:
        if self.getOrDefault("foldCol"):
            raise ValueError("`foldCol` is given, but unlabeled rows are in the training part of every fold: leave it out")
        label, folds = self.getOrDefault("labelCol"), self.getOrDefault("numFolds")
        there = is_labeled(dataset.schema, label, self.getOrDefault("unlabeled"))
        few = {row[0]: row[1] for row in dataset.where(there).groupBy(column(label)).count().collect() if row[1] < folds}
        if few:
            name, count = next(iter(few.items()))
            raise ValueError(f"class {name!r} has {count} labeled rows, expected {folds} at least, one for each fold")
        # Each class begins at another fold, so that folds are of a size.
        order = Window.partitionBy(column(label)).orderBy(F.rand(self.getOrDefault("seed")))
        # As long numbers: the least hash has no absolute value as a short one, and sums of large ones overflow.
        begins = F.hash(column(label)).cast("long")
        deal = F.pmod(F.row_number().over(order).cast("long") + begins, F.lit(folds).cast("long"))
        labeled = dataset.where(there).withColumn(_FOLD, deal).cache()
        self._dealt.append(labeled)
        # Rows are dealt out once: each fold must see the same ones.
        labeled.count()
        others = dataset.where(~there)
        own = [labeled.where(column(_FOLD) == fold).drop(_FOLD) for fold in range(folds)]
        rest = [labeled.where(column(_FOLD) != fold).drop(_FOLD) for fold in range(folds)]
        return [(train.unionByName(others), test) for train, test in zip(rest, own, strict=True)]
