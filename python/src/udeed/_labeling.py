"""Which rows to label next, which labels to doubt, and what further ones would bring."""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length

from udeed import _core
from udeed._ensemble import Ensemble, Training, ours, weights_by_class
from udeed._labels import UdeedWarning, read_labels
from udeed._rows import Rows, read_rows
from udeed._rules import count_of, is_whole, seed_of
from udeed._udeed_cv import UDEEDClassifierCV


def suggest(
    X: Any,
    y: ArrayLike | None = None,
    n: int = 10,
    model: Ensemble | None = None,
    strategy: str = "default",
    random_state: int | np.random.RandomState | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    cost: ArrayLike | None = None,
    per_class: int | None = None,
    unlabeled: object = -1,
    n_jobs: int | None = None,
    return_scores: bool = False,
) -> NDArray[np.int64] | tuple[NDArray[np.int64], dict[str, NDArray[Any]]]:
    """Suggest which rows to label next.

    Labels chosen this way are not a random sample: measure accuracy and class shares on rows drawn at random.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows, labeled and unlabeled.
    y : array of shape (n_samples,), optional
        Their labels, ``unlabeled`` for none. There may be none at all.
    n : int
        Number of suggestions.
    model : estimator of this package, optional
        A fitted one is asked as it is, whatever labels there are; one that is not is fitted to the labeled rows and at most 2000
        of the others, with its ``class_weight`` but without its ``threshold``: by the default strategy from ten labels on, two of
        each class. Default: ``UDEEDAutoClassifier``.
    strategy : str
        ``"default"`` or ``"variance-reduction"``: how much a label tells about the rows that are still undecided;
        ``"margin"``, ``"vote-entropy"``, ``"random"``; ``"committee"``: where members disagree, worse than random rows with few
        labels. A model of one member has no votes to compare.
    random_state : int, RandomState or None
        Random seed of the suggestions. A ``model`` that is fitted here has its own.
    sample_weight : array of shape (n_samples,), optional
        How much it matters to know the class of each unlabeled row, by which only the default strategy goes: others warn. Weights
        of labels are those of the fit. Rows of weight 0 are left out.
    cost : array of shape (n_samples,), optional
        What the label of each row costs; scores are divided by it.
    per_class : int, optional
        Largest number of suggestions that are predicted to be of the same class.
    unlabeled : object
        The label of rows that have none.
    n_jobs : int, optional
        Number of threads.
    return_scores : bool
        Whether to return the reasons, too.

    Returns
    -------
    positions : array of shape (n,)
        Positions of unlabeled rows in X, the most useful first.
    reasons : dict of arrays of shape (n,), if ``return_scores``
        ``score``; ``undecided``, 1 less the margin between the two most probable classes; ``unlike``, the variance that the
        labels, and the suggestions before, leave of the row; ``share`` of the variance of all rows that its label is expected
        to remove; ``predicted`` class, None without a model.

    Examples
    --------
    >>> import numpy as np
    >>> from udeed import suggest
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1], [9.0], [9.1]])
    >>> sorted((suggest(X, n=3, random_state=0) // 2).tolist())
    [0, 1, 2]
    """
    n, per_class = count_of("n", n), None if per_class is None else count_of("per_class", per_class)
    known = [name for name, _ in _core.strategies()]
    chosen = known[0] if strategy == "default" else strategy
    if chosen not in known:
        raise ValueError(f"`strategy` is {strategy!r}, expected 'default' or one of {known}")
    if model is not None:
        model = ours("model", model)
    fitted = model if model is not None and hasattr(model, "_model") else None
    rows = _rows_of(X) if fitted is None else fitted._rows(X)
    given = np.full(rows.n_rows, -1) if y is None else y
    asked = model if fitted is None else None
    settings = None if asked is None else _settings_of(asked, "classes are predicted")
    training = _training(rows, given, -1 if y is None else unlabeled, 0, sample_weight, asked)
    positions, columns, predicted, told = _core.suggest(
        training,
        None if fitted is None else fitted._model,
        settings,
        [] if asked is None else asked._foreign(),
        "cpu" if asked is None else asked._device(),
        chosen,
        min(n, sys.maxsize),
        None if per_class is None else min(per_class, sys.maxsize),
        _numbers(cost, rows, "cost"),
        seed_of(random_state),
        int(effective_n_jobs(n_jobs)),
    )
    for text in told:
        warnings.warn(text, UdeedWarning, stacklevel=2)
    if not return_scores:
        return positions
    reasons: dict[str, NDArray[Any]] = dict(zip(("score", "undecided", "unlike", "share"), columns, strict=True))
    if fitted is None:
        classes, names = training.labels.classes, training.classes
    else:
        classes, names = fitted.classes_, fitted._model.classes
    by_name = dict(zip(names, classes, strict=True))
    reasons["predicted"] = np.array([None if name is None else by_name[name] for name in predicted], dtype=object)
    return positions, reasons


