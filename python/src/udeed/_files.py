"""Models in files."""

from __future__ import annotations

import json
import os
from typing import Any

from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from udeed import _core
from udeed._ensemble import Ensemble, ours, restore
from udeed._estimators import ESTIMATORS
from udeed._labels import holds_unlabeled


def load(path: str | os.PathLike[str], *, classes: ArrayLike | None = None) -> Ensemble:
    """Read a model that an estimator's ``save`` or the command ``udeed fit`` wrote.

    Parameters
    ----------
    path : path
        The file.
    classes : array, optional
        The classes, in the order of the file. By default their names, as numbers where all are numbers: files hold text
        only.

    Returns
    -------
    estimator
        An estimator of the class of the model's method.

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
    # The file does not name the label of unlabeled rows; a class never is.
    if holds_unlabeled(estimator.classes_, estimator.unlabeled):
        estimator.unlabeled = None
    return estimator


def to_onnx(estimator: Ensemble, path: str | os.PathLike[str] | None = None) -> bytes:
    """Export a model as an ONNX graph that includes the preparation of the rows.

    A model of numbers has one input ``X`` of type float32; one with columns of words has an input for every column, by
    its name, of shape (n, 1). The outputs are ``label`` (int64 where all classes are whole numbers, else text) and
    ``probabilities``.

    Every model has a graph. What ``held_rows_`` says that a model holds of its training rows, the graph holds too.

    Parameters
    ----------
    estimator : fitted estimator
        Of this package.
    path : path, optional
        Name of a file for the graph.

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
    check_is_fitted(ours("estimator", estimator))
    graph = estimator._model.to_onnx()
    if path is not None:
        with open(path, "wb") as file:
            file.write(graph)
    return graph
