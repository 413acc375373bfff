"""What became of the training rows."""

import copy
import pickle

import numpy as np
import pytest
import udeed
from estimators import ALL, small
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.semi_supervised import SelfTrainingClassifier
from udeed._estimators import ESTIMATORS
from udeed._kinds import CARDS

X, y = load_breast_cancer(return_X_y=True)
FEW = udeed.mask_labels(y, 60, random_state=0)
LABELING = {ESTIMATORS[name] for name, card in CARDS.items() if card["labels_rows"]}


@pytest.mark.filterwarnings("ignore::udeed.UdeedWarning")
@pytest.mark.parametrize("kind", ALL)
def test_rows_keep_their_label_or_have_the_predicted_class(kind):
    rows, classes = load_iris(return_X_y=True)
    names = np.array(["x", "y", "z"])[classes]
    few = np.where(np.arange(150) % 4 == 1, names, "")
    model = small(kind, unlabeled="").fit(rows, few)
    given = few != ""
    np.testing.assert_array_equal(model.transduction_[given], few[given])
    assert (model.label_distributions_[given].max(axis=1) == 1.0).all()
    assert (model.classes_[model.label_distributions_.argmax(axis=1)] == model.transduction_).all()
    if kind is not udeed.LabelSpreadingClassifier:
        np.testing.assert_array_equal(model.transduction_[~given], model.predict(rows)[~given])
        np.testing.assert_array_equal(model.label_distributions_[~given], model.predict_proba(rows)[~given])
    assert hasattr(model, "labeled_iter_") == (kind in LABELING)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.label_distributions_, model.label_distributions_)
    if hasattr(model, "labeled_iter_"):
        assert ((model.labeled_iter_ == 0) == given).all()
        assert model.labeled_iter_.min() >= -1
        np.testing.assert_array_equal(again.labeled_iter_, model.labeled_iter_)


@pytest.mark.parametrize("rounds", [1, 2, 10])
@pytest.mark.parametrize("threshold", [0.6, 0.75, 0.9])
@pytest.mark.parametrize("base", ["logistic", "neighbors"])
def test_self_training_labels_rows_when_that_of_scikit_learn_does(base, threshold, rounds):
    scaled = StandardScaler().fit_transform(X)
    if base == "logistic":
        # Ours regularises the intercept, as liblinear does.
        theirs, ours = LogisticRegression(C=0.01, tol=1e-10, max_iter=10_000, solver="liblinear"), "logistic"
    else:
        theirs, ours = KNeighborsClassifier(7), udeed.Neighbors(k=7)
    theirs = SelfTrainingClassifier(theirs, threshold=threshold, max_iter=rounds).fit(scaled, FEW)
    ours = udeed.SelfTrainingClassifier(
        base=ours, C=0.01, scaling="none", confidence=threshold, rounds=rounds, random_state=0
    ).fit(scaled, FEW)
    np.testing.assert_array_equal(ours.labeled_iter_, theirs.labeled_iter_)
    labeled = theirs.labeled_iter_ >= 0
    assert len(np.unique(theirs.labeled_iter_)) > 2 or rounds == 1
    np.testing.assert_array_equal(ours.transduction_[FEW != -1], theirs.transduction_[FEW != -1])
    # Theirs is the label that a row was given; ours is what the last member says of it.
    assert (ours.transduction_ == theirs.transduction_)[labeled].mean() > 0.98


def test_label_spreading_says_where_labels_came_to_rest():
    model = udeed.LabelSpreadingClassifier(random_state=0).fit(X, FEW)
    assert model.label_distributions_.shape == (len(y), 2)
    assert (model.transduction_ == y).mean() > 0.9
    assert (model.transduction_ == model.predict(X)).mean() > 0.95


def test_members_who_labeled_are_known():
    model = udeed.CoTrainingClassifier(random_state=0).fit(X, FEW)
    labeled = model.labeled_iter_ > 0
    assert model.labeled_by_.shape == (len(y), 2)
    assert (model.labeled_by_.sum(axis=1) == labeled).all()
    assert model.labeled_by_.any(axis=0).all()
    pairs = udeed.TriTrainingClassifier(random_state=0).fit(X, FEW)
    assert set(pairs.labeled_by_.sum(axis=1)) <= {0, 2, 3}
    for other in (udeed.CoForestClassifier(random_state=0), udeed.BaggingClassifier(random_state=0)):
        with pytest.raises(AttributeError, match="single members"):
            other.fit(X, FEW).labeled_by_  # noqa: B018


