"""Long benchmarks go on where they were ended."""

import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench"


@pytest.fixture
def finished(monkeypatch):
    if not BENCH.exists():
        pytest.skip("the benchmarks are not part of this package")
    monkeypatch.setattr(sys, "path", [str(BENCH), *sys.path])
    from finished import finished

    return finished


def test_what_was_made_is_made_once(finished, tmp_path):
    made = []

    def make(result):
        made.append(result)
        return result

    folder = tmp_path / "cache"
    for _ in range(2):
        assert finished(folder, ["doubt", "vote", 0], lambda: make([{"precision": 0.5}])) == [{"precision": 0.5}]
    assert finished(folder, ["doubt", "vote", 1], lambda: make([])) == []
    assert made == [[{"precision": 0.5}], []]


def test_what_was_ended_is_made_again(finished, tmp_path):
    def ended():
        raise KeyboardInterrupt

    # Ended while it is made, and while it is written.
    for begun in (ended, lambda: [1, object()]):
        with pytest.raises((KeyboardInterrupt, TypeError)):
            finished(tmp_path, ["doubt"], begun)
        assert finished(tmp_path, [str(begun)], lambda: 1) == 1
    assert finished(tmp_path, ["doubt"], lambda: 2) == 2
