"""Estimators and models as ``pyspark.ml`` has them. Their parameters are those of the local estimators."""

from __future__ import annotations

import copy
import inspect
from typing import Any, ClassVar

import numpy as np
import udeed
from numpy.typing import NDArray
from pyspark.ml import Estimator, Model
from pyspark.ml.linalg import VectorUDT
from pyspark.sql import types as T

from udeed._ensemble import Ensemble
from udeed.spark import _work
from udeed.spark._features import Features
from udeed.spark._files import Readable, Writable
from udeed.spark._fit import fit
from udeed.spark._params import Settings

_OF_ESTIMATOR = """The parameters are those of :class:`udeed.{name}`, but for ``n_jobs``, and ``seed`` in place of
``random_state``; and Spark's ``featuresCol``, ``labelCol``, ``weightCol``, ``predictionCol``, ``probabilityCol`` and
``rawPredictionCol``. ``featuresCols`` names columns of numbers and words in place of one of vectors or arrays;
``predictionLabelCol`` names a column for the predicted class itself. Rows whose label is null, NaN or ``unlabeled`` have none."""


class _Estimator(Settings, Estimator, Writable, Readable):
    """An estimator of Spark."""

    model_class: ClassVar[type[_Model]]

    def __init_subclass__(cls, of: type[Ensemble] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(of=of, **kwargs)
        if of is None:
            return
        doc = inspect.cleandoc(of.__doc__ or "").partition("\n\n")[0]
        cls.__doc__ = f"{doc}\n\n{_OF_ESTIMATOR.format(name=of.__name__)}\n"
        cls.__module__ = "udeed.spark"
        cls.model_class = type(f"{cls.__name__}Model", (_Model,), {}, of=of)

    def _fit(self, dataset: Any) -> _Model:
        columns = self.getOrDefault("featuresCols")
        features = Features.of(dataset.schema, self.getOrDefault("featuresCol"), columns)
        local = fit(self.local(), dataset, features, self.getOrDefault("labelCol"), self.weight_col)
        model = self.model_class(local)
        for param, value in self.extractParamMap().items():
            # A model has no use for it, and no file could hold it.
            if param.name != "callback":
                put = model.set if self.isSet(param) else model._setDefault
                put(model.getParam(param.name), value) if self.isSet(param) else put(**{param.name: value})
        return model


class _Model(Settings, Model, Writable, Readable):
    """A fitted model of Spark."""

    def __init_subclass__(cls, of: type[Ensemble] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(of=of, **kwargs)
        if of is not None:
            cls.__doc__ = f"A model of :class:`udeed.spark.{of.__name__}`."
            cls.__module__ = "udeed.spark"

    def __init__(self, local: Ensemble) -> None:
        super().__init__()
        self._local = local

    def toLocal(self) -> Ensemble:
        """The fitted estimator of this package, for rows in memory."""
        return copy.deepcopy(self._local)

    @property
    def classes(self) -> NDArray[Any]:
        """The classes, in the order of the probabilities."""
        return np.asarray(self._local.classes_)

    @property
    def numClasses(self) -> int:
        """Number of classes."""
        return len(self._local.classes_)

    @property
    def numFeatures(self) -> int:
        """Number of columns seen in the fit."""
        return self._local.n_features_in_

    @property
    def history(self) -> list[dict[str, Any]]:
        """Steps of gradient descent."""
        return self._local.history_

    def _outputs(self) -> dict[str, str]:
        """What the columns that are asked for hold, and their names."""
        names = {
            what: self.getOrDefault(f"{what}Col") for what in ("rawPrediction", "probability", "prediction", "predictionLabel")
        }
        return {what: name for what, name in names.items() if name}

    def transformSchema(self, schema: Any) -> Any:
        """The columns of the frame, and those of the predictions."""
        names = self._outputs()
        if twice := sorted(set(names.values()) & set(schema.fieldNames())):
            raise ValueError(f"the frame has a column {', '.join(map(repr, twice))} already, which predictions would be in")
        fields = [T.StructField(name, self._type_of(what)) for what, name in names.items()]
        return T.StructType([*schema.fields, *fields])

    def _type_of(self, what: str) -> Any:
        if what in ("rawPrediction", "probability"):
            return VectorUDT()
        if what == "prediction":
            return T.DoubleType()
        kinds = {"i": T.LongType(), "u": T.LongType(), "f": T.DoubleType(), "b": T.BooleanType()}
        return kinds.get(self._local.classes_.dtype.kind, T.StringType())

    def _transform(self, dataset: Any) -> Any:
        schema = dataset.schema
        features = Features.of(schema, self.getOrDefault("featuresCol"), self.getOrDefault("featuresCols"))
        local = copy.copy(self._local)
        # Executors have a thread for each task.
        local.set_params(n_jobs=1, callback=None)
        return _work.in_arrow(dataset, _work.predict(local, features, self._outputs()), self.transformSchema(schema))


class UDEEDClassifier(_Estimator, of=udeed.UDEEDClassifier): ...


class BaggingClassifier(_Estimator, of=udeed.BaggingClassifier): ...


class UDEEDAutoClassifier(_Estimator, of=udeed.UDEEDAutoClassifier): ...


class AdaBoostClassifier(_Estimator, of=udeed.AdaBoostClassifier): ...


class ExtraTreesClassifier(_Estimator, of=udeed.ExtraTreesClassifier): ...


class StackingClassifier(_Estimator, of=udeed.StackingClassifier): ...


UDEEDClassifierModel = UDEEDClassifier.model_class
BaggingClassifierModel = BaggingClassifier.model_class
UDEEDAutoClassifierModel = UDEEDAutoClassifier.model_class
AdaBoostClassifierModel = AdaBoostClassifier.model_class
ExtraTreesClassifierModel = ExtraTreesClassifier.model_class
StackingClassifierModel = StackingClassifier.model_class
