"""What all estimators are: parameters in, a fit in Rust, predictions out."""

from __future__ import annotations

import inspect
import json
import os
import sys
import warnings
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from udeed import _core
from udeed._base import Neighbors, Tree, as_parameter, as_setting
from udeed._labels import Labels, labeled_rows, named_classes, plain, read_labels
from udeed._progress import Progress
from udeed._rows import Columns, Rows, SparseRows, is_frame, read_rows
from udeed._rules import Number, at_least, one_of, positive

Self = TypeVar("Self", bound="Ensemble")


class UdeedWarning(UserWarning):
    """Something worth knowing about a fit that is no reason to stop."""


Parts = tuple[
    NDArray[np.float64] | SparseRows, Columns | None, list[str], NDArray[np.int64], NDArray[np.float64] | None
]


@dataclass(frozen=True)
class Training:
    """Rows to learn from, with their labels and what these count."""

    rows: Rows
    labels: Labels
    weights: NDArray[np.float64] | None

    @property
    def parts(self) -> Parts:
        """As the core takes them."""
        return self.rows.values, self.rows.columns, self.labels.names, self.labels.codes, self.weights


# More threads than any machine has use for take minutes to start.
_MOST_JOBS = 4096

# What the documentation of every estimator says.
_SHARED = {
    "learning": """
    C : float, default=1.0
        How much the labels count against small weights in logistic regression; the paper's lambda. In UDEED and bagging
        "auto" lets the rows choose it that bootstraps leave out.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        How features are scaled: to [0, 1], to mean 0 and deviation 1, or not at all.
    fourier : int, default=0
        How many random Fourier features the members see in place of the scaled ones, so that they draw curved
        boundaries; 0 for none. ``scaling="standard"`` and a larger C, such as 10, go well with it.
    """,
    "base": """
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree or Neighbors, default="logistic"
        What makes the members: logistic regression, a decision tree, nearest neighbours, or naive Bayes with normally
        distributed features. :class:`udeed.Tree` and :class:`udeed.Neighbors` have settings of their own, which a grid
        search reaches as ``base__depth``.
    """,
    "running": """
    class_weight : dict, "balanced" or None, default=None
        How much the labels of each class count, beside ``sample_weight``; "balanced" lets every class count as much as any
        other, however many labels it has.
    threshold : float or "balanced", default=0.0
        Two classes: from which decision on, between -1 and 1, a row is of the second class. "balanced" lets folds of the
        labeled rows choose the one that is right on both classes most often. Probabilities stay what they are.
    random_state : int, RandomState or None, default=None
        What all random draws follow from. A whole number gives the same model at any ``n_jobs``, and the one that the
        command ``udeed fit --seed`` gives.
    unlabeled : object, default=-1
        The label that means none; NaN stands for every missing value, None says that every row is labeled.
    n_jobs : int or None, default=None
        Threads to use: None is one (or what ``joblib.parallel_config`` says), -1 is one a core.
    verbose : bool or int, default=False
        Whether a progress bar is shown on standard error, and what out-of-bag rows chose.
    """,
    "attributes": """
    classes_ : array of shape (n_classes,)
        The classes, sorted; at most 255.
    n_features_in_ : int
        How many columns the rows have.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where all are text.
    coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        The weights of the members, for the features before they are scaled; of more than two classes a table for each; with
        ``fourier`` for the mapped ones. Members that are not linear have none.
    intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Their constants.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        What the vote of each counts; where each class has members of its own, of each class.
    threshold_ : float
        From which decision on a row is of the second of two classes.
    n_iter_ : int
        The steps of the descent that were kept; without a descent the members.
    history_ : list of dict
        The steps of the descent: stage, step, the losses, and whether it was kept. Empty without a descent.
    findings_ : dict
        What rows that members were not fitted to chose, where they were asked to; else None.
    diversity_ : dict
        The ten measures of diversity of the members on the labeled rows; see :func:`udeed.diversity`. None for a model
        that was loaded.
    """,
}


