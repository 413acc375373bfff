"""Classifiers of scikit-learn, and what behaves like one, as base learners."""

from __future__ import annotations

import pickle
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import udeed
from estimators import BASED, small
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LinearRegression, LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, NearestCentroid
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC
from sklearn.tree import DecisionTreeClassifier
from udeed import _core

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]
# With and without weights, probabilities, decisions. None of them draws.
PLAIN = [
    GaussianNB(),
    KNeighborsClassifier(3),
    SVC(),
    HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3),
    make_pipeline(StandardScaler(), LogisticRegression()),
]


def fitted(base: Any, X: np.ndarray, y: np.ndarray, counts: np.ndarray) -> Any:
    """A base learner on rows that are there some number of times."""
    drawn = counts > 0
    if isinstance(base, KNeighborsClassifier):
        rows = np.repeat(np.arange(len(y)), counts)
        return clone(base).fit(X[rows], y[rows])
    name = "logisticregression__sample_weight" if hasattr(base, "steps") else "sample_weight"
    return clone(base).fit(X[drawn], y[drawn], **{name: counts[drawn].astype(float)})


def probabilities(model: Any, X: np.ndarray) -> np.ndarray:
    if hasattr(model, "predict_proba"):
        return np.asarray(model.predict_proba(X))
    second = 1.0 / (1.0 + np.exp(-model.decision_function(X)))
    return np.column_stack([1.0 - second, second])


@pytest.mark.parametrize("base", PLAIN, ids=lambda base: type(base).__name__)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_bagging_is_a_loop_by_hand(base: Any, n_jobs: int, cancer: Data) -> None:
    X, _, few = cancer
    model = udeed.BaggingClassifier(7, base=base, scaling="none", random_state=3, n_jobs=n_jobs).fit(X, few)
    labeled = few != -1
    draws = udeed.bootstraps(few, 7, random_state=3)
    by_hand = [fitted(base, X[labeled], few[labeled], draw[labeled]) for draw in draws]
    mean = np.mean([probabilities(own, X) for own in by_hand], axis=0)
    np.testing.assert_allclose(model.predict_proba(X), mean, rtol=0.0, atol=1e-14)
    np.testing.assert_array_equal(model.predict(X), mean.argmax(axis=1))
    np.testing.assert_array_equal(model.member_predictions(X), np.array([own.predict(X) for own in by_hand]).T)
    assert [type(own) for own in model.estimators_] == [type(base)] * 7


def tri_training(base: Any, X: np.ndarray, few: np.ndarray, seed: int) -> tuple[np.ndarray, int]:
    """Figure 1 of the paper: the majority of three members on all rows, and the number of rounds."""
    labeled, L, y, U = few != -1, X[few != -1], few[few != -1], X[few == -1]
    members = [fitted(base, L, y, draw[labeled]) for draw in udeed.bootstraps(few, 3, random_state=seed)]
    error, size, shuffled = [0.5] * 3, [0.0] * 3, list[int]()
    for round_ in range(100):
        known, guessed = [own.predict(L) for own in members], [own.predict(U) for own in members]
        lessons: dict[int, tuple[float, np.ndarray, np.ndarray]] = {}
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            agree = known[j] == known[k]
            wrong = (known[j] != y)[agree].mean() if agree.any() else 0.5
            if wrong >= error[i]:
                continue
            rows = np.flatnonzero(guessed[j] == guessed[k])
            ratio = wrong / (error[i] - wrong)
            size[i] = size[i] or np.floor(ratio + 1.0)
            if size[i] >= len(rows):
                continue
            if wrong * len(rows) >= error[i] * size[i]:
                if size[i] <= ratio:
                    continue
                wanted = int(np.ceil(error[i] * size[i] / wrong - 1.0))
                if wanted < len(rows):
                    shuffled.append(len(rows))
                    rows = np.sort(rows[_core.shuffles(seed, shuffled)[-1][:wanted]])
            lessons[i] = wrong, rows, guessed[j][rows]
        if not lessons:
            break
        for i, (wrong, rows, classes) in lessons.items():
            both, answers = np.vstack([L, U[rows]]), np.concatenate([y, classes])
            members[i] = fitted(base, both, answers, np.ones(len(answers), dtype=int))
            error[i], size[i] = wrong, len(rows)
    votes = np.array([own.predict(X) for own in members])
    return (votes.sum(axis=0) >= 2).astype(int), round_


@pytest.mark.parametrize("base", PLAIN, ids=lambda base: type(base).__name__)
def test_tri_training_is_a_loop_by_hand(base: Any, cancer: Data) -> None:
    X, _, few = cancer
    X = X[:, :8] / X[:, :8].std(axis=0)
    model = udeed.TriTrainingClassifier(base=base, scaling="none", random_state=SEED).fit(X, few)
    by_hand, rounds = tri_training(base, X, few, SEED)
    assert rounds > 0
    np.testing.assert_array_equal(model.predict(X), by_hand)


