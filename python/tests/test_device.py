"""``device=``: the descent on a card, which an emulated driver stands for. It is found where a process looks for a driver, so each
test runs a process of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import udeed
from sklearn.base import clone

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="drivers of other systems have other names")

BUILD = Path(__file__).parents[2] / "crates" / "udeed-cuda" / "tests" / "driver" / "build.sh"
BEGIN = """
import pickle, sys, warnings
import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer
from udeed import *

X, y = load_breast_cancer(return_X_y=True)
X, y = X[:150], y[:150]
few = mask_labels(y, 40, random_state=0)
model = UDEEDClassifier(members=3, steps=2, random_state=0, device="cuda")
"""


@pytest.fixture(scope="session")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a driver whose card is this machine."""
    folder = tmp_path_factory.mktemp("driver")
    subprocess.run(["sh", BUILD, folder / "libcuda.so.1"], check=True)
    # The name that is looked for first.
    (folder / "libcuda.so").symlink_to("libcuda.so.1")
    return folder


def said(code: str, driver: Path | None, fault: str = "none", *arguments: object) -> str:
    """What Python says to code with a driver in some state, or without one: its last lines where it fails."""
    found = {} if driver is None else {"LD_LIBRARY_PATH": str(driver)}
    line = [sys.executable, "-c", BEGIN + code, *map(str, arguments)]
    done = subprocess.run(line, env={**os.environ, **found, "UDEED_FAULT": fault}, capture_output=True, text=True)
    return done.stdout if done.returncode == 0 else done.stderr.partition("Error: ")[2] or done.stderr


def test_a_model_of_a_card_is_like_any_other(driver: Path, tmp_path: Path) -> None:
    code = """
there = model.fit(X, few)
here = clone(there).set_params(device="cpu").fit(X, few)
for name in ("member_coef_", "member_intercept_"):
    one, other = getattr(here, name), getattr(there, name)
    assert np.abs(one - other).max() <= 1e-9 * np.abs(one).max(), name
assert here.n_iter_ == there.n_iter_ > 0 and np.array_equal(here.transduction_, there.transduction_)
again = pickle.loads(pickle.dumps(there))
assert again.device == "cuda" and np.array_equal(again.predict_proba(X), there.predict_proba(X))
there.save(sys.argv[1])
loaded = load(sys.argv[1])
assert loaded.device == "cpu" and np.array_equal(loaded.predict_proba(X), there.predict_proba(X))
"""
    path = tmp_path / "model.safetensors"
    assert said(code, driver, "none", path) == ""
    assert b"cuda" not in path.read_bytes()


# A card that fails in the first step fails everything that descends: nothing of it runs elsewhere.
@pytest.mark.parametrize(
    "code",
    [
        "model.fit(X, few)",
        "model.fit(X[:100], few[:100], unlabeled_X=X[100:])",
        "model.set_params(precision='single').fit(X, few)",
        "UDEEDClassifierCV(members=(3,), Cs=(1.0,), cv=2, random_state=0, device='cuda').fit(X, few)",
        "suggest(X, few, 3, model, random_state=0)",
        "forecast(X, few, [5], model, random_state=0, repetitions=1)",
        "SelfTrainingClassifier(base=model, random_state=0).fit(X, few)",
    ],
)
def test_all_that_descends_does_so_on_the_card(driver: Path, code: str) -> None:
    assert "cuda:0: found error CUDA_ERROR_ILLEGAL_ADDRESS" in said(code, driver, "lost")


def test_bagging_that_is_chosen_says_where_it_is_fitted(driver: Path) -> None:
    code = """
search = UDEEDClassifierCV(members=(3,), gammas=(), Cs=(1.0,), scalings=("minmax",), cv=2, random_state=0, device="cuda")
search.set_params(gammas=(1e6,), steps=1, rate=1e6)
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    search.fit(X, few)
print(search.best_params_["gamma"], [str(warning.message) for warning in told])
"""
    found = said(code, driver)
    assert "bagging was chosen, which has no descent: it is fitted by the processor, not on cuda" in found, found


@pytest.mark.parametrize(
    ("fault", "code", "error"),
    [
        ("no-card", "model.fit(X, few)", "cuda: found no card, expected an NVIDIA card\nhint: install the driver of the card"),
        ("old-driver", "model.fit(X, few)", "cuda: found a driver of CUDA 11.4, expected one of CUDA 11.8 (520) or newer"),
        (
            "none",
            "model.set_params(device='cuda:7').fit(X, few)",
            'cuda:7: found 1 card, expected more than 7\nhint: pass `device="cpu"`',
        ),
        (
            "none",
            "model.set_params(hidden=2).fit(X, few)",
            "`hidden` is 2, expected 0 on `cuda:0`: members with hidden units are trained on the processor",
        ),
        (
            "none",
            "model.fit(sparse.csr_matrix(X), few)",
            'cuda:0: found sparse rows, expected dense ones\nhint: pass `X.toarray()`, or `device="cpu"`',
        ),
        (
            "none",
            "distributed.fit(model, X, few, distributed.statistics(X), list)",
            "`device` is 'cuda', expected 'cpu': the descent runs where the parts of the rows lie",
        ),
    ],
)
def test_what_cannot_run_on_a_card_says_so(driver: Path, fault: str, code: str, error: str) -> None:
    assert said("from udeed import distributed\n" + code, driver, fault).startswith(error)


@pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a driver")
def test_a_machine_without_driver_is_told() -> None:
    found = said("model.fit(X, few)", None)
    assert found.startswith("cuda: found no driver library"), found
    assert 'which `nvidia-smi` then lists, or pass `device="cpu"`' in found


def test_a_device_is_a_parameter(cancer: tuple[np.ndarray, np.ndarray, np.ndarray]) -> None:
    X, _, few = cancer
    for kind in (udeed.UDEEDClassifier, udeed.UDEEDClassifierCV):
        assert clone(kind(device="cuda:1")).get_params()["device"] == "cuda:1"
    with pytest.raises(ValueError, match="`device` is `gpu`, expected `cpu`, `cuda` or `cuda:N`"):
        udeed.UDEEDClassifier(device="gpu").fit(X, few)
    with pytest.raises(ValueError, match="The 'device' parameter of UDEEDClassifier must be an instance of 'str'"):
        udeed.UDEEDClassifier(device=0).fit(X, few)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="unexpected keyword argument 'device'"):
        udeed.BaggingClassifier(device="cuda")  # type: ignore[call-arg]
