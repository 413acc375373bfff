"""Parameters of Spark, made of those of the estimators of this package."""

from __future__ import annotations

import inspect
import re
from typing import Any, ClassVar

from pyspark.ml.param import Param, Params
from pyspark.ml.param.shared import (
    HasFeaturesCol,
    HasLabelCol,
    HasPredictionCol,
    HasProbabilityCol,
    HasRawPredictionCol,
    HasWeightCol,
)

from udeed._bases import LEARNERS
from udeed._ensemble import Ensemble

# Threads are those of the driver, all of them; Spark has its own name for the seed.
_OTHERS = {"n_jobs", "random_state"}


def settings_of(local: type[Ensemble]) -> dict[str, tuple[Any, str]]:
    """The parameters of an estimator that Spark's has as well: each with its default and what it is."""
    defaults = {name: own.default for name, own in inspect.signature(local).parameters.items() if name not in _OTHERS}
    text = inspect.cleandoc(local.__doc__ or "").partition("Parameters\n----------\n")[2].partition("\n\nAttributes\n")[0]
    parts = re.split(r"^(\w+) : .*\n", text, flags=re.MULTILINE)
    docs = dict(zip(parts[1::2], parts[2::2], strict=True))
    return {name: (default, " ".join(docs[name].split())) for name, default in defaults.items()}


class Settings(HasFeaturesCol, HasLabelCol, HasPredictionCol, HasProbabilityCol, HasRawPredictionCol, HasWeightCol):
    """The parameters of an estimator and of its models: Spark's own, and those of the local estimator ``of``."""

    local_class: ClassVar[type[Ensemble]]

    featuresCols = Param(
        Params._dummy(), "featuresCols", "columns of numbers or words that are the features, instead of featuresCol"
    )
    predictionLabelCol = Param(
        Params._dummy(), "predictionLabelCol", "column for the predicted class itself, as in labelCol; none if empty"
    )
    seed = Param(Params._dummy(), "seed", "random seed; the same as random_state of the local estimator")

    def __init_subclass__(cls, of: type[Ensemble] | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if of is None:
            return
        cls.local_class = of
        for name, (_, doc) in settings_of(of).items():
            setattr(cls, name, Param(Params._dummy(), name, doc))

    def __init__(self, **given: Any) -> None:
        super().__init__()
        defaults = {name: default for name, (default, _) in settings_of(self.local_class).items()}
        self._setDefault(featuresCols=None, predictionLabelCol="", seed=None, **defaults)
        self.setParams(**given)

    def setParams(self, **given: Any) -> Any:
        """Sets parameters by their names."""
        known = {param.name for param in self.params}
        if others := sorted(set(given) - known):
            listed = ", ".join(sorted(known))
            raise TypeError(f"{type(self).__name__} has no parameter {', '.join(map(repr, others))}, expected some of {listed}")
        return self._set_all(given)

    def _set_all(self, given: dict[str, Any]) -> Any:
        # Spark's own way passes over None, which is a value of some of ours.
        for name, value in given.items():
            self.set(self.getParam(name), value)
        return self

    def local(self, **others: Any) -> Ensemble:
        """The local estimator of these parameters."""
        values = {name: self.getOrDefault(name) for name in settings_of(self.local_class)}
        return self.local_class(**{**values, "random_state": self.getOrDefault("seed"), "n_jobs": -1, **others})

    @property
    def weight_col(self) -> str | None:
        """The column of weights, if there is one."""
        return (self.getOrDefault("weightCol") or None) if self.isDefined("weightCol") else None


def _setter(name: str) -> Any:
    def put(self: Settings, value: Any) -> Any:
        return self._set_all({name: value})

    put.__doc__ = f"Sets ``{name}``."
    return put


# As Spark's own estimators have them.
for _name in (
    "featuresCol",
    "featuresCols",
    "labelCol",
    "weightCol",
    "predictionCol",
    "probabilityCol",
    "rawPredictionCol",
    "seed",
):
    setattr(Settings, f"set{_name[0].upper()}{_name[1:]}", _setter(_name))


_LEARNERS: Any = tuple(LEARNERS.values())


def to_json(name: str, value: Any) -> Any:
    """A value of a parameter for a file."""
    if isinstance(value, dict):
        return {"dict": [[to_json(name, key), to_json(name, own)] for key, own in value.items()]}
    if isinstance(value, (list, tuple)):
        return [to_json(name, own) for own in value]
    if isinstance(value, _LEARNERS):
        given = value.get_params(deep=False)
        return {"learner": value._name, "parameters": {key: to_json(key, own) for key, own in given.items()}}
    if hasattr(value, "tolist"):
        return to_json(name, value.tolist())
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    raise TypeError(f"`{name}` is {value!r}, which no file can hold: set it to None before saving")


def from_json(value: Any) -> Any:
    """The value that :func:`to_json` wrote."""
    if isinstance(value, list):
        return [from_json(own) for own in value]
    if isinstance(value, dict) and "learner" in value:
        return LEARNERS[value["learner"]](**{key: from_json(own) for key, own in value["parameters"].items()})
    if isinstance(value, dict):
        return {from_json(key): from_json(own) for key, own in value["dict"]}
    return value
