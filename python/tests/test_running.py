"""Threads, signals and forks."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import command
import numpy as np
import pytest
import udeed
from estimators import training
from udeed import _core

# Rows enough for many seconds of work, of which the first print says that it has begun.
LONG = """
import glob, time, numpy as np, udeed

def name(task):
    try:
        return open(task).read()
    except OSError:
        return ""

rng = np.random.RandomState(0)
X = rng.rand({rows}, 60)
y = np.where(np.arange({rows}) % 2 == 0, (X[:, 0] + 0.5 * rng.rand({rows}) > 0.7).astype(int), -1)
print("begun", flush=True)
try:
    udeed.{estimator}.fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
begin = time.monotonic()
while any(name(task).startswith("udeed-") for task in glob.glob("/proc/self/task/*/comm")):
    time.sleep(0.01)
print(time.monotonic() - begin)
"""


@pytest.mark.parametrize("wait", [0.1, 2.0])
@pytest.mark.parametrize(
    ("estimator", "rows"),
    [
        ("UDEEDClassifier(100, steps=100000, n_jobs=2)", 60_000),
        # Few rows and one job: on the interpreter's own thread.
        ("UDEEDClassifier(100, steps=100000)", 700),
        ("UDEEDClassifier(100, steps=3000, threshold='balanced')", 700),
        ("AssembleClassifier(100000)", 120_000),
        ("SemiBoostClassifier(neighbors=5)", 120_000),
    ],
)
def test_ctrl_c_stops_a_fit_within_a_second(estimator: str, rows: int, wait: float) -> None:
    program = LONG.format(estimator=estimator, rows=rows)
    process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None and process.stdout.readline() == "begun\n"
    time.sleep(wait)
    assert process.poll() is None, "the fit ended before it could be stopped"
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert process.stdout.readline() == "interrupted\n"
    assert time.monotonic() - begin < 1.0
    # Nor does the work itself go on.
    assert float(process.stdout.readline()) < 1.0
    process.wait(20)
    assert process.returncode == 0


@command.needs_command
def test_ctrl_c_stops_the_command_and_leaves_nothing_behind(tmp_path: Path) -> None:
    random = np.random.RandomState(0)
    rows = random.randint(0, 10, (50_000, 20))
    rows[:, -1] = rows[:, 0] > 4
    np.savetxt(tmp_path / "rows.csv", rows, fmt="%d", delimiter=",", header=",".join("abcdefghijklmnopqrst"), comments="")
    # The same rows by another name: a file is not read twice.
    shutil.copy(tmp_path / "rows.csv", tmp_path / "more.csv")
    more = ["--unlabeled", tmp_path / "more.csv", "--method", "semiboost", "--neighbors", "5", "--folds", "0"]
    line = [command.COMMAND, "fit", tmp_path / "rows.csv", "--label", "t", *more, "--out", tmp_path / "model"]
    process = subprocess.Popen(list(map(str, line)), stderr=subprocess.DEVNULL)
    time.sleep(2.0)
    assert process.poll() is None, "the fit ended before it could be stopped"
    process.send_signal(signal.SIGINT)
    begin = time.monotonic()
    assert process.wait(20) == -signal.SIGINT
    assert time.monotonic() - begin < 1.0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["more.csv", "rows.csv"]


FORK = """
import multiprocessing, numpy as np, udeed

def fit(n_jobs):
    X = np.random.RandomState(0).rand(200, 5)
    y = np.where(np.arange(200) % 4 == 0, (X[:, 0] > 0.5).astype(int), -1)
    return udeed.UDEEDClassifier(random_state=1, n_jobs=n_jobs).fit(X, y).predict_proba(X[:40]).tolist()

def measure(_):
    return udeed.diversity(np.random.RandomState(0).rand(90, 8) > 0.5)

one, two, measures = fit(1), fit(2), measure(0)
assert one == two
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(fit, [1, 2, 1, 2, 2, 1]) == [one] * 6
    assert pool.map(measure, [0, 1]) == [measures] * 2
print("done")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork")
def test_a_fork_after_use_does_not_hang() -> None:
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout == "done\n"


