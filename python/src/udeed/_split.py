"""What scikit-learn lacks for rows without labels: splits, masks and scorers that know of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_random_state

from udeed._labels import labeled_rows


class _SemiSupervised:
    """A splitter of the labeled rows: unlabeled ones are in every training part and in no test part."""

    n_splits: int
    unlabeled: object

    def split(self, X: Any, y: ArrayLike, groups: object = None) -> Iterator[tuple[NDArray[np.intp], NDArray[np.intp]]]:
        """The rows to train on and those to test on, of each split.

        Parameters
        ----------
        X : array of shape (n_samples, n_features)
            The rows; only their number counts.
        y : array of shape (n_samples,)
            Their labels.
        groups : object
            Not used.

        Yields
        ------
        train, test : arrays of int
        """
        labels, labeled = labeled_rows(y, self.unlabeled)
        unlabeled = np.setdiff1d(np.arange(labels.size), labeled)
        for train, test in self._splitter().split(labeled, labels[labeled].astype(str)):
            yield np.sort(np.concatenate([labeled[train], unlabeled])), labeled[test]

    def get_n_splits(self, X: object = None, y: object = None, groups: object = None) -> int:
        """How many splits there are."""
        return self.n_splits

    def _splitter(self) -> Any:
        raise NotImplementedError

    def __repr__(self) -> str:
        parameters = ", ".join(f"{name}={value!r}" for name, value in vars(self).items())
        return f"{type(self).__name__}({parameters})"


class SemiSupervisedKFold(_SemiSupervised):
    """Stratified folds of the labeled rows; unlabeled rows are in every training fold and in no test fold.

    Parameters
    ----------
    n_splits : int, default=5
        How many folds there are.
    shuffle : bool, default=False
        Whether rows are shuffled before they are dealt out.
    random_state : int, RandomState or None, default=None
        What the shuffle follows from.
    unlabeled : object, default=-1
        The label that means none.

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

    def __init__(
        self,
        n_splits: int = 5,
        *,
        shuffle: bool = False,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
    ) -> None:
        self.n_splits = n_splits
        self.shuffle = shuffle
        self.random_state = random_state
        self.unlabeled = unlabeled

    def _splitter(self) -> Any:
        from sklearn.model_selection import StratifiedKFold

        return StratifiedKFold(self.n_splits, shuffle=self.shuffle, random_state=self.random_state)


class SemiSupervisedSplit(_SemiSupervised):
    """Random stratified splits of the labeled rows; unlabeled rows are in every training part and in no test part.

    Parameters
    ----------
    n_splits : int, default=10
        How many splits there are.
    test_size : float or int, default=0.2
        The share of the labeled rows to test on, or their number.
    random_state : int, RandomState or None, default=None
        What the splits follow from.
    unlabeled : object, default=-1
        The label that means none.

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

    def __init__(
        self,
        n_splits: int = 10,
        *,
        test_size: float | int = 0.2,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
    ) -> None:
        self.n_splits = n_splits
        self.test_size = test_size
        self.random_state = random_state
        self.unlabeled = unlabeled

    def _splitter(self) -> Any:
        from sklearn.model_selection import StratifiedShuffleSplit

        return StratifiedShuffleSplit(self.n_splits, test_size=self.test_size, random_state=self.random_state)


def mask_labels(
    y: ArrayLike,
    labeled: float | int = 0.25,
    *,
    random_state: int | np.random.RandomState | None = None,
    unlabeled: object = -1,
) -> NDArray[Any]:
    """Hide labels, to make an experiment of rows whose labels are known.

    Parameters
    ----------
    y : array of shape (n_samples,)
        The labels. Rows that have none already stay as they are.
    labeled : float or int, default=0.25
        The share of labels to keep, or their number: each class in proportion, and with at least one.
    random_state : int, RandomState or None, default=None
        What the choice follows from.
    unlabeled : object, default=-1
        What the others become.

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
    labels, rows = labeled_rows(y, unlabeled)
    names = labels[rows].astype(str) if labels.dtype.kind == "O" else labels[rows]
    _, classes = np.unique(names, return_inverse=True)
    kept = _in_proportion(_count(labeled, rows.size), np.bincount(classes.ravel()))
    random = check_random_state(random_state)
    hidden = np.ones(labels.size, dtype=bool)
    for number, count in enumerate(kept):
        members = rows[classes.ravel() == number]
        hidden[random.permutation(members)[:count]] = False
    masked = _holding(labels, unlabeled)
    masked[hidden] = unlabeled
    return masked


def _count(labeled: float | int, total: int) -> int:
    if isinstance(labeled, Integral) and not isinstance(labeled, bool) and 1 <= int(labeled) <= total:
        return int(labeled)
    if isinstance(labeled, Real) and not isinstance(labeled, Integral) and 0.0 < float(labeled) <= 1.0:
        return max(1, round(float(labeled) * total))
    expected = f"a share above 0 and at most 1 such as 0.25, or a number of rows up to {total}"
    raise ValueError(f"`labeled` is {labeled!r}, expected {expected}")


def _in_proportion(count: int, classes: NDArray[np.intp]) -> list[int]:
    """Deals a count out in proportion to the classes, at least one to each, the last ones by the largest remainders."""
    if count < classes.size:
        raise ValueError(f"`labeled` keeps {count} rows, expected at least {classes.size}, one of each class")
    sizes = classes.astype(np.int64)
    dealt = np.ones(sizes.size, dtype=np.int64)
    # Classes too small for one in proportion get one all the same, at the expense of the others.
    large, left = np.arange(sizes.size), count
    while (small := left * sizes[large] < sizes[large].sum()).any():
        left -= int(small.sum())
        large = large[~small]
    dealt[large], remainders = np.divmod(left * sizes[large], sizes[large].sum())
    lacking = np.argsort(-remainders, kind="stable")[: left - int(dealt[large].sum())]
    dealt[large[lacking]] += 1
    return [int(number) for number in dealt]


def _holding(y: NDArray[Any], unlabeled: object) -> NDArray[Any]:
    """A copy that can hold the label that means none."""
    value = np.asarray(unlabeled)
    if y.dtype.kind == "O" or (y.dtype.kind in "US") != (value.dtype.kind in "US") or value.dtype.kind == "O":
        return y.astype(object)
    return y.astype(np.result_type(y.dtype, value.dtype))


class _LabeledScorer:
    """A scorer that looks at labeled rows only."""

    def __init__(self, scoring: str | Callable[..., float], unlabeled: object) -> None:
        self.scoring = scoring
        self.unlabeled = unlabeled

    def __call__(self, estimator: Any, X: Any, y: ArrayLike) -> float:
        from sklearn.metrics import get_scorer

        labels, labeled = labeled_rows(y, self.unlabeled, getattr(estimator, "classes_", None))
        scorer = get_scorer(self.scoring) if isinstance(self.scoring, str) else self.scoring
        return float(scorer(estimator, _safe_indexing(X, labeled), labels[labeled]))

    def __repr__(self) -> str:
        return f"labeled_scorer({self.scoring!r}, unlabeled={self.unlabeled!r})"


def labeled_scorer(
    scoring: str | Callable[..., float] = "accuracy", *, unlabeled: object = -1
) -> Callable[[Any, Any, ArrayLike], float]:
    """A scorer that leaves unlabeled rows out.

    Parameters
    ----------
    scoring : str or callable, default="accuracy"
        A scorer, or what scikit-learn calls it.
    unlabeled : object, default=-1
        The label that means none.

    Returns
    -------
    callable
        To be given to ``cross_val_score`` or ``GridSearchCV`` as ``scoring``.

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
