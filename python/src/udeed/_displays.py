"""Pictures of a model, in scikit-learn's way: ``from_estimator`` computes and draws, ``plot`` draws again.

matplotlib is imported when a picture is drawn, and not before.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from udeed._ensemble import Ensemble, ours
from udeed._labeling import suggest
from udeed._labels import UdeedWarning, labeled_rows
from udeed._rows import Rows
from udeed._rules import count_of, seed_of
from udeed._split import Strata, holding

if TYPE_CHECKING:
    from typing_extensions import Self

Floats = NDArray[np.float64]
_STAGES = {"empirical": "empirical loss only", "labeled": "labeled rows", "unlabeled": "unlabeled rows"}


def axes_for(drawer: str, ax: Any, **figure: Any) -> Any:
    """The axes to draw into: those given, or those of a new figure."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(f"`{drawer}` needs matplotlib: pip install matplotlib") from error
    return pyplot.subplots(layout="constrained", **figure)[1] if ax is None else ax


class Display:
    """What the pictures share: their axes."""

    _ax: Any

    @property
    def ax_(self) -> Any:
        """The matplotlib axes of the picture, once it is drawn."""
        return self._ax

    @property
    def figure_(self) -> Any:
        """The matplotlib figure of the axes."""
        return self._ax.figure

    def _axes(self, ax: Any) -> Any:
        self._ax = axes_for(type(self).__name__, ax)
        return self._ax

    def plot(self, *, ax: Any = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; by default into a new figure.

        Returns
        -------
        display
        """
        self._draw(self._axes(ax))
        return self

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError


def _legend_below(ax: Any, columns: int) -> None:
    """A legend that hides nothing."""
    ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.14), ncols=columns, frameon=False)


def _checked(estimator: Any) -> Ensemble:
    """A fitted estimator of this package."""
    check_is_fitted(ours("estimator", estimator))
    return estimator  # type: ignore[no-any-return]


class DescentDisplay(Display):
    """The losses in every step of a descent.

    Parameters
    ----------
    history : list of dict
        Steps of gradient descent, as ``history_`` has them.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import DescentDisplay, UDEEDClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = UDEEDClassifier(random_state=0).fit(X, mask_labels(y, 40, random_state=0))
    >>> display = DescentDisplay.from_estimator(model)
    >>> display.ax_.get_xlabel()
    'step'
    """

    __module__ = "udeed"

    def __init__(self, history: Sequence[dict[str, Any]]) -> None:
        self.history = list(history)

    @classmethod
    def from_estimator(cls, estimator: Ensemble, *, ax: Any = None) -> DescentDisplay:
        """Draw the descent of a fitted estimator.

        Parameters
        ----------
        estimator : fitted estimator
            One with a descent: UDEED.
        ax : matplotlib axes, optional
            Where to; by default into a new figure.

        Returns
        -------
        display
        """
        history = _checked(estimator).history_
        if not history:
            raise ValueError(f"this {type(estimator).__name__} has no descent: its `history_` is empty")
        return cls(history).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        accepted = [step for step in self.history if step["accepted"]]
        # Every stage begins with its starting point, and has losses of its own: no line leads from one to the next.
        starts = [place for place, step in enumerate(accepted) if step["step"] == 0]
        places = np.insert(np.arange(len(accepted), dtype=float), starts, np.nan)
        named = (("total", "total loss V"), ("empirical", "empirical loss"), ("diversity", "diversity loss"))
        for (key, label), style in zip(named, ("-", "--", ":"), strict=True):
            marker = "o" if len(accepted) < 3 else None
            losses = np.insert([step[key] for step in accepted], starts, np.nan)
            ax.plot(places, losses, style, label=label, marker=marker, markersize=4)
        for number, start in enumerate(starts):
            if number > 0:
                ax.axvline(start, color="0.6", linewidth=0.8, zorder=0)
            if len(starts) > 1:
                text = _STAGES.get(accepted[start]["stage"], accepted[start]["stage"])
                ax.annotate(
                    f" {text}", (start, 1.0), xycoords=("data", "axes fraction"), va="bottom", fontsize="small", color="0.4"
                )
        ax.set(xlabel="step", ylabel="loss")
        ax.locator_params(axis="x", integer=True)
        _legend_below(ax, 3)


class DiversityDisplay(Display):
    """The kappa-error diagram: of every pair of members how much they agree beyond chance, and their mean error.

    Members to the left differ more, members below are more accurate; an ensemble wants both (D. Margineantu and
    T. Dietterich, "Pruning adaptive boosting", ICML 1997).

    Parameters
    ----------
    kappa : array of shape (n_pairs,)
        Agreement beyond chance of each pair of members.
    error : array of shape (n_pairs,)
        Mean error of each pair.
    name : str, optional
        Name of the ensemble in the legend.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import BaggingClassifier, DiversityDisplay, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = BaggingClassifier(members=10, random_state=0)
    >>> DiversityDisplay.from_estimator(model.fit(X, mask_labels(y, 40, random_state=0)), X, y).kappa.size
    45
    """

    __module__ = "udeed"

    def __init__(self, kappa: ArrayLike, error: ArrayLike, name: str | None = None) -> None:
        self.kappa = np.asarray(kappa, dtype=np.float64)
        self.error = np.asarray(error, dtype=np.float64)
        self.name = name

    @classmethod
    def from_estimator(
        cls, estimator: Ensemble, X: Any, y: ArrayLike, *, name: str | None = None, ax: Any = None
    ) -> DiversityDisplay:
        """Draw how the members of a fitted estimator differ on labeled rows.

        Parameters
        ----------
        estimator : fitted estimator
            Of at least two members.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their labels; unlabeled rows are left out.
        name : str, optional
            Name of the ensemble in the legend; by default that of its class.
        ax : matplotlib axes, optional
            Where to; by default into a new figure. Several ensembles may be drawn into the same.

        Returns
        -------
        display
        """
        said = _checked(estimator).member_predictions(X)
        labels, labeled = labeled_rows(y, estimator.unlabeled, estimator.classes_)
        if labels.size != said.shape[0]:
            raise ValueError(f"y has {labels.size} labels, expected one for each of {said.shape[0]} rows")
        if said.shape[1] < 2:
            raise ValueError(f"this {type(estimator).__name__} has one member, expected at least two, which may differ")
        said, right = said[labeled], labels[labeled]
        wrong = np.mean(said != right[:, None], axis=0)
        shares = np.array([np.mean(said == label, axis=0) for label in estimator.classes_])
        pairs = np.array(list(combinations(range(said.shape[1]), 2)))
        agree = np.array([np.mean(said[:, a] == said[:, b]) for a, b in pairs])
        chance = (shares[:, pairs[:, 0]] * shares[:, pairs[:, 1]]).sum(axis=0)
        # Two members that always say the same class agree.
        kappa = np.divide(agree - chance, 1.0 - chance, out=np.ones(len(pairs)), where=chance < 1.0)
        error = wrong[pairs].mean(axis=1)
        return cls(kappa, error, type(estimator).__name__ if name is None else name).plot(ax=ax)

    def plot(self, *, ax: Any = None, **kwargs: Any) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; by default into a new figure.
        **kwargs : dict
            Arguments of matplotlib's ``scatter``.

        Returns
        -------
        display
        """
        ax = self._axes(ax)
        points = ax.scatter(self.kappa, self.error, **{"s": 12, "alpha": 0.4, "linewidths": 0.0, **kwargs})
        color = points.get_facecolor()[0][:3]
        mean = (self.kappa.mean(), self.error.mean())
        ax.scatter(*mean, s=70, marker="D", color=[color], edgecolors="black", zorder=3, label=self.name)
        ax.set(xlabel="kappa of two members (less is more diverse)", ylabel="mean error of two members")
        if self.name is not None:
            ax.legend(title="mean")
        return self


class ConfidenceDisplay(Display):
    """How sure a model is of labeled and of unlabeled rows: the shares of rows by the probability of their predicted class.

    Parameters
    ----------
    labeled : array of shape (n_labeled,)
        Probability of the predicted class of each labeled row.
    unlabeled : array of shape (n_unlabeled,)
        Those of unlabeled rows.
    n_classes : int, default=2
        Number of classes: no probability is below one over it.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import BaggingClassifier, ConfidenceDisplay, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> display = ConfidenceDisplay.from_estimator(BaggingClassifier(random_state=0).fit(X, few), X, few)
    >>> display.labeled.size, display.unlabeled.size
    (40, 529)
    """

    __module__ = "udeed"

    def __init__(self, labeled: ArrayLike, unlabeled: ArrayLike, n_classes: int = 2) -> None:
        self.labeled = np.asarray(labeled, dtype=np.float64)
        self.unlabeled = np.asarray(unlabeled, dtype=np.float64)
        self.n_classes = n_classes

    @classmethod
    def from_estimator(cls, estimator: Ensemble, X: Any, y: ArrayLike, *, ax: Any = None) -> ConfidenceDisplay:
        """Draw how sure a fitted estimator is of rows.

        Parameters
        ----------
        estimator : fitted estimator
            Of this package.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their labels, ``unlabeled`` for none.
        ax : matplotlib axes, optional
            Where to; by default into a new figure.

        Returns
        -------
        display
        """
        sure = _checked(estimator).predict_proba(X).max(axis=1)
        _, labeled = labeled_rows(y, estimator.unlabeled, estimator.classes_)
        is_labeled = np.zeros(np.shape(y)[0], dtype=bool)
        is_labeled[labeled] = True
        if is_labeled.size != sure.size:
            raise ValueError(f"y has {is_labeled.size} labels, expected one for each of {sure.size} rows")
        return cls(sure[is_labeled], sure[~is_labeled], len(estimator.classes_)).plot(ax=ax)

    def plot(self, *, ax: Any = None, bins: int = 20) -> Self:
        """Draw.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; by default into a new figure.
        bins : int, default=20
            Number of bars.

        Returns
        -------
        display
        """
        ax = self._axes(ax)
        edges = np.linspace(1.0 / self.n_classes, 1.0, bins + 1)
        for sure, what, style in (
            (self.unlabeled, "unlabeled", {"alpha": 0.4, "histtype": "stepfilled"}),
            (self.labeled, "labeled", {"histtype": "step", "linewidth": 1.8}),
        ):
            if sure.size:
                rows = f"{sure.size} {what} row{'s' if sure.size > 1 else ''}"
                ax.hist(sure, bins=edges, weights=np.full(sure.size, 1.0 / sure.size), label=rows, **style)
        ax.set(xlabel="probability of the predicted class", ylabel="share of the rows")
        ax.set_xlim(edges[0], 1.0)
        ax.set_ylim(0.0, 1.05 * ax.dataLim.ymax)
        _legend_below(ax, 2)
        return self


class LabelCurveDisplay(Display):
    """Accuracy against the number of labels, with the unlabeled rows and without them.

    Parameters
    ----------
    labels : array of shape (n_sizes,)
        Numbers of labels.
    scores : array of shape (n_sizes, n_repetitions)
        Accuracy on rows left out, of fits to labeled and unlabeled rows.
    alone : array of shape (n_sizes, n_repetitions)
        Those of fits to the same labels alone.
    name : str, optional
        Name of the estimator in the title.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import LabelCurveDisplay, SelfTrainingClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = SelfTrainingClassifier(random_state=0)
    >>> display = LabelCurveDisplay.from_estimator(model, X, y, labels=[10, 40], repetitions=2, random_state=0)
    >>> display.scores.shape
    (2, 2)
    """

    __module__ = "udeed"

    def __init__(self, labels: ArrayLike, scores: ArrayLike, alone: ArrayLike, name: str | None = None) -> None:
        self.labels = np.asarray(labels, dtype=np.int64)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.alone = np.asarray(alone, dtype=np.float64)
        self.name = name

    @classmethod
    def from_estimator(
        cls,
        estimator: Ensemble,
        X: Any,
        y: ArrayLike,
        *,
        labels: Sequence[int] | None = None,
        repetitions: int = 5,
        test_size: float | int = 0.25,
        random_state: int | np.random.RandomState | None = None,
        ax: Any = None,
    ) -> LabelCurveDisplay:
        """Fit an estimator to more and more labels, and draw its accuracy on rows left out.

        Parameters
        ----------
        estimator : estimator
            Of this package; it is cloned.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows.
        y : array of shape (n_samples,)
            Their labels. Labels are hidden from it; rows without one stay unlabeled in every fit.
        labels : sequence of int, optional
            Numbers of labels. By default five, from three for each class to all, each larger by the same factor.
        repetitions : int, default=5
            Number of random splits for each.
        test_size : float or int, default=0.25
            Share or number of labeled rows to test on.
        random_state : int, RandomState or None, default=None
            Random seed of the splits.
        ax : matplotlib axes, optional
            Where to; by default into a new figure.

        Returns
        -------
        display
        """
        repetitions = count_of("repetitions", repetitions)
        if ours("estimator", estimator).unlabeled is None:
            raise ValueError("`unlabeled` of the estimator is None, expected the label that hidden ones become")
        strata, seed = Strata(y, estimator.unlabeled), seed_of(random_state)
        tested = strata.tested(test_size)
        if labels is None:
            labels = _sizes(strata, tested)
        scores, alone = np.empty((2, len(labels), repetitions))
        for place, repetition in np.ndindex(scores.shape):
            size = strata.kept(int(labels[place]), strata.rows.size)
            known, others, test = strata.deal(tested, size, seed, repetition)
            few = holding(strata.labels, estimator.unlabeled)
            few[others] = estimator.unlabeled
            right, rows_left_out = strata.labels[test], _safe_indexing(X, test)

            def score(rows: NDArray[np.int64], few: Any = few, right: Any = right, test: Any = rows_left_out) -> float:
                with warnings.catch_warnings():
                    # That there are no unlabeled rows is the point of half of the fits.
                    warnings.simplefilter("ignore", UdeedWarning)
                    return float(clone(estimator).fit(_safe_indexing(X, rows), few[rows]).score(test, right))

            scores[place, repetition] = score(np.sort(np.concatenate([known, others])))
            alone[place, repetition] = score(known)
        return cls(labels, scores, alone, type(estimator).__name__).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        for values, what, style in (
            (self.scores, "labeled and unlabeled rows", "o-"),
            (self.alone, "labeled rows alone", "s--"),
        ):
            mean, deviation = values.mean(axis=1), values.std(axis=1)
            (line,) = ax.plot(self.labels, mean, style, label=what, markersize=5)
            band = (mean - deviation, np.minimum(mean + deviation, 1.0))
            ax.fill_between(self.labels, *band, color=line.get_color(), alpha=0.15, linewidth=0.0)
        ax.set_xscale("log")
        ax.set_xticks(self.labels, [str(number) for number in self.labels])
        ax.minorticks_off()
        ax.set(xlabel="labels", ylabel="accuracy on rows left out")
        if self.name is not None:
            ax.set_title(self.name)
        ax.legend()


def _sizes(strata: Strata, tested: float | int) -> list[int]:
    """Five numbers of labels, from three for each class to all that are not tested on."""
    most = strata.deal(tested, 1.0, 0, 0)[0].size
    least = min(3 * len(strata.names), most)
    return sorted({round(least * (most / least) ** (step / 4)) for step in range(5)})


class SuggestionDisplay(Display):
    """The rows to label next among all others, in the plane of the two largest principal components.

    Parameters
    ----------
    points : array of shape (n_samples, 2)
        Places of the rows.
    classes : array of shape (n_samples,)
        Labels of the rows; None for none.
    suggested : array of shape (n_suggested,)
        Positions of the rows to label, best first.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import BaggingClassifier, SuggestionDisplay
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> y[60:] = -1
    >>> model = BaggingClassifier(random_state=0).fit(X, y)
    >>> SuggestionDisplay.from_estimator(model, X, y, n=5, random_state=0).suggested.shape
    (5,)
    """

    __module__ = "udeed"

    def __init__(self, points: ArrayLike, classes: ArrayLike, suggested: ArrayLike) -> None:
        self.points = np.asarray(points, dtype=np.float64)
        self.classes = np.asarray(classes, dtype=object)
        self.suggested = np.asarray(suggested, dtype=np.int64)

    @classmethod
    def from_estimator(
        cls, estimator: Ensemble, X: Any, y: ArrayLike, *, ax: Any = None, **options: Any
    ) -> SuggestionDisplay:
        """Draw which rows to label next, by :func:`udeed.suggest`.

        Parameters
        ----------
        estimator : fitted estimator
            The model to ask.
        X : array, sparse matrix or data frame of shape (n_samples, n_features)
            The rows. For the picture columns are scaled to deviation 1, words are numbered, and missing values are means.
        y : array of shape (n_samples,)
            Their labels, ``unlabeled`` for none.
        ax : matplotlib axes, optional
            Where to; by default into a new figure.
        **options
            What else :func:`udeed.suggest` takes: ``n``, ``strategy``, ``random_state``, ``sample_weight``, ``cost``, ``per_class``
            and ``n_jobs``.

        Returns
        -------
        display
        """
        rows = _checked(estimator)._rows(X)
        suggested, _ = suggest(X, y, model=estimator, unlabeled=estimator.unlabeled, return_scores=True, **options)
        labels, labeled = labeled_rows(y, estimator.unlabeled, estimator.classes_)
        classes = np.full(rows.n_rows, None, dtype=object)
        classes[labeled] = labels[labeled]
        return cls(_plane(rows), classes, suggested).plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        has_label = np.array([label is not None for label in self.classes])
        others = self.points[~has_label]
        ax.scatter(*others.T, s=10, color="0.75", linewidths=0.0, label="unlabeled")
        for label in sorted(set(self.classes[has_label]), key=lambda label: (type(label).__name__, label)):
            own = self.points[has_label][self.classes[has_label] == label]
            ax.scatter(*own.T, s=26, edgecolors="white", linewidths=0.5, label=str(label))
        asked = self.points[self.suggested]
        ax.scatter(*asked.T, s=130, facecolors="none", edgecolors="black", linewidths=1.4, label="label next")
        for rank, (x, y) in enumerate(asked, start=1):
            ax.annotate(str(rank), (x, y), xytext=(7, 7), textcoords="offset points", fontsize="small", weight="bold")
        ax.set(xlabel="first principal component", ylabel="second principal component")
        ax.legend()


def _plane(rows: Rows) -> Floats:
    """The places of rows in the plane of the two largest principal components of scaled columns."""
    if isinstance(rows.values, np.ndarray):
        values = rows.values.copy()
        values[~np.isfinite(values)] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # a column without any value
            means, deviations = np.nanmean(values, axis=0), np.nanstd(values, axis=0)
        centred = np.nan_to_num((values - means) / np.where(deviations > 0.0, deviations, 1.0))
        # By the correlations, which are small where there are many rows.
        directions = np.linalg.eigh(centred.T @ centred)[1][:, ::-1] if values.shape[1] else np.zeros((0, 0))
        points: Floats = centred @ directions[:, :2]
    else:
        width, starts, columns, stored = rows.values
        matrix = sparse.csr_matrix((np.nan_to_num(stored), columns, starts), shape=(rows.n_rows, width))
        count = min(2, min(matrix.shape) - 1)
        points = np.zeros((rows.n_rows, 0))
        if count > 0:
            from scipy.sparse.linalg import svds

            left, sizes, _ = svds(matrix, k=count, random_state=0)
            points = (left * sizes)[:, ::-1]
    # One column is a line.
    return np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