@pytest.mark.parametrize(("rows", "parameters"), [(20_000, {}), (700, {"members": 100, "steps": 1000})])
def test_other_threads_run_while_rust_works(rows: int, parameters: dict[str, int]) -> None:
    random = np.random.RandomState(0)
    X = random.rand(rows, 40)
    y = np.where(np.arange(len(X)) % 2 == 0, (X[:, 0] > 0.5).astype(int), -1)
    fit = threading.Thread(target=udeed.UDEEDClassifier(random_state=0, **parameters).fit, args=(X, y))
    fit.start()
    longest, last = 0.0, time.monotonic()
    begin = last
    while fit.is_alive():
        time.sleep(0.001)
        now = time.monotonic()
        longest, last = max(longest, now - last), now
    assert longest < 0.5 * (last - begin), "the interpreter waited for the fit"


def test_fits_on_threads_of_python_are_those_of_one() -> None:
    random = np.random.RandomState(0)
    X = random.rand(300, 5)
    y = np.where(np.arange(len(X)) % 2 == 0, (X[:, 0] > 0.5).astype(int), -1)

    def probabilities(seed: int) -> list[list[float]]:
        tree = udeed.BaggingClassifier(base="tree", random_state=seed % 2)
        return tree.fit(X, y).predict_proba(X[:9]).tolist()

    alone = [probabilities(seed) for seed in range(8)]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(probabilities, range(8))) == alone


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("rate", [0.25, 100.0])
@pytest.mark.parametrize("threshold", ["0.0", "balanced"])
def test_an_error_of_the_progress_ends_the_fit_wherever_it_is(threshold: str, rate: float, n_jobs: int) -> None:
    settings = json.dumps({**json.loads(_core.defaults("udeed")), "rate": rate})
    X = np.random.RandomState(0).rand(60, 3)
    codes = np.where(np.arange(60) < 30, (X[:, 0] > 0.5).astype(np.int64), -1)

    def words(fails_at: int) -> int:
        """How many are told, if the one at some place fails, once."""
        heard = 0

        def progress(*_: object) -> None:
            nonlocal heard
            heard += 1
            if heard == fails_at:
                raise ArithmeticError("enough")

        _core.fit(settings, training(X, codes), threshold, n_jobs, progress)
        return heard

    for place in range(1, words(-1) + 1):
        with pytest.raises(ArithmeticError, match="enough"):
            words(place)


def test_a_fit_may_be_begun_by_the_progress_of_another() -> None:
    inner: list[int] = []

    def progress(*_: object) -> None:
        if len(inner) < 3:
            inner.append(len(udeed.BaggingClassifier(3, random_state=0).fit([[0.0], [1.0]], [0, 1]).predict([[0.5]])))

    X = np.random.RandomState(0).rand(50, 2)
    codes = (X[:, 0] > 0.5).astype(np.int64)
    _core.fit(_core.defaults("udeed"), training(X, codes), "0.0", 1, progress)
    assert inner == [1, 1, 1]


IMPORT = """
import time, numpy, sklearn.base
begin = time.perf_counter()
import udeed
print(time.perf_counter() - begin)
"""


def test_the_import_is_light() -> None:
    times = [float(subprocess.check_output([sys.executable, "-c", IMPORT], text=True)) for _ in range(3)]
    assert min(times) < 0.1


ALONE = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("pandas", "polars", "matplotlib", "onnxruntime", "tqdm"):
            raise ImportError(name)

sys.meta_path.insert(0, Missing())
import udeed

X, y = [[float(i)] for i in range(8)], [0, 0, 0, 0, 1, 1, 1, 1]
udeed.BaggingClassifier(random_state=0).fit(X, y).predict_proba(X)
result = udeed.compare([udeed.BaggingClassifier(random_state=0)], X, y, splits=2, labeled=1.0)
assert "<svg" in result.to_html()
udeed.UDEEDClassifier(2, random_state=0, verbose=True).fit(X, y)
descent = udeed.DescentDisplay([{"stage": "labeled", "step": 0, "accepted": True}])
for method, package in ((result.to_frame, "pandas"), (result.plot, "matplotlib"), (descent.plot, "matplotlib")):
    try:
        method()
    except ImportError as error:
        assert f"needs {package}: pip install {package}" in str(error), error
    else:
        raise AssertionError(package)
"""


def test_nothing_but_numpy_and_scikit_learn_is_needed() -> None:
    subprocess.run([sys.executable, "-c", ALONE], check=True)


def test_the_package_is_typed() -> None:
    folder = Path(udeed.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()
