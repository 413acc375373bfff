"""Splits, masks and scorers for rows without labels, which scikit-learn lacks."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from dataclasses import KW_ONLY, dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_consistent_length, column_or_1d
from sklearn.utils._metadata_requests import _MetadataRequester

from udeed import _core
from udeed._labels import class_name, doubt_classes, is_unlabeled, labeled_rows, plain
from udeed._rules import count_of, is_whole, seed_of

Numbers = NDArray[np.int64]
Parts = tuple[NDArray[np.intp], NDArray[np.intp]]


class Strata:
    """Deals labeled rows out at random, each class in proportion, as the command ``udeed data split`` does."""

    def __init__(self, y: ArrayLike, unlabeled: object) -> None:
        self.labels, self.rows = labeled_rows(y, unlabeled)
        given = plain(self.labels[self.rows])
        classes, codes = np.unique(given.astype(str) if given.dtype.kind == "O" else given, return_inverse=True)
        doubt_classes(classes, unlabeled, stacklevel=4)
        self.names = [class_name(value) for value in classes]
        # Of every row, -1 where it has no label.
        self.codes = np.full(self.labels.size, -1, dtype=np.int64)
        self.codes[self.rows] = codes.ravel()

    def deal(
        self, test: float | int | None, labeled: float | int, seed: int, repetition: int
    ) -> tuple[Numbers, Numbers, Numbers]:
        """The rows that keep their labels, those without, and those to test on."""
        return _core.stratified_split(self.names, self.codes, test, labeled, seed, repetition)

    def tested(self, test_size: float | int) -> float | int:
        """A share or number of rows to test on, checked."""
        fewest, most = len(self.names), self.rows.size - len(self.names)
        if is_whole(test_size) and fewest <= int(test_size) <= most:
            return int(test_size)
        if _is_share(test_size) and 0.0 < float(test_size) < 1.0:
            return float(test_size)
        expected = f"a share above 0 and below 1 such as 0.2, or a number of rows from {fewest} to {most}"
        raise ValueError(f"`test_size` is {test_size!r}, expected {expected}, one of each class on both sides")

    def kept(self, labeled: float | int, total: int) -> float | int:
        """A share or number of labels to keep, of those of some rows, checked."""
        if _is_share(labeled) and 0.0 < float(labeled) <= 1.0:
            return float(labeled)
        if not is_whole(labeled) or not 1 <= int(labeled) <= total:
            expected = f"a share above 0 and at most 1 such as 0.25, or a number of rows up to {total}"
            raise ValueError(f"`labeled` is {labeled!r}, expected {expected}")
        if int(labeled) < len(self.names):
            raise ValueError(f"`labeled` keeps {labeled} rows, expected at least {len(self.names)}, one of each class")
        return int(labeled)


def _is_share(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, Integral)


class _SemiSupervised:
    """A splitter of the labeled rows: unlabeled ones are in every training part and in no test part."""

    n_splits: int
    unlabeled: object

    def split(self, X: Any, y: ArrayLike, groups: object = None) -> Iterator[Parts]:
        """Training and test rows of each split.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows; not used.
        y : array of shape (n_samples,)
            Their labels.
        groups : array of shape (n_samples,), optional
            Their groups. Only :class:`udeed.SemiSupervisedGroupKFold` keeps them together, the other splitters refuse.

        Yields
        ------
        train, test : arrays of int
        """
        yield from self._parts(Strata(y, self.unlabeled), groups)

    def _parts(self, strata: Strata, groups: object) -> Iterator[Parts]:
        if groups is not None:
            name = type(self).__name__
            raise ValueError(f"`groups` is given, which {name} cannot keep together: use SemiSupervisedGroupKFold")
        everything = np.arange(strata.labels.size)
        for test in self._tests(strata):
            yield np.setdiff1d(everything, test, assume_unique=True), test

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """Number of splits."""
        return self.n_splits

    def _tests(self, strata: Strata) -> Iterator[NDArray[np.intp]]:
        raise NotImplementedError


@dataclass(eq=False)
class SemiSupervisedKFold(_SemiSupervised):
    """Stratified folds of the labeled rows; unlabeled rows are in every training fold and in no test fold.

    Parameters
    ----------
    n_splits : int, default=5
        Number of folds.
    shuffle : bool, default=False
        Whether to shuffle the rows of each class first.
    random_state : int, RandomState or None, default=None
        Random seed of the shuffle.
    unlabeled : object, default=-1
        Label of unlabeled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from udeed import SemiSupervisedKFold
    >>> y = np.array([0, 1, -1, 0, 1, -1])
    >>> for train, test in SemiSupervisedKFold(n_splits=2).split(y, y):
    ...     print(train, test)
    [2 3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = False
    random_state: int | np.random.RandomState | None = None
    unlabeled: object = -1

    def _tests(self, strata: Strata) -> Iterator[NDArray[np.intp]]:
        from sklearn.model_selection import StratifiedKFold

        folds = StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        for _, test in folds.split(strata.rows, strata.codes[strata.rows]):
            yield strata.rows[test]


class SemiSupervisedGroupKFold(_MetadataRequester, SemiSupervisedKFold):
    """Stratified folds of the labeled rows that keep groups together, such as the rows of one patient.

    The labeled rows of a group are in the same test fold. While they are, none of its rows is in the training fold, not
    even an unlabeled one; unlabeled rows of all other groups are.

    Parameters
    ----------
    n_splits, shuffle, random_state, unlabeled
        As in :class:`udeed.SemiSupervisedKFold`.

    Examples
    --------
    >>> import numpy as np
    >>> from udeed import SemiSupervisedGroupKFold
    >>> y = np.array([0, 1, -1, 0, 1, -1])
    >>> for train, test in SemiSupervisedGroupKFold(n_splits=2).split(y, y, groups=[7, 7, 7, 8, 8, 9]):
    ...     print(train, test)
    [3 4 5] [0 1]
    [0 1 2 5] [3 4]
    """

    # scikit-learn hands the groups over without being asked to.
    __metadata_request__split = {"groups": True}

    def _parts(self, strata: Strata, groups: Any) -> Iterator[Parts]:
        from sklearn.model_selection import StratifiedGroupKFold

        if groups is None:
            raise ValueError("`groups` is None, expected the group of each row")
        given = column_or_1d(groups)
        check_consistent_length(strata.labels, given)
        if is_unlabeled(given, np.nan).any():
            raise ValueError("`groups` has missing values, expected the group of each row")
        group = np.unique(given, return_inverse=True)[1].ravel()
        folds = StratifiedGroupKFold(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)
        for _, test in folds.split(strata.rows, strata.codes[strata.rows], group[strata.rows]):
            tested = strata.rows[test]
            yield np.flatnonzero(~np.isin(group, group[tested])), tested


@dataclass(eq=False)
class SemiSupervisedSplit(_SemiSupervised):
    """Random stratified splits of the labeled rows; unlabeled rows are in every training part and in no test part.

    Parameters
    ----------
    n_splits : int, default=10
        Number of splits.
    test_size : float or int, default=0.2
        Share of the labeled rows of each class to test on, or number of test rows.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives a first split with the test rows of ``udeed data split --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows.

    Examples
    --------
    >>> import numpy as np
    >>> from udeed import SemiSupervisedSplit
    >>> y = np.array(["a", "b", "?", "a", "b", "?"])
    >>> for train, test in SemiSupervisedSplit(3, test_size=0.5, random_state=0, unlabeled="?").split(y, y):
    ...     print(sorted(y[test].tolist()), 2 in train and 5 in train)
    ['a', 'b'] True
    ['a', 'b'] True
    ['a', 'b'] True
    """

    n_splits: int = 10
    _: KW_ONLY
    test_size: float | int = 0.2
    random_state: int | np.random.RandomState | None = None
    unlabeled: object = -1

    def _tests(self, strata: Strata) -> Iterator[NDArray[np.intp]]:
        size, seed = strata.tested(self.test_size), seed_of(self.random_state)
        for repetition in range(self.n_splits):
            yield strata.deal(size, 1.0, seed, repetition)[2]


def mask_labels(
    y: ArrayLike,
    labeled: float | int = 0.25,
    *,
    random_state: int | np.random.RandomState | None = None,
    unlabeled: object = -1,
) -> NDArray[Any]:
    """Hide labels at random, for experiments on rows whose labels are known.

    Parameters
    ----------
    y : array of shape (n_samples,)
        The labels. Unlabeled rows stay unlabeled.
    labeled : float or int, default=0.25
        Share of the labels of each class to keep, or number of labels to keep, each class in proportion; at least one of
        each class.
    random_state : int, RandomState or None, default=None
        Random seed.
    unlabeled : object, default=-1
        Label of hidden and unlabeled rows.

    Returns
    -------
    array of shape (n_samples,)
        A copy. Text becomes an array of objects where ``unlabeled`` is none.

    Examples
    --------
    >>> from udeed import mask_labels
    >>> few = mask_labels(["ham", "spam"] * 10, 4, random_state=0, unlabeled="?")
    >>> [int((few == label).sum()) for label in ("ham", "spam", "?")]
    [2, 2, 16]
    """
    if unlabeled is None:
        raise ValueError("`unlabeled` is None, expected the label that hidden ones become")
    strata = Strata(y, unlabeled)
    kept, _, _ = strata.deal(None, strata.kept(labeled, strata.rows.size), seed_of(random_state), 0)
    masked = holding(strata.labels, unlabeled)
    hidden = np.ones(masked.size, dtype=bool)
    hidden[kept] = False
    masked[hidden] = unlabeled
    return masked


def bootstraps(
    y: ArrayLike,
    members: int = 20,
    *,
    random_state: int | np.random.RandomState | None = None,
    unlabeled: object = -1,
) -> NDArray[np.uint8]:
    """Draw the bootstraps that members are fitted to: those of bagging, tri-training and the initial members of UDEED.

    Parameters
    ----------
    y : array of shape (n_samples,)
        The labels. Unlabeled rows are not drawn.
    members : int, default=20
        Number of members.
    random_state : int, RandomState or None, default=None
        Random seed: that of the estimator.
    unlabeled : object, default=-1
        Label of unlabeled rows.

    Returns
    -------
    array of shape (members, n_samples)
        How often each row is drawn for each member.

    Examples
    --------
    >>> from udeed import bootstraps
    >>> draws = bootstraps([0, 1, -1, 1], members=3, random_state=0)
    >>> draws.sum(axis=1).tolist(), draws[:, 2].tolist()
    ([3, 3, 3], [0, 0, 0])
    """
    members = count_of("members", members, 2**32 - 1)
    strata = Strata(y, unlabeled)
    draws = np.zeros((members, strata.labels.size), dtype=np.uint8)
    codes = strata.codes[strata.rows].astype(np.uint8)
    draws[:, strata.rows] = _core.bootstraps(codes, seed_of(random_state), members)
    return draws


def holding(y: NDArray[Any], unlabeled: object) -> NDArray[Any]:
    """A copy that can hold the label that means none."""
    value = np.asarray(unlabeled)
    if y.dtype.kind == "O" or (y.dtype.kind in "US") != (value.dtype.kind in "US") or value.dtype.kind == "O":
        return y.astype(object)
    return y.astype(np.result_type(y.dtype, value.dtype))


class _LabeledScorer:
    """A scorer of the labeled rows only."""

    def __init__(self, scoring: str | Callable[..., float], unlabeled: object) -> None:
        from sklearn.metrics import get_scorer

        self.scoring = scoring
        self.unlabeled = unlabeled
        self._scorer: Any = get_scorer(scoring) if isinstance(scoring, str) else copy.deepcopy(scoring)

    def __call__(self, estimator: Any, X: Any, y: ArrayLike, **metadata: Any) -> float:
        labels, labeled = labeled_rows(y, self.unlabeled, getattr(estimator, "classes_", None))
        # Metadata are of the rows, such as weights.
        check_consistent_length(labels, *metadata.values())
        own = {name: _safe_indexing(value, labeled) for name, value in metadata.items() if value is not None}
        return float(self._scorer(estimator, _safe_indexing(X, labeled), labels[labeled], **own))

    def set_score_request(self, **requests: Any) -> _LabeledScorer:
        """Ask for metadata, such as ``sample_weight=True``, where scikit-learn's metadata routing is enabled."""
        self._scorer.set_score_request(**requests)
        return self

    def get_metadata_routing(self) -> Any:
        """The metadata that are asked for."""
        from sklearn.utils.metadata_routing import get_routing_for_object

        return get_routing_for_object(self._scorer)

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, unlabeled={self.unlabeled!r})"


def labeled_scorer(
    scoring: str | Callable[..., float] = "accuracy", *, unlabeled: object = -1
) -> _LabeledScorer:
    """Make a scorer that leaves unlabeled rows out.

    Parameters
    ----------
    scoring : str or callable, default="accuracy"
        A scorer, or its name in scikit-learn.
    unlabeled : object, default=-1
        Label of unlabeled rows.

    Returns
    -------
    callable
        The scorer, for ``cross_val_score`` or ``GridSearchCV`` as ``scoring``. Its
        ``set_score_request(sample_weight=True)`` asks for weights where scikit-learn's metadata routing is enabled.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.dummy import DummyClassifier
    >>> from udeed import labeled_scorer
    >>> X, y = np.zeros((4, 1)), np.array([0, 0, 1, -1])
    >>> model = DummyClassifier().fit(X[:3], y[:3])
    >>> round(labeled_scorer("accuracy")(model, X, y), 3)
    0.667
    """
    return _LabeledScorer(scoring, unlabeled)
