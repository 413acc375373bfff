"""When unlabeled rows help: our methods and scikit-learn's on the same splits of nineteen sets, with few labels.

Makes the tables and pictures of docs/when-it-helps.md. `make when-it-helps` runs it; it takes some twenty minutes.
"""

from __future__ import annotations

import argparse
import re
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import udeed
from sets import Absent, find
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

SETS = (
    "diabetes heart_raw13 wdbc austra house vote vehicle hepatitis labor ionosphere kr_vs_kp isolet sonar colic credit_g "
    "BCI Digit1 COIL2 g241n"
).split()
# What is kept of the labels, and what a table is called.
LABELED: dict[str, float | int] = {"25 % labeled": 0.25, "20 labels": 20, "10 labels": 10}
DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "when-it-helps.md"


def scaled(classifier: Any) -> Any:
    return make_pipeline(StandardScaler(), classifier)


def entrants() -> dict[str, Any]:
    """Who takes part. The rate that is scaled is 0.25 times the members."""
    fourier = {"fourier": 200, "scaling": "standard", "C": "auto", "random_state": 0}
    return {
        "auto": udeed.UDEEDAutoClassifier(random_state=0, n_jobs=-1),
        "auto, prior": udeed.UDEEDAutoClassifier(prior="labeled", random_state=0, n_jobs=-1),
        "auto, no graph": udeed.UDEEDAutoClassifier(views=("linear", "relevance"), random_state=0, n_jobs=-1),
        "logistic": scaled(LogisticRegression(max_iter=1000)),
        "bagging": udeed.BaggingClassifier(random_state=0),
        "bagging, auto": udeed.BaggingClassifier(C="auto", scaling="standard", random_state=0),
        "LcUd": udeed.UDEEDClassifier(random_state=0),
        "LcUd, rate 5": udeed.UDEEDClassifier(rate=5.0, random_state=0),
        "Fourier": udeed.BaggingClassifier(**fourier),
        "Fourier LcUd": udeed.UDEEDClassifier(rate=5.0, **fourier),
        "random forest": RandomForestClassifier(200, n_jobs=-1, random_state=0),
        "extra trees": ExtraTreesClassifier(200, n_jobs=-1, random_state=0),
        "SVC": scaled(SVC(random_state=0)),
        "hist boosting": HistGradientBoostingClassifier(random_state=0),
        "self-training": scaled(SelfTrainingClassifier(LogisticRegression(max_iter=1000))),
        "label spreading": scaled(LabelSpreading(kernel="knn")),
    }