def doubt(
    X: Any,
    y: ArrayLike,
    random_state: int | np.random.RandomState | None = None,
    *,
    unlabeled: object = -1,
    n_jobs: int | None = None,
    return_scores: bool = False,
) -> NDArray[np.int64] | tuple[NDArray[np.int64], dict[str, Any]]:
    """Rank labels by how strongly out-of-bag predictions contradict them.

    The predictions are those of ``UDEEDAutoClassifier`` and of a random forest. The only row of a class is always doubted.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows, labeled and unlabeled.
    y : array of shape (n_samples,)
        Their labels, ``unlabeled`` for none.
    random_state, unlabeled, n_jobs, return_scores
        As in :func:`udeed.suggest`.

    Returns
    -------
    positions : array of shape (n_labeled,)
        Positions of the labeled rows in X, the most doubtful first.
    reasons : dict, if ``return_scores``
        ``probability`` of each label without it and the ``suggested`` class, in the order of the positions; ``n_wrong``: the
        least and the largest number of labels that are likely to be wrong. Where few are wrong, estimates of it are too high.
        ``n_unjudged``: the number of labels that nobody can judge, which are not among those, such as the only one of a class.

    Examples
    --------
    >>> import numpy as np
    >>> from udeed import doubt
    >>> X = np.arange(40.0)[:, np.newaxis]
    >>> y = (X[:, 0] >= 20).astype(int)
    >>> y[5] = 1
    >>> int(doubt(X, y, random_state=0)[0])
    5
    """
    rows = _rows_of(X)
    training = _training(rows, y, unlabeled, 2, None)
    positions, probabilities, suggested, n_wrong, n_unjudged, told = _core.doubt(
        training, seed_of(random_state), int(effective_n_jobs(n_jobs))
    )
    for text in told:
        warnings.warn(text, UdeedWarning, stacklevel=2)
    if not return_scores:
        return positions
    classes = training.labels.classes[suggested]
    reasons = {"probability": probabilities, "suggested": classes, "n_wrong": n_wrong, "n_unjudged": n_unjudged}
    return positions, reasons


