"""What is heard of a fit while it runs."""

from __future__ import annotations

import pickle
import sys
from typing import Any

import numpy as np
import pytest
import udeed
from estimators import ALL, small
from sklearn.base import clone

pytestmark = pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
Data = tuple[np.ndarray, np.ndarray, np.ndarray]


class Heard:
    """Keeps what it hears, and ends or fails at a number of events."""

    def __init__(self, ends: int = -1, fails: int = -1) -> None:
        self.events: list[udeed.Event] = []
        self.ends, self.fails = ends, fails

    def __call__(self, event: udeed.Event) -> bool:
        self.events.append(event)
        if len(self.events) == self.fails:
            raise LookupError("enough")
        return len(self.events) == self.ends


@pytest.mark.parametrize("kind", ALL)
@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_estimator_tells(kind: type, n_jobs: int, cancer: Data) -> None:
    X, _, few = cancer
    heard = Heard()
    model = small(kind, callback=heard, n_jobs=n_jobs).fit(X, few)
    assert heard.events and all(event.done >= 0 for event in heard.events)
    quiet = small(kind, n_jobs=n_jobs).fit(X, few)
    np.testing.assert_array_equal(model.predict_proba(X), quiet.predict_proba(X))
    with pytest.raises(LookupError, match="enough"):
        small(kind, callback=Heard(fails=1), n_jobs=n_jobs).fit(X, few)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_steps_are_those_of_the_history(n_jobs: int, cancer: Data) -> None:
    X, _, few = cancer
    heard = Heard()
    model = small(udeed.UDEEDClassifier, callback=heard, n_jobs=n_jobs).fit(X, few)
    steps = [event for event in heard.events if event.step is not None]
    assert [event.step for event in steps] == model.history_
    assert {event.total for event in steps} == {model.steps}
    assert any(event.what == "members" and event.done == event.total == 4 for event in heard.events)
    assert any(event.what == "diversity on unlabeled rows" for event in steps)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("calibrated", [False, True])
def test_true_ends_a_descent_at_that_step(calibrated: bool, n_jobs: int, cancer: Data) -> None:
    X, _, few = cancer

    def ends(event: udeed.Event) -> bool:
        return event.step is not None and event.step["step"] == 3

    model = small(udeed.UDEEDClassifier, callback=ends, calibrated=calibrated, n_jobs=n_jobs).fit(X, few)
    assert model.n_iter_ == 3 and model.history_[-1]["step"] == 3
    assert model.predict(X).shape == (len(X),)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_true_before_there_is_an_ensemble_stops_the_fit(n_jobs: int, cancer: Data) -> None:
    X, _, few = cancer
    for kind in (udeed.BaggingClassifier, udeed.AssembleClassifier, udeed.UDEEDClassifier, udeed.UDEEDClassifierCV):
        with pytest.raises(udeed.FitStopped, match="stopped before the first ensemble"):
            small(kind, callback=Heard(ends=1), n_jobs=n_jobs).fit(X, few)
    assert issubclass(udeed.FitStopped, RuntimeError)
    # What is merely true does not end it.
    small(udeed.BaggingClassifier, callback=lambda _: 1, n_jobs=n_jobs).fit(X, few)


def test_a_callback_is_a_parameter_like_others(cancer: Data) -> None:
    X, _, few = cancer
    model = clone(small(udeed.BaggingClassifier, callback=print_nothing)).fit(X, few)
    assert model.callback is print_nothing and pickle.loads(pickle.dumps(model)).callback is print_nothing
    with pytest.raises(ValueError, match="'callback' parameter .* must be a callable or None"):
        small(udeed.BaggingClassifier, callback="print").fit(X, few)


def print_nothing(_: udeed.Event) -> None:
    """Hears, and says nothing."""


def test_the_bar_is_that_of_tqdm(cancer: Data, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("tqdm")
    X, _, few = cancer
    small(udeed.UDEEDClassifier).fit(X, few)
    assert capsys.readouterr().err == ""
    heard = Heard()
    small(udeed.UDEEDClassifier, verbose=True, callback=heard).fit(X, few)
    shown = capsys.readouterr().err
    assert "members: 100%" in shown and "4/4" in shown and "diversity on unlabeled rows: 100%" in shown
    assert heard.events


def test_the_bar_is_plain_without_it(
    cancer: Data, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    X, _, few = cancer
    hidden: dict[str, Any] = {"tqdm.auto": None}
    for name, module in hidden.items():
        monkeypatch.setitem(sys.modules, name, module)
    small(udeed.UDEEDClassifier, verbose=True).fit(X, few)
    shown = capsys.readouterr().err
    assert "members 4/4 [####" in shown and "diversity on unlabeled rows 25/25" in shown
