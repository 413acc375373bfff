"""Input that nobody should give, and that must not hurt."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import udeed
from estimators import ALL, small, training
from scipy import sparse
from udeed import _core

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
X = np.arange(16.0).reshape(8, 2)
Y = np.array([0, 0, 0, 1, 1, 1, -1, -1])


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize(
    ("rows", "message"),
    [
        (np.empty((0, 2)), "Found array with 0 sample"),
        (np.empty((8, 0)), r"Found array with 0 feature\(s\)"),
        (np.empty((0, 0)), "Found array with 0"),
        (sparse.csr_matrix((0, 2)), "Found array with 0 sample"),
        (sparse.csr_matrix((8, 0)), r"Found array with 0 feature\(s\)"),
        (np.zeros(8), "Expected 2D array, got 1D array"),
        (np.float64(1.0), "Expected 2D array, got scalar array"),
        (np.zeros((2, 2, 2)), "dim 3|ndim|Expected 2D array"),
        (np.where(X == 3.0, np.inf, X), "Input X contains infinity"),
        (np.where(X == 3.0, -np.inf, X), "Input X contains infinity"),
        (X.astype(complex) + 1j, "Complex data not supported"),
        (np.array([["a", "b"]] * 8), "could not convert string to float|dtype='numeric'"),
        (np.array([[object(), 1]] * 8, dtype=object), "float"),
        (X[:5], "inconsistent numbers of samples"),
        (None, "Expected 2D array"),
        ("rows", "could not convert string to float|Expected 2D array"),
    ],
)
def test_rows_that_make_no_sense(kind: type, rows: Any, message: str) -> None:
    with pytest.raises((ValueError, TypeError), match=message):
        small(kind).fit(rows, Y)


@pytest.mark.parametrize("kind", ALL)
def test_rows_that_make_no_sense_to_predict(kind: type) -> None:
    model = small(kind).fit(X, Y)
    for rows in (X[:0], X[:, :1], np.zeros((3, 3)), np.zeros(2), np.full((1, 2), np.inf), sparse.csr_matrix((1, 5))):
        for method in (model.predict, model.predict_proba, model.decision_function, model.member_predictions):
            with pytest.raises(ValueError):
                method(rows)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("scale", [1.0, 0.01])
def test_numbers_too_large_to_be_scaled_are_refused_by_row_and_column(kind: type, scale: float) -> None:
    model = small(kind).fit(X * scale, Y)
    rows = X * scale
    rows[4, 1] = np.finfo(float).max
    place = r"row 5, column `(2|x1)`: found 1\.797\d+e308, which is .* when scaled, expected (.|\n)*hint: .*NaN"
    for method in (model.predict, model.predict_proba, model.decision_function, model.member_predictions):
        with pytest.raises(ValueError, match=place):
            method(rows)
    assert np.isfinite(model.predict_proba(np.where(rows == rows[4, 1], np.nan, rows))).all()


@pytest.mark.parametrize("kind", ALL)
def test_numbers_of_every_size_have_probabilities_or_are_refused(kind: type) -> None:
    model = small(kind).fit(X, Y)
    random = np.random.default_rng(0)
    answers = 0
    for _ in range(40):
        rows = random.choice([-1.0, 1.0], (3, 2)) * 10.0 ** random.uniform(-320, 308, (3, 2))
        try:
            found = model.predict_proba(rows)
        except ValueError as error:
            assert "expected" in str(error)
        else:
            answers += 1
            assert ((found >= 0) & (found <= 1)).all()
            np.testing.assert_allclose(found.sum(axis=1), 1)
    assert answers > 20


@pytest.mark.parametrize("kind", ALL)
def test_every_option_gives_probabilities(kind: type) -> None:
    """Calibrated, with weights of rows and classes, with a threshold, with three classes: rows few of which are alike."""
    random = np.random.default_rng(2)
    rows = np.where(random.random((60, 3)) < 0.3, 0.0, random.normal(size=(60, 3)) * 10.0 ** random.uniform(-5, 5, (60, 3)))
    shapes: list[tuple[np.ndarray, dict[str, Any]]] = [
        (random.integers(-1, 2, 60), {"threshold": "balanced"}),
        (random.integers(-1, 2, 60), {"class_weight": {0: 3.0, 1: 0.1}, "threshold": 0.3}),
        (random.integers(-1, 3, 60), {"class_weight": "balanced"}),
    ]
    weights = np.where(random.random(60) < 0.2, 0.0, random.exponential(size=60))
    for labels, parameters in shapes:
        for calibrated in (False, True):
            allowed = {"calibrated": True} if calibrated and "calibrated" in kind().get_params() else {}
            for weight in (None, weights):
                model = small(kind, **parameters, **allowed).fit(rows, labels, sample_weight=weight)
                found = model.predict_proba(rows * 10.0)
                assert ((found >= 0) & (found <= 1)).all()
                np.testing.assert_allclose(found.sum(axis=1), 1, rtol=1e-12)
                decision = model.decision_function(rows)
                second = decision > model.threshold_ if decision.ndim == 1 else decision.argmax(axis=1)
                np.testing.assert_array_equal(model.predict(rows), model.classes_[second.astype(int)])


@pytest.mark.parametrize("kind", ALL)
def test_rows_of_every_size_are_learned_from_or_refused(kind: type) -> None:
    random = np.random.default_rng(1)
    learned = 0
    for largest in (1, 1, 8, 8, 100, 100, 299, 308):
        rows = random.choice([-1.0, 1.0], (16, 2)) * 10.0 ** random.uniform(-largest, largest, (16, 2))
        try:
            found = small(kind).fit(rows, np.tile(Y, 2)).predict_proba(rows)
        except ValueError as error:
            assert "expected" in str(error)
        else:
            learned += 1
            assert ((found >= 0) & (found <= 1)).all(), largest
            np.testing.assert_allclose(found.sum(axis=1), 1)
    assert learned >= 4


def test_memory_of_every_shape() -> None:
    expected = small(udeed.UDEEDClassifier).fit(X, Y).decision_function(X)
    frozen = X.copy()
    frozen.flags.writeable = False
    wide = np.zeros((16, 4))
    wide[::2, ::2] = X
    shifted = np.frombuffer(b"\0" + X.tobytes(), dtype=np.float64, count=16, offset=1).reshape(8, 2)
    assert not shifted.flags.aligned
    for rows in (frozen, wide[::2, ::2], X[::-1][::-1], shifted, X.astype(object), X.astype(int), np.matrix(X).A):
        model = small(udeed.UDEEDClassifier).fit(rows, Y)
        np.testing.assert_array_equal(model.decision_function(rows), expected)
    zero_strides = np.broadcast_to(X[:1], (8, 2))
    small(udeed.UDEEDClassifier).fit(zero_strides, Y)


def test_huge_numbers_are_refused_or_bearable() -> None:
    for scaling in ("minmax", "standard", "none"):
        for scale in (1e308, 1e200, 1e-300):
            try:
                model = small(udeed.UDEEDClassifier, scaling=scaling).fit(X / 16.0 * scale, Y)
            except (ValueError, RuntimeError) as error:
                assert "expected" in str(error)
            else:
                assert np.isfinite(model.predict_proba(X / 16.0 * scale)).all()


@pytest.mark.parametrize("width", [2**31, 2**33, 2**60])
def test_huge_indices_are_refused_before_memory_is_asked_for(width: int) -> None:
    rows = sparse.csr_matrix((np.ones(8), (np.arange(8), np.full(8, width - 1))), shape=(8, width))
    words = f"the names of {width} columns take .* GiB, expected at most|X has {width - 1} in .*, expected an index of at"
    with pytest.raises(ValueError, match=words):
        udeed.UDEEDClassifier().fit(rows, Y)


@pytest.mark.parametrize(
    ("starts", "columns"),
    [
        ([0, 1, 5], [0, 1]),
        ([0, 1, 2], [0, 7]),
        ([0, 1, 2], [0, -1]),
        ([1, 1, 2], [0, 1]),
        ([0, 2, 1], [0, 1]),
        ([], [0, 1]),
    ],
)
def test_sparse_parts_that_do_not_fit_together(starts: list[int], columns: list[int]) -> None:
    parts = (2, np.array(starts, dtype=np.int64), np.array(columns, dtype=np.int64), np.ones(2))
    with pytest.raises(ValueError, match="sparse rows|expected an index"):
        _core.fit(_core.defaults("bagging"), training(parts, np.array([0, 1])), "0.0", 1, None)


def test_the_core_refuses_what_the_package_would_not_give() -> None:
    settings, codes = _core.defaults("udeed"), np.array([0, 1], dtype=np.int64)
    rows = np.array([[0.0], [1.0]])
    good = training(rows, codes)
    cases: list[tuple[Any, ...]] = [
        ("{}", good),
        ('{"method": "magic"}', good),
        (settings, training(np.asfortranarray(np.zeros((2, 2))), codes)),
        (settings, training(rows.astype(np.float32), codes)),
        (settings, training(rows, codes, columns=[("x", None), ("y", None)])),
        (settings, training(rows, codes + 5, columns=[("x", ["level"])])),
        (settings, training(rows, codes, classes=["a", "a"])),
        (settings, training(rows, np.array([0, 9]))),
        (settings, training(rows, codes[:1])),
        (settings, training(rows, codes, weights=np.array([1.0]))),
        (settings, training(rows, codes, weights=np.array([1.0, -1.0]))),
        (settings, training(rows[::-1][:, ::-1], np.array([0, 1, 1, 1])[::2])),
        (settings, good, "1.5"),
        (settings, good, "magic"),
        (settings, good, None),
        (settings, rows),
    ]
    for case in cases:
        with pytest.raises((ValueError, TypeError, AttributeError)):
            _core.fit(*case[:2], case[2] if len(case) > 2 else "0.0", 1, None)


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("weight", [1e308, 1e-308, 5e-324])
def test_weights_of_every_size_are_bearable_or_refused(kind: type, weight: float) -> None:
    try:
        model = small(kind).fit(X, Y, sample_weight=np.full(8, weight))
    except (ValueError, RuntimeError) as error:
        assert "expected" in str(error) or "converge" in str(error)
    else:
        # Weights are relative: it is the model of weights of 1.
        np.testing.assert_allclose(model.predict_proba(X), small(kind).fit(X, Y).predict_proba(X), atol=1e-6)


def test_more_members_than_fit_into_memory_are_refused() -> None:
    with pytest.raises(ValueError, match="X has 6 labeled rows, for which 4294967295 members take .* GiB, expected"):
        udeed.UDEEDClassifier(members=2**32 - 1).fit(X, Y)


@pytest.mark.parametrize("kind", [kind for kind in ALL if "members" in kind().get_params()])
def test_too_many_members_are_refused_by_every_estimator(kind: type) -> None:
    most = 2**32 - 1
    members: Any = (2, most) if kind is udeed.UDEEDClassifierCV else most
    with pytest.raises(ValueError, match=f"for which {most} members take .* GiB, expected at most .* GiB"):
        small(kind, members=members).fit(X, Y)


def test_members_are_counted_by_labeled_rows_and_votes_too() -> None:
    # One column, whose weights of 32 bytes a member would fit, but not the members' votes on all rows.
    members = min(int(0.9 * _half_of_memory() / 32), 2**32 - 1)
    rows = np.arange(4000.0).reshape(4000, 1)
    with pytest.raises(ValueError, match=f"X has 4000 labeled rows, for which {members} members take"):
        udeed.BaggingClassifier(members).fit(rows, np.arange(4000) % 2)


def _half_of_memory() -> float:
    """How many bytes may be taken, as the refusal says."""
    with pytest.raises(ValueError) as refused:
        udeed.BaggingClassifier(2**32 - 1).fit(X, Y)
    return 2**30 * float(str(refused.value).rpartition("at most ")[2].split()[0])


def test_votes_that_do_not_fit_into_memory_are_refused() -> None:
    model = udeed.BaggingClassifier(20_000, random_state=0).fit(X[:, :1], Y)
    # The rows themselves take little.
    n_rows = int(_half_of_memory() / 40_000) + 10_000
    rows = sparse.csr_matrix((n_rows, 1))
    with pytest.raises(ValueError, match=f"X has {n_rows} rows, for which 20000 members take .* GiB, expected at most"):
        model.member_predictions(rows)


def test_similarities_that_do_not_fit_into_memory_are_refused() -> None:
    rows = np.arange(2000.0).reshape(1000, 2)
    words = "the similarities of 1000 rows take .*, expected at most 1000 bytes\nhint: .*`neighbors=5`"
    with pytest.raises(ValueError, match=words):
        udeed.SemiBoostClassifier(memory=1000).fit(rows, np.arange(1000) % 3 - 1)


def test_an_error_in_the_progress_bar_ends_the_fit() -> None:
    def fail(*_: object) -> None:
        raise LookupError("no terminal")

    with pytest.raises(LookupError, match="no terminal"):
        _core.fit(_core.defaults("udeed"), training(X, Y.astype(np.int64)), "0.0", 1, fail)


def test_a_constant_column_and_a_single_column() -> None:
    constant = np.ones((8, 1))
    for kind in ALL:
        if kind is udeed.CoTrainingClassifier:
            # Two members that see different columns need two.
            with pytest.raises(ValueError, match="minimum of 2"):
                small(kind).fit(constant, Y)
            continue
        probabilities = small(kind).fit(constant, Y).predict_proba(constant)
        assert np.isfinite(probabilities).all()


@pytest.mark.parametrize(
    "parameters",
    [{"n_jobs": 2**70}, {"n_jobs": -(2**70)}, {"n_jobs": 4097}, {"n_jobs": -4097}, {"members": True}, {"gamma": True}],
)
def test_numbers_that_are_none_name_the_parameter(parameters: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(parameters))):
        udeed.UDEEDClassifier(**parameters).fit(X, Y)


def test_there_are_never_more_threads_than_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    tasks = Path("/proc/self/task")
    if not tasks.exists():
        pytest.skip("threads cannot be counted")

    def ours(*_: object) -> None:
        named = [(task / "comm").read_text() for task in tasks.iterdir()]
        counts.append(sum(name.startswith("udeed-") for name in named))

    counts: list[int] = []
    monkeypatch.setattr(udeed._progress.Progress, "__call__", ours)
    processors = len(os.sched_getaffinity(0))
    small(udeed.UDEEDClassifier, n_jobs=2 * processors + 1, verbose=True).fit(X, Y)
    assert 1 <= max(counts) <= processors