SEED = 0
EVERY = [
    HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=3),
    SVC(),
    SVC(kernel="linear", probability=True),
    LinearSVC(),
    RidgeClassifier(),
    NearestCentroid(),
    KNeighborsClassifier(),
    make_pipeline(StandardScaler(), DecisionTreeClassifier(max_depth=3)),
    GridSearchCV(GaussianNB(), {"var_smoothing": [1e-9, 1e-3]}, cv=2),
    udeed.BaggingClassifier(3),
]


def check(model: Any, again: Any, data: Data, least: float) -> None:
    """That a model is good, the same for any number of threads, and pickled."""
    X, y, few = data
    model, again = model.set_params(n_jobs=2).fit(X, few), again.fit(X, few)
    assert model.score(X, y) > least
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict_proba(X), model.predict_proba(X))


@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore::UserWarning")
@pytest.mark.parametrize("base", EVERY, ids=lambda base: type(base).__name__)
def test_any_classifier_is_a_member(base: Any, cancer: Data) -> None:
    check(*(small(udeed.AssembleClassifier, base=base) for _ in range(2)), cancer, 0.8)


@pytest.mark.parametrize("kind", BASED)
def test_every_method_takes_one(kind: type, cancer: Data, iris: Data) -> None:
    for base in (GaussianNB(), KNeighborsClassifier(3)):
        check(*(small(kind, base=base) for _ in range(2)), cancer, 0.8)
        check(*(small(kind, base=base, unlabeled="?") for _ in range(2)), iris, 0.6)


def test_a_stack_may_hold_some(cancer: Data) -> None:
    X, y, few = cancer
    bases = ["logistic", GaussianNB(), udeed.Tree(depth=2), SVC()]
    model = udeed.StackingClassifier(bases, random_state=0).fit(X, few)
    assert model.score(X, y) > 0.85 and [type(own) for own in model.estimators_] == [GaussianNB, SVC]
    for wrong in (SVC, KMeans(2), LinearRegression(), object()):
        with pytest.raises(ValueError, match="`bases` holds .* or a classifier"):
            udeed.StackingClassifier([wrong]).fit(X, few)


def test_parameters_are_nested_and_copies_independent(cancer: Data) -> None:
    X, _, few = cancer
    model = small(udeed.BaggingClassifier, base=DecisionTreeClassifier(max_depth=1)).fit(X, few)
    assert model.get_params()["base__max_depth"] == 1
    copy = clone(model)
    assert copy.base is not model.base and copy.set_params(base__max_depth=4).base.max_depth == 4
    assert model.base.max_depth == 1 and not hasattr(model.base, "tree_"), "the learner itself is not fitted"
    assert [own.get_depth() for own in model.estimators_] == [1] * 4
    grid = {"base__max_depth": [1, 3], "members": [2, 3]}
    search = GridSearchCV(model, grid, cv=udeed.SemiSupervisedKFold(2)).fit(X, few)
    assert search.best_score_ > 0.7


def test_members_draw_by_the_seed(cancer: Data) -> None:
    X, _, few = cancer
    forest = RandomForestClassifier(3, random_state=7)
    one, same, other = (small(udeed.BaggingClassifier, base=forest, random_state=seed).fit(X, few) for seed in (0, 0, 1))
    seeds = [own.random_state for own in one.estimators_]
    assert len(set(seeds)) == 4 and seeds == [own.random_state for own in same.estimators_]
    np.testing.assert_array_equal(one.predict_proba(X), same.predict_proba(X))
    assert not np.array_equal(one.predict_proba(X), other.predict_proba(X))


class Counts(ClassifierMixin, BaseEstimator):
    """Remembers what it was given; knows no weights."""

    def fit(self, X: Any, y: Any) -> Counts:
        self.classes_ = np.unique(y)
        self.given_ = X.copy()
        return self

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(X.shape[0], dtype=int)


def test_without_weights_rows_are_drawn_by_them() -> None:
    X = np.arange(200.0)[:, None]
    y = np.arange(200) % 2
    weights = np.where(np.arange(200) < 100, 3.0, 0.25)

    def given(n_jobs: int) -> np.ndarray:
        model = udeed.StackingClassifier([Counts()], scaling="none", random_state=0, n_jobs=n_jobs)
        return np.asarray(model.fit(X, y, sample_weight=weights).estimators_[0].given_[:, 0])

    rows = given(1)
    np.testing.assert_array_equal(rows, given(2))
    # 12 of 13 draws are of the first half.
    assert rows.size == 200 and (np.diff(rows) >= 0).all() and 170 <= (rows < 100).sum() <= 196