@dataclass(frozen=True)
class Forecast:
    """What further labels would bring, see :func:`udeed.forecast`.

    Attributes
    ----------
    more : array of shape (n,)
        Numbers of further labels; the first is 0.
    accuracy : array of shape (n,)
        Expected accuracy.
    low, high : array of shape (n,)
        Its interval, of 90 %.
    gain_low, gain_high : array of shape (n,)
        Interval of the gain over the accuracy at hand, of 90 %.
    curve : array of shape (4, 2)
        Numbers of labels, and the accuracy with as many on labels left out.
    is_open : bool
        Whether the labels at hand do not tell whether further ones help.
    """

    more: NDArray[np.int64]
    accuracy: NDArray[np.float64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    gain_low: NDArray[np.float64]
    gain_high: NDArray[np.float64]
    curve: NDArray[np.float64]
    is_open: bool


def forecast(
    X: Any,
    y: ArrayLike,
    more: Sequence[int] = (10, 50, 100),
    model: Ensemble | None = None,
    random_state: int | np.random.RandomState | None = None,
    *,
    repetitions: int = 4,
    unlabeled: object = -1,
    n_jobs: int | None = None,
) -> Forecast:
    """Forecast the accuracy that further labels, of rows drawn at random, would bring.

    Models of a third, a half, two thirds and four fifths of the labels are tested on those left out; a power law of
    the error through their accuracies is followed beyond the labels at hand. With few labels the intervals are wide.

    Parameters
    ----------
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows, labeled and unlabeled.
    y : array of shape (n_samples,)
        Their labels, ``unlabeled`` for none; 10 at least, 3 of each of two classes. They are taken as drawn at random.
    more : sequence of int
        Numbers of further labels.
    model : estimator of this package, optional
        It is not changed. Its ``class_weight`` counts, its ``threshold`` does not. Default: ``UDEEDAutoClassifier``.
    random_state : int, RandomState or None
        Random seed.
    repetitions : int
        How often the labels are dealt anew; each time 13 models are fitted.
    unlabeled : object
        The label of rows that have none.
    n_jobs : int, optional
        Number of threads.

    Returns
    -------
    Forecast
        Expected accuracy, its interval and that of the gain for each number of labels.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import BaggingClassifier, forecast, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BaggingClassifier(random_state=0)
    >>> found = forecast(X, mask_labels(y, 40, random_state=0), [50], model, random_state=0)
    >>> bool(found.low[1] < 0.96 < found.high[1])
    True
    """
    numbers = list(more)
    if not numbers or not all(is_whole(n) and n >= 1 for n in numbers):
        raise ValueError(f"`more` is {more!r}, expected whole numbers of at least 1")
    repetitions = count_of("repetitions", repetitions)
    if model is not None:
        model = ours("model", model)
    settings = None if model is None else _settings_of(model, "accuracies are forecast")
    training = _training(_rows_of(X), y, unlabeled, 2, None, model)
    expected, curve, is_open, told = _core.forecast(
        training,
        [min(int(n), _MOST_LABELS) for n in numbers],
        settings,
        [] if model is None else model._foreign(),
        "cpu" if model is None else model._device(),
        repetitions,
        seed_of(random_state),
        int(effective_n_jobs(n_jobs)),
    )
    for text in told:
        warnings.warn(text, UdeedWarning, stacklevel=2)
    steps, accuracy, intervals, gains = (np.array(column) for column in zip(*expected, strict=True))
    return Forecast(
        more=steps,
        accuracy=accuracy,
        low=intervals[:, 0],
        high=intervals[:, 1],
        gain_low=gains[:, 0],
        gain_high=gains[:, 1],
        curve=np.array(curve),
        is_open=is_open,
    )


def _rows_of(X: Any) -> Rows:
    # scikit-learn checks rows for an estimator, which keeps what it learned of the columns.
    return read_rows(BaseEstimator(), X, reset=True)


# More labels than there can be rows; curves are flat long before.
_MOST_LABELS = 2**53


def _settings_of(model: Ensemble, what: str) -> str:
    """The settings of an estimator as JSON. Warns of parameters that are ignored here, or refuses them."""
    model._validate_params()
    if isinstance(model, UDEEDClassifierCV):
        name = type(model).__name__
        raise TypeError(f"`model` is a {name}, whose parameters are still to be searched for: expected another estimator")
    if isinstance(model.threshold, str) or model.threshold != 0.0:
        text = f"`threshold={model.threshold!r}` of the model is not used: {what} with the threshold 0"
        warnings.warn(text, UdeedWarning, stacklevel=3)
    return json.dumps(model._settings())


def _training(
    rows: Rows,
    y: ArrayLike,
    unlabeled: object,
    fewest: int,
    sample_weight: ArrayLike | None,
    model: Ensemble | None = None,
) -> Training:
    """Rows with their labels and weights, and the weights of classes that a model to be fitted has."""
    labels = read_labels(y, unlabeled, fewest)
    check_consistent_length(labels.codes, np.empty(rows.n_rows))
    weights = _numbers(sample_weight, rows, "sample_weight")
    of_classes = None if model is None or labels.classes.size == 0 else model.class_weight
    balanced, class_weights = isinstance(of_classes, str), None
    if of_classes is not None and not balanced:
        weights, class_weights = weights_by_class(of_classes, labels, rows.n_rows, weights)
    labels, left = labels.of_weight(weights, fewest)
    return Training(rows, labels, weights, balanced, None if class_weights is None else class_weights[left])


def _numbers(values: ArrayLike | None, rows: Rows, name: str) -> NDArray[np.float64] | None:
    if values is None:
        return None
    numbers = np.ascontiguousarray(values, dtype=np.float64)
    if numbers.shape != (rows.n_rows,):
        raise ValueError(f"`{name}` has the shape {numbers.shape}, expected ({rows.n_rows},)")
    if name == "cost" and not np.all(np.isfinite(numbers) & (numbers > 0)):
        bad = int(np.flatnonzero(~(np.isfinite(numbers) & (numbers > 0)))[0])
        raise ValueError(f"`cost[{bad}]` is {numbers[bad]}, expected positive numbers")
    return numbers
