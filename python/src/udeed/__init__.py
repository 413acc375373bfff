"""Semi-supervised ensembles for scikit-learn, on a Rust core.

A few of your rows have labels, most have none: the classifiers here learn from all of them. They are called after their
method, ``UDEEDClassifier`` first among them, and go wherever a scikit-learn classifier goes.
"""

from udeed._adaboost import AdaBoostClassifier
from udeed._assemble import AssembleClassifier
from udeed._auto import UDEEDAutoClassifier
from udeed._bagging import BaggingClassifier
from udeed._base import Neighbors, Tree
from udeed._choice import UDEEDClassifierCV
from udeed._co_forest import CoForestClassifier
from udeed._co_training import CoTrainingClassifier
from udeed._compare import Comparison, compare
from udeed._core import VERSION as __version__
from udeed._diversity import diversity
from udeed._ensemble import UdeedWarning
from udeed._files import load, to_onnx
from udeed._mcssb import MCSSBClassifier
from udeed._ranks import AverageRanks
from udeed._regboost import RegBoostClassifier
from udeed._self_training import SelfTrainingClassifier
from udeed._semiboost import SemiBoostClassifier
from udeed._setred import SetredClassifier
from udeed._split import SemiSupervisedKFold, SemiSupervisedSplit, labeled_scorer, mask_labels
from udeed._ssmboost import SSMBoostClassifier
from udeed._stacking import StackingClassifier
from udeed._tri_training import TriTrainingClassifier
from udeed._udeed import UDEEDClassifier

__all__ = [
    "AdaBoostClassifier",
    "AssembleClassifier",
    "AverageRanks",
    "BaggingClassifier",
    "CoForestClassifier",
    "CoTrainingClassifier",
    "Comparison",
    "MCSSBClassifier",
    "Neighbors",
    "RegBoostClassifier",
    "SSMBoostClassifier",
    "SelfTrainingClassifier",
    "SemiBoostClassifier",
    "SemiSupervisedKFold",
    "SemiSupervisedSplit",
    "SetredClassifier",
    "StackingClassifier",
    "Tree",
    "TriTrainingClassifier",
    "UDEEDAutoClassifier",
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