def test_decisions_of_pairs_of_classes_are_not_those_of_classes() -> None:
    X, y = load_iris(return_X_y=True)
    for base in (SVC(decision_function_shape="ovo"), make_pipeline(StandardScaler(), SVC(decision_function_shape="ovo"))):
        model = small(udeed.BaggingClassifier, base=base).fit(X, y)
        assert model.score(X, y) > 0.9


class Scaled(GaussianNB):
    """Probabilities times a factor."""

    def __init__(self, factor: float) -> None:
        super().__init__()
        self.factor = factor

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.asarray(self.factor * super().predict_proba(X))


def test_probabilities_are_made_to_sum_to_one(cancer: Data) -> None:
    X, _, few = cancer
    # Methods compare them with thresholds: self-training labels no row of which it is less sure than 0.75.
    for kind in (udeed.SelfTrainingClassifier, udeed.CoTrainingClassifier):
        plain, scaled = (small(kind, base=Scaled(factor)).fit(X, few) for factor in (1.0, 0.125))
        np.testing.assert_allclose(plain.predict_proba(X), scaled.predict_proba(X), rtol=0.0, atol=1e-9)
    with pytest.raises(ValueError, match="member 1: found a probability of .*, expected numbers from 0 to 1"):
        small(udeed.BaggingClassifier, base=Scaled(2.0)).fit(X, few).predict(X)


class Duck:
    """No estimator of scikit-learn: three methods."""

    def fit(self, X: Any, y: Any) -> None:
        self.centers = np.array([X[y == label].mean(axis=0) for label in (0, 1)])

    def predict_proba(self, X: Any) -> np.ndarray:
        far = ((X[:, None] - self.centers) ** 2).sum(axis=2)
        return np.asarray(far[:, ::-1] / far.sum(axis=1, keepdims=True), dtype=np.float32)

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(self.predict_proba(X).argmax(axis=1))


def test_what_behaves_like_a_classifier_is_one(cancer: Data) -> None:
    X, y, few = cancer
    for kind in (udeed.SelfTrainingClassifier, udeed.BaggingClassifier):
        model = clone(kind(base=Duck(), random_state=0)).fit(X, few)
        assert model.score(X, y) > 0.85
        assert pickle.loads(pickle.dumps(model)).score(X, y) == model.score(X, y)


def test_files_and_graphs_refuse_them_in_words(cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    for kind in (udeed.BaggingClassifier, udeed.CoTrainingClassifier):
        model = small(kind, base=GaussianNB()).fit(X, few)
        with pytest.raises(ValueError, match="members made by a learner from outside the library, expected members of"):
            model.save(tmp_path / "model.safetensors")
        assert not list(tmp_path.iterdir())
        with pytest.raises(ValueError, match="members made by a learner from outside the library"):
            udeed.to_onnx(model)
    with pytest.raises(AttributeError, match="no classifiers from elsewhere"):
        small(udeed.BaggingClassifier).fit(X, few).estimators_  # noqa: B018


class Fails(GaussianNB):
    """Fails at its fit, or its prediction, of a number."""

    def __init__(self, fit: int = -1, predict: int = -1) -> None:
        super().__init__()
        self.fit_ = None
        self.fails = (fit, predict)
        self.done = [0, 0]

    def __deepcopy__(self, _: object) -> Fails:
        return self

    def __sklearn_clone__(self) -> Fails:
        return self

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Fails:
        self.done[0] += 1
        if self.done[0] == self.fails[0]:
            raise LookupError("no more rows")
        super().fit(X, y, sample_weight)
        return self

    def predict_proba(self, X: Any) -> np.ndarray:
        self.done[1] += 1
        if self.done[1] == self.fails[1]:
            raise ArithmeticError("no more numbers")
        return np.asarray(super().predict_proba(X))


def notes(raised: Any) -> str:
    return " ".join(getattr(raised.value, "__notes__", ()))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_what_it_raises_is_raised_with_its_place(n_jobs: int, cancer: Data) -> None:
    X, _, few = cancer
    bagging = udeed.BaggingClassifier(13, base=Fails(fit=12), random_state=0, n_jobs=n_jobs)
    with pytest.raises(LookupError, match="^no more rows") as raised:
        bagging.fit(X, few)
    noted = sys.version_info >= (3, 11)
    # Of two threads either may come first.
    assert not noted or "failed at member 1" in notes(raised)
    boosted = udeed.AssembleClassifier(base=Fails(predict=2), random_state=0, n_jobs=n_jobs)
    with pytest.raises(ArithmeticError, match="^no more numbers") as raised:
        boosted.fit(X, few)
    assert not noted or "failed at member 2" in notes(raised)
    for kind in (udeed.SelfTrainingClassifier, udeed.SetredClassifier, udeed.CoTrainingClassifier):
        with pytest.raises(LookupError) as raised:
            kind(base=Fails(fit=3), random_state=0, n_jobs=n_jobs).fit(X, few)
        assert not noted or "round 2" in notes(raised)
    model = udeed.BaggingClassifier(3, base=Fails(), random_state=0, n_jobs=n_jobs).fit(X, few)
    model.base.fails = (-1, model.base.done[1] + 1)
    with pytest.raises(ArithmeticError, match="^no more numbers"):
        model.predict(X)


class Wrong(ClassifierMixin, BaseEstimator):
    """Gives probabilities that are none."""

    def __init__(self, given: Any = None) -> None:
        self.given = given

    def fit(self, X: Any, y: Any) -> Wrong:
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X: Any) -> Any:
        return np.full((len(X), 2), self.given) if np.ndim(self.given) == 0 else np.tile(self.given, (len(X), 1))

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(len(X), dtype=int)


