"""Models in files."""

from __future__ import annotations

import json
import os
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from udeed import _core
from udeed._adaboost import AdaBoostClassifier
from udeed._assemble import AssembleClassifier
from udeed._auto import UDEEDAutoClassifier
from udeed._bagging import BaggingClassifier
from udeed._co_forest import CoForestClassifier
from udeed._co_training import CoTrainingClassifier
from udeed._ensemble import Ensemble, restore
from udeed._labels import is_unlabeled
from udeed._mcssb import MCSSBClassifier
from udeed._regboost import RegBoostClassifier
from udeed._self_training import SelfTrainingClassifier
from udeed._semiboost import SemiBoostClassifier
from udeed._setred import SetredClassifier
from udeed._ssmboost import SSMBoostClassifier
from udeed._stacking import StackingClassifier
from udeed._tri_training import TriTrainingClassifier
from udeed._udeed import UDEEDClassifier

# Every method of the library: a new one joins here.
ESTIMATORS: dict[str, type[Ensemble]] = {
    estimator._method: estimator
    for estimator in (
        UDEEDClassifier,
        UDEEDAutoClassifier,
        BaggingClassifier,
        AdaBoostClassifier,
        AssembleClassifier,
        SemiBoostClassifier,
        SelfTrainingClassifier,
        TriTrainingClassifier,
        CoForestClassifier,
        CoTrainingClassifier,
        SetredClassifier,
        SSMBoostClassifier,
        RegBoostClassifier,
        MCSSBClassifier,
        StackingClassifier,
    )
}


def load(path: str | os.PathLike[str], *, classes: ArrayLike | None = None) -> Ensemble:
    """Read a model that an estimator's ``save`` or the command ``udeed fit`` wrote.

    Parameters
    ----------
    path : path
        The file.
    classes : array, optional
        The classes, in the order of the file. By default their names, as numbers where all are numbers: a file holds
        text only.

    Returns
    -------
    estimator
        Of the class of the method that the model was made by.

    Examples
    --------
    >>> import os, tempfile
    >>> from udeed import BaggingClassifier, load
    >>> model = BaggingClassifier(random_state=0).fit([[0.0], [1.0], [2.0]], ["no", "no", "yes"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(os.path.join(folder, "model.safetensors"))
    ...     again = load(os.path.join(folder, "model.safetensors"))
    >>> again.predict([[0.0], [2.0]])
    array(['no', 'yes'], dtype=object)
    """
    model = _core.Model.load(os.fspath(path))
    settings: dict[str, Any] = json.loads(model.settings)
    kind = ESTIMATORS[settings.pop("method")]
    estimator = kind(**kind._parameters(settings), threshold=model.threshold)
    restore(estimator, model, classes)
    # The file does not say which label meant none; a class never does.
    if is_unlabeled(estimator.classes_, estimator.unlabeled).any():
        estimator.unlabeled = None
    return estimator


def to_onnx(estimator: Ensemble, path: str | os.PathLike[str] | None = None) -> bytes:
    """The model as an ONNX graph, its preparation of the rows included.

    A model of numbers has one input ``X`` of type float32; one with columns of words has an input for every column, by
    its name, of shape (n, 1). The outputs are ``label`` (int64 where all classes are whole numbers, else text) and
    ``probabilities``.

    Parameters
    ----------
    estimator : fitted estimator
        Of this package.
    path : path, optional
        Where to write the graph, too.

    Returns
    -------
    bytes

    Examples
    --------
    >>> from udeed import BaggingClassifier, to_onnx
    >>> model = BaggingClassifier(random_state=0).fit([[0.0], [1.0]], [0, 1])
    >>> graph = to_onnx(model)
    >>> b"probabilities" in graph
    True
    """
    if not isinstance(estimator, Ensemble):
        raise TypeError(f"`estimator` is {type(estimator).__name__}, expected a fitted estimator of udeed")
    check_is_fitted(estimator)
    graph = estimator._model.to_onnx()
    if path is not None:
        with open(path, "wb") as file:
            file.write(graph)
    return graph
