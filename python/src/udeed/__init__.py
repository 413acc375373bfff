"""Semi-supervised ensembles for scikit-learn, on a Rust core.

A few of your rows have labels, most have none: the classifiers here learn from all of them. They are called after their
method, ``UDEEDClassifier`` first among them, and go wherever a scikit-learn classifier goes.
"""

from udeed._adaboost import AdaBoostClassifier
from udeed._assemble import AssembleClassifier
from udeed._bagging import BaggingClassifier
from udeed._choice import UDEEDClassifierCV
from udeed._compare import Comparison, compare
from udeed._core import VERSION as __version__
from udeed._diversity import diversity
from udeed._ensemble import UdeedWarning
from udeed._files import load, to_onnx
from udeed._semiboost import SemiBoostClassifier
from udeed._split import SemiSupervisedKFold, SemiSupervisedSplit, labeled_scorer, mask_labels
from udeed._udeed import UDEEDClassifier

__all__ = [
    "AdaBoostClassifier",
    "AssembleClassifier",
    "BaggingClassifier",
    "Comparison",
    "SemiBoostClassifier",
    "SemiSupervisedKFold",
    "SemiSupervisedSplit",
    "UDEEDClassifier",
    "UDEEDClassifierCV",
    "UdeedWarning",
    "__version__",
    "compare",
    "diversity",
    "labeled_scorer",
    "load",
    "mask_labels",
    "to_onnx",
]