@pytest.mark.parametrize(
    ("given", "message"),
    [(np.nan, "a probability of NaN"), (-1.0, "a probability of -1"), ([0.2, 0.3, 0.5], r"Wrong gave .* shape \(\d+, 3\)")],
)
def test_probabilities_that_are_none_are_refused(given: Any, message: str, cancer: Data) -> None:
    X, _, few = cancer
    with pytest.raises(ValueError, match=message):
        small(udeed.TriTrainingClassifier, base=Wrong(given)).fit(X, few)


@pytest.mark.parametrize("base", [SVC, KMeans(2), LinearRegression(), object(), [SVC()]])
def test_what_is_no_classifier_is_refused(base: Any) -> None:
    with pytest.raises(ValueError, match="'base' parameter .* a classifier with the methods 'fit' and 'predict'"):
        udeed.BaggingClassifier(base=base).fit([[0.0], [1.0]], [0, 1])


def test_sparse_rows_come_sparse(cancer: Data) -> None:
    X, y, few = cancer
    rows = sparse.csr_array(np.where(X > np.median(X, axis=0), X, 0.0))
    base = DecisionTreeClassifier(max_depth=3)
    of_sparse = small(udeed.BaggingClassifier, base=base, scaling="none").fit(rows, few)
    of_dense = small(udeed.BaggingClassifier, base=base, scaling="none").fit(rows.toarray(), few)
    np.testing.assert_allclose(of_sparse.predict_proba(rows), of_dense.predict_proba(rows.toarray()), atol=1e-12)
    assert udeed.BaggingClassifier(base=base).__sklearn_tags__().input_tags.sparse
    assert not udeed.BaggingClassifier(base=GaussianNB()).__sklearn_tags__().input_tags.sparse
    # What it raises of sparse rows is its own word.
    with pytest.raises(TypeError, match="[Ss]parse"):
        small(udeed.BaggingClassifier, base=GaussianNB()).fit(rows, few)
    assert of_sparse.score(rows, y) > 0.8


def test_suggestions_come_from_it_too(cancer: Data) -> None:
    X, _, few = cancer
    model = udeed.BaggingClassifier(base=GaussianNB(), random_state=0)
    before = udeed.suggest(X, few, n=3, model=model, strategy="margin", random_state=0)
    after = udeed.suggest(X, few, n=3, model=model.fit(X, few), strategy="margin", random_state=0)
    np.testing.assert_array_equal(before, after)


def test_forecasts_are_of_it_too(cancer: Data) -> None:
    X, _, few = cancer
    found = [
        udeed.forecast(X, few, [20], udeed.BaggingClassifier(3, base=base, random_state=0), 0, repetitions=1)
        for base in (GaussianNB(), GaussianNB(), GaussianNB(var_smoothing=1.0))
    ]
    np.testing.assert_array_equal(found[0].curve, found[1].curve)
    assert (found[0].curve != found[2].curve).any()


SLOW = """
import time, numpy as np, udeed
from sklearn.naive_bayes import GaussianNB

class Slow(GaussianNB):
    def fit(self, X, y, sample_weight=None):
        if slow:
            time.sleep(60)
        return super().fit(X, y)

    def predict_proba(self, X):
        if slow:
            time.sleep(60)
        return super().predict_proba(X)

X = np.random.RandomState(0).rand(100, 3)
y = np.where(np.arange(100) < 20, (X[:, 0] > 0.5).astype(int), -1)
model = udeed.BaggingClassifier(base=Slow(), n_jobs={n_jobs})
slow = {fits}
if not slow:
    model.fit(X, y)
    slow = True
print("begun", flush=True)
try:
    model.fit(X, y) if {fits} else model.predict(X)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("fits", [True, False])
def test_ctrl_c_ends_it_within_a_second(fits: bool, n_jobs: int) -> None:
    program = SLOW.format(fits=fits, n_jobs=n_jobs)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert process.wait(20) == 0 and time.monotonic() - begin < 2.0