def rows(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_svmlight_file(str(find(folder, name)))
    return np.ascontiguousarray(X.toarray()), np.unique(y, return_inverse=True)[1]


def results(folder: Path, labeled: float, splits: int, seed: int, sets: list[str]) -> dict[str, list[float]]:
    """The mean accuracy of each entrant on each set, in percent."""
    found: dict[str, list[float]] = {name: [] for name in entrants()}
    for name in sets:
        began = time.monotonic()
        X, y = rows(folder, name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            comparison = udeed.compare(entrants(), X, y, splits=splits, labeled=labeled, random_state=seed, title=name)
        for entrant, scores in comparison.scores.items():
            found[entrant].append(100.0 * float(scores.mean()))
        print(f"{name}: {time.monotonic() - began:.0f} s", flush=True)
    return found


def means_table(tables: dict[str, dict[str, list[float]]]) -> str:
    lines = ["| | " + " | ".join(f"{title} | rank" for title in tables) + " |"]
    lines.append("| --- |" + " ---: | ---: |" * len(tables))
    ranked = {title: udeed.AverageRanks(found).ranks for title, found in tables.items()}
    for name in next(iter(tables.values())):
        cells = [f"{np.mean(found[name]):.2f} | {ranked[title][name]:.1f}" for title, found in tables.items()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def sets_table(found: dict[str, list[float]], sets: list[str]) -> str:
    lines = ["| | " + " | ".join(found) + " |", "| --- |" + " ---: |" * len(found)]
    for place, name in enumerate(sets):
        best = max(values[place] for values in found.values())
        cells = [f"**{v[place]:.1f}**" if v[place] > best - 0.05 else f"{v[place]:.1f}" for v in found.values()]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def outputs(model: Any, X: np.ndarray) -> np.ndarray:
    """What each member says of each row, between -1 and 1."""
    return np.tanh(0.5 * (X @ model.member_coef_.T + model.member_intercept_))


def identity(folder: Path) -> tuple[str, str]:
    """What the descent does to the two parts of V_div on unlabeled rows: a table, and a picture of the mean outputs."""
    X, y = rows(folder, "ionosphere")
    few = udeed.mask_labels(y, 20, random_state=0)
    settings = {"random_state": 0, "unlabeled": -1}
    models = {
        "before": udeed.BaggingClassifier(**settings).fit(X, few),
        "after, rate 0.25": udeed.UDEEDClassifier(**settings).fit(X, few),
        "after, rate 5": udeed.UDEEDClassifier(rate=5.0, **settings).fit(X, few),
    }
    lines = ["| | V_div | mean F^2 | mean A / (m - 1) | mean A |", "| --- | ---: | ---: | ---: | ---: |"]
    bars = []
    for name, model in models.items():
        f = outputs(model, X[few == -1])
        m = f.shape[1]
        mean, apart = f.mean(axis=1), f.var(axis=1)
        product = ((f.sum(axis=1) ** 2 - (f**2).sum(axis=1)) / (m * (m - 1))).mean()
        np.testing.assert_allclose(product, (mean**2).mean() - apart.mean() / (m - 1), atol=1e-12)
        lines.append(f"| {name} | {product:.4f} | {(mean**2).mean():.4f} | {apart.mean() / (m - 1):.5f} | {apart.mean():.4f} |")
        bars.append((name, np.histogram(mean, bins=20, range=(-1.0, 1.0))[0]))
    return "\n".join(lines), histograms(bars)


def histograms(bars: list[tuple[str, np.ndarray]]) -> str:
    """Histograms below each other as SVG."""
    height, tallest = 110.0, max(int(counts.max()) for _, counts in bars)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 640 {height * len(bars) + 40:.0f}" font-family="sans-serif" '
        'font-size="14">',
        f'<rect width="640" height="{height * len(bars) + 40:.0f}" fill="white"/>',
    ]
    for place, (name, counts) in enumerate(bars):
        base = height * (place + 1)
        parts.append(f'<text x="10" y="{base - 70:.0f}">{name}</text>')
        parts.append(f'<line x1="160" x2="620" y1="{base}" y2="{base}" stroke="black"/>')
        for k, count in enumerate(counts):
            tall = 85.0 * count / tallest
            parts.append(f'<rect x="{160 + 23 * k + 1}" width="21" y="{base - tall:.1f}" height="{tall:.1f}" fill="#4878a8"/>')
    end = height * len(bars)
    for value in (-1.0, -0.5, 0.0, 0.5, 1.0):
        parts.append(f'<text x="{390 + 230 * value:.0f}" y="{end + 18:.0f}" text-anchor="middle" font-size="12">{value}</text>')
    parts.append(f'<text x="390" y="{end + 35:.0f}" text-anchor="middle">mean output F of the members on an unlabeled row</text>')
    return "\n".join([*parts, "</svg>", ""])


def fill(page: str, mark: str, text: str) -> str:
    """The page with what stands between two marks replaced."""
    between = rf"(<!-- {re.escape(mark)} -->\n).*?(<!-- end -->)"
    filled, times = re.subn(between, lambda found: f"{found[1]}{text}\n{found[2]}", page, flags=re.S)
    if times != 1:
        raise ValueError(f"{PAGE.name} has {times} marks `{mark}`, expected one")
    return filled


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder with the sets")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--write", action="store_true", help="put tables and pictures into docs/")
    options = parser.parse_args()
    try:
        parts, picture = identity(options.data)
        tables = {
            title: results(options.data, labeled, options.splits, options.seed, options.sets) for title, labeled in LABELED.items()
        }
    except Absent as absent:
        print(absent)
        return
    page = PAGE.read_text(encoding="utf-8") if options.write else ""
    texts = {"identity": parts, "means": means_table(tables)}
    texts.update({title: sets_table(found, options.sets) for title, found in tables.items()})
    for mark, text in texts.items():
        print(f"\n{mark}\n{text}")
        page = fill(page, mark, text) if options.write else page
    if options.write:
        PAGE.write_text(page, encoding="utf-8")
        (DOCS / "identity.svg").write_text(picture, encoding="utf-8")
        for title, found in tables.items():
            picture = udeed.AverageRanks(found, title).to_svg()
            (DOCS / f"ranks-{re.sub('[^0-9a-z]+', '-', title)}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
