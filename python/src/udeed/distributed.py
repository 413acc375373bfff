"""A fit of UDEED whose unlabeled rows lie in parts, each with a process of its own: on this machine or others.

Only small things travel: statistics of columns, then in each step of the descent the weights to those who hold rows, and sums
over their rows back. Whatever runs functions elsewhere can carry them, such as :mod:`concurrent.futures`, Dask, Ray or Spark.

1. :func:`statistics` of each part, and of the labeled rows; they add up.
2. :func:`prepare` makes of these what makes rows ready.
3. :func:`spill` keeps the rows of each part, made ready, in a file beside who holds it.
4. :func:`fit` learns from the labeled rows, and asks for the :func:`partial` sums of every part in each step.
"""

from __future__ import annotations

import dataclasses
import json
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator

from udeed import _core
from udeed._core import Preparation, Statistics
from udeed._ensemble import Ensemble
from udeed._estimators import ESTIMATORS
from udeed._frames import check_kinds, read_parquet
from udeed._kinds import CARDS
from udeed._rows import Rows, of_frame, read_rows
from udeed._unlabeled import batches

Learner = TypeVar("Learner", bound=Ensemble)

__all__ = ["Preparation", "Question", "Spill", "Statistics", "fit", "partial", "prepare", "spill", "statistics"]


@dataclass(frozen=True)
class Spill:
    """Rows that were made ready and kept in a file.

    Attributes
    ----------
    path : str
        Name of the file.
    n_rows : int
        Number of rows.
    checksum : int
        Checksum of the rows.
    """

    path: str
    n_rows: int
    checksum: int

    def verify(self) -> None:
        """Read all rows, and refuse a file whose checksum is another."""
        _core.verify(self.path)


@dataclass(frozen=True)
class Question:
    """What every part is asked in a step of the descent.

    Attributes
    ----------
    term : str
        The diversity term without rows, as JSON.
    weights : array
        Weights of all members.
    """

    term: str
    weights: NDArray[np.float64]


def statistics(X: Any, columns: Sequence[str] | None = None, *, exact: bool = False) -> Statistics:
    """Statistics of the columns of some rows.

    Those of parts add up by ``+``: counts and ranges exactly, means and deviations to rounding errors, and in the same order
    always to the same.

    Parameters
    ----------
    X : array, sparse matrix, data frame or path of a Parquet file
        The rows.
    columns : sequence of str, optional
        The columns of a file to read. Default: all.
    exact : bool, default=False
        Whether means and deviations add up exactly as well, in any order, which takes longer: estimators with
        ``precision="exact"`` need it.

    Returns
    -------
    Statistics
    """
    if not isinstance(X, (str, os.PathLike)):
        return Statistics.of(read_rows(BaseEstimator(), X, reset=True), exact)
    frame = read_parquet(os.fsdecode(X), columns)
    if missing := [name for name in columns or () if name not in frame.names]:
        raise ValueError(f"{os.fsdecode(X)} comes without {', '.join(map(repr, missing))}")
    check_kinds(frame)
    found = (Statistics.of(of_frame(part, None), exact) for part in frame.parts())
    return reduce(add, found)


def prepare(model: Ensemble, statistics: Statistics) -> Preparation:
    """What makes rows ready for a model: missing values, words, scales.

    Parameters
    ----------
    model : estimator of this package
        The estimator to be fitted; its ``scaling`` counts.
    statistics : Statistics
        Those of all rows, labeled and unlabeled.

    Returns
    -------
    Preparation
    """
    return Preparation.of(_settings_of(model), statistics)


def spill(path: str | os.PathLike[str], X: Any, preparation: Preparation) -> Spill:
    """Make rows ready and keep them in a file, whole or not at all.

    Parameters
    ----------
    path : path
        Name of the file.
    X : array, sparse matrix, data frame, path of a Parquet file, or iterator of batches
        The rows.
    preparation : Preparation
        Of :func:`prepare`.

    Returns
    -------
    Spill
        What :func:`partial` needs to find them.
    """
    like = Rows(np.empty((0, preparation.n_columns)), preparation.columns, 0)
    n_rows, checksum = _core.spill(os.fspath(path), preparation, batches(X, like))
    return Spill(os.fspath(path), n_rows, checksum)


def partial(spill: Spill, question: Question, n_jobs: int = 1) -> bytes:
    """The sums over the rows of a part.

    Parameters
    ----------
    spill : Spill
        The rows.
    question : Question
        What :func:`fit` asks.
    n_jobs : int, default=1
        Number of threads.

    Returns
    -------
    bytes
        Gradient, then two sums; with ``precision="exact"`` twice as many numbers.
    """
    return _core.partial(spill.path, spill.checksum, question.term, question.weights, n_jobs)


def fit(
    model: Learner,
    X: Any,
    y: ArrayLike,
    statistics: Statistics,
    ask: Callable[[Question], Iterable[bytes]],
    sample_weight: ArrayLike | None = None,
) -> Learner:
    """Fit a model to labeled rows here and unlabeled rows elsewhere.

    It is that of all rows in one array to rounding errors, as sums are taken part by part; of the same parts in the same order
    it has the same bits. With ``precision="exact"`` it has those of all rows in one array, whatever the parts and their order.

    Parameters
    ----------
    model : UDEEDClassifier, or a method that learns from labeled rows alone
        The estimator to fit: of ``BaggingClassifier``, ``AdaBoostClassifier``, ``ExtraTreesClassifier`` and
        ``StackingClassifier`` unlabeled rows only help to scale the features, and nobody is asked.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The labeled rows.
    y : array of shape (n_samples,)
        Their labels.
    statistics : Statistics
        Those of all rows, labeled and unlabeled.
    ask : callable
        Gets a :class:`Question`, and returns the :func:`partial` sums of all parts, always in the same order; with
        ``precision="exact"`` in any.
    sample_weight : array of shape (n_samples,), optional
        Weights of the labels.

    Returns
    -------
    model
    """
    _settings_of(model)
    if model._device() != "cpu":
        raise ValueError(f"`device` is {model._device()!r}, expected 'cpu': the descent runs where the parts of the rows lie")
    settings, training = model._read(X, y, sample_weight, None)
    n_rows = statistics.n_rows - training.rows.n_rows
    if n_rows <= 0:
        found = f"`statistics` are of {statistics.n_rows} rows, X has {training.rows.n_rows}"
        raise ValueError(f"{found}: expected those of all rows, X and those elsewhere")

    def answer(term: str, weights: NDArray[np.float64]) -> Iterable[bytes]:
        return ask(Question(term, weights))

    asks = CARDS[model._method]["on_device"]
    model._learn(dataclasses.replace(training, elsewhere=(statistics, n_rows, answer if asks else None)), settings, "cpu")
    model._tell_idle(settings)
    return model


# Of unlabeled rows these look at sums in each step, or at statistics alone; `auto` looks at some of the rows themselves.
_ABLE = tuple(ESTIMATORS[name] for name, card in CARDS.items() if card["streams"] and name != "auto")


def _settings_of(model: Ensemble) -> str:
    if not isinstance(model, _ABLE):
        able = ", ".join(kind.__name__ for kind in _ABLE)
        raise TypeError(f"`model` is a {type(model).__name__}, which needs the rows themselves, expected one of {able}")
    model._validate_params()
    return json.dumps(model._settings())
