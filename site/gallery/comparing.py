"""Comparing methods

Is one method better than another, or was it luck? Repeated splits, tests that know that splits share rows, and ranks over several
sets.
"""

# %%
# `compare` takes any classifier of scikit-learn beside those of udeed, and puts all on the same splits.

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from udeed import (
    AverageRanks,
    LabelSpreadingClassifier,
    UDEEDAutoClassifier,
    UDEEDClassifier,
    compare,
)

methods = {
    "auto": UDEEDAutoClassifier(random_state=0),
    "UDEED": UDEEDClassifier(random_state=0),
    "label spreading": LabelSpreadingClassifier(random_state=0),
    "logistic": make_pipeline(StandardScaler(), LogisticRegression()),
    "extra trees": ExtraTreesClassifier(100, random_state=0),
}
X, y = load_wine(return_X_y=True)
result = compare(methods, X, y, splits=10, labeled=15, title="wine")
print(result)

# %%
# The picture of the same figures, each point a split:

result.plot()

# %%
# One table says little about methods. Over several sets they are ranked: 1 is the best. Three sets are far too few for a verdict;
# with more, `p_value` and `to_svg()` of the ranks have Friedman's test and the diagram of critical differences.

sets = {"wine": load_wine, "iris": load_iris, "breast cancer": load_breast_cancer}
scores = {name: [] for name in methods}
for title, load in sets.items():
    X, y = load(return_X_y=True)
    frame = compare(methods, X, y, splits=5, labeled=15, title=title).to_frame()
    for name in methods:
        scores[name].append(float(frame.loc[name, "mean"]))
print(AverageRanks(scores, title="15 labels"))

# %%
# The same in one picture:

figure, axes = plt.subplots(figsize=(7.2, 3))
for at, title in enumerate(sets):
    axes.scatter(
        [values[at] for values in scores.values()],
        list(scores),
        label=title,
        s=50,
        alpha=0.8,
    )
axes.invert_yaxis()
axes.set(xlabel="mean test accuracy over 5 splits")
axes.legend()
