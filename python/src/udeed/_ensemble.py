"""The base class of all estimators: parameters in, a fit in Rust, predictions out."""

from __future__ import annotations

import inspect
import json
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, ClassVar, TypeVar

import numpy as np
from joblib import effective_n_jobs
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_consistent_length
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from udeed import _core
from udeed._kinds import CARDS, check, check_rows, foreign_in, from_library, takes_sparse, to_library
from udeed._labels import Labels, UdeedWarning, labeled_rows, named_classes, plain, read_labels
from udeed._meta import is_of_folds, warn_of_callers
from udeed._progress import Callback, Listener, Progress, step_of
from udeed._rows import Rows, read_rows
from udeed._rules import Goal, Number, one_of, seed_of
from udeed._shared import DOCUMENTATION, RENAMED
from udeed._unlabeled import hold

Self = TypeVar("Self", bound="Ensemble")
# Sums of a term, as JSON, by some weights.
Answer = Callable[[str, NDArray[np.float64]], Iterable[bytes]]


@dataclass(frozen=True)
class Training:
    """Rows to learn from, with their labels and weights; those of classes, or ``balanced``: every class counts alike."""

    rows: Rows
    labels: Labels
    weights: NDArray[np.float64] | None
    balanced: bool
    class_weights: NDArray[np.float64] | None = None
    # Further rows, none of which has a label.
    unlabeled: _core.Held | None = None
    # The statistics of all rows, the number of those that others hold, and who asks these for sums, where a method does.
    elsewhere: tuple[_core.Statistics, int, Answer | None] | None = None

    @property
    def classes(self) -> list[str]:
        """The classes as a model file holds them."""
        return self.labels.names

    @property
    def codes(self) -> NDArray[np.int64]:
        """The class of each row, -1 for none."""
        return self.labels.codes


# Number of the class, probabilities and round of each training row, and whether each member gave its label.
Transduced = tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.int64], "NDArray[np.bool_] | None"]

Prediction = TypeVar("Prediction", bound=Callable[..., Any])


def _of_rows(returns: str, more: str = "") -> Callable[[Prediction], Prediction]:
    """Completes the documentation of a prediction, which takes rows and returns one thing."""
    rows = "X : array, sparse matrix or data frame of shape (n_samples, n_features)\n    The rows."
    sections = f"Parameters\n----------\n{rows}\n\nReturns\n-------\n{returns}\n    {more}".rstrip()

    def complete(method: Prediction) -> Prediction:
        method.__doc__ = f"{inspect.cleandoc(method.__doc__ or '')}\n\n{sections}\n"
        return method

    return complete


# More threads than any machine has use for take minutes to start.
_MOST_JOBS = 4096


