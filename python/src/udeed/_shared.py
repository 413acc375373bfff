"""Names and documentation that all estimators share. ``generate.py`` reads this file, too: it imports nothing."""

# Settings of the library that have another name here.
RENAMED = {"lambda": "C", "seed": "random_state"}

DOCUMENTATION = {
    "running": """
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
""",
    "attributes": """
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
""",
}