def test_rows_without_weight_have_a_class_too():
    weights = np.ones(len(y))
    weights[:200] = 0.0
    model = udeed.SelfTrainingClassifier(random_state=0).fit(X, FEW, sample_weight=weights)
    given = FEW != -1
    assert model.transduction_.shape == y.shape
    np.testing.assert_array_equal(model.transduction_[given], y[given])
    np.testing.assert_array_equal(model.transduction_[~given], model.predict(X)[~given])
    assert (model.labeled_iter_[:200] == np.where(given[:200], 0, -1)).all()
    assert (model.labeled_iter_[200:] > 0).any()
    assert not model.labeled_by_[:200].any() and model.labeled_by_[200:].any()
    plain = clone(model).fit(X, FEW)
    assert (plain.labeled_iter_[:200] > 0).any()


def test_a_threshold_moves_the_classes_and_files_keep_them(tmp_path):
    model = udeed.UDEEDClassifier(threshold="rate=0.1", random_state=0).fit(X, FEW)
    unlabeled = FEW == -1
    np.testing.assert_array_equal(model.transduction_[unlabeled], model.predict(X)[unlabeled])
    model.save(tmp_path / "model.safetensors")
    loaded = udeed.load(tmp_path / "model.safetensors", classes=[0, 1])
    np.testing.assert_array_equal(loaded.transduction_, model.transduction_)
    np.testing.assert_array_equal(loaded.label_distributions_, model.label_distributions_)


def test_of_very_many_rows_nothing_is_kept():
    rows = np.random.default_rng(0).normal(size=(100_001, 1))
    labels = np.where(np.arange(100_001) < 50, rows[:, 0] > 0, -1)
    model = udeed.BaggingClassifier(random_state=0).fit(rows, labels)
    with pytest.raises(AttributeError, match="more than 100 000 training rows"):
        model.transduction_  # noqa: B018
    assert not hasattr(model, "labeled_iter_")
    assert len(udeed.BaggingClassifier(random_state=0).fit(rows[1:], labels[1:]).transduction_) == 100_000


class Busy(GaussianNB):
    """Tells of no more rows than there are labels, while it may not."""

    may = False

    def predict_proba(self, X):
        assert Busy.may or len(X) <= 60
        return super().predict_proba(X)


def test_a_fit_predicts_no_unlabeled_row_until_somebody_asks(tmp_path):
    Busy.may = False
    model = udeed.BaggingClassifier(3, base=Busy(), random_state=0).fit(X, FEW)
    with pytest.raises(AssertionError):
        model.transduction_  # noqa: B018
    Busy.may = True
    np.testing.assert_array_equal(model.transduction_, np.where(FEW == -1, model.predict(X), FEW))
    Busy.may = False
    assert len(model.label_distributions_) == len(model.transduction_) == len(y)
    # Pickles, copies and files have what became of the rows, and not the rows.
    fitted = udeed.BaggingClassifier(random_state=0).fit(X, FEW)
    pickled = pickle.dumps(fitted)
    assert len(pickled) < X.nbytes / 2
    fitted.save(tmp_path / "model.safetensors")
    again = udeed.BaggingClassifier(random_state=0).fit(X, FEW)
    for other in (copy.deepcopy(again), pickle.loads(pickled), udeed.load(tmp_path / "model.safetensors", classes=[0, 1])):
        np.testing.assert_array_equal(other.label_distributions_, again.label_distributions_)


@pytest.mark.parametrize("change", ["all values", "one value", "two rows", "columns"])
@pytest.mark.parametrize("is_sparse", [False, True])
def test_rows_that_were_written_to_since_are_not_told(change, is_sparse):
    rows = sparse.csr_matrix(X) if is_sparse else X.copy()
    model = udeed.BaggingClassifier(members=3, random_state=0, scaling="standard").fit(rows, FEW)
    values = rows.data if is_sparse else rows
    if change == "all values":
        values *= 2.0
    elif change == "one value":
        values.flat[4000] += 1.0
    elif is_sparse:
        values[:60] = np.roll(values[:60], 30 if change == "two rows" else 1)
    elif change == "two rows":
        values[[3, 4]] = values[[4, 3]]
    else:
        values[:] = np.roll(values, 1, axis=1)
    assert not hasattr(pickle.loads(pickle.dumps(model)), "transduction_")
    with pytest.raises(AttributeError, match="written to since the fit"):
        model.transduction_  # noqa: B018


def test_before_a_fit_there_is_nothing():
    for name in ("transduction_", "label_distributions_", "labeled_iter_", "labeled_by_"):
        assert not hasattr(udeed.SelfTrainingClassifier(), name)