class Ensemble(ClassifierMixin, BaseEstimator):
    """The base of all estimators. A method adds its name, its parameters and the rules for them."""

    _method: ClassVar[str]
    # The library's settings that have another name here.
    _renamed: ClassVar[Mapping[str, str]] = {"lambda": "C", "seed": "random_state"}
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "C": positive(),
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "class_weight": [dict, *one_of("balanced"), None],
        "threshold": [Number(Real, -1, 1, closed="both"), *one_of("balanced")],
        # All seeds that the command knows, too.
        "random_state": [Number(Integral, 0, 2**64 - 1, closed="both"), np.random.RandomState, None],
        "unlabeled": "no_validation",
        "n_jobs": [Integral, None],
        "verbose": ["verbose"],
    }

    C: float | str
    scaling: str
    fourier: int
    class_weight: Mapping[Any, float] | str | None
    threshold: float | str
    random_state: int | np.random.RandomState | None
    unlabeled: object
    n_jobs: int | None
    verbose: int | bool

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_iter_: int
    history_: list[dict[str, Any]]
    diversity_: dict[str, float | None] | None
    _model: _core.Model

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        doc = inspect.cleandoc(cls.__doc__ or "")
        for part, text in _SHARED.items():
            doc = doc.replace("{" + part + "}", inspect.cleandoc(text))
        cls.__doc__ = doc

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.allow_nan = True
        return tags

    def fit(self: Self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows. Missing numbers are NaN; columns of words are taken from data frames. A C-ordered array of doubles
            is read where it is and must not be written to meanwhile.
        y : array of shape (n_samples,)
            Their labels; ``unlabeled`` says which label means none.
        sample_weight : array of shape (n_samples,), optional
            How much each label counts. The weights of unlabeled rows say nothing.

        Returns
        -------
        self
        """
        training = self._read(X, y, sample_weight)
        self._learn(training, json.dumps(self._settings()))
        return self

    def _learn(self, training: Training, settings: str) -> None:
        """Fits a method with the given settings, and keeps what came out."""
        threshold = None if isinstance(self.threshold, str) else float(self.threshold)
        with self._progress() as progress:
            model, steps, diversity = _core.fit(settings, *training.parts, threshold, self._n_jobs(), progress)
        self.classes_ = training.labels.classes
        self._remember(model)
        self.history_ = [_step(*step) for step in steps]
        self.diversity_ = measures(diversity)
        if self.verbose and model.findings is not None:
            sys.stderr.write(model.findings + "\n")
        for text in model.warnings:
            warnings.warn(text, UdeedWarning, stacklevel=3)

    def _read(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None) -> Training:
        """Everything that a fit is given, checked."""
        self._validate_params()
        if y is None:
            name = type(self).__name__
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        rows = read_rows(self, X, reset=True)
        labels = read_labels(y, self.unlabeled)
        if labels.codes.size != rows.n_rows:
            check_consistent_length(labels.codes, np.empty(rows.n_rows))
        weights = None
        if sample_weight is not None:
            like = np.empty((rows.n_rows, 1))
            weights = _check_sample_weight(sample_weight, like, dtype=np.float64, ensure_non_negative=True)
            weights = np.ascontiguousarray(weights)
        if self.class_weight is not None:
            weights = _by_class(self.class_weight, labels, np.ones(rows.n_rows) if weights is None else weights)
        return Training(rows, labels, weights)

    def _validate_params(self) -> None:
        super()._validate_params()
        for value in self.get_params(deep=False).values():
            if isinstance(value, (Tree, Neighbors)):
                value._validate_params()

    def _settings(self) -> dict[str, Any]:
        """The library's settings, with the values of the parameters; where that is None, the library's own."""
        settings: dict[str, Any] = json.loads(_core.defaults(self._method))
        for name in settings.keys() - {"method", "seed"}:
            value = self._setting(name)
            settings[name] = settings[name] if value is None else as_setting(value)
        settings["seed"] = self._seed()
        return settings

    def _setting(self, name: str) -> Any:
        """The value of a parameter for a setting of the library; None for the library's own."""
        if name == "choose_lambda":
            return isinstance(self.C, str)
        value = getattr(self, self._renamed.get(name, name))
        return None if name == "lambda" and isinstance(value, str) else value

    @classmethod
    def _parameters(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """The parameters for settings of the library, the other way round."""
        parameters = {cls._renamed.get(name, name): as_parameter(value) for name, value in settings.items()}
        if parameters.pop("choose_lambda", False):
            parameters["C"] = "auto"
        return parameters

    def _seed(self) -> int:
        state = self.random_state
        # A whole number is the seed itself: the command then draws the same.
        if isinstance(state, Integral):
            return int(state)
        return int(check_random_state(state).randint(2**31 - 1))

    def _n_jobs(self) -> int:
        # Predictions come here, too, after parameters may have been changed.
        if self.n_jobs is not None and abs(self.n_jobs) > _MOST_JOBS:
            raise ValueError(f"`n_jobs` is {self.n_jobs}, expected None or a number of threads up to {_MOST_JOBS}")
        return int(effective_n_jobs(self.n_jobs))

    def _progress(self, only: str | None = None) -> AbstractContextManager[Progress | None]:
        return Progress(getattr(self, "steps", None), only) if self.verbose else nullcontext()

    def _remember(self, model: _core.Model) -> None:
        self._model = model
        training = json.loads(model.training)
        steps = sum(stage["steps"] for stage in training["stages"])
        self.n_iter_ = steps if training["stages"] else model.n_members

    @property
    def coef_(self) -> NDArray[np.float64]:
        """The weights of the members, a row each, for the features before they are scaled, or for Fourier features."""
        return self._coefficients()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """The constants of the members."""
        return self._coefficients()[1]

    def _coefficients(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        check_is_fitted(self)
        found = self._model.coefficients()
        if found is None:
            raise AttributeError(f"the members of this {type(self).__name__} are not linear: they have no coefficients")
        return found

    @property
    def findings_(self) -> dict[str, Any] | None:
        """What rows that members were not fitted to chose: views with their weights and lambdas, and how well they do."""
        check_is_fitted(self)
        found: dict[str, Any] | None = json.loads(self._model.training).get("findings")
        return found

    @property
    def threshold_(self) -> float:
        """From which decision on a row is of the second of two classes."""
        check_is_fitted(self)
        return self._model.threshold

    @property
    def member_weights_(self) -> NDArray[np.float64]:
        """What the vote of each member counts."""
        check_is_fitted(self)
        parts = [self._model.weights(part) for part in range(self._model.n_parts)]
        if len(parts) == 1:
            return parts[0]
        # Classes whose boosting ended early have fewer members: the others count nothing there.
        return np.array([np.pad(part, (0, self._model.n_members - len(part))) for part in parts])

    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """What the vote of the members says of each row.

        Of two classes one number between -1 and 1, from ``threshold_`` on the second class; of more one a class, the
        largest wins.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,) or (n_samples, n_classes)
        """
        rows, columns = self._rows(X)
        decisions = self._model.decision(rows.values, columns, self._n_jobs())
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """The probability of each class for each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_classes)
            In the order of ``classes_``; each row sums to 1.
        """
        shares = 0.5 * (1.0 + self.decision_function(X))
        if shares.ndim == 1:
            return np.column_stack([1.0 - shares, shares])
        # Summed one after the other, as the command does: to the same bits.
        total = shares.cumsum(axis=1)[:, -1:]
        return np.where(total > 0.0, shares / np.where(total > 0.0, total, 1.0), 1.0 / shares.shape[1])

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples,)
        """
        decisions = self.decision_function(X)
        codes = (decisions >= self.threshold_).astype(np.intp) if decisions.ndim == 1 else decisions.argmax(axis=1)
        return np.asarray(self.classes_[codes])

    def member_predictions(self, X: Any) -> NDArray[Any]:
        """The class that each member gives each row.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        array of shape (n_samples, n_members)
        """
        rows, columns = self._rows(X)
        return np.asarray(self.classes_[self._model.classify(rows.values, columns, self._n_jobs())])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """The share of labeled rows that are predicted right; unlabeled rows are left out.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their labels.
        sample_weight : array of shape (n_samples,), optional
            How much each row counts.

        Returns
        -------
        float
        """
        from sklearn.metrics import accuracy_score

        predicted = self.predict(X)
        labels, labeled = labeled_rows(y, self.unlabeled, self.classes_)
        check_consistent_length(predicted, labels, sample_weight)
        weights = None if sample_weight is None else np.asarray(sample_weight)[labeled]
        given = plain(labels[labeled])
        # Refuses labels of another type than the classes, of which none could ever be right.
        unique_labels(given, self.classes_)
        return float(accuracy_score(given, predicted[labeled], sample_weight=weights))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the model into a file, the same that the command ``udeed`` writes.

        Parameters
        ----------
        path : path
            Where to. By custom it ends in ``.safetensors``.
        """
        check_is_fitted(self)
        self._model.save(os.fspath(path))

    def _rows(self, X: Any) -> tuple[Rows, Columns | None]:
        check_is_fitted(self)
        words = [name for name, levels in self._model.columns if levels is not None]
        if words and not is_frame(X):
            raise ValueError(f"X has no words in column {words[0]!r}, expected a data frame like that of the fit")
        rows = read_rows(self, X, reset=False, words=words)
        return rows, rows.columns


def _by_class(class_weight: Mapping[Any, float] | str, labels: Labels, weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """What each row counts, if those of a class count more or less."""
    labeled = labels.codes >= 0
    codes = labels.codes[labeled]
    counted = weights.copy()
    if class_weight == "balanced":
        # As `udeed fit --balanced` does it: to the same bits.
        totals = np.bincount(codes, weights[labeled], minlength=labels.classes.size)
        share = totals.sum() / np.count_nonzero(totals)
        counted[labeled] = weights[labeled] * share / totals[codes]
    else:
        factors = compute_class_weight(class_weight, classes=labels.classes, y=labels.classes[codes])
        counted[labeled] *= factors[codes]
    return counted


def _step(stage: str, step: int, empirical: float, diversity: float, total: float, accepted: bool) -> dict[str, Any]:
    return {
        "stage": stage,
        "step": step,
        "empirical": empirical,
        "diversity": diversity,
        "total": total,
        "accepted": accepted,
    }


def measures(text: str) -> dict[str, float | None]:
    """The ten measures, without the bookkeeping."""
    found = json.loads(text)
    del found["pairs_left_out"]
    return dict(found)


def restore(estimator: Ensemble, model: _core.Model, classes: ArrayLike | None) -> None:
    """Makes an estimator one that was fitted to a model from a file."""
    names = model.classes
    estimator.classes_ = named_classes(names) if classes is None else np.asarray(classes)
    if len(estimator.classes_) != len(names):
        raise ValueError(f"`classes` has {len(estimator.classes_)} values, expected {len(names)}: {names}")
    columns = model.columns
    estimator.n_features_in_ = len(columns)
    if model.is_named:
        estimator.feature_names_in_ = np.array([name for name, _ in columns], dtype=object)
    estimator._remember(model)
    # The file holds where each stage began and ended, not the steps between.
    ends: list[dict[str, Any]] = []
    for stage in json.loads(model.training)["stages"]:
        for step, losses in ((0, stage["first"]), (stage["steps"], stage["last"])):
            ends.append(_step(stage["stage"], step, **losses, accepted=True))
    estimator.history_ = ends
    estimator.diversity_ = None
