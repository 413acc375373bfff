"""Average ranks of classifiers over several data sets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from math import isfinite
from typing import Any

from udeed import _core


class AverageRanks:
    """Average ranks over data sets, with the tests of Friedman and Nemenyi. A notebook shows the diagram.

    Parameters
    ----------
    scores : dict of sequences of float
        The score of each classifier on each data set, in the same order for all; higher is better.
    title : str, default="Classifiers"
        The title of the diagram.

    Attributes
    ----------
    ranks : dict of float
        The average rank of each classifier, in the order of ``scores``; 1 is the best.
    p_value : float
        Friedman's test with the correction of Iman and Davenport: whether the ranks differ by chance.
    critical_difference : float or None
        Nemenyi's test at 95 %: average ranks that differ by less are not significantly different. None for more than 20
        classifiers.

    Examples
    --------
    >>> from udeed import AverageRanks
    >>> found = AverageRanks({"forest": [0.8, 0.9, 0.7], "udeed": [0.9, 0.8, 0.8]})
    >>> {name: round(rank, 2) for name, rank in found.ranks.items()}
    {'forest': 1.67, 'udeed': 1.33}
    """

    def __init__(self, scores: Mapping[str, Iterable[float]], title: str = "Classifiers") -> None:
        table = {str(name): [float(score) for score in of] for name, of in scores.items()}
        for name, row in table.items():
            if not all(map(isfinite, row)):
                raise ValueError(f"`scores` of {name!r} are {row}, expected a finite number for every data set")
        classifiers = [{"name": name, "scores": row} for name, row in table.items()]
        found, self._svg = _core.average_ranks(json.dumps(classifiers), title)
        ranks: dict[str, Any] = json.loads(found)
        self.ranks: dict[str, float] = dict(zip(ranks["methods"], ranks["friedman"]["average_ranks"], strict=True))
        self.p_value: float = ranks["friedman"]["f_p"]
        self.critical_difference: float | None = ranks["critical_difference"]

    def to_svg(self) -> str:
        """The critical-difference diagram (Demsar, 2006), a picture that needs nothing else."""
        return self._svg

    def _repr_svg_(self) -> str:
        return self._svg

    def __repr__(self) -> str:
        ranked = sorted(self.ranks.items(), key=lambda item: item[1])
        return "\n".join(f"{rank:6.2f}  {name}" for name, rank in ranked)