class Ensemble(ClassifierMixin, BaseEstimator):
    """The base class of all estimators. A method adds its name, its parameters and the rules for them."""

    _method: ClassVar[str]
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "class_weight": [dict, *one_of("balanced"), None],
        "threshold": [Number(Real, -1, 1, closed="both"), Goal()],
        # All seeds that the command takes.
        "random_state": [Number(Integral, 0, 2**64 - 1, closed="both"), np.random.RandomState, None],
        "unlabeled": "no_validation",
        "n_jobs": [Integral, None],
        "memory": [Number(Integral, 0, 2**64 - 1, closed="both")],
        "verbose": ["verbose"],
        "callback": [callable, None],
    }

    class_weight: Mapping[Any, float] | str | None
    threshold: float | str
    random_state: int | np.random.RandomState | None
    unlabeled: object
    n_jobs: int | None
    memory: int
    verbose: int | bool
    callback: Callback | None

    classes_: NDArray[Any]
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_iter_: int
    history_: list[dict[str, Any]]
    diversity_: dict[str, float | None] | None
    oob_decision_function_: NDArray[np.float64]
    _model: _core.Model
    _transduced: Transduced
    _rows_to_tell: tuple[Training, list[int]]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        doc = inspect.cleandoc(cls.__doc__ or "")
        for part, text in DOCUMENTATION.items():
            doc = doc.replace("{" + part + "}", text.strip())
        cls.__doc__ = doc

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = all(takes_sparse(learner) for learner in self._foreign())
        tags.input_tags.allow_nan = True
        return tags

    def fit(
        self: Self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None, *, unlabeled_X: Any = None
    ) -> Self:
        """Learn from labeled and unlabeled rows.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows. Missing numbers are NaN; data frames may have columns of words. A C-ordered array of doubles is not
            copied and must not be written to during the fit.
        y : array of shape (n_samples,)
            Their labels, ``unlabeled`` for none.
        sample_weight : array of shape (n_samples,), optional
            Weights of the labels. They are relative: multiplying all of them changes nothing. Those of unlabeled rows are not
            used.
        unlabeled_X : array, sparse matrix, data frame, path or iterator of shape (n_unlabeled, n_features), optional
            Further rows, none of which has a label: the model is that of all rows in one array, these last and with the label
            of unlabeled rows. A path is that of a file of Parquet, CSV, ARFF or LIBSVM, of which only the columns of X are
            read; an iterator gives batches, each an array, a sparse matrix or a data frame. Columns are matched by name where
            both have names. Rows that take more than ``memory`` are read from a temporary file in every step.

        Returns
        -------
        self
        """
        settings, training = self._read(X, y, sample_weight, unlabeled_X)
        self._learn(training, settings, self._device())
        self._tell_idle(settings)
        return self

    def _tell_idle(self, settings: str) -> None:
        """Warns of settings that change nothing."""
        for name, why in _core.idle_settings(settings):
            text = f"`{RENAMED.get(name, name)}` does not change the ensemble: {why}"
            warnings.warn(text, UdeedWarning, stacklevel=3)

    def _learn(self, training: Training, settings: str, device: str) -> None:
        """Fits a method with the given settings on a device, and keeps the result."""
        threshold = self.threshold if isinstance(self.threshold, str) else repr(float(self.threshold))
        with self._listener() as listener:
            fitted = _core.fit(settings, training, threshold, self._n_jobs(), listener, self._foreign(), device)
        model, steps, diversity, out_of_bag = fitted
        self.classes_ = training.labels.classes
        self._keep_out_of_bag(training, out_of_bag)
        self._remember(model)
        self._keep_rows_of(training)
        self.history_ = [step_of(*step) for step in steps]
        self.diversity_ = measures(diversity)
        if self.verbose and model.findings is not None:
            sys.stderr.write(model.findings + "\n")
        for text in model.warnings:
            warnings.warn(text, UdeedWarning, stacklevel=3)

    def _keep_out_of_bag(self, training: Training, estimates: NDArray[np.float64] | None) -> None:
        """Keeps the estimates of labeled rows by the members that did not learn from them."""
        # Those of an earlier fit with other parameters.
        self.__dict__.pop("oob_decision_function_", None)
        if estimates is None:
            return
        labeled = training.codes >= 0
        if training.weights is not None:
            labeled &= training.weights > 0.0
        self.oob_decision_function_ = np.full((training.rows.n_rows, estimates.shape[1]), np.nan)
        self.oob_decision_function_[labeled] = estimates

    def _keep_rows_of(self, training: Training) -> None:
        """Keeps the rows of a fit until somebody asks what became of them: to predict them all takes time."""
        for name in ("_transduced", "_rows_to_tell"):
            self.__dict__.pop(name, None)
        if self._model.keeps_rows:
            self._tell_left_out(training)
        elif self._model.may_keep(training):
            self._rows_to_tell = training, training.rows.checksum()

    def _tell_rows(self) -> None:
        """What became of the rows of the fit, which are let go."""
        training, checksum = self.__dict__.get("_rows_to_tell", (None, None))
        # Rows that were written to since are others: what became of those of the fit is unknown.
        if training is not None and training.rows.checksum() == checksum:
            self._model = self._model.keeping_rows(training, self._n_jobs())
            self._tell_left_out(training)
        self.__dict__.pop("_rows_to_tell", None)

    def __getstate__(self) -> Any:
        # Another process, or a later one, has no rows.
        self._tell_rows()
        return super().__getstate__()

    def _tell_left_out(self, training: Training) -> None:
        """What became of all rows, where some have no weight: the model has never seen these."""
        found = None if training.weights is None else self._model.transduction()
        if found is None or training.weights is None or training.weights.all():
            return
        there, given, n_jobs = training.weights > 0.0, training.codes >= 0, self._n_jobs()
        classes = self._model.predict(training.rows, n_jobs)
        classes[given] = training.codes[given]
        probabilities = self._model.probabilities(training.rows, n_jobs)
        probabilities[given] = np.eye(len(self.classes_))[training.codes[given]]
        rounds = np.where(given, 0, -1)
        n_there = np.count_nonzero(there)

        def joined(own: NDArray[Any], of_there: NDArray[Any]) -> NDArray[Any]:
            own[there] = of_there[:n_there]
            # Rows of `unlabeled_X` stand below the others.
            return np.concatenate([own, of_there[n_there:]])

        by = found[3]
        if by is not None:
            by = joined(np.zeros((len(rounds), by.shape[1]), dtype=bool), by)
        self._transduced = joined(classes, found[0]), joined(probabilities, found[1]), joined(rounds, found[2]), by

    def _read(
        self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, unlabeled_X: Any
    ) -> tuple[str, Training]:
        """The library's settings, as JSON, and the arguments of a fit, checked."""
        self._validate_params()
        if y is None:
            name = type(self).__name__
            raise ValueError(f"This {name} estimator requires y to be passed, but the target y is None.")
        rows = read_rows(self, X, reset=True)
        warn_of_callers(self.unlabeled)
        labels = read_labels(y, self.unlabeled)
        if labels.codes.size != rows.n_rows:
            check_consistent_length(labels.codes, np.empty(rows.n_rows))
        weights = None
        if sample_weight is not None:
            like = np.empty((rows.n_rows, 1))
            weights = _check_sample_weight(sample_weight, like, dtype=np.float64, ensure_non_negative=True)
            weights = np.ascontiguousarray(weights)
        balanced, class_weights = isinstance(self.class_weight, str), None
        if self.class_weight is not None and not balanced:
            weights, class_weights = weights_by_class(self.class_weight, labels, rows.n_rows, weights)
        labels, left = labels.of_weight(weights, 2)
        class_weights = None if class_weights is None else class_weights[left]
        for setting in CARDS[self._method]["settings"]:
            check_rows(setting, self, 0 if rows.words else self.n_features_in_)
        settings, held = json.dumps(self._settings()), None
        if unlabeled_X is X:
            raise ValueError("`unlabeled_X` is X, whose unlabeled rows are learned from as they are, expected further rows")
        if hasattr(unlabeled_X, "__next__") and is_of_folds():
            found = f"`unlabeled_X` is a {type(unlabeled_X).__name__}, which the fit of the first fold reads to its end"
            raise ValueError(f"{found}; expected what every fold can read: an array, a frame or the path of a file")
        if unlabeled_X is not None:
            held = hold(settings, unlabeled_X, rows, self.memory, self._n_jobs())
        return settings, Training(rows, labels, weights, balanced, class_weights, held)

    def _validate_params(self) -> None:
        super()._validate_params()
        parameters = self.get_params(deep=False)
        for setting in CARDS[self._method]["settings"]:
            name = RENAMED.get(setting["name"], setting["name"])
            if name in parameters:
                check(setting, name, parameters[name])

    def _settings(self) -> dict[str, Any]:
        """The library's settings, with the values of the parameters."""
        settings: dict[str, Any] = {"method": self._method}
        for setting in CARDS[self._method]["settings"]:
            name = setting["name"]
            if name == "seed":
                settings[name] = seed_of(self.random_state)
            else:
                settings[name] = to_library(setting, getattr(self, RENAMED.get(name, name)), self)
        return settings

    @classmethod
    def _parameters(cls, settings: dict[str, Any]) -> dict[str, Any]:
        """The parameters for settings of the library, the other way round."""
        known = {setting["name"]: setting for setting in CARDS[cls._method]["settings"]}
        return {RENAMED.get(name, name): from_library(known[name], value) for name, value in settings.items()}

    def _n_jobs(self) -> int:
        # Predictions come here, too, after parameters may have been changed.
        if self.n_jobs is not None and abs(self.n_jobs) > _MOST_JOBS:
            raise ValueError(f"`n_jobs` is {self.n_jobs}, expected None or a number of threads up to {_MOST_JOBS}")
        return int(effective_n_jobs(self.n_jobs))

    def _device(self) -> str:
        """The device of the fit; methods that can run on the processor alone have no such parameter."""
        return str(getattr(self, "device", "cpu"))

    @contextmanager
    def _listener(self, only: str | None = None) -> Iterator[Listener | None]:
        """Who listens to a fit, if anybody does; ``only`` names the one thing for the progress bar to show."""
        steps = getattr(self, "steps", None)
        if self.verbose:
            with Progress(only) as bar:
                yield Listener(bar, self.callback, steps)
        else:
            yield None if self.callback is None else Listener(None, self.callback, steps)

    def _foreign(self) -> list[Any]:
        """The base learners that are classifiers from elsewhere."""
        parameters = self.get_params(deep=False)
        return [own for name in ("base", "bases") if name in parameters for own in foreign_in(parameters[name])]

    def _remember(self, model: _core.Model) -> None:
        self._model = model
        training = json.loads(model.training)
        steps = sum(stage["steps"] for stage in training["stages"])
        self.n_iter_ = steps if training["stages"] else model.n_members

    @property
    def coef_(self) -> NDArray[np.float64]:
        """Direction of the ensemble: the mean of the members' coefficients, weighted as in the vote."""
        return self._direction()[0]

    @property
    def intercept_(self) -> NDArray[np.float64]:
        """Mean of the members' intercepts, weighted as in the vote."""
        return self._direction()[1]

    def _direction(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        coefficients, intercepts = self._coefficients()
        settings = json.loads(self._model.settings)
        if settings.get("fourier") or self._method == "stacking":
            what = "see Fourier features" if settings.get("fourier") else "are stacked"
            found = f"the members of this {type(self).__name__} {what}"
            raise AttributeError(f"{found}: the ensemble has no direction, only `member_coef_`")
        # One weight for each member, whatever the class, or one for each class.
        weights = np.broadcast_to(self.member_weights_, intercepts.shape)
        total = weights.sum(axis=-1, keepdims=True)
        shares = np.divide(weights, total, out=np.zeros(weights.shape), where=total > 0.0)
        direction = np.einsum("...m,...mf->...f", shares, coefficients)
        return np.atleast_2d(direction), np.atleast_1d((shares * intercepts).sum(axis=-1))

    @property
    def member_coef_(self) -> NDArray[np.float64]:
        """Coefficients of the members for unscaled features, or for Fourier features."""
        return self._coefficients()[0]

    @property
    def member_intercept_(self) -> NDArray[np.float64]:
        """Intercepts of the members."""
        return self._coefficients()[1]

    def _coefficients(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        check_is_fitted(self)
        found = self._model.coefficients()
        if found is None:
            raise AttributeError(f"the members of this {type(self).__name__} are not linear: they have no coefficients")
        return found

    @property
    def features_(self) -> list[str]:
        """Names of the features that coefficients belong to: of columns, or ``column=word`` for each word of a column."""
        check_is_fitted(self)
        return self._model.features

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each column: the mean decrease of impurity by its splits, over all trees."""
        check_is_fitted(self)
        found = self._model.feature_importances
        if found is None:
            name = type(self).__name__
            raise AttributeError(f"the members of this {name} are no trees of columns: these have no importances")
        return found

    @property
    def estimators_(self) -> list[Any]:
        """Fitted classifiers that are members, where ``base`` is a classifier; None for one that saw a single class."""
        check_is_fitted(self)
        members = self._model.foreign
        if not members:
            raise AttributeError(f"the members of this {type(self).__name__} are no classifiers from elsewhere")
        return [member.estimator for member in members]

    @property
    def findings_(self) -> dict[str, Any] | None:
        """What was chosen by out-of-bag rows: views with their weights and lambdas, and their accuracy."""
        check_is_fitted(self)
        found: dict[str, Any] | None = json.loads(self._model.training).get("findings")
        if found is not None and found["rows"] == 0:
            # No row is out of bag: nothing is known.
            found |= {"accuracy": None, "logistic": None}
        return found

    @property
    def held_rows_(self) -> dict[str, int]:
        """What the model holds of the training rows: numbers of rows, and of values of single columns."""
        check_is_fitted(self)
        held: dict[str, int] = json.loads(self._model.held_rows)
        return held

    @property
    def transduction_(self) -> NDArray[Any]:
        """Class of each training row: its label, or the predicted class."""
        return np.asarray(self.classes_[self._transduction()[0]])

    @property
    def label_distributions_(self) -> NDArray[np.float64]:
        """Class probabilities of each training row."""
        return self._transduction()[1]

    @property
    def labeled_iter_(self) -> NDArray[np.int64]:
        """Round in which each training row was labeled."""
        rounds = self._transduction()[2]
        if not CARDS[self._method]["labels_rows"]:
            raise AttributeError(f"{type(self).__name__} gives no labels to rows: it has no `labeled_iter_`")
        return rounds

    @property
    def labeled_by_(self) -> NDArray[np.bool_]:
        """Whether each member gave each training row its label."""
        by = self._transduction()[3]
        if by is None:
            found = f"labels are not the work of single members of this {type(self).__name__}"
            raise AttributeError(f"{found}: it has no `labeled_by_`")
        return by

    def _transduction(self) -> Transduced:
        check_is_fitted(self)
        self._tell_rows()
        found = getattr(self, "_transduced", None) or self._model.transduction()
        if found is None:
            what = "what became of more than 100 000 training rows, or of those of a model from another file, is not kept"
            what += ", nor of rows that were written to since the fit"
            raise AttributeError(f"{what}: `predict` and `predict_proba` tell their classes")
        return found

    @property
    def threshold_(self) -> float:
        """Decision threshold between two classes."""
        check_is_fitted(self)
        return self._model.threshold

    @property
    def member_weights_(self) -> NDArray[np.float64]:
        """Weights of the members in the vote."""
        check_is_fitted(self)
        parts = self._model.weights
        if len(parts) == 1:
            return parts[0]
        # Classes whose boosting ended early have fewer members: the others have no weight there.
        return np.array([np.pad(part, (0, self._model.n_members - len(part))) for part in parts])

    @_of_rows("array of shape (n_samples,) or (n_samples, n_classes)")
    def decision_function(self, X: Any) -> NDArray[np.float64]:
        """Decision of the vote for each row.

        For two classes one number between -1 and 1: above ``threshold_`` the second class. For more classes one number
        per class, of which the largest wins. A tie is the first class.
        """
        rows = self._rows(X)
        decisions = self._model.decision(rows, self._n_jobs())
        return decisions[:, 0] if decisions.shape[1] == 1 else decisions

    @_of_rows("array of shape (n_samples, n_classes)", "In the order of ``classes_``; each row sums to 1.")
    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Class probabilities of each row."""
        rows = self._rows(X)
        return self._model.probabilities(rows, self._n_jobs())

    @_of_rows("array of shape (n_samples, n_classes)", "In the order of ``classes_``; -inf where a probability is 0.")
    def predict_log_proba(self, X: Any) -> NDArray[np.float64]:
        """Logarithms of the class probabilities of each row."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.predict_proba(X)))

    @_of_rows("array of shape (n_samples,)")
    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the class of each row."""
        rows = self._rows(X)
        return np.asarray(self.classes_[self._model.predict(rows, self._n_jobs())])

    def predict_set(self, X: Any, coverage: float = 0.9) -> NDArray[np.bool_]:
        """Classes that each row may be of: conformal prediction sets.

        A class is left out where at most ``1 - coverage`` of its labeled rows were so unlike it, judged by members that did
        not learn from them. The coverage holds in each class, for new rows drawn as its labeled ones were. It is
        approximate, as labeled rows are judged by some of the members and new ones by all. A class with fewer than
        ``coverage / (1 - coverage)`` labeled rows is in every set, with a warning.

        Only where members have bootstraps (``auto``, bagging, UDEED, extra trees with ``bootstrap=True``), or with
        ``calibrated=True``.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            Share of the rows of each class whose set has it.

        Returns
        -------
        sets : array of shape (n_samples, n_classes)
            Whether a class is in the set, in the order of ``classes_``. A row unlike all classes has an empty set.
        """
        rows = self._rows(X)
        for name in self._model.too_few_for(float(coverage)):
            text = f"too few labeled rows of {name!r} were held out for a coverage of {coverage}: it is in every set"
            warnings.warn(text, UdeedWarning, stacklevel=2)
        return self._model.sets(rows, float(coverage), self._n_jobs())

    @_of_rows("array of shape (n_samples, n_members)")
    def member_predictions(self, X: Any) -> NDArray[Any]:
        """Predictions of the members."""
        rows = self._rows(X)
        return np.asarray(self.classes_[self._model.classify(rows, self._n_jobs())])

    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Accuracy on the labeled rows; unlabeled rows are left out.

        Parameters
        ----------
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their labels.
        sample_weight : array of shape (n_samples,), optional
            Weights of the rows.

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
        """Write the model into a file, as the command ``udeed fit`` does.

        Parameters
        ----------
        path : path
            Name of the file, by convention ending in ``.safetensors``.
        """
        check_is_fitted(self)
        self._tell_rows()
        self._model.save(os.fspath(path))

    def _rows(self, X: Any) -> Rows:
        # The check asks all parents for their tags, which takes longer than a model of few members on a row.
        if not hasattr(self, "_model"):
            check_is_fitted(self)
        words = self._model.words
        rows = read_rows(self, X, reset=False, words=words)
        # Arrays of numbers have the columns of the fit, and nothing that can be new.
        for text in self._model.unseen(rows) if words else ():
            warnings.warn(text, UdeedWarning, stacklevel=3)
        return rows


def ours(name: str, value: object) -> Ensemble:
    """The estimator of this package that an argument is; any other value is refused."""
    if not isinstance(value, Ensemble):
        raise TypeError(f"`{name}` is a {type(value).__name__}, expected an estimator of udeed")
    return value


def weights_by_class(
    class_weight: Any, labels: Labels, n_rows: int, weights: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64] | None, NDArray[np.float64]]:
    """The weights of rows, 0 for those of a class of weight 0, and the weights of the classes."""
    labeled = labels.codes >= 0
    codes = labels.codes[labeled]
    of_classes = np.asarray(
        compute_class_weight(class_weight, classes=labels.classes, y=labels.classes[codes]), dtype=np.float64
    )
    if np.all(of_classes > 0):
        return weights, of_classes
    weights = np.ones(n_rows) if weights is None else weights.copy()
    # What is negative stays so, and is refused as a weight.
    weights[labeled] *= np.minimum(of_classes, 0.0)[codes] + (of_classes > 0)[codes]
    return weights, np.where(of_classes > 0, of_classes, 1.0)


def measures(text: str) -> dict[str, float | None]:
    """The ten measures, without the bookkeeping."""
    found = json.loads(text)
    del found["pairs_left_out"]
    return dict(found)


def restore(estimator: Ensemble, model: _core.Model, classes: ArrayLike | None) -> None:
    """Gives an estimator the model of a file, as if it were fitted."""
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
            ends.append(step_of(stage["stage"], step, **losses, accepted=True))
    estimator.history_ = ends
    estimator.diversity_ = None
