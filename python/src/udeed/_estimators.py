"""The estimators. Generated from the cards of the methods by ``make generate``: do not edit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from numbers import Integral, Real
from typing import Any, ClassVar

import numpy as np

from udeed._bases import BASES, LEARNERS, Base, Tree
from udeed._ensemble import Ensemble
from udeed._progress import Callback
from udeed._rules import IsClassifier, Number, at_least, one_of


class UDEEDClassifier(Ensemble):
    """UDEED: bagged logistic regressions, fine-tuned by gradient descent to stay accurate on the labeled rows and
    differ on the unlabeled ones.

    The defaults are those of the paper.

    Parameters
    ----------
    members : int, default=20
        Number of members.
    gamma : float, default=1.0
        Weight of the diversity loss relative to the empirical loss.
    C : float or "auto", default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely. ``"auto"``: chosen by out-of-bag rows.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features. It affects the gain from diversity as much as gamma does.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    variant : {"lc", "lcd", "lcud"}, default="lcud"
        Rows on which the descent makes the members diverse.

        - ``"lc"``: none: the descent minimises the empirical loss only.
        - ``"lcd"``: the labeled rows, ignoring their labels.
        - ``"lcud"``: first the labeled rows, then the unlabeled ones: UDEED.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    loss : {"logistic", "squared", "hinge", "printed"}, default="logistic"
        Empirical loss of the descent on the labeled rows.

        - ``"logistic"``: ``ln(1 + e^(-y w.x))``, the negative binomial likelihood.
        - ``"squared"``: ``(f - y)^2``.
        - ``"hinge"``: ``1 - y f``, as in the paper. No maximum with 0 is needed, because ``f`` never exceeds 1.
        - ``"printed"``: ``ln(1 + e^(-y w.x))`` in the loss; in place of its derivative, the factors that the paper
          prints: each row's term is multiplied by its loss. The paper's tables were very likely made so; that is what
          this is for.
    hidden : int, default=0
        Hidden units of each member; 0 for linear members.
    initial : {"bootstrap", "random"}, default="bootstrap"
        Members before the descent.

        - ``"bootstrap"``: members fitted to bootstraps of the labeled rows.
        - ``"random"``: members with random weights, which a few steps of L-BFGS train on the labeled rows.
    rate : float, default=0.25
        Learning rate of the descent.
    scale_rate : bool, default=False
        Whether the learning rate is multiplied by members / 20. The gradient of a member shrinks with the number of
        members; this gives a large ensemble the effective rate of 20 members.
    steps : int, default=25
        Largest number of steps in a stage of the descent.
    vote : {"weighted", "unweighted"}, default="weighted"
        Vote of the members.

        - ``"weighted"``: votes weighted by confidence: the mean of the outputs.
        - ``"unweighted"``: majority vote: the mean of the signs of the outputs.
    precision : {"double", "single", "exact"}, default="double"
        Floating-point precision of the descent. Initial members and predictions are always in double precision.

        - ``"double"``: 64 bits.
        - ``"single"``: 32 bits, in half of the time. Gradients are still summed over blocks of rows in 64 bits.
        - ``"exact"``: 64 bits; sums over unlabeled rows are exact, so that neither the order of the rows nor how they
          are divided among threads, processes and machines changes a bit.
    device : {"cpu", "cuda", "cuda:N"}, default="cpu"
        Where the descent runs. What comes before and after it runs on the processor, and models of all devices are
        alike. What a card cannot do is refused, never done by the processor instead.

        - ``"cpu"``: the processor.
        - ``"cuda"``: the first NVIDIA card.
        - ``"cuda:N"``: the card of this number, from 0.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    M.-L. Zhang and Z.-H. Zhou, "Exploiting unlabeled data to enhance ensemble diversity", ICDM 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import UDEEDClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = UDEEDClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "udeed"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(2),
        "gamma": [Number(Real, 0, None, closed="left")],
        "C": [Number(Real, 0, None, closed="neither"), *one_of("auto")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "variant": one_of("lc", "lcd", "lcud"),
        "calibrated": ["boolean"],
        "loss": one_of("logistic", "squared", "hinge", "printed"),
        "hidden": [Number(Integral, 0, 1000, closed="both")],
        "initial": one_of("bootstrap", "random"),
        "rate": [Number(Real, 0, None, closed="neither")],
        "scale_rate": ["boolean"],
        "steps": at_least(0),
        "vote": one_of("weighted", "unweighted"),
        "precision": one_of("double", "single", "exact"),
        "device": [str],
    }

    def __init__(
        self,
        members: int = 20,
        *,
        gamma: float = 1.0,
        C: float | str = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        variant: str = "lcud",
        calibrated: bool = False,
        loss: str = "logistic",
        hidden: int = 0,
        initial: str = "bootstrap",
        rate: float = 0.25,
        scale_rate: bool = False,
        steps: int = 25,
        vote: str = "weighted",
        precision: str = "double",
        device: str = "cpu",
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.gamma = gamma
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.variant = variant
        self.calibrated = calibrated
        self.loss = loss
        self.hidden = hidden
        self.initial = initial
        self.rate = rate
        self.scale_rate = scale_rate
        self.steps = steps
        self.vote = vote
        self.precision = precision
        self.device = device
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class UDEEDClassifierSearch(Ensemble):
    """Parameters of :class:`udeed.UDEEDClassifierCV`, which chooses among candidates for some of them."""

    _chosen: ClassVar[dict[str, str]] = {"members": "members", "gamma": "gammas", "C": "Cs", "scaling": "scalings"}
    _method: ClassVar[str] = "udeed"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": ["array-like"],
        "gammas": ["array-like"],
        "Cs": ["array-like"],
        "scalings": ["array-like"],
        "cv": ["cv_object"],
        "fourier": at_least(0),
        "variant": one_of("lc", "lcd", "lcud"),
        "calibrated": ["boolean"],
        "loss": one_of("logistic", "squared", "hinge", "printed"),
        "hidden": [Number(Integral, 0, 1000, closed="both")],
        "initial": one_of("bootstrap", "random"),
        "rate": [Number(Real, 0, None, closed="neither")],
        "scale_rate": ["boolean"],
        "steps": at_least(0),
        "vote": one_of("weighted", "unweighted"),
        "precision": one_of("double", "single", "exact"),
        "device": [str],
    }

    def __init__(
        self,
        members: Sequence[int] = (20,),
        *,
        gammas: Sequence[float] = (0.5, 1.0, 2.0, 4.0),
        Cs: Sequence[float] = (0.1, 1.0, 10.0),
        scalings: Sequence[str] = ("minmax", "standard"),
        cv: Any = 5,
        fourier: int = 0,
        variant: str = "lcud",
        calibrated: bool = False,
        loss: str = "logistic",
        hidden: int = 0,
        initial: str = "bootstrap",
        rate: float = 0.25,
        scale_rate: bool = False,
        steps: int = 25,
        vote: str = "weighted",
        precision: str = "double",
        device: str = "cpu",
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.gammas = gammas
        self.Cs = Cs
        self.scalings = scalings
        self.cv = cv
        self.fourier = fourier
        self.variant = variant
        self.calibrated = calibrated
        self.loss = loss
        self.hidden = hidden
        self.initial = initial
        self.rate = rate
        self.scale_rate = scale_rate
        self.steps = steps
        self.vote = vote
        self.precision = precision
        self.device = device
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class UDEEDAutoClassifier(Ensemble):
    """The automatic ensemble: logistic regressions on several views of the rows, and trees, weighted by out-of-bag
    rows.

    Needs no tuning. Every view is fitted at several regularisation strengths, to bootstraps and to all labels; the
    weights of the mixture maximise the likelihood of the out-of-bag rows. Features are always standardised.

    Weights of classes shift the log odds of the classes and nothing else: a rare class is not learned from a few heavy
    rows (C. Elkan, "The Foundations of Cost-Sensitive Learning", IJCAI 2001). Weights of rows weigh the rows in all
    fits.

    Parameters
    ----------
    members : int, default=20
        Number of bootstraps, and so of members of each view at each regularisation strength.
    views : sequence of {"linear", "relevance", "laplace", "narrow", "spectral", "trees"}, default=("linear", "relevance", "laplace", "narrow", "spectral", "trees")
        Views of the rows. A model holds the labeled rows for its kernels, values of every column for ``"laplace"``, and
        up to 5000 rows, labeled or not, for ``"spectral"``; with ``"linear"`` and ``"trees"`` alone it holds none.

        - ``"linear"``: logistic regressions on the features as they are.
        - ``"relevance"``: a Gaussian kernel in which features that correlate with the labels weigh more.
        - ``"laplace"``: a Laplace kernel on the ranks of the features, in which those that correlate with the labels
          weigh more.
        - ``"narrow"``: a Gaussian kernel of half the usual width.
        - ``"spectral"``: spectral embeddings of two nearest-neighbour graphs of all rows, labeled and unlabeled.
        - ``"trees"``: extra trees and a random forest.
    prior : "labeled", sequence of float or None, default=None
        Class prior: the shares of the classes among the unlabeled rows. If it is known, the odds of the classes are
        shifted until the mean probabilities agree with it; half of the way if it is taken from the labeled rows. One
        share for each class, in the order of ``classes_``; ``"labeled"``: those of the labeled rows; None: unknown.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import UDEEDAutoClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = UDEEDAutoClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "auto"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(2),
        "views": ["array-like"],
        "prior": [*one_of("labeled"), "array-like", None],
    }

    def __init__(
        self,
        members: int = 20,
        *,
        views: Sequence[str] = ("linear", "relevance", "laplace", "narrow", "spectral", "trees"),
        prior: str | Sequence[float] | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.views = views
        self.prior = prior
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class BaggingClassifier(Ensemble):
    """Bagging: each member is fitted to a bootstrap, labeled rows drawn with replacement.

    With logistic regressions, the default, these are the initial members of UDEED. Unlabeled rows only help to scale
    the features.

    Parameters
    ----------
    members : int, default=20
        Number of members.
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. Trees with random features at each split make a random forest. :class:`udeed.Tree`
        and :class:`udeed.Neighbors` have parameters of their own, such as ``base__depth`` in a grid search. A
        classifier of scikit-learn, or one that behaves like it, is cloned for each member; its model cannot be saved,
        only pickled.
    C : float or "auto", default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely. ``"auto"``: chosen by out-of-bag rows.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    vote : {"weighted", "unweighted"}, default="weighted"
        Vote of the members.

        - ``"weighted"``: votes weighted by confidence: the mean of the outputs.
        - ``"unweighted"``: majority vote: the mean of the signs of the outputs.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    L. Breiman, "Bagging predictors", Machine Learning 24, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import BaggingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = BaggingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "bagging"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither"), *one_of("auto")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "vote": one_of("weighted", "unweighted"),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float | str = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        vote: str = "weighted",
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.vote = vote
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class AdaBoostClassifier(Ensemble):
    """AdaBoost: each member is fitted with larger weights on the rows that its predecessors misclassify.

    For more than two classes it is SAMME. Unlabeled rows only help to scale the features.

    Parameters
    ----------
    members : int, default=20
        Largest number of members; boosting may stop earlier.
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    emphasis : {"weighting", "resampling"}, default="weighting"
        How row weights reach the base learner: by weighting the rows, or by drawing as many as are labeled.

        - ``"weighting"``: rows keep their weights.
        - ``"resampling"``: rows are drawn with replacement, with probabilities proportional to their weights.
    zero_error : {"keep", "discard"}, default="keep"
        Treatment of a member without weighted error.

        - ``"keep"``: it is kept, with the weight of an error of 1e-10, and boosting ends.
        - ``"discard"``: it is discarded and boosting ends, possibly without any member. The AdaBoost results of the
          UDEED paper seem to be obtained in this way.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    Y. Freund and R. Schapire, "A decision-theoretic generalization of on-line learning and an application to boosting",
    EuroCOLT 1995; more than two classes: J. Zhu, H. Zou, S. Rosset and T. Hastie, "Multi-class AdaBoost", Statistics
    and its Interface 2, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import AdaBoostClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = AdaBoostClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "adaboost"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "emphasis": one_of("weighting", "resampling"),
        "zero_error": one_of("keep", "discard"),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        emphasis: str = "weighting",
        zero_error: str = "keep",
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.emphasis = emphasis
        self.zero_error = zero_error
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class AssembleClassifier(Ensemble):
    """ASSEMBLE.AdaBoost: boosting that gives the unlabeled rows pseudo-labels by its own vote.

    The first pseudo-label of a row is the label of its nearest labeled neighbour, later ones are the vote of the
    ensemble. Each member is fitted to rows drawn or weighted by ``exp(-margin)``: the less certain the vote, the larger
    the weight.

    Parameters
    ----------
    members : int, default=20
        Largest number of members; boosting may stop earlier.
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    emphasis : {"weighting", "resampling"}, default="resampling"
        How row weights reach the base learner: by weighting the rows, or by drawing as many as are labeled.

        - ``"weighting"``: rows keep their weights.
        - ``"resampling"``: rows are drawn with replacement, with probabilities proportional to their weights.
    labeled_share : float, default=0.9
        Share of the labeled rows in the initial weights.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    K. Bennett, A. Demiriz and R. Maclin, "Exploiting unlabeled data in ensemble methods", KDD 2002 (ASSEMBLE.AdaBoost).

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import AssembleClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = AssembleClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "assemble"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "emphasis": one_of("weighting", "resampling"),
        "labeled_share": [Number(Real, 0, 1, closed="right")],
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        emphasis: str = "resampling",
        labeled_share: float = 0.9,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.emphasis = emphasis
        self.labeled_share = labeled_share
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class SemiBoostClassifier(Ensemble):
    """SemiBoost: each member is fitted to the labeled rows and to pseudo-labels from similar rows.

    In every round an unlabeled row gets a pseudo-label from the labels of similar rows and from the current votes on
    similar unlabeled ones. The next member is fitted to the labeled rows and to some of the most confident
    pseudo-labels.

    Parameters
    ----------
    members : int, default=20
        Largest number of members; boosting may stop earlier.
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    percentile : float, default=1.0
        Width of the similarity, as a percentile of the distances between rows. The literature uses 10 to 100; 1 comes
        nearest to the results of the UDEED paper.
    pick : {"draw", "top"}, default="draw"
        Selection of the unlabeled rows that a member is fitted to.

        - ``"draw"``: rows drawn without replacement, weighted by the confidence of their pseudo-labels.
        - ``"top"``: the rows with the most confident pseudo-labels.
    pick_share : float, default=0.1
        Share of the unlabeled rows that a member is fitted to.
    neighbors : int, default=20
        Nearest neighbours treated as similar; 0 compares all pairs (as in the paper), which takes quadratic memory.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    P. Mallapragada, R. Jin, A. Jain and Y. Liu, "SemiBoost: boosting for semi-supervised learning", PAMI 31, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import SemiBoostClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = SemiBoostClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "semiboost"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "percentile": [Number(Real, 0, 100, closed="both")],
        "pick": one_of("draw", "top"),
        "pick_share": [Number(Real, 0, 1, closed="right")],
        "neighbors": at_least(0),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        percentile: float = 1.0,
        pick: str = "draw",
        pick_share: float = 0.1,
        neighbors: int = 20,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.percentile = percentile
        self.pick = pick
        self.pick_share = pick_share
        self.neighbors = neighbors
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class SelfTrainingClassifier(Ensemble):
    """Self-training: a base learner gives pseudo-labels to the unlabeled rows of which it is confident, and is
    refitted.

    The simplest semi-supervised baseline, with a single member.

    Parameters
    ----------
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    confidence : float, default=0.75
        Confidence above which a row gets its predicted class as pseudo-label.
    rounds : int, default=10
        Largest number of rounds.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    D. Yarowsky, "Unsupervised word sense disambiguation rivaling supervised methods", ACL 1995.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import SelfTrainingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = SelfTrainingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "self-training"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "confidence": [Number(Real, 0, 1, closed="left")],
        "rounds": at_least(0),
    }

    def __init__(
        self,
        base: Base = "logistic",
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        confidence: float = 0.75,
        rounds: int = 10,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.confidence = confidence
        self.rounds = rounds
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class TriTrainingClassifier(Ensemble):
    """Tri-training: of three members, two give pseudo-labels to the third where they agree.

    The three initial members are fitted to bootstraps of the labeled rows. A member is refitted with the pseudo-labels
    of the other two as long as these are likely to lower its error. Prediction is by majority vote.

    Parameters
    ----------
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    Z.-H. Zhou and M. Li, "Tri-training: exploiting unlabeled data using three classifiers", TKDE 17, 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import TriTrainingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = TriTrainingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "tri-training"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
    }

    def __init__(
        self,
        base: Base = "logistic",
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class CoForestClassifier(Ensemble):
    """Co-forest: a random forest in which each tree also learns from rows that the other trees are confident of.

    In every round a tree is refitted with pseudo-labels from the other trees, as long as these are likely to lower its
    error.

    Parameters
    ----------
    members : int, default=20
        Number of trees; the paper uses 6.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    tree : Tree or None, default=None
        Settings of the trees. None means ``Tree(features="log2-plus-one")``.
    confidence : float, default=0.75
        Confidence of the other trees above which a row gets their class as pseudo-label.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    M. Li and Z.-H. Zhou, "Improve computer-aided diagnosis with machine learning techniques using undiagnosed samples",
    IEEE Transactions on Systems, Man and Cybernetics A 37, 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import CoForestClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = CoForestClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "co-forest"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(2),
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "tree": [Tree, None],
        "confidence": [Number(Real, 0, 1, closed="left")],
    }

    def __init__(
        self,
        members: int = 20,
        *,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        tree: Tree | None = None,
        confidence: float = 0.75,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.tree = tree
        self.confidence = confidence
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class CoTrainingClassifier(Ensemble):
    """Co-training: two members that see different columns give pseudo-labels to each other.

    In every round each member labels the rows of which it is most confident. For predictions their probabilities are
    multiplied.

    Parameters
    ----------
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    view : sequence of str or int, default=()
        Columns that the first member sees; the second sees the others. By default each sees a random half of the
        features. Columns are given by name, or by number from 0.
    pool : int, default=75
        Number of unlabeled rows, drawn at random, from which a round takes the most confident predictions.
    rounds : int, default=30
        Largest number of rounds.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    A. Blum and T. Mitchell, "Combining labeled and unlabeled data with co-training", COLT 1998.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import CoTrainingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = CoTrainingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "co-training"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "view": ["array-like"],
        "pool": at_least(1),
        "rounds": at_least(0),
    }

    def __init__(
        self,
        base: Base = "logistic",
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        view: Sequence[str | int] = (),
        pool: int = 75,
        rounds: int = 30,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.view = view
        self.pool = pool
        self.rounds = rounds
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class SetredClassifier(Ensemble):
    """SETRED: self-training that drops pseudo-labels contradicted by the neighbours of a row.

    A pseudo-label is kept if significantly fewer neighbours in the relative neighbourhood graph contradict it than
    expected by chance. The model has a single member.

    Parameters
    ----------
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    rounds : int, default=40
        Largest number of rounds.
    pool : int, default=75
        Number of unlabeled rows, drawn at random, from which a round takes the most confident predictions; 0 for all,
        which takes quadratic time.
    pick_share : float, default=0.2
        Share of the pool that gets pseudo-labels in a round, stratified by class.
    significance : float, default=0.1
        Significance level of the cut edge weight test by which a pseudo-label is kept.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    M. Li and Z.-H. Zhou, "SETRED: self-training with editing", PAKDD 2005.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import SetredClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = SetredClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "setred"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "rounds": at_least(0),
        "pool": at_least(0),
        "pick_share": [Number(Real, 0, 1, closed="right")],
        "significance": [Number(Real, 0, 1, closed="neither")],
    }

    def __init__(
        self,
        base: Base = "logistic",
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        rounds: int = 40,
        pool: int = 75,
        pick_share: float = 0.2,
        significance: float = 0.1,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.rounds = rounds
        self.pool = pool
        self.pick_share = pick_share
        self.significance = significance
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class SSMBoostClassifier(Ensemble):
    """SSMBoost: margin boosting in which an unlabeled row has the margin of its predicted class.

    The vote ``g`` is a weighted mean of the members; each further one lowers the mean of ``exp(-margin)``. The margin
    of a labeled row is ``y g``, that of an unlabeled one ``g^2`` or ``|g|``. The first member is fitted to the labeled
    rows only, because base learners need labels. More than two classes are learned one against the rest.

    Parameters
    ----------
    members : int, default=20
        Largest number of members; boosting may stop earlier.
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    margin : {"square", "absolute"}, default="square"
        Margin of an unlabeled row.

        - ``"square"``: the square of the vote.
        - ``"absolute"``: the absolute value of the vote.
    unlabeled_weight : float, default=1.0
        Total weight of the unlabeled rows relative to the labeled ones.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    F. d'Alche-Buc, Y. Grandvalet and C. Ambroise, "Semi-supervised MarginBoost", NIPS 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import SSMBoostClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = SSMBoostClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "ssmboost"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "margin": one_of("square", "absolute"),
        "unlabeled_weight": [Number(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        margin: str = "square",
        unlabeled_weight: float = 1.0,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.margin = margin
        self.unlabeled_weight = unlabeled_weight
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class RegBoostClassifier(Ensemble):
    """RegBoost: ASSEMBLE with a penalty on labels that contradict near neighbours.

    The more neighbours contradict the label or pseudo-label of a row, the larger its weight; a member that agrees with
    such labels gets a smaller weight in the vote. More than two classes are learned one against the rest.

    Parameters
    ----------
    members : int, default=20
        Largest number of members; boosting may stop earlier.
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    emphasis : {"weighting", "resampling"}, default="weighting"
        How row weights reach the base learner: by weighting the rows, or by drawing as many as are labeled.

        - ``"weighting"``: rows keep their weights.
        - ``"resampling"``: rows are drawn with replacement, with probabilities proportional to their weights.
    smoothness : float, default=0.5
        Weight of contradicting neighbours relative to the margin.
    neighbors : int, default=10
        Nearest neighbours treated as similar.
    percentile : float, default=10.0
        Width of the similarity, as a percentile of the distances between rows.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    K. Chen and S. Wang, "Regularized boost for semi-supervised learning", NIPS 2007.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import RegBoostClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = RegBoostClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "regboost"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "emphasis": one_of("weighting", "resampling"),
        "smoothness": [Number(Real, 0, None, closed="left")],
        "neighbors": at_least(1),
        "percentile": [Number(Real, 0, 100, closed="both")],
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        emphasis: str = "weighting",
        smoothness: float = 0.5,
        neighbors: int = 10,
        percentile: float = 10.0,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.emphasis = emphasis
        self.smoothness = smoothness
        self.neighbors = neighbors
        self.percentile = percentile
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class MCSSBClassifier(Ensemble):
    """MCSSB: multi-class boosting that gives similar rows the same class.

    In every round the pseudo-label of an unlabeled row is the class that lowers the objective most. The next member is
    fitted to the labeled rows and to some of the unlabeled ones, drawn by how much their pseudo-labels lower it.

    Parameters
    ----------
    members : int, default=20
        Largest number of members; boosting may stop earlier.
    base : {"logistic", "tree", "neighbors", "bayes"}, Tree, Neighbors or classifier, default="logistic"
        Base learner of the members. :class:`udeed.Tree` and :class:`udeed.Neighbors` have parameters of their own, such
        as ``base__depth`` in a grid search. A classifier of scikit-learn, or one that behaves like it, is cloned for
        each member; its model cannot be saved, only pickled.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    width : float, default=0.15
        Width of the similarity, as a share of the largest distance between rows.
    labeled_weight : float, default=10000.0
        Weight of similarities to labeled rows against those between unlabeled ones.
    pick_share : float, default=0.2
        Number of unlabeled rows drawn in a round, as a share of all rows; at least 20 rows.
    neighbors : int, default=20
        Nearest neighbours treated as similar; 0 compares all pairs, which takes quadratic memory.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    H. Valizadegan, R. Jin and A. Jain, "Semi-supervised boosting for multi-class classification", ECML 2008.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import MCSSBClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = MCSSBClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "mcssb"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "base": [*one_of(*BASES), *LEARNERS.values(), IsClassifier()],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "width": [Number(Real, 0, None, closed="neither")],
        "labeled_weight": [Number(Real, 0, None, closed="neither")],
        "pick_share": [Number(Real, 0, 1, closed="right")],
        "neighbors": at_least(0),
    }

    def __init__(
        self,
        members: int = 20,
        *,
        base: Base = "logistic",
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        width: float = 0.15,
        labeled_weight: float = 10000.0,
        pick_share: float = 0.2,
        neighbors: int = 20,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.base = base
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.width = width
        self.labeled_weight = labeled_weight
        self.pick_share = pick_share
        self.neighbors = neighbors
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class StackingClassifier(Ensemble):
    """Stacking: logistic regression combines the out-of-fold probabilities of different base learners.

    Unlabeled rows only help to scale the features.

    Parameters
    ----------
    bases : sequence of str, Tree, Neighbors or classifier, default=("logistic", "tree", "neighbors", "bayes")
        Base learners: one member each.
    C : float, default=1.0
        Inverse regularisation strength of logistic regression, scikit-learn's ``C``: larger values fit the labels more
        closely.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    folds : int, default=5
        Number of folds whose out-of-fold probabilities the combination is learned from.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    D. Wolpert, "Stacked generalization", Neural Networks 5, 1992.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import StackingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = StackingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "stacking"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "bases": ["array-like"],
        "C": [Number(Real, 0, None, closed="neither")],
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "folds": at_least(2),
    }

    def __init__(
        self,
        bases: Sequence[Base] = BASES,
        *,
        C: float = 1.0,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        folds: int = 5,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.bases = bases
        self.C = C
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.folds = folds
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class LabelSpreadingClassifier(Ensemble):
    """Label spreading: labels spread along a graph of similar rows until every row agrees with its neighbours and its
    own label.

    One member, which predicts new rows by the mean of their nearest training rows.

    Parameters
    ----------
    alpha : float, default=0.2
        Share of a row's class probabilities that comes from its neighbours; the rest comes from its own label.
    neighbors : int, default=10
        Nearest neighbours that a row is connected with.
    percentile : float, default=10.0
        Width of the similarity, as a percentile of the distances between rows.
    scaling : {"minmax", "standard", "none"}, default="standard"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    D. Zhou, O. Bousquet, T. Lal, J. Weston and B. Schölkopf, "Learning with local and global consistency", NIPS 2004.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import LabelSpreadingClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = LabelSpreadingClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "label-spreading"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "alpha": [Number(Real, 0, 1, closed="neither")],
        "neighbors": at_least(1),
        "percentile": [Number(Real, 0, 100, closed="both")],
        "scaling": one_of("minmax", "standard", "none"),
        "calibrated": ["boolean"],
    }

    def __init__(
        self,
        alpha: float = 0.2,
        *,
        neighbors: int = 10,
        percentile: float = 10.0,
        scaling: str = "standard",
        calibrated: bool = False,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.alpha = alpha
        self.neighbors = neighbors
        self.percentile = percentile
        self.scaling = scaling
        self.calibrated = calibrated
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


class ExtraTreesClassifier(Ensemble):
    """Extra trees: every tree learns from all labeled rows and splits at random thresholds.

    At each node some features are drawn, and a threshold of each; the best of these splits is taken. Unlabeled rows are
    not used.

    Parameters
    ----------
    members : int, default=100
        Number of trees.
    scaling : {"minmax", "standard", "none"}, default="minmax"
        Scaling of the features.

        - ``"minmax"``: to ``[0, 1]`` over the training rows. Sparse rows keep their zeros: they are divided by the
          largest value, and negative values are refused.
        - ``"standard"``: to mean 0 and standard deviation 1. Sparse rows keep their zeros: they are divided by the
          deviation only.
        - ``"none"``: no scaling.
    fourier : int, default=0
        Number of random Fourier features that replace the scaled features, for curved decision boundaries; 0 for none.
        Combine with standard scaling and weaker regularisation, such as an inverse strength of 10.
    calibrated : bool, default=False
        Whether the probabilities are calibrated: a logistic function of the vote, fitted to votes on labeled rows by
        members that did not learn from them, out of bag or, where members have no bootstraps, in five folds.
    bootstrap : bool, default=False
        Whether each tree learns from a bootstrap, labeled rows drawn with replacement, in place of all labeled rows.
        Trees that did not draw a row can then judge it.
    tree : Tree or None, default=None
        Settings of the trees. None means ``Tree(features="root", thresholds="random")``.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, multiplied with ``sample_weight``. ``"balanced"``: inversely proportional to the number
        of labels of each class.
    threshold : float or str, default=0.0
        Decision threshold between two classes, from -1 to 1: rows above it belong to the second class. Or what it is
        chosen by: ``"balanced"``, the highest balanced accuracy; ``"f1"``, the highest F1 score of the second class;
        ``"rate=0.05"``, this share of the rows is above it. Chosen by out-of-bag rows, or by cross-validation on the
        labeled rows where a method has no bootstraps. It does not change probabilities.
    random_state : int, RandomState or None, default=None
        Random seed. An int gives the same model for any ``n_jobs``, and the same as ``udeed fit --seed``.
    unlabeled : object, default=-1
        Label of unlabeled rows. NaN stands for every missing value; None: every row is labeled.
    n_jobs : int or None, default=None
        Number of threads. None means 1, unless in a ``joblib.parallel_config`` context; -1 means all processors.
    memory : int, default=0
        Memory in bytes for the rows of ``unlabeled_X``, and for similarities of rows where a method compares them; 0 for half of
        the machine's. More unlabeled rows go to a temporary file, or are refused where a method needs all of them at once.
    verbose : bool or int, default=False
        Whether to show a progress bar on standard error, by tqdm where it is installed, and what was chosen by out-of-bag
        rows.
    callback : callable or None, default=None
        Called with an :class:`udeed.Event` for every step of a descent, and for members and candidates several times a
        second. Where it returns True, a descent ends with its last accepted step; before there is an ensemble the fit ends
        with :class:`udeed.FitStopped`. What it raises ends the fit, too.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels, sorted; at most 255.
    n_features_in_ : int
        Number of columns seen in ``fit``.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the columns seen in ``fit``, where all are strings.
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Direction of the ensemble: the mean of ``member_coef_``, weighted by ``member_weights_``; one row per class where
        there are more than two. ``X @ coef_.T + intercept_`` is the mean log odds of the members; as the vote averages
        their outputs instead, it tells which features count and how, not the exact probability. Only where the members
        are linear, without Fourier features and not stacked. Its columns are those of ``features_``.
    intercept_ : array of shape (1,) or (n_classes,)
        Mean of ``member_intercept_``, weighted in the same way.
    member_coef_ : array of shape (n_members, n_features) or (n_classes, n_members, n_features)
        Coefficients of the members for unscaled features, or for Fourier features; one table per class where there are
        more than two. Only where the members are linear.
    features_ : list of str
        Names of the features, in the order of the coefficients: the columns seen in ``fit``, by number from 1 where they
        have no names. A column of words has a feature for each word, ``column=word``, which is 1 where the row has it.
    member_intercept_ : array of shape (n_members,) or (n_classes, n_members)
        Intercepts of the members. Only where they are linear.
    member_weights_ : array of shape (n_members,) or (n_classes, n_members)
        Weights of the members in the vote; one row per class where each class has members of its own.
    threshold_ : float
        Decision threshold between two classes.
    n_iter_ : int
        Number of accepted steps of gradient descent; number of members for methods without a descent.
    history_ : list of dict
        Steps of gradient descent: stage, step, losses, and whether the step was accepted. Empty for methods without a
        descent.
    feature_importances_ : array of shape (n_features_in_,)
        Importance of each column: the mean decrease of impurity by its splits, over all trees, weighted by their votes, as
        scikit-learn defines it; they sum to 1. Only where the members are trees, without Fourier features.
    estimators_ : list
        Fitted classifiers that are members, one for each, class by class where each class has members of its own. Only
        where ``base`` is a classifier. Their classes are numbers, the places in ``classes_``.
    findings_ : dict or None
        What was chosen by out-of-bag rows; None where nothing was.
    held_rows_ : dict
        What the model, and so its file and its ONNX graph, holds of the training rows: ``"kernels"`` (labeled rows),
        ``"nodes"`` of graphs (labeled and unlabeled rows), ``"neighbors"`` (rows of a member), and ``"values"`` of single
        columns. All are 0 where it holds none.
    diversity_ : dict or None
        Ten measures of diversity of the members on the labeled rows, see :func:`udeed.diversity`. None for a loaded
        model.
    transduction_ : array of shape (n_samples,)
        Class of each training row: its label, or the predicted class. Predicted when it is first asked for, or the estimator is
        pickled or saved: until then the estimator holds X, which must not be written to. Not kept of more than 100 000 rows of
        two classes, of more classes this many over their number.
    label_distributions_ : array of shape (n_samples, n_classes)
        Class probabilities of each training row: 1 for a label. Kept as ``transduction_``.
    labeled_iter_ : array of shape (n_samples,)
        Round in which each training row was labeled: 0 for a label that was given, -1 for a row that no member learned from.
        Only of methods that label rows: self-training, SETRED, co-training, tri-training, co-forest, and semi-supervised
        boosting, where it is the first member that learned from the row.
    labeled_by_ : array of shape (n_samples, n_members)
        Whether each member gave a training row its label. Only of self-training, SETRED, co-training and tri-training.
    oob_decision_function_ : array of shape (n_samples, n_classes)
        Class probabilities of each labeled row by the members that did not learn from it, the initial ones of UDEED and
        co-forest; NaN for unlabeled rows. Only after a fit whose members learn from bootstraps, and not of tri-training, whose
        three members have all learned from about a quarter of the labeled rows.

    References
    ----------
    P. Geurts, D. Ernst and L. Wehenkel, "Extremely randomized trees", Machine Learning 63, 2006.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from udeed import ExtraTreesClassifier, mask_labels
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> few = mask_labels(y, 40, random_state=0)
    >>> model = ExtraTreesClassifier(random_state=0).fit(X, few)
    >>> model.score(X, y) > 0.8
    True
    """

    __module__ = "udeed"
    _method: ClassVar[str] = "extra-trees"
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **Ensemble._parameter_constraints,
        "members": at_least(1),
        "scaling": one_of("minmax", "standard", "none"),
        "fourier": at_least(0),
        "calibrated": ["boolean"],
        "bootstrap": ["boolean"],
        "tree": [Tree, None],
    }

    def __init__(
        self,
        members: int = 100,
        *,
        scaling: str = "minmax",
        fourier: int = 0,
        calibrated: bool = False,
        bootstrap: bool = False,
        tree: Tree | None = None,
        class_weight: Mapping[Any, float] | str | None = None,
        threshold: float | str = 0.0,
        random_state: int | np.random.RandomState | None = None,
        unlabeled: object = -1,
        n_jobs: int | None = None,
        memory: int = 0,
        verbose: int | bool = False,
        callback: Callback | None = None,
    ) -> None:
        self.members = members
        self.scaling = scaling
        self.fourier = fourier
        self.calibrated = calibrated
        self.bootstrap = bootstrap
        self.tree = tree
        self.class_weight = class_weight
        self.threshold = threshold
        self.random_state = random_state
        self.unlabeled = unlabeled
        self.n_jobs = n_jobs
        self.memory = memory
        self.verbose = verbose
        self.callback = callback


# The estimators by the names of their methods.
ESTIMATORS: dict[str, type[Ensemble]] = {
    "udeed": UDEEDClassifier,
    "auto": UDEEDAutoClassifier,
    "bagging": BaggingClassifier,
    "adaboost": AdaBoostClassifier,
    "assemble": AssembleClassifier,
    "semiboost": SemiBoostClassifier,
    "self-training": SelfTrainingClassifier,
    "tri-training": TriTrainingClassifier,
    "co-forest": CoForestClassifier,
    "co-training": CoTrainingClassifier,
    "setred": SetredClassifier,
    "ssmboost": SSMBoostClassifier,
    "regboost": RegBoostClassifier,
    "mcssb": MCSSBClassifier,
    "stacking": StackingClassifier,
    "label-spreading": LabelSpreadingClassifier,
    "extra-trees": ExtraTreesClassifier,
}
