"""Comparisons of any classifiers on the same splits, with the laboratory's tests and its report."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils import _safe_indexing, check_consistent_length

from udeed import _core
from udeed._displays import axes_for
from udeed._progress import Event, Progress
from udeed._rules import count_of, seed_of
from udeed._split import Strata

Named = Mapping[str, Any] | Iterable[Any]


def compare(
    estimators: Named,
    X: Any,
    y: ArrayLike,
    *,
    splits: int = 20,
    test_size: float | int = 0.5,
    labeled: float | int = 0.25,
    scoring: str | Callable[..., float] = "accuracy",
    reference: str | None = None,
    verdicts: str = "corrected",
    title: str = "the rows",
    random_state: int | np.random.RandomState | None = 0,
    unlabeled: object = -1,
    verbose: int | bool = False,
) -> Comparison:
    """Compare classifiers on the same random splits, of which few training rows keep their labels.

    Classifiers that learn from unlabeled rows get them all: those with a parameter ``unlabeled``, and those of
    ``sklearn.semi_supervised``, also at the end of a pipeline or in a search such as ``GridSearchCV``. All others are
    fitted to the labeled rows alone.

    Parameters
    ----------
    estimators : dict, or list of classifiers or of pairs of name and classifier
        The classifiers: any of scikit-learn's interface, pipelines included.
    X : array, sparse matrix or data frame of shape (n_samples, n_features)
        The rows.
    y : array of shape (n_samples,)
        Their labels. Unlabeled rows are in every training part.
    splits : int, default=20
        Number of random splits.
    test_size : float or int, default=0.5
        Share of the labeled rows of each class to test on, or number of test rows.
    labeled : float or int, default=0.25
        Share of the other labels of each class to keep, or number of labels to keep.
    scoring : str or callable, default="accuracy"
        Score of the test rows; higher is better. It sees the classes as 0, 1 and so on, in their order.
    reference : str, optional
        Name of the classifier that the others are compared with; by default the first.
    verdicts : {"corrected", "paired"}, default="corrected"
        Test that tells wins and losses from ties at 95 %: the paired t-test corrected for splits that share rows (Nadeau
        and Bengio), or the paired t-test, which takes them for independent and finds too much.
    title : str, default="the rows"
        Name of the rows in the report.
    random_state : int, RandomState or None, default=0
        Random seed of the splits: an int gives those of ``udeed compare --seed``. The classifiers have seeds of their own.
    unlabeled : object, default=-1
        Label of unlabeled rows.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error.

    Returns
    -------
    Comparison
        Scores and standings of the classifiers; a report in a notebook.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from udeed import UDEEDClassifier, compare
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> result = compare([UDEEDClassifier(random_state=0), GaussianNB()], X, y, splits=3, labeled=20)
    >>> list(result.scores)
    ['UDEEDClassifier', 'GaussianNB']
    """
    from sklearn.metrics import get_scorer

    named = _named(estimators)
    splits = count_of("splits", splits)
    reference = next(iter(named)) if reference is None else reference
    if reference not in named:
        raise ValueError(f"`reference` is {reference!r}, expected one of {list(named)}")
    if verdicts not in ("corrected", "paired"):
        raise ValueError(f"`verdicts` is {verdicts!r}, expected 'corrected' or 'paired'")
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    # Classes as 0, 1, ... and -1 for none is what every classifier understands.
    strata = Strata(y, unlabeled)
    codes = strata.codes
    check_consistent_length(X, codes)
    tested, seed = strata.tested(test_size), seed_of(random_state)
    scores: dict[str, list[float]] = {name: [] for name in named}
    dealt = (0, 0, 0)
    with Progress() if verbose else nullcontext() as progress:
        for number in range(splits):
            kept, hidden, test = strata.deal(tested, strata.kept(labeled, strata.rows.size), seed, number)
            train = np.sort(np.concatenate([kept, hidden]))
            few = np.where(np.isin(train, kept, assume_unique=True), codes[train], -1)
            dealt = (kept.size, hidden.size, test.size)
            for name, estimator in named.items():
                fitted = _fitted(estimator, X, train, few)
                score = float(scorer(fitted, _safe_indexing(X, test), codes[test]))
                if not np.isfinite(score):
                    found = f"`scoring` gives {score} for {name!r} on split {number}"
                    raise ValueError(f"{found}, expected a finite number for every classifier and split")
                scores[name].append(score)
            if progress is not None:
                progress(Event("splits", number + 1, splits, None))
    called = scoring if isinstance(scoring, str) else getattr(scoring, "__name__", "score")
    arrays = {name: np.array(values) for name, values in scores.items()}
    return Comparison(arrays, dealt, called, reference, title, verdicts)


def _named(estimators: Named) -> dict[str, Any]:
    """The classifiers by name: their own, numbered where it occurs twice, unless others are given."""
    if hasattr(estimators, "fit") or not isinstance(estimators, Iterable):
        expected = "a list or a dict of classifiers: say `[classifier]` for one alone"
        raise ValueError(f"`estimators` is {estimators!r}, expected {expected}")
    pairs: list[tuple[str, Any]]
    if isinstance(estimators, Mapping):
        pairs = list(estimators.items())
    else:
        pairs = [item if isinstance(item, tuple) else (type(item).__name__, item) for item in estimators]
    if not pairs:
        raise ValueError("there are no estimators, expected at least one")
    named: dict[str, Any] = {}
    for name, estimator in pairs:
        if not hasattr(estimator, "fit"):
            raise ValueError(f"`estimators` holds {estimator!r}, expected classifiers with `fit` and `predict`")
        number = 2
        unique = str(name)
        while unique in named:
            unique, number = f"{name} {number}", number + 1
        named[unique] = estimator
    return named


def _inner(estimator: Any) -> tuple[str, Any] | None:
    """The classifier that gets the labels just as they are given: the last of a pipeline, what a search tries."""
    if isinstance(getattr(estimator, "steps", None), Sequence):
        return estimator.steps[-1]  # type: ignore[no-any-return]
    # A search over parameters; others with an `estimator`, such as calibration, take -1 for a class.
    if hasattr(estimator, "estimator") and hasattr(estimator, "refit"):
        return "estimator", estimator.estimator
    return None


def _fitted(estimator: Any, X: Any, train: NDArray[np.intp], few: NDArray[Any]) -> Any:
    estimator = clone(estimator)
    last, prefix = estimator, ""
    while (inner := _inner(last)) is not None:
        name, last = inner
        prefix += f"{name}__"
    is_ours = "unlabeled" in last.get_params(deep=False) and last.unlabeled is not None
    if is_ours:
        estimator.set_params(**{f"{prefix}unlabeled": -1})
    if not is_ours and not type(last).__module__.startswith("sklearn.semi_supervised"):
        train, few = train[few >= 0], few[few >= 0]
    return estimator.fit(_safe_indexing(X, train), few)


class Comparison:
    """What came out of :func:`compare`. In a notebook it shows the laboratory's report.

    Attributes
    ----------
    scores : dict of arrays
        The score of each classifier on each split.
    standings : list of dict
        How each did: ``name``, ``mean``, ``std``, ``interval``, and ``against`` the reference: on how many splits it was
        better, as good and worse, the verdict of the test that decides, the figures of the paired t-test, those corrected
        for splits that overlap (Nadeau and Bengio), and of Wilcoxon's signed-rank test.
    reference : str
        Name of the classifier that the others are compared with.
    verdicts : str
        The test that decides: ``"corrected"`` or ``"paired"``.
    """

    def __init__(
        self,
        scores: Mapping[str, NDArray[np.float64]],
        dealt: tuple[int, int, int],
        scoring: str,
        reference: str,
        title: str,
        verdicts: str = "corrected",
    ) -> None:
        self.scores = dict(scores)
        self.dealt = dealt
        self.scoring = scoring
        self.reference = reference
        self.title = title
        self.verdicts = verdicts
        self.standings: list[dict[str, Any]] = json.loads(_core.compare(self._json(), reference))

    def _json(self) -> str:
        classifiers = [{"name": name, "scores": list(map(float, values))} for name, values in self.scores.items()]
        held = {"title": self.title, "scoring": self.scoring, "dealt": list(self.dealt), "verdicts": self.verdicts}
        return json.dumps(held | {"classifiers": classifiers}, allow_nan=False)

    def to_frame(self) -> Any:
        """The standings as a pandas data frame, one row a classifier."""
        try:
            import pandas
        except ImportError as error:
            raise ImportError("`to_frame` needs pandas: pip install pandas") from error

        def row(standing: dict[str, Any]) -> dict[str, Any]:
            against = standing["against"] or {}
            better, even, worse = against.get("splits", (None, None, None))
            p = {name: (against.get(name) or {}).get("p") for name in ("t", "corrected", "wilcoxon")}
            return {
                "mean": standing["mean"],
                "std": standing["std"],
                "difference": (against.get("t") or {}).get("mean_difference"),
                "better": better,
                "even": even,
                "worse": worse,
                "verdict": against.get("verdict"),
                "p_paired_t": p["t"],
                "p_corrected_t": p["corrected"],
                "p_wilcoxon": p["wilcoxon"],
            }

        names = [standing["name"] for standing in self.standings]
        return pandas.DataFrame([row(standing) for standing in self.standings], index=names)

    def plot(self, ax: Any = None) -> Any:
        """Draw every split and the means with matplotlib.

        Parameters
        ----------
        ax : matplotlib axes, optional
            Where to; by default into a new figure, as high as the number of classifiers asks for.

        Returns
        -------
        matplotlib axes
        """
        ax = axes_for("plot", ax, figsize=(7.0, 1.2 + 0.5 * len(self.scores)))
        for place, standing in enumerate(self.standings):
            values = self.scores[standing["name"]]
            ax.scatter(values, np.full(values.size, place - 0.15), s=14, alpha=0.5, color="tab:blue")
            low, high = standing["interval"] or (standing["mean"], standing["mean"])
            ax.plot([low, high], [place + 0.15] * 2, color="black", linewidth=1.5)
            ax.plot(standing["mean"], place + 0.15, "o", color="black")
        ax.set_yticks(range(len(self.standings)), [standing["name"] for standing in self.standings])
        ax.invert_yaxis()
        ax.set_xlabel(self.scoring)
        ax.set_title(self.title)
        return ax

    def to_html(self) -> str:
        """The laboratory's report, a page that needs nothing else."""
        return _core.comparison_report(self._json(), self.reference)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the report into a file.

        Parameters
        ----------
        path : path
            Where to.
        """
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.to_html())

    def _repr_html_(self) -> str:
        page = html.escape(self.to_html(), quote=True)
        height = 620 + 85 * len(self.scores)
        style = f"width:100%;height:{height}px;border:0"
        return f'<iframe srcdoc="{page}" style="{style}" title="{html.escape(self.title)}"></iframe>'

    def __repr__(self) -> str:
        width = max(len(name) for name in self.scores)
        labeled, unlabeled, test = self.dealt
        splits = len(next(iter(self.scores.values())))
        dealt = f"{splits} splits of {labeled} labeled, {unlabeled} unlabeled, {test} test rows"
        lines = [f"{self.scoring} on {self.title}, {dealt}"]
        for standing in self.standings:
            line = f"{standing['name']:<{width}}  {standing['mean']:.3f} ± {standing['std']:.3f}"
            against = standing["against"]
            if against is not None and against["t"] is not None:
                better, _, worse = against["splits"]
                line += f"  {against['t']['mean_difference']:+.3f} ({better} up, {worse} down"
                p, corrected = against["t"]["p"], against["corrected"]["p"]
                line += f"; p = {p:.4f}, corrected {corrected:.4f}: {against['verdict']})"
            lines.append(line)
        return "\n".join(lines)
