"""The automatic ensemble, and C chosen by out-of-bag rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import udeed
from scipy import sparse

Data = tuple[np.ndarray, np.ndarray, np.ndarray]


def test_it_says_what_it_found(cancer: Data, capsys: pytest.CaptureFixture[str]) -> None:
    X, y, few = cancer
    model = udeed.UDEEDAutoClassifier(5, random_state=0, verbose=True).fit(X, few)
    assert model.score(X, y) > 0.9
    found = model.findings_
    assert found is not None
    names = ["linear", "relevance", "laplace", "narrow", "spectral, 20 neighbors", "spectral, 5 neighbors", "extra trees", "forest"]
    assert [view["view"] for view in found["views"]] == names
    assert found["views"][0]["lambda"] > 0 and found["views"][-1]["lambda"] is None
    assert sum(view["weight"] for view in found["views"]) == pytest.approx(1.0)
    assert found["changed"]["of"] == 500
    told = capsys.readouterr().err
    assert "out-of-bag accuracy" in told and "unlabeled rows" in told
    assert model.member_predictions(X).shape == (len(X), len(model.member_weights_))
    np.testing.assert_allclose(model.member_weights_.sum(), 1.0)
    with pytest.raises(AttributeError, match="not linear"):
        _ = model.coef_


@pytest.mark.parametrize("prior", ["labeled", [0.3, 0.7], (0.5, 0.5), np.array([0.4, 0.6]), None])
def test_priors_survive_their_file(prior: Any, cancer: Data, tmp_path: Path) -> None:
    X, _, few = cancer
    model = udeed.UDEEDAutoClassifier(3, prior=prior, random_state=0).fit(X, few)
    model.save(tmp_path / "model")
    again = udeed.load(tmp_path / "model", classes=model.classes_)
    assert type(again) is udeed.UDEEDAutoClassifier
    if prior is None or isinstance(prior, str):
        assert again.prior == prior
    else:
        np.testing.assert_array_equal(again.prior, prior)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_a_prior_moves_predictions(cancer: Data) -> None:
    X, _, few = cancer
    shares = [
        udeed.UDEEDAutoClassifier(3, prior=[1.0 - share, share], random_state=0).fit(X, few).predict_proba(X)[:, 1].mean()
        for share in (0.2, 0.8)
    ]
    assert shares[0] < 0.5 < shares[1]


def test_what_makes_no_sense_is_refused(cancer: Data) -> None:
    X, _, few = cancer
    for parameters, words in [
        ({"views": ["round"]}, "round"),
        ({"views": []}, "views"),
        ({"views": ["linear", "linear"]}, "twice"),
        ({"prior": [0.5, 0.6]}, "together 1"),
        ({"prior": [[0.5, 0.5]]}, "share of each class"),
        ({"prior": ["a", "b"]}, "share of each class"),
        ({"prior": [0.2, 0.3, 0.5]}, "3 shares for 2 classes"),
        ({"members": 1}, "members"),
    ]:
        with pytest.raises(ValueError, match=words):
            udeed.UDEEDAutoClassifier(random_state=0, **parameters).fit(X, few)


def test_sparse_rows_have_the_linear_view_and_trees(cancer: Data) -> None:
    X, y, few = cancer
    with pytest.warns(udeed.UdeedWarning, match="sparse"):
        model = udeed.UDEEDAutoClassifier(3, random_state=0).fit(sparse.csr_matrix(X), few)
    assert model.score(sparse.csr_matrix(X), y) > 0.85


@pytest.mark.parametrize("kind", [udeed.UDEEDClassifier, udeed.BaggingClassifier])
def test_c_is_chosen_by_rows_out_of_bag(kind: type, cancer: Data, tmp_path: Path) -> None:
    X, y, few = cancer
    model = kind(C="auto", random_state=0).fit(X, few)
    (view,) = model.findings_["views"]
    assert view["lambda"] != 1.0
    told = kind(C=view["lambda"], random_state=0).fit(X, few)
    np.testing.assert_allclose(model.coef_, told.coef_, rtol=1e-4)
    assert told.findings_ is None
    model.save(tmp_path / "model")
    assert udeed.load(tmp_path / "model").C == "auto"
    with pytest.raises(ValueError, match="C"):
        kind(C="much").fit(X, few)
